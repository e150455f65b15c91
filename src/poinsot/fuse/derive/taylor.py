"""The Taylor series of the solution of y' = f(t, y), from the graph of f.

Every operation of f becomes a recurrence of its coefficients (`recurrences`), and the solution follows order by order:
y_{k+1} = f_k / (k + 1). Short series are straight-line code, in which zeros vanish. Others are one loop over the
orders, with the coefficients in memory: its body holds each operation once, whatever the order, and the sums of
products of older coefficients are inner loops.
"""

from collections.abc import Callable, Iterable, Sequence
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
SUMS = 12  # sums of products that are added up side by side: they share operands, and none waits for itself

Row = tuple[Node, bool]  # the series of a node; True: k times its coefficients


class _Coefficients:
    """Coefficients as rules see them: those of order k of nodes, `now`, of order 0, and sums of products of others."""

    def __init__(self, recurrences: Recurrences, zeroth: dict[Node, Value]) -> None:
        self.recurrences, self.zeroth, self.home = recurrences, zeroth, current()
        self.now: dict[Node, Value] = {}
        self.sums: dict[tuple[Row, Row], Value] = {}  # of products of older coefficients, at order k
        self.inverse_order: Value = 1.0  # 1/k

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
        return self._summed((x, False), (y, False)) if self.move(x, y) else 0.0

    def rate(self, x: Node, y: Node) -> Value:
        return mul(self.inverse_order, self._summed((x, True), (y, False))) if self.move(x, y) else 0.0

    def _summed(self, x: Row, y: Row) -> Value:
        return self.sums[x, y] if (x, y) in self.sums else self.sums[y, x]


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

    def _summed(self, x: Row, y: Row) -> Value:
        if (y, x) not in self.pairs:
            self.pairs[x, y] = None
        return current().param("f")


class _Unrolled(_Coefficients):
    """All coefficients as values of one graph."""

    def __init__(self, recurrences: Recurrences, zeroth: dict[Node, Value], order: int) -> None:
        super().__init__(recurrences, zeroth)
        r, self.k, k = recurrences, 0, 0
        self.pairs = list(_Asked(r).pairs)
        self.series: dict[Node, list[Value]] = {x: [zeroth[x]] for x in r.moving if x in zeroth}
        for k in range(1, order + 1):
            self.k, self.inverse_order = k, 1.0 / k
            self.now = {x: mul(1.0 / k, self._of(rate)[k - 1]) for x, rate in zip(r.state, r.rates, strict=True)}
            self.now[r.time] = 1.0 if k == 1 else 0.0
            if k < order:
                self._add_up()
                self.sweep()
            for node, value in self.now.items():
                if node in self.series:
                    self.series[node].append(value)

    def _of(self, x: Node) -> list[Value]:
        """The series of a node, which may be constant."""
        return self.series[x] if x in self.series else [self.first(x), *([0.0] * self.k)]

    def _add_up(self) -> None:
        """All sums of products of older coefficients, some side by side."""
        for start in range(0, len(self.pairs), SUMS):
            some = self.pairs[start : start + SUMS]
            self.sums.update(dict.fromkeys(some, 0.0))
            for j in range(1, self.k):
                for x, y in some:
                    self.sums[x, y] = self._with_term(x, y, j)

    def _with_term(self, x: Row, y: Row, j: int) -> Value:
        """The sum so far and its next product: a square's are equal in pairs, and summed up to the middle one."""
        total, left = self.sums[x, y], self.k - 2 * j
        if x == y and left < 0:
            return total
        a, b = self.series[x[0]][j], self.series[y[0]][self.k - j]
        total = add(mul(2.0, total) if x == y and left == 0 else total, mul(mul(float(j), a) if x[1] else a, b))
        return mul(2.0, total) if x == y and left == 1 else total

    def rows(self, nodes: Iterable[Node]) -> Traced:
        """The coefficients (rows, order + 1) of these nodes; the last of all but the state are not known."""
        lists = [objects([*self._of(node), 0.0][: self.k + 1]) for node in nodes]
        return Traced(np.stack(lists) if lists else np.zeros((0, self.k + 1), dtype=object))


class _Rolled(_Coefficients):
    """One order, in a loop over all: older coefficients are in memory, row by row, in one array for what only observes
    and in one for all else."""

    def __init__(self, recurrences: Recurrences, zeroth: dict[Node, Value], order: int) -> None:
        super().__init__(recurrences, zeroth)
        r, self.width = recurrences, order + 1
        self.pairs = list(_Asked(r).pairs)
        kept = [*((x, False) for x in (*r.state, *r.switch_arguments())), *(row for pair in self.pairs for row in pair)]
        self.place: dict[Row, tuple[int, int]] = {}  # the number of the array, and the place in it
        self.sizes = [0, 0]
        for row in dict.fromkeys(kept):
            array = int(row[0] in r.observing)
            self.place[row] = array, self.sizes[array]
            self.sizes[array] += self.width

    def solve(self) -> "_Rolled":
        """Fill the arrays."""
        r = self.recurrences
        arrays = [current().node("table", (), ("f", max(size, 1)), (0.0,) * max(size, 1)) for size in self.sizes]
        for (node, by_order), (array, place) in self.place.items():
            if not by_order:
                arrays[array] = memory.set_(arrays[array], place, self.zeroth[node])
        for x, rate in zip(r.state, r.rates, strict=True):
            array, place = self.place[x, False]
            arrays[array] = memory.set_(arrays[array], place + 1, self.first(rate))
        tables = tuple(Traced.in_memory(array, (array.size,)) for array in arrays)
        self.tables: tuple[Traced, Traced] = fori_loop(self.width - 2, self._order, tables)
        return self

    def rows(self, nodes: Iterable[Node]) -> Traced:
        """The coefficients (rows, order + 1) of these nodes."""
        places = [self.place[node, False] for node in nodes]
        rows = [self.tables[array][place : place + self.width].data for array, place in places]
        return Traced(np.stack(rows) if rows else np.zeros((0, self.width), dtype=object))

    def _order(self, i: Any, tables: tuple[Traced, Traced]) -> tuple[Traced, Traced]:
        """The coefficients of order i + 1, of the state of order i + 2."""
        r, arrays, k = self.recurrences, [table._in_memory() for table in tables], build("add", as_objects(i).item(), 1)
        self.factor = build("to_float", k)
        self.inverse_order = build("div", 1.0, self.factor)
        self._add_up(arrays, i, k)
        self.now = {x: self._get(arrays, (x, False), k) for x in r.state}
        self.now[r.time] = build("where", build("equal", k, 1), 1.0, 0.0)
        self.sweep()
        for (node, by_order), (array, place) in self.place.items():
            if node not in r.state or by_order:
                value = mul(self.now[node], self.factor) if by_order else self.now[node]
                arrays[array] = memory.set_(arrays[array], build("add", k, place), value)
        following = build("div", 1.0, build("to_float", build("add", k, 1)))
        for x, rate in zip(r.state, r.rates, strict=True):
            array, place = self.place[x, False]
            arrays[array] = memory.set_(arrays[array], build("add", k, place + 1), mul(self[rate], following))
        return Traced.in_memory(arrays[0], tables[0].shape), Traced.in_memory(arrays[1], tables[1].shape)

    def _get(self, arrays: Sequence[Node], row: Row, k: Value) -> Value:
        array, place = self.place[row]
        return memory.get(arrays[array], build("add", k, place))

    def _add_up(self, arrays: Sequence[Node], i: Any, k: Value) -> None:
        """All sums of products of older coefficients, some side by side."""
        for start in range(0, len(self.pairs), SUMS):
            some = self.pairs[start : start + SUMS]

            def term(j: Any, sums: Traced, some: Any = some) -> Traced:
                up = build("add", as_objects(j).item(), 1)
                down, terms = build("sub", k, up), []
                for (x, y), total in zip(some, sums.data, strict=True):
                    terms.append(add(total, mul(self._get(arrays, x, up), self._get(arrays, y, down))))
                return Traced(objects(terms))

            sums = fori_loop(i, term, Traced(objects([0.0] * len(some))))
            self.sums.update(zip(some, sums.data, strict=True))


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


def series(
    f: Callable[[Any, Any], Any], t: Any, y: Any, order: int, unrolled: bool | None = None, observers: int = 0
) -> Expansion:
    """The Taylor series of the solution of y' = f(t, y) through y (n,) at the time t, for use inside kernels.

    f is traced once; it may use traced values of its surroundings, which are constant. `unrolled`: whether the
    recurrences are straight-line code; by default if that is short. `observers`: how many of the last numbers of y have
    no influence on the others.
    """
    numbers = list(as_objects(y))
    r = Recurrences.of(f, len(numbers), observers)
    zeroth = r.zeroth(as_objects(t).item(), numbers)
    if unrolled is None:
        own = [pair for pair in _Asked(r).pairs if not any(node in r.observing for node, _ in pair)]
        straight = [node for node in r.chain if node not in r.observing]
        unrolled = len(own) * order * order // 2 + len(straight) * order < STRAIGHT
    all_orders = _Unrolled(r, zeroth, order) if unrolled or order < 3 else _Rolled(r, zeroth, order).solve()
    return Expansion(r, zeroth, all_orders.rows(r.state), all_orders.rows(r.switch_arguments()))
