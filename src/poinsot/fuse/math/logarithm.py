"""log, log2, log10, log1p, logaddexp and the inverse hyperbolic functions.

x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), and s = f/(2 + f). Then log(1 + f) = 2 atanh s, which is

    log(1 + f) = f - (f^2/2 - s (f^2/2 + R)),   R = 2 atanh(s)/s - 2,

a form in which the leading term f is exact and the error of the quotient s is damped by f^2 (Tang, ACM TOMS 16, 1990,
and older). log1p, logaddexp and the inverse hyperbolic functions are the logarithm of a number given in two parts.

Largest errors found, in ulp of float64 (some 1.5 million arguments each) and float32 (one of 19 of all arguments):
log 0.81, 0.84; log2 1.01, 0.95; log10 0.70, 0.66; log1p 0.81, 0.88; arcsinh 0.96, 0.99; arccosh 0.94, 0.92;
arctanh 0.94, 0.99; logaddexp 1.22, 1.57 of the larger of max(x, y) and the logarithm (7 million arguments each).
"""

from __future__ import annotations

from collections.abc import Callable

from poinsot.fuse.math.arithmetic import (
    INFINITY,
    NAN,
    Arithmetic,
    Vector,
    fast_two_sum,
    format_of,
    horner,
    pattern,
    pick,
    two_product,
    two_sum,
    within,
)
from poinsot.fuse.math.coefficients import LN2, LOG, LOG2_E, LOG10_2, LOG10_E
from poinsot.fuse.math.exponential import exp_extreme, exp_pair, limits


def split_exponent(m: Arithmetic, x: Vector) -> tuple[Vector, Vector, Vector]:
    """x = 2^k y for normal x > 0, sqrt(1/2) <= y < sqrt(2): k as a float, y, and the bit pattern's k + bias.

    k + bias goes into the fraction of 2^fraction to become a float: no conversion of 64-bit integers before AVX-512.
    """
    f = format_of(m)
    sqrt_half = pattern(m, 0.5**0.5)
    shifted = m.bits(x) + (f.one - sqrt_half)
    biased = m.shift_right_logical(shifted, f.fraction)
    y = m.from_bits((shifted & ((1 << f.fraction) - 1)) + sqrt_half)
    k = m.from_bits(biased | ((f.bias + f.fraction) << f.fraction)) - (2.0**f.fraction + f.bias)
    return k, y, biased


def log_tail(m: Arithmetic, f: Vector, h: Vector) -> Vector:
    """s (h + R) with h = f^2/2, so that log(1 + f) = f - h + this."""
    s = f / (2.0 + f)
    z = s * s
    return s * m.fma(z, horner(m, z, pick(m, LOG)), h)


def log_reduced(m: Arithmetic, k: Vector, f: Vector, f_low: Vector | None = None) -> Vector:
    """k ln 2 + log(1 + f + f_low)."""
    ln2, ln2_low = pick(m, LN2)
    h = (0.5 * f) * f
    small = m.fma(k, ln2_low, log_tail(m, f, h))
    if f_low is not None:
        small = small + f_low
    return m.fma(k, ln2, f - (h - small))


def log2_reduced(m: Arithmetic, k: Vector, f: Vector) -> Vector:
    """k + log2(1 + f)."""
    c, c_low = pick(m, LOG2_E)
    h = (0.5 * f) * f
    small = log_tail(m, f, h) - h
    return k + m.fma(f, c, m.fma(small, c, f * c_low))


def log10_reduced(m: Arithmetic, k: Vector, f: Vector) -> Vector:
    """k log10(2) + log10(1 + f), with the large terms exact as pairs, so that powers of ten come out exactly."""
    c, c_low = pick(m, LOG10_E)
    log10_2, log10_2_low = pick(m, LOG10_2)
    h, h_low = two_product(m, 0.5 * f, f)
    large, lost = fast_two_sum(f, -h)
    small = (lost - h_low) + log_tail(m, f, h)
    p, p_low = two_product(m, large, c)
    total, lost = fast_two_sum(k * log10_2, p)
    return total + (lost + m.fma(k, log10_2_low, m.fma(large, c_low, m.fma(small, c, p_low))))


Reduced = Callable[[Arithmetic, Vector, Vector], Vector]


def log_special(m: Arithmetic, x: Vector, reduced: Reduced = log_reduced, shift: float = 0.0) -> Vector:
    """The logarithm of 2^shift x for every x: subnormal, zero, negative, infinite, NaN."""
    f = format_of(m)
    subnormal = x < f.smallest_normal
    up = f.fraction + 2.0
    k, y, _ = split_exponent(m, m.where(subnormal, x * 2.0**up, x))
    value = reduced(m, k + m.where(subnormal, shift - up, shift), y - 1.0)
    value = m.where(x < INFINITY, value, x)  # infinity and NaN
    return m.where(x > 0.0, value, m.where(x == 0.0, -INFINITY, NAN))


def logarithm(m: Arithmetic, x: Vector, reduced: Reduced) -> Vector:
    """The logarithm to the base of `reduced`."""
    k, y, _ = split_exponent(m, x)
    normal = within(m, x, format_of(m).smallest_normal, INFINITY)
    return m.slow_path(~normal, reduced(m, k, y - 1.0), lambda m, x: log_special(m, x, reduced), x)


def log(m: Arithmetic, x: Vector) -> Vector:
    """The natural logarithm."""
    return logarithm(m, x, log_reduced)


def log2(m: Arithmetic, x: Vector) -> Vector:
    """The logarithm to base 2."""
    return logarithm(m, x, log2_reduced)


def log10(m: Arithmetic, x: Vector) -> Vector:
    """The logarithm to base 10."""
    return logarithm(m, x, log10_reduced)


def log_of_pair(m: Arithmetic, u: Vector, u_low: Vector) -> Vector:
    """log(u + u_low) for normal u > 0 below a quarter of the largest number, |u_low| about the last place of u."""
    f = format_of(m)
    k, y, biased = split_exponent(m, u)
    scale = m.from_bits((2 * f.bias - biased) << f.fraction)  # 2^-k
    part, part_low = fast_two_sum(y - 1.0, u_low * scale)
    return log_reduced(m, k, part, part_low)


def huge(m: Arithmetic) -> float:
    """A power of two whose square is still finite."""
    return 2.0 ** (format_of(m).bias // 2 - 1)


def log1p_special(m: Arithmetic, x: Vector) -> Vector:
    return m.where(x > 0.0, log_special(m, x), m.where(x == -1.0, -INFINITY, NAN))


def log1p(m: Arithmetic, x: Vector) -> Vector:
    """log(1 + x)."""
    u, u_low = two_sum(1.0, x)
    y = m.copysign(log_of_pair(m, u, u_low), x)
    return m.slow_path(~within(m, u, format_of(m).smallest_normal, huge(m)), y, log1p_special, x)


def logaddexp_special(m: Arithmetic, x: Vector, y: Vector) -> Vector:
    """As `logaddexp`, where e^-gap is so small that log(1 + e^-gap) is e^-gap, or x and y are infinite or NaN."""
    return m.where(x > y, x, y) + exp_extreme(m, -m.where(x == y, 0.0, m.abs(x - y)))


def logaddexp(m: Arithmetic, x: Vector, y: Vector) -> Vector:
    """log(e^x + e^y) = max(x, y) + log(1 + e^-gap) with gap = |x - y|, all but the last sum in two parts."""
    larger, smaller = m.where(x > y, x, y), m.where(x > y, y, x)
    gap, gap_low = two_sum(larger, -smaller)
    e, e_low = exp_pair(m, -gap, -gap_low)
    u, u_low = fast_two_sum(1.0, e)
    value = larger + log_of_pair(m, u, u_low + e_low)
    return m.slow_path(~(gap <= limits(m)[0]), value, logaddexp_special, x, y)


def root_of_pair(m: Arithmetic, w: Vector, w_low: Vector) -> tuple[Vector, Vector]:
    """sqrt(w + w_low) in two parts; zero for zero."""
    s = m.sqrt(w)
    return s, (m.fma(-s, s, w) + w_low) * (0.5 / m.where(s == 0.0, 1.0, s))


def arcsinh(m: Arithmetic, x: Vector) -> Vector:
    """log(a + sqrt(a^2 + 1)) with a = |x|, the argument in two parts."""
    a = m.abs(x)
    square, square_low = two_product(m, a, a)
    w, lost = two_sum(square, 1.0)
    s, s_low = root_of_pair(m, w, lost + square_low)
    u, lost = fast_two_sum(s, a)
    y = m.slow_path(~(a < huge(m)), log_of_pair(m, u, lost + s_low), lambda m, a: log_special(m, a, shift=1.0), a)
    return m.copysign(y, x)


def arccosh_special(m: Arithmetic, x: Vector) -> Vector:
    return m.where(x >= 1.0, log_special(m, x, shift=1.0), NAN)


def arccosh(m: Arithmetic, x: Vector) -> Vector:
    """log(x + sqrt(x^2 - 1)), the argument in two parts."""
    square, square_low = two_product(m, x, x)
    w, lost = fast_two_sum(square, -1.0)
    s, s_low = root_of_pair(m, w, lost + square_low)
    u, lost = fast_two_sum(x, s)
    return m.slow_path(~within(m, x, 1.0, huge(m)), log_of_pair(m, u, lost + s_low), arccosh_special, x)


def arctanh(m: Arithmetic, x: Vector) -> Vector:
    """log(1 + q)/2 with q = 2a/(1 - a), a = |x|, all in two parts."""
    a = m.abs(x)
    d, d_low = fast_two_sum(1.0, -a)
    inverse = 1.0 / d
    twice = a + a
    q = twice * inverse
    q_low = m.fma(-q, d_low, m.fma(-q, d, twice)) * inverse
    u, lost = two_sum(1.0, q)
    y = 0.5 * log_of_pair(m, u, lost + q_low)
    y = m.slow_path(~(a < 1.0), y, lambda m, a: m.where(a == 1.0, m.abs(a) * INFINITY, NAN), a)
    return m.copysign(y, x)
