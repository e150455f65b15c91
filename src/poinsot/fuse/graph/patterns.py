"""Arrays whose elements are all computed in the same way: element-by-element code becomes a loop again.

`x + h * v` on arrays in memory is traced as one addition and one multiplication per element. Here elements of the same
pattern are recognised, so that a back end can emit a loop over them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from poinsot.fuse.graph.nodes import Graph, Node
from poinsot.fuse.graph.ops import OPS

FEWEST = 8  # elements: fewer remain straight-line code
Argument = tuple[str, int, int]  # an element of a kernel's argument: the form of the argument, the place and its size


@dataclass(frozen=True)
class ArrayElement:
    """Element number first + k of an array, or, if there is none, of an argument of the kernel with this form."""

    array: Node | None
    first: int
    form: str | None = None
    is_whole: bool = False


@dataclass(frozen=True)
class Elementwise:
    """An operation on element k of patterns."""

    op: str
    parts: tuple["Pattern", ...]


Pattern: TypeAlias = Node | ArrayElement | Elementwise  # a node: the same value in all elements


class LoopPlan:
    """The computations of a graph, with loops for arrays whose elements have one pattern.

    `patterns`: of nodes that gather arrays, and of the groups of outputs, by number. `wanted`: the nodes that are still
    needed. `users`: for each array, the nodes that use it. `last`: the number of the last of them, infinite if the
    array is a result.
    """

    def __init__(self, graph: Graph, inputs: Mapping[Node, Argument], groups: Sequence[Sequence[Node]] = ()) -> None:
        self.patterns: dict[Node | int, Pattern] = {}
        self._inputs = inputs
        self._made: dict[Node, tuple[Node, int]] = {}  # an element, and its place
        for node in graph.live():
            if node.op == "array":
                self._find(node, node.args)
                if node in self.patterns:
                    self._made.update((arg, (node, k)) for k, arg in enumerate(node.args) if arg.op != "const")
        for k, group in enumerate(groups):
            self._find(k, group)
        ends = set(graph.outputs) if not groups else set()
        for k, group in enumerate(groups):
            ends.update(_nodes(self.patterns[k]) if k in self.patterns else group)
        self.wanted, self.last = set(ends), {}  # type: set[Node], dict[Node, float]
        self.users: dict[Node, list[Node]] = {}
        for node in reversed(graph.nodes):
            if node in self.wanted:
                needed = list(_nodes(self.patterns[node])) if node in self.patterns else node.args
                self.wanted.update(needed)
                for arg in needed:
                    if isinstance(arg.type, tuple):
                        self.last.setdefault(arg, node.index)
                        self.users.setdefault(arg, []).append(node)
        self.last.update((node, float("inf")) for node in (*ends, *graph.captures.values()))

    def _find(self, name: Node | int, nodes: Sequence[Node]) -> None:
        if len(nodes) >= FEWEST and (pattern := self._pattern(nodes)) is not None:
            self.patterns[name] = pattern

    def _pattern(self, nodes: Sequence[Node]) -> Pattern | None:
        first = nodes[0]
        if all(node is first for node in nodes):
            return first
        if (argument := self._inputs.get(first)) is not None:
            form, start, size = argument
            if all(self._inputs.get(node) == (form, start + k, size) for k, node in enumerate(nodes)):
                return ArrayElement(None, start, form, len(nodes) == size)
        if (place := self._place(first)) is not None:
            array, start = place
            if all(self._place(node) == (array, start + k) for k, node in enumerate(nodes)):
                return ArrayElement(array, start)
        if first.op not in OPS or first.op in ("sin", "cos") or any(node.op != first.op for node in nodes):
            return None
        parts = [self._pattern([node.args[j] for node in nodes]) for j in range(len(first.args))]
        matched = tuple(part for part in parts if part is not None)
        return Elementwise(first.op, matched) if len(matched) == len(parts) else None

    def _place(self, node: Node) -> tuple[Node, int] | None:
        """The array in memory that holds a node, and the place in it."""
        if node.op == "get" and node.args[1].op == "const":
            return node.args[0], node.args[1].data
        return self._made.get(node)


def elements(pattern: Pattern) -> Iterator[ArrayElement]:
    """The elements of arrays that a pattern reads."""
    if isinstance(pattern, ArrayElement):
        yield pattern
    elif isinstance(pattern, Elementwise):
        for part in pattern.parts:
            yield from elements(part)


def _nodes(pattern: Pattern) -> Iterator[Node]:
    """The nodes of the graph that a pattern uses."""
    if isinstance(pattern, Node):
        yield pattern
    elif isinstance(pattern, Elementwise):
        for part in pattern.parts:
            yield from _nodes(part)
    elif pattern.array is not None:
        yield pattern.array


def written_in_order(loop: Node) -> dict[Node, Node]:
    """The results of a loop that are arrays whose element i is written in iteration i, for all i; and the writes."""
    body: Graph = loop.data
    counter, carried, count = body.params[0], body.carried, loop.args[0]
    writes = {}
    for result in loop.used_results():
        end = body.outputs[result.data]
        in_order = end.op == "set" and end.args[0] is carried[result.data] and end.args[1] is counter
        if in_order and count.op == "const" and count.data == end.size:
            writes[result] = end
    return writes


def followers(graph: Graph, loop: Node, plan: LoopPlan, known: Mapping[Node, Any]) -> list[Node]:
    """Arrays computed element by element from what a loop writes in order and from what is known before it.

    Iteration i of the loop can compute their element i, too.
    """
    made = set(written_in_order(loop))
    if not made:
        return []
    fused: list[Node] = []
    for node in graph.nodes[loop.index :]:
        if node in plan.patterns and node.type == ("f", loop.args[0].data):
            parts = list(elements(plan.patterns[node]))
            arrays = [e.array for e in parts if e.array not in made]
            in_order = all(e.first == 0 for e in parts)
            in_order &= all(a is not None and a in known and _reads_in_order(loop, a) for a in arrays)
            numbers = [n for n in _nodes(plan.patterns[node]) if not isinstance(n.type, tuple) and n.op != "const"]
            if in_order and any(e.array in made for e in parts) and all(n in known for n in numbers):
                fused.append(node)
    return fused


def _reads_in_order(loop: Node, array: Node) -> bool:
    """Whether iteration i of a loop reads at most element i of an array, and does not write it."""
    body: Graph = loop.data
    _, initial, captured = loop.loop_args()
    if array in initial:
        return False
    inside = {p for outer, p in zip(captured, body.captures.values(), strict=True) if outer is array}
    return all(n.op == "get" and n.args[1] is body.params[0] for n in body.live() if not inside.isdisjoint(n.args))
