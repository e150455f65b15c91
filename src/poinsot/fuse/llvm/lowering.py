"""Graph to LLVM: one instance per lane, as text.

What is the same in all lanes (loop counters, what follows from them and from constants) stays a scalar until it meets a
vector. A product and the sum that it goes into are contracted, but not inside the elementary functions, whose error
analysis counts every rounding.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from poinsot.fuse import math as elementary
from poinsot.fuse.graph.nodes import NUMBERS, Graph, Node
from poinsot.fuse.llvm.control_flow import CONTROL_FLOW
from poinsot.fuse.llvm.instructions import INSTRUCTIONS, INTRINSICS, SEQUENCES, SHIFTS, WITH_CONSTANTS
from poinsot.fuse.llvm.module import Module
from poinsot.fuse.llvm.values import Ref, VectorEmitter
from poinsot.fuse.math.machine import trace_elementary
from poinsot.fuse.plan.registers import Registers, Schedule, schedule

_PIECE = 250  # operations in a block
_ENDLESS = 1 << 30


@functools.cache
def elementary_graph(name: str, float64: bool) -> Graph:
    function = elementary.sincos if name == "sincos" else elementary.FUNCTIONS[name]
    return trace_elementary(function, float64)


class _Spills:
    """The slots to which values of a graph are spilled."""

    def __init__(self, f: "Function", refs: dict[Node, Ref]) -> None:
        self.f, self.refs = f, refs
        self._slots: dict[Node, int] = {}

    def spill(self, node: Node) -> None:
        slot = self._slots[node] = self.f.frame.take_slot()
        self.f.homes[node] = functools.partial(self.f.slot, slot)
        self.f.write(self.f.slot(slot), 0, self.refs[node])

    def reload(self, node: Node) -> None:
        self.refs[node] = self.f.read_at(self.f.homes[node](), node.type)

    def free(self, node: Node) -> None:
        if node in self._slots:
            self.f.frame.free.append(self._slots.pop(node))
            del self.f.homes[node]

    def free_all(self, nodes: Sequence[Node]) -> None:
        self.f.frame.free += self._slots.values()
        for node in nodes:
            self.f.homes.pop(node, None)


@dataclass(frozen=True)
class _Scope:
    """A graph that is being lowered: its schedule, the references of its values, the last uses of its arrays, and its
    live nodes."""

    schedule: Schedule
    refs: dict[Node, Ref]
    last: dict[Node, float]
    live: set[Node]


class Function(VectorEmitter):
    """The text of one function, grown line by line, with words for graphs."""

    def __init__(self, module: Module, contract: bool = True) -> None:
        super().__init__(module)
        self.contract = contract
        self.mask: str | None = None  # the active lanes, inside a loop whose trip count differs between lanes
        self.homes: dict[Node, Callable[[], str]] = {}  # values that are in memory, and how to write their address
        self.always = ""  # a test that is always true, which the compiler cannot know; else control goes to %never
        self.capacity = self.target.registers - 4 if module.is_long else _ENDLESS
        self.registers = Registers({}, self.capacity, _Spills(self, {}))

    def sibling(self, contract: bool) -> "Function":
        """Another function of the same module."""
        return Function(self.module, contract)

    def graph(
        self,
        graph: Graph,
        refs: dict[Node, Ref],
        done: Callable[[Node], None] | None = None,
        outputs: Sequence[Node] | None = None,
    ) -> list[Ref]:
        """Write the live nodes of a graph whose parameters have references or homes; the references of its outputs.

        If there is a `done`, it takes care of the outputs: it is called with each node as soon as that is written.
        """
        outputs = graph.outputs if outputs is None else outputs
        live = graph.live(outputs)
        uniform = {node for node, ref in refs.items() if ref.uniform}
        plan = schedule(live, outputs, uniform, self.contract, self.module.is_long)
        at_end = [] if done else [node for node in outputs if node.type in NUMBERS and node not in uniform]
        spills = _Spills(self, refs)
        scope = _Scope(plan, refs, graph.last_uses(live, outputs), set(live))
        outer, self.registers = self.registers, Registers(plan.uses(at_end), self.capacity, spills)
        for number, node in enumerate(plan.nodes):
            if self.always and number and number % _PIECE == 0:
                self._begin_block()
            if node not in refs and node not in self.homes:
                self._lower(node, scope)
            self.registers.use(plan.needs[node])
            if done is not None:
                done(node)
            if node in self.homes:
                self.registers.is_in_memory(node)
            if node in refs and not refs[node].uniform:
                self.registers.define(node)
        self.registers.require(dict.fromkeys(at_end))
        spills.free_all(live)
        self.registers = outer
        return [] if done else [refs[node] for node in outputs]

    def _lower(self, node: Node, scope: _Scope) -> None:
        needs, refs, now = scope.schedule.needs[node], scope.refs, self.registers
        if node.op in CONTROL_FLOW:
            if node.op == "call" or (node.op == "loop" and self.is_crowded(node, refs)):
                if not self.target.hasty:  # else LLVM does so, with less text
                    now.spill_all()
            elif node.op != "array":
                now.require(needs)
            CONTROL_FLOW[node.op](self, node, refs, scope.last)
        elif node.op in elementary.FUNCTIONS:
            now.require(needs, self.capacity // 2)
            self._elementary(node, scope)
        elif node.op == "const":
            refs[node] = self.literal(node)
        else:
            now.require(needs)
            in_memory = bool(needs) and self.module.is_long and node.op not in SHIFTS
            ref_of = functools.partial(self._operand, refs, in_memory)
            if node in scope.schedule.fused:
                refs[node] = self._contracted(node, scope.schedule.fused[node][0], ref_of)
            else:
                refs[node] = self._simple(node, [ref_of(arg) for arg in node.args])

    def _operand(self, refs: dict[Node, Ref], in_memory: bool, node: Node) -> Ref:
        """The reference of a value; constants in memory are read by the operation that needs them."""
        if not in_memory or node.op != "const" or node.data == 0 or node.type not in ("f", "i"):
            return refs[node]
        base, distance = self.frame.constant(self.module.constant(node))
        place = self.gep(base, distance, f"i{self.target.bits}")
        if self.target.width == 1:
            return Ref(self.load(self.target.vector(node.type), place), node.type, False)
        scalar = self.load(self.target.scalar(node.type), place)
        return Ref(self.vector(Ref(scalar, node.type, True)), node.type, False)

    def _begin_block(self) -> None:
        """Compilers take much longer over one long block than over several short ones."""
        name = f"piece{self.number()}"
        self.branch(self.always, name, "never")
        self.label(name)

    def value(self, node: Node, refs: dict[Node, Ref]) -> Ref:
        """The value of a node that may be spilled."""
        if node in self.homes and (node not in refs or not self.registers.holds(node)):
            return self.read_at(self.homes[node](), node.type)
        return refs[node]

    def outputs_to(self, base: str, graph: Graph, refs: dict[Node, Ref]) -> Callable[[Node], None]:
        """For `graph`: stores each output in an array of vectors as soon as it is there."""
        places: dict[Node, list[int]] = {}
        for k, node in enumerate(graph.outputs):
            places.setdefault(node, []).append(k)

        def store(node: Node) -> None:
            for k in places.get(node, ()):
                self.write(base, k, self.value(node, refs))

        return store

    def is_crowded(self, loop: Node, refs: dict[Node, Ref]) -> bool:
        """Whether the arguments of a loop fill most of the registers."""
        values = [arg for arg in loop.args if arg.type in NUMBERS and not (arg in refs and refs[arg].uniform)]
        return len(values) > self.capacity // 2

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
            a = self.fneg(a, kind)
        if (other is subtracted) != (node.op == "neg"):
            c = self.fneg(c, kind)
        name = f"@llvm.fmuladd.{'' if uniform else f'v{self.target.width}'}f{self.target.bits}"
        self.declarations[name] = f"declare {kind} {name}({kind}, {kind}, {kind})"
        return Ref(self.op(f"call {kind} {name}({kind} {a}, {kind} {b}, {kind} {c})"), "f", uniform)

    def _simple(self, node: Node, args: list[Ref]) -> Ref:
        uniform = all(arg.uniform for arg in args)
        form, scalar = (self.scalar, self.target.scalar) if uniform else (self.vector, self.target.vector)
        if node.op == "where":
            c, a, b = (form(arg) for arg in args)
            return Ref(self.select(c, a, b, scalar(node.type), scalar("b")), node.type, uniform)
        kind = args[0].type
        values = [form(arg) for arg in args]
        if (node.op, kind) in INTRINSICS:
            lanes = "" if uniform else f"v{self.target.width}"
            name = f"{INTRINSICS[node.op, kind]}.{lanes}{self.target.short(kind)}"
            arguments = [(scalar(kind), value) for value in values]
            return Ref(self.intrinsic(scalar(kind), name, *arguments), node.type, uniform)
        words = {"T": scalar(kind), "R": scalar(node.type), "B": scalar("b")}
        words |= dict(zip("ab", values, strict=False))
        if "u" in (kind, node.type):
            narrow, widen = ("trunc", "zext") if self.target.float64 else ("bitcast", "bitcast")
            words |= {"narrow": narrow, "widen": widen}
            words |= {"L": "i64" if uniform else f"<{self.target.width} x i64>"}
        if node.op in WITH_CONSTANTS:
            words |= {"zero": self.constant(0, kind, uniform), "ones": self.constant(True, "b", uniform)}
            words |= {"one": self.constant(1, kind, uniform), "two": self.constant(2, kind, uniform)}
        if (node.op, kind) in INSTRUCTIONS:
            return Ref(self.op(INSTRUCTIONS[node.op, kind].format(**words)), node.type, uniform)
        steps: list[str] = []
        for step in SEQUENCES[node.op, kind]:
            steps.append(self.op(step.format(*steps, **words)))
        return Ref(steps[-1], node.type, uniform)

    def _elementary(self, node: Node, scope: _Scope) -> None:
        """Expand an elementary function in place; a sine and a cosine of one angle share their work."""
        refs = scope.refs
        args = [Ref(self.vector(refs[arg]), "f", False) for arg in node.args]
        targets = [node]
        name = node.op
        if name in ("sin", "cos"):
            pair = [node.graph.find(op, node.args, "f") for op in ("sin", "cos")]
            if all(p in scope.live and p not in refs for p in pair):
                name, targets = "sincos", pair  # type: ignore[assignment]
        body = elementary_graph(name, self.target.float64)
        before = self.contract, self.capacity
        self.contract, self.capacity = False, self.capacity - self.registers.held
        results = self.graph(body, dict(zip(body.params, args, strict=True)))
        self.contract, self.capacity = before
        for target, result in zip(targets, results, strict=True):
            refs[target] = result
