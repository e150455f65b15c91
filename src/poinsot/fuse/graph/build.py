"""Building nodes: an operation on known numbers is folded, one that a rule can simplify is simplified, the rest become
nodes.

The rules never change a result by rounding. They assume that x*0 is 0 and x-x is 0, which is what makes the sparse 6x6
algebra of the books cheap, and that the sign of a zero does not matter, so that b-a can be derived from a-b. A strict
graph has the `STRICT` rules instead of these, which hold for infinities, NaN and zeros of either sign.
"""

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.graph.nodes import PYTHON, Graph, Node, Scalar, Type, Value, current, innermost, type_of
from poinsot.fuse.graph.ops import BY_PRECISION, OPS, REAL, Wanted

if TYPE_CHECKING:
    from typing_extensions import TypeIs  # in `typing` from Python 3.13 on

Rule: TypeAlias = Callable[..., Value | None]  # a simpler value for the arguments of an operation, if there is one

# The operation that converts to a type, from another.
_CONVERSIONS: dict[tuple[Wanted, Type], str] = {
    ("f", "i"): "to_float",
    ("f", "b"): "to_float",
    ("i", "b"): "to_int",
    ("i", "f"): "to_int",
    ("b", "f"): "truth",
    ("b", "i"): "truth",
    ("f", "u"): "to_float",
    ("i", "u"): "to_int",
    ("u", "b"): "to_uint",
    ("u", "f"): "to_uint",
    ("u", "i"): "to_uint",
    ("b", "u"): "truth",
}


_word = PYTHON["u"]
_COMMUTING = ("add", "mul")
# Of Python's floats, for which they are those of NumPy.
_FOLDS: dict[str, Callable[..., float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
}


def build(op: str, *args: Value) -> Value:
    """Apply an operation of the table `OPS` to nodes and Python numbers."""
    floats = numbers = True
    for arg in args:
        if type(arg) is Node:
            numbers = False
            if arg.type != "f":
                if arg.type == "u":
                    return _build_words(op, args)
                floats = False
        elif type(arg) is not float:
            if type(arg) is _word:
                return _build_words(op, args)
            floats = False
    return _build(op, args, RULES, numbers, floats and op in REAL)


def _build_words(op: str, args: tuple[Value, ...]) -> Value:
    """The same where some are unsigned."""
    args = _beside_unsigned(op, args)
    rules = UNSIGNED if any(type_of(arg) == "u" for arg in args) else RULES
    return _build(op, args, rules, all(map(known, args)), floats=False)


def _build(op: str, args: tuple[Value, ...], rules: dict[str, Rule], numbers: bool, floats: bool) -> Value:
    """The operation; `numbers`: all arguments are known; `floats`: arguments and result are floats."""
    if numbers and floats and op in _FOLDS:
        return _FOLDS[op](*args)
    graph = innermost()
    strict = graph is not None and graph.strict
    rule = STRICT[op] if strict and op in STRICT and rules is RULES else rules.get(op)
    if rule is not None:
        simpler = rule(*args)
        if simpler is not None:
            return simpler
    if numbers and op not in BY_PRECISION:
        return OPS[op].fold(*args)
    if graph is None:
        graph = current()  # an error
    if op in _COMMUTING:
        a, b = args
        if type(a) is Node and type(b) is Node and a.graph is b.graph and a.index > b.index:
            args = (b, a)  # in one order, so that a+b and b+a are one node
    if floats:
        result: Type = "f"
        nodes = tuple([arg if type(arg) is Node else graph.constant(arg, "f") for arg in args])
    else:
        wanted, result = OPS[op].types(*map(type_of, args))
        nodes = tuple([lift(arg, t) for arg, t in zip(args, wanted, strict=True)])
    opposite = None if strict or result != "f" else _opposite(graph, op, nodes)
    return graph.node(op, nodes, result) if opposite is None else graph.node("neg", (opposite,), "f")


def _opposite(graph: Graph, op: str, args: tuple[Node, ...]) -> Node | None:
    """The node of opposite sign, if there is one already: b - a for a - b, and -c x for c x."""
    if op == "sub":
        return graph.find("sub", args[::-1], "f")
    if op == "mul" and args[1].op == "const":
        return graph.find("mul", (args[0], graph.constant(-args[1].data, "f")), "f")
    return None


def _beside_unsigned(op: str, args: tuple[Value, ...]) -> tuple[Value, ...]:
    """The arguments of an operation on an unsigned number, each of the type that it is used as.

    A Python integer adapts, as in NumPy. Beside a float, an unsigned number becomes a float.
    """
    weak = [type(arg) is int for arg in args]
    types = [type_of(arg) for arg in args]
    wanted, _ = OPS[op].types(*("b" if w else t for w, t in zip(weak, types, strict=True)))
    result: list[Value] = []
    for arg, type_, want in zip(args, types, wanted, strict=True):
        if want == "u" and type(arg) is int and not 0 <= arg < 1 << 32:
            raise TraceError(f"{arg} is used as a uint32", "numbers beside a uint32 are 0 ... 2^32 - 1, or floats")
        if want in ("?", type_) or (type(arg) is int and want not in ("u", "f")):
            result.append(arg)
        else:
            result.append(lift(arg, want) if type(arg) is Node else PYTHON[want](arg))  # type: ignore[index]
    return tuple(result)


def lift(value: Value, wanted: Wanted) -> Node:
    """The value as a node, converted to the wanted type ("?": as it is)."""
    if type(value) is not Node:
        try:
            return current().constant(value, type_of(value) if wanted == "?" else wanted)
        except TypeError:
            raise TraceError(f"{value!r} is not a number", "give numbers, or traced values") from None
    if value.type == wanted or wanted == "?":
        return value
    converted = build(_CONVERSIONS[wanted, value.type], value)
    assert not known(converted)
    return converted


def known(value: Value) -> "TypeIs[float]":
    """Whether a value is a Python number, known while tracing."""
    return type(value) is not Node


def is_number(value: Value, number: float) -> bool:
    return type(value) is not Node and value == number


def is_op(value: Value, op: str) -> TypeGuard[Node]:
    return type(value) is Node and value.op == op


def _ordered(op: str, a: Value, b: Value) -> Value | None:
    """A commutative operation with its arguments in one order, so that a+b and b+a are one node."""
    if type(a) is Node and type(b) is Node and a.graph is b.graph and a.index > b.index:
        return build(op, b, a)
    return None


def _add(a: Value, b: Value) -> Value | None:
    if type(a) is not Node:
        return None if type(b) is not Node else b if a == 0 else build("add", b, a)
    if type(b) is not Node:
        return a if b == 0 else build("sub", b, a.args[0]) if a.op == "neg" else None
    if b.op == "neg":
        return build("sub", a, b.args[0])
    if a.op == "neg":
        return build("sub", b, a.args[0])
    return None


def _sub(a: Value, b: Value) -> Value | None:
    if type(a) is not Node:
        return build("neg", b) if a == 0 and type(b) is Node else None
    if type(b) is not Node:
        return a if b == 0 else build("add", a, -b)
    if a is b:
        return 0.0 if a.type == "f" else 0
    if b.op == "neg":
        return build("add", a, b.args[0])
    if a.op == "neg":
        return build("neg", build("add", a.args[0], b))
    return None


def _mul(a: Value, b: Value) -> Value | None:
    if type(a) is not Node:
        if type(b) is not Node:
            return None
        simpler = _times(b, a)
        return build("mul", b, a) if simpler is None else simpler
    if type(b) is not Node:
        return _times(a, b)
    if a.op == "neg":
        return build("neg", build("mul", a.args[0], b)) if b.op != "neg" else build("mul", a.args[0], b.args[0])
    if b.op == "neg":
        return build("neg", build("mul", a, b.args[0]))
    return None


def _times(a: Node, b: float) -> Value | None:
    if b == 0:
        return 0.0 if a.type == "f" else 0
    if b == 1:
        return a if type_of(b) != "f" or a.type == "f" else build("to_float", a)
    if b == -1:
        return build("neg", a)
    return build("mul", a.args[0], -b) if a.op == "neg" else None


def _div(a: Value, b: Value) -> Value | None:
    if is_number(a, 0) and not known(b):
        return 0.0
    if known(b) and not known(a):
        exact = 0 < abs(b) < math.inf and 1.0 / (1.0 / b) == b and _is_power_of_two(b)
        return build("mul", a, 1.0 / b) if exact else None
    if is_op(a, "neg"):
        return build("neg", build("div", a.args[0], b))
    if is_op(b, "neg"):
        return build("neg", build("div", a, b.args[0]))
    if type(a) is Node and a is b and a.type == "f":
        return 1.0
    return None


def _is_power_of_two(x: float) -> bool:
    return abs(float(x).as_integer_ratio()[0]) & (abs(float(x).as_integer_ratio()[0]) - 1) == 0


def _neg(a: Value) -> Value | None:
    if is_op(a, "neg"):
        return a.args[0]
    if is_op(a, "sub"):
        return build("sub", a.args[1], a.args[0])
    return None


def _abs(a: Value) -> Value | None:
    return build("abs", a.args[0]) if is_op(a, "neg") else a if is_op(a, "abs") else None


def _even(op: str) -> Callable[[Value], Value | None]:
    return lambda a: build(op, a.args[0]) if is_op(a, "neg") else None


def _odd(op: str) -> Callable[[Value], Value | None]:
    return lambda a: build("neg", build(op, a.args[0])) if is_op(a, "neg") else None


def _power(a: Value, b: Value) -> Value | None:
    """Small whole powers and square roots need no logarithm."""
    if known(a) or not known(b) or b not in (0, 1, 2, 3, 4, -1, -2, 0.5):
        return None
    if b == 0.5:
        return build("sqrt", a)
    if b < 0:
        return build("div", 1.0, build("power", a, -b))
    square = build("mul", a, a)
    powers: list[Value] = [1.0, a, square, build("mul", square, a), build("mul", square, square)]
    return powers[int(b)]


def _fma(a: Value, b: Value, c: Value) -> Value | None:
    if is_number(a, 0) or is_number(b, 0):
        return c
    if is_number(c, 0) or is_number(a, 1) or is_number(b, 1):
        return build("add", build("mul", a, b), c)
    return None


def _and(a: Value, b: Value) -> Value | None:
    if known(a) and known(b):
        return None
    if known(a):
        return b if a else False
    if known(b):
        return a if b else False
    return a if a is b else None


def _or(a: Value, b: Value) -> Value | None:
    if known(a) and known(b):
        return None
    if known(a):
        return True if a else b
    if known(b):
        return True if b else a
    return a if a is b else None


def _not(a: Value) -> Value | None:
    return a.args[0] if is_op(a, "not") else None


def _where(c: Value, a: Value, b: Value) -> Value | None:
    if known(c):
        return a if c else b
    if a is b or (known(a) and known(b) and repr(a) == repr(b)):
        return a
    if c.op == "not":
        return build("where", c.args[0], b, a)
    return None


def _same(a: Value, b: Value) -> Value | None:
    return a if type(a) is Node and a is b else None


def _convert(type_: Scalar) -> Callable[[Value], Value | None]:
    return lambda a: a if type_of(a) == type_ and type(a) is Node else None


def _strict_add(a: Value, b: Value) -> Value | None:
    if known(a) and not known(b):
        return build("add", b, a)
    if is_op(b, "neg"):
        return build("sub", a, b.args[0])
    return _ordered("add", a, b)


def _strict_sub(a: Value, b: Value) -> Value | None:
    if known(b) and not known(a):
        return build("add", a, -b)
    return build("add", a, b.args[0]) if is_op(b, "neg") else None


def _strict_mul(a: Value, b: Value) -> Value | None:
    return None if is_number(a, 0) or is_number(b, 0) else _mul(a, b)


def _strict_div(a: Value, b: Value) -> Value | None:
    return None if is_number(a, 0) or a is b else _div(a, b)


def _strict_neg(a: Value) -> Value | None:
    return a.args[0] if is_op(a, "neg") else None


def _strict_power(a: Value, b: Value) -> Value | None:
    return _power(a, b) if is_number(b, 0) or is_number(b, 1) or is_number(b, 2) or is_number(b, -1) else None


def _no_rule(*args: Value) -> None:
    return None


STRICT: dict[str, Rule] = {
    "add": _strict_add,
    "sub": _strict_sub,
    "mul": _strict_mul,
    "div": _strict_div,
    "neg": _strict_neg,
    "power": _strict_power,
    "fma": _no_rule,
}
RULES: dict[str, Rule] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "abs": _abs,
    "cos": _even("cos"),
    "cosh": _even("cosh"),
    **{op: _odd(op) for op in ("sin", "tan", "arcsin", "arctan", "sinh", "tanh", "arcsinh", "arctanh", "cbrt")},
    "power": _power,
    "fma": _fma,
    "logaddexp": lambda a, b: _ordered("logaddexp", a, b),
    "minimum": _same,
    "maximum": _same,
    "and": _and,
    "or": _or,
    "not": _not,
    "where": _where,
    "to_float": _convert("f"),
    "to_int": _convert("i"),
    "truth": _convert("b"),
}


def _commuting(
    op: str, neutral: int, absorbing: int | None = None, same: Callable[[Value], Value] | None = None
) -> Rule:
    """An unsigned operation that commutes: the number that changes nothing, the one that is always the result, and the
    result for two equal arguments."""

    def rule(a: Value, b: Value) -> Value | None:
        if known(a):
            return None if known(b) else build(op, b, a)
        if known(b):
            return a if b == neutral else _word(b) if b == absorbing else None
        return same(a) if same is not None and a is b else _ordered(op, a, b)

    return rule


def _shift(op: str) -> Rule:
    """A distance of 32 or more gives 0, as in NumPy; the instructions of machines are for smaller ones."""

    def rule(a: Value, b: Value) -> Value | None:
        if known(b):
            return _word(0) if b >= 32 else a if b == 0 else None
        if b.op == "bit_and" and b.args[1].op == "const" and b.args[1].data == 31:
            return None
        return build("where", build("less", b, 32), build(op, a, build("bit_and", b, 31)), 0)

    return rule


def _unsigned_sub(a: Value, b: Value) -> Value | None:
    if known(b):
        return a if b == 0 else None
    return _word(0) if a is b else None


# The rules for unsigned integers, which wrap around.
UNSIGNED: dict[str, Rule] = {
    "add": _commuting("add", 0),
    "sub": _unsigned_sub,
    "mul": _commuting("mul", 1, absorbing=0),
    "bit_xor": _commuting("bit_xor", 0, same=lambda a: _word(0)),
    "bit_and": _commuting("bit_and", 0xFFFFFFFF, absorbing=0, same=lambda a: a),
    "bit_or": _commuting("bit_or", 0, absorbing=0xFFFFFFFF, same=lambda a: a),
    "shift_left": _shift("shift_left"),
    "shift_right": _shift("shift_right"),
    "abs": lambda a: a if type(a) is Node else None,
    "minimum": _same,
    "maximum": _same,
    "where": _where,
    "to_uint": _convert("u"),
}
