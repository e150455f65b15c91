"""Equal functions become one: what `once` traces for each loop that calls it is compiled a single time."""

import marshal
from collections.abc import Hashable

from poinsot.fuse.graph.nodes import Graph


def share_callees(graph: Graph) -> None:
    """Let all calls of equal functions, in a graph and in all that it contains, call the same one."""
    kinds = _Kinds()
    functions: dict[int, Graph] = {}
    for caller in (*graph.subgraphs(), graph):  # innermost first
        for node in caller.nodes:
            if node.op == "call":
                node.data = functions.setdefault(kinds.of(node.data), node.data)


class _Kinds:
    """A number for each kind of graph, the same for graphs that are equal but for their names."""

    def __init__(self) -> None:
        self._known: dict[Graph, int] = {}
        self._by_content: dict[Hashable, int] = {}

    def of(self, graph: Graph) -> int:
        if graph not in self._known:
            self._known[graph] = self._by_content.setdefault(self._content(graph), len(self._by_content))
        return self._known[graph]

    def _content(self, graph: Graph) -> Hashable:
        """All that a graph is, but its name: equal for graphs that do the same in the same way, to the bit."""
        state = graph.__getstate__()
        nodes = tuple(
            [
                (op, *args, kind, data if data is None else self._exactly(data))
                for op, args, kind, data in state.pop("nodes")
            ]
        )
        rest = tuple((key, self._exactly(value)) for key, value in state.items() if key != "name")
        return nodes, rest

    def _exactly(self, data: object) -> Hashable:
        """Data of a node, with the sign of zeros and the bits of NaN."""
        if isinstance(data, Graph):
            return "graph", self.of(data)
        try:
            return marshal.dumps(data, 2)  # type: ignore[arg-type]  # without references: equal data gives equal bytes
        except ValueError:
            return id(data)  # of a kind that is not known here: equal to itself alone
