"""The operations: for each the NumPy function that defines it, and the types of its arguments and result."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.graph.nodes import PYTHON, Scalar, Type, Value, common

Wanted: TypeAlias = Type | Literal["?"]  # the type that an argument is converted to; "?": it is taken as it is
Types: TypeAlias = tuple[tuple[Wanted, ...], Type]  # of the arguments, and of the result

_asarray = np.asarray  # the original, also while `creation` replaces it


@dataclass(frozen=True)
class Op:
    """`evaluate` works on whole arrays; `types` maps the types of the arguments to `Types`."""

    evaluate: Callable[..., Any]
    types: Callable[..., Types]

    def fold(self, *values: Value) -> float:
        """The result for known numbers, as a Python number, or an unsigned one."""
        with np.errstate(all="ignore"):
            result = _asarray(self.evaluate(*values))
        number: float = PYTHON["u"](result.item()) if result.dtype == np.uint32 else result.item()
        return number


def _number(*types: Type) -> Types:
    """Floats or integers; conditions count as integers."""
    type_: Scalar = "f" if "f" in types else "i" if "u" not in types else common(types)
    return (type_,) * len(types), type_


def _whole(*types: Type) -> Types:
    """Integers, or unsigned ones."""
    type_: Scalar = common(types) if "u" in types else "i"
    if type_ == "f":
        raise TraceError("an operation on bits or whole numbers mixes uint32 and floats", "use x.astype(np.uint32)")
    return (type_,) * len(types), type_


def _all(type_: Scalar) -> Callable[..., Types]:
    """Arguments and result of one type."""
    return lambda *types: ((type_,) * len(types), type_)


def _compare(a: Type, b: Type) -> Types:
    return _number(a, b)[0], "b"


def _choose(_: Type, a: Type, b: Type) -> Types:
    type_ = a if a == b else _number(a, b)[1]
    return ("b", type_, type_), type_


def _fixed(argument: Wanted, result: Scalar) -> Callable[[Type], Types]:
    return lambda _: ((argument,), result)


_real, _integer, _logic = _all("f"), _all("i"), _all("b")


def _to_unsigned(x: Any) -> Any:
    """Modulo 2^32; a float is truncated first, and has to be below 2^63."""
    x = _asarray(x)
    return (x.astype(np.int64) if x.dtype.kind == "f" else x).astype(np.uint32)


def _view(to: str) -> Callable[[Any], Any]:
    """Reinterpret the bits: between float64 and int64, or float32 and int32."""

    def view(x: Any) -> Any:
        x = _asarray(x)
        return x.view(f"{to}{x.dtype.itemsize}")

    return view


def _shift_right_logical(i: Any, k: Any) -> Any:
    i = _asarray(i)
    unsigned = i.dtype.str.replace("i", "u")
    return np.right_shift(i.view(unsigned), _asarray(k).astype(unsigned)).view(i.dtype)


def _fma(a: Any, b: Any, c: Any) -> Any:
    """a*b + c, with the rounding errors of product and sum added: NumPy has no fused multiply-add.

    Dekker, Numer. Math. 18 (1971): two halves of each factor have products without rounding. Where these overflow, and
    for integers, it is rounded twice.
    """
    product = np.multiply(a, b)
    total = np.add(product, c)
    digits = {"float64": 27, "float32": 12}.get(str(np.asarray(total).dtype))
    if digits is None:
        return total
    with np.errstate(all="ignore"):
        (a1, a2), (b1, b2) = (_halves(np.asarray(x, total.dtype), digits) for x in (a, b))
        lost = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2
        back = total - product
        lost = lost + ((product - (total - back)) + (c - back))
        return np.where(np.isfinite(lost), total + lost, total)[()]


def _halves(x: Any, digits: int) -> tuple[Any, Any]:
    """x as a sum of two numbers of half its digits."""
    shifted = x * (2.0**digits + 1.0)
    high = shifted - (shifted - x)
    return high, x - high


OPS: dict[str, Op] = {
    # arithmetic of floats or integers
    "add": Op(np.add, _number),
    "sub": Op(np.subtract, _number),
    "mul": Op(np.multiply, _number),
    "neg": Op(np.negative, _number),
    "abs": Op(np.abs, _number),
    "minimum": Op(np.minimum, _number),
    "maximum": Op(np.maximum, _number),
    "div": Op(np.divide, _real),
    "fma": Op(_fma, _real),
    # one float to one float
    **{
        name: Op(getattr(np, name), _real)
        for name in (
            "sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh "
            "arccosh arctanh floor rint trunc spacing"
        ).split()
    },
    # two floats to one
    **{name: Op(getattr(np, name), _real) for name in "arctan2 power hypot logaddexp copysign".split()},
    # comparisons and logic
    "less": Op(np.less, _compare),
    "less_equal": Op(np.less_equal, _compare),
    "equal": Op(np.equal, _compare),
    "not_equal": Op(np.not_equal, _compare),
    "and": Op(np.logical_and, _logic),
    "or": Op(np.logical_or, _logic),
    "xor": Op(np.logical_xor, _logic),
    "not": Op(np.logical_not, _logic),
    "where": Op(np.where, _choose),
    # integers and bits
    "floordiv": Op(np.floor_divide, _whole),
    "modulo": Op(np.remainder, _whole),
    "bit_and": Op(np.bitwise_and, _whole),
    "bit_or": Op(np.bitwise_or, _whole),
    "bit_xor": Op(np.bitwise_xor, _whole),
    "shift_left": Op(np.left_shift, _whole),
    "shift_right": Op(np.right_shift, _whole),
    "shift_right_logical": Op(_shift_right_logical, _integer),
    "to_float": Op(lambda x: _asarray(x).astype(float), _fixed("?", "f")),
    "to_int": Op(lambda x: _asarray(x).astype(int), _fixed("?", "i")),
    "to_uint": Op(_to_unsigned, _fixed("?", "u")),
    "truth": Op(lambda x: _asarray(x) != 0, _fixed("?", "b")),
    "bits": Op(_view("i"), _fixed("f", "i")),
    "from_bits": Op(_view("f"), _fixed("i", "f")),
    "held": Op(np.positive, _real),  # the number itself, which derivatives take as constant
}

BY_PRECISION = {"spacing"}  # other numbers in float32: not folded where their arguments are known

REAL = {op for op, row in OPS.items() if row.types in (_number, _real)}  # of floats, a float

# Operations that `build` does not make: `memory`, `control` and `math.machine` do.
STRUCTURE = {"const", "param", "proj", "loop", "call", "slow_path", "array", "get", "set", "table"}
