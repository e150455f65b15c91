"""A function run on traced arrays: its graph."""

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, get_type_hints

from poinsot._memo import MEMORY
from poinsot.fuse.graph.build import lift
from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.graph.nodes import Graph, tracing_into
from poinsot.fuse.graph.sharing import share_callees
from poinsot.fuse.signature import Shape
from poinsot.fuse.trace import purity, pytree
from poinsot.fuse.trace.creation import traced_creation
from poinsot.fuse.trace.traced import Traced, as_objects, objects


def trace(
    function: Callable[..., Any], shapes: Sequence[Shape], name: str = "kernel", strict: bool = False
) -> tuple[Graph, list[Shape], Any]:
    """Run the function on traced arrays of these shapes: its graph, output shapes and output structure.

    It runs once, or, if it may give other numbers each time (`purity`), twice to see whether it does.
    """
    graph, shapes_out, structure = _traced_once(function, shapes, name, strict)
    if purity.may_vary(function) and not purity.same_graph(graph, _traced_once(function, shapes, name, strict)[0]):
        raise TraceError(
            f"{name} gives other numbers each time it is called: random numbers, clocks and counters would be frozen",
            "compute them outside, and pass them as arguments",
        )
    return graph, shapes_out, structure


def _traced_once(
    function: Callable[..., Any], shapes: Sequence[Shape], name: str, strict: bool
) -> tuple[Graph, list[Shape], Any]:
    graph = Graph(name=name)
    graph.strict = strict
    with traced_creation(), tracing_into(graph):
        leaves = [
            Traced(objects([graph.param("f") for _ in range(math.prod(shape))], tuple(shape))) for shape in shapes
        ]
        result = function(*nested_arguments(function, leaves))
        arrays = [as_objects(end) for end in pytree.flatten(result)[0]]
        graph.outputs = [lift(value, "f") for array in arrays for value in array.ravel()]
    share_callees(graph)
    for traced in (graph, *graph.subgraphs()):  # what tracing remembered keeps the user's functions alive
        traced.__dict__.pop(MEMORY, None)
    return graph, [array.shape for array in arrays], pytree.structure(result)


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
