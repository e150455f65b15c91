"""Sums of floating-point numbers without rounding: whole numbers, so that they are the same in any order.

A number is a whole number of 53 bits times a power of two. Those with the same power are added as integers; the total
is one Python integer in units of 2^-1074, the least number that there is.
"""

from fractions import Fraction

import numpy as np

from poinsot._types import Array

UNIT = 1074  # sums are in units of 2^-1074
HALF = 26  # bits in the lower part of a mantissa; the upper part has 27 and a sign
TOGETHER = 2**18  # numbers whose halves are added in 53 bits, less than 2^(27 + 18)


def exact_sum(x: Array) -> int:
    """The sum of finite numbers x (n,), times 2^1074."""
    x = np.asarray(x, dtype=float)
    return sum(_sum_of_few(x[k : k + TOGETHER]) for k in range(0, len(x), TOGETHER))


def _sum_of_few(x: Array) -> int:
    """The same of at most 2^18 numbers: their halves of mantissas, added by power of two, are whole numbers that
    floating point holds exactly."""
    fractions, exponents = np.frexp(x)
    mantissas = np.ldexp(fractions, 53).astype(np.int64)
    least = int(exponents.min())
    places = exponents - least
    halves = (mantissas >> HALF, mantissas & ((1 << HALF) - 1))
    high, low = (np.bincount(places, weights=half.astype(float)).astype(np.int64).tolist() for half in halves)
    total = 0
    for place, (a, b) in enumerate(zip(high, low, strict=True)):
        whole, power = (a << HALF) + b, place + least - 53 + UNIT
        total += whole << power if power >= 0 else whole >> -power  # denormal numbers end in zeros
    return total


def rounded(total: int, divisor: int = 1) -> float:
    """The sum over a divisor as the nearest number."""
    return float(as_fraction(total) / divisor)


def as_fraction(total: int) -> Fraction:
    """The sum itself."""
    return Fraction(total, 1 << UNIT)
