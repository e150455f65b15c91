"""Outputs that only observe: computing them as well changes no bit of the other outputs.

A product is fused into the sum that needs it if nothing else needs it, and a fused sum is rounded once less. So what
the observers need must not count. Here the uses that do count are found: those by nodes that the other outputs depend
on, through loops and calls.
"""

from collections import Counter
from collections.abc import Iterable

from poinsot.fuse.graph.nodes import Graph, Node


def observe(graph: Graph, observers: Iterable[int]) -> None:
    """Let the outputs of these numbers only observe, here and in all loops and callees."""
    demand = _Demand(graph, set(range(len(graph.outputs))) - set(observers))
    for part, nodes in demand.needed.items():
        uses = Counter(arg for node in nodes for arg in demand.arguments(node))
        uses.update(part.outputs[k] for k in demand.wanted[part])
        part.uses = dict(uses)


class _Demand:
    """The outputs of each graph that are `wanted`, by number, and the nodes that are `needed` for them."""

    def __init__(self, graph: Graph, outputs: set[int]) -> None:
        self.wanted: dict[Graph, set[int]] = {graph: outputs}
        self.needed: dict[Graph, set[Node]] = {}
        before = -1
        while before != (before := sum(map(len, self.wanted.values()))):  # until all callers of a function are known
            self._found: dict[Graph, int] = {}  # for how many wanted outputs
            self._find(graph)

    def _find(self, graph: Graph) -> None:
        """Walk back from the wanted outputs of a graph, and of its loops and callees."""
        if self._found.get(graph) == len(self.wanted[graph]):
            return
        self._found[graph] = len(self.wanted[graph])
        nodes = self.needed[graph] = {graph.outputs[k] for k in self.wanted[graph]}
        for node in reversed(graph.nodes):
            if node in nodes:
                if node.op == "proj" and node.args[0].op in ("loop", "call"):
                    self.wanted.setdefault(node.args[0].data, set()).add(node.data)
                elif node.op == "call":
                    self._find(node.data)
                elif node.op == "loop":
                    self._find_in_loop(node.data)
                nodes.update(self.arguments(node))

    def _find_in_loop(self, body: Graph) -> None:
        """The outputs that the next iteration needs are wanted as well, and that which tells whether there is one.

        Of a loop without an iteration, the initial values of what is wanted are the results.
        """
        before = -1
        if body.goes_on is not None:
            self.wanted[body].add(body.goes_on)
        while before != (before := len(self.wanted[body])):
            self._find(body)
            self.wanted[body].update(k for k, param in enumerate(body.carried) if param in self.needed[body])
        self.needed[body].update(body.carried[k] for k in self.wanted[body])

    def arguments(self, node: Node) -> list[Node]:
        """The arguments that a node needs: of a loop, its count, and of a loop or call those that are needed inside."""
        if node.op not in ("loop", "call"):
            return list(node.args)
        inside = self.needed[node.data]
        always = (node.data.params[0], node.data.condition) if node.op == "loop" else ()
        pairs = zip(node.args, node.data.params, strict=True)
        return [arg for arg, param in pairs if param in inside or param in always]
