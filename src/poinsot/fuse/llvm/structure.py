"""Loops, calls and arrays in memory, as LLVM text.

An array in memory is a row of vectors, one for each element; truth values lie there as integers. A `set` writes in
place if nobody needs the old array any more, and otherwise into a copy.
"""

from collections.abc import Callable, Sequence
from functools import partial

from poinsot.fuse.graph.nodes import Graph, Node, Type
from poinsot.fuse.llvm.lowering import STRUCTURE, Function, Module, Ref, Repeat


def _array(f: Function, node: Node, refs: dict[Node, Ref], last: dict[Node, float]) -> None:
    base = f.allocate(len(node.args))
    for k, arg in enumerate(node.args):
        f.store(base, k, f.value(arg, refs))
    refs[node] = Ref(base, node.type, False)


def _table(f: Function, node: Node, refs: dict[Node, Ref], last: dict[Node, float]) -> None:
    kind = _stored(node.type[0])
    data = tuple(map(int, node.data)) if kind == "i" else node.data
    refs[node] = Ref(f.module.table(data, kind), node.type, True)


def _stored(kind: Type) -> Type:
    return "i" if kind == "b" else kind


def _lane_addresses(f: Function, array: Ref, index: Ref) -> str:
    """The address of each lane's own element."""
    t, integers = f.target, f.target.vector("i")
    position = f.vector(index)
    if not array.uniform:  # vectors in memory: lane l of vector i is number i*width + l
        lanes = "<" + ", ".join(f"{t.scalar('i')} {k}" for k in range(t.width)) + ">"
        position = f.op(f"mul {integers} {position}, splat ({t.scalar('i')} {t.width})")
        position = f.op(f"add {integers} {position}, {lanes}")
    return f.op(f"getelementptr {t.scalar(_stored(array.type[0]))}, ptr {array.text}, {integers} {position}")


def _get(f: Function, node: Node, refs: dict[Node, Ref], last: dict[Node, float]) -> None:
    t, (array, index) = f.target, (refs[arg] for arg in node.args)
    uniform = index.uniform and array.uniform
    form, kind = t.scalar if uniform else t.vector, _stored(node.type)
    if uniform:
        address = f.op(f"getelementptr {t.scalar(kind)}, ptr {array.text}, {t.scalar('i')} {index.text}")
        text = f.op(f"load {t.scalar(kind)}, ptr {address}")
    elif index.uniform:
        address = f.address(array.text, index.text)
        text = f.op(f"load {t.vector(kind)}, ptr {address}, align {t.itemsize}")
    else:
        vector, w = t.vector(kind), t.width
        name = f"llvm.masked.gather.v{w}{kind}{t.bits}.v{w}p0"
        f.module.declarations[name] = f"declare {vector} @{name}(<{w} x ptr>, i32, <{w} x i1>, {vector})"
        addresses = _lane_addresses(f, array, index)
        where = f"<{w} x ptr> {addresses}, i32 {t.itemsize}, <{w} x i1> splat (i1 true)"
        text = f.op(f"call {vector} @{name}({where}, {vector} poison)")
    if node.type == "b":
        text = f.op(f"trunc {form('i')} {text} to {form('b')}")
    refs[node] = Ref(text, node.type, uniform)


def _set(f: Function, node: Node, refs: dict[Node, Ref], last: dict[Node, float]) -> None:
    t, (array, index, value) = f.target, (refs[arg] for arg in node.args)
    kind, size = node.type
    base = array.text
    if array.uniform or last[node.args[0]] > node.index:  # the old array is needed again
        base = f.allocate(size)
        copy_array(f, base, array, size)
    kind, text = _stored(kind), f.vector(value)
    vector = t.vector(kind)
    if node.type[0] == "b":
        text = f.op(f"zext {t.vector('b')} {text} to {vector}")
    if index.uniform:
        address = f.address(base, index.text)
        if f.mask is not None:
            old = f.op(f"load {vector}, ptr {address}, align {t.itemsize}")
            text = f.op(f"select {t.vector('b')} {f.mask}, {vector} {text}, {vector} {old}")
        f.line(f"store {vector} {text}, ptr {address}, align {t.itemsize}")
    else:
        w, mask = t.width, f.mask or "splat (i1 true)"
        name = f"llvm.masked.scatter.v{w}{kind}{t.bits}.v{w}p0"
        f.module.declarations[name] = f"declare void @{name}({vector}, <{w} x ptr>, i32, <{w} x i1>)"
        addresses = _lane_addresses(f, Ref(base, node.type, False), index)
        where = f"<{w} x ptr> {addresses}, i32 {t.itemsize}, <{w} x i1> {mask}"
        f.line(f"call void @{name}({vector} {text}, {where})")
    refs[node] = Ref(base, node.type, False)


def copy_array(f: Function, base: str, array: Ref, size: int, mask: str | None = None) -> None:
    """All elements of an array to another place; of a mask, only in its lanes."""
    if size == 0:
        return
    if mask is not None:  # only the lanes that still run
        with Repeat(f, str(size), f.target.scalar("i")) as k:
            old, new = f.load(base, k, array.type[0]), f.load(array.text, k, array.type[0])
            vector = f.target.vector(array.type[0])
            text = f.op(f"select {f.target.vector('b')} {mask}, {vector} {new.text}, {vector} {old.text}")
            f.store(base, k, Ref(text, array.type[0], False))
        return
    if array.uniform:  # a constant table: every lane gets its own copy
        kind = _stored(array.type[0])
        scalar = f.target.scalar(kind)
        with Repeat(f, str(size), f.target.scalar("i")) as k:
            address = f.op(f"getelementptr {scalar}, ptr {array.text}, {f.target.scalar('i')} {k}")
            f.store(base, k, Ref(f.op(f"load {scalar}, ptr {address}"), kind, True))
        return
    f.module.declarations["memcpy"] = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
    length = size * f.target.size
    f.line(f"call void @llvm.memcpy.p0.p0.i64(ptr {base}, ptr {array.text}, i64 {length}, i1 false)")


def _call(f: Function, node: Node, refs: dict[Node, Ref], last: dict[Node, float]) -> None:
    graph: Graph = node.data
    name = f.module.callee(graph, f.contract)
    inputs = f.allocate(len(node.args))
    outputs = f.allocate(len(graph.outputs))
    arrays, k = [], 0
    for arg in node.args:
        if isinstance(arg.type, tuple):
            base = refs[arg].text
            if refs[arg].uniform:  # the callee expects a vector for each element
                base = f.allocate(arg.type[1])
                copy_array(f, base, refs[arg], arg.type[1])
            arrays.append(f"ptr {base}")
        else:
            f.store(inputs, k, f.value(arg, refs))
            k += 1
    f.line(f"call void {name}({', '.join([f'ptr {inputs}', f'ptr {outputs}', *arrays])})")
    for user in node.used_results():
        if user.type == "b":
            refs[user] = f.load(outputs, user.data, user.type)
        else:
            f.homes[user] = partial(f.address, outputs, str(user.data))


def _slow_path(f: Function, node: Node, refs: dict[Node, Ref], last: dict[Node, float]) -> None:
    """Only if some lane needs it: the cold function for all, chosen for those."""
    t, graph = f.target, node.data
    mask, *rest = (refs[arg] for arg in node.args)
    usual, args = rest[: len(graph.outputs)], rest[len(graph.outputs) :]
    test = f.vector(mask)
    name, kind = _cold(f.module, graph)
    before_values, values = [f.vector(u) for u in usual], [f.vector(arg) for arg in args]
    some, before = f.reduce("or", test, "b"), f.block
    number = f.fresh()[2:]
    f.line(f"br i1 {some}, label %cold{number}, label %join{number}, !prof !0")
    f.label(f"cold{number}")
    arguments = ", ".join(f"{t.vector(arg.type)} {text}" for arg, text in zip(args, values, strict=True))
    result = f.op(f"call {kind} {name}({arguments})")
    chosen = []
    for k, (u, old) in enumerate(zip(usual, before_values, strict=True)):
        vector = t.vector(u.type)
        new = f.op(f"extractvalue {kind} {result}, {k}")
        chosen.append(f.op(f"select {t.vector('b')} {test}, {vector} {new}, {vector} {old}"))
    f.line(f"br label %join{number}")
    f.label(f"join{number}")
    for user in node.used_results():
        k = user.data
        text = f.op(f"phi {t.vector(user.type)} [{before_values[k]}, %{before}], [{chosen[k]}, %cold{number}]")
        refs[user] = Ref(text, user.type, False)


def _cold(module: Module, graph: Graph) -> tuple[str, str]:
    """Name and result type of a rarely used function, out of line, its arguments and results passed as vectors."""
    t = module.target
    kind = "{" + ", ".join(t.vector(output.type) for output in graph.outputs) + "}"
    if graph not in module._callees:
        name = module._callees[graph] = f"@cold{len(module._callees)}"
        out = Function(module, contract=False)
        refs = {p: Ref(f"%p{k}", p.type, False) for k, p in enumerate(graph.params)}
        value = "poison"
        for k, result in enumerate(out.graph(graph, refs)):
            value = out.op(f"insertvalue {kind} {value}, {t.vector(result.type)} {out.vector(result)}, {k}")
        parameters = ", ".join(f"{t.vector(p.type)} %p{k}" for k, p in enumerate(graph.params))
        module.declarations["!0"] = '!0 = !{!"branch_weights", i32 1, i32 100000}'
        head = f"define internal {kind} {name}({parameters}) cold noinline"
        module.functions.append(out.define(head, f"ret {kind} {value}"))
    return module._callees[graph], kind


def _loop(f: Function, node: Node, refs: dict[Node, Ref], last: dict[Node, float]) -> None:
    t, body = f.target, node.data
    integer = t.scalar("i")
    first, *rest = node.args
    count, carried, captured = refs[first], rest[: len(body.outputs)], rest[len(body.outputs) :]
    counter, *params = body.params
    carry_params = [p for p in params if p not in body.captures.values()]
    crowded = f.is_crowded(node, refs)
    inside: dict[Node, Ref] = {}
    for param, argument in zip(body.captures.values(), captured, strict=True):
        if crowded and argument in f.homes:
            f.homes[param] = f.homes[argument]
        else:
            inside[param] = refs[argument]

    buffers: dict[Node, str] = {}
    start: dict[Node, str] = {}  # values that are carried in registers
    state = _State(f, [p for p in carry_params if crowded and p.type in ("f", "i")])
    for argument, param in zip(carried, carry_params, strict=True):
        if isinstance(param.type, tuple):
            base, ref = refs[argument].text, refs[argument]
            if ref.uniform or last[argument] > node.index or list(node.args).count(argument) > 1:
                base = f.allocate(param.type[1])
                copy_array(f, base, ref, param.type[1])
            buffers[param] = base
        elif param in state.numbers:
            state.begin(param, f.value(argument, refs))
        else:
            start[param] = f.vector(refs[argument])

    lanes = None
    if count.uniform:
        bound = count.text
    else:
        lanes = f.vector(count)
        if f.mask is not None:  # what a lane that has ended would ask for does not matter
            integers = t.vector("i")
            lanes = f.op(f"select {t.vector('b')} {f.mask}, {integers} {lanes}, {integers} zeroinitializer")
        bound = f.reduce("smax", lanes, "i")
    number = f.fresh()[2:]
    head, inner, done = f"head{number}", f"body{number}", f"done{number}"
    before = f.block
    f.line(f"br label %{head}")
    f.label(head)
    position = len(f.lines)  # the phis are written when the last block of the body is known
    names = {p: f.fresh() for p in (counter, *start)}
    test = f.op(f"icmp slt {integer} {names[counter]}, {bound}")
    f.line(f"br i1 {test}, label %{inner}, label %{done}")
    f.label(inner)
    outer_mask = f.mask
    if lanes is not None:
        here = f.vector(Ref(names[counter], "i", True))
        mask = f.op(f"icmp slt {t.vector('i')} {here}, {lanes}")
        f.mask = mask if outer_mask is None else f.op(f"and {t.vector('b')} {mask}, {outer_mask}")
    inside[counter] = Ref(names[counter], "i", True)
    inside |= {p: Ref(text, p.type, False) for p, text in (*buffers.items(), *((p, names[p]) for p in start))}
    ends = dict(zip(carry_params, body.outputs, strict=True))
    select = f.mask if lanes is not None else None
    if state.numbers:
        f.graph(body, inside, state.following(ends, inside, select))
    else:
        f.graph(body, inside)
    moves = [(p, inside[end]) for p, end in ends.items() if p in buffers and inside[end].text != buffers[p]]
    if moves:  # an array that ends up elsewhere goes back to its place, by a detour in case two change places
        detours = [(p, f.allocate(p.type[1])) for p, _ in moves]
        for (p, detour), (_, end) in zip(detours, moves, strict=True):
            copy_array(f, detour, end, p.type[1])
        for p, detour in detours:
            copy_array(f, buffers[p], Ref(detour, p.type, False), p.type[1], f.mask)
    following: dict[Node, str] = {}
    for p in start:
        following[p] = f.vector(inside[ends[p]])
        if select is not None:
            kind = t.vector(p.type)
            following[p] = f.op(f"select {t.vector('b')} {select}, {kind} {following[p]}, {kind} {names[p]}")
    step = f.op(f"add {integer} {names[counter]}, 1")
    f.line(f"br label %{head}")
    phis = [f"  {names[counter]} = phi {integer} [0, %{before}], [{step}, %{f.block}]", *state.phis(before, f.block)]
    phis += [
        f"  {names[p]} = phi {t.vector(p.type)} [{start[p]}, %{before}], [{following[p]}, %{f.block}]" for p in start
    ]
    f.lines[position:position] = phis
    f.mask = outer_mask
    f.label(done)
    for user in node.used_results():
        p = carry_params[user.data]
        if p in state.numbers:
            f.homes[user] = partial(f.address, state.now, str(state.numbers[p]))
        else:
            refs[user] = Ref(buffers[p] if p in buffers else names[p], user.type, False)


class _State:
    """What a loop carries in memory, if it is too much for registers: each turn reads one row and writes another."""

    def __init__(self, f: Function, params: Sequence[Node]) -> None:
        self.f, self.numbers = f, {p: k for k, p in enumerate(params)}
        if params:
            self._rows = [f.allocate(len(params)) for _ in range(2)]
            self.now, self._next = f.fresh(), f.fresh()

    def begin(self, param: Node, value: Ref) -> None:
        self.f.store(self._rows[0], self.numbers[param], value)

    def following(self, ends: dict[Node, Node], refs: dict[Node, Ref], mask: str | None) -> Callable[[Node], None]:
        """For `Function.graph`: stores the ends of a turn as soon as they are there."""
        f, params = self.f, dict[Node, list[Node]]()
        for p in self.numbers:
            f.homes[p] = partial(f.address, self.now, str(self.numbers[p]))
            params.setdefault(ends[p], []).append(p)

        def store(node: Node) -> None:
            for p in params.get(node, ()):
                value = f.value(node, refs)
                if mask is not None:
                    kind, old = f.target.vector(p.type), f.load(self.now, self.numbers[p], p.type)
                    masks = f.target.vector("b")
                    text = f.op(f"select {masks} {mask}, {kind} {f.vector(value)}, {kind} {old.text}")
                    value = Ref(text, p.type, False)
                f.store(self._next, self.numbers[p], value)

        return store

    def phis(self, before: str, after: str) -> list[str]:
        if not self.numbers:
            return []
        pairs = zip((self.now, self._next), self._rows, (self._next, self.now), strict=True)
        return [f"  {name} = phi ptr [{first}, %{before}], [{then}, %{after}]" for name, first, then in pairs]


STRUCTURE.update(array=_array, table=_table, get=_get, set=_set, call=_call, slow_path=_slow_path, loop=_loop)
