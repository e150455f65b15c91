"""Functions of a rotation angle that are 0/0 at zero, accurate to rounding at every angle.

Each is an even function of the angle t, written as a function of s = t^2: neither it nor its derivatives need a square
root near zero. Below s = 1 a power series is used, above it the closed form; `np.where` selects one, and the other is
evaluated at a harmless argument, so that neither its value nor its derivative becomes NaN.
"""

from collections.abc import Callable, Sequence
from math import factorial

import numpy as np

from poinsot._types import Array

TERMS = 10  # 1 / 20! = 4e-19 is left out at s = 1


def stumpff(k: int, s: Array) -> Array:
    """Stumpff's function c_k(s) = 1/k! - s/(k+2)! + s^2/(k+4)! - ..., for k = 0 ... 4 and s = t^2 >= 0.

    c_0 = cos t, c_1 = sin t / t, c_2 = (1 - cos t)/t^2, c_3 = (t - sin t)/t^3, c_4 = (1/2 - c_2)/t^2. Stumpff,
    Himmelsmechanik I (1959). They satisfy c_k = 1/k! - s c_{k+2}.
    """
    small = s < 1.0
    t = np.sqrt(np.where(small, 1.0, s))
    return np.where(small, _power_series(k, np.where(small, s, 0.0)), _CLOSED[k](t))


def stumpff_by_halves(s: Array) -> tuple[Array, Array]:
    """c_2(s) and c_3(s) from c_0 and c_1 of s/4, where the sine and cosine of half the angle are needed anyway.

    1 - cos t = 2 sin^2(t/2) and sin t = 2 sin(t/2) cos(t/2).
    """
    c0, c1 = stumpff(0, 0.25 * s), stumpff(1, 0.25 * s)
    small = s < 1.0
    closed = (1.0 - c0 * c1) / np.where(small, 1.0, s)
    return 0.5 * (c1 * c1), np.where(small, _power_series(3, np.where(small, s, 0.0)), closed)


def _power_series(k: int, s: Array) -> Array:
    return polynomial([(-1) ** j / factorial(k + 2 * j) for j in range(TERMS)], s)


def arctan_ratio(u2: Array, w: Array) -> Array:
    """arctan(u / w) / u from u^2 >= 0 and w >= 0, not both zero: the half angle of a quaternion over its sine."""
    small = 100.0 * u2 < w * w
    w_small = np.where(small, w, 1.0)
    u = np.sqrt(np.where(small, 1.0, u2))
    x2 = np.where(small, u2, 0.0) / (w_small * w_small)  # at most 1/100, so nine terms reach 1e-18
    series = polynomial([(-1) ** j / (2 * j + 1) for j in range(9)], x2) / w_small
    return np.where(small, series, np.arctan2(u, w) / u)


def polynomial(coefficients: Sequence[float], x: Array) -> Array:
    """coefficients[0] + coefficients[1] x + ..., by Horner's rule."""
    value = coefficients[-1] + 0.0 * x
    for c in reversed(coefficients[:-1]):
        value = value * x + c
    return value


# From s = 1 on, cancellation costs none of the differences more than a factor of 12.
_CLOSED: tuple[Callable[[Array], Array], ...] = (
    np.cos,
    lambda t: np.sin(t) / t,
    lambda t: (1.0 - np.cos(t)) / (t * t),
    lambda t: (t - np.sin(t)) / (t * t * t),
    lambda t: (0.5 - (1.0 - np.cos(t)) / (t * t)) / (t * t),
)
