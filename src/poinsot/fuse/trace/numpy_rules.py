"""What NumPy's functions mean for traced arrays: one row each.

A function that is not listed runs on the object arrays as it is, which serves all that only moves, adds or multiplies
elements (`stack`, `einsum`, `cross`, `trace`, ...).
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from poinsot.fuse.graph.build import build
from poinsot.fuse.graph.nodes import Value, type_of
from poinsot.fuse.trace import linalg
from poinsot.fuse.trace.errors import TraceError
from poinsot.fuse.trace.traced import FUNCTIONS, UFUNCS, Traced, as_objects


def _op(name: str) -> Callable[..., Value]:
    return lambda *args: build(name, *args)


def _swapped(name: str) -> Callable[[Value, Value], Value]:
    return lambda a, b: build(name, b, a)


def _by_type(boolean: str, integer: str) -> Callable[[Value, Value], Value]:
    """Python's & | ^ on conditions or on integers."""
    return lambda a, b: build(boolean if type_of(a) == type_of(b) == "b" else integer, a, b)


def _times(factor: float) -> Callable[[Value], Value]:
    return lambda a: build("mul", a, factor)


def _invert(a: Value) -> Value:
    return build("not", a) if type_of(a) == "b" else build("bit_xor", a, -1)


def _greatest_below(name: str) -> Callable[[Value], Value]:
    """floor, trunc, rint: nothing to do for integers."""
    return lambda a: a if type_of(a) in "ib" else build(name, a)


def _ceil(a: Value) -> Value:
    return build("neg", build("floor", build("neg", a)))


def _sign(a: Value) -> Value:
    """1, -1, or the zero or NaN itself."""
    return build("where", build("less", 0, a), 1, build("where", build("less", a, 0), -1, a))


def _floor_divide(a: Value, b: Value) -> Value:
    if type_of(a) in "ib" and type_of(b) in "ib":
        return build("floordiv", a, b)
    return build("rint", build("div", build("sub", a, _remainder(a, b)), b))


def _remainder(a: Value, b: Value) -> Value:
    """a - floor(a/b) b, of the sign of b. The quotient is rounded, so the fused remainder may be off by one b."""
    if type_of(a) in "ib" and type_of(b) in "ib":
        return build("modulo", a, b)
    r = build("fma", build("neg", build("floor", build("div", a, b))), b, a)
    outside = build("less", build("mul", build("copysign", 1.0, b), r), 0)
    r = build("where", outside, build("add", r, b), r)
    beyond = build("less_equal", build("abs", b), build("abs", r))
    return build("where", beyond, build("sub", r, b), r)


def _fmod(a: Value, b: Value) -> Value:
    return build("copysign", _remainder(build("abs", a), build("abs", b)), a)


def _heaviside(a: Value, at_zero: Value) -> Value:
    at_zero = build("where", build("equal", a, 0), at_zero, a)
    return build("where", build("less", a, 0), 0.0, build("where", build("less", 0, a), 1.0, at_zero))


def _skipping_nan(name: str) -> Callable[[Value, Value], Value]:
    """fmin and fmax: of a number and a NaN, the number."""

    def choose(a: Value, b: Value) -> Value:
        both = build("where", build("not_equal", b, b), a, build(name, a, b))
        return build("where", build("not_equal", a, a), b, both)

    return choose


def _finite(a: Value) -> Value:
    return build("less", build("abs", a), math.inf)


_SCALAR: dict[np.ufunc, tuple[Callable[..., Value], int]] = {
    **{getattr(np, name): (_op(name), 1) for name in (
        "sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh "
        "arcsinh arccosh arctanh"
    ).split()},
    **{getattr(np, name): (_op(name), 2) for name in (
        "arctan2 power hypot copysign less less_equal equal not_equal minimum maximum"
    ).split()},
    np.add: (_op("add"), 2), np.subtract: (_op("sub"), 2), np.multiply: (_op("mul"), 2), np.divide: (_op("div"), 2),
    np.float_power: (_op("power"), 2), np.greater: (_swapped("less"), 2), np.greater_equal: (_swapped("less_equal"), 2),
    np.fmin: (_skipping_nan("minimum"), 2), np.fmax: (_skipping_nan("maximum"), 2),
    np.negative: (_op("neg"), 1), np.positive: (lambda a: a, 1), np.absolute: (_op("abs"), 1),
    np.fabs: (_op("abs"), 1), np.conjugate: (lambda a: a, 1),
    np.square: (lambda a: build("mul", a, a), 1), np.reciprocal: (lambda a: build("div", 1.0, a), 1),
    np.floor: (_greatest_below("floor"), 1), np.rint: (_greatest_below("rint"), 1),
    np.trunc: (_greatest_below("trunc"), 1), np.ceil: (_ceil, 1),
    np.sign: (_sign, 1), np.heaviside: (_heaviside, 2),
    np.remainder: (_remainder, 2), np.fmod: (_fmod, 2), np.floor_divide: (_floor_divide, 2),
    np.logical_and: (_op("and"), 2), np.logical_or: (_op("or"), 2), np.logical_xor: (_op("xor"), 2),
    np.logical_not: (_op("not"), 1), np.invert: (_invert, 1),
    np.bitwise_and: (_by_type("and", "bit_and"), 2), np.bitwise_or: (_by_type("or", "bit_or"), 2),
    np.bitwise_xor: (_by_type("xor", "bit_xor"), 2),
    np.left_shift: (_op("shift_left"), 2), np.right_shift: (_op("shift_right"), 2),
    np.isnan: (lambda a: build("not_equal", a, a), 1), np.isfinite: (_finite, 1),
    np.isinf: (lambda a: build("equal", build("abs", a), math.inf), 1),
    np.signbit: (lambda a: build("less", build("copysign", 1.0, a), 0), 1),
    np.deg2rad: (_times(math.pi / 180), 1), np.radians: (_times(math.pi / 180), 1),
    np.rad2deg: (_times(180 / math.pi), 1), np.degrees: (_times(180 / math.pi), 1),
}  # fmt: skip

_IDENTITY = {np.add: 0.0, np.multiply: 1.0, np.logical_and: True, np.logical_or: False}

for _ufunc, (_function, _nin) in _SCALAR.items():
    _identity = {"identity": _IDENTITY[_ufunc]} if _ufunc in _IDENTITY else {}
    UFUNCS[_ufunc] = np.frompyfunc(_function, _nin, 1, **_identity)


_where = np.frompyfunc(_op("where"), 3, 1)


def _np_where(condition: Any, *choices: Any) -> Traced:
    if not choices:
        raise TraceError("np.where with one argument has a data-dependent shape", "use np.where(condition, a, b)")
    return Traced(_where(as_objects(condition), *map(as_objects, choices)))


def _np_clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = a_min if a_min is not None else min, a_max if a_max is not None else max
    result = a if low is None else np.maximum(a, low)
    result = result if high is None else np.minimum(result, high)
    if out is not None:
        out[...] = result
    return result


def _reduction(ufunc: np.ufunc) -> Callable[..., Any]:
    def reduce(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Traced:
        result = as_objects(a)
        axes = tuple(range(result.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        for k in axes:  # one after the other: NumPy does not know that their order does not matter
            result = UFUNCS[ufunc].reduce(result, axis=k, keepdims=True)
        return Traced(result if keepdims else np.squeeze(result, axes))

    return reduce


def _np_select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Any:
    result = default
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        result = np.where(condition, choice, result)
    return result


def _like(value: Any) -> Callable[..., Any]:
    return lambda a, dtype=None, shape=None, **_: Traced(
        np.full(shape if shape is not None else a.shape, value, object)
    )


FUNCTIONS.update({
    np.where: _np_where,
    np.clip: _np_clip,
    np.select: _np_select,
    np.max: _reduction(np.maximum), np.min: _reduction(np.minimum),
    np.amax: _reduction(np.maximum), np.amin: _reduction(np.minimum),
    np.any: _reduction(np.logical_or), np.all: _reduction(np.logical_and),
    np.zeros_like: _like(0.0), np.ones_like: _like(1.0), np.empty_like: _like(0.0),
    np.full_like: lambda a, fill, **kw: Traced(np.full(a.shape, fill, object)),
    np.copy: lambda a, **_: a.copy(),
    np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim, np.size: lambda a: a.size,
    np.linalg.norm: linalg.norm, np.linalg.solve: linalg.solve, np.linalg.inv: linalg.inv,
    np.linalg.det: linalg.det, np.linalg.cholesky: linalg.cholesky,
})  # fmt: skip
