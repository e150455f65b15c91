"""Which values of long straight-line code are in registers, and which are spilled to memory.

Compilers do badly at that with thousands of values in one block. But all uses are known in advance, and then the best
value to spill is the one whose next use comes last (Belady, IBM Systems Journal 5, 1966). Inputs are in memory anyway:
they are dropped and reloaded. Constants are read where they are used. And fewer values are live if operations come
first that end more of them than they define.
"""

import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from poinsot.fuse.graph.nodes import NUMBERS, Node
from poinsot.fuse.math import FUNCTIONS

_STORE = 20  # operations by which a value may be needed sooner than another one, if that one would have to be stored
_WINDOW = 100  # operations among which the next one is chosen


class Memory(Protocol):
    """Where spilled values are."""

    def spill(self, node: Node) -> None: ...

    def reload(self, node: Node) -> None: ...

    def free(self, node: Node) -> None: ...


class Registers:
    """Follows a schedule of operations, and spills and reloads values as needed.

    `uses`: for each value the numbers of the operations that use it, in order. `capacity`: how many values have room.
    """

    def __init__(self, uses: Mapping[Node, Sequence[int]], capacity: int, memory: Memory) -> None:
        self._later = {node: list(reversed(numbers)) for node, numbers in uses.items()}
        self._next: dict[Node, int] = {}  # the values in registers, and where each is used next
        self._capacity, self._memory, self._stored = capacity, memory, set[Node]()

    @property
    def held(self) -> int:
        """How many values are in registers."""
        return len(self._next)

    def holds(self, node: Node) -> bool:
        return node in self._next

    def is_in_memory(self, node: Node) -> None:
        """The value need not be stored to be spilled."""
        self._stored.add(node)

    def define(self, node: Node) -> None:
        """A new value is in a register."""
        if self._later.get(node):
            self._make_room(1)
            self._next[node] = self._later[node][-1]

    def require(self, nodes: Iterable[Node], room: int = 0) -> None:
        """Have these values in registers, and leave room for others."""
        missing = [node for node in nodes if node not in self._next]
        self._make_room(len(missing) + room, nodes)
        for node in missing:
            self._memory.reload(node)
            self._next[node] = self._later[node][-1]

    def use(self, nodes: Iterable[Node]) -> None:
        """An operation has used the values; those without a later use are dead."""
        for node in nodes:
            later = self._later[node]
            later.pop()
            if node in self._next and later:
                self._next[node] = later[-1]
            elif not later:
                self._next.pop(node, None)
                self._memory.free(node)

    def spill_all(self) -> None:
        self._make_room(self._capacity)

    def _make_room(self, count: int, but: Iterable[Node] = ()) -> None:
        while len(self._next) + count > self._capacity and (others := self._next.keys() - but):
            last = max(others, key=lambda node: (self._next[node] - _STORE * (node not in self._stored), node.index))
            del self._next[last]
            if last not in self._stored:
                self._memory.spill(last)
                self._stored.add(last)


def fused_products(live: Sequence[Node], outputs: Sequence[Node]) -> dict[Node, list[Node]]:
    """Sums and differences of floats, each with the product that can be fused with it: one that has no other use, apart
    from those of observers. And the negatives of such sums that have no other use, each with the product and the sum.
    """
    count = Counter(arg for node in live for arg in node.args)
    count.update(outputs)
    deciding = {**count, **live[0].graph.uses} if live else count
    fused: dict[Node, list[Node]] = {}
    for node in live:
        if node.op in ("add", "sub") and node.type == "f" and node.args[0] is not node.args[1]:
            products = [arg for arg in node.args if arg.op == "mul" and deciding[arg] == 1]
            if products:
                fused[node] = products[:1]
        elif node.op == "neg" and node.args[0] in fused and count[node.args[0]] == 1:
            fused[node] = [*fused.pop(node.args[0]), node.args[0]]
    return fused


def _remaining(live: Sequence[Node], outputs: Sequence[Node], fused: Mapping[Node, Sequence[Node]]) -> list[Node]:
    """The nodes without those that are needed only where they are fused."""
    inside = {inner for part in fused.values() for inner in part}
    needed = set(outputs)
    for node in reversed(live):
        if node not in inside or node in needed:
            needed.update(_operands(node, fused))
    return [node for node in live if node not in inside or node in needed]


def _operands(node: Node, fused: Mapping[Node, Sequence[Node]]) -> Sequence[Node]:
    """The arguments of a node and of what is fused with it, in the order of the code."""
    parts = fused.get(node)
    if parts is None:
        return node.args
    return [arg for part in (node, *parts[::-1]) for arg in part.args if arg not in parts]


@dataclass(frozen=True)
class Schedule:
    """The operations of a graph in the order of execution, each with those that are fused with it (`fused_products`)
    and with the values that it needs in registers: numbers that differ between lanes."""

    nodes: list[Node]
    fused: dict[Node, list[Node]]
    needs: dict[Node, list[Node]]

    def uses(self, at_end: Iterable[Node]) -> dict[Node, list[int]]:
        """For each value the numbers of the operations that need it; `at_end` are needed after the last one."""
        uses: dict[Node, list[int]] = {}
        for number, node in enumerate(self.nodes):
            for arg in self.needs[node]:
                uses.setdefault(arg, []).append(number)
        for node in dict.fromkeys(at_end):
            uses.setdefault(node, []).append(len(self.nodes))
        return uses


_IN_ORDER = {"proj", "array", "get", "set", "call", "slow_path", "loop"}
_NOT_SIMPLE = {"param", "const", "table", *_IN_ORDER}


def schedule(
    live: Sequence[Node], outputs: Sequence[Node], uniform: set[Node], contract: bool, reorder: bool
) -> Schedule:
    """The schedule of the live nodes, with products fused into sums (`contract`) or not, in a better order or not.

    `uniform`: nodes that are known to be the same in all lanes; those that follow from them are added.
    """
    fused = fused_products(live, outputs) if contract else {}
    nodes, needs, operands = _remaining(live, outputs, fused), {}, {}
    for node in nodes:
        simple = node.op not in _NOT_SIMPLE and node.op not in FUNCTIONS
        args: Collection[Node] = dict.fromkeys(_operands(node, fused))
        if reorder:
            operands[node] = list(args)
        if node.op in ("const", "table") or ((simple or node.op == "get") and uniform.issuperset(args)):
            uniform.add(node)
            args = ()
        needs[node] = [arg for arg in args if arg.type in NUMBERS and arg not in uniform]
    if reorder and not any(node.op in _IN_ORDER for node in nodes):
        nodes = _Order(nodes, operands).nodes()
    return Schedule(nodes, fused, needs)


class _Order:
    """Nodes in a better order, operands first: next comes the one with the greatest gain of those near the front.

    `gain`: how many values die with a node, less the one that it defines.
    """

    def __init__(self, nodes: Sequence[Node], operands: Mapping[Node, Sequence[Node]]) -> None:
        self._nodes, self._operands = nodes, operands
        self._place = {node: k for k, node in enumerate(nodes)}
        self._users: dict[Node, list[Node]] = {node: [] for node in nodes}
        for node in nodes:
            for arg in operands[node]:
                self._users[arg].append(node)
        self._missing = {node: len(operands[node]) for node in nodes}
        self._uses_left = {node: len(self._users[node]) for node in nodes}
        self._gain = {node: -1 if self._users[node] else 0 for node in nodes}
        for node in nodes:
            if self._uses_left[node] == 1 and operands[node]:
                self._gain[self._users[node][0]] += 1
        self._done, self._front = dict[Node, None](), 0
        self._ready = [self._place[node] for node in nodes if not self._missing[node]]
        self._near: list[tuple[int, int]] = []

    def nodes(self) -> list[Node]:
        while len(self._done) < len(self._nodes):
            while self._nodes[self._front] in self._done:
                self._front += 1
            while self._ready and self._ready[0] < self._front + _WINDOW:
                self._offer(self._nodes[heapq.heappop(self._ready)])
            loss, k = heapq.heappop(self._near)
            node = self._nodes[k]
            if node not in self._done and -loss == self._gain[node]:
                self._take(node)
        return list(self._done)

    def _offer(self, node: Node) -> None:
        heapq.heappush(self._near, (-self._gain[node], self._place[node]))

    def _take(self, node: Node) -> None:
        self._done[node] = None
        for arg in self._operands[node]:
            self._uses_left[arg] -= 1
            if self._uses_left[arg] == 1 and self._operands[arg]:
                last = next(user for user in self._users[arg] if user not in self._done)
                self._gain[last] += 1
                if not self._missing[last] and self._place[last] < self._front + _WINDOW:
                    self._offer(last)
        for user in self._users[node]:
            self._missing[user] -= 1
            if not self._missing[user]:
                heapq.heappush(self._ready, self._place[user])
