"""Graph to LLVM: vectors over the batch, one instance a lane, as text.

Every value is a vector of `width` lanes; what is the same in all lanes (loop counters, what follows from them and from
constants) stays a scalar until it meets a vector. `flags` are fast-math flags: contraction only, and none inside the
elementary functions, whose error analysis counts every rounding.
"""

import functools
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import elementary
from .graph import Graph, Node, Type
from .machine import trace_elementary


@dataclass(frozen=True)
class Target:
    """How wide a vector is, and how precise its floats are."""

    width: int
    float64: bool = True
    processor: str = "x86"

    @property
    def bits(self) -> int:
        return 64 if self.float64 else 32

    @property
    def itemsize(self) -> int:
        return self.bits // 8

    def scalar(self, type_: Type) -> str:
        return {"f": "double" if self.float64 else "float", "i": f"i{self.bits}", "b": "i1"}[type_]

    def vector(self, type_: Type) -> str:
        return f"<{self.width} x {self.scalar(type_)}>"

    def literal(self, value: Any, type_: Type) -> str:
        if type_ == "b":
            return "true" if value else "false"
        if type_ == "i":
            return str(_wrapped(value, self.bits))
        with np.errstate(over="ignore"):
            value = float(np.float64(value) if self.float64 else np.float32(value))
        return "0x" + struct.pack(">d", value).hex().upper()


def _wrapped(value: int, bits: int) -> int:
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


# One row an operation: the text after "%x = ". {T} is the type of the arguments, {R} of the result, {a}, {b} the
# arguments, {fm} the fast-math flags, {zero} and {ones} constants of the arguments' type.
ROWS: dict[tuple[str, Type], str] = {
    ("add", "f"): "fadd {fm}{T} {a}, {b}",
    ("sub", "f"): "fsub {fm}{T} {a}, {b}",
    ("mul", "f"): "fmul {fm}{T} {a}, {b}",
    ("div", "f"): "fdiv {T} {a}, {b}",
    ("neg", "f"): "fneg {T} {a}",
    ("add", "i"): "add {T} {a}, {b}",
    ("sub", "i"): "sub {T} {a}, {b}",
    ("mul", "i"): "mul {T} {a}, {b}",
    ("neg", "i"): "sub {T} {zero}, {a}",
    ("bit_and", "i"): "and {T} {a}, {b}",
    ("bit_or", "i"): "or {T} {a}, {b}",
    ("bit_xor", "i"): "xor {T} {a}, {b}",
    ("shift_left", "i"): "shl {T} {a}, {b}",
    ("shift_right", "i"): "ashr {T} {a}, {b}",
    ("shift_right_logical", "i"): "lshr {T} {a}, {b}",
    ("less", "f"): "fcmp olt {T} {a}, {b}",
    ("less_equal", "f"): "fcmp ole {T} {a}, {b}",
    ("equal", "f"): "fcmp oeq {T} {a}, {b}",
    ("not_equal", "f"): "fcmp une {T} {a}, {b}",
    ("less", "i"): "icmp slt {T} {a}, {b}",
    ("less_equal", "i"): "icmp sle {T} {a}, {b}",
    ("equal", "i"): "icmp eq {T} {a}, {b}",
    ("not_equal", "i"): "icmp ne {T} {a}, {b}",
    ("and", "b"): "and {T} {a}, {b}",
    ("or", "b"): "or {T} {a}, {b}",
    ("xor", "b"): "xor {T} {a}, {b}",
    ("not", "b"): "xor {T} {a}, {ones}",
    ("to_float", "i"): "sitofp {T} {a} to {R}",
    ("to_float", "b"): "uitofp {T} {a} to {R}",
    ("to_int", "b"): "zext {T} {a} to {R}",
    ("truth", "i"): "icmp ne {T} {a}, {zero}",
    ("truth", "f"): "fcmp une {T} {a}, {zero}",
    ("bits", "f"): "bitcast {T} {a} to {R}",
    ("from_bits", "i"): "bitcast {T} {a} to {R}",
}

# Operations that are intrinsics of LLVM.
INTRINSICS: dict[tuple[str, Type], str] = {
    **{(op, "f"): op for op in ("sqrt", "floor", "rint", "trunc", "fma", "copysign", "minimum", "maximum")},
    ("abs", "f"): "fabs",
    ("minimum", "i"): "smin",
    ("maximum", "i"): "smax",
}

# Operations of several instructions, the last one giving the result; {0}, {1} are the results of the earlier ones.
SEQUENCES: dict[tuple[str, Type], Sequence[str]] = {
    # A float that no integer can hold gives some integer, not a poisoned program.
    ("to_int", "f"): ["fptosi {T} {a} to {R}", "freeze {R} {0}"],
    ("abs", "i"): ["sub {T} {zero}, {a}", "icmp slt {T} {a}, {zero}", "select {B} {1}, {T} {0}, {T} {a}"],
    ("modulo", "i"): ["srem {T} {a}, {b}", "add {T} {0}, {b}", "srem {T} {1}, {b}"],
    ("floordiv", "i"): [
        "srem {T} {a}, {b}", "add {T} {0}, {b}", "srem {T} {1}, {b}", "sub {T} {a}, {2}", "sdiv {T} {3}, {b}"],
}  # fmt: skip

ELEMENTARY = {name: 2 if name in ("arctan2", "power", "hypot") else 1 for name in (
    "sin cos tan arcsin arccos arctan arctan2 exp exp2 expm1 log log2 log10 log1p power sinh cosh tanh arcsinh arccosh "
    "arctanh cbrt hypot"
).split()}  # fmt: skip


@functools.cache
def elementary_graph(name: str, float64: bool) -> Graph:
    return trace_elementary(getattr(elementary, name), ELEMENTARY.get(name, 1), float64)


@dataclass(frozen=True)
class Ref:
    """A name in the text, of a scalar that is the same in all lanes or of a vector."""

    text: str
    type: Type
    uniform: bool


class Module:
    """One LLVM module: functions, constant tables and the intrinsics that they use."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.functions: list[str] = []
        self.globals: list[str] = []
        self.declarations: dict[str, str] = {}
        self._tables: dict[Any, str] = {}
        self._callees: dict[Graph, str] = {}

    def text(self) -> str:
        return "\n".join([*self.globals, *self.declarations.values(), *self.functions, _ATTRIBUTES])

    def table(self, data: tuple[Any, ...], type_: Type) -> str:
        key = (type_, tuple(map(repr, data)))
        if key not in self._tables:
            name = self._tables[key] = f"@table{len(self._tables)}"
            scalar = self.target.scalar(type_)
            body = ", ".join(f"{scalar} {self.target.literal(v, type_)}" for v in data)
            self.globals.append(f"{name} = private constant [{len(data)} x {scalar}] [{body}], align 64")
        return self._tables[key]

    def callee(self, graph: Graph, flags: str) -> str:
        """The name of the function that computes the graph: @f(in, out, arrays ...), vectors in memory."""
        if graph not in self._callees:
            name = self._callees[graph] = f"@f{len(self._callees)}"
            arrays = [p for p in graph.params if isinstance(p.type, tuple)]
            out = Function(self, flags)
            scalars = [p for p in graph.params if not isinstance(p.type, tuple)]
            refs = {p: Ref(f"%array{k}", p.type, False) for k, p in enumerate(arrays)}
            for k, p in enumerate(scalars):
                refs[p] = out.load("%in", k, p.type)
            for k, result in enumerate(out.graph(graph, refs)):
                out.store("%out", k, result)
            parameters = ", ".join(["ptr %in", "ptr %out", *(f"ptr %array{k}" for k in range(len(arrays)))])
            self.functions.append(out.define(f"define internal void {name}({parameters})", "ret void"))
        return self._callees[graph]


_ATTRIBUTES = 'attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }'


class Function:
    """The text of one function, grown line by line."""

    def __init__(self, module: Module, flags: str = "contract ") -> None:
        self.module, self.target, self.flags = module, module.target, flags
        self.entry: list[str] = []  # allocations: they belong into the first block
        self.lines: list[str] = []
        self.block = "start"
        self.mask: str | None = None  # the lanes that still run, inside a loop whose count differs between lanes
        self._count = 0
        self._splats: dict[tuple[str, str], str] = {}

    def define(self, head: str, end: str) -> str:
        return "\n".join(
            [f"{head} #0 {{", "entry:", *self.entry, "  br label %start", "start:", *self.lines, f"  {end}", "}"]
        )

    # Text.
    def fresh(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def op(self, text: str) -> str:
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.block = name
        self._splats = {}

    def intrinsic(self, name: str, result: str, kind: str, *args: str) -> str:
        """Call an intrinsic whose arguments are all of one type."""
        self.module.declarations[name] = f"declare {result} @llvm.{name}({', '.join([kind] * len(args))})"
        return self.op(f"call {result} @llvm.{name}({', '.join(f'{kind} {arg}' for arg in args)})")

    def reduce(self, operation: str, text: str, type_: Type) -> str:
        """One scalar from all lanes."""
        scalar = self.target.scalar(type_)
        name = f"vector.reduce.{operation}.v{self.target.width}{scalar}"
        return self.intrinsic(name, scalar, self.target.vector(type_), text)

    # Values.
    def constant(self, value: Any, type_: Type, uniform: bool) -> str:
        literal = self.target.literal(value, type_)
        return literal if uniform else f"splat ({self.target.scalar(type_)} {literal})"

    def scalar(self, ref: Ref) -> str:
        assert ref.uniform
        return ref.text

    def vector(self, ref: Ref) -> str:
        """The value in all lanes."""
        if not ref.uniform:
            return ref.text
        scalar, vector = self.target.scalar(ref.type), self.target.vector(ref.type)
        if ref.text[0] != "%":
            return f"splat ({scalar} {ref.text})"
        key = (ref.text, vector)
        if key not in self._splats:
            one = self.op(f"insertelement {vector} poison, {scalar} {ref.text}, i64 0")
            zero = f"<{self.target.width} x i32> zeroinitializer"
            self._splats[key] = self.op(f"shufflevector {vector} {one}, {vector} poison, {zero}")
        return self._splats[key]

    def load(self, base: str, k: int, type_: Type) -> Ref:
        stored = "i" if type_ == "b" else type_
        vector = self.target.vector(stored)
        text = self.op(f"load {vector}, ptr {self.address(base, str(k))}, align {self.target.itemsize}")
        if type_ == "b":
            text = self.op(f"trunc {vector} {text} to {self.target.vector('b')}")
        return Ref(text, type_, False)

    def store(self, base: str, k: int, ref: Ref) -> None:
        stored, text = "i" if ref.type == "b" else ref.type, self.vector(ref)
        if ref.type == "b":
            text = self.op(f"zext {self.target.vector('b')} {text} to {self.target.vector('i')}")
        address = self.address(base, str(k))
        self.line(f"store {self.target.vector(stored)} {text}, ptr {address}, align {self.target.itemsize}")

    def address(self, base: str, index: str, type_: Type = "i") -> str:
        """The address of the vector number `index`."""
        return self.op(f"getelementptr {self.target.vector('f')}, ptr {base}, {self.target.scalar(type_)} {index}")

    def allocate(self, count: int) -> str:
        """Room for vectors, for as long as the function runs."""
        self._count += 1
        name = f"%m{self._count}"
        self.entry.append(f"  {name} = alloca [{max(count, 1)} x {self.target.vector('f')}], align 64")
        return name

    # Graphs.
    def graph(self, graph: Graph, refs: dict[Node, Ref]) -> list[Ref]:
        """Write out the live nodes of a graph whose parameters are given; the references of its outputs."""
        live = graph.live()
        last = _last_uses(graph, live)
        alive = set(live)
        for node in live:
            if node in refs:
                continue
            special = _SPECIAL.get(node.op)
            if special is not None:
                special(self, node, refs, last)
            elif node.op in ELEMENTARY:
                self._elementary(node, refs, alive)
            else:
                refs[node] = self._simple(node, [refs[arg] for arg in node.args])
        return [refs[node] for node in graph.outputs]

    def _simple(self, node: Node, args: list[Ref]) -> Ref:
        if node.op == "const":
            return Ref(self.target.literal(node.data, node.type), node.type, True)
        uniform = all(arg.uniform for arg in args)
        form, scalar = (self.scalar, self.target.scalar) if uniform else (self.vector, self.target.vector)
        if node.op == "where":
            c, a, b = (form(arg) for arg in args)
            kind = scalar(node.type)
            return Ref(self.op(f"select {scalar('b')} {c}, {kind} {a}, {kind} {b}"), node.type, uniform)
        kind = args[0].type
        values = [form(arg) for arg in args]
        if (node.op, kind) in INTRINSICS:
            lanes = "" if uniform else f"v{self.target.width}"
            name = f"{INTRINSICS[node.op, kind]}.{lanes}{kind}{self.target.bits}"
            return Ref(self.intrinsic(name, scalar(kind), scalar(kind), *values), node.type, uniform)
        words = {"T": scalar(kind), "R": scalar(node.type), "B": scalar("b"), "fm": self.flags}
        words |= {"zero": self.constant(0, kind, uniform), "ones": self.constant(True, "b", uniform)}
        words |= dict(zip("ab", values, strict=False))
        row = ROWS.get((node.op, kind))
        if row is not None:
            return Ref(self.op(row.format(**words)), node.type, uniform)
        steps: list[str] = []
        for step in SEQUENCES[node.op, kind]:
            steps.append(self.op(step.format(*steps, **words)))
        return Ref(steps[-1], node.type, uniform)

    def _elementary(self, node: Node, refs: dict[Node, Ref], alive: set[Node]) -> None:
        """Expand an elementary function in place; a sine and a cosine of one angle share their work."""
        args = [Ref(self.vector(refs[arg]), "f", False) for arg in node.args]
        targets = [node]
        name = node.op
        if name in ("sin", "cos"):
            pair = [node.graph._memo.get((op, node.args, "f", None)) for op in ("sin", "cos")]
            if all(p in alive and p not in refs for p in pair):
                name, targets = "sincos", pair  # type: ignore[assignment]
        body = elementary_graph(name, self.target.float64)
        flags, self.flags = self.flags, ""
        results = self.graph(body, dict(zip(body.params, args, strict=True)))
        self.flags = flags
        for target, result in zip(targets, results, strict=True):
            refs[target] = result


def _last_uses(graph: Graph, live: Sequence[Node]) -> dict[Node, float]:
    """For each array, the index of the node that uses it last: that one may change it in place."""
    last: dict[Node, float] = {}
    for node in live:
        for arg in node.args:
            if isinstance(arg.type, tuple):
                last[arg] = node.index
    for node in (*graph.outputs, *graph.captures.values()):
        last[node] = float("inf")
    return last


def _proj(f: Function, node: Node, refs: dict[Node, Ref], last: dict[Node, float]) -> None:
    raise AssertionError("the results of a loop or call are filled in where it is written out")


def _array(f: Function, node: Node, refs: dict[Node, Ref], last: dict[Node, float]) -> None:
    base = f.allocate(len(node.args))
    for k, arg in enumerate(node.args):
        f.store(base, k, refs[arg])
    refs[node] = Ref(base, node.type, False)


def _table(f: Function, node: Node, refs: dict[Node, Ref], last: dict[Node, float]) -> None:
    refs[node] = Ref(f.module.table(node.data, node.type[0]), node.type, True)


def _lane_addresses(f: Function, array: Ref, index: Ref) -> str:
    """The address of each lane's own element."""
    t, integers = f.target, f.target.vector("i")
    position = f.vector(index)
    if not array.uniform:  # vectors in memory: lane l of vector i is number i*width + l
        lanes = "<" + ", ".join(f"{t.scalar('i')} {k}" for k in range(t.width)) + ">"
        position = f.op(f"mul {integers} {position}, splat ({t.scalar('i')} {t.width})")
        position = f.op(f"add {integers} {position}, {lanes}")
    return f.op(f"getelementptr {t.scalar(array.type[0])}, ptr {array.text}, {integers} {position}")


def _get(f: Function, node: Node, refs: dict[Node, Ref], last: dict[Node, float]) -> None:
    t, (array, index) = f.target, (refs[arg] for arg in node.args)
    if index.uniform and array.uniform:
        address = f.op(f"getelementptr {t.scalar(node.type)}, ptr {array.text}, {t.scalar('i')} {index.text}")
        refs[node] = Ref(f.op(f"load {t.scalar(node.type)}, ptr {address}"), node.type, True)
    elif index.uniform:
        address = f.address(array.text, index.text)
        refs[node] = Ref(f.op(f"load {t.vector(node.type)}, ptr {address}, align {t.itemsize}"), node.type, False)
    else:
        vector, w = t.vector(node.type), t.width
        name = f"llvm.masked.gather.v{w}{'f' if node.type == 'f' else 'i'}{t.bits}.v{w}p0"
        f.module.declarations[name] = f"declare {vector} @{name}(<{w} x ptr>, <{w} x i1>, {vector})"
        addresses = _lane_addresses(f, array, index)
        text = f"call {vector} @{name}(<{w} x ptr> align {t.itemsize} {addresses}, <{w} x i1> splat (i1 true), {vector} poison)"
        refs[node] = Ref(f.op(text), node.type, False)


def _set(f: Function, node: Node, refs: dict[Node, Ref], last: dict[Node, float]) -> None:
    t, (array, index, value) = f.target, (refs[arg] for arg in node.args)
    kind, size = node.type
    base = array.text
    if array.uniform or last[node.args[0]] > node.index:  # the old array is needed again
        base = f.allocate(size)
        _copy(f, base, array, size)
    vector = t.vector(kind)
    if index.uniform:
        address = f.address(base, index.text)
        text = f.vector(value)
        if f.mask is not None:
            old = f.op(f"load {vector}, ptr {address}, align {t.itemsize}")
            text = f.op(f"select {t.vector('b')} {f.mask}, {vector} {text}, {vector} {old}")
        f.line(f"store {vector} {text}, ptr {address}, align {t.itemsize}")
    else:
        w, mask = t.width, f.mask or "splat (i1 true)"
        name = f"llvm.masked.scatter.v{w}{'f' if kind == 'f' else 'i'}{t.bits}.v{w}p0"
        f.module.declarations[name] = f"declare void @{name}({vector}, <{w} x ptr>, <{w} x i1>)"
        addresses = _lane_addresses(f, Ref(base, node.type, False), index)
        f.line(
            f"call void @{name}({vector} {f.vector(value)}, <{w} x ptr> align {t.itemsize} {addresses}, <{w} x i1> {mask})"
        )
    refs[node] = Ref(base, node.type, False)


def _copy(f: Function, base: str, array: Ref, size: int, mask: str | None = None) -> None:
    if mask is not None:  # only the lanes that still run
        for k in range(size):
            old, new = f.load(base, k, array.type[0]), f.load(array.text, k, array.type[0])
            vector = f.target.vector(array.type[0])
            text = f.op(f"select {f.target.vector('b')} {mask}, {vector} {new.text}, {vector} {old.text}")
            f.store(base, k, Ref(text, array.type[0], False))
        return
    if array.uniform:  # a constant table: every lane gets its own copy
        scalar = f.target.scalar(array.type[0])
        for k in range(size):
            address = f.op(f"getelementptr {scalar}, ptr {array.text}, i64 {k}")
            f.store(base, k, Ref(f.op(f"load {scalar}, ptr {address}"), array.type[0], True))
        return
    f.module.declarations["memcpy"] = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
    length = size * f.target.width * f.target.itemsize
    f.line(f"call void @llvm.memcpy.p0.p0.i64(ptr {base}, ptr {array.text}, i64 {length}, i1 false)")


def _call(f: Function, node: Node, refs: dict[Node, Ref], last: dict[Node, float]) -> None:
    graph: Graph = node.data
    name = f.module.callee(graph, f.flags)
    inputs = f.allocate(len(node.args))
    outputs = f.allocate(len(graph.outputs))
    arrays, k = [], 0
    for arg in node.args:
        if isinstance(arg.type, tuple):
            arrays.append(f"ptr {refs[arg].text}")
        else:
            f.store(inputs, k, refs[arg])
            k += 1
    f.line(f"call void {name}({', '.join([f'ptr {inputs}', f'ptr {outputs}', *arrays])})")
    for user in _projections(node):
        refs[user] = f.load(outputs, user.data, user.type)


def _projections(node: Node) -> list[Node]:
    return [user for user in node.graph.nodes[node.index + 1 :] if user.op == "proj" and user.args[0] is node]


def _rescue(f: Function, node: Node, refs: dict[Node, Ref], last: dict[Node, float]) -> None:
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
    for user in _projections(node):
        k = user.data
        text = f.op(f"phi {t.vector(user.type)} [{before_values[k]}, %{before}], [{chosen[k]}, %cold{number}]")
        refs[user] = Ref(text, user.type, False)


def _cold(module: Module, graph: Graph) -> tuple[str, str]:
    """Name and result type of a rarely used function, out of line, its arguments and results passed as vectors."""
    t = module.target
    kind = "{" + ", ".join(t.vector(output.type) for output in graph.outputs) + "}"
    if graph not in module._callees:
        name = module._callees[graph] = f"@cold{len(module._callees)}"
        out = Function(module, flags="")
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
    count, *rest = (refs[arg] for arg in node.args)
    carried, captured = rest[: len(body.outputs)], rest[len(body.outputs) :]
    counter, *params = body.params
    inside = {p: r for p, r in zip(body.captures.values(), captured, strict=True)}
    carry_params = [p for p in params if p not in inside]

    buffers: dict[Node, str] = {}
    start: list[str] = []
    for argument, param, ref in zip(node.args[1:], carry_params, carried, strict=False):
        if isinstance(param.type, tuple):
            base = ref.text
            if ref.uniform or last[argument] > node.index or list(node.args).count(argument) > 1:
                base = f.allocate(param.type[1])
                _copy(f, base, ref, param.type[1])
            buffers[param] = base
            start.append(base)
        else:
            start.append(f.vector(ref))

    lanes = None
    if count.uniform:
        bound = count.text
    else:
        lanes = f.vector(count)
        bound = f.reduce("smax", lanes, "i")
    number = f.fresh()[2:]
    head, inner, done = f"head{number}", f"body{number}", f"done{number}"
    before = f.block
    f.line(f"br label %{head}")
    f.label(head)
    position = len(f.lines)  # the phis are written when the last block of the body is known
    names = {p: f.fresh() for p in (counter, *carry_params)}
    test = f.op(f"icmp slt {integer} {names[counter]}, {bound}")
    f.line(f"br i1 {test}, label %{inner}, label %{done}")
    f.label(inner)
    outer_mask = f.mask
    if lanes is not None:
        here = f.vector(Ref(names[counter], "i", True))
        mask = f.op(f"icmp slt {t.vector('i')} {here}, {lanes}")
        f.mask = mask if outer_mask is None else f.op(f"and {t.vector('b')} {mask}, {outer_mask}")
    inside[counter] = Ref(names[counter], "i", True)
    for p in carry_params:
        inside[p] = Ref(buffers.get(p, names[p]), p.type, False)
    ends = f.graph(body, inside)
    following: dict[Node, str] = {}
    moves = [(p, end) for p, end in zip(carry_params, ends, strict=True) if p in buffers and end.text != buffers[p]]
    if moves:  # an array that ends up elsewhere goes back to its place, by a detour in case two change places
        detours = [(p, f.allocate(p.type[1])) for p, _ in moves]
        for (p, detour), (_, end) in zip(detours, moves, strict=True):
            _copy(f, detour, end, p.type[1])
        for p, detour in detours:
            _copy(f, buffers[p], Ref(detour, p.type, False), p.type[1], f.mask)
    for p, end in zip(carry_params, ends, strict=True):
        if p not in buffers:
            following[p] = f.vector(end)
            if f.mask is not None and lanes is not None:
                kind = t.vector(p.type)
                following[p] = f.op(f"select {t.vector('b')} {f.mask}, {kind} {following[p]}, {kind} {names[p]}")
    step = f.op(f"add {integer} {names[counter]}, 1")
    f.line(f"br label %{head}")
    phis = [f"  {names[counter]} = phi {integer} [0, %{before}], [{step}, %{f.block}]"]
    for p, first in zip(carry_params, start, strict=True):
        if p not in buffers:
            phis.append(f"  {names[p]} = phi {t.vector(p.type)} [{first}, %{before}], [{following[p]}, %{f.block}]")
    f.lines[position:position] = phis
    f.mask = outer_mask
    f.label(done)
    for user in _projections(node):
        p = carry_params[user.data]
        refs[user] = Ref(buffers.get(p, names[p]), user.type, False)


_SPECIAL: dict[str, Callable[[Function, Node, dict[Node, Ref], dict[Node, float]], None]] = {
    "array": _array,
    "table": _table,
    "get": _get,
    "set": _set,
    "call": _call,
    "rescue": _rescue,
    "loop": _loop,
    "proj": _proj,
}
