"""Arrays whose elements are all made in one way: what was written out element by element becomes a loop again.

`x + h * v` on arrays in memory is traced as one addition and one multiplication for each element. Here they are found
by their likeness, so that a back end may write a loop, and need not make the elements one by one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .graph import Graph, Node
from .ops import OPS

FEWEST = 8  # elements: fewer are written out


@dataclass(frozen=True)
class Element:
    """Element number first + k of an array, or, if there is none, of an argument of the kernel with this form."""

    array: Any  # a node, or None
    first: int
    form: str | None = None
    is_whole: bool = False


class Plan:
    """What a graph computes, with loops for arrays of like elements.

    `patterns`: of nodes that make arrays, and of the groups of outputs, by their numbers. A pattern is a node that all
    elements have in common, an `Element`, or an operation and the patterns of its arguments.
    `wanted`: the nodes that are still needed; `last`: for each array, the number of the node that uses it last.
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
        for node in reversed(graph.nodes):
            if node in self.wanted:
                needed = list(_nodes(self.patterns[node])) if node in self.patterns else node.args
                self.wanted.update(needed)
                for arg in needed:
                    if isinstance(arg.type, tuple):
                        self.last.setdefault(arg, node.index)
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
            return Element(None, where[0][1], where[0][0], len(nodes) == where[0][2])
        places = [self._place(node) for node in nodes]
        if places[0] is not None and all(
            p is not None and p[0] is places[0][0] and p[1] == places[0][1] + k for k, p in enumerate(places)
        ):
            return Element(places[0][0], places[0][1])
        if first.op not in OPS or first.op in ("sin", "cos") or any(node.op != first.op for node in nodes):
            return None
        parts = [self._pattern([node.args[j] for node in nodes]) for j in range(len(first.args))]
        return None if any(part is None for part in parts) else (first.op, *parts)

    def _place(self, node: Node) -> tuple[Node, int] | None:
        """The array in memory that holds a node, and where in it."""
        if node.op == "get" and node.args[1].op == "const":
            return node.args[0], node.args[1].data
        return self._made.get(node)


def elements(pattern: Any) -> Iterator[Element]:
    """All that a pattern reads from arrays."""
    if isinstance(pattern, Element):
        yield pattern
    elif isinstance(pattern, tuple):
        for part in pattern[1:]:
            yield from elements(part)


def _nodes(pattern: Any) -> Iterator[Node]:
    """The nodes of the graph that a pattern needs."""
    if isinstance(pattern, Node):
        yield pattern
    elif isinstance(pattern, Element):
        if pattern.array is not None:
            yield pattern.array
    else:
        for part in pattern[1:]:
            yield from _nodes(part)
