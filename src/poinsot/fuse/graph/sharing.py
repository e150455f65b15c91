"""Equal functions become one: what `once` traces for each loop that calls it is compiled a single time."""

import marshal
from collections.abc import Hashable

from poinsot.fuse.graph.nodes import Graph


def share_callees(graph: Graph) -> None:
    """Let all calls of equal functions, in a graph and in all that it contains, call the same one."""
    functions: dict[Hashable, Graph] = {}
    for caller in (*graph.subgraphs(), graph):  # innermost first
        for node in caller.nodes:
            if node.op == "call":
                node.data = functions.setdefault(_content(node.data), node.data)


def _content(graph: Graph) -> Hashable:
    """All that a function is, but its name: equal for functions that do the same in the same way, to the bit."""
    state = graph.__getstate__()
    nodes = tuple((op, tuple(args), kind, _exactly(data)) for op, args, kind, data in state.pop("nodes"))
    rest = tuple((key, _exactly(value)) for key, value in state.items() if key != "name")
    return nodes, rest


def _exactly(data: object) -> Hashable:
    """Data of a node, with the sign of zeros and the bits of NaN."""
    if isinstance(data, Graph):
        return _content(data)
    try:
        return marshal.dumps(data, 2)  # type: ignore[arg-type]  # without references, so that equal data gives equal bytes
    except ValueError:
        return id(data)  # of a kind that is not known here: equal to itself alone
