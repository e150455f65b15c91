"""Between an argument of a loop, in any layout, and the buffer in which its elements are vectors over a block."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from poinsot.fuse.llvm.abi.packing import columns_at, columns_of, load_row, rows_of, store_row
from poinsot.fuse.llvm.lowering import Function, Repeat

_WRITTEN_OUT = 4  # pieces; more of them stay a loop


@dataclass(frozen=True)
class Transfer:
    """A block of one argument: `start` is the address of its first instance, of `lanes` in use; `full` if that is all,
    `direct` if they lie side by side, moreover.

    Inwards, lanes beyond the last instance read that one again: their results are thrown away.
    """

    f: Function
    start: str
    lane_step: str
    core_steps: Sequence[str]
    shape: tuple[int, ...]
    buffer: str
    lanes: str
    full: str
    direct: str
    inward: bool
    order: str = ""  # a table: in which vector of the buffer each element lies, if not one after the other

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def write(self) -> None:
        """From or to any layout: row by row if it may be, else one by one."""
        if self.size > 1:
            either(self.f, self._in_rows(), self._write_rows, self._write_each)
        else:
            self._write_each()

    def write_lanes(self) -> None:
        """All lanes of an element at once: they lie side by side."""
        self._elements(0, self.start, self.buffer, "0", self.f.target.vector("f"))

    def write_values(self, values: Sequence[str]) -> None:
        """The same, with all elements at hand."""
        t = self.f.target
        for value, place in zip(values, addresses(self.f, self.start, self.core_steps, self.shape), strict=True):
            self.f.line(f"store {t.vector('f')} {value}, ptr {place}, align {t.itemsize}")

    def _write_each(self) -> None:
        f, width = self.f, self.f.target.width
        with Repeat(f, str(width) if self.inward else self.lanes) as lane:
            source = lane
            if self.inward:
                last = f.op(f"sub i64 {self.lanes}, 1")
                source = f.op(f"select i1 {f.op(f'icmp slt i64 {lane}, {last}')}, i64 {lane}, i64 {last}")
            outside = f.op(f"getelementptr i8, ptr {self.start}, i64 {f.op(f'mul i64 {source}, {self.lane_step}')}")
            inside = f.op(f"getelementptr {f.target.scalar('f')}, ptr {self.buffer}, i64 {lane}")
            self._elements(0, outside, inside, "0", f.target.scalar("f"))

    def _elements(self, axis: int, outside: str, buffer: str, number: str, kind: str) -> None:
        """Those along the other axes, of which the first is at this place and has this number."""
        f = self.f
        if axis == len(self.shape):
            inside = self._in_buffer(buffer, number)
            source, sink = (outside, inside) if self.inward else (inside, outside)
            value = f.op(f"load {kind}, ptr {source}, align {f.target.itemsize}")
            f.line(f"store {kind} {value}, ptr {sink}, align {f.target.itemsize}")
            return
        with Repeat(f, str(self.shape[axis])) as i:
            out = f.op(f"getelementptr i8, ptr {outside}, i64 {f.op(f'mul i64 {i}, {self.core_steps[axis]}')}")
            further = f.op(f"mul i64 {i}, {math.prod(self.shape[axis + 1 :])}")
            self._elements(axis + 1, out, buffer, f.op(f"add i64 {number}, {further}"), kind)

    def _in_rows(self) -> str:
        """Whether the block is full and each of its instances lies in one piece, in C order."""
        return is_in_c_order(self.f, self.core_steps, self.shape, self.full)

    def _write_rows(self) -> None:
        """Pieces of `width` instances by at most `width` elements are transposed in registers."""
        f, width, pieces = self.f, self.f.target.width, self.size // self.f.target.width
        steps = [f.op(f"mul i64 {self.lane_step}, {lane}") for lane in range(width)]
        rows = [f.op(f"getelementptr i8, ptr {self.start}, i64 {step}") for step in steps]
        if pieces > _WRITTEN_OUT:
            with Repeat(f, str(pieces)) as k:
                self._write_piece(rows, f.op(f"mul i64 {k}, {width}"))
        else:
            for i in range(pieces):
                self._write_piece(rows, str(i * width))
        if self.size % width:  # the last piece overlaps the one before, rather than the edge
            self._write_piece(rows, str(max(0, self.size - width)))

    def _write_piece(self, rows: Sequence[str], first: str) -> None:
        """`width` elements from number `first` on, or all if there are less."""
        f, width, count = self.f, self.f.target.width, min(self.f.target.width, self.size)
        if self.inward:
            places = self._outside(rows, first)
            if count == width > 1:
                columns = columns_at(f, places)
            else:
                columns = columns_of(f, [load_row(f, place, count) for place in places], count)
            for place, column in zip(self._inside(first), columns, strict=True):
                store_row(f, column, place, width)
        else:
            columns = [load_row(f, place, width) for place in self._inside(first)]
            for place, line in zip(self._outside(rows, first), rows_of(f, columns), strict=True):
                store_row(f, line, place, count)

    def _inside(self, first: str) -> list[str]:
        count = min(self.f.target.width, self.size)
        if self.order:
            return [self._in_buffer(self.buffer, self.f.op(f"add i64 {first}, {k}")) for k in range(count)]
        start = self._in_buffer(self.buffer, first)
        return [self.f.address(start, str(k)) for k in range(count)]

    def _in_buffer(self, buffer: str, number: str) -> str:
        return vector_of(self.f, buffer, self.order, number)

    def _outside(self, rows: Sequence[str], first: str) -> list[str]:
        """The addresses of elements number `first`."""
        return [self.f.op(f"getelementptr {self.f.target.scalar('f')}, ptr {row}, i64 {first}") for row in rows]


def vector_of(f: Function, buffer: str, order: str, number: str) -> str:
    """The address of an element's vector in a buffer; `order` as in `Transfer`."""
    if not order:
        return f.address(buffer, number, "i64")
    integer = f.target.scalar("i")
    place = f.op(f"getelementptr {integer}, ptr {order}, i64 {number}")
    return f.address(buffer, f.op(f"load {integer}, ptr {place}"))


def is_in_c_order(f: Function, steps: Sequence[str], shape: Sequence[int], test: str) -> str:
    """Whether, besides, the steps along the axes are those of an array in C order, without gaps."""
    for axis, step in enumerate(steps):
        dense = math.prod(shape[axis + 1 :]) * f.target.itemsize
        test = f.op(f"and i1 {test}, {f.op(f'icmp eq i64 {step}, {dense}')}")
    return test


def address(f: Function, base: str, steps: Sequence[str], index: Sequence[int]) -> str:
    """Of one element."""
    for i, step in zip(index, steps, strict=True):
        if i:
            base = f.op(f"getelementptr i8, ptr {base}, i64 {f.op(f'mul i64 {step}, {i}')}")
    return base


def addresses(f: Function, base: str, steps: Sequence[str], shape: tuple[int, ...]) -> list[str]:
    """Of all elements, in C order."""
    return [address(f, base, steps, index) for index in np.ndindex(*shape)]


def either(f: Function, test: str, yes: Callable[[], None], no: Callable[[], None] = lambda: None) -> None:
    """Write both, to do one of them."""
    number = f.fresh()[2:]
    f.line(f"br i1 {test}, label %yes{number}, label %no{number}")
    for name, part in (("yes", yes), ("no", no)):
        f.label(f"{name}{number}")
        part()
        f.line(f"br label %both{number}")
    f.label(f"both{number}")


def unless(f: Function, test: str, part: Callable[[], None]) -> None:
    either(f, test, lambda: None, part)


def fence(f: Function) -> None:
    """What was written past the caches is there for other threads from now on."""
    if f.target.processor == "x86":
        f.module.declarations["sfence"] = "declare void @llvm.x86.sse.sfence()"
        f.line("call void @llvm.x86.sse.sfence()")
