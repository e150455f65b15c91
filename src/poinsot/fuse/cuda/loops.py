"""Loops in CUDA C++.

An inner loop prefetches from far arrays what the next iterations need, so that the latency of memory is hidden behind
the work of this one. Arrays that follow, element by element, from one that a loop writes in order are fused into the
loop, so that it need not be read again.
"""

from collections.abc import Callable
from typing import Any

from poinsot.fuse.cuda.constants import TYPES
from poinsot.fuse.cuda.text import Place, Refs, Text, copy, element
from poinsot.fuse.graph.nodes import Graph, Node
from poinsot.fuse.graph.patterns import LoopPlan, elements, followers, written_in_order

PREFETCHED = 64  # values that a loop prefetches at most, as they wait in registers
Reads = dict[Node, tuple[Place, Node]]  # the array that a value is read from, and the index there


def write_loop(
    text: Text, graph: Graph, node: Node, refs: Refs, plan: LoopPlan, write: Callable[[Text, Graph, Refs], list[Any]]
) -> list[Node]:
    """The loop, whose body `write` writes; the arrays that are fused into it."""
    body: Graph = node.data
    counter, *params = body.params
    inside = dict(zip(body.captures.values(), (refs[a] for a in node.args[1 + len(body.outputs) :]), strict=True))
    carried = [p for p in params if p not in inside]
    goes_on = body.condition
    fused = (
        followers(graph, node, plan, refs) if goes_on is None else []
    )  # a loop that may stop early writes no array whole
    written = written_in_order(node) if fused else {}
    unused = {result: end for result, end in written.items() if _is_only_for_fused(body, result, end, plan, fused)}
    text.skipped |= {*unused.values(), *_made_at_the_end(body)}
    targets = _targets(text, node, fused, plan, refs)
    places = _places(text, node, carried, {carried[result.data] for result in unused}, refs, plan)
    i, free, count = text.name(), list(text.free), refs[node.args[0]]
    reads = _far(body, inside, text.unit.prefetch) | {
        a: (refs[a], counter) for a in _sources(fused, plan, refs) if not refs[a].is_near
    }
    prefetch = _Prefetch(text, reads, counter, inside, count)
    _begin(text, i, count, None if goes_on is None else places[goes_on], prefetch.most)
    now = prefetch.iteration(i)
    within = {**inside, **places, **now, counter: i}
    ends = write(text, body, within)
    elementwise = {**refs, **now, **{result: within[end.args[2]] for result, end in written.items()}}
    values = [text.value("f", element(text, plan.patterns[n], elementwise, i)) for n in fused]
    for n, value in zip(fused, values, strict=True):
        text.line(f"{targets[n].at(i)} = {value};")
    _carry(text, carried, places, ends)
    text.depth -= 1
    text.line("}")
    text.free = free
    refs.update((user, places[carried[user.data]]) for user in node.used_results())
    refs.update(targets)
    return fused


def _begin(text: Text, i: str, count: str, goes_on: str | None, unroll: int) -> None:
    """The first lines of a loop of so many iterations, while `goes_on` holds; of one iteration at most, of an `if`."""
    if goes_on is not None and count == "1":
        text.line(f"const int {i} = 0;")
        text.line(f"if ({goes_on}) {{")
    else:
        text.line(f"#pragma unroll {unroll}")
        more = f"{i} < {count}" if goes_on is None else f"{i} < {count} && {goes_on}"
        text.line(f"for (int {i} = 0; {more}; {i}++) {{")
    text.depth += 1


class _Prefetch:
    """The values that a loop prefetches: each has one variable for this iteration and each of the next, and moves
    through them.

    So that no iteration waits for a number only to hand it on, the loop is unrolled by `most` iterations: then the
    compiler renames the variables instead.
    """

    def __init__(self, text: Text, reads: Reads, counter: Node, inside: Refs, count: str) -> None:
        self._text, self._reads, self._counter, self._inside, self._count = text, reads, counter, inside, count
        distances = {key: 1 if place.is_constant else text.unit.prefetch for key, (place, _) in reads.items()}
        self.most = max(distances.values(), default=1)
        self._names = {key: [text.name() for _ in range(distances[key])] for key in reads}
        for key, names in self._names.items():
            for k, name in enumerate(names):
                text.line(f"T {name} = {self._at(key, f'max(min({k}, {count} - 1), 0)' if k else '0')};")

    def _at(self, key: Node, iteration: str) -> str:
        """A value in an iteration, as an element of its array."""
        place, index = self._reads[key]
        return place.at(_index(self._text, index, self._counter, iteration, self._inside))

    def iteration(self, i: str) -> Refs:
        """The values in iteration i; and the next reads, none beyond the last iteration."""
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
    """Where a loop keeps its carried values, with their initial values: arrays stay, if they have no other use."""
    places: dict[Node, Any] = {}
    for argument, p in zip(node.args[1:], carried, strict=False):
        if p in unused:
            places[p] = Place("nowhere[{}]")
        elif isinstance(p.type, tuple):
            shared = plan.last[argument] > node.index or list(node.args).count(argument) > 1
            copied = refs[argument].is_constant or shared
            places[p] = text.array(p.array_type) if copied else refs[argument]
            if copied:
                copy(text, places[p], refs[argument], p.type[1], argument)
        else:
            places[p] = text.name()
            text.line(f"{TYPES[p.type]} {places[p]} = {refs[argument]};")
    return places


def _made_at_the_end(body: Graph) -> set[Node]:
    """The arrays that an iteration makes only for the next one: they are written where that one reads them."""
    used = {arg for n in body.live() for arg in n.args}
    return {n for n in body.outputs if n.op == "array" and n not in used and body.outputs.count(n) == 1}


def _carry(text: Text, carried: list[Node], places: dict[Node, Any], ends: list[Any]) -> None:
    """The values that an iteration ends with go where the next one reads them; by a detour, if that is still needed."""
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


def _sources(fused: list[Node], plan: LoopPlan, refs: Refs) -> list[Node]:
    """The arrays from before the loop that the fused ones are made of."""
    arrays = (e.array for n in fused for e in elements(plan.patterns[n]))
    return list(dict.fromkeys(a for a in arrays if a in refs))


def _targets(text: Text, node: Node, fused: list[Node], plan: LoopPlan, refs: Refs) -> dict[Node, Place]:
    """Where the fused arrays go: in place of one that they are made of, if that has no other use after the loop."""
    targets: dict[Node, Place] = {}
    for n in fused:
        for a in _sources([n], plan, refs):
            ends = plan.last[a] < float("inf") and all(m in fused for m in plan.users[a] if m.index > node.index)
            if ends and a.type == n.type and not refs[a].is_constant and refs[a] not in targets.values():
                targets[n] = refs[a]
        if n not in targets:
            targets[n] = text.array(n.array_type)
    return targets


def _is_only_for_fused(body: Graph, result: Node, end: Node, plan: LoopPlan, fused: list[Node]) -> bool:
    """Whether an array that a loop writes is used for nothing but the fused ones."""
    inner = [n for n in body.live() if end.args[0] in n.args]
    outer = plan.last.get(result, 0) < float("inf") and all(n in fused for n in plan.users.get(result, []))
    return outer and inner == [end] and body.outputs.count(end) == 1


def _far(body: Graph, inside: Refs, ahead: int) -> Reads:
    """The values that an inner loop reads from far arrays that it does not write, at indices that are known before.

    None, if it reads so much that it has work enough to hide the latency, and is too long to be unrolled `ahead`.
    """
    nodes = body.live()
    if any(n.op in ("loop", "call") for n in nodes):
        return {}
    gets = (n for n in nodes if n.op == "get" and n.type == "f" and isinstance(inside.get(n.args[0]), Place))
    far = {
        n: (inside[n.args[0]], n.args[1])
        for n in gets
        if not inside[n.args[0]].is_near and _is_known_before(n.args[1], body.params[0], inside)
    }
    return far if len(far) * ahead <= PREFETCHED else {}


def _is_known_before(index: Node, counter: Node, inside: Refs) -> bool:
    """Whether an index is made of the counter and of loop invariants."""
    if index is counter or index.op == "const" or index in inside:
        return True
    if index.op == "get":
        return index.args[0].op == "table" and _is_known_before(index.args[1], counter, inside)
    return index.op in ("add", "sub", "mul", "minimum", "maximum") and all(
        _is_known_before(arg, counter, inside) for arg in index.args
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
