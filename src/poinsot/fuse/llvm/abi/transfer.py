"""Between an argument of a loop, in any layout, and the buffer in which its elements are vectors over a block."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poinsot.fuse.llvm.abi.packing import columns_at, columns_of, load_row, rows_of, store_row
from poinsot.fuse.llvm.emitter import Operand
from poinsot.fuse.llvm.values import ArgumentElement, VectorEmitter

_UNROLLED = 4  # pieces; more of them stay a loop

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Transfer:
    """A block of one argument: `start` is the address of its first instance, of `lanes` in use; `full` if that is all,
    `direct` if they are contiguous as well.

    Inwards, lanes beyond the last instance read that one again: their results are thrown away.
    """

    f: VectorEmitter
    start: str
    lane_step: str
    core_steps: Sequence[str]
    shape: Shape
    buffer: str
    lanes: str
    full: str
    direct: str
    inward: bool
    order: str = ""  # a table: the vector of the buffer that holds each element, if they are not in order

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def transfer(self) -> None:
        """From or to any layout: row by row if possible, else element by element."""
        if self.size <= 1:
            self._transfer_each()
            return
        with self.f.when(self._in_rows()) as otherwise:
            self._transfer_rows()
            otherwise()
            self._transfer_each()

    def transfer_lanes(self) -> None:
        """All lanes of an element at once: they are contiguous."""
        self._transfer_elements(0, self.start, self.buffer, 0, self.f.target.vector("f"))

    def transfer_contiguous(self) -> None:
        """Lanes at once if they are contiguous, else from or to any layout."""
        with self.f.when(self.direct) as otherwise:
            self.transfer_lanes()
            otherwise()
            self.transfer()

    def store_values(self, values: Sequence[str]) -> None:
        """All elements from registers, to contiguous lanes."""
        t = self.f.target
        for value, place in zip(values, addresses(self.f, self.start, self.core_steps, self.shape), strict=True):
            self.f.store(t.vector("f"), value, place, t.itemsize)

    def _transfer_each(self) -> None:
        f = self.f
        with f.repeat(f.target.width if self.inward else self.lanes) as lane:
            source = lane
            if self.inward:
                last = f.sub(self.lanes, 1)
                source = f.select(f.icmp("slt", lane, last), lane, last)
            outside = f.gep(self.start, f.mul(source, self.lane_step))
            inside = f.gep(self.buffer, lane, f.target.scalar("f"))
            self._transfer_elements(0, outside, inside, 0, f.target.scalar("f"))

    def _transfer_elements(self, axis: int, outside: str, buffer: str, number: Operand, kind: str) -> None:
        """The elements along the axes from this one on; the first is at this place and has this number."""
        f = self.f
        if axis == len(self.shape):
            inside = self._in_buffer(buffer, number)
            source, sink = (outside, inside) if self.inward else (inside, outside)
            f.store(kind, f.load(kind, source, f.target.itemsize), sink, f.target.itemsize)
            return
        with f.repeat(self.shape[axis]) as i:
            place = f.gep(outside, f.mul(i, self.core_steps[axis]))
            further = f.add(number, f.mul(i, math.prod(self.shape[axis + 1 :])))
            self._transfer_elements(axis + 1, place, buffer, further, kind)

    def _in_rows(self) -> str:
        """Whether the block is full and each of its instances is contiguous, in C order."""
        return is_in_c_order(self.f, self.core_steps, self.shape, self.full)

    def _transfer_rows(self) -> None:
        """Pieces of `width` instances by at most `width` elements are transposed in registers."""
        f, width, pieces = self.f, self.f.target.width, self.size // self.f.target.width
        steps = [f.mul(self.lane_step, lane) for lane in range(width)]
        rows = [f.gep(self.start, step) for step in steps]
        if pieces > _UNROLLED:
            with f.repeat(pieces) as k:
                self._transfer_piece(rows, f.mul(k, width))
        else:
            for i in range(pieces):
                self._transfer_piece(rows, i * width)
        if self.size % width:  # the last piece overlaps the one before, rather than the edge
            self._transfer_piece(rows, max(0, self.size - width))

    def _transfer_piece(self, rows: Sequence[str], first: Operand) -> None:
        """`width` elements from number `first` on, or all if there are fewer."""
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
            for place, row in zip(self._outside(rows, first), rows_of(f, columns), strict=True):
                store_row(f, row, place, count)

    def _inside(self, first: Operand) -> list[str]:
        count = min(self.f.target.width, self.size)
        if self.order:
            return [self._in_buffer(self.buffer, self.f.add(first, k)) for k in range(count)]
        start = self._in_buffer(self.buffer, first)
        return [self.f.address(start, k) for k in range(count)]

    def _in_buffer(self, buffer: str, number: Operand) -> str:
        return vector_address(self.f, buffer, self.order, number)

    def _outside(self, rows: Sequence[str], first: Operand) -> list[str]:
        """The addresses of elements number `first`."""
        return [self.f.gep(row, first, self.f.target.scalar("f")) for row in rows]


def vector_address(f: VectorEmitter, buffer: str, order: str, number: Operand) -> str:
    """The address of an element's vector in a buffer; `order` as in `Transfer`."""
    if not order:
        return f.address(buffer, number, "i64")
    integer = f.target.scalar("i")
    return f.address(buffer, f.load(integer, f.gep(order, number, integer)))


def is_in_c_order(f: VectorEmitter, steps: Sequence[str], shape: Sequence[int], test: str) -> str:
    """Whether, besides, the steps along the axes are those of a contiguous array in C order."""
    for axis, step in enumerate(steps):
        test = f.and_(test, f.icmp("eq", step, math.prod(shape[axis + 1 :]) * f.target.itemsize))
    return test


def addresses(f: VectorEmitter, base: str, steps: Sequence[str], shape: Shape) -> list[str]:
    """The addresses of all elements, in C order."""
    return [ArgumentElement(f, base, steps, index)() for index in np.ndindex(*shape)]
