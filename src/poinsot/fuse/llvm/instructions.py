"""LLVM's text of each operation."""

import re
from collections.abc import Sequence

from poinsot.fuse.graph.nodes import Type

# Operations of one instruction: the text after "%x = ". {T} is the type of the arguments, {R} of the result, {a}, {b}
# the arguments, {zero}, {one}, {two} and {ones} (true) constants of the arguments' type. Unsigned integers have 32
# bits, the others are as wide as floats: {widen} and {narrow} convert between the two, {L} is an integer of 64 bits.
INSTRUCTIONS: dict[tuple[str, Type], str] = {
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
    ("held", "f"): "bitcast {T} {a} to {R}",
    ("add", "u"): "add {T} {a}, {b}",
    ("sub", "u"): "sub {T} {a}, {b}",
    ("mul", "u"): "mul {T} {a}, {b}",
    ("neg", "u"): "sub {T} {zero}, {a}",
    ("bit_and", "u"): "and {T} {a}, {b}",
    ("bit_or", "u"): "or {T} {a}, {b}",
    ("bit_xor", "u"): "xor {T} {a}, {b}",
    ("shift_left", "u"): "shl {T} {a}, {b}",
    ("shift_right", "u"): "lshr {T} {a}, {b}",
    ("less", "u"): "icmp ult {T} {a}, {b}",
    ("less_equal", "u"): "icmp ule {T} {a}, {b}",
    ("equal", "u"): "icmp eq {T} {a}, {b}",
    ("not_equal", "u"): "icmp ne {T} {a}, {b}",
    ("to_float", "u"): "uitofp {T} {a} to {R}",
    ("to_int", "u"): "{widen} {T} {a} to {R}",
    ("to_uint", "i"): "{narrow} {T} {a} to {R}",
    ("to_uint", "b"): "zext {T} {a} to {R}",
    ("truth", "u"): "icmp ne {T} {a}, {zero}",
}

# Operations that are intrinsic functions of LLVM.
INTRINSICS: dict[tuple[str, Type], str] = {
    **{(op, "f"): op for op in ("sqrt", "floor", "rint", "trunc", "fma", "copysign", "minimum", "maximum")},
    ("abs", "f"): "fabs",
    ("minimum", "i"): "smin",
    ("maximum", "i"): "smax",
    ("minimum", "u"): "umin",
    ("maximum", "u"): "umax",
}

# Dividing by 0, or the least integer by -1, would stop the process. So {2} is b, or 1 where {1}: b is 0 or -1; there
# the quotient is a*b. {3} is the remainder, {7} whether it has the wrong sign.
_REMAINDER = (
    "add {T} {b}, {one}", "icmp ult {T} {0}, {two}", "select {B} {1}, {T} {one}, {T} {b}", "srem {T} {a}, {2}",
    "xor {T} {3}, {2}", "icmp slt {T} {4}, {zero}", "icmp ne {T} {3}, {zero}", "and {B} {5}, {6}",
)  # fmt: skip

# Operations of several instructions, of which the last gives the result; {0}, {1} are the results of the earlier ones.
SEQUENCES: dict[tuple[str, Type], Sequence[str]] = {
    # A float out of an integer's range gives some integer, not a poisoned program.
    ("to_int", "f"): ["fptosi {T} {a} to {R}", "freeze {R} {0}"],
    ("to_uint", "f"): ["fptosi {T} {a} to {L}", "freeze {L} {0}", "trunc {L} {1} to {R}"],
    # Divided by 0, the result is 0, as in NumPy.
    **{(op, "u"): ["icmp eq {T} {b}, {zero}", "select {B} {0}, {T} {one}, {T} {b}", word + " {T} {a}, {1}",
                   "select {B} {0}, {T} {zero}, {T} {2}"] for op, word in (("floordiv", "udiv"), ("modulo", "urem"))},
    ("abs", "i"): ["sub {T} {zero}, {a}", "icmp slt {T} {a}, {zero}", "select {B} {1}, {T} {0}, {T} {a}"],
    ("modulo", "i"): [*_REMAINDER, "select {B} {7}, {T} {2}, {T} {zero}", "add {T} {3}, {8}"],
    ("floordiv", "i"): [
        *_REMAINDER, "sdiv {T} {a}, {2}", "zext {B} {7} to {T}", "sub {T} {8}, {9}",
        "mul {T} {a}, {b}", "select {B} {1}, {T} {11}, {T} {10}"],
}  # fmt: skip


SHIFTS = ("shift_left", "shift_right", "shift_right_logical")  # the distance is part of the instruction
WITH_CONSTANTS = {
    op
    for table in (INSTRUCTIONS, SEQUENCES)
    for (op, _), text in table.items()
    if re.search("{(zero|one|ones|two)}", str(text))
}
