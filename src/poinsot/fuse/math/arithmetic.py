"""The arithmetic that the elementary functions are written in, and the small steps that they share.

Double-double steps: Dekker, Numer. Math. 18 (1971); Muller et al., Handbook of Floating-Point Arithmetic, chapter 4.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias, TypeVar, cast

from poinsot.fuse.math.coefficients import Coefficients

Result = TypeVar("Result")


class Vector(Protocol):
    """One number per lane: floats, integers of the same width, or truth values. Python numbers mix in.

    Floats have + - * /; integers + - * & | ^ << >>, which wrap around (>> keeps the sign); truth values & | ~.
    """

    def __neg__(self) -> Vector: ...
    def __invert__(self) -> Vector: ...
    def __add__(self, other: Operand, /) -> Vector: ...
    def __radd__(self, other: Operand, /) -> Vector: ...
    def __sub__(self, other: Operand, /) -> Vector: ...
    def __rsub__(self, other: Operand, /) -> Vector: ...
    def __mul__(self, other: Operand, /) -> Vector: ...
    def __rmul__(self, other: Operand, /) -> Vector: ...
    def __truediv__(self, other: Operand, /) -> Vector: ...
    def __rtruediv__(self, other: Operand, /) -> Vector: ...
    def __lshift__(self, other: int, /) -> Vector: ...
    def __rshift__(self, other: int, /) -> Vector: ...
    def __and__(self, other: Operand, /) -> Vector: ...
    def __or__(self, other: Operand, /) -> Vector: ...
    def __xor__(self, other: Operand, /) -> Vector: ...
    def __lt__(self, other: Operand, /) -> Vector: ...
    def __le__(self, other: Operand, /) -> Vector: ...
    def __gt__(self, other: Operand, /) -> Vector: ...
    def __ge__(self, other: Operand, /) -> Vector: ...
    def __eq__(self, other: object, /) -> Vector: ...  # type: ignore[override]
    def __ne__(self, other: object, /) -> Vector: ...  # type: ignore[override]


Operand: TypeAlias = "Vector | float"


class Arithmetic(Protocol):
    """The operations that a compiler offers to the elementary functions.

    Every operation rounds once, as written: no reassociation and no contraction. `where` of two Python numbers gives a
    float.
    """

    float64: bool

    def fma(self, a: Operand, b: Operand, c: Operand) -> Vector: ...
    def sqrt(self, x: Vector) -> Vector: ...
    def abs(self, x: Vector) -> Vector: ...
    def rint(self, x: Vector) -> Vector: ...
    def floor(self, x: Vector) -> Vector: ...
    def trunc(self, x: Vector) -> Vector: ...
    def copysign(self, x: Vector, y: Vector) -> Vector: ...
    def where(self, mask: Vector, a: Operand, b: Operand) -> Vector: ...
    def bits(self, x: Vector) -> Vector: ...
    def from_bits(self, i: Vector) -> Vector: ...
    def to_int(self, x: Vector) -> Vector: ...
    def to_float(self, i: Vector) -> Vector: ...
    def shift_right_logical(self, i: Vector, k: int) -> Vector: ...
    def gather(self, table: tuple[float, ...], i: Vector) -> Vector: ...

    def slow_path(self, mask: Vector, default: Result, f: Callable[..., Result], *args: Vector) -> Result:
        """where(mask, f(self, *args), default), with f evaluated only if the mask holds in some lane.

        `default` and the result of f are one value each, or tuples of the same length.
        """
        ...


class Format(NamedTuple):
    """An IEEE 754 binary format, in terms of its bit patterns."""

    width: int
    fraction: int  # bits after the binary point
    bias: int  # of the exponent

    @property
    def precision(self) -> int:
        return self.fraction + 1

    @property
    def sign(self) -> int:
        """The sign bit, as a signed integer."""
        return -1 << (self.width - 1)

    @property
    def one(self) -> int:
        """The bit pattern of 1.0."""
        return self.bias << self.fraction

    @property
    def shifter(self) -> float:
        """1.5 * 2^fraction: adding it rounds a float to an integer, which then sits in the low bits."""
        return 1.5 * 2.0**self.fraction

    @property
    def smallest_normal(self) -> float:
        return 2.0 ** (1 - self.bias)


BINARY64 = Format(64, 52, 1023)
BINARY32 = Format(32, 23, 127)
INFINITY = float("inf")
NAN = float("nan")


def format_of(m: Arithmetic) -> Format:
    return BINARY64 if m.float64 else BINARY32


def pick(m: Arithmetic, coefficients: Coefficients) -> tuple[float, ...]:
    """The coefficients for the precision of m."""
    return coefficients.float64 if m.float64 else coefficients.float32


def pattern(m: Arithmetic, value: float) -> int:
    """The bit pattern of a positive constant."""
    integer, real = ("<q", "<d") if m.float64 else ("<i", "<f")
    return int(struct.unpack(integer, struct.pack(real, value))[0])


def within(m: Arithmetic, x: Vector, low: float, high: float) -> Vector:
    """low <= x < high for positive bounds, in one comparison of integers: positive floats are ordered as their bits."""
    sign, first, last = format_of(m).sign, pattern(m, low), pattern(m, high)
    return m.bits(x) + (-sign - first) < sign + (last - first)


def horner(m: Arithmetic, x: Vector, c: Sequence[float]) -> Vector:
    """c[0] + c[1] x + c[2] x^2 + ..., with one FMA per coefficient."""
    value = m.fma(x, c[-1], c[-2])
    for ck in reversed(c[:-2]):
        value = m.fma(x, value, ck)
    return value


def two_halves(m: Arithmetic, x: Vector, xx: Vector, c: Sequence[float]) -> Vector:
    """As `horner`, with even and odd powers separate and xx = x^2: one more operation, half the latency."""
    return m.fma(x, horner(m, xx, c[1::2]), horner(m, xx, c[0::2]))


def fast_two_sum(a: Operand, b: Operand) -> tuple[Vector, Vector]:
    """a + b = s + e exactly, if a is zero, or |a| >= |b|, or a is a multiple of the last place of b."""
    s = cast(Vector, a) + b
    return s, b - (s - a)


def two_sum(a: Operand, b: Operand) -> tuple[Vector, Vector]:
    """a + b = s + e exactly (Knuth)."""
    s = cast(Vector, a) + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(m: Arithmetic, a: Vector, b: Operand) -> tuple[Vector, Vector]:
    """a b = p + e exactly."""
    p = a * b
    return p, m.fma(a, b, -p)


def nearest_integer(m: Arithmetic, x: Vector, scale: float) -> tuple[Vector, Vector]:
    """n = rint(x scale) as a float, and as an integer in the low bits of the second result.

    The usual conversion to 64-bit integers is missing before AVX-512; adding the shifter works everywhere.
    """
    shifter = format_of(m).shifter
    shifted = m.fma(x, scale, shifter)
    return shifted - shifter, m.bits(shifted)


def power_of_two(m: Arithmetic, n: Vector) -> Vector:
    """2^n from the low bits of the integer n, for exponents of normal numbers."""
    f = format_of(m)
    return m.from_bits((n << f.fraction) + f.one)


def times_power_of_two(m: Arithmetic, x: Vector, n: Vector) -> Vector:
    """x 2^n from the low bits of the integer n, where x and the result are normal."""
    return m.from_bits(m.bits(x) + (n << format_of(m).fraction))


def flip(m: Arithmetic, x: Vector, sign: Vector) -> Vector:
    """x, negated where the integer `sign` has the sign bit (its other bits must be 0)."""
    return m.from_bits(m.bits(x) ^ sign)
