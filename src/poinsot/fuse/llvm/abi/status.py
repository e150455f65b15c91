"""Floating-point status: a kernel reports NaNs that it made, and nothing else."""

from collections.abc import Sequence

from poinsot.fuse.llvm.emitter import LoopHead
from poinsot.fuse.llvm.values import VectorEmitter


class NaNs:
    """The lanes in which any of several values is NaN."""

    def __init__(self, f: VectorEmitter) -> None:
        self.f, self._mask, self._pending = f, "zeroinitializer", ""

    def check(self, value: str) -> None:
        """An unordered comparison checks two values at once."""
        if self._pending:
            self._compare(self._pending, value)
        self._pending = "" if self._pending else value

    def check_array(self, base: str, count: int) -> None:
        """An array of vectors in memory, eight per iteration."""
        self.mask()
        f, number, vector = self.f, self.f.number(), self.f.target.vector("f")
        head = LoopHead(f, f"check{number}")
        self._mask, i = head.carry(f.target.vector("b"), self._mask), head.carry("i64", 0)
        for k in range(8):
            at = f.add(f.mul(i, 8), k)
            at = f.intrinsic("i64", "umin.i64", ("i64", at), ("i64", count - 1)) if count % 8 else at
            self.check(f.load(vector, f.gep(base, at, vector), f.target.itemsize))
        following = f.add(i, 1)
        head.close(self._mask, following)
        f.branch(f.icmp("ult", following, -(-count // 8)), head.label, f"checked{number}")
        f.label(f"checked{number}")

    def check_row(self, place: str, step: str, count: int) -> None:
        """Vectors that are `step` bytes from each other."""
        self.mask()
        f, number = self.f, self.f.number()
        head = LoopHead(f, f"row{number}")
        self._mask, i = head.carry(f.target.vector("b"), self._mask), head.carry("i64", 0)
        value = f.load(f.target.vector("f"), f.gep(place, f.mul(i, step)), f.target.itemsize)
        self._compare(value, value)
        following = f.add(i, 1)
        head.close(self._mask, following)
        f.branch(f.icmp("ult", following, count), head.label, f"rows{number}")
        f.label(f"rows{number}")

    def mask(self) -> str:
        if self._pending:
            self._compare(self._pending, self._pending)
            self._pending = ""
        return self._mask

    def _compare(self, a: str, b: str) -> None:
        unordered = self.f.fcmp("uno", a, b, self.f.target.vector("f"))
        self._mask = self.f.or_(self._mask, unordered, self.f.target.vector("b"))


def any_nan(f: VectorEmitter, values: Sequence[str]) -> str:
    """The lanes in which any of the values is NaN."""
    nans = NaNs(f)
    for value in values:
        nans.check(value)
    return nans.mask()


def save_flags(f: VectorEmitter) -> str:
    """Where the processor's floating-point status is kept meanwhile."""
    if f.target.processor == "x86":
        flags = f.frame.entry.alloca("i32", 4)
        f.intrinsic("void", "x86.sse.stmxcsr", ("ptr", flags))
        return flags
    return f.intrinsic("i64", "aarch64.get.fpsr") if f.target.processor == "arm" else ""


def restore_flags(f: VectorEmitter, flags: str) -> None:
    if f.target.processor == "x86":
        f.intrinsic("void", "x86.sse.ldmxcsr", ("ptr", flags))
    elif f.target.processor == "arm":
        f.intrinsic("void", "aarch64.set.fpsr", ("i64", flags))


def raise_invalid(f: VectorEmitter, memory: str) -> None:
    """As 0/0 does; `memory`: for one number."""
    scalar = f.target.scalar("f")
    f.store(scalar, "0.0", memory, volatile=True)
    zero = f.load(scalar, memory, volatile=True)
    f.store(scalar, f.fdiv(zero, zero, scalar), memory, volatile=True)
