"""Control flow that survives tracing: loops that stay loops, and functions that are compiled once and called."""

import dataclasses
import functools
import math
import types
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._memo import memo
from poinsot.fuse.graph import memory
from poinsot.fuse.graph.build import lift
from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.graph.nodes import Graph, Node, Scalar, Type, common, common_type, current, tracing, tracing_into
from poinsot.fuse.trace import pytree
from poinsot.fuse.trace.traced import Traced, as_objects, objects


def fori_loop(n: Any, body: Callable[[Any, Any], Any], carry: Any, most: int | None = None) -> Any:
    """carry = body(i, carry) for i = 0 ... n-1; in a kernel, one loop in the machine code.

    `n` may be a traced integer; `most`, if given, is the greatest that counts, and lets such a loop be differentiated
    in reverse. `carry` is an array or a tuple, list, dict or dataclass of arrays, whose shapes do not change. These
    arrays, and constant arrays that `body` uses from its surroundings, can be indexed with `i`.
    """
    if not tracing():
        for i in range(int(n) if most is None else min(int(n), most)):
            carry = body(i, carry)
        return carry
    body = _with_traced_constants(body)
    if most is None or not isinstance(n, Traced):
        return _loop(n if most is None else min(int(n), most), body, carry)

    def step(i: Any, now: tuple[Any, Any]) -> tuple[Any, Any]:
        return i + 1 < n, body(i, now[1])

    return _loop(most, step, (_truth(n > 0), carry), goes_on=0)[1]


def while_loop(condition: Callable[[Any], Any], body: Callable[[Any], Any], carry: Any, most: int) -> Any:
    """carry = body(carry) while condition(carry) holds, but not more than `most` times; in a kernel, one loop in the
    machine code.

    In a batch, an instance whose condition no longer holds keeps its carry; the loop ends when none is left. Whether
    it ended for the sake of `most`, condition(carry) of the result tells. `carry` is as in `fori_loop`. It can be
    differentiated in forward mode and in reverse; reverse mode keeps the carry of `most` iterations.
    """
    if isinstance(most, Traced) or not (float(most).is_integer() and most >= 0):
        raise ValueError(f"while_loop takes at most {most!r} iterations; give a whole number that is not negative.")
    if not tracing():
        for _ in range(int(most)):
            if not _truth(condition(carry)):
                break
            carry = body(carry)
        return carry
    condition, body = _with_traced_constants(condition), _with_traced_constants(body)

    def step(_: Any, now: tuple[Any, Any]) -> tuple[Any, Any]:
        following = body(now[1])
        return _truth(condition(following)), following

    return _loop(int(most), step, (_truth(condition(carry)), carry), goes_on=0)[1]


def when(condition: Any, body: Callable[[Any], Any], carry: Any) -> Any:
    """body(carry) where the condition holds, else the carry; in a kernel, the body is skipped if no instance that is
    computed side by side needs it.

    The value is that of `np.where`, but work that is rarely needed costs little. The body returns arrays of the same
    structure and shapes as the carry.
    """
    if not tracing():
        return body(carry) if _truth(condition) else carry
    body = _with_traced_constants(body)
    return _loop(1, lambda _, now: (False, body(now[1])), (_truth(condition), carry), goes_on=0)[1]


def _truth(x: Any) -> Any:
    """The value of a condition: one truth value."""
    if np.shape(x) != ():
        raise TraceError(
            f"a condition has shape {np.shape(x)}", "give one truth value, for example by np.all or np.any"
        )
    if not isinstance(x, Traced):
        return bool(x)
    return x if common_type(x.data.ravel()) == "b" else x != 0


def _loop(n: Any, body: Callable[[Any, Any], Any], carry: Any, goes_on: int | None = None) -> Any:
    """The results of a loop; `goes_on`: the number of the carried truth value while which it goes on."""
    leaves, rebuild = pytree.flatten(carry)
    start = [leaf if _is_in_memory(leaf) else Traced(as_objects(leaf)) for leaf in leaves]
    graph, specs = _trace_body(n, body, carry, start)
    graph.goes_on = goes_on
    init = [node for leaf, spec in zip(start, specs, strict=True) for node in spec.enter(leaf)]
    count = lift(as_objects(n).item(), "i")
    loop = current().node("loop", (count, *init, *graph.captures), "t", graph)
    return rebuild(_leave(specs, loop.results()))


def in_memory(x: Any) -> Any:
    """An array that is kept in memory from the start, as a loop that indexes it needs it.

    A loop finds out by itself which of the arrays that it carries are indexed, but is traced twice for that, and loops
    in loops many times.
    """
    if not tracing() or not np.size(x):
        return x
    if _is_in_memory(x):
        return Traced.in_memory(x._memory, x.shape)
    if isinstance(x, np.ndarray) and x.dtype == np.float64 and np.any(x) and not np.any(np.isnan(x)):
        return Traced.in_memory(memory.table(memory.Numbers(x)), x.shape)
    return Traced.in_memory(Traced(x)._in_memory(), np.shape(x))


def _is_in_memory(x: Any) -> bool:
    return isinstance(x, Traced) and x._memory is not None


@dataclass(frozen=True)
class _Spec:
    """How a loop or call passes an array: as scalars of one type, or (`memory`) as one array in memory."""

    shape: tuple[int, ...]
    type: Scalar
    memory: bool

    @classmethod
    def of(cls, array: Traced, by_scalars: bool = False) -> "_Spec":
        if array._memory is not None:
            return cls(array.shape, array._memory.element, not by_scalars)
        type_: Scalar = common_type(array.data.ravel()) if array.size else "f"
        return cls(array.shape, type_, False)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def enter(self, array: Traced) -> list[Node]:
        """The nodes that stand for the array inside the loop or call."""
        if self.memory:
            node = array._in_memory()
            same = node.element == self.type
            return [node if same else memory.array_of([lift(v, self.type) for v in array.data.ravel()])]
        return [lift(v, self.type) for v in array.data.ravel()]

    def types(self) -> list[Type]:
        return [(self.type, self.size)] if self.memory else [self.type] * self.size

    def leave(self, nodes: Sequence[Node]) -> Traced:
        """The array that these nodes stand for."""
        if self.memory:
            return Traced.in_memory(nodes[0], self.shape)
        return Traced(objects(list(nodes), self.shape))

    def widened(self, end: "_Spec", indexed: bool) -> "_Spec":
        """The way to pass an array that begins as `self` and ends as `end`, and may be indexed at run time."""
        return _Spec(self.shape, common((self.type, end.type)), self.memory or end.memory or indexed)


def _leave(specs: Sequence[_Spec], nodes: Sequence[Node]) -> list[Traced]:
    arrays, start = [], 0
    for spec in specs:
        arrays.append(spec.leave(nodes[start : start + len(spec.types())]))
        start += len(spec.types())
    return arrays


def _trace_body(n: Any, body: Callable[..., Any], carry: Any, start: list[Traced]) -> tuple[Graph, list[_Spec]]:
    """Trace the body until the types of the carry, and which arrays must be in memory, no longer change."""
    specs, rebuild = [_Spec.of(array) for array in start], pytree.flatten(carry)[1]
    bound = np.inf if isinstance(n, Traced) and not n.is_known() else int(n)
    while True:
        graph = Graph(current(), name="loop")
        with tracing_into(graph):
            counter = graph.param("i")
            graph.counters[counter] = bound
            carried = [[graph.param(t) for t in spec.types()] for spec in specs]
            arrays = [spec.leave(params) for spec, params in zip(specs, carried, strict=True)]
            ends = _ends(carry, body(Traced(counter), rebuild(arrays)), [spec.shape for spec in specs])
            wider = [
                spec.widened(_Spec.of(end), any(p in graph.indexed for p in params))
                for spec, params, end in zip(specs, carried, ends, strict=True)
            ]
            if wider == specs:
                graph.outputs = [node for spec, end in zip(specs, ends, strict=True) for node in spec.enter(end)]
                return graph, specs
            specs = wider


def _ends(carry: Any, end: Any, shapes: list[tuple[int, ...]]) -> list[Traced]:
    """The arrays in the carry that a body returns, which must be like the first one."""
    end = pytree.in_order_of(carry, end)
    ends, fix = pytree.flatten(end)[0], "return a carry of the same structure and shapes as the first one"
    if pytree.structure(end) != pytree.structure(carry):
        raise TraceError(f"the body of a loop returns {_outline(end)}, but the carry is {_outline(carry)}", fix)
    if (new := [np.shape(end) for end in ends]) != shapes:
        raise TraceError(f"the body of a loop returns shapes {new}, but the carry has shapes {shapes}", fix)
    return [end if isinstance(end, Traced) else Traced(as_objects(end)) for end in ends]


def _outline(x: Any) -> str:
    if dataclasses.is_dataclass(x) or isinstance(x, (dict, tuple, list)):
        return f"a {type(x).__name__} of {len(pytree.flatten(x)[0])} arrays"
    return "one array"


def _with_traced_constants(body: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, with its global and captured arrays traced, so that a traced integer can index them."""
    if not isinstance(body, types.FunctionType):
        return body
    arrays = {name: body.__globals__[name] for name in body.__code__.co_names if name in body.__globals__}
    arrays = {name: _as_traced(x) for name, x in arrays.items() if _as_traced(x) is not x}
    cells = [_traced_cell(cell) for cell in body.__closure__ or ()]
    names = {**body.__globals__, **arrays} if arrays else body.__globals__
    same = types.FunctionType(body.__code__, names, body.__name__, body.__defaults__, tuple(cells))
    same.__kwdefaults__ = body.__kwdefaults__
    return same


def _traced_cell(cell: types.CellType) -> types.CellType:
    try:
        return types.CellType(_as_traced(cell.cell_contents))
    except ValueError:  # a name that is not set yet
        return cell


def _as_traced(x: Any) -> Any:
    return Traced(as_objects(x)) if isinstance(x, np.ndarray) and x.dtype.kind in "fiub" else x


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, compiled once and called wherever it is used, instead of being inlined each time."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        if not tracing():
            return function(*args)
        arrays = [Traced(as_objects(leaf)) for leaf in pytree.flatten(args)[0]]
        specs = tuple(_Spec.of(array, by_scalars=True) for array in arrays)
        callee = _callee(current(), call, pytree.structure(args), specs)
        actual = [node for array, spec in zip(arrays, specs, strict=True) for node in spec.enter(array)]
        captured = [current().capture(node) for node in callee.outside]
        result, graph = current().node("call", (*actual, *captured), "t", callee.graph), callee.graph
        through = dict(zip(graph.params, actual, strict=False))  # an argument that is returned as it is
        ends = [through.get(end, node) for end, node in zip(graph.outputs, result.results(), strict=True)]
        return callee.rebuild(_leave(callee.specs, ends))

    return call


def operations(function: Callable[..., Any], *args: Any) -> Counter[str]:
    """How many operations of each kind a function of `once` takes on such arguments; none outside of a kernel. It is
    traced for them, as a call does, if it was not yet."""
    return _callee_for(function, args).graph.count() if tracing() else Counter()


def zeros(function: Callable[..., Any], *args: Any) -> Any:
    """Which numbers of the results of a function of `once`, on such arguments, are zero whatever these are: arrays of
    bool in place of its results."""
    callee = _callee_for(function, args)

    def is_zero(leaf: Traced) -> np.ndarray:
        nodes = [None] * leaf.size if leaf._memory is not None else leaf.data.ravel()
        return np.reshape([node is not None and node.op == "const" and node.data == 0 for node in nodes], leaf.shape)

    return callee.rebuild([is_zero(leaf) for leaf in _leave(callee.specs, callee.graph.outputs)])


def _callee_for(function: Callable[..., Any], args: tuple[Any, ...]) -> "_Callee":
    """The graph of a function of `once` for such arguments."""
    arrays = [Traced(as_objects(leaf)) for leaf in pytree.flatten(args)[0]]
    specs = tuple(_Spec.of(array, by_scalars=True) for array in arrays)
    return _callee(current(), function, pytree.structure(args), specs)


@dataclass(frozen=True, eq=False)
class _Callee:
    """The graph of a function of `once`, how its results are passed, what puts them together, and the nodes from
    outside that it uses, in the graphs where they were made."""

    graph: Graph
    specs: list[_Spec]
    rebuild: Callable[[Sequence[Any]], Any]
    outside: list[Node]

    def is_known_in(self, caller: Graph) -> bool:
        """Whether what it uses from outside is also outside of this caller, or in it."""
        around = {caller, *caller.enclosing()}
        return all(node.graph in around for node in self.outside)


def _callee(caller: Graph, call: Callable[..., Any], structure: Any, specs: tuple[_Spec, ...]) -> _Callee:
    """The callee, traced once for all callers that it can serve: the stages of a step, and its repetitions in loops."""
    known = _callees([caller, *caller.enclosing()][-1], call, structure, specs)
    found = next((callee for callee in known if callee.is_known_in(caller)), None)
    if found is None:
        found = _traced_callee(caller, call, structure, specs)
        known.append(found)
    return found


@memo
def _callees(root: Graph, call: Callable[..., Any], structure: Any, specs: tuple[_Spec, ...]) -> list[_Callee]:
    """Those that were traced so far, in any graph within this one."""
    return []


def _traced_callee(caller: Graph, call: Callable[..., Any], structure: Any, specs: tuple[_Spec, ...]) -> _Callee:
    function = call.__wrapped__  # type: ignore[attr-defined]
    graph = Graph(caller, name=getattr(function, "__name__", "function"))
    with tracing_into(graph):
        params = [[graph.param(t) for t in spec.types()] for spec in specs]
        arrays = [spec.leave(p) for spec, p in zip(specs, params, strict=True)]
        ends, rebuild = pytree.flatten(function(*pytree.unflatten(structure, arrays)))
        out = [Traced(as_objects(end)) for end in ends]
        out_specs = [_Spec.of(end, by_scalars=True) for end in out]
        graph.outputs = [node for spec, end in zip(out_specs, out, strict=True) for node in spec.enter(end)]
    return _Callee(graph, out_specs, rebuild, [caller.origin(node) for node in graph.captures])
