"""The inner loop of a NumPy gufunc around a graph: void loop(char **args, intp *dims, intp *steps, void *data).

Blocks of `width` instances go through one and the same code. An argument whose instances lie next to each other (the
last axis of memory is the batch: the fast layout) is read and written in place; any other, and the last, incomplete
block, goes through a small buffer, once if it is the same for all. So the bits of a result never depend on where in a
batch its instance stands.

Both sides of a `where` are computed, so the processor's exception flags say nothing about results: they are put back as
they were, and "invalid" is raised only if a NaN comes out where none went in. NumPy turns that into its usual warning.
"""

import math
from collections.abc import Iterator, Sequence

from . import llvm_structure as llvm_structure
from .graph import Graph
from .llvm import Function, Module, Ref, Repeat, Target
from .rows import columns_of, load_row, rows_of, store_row

Shape = tuple[int, ...]


def kernel_module(graph: Graph, inputs: Sequence[Shape], outputs: Sequence[Shape], target: Target) -> str:
    """The text of a module with one function, `kernel`."""
    module = Module(target)
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
    easy = "true"  # all arguments lie in place, or are the same for all
    for k, in_place in enumerate(dense):
        fits = f.op(f"or i1 {in_place}, {same[k]}") if k < len(inputs) else in_place
        easy = f.op(f"and i1 {easy}, {fits}")
    flags = save_flags(f)

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

    # Where each argument's elements are found: in place, or in its buffer.
    places = []
    for k, shape in enumerate(shapes):
        start = f.op(f"getelementptr i8, ptr {bases[k]}, i64 {f.op(f'mul i64 {first}, {lane_steps[k]}')}")
        direct = f.op(f"and i1 {full}, {dense[k]}")
        base = f.op(f"select i1 {direct}, ptr {start}, ptr {buffers[k]}")
        steps = []
        for axis, step in enumerate(core_steps[k]):
            packed = math.prod(shape[axis + 1 :]) * width * target.itemsize
            steps.append(f.op(f"select i1 {direct}, i64 {step}, i64 {packed}"))
        places.append((start, direct, base, steps))

    def copy(k: int, inward: bool) -> None:
        start, direct, _, _ = places[k]
        done = f.op(f"or i1 {direct}, {f.op(f'and i1 {same[k]}, {later}')}") if inward else direct
        _unless(f, done, full, _Transfer(f, start, lane_steps[k], core_steps[k], shapes[k], buffers[k], lanes, inward))

    f.line(f"br i1 {ready}, label %compute, label %fetch")
    f.label("fetch")
    for k in range(len(inputs)):
        copy(k, inward=True)
    f.line("br label %compute")
    f.label("compute")

    def element(k: int) -> Iterator[str]:
        _, _, base, steps = places[k]
        for index in _indices(shapes[k]):
            address = base
            for i, step in zip(index, steps, strict=True):
                if i:
                    address = f.op(f"getelementptr i8, ptr {address}, i64 {f.op(f'mul i64 {step}, {i}')}")
            yield address

    def loads() -> list[str]:
        addresses = [address for k in range(len(inputs)) for address in element(k)]
        return [f.op(f"load {vector}, ptr {address}, align {target.itemsize}") for address in addresses]

    results = f.graph(graph, {p: Ref(v, "f", False) for p, v in zip(graph.params, loads(), strict=True)})
    ends = [f.vector(result) for result in results]
    masks = target.vector("b")
    found, before = any_nan(f, ends), f.block
    f.line(f"br i1 {f.reduce('or', found, 'b')}, label %nan, label %store")
    f.label("nan")  # rare: only now look at what went in
    made = f.op(f"and {masks} {found}, {f.op(f'xor {masks} {any_nan(f, loads())}, splat (i1 true)')}")
    f.line("br label %store")
    f.label("store")
    new = f.op(f"phi {masks} [zeroinitializer, %{before}], [{made}, %nan]")
    invalid_so_far = f.op(f"or {masks} {invalid}, {new}")
    rest = iter(ends)
    for k in range(len(inputs), len(shapes)):
        for address in element(k):
            f.line(f"store {vector} {next(rest)}, ptr {address}, align {target.itemsize}")
    f.line(f"br i1 {ready}, label %next, label %deliver")
    f.label("deliver")
    for k in range(len(inputs), len(shapes)):
        copy(k, inward=False)
    f.line("br label %next")
    f.label("next")
    following = f.op(f"add i64 {first}, {width}")
    f.line("br label %blocks")
    f.lines[position:position] = [
        f"  {first} = phi i64 [0, %start], [{following}, %{f.block}]",
        f"  {invalid} = phi {masks} [zeroinitializer, %start], [{invalid_so_far}, %{f.block}]",
    ]
    f.label("end")
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


def any_nan(f: Function, values: Sequence[str]) -> str:
    """The lanes in which any of the values is no number."""
    vector, mask = f.target.vector("f"), "zeroinitializer"
    pairs = [*zip(values[::2], values[1::2], strict=False), *([(values[-1],) * 2] if len(values) % 2 else [])]
    for a, b in pairs:  # an unordered comparison looks at two at once
        mask = f.op(f"or {f.target.vector('b')} {mask}, {f.op(f'fcmp uno {vector} {a}, {b}')}")
    return mask


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


def _indices(shape: Shape) -> Iterator[Shape]:
    if not shape:
        yield ()
        return
    for i in range(shape[0]):
        for rest in _indices(shape[1:]):
            yield (i, *rest)


def _unless(f: Function, done: str, full: str, transfer: "_Transfer") -> None:
    """Write the transfer between an argument and its buffer, to be done unless it was, or need not be."""
    number = f.fresh()[2:]
    f.line(f"br i1 {done}, label %join{number}, label %copy{number}")
    f.label(f"copy{number}")
    if math.prod(transfer.shape) > 1:
        f.line(f"br i1 {transfer.by_rows(full)}, label %rows{number}, label %each{number}")
        f.label(f"rows{number}")
        transfer.write_rows()
        f.line(f"br label %join{number}")
        f.label(f"each{number}")
    transfer.write()
    f.line(f"br label %join{number}")
    f.label(f"join{number}")


class _Transfer:
    """Copy between an argument in any layout and its buffer, lane by lane, element by element."""

    def __init__(
        self,
        f: Function,
        start: str,
        lane_step: str,
        core_steps: Sequence[str],
        shape: Shape,
        buffer: str,
        lanes: str,
        inward: bool,
    ) -> None:
        self.f, self.start, self.lane_step, self.core_steps = f, start, lane_step, core_steps
        self.shape, self.buffer, self.lanes, self.inward = shape, buffer, lanes, inward

    def write(self) -> None:
        """Lanes beyond the last instance read that one again: their results are thrown away."""
        f, width = self.f, self.f.target.width
        with Repeat(f, str(width) if self.inward else self.lanes) as lane:
            source = lane
            if self.inward:
                last = f.op(f"sub i64 {self.lanes}, 1")
                source = f.op(f"select i1 {f.op(f'icmp slt i64 {lane}, {last}')}, i64 {lane}, i64 {last}")
            outside = f.op(f"getelementptr i8, ptr {self.start}, i64 {f.op(f'mul i64 {source}, {self.lane_step}')}")
            inside = f.op(f"getelementptr {f.target.scalar('f')}, ptr {self.buffer}, i64 {lane}")
            self._elements(0, outside, inside)

    def _elements(self, axis: int, outside: str, inside: str) -> None:
        f, scalar = self.f, self.f.target.scalar("f")
        if axis == len(self.shape):
            source, sink = (outside, inside) if self.inward else (inside, outside)
            value = f.op(f"load {scalar}, ptr {source}, align {f.target.itemsize}")
            f.line(f"store {scalar} {value}, ptr {sink}, align {f.target.itemsize}")
            return
        packed = math.prod(self.shape[axis + 1 :]) * f.target.width * f.target.itemsize
        with Repeat(f, str(self.shape[axis])) as i:
            out = f.op(f"getelementptr i8, ptr {outside}, i64 {f.op(f'mul i64 {i}, {self.core_steps[axis]}')}")
            into = f.op(f"getelementptr i8, ptr {inside}, i64 {f.op(f'mul i64 {i}, {packed}')}")
            self._elements(axis + 1, out, into)

    def by_rows(self, full: str) -> str:
        """Whether the block is full and each of its instances lies in one piece, in C order."""
        f, test = self.f, full
        for axis, step in enumerate(self.core_steps):
            dense = math.prod(self.shape[axis + 1 :]) * f.target.itemsize
            test = f.op(f"and i1 {test}, {f.op(f'icmp eq i64 {step}, {dense}')}")
        return test

    def write_rows(self) -> None:
        """Pieces of `width` instances by at most `width` elements are transposed in registers."""
        f, size, width = self.f, math.prod(self.shape), self.f.target.width
        offsets = [f.op(f"mul i64 {self.lane_step}, {lane}") for lane in range(width)]
        starts = [f.op(f"getelementptr i8, ptr {self.start}, i64 {offset}") for offset in offsets]
        for first in range(0, size, width):
            first = max(0, min(first, size - width))  # the last piece overlaps the one before, rather than the edge
            count = min(width, size)
            outside = [f.op(f"getelementptr i8, ptr {start}, i64 {first * f.target.itemsize}") for start in starts]
            inside = [f.address(self.buffer, str(first + k)) for k in range(count)]
            if self.inward:
                columns = columns_of(f, [load_row(f, address, count) for address in outside], count)
                for address, column in zip(inside, columns, strict=True):
                    store_row(f, column, address, width)
            else:
                rows = rows_of(f, [load_row(f, address, width) for address in inside])
                for address, row in zip(outside, rows, strict=True):
                    store_row(f, row, address, count)
