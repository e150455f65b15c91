"""What the processor is like, and one row an operation: its text in LLVM."""

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot.fuse.graph.nodes import Type


@dataclass(frozen=True)
class Target:
    """How wide a vector is, how precise its floats are, and how many there is room for."""

    width: int
    float64: bool = True
    processor: str = "x86"
    registers: int = 32

    @property
    def bits(self) -> int:
        return 64 if self.float64 else 32

    @property
    def itemsize(self) -> int:
        return self.bits // 8

    @property
    def size(self) -> int:
        """Bytes of a vector."""
        return self.width * self.itemsize

    def scalar(self, type_: Type) -> str:
        return {"f": "double" if self.float64 else "float", "i": f"i{self.bits}", "b": "i1"}[type_]

    def vector(self, type_: Type) -> str:
        return f"<{self.width} x {self.scalar(type_)}>"

    def literal(self, value: Any, type_: Type) -> str:
        if type_ == "b":
            return "true" if value else "false"
        if type_ == "i":
            return str(_wrapped(value, self.bits))
        if not self.float64:
            with np.errstate(over="ignore"):
                value = float(np.float32(value))
        return "0x" + struct.pack(">d", value).hex().upper()


def _wrapped(value: int, bits: int) -> int:
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


# One row an operation: the text after "%x = ". {T} is the type of the arguments, {R} of the result, {a}, {b} the
# arguments, {zero}, {one}, {two} and {ones} (true) constants of the arguments' type.
ROWS: dict[tuple[str, Type], str] = {
    ("add", "f"): "fadd {T} {a}, {b}",
    ("sub", "f"): "fsub {T} {a}, {b}",
    ("mul", "f"): "fmul {T} {a}, {b}",
    ("div", "f"): "fdiv {T} {a}, {b}",
    ("neg", "f"): "fneg {T} {a}",
    ("add", "i"): "add {T} {a}, {b}",
    ("sub", "i"): "sub {T} {a}, {b}",
    ("mul", "i"): "mul {T} {a}, {b}",
    ("neg", "i"): "sub {T} {zero}, {a}",
    ("bit_and", "i"): "and {T} {a}, {b}",
    ("bit_or", "i"): "or {T} {a}, {b}",
    ("bit_xor", "i"): "xor {T} {a}, {b}",
    ("shift_left", "i"): "shl {T} {a}, {b}",
    ("shift_right", "i"): "ashr {T} {a}, {b}",
    ("shift_right_logical", "i"): "lshr {T} {a}, {b}",
    ("less", "f"): "fcmp olt {T} {a}, {b}",
    ("less_equal", "f"): "fcmp ole {T} {a}, {b}",
    ("equal", "f"): "fcmp oeq {T} {a}, {b}",
    ("not_equal", "f"): "fcmp une {T} {a}, {b}",
    ("less", "i"): "icmp slt {T} {a}, {b}",
    ("less_equal", "i"): "icmp sle {T} {a}, {b}",
    ("equal", "i"): "icmp eq {T} {a}, {b}",
    ("not_equal", "i"): "icmp ne {T} {a}, {b}",
    ("and", "b"): "and {T} {a}, {b}",
    ("or", "b"): "or {T} {a}, {b}",
    ("xor", "b"): "xor {T} {a}, {b}",
    ("not", "b"): "xor {T} {a}, {ones}",
    ("to_float", "i"): "sitofp {T} {a} to {R}",
    ("to_float", "b"): "uitofp {T} {a} to {R}",
    ("to_int", "b"): "zext {T} {a} to {R}",
    ("truth", "i"): "icmp ne {T} {a}, {zero}",
    ("truth", "f"): "fcmp une {T} {a}, {zero}",
    ("bits", "f"): "bitcast {T} {a} to {R}",
    ("from_bits", "i"): "bitcast {T} {a} to {R}",
}

# Operations that are intrinsics of LLVM.
INTRINSICS: dict[tuple[str, Type], str] = {
    **{(op, "f"): op for op in ("sqrt", "floor", "rint", "trunc", "fma", "copysign", "minimum", "maximum")},
    ("abs", "f"): "fabs",
    ("minimum", "i"): "smin",
    ("maximum", "i"): "smax",
}

# Dividing by 0, or the least integer by -1, would stop the process. So {2} is b, or 1 where {1}: b is 0 or -1; there
# the quotient is a*b. {3} is the remainder, {7} whether it is of the wrong sign.
_REMAINDER = (
    "add {T} {b}, {one}", "icmp ult {T} {0}, {two}", "select {B} {1}, {T} {one}, {T} {b}", "srem {T} {a}, {2}",
    "xor {T} {3}, {2}", "icmp slt {T} {4}, {zero}", "icmp ne {T} {3}, {zero}", "and {B} {5}, {6}",
)  # fmt: skip

# Operations of several instructions, the last one giving the result; {0}, {1} are the results of the earlier ones.
SEQUENCES: dict[tuple[str, Type], Sequence[str]] = {
    # A float that no integer can hold gives some integer, not a poisoned program.
    ("to_int", "f"): ["fptosi {T} {a} to {R}", "freeze {R} {0}"],
    ("abs", "i"): ["sub {T} {zero}, {a}", "icmp slt {T} {a}, {zero}", "select {B} {1}, {T} {0}, {T} {a}"],
    ("modulo", "i"): [*_REMAINDER, "select {B} {7}, {T} {2}, {T} {zero}", "add {T} {3}, {8}"],
    ("floordiv", "i"): [
        *_REMAINDER, "sdiv {T} {a}, {2}", "zext {B} {7} to {T}", "sub {T} {8}, {9}",
        "mul {T} {a}, {b}", "select {B} {1}, {T} {11}, {T} {10}"],
}  # fmt: skip


SHIFTS = ("shift_left", "shift_right", "shift_right_logical")  # by how much is a part of the instruction
WITH_CONSTANTS = {
    op for table in (ROWS, SEQUENCES) for (op, _), row in table.items() if re.search("{(zero|one|ones|two)}", str(row))
}
