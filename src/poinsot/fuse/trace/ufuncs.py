"""NumPy's ufuncs on object arrays of values: one row of `SCALAR_RULES` each."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from poinsot.fuse.graph.build import build, is_number, known, lift
from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.graph.nodes import Value, is_strict, type_of


def _op(name: str) -> Callable[..., Value]:
    return functools.partial(build, name)


def _swapped(name: str) -> Callable[[Value, Value], Value]:
    return lambda a, b: build(name, b, a)


def _by_type(boolean: str, integer: str) -> Callable[[Value, Value], Value]:
    """& | ^, of conditions or of integers."""
    return lambda a, b: build(boolean if type_of(a) == type_of(b) == "b" else integer, a, b)


def _times(factor: float) -> Callable[[Value], Value]:
    return lambda a: build("mul", a, factor)


def _invert(a: Value) -> Value:
    if type_of(a) == "b":
        return build("not", a)
    return build("bit_xor", a, 0xFFFFFFFF if type_of(a) == "u" else -1)


def _is_whole(a: Value) -> bool:
    return type_of(a) != "f"


def _rounded(name: str) -> Callable[[Value], Value]:
    """floor, trunc and rint leave integers as they are."""
    return lambda a: a if _is_whole(a) else build(name, a)


def _ceil(a: Value) -> Value:
    return a if _is_whole(a) else build("neg", build("floor", build("neg", a)))


def _real(a: Value) -> Value:
    return build("to_float", a) if _is_whole(a) else a


def truth(a: Value) -> Value:
    """Whether a value is not zero; NaN is not."""
    return a if type_of(a) == "b" else build("truth", a)


def _logic(name: str) -> Callable[..., Value]:
    return lambda *args: build(name, *map(truth, args))


def _reciprocal(a: Value) -> Value:
    if _is_whole(a):
        raise TraceError("np.reciprocal of integers cannot be traced", "use 1.0 / x")
    return build("div", 1.0, a)


def _sign(a: Value) -> Value:
    """1 or -1; NaN as it is, and a zero too, which loses its sign in a strict kernel, as in NumPy."""
    if type_of(a) == "u":
        return build("minimum", a, 1)
    rest = build("where", build("equal", a, 0), 0.0, a) if is_strict() and type_of(a) == "f" else a
    return build("where", build("less", 0, a), 1, build("where", build("less", a, 0), -1, rest))


def _floor_divide(a: Value, b: Value) -> Value:
    """floor(a / b) from the remainder, which is exact; a / b where b is 0."""
    if _is_whole(a) and _is_whole(b):
        return build("floordiv", a, b)
    if is_strict():
        return _strict_floor_divide(a, b)
    whole = build("rint", build("div", build("sub", a, _remainder(a, b)), b))
    unbounded = build("and", build("equal", build("abs", b), math.inf), _finite(a))
    whole = build("where", unbounded, build("where", _opposite_signs(a, b), -1.0, 0.0), whole)
    return build("where", build("equal", b, 0), build("div", a, b), whole)


def _strict_floor_divide(a: Value, b: Value) -> Value:
    """floor(a / b) with NumPy's infinities, NaN and zeros: from the remainder with the sign of a, and one less where
    that is not the sign of b."""
    r, ratio = _fmod(a, b), build("div", a, b)
    quotient = build("div", build("sub", a, r), b)
    quotient = build("where", _opposite_signs(r, b), build("sub", quotient, 1.0), quotient)
    whole = build("where", build("equal", quotient, 0), build("copysign", 0.0, ratio), build("rint", quotient))
    return build("where", build("equal", b, 0), ratio, whole)


def _opposite_signs(a: Value, b: Value) -> Value:
    return build("less", build("mul", build("copysign", 1.0, b), a), 0)


def _remainder(a: Value, b: Value) -> Value:
    """a - floor(a/b) b, with the sign of b. The quotient may be rounded up, so the fused remainder may lack one b."""
    if _is_whole(a) and _is_whole(b):
        return build("modulo", a, b)
    if type_of(b) == "f" and is_number(b, 0):
        return math.nan
    if is_strict():
        a = _reduced(a, b)
    r = build("fma", build("neg", build("floor", build("div", a, b))), b, a)
    r = build("where", _opposite_signs(r, b), build("add", r, b), r)
    unbounded = build("equal", build("abs", b), math.inf)
    inside = build("and", unbounded, _finite(a))
    r = build("where", inside, build("where", _opposite_signs(a, b), b, a), r)
    return build("where", build("equal", r, 0), build("copysign", 0.0, b), r) if is_strict() else r


def _reduced(a: Value, b: Value) -> Value:
    """a, less a multiple of b that leaves no more than 2^20 b: long division by b 2^20k, from the largest down."""
    from poinsot.fuse.trace.control import fori_loop  # which is built on these operations
    from poinsot.fuse.trace.traced import Traced

    digits, most = 2.0**20, 2 * 1075 // 20 + 1  # float32 has 24 digits; the largest quotient of floats is below 2^2100

    def up(_: Any, d: Any) -> Any:
        return np.where(d * digits <= size, d * digits, d)

    def down(_: Any, carry: Any) -> Any:
        r, d = carry
        less = fused(-np.floor(r / d), d, r)
        less = np.where(less < 0, less + d, less)
        return np.where((d > unit) & (d <= r), less, r), np.where(d > unit, d / digits, d)

    def fused(x: Any, y: Any, z: Any) -> Any:
        return Traced(build("fma", x.data[()], y.data[()], z.data[()]))

    size, unit = (Traced(build("abs", lift(x, "f"))) for x in (a, b))
    largest = fori_loop(most, up, unit)
    rest, _ = fori_loop(most, down, (size, largest))
    return build("copysign", rest.data[()], a)


def _power(a: Value, b: Value) -> Value:
    if "u" not in (type_of(a), type_of(b)) or not (_is_whole(a) and _is_whole(b)):
        return build("power", a, b)
    if not known(b) or b not in (1, 2, 3, 4):
        raise TraceError("a power of uint32 cannot be traced", "multiply, or use x.astype(float)")
    return functools.reduce(lambda x, _: build("mul", x, a), range(int(b) - 1), a)


def _fmod(a: Value, b: Value) -> Value:
    if type_of(a) == "u" and _is_whole(b):
        return _remainder(a, b)
    return build("copysign", _remainder(build("abs", a), build("abs", b)), a)


def _heaviside(a: Value, at_zero: Value) -> Value:
    at_zero = build("where", build("equal", a, 0), at_zero, a)
    return build("where", build("less", a, 0), 0.0, build("where", build("less", 0, a), 1.0, at_zero))


def _skipping_nan(name: str) -> Callable[[Value, Value], Value]:
    """fmin and fmax: the number, if the other argument is NaN."""

    def choose(a: Value, b: Value) -> Value:
        both = build("where", build("not_equal", b, b), a, build(name, a, b))
        return build("where", build("not_equal", a, a), b, both)

    return choose


def _extreme(name: str) -> Callable[..., Value]:
    """minimum and maximum; of two zeros a strict kernel takes the second one, as NumPy does."""

    def choose(a: Value, b: Value) -> Value:
        chosen = build(name, a, b)
        both_zero = is_strict() and type_of(a) == type_of(b) == "f"
        return build("where", build("equal", a, b), b, chosen) if both_zero else chosen

    return choose


def _finite(a: Value) -> Value:
    return build("less", build("abs", a), math.inf)


# For each ufunc, the operations on single values.
SCALAR_RULES: dict[np.ufunc, Callable[..., Value]] = {
    **{getattr(np, name): _op(name) for name in (
        "sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh "
        "arcsinh arccosh arctanh spacing"
    ).split()},
    **{getattr(np, name): _op(name) for name in (
        "arctan2 hypot logaddexp copysign less less_equal equal not_equal"
    ).split()},
    np.add: _op("add"), np.subtract: _op("sub"), np.multiply: _op("mul"), np.divide: _op("div"),
    np.power: _power, np.float_power: lambda a, b: build("power", _real(a), b),
    np.greater: _swapped("less"), np.greater_equal: _swapped("less_equal"),
    np.minimum: _extreme("minimum"), np.maximum: _extreme("maximum"),
    np.fmin: _skipping_nan("minimum"), np.fmax: _skipping_nan("maximum"),
    np.negative: _op("neg"), np.positive: lambda a: a, np.absolute: _op("abs"),
    np.fabs: lambda a: build("abs", _real(a)), np.conjugate: lambda a: a,
    np.square: lambda a: build("mul", a, a), np.reciprocal: _reciprocal,
    np.floor: _rounded("floor"), np.rint: _rounded("rint"),
    np.trunc: _rounded("trunc"), np.ceil: _ceil,
    np.sign: _sign, np.heaviside: _heaviside,
    np.remainder: _remainder, np.fmod: _fmod, np.floor_divide: _floor_divide,
    np.logical_and: _logic("and"), np.logical_or: _logic("or"), np.logical_xor: _logic("xor"),
    np.logical_not: _logic("not"), np.invert: _invert,
    np.bitwise_and: _by_type("and", "bit_and"), np.bitwise_or: _by_type("or", "bit_or"),
    np.bitwise_xor: _by_type("xor", "bit_xor"),
    np.left_shift: _op("shift_left"), np.right_shift: _op("shift_right"),
    np.isnan: lambda a: build("not_equal", a, a), np.isfinite: _finite,
    np.isinf: lambda a: build("equal", build("abs", a), math.inf),
    np.signbit: lambda a: build("less", build("copysign", 1.0, a), 0),
    np.deg2rad: _times(math.pi / 180), np.radians: _times(math.pi / 180),
    np.rad2deg: _times(180 / math.pi), np.degrees: _times(180 / math.pi),
}  # fmt: skip

_IDENTITY = {np.add: 0.0, np.multiply: 1.0, np.logical_and: True, np.logical_or: False}


@functools.cache
def on_objects(ufunc: np.ufunc) -> np.ufunc:
    """The same ufunc on object arrays of values, with `reduce`, `outer` and the rest."""
    identity = {"identity": _IDENTITY[ufunc]} if ufunc in _IDENTITY else {}
    same: np.ufunc = np.frompyfunc(SCALAR_RULES[ufunc], ufunc.nin, 1, **identity)
    return same
