"""Arrays whose elements are all made in one way: what was written out element by element becomes a loop again.

`x + h * v` on arrays in memory is traced as one addition and one multiplication for each element. Here they are found
by their likeness, so that a back end may write a loop, and need not make the elements one by one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from poinsot.fuse.graph.nodes import Graph, Node
from poinsot.fuse.graph.ops import OPS

FEWEST = 8  # elements: fewer are written out


@dataclass(frozen=True)
class ArrayElement:
    """Element number first + k of an array, or, if there is none, of an argument of the kernel with this form."""

    array: Any  # a node, or None
    first: int
    form: str | None = None
    is_whole: bool = False


class LoopPlan:
    """What a graph computes, with loops for arrays of like elements.

    `patterns`: of nodes that make arrays, and of the groups of outputs, by their numbers. A pattern is a node that all
    elements have in common, an `ArrayElement`, or an operation and the patterns of its arguments.
    `wanted`: the nodes that are still needed; `users`: for each array, the nodes that use it; `last`: the number of the
    last of them, infinite if the array is a result.
    """

    def __init__(self, graph: Graph, inputs: Mapping[Node, Any], groups: Sequence[Sequence[Node]] = ()) -> None:
        self.patterns: dict[Any, Any] = {}
        self._inputs = inputs
        self._made: dict[Node, tuple[Node, int]] = {}  # an element, and where it lies
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

    def _find(self, name: Any, nodes: Sequence[Node]) -> None:
        if len(nodes) >= FEWEST and (pattern := self._pattern(nodes)) is not None:
            self.patterns[name] = pattern

    def _pattern(self, nodes: Sequence[Node]) -> Any:
        first = nodes[0]
        if all(node is first for node in nodes):
            return first
        where = [self._inputs.get(node) for node in nodes]
        if where[0] is not None and all(
            w is not None and w[0] == where[0][0] and w[1] == where[0][1] + k for k, w in enumerate(where)
        ):
            return ArrayElement(None, where[0][1], where[0][0], len(nodes) == where[0][2])
        places = [self._place(node) for node in nodes]
        if places[0] is not None and all(
            p is not None and p[0] is places[0][0] and p[1] == places[0][1] + k for k, p in enumerate(places)
        ):
            return ArrayElement(places[0][0], places[0][1])
        if first.op not in OPS or first.op in ("sin", "cos") or any(node.op != first.op for node in nodes):
            return None
        parts = [self._pattern([node.args[j] for node in nodes]) for j in range(len(first.args))]
        return None if any(part is None for part in parts) else (first.op, *parts)

    def _place(self, node: Node) -> tuple[Node, int] | None:
        """The array in memory that holds a node, and where in it."""
        if node.op == "get" and node.args[1].op == "const":
            return node.args[0], node.args[1].data
        return self._made.get(node)


def elements(pattern: Any) -> Iterator[ArrayElement]:
    """All that a pattern reads from arrays."""
    if isinstance(pattern, ArrayElement):
        yield pattern
    elif isinstance(pattern, tuple):
        for part in pattern[1:]:
            yield from elements(part)


def _nodes(pattern: Any) -> Iterator[Node]:
    """The nodes of the graph that a pattern needs."""
    if isinstance(pattern, Node):
        yield pattern
    elif isinstance(pattern, ArrayElement):
        if pattern.array is not None:
            yield pattern.array
    else:
        for part in pattern[1:]:
            yield from _nodes(part)


def written_in_order(loop: Node) -> dict[Node, Node]:
    """The results of a loop that are arrays whose element i is written in turn i, for all i; and what writes it."""
    body: Graph = loop.data
    counter, *params = body.params
    carried = [p for p in params if p not in body.captures.values()]
    found = {}
    for result in loop.used_results():
        end = body.outputs[result.data]
        in_order = end.op == "set" and end.args[0] is carried[result.data] and end.args[1] is counter
        if in_order and loop.args[0].op == "const" and loop.args[0].data == end.type[1]:
            found[result] = end
    return found


def followers(graph: Graph, loop: Node, plan: LoopPlan, known: Mapping[Node, Any]) -> list[Node]:
    """Arrays made, element by element, of what a loop writes in order and of what is known before: turn i of the loop
    can make element i of them."""
    made = set(written_in_order(loop))
    if not made:
        return []
    found: list[Node] = []
    for node in graph.nodes[loop.index :]:
        if node in plan.patterns and node.type == ("f", loop.args[0].data):
            parts = list(elements(plan.patterns[node]))
            arrays = {e.array for e in parts} - made
            fits = all(e.first == 0 for e in parts) and all(a in known and _reads_in_order(loop, a) for a in arrays)
            numbers = [n for n in _nodes(plan.patterns[node]) if not isinstance(n.type, tuple) and n.op != "const"]
            if fits and any(e.array in made for e in parts) and all(n in known for n in numbers):
                found.append(node)
    return found


def _reads_in_order(loop: Node, array: Node) -> bool:
    """Whether a loop reads no element of an array but number i in turn i, and does not write it."""
    body: Graph = loop.data
    carried, captured = loop.args[1 : 1 + len(body.outputs)], loop.args[1 + len(body.outputs) :]
    if array in carried:
        return False
    inside = {p for outer, p in zip(captured, body.captures.values(), strict=True) if outer is array}
    return all(n.op == "get" and n.args[1] is body.params[0] for n in body.live() if not inside.isdisjoint(n.args))
