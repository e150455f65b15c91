"""Which values of a long straight piece of code are in registers, and which wait in memory.

Compilers do badly at that with thousands of values in one block. But all uses are known in advance, and then the best
value to move out is the one that is used last (Belady, IBM Systems Journal 5, 1966). Inputs lie in memory anyway: they
are only forgotten. Constants are read where they are used. And fewer values wait if operations come first that end more
of them than they begin.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from poinsot.fuse.graph.nodes import Node
from poinsot.fuse.math import FUNCTIONS

_STORE = 20  # operations by which a value may be needed sooner than another one, if that one would have to be stored
_WINDOW = 100  # operations among which the next one is chosen


class Memory(Protocol):
    """Where values wait."""

    def store(self, node: Node) -> None: ...

    def load(self, node: Node) -> None: ...

    def free(self, node: Node) -> None: ...


class Registers:
    """Follows a row of operations, and moves values out of registers and back as they are needed.

    `uses`: for each value the numbers of the operations that need it, in order. `room`: for how many values.
    """

    def __init__(self, uses: Mapping[Node, Sequence[int]], room: int, memory: Memory) -> None:
        self._later = {node: list(reversed(numbers)) for node, numbers in uses.items()}
        self._next: dict[Node, int] = {}  # what is in a register, and where it is used next
        self._room, self._memory, self._stored = room, memory, set[Node]()

    @property
    def held(self) -> int:
        """How many values are in registers."""
        return len(self._next)

    def holds(self, node: Node) -> bool:
        return node in self._next

    def lies_in_memory(self, node: Node) -> None:
        """It need not be stored."""
        self._stored.add(node)

    def made(self, node: Node) -> None:
        """A new value is in a register."""
        if self._later.get(node):
            self._make_room(1)
            self._next[node] = self._later[node][-1]

    def need(self, nodes: Iterable[Node], room: int = 0) -> None:
        """Bring values into registers, and leave room for others."""
        missing = [node for node in nodes if node not in self._next]
        self._make_room(len(missing) + room, nodes)
        for node in missing:
            self._memory.load(node)
            self._next[node] = self._later[node][-1]

    def used(self, nodes: Iterable[Node]) -> None:
        """An operation has used the values."""
        for node in nodes:
            later = self._later[node]
            later.pop()
            if node in self._next and later:
                self._next[node] = later[-1]
            elif not later:
                self._next.pop(node, None)
                self._memory.free(node)

    def clear(self) -> None:
        """Move everything out."""
        self._make_room(self._room)

    def _make_room(self, count: int, but: Iterable[Node] = ()) -> None:
        while len(self._next) + count > self._room and (others := self._next.keys() - but):
            last = max(others, key=lambda node: (self._next[node] - _STORE * (node not in self._stored), node.index))
            del self._next[last]
            if last not in self._stored:
                self._memory.store(last)
                self._stored.add(last)


def contracted(live: Sequence[Node], outputs: Sequence[Node]) -> dict[Node, list[Node]]:
    """Sums and differences of floats, each with the product that it may take in: one that nothing else needs. And the
    negatives of such sums that nothing else needs, each with the product and the sum."""
    count = Counter(arg for node in live for arg in node.args)
    count.update(outputs)
    found = {}
    for node in live:
        if node.op in ("add", "sub") and node.type == "f":
            products = [arg for arg in node.args if arg.op == "mul" and count[arg] == 1]
            if products:
                found[node] = products[:1]
        elif node.op == "neg" and node.args[0] in found and count[node.args[0]] == 1:
            found[node] = [*found.pop(node.args[0]), node.args[0]]
    return found


@dataclass(frozen=True)
class Row:
    """The operations of a graph, one after the other, each with what it takes in (`contracted`) and what it needs in
    registers: floats and integers that differ between lanes."""

    nodes: list[Node]
    taken_in: dict[Node, list[Node]]
    needs: dict[Node, list[Node]]

    def uses(self, at_end: Iterable[Node]) -> dict[Node, list[int]]:
        """By which operations each value is needed, by number, and at the end."""
        found: dict[Node, list[int]] = {}
        for number, node in enumerate(self.nodes):
            for arg in self.needs[node]:
                found.setdefault(arg, []).append(number)
        for node in dict.fromkeys(at_end):
            found.setdefault(node, []).append(len(self.nodes))
        return found


_IN_ORDER = {"proj", "array", "get", "set", "call", "slow_path", "loop"}
_NOT_SIMPLE = {"param", "const", "table", *_IN_ORDER, *FUNCTIONS}


def row(live: Sequence[Node], outputs: Sequence[Node], steady: set[Node], contract: bool, reorder: bool) -> Row:
    """The row of the live nodes, its products contracted or not, in a better order or not.

    `steady`: nodes that are known to be the same in all lanes; those that follow from them are added.
    """
    taken_in = contracted(live, outputs) if contract else {}
    inside = {inner for taken in taken_in.values() for inner in taken}
    nodes, needs, operands = [node for node in live if node not in inside], {}, {}
    for node in nodes:
        simple = node.op not in _NOT_SIMPLE
        args = [arg for part in (node, *taken_in.get(node, ())[::-1]) for arg in part.args if arg not in inside]
        operands[node] = list(dict.fromkeys(args))
        if node.op in ("const", "table") or ((simple or node.op == "get") and steady.issuperset(args)):
            steady.add(node)
            args = []
        needs[node] = [arg for arg in dict.fromkeys(args) if arg.type in ("f", "i") and arg not in steady]
    if reorder and not any(node.op in _IN_ORDER for node in nodes):
        nodes = _ordered(nodes, operands)
    return Row(nodes, taken_in, needs)


def _ordered(nodes: Sequence[Node], operands: Mapping[Node, Sequence[Node]]) -> list[Node]:
    """The nodes, operands first. Of those near the front that can be next: one that most values end with."""
    place = {node: k for k, node in enumerate(nodes)}
    users: dict[Node, list[Node]] = {node: [] for node in nodes}
    for node in nodes:
        for arg in operands[node]:
            users[arg].append(node)
    missing, left = {node: len(operands[node]) for node in nodes}, {node: len(users[node]) for node in nodes}
    gain = {node: -1 if users[node] else 0 for node in nodes}  # values that end with it, less the one that begins
    for node in nodes:
        if left[node] == 1 and operands[node]:
            gain[users[node][0]] += 1
    found, done, front = list[Node](), set[Node](), 0
    ready, near = [place[node] for node in nodes if not missing[node]], list[tuple[int, int]]()
    while len(found) < len(nodes):
        while nodes[front] in done:
            front += 1
        while ready and ready[0] < front + _WINDOW:
            k = heapq.heappop(ready)
            heapq.heappush(near, (-gain[nodes[k]], k))
        loss, k = heapq.heappop(near)
        node = nodes[k]
        if node in done or -loss != gain[node]:
            continue
        done.add(node)
        found.append(node)
        for arg in operands[node]:
            left[arg] -= 1
            if left[arg] == 1 and operands[arg]:
                last = next(user for user in users[arg] if user not in done)
                gain[last] += 1
                if not missing[last] and place[last] < front + _WINDOW:
                    heapq.heappush(near, (-gain[last], place[last]))
        for user in users[node]:
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, place[user])
    return found
