"""Graph to LLVM: vectors over the batch, one instance a lane, as text.

Every value is a vector of `width` lanes; what is the same in all lanes (loop counters, what follows from them and from
constants) stays a scalar until it meets a vector. A product and the sum that it goes into are contracted, but not
inside the elementary functions, whose error analysis counts every rounding.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from poinsot.fuse import math as elementary
from poinsot.fuse.graph.nodes import Graph, Node, Type
from poinsot.fuse.llvm.frame import Frame
from poinsot.fuse.llvm.instructions import INTRINSICS, ROWS, SEQUENCES, SHIFTS, WITH_CONSTANTS, Target
from poinsot.fuse.math.machine import trace_elementary
from poinsot.fuse.plan import registers
from poinsot.fuse.plan.registers import Registers, Row


@functools.cache
def elementary_graph(name: str, float64: bool) -> Graph:
    function = elementary.sincos if name == "sincos" else elementary.FUNCTIONS[name]
    return trace_elementary(function, float64)


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
        slot = self._slots[node] = self.f.frame.take_slot()
        self.f.homes[node] = functools.partial(self.f.slot, slot)
        self.f.store(self.f.slot(slot), 0, self.refs[node])

    def load(self, node: Node) -> None:
        self.refs[node] = self.f.fetch(self.f.homes[node](), node.type)

    def free(self, node: Node) -> None:
        if node in self._slots:
            self.f.frame.free.append(self._slots.pop(node))
            del self.f.homes[node]

    def end(self, nodes: Sequence[Node]) -> None:
        self.f.frame.free += self._slots.values()
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


_PIECE = 250  # operations in a block
_SHORT = 1500  # operations; of such code, the compiler finds registers for values and constants itself
_ENDLESS = 1 << 30


class Function:
    """The text of one function, grown line by line."""

    def __init__(self, module: Module, contract: bool = True) -> None:
        self.module, self.target, self.contract = module, module.target, contract
        self.frame = Frame(module)
        self.lines: list[str] = []
        self.block = "start"
        self.mask: str | None = None  # the lanes that still run, inside a loop whose count differs between lanes
        self.homes: dict[Node, Callable[[], str]] = {}  # values that lie in memory, and how to write their address
        self.always = ""  # a truth that the compiler cannot see through; if not, control goes to %never
        self.room = self.target.registers - 4 if module.is_long else _ENDLESS
        self.registers = Registers({}, self.room, _Waiting(self, {}))
        self._count = 0
        self._splats: dict[tuple[str, str], str] = {}

    def define(self, head: str, end: str) -> str:
        return "\n".join(
            [f"{head} #0 {{", "entry:", *self.frame.entry, "  br label %start"]
            + ["start:", *self.lines, *self.frame.exit, f"  {end}", "}"]
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
        """Room for vectors, for as long as the function runs."""
        return self.frame.allocate(count)

    def slot(self, number: int) -> str:
        """The address of a slot of the frame."""
        return self.address(*self.frame.slot(number))

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
            in_memory = bool(needs) and self.module.is_long and node.op not in SHIFTS
            ref_of = functools.partial(self._operand, refs, in_memory)
            if node in task.row.taken_in:
                refs[node] = self._contracted(node, task.row.taken_in[node][0], ref_of)
            else:
                refs[node] = self._simple(node, [ref_of(arg) for arg in node.args])

    def _operand(self, refs: dict[Node, Ref], in_memory: bool, node: Node) -> Ref:
        """The reference of a value; constants that lie in memory are read by the operation that needs them."""
        if not in_memory or node.op != "const" or node.data == 0 or node.type == "b":
            return refs[node]
        base, place = self.frame.number(self.module.number_of(node))
        address = self.op(f"getelementptr i{self.target.bits}, ptr {base}, i64 {place}")
        scalar = self.op(f"load {self.target.scalar(node.type)}, ptr {address}")
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
        if node.op in WITH_CONSTANTS:
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
