"""A traced function as expressions of SymPy: each operation of the graph is one row of a table."""

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from poinsot import _optional
from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.graph.nodes import Graph, Node
from poinsot.fuse.trace.function_graph import trace

PURPOSE = "Equations in symbols"
LARGEST = 10**5  # denominator of a fraction that a number is taken for
ROUNDING = 4e-15  # of such a number: it may be a sum of some products


def sympy() -> Any:
    """SymPy."""
    return _optional.require("sympy", "symbolic", PURPOSE)


def expressions(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """The results of a function of one instance, as expressions of its arguments: arrays (or nested lists) of symbols.

    Numbers that are fractions to rounding become fractions, so that terms that cancel do cancel.
    """
    arrays = [np.asarray(argument, dtype=object) for argument in arguments]
    graph, _, _ = trace(function, [array.shape for array in arrays], "equations")
    return _walked(graph, [symbol for array in arrays for symbol in array.ravel()])


def _walked(graph: Graph, inputs: Sequence[Any]) -> list[Any]:
    values: dict[Node, Any] = dict(zip(graph.params, inputs, strict=True))
    for node in graph.live():
        if node not in values:
            values[node] = _expression(node, [values[arg] for arg in node.args])
    return [values[node] for node in graph.outputs]


def _expression(node: Node, args: list[Any]) -> Any:
    if node.op == "const":
        return number(node.data) if node.type == "f" else sympy().sympify(node.data)
    if node.op == "call":
        return _walked(node.data, args)
    if node.op == "proj":
        return args[0][node.data]
    if node.op == "array":
        return args
    if node.op == "get" and isinstance(args[0], list) and args[1].is_Integer:
        return args[0][int(args[1])]
    if node.op not in rows():
        raise TraceError(
            f"the operation {node.op!r} has no symbols", "equations in symbols are for small systems without loops, "
            "tables and random numbers"
        )  # fmt: skip
    return rows()[node.op](*args)


def number(value: float) -> Any:
    """A number as a fraction, or a fraction of pi, if it is one to rounding; otherwise exactly as it is."""
    sp = sympy()
    if not math.isfinite(value):
        return sp.nan if math.isnan(value) else sp.oo if value > 0 else -sp.oo
    if (near := _fraction(value, LARGEST)) is not None:
        return near
    if (near := _fraction(value / math.pi, 24)) is not None:
        return near * sp.pi
    return sp.Rational(Fraction(value).numerator, Fraction(value).denominator)


def _fraction(value: float, largest: int) -> Any:
    """The fraction with a denominator up to this one that differs by rounding only, or None."""
    near = Fraction(value).limit_denominator(largest)
    close = abs(near - Fraction(value)) <= ROUNDING * abs(Fraction(value))
    return sympy().Rational(near.numerator, near.denominator) if close else None


def _chosen(condition: Any, a: Any, b: Any) -> Any:
    """One or the other. A length is taken to be positive where a function asks, to avoid a division by zero."""
    sp = sympy()
    if isinstance(condition, (sp.Gt, sp.Lt, sp.Eq, sp.Ne)) and 0 in condition.args:
        other = condition.args[1] if condition.args[0] == 0 else condition.args[0]
        if other.is_nonnegative:
            more = condition.gts == other if isinstance(condition, (sp.Gt, sp.Lt)) else isinstance(condition, sp.Ne)
            return a if more else b
    return sp.Piecewise((a, condition), (b, True))


@functools.cache
def rows() -> dict[str, Callable[..., Any]]:
    """For each operation its expression."""
    sp = sympy()
    plain = {name: getattr(sp, name) for name in "exp log sin cos tan sinh cosh tanh sqrt floor".split()}
    inverse = {f"arc{name}": getattr(sp, f"a{name}") for name in "sin cos tan sinh cosh tanh".split()}
    return plain | inverse | {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "neg": lambda a: -a,
        "div": lambda a, b: a / b,
        "fma": lambda a, b, c: a * b + c,
        "abs": sp.Abs,
        "minimum": sp.Min,
        "maximum": sp.Max,
        "arctan2": sp.atan2,
        "power": lambda a, b: a**b,
        "hypot": lambda a, b: sp.sqrt(a**2 + b**2),
        "less": sp.Lt,
        "less_equal": sp.Le,
        "equal": sp.Eq,
        "not_equal": sp.Ne,
        "and": sp.And,
        "or": sp.Or,
        "not": sp.Not,
        "where": _chosen,
        "to_float": lambda a: a,
        "cbrt": sp.cbrt,
    }  # fmt: skip
