"""The arithmetic of the elementary functions (`arithmetic.Arithmetic`) as operations of the graph."""

import inspect
from collections.abc import Callable
from typing import Any

from poinsot.fuse.graph import memory
from poinsot.fuse.graph.build import build, lift
from poinsot.fuse.graph.nodes import Graph, Value, current, tracing_into, type_of


def _value(x: Any) -> Value:
    return x.value if isinstance(x, Number) else x


def _apply(op: str, *args: Any) -> "Number":
    return Number(build(op, *map(_value, args)))


def _operator(op: str, logic: str | None = None, swap: bool = False) -> Callable[[Any, Any], "Number"]:
    def apply(a: Any, b: Any) -> "Number":
        a, b = (b, a) if swap else (a, b)
        name = logic if logic and type_of(_value(a)) == "b" else op
        return _apply(name, a, b)

    return apply


def _both_ways(op: str, logic: str | None = None) -> tuple[Callable[..., "Number"], Callable[..., "Number"]]:
    return _operator(op, logic), _operator(op, logic, swap=True)


class Number:
    """A value with Python's operators, each of them one operation of the graph."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __neg__(self) -> "Number":
        return _apply("neg", self)

    def __invert__(self) -> "Number":
        return _apply("not", self) if type_of(self.value) == "b" else _apply("bit_xor", self, -1)

    __add__, __radd__ = _both_ways("add")
    __sub__, __rsub__ = _both_ways("sub")
    __mul__, __rmul__ = _both_ways("mul")
    __truediv__, __rtruediv__ = _both_ways("div")
    __lshift__, __rlshift__ = _both_ways("shift_left")
    __rshift__, __rrshift__ = _both_ways("shift_right")
    __and__, __rand__ = _both_ways("bit_and", "and")
    __or__, __ror__ = _both_ways("bit_or", "or")
    __xor__, __rxor__ = _both_ways("bit_xor", "xor")
    __lt__, __gt__ = _both_ways("less")
    __le__, __ge__ = _both_ways("less_equal")
    __eq__, __ne__ = _operator("equal"), _operator("not_equal")  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class Machine:
    """An `Arithmetic` that builds nodes. `float64` is the precision; integers are as wide as the floats."""

    def __init__(self, float64: bool) -> None:
        self.float64 = float64

    def __getattr__(self, op: str) -> Callable[..., Number]:
        """Every operation of `OPS` by its name: fma, sqrt, abs, rint, copysign, where, bits, from_bits, ..."""
        return lambda *args: _apply(op, *args)

    def gather(self, table: tuple[float, ...], index: Any) -> Number:
        """The entry of a constant table at a run-time index."""
        return Number(memory.get(memory.table(table), _value(index)))

    def slow_path(self, mask: Any, default: Any, function: Callable[..., Any], *args: Any) -> Any:
        """where(mask, function(self, *args), default), with the function evaluated only if some lane needs it."""
        several = isinstance(default, tuple)
        defaults = [_value(d) for d in (default if several else (default,))]
        inputs = [lift(_value(arg), type_of(_value(arg))) for arg in args]
        graph = Graph(name=function.__name__)
        with tracing_into(graph):
            results = function(self, *(Number(graph.param(arg.type)) for arg in inputs))
            pairs = zip(results if several else (results,), defaults, strict=True)
            graph.outputs = [lift(_value(result), type_of(d)) for result, d in pairs]
        fast = [lift(d, type_of(d)) for d in defaults]
        node = current().node("slow_path", (lift(_value(mask), "b"), *fast, *inputs), "t", graph)
        chosen = tuple(map(Number, node.results()))
        return chosen if several else chosen[0]


def trace_elementary(function: Callable[..., Any], float64: bool) -> Graph:
    """The graph of one elementary function."""
    graph, arity = Graph(name=function.__name__), len(inspect.signature(function).parameters) - 1
    with tracing_into(graph):
        results = function(Machine(float64), *(Number(graph.param("f")) for _ in range(arity)))
        results = results if isinstance(results, tuple) else (results,)
        graph.outputs = [lift(result.value, "f") for result in results]
    return graph
