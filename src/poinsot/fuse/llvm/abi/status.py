"""What a kernel tells about floating-point numbers: NaNs that it made, and nothing else."""

from collections.abc import Sequence

from poinsot.fuse.llvm.lowering import Function


class NaNs:
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
    nans = NaNs(f)
    for value in values:
        nans.look(value)
    return nans.mask()


def save_flags(f: Function) -> str | None:
    """Where the processor's floating-point status is kept meanwhile."""
    if f.target.processor == "x86":
        f.frame.entry.append("  %flags = alloca i32, align 4")
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


def raise_invalid(f: Function, room: str) -> None:
    """As 0/0 does; `room`: for a number."""
    scalar = f.target.scalar("f")
    f.line(f"store volatile {scalar} 0.0, ptr {room}")
    zero = f.op(f"load volatile {scalar}, ptr {room}")
    f.line(f"store volatile {scalar} {f.op(f'fdiv {scalar} {zero}, {zero}')}, ptr {room}")
