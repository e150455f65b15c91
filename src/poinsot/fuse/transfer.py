"""Between an argument of a loop, in any layout, and the buffer in which its elements are vectors over a block."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from .llvm import Function, Repeat
from .rows import columns_at, columns_of, elements_of, load_row, rows_of, store_past_caches, store_row

_WRITTEN_OUT = 4  # pieces; more of them stay a loop


@dataclass(frozen=True)
class Lines:
    """Lines of the cache that are written as a whole, past the caches, if `wanted`: none is read only to be written.

    `before`: how many elements come before the first whole line, for each lane. Where that differs between lanes,
    `numbers` are before, before + 1, ... for each: where the elements of a line lie in two pieces.
    """

    wanted: str
    before: Sequence[str]
    numbers: Sequence[str] = ()


@dataclass(frozen=True)
class Transfer:
    """A block of one argument: `start` is the address of its first instance, of `lanes` in use; `full` if that is all,
    `direct` if they lie side by side, moreover.

    Inwards, lanes beyond the last instance read that one again: their results are thrown away. Outwards, what is more
    than caches hold goes past them, by `lines`.
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
    lines: Lines | None = None
    order: str = ""  # a table: in which vector of the buffer each element lies, if not one after the other
    written: frozenset[int] = frozenset()  # pairs of lines that have gone past the caches already

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

    def goes_past_caches(self) -> str:
        """Whether the block will be written past the caches."""
        assert self.lines is not None
        return self.f.op(f"and i1 {self._in_rows()}, {self.lines.wanted}")

    def _in_rows(self) -> str:
        """Whether the block is full and each of its instances lies in one piece, in C order."""
        f, test = self.f, self.full
        for axis, step in enumerate(self.core_steps):
            dense = math.prod(self.shape[axis + 1 :]) * f.target.itemsize
            test = f.op(f"and i1 {test}, {f.op(f'icmp eq i64 {step}, {dense}')}")
        return test

    def _write_rows(self) -> None:
        """Pieces of `width` instances by at most `width` elements are transposed in registers."""
        f, width, pieces = self.f, self.f.target.width, self.size // self.f.target.width
        rows = self._rows()

        def write() -> None:
            if pieces > _WRITTEN_OUT:
                with Repeat(f, str(pieces)) as k:
                    self._write_piece(rows, f.op(f"mul i64 {k}, {width}"))
            else:
                for i in range(pieces):
                    self._write_piece(rows, str(i * width))
            if self.size % width:  # the last piece overlaps the one before, rather than the edge
                self._write_piece(rows, str(max(0, self.size - width)))

        if pieces > _WRITTEN_OUT and self.lines is not None:
            either(f, self.lines.wanted, partial(self._write_past_caches, rows, self.lines), write)
        else:
            write()

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

    def _write_past_caches(self, rows: Sequence[str], lines: Lines) -> None:
        """Pairs of lines: the two lines of a lane one after the other.

        No line may be written in both ways, or one waits for the other. So the first whole line and the last ones go
        through the caches, with what an instance has in lines that it shares.
        """
        f, width, done = self.f, self.f.target.width, self.elements(self.pairs)[0]
        self._write_piece(rows, "0")
        self._write_line(rows, lines, "0")
        self.write_pairs(sorted(set(range(self.pairs)) - self.written))
        self._write_line(rows, lines, str(done))
        with Repeat(f, str(-(-(self.size - done - width) // width))) as k:  # the last piece overlaps the one before
            first = f.op(f"add i64 {f.op(f'mul i64 {k}, {width}')}, {done + width}")
            self._write_piece(rows, f.intrinsic("umin.i64", "i64", "i64", first, str(self.size - width)))

    def _write_line(self, rows: Sequence[str], lines: Lines, first: str) -> None:
        """One of each lane, through the caches."""
        (found,) = self._lines(lines, first, 1)
        for place, line in zip(self._outside(rows, first, lines.before), found, strict=True):
            store_row(self.f, line, place, self.f.target.width)

    @property
    def pairs(self) -> int:
        """How many pairs of lines go past the caches: all but the first whole line, and the last one or two."""
        return (self.size // self.f.target.width - 3) // 2

    def elements(self, pair: int) -> tuple[int, int]:
        """From which element to which one a pair of lines may reach, wherever instances begin in a line."""
        return (2 * pair + 1) * self.f.target.width, (2 * pair + 4) * self.f.target.width

    def write_pairs(self, chosen: Sequence[int]) -> None:
        """These pairs of lines, which are known already, if the block is written past the caches."""
        assert self.lines is not None
        f, rows, width = self.f, self._rows(), self.f.target.width
        for pair, count in runs(chosen):
            with Repeat(f, str(count)) as k:
                first = f.op(f"add i64 {f.op(f'mul i64 {k}, {2 * width}')}, {self.elements(pair)[0]}")
                places = [self._outside(rows, x, self.lines.before) for x in (first, f.op(f"add i64 {first}, {width}"))]
                for lane in zip(*self._lines(self.lines, first, 2), *places, strict=True):
                    for line, place in zip(lane[:2], lane[2:], strict=True):
                        store_past_caches(f, line, place)

    def _lines(self, lines: Lines, first: str, count: int) -> list[list[str]]:
        """So many lines of each lane, which begin `first` elements after its first whole line."""
        f, width = self.f, self.f.target.width
        if not lines.numbers:
            first = f.op(f"add i64 {first}, {lines.before[0]}")
        starts = [f.op(f"add i64 {first}, {k * width}") for k in range(count + bool(lines.numbers))]
        tiles = [columns_at(f, self._inside(start)) for start in starts]
        if not lines.numbers:
            return tiles
        pairs = itertools.pairwise(tiles)
        return [[elements_of(f, *each) for each in zip(*pair, lines.numbers, strict=True)] for pair in pairs]

    def _rows(self) -> list[str]:
        """Where the instances of the block begin."""
        steps = [self.f.op(f"mul i64 {self.lane_step}, {lane}") for lane in range(self.f.target.width)]
        return [self.f.op(f"getelementptr i8, ptr {self.start}, i64 {step}") for step in steps]

    def _inside(self, first: str) -> list[str]:
        count = min(self.f.target.width, self.size)
        if self.order:
            return [self._in_buffer(self.buffer, self.f.op(f"add i64 {first}, {k}")) for k in range(count)]
        start = self._in_buffer(self.buffer, first)
        return [self.f.address(start, str(k)) for k in range(count)]

    def _in_buffer(self, buffer: str, number: str) -> str:
        """The address of an element's vector."""
        f, integer, kind = self.f, self.f.target.scalar("i"), "i64"
        if self.order:
            place = f.op(f"getelementptr {integer}, ptr {self.order}, i64 {number}")
            number, kind = f.op(f"load {integer}, ptr {place}"), integer
        return f.op(f"getelementptr {f.target.vector('f')}, ptr {buffer}, {kind} {number}")

    def _outside(self, rows: Sequence[str], first: str, before: Sequence[str] = ()) -> list[str]:
        """The addresses of elements number `first`; or of those so many after others."""
        f, kind = self.f, self.f.target.scalar("f")
        numbers = [f.op(f"add i64 {first}, {more}") for more in before] or [first]
        return [
            f.op(f"getelementptr {kind}, ptr {row}, i64 {n}")
            for row, n in zip(rows, itertools.cycle(numbers), strict=False)
        ]


def runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending numbers as runs without gaps: where each begins, and how long it is."""
    starts = [k for i, k in enumerate(numbers) if not i or numbers[i - 1] != k - 1]
    ends = [k for i, k in enumerate(numbers) if i + 1 == len(numbers) or numbers[i + 1] != k + 1]
    return [(first, last - first + 1) for first, last in zip(starts, ends, strict=True)]


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
