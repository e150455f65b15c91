"""arcsin, arccos, arctan and arctan2.

arctan: |x| > 1 is reduced to pi/2 - arctan(1/|x|), which leaves one polynomial on [0, 1]; it is long, but cheaper than
a second reduction. arcsin: |x| > 1/2 is reduced to pi/2 - 2 arcsin(sqrt((1 - |x|)/2)). The constants pi/2 and pi have
two parts, and the sum with the leading term of the polynomial keeps its rounding error.

Largest errors found, in ulp of float64 (some 1.5 million arguments each) and float32 (one of 19 of all arguments):
arcsin 1.23, 1.18; arccos 1.19, 1.15; arctan 1.20, 1.20; arctan2 1.45, 1.47 (float32: 1.5 million).
"""

from __future__ import annotations

from poinsot.fuse.math.arithmetic import Arithmetic, Vector, fast_two_sum, flip, format_of, horner, pick, two_halves
from poinsot.fuse.math.coefficients import ARCSIN, ARCTAN, PI_2


def arctan_tail(m: Arithmetic, t: Vector) -> Vector:
    """arctan(t) - t for |t| <= 1, by Horner's rule: the signs alternate, so even and odd powers would cancel."""
    z = t * t
    return (t * z) * horner(m, z, pick(m, ARCTAN))


def arctan(m: Arithmetic, x: Vector) -> Vector:
    """arctan x."""
    a = m.abs(x)
    inverted = a > 1.0
    t = m.where(inverted, -1.0 / a, a)
    base, base_low = (m.where(inverted, part, 0.0) for part in pick(m, PI_2))
    large, lost = fast_two_sum(base, t)
    return m.copysign(large + (lost + (base_low + arctan_tail(m, t))), x)


def arctan2(m: Arithmetic, y: Vector, x: Vector) -> Vector:
    """The angle of the point (x, y): c pi/2 + arctan(t), c = 0, 1 or 2, t = (smaller)/(larger) coordinate, signed.

    Two zeros count as t = 0 and two infinities as t = 1, the convention of C and of IEEE 754.
    """
    f = format_of(m)
    half_pi, half_pi_low = pick(m, PI_2)
    ax, ay = m.abs(x), m.abs(y)
    steep = ay > ax
    num, den = m.where(steep, ax, ay), m.where(steep, ay, ax)
    t = m.where(num == den, m.where(num == 0.0, 0.0, 1.0), num / den)
    left = m.bits(x) < 0
    t = flip(m, m.where(steep, -t, t), m.bits(x) & f.sign)
    base = m.where(steep, half_pi, m.where(left, 2.0 * half_pi, 0.0))
    base_low = m.where(steep, half_pi_low, m.where(left, 2.0 * half_pi_low, 0.0))
    large, lost = fast_two_sum(base, t)
    return m.copysign(large + (lost + (base_low + arctan_tail(m, t))), y)


def arcsin_parts(m: Arithmetic, x: Vector) -> tuple[Vector, Vector, Vector]:
    """For a = |x|: whether a > 1/2, then t and u with t + u = arcsin(a), or arcsin(sqrt((1 - a)/2)) where a > 1/2."""
    a = m.abs(x)
    outer = a > 0.5
    z = m.where(outer, m.fma(a, -0.5, 0.5), a * a)
    t = m.where(outer, m.sqrt(z), a)
    return outer, t, (t * z) * two_halves(m, z, z * z, pick(m, ARCSIN))


def arcsin(m: Arithmetic, x: Vector) -> Vector:
    """arcsin x."""
    half_pi, half_pi_low = pick(m, PI_2)
    outer, t, u = arcsin_parts(m, x)
    large, lost = fast_two_sum(half_pi, -2.0 * t)
    y = m.where(outer, large + (lost + m.fma(u, -2.0, half_pi_low)), t + u)
    return m.copysign(y, x)


def arccos(m: Arithmetic, x: Vector) -> Vector:
    """arccos x = pi/2 - arcsin x in the middle, 2 arcsin(sqrt((1 - x)/2)) on the right, pi minus that on the left."""
    f = format_of(m)
    half_pi, half_pi_low = pick(m, PI_2)
    outer, t, u = arcsin_parts(m, x)
    left = x < 0.0
    base = m.where(outer, m.where(left, 2.0 * half_pi, 0.0), half_pi)
    base_low = m.where(outer, m.where(left, 2.0 * half_pi_low, 0.0), half_pi_low)
    factor = m.where(outer, 2.0, -1.0)
    sign = m.bits(x) & f.sign
    t, u = flip(m, factor * t, sign), flip(m, factor * u, sign)
    large, lost = fast_two_sum(base, t)
    return large + (lost + (base_low + u))
