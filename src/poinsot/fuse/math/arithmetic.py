"""The abstract machine, and the small steps which all elementary functions share.

Double-double steps: Dekker, Numer. Math. 18 (1971); Muller et al., Handbook of Floating-Point Arithmetic, chapter 4.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from poinsot.fuse.math.coefficients import Coefficients


class Arithmetic(Protocol):
    """What a compiler offers. Values are vectors of floats, of integers of the same width, or of truth values.

    They carry Python's operators: + - * / on floats; + - * & | ^ << >> on integers, which wrap around (>> keeps the
    sign); comparisons; & | ~ on truth values. Python numbers mix in; `where` of two of them gives a float. Every
    operation rounds once, as written: no reassociation and no contraction.
    """

    float64: bool

    def fma(self, a: Any, b: Any, c: Any) -> Any: ...
    def sqrt(self, x: Any) -> Any: ...
    def abs(self, x: Any) -> Any: ...
    def rint(self, x: Any) -> Any: ...
    def floor(self, x: Any) -> Any: ...
    def trunc(self, x: Any) -> Any: ...
    def copysign(self, x: Any, y: Any) -> Any: ...
    def where(self, mask: Any, a: Any, b: Any) -> Any: ...
    def bits(self, x: Any) -> Any: ...
    def from_bits(self, i: Any) -> Any: ...
    def to_int(self, x: Any) -> Any: ...
    def to_float(self, i: Any) -> Any: ...
    def shift_right_logical(self, i: Any, k: int) -> Any: ...
    def gather(self, table: tuple[float, ...], i: Any) -> Any: ...

    def slow_path(self, mask: Any, default: Any, f: Callable[..., Any], *args: Any) -> Any:
        """where(mask, f(self, *args), default), with f evaluated only when a lane asks for it.

        `default` is a value, or a tuple of values when f returns a tuple.
        """
        ...


class Format(NamedTuple):
    """An IEEE 754 binary format, seen as integers."""

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


def pick(m: Arithmetic, table: Coefficients) -> tuple[float, ...]:
    """The table's entries for the machine's precision."""
    return table.float64 if m.float64 else table.float32


def pattern(m: Arithmetic, value: float) -> int:
    """The bit pattern of a positive constant."""
    integer, real = ("<q", "<d") if m.float64 else ("<i", "<f")
    return int(struct.unpack(integer, struct.pack(real, value))[0])


def within(m: Arithmetic, x: Any, low: float, high: float) -> Any:
    """low <= x < high for positive bounds, in one comparison of integers: positive floats are ordered as their bits."""
    sign, first, last = format_of(m).sign, pattern(m, low), pattern(m, high)
    return m.bits(x) + (-sign - first) < sign + (last - first)


def horner(m: Arithmetic, x: Any, c: Sequence[float]) -> Any:
    """c[0] + c[1] x + c[2] x^2 + ..., with one FMA a coefficient."""
    value = m.fma(x, c[-1], c[-2])
    for ck in reversed(c[:-2]):
        value = m.fma(x, value, ck)
    return value


def two_halves(m: Arithmetic, x: Any, xx: Any, c: Sequence[float]) -> Any:
    """As `horner`, even and odd powers apart, with xx = x^2: one more operation, half the latency."""
    return m.fma(x, horner(m, xx, c[1::2]), horner(m, xx, c[0::2]))


def fast_two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """a + b = s + e exactly, if a is zero, or |a| >= |b|, or a is a multiple of the last place of b."""
    s = a + b
    return s, b - (s - a)


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """a + b = s + e exactly (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(m: Arithmetic, a: Any, b: Any) -> tuple[Any, Any]:
    """a b = p + e exactly."""
    p = a * b
    return p, m.fma(a, b, -p)


def nearest_integer(m: Arithmetic, x: Any, scale: float) -> tuple[Any, Any]:
    """n = rint(x scale) as a float, and as an integer in the low bits of the second result.

    The usual conversion to 64-bit integers is missing before AVX-512; adding the shifter works everywhere.
    """
    shifter = format_of(m).shifter
    shifted = m.fma(x, scale, shifter)
    return shifted - shifter, m.bits(shifted)


def power_of_two(m: Arithmetic, n: Any) -> Any:
    """2^n from the low bits of the integer n, for exponents of normal numbers."""
    f = format_of(m)
    return m.from_bits((n << f.fraction) + f.one)


def times_power_of_two(m: Arithmetic, x: Any, n: Any) -> Any:
    """x 2^n from the low bits of the integer n, where x and the result are normal."""
    return m.from_bits(m.bits(x) + (n << format_of(m).fraction))


def flip(m: Arithmetic, x: Any, sign: Any) -> Any:
    """x, negated where the integer `sign` has the sign bit (its other bits must be 0)."""
    return m.from_bits(m.bits(x) ^ sign)
