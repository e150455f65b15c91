"""Results that are more than the caches hold go straight to memory, in whole lines of the cache.

The instances of a block lie one after the other in memory, and so do blocks. Where an instance does not end with a
line, the next one begins in it. So in the buffer of results, the first elements of the next lane are put behind the
last ones of each; the last line of a block waits for the next block.

Lines that are known are written while the rest is computed: memory takes them in the meantime.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from poinsot.fuse.llvm.abi.packing import columns_at, elements_of, store_past_caches
from poinsot.fuse.llvm.abi.transfer import either, is_in_c_order, unless, vector_of
from poinsot.fuse.llvm.lowering import Function, Ref, Repeat


@dataclass
class Lines:
    """An output of `size` elements an instance that is written so, if `goes`; `base` is the address of the first.

    `before`: how many elements come before the first line that begins in an instance, for each lane, or once if all are
    alike. Where they differ, `numbers` are before, before + 1, ... for each: where the elements of a line lie in two
    vectors. `waiting`: the last line of the block before.
    """

    f: Function
    base: str
    size: int
    goes: str
    before: Sequence[str]
    numbers: Sequence[str]
    waiting: str
    buffer: str = ""  # of results
    order: str = ""  # a table: in which of its vectors each element lies, if not one after the other
    behind: int = 0  # the vector from which on those of the next lane lie

    @property
    def beyond(self) -> int:
        """How many elements of the next lane may be in a lane's last line."""
        return (2 if self.numbers else 1) * self.f.target.width

    @property
    def pairs(self) -> int:
        """How many pairs of lines every lane has, but for the last lines."""
        return max(0, (self.size // self.f.target.width - 1) // 2)

    def elements(self, pair: int) -> tuple[int, int]:
        """From which element to which one a pair of lines may reach, wherever instances begin in a line."""
        return 2 * pair * self.f.target.width, (2 * pair + 3) * self.f.target.width

    def write_pairs(self, start: str, chosen: Sequence[int]) -> None:
        """These pairs of the block that starts there."""
        f, width = self.f, self.f.target.width
        for pair, count in runs(chosen):
            with Repeat(f, str(count)) as k:
                first = f.op(f"add i64 {f.op(f'mul i64 {k}, {2 * width}')}, {2 * pair * width}")
                for line in zip(*self._lines(first, 2), *self._places(start, first, 2), strict=True):
                    for value, place in zip(line[:2], line[2:], strict=True):
                        store_past_caches(f, value, place)

    def write_rest(self, start: str, number: str, gone: set[int]) -> None:
        """All that is left of a block, which begins with the instance of this number."""
        width = self.f.target.width
        self._put_behind()
        self._write_first(start, number)
        self.write_pairs(start, sorted(set(range(self.pairs)) - gone))
        for k in range(2 * self.pairs, self.size // width + bool(self.size % width)):
            (values,), (places,) = self._lines(str(k * width), 1), self._places(start, str(k * width), 1)
            for lane, (value, place) in enumerate(zip(values, places, strict=True)):
                self._write_last(lane, k, value, place)

    def _put_behind(self) -> None:
        """The first elements of each lane behind the last ones of the lane before."""
        f, kind, width = self.f, self.f.target.vector("f"), self.f.target.width
        lanes = ", ".join(f"i32 {min(lane + 1, width - 1)}" for lane in range(width))
        for k in range(self.beyond):
            value = f.fetch(self._vector(str(k)), "f").text
            value = f.op(f"shufflevector {kind} {value}, {kind} poison, <{width} x i32> <{lanes}>")
            f.store(self.buffer, self.behind + k, Ref(value, "f", False))

    def _write_first(self, start: str, number: str) -> None:
        """The elements before the first line: at the end of the one that waits, unless it is the first block."""
        f, t = self.f, self.f.target
        begins = f.op(f"icmp eq i64 {number}, 0")
        here = f.op(f"getelementptr i8, ptr {self.waiting}, i64 {f.op(f'sub i64 {t.size}, {self._bytes(0)}')}")
        sink = f.op(f"select i1 {begins}, ptr {start}, ptr {here}")

        def write() -> None:
            with Repeat(f, self.before[0]) as k:
                self._copy(self._vector(k), f.op(f"getelementptr {t.scalar('f')}, ptr {sink}, i64 {k}"))
            unless(f, begins, line)

        def line() -> None:
            store_past_caches(f, f.fetch(self.waiting, "f").text, self._last_line(start))

        either(f, f.op(f"icmp ne i64 {self.before[0]}, 0"), write)

    def _write_last(self, lane: int, k: int, value: str, place: str) -> None:
        """Line number k of a lane, one of its last: if it begins there at all, and is whole."""
        f, t = self.f, self.f.target
        before = self.before[lane % len(self.before)]
        write, left = partial(store_past_caches, f, value, place), self.size - k * t.width  # elements
        if lane == t.width - 1:
            wait = partial(f.store, self.waiting, 0, Ref(value, "f", False))
            whole = f.op(f"icmp sle i64 {before}, {left - t.width}")
            write = partial(either, f, whole, write, wait)
        if left >= t.width:
            write()
        else:
            either(f, f.op(f"icmp slt i64 {before}, {left}"), write)

    def end(self, total: str) -> None:
        """All blocks are computed: write what waits."""
        f, t = self.f, self.f.target
        complete = f.op(f"and i64 {total}, {-t.width}")
        stop = f.op(f"getelementptr i8, ptr {self.base}, i64 {f.op(f'mul i64 {complete}, {self.size * t.itemsize}')}")
        count, first = f.op(f"sub i64 {t.width}, {self.before[0]}"), self._last_line(stop)

        def write() -> None:
            with Repeat(f, count) as k:
                source, sink = (f.op(f"getelementptr {t.scalar('f')}, ptr {x}, i64 {k}") for x in (self.waiting, first))
                self._copy(source, sink)

        some = f.op(f"and i1 {f.op(f'icmp ne i64 {self.before[0]}, 0')}, {f.op(f'icmp ne i64 {complete}, 0')}")
        either(f, f.op(f"and i1 {self.goes}, {some}"), write)

    def _last_line(self, stop: str) -> str:
        """Where the line begins in which a block ends that stops there."""
        return self.f.op(
            f"getelementptr i8, ptr {stop}, i64 {self.f.op(f'sub i64 {self._bytes(0)}, {self.f.target.size}')}"
        )

    def _copy(self, source: str, sink: str) -> None:
        """One element."""
        kind = self.f.target.scalar("f")
        self.f.line(f"store {kind} {self.f.op(f'load {kind}, ptr {source}')}, ptr {sink}")

    def _bytes(self, lane: int) -> str:
        """Those before the first line."""
        return self.f.op(f"mul i64 {self.before[lane]}, {self.f.target.itemsize}")

    def _lines(self, first: str, count: int) -> list[list[str]]:
        """So many lines of each lane, from the one on that begins so many elements after its first."""
        f, width = self.f, self.f.target.width
        if not self.numbers:
            first = f.op(f"add i64 {first}, {self.before[0]}")
        starts = [f.op(f"add i64 {first}, {k * width}") for k in range(count + bool(self.numbers))]
        tiles = [columns_at(f, [self._vector(f.op(f"add i64 {start}, {k}")) for k in range(width)]) for start in starts]
        if not self.numbers:
            return tiles
        return [[elements_of(f, *each) for each in zip(*two, self.numbers, strict=True)] for two in pairwise(tiles)]

    def _places(self, start: str, first: str, count: int) -> list[list[str]]:
        """Where these lines go."""
        f, t = self.f, self.f.target
        rows = [self._bytes(lane) for lane in range(len(self.before))] * (t.width // len(self.before))
        rows = [f.op(f"getelementptr i8, ptr {start}, i64 {row}") for row in rows]
        further = [f.op(f"mul i64 {first}, {t.itemsize}")]
        further += [f.op(f"add i64 {further[0]}, {k * t.size}") for k in range(1, count)]
        steps = [[f.op(f"add i64 {x}, {lane * self.size * t.itemsize}") for lane in range(t.width)] for x in further]
        return [[f.op(f"getelementptr i8, ptr {row}, i64 {x}") for row, x in zip(rows, s, strict=True)] for s in steps]

    def _vector(self, element: str) -> str:
        return vector_of(self.f, self.buffer, self.order, element)


def lines_of(f: Function, base: str, steps: Sequence[str], shape: tuple[int, ...], much: str) -> Lines | None:
    """Those of an output with these steps along the batch and its own axes, if it is `much`; none if it cannot be."""
    t, size = f.target, math.prod(shape)
    alike = size % t.width == 0
    if size < 5 * t.width or t.size < 32 or not (alike or (t.processor == "x86" and t.size == 64)):
        return None
    before, numbers, begin = [], [], f.op(f"ptrtoint ptr {base} to i64")
    odd = f.op(f"and i64 {begin}, {t.itemsize - 1}")
    goes = f.op(f"and i1 {is_in_c_order(f, steps, (1, *shape), much)}, {f.op(f'icmp eq i64 {odd}, 0')}")
    for lane in range(1 if alike else t.width):
        place = f.op(f"add i64 {begin}, {lane * size * t.itemsize}")
        left = f.op(f"and i64 {f.op(f'sub i64 0, {place}')}, {t.size - 1}")
        before.append(f.op(f"udiv i64 {left}, {t.itemsize}"))
        if not alike:
            first = before[-1] if t.float64 else f.op(f"trunc i64 {before[-1]} to i32")
            following = ", ".join(f"{t.scalar('i')} {k}" for k in range(t.width))
            numbers.append(f.op(f"add {t.vector('i')} {f.vector(Ref(first, 'i', True))}, <{following}>"))
    return Lines(f, base, size, goes, before, numbers, f.allocate(2))


def runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending numbers as runs without gaps: where each begins, and how long it is."""
    starts = [k for i, k in enumerate(numbers) if not i or numbers[i - 1] != k - 1]
    ends = [k for i, k in enumerate(numbers) if i + 1 == len(numbers) or numbers[i + 1] != k + 1]
    return [(first, last - first + 1) for first, last in zip(starts, ends, strict=True)]
