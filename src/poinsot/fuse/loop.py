"""The inner loop of a NumPy gufunc around a graph: void loop(char **args, intp *dims, intp *steps, void *data).

Blocks of `width` instances go through one and the same code. An argument whose instances lie next to each other (the
last axis of memory is the batch: the fast layout) is read in place; any other, and the last, incomplete block, goes
through a small buffer, once if it is the same for all. So the bits of a result never depend on where in a batch its
instance stands.

Results go to buffers as soon as they are there, since of many only few have room in registers, and from there to their
places when the block is done. All inputs of a block are read before its outputs are written, and those before the
inputs of the next: with vectors of one element, instances may follow on from each other in memory (`scan`).

Both sides of a `where` are computed, so the processor's exception flags say nothing about results: they are put back as
they were, and "invalid" is raised only if a NaN comes out where none went in. NumPy turns that into its usual warning.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from . import llvm_structure as llvm_structure
from .graph import Graph, Node
from .llvm import Function, Module, Ref, Target
from .memory import whole_of
from .transfer import Transfer, address, addresses, either, fence

_FEW = 8  # results that stay in registers
_MANY = 16  # inputs that are not read in place
_OFTEN = 500  # operations between looks at what can be written
_CACHES = 1 << 24  # bytes: more than that, and the results of a call are gone from them before they are used

Shape = tuple[int, ...]


def kernel_module(graph: Graph, inputs: Sequence[Shape], outputs: Sequence[Shape], target: Target) -> str:
    """The text of a module with one function, `kernel`."""
    module = Module(target, graph)
    f = Function(module)
    shapes, width = [*inputs, *outputs], target.width
    integer, vector = "i64", target.vector("f")

    def word(base: str, k: int, kind: str = integer) -> str:
        return f.op(f"load {kind}, ptr {f.op(f'getelementptr i64, ptr {base}, i64 {k}')}")

    total = word("%dims", 0)
    bases = [word("%args", k, "ptr") for k in range(len(shapes))]
    lane_steps = [word("%steps", k) for k in range(len(shapes))]
    core_steps, k = [], len(shapes)
    for shape in shapes:
        core_steps.append([word("%steps", k + axis) for axis in range(len(shape))])
        k += len(shape)
    buffers = [f.allocate(math.prod(shape)) for shape in shapes]
    dense = [f.op(f"icmp eq i64 {step}, {target.itemsize}") for step in lane_steps]
    same = [f.op(f"icmp eq i64 {step}, 0") for step in lane_steps[: len(inputs)]]
    easy = "true"  # all inputs lie in place, or are the same for all
    for k in range(len(inputs)):
        easy = f.op(f"and i1 {easy}, {f.op(f'or i1 {dense[k]}, {same[k]}')}")
    f.always = f.op(f"icmp sge i64 {total}, 0")
    flags = save_flags(f)
    results = _Results(f, graph, outputs, buffers[len(inputs) :])
    much = f.op(f"icmp ugt i64 {total}, {_CACHES // (target.itemsize * max(1, len(graph.outputs)))}")
    ways = [("false", "0")] * len(inputs)
    ways += [_past_caches(f, much, bases[k], lane_steps[k]) for k in range(len(inputs), len(shapes))]

    f.line("br label %blocks")
    f.label("blocks")
    first, invalid = f.fresh(), f.fresh()
    position = len(f.lines)
    left = f.op(f"sub i64 {total}, {first}")
    more = f.op(f"icmp sgt i64 {left}, 0")
    f.line(f"br i1 {more}, label %block, label %end")
    f.label("block")
    full = f.op(f"icmp sge i64 {left}, {width}")
    lanes = f.op(f"select i1 {full}, i64 {width}, i64 {left}")
    later = f.op(f"icmp ne i64 {first}, 0")
    ready = f.op(f"and i1 {easy}, {f.op(f'and i1 {full}, {later}')}")  # nothing to copy

    starts = [
        f.op(f"getelementptr i8, ptr {base}, i64 {f.op(f'mul i64 {first}, {step}')}")
        for base, step in zip(bases, lane_steps, strict=True)
    ]
    direct = [f.op(f"and i1 {full}, {x}") for x in dense]
    transfers = [
        Transfer(f, *numbers, lanes, full, k < len(inputs), *ways[k])
        for k, numbers in enumerate(zip(starts, lane_steps, core_steps, shapes, buffers, strict=True))
    ]

    # Where the elements of each input are found: in place, or in its buffer. Long code reads them more than once, and
    # those that are far from each other are in each other's way in the caches.
    in_place, places = not module.is_long or len(graph.params) <= _MANY, []
    for k, shape in enumerate(inputs):
        packed = [str(math.prod(shape[axis + 1 :]) * width * target.itemsize) for axis in range(len(shape))]
        if in_place:
            base = f.op(f"select i1 {direct[k]}, ptr {starts[k]}, ptr {buffers[k]}")
            pairs = zip(core_steps[k], packed, strict=True)
            places.append((base, [f.op(f"select i1 {direct[k]}, i64 {there}, i64 {here}") for there, here in pairs]))
        else:
            places.append((buffers[k], packed))

    f.line(f"br i1 {ready if in_place else 'false'}, label %compute, label %fetch")
    f.label("fetch")
    for k, transfer in enumerate(transfers[: len(inputs)]):
        known = f.op(f"and i1 {same[k]}, {later}")
        if in_place:
            either(f, f.op(f"or i1 {direct[k]}, {known}"), lambda: None, transfer.write)
        else:
            either(f, known, lambda: None, partial(either, f, direct[k], transfer.write_lanes, transfer.write))
    f.line("br label %compute")
    f.label("compute")

    def loads() -> list[str]:
        each = [place for k, (base, steps) in enumerate(places) for place in addresses(f, base, steps, shapes[k])]
        return [f.op(f"load {vector}, ptr {place}, align {target.itemsize}") for place in each]

    numbers = iter(graph.params)
    for k, (base, steps) in enumerate(places):
        for index in np.ndindex(*inputs[k]):
            f.homes[next(numbers)] = partial(address, f, base, steps, index)
    refs: dict[Node, Ref] = {}
    fetch_ahead = _fetching_ahead(f, transfers, len(graph.live(results.nodes)))
    results.begin(transfers[len(inputs) :])
    written = itertools.count(1)

    def done(node: Node) -> None:
        results.put(node, refs)
        fetch_ahead()
        if next(written) % _OFTEN == 0:
            results.write_early()

    f.graph(graph, refs, done, results.nodes)
    results.end(refs)
    masks = target.vector("b")
    found, before = results.nans.mask(), f.block
    f.line(f"br i1 {f.reduce('or', found, 'b')}, label %nan, label %store")
    f.label("nan")  # rare: only now look at what went in
    made = f.op(f"and {masks} {found}, {f.op(f'xor {masks} {any_nan(f, loads())}, splat (i1 true)')}")
    f.line("br label %store")
    f.label("store")
    new = f.op(f"phi {masks} [zeroinitializer, %{before}], [{made}, %nan]")
    invalid_so_far = f.op(f"or {masks} {invalid}, {new}")
    for k, transfer in enumerate(transfers[len(inputs) :]):
        results.deliver(k, transfer, direct[len(inputs) + k])
    following = f.op(f"add i64 {first}, {width}")
    f.line("br label %blocks")
    f.lines[position:position] = [
        f"  {first} = phi i64 [0, %start], [{following}, %{f.block}]",
        f"  {invalid} = phi {masks} [zeroinitializer, %start], [{invalid_so_far}, %{f.block}]",
    ]
    f.label("never")
    f.line("unreachable")
    f.label("end")
    either(f, much, lambda: fence(f))
    restore_flags(f, flags)
    some = f.reduce("or", invalid, "b")
    f.line(f"br i1 {some}, label %raise, label %return")
    f.label("raise")
    scalar = target.scalar("f")
    f.line(f"store volatile {scalar} 0.0, ptr {buffers[0]}")
    zero = f.op(f"load volatile {scalar}, ptr {buffers[0]}")
    f.line(f"store volatile {scalar} {f.op(f'fdiv {scalar} {zero}, {zero}')}, ptr {buffers[0]}")
    f.line("br label %return")
    f.label("return")
    head = "define void @kernel(ptr noalias %args, ptr noalias %dims, ptr noalias %steps, ptr %data)"
    module.functions.append(f.define(head, "ret void"))
    return module.text()


def _fetching_ahead(f: Function, transfers: Sequence[Transfer], operations: int) -> Callable[[], None]:
    """To be called after each of so many operations: has lines of memory brought that will be read and written soon.

    Those are the inputs of the next block, and the places of results that do not go past the caches, because they begin
    anywhere in a line. Instances that lie in one piece are meant; for others it is of no use, and does no harm.
    """
    line = f.target.width * f.target.itemsize
    wanted = [t for t in transfers if t.inward or t.size * f.target.itemsize % line]
    places = [(transfer, k) for transfer in wanted for k in range(transfer.size)] if f.module.is_long else []
    every, count = max(1, operations // max(1, len(places))), itertools.count(1)
    f.module.declarations["prefetch"] = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"

    def fetch() -> None:
        if places and next(count) % every == 0:
            transfer, k = places.pop()
            blocks, writes = (1, 0) if transfer.inward else (0, 1)
            distance = f.op(f"mul i64 {transfer.lane_step}, {blocks * f.target.width}")
            place = f.op(f"getelementptr i8, ptr {transfer.start}, i64 {f.op(f'add i64 {distance}, {k * line}')}")
            f.line(f"call void @llvm.prefetch.p0(ptr {place}, i32 {writes}, i32 3, i32 1)")

    return fetch


def _past_caches(f: Function, much: str, base: str, lane_step: str) -> tuple[str, str]:
    """Whether an output should go past the caches, and how many elements lie before the first whole line then."""
    line = f.target.width * f.target.itemsize
    if line < 32:
        return "false", "0"
    even = f.op(f"icmp eq i64 {f.op(f'and i64 {lane_step}, {line - 1}')}, 0")
    past = f.op(f"and i1 {much}, {even}")
    address = f.op(f"ptrtoint ptr {base} to i64")
    before = f.op(f"and i64 {f.op(f'sub i64 0, {address}')}, {line - 1}")
    return past, f.op(f"select i1 {past}, i64 {f.op(f'udiv i64 {before}, {f.target.itemsize}')}, i64 0")


class _Results:
    """What comes out of the graph, on its way to the buffers: numbers that are known once for all blocks, many results
    as soon as they are there, few when all of them are."""

    def __init__(self, f: Function, graph: Graph, shapes: Sequence[Shape], buffers: Sequence[str]) -> None:
        self.f, self.nans, self.buffers = f, _NaNs(f), list(buffers)
        self._values: list[list[str]] = [[""] * math.prod(shape) for shape in shapes]
        self._known = [np.zeros(math.prod(shape), bool) for shape in shapes]
        self._early: dict[int, tuple[Transfer, str, set[int]]] = {}  # outputs that may be written before all is known
        self._homes: dict[Node, list[tuple[int, int]]] = {}
        self._wholes: dict[int, Node] = {}  # outputs that lie in memory as they are
        rest = iter(graph.outputs)
        for k, values in enumerate(self._values):
            nodes = [next(rest) for _ in values]
            whole = None if self._few(k) else whole_of(nodes)
            if whole is not None:
                self._wholes[k] = whole
                continue
            for i, node in enumerate(nodes):
                self._homes.setdefault(node, []).append((k, i))
        self.nodes = [*self._homes, *self._wholes.values()]
        for node in [node for node in self._homes if node.op == "const" and node.data == node.data]:
            ref = f.literal(node)
            for k, i in self._homes.pop(node):
                self._known[k][i] = True
                self._values[k][i] = f.vector(ref)
                f.store(buffers[k], i, ref)

    def begin(self, transfers: Sequence[Transfer]) -> None:
        """A block begins."""
        for k, transfer in enumerate(transfers):
            may_go = transfer.pairs > 8 and transfer.past_caches != "false" and k not in self._wholes
            if self.f.module.is_long and may_go:
                self._early[k] = transfer, transfer.goes_past_caches(), set()

    def write_early(self) -> None:
        """Lines of which all elements are known go past the caches: memory takes them while the rest is computed."""
        width = self.f.target.width
        for k, (transfer, goes, gone) in self._early.items():
            parts = [self._known[k][2 * width * q : 2 * width * (q + 1) + width] for q in range(transfer.pairs)]
            chosen = [q for q, part in enumerate(parts) if q not in gone and part.all()]
            if len(chosen) > 1:
                self.f.registers.clear()
                either(self.f, goes, partial(transfer.write_pairs, chosen))
                gone.update(chosen)

    def put(self, node: Node, refs: dict[Node, Ref]) -> None:
        """The node has been written: if it is a result, take it."""
        if node not in self._homes:
            return
        ref = self.f.value(node, refs)
        value = self.f.vector(ref)
        self.nans.look(value)
        for k, i in self._homes[node]:
            self._values[k][i] = value
            self._known[k][i] = True
            if not self._few(k):
                self.f.store(self.buffers[k], i, ref)

    def end(self, refs: dict[Node, Ref]) -> None:
        """The graph has been written."""
        for k, node in self._wholes.items():
            self.nans.look_along(refs[node].text, len(self._values[k]))
            self._wholes[k], self.buffers[k] = node, refs[node].text

    def _few(self, k: int) -> bool:
        return len(self._values[k]) <= _FEW

    def deliver(self, k: int, transfer: Transfer, direct: str) -> None:
        """Write output number k; `direct` if its lanes lie side by side."""

        def through_buffer() -> None:
            for i, value in enumerate(self._values[k]):
                self.f.store(self.buffers[k], i, Ref(value, "f", False))
            transfer.write()

        gone = self._early[k][2] if k in self._early else ()
        transfer = replace(transfer, buffer=self.buffers[k], written=frozenset(gone))
        if self._few(k):
            either(self.f, direct, lambda: transfer.write_values(self._values[k]), through_buffer)
        else:
            either(self.f, direct, transfer.write_lanes, transfer.write)


class _NaNs:
    """The lanes in which any of several values is no number."""

    def __init__(self, f: Function) -> None:
        self.f, self._mask, self._waiting = f, "zeroinitializer", ""

    def look(self, value: str) -> None:
        """An unordered comparison looks at two values at once."""
        if self._waiting:
            self._compare(self._waiting, value)
        self._waiting = "" if self._waiting else value

    def look_along(self, base: str, count: int) -> None:
        """At a row of vectors in memory, eight in a turn."""
        self.mask()
        f, number, masks = self.f, self.f.fresh()[2:], self.f.target.vector("b")
        head, before, mask, turn = f"look{number}", f.block, self._mask, f.fresh()
        f.line(f"br label %{head}")
        f.label(head)
        self._mask, position = f.fresh(), len(f.lines)
        found = self._mask
        for k in range(8):
            at = f.op(f"add i64 {f.op(f'mul i64 {turn}, 8')}, {k}")
            at = f.intrinsic("umin.i64", "i64", "i64", at, str(count - 1)) if count % 8 else at
            place = f.op(f"getelementptr {f.target.vector('f')}, ptr {base}, i64 {at}")
            self.look(f.op(f"load {f.target.vector('f')}, ptr {place}, align {f.target.itemsize}"))
        following = f.op(f"add i64 {turn}, 1")
        f.lines[position:position] = [
            f"  {found} = phi {masks} [{mask}, %{before}], [{self._mask}, %{head}]",
            f"  {turn} = phi i64 [0, %{before}], [{following}, %{head}]",
        ]
        more = f.op(f"icmp ult i64 {following}, {-(-count // 8)}")
        f.line(f"br i1 {more}, label %{head}, label %seen{number}")
        f.label(f"seen{number}")

    def mask(self) -> str:
        if self._waiting:
            self._compare(self._waiting, self._waiting)
            self._waiting = ""
        return self._mask

    def _compare(self, a: str, b: str) -> None:
        vector, masks = self.f.target.vector("f"), self.f.target.vector("b")
        self._mask = self.f.op(f"or {masks} {self._mask}, {self.f.op(f'fcmp uno {vector} {a}, {b}')}")


def any_nan(f: Function, values: Sequence[str]) -> str:
    """The lanes in which any of the values is no number."""
    nans = _NaNs(f)
    for value in values:
        nans.look(value)
    return nans.mask()


def save_flags(f: Function) -> str | None:
    """Where the processor's floating-point status is kept meanwhile."""
    if f.target.processor == "x86":
        f.entry.append("  %flags = alloca i32, align 4")
        f.module.declarations["stmxcsr"] = "declare void @llvm.x86.sse.stmxcsr(ptr)"
        f.line("call void @llvm.x86.sse.stmxcsr(ptr %flags)")
        return "%flags"
    if f.target.processor == "arm":
        f.module.declarations["get.fpsr"] = "declare i64 @llvm.aarch64.get.fpsr()"
        return f.op("call i64 @llvm.aarch64.get.fpsr()")
    return None


def restore_flags(f: Function, flags: str | None) -> None:
    if f.target.processor == "x86":
        f.module.declarations["ldmxcsr"] = "declare void @llvm.x86.sse.ldmxcsr(ptr)"
        f.line(f"call void @llvm.x86.sse.ldmxcsr(ptr {flags})")
    elif f.target.processor == "arm":
        f.module.declarations["set.fpsr"] = "declare void @llvm.aarch64.set.fpsr(i64)"
        f.line(f"call void @llvm.aarch64.set.fpsr(i64 {flags})")
