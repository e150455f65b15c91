"""Traced arrays of uint32, which wrap around like NumPy's.

All elements of such an array are unsigned, so that the first one tells. Beside them, Python's integers adapt and floats
make floats; what NumPy makes int64 or uint64 is refused, since the integers of a float32 kernel have 32 bits.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from poinsot.fuse.graph.build import build
from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.graph.nodes import Node, Type, Value, common, type_of

WORD = np.dtype(np.uint32)
_DTYPES: dict[Type, Any] = {"f": float, "i": int, "u": np.uint32, "b": bool}
_NARROWER = (np.dtype(bool), np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.uint32))
_CONVERT = {"f": "to_float", "i": "to_int", "u": "to_uint", "b": "truth"}

# Functions that add or multiply: NumPy does so in uint64 or in floats.
_ADDING = set(
    "average cross cumprod cumsum cumulative_prod cumulative_sum det dot ediff1d einsum einsum_path gradient inner "
    "interp inv kron matmul matrix_power mean multi_dot norm outer polyval prod solve cholesky std sum tensordot trace "
    "trapezoid trapz vander var vdot vecdot".split()
)


def has_numbers(x: Any) -> bool:
    """Whether it is a plain array of floats, integers, uint32 or conditions."""
    return isinstance(x, np.ndarray) and (x.dtype.kind in "fib" or x.dtype == WORD)


def is_unsigned(data: np.ndarray) -> bool:
    """Whether the values of an object array are unsigned."""
    return data.size > 0 and type_of(data.item(0)) == "u"


def single_values(inputs: Sequence[Any]) -> list[Value] | None:
    """The operands of a ufunc, if all are single numbers, and none of them unsigned."""
    values: list[Value] = []
    for x in inputs:
        kind = type(x)
        value: Any = x
        if getattr(x, "__traced__", False) and x.shape == ():
            value = x.data.item()
        elif kind is np.float64:
            value = x.item()
        elif kind is not float and kind is not int:
            return None
        if (type(value) is Node and value.type == "u") or type(value) is np.uint32:
            return None
        values.append(value)
    return values


def converted(data: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """`astype` of an object array of values."""
    if dtype.kind not in "fiub" or (dtype.kind == "u" and dtype != np.uint32):
        raise TraceError(f"kernels have no {dtype}", "use float, int, bool or np.uint32")
    result = data.copy()
    for k, value in enumerate(data.flat):
        if type_of(value) != dtype.kind:
            result.flat[k] = build(_CONVERT[dtype.kind], value)
    return result


def aligned(data: np.ndarray) -> np.ndarray:
    """The values of a new array; if some are unsigned, all of the type that NumPy gives it."""
    types = {type_of(value) for value in data.flat}
    mixed = "u" in types and len(types) > 1
    return converted(data, np.dtype(_DTYPES[common(types)])) if mixed else data


def assigned(target: Type, values: np.ndarray) -> np.ndarray:
    """Values that are assigned to elements of an array of this type: converted, if one of the two is unsigned."""
    if (target == "u") == is_unsigned(values):
        return values
    return converted(values, np.dtype(_DTYPES[target]))


def operands(inputs: Sequence[Any], arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The operands of a function, as object arrays. Beside other integers, unsigned numbers that are known become
    integers, too; for others that is an error."""
    if not any(map(is_unsigned, arrays)) or not any(map(_is_wide, inputs, arrays)):
        return arrays
    if any(is_unsigned(array) and any(type(value) is Node for value in array.flat) for array in arrays):
        common(("u", "i"))  # raises
    return [converted(array, np.dtype(int)) if is_unsigned(array) else array for array in arrays]


def _is_wide(x: Any, array: np.ndarray) -> bool:
    """Whether it is an array of integers that NumPy does not convert to uint32; Python's own numbers are not."""
    whole = array.size > 0 and type_of(array.flat[0]) == "i"
    return whole and type(x) is not int and getattr(x, "dtype", None) not in _NARROWER


def ufunc_operands(ufunc: np.ufunc, method: str, inputs: Sequence[Any], arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The same for a ufunc; an error if NumPy computes it in a type that kernels do not have."""
    if not any(map(is_unsigned, arrays)):
        return arrays
    sums = ufunc in (np.add, np.multiply) and method in ("reduce", "accumulate", "reduceat")
    if sums or ufunc.signature is not None:
        raise _refused(f"np.{ufunc.__name__}" + f".{method}" * sums)
    return operands(inputs, arrays)


def check_function(function: Callable[..., Any]) -> None:
    """An error if a function, which gets arrays of unsigned numbers, adds or multiplies them."""
    if function.__name__ in _ADDING:
        raise _refused(f"np.{function.__name__}")


def _refused(name: str) -> TraceError:
    return TraceError(
        f"{name} of uint32 cannot be traced: NumPy computes it in a wider type",
        "convert the array first, x.astype(float), or add up the elements with +, which wraps around",
    )
