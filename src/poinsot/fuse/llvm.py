"""Graph to LLVM: vectors over the batch, one instance a lane, as text.

Every value is a vector of `width` lanes; what is the same in all lanes (loop counters, what follows from them and from
constants) stays a scalar until it meets a vector. A product and the sum that it goes into are contracted, but not
inside the elementary functions, whose error analysis counts every rounding.
"""

import functools
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import elementary, registers
from .graph import Graph, Node, Type
from .machine import trace_elementary
from .registers import Registers, Row


@dataclass(frozen=True)
class Target:
    """How wide a vector is, how precise its floats are, and how many there is room for."""

    width: int
    float64: bool = True
    processor: str = "x86"
    registers: int = 32

    @property
    def bits(self) -> int:
        return 64 if self.float64 else 32

    @property
    def itemsize(self) -> int:
        return self.bits // 8

    @property
    def size(self) -> int:
        """Bytes of a vector."""
        return self.width * self.itemsize

    def scalar(self, type_: Type) -> str:
        return {"f": "double" if self.float64 else "float", "i": f"i{self.bits}", "b": "i1"}[type_]

    def vector(self, type_: Type) -> str:
        return f"<{self.width} x {self.scalar(type_)}>"

    def literal(self, value: Any, type_: Type) -> str:
        if type_ == "b":
            return "true" if value else "false"
        if type_ == "i":
            return str(_wrapped(value, self.bits))
        if not self.float64:
            with np.errstate(over="ignore"):
                value = float(np.float32(value))
        return "0x" + struct.pack(">d", value).hex().upper()


def _wrapped(value: int, bits: int) -> int:
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


# One row an operation: the text after "%x = ". {T} is the type of the arguments, {R} of the result, {a}, {b} the
# arguments, {zero}, {one}, {two} and {ones} (true) constants of the arguments' type.
ROWS: dict[tuple[str, Type], str] = {
    ("add", "f"): "fadd {T} {a}, {b}",
    ("sub", "f"): "fsub {T} {a}, {b}",
    ("mul", "f"): "fmul {T} {a}, {b}",
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

# Dividing by 0, or the least integer by -1, would stop the process. So {2} is b, or 1 where {1}: b is 0 or -1; there
# the quotient is a*b. {3} is the remainder, {7} whether it is of the wrong sign.
_REMAINDER = (
    "add {T} {b}, {one}", "icmp ult {T} {0}, {two}", "select {B} {1}, {T} {one}, {T} {b}", "srem {T} {a}, {2}",
    "xor {T} {3}, {2}", "icmp slt {T} {4}, {zero}", "icmp ne {T} {3}, {zero}", "and {B} {5}, {6}",
)  # fmt: skip

# Operations of several instructions, the last one giving the result; {0}, {1} are the results of the earlier ones.
SEQUENCES: dict[tuple[str, Type], Sequence[str]] = {
    # A float that no integer can hold gives some integer, not a poisoned program.
    ("to_int", "f"): ["fptosi {T} {a} to {R}", "freeze {R} {0}"],
    ("abs", "i"): ["sub {T} {zero}, {a}", "icmp slt {T} {a}, {zero}", "select {B} {1}, {T} {0}, {T} {a}"],
    ("modulo", "i"): [*_REMAINDER, "select {B} {7}, {T} {2}, {T} {zero}", "add {T} {3}, {8}"],
    ("floordiv", "i"): [
        *_REMAINDER, "sdiv {T} {a}, {2}", "zext {B} {7} to {T}", "sub {T} {8}, {9}",
        "mul {T} {a}, {b}", "select {B} {1}, {T} {11}, {T} {10}"],
}  # fmt: skip


_SHIFTS = ("shift_left", "shift_right", "shift_right_logical")  # by how much is a part of the instruction
_WITH_CONSTANTS = {
    op for table in (ROWS, SEQUENCES) for (op, _), row in table.items() if re.search("{(zero|one|ones|two)}", str(row))
}


@functools.cache
def elementary_graph(name: str, float64: bool) -> Graph:
    function = elementary.sincos if name == "sincos" else elementary.FUNCTIONS[name]
    return trace_elementary(function, 2 if name in ("arctan2", "power", "hypot") else 1, float64)


@dataclass(frozen=True)
class Ref:
    """A name in the text, of a scalar that is the same in all lanes or of a vector."""

    text: str
    type: Type
    uniform: bool


class _Waiting:
    """The memory in which values of a graph wait until they are needed again."""

    def __init__(self, f: "Function", refs: dict[Node, Ref]) -> None:
        self.f, self.refs = f, refs
        self._slots: dict[Node, int] = {}

    def store(self, node: Node) -> None:
        slot = self._slots[node] = self.f.take_slot()
        self.f.homes[node] = functools.partial(self.f.slot, slot)
        self.f.store(self.f.slot(slot), 0, self.refs[node])

    def load(self, node: Node) -> None:
        self.refs[node] = self.f.fetch(self.f.homes[node](), node.type)

    def free(self, node: Node) -> None:
        if node in self._slots:
            self.f.slots.append(self._slots.pop(node))
            del self.f.homes[node]

    def end(self, nodes: Sequence[Node]) -> None:
        self.f.slots += self._slots.values()
        for node in nodes:
            self.f.homes.pop(node, None)


@dataclass(frozen=True)
class _Task:
    """A graph that is being written: its operations, what is known of its values, where values are used last, and the
    nodes that are needed at all."""

    row: Row
    refs: dict[Node, Ref]
    last: dict[Node, float]
    alive: set[Node]


def _has_bits(value: Any) -> bool:
    return value != 0 or repr(value)[0] == "-"


class Module:
    """One LLVM module: functions, constant tables and the intrinsics that they use."""

    def __init__(self, target: Target, graph: Graph) -> None:
        self.target = target
        self.is_long = sum(graph.count().values()) > _SHORT
        self.functions: list[str] = []
        self.globals: list[str] = []
        self.declarations: dict[str, str] = {}
        self._tables: dict[Any, str] = {}
        self._numbers: dict[str, int] = {}
        self._callees: dict[Graph, str] = {}

    def text(self) -> str:
        kinds, values = (", ".join(x) for x in ([text.split()[0] for text in self._numbers], self._numbers))
        numbers = f"@numbers = private constant {{{kinds}}} {{{values}}}, align 64"
        return "\n".join([numbers, *self.globals, *self.declarations.values(), *self.functions, _ATTRIBUTES])

    def number_of(self, node: Node) -> int:
        """The number of a constant in the table."""
        text = f"{self.target.scalar(node.type)} {self.target.literal(node.data, node.type)}"
        return self._numbers.setdefault(text, len(self._numbers))

    def table(self, data: tuple[Any, ...], type_: Type) -> str:
        key = (type_, tuple(map(repr, data)))
        if key not in self._tables:
            name = self._tables[key] = f"@table{len(self._tables)}"
            scalar = self.target.scalar(type_)
            body = ", ".join(f"{scalar} {self.target.literal(v, type_)}" for v in data)
            body = f"[{body}]" if any(map(_has_bits, data)) else "zeroinitializer"
            self.globals.append(f"{name} = private constant [{len(data)} x {scalar}] {body}, align 64")
        return self._tables[key]

    def callee(self, graph: Graph, contract: bool) -> str:
        """The name of the function that computes the graph: @f(in, out, arrays ...), vectors in memory."""
        if graph not in self._callees:
            name = self._callees[graph] = f"@f{len(self._callees)}"
            arrays = [p for p in graph.params if isinstance(p.type, tuple)]
            out = Function(self, contract)
            scalars = [p for p in graph.params if not isinstance(p.type, tuple)]
            refs = {p: Ref(f"%array{k}", p.type, False) for k, p in enumerate(arrays)}
            for k, p in enumerate(scalars):
                if p.type == "b":
                    refs[p] = out.load("%in", k, p.type)
                else:
                    out.homes[p] = functools.partial(out.address, "%in", str(k))
            out.graph(graph, refs, out.outputs_to("%out", graph, refs))
            parameters = ", ".join(["ptr %in", "ptr %out", *(f"ptr %array{k}" for k in range(len(arrays)))])
            self.functions.append(out.define(f"define internal void {name}({parameters})", "ret void"))
        return self._callees[graph]


_ATTRIBUTES = 'attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }'


_LARGE = 1 << 16  # bytes; a stack has a few million
_NEAR = 256  # elements around an address that can be written in one byte
_PIECE = 250  # operations in a block
_SHORT = 1500  # operations; of such code, the compiler finds registers for values and constants itself
_ENDLESS = 1 << 30


class Function:
    """The text of one function, grown line by line."""

    def __init__(self, module: Module, contract: bool = True) -> None:
        self.module, self.target, self.contract = module, module.target, contract
        self.entry: list[str] = []  # allocations: they belong into the first block
        self.exit: list[str] = []  # and their end
        self.lines: list[str] = []
        self.block = "start"
        self.mask: str | None = None  # the lanes that still run, inside a loop whose count differs between lanes
        self.homes: dict[Node, Callable[[], str]] = {}  # values that lie in memory, and how to write their address
        self.slots: list[int] = []  # room for one vector each, not in use
        self._taken, self._rooms = 0, list[str]()  # how many there are, and the middle of each row of them
        self._numbers = dict[tuple[int, bool], str]()  # the middle of each row of constants, twice
        self._turns = dict[int, bool]()  # which of the two was taken last
        self.always = ""  # a truth that the compiler cannot see through; if not, control goes to %never
        self.room = self.target.registers - 4 if module.is_long else _ENDLESS
        self.registers = Registers({}, self.room, _Waiting(self, {}))
        self._count = 0
        self._splats: dict[tuple[str, str], str] = {}

    def define(self, head: str, end: str) -> str:
        return "\n".join(
            [f"{head} #0 {{", "entry:", *self.entry, "  br label %start"]
            + ["start:", *self.lines, *self.exit, f"  {end}", "}"]
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

    def literal(self, node: Node) -> Ref:
        """The value of a constant node."""
        return Ref(self.target.literal(node.data, node.type), node.type, True)

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

    def load(self, base: str, k: int | str, type_: Type) -> Ref:
        return self.fetch(self.address(base, str(k)), type_)

    def fetch(self, address: str, type_: Type) -> Ref:
        vector = self.target.vector("i" if type_ == "b" else type_)
        text = self.op(f"load {vector}, ptr {address}, align {self.target.itemsize}")
        if type_ == "b":
            text = self.op(f"trunc {vector} {text} to {self.target.vector('b')}")
        return Ref(text, type_, False)

    def store(self, base: str, k: int | str, ref: Ref) -> None:
        stored, text = "i" if ref.type == "b" else ref.type, self.vector(ref)
        if ref.type == "b":
            text = self.op(f"zext {self.target.vector('b')} {text} to {self.target.vector('i')}")
        address = self.address(base, str(k))
        self.line(f"store {self.target.vector(stored)} {text}, ptr {address}, align {self.target.itemsize}")

    def address(self, base: str, index: str, integer: str = "") -> str:
        """The address of the vector number `index`, an integer of the floats' size or of another."""
        return self.op(
            f"getelementptr {self.target.vector('f')}, ptr {base}, {integer or self.target.scalar('i')} {index}"
        )

    def allocate(self, count: int) -> str:
        """Room for vectors, for as long as the function runs: on the stack, or if large, elsewhere."""
        self._count += 1
        name, size = f"%m{self._count}", max(count, 1) * self.target.size
        if size <= _LARGE:
            self.entry.append(f"  {name} = alloca [{max(count, 1)} x {self.target.vector('f')}], align 64")
        else:
            self.module.declarations |= {"malloc": "declare ptr @malloc(i64)", "free": "declare void @free(ptr)"}
            self.module.declarations["ptrmask"] = "declare ptr @llvm.ptrmask.p0.i64(ptr, i64)"
            self.entry += [  # on a line of the cache
                f"  {name}.all = call ptr @malloc(i64 {size + 64})",
                f"  {name}.end = getelementptr i8, ptr {name}.all, i64 63",
                f"  {name} = call ptr @llvm.ptrmask.p0.i64(ptr {name}.end, i64 -64)",
            ]
            self.exit.append(f"  call void @free(ptr {name}.all)")
        return name

    # Addresses near one that is in a register of its own are short, and so are the instructions that use them.
    def take_slot(self) -> int:
        """Room for one vector: its number."""
        if self.slots:
            return self.slots.pop()
        if self._taken % _NEAR == 0:
            self._rooms.append(self._middle(self.allocate(_NEAR), self.target.size))
        self._taken += 1
        return self._taken - 1

    def slot(self, number: int) -> str:
        """The address of room number so much."""
        return self.address(self._rooms[number // _NEAR], str(number % _NEAR - _NEAR // 2))

    def _number(self, node: Node) -> str:
        """The address of a constant, from two registers in turn: so the compiler does not keep it for the next use."""
        k = self.module.number_of(node)
        self._turns[k] = not self._turns.get(k)
        key = k // _NEAR, self._turns[k]
        if key not in self._numbers:
            base = f"getelementptr (i{self.target.bits}, ptr @numbers, i64 {k // _NEAR * _NEAR})"
            self._numbers[key] = self._middle(base, self.target.itemsize)
        return self.op(f"getelementptr i{self.target.bits}, ptr {self._numbers[key]}, i64 {k % _NEAR - _NEAR // 2}")

    def _middle(self, base: str, size: int) -> str:
        """The address in the middle of so many elements of this size, which the compiler does not see through."""
        self._count += 1
        name = f"%m{self._count}"
        self.entry += [
            f"  {name}.half = getelementptr i8, ptr {base}, i64 {_NEAR // 2 * size}",
            f'  {name} = call ptr asm "", "=r,0"(ptr {name}.half)',
        ]
        return name

    # Graphs.
    def graph(
        self,
        graph: Graph,
        refs: dict[Node, Ref],
        done: Callable[[Node], None] | None = None,
        outputs: Sequence[Node] | None = None,
    ) -> list[Ref]:
        """Write out the live nodes of a graph whose parameters have references or homes; the references of its outputs.

        If there is a `done`, it takes care of the outputs: it is told of each node as soon as it is written.
        """
        outputs = graph.outputs if outputs is None else outputs
        live = graph.live(outputs)
        last, alive = graph.last_uses(live, outputs), set(live)
        steady = {node for node, ref in refs.items() if ref.uniform}
        row = registers.row(live, outputs, steady, self.contract, self.module.is_long)
        at_end = [] if done else [node for node in outputs if node.type in ("f", "i") and node not in steady]
        waiting = _Waiting(self, refs)
        task = _Task(row, refs, last, alive)
        before, self.registers = self.registers, Registers(row.uses(at_end), self.room, waiting)
        for number, node in enumerate(row.nodes):
            if self.always and number and number % _PIECE == 0:
                self._begin_block()
            if node not in refs and node not in self.homes:
                self._write(node, task)
            self.registers.used(row.needs[node])
            if done is not None:
                done(node)
            if node in self.homes:
                self.registers.lies_in_memory(node)
            if node in refs and not refs[node].uniform:
                self.registers.made(node)
        self.registers.need(dict.fromkeys(at_end))
        waiting.end(live)
        self.registers = before
        return [] if done else [refs[node] for node in outputs]

    def _write(self, node: Node, task: "_Task") -> None:
        needs, refs, now = task.row.needs[node], task.refs, self.registers
        if node.op in STRUCTURE:
            if node.op == "call" or (node.op == "loop" and self.is_crowded(node, refs)):
                now.clear()
            elif node.op != "array":
                now.need(needs)
            STRUCTURE[node.op](self, node, refs, task.last)
        elif node.op in elementary.FUNCTIONS:
            now.need(needs, self.room // 2)
            self._elementary(node, task)
        elif node.op == "const":
            refs[node] = self.literal(node)
        else:
            now.need(needs)
            in_memory = bool(needs) and self.module.is_long and node.op not in _SHIFTS
            ref_of = functools.partial(self._operand, refs, in_memory)
            if node in task.row.taken_in:
                refs[node] = self._contracted(node, task.row.taken_in[node][0], ref_of)
            else:
                refs[node] = self._simple(node, [ref_of(arg) for arg in node.args])

    def _operand(self, refs: dict[Node, Ref], in_memory: bool, node: Node) -> Ref:
        """The reference of a value; constants that lie in memory are read by the operation that needs them."""
        if not in_memory or node.op != "const" or node.data == 0 or node.type == "b":
            return refs[node]
        scalar = self.op(f"load {self.target.scalar(node.type)}, ptr {self._number(node)}")
        return Ref(self.vector(Ref(scalar, node.type, True)), node.type, False)

    def _begin_block(self) -> None:
        """Compilers take much longer over one long block than over several short ones."""
        name = f"piece{self.fresh()[2:]}"
        self.line(f"br i1 {self.always}, label %{name}, label %never")
        self.label(name)

    def value(self, node: Node, refs: dict[Node, Ref]) -> Ref:
        """Of a node that may be waiting in memory."""
        if node in self.homes and (node not in refs or not self.registers.holds(node)):
            return self.fetch(self.homes[node](), node.type)
        return refs[node]

    def outputs_to(self, base: str, graph: Graph, refs: dict[Node, Ref]) -> Callable[[Node], None]:
        """For `graph`: stores each output in a row of vectors as soon as it is there."""
        places: dict[Node, list[int]] = {}
        for k, node in enumerate(graph.outputs):
            places.setdefault(node, []).append(k)

        def store(node: Node) -> None:
            for k in places.get(node, ()):
                self.store(base, k, self.value(node, refs))

        return store

    def is_crowded(self, loop: Node, refs: dict[Node, Ref]) -> bool:
        """Whether what goes into a loop fills most of the registers."""
        values = [arg for arg in loop.args if arg.type in ("f", "i") and not (arg in refs and refs[arg].uniform)]
        return len(values) > self.room // 2

    def _contracted(self, node: Node, product: Node, ref_of: Callable[[Node], Ref]) -> Ref:
        """a b + c, a b - c or c - a b, or the negative of it, rounded once where the machine can."""
        total = node.args[0] if node.op == "neg" else node
        other = total.args[1] if total.args[0] is product else total.args[0]
        args = [ref_of(arg) for arg in (*product.args, other)]
        uniform = all(arg.uniform for arg in args)
        form, kind = (self.scalar, self.target.scalar("f")) if uniform else (self.vector, self.target.vector("f"))
        a, b, c = (form(arg) for arg in args)
        subtracted = total.args[1] if total.op == "sub" else None
        if (product is subtracted) != (node.op == "neg"):
            a = self.op(f"fneg {kind} {a}")
        if (other is subtracted) != (node.op == "neg"):
            c = self.op(f"fneg {kind} {c}")
        name = f"fmuladd.{'' if uniform else f'v{self.target.width}'}f{self.target.bits}"
        return Ref(self.intrinsic(name, kind, kind, a, b, c), "f", uniform)

    def _simple(self, node: Node, args: list[Ref]) -> Ref:
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
        words = {"T": scalar(kind), "R": scalar(node.type), "B": scalar("b")}
        words |= dict(zip("ab", values, strict=False))
        if node.op in _WITH_CONSTANTS:
            words |= {"zero": self.constant(0, kind, uniform), "ones": self.constant(True, "b", uniform)}
            words |= {"one": self.constant(1, kind, uniform), "two": self.constant(2, kind, uniform)}
        row = ROWS.get((node.op, kind))
        if row is not None:
            return Ref(self.op(row.format(**words)), node.type, uniform)
        steps: list[str] = []
        for step in SEQUENCES[node.op, kind]:
            steps.append(self.op(step.format(*steps, **words)))
        return Ref(steps[-1], node.type, uniform)

    def _elementary(self, node: Node, task: "_Task") -> None:
        """Expand an elementary function in place; a sine and a cosine of one angle share their work."""
        refs = task.refs
        args = [Ref(self.vector(refs[arg]), "f", False) for arg in node.args]
        targets = [node]
        name = node.op
        if name in ("sin", "cos"):
            pair = [node.graph.find(op, node.args, "f") for op in ("sin", "cos")]
            if all(p in task.alive and p not in refs for p in pair):
                name, targets = "sincos", pair  # type: ignore[assignment]
        body = elementary_graph(name, self.target.float64)
        before = self.contract, self.room
        self.contract, self.room = False, self.room - self.registers.held
        results = self.graph(body, dict(zip(body.params, args, strict=True)))
        self.contract, self.room = before
        for target, result in zip(targets, results, strict=True):
            refs[target] = result


class Repeat:
    """for i in range(count): at least once."""

    def __init__(self, f: Function, count: str, integer: str = "i64") -> None:
        self.f, self.count, self.integer, self.number = f, count, integer, f.fresh()[2:]

    def __enter__(self) -> str:
        f, self.before = self.f, self.f.block
        f.line(f"br label %each{self.number}")
        f.label(f"each{self.number}")
        self.counter, self.position = f.fresh(), len(f.lines)
        return self.counter

    def __exit__(self, *_: object) -> None:
        f, number = self.f, self.number
        step = f.op(f"add {self.integer} {self.counter}, 1")
        phi = f"  {self.counter} = phi {self.integer} [0, %{self.before}], [{step}, %{f.block}]"
        more = f.op(f"icmp slt {self.integer} {step}, {self.count}")
        f.line(f"br i1 {more}, label %each{number}, label %after{number}")
        f.lines.insert(self.position, phi)
        f.label(f"after{number}")


# Loops, calls and arrays in memory: filled in by `llvm_structure`.
Writer = Callable[[Function, Node, dict[Node, Ref], dict[Node, float]], None]
STRUCTURE: dict[str, Writer] = {}
