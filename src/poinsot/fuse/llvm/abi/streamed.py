"""Streamed outputs: results that exceed the caches go straight to memory, in whole cache lines (non-temporal stores).

The instances of a block are contiguous in memory, and so are blocks. Where an instance does not end with a line, the
next one begins in it. So in the buffer of results, the last elements of each lane are followed by the first elements of
the next lane; the last line of a block waits for the next block.

Lines that are complete are written while the rest is computed: memory takes them in the meantime.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from poinsot.fuse.llvm.abi.packing import columns_at, elements_of
from poinsot.fuse.llvm.abi.transfer import is_in_c_order, vector_address
from poinsot.fuse.llvm.emitter import Operand, literal_vector
from poinsot.fuse.llvm.values import Ref, VectorEmitter


@dataclass
class StreamedOutput:
    """An output of `size` elements per instance that is streamed if `streams`; `base` is the address of the first.

    `before`: how many elements precede the first line that begins in an instance, for each lane, or once if that is the
    same for all. Where they differ, `numbers` are before, before + 1, ... for each lane: the places of a line's
    elements in two vectors. `pending`: memory for the last line of the previous block.
    """

    f: VectorEmitter
    base: str
    size: int
    streams: str
    before: Sequence[str]
    numbers: Sequence[str]
    pending: str
    buffer: str = ""  # of results
    order: str = ""  # a table: the vector of the buffer that holds each element, if they are not in order
    behind: int = 0  # the number of the first vector with elements of the next lane

    @property
    def beyond(self) -> int:
        """How many elements of the next lane may be in a lane's last line."""
        return (2 if self.numbers else 1) * self.f.target.width

    @property
    def pairs(self) -> int:
        """How many pairs of lines every lane has, not counting the last lines."""
        return max(0, (self.size // self.f.target.width - 1) // 2)

    def elements(self, pair: int) -> tuple[int, int]:
        """From which element to which one a pair of lines may reach, wherever instances begin in a line."""
        return 2 * pair * self.f.target.width, (2 * pair + 3) * self.f.target.width

    def write_pairs(self, start: str, pairs: Sequence[int]) -> None:
        """These pairs of lines of the block that starts there."""
        f, width = self.f, self.f.target.width
        for pair, count in runs(pairs):
            with f.repeat(count) as k:
                first = f.add(f.mul(k, 2 * width), 2 * pair * width)
                for line in zip(*self._lines(first, 2), *self._places(start, first, 2), strict=True):
                    for value, place in zip(line[:2], line[2:], strict=True):
                        self._stream(value, place)

    def write_rest(self, start: str, number: str, gone: set[int]) -> None:
        """All that is left of a block, which begins with the instance of this number."""
        width = self.f.target.width
        self._append_next_lane()
        self._write_first(start, number)
        self.write_pairs(start, sorted(set(range(self.pairs)) - gone))
        for k in range(2 * self.pairs, self.size // width + bool(self.size % width)):
            (values,), (places,) = self._lines(k * width, 1), self._places(start, k * width, 1)
            for lane, (value, place) in enumerate(zip(values, places, strict=True)):
                self._write_last(lane, k, value, place)

    def _append_next_lane(self) -> None:
        """The first elements of each lane follow the last ones of the lane before."""
        f, width = self.f, self.f.target.width
        lanes = [min(lane + 1, width - 1) for lane in range(width)]
        for k in range(self.beyond):
            value = f.shuffle(f.read_at(self._vector(k), "f").text, "poison", f.target.vector("f"), lanes)
            f.write(self.buffer, self.behind + k, Ref(value, "f", False))

    def _write_first(self, start: str, number: str) -> None:
        """The elements before the first line: at the end of the pending one, unless it is the first block."""
        f, t = self.f, self.f.target
        begins = f.icmp("eq", number, 0)
        here = f.gep(self.pending, f.sub(t.size, self._bytes(0)))
        sink = f.select(begins, start, here, "ptr")
        with f.when(f.icmp("ne", self.before[0], 0)):
            with f.repeat(self.before[0]) as k:
                self._copy(self._vector(k), f.gep(sink, k, t.scalar("f")))
            with f.unless(begins):
                self._stream(f.read_at(self.pending, "f").text, self._last_line(start))

    def _write_last(self, lane: int, k: int, value: str, place: str) -> None:
        """Line number k of a lane, one of its last: if it begins there at all."""
        f, width, before = self.f, self.f.target.width, self.before[lane % len(self.before)]
        left = self.size - k * width  # elements
        complete = f.icmp("sle", before, left - width) if lane == width - 1 else ""
        if left >= width:
            self._write_or_keep(complete, value, place)
        else:
            with f.when(f.icmp("slt", before, left)):
                self._write_or_keep(complete, value, place)

    def _write_or_keep(self, complete: str, value: str, place: str) -> None:
        """A line; if there is a test, and it is not complete, it waits for the next block."""
        if not complete:
            self._stream(value, place)
            return
        with self.f.when(complete) as otherwise:
            self._stream(value, place)
            otherwise()
            self.f.write(self.pending, 0, Ref(value, "f", False))

    def end(self, total: str) -> None:
        """All blocks are computed: write the pending line."""
        f, t = self.f, self.f.target
        complete = f.and_(total, -t.width, "i64")
        stop = f.gep(self.base, f.mul(complete, self.size * t.itemsize))
        count, first = f.sub(t.width, self.before[0]), self._last_line(stop)
        some = f.and_(f.icmp("ne", self.before[0], 0), f.icmp("ne", complete, 0))
        with f.when(f.and_(self.streams, some)), f.repeat(count) as k:
            source, sink = (f.gep(x, k, t.scalar("f")) for x in (self.pending, first))
            self._copy(source, sink)

    def _last_line(self, stop: str) -> str:
        """The address of the line in which a block ends that stops there."""
        return self.f.gep(stop, self.f.sub(self._bytes(0), self.f.target.size))

    def _stream(self, value: str, place: str) -> None:
        """A whole vector, to a multiple of its size."""
        self.f.store_nontemporal(self.f.target.vector("f"), value, place, self.f.target.size)

    def _copy(self, source: str, sink: str) -> None:
        """One element."""
        kind = self.f.target.scalar("f")
        self.f.store(kind, self.f.load(kind, source), sink)

    def _bytes(self, lane: int) -> str:
        """The bytes before the first line."""
        return self.f.mul(self.before[lane], self.f.target.itemsize)

    def _lines(self, first: Operand, count: int) -> list[list[str]]:
        """`count` lines of each lane, from the one that begins `first` elements after its first line."""
        f, width = self.f, self.f.target.width
        if not self.numbers:
            first = f.add(first, self.before[0])
        starts = [f.add(first, k * width) for k in range(count + bool(self.numbers))]
        tiles = [columns_at(f, [self._vector(f.add(start, k)) for k in range(width)]) for start in starts]
        if not self.numbers:
            return tiles
        return [[elements_of(f, *each) for each in zip(*two, self.numbers, strict=True)] for two in pairwise(tiles)]

    def _places(self, start: str, first: Operand, count: int) -> list[list[str]]:
        """Where these lines go."""
        f, t = self.f, self.f.target
        begins = [self._bytes(lane) for lane in range(len(self.before))] * (t.width // len(self.before))
        begins = [f.gep(start, begin) for begin in begins]
        further = [f.mul(first, t.itemsize)]
        further += [f.add(further[0], k * t.size) for k in range(1, count)]
        steps = [[f.add(x, lane * self.size * t.itemsize) for lane in range(t.width)] for x in further]
        return [[f.gep(begin, x) for begin, x in zip(begins, line, strict=True)] for line in steps]

    def _vector(self, element: Operand) -> str:
        return vector_address(self.f, self.buffer, self.order, element)


def streamed_output(
    f: VectorEmitter, base: str, steps: Sequence[str], shape: tuple[int, ...], much: str
) -> StreamedOutput | None:
    """An output with these steps along the batch and its own axes, streamed if it is `much`; None if it cannot be."""
    t, size = f.target, math.prod(shape)
    whole_lines = size % t.width == 0
    if size < 5 * t.width or t.size < 32 or not (whole_lines or (t.processor == "x86" and t.size == 64)):
        return None
    before, numbers, begin = [], [], f.ptrtoint(base)
    odd = f.and_(begin, t.itemsize - 1, "i64")
    streams = f.and_(is_in_c_order(f, steps, (1, *shape), much), f.icmp("eq", odd, 0))
    for lane in range(1 if whole_lines else t.width):
        place = f.add(begin, lane * size * t.itemsize)
        left = f.and_(f.sub(0, place), t.size - 1, "i64")
        before.append(f.udiv(left, t.itemsize))
        if not whole_lines:
            first = before[-1] if t.float64 else f.trunc(before[-1], "i64", "i32")
            following = literal_vector(t.scalar("i"), range(t.width))
            numbers.append(f.add(f.vector(Ref(first, "i", True)), following, t.vector("i")))
    return StreamedOutput(f, base, size, streams, before, numbers, f.allocate(2))


def runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending numbers as runs without gaps: where each begins, and how long it is."""
    starts = [k for i, k in enumerate(numbers) if not i or numbers[i - 1] != k - 1]
    ends = [k for i, k in enumerate(numbers) if i + 1 == len(numbers) or numbers[i + 1] != k + 1]
    return [(first, last - first + 1) for first, last in zip(starts, ends, strict=True)]


def fence(f: VectorEmitter) -> None:
    """Streamed results are visible to other threads from now on."""
    if f.target.processor == "x86":
        f.intrinsic("void", "x86.sse.sfence")
