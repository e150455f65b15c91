"""NumPy's functions on traced arrays: one row of `FUNCTIONS` each.

Functions that only move, add or multiply elements, the `STRUCTURAL` ones, run on the object arrays as they are. Any
other function is refused: it might look at values that are not known yet, and be wrong in silence.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from poinsot.fuse.graph.build import build
from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.graph.nodes import Node
from poinsot.fuse.trace import linalg, unsigned
from poinsot.fuse.trace.table import interp
from poinsot.fuse.trace.traced import Traced, as_objects
from poinsot.fuse.trace.ufuncs import on_objects, truth

_truths = np.frompyfunc(truth, 1, 1)
_where = np.frompyfunc(lambda condition, a, b: build("where", condition, a, b), 3, 1)


def _np_where(condition: Any, *choices: Any) -> Traced:
    if not choices:
        raise TraceError("np.where with one argument has a data-dependent shape", "use np.where(condition, a, b)")
    values = unsigned.operands(choices, [*map(as_objects, choices)])
    return Traced(_where(as_objects(condition), *values))


def _np_clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = a_min if a_min is not None else min, a_max if a_max is not None else max
    result = a if low is None else np.maximum(a, low)
    return _into(out, result if high is None else np.minimum(result, high))


def _reduction(ufunc: np.ufunc) -> Callable[..., Any]:
    def reduce(
        a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Any:
        result = as_objects(a if where is True else np.where(where, a, ufunc.identity if initial is None else initial))
        if ufunc in (np.logical_and, np.logical_or):
            result = as_objects(_truths(result))
        axes = tuple(range(result.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        for k in axes:  # one by one: NumPy does not know that their order does not matter
            result = on_objects(ufunc).reduce(result, axis=k, keepdims=True)
        reduced = Traced(result if keepdims else np.squeeze(result, axes))
        return _into(out, reduced if initial is None else ufunc(initial, reduced))

    return reduce


IDENTITY = {np.sum: 0.0, np.prod: 1.0, np.mean: 0.0}  # what is added to a sum, or multiplied, for what is left out


def _masked(func: Callable[..., Any], a: Any, *args: Any, where: Any = True, initial: Any = None, **kwargs: Any) -> Any:
    """A sum, product or mean of the elements that a mask leaves, and of an initial value."""
    a = a if isinstance(a, Traced) else np.stack(a)
    out = kwargs.pop("out", None)
    result = func(np.where(where, a, IDENTITY[func]), *args, **kwargs)
    if func is np.mean:
        result = result / np.mean(np.where(where, np.ones(a.shape), 0.0), *args, **kwargs)
    if initial is not None:
        result = initial + result if func is np.sum else initial * result
    return _into(out, result)


def _into(out: Any, result: Any) -> Any:
    """The result, or the array `out` that it was written to."""
    if out is None:
        return result
    out[...] = result
    return out


def _np_select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Any:
    result = default
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        result = np.where(condition, choice, result)
    return result


def _like(value: Any) -> Callable[..., Any]:
    def like(a: Any, dtype: Any = None, shape: Any = None, **_: Any) -> Traced:
        shape = a.shape if shape is None else shape
        return _full_like(a, value, np.uint32, shape=shape) if _has_words(a) else Traced(np.full(shape, value, object))

    return like


def _full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None
) -> Any:
    values = np.broadcast_to(as_objects(fill_value), np.shape(a) if shape is None else shape).copy()
    dtype = np.uint32 if dtype is None and _has_words(a) else dtype
    return Traced(values) if dtype is None else Traced(values).astype(dtype)


def _np_size(a: Any, axis: int | None = None) -> int:
    return a.size if axis is None else a.shape[axis]


def _np_var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    if dtype is not None and np.dtype(dtype).kind != "f":
        raise refused(np.var, f" with dtype={np.dtype(dtype)}")
    mean = np.mean(a, axis=axis, keepdims=True)
    count = a.size // mean.size
    return _into(out, np.sum((a - mean) ** 2, axis=axis, keepdims=keepdims) / (count - ddof))


def _np_std(a: Any, *args: Any, out: Any = None, **kwargs: Any) -> Any:
    return _into(out, np.sqrt(_np_var(a, *args, **kwargs)))


def _np_diff(a: Any, n: int = 1, axis: int = -1, **ends: Any) -> Any:
    if isinstance(a, Traced) and a.dtype.kind == "b":
        raise refused(np.diff, " of conditions")
    return Traced(np.diff(as_objects(a), n, axis, **{name: as_objects(end) for name, end in ends.items()}))


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.where: _np_where,
    np.clip: _np_clip,
    np.select: _np_select,
    np.max: _reduction(np.maximum), np.min: _reduction(np.minimum),
    np.amax: _reduction(np.maximum), np.amin: _reduction(np.minimum),
    np.any: _reduction(np.logical_or), np.all: _reduction(np.logical_and),
    np.zeros_like: _like(0.0), np.ones_like: _like(1.0), np.empty_like: _like(0.0),
    np.full_like: _full_like,
    np.diff: _np_diff,
    np.copy: lambda a, **_: a.copy(),
    np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim, np.size: _np_size,
    np.iscomplexobj: lambda a: False, np.isrealobj: lambda a: True,
    np.linalg.norm: linalg.norm, np.linalg.solve: linalg.solve, np.linalg.inv: linalg.inv,
    np.linalg.det: linalg.det, np.linalg.cholesky: linalg.cholesky,
    np.interp: interp, np.var: _np_var, np.std: _np_std,
}  # fmt: skip

# NumPy's own code serves, on arrays of objects.
STRUCTURAL: frozenset[Callable[..., Any]] = frozenset(
    getattr(module, name)
    for module, names in (
        (
            np,
            "append array_split average atleast_1d atleast_2d atleast_3d block broadcast_to column_stack concatenate "
            "concat cross cumprod cumsum cumulative_prod cumulative_sum delete diag diagflat diagonal dot dsplit "
            "dstack ediff1d einsum einsum_path expand_dims flip fliplr flipud gradient hsplit hstack inner insert "
            "kron matrix_transpose mean moveaxis outer pad permute_dims polyval prod ravel repeat reshape resize roll "
            "rollaxis rot90 row_stack split squeeze stack sum swapaxes take take_along_axis tensordot tile trace "
            "transpose trapezoid trapz tril triu unstack vander vdot vsplit vstack",
        ),
        (np.linalg, "cross diagonal matmul matrix_power matrix_transpose multi_dot outer tensordot trace vecdot"),
    )
    for name in names.split()
    if hasattr(module, name)
)

# What to write instead of a function that cannot be traced.
INSTEAD = {
    **dict.fromkeys("sort argsort partition argpartition lexsort sort_complex".split(), "np.minimum and np.maximum"),
    **dict.fromkeys("argmax argmin nanargmax nanargmin".split(), "np.where on comparisons with np.max or np.min"),
    **dict.fromkeys("nansum nanprod nanmean nancumsum nancumprod nanvar nanstd nanmin nanmax".split(),
                    "np.where(np.isnan(x), 0.0, x), and the function without 'nan'"),
    **dict.fromkeys("round around".split(), "np.rint(x), or np.rint(x * 100) / 100 for two decimals"),
    "nan_to_num": "np.where(np.isfinite(x), x, 0.0)",
    **dict.fromkeys("array_equal array_equiv".split(), "np.all(a == b)"),
    **dict.fromkeys("allclose isclose".split(), "np.abs(a - b) <= tolerance"),
    **dict.fromkeys("isin in1d".split(), "np.any(x == values)"),
    **dict.fromkeys("nonzero flatnonzero argwhere unique compress extract trim_zeros".split(),
                    "np.where(mask, a, b): the shape of a result must not depend on values"),
    **dict.fromkeys("searchsorted digitize".split(), "pt.Table, or np.interp on a constant grid"),
    **dict.fromkeys("piecewise".split(), "np.where or np.select"),
    **dict.fromkeys("eig eigh eigvals eigvalsh svd svdvals qr lstsq pinv matrix_rank cond slogdet".split(),
                    "np.linalg.solve, inv, det or cholesky, or compute it outside of the kernel"),
}  # fmt: skip


def refused(func: Callable[..., Any], why: str = "") -> TraceError:
    """The error for a function of NumPy that cannot be traced."""
    name = f"{func.__module__}.{func.__name__}".replace("numpy.", "np.")
    instead = INSTEAD.get(func.__name__)
    fix = f"use {instead}" if instead else "write it with the functions listed in docs/compiler.md"
    return TraceError(f"{name} cannot be traced{why}", fix)


def apply(func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """A function of NumPy on arguments that contain traced arrays."""
    words = _has_words(args) or _has_words(kwargs)
    if words:
        unsigned.check_function(func)
    if func in FUNCTIONS:
        try:
            return FUNCTIONS[func](*args, **kwargs)
        except TypeError as error:
            raise refused(func, f" with {_named(kwargs)} ({error})") from None
    if func in IDENTITY and not kwargs.keys().isdisjoint(("where", "initial")):
        return _masked(func, *args, **kwargs)
    if func not in STRUCTURAL and not _is_known((args, kwargs)):
        raise refused(func)
    try:
        if func in STRUCTURAL:
            result = func(*_unwrap(args, words), **_unwrap(kwargs, words))
            return _wrap(unsigned.aligned(result) if words and isinstance(result, np.ndarray) else result)
        return _traced(func(*_plain(args), **_plain(kwargs)))  # of known numbers
    except TraceError:
        raise
    except (TypeError, AttributeError, IndexError) as error:
        raise refused(func, f" like this ({error})") from None


def _named(kwargs: Any) -> str:
    """The names of keyword arguments, as they are written."""
    return ", ".join(f"{name}=" for name in kwargs) or "these arguments"


def _unwrap(x: Any, words: bool) -> Any:
    """The arguments of a function with object arrays for traced ones, and for plain ones of uint32, if `words`."""
    if isinstance(x, Traced) or (words and getattr(x, "dtype", None) == np.uint32):
        return as_objects(x)
    if isinstance(x, (list, tuple)):
        return type(x)(_unwrap(part, words) for part in x)
    if isinstance(x, dict):
        return {key: _unwrap(value, words) for key, value in x.items()}
    return x


def _is_known(x: Any) -> bool:
    """Whether all numbers in the arguments of a function are known."""
    if isinstance(x, Traced):
        return x.is_known()
    if isinstance(x, (list, tuple)):
        return all(map(_is_known, x))
    return not isinstance(x, dict) or all(map(_is_known, x.values()))


def _plain(x: Any) -> Any:
    """The arguments of a function with NumPy's own arrays for traced ones, whose numbers are known."""
    if isinstance(x, Traced):
        return x.__array__()
    if isinstance(x, (list, tuple)):
        return type(x)(map(_plain, x))
    if isinstance(x, dict):
        return {key: _plain(value) for key, value in x.items()}
    return x


def _wrap(x: Any) -> Any:
    if (isinstance(x, np.ndarray) and x.dtype == object) or type(x) is Node:
        return Traced(x)
    if isinstance(x, (list, tuple)) and type(x) in (list, tuple):
        return type(x)(map(_wrap, x))
    return x


def _traced(x: Any) -> Any:
    """Arrays of known numbers as traced ones, which traced values can be assigned to."""
    return Traced(as_objects(x)) if unsigned.has_numbers(x) else x


def _has_words(x: Any) -> bool:
    """Whether any of the traced arrays among the arguments of a function is unsigned."""
    if type(x) is Traced:
        return x._type == "u"
    if isinstance(x, (list, tuple)):
        return any(map(_has_words, x))
    return isinstance(x, dict) and any(map(_has_words, x.values()))
