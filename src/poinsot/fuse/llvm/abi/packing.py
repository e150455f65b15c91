"""Rows of memory, one per instance, to vectors over the instances, and back: transposed in registers.

A row of n elements is one vector of n lanes rounded up to a power of two. Rows shorter than a register are packed: n
registers hold `width` rows, register v the rows v, v + n, v + 2n, ...
"""

from collections.abc import Sequence

from poinsot.fuse.llvm.emitter import Typed, literal_vector
from poinsot.fuse.llvm.values import VectorEmitter


def load_row(f: VectorEmitter, address: str, count: int) -> str:
    """The `count` elements at an address; no others are touched."""
    kind, size = _kind(f, count)
    if count == size:
        return f.load(kind, address, f.target.itemsize)
    name, align = f"masked.load.v{size}f{f.target.bits}.p0", ("i32", f.target.itemsize)
    return f.intrinsic(kind, name, ("ptr", address), align, _first_lanes(size, count), (kind, "zeroinitializer"))


def store_row(f: VectorEmitter, row: str, address: str, count: int) -> None:
    kind, size = _kind(f, count)
    if count == size:
        f.store(kind, row, address, f.target.itemsize)
        return
    name, align = f"masked.store.v{size}f{f.target.bits}.p0", ("i32", f.target.itemsize)
    f.intrinsic("void", name, (kind, row), ("ptr", address), align, _first_lanes(size, count))


def elements_of(f: VectorEmitter, row: str, following: str, numbers: str) -> str:
    """The elements with these numbers, a vector of integers, of two rows, one after the other: on x86, 64 bytes."""
    kind, name = f.target.vector("f"), f"x86.avx512.vpermi2var.p{'d' if f.target.float64 else 's'}.512"
    return f.intrinsic(kind, name, (kind, row), (f.target.vector("i"), numbers), (kind, following))


def _kind(f: VectorEmitter, count: int) -> tuple[str, int]:
    size = power_of_two(count)
    return f"<{size} x {f.target.scalar('f')}>", size


def power_of_two(count: int) -> int:
    """The least power of two that is not less."""
    return 1 << (count - 1).bit_length()


def _first_lanes(size: int, count: int) -> Typed:
    return f"<{size} x i1>", literal_vector("i1", ["true" if k < count else "false" for k in range(size)])


def columns_of(f: VectorEmitter, rows: Sequence[str], count: int) -> list[str]:
    """From `width` rows of `count` elements, at most `width`, to `count` vectors over the rows."""
    n, scalar = power_of_two(count), f.target.scalar("f")
    size = n
    while size < f.target.width:
        pairs = [(rows[g + v], rows[g + n + v]) for g in range(0, len(rows), 2 * n) for v in range(n)]
        rows = [f.shuffle(a, b, f"<{size} x {scalar}>", range(2 * size)) for a, b in pairs]
        size *= 2
    return _transposed(f, rows)[:count]


def columns_at(f: VectorEmitter, addresses: Sequence[str]) -> list[str]:
    """The same from rows of `width` elements in memory: halves of rows are joined as they are loaded."""
    width, scalar = f.target.width, f.target.scalar("f")
    half, part, rows = width // 2, f"<{width // 2} x {scalar}>", list[str]()
    for first in (0, half):
        places = [f.gep(address, first, scalar) for address in addresses]
        parts = [f.load(part, place, f.target.itemsize) for place in places]
        rows += [f.shuffle(a, b, part, range(width)) for a, b in zip(parts[:half], parts[half:], strict=True)]
    return _transposed(f, rows, half)


def rows_of(f: VectorEmitter, columns: Sequence[str]) -> list[str]:
    """From at most `width` vectors over the rows to `width` rows."""
    n, width, vector = power_of_two(len(columns)), f.target.width, f.target.vector("f")
    columns = _transposed(f, [*columns, *["zeroinitializer"] * (n - len(columns))])
    if n == width:
        return columns
    parts = [range(first, first + n) for first in range(0, width, n)]
    return [f.shuffle(column, "poison", vector, part) for part in parts for column in columns]


def _transposed(f: VectorEmitter, rows: Sequence[str], size: int | None = None) -> list[str]:
    """Squares side by side, the rows and columns of each exchanged, in log2(n) rounds; or in parts of this size."""
    rows, width, vector, distance = list(rows), f.target.width, f.target.vector("f"), 1
    while distance < (size or len(rows)):
        upper = [width + k - distance if k & distance else k for k in range(width)]
        lower = [width + k if k & distance else k + distance for k in range(width)]
        for i in (i for i in range(len(rows)) if not i & distance):
            a, b = rows[i], rows[i | distance]
            rows[i], rows[i | distance] = f.shuffle(a, b, vector, upper), f.shuffle(a, b, vector, lower)
        distance *= 2
    return rows
