"""Loops in CUDA C++.

An inner loop reads what the next turns need of far arrays ahead, so that the wait for memory passes beside the work of
this turn. What follows, element by element, from an array that a loop writes in order is made in the loop as well, so
that it need not be read again.
"""

from collections.abc import Callable
from typing import Any

from poinsot.fuse.cuda.constants import TYPES
from poinsot.fuse.cuda.text import Place, Refs, Text, copy, element
from poinsot.fuse.graph.nodes import Graph, Node
from poinsot.fuse.graph.patterns import LoopPlan, elements, followers, written_in_order

Reads = dict[Node, tuple[Place, Node]]  # where a value lies, and the index there


def write_loop(
    text: Text, graph: Graph, node: Node, refs: Refs, plan: LoopPlan, write: Callable[[Text, Graph, Refs], list[Any]]
) -> list[Node]:
    """The loop, whose body `write` writes; and the arrays that are made by the way."""
    body: Graph = node.data
    counter, *params = body.params
    inside = dict(zip(body.captures.values(), (refs[a] for a in node.args[1 + len(body.outputs) :]), strict=True))
    carried = [p for p in params if p not in inside]
    joined = followers(graph, node, plan, refs)
    written = written_in_order(node) if joined else {}
    unused = {result: end for result, end in written.items() if _is_only_joined(body, result, end, plan, joined)}
    text.skipped |= {*unused.values(), *_made_at_the_end(body)}
    targets = _targets(text, node, joined, plan, refs)
    places = _places(text, node, carried, {carried[result.data] for result in unused}, refs, plan)
    i, free, count = text.name(), list(text.free), refs[node.args[0]]
    reads = _far(body, inside) | {a: (refs[a], counter) for a in _sources(joined, plan, refs) if not refs[a].is_near}
    ahead = _Ahead(text, reads, counter, inside, count)
    text.line(f"#pragma unroll {ahead.most}")
    text.line(f"for (int {i} = 0; {i} < {count}; {i}++) {{")
    text.depth += 1
    now = ahead.turn(i)
    within = {**inside, **places, **now, counter: i}
    ends = write(text, body, within)
    elementwise = {**refs, **now, **{result: within[end.args[2]] for result, end in written.items()}}
    values = [text.value("f", element(text, plan.patterns[n], elementwise, i)) for n in joined]
    for n, value in zip(joined, values, strict=True):
        text.line(f"{targets[n].at(i)} = {value};")
    _carry(text, carried, places, ends)
    text.depth -= 1
    text.line("}")
    text.free = free
    refs.update((user, places[carried[user.data]]) for user in node.used_results())
    refs.update(targets)
    return joined


class _Ahead:
    """What a loop reads ahead: each value has one variable for this turn and each of the next, and they move on.

    So that nobody waits for a number only to move it on, the loop is unrolled by `most` turns: then the compiler gives
    the variables other names instead.
    """

    def __init__(self, text: Text, reads: Reads, counter: Node, inside: Refs, count: str) -> None:
        self._text, self._reads, self._counter, self._inside, self._count = text, reads, counter, inside, count
        turns = {key: 1 if place.is_constant else text.unit.ahead for key, (place, _) in reads.items()}
        self.most = max(turns.values(), default=1)
        self._names = {key: [text.name() for _ in range(turns[key])] for key in reads}
        for key, names in self._names.items():
            for k, name in enumerate(names):
                text.line(f"T {name} = {self._at(key, f'max(min({k}, {count} - 1), 0)' if k else '0')};")

    def _at(self, key: Node, turn: str) -> str:
        """A value in a turn, where it lies."""
        place, index = self._reads[key]
        return place.at(_index(self._text, index, self._counter, turn, self._inside))

    def turn(self, i: str) -> Refs:
        """The values in turn i; and the next reads, none beyond the last turn."""
        now: Refs = {}
        for key, names in self._names.items():
            now[key] = self._text.value("f", names[0])
            following = [*names[1:], self._at(key, f"min({i} + {len(names)}, {self._count} - 1)")]
            for name, value in zip(names, following, strict=True):
                self._text.line(f"{name} = {value};")
        return now


def _places(
    text: Text, node: Node, carried: list[Node], unused: set[Node], refs: Refs, plan: LoopPlan
) -> dict[Node, Any]:
    """Where a loop keeps what it carries, filled with what it begins with: arrays stay, if nobody else needs them."""
    places: dict[Node, Any] = {}
    for argument, p in zip(node.args[1:], carried, strict=False):
        if p in unused:
            places[p] = Place("nowhere[{}]")
        elif isinstance(p.type, tuple):
            shared = plan.last[argument] > node.index or list(node.args).count(argument) > 1
            taken = refs[argument].is_constant or shared
            places[p] = text.array(p.array_type) if taken else refs[argument]
            if taken:
                copy(text, places[p], refs[argument], p.type[1], argument)
        else:
            places[p] = text.name()
            text.line(f"{TYPES[p.type]} {places[p]} = {refs[argument]};")
    return places


def _made_at_the_end(body: Graph) -> set[Node]:
    """The arrays that a turn makes of numbers for the next one alone: these are put where that one finds them."""
    used = {arg for n in body.live() for arg in n.args}
    return {n for n in body.outputs if n.op == "array" and n not in used and body.outputs.count(n) == 1}


def _carry(text: Text, carried: list[Node], places: dict[Node, Any], ends: list[Any]) -> None:
    """What a turn ends with, put where the next one finds it; by a detour, if that is still needed."""
    moved = [(p, end) for p, end in zip(carried, ends, strict=True) if end != places[p]]
    detours: list[Any] = []
    for p, end in moved:
        detour = end
        if isinstance(end, tuple):  # the names of an array's elements
            detour = tuple(text.value(p.element, element) for element in end)
        elif not isinstance(p.type, tuple):
            detour = text.value(p.type, end)
        elif end in places.values():
            detour = text.array(p.array_type)
            copy(text, detour, end, p.type[1])
        detours.append(detour)
    for (p, _), detour in zip(moved, detours, strict=True):
        if isinstance(detour, tuple):
            for k, value in enumerate(detour):
                text.line(f"{places[p].at(k)} = {value};")
        elif isinstance(p.type, tuple):
            copy(text, places[p], detour, p.type[1])
        else:
            text.line(f"{places[p]} = {detour};")


def _sources(joined: list[Node], plan: LoopPlan, refs: Refs) -> list[Node]:
    """The arrays from before the loop that the joined ones are made of."""
    arrays = (e.array for n in joined for e in elements(plan.patterns[n]))
    return list(dict.fromkeys(a for a in arrays if a in refs))


def _targets(text: Text, node: Node, joined: list[Node], plan: LoopPlan, refs: Refs) -> dict[Node, Place]:
    """Where the joined arrays go: in place of one that they are made of, if nobody else uses that after the loop."""
    targets: dict[Node, Place] = {}
    for n in joined:
        for a in _sources([n], plan, refs):
            ends = plan.last[a] < float("inf") and all(m in joined for m in plan.users[a] if m.index > node.index)
            if ends and a.type == n.type and not refs[a].is_constant and refs[a] not in targets.values():
                targets[n] = refs[a]
        if n not in targets:
            targets[n] = text.array(n.array_type)
    return targets


def _is_only_joined(body: Graph, result: Node, end: Node, plan: LoopPlan, joined: list[Node]) -> bool:
    """Whether an array that a loop writes is used for nothing but the joined ones."""
    inner = [n for n in body.live() if end.args[0] in n.args]
    outer = plan.last.get(result, 0) < float("inf") and all(n in joined for n in plan.users.get(result, []))
    return outer and inner == [end] and body.outputs.count(end) == 1


def _far(body: Graph, inside: Refs) -> Reads:
    """What an inner loop reads of arrays that it does not write, that are far, and at indices known before."""
    nodes = body.live()
    if any(n.op in ("loop", "call") for n in nodes):
        return {}
    far = (n for n in nodes if n.op == "get" and n.type == "f" and isinstance(inside.get(n.args[0]), Place))
    return {
        n: (inside[n.args[0]], n.args[1])
        for n in far
        if not inside[n.args[0]].is_near and _is_ahead(n.args[1], body.params[0], inside)
    }


def _is_ahead(index: Node, counter: Node, inside: Refs) -> bool:
    """Whether an index is made of the counter and of what does not change in the loop."""
    if index is counter or index.op == "const" or index in inside:
        return True
    if index.op == "get":
        return index.args[0].op == "table" and _is_ahead(index.args[1], counter, inside)
    return index.op in ("add", "sub", "mul", "minimum", "maximum") and all(
        _is_ahead(arg, counter, inside) for arg in index.args
    )


def _index(text: Text, index: Node, counter: Node, at: str, inside: Refs) -> str:
    """An index as an expression, at a value of the counter."""
    if index is counter:
        return at
    if index.op == "const" or index in inside:
        return inside[index] if index in inside else str(index.data)
    if index.op == "get":
        table, place = index.args
        return Place(text.unit.tables.name(table.data, table.element) + "({})").at(
            _index(text, place, counter, at, inside)
        )
    arguments = (_index(text, arg, counter, at, inside) for arg in index.args)
    return f"({text.unit.operations[index.op].format(**dict(zip('ab', arguments, strict=True)))})"
