"""Sums of floating-point numbers without rounding: whole numbers, so that they are the same in any order.

A number is a whole number of 53 bits times a power of two. Those with the same power are added as integers; the total
is one Python integer in units of 2^-1074, the least number that there is.
"""

from fractions import Fraction

import numpy as np

from poinsot._types import Array

UNIT = 1074  # sums are in units of 2^-1074
HALF = 26  # bits in the lower part of a mantissa, so that 2^37 of them can be added in 64 bits


def exact_sum(x: Array) -> int:
    """The sum of finite numbers x (n,), times 2^1074."""
    x = np.asarray(x, dtype=float)
    fractions, exponents = np.frexp(x)
    mantissas = np.ldexp(fractions, 53).astype(np.int64)
    least = int(exponents.min(initial=0))
    places = exponents - least
    high, low = mantissas >> HALF, mantissas & ((1 << HALF) - 1)
    total = 0
    for place in np.unique(places):
        these = places == place
        whole = (int(high[these].sum()) << HALF) + int(low[these].sum())
        power = int(place) + least - 53 + UNIT
        total += whole << power if power >= 0 else whole >> -power  # denormal numbers end in zeros
    return total


def rounded(total: int, divisor: int = 1) -> float:
    """The sum over a divisor as the nearest number."""
    return float(as_fraction(total) / divisor)


def as_fraction(total: int) -> Fraction:
    """The sum itself."""
    return Fraction(total, 1 << UNIT)
