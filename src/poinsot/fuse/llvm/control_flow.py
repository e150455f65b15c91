"""Arrays in memory, calls, slow paths and loops, as LLVM text.

An array in memory is one vector for each element; truth values are stored as integers. A `set` writes in place if the
old array is dead, and otherwise into a copy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from poinsot.fuse.graph.memory import is_unset
from poinsot.fuse.graph.nodes import NUMBERS, Graph, Node
from poinsot.fuse.llvm.emitter import LoopHead, literal_vector
from poinsot.fuse.llvm.values import ArgumentElement, Ref, VectorEmitter, stored

if TYPE_CHECKING:
    from poinsot.fuse.llvm.lowering import Function

_LONG_RUN = 64  # elements in a row that are copied in a loop
Refs = dict[Node, Ref]
LastUses = dict[Node, float]  # the number of the node that uses an array last


def _array(f: Function, node: Node, refs: Refs, last: LastUses) -> None:
    base, start = f.allocate(len(node.args)), 0
    for run in _runs([f.homes.get(arg) for arg in node.args]):
        home = f.homes.get(node.args[start])
        if run >= _LONG_RUN and isinstance(home, ArgumentElement):
            _copy_row(f, home, f.address(base, start), run)
        else:
            for k in range(start, start + run):
                f.write(base, k, f.value(node.args[k], refs))
        start += run
    refs[node] = Ref(base, node.type, False)


def _runs(homes: Sequence[Callable[[], str] | None]) -> list[int]:
    """How many elements of an argument follow each other, in one row after the other."""
    starts = [
        k
        for k, home in enumerate(homes)
        if not (k and isinstance(home, ArgumentElement) and home.follows(homes[k - 1]))
    ]
    return [end - start for start, end in pairwise([*starts, len(homes)])]


def _copy_row(f: Function, first: ArgumentElement, sink: str, count: int) -> None:
    """Copy elements of an argument in a row, from the first one on, to an array of vectors."""
    t, source = f.target, first()
    with f.repeat(count) as i:
        value = f.load(t.vector("f"), f.gep(source, f.mul(first.steps[0], i)), t.itemsize)
        f.store(t.vector("f"), value, f.address(sink, i, "i64"), t.itemsize)


def _table(f: Function, node: Node, refs: Refs, last: LastUses) -> None:
    kind = stored(node.element)
    data = tuple(map(int, node.data)) if kind == "i" else node.data
    refs[node] = Ref(f.module.table(data, kind), node.type, True)


def _get(f: Function, node: Node, refs: Refs, last: LastUses) -> None:
    t, (array, index) = f.target, (refs[arg] for arg in node.args)
    uniform = index.uniform and array.uniform
    form, kind = t.scalar if uniform else t.vector, stored(node.type)
    if uniform:
        text = f.load(t.scalar(kind), f.gep(array.text, index.text, t.scalar(kind), t.scalar("i")))
    elif index.uniform:
        text = f.load(t.vector(kind), f.address(array.text, index.text), t.itemsize)
    else:
        text = _gather(f, array, index)
    if node.type == "b":
        text = f.trunc(text, form("i"), form("b"))
    refs[node] = Ref(text, node.type, uniform)


def _set(f: Function, node: Node, refs: Refs, last: LastUses) -> None:
    t, (array, index, value) = f.target, (refs[arg] for arg in node.args)
    base, kind = array.text, stored(node.element)
    if array.uniform or last[node.args[0]] > node.index:  # the old array is still live
        base = f.allocate(node.size)
        copy_array(f, base, array, node.size)
    result, text = Ref(base, node.type, False), f.as_stored(value)
    if index.uniform:
        vector, address = t.vector(kind), f.address(base, index.text)
        if f.mask is not None:
            text = f.choose(f.mask, text, f.load(vector, address, t.itemsize), kind)
        f.store(vector, text, address, t.itemsize)
    else:
        _scatter(f, text, result, index)
    refs[node] = result


def _lane_addresses(f: VectorEmitter, array: Ref, index: Ref) -> str:
    """The address of each lane's own element."""
    t, integers, position = f.target, f.target.vector("i"), f.vector(index)
    if not array.uniform:  # vectors in memory, each with the room for floats: lane l of vector i is number i*room + l
        room = t.width * t.itemsize // t.bytes(stored(array.element))
        position = f.mul(position, f"splat ({t.scalar('i')} {room})", integers)
        position = f.add(position, literal_vector(t.scalar("i"), range(t.width)), integers)
    return f.gep(array.text, position, t.scalar(stored(array.element)), integers)


def _gather(f: VectorEmitter, array: Ref, index: Ref) -> str:
    """Each lane's own element of an array."""
    w, kind = f.target.width, stored(array.element)
    vector, name = f.target.vector(kind), f"masked.gather.v{w}{f.target.short(kind)}.v{w}p0"
    addresses = (f"<{w} x ptr>", _lane_addresses(f, array, index))
    align, all_lanes = ("i32", f.target.bytes(kind)), (f"<{w} x i1>", "splat (i1 true)")
    return f.intrinsic(vector, name, addresses, align, all_lanes, (vector, "poison"))


def _scatter(f: Function, value: str, array: Ref, index: Ref) -> None:
    """The value to each active lane's own element of an array."""
    w, kind = f.target.width, stored(array.element)
    name = f"masked.scatter.v{w}{f.target.short(kind)}.v{w}p0"
    addresses = (f"<{w} x ptr>", _lane_addresses(f, array, index))
    align, lanes = ("i32", f.target.bytes(kind)), (f"<{w} x i1>", f.mask or "splat (i1 true)")
    f.intrinsic("void", name, (f.target.vector(kind), value), addresses, align, lanes)


def copy_array(f: VectorEmitter, base: str, array: Ref, size: int, mask: str | None = None) -> None:
    """Copy all elements of an array, or only those in the lanes of a mask."""
    if size == 0:
        return
    integer, type_ = f.target.scalar("i"), array.element
    if mask is not None:
        with f.repeat(size, integer) as k:
            old, new = f.read(base, k, type_), f.read(array.text, k, type_)
            f.write(base, k, Ref(f.choose(mask, new.text, old.text, type_), type_, False))
    elif array.uniform:  # a constant table: every lane gets its own copy
        kind = stored(type_)
        scalar = f.target.scalar(kind)
        with f.repeat(size, integer) as k:
            f.write(base, k, Ref(f.load(scalar, f.gep(array.text, k, scalar, integer)), kind, True))
    else:
        length = ("i64", size * f.target.size)
        f.intrinsic("void", "memcpy.p0.p0.i64", ("ptr", base), ("ptr", array.text), length, ("i1", "false"))


def _call(f: Function, node: Node, refs: Refs, last: LastUses) -> None:
    graph: Graph = node.data
    name = _callee(f, graph)
    inputs = f.allocate(len(node.args))
    outputs = f.allocate(len(graph.outputs))
    arrays, k = [], 0
    for arg in node.args:
        if isinstance(arg.type, tuple):
            base = refs[arg].text
            if refs[arg].uniform:  # the callee expects a vector for each element
                base = f.allocate(arg.size)
                copy_array(f, base, refs[arg], arg.size)
            arrays.append(("ptr", base))
        else:
            f.write(inputs, k, f.value(arg, refs))
            k += 1
    f.call("void", name, ("ptr", inputs), ("ptr", outputs), *arrays)
    for user in node.used_results():
        if user.type == "b":
            refs[user] = f.read(outputs, user.data, user.type)
        else:
            f.homes[user] = partial(f.address, outputs, user.data)


def _callee(f: Function, graph: Graph) -> str:
    """The name of the function that computes the graph: @f(in, out, arrays ...), vectors in memory."""
    callees = f.module.callees
    if graph not in callees:
        callees[graph] = f"@f{len(callees)}"
        inner = f.sibling(f.contract)
        arrays = [p for p in graph.params if isinstance(p.type, tuple)]
        scalars = [p for p in graph.params if not isinstance(p.type, tuple)]
        refs = {p: Ref(f"%array{k}", p.type, False) for k, p in enumerate(arrays)}
        for k, p in enumerate(scalars):
            if p.type == "b":
                refs[p] = inner.read("%in", k, p.type)
            else:
                inner.homes[p] = partial(inner.address, "%in", k)
        inner.graph(graph, refs, inner.outputs_to("%out", graph, refs))
        parameters = ", ".join(["ptr %in", "ptr %out", *(f"ptr %array{k}" for k in range(len(arrays)))])
        inner.define(f"define internal void {callees[graph]}({parameters})", "ret void")
    return callees[graph]


def _slow_path(f: Function, node: Node, refs: Refs, last: LastUses) -> None:
    """Only if some lane needs it: the slow function for all lanes, of which those take the result."""
    t, graph = f.target, node.data
    mask, *rest = (refs[arg] for arg in node.args)
    usual, args = rest[: len(graph.outputs)], rest[len(graph.outputs) :]
    test = f.vector(mask)
    name, kind = _slow_function(f, graph)
    fast, values = [f.vector(u) for u in usual], [f.vector(arg) for arg in args]
    some, before, number = f.reduce("or", test, "b"), f.block, f.number()
    f.branch(some, f"slow{number}", f"join{number}", "!0")
    f.label(f"slow{number}")
    result = f.call(kind, name, *((t.vector(arg.type), text) for arg, text in zip(args, values, strict=True)))
    slow = [
        f.choose(test, f.extract(result, kind, k), old, u.type)
        for k, (u, old) in enumerate(zip(usual, fast, strict=True))
    ]
    f.jump(f"join{number}")
    f.label(f"join{number}")
    for user in node.used_results():
        k = user.data
        text = f.phi(t.vector(user.type), (fast[k], before), (slow[k], f"slow{number}"))
        refs[user] = Ref(text, user.type, False)


def _slow_function(f: Function, graph: Graph) -> tuple[str, str]:
    """Name and result type of a rarely used function, out of line, its arguments and results passed as vectors."""
    t, callees = f.target, f.module.callees
    kind = "{" + ", ".join(t.vector(output.type) for output in graph.outputs) + "}"
    if graph not in callees:
        callees[graph] = f"@slow{len(callees)}"
        inner = f.sibling(contract=False)
        refs = {p: Ref(f"%p{k}", p.type, False) for k, p in enumerate(graph.params)}
        value = "poison"
        for k, result in enumerate(inner.graph(graph, refs)):
            value = inner.insert_value(value, kind, inner.vector(result), t.vector(result.type), k)
        parameters = ", ".join(f"{t.vector(p.type)} %p{k}" for k, p in enumerate(graph.params))
        f.declarations["!0"] = '!0 = !{!"branch_weights", i32 1, i32 100000}'
        inner.define(f"define internal {kind} {callees[graph]}({parameters}) cold noinline", f"ret {kind} {value}")
    return callees[graph], kind


def _loop(f: Function, node: Node, refs: Refs, last: LastUses) -> None:
    """Where trip counts differ between lanes, or lanes stop by a condition, all iterate until the last has done, and a
    mask tells which are still active."""
    carried, t, outer_mask, counter = _Carried(f, node, refs, last), f.target, f.mask, node.data.params[0]
    bound, lanes = _trip_count(f, f.value(node.args[0], refs))
    number = f.number()
    head = LoopHead(f, f"head{number}")
    i = head.carry(t.scalar("i"), 0)
    carried.enter(head)
    inside = carried.inside
    inside[counter] = Ref(i, "i", True)
    active, more = _active(f, node.data, inside, lanes), f.icmp("slt", i, bound, t.scalar("i"))
    if node.data.condition is not None:
        assert active is not None
        more = f.and_(more, f.reduce("or", active, "b"))
    f.branch(more, f"body{number}", f"done{number}")
    f.label(f"body{number}")
    f.mask = active or outer_mask
    f.graph(node.data, inside, carried.state.storing(carried.ends, inside, active) if carried.state.numbers else None)
    carried.return_arrays()
    following = carried.following(active)
    step = f.add(i, 1, t.scalar("i"))
    f.jump(head.label)
    head.close(step, *carried.state.following(), *following)
    f.mask = outer_mask
    f.label(f"done{number}")
    for user in node.used_results():
        carried.leave(user, refs)


def _active(f: Function, body: Graph, inside: Refs, lanes: str | None) -> str | None:
    """The lanes that take part in an iteration, or nothing if all lanes do that take part in the loop."""
    masks = []
    if lanes is not None:
        masks.append(f.icmp("slt", f.vector(inside[body.params[0]]), lanes, f.target.vector("i")))
    if body.condition is not None:
        masks.append(f.vector(inside[body.condition]))
    if masks and f.mask is not None:
        masks.append(f.mask)
    return functools.reduce(lambda a, b: f.and_(a, b, f.target.vector("b")), masks) if masks else None


def _trip_count(f: Function, count: Ref) -> tuple[str, str | None]:
    """The number of iterations, and if it differs between lanes, the number of each."""
    if count.uniform:
        return count.text, None
    lanes = f.vector(count)
    if f.mask is not None:  # an inactive lane may ask for any number
        lanes = f.choose(f.mask, lanes, "zeroinitializer", "i")
    return f.reduce("smax", lanes, "i"), lanes


class _Carried:
    """The values that a loop carries from one iteration to the next: arrays in their own memory (`buffers`), numbers in
    registers, or if they are too many, in memory (`state`). `inside`: the references of the body's parameters; `ends`:
    the body's output that each parameter takes its next value from."""

    def __init__(self, f: Function, node: Node, refs: Refs, last: LastUses) -> None:
        body: Graph = node.data
        self.f, (_, carried, captured) = f, node.loop_args()
        crowded, self.inside = f.is_crowded(node, refs), Refs()
        for param, argument in zip(body.captures.values(), captured, strict=True):
            if crowded and argument in f.homes:
                f.homes[param] = f.homes[argument]
            else:
                self.inside[param] = refs[argument]
        self.params = body.carried
        self.ends = dict(zip(self.params, body.outputs, strict=True))
        self.buffers: dict[Node, str] = {}
        self._start: dict[Node, str] = {}
        self._names: dict[Node, str] = {}
        self.state = _State(f, [p for p in self.params if crowded and p.type in NUMBERS])
        for argument, param in zip(carried, self.params, strict=True):
            if isinstance(param.type, tuple):
                shared = last[argument] > node.index or list(node.args).count(argument) > 1
                if is_unset(argument):  # what the loop does not set is not read
                    self.buffers[param] = f.allocate(param.size)
                else:
                    self.buffers[param] = self._own_array(refs[argument], param.size, shared)
            elif param in self.state.numbers:
                self.state.begin(param, f.value(argument, refs))
            else:
                self._start[param] = f.vector(refs[argument])

    def _own_array(self, array: Ref, size: int, shared: bool) -> str:
        """The memory of an array that the loop may change."""
        if not (array.uniform or shared):
            return array.text
        base = self.f.allocate(size)
        copy_array(self.f, base, array, size)
        return base

    def enter(self, head: LoopHead) -> None:
        """An iteration begins."""
        self.state.enter(head)
        self._names = {p: head.carry(self.f.target.vector(p.type), start) for p, start in self._start.items()}
        self.inside |= {p: Ref(text, p.type, False) for p, text in (self.buffers | self._names).items()}

    def return_arrays(self) -> None:
        """Copy an array that ends up elsewhere back to its place, by a detour in case two change places."""
        f, ends = self.f, {p: self.inside[self.ends[p]] for p in self.buffers}
        moved = {p: end for p, end in ends.items() if end.text != self.buffers[p]}
        detours = {p: f.allocate(p.size) for p in moved}
        for p, end in moved.items():
            copy_array(f, detours[p], end, p.size)
        for p, detour in detours.items():
            copy_array(f, self.buffers[p], Ref(detour, p.type, False), p.size, f.mask)

    def following(self, active: str | None) -> list[str]:
        """The next values of the numbers in registers; in inactive lanes, they stay."""
        following = []
        for p, name in self._names.items():
            value = self.f.vector(self.inside[self.ends[p]])
            following.append(value if active is None else self.f.choose(active, value, name, p.type))
        return following

    def leave(self, user: Node, refs: Refs) -> None:
        """A result of the loop, for a node that uses it."""
        p = self.params[user.data]
        if p in self.state.numbers:
            self.f.homes[user] = self.state.home(p)
        else:
            refs[user] = Ref((self.buffers | self._names)[p], user.type, False)


class _State:
    """The numbers that a loop carries in memory: each iteration reads one array and writes another."""

    def __init__(self, f: Function, params: Sequence[Node]) -> None:
        self.f, self.numbers = f, {p: k for k, p in enumerate(params)}
        self._arrays = [f.allocate(len(params)) for _ in range(2)] if params else []
        self._names: list[str] = []

    def begin(self, param: Node, value: Ref) -> None:
        self.f.write(self._arrays[0], self.numbers[param], value)

    def enter(self, head: LoopHead) -> None:
        self._names = [head.carry("ptr", array) for array in self._arrays]

    def following(self) -> list[str]:
        """The two arrays change places."""
        return self._names[::-1]

    def home(self, param: Node) -> Callable[[], str]:
        """How to write the address of a value."""
        return partial(self.f.address, self._names[0], self.numbers[param])

    def storing(self, ends: dict[Node, Node], refs: Refs, active: str | None) -> Callable[[Node], None]:
        """For `Function.graph`: stores the ends of an iteration as soon as they are there."""
        f, params = self.f, dict[Node, list[Node]]()
        for p in self.numbers:
            f.homes[p] = self.home(p)
            params.setdefault(ends[p], []).append(p)

        def store(node: Node) -> None:
            for p in params.get(node, ()):
                value = f.value(node, refs)
                if active is not None:
                    old = f.read(self._names[0], self.numbers[p], p.type)
                    value = Ref(f.choose(active, f.vector(value), old.text, p.type), p.type, False)
                f.write(self._names[1], self.numbers[p], value)

        return store


CONTROL_FLOW: dict[str, Callable[[Function, Node, Refs, LastUses], None]] = {
    "array": _array,
    "table": _table,
    "get": _get,
    "set": _set,
    "call": _call,
    "slow_path": _slow_path,
    "loop": _loop,
}
