"""Loops that stay loops, and functions that are compiled once and called."""

import dataclasses
import functools
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from poinsot.fuse.graph import memory
from poinsot.fuse.graph.build import lift
from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.graph.nodes import Graph, Node, Scalar, Type, common_type, current, tracing, tracing_into
from poinsot.fuse.trace import pytree
from poinsot.fuse.trace.traced import Traced, as_objects, objects


def fori_loop(n: Any, body: Callable[[Any, Any], Any], carry: Any) -> Any:
    """carry = body(i, carry) for i = 0 ... n-1; in a kernel, one loop in the machine code.

    `n` may be a traced integer. `carry` is an array or a tuple, list, dict or dataclass of arrays, whose shapes stay
    the same. Arrays among them, and constant arrays that `body` uses from around it, can be indexed with `i`.
    """
    if not tracing():
        for i in range(int(n)):
            carry = body(i, carry)
        return carry
    leaves, rebuild = pytree.flatten(carry)
    start = [Traced(as_objects(leaf)) for leaf in leaves]
    graph, specs = _trace_body(n, _with_traced_constants(body), carry, start)
    init = [node for leaf, spec in zip(start, specs, strict=True) for node in spec.enter(leaf)]
    count = lift(as_objects(n).item(), "i")
    loop = current().node("loop", (count, *init, *graph.captures), "t", graph)
    return rebuild(_leave(specs, loop.results()))


class _Spec:
    """How one carried array travels: as scalars of a type, or (`memory`) as one array."""

    def __init__(self, array: Traced, by_scalars: bool = False) -> None:
        self.shape, self.size = array.shape, array.size
        self.memory = array._memory is not None and not by_scalars
        self.type: Scalar = common_type(array.data.ravel()) if array.size else "f"

    def enter(self, array: Traced) -> list[Node]:
        """The nodes that carry the array."""
        if self.memory:
            node = array._in_memory()
            same = node.element == self.type
            return [node if same else memory.array_of([lift(v, self.type) for v in array.data.ravel()])]
        return [lift(v, self.type) for v in array.data.ravel()]

    def types(self) -> list[Type]:
        return [(self.type, self.size)] if self.memory else [self.type] * self.size

    def leave(self, nodes: Sequence[Node]) -> Traced:
        if self.memory:
            return Traced.in_memory(nodes[0], self.shape)
        return Traced(objects(list(nodes), self.shape))


def _leave(specs: Sequence[_Spec], nodes: Sequence[Node]) -> list[Traced]:
    arrays, start = [], 0
    for spec in specs:
        arrays.append(spec.leave(nodes[start : start + len(spec.types())]))
        start += len(spec.types())
    return arrays


def _trace_body(n: Any, body: Callable[..., Any], carry: Any, start: list[Traced]) -> tuple[Graph, list[_Spec]]:
    """Trace the body; again as long as that shows that a carried array is of another type, or must be in memory."""
    specs, rebuild = [_Spec(array) for array in start], pytree.flatten(carry)[1]
    bound = np.inf if isinstance(n, Traced) and not n.is_known() else int(n)
    while True:
        graph = Graph(current(), name="loop")
        with tracing_into(graph):
            counter = graph.param("i")
            graph.counters[counter] = bound
            carried = [[graph.param(t) for t in spec.types()] for spec in specs]
            arrays = [spec.leave(params) for spec, params in zip(specs, carried, strict=True)]
            end = pytree.in_order_of(carry, body(Traced(counter), rebuild(arrays)))
            ends, _ = pytree.flatten(end)
            if pytree.structure(end) != pytree.structure(carry):
                raise TraceError(
                    f"the body of a loop returns {_outline(end)}, but the carry is {_outline(carry)}",
                    "return a carry of the same structure and shapes as the first one",
                )
            if [np.shape(end) for end in ends] != [spec.shape for spec in specs]:
                raise TraceError(
                    f"the body of a loop returns shapes {[np.shape(e) for e in ends]}, but the carry has shapes "
                    f"{[s.shape for s in specs]}",
                    "return a carry of the same structure and shapes as the first one",
                )
            ends = [end if isinstance(end, Traced) else Traced(as_objects(end)) for end in ends]
            again = False
            for spec, params, end in zip(specs, carried, ends, strict=True):
                new = _Spec(end)
                if not spec.memory and (new.memory or any(p in graph.indexed for p in params)):
                    spec.memory = again = True
                if "bif".index(new.type) > "bif".index(spec.type):
                    spec.type, again = new.type, True
            if not again:
                graph.outputs = [node for spec, end in zip(specs, ends, strict=True) for node in spec.enter(end)]
                return graph, specs


def _outline(x: Any) -> str:
    if dataclasses.is_dataclass(x) or isinstance(x, (dict, tuple, list)):
        return f"a {type(x).__name__} of {len(pytree.flatten(x)[0])} arrays"
    return "one array"


def _with_traced_constants(body: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, whose arrays from around it can be indexed with a traced integer."""
    if not isinstance(body, types.FunctionType):
        return body
    arrays = {name: body.__globals__[name] for name in body.__code__.co_names if name in body.__globals__}
    arrays = {name: _as_traced(x) for name, x in arrays.items() if _as_traced(x) is not x}
    cells = [types.CellType(_as_traced(cell.cell_contents)) for cell in body.__closure__ or ()]
    names = {**body.__globals__, **arrays} if arrays else body.__globals__
    same = types.FunctionType(body.__code__, names, body.__name__, body.__defaults__, tuple(cells))
    same.__kwdefaults__ = body.__kwdefaults__
    return same


def _as_traced(x: Any) -> Any:
    return Traced(as_objects(x)) if isinstance(x, np.ndarray) and x.dtype.kind in "fiub" else x


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, compiled once and called wherever it is used, instead of being written out each time."""
    traced: weakref.WeakKeyDictionary[Graph, dict[Any, Any]] = weakref.WeakKeyDictionary()

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        if not tracing():
            return function(*args)
        leaves, rebuild = pytree.flatten(args)
        arrays = [Traced(as_objects(leaf)) for leaf in leaves]
        specs = [_Spec(array, by_scalars=True) for array in arrays]
        key = (pytree.structure(args), *((spec.shape, spec.type) for spec in specs))
        known = traced.setdefault(current(), {})
        if key not in known:
            known[key] = _trace_function(function, specs, rebuild)
        graph, out_specs, out_rebuild = known[key]
        actual = [node for array, spec in zip(arrays, specs, strict=True) for node in spec.enter(array)]
        result = current().node("call", (*actual, *graph.captures), "t", graph)
        return out_rebuild(_leave(out_specs, result.results()))

    return call


def _trace_function(function: Callable[..., Any], specs: Sequence[_Spec], rebuild: Callable[..., Any]) -> Any:
    graph = Graph(current(), name=getattr(function, "__name__", "function"))
    with tracing_into(graph):
        params = [[graph.param(t) for t in spec.types()] for spec in specs]
        arrays = [spec.leave(p) for spec, p in zip(specs, params, strict=True)]
        ends, out_rebuild = pytree.flatten(function(*rebuild(arrays)))
        out = [Traced(as_objects(end)) for end in ends]
        out_specs = [_Spec(end, by_scalars=True) for end in out]
        graph.outputs = [node for spec, end in zip(out_specs, out, strict=True) for node in spec.enter(end)]
    return graph, out_specs, out_rebuild
