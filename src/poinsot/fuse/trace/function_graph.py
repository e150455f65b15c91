"""Running a function on traced arrays: its graph."""

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, get_type_hints

from poinsot._memo import MEMORY
from poinsot.fuse.graph.build import lift
from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.graph.nodes import Graph, Node, tracing_into
from poinsot.fuse.graph.sharing import share_callees
from poinsot.fuse.trace import purity, pytree
from poinsot.fuse.trace.creation import traced_creation
from poinsot.fuse.trace.traced import Traced, as_objects, objects

Shape: TypeAlias = tuple[int, ...]


def trace(
    function: Callable[..., Any],
    shapes: Sequence[Shape],
    name: str = "kernel",
    strict: bool = False,
    whole: float = math.inf,
) -> tuple[Graph, list[Shape], Any]:
    """Run the function on traced arrays of these shapes: its graph, output shapes and output structure.

    It runs once, or, if it may give other numbers each time (`purity`), twice to see whether it does. Arrays of `whole`
    or more elements stay in memory.
    """
    traced = functools.partial(_traced_once, function, shapes, name, strict, whole)
    graph, shapes_out, structure = traced()
    if purity.may_vary(function) and not purity.same_graph(graph, traced()[0]):
        raise TraceError(
            f"{name} gives other numbers each time it is called: random numbers, clocks and counters would be frozen",
            "compute them outside, and pass them as arguments",
        )
    return graph, shapes_out, structure


def _traced_once(
    function: Callable[..., Any], shapes: Sequence[Shape], name: str, strict: bool, whole: float
) -> tuple[Graph, list[Shape], Any]:
    graph = Graph(name=name)
    graph.strict = strict
    with traced_creation(), tracing_into(graph):
        leaves = [_parameter(graph, tuple(shape), whole) for shape in shapes]
        result = function(*nested_arguments(function, leaves))
        arrays = [end if _stays_whole(end, whole) else as_objects(end) for end in pytree.flatten(result)[0]]
        graph.outputs = [node for array in arrays for node in _ends(array)]
    share_callees(graph)
    for traced in (graph, *graph.subgraphs()):  # what tracing remembered keeps the user's functions alive
        traced.__dict__.pop(MEMORY, None)
    return graph, [array.shape for array in arrays], pytree.structure(result)


class SharedTrace:
    """Functions of the same arguments, traced into one graph: what several of them compute is traced once.

    `leaves`: the traced arguments. `known`: what these functions have found of them, for the next ones.
    """

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self.shapes = [tuple(shape) for shape in shapes]
        self._begin()

    def _begin(self) -> None:
        self.graph, self.known = Graph(name="shared"), dict[str, Any]()
        with tracing_into(self.graph):
            self.leaves = [_parameter(self.graph, shape, math.inf) for shape in self.shapes]

    def trace(self, function: Callable[..., Any], shapes: Sequence[Shape], name: str) -> tuple[Graph, list[Shape], Any]:
        """As `trace`, for a function that uses the first elements of each argument alone, those of the leaves."""
        try:
            with traced_creation(), tracing_into(self.graph):
                result = function(*self.leaves)
                arrays = [as_objects(end) for end in pytree.flatten(result)[0]]
                outputs = [node for array in arrays for node in _ends(array)]
                params = [
                    node for leaf, shape in zip(self.leaves, shapes, strict=True) for node in self._all(leaf, shape)
                ]
        except Exception:  # one that does not go together with those before
            self._begin()
            return trace(function, shapes, name)
        graph = self.graph.part(outputs, params)
        graph.name = name
        share_callees(graph)
        return graph, [array.shape for array in arrays], pytree.structure(result)

    def _all(self, leaf: Traced, shape: Shape) -> list[Node]:
        """The parameters of an argument, also those of elements beyond the leaf's."""
        own = list(leaf.data.ravel())
        return own + [self.graph.param("f") for _ in range(math.prod(shape) - len(own))]


def _parameter(graph: Graph, shape: Shape, whole: float) -> Traced:
    """An argument of a kernel: in memory if it is large."""
    if (size := math.prod(shape)) >= whole:
        return Traced.in_memory(graph.param(("f", size)), shape)
    return Traced(objects([graph.param("f") for _ in range(size)], shape))


def _stays_whole(end: Any, whole: float) -> bool:
    """Whether a result is one large array in memory, made by a loop."""
    array = end._memory if isinstance(end, Traced) else None
    return array is not None and array.element == "f" and array.op != "table" and array.size >= whole


def _ends(array: Any) -> list[Node]:
    """The nodes of a result."""
    return [array._in_memory()] if isinstance(array, Traced) else [lift(value, "f") for value in array.ravel()]


def nested_arguments(function: Callable[..., Any], leaves: Sequence[Any]) -> list[Any]:
    """The flat arguments, with those of a parameter that is annotated as a dataclass combined into one."""
    try:
        hints = get_type_hints(function)
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError, NameError):
        return list(leaves)
    arguments, start = [], 0
    for name in names:
        if start >= len(leaves):
            break
        argument, start = pytree.assemble(hints.get(name), leaves, start)
        arguments.append(argument)
    return arguments + list(leaves[start:])
