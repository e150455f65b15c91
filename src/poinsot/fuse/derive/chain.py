"""The chain of series behind a solution of y' = f(t, y): which operations move, and what their rules need."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from poinsot.fuse.derive.forward import Dual, push_all
from poinsot.fuse.derive.partials import PARTIALS
from poinsot.fuse.derive.recurrences import RULES
from poinsot.fuse.derive.straight import straightened
from poinsot.fuse.graph.build import lift
from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.graph.nodes import Graph, Node, Value, current, tracing_into
from poinsot.fuse.trace.traced import Traced, as_objects, objects

STEPWISE = {"floor", "rint", "trunc", "spacing"}  # of floats to floats, each of one value between its jumps


@dataclass(eq=False)
class Recurrences:
    """The operations of y' = f(t, y), made straight, with all series that their rules ask for.

    `moving`: the nodes that change with time. `chain`: those whose series are needed, in order. `slopes`: for those
    without a rule, pairs of an argument and its partial derivative. `switches`: operations that take one of several
    values, such as comparisons, and stay as they are decided at the start. `observing`: those that only the last
    numbers of y need, which have no influence on the others.
    """

    graph: Graph
    time: Node
    state: list[Node]
    rates: list[Node] = field(default_factory=list)
    moving: set[Node] = field(default_factory=set)
    chain: list[Node] = field(default_factory=list)
    slopes: dict[Node, list[tuple[Node, Node]]] = field(default_factory=dict)
    switches: list[Node] = field(default_factory=list)
    observing: set[Node] = field(default_factory=set)
    _seen: int = 0

    @classmethod
    def of(cls, f: Callable[[Any, Any], Any], n: int, observers: int = 0) -> "Recurrences":
        """Those of f(t, y (n,)), which may use traced values around it. The last numbers of y only observe."""
        plain = Graph(current(), name="rate")
        with tracing_into(plain):
            t, y = plain.param("f"), [plain.param("f") for _ in range(n)]
            result = as_objects(f(Traced(t), Traced(objects(y))))
            plain.outputs = [lift(value, "f") for value in result.ravel()]
        graph = Graph(current(), name="series")
        self = cls(graph, graph.param("f"), [graph.param("f") for _ in range(n)])
        with tracing_into(graph):
            captured = [graph.capture(outer) for outer in plain.captures]
            known = dict(zip(plain.captures.values(), captured, strict=True))
            inputs = iter([self.time, *self.state])
            ends = straightened(plain, [known[p] if p in known else next(inputs) for p in plain.params])
            self.rates = [lift(value, "f") for value in ends]
            self._close(n - observers)
            beside = [g for pairs in self.slopes.values() for _, g in pairs]
            graph.outputs = [*self.rates, *beside, *self.switches, *self.switch_arguments()]
        return self

    def _close(self, first: int) -> None:
        """Find the series that are needed, and add those of partial derivatives; those of the first numbers first."""
        self.moving.update([self.time, *self.state])
        needed: set[Node] = set()
        self._need(needed, self.rates[:first])
        own = needed | set(self.state[:first])
        self._need(needed, self.rates[first:])
        self.observing = (needed | set(self.state)) - own
        self.chain = sorted((n for n in needed if n in self.moving and n.op != "param"), key=lambda n: n.index)
        self.switches.sort(key=lambda n: n.index)

    def _need(self, needed: set[Node], nodes: Sequence[Node]) -> None:
        pending = list(nodes)
        while pending:
            node = pending.pop()
            self._watch()
            if node in needed or node.op == "const":
                continue
            needed.add(node)
            pending += node.args
            if node not in self.moving:
                self._decide(node)
            elif node.op not in RULES and node.op != "param":
                self.slopes[node] = self._partials(node)
                pending += [g for _, g in self.slopes[node]]

    def _watch(self) -> None:
        """Tell of each new node whether it moves."""
        for node in self.graph.nodes[self._seen :]:
            scalar = node.type[0] if isinstance(node.type, tuple) else node.type
            if scalar == "f" and node.op not in STEPWISE and any(arg in self.moving for arg in node.args):
                self.moving.add(node)
        self._seen = len(self.graph.nodes)

    def _decide(self, node: Node) -> None:
        """A node that stays as it is at the start: a switch, if it depends on what moves."""
        if any(arg in self.moving for arg in node.args):
            if node.op == "bits":
                raise TraceError("the bits of a number that changes with time are used", "use a Runge-Kutta method")
            self.switches.append(node)

    def _partials(self, node: Node) -> list[tuple[Node, Node]]:
        if node.op not in PARTIALS:
            raise TraceError(f"the operation {node.op!r} has no Taylor series", "use a Runge-Kutta method")
        partials = PARTIALS[node.op](*node.args, node)
        pairs = zip(node.args, partials, strict=True)
        return [(arg, lift(partial, "f")) for arg, partial in pairs if arg in self.moving]

    def switch_arguments(self) -> list[Node]:
        """The arguments of switches that move, each once."""
        return list(dict.fromkeys(arg for node in self.switches for arg in node.args if arg in self.moving))

    def zeroth(self, t: Value, y: Sequence[Value]) -> dict[Node, Value]:
        """The values of all nodes at one instant, built in the current graph."""
        inputs = iter([t, *y])
        known = {param: outer for outer, param in self.graph.captures.items()}
        duals = [Dual(known[p] if p in known else next(inputs), ()) for p in self.graph.params]
        return {node: dual.value for node, dual in push_all(self.graph, duals, 0).items()}
