"""The Taylor series of the solution of y' = f(t, y), from the graph of f.

Every operation of f becomes a recurrence of its coefficients (`recurrences`), and the solution follows order by order:
y_{k+1} = f_k / (k + 1). Short series are straight-line code, in which zeros vanish. Others are one loop over the
orders, with the coefficients in memory: its body holds each operation once, whatever the order, and the sums of
products of older coefficients are inner loops.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot.fuse.derive.chain import Recurrences
from poinsot.fuse.derive.recurrences import RULES, add, by_partials, mul
from poinsot.fuse.graph import memory
from poinsot.fuse.graph.build import build
from poinsot.fuse.graph.nodes import Graph, Node, Value, current, tracing_into
from poinsot.fuse.trace.control import fori_loop
from poinsot.fuse.trace.traced import Traced, as_objects, objects

STRAIGHT = 2_500  # operations: the longest series that is straight-line code
SUMS = 12  # sums of products that one inner loop adds up side by side


class _Coefficients:
    """What rules see: the coefficients of order k of nodes, `now`, and of order 0."""

    def __init__(self, recurrences: Recurrences, zeroth: dict[Node, Value]) -> None:
        self.recurrences, self.zeroth, self.home = recurrences, zeroth, current()
        self.now: dict[Node, Value] = {}

    def __getitem__(self, x: Node) -> Value:
        if x in self.recurrences.moving:
            return self.now[x]
        return current().node("table", (), x.type, (0.0,) * x.size) if isinstance(x.type, tuple) else 0.0

    def first(self, x: Node) -> Value:
        return x.data if x.op == "const" else self.zeroth[x]

    def inverse(self, x: Node) -> Value:
        with tracing_into(self.home):
            return build("div", 1.0, self.first(x))

    def move(self, x: Node, y: Node) -> bool:
        return x in self.recurrences.moving and y in self.recurrences.moving

    def sweep(self) -> None:
        """The coefficients of order k of all nodes but the arguments, from those of the arguments."""
        slopes = self.recurrences.slopes
        for node in self.recurrences.chain:
            pairs = slopes.get(node)
            self.now[node] = by_partials(self, pairs) if pairs is not None else RULES[node.op](self, node, *node.args)

    def sum(self, x: Node, y: Node) -> Value:
        raise NotImplementedError

    def rate(self, x: Node, y: Node) -> Value:
        raise NotImplementedError


Row = tuple[Node, bool]  # the series of a node; True: k times its coefficients


class _Asked(_Coefficients):
    """Only notes which sums the rules ask for."""

    def __init__(self, recurrences: Recurrences) -> None:
        super().__init__(recurrences, {})
        self.pairs: dict[tuple[Row, Row], None] = {}
        graph = Graph(current(), name="asked")
        with tracing_into(graph):
            self.home = graph
            nodes = [n for n in recurrences.graph.nodes if n.op != "const"]
            self.zeroth = {node: graph.param(node.type) for node in nodes}
            self.now = {node: graph.param(node.type) for node in recurrences.moving}
            self.sweep()

    def sum(self, x: Node, y: Node) -> Value:
        return self._ask((x, False), (y, False))

    def rate(self, x: Node, y: Node) -> Value:
        return self._ask((x, True), (y, False))

    def _ask(self, x: Row, y: Row) -> Value:
        if not self.move(x[0], y[0]):
            return 0.0
        if (y, x) not in self.pairs:
            self.pairs[x, y] = None
        return current().param("f")


class _Unrolled(_Coefficients):
    """All coefficients as values of one graph."""

    def __init__(self, recurrences: Recurrences, zeroth: dict[Node, Value], order: int) -> None:
        super().__init__(recurrences, zeroth)
        r, self.k, k = recurrences, 0, 0
        self.series: dict[Node, list[Value]] = {x: [zeroth[x]] for x in r.moving if x in zeroth}
        for k in range(1, order + 1):
            self.k = k
            self.now = {x: mul(1.0 / k, self._of(rate)[k - 1]) for x, rate in zip(r.state, r.rates, strict=True)}
            self.now[r.time] = 1.0 if k == 1 else 0.0
            if k < order:
                self.sweep()
            for node, value in self.now.items():
                if node in self.series:
                    self.series[node].append(value)

    def _of(self, x: Node) -> list[Value]:
        """The series of a node, which may be constant."""
        return self.series[x] if x in self.series else [self.first(x), *([0.0] * self.k)]

    def sum(self, x: Node, y: Node) -> Value:
        if not self.move(x, y):
            return 0.0
        a, b, k = self.series[x], self.series[y], self.k
        if x is not y:
            return add(*(mul(a[j], b[k - j]) for j in range(1, k)))
        twice = add(*(mul(a[j], a[k - j]) for j in range(1, (k + 1) // 2)))
        return add(mul(2.0, twice), mul(a[k // 2], a[k // 2]) if k % 2 == 0 else 0.0)

    def rate(self, x: Node, y: Node) -> Value:
        if not self.move(x, y):
            return 0.0
        a, b, k = self.series[x], self.series[y], self.k
        return mul(1.0 / k, add(*(mul(mul(float(j), a[j]), b[k - j]) for j in range(1, k))))

    def rows(self, nodes: Iterable[Node], order: int) -> Traced:
        """The coefficients (rows, order + 1) of these nodes; the last of all but the state are not known."""
        lists = [[*self._of(node), 0.0][: order + 1] for node in nodes]
        return Traced(np.stack([objects(values) for values in lists]))


class _Rolled(_Coefficients):
    """One order, in a loop over all: older coefficients are in an array in memory, row by row."""

    def __init__(self, recurrences: Recurrences, zeroth: dict[Node, Value], order: int) -> None:
        super().__init__(recurrences, zeroth)
        r, self.width = recurrences, order + 1
        self.pairs = list(_Asked(r).pairs)
        kept = [*((x, False) for x in (*r.state, *r.switch_arguments())), *(row for pair in self.pairs for row in pair)]
        self.place = {row: k * self.width for k, row in enumerate(dict.fromkeys(kept))}
        self.sums: dict[tuple[Row, Row], Value] = {}

    def solve(self) -> Traced:
        """The coefficients (rows, order + 1)."""
        r, size = self.recurrences, len(self.place) * self.width
        array = current().node("table", (), ("f", size), (0.0,) * size)
        for (node, by_order), place in self.place.items():
            if not by_order:
                array = memory.set_(array, place, self.zeroth[node])
        for x, rate in zip(r.state, r.rates, strict=True):
            array = memory.set_(array, self.place[x, False] + 1, self.first(rate))
        shape = (len(self.place), self.width)
        whole: Traced = fori_loop(self.width - 2, self._order, Traced.in_memory(array, shape))
        return whole

    def _order(self, i: Any, table: Traced) -> Traced:
        """The coefficients of order i + 1, of the state of order i + 2."""
        r, array, k = self.recurrences, table._in_memory(), build("add", as_objects(i).item(), 1)
        self.factor = build("to_float", k)
        self.inverse_order = build("div", 1.0, self.factor)
        self._add_up(array, i, k)
        self.now = {x: memory.get(array, build("add", k, self.place[x, False])) for x in r.state}
        self.now[r.time] = build("where", build("equal", k, 1), 1.0, 0.0)
        self.sweep()
        following = build("div", 1.0, build("to_float", build("add", k, 1)))
        for (node, by_order), place in self.place.items():
            if node not in r.state or by_order:
                value = mul(self.now[node], self.factor) if by_order else self.now[node]
                array = memory.set_(array, build("add", k, place), value)
        for x, rate in zip(r.state, r.rates, strict=True):
            place = self.place[x, False] + 1
            array = memory.set_(array, build("add", k, place), mul(self[rate], following))
        return Traced.in_memory(array, table.shape)

    def _add_up(self, array: Node, i: Any, k: Value) -> None:
        """All sums of products of older coefficients, some side by side."""
        for start in range(0, len(self.pairs), SUMS):
            some = self.pairs[start : start + SUMS]

            def term(j: Any, sums: Traced, some: Any = some) -> Traced:
                up = build("add", as_objects(j).item(), 1)
                down, terms = build("sub", k, up), []
                for (x, y), total in zip(some, sums.data, strict=True):
                    a, b = (memory.get(array, build("add", n, self.place[row])) for n, row in ((up, x), (down, y)))
                    terms.append(add(total, mul(a, b)))
                return Traced(objects(terms))

            sums = fori_loop(i, term, Traced(objects([0.0] * len(some))))
            self.sums.update(zip(some, sums.data, strict=True))

    def sum(self, x: Node, y: Node) -> Value:
        pair = ((x, False), (y, False))
        return (self.sums[pair] if pair in self.sums else self.sums[pair[::-1]]) if self.move(x, y) else 0.0

    def rate(self, x: Node, y: Node) -> Value:
        pair = ((x, True), (y, False))
        if not self.move(x, y):
            return 0.0
        return mul(self.inverse_order, self.sums[pair] if pair in self.sums else self.sums[pair[::-1]])


@dataclass(frozen=True, eq=False)
class Expansion:
    """The series of y (n, order + 1), and of the arguments of switches (m, order + 1), from one instant on."""

    recurrences: Recurrences
    zeroth: dict[Node, Value]
    y: Any
    arguments: Any

    @property
    def has_switches(self) -> bool:
        """Whether some operation takes one of several values."""
        return bool(self.recurrences.switches)

    def unswitched(self, arguments: Any) -> Any:
        """Whether all switches are as at the start if their arguments are these (m,)."""
        r = self.recurrences
        same: Value = True
        known = dict(zip(r.switch_arguments(), as_objects(arguments), strict=True))
        for node in r.switches:
            args = [known[x] if x in known else x.data if x.op == "const" else self.zeroth[x] for x in node.args]
            now = build(node.op, *args)
            same = build("and", same, build("equal", now, self.zeroth[node]))
        return Traced(objects([same], ()))


def series(f: Callable[[Any, Any], Any], t: Any, y: Any, order: int, unrolled: bool | None = None) -> Expansion:
    """The Taylor series of the solution of y' = f(t, y) through y (n,) at the time t, for use inside kernels.

    f is traced once; it may use traced values of its surroundings, which are constant. `unrolled`: whether the
    recurrences are straight-line code; by default if that is short.
    """
    numbers = list(as_objects(y))
    r = Recurrences.of(f, len(numbers))
    zeroth = r.zeroth(as_objects(t).item(), numbers)
    pairs = len(_Asked(r).pairs)
    if unrolled is None:
        unrolled = order < 3 or pairs * order * order // 2 + len(r.chain) * order < STRAIGHT
    nodes = [*r.state, *r.switch_arguments()]
    if unrolled:
        rows = _Unrolled(r, zeroth, order).rows(nodes, order)
    else:
        rows = _Rolled(r, zeroth, order).solve()
    n = len(numbers)
    return Expansion(r, zeroth, rows[:n], rows[n : len(nodes)])
