"""Rows of memory, one an instance, to vectors over the instances, and back: transposed in registers.

A row of n elements is one vector of n lanes rounded up to a power of two. Shorter ones than a register go side by side:
of `width` rows, n registers hold them all, number v the rows v, v + n, v + 2n, ...
"""

from collections.abc import Sequence

from poinsot.fuse.llvm.lowering import Function


def load_row(f: Function, address: str, count: int) -> str:
    """The `count` elements at an address; no others are touched."""
    kind, size = _kind(f, count)
    if count == size:
        return f.op(f"load {kind}, ptr {address}, align {f.target.itemsize}")
    name, masks = f"llvm.masked.load.v{size}f{f.target.bits}.p0", f"<{size} x i1>"
    f.module.declarations[name] = f"declare {kind} @{name}(ptr, i32, {masks}, {kind})"
    mask = _first_lanes(size, count)
    return f.op(f"call {kind} @{name}(ptr {address}, i32 {f.target.itemsize}, {masks} {mask}, {kind} zeroinitializer)")


def store_row(f: Function, row: str, address: str, count: int) -> None:
    kind, size = _kind(f, count)
    if count == size:
        f.line(f"store {kind} {row}, ptr {address}, align {f.target.itemsize}")
        return
    name, masks = f"llvm.masked.store.v{size}f{f.target.bits}.p0", f"<{size} x i1>"
    f.module.declarations[name] = f"declare void @{name}({kind}, ptr, i32, {masks})"
    mask = _first_lanes(size, count)
    f.line(f"call void @{name}({kind} {row}, ptr {address}, i32 {f.target.itemsize}, {masks} {mask})")


def store_past_caches(f: Function, row: str, address: str) -> None:
    """A whole vector, to a multiple of its size, straight to memory."""
    f.module.declarations["!1"] = "!1 = !{i32 1}"
    kind = f.target.vector("f")
    f.line(f"store {kind} {row}, ptr {address}, align {f.target.size}, !nontemporal !1")


def elements_of(f: Function, row: str, following: str, numbers: str) -> str:
    """Of two rows, one after the other, the elements with these numbers, a vector of integers: on x86, 64 bytes."""
    t, letter = f.target, "d" if f.target.float64 else "s"
    kind, integers, name = t.vector("f"), t.vector("i"), f"llvm.x86.avx512.vpermi2var.p{letter}.512"
    f.module.declarations[name] = f"declare {kind} @{name}({kind}, {integers}, {kind})"
    return f.op(f"call {kind} @{name}({kind} {row}, {integers} {numbers}, {kind} {following})")


def _kind(f: Function, count: int) -> tuple[str, int]:
    size = power_of_two(count)
    return f"<{size} x {f.target.scalar('f')}>", size


def power_of_two(count: int) -> int:
    """The least power of two that is not less."""
    return 1 << (count - 1).bit_length()


def _first_lanes(size: int, count: int) -> str:
    return "<" + ", ".join(f"i1 {'true' if k < count else 'false'}" for k in range(size)) + ">"


def columns_of(f: Function, rows: Sequence[str], count: int) -> list[str]:
    """From `width` rows of `count` elements, at most `width`, to as many vectors over the rows."""
    n, scalar = power_of_two(count), f.target.scalar("f")
    size = n
    while size < f.target.width:
        kind, both = f"<{size} x {scalar}>", ", ".join(f"i32 {k}" for k in range(2 * size))
        pairs = [(rows[g + v], rows[g + n + v]) for g in range(0, len(rows), 2 * n) for v in range(n)]
        rows = [f.op(f"shufflevector {kind} {a}, {kind} {b}, <{2 * size} x i32> <{both}>") for a, b in pairs]
        size *= 2
    return _transposed(f, rows)[:count]


def columns_at(f: Function, addresses: Sequence[str]) -> list[str]:
    """The same from rows of `width` elements in memory: halves of rows are put together as they are loaded."""
    width, scalar = f.target.width, f.target.scalar("f")
    half, part = width // 2, f"<{width // 2} x {scalar}>"
    both, rows = ", ".join(f"i32 {k}" for k in range(width)), []
    for first in (0, half):
        places = [f.op(f"getelementptr {scalar}, ptr {address}, i64 {first}") for address in addresses]
        parts = [f.op(f"load {part}, ptr {place}, align {f.target.itemsize}") for place in places]
        pairs = zip(parts[:half], parts[half:], strict=True)
        rows += [f.op(f"shufflevector {part} {a}, {part} {b}, <{width} x i32> <{both}>") for a, b in pairs]
    return _transposed(f, rows, half)


def rows_of(f: Function, columns: Sequence[str]) -> list[str]:
    """From at most `width` vectors over the rows to `width` rows."""
    n, width, vector = power_of_two(len(columns)), f.target.width, f.target.vector("f")
    columns = _transposed(f, [*columns, *["zeroinitializer"] * (n - len(columns))])
    if n == width:
        return columns
    parts = [", ".join(f"i32 {k}" for k in range(first, first + n)) for first in range(0, width, n)]
    return [f.op(f"shufflevector {vector} {c}, {vector} poison, <{n} x i32> <{p}>") for p in parts for c in columns]


def _transposed(f: Function, rows: Sequence[str], size: int | None = None) -> list[str]:
    """Squares side by side, the rows and columns of each exchanged, in log2(n) rounds; or in parts of this size."""
    rows, width, vector, distance = list(rows), f.target.width, f.target.vector("f"), 1

    def shuffle(a: str, b: str, lanes: list[int]) -> str:
        mask = ", ".join(f"i32 {lane}" for lane in lanes)
        return f.op(f"shufflevector {vector} {a}, {vector} {b}, <{width} x i32> <{mask}>")

    while distance < (size or len(rows)):
        for i in (i for i in range(len(rows)) if not i & distance):
            a, b = rows[i], rows[i | distance]
            rows[i] = shuffle(a, b, [width + k - distance if k & distance else k for k in range(width)])
            rows[i | distance] = shuffle(a, b, [width + k if k & distance else k + distance for k in range(width)])
        distance *= 2
    return rows
