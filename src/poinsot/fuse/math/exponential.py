"""exp, exp2, expm1 and the hyperbolic functions.

x = n ln 2 + r with |r| <= ln(2)/2, ln 2 in two parts (Cody and Waite): the first subtraction is exact with FMA. A
polynomial gives exp(r) - 1, and 2^n is added into the exponent field. Where the result is subnormal or overflows, the
slow path scales in two steps, which rounds once.

The hyperbolic functions use cosh x = cosh(n ln 2) cosh r + sinh(n ln 2) sinh r, and likewise sinh: both factors of n
are sums of two powers of two, so there is no division and no cancellation.

Largest errors found, in ulp of float64 (some 1.5 million arguments each) and float32 (one of 19 of all arguments):
exp 0.93, 1.03; exp2 0.92, 0.89; expm1 1.19, 1.25; sinh 1.29, 0.98; cosh 1.29, 1.68; tanh 0.91, 0.94.
"""

from __future__ import annotations

from poinsot.fuse.math.arithmetic import (
    Arithmetic,
    Vector,
    fast_two_sum,
    format_of,
    horner,
    nearest_integer,
    pick,
    power_of_two,
    times_power_of_two,
    two_halves,
    two_product,
)
from poinsot.fuse.math.coefficients import COSH, EXP, EXPM1, LN2, LOG2_E, SINH


def reduce_ln2(m: Arithmetic, x: Vector) -> tuple[Vector, Vector, Vector]:
    """x = n ln 2 + r + r_low; n is in the low bits of the third result."""
    n, k = nearest_integer(m, x, pick(m, LOG2_E)[0])
    ln2, ln2_low = pick(m, LN2)
    r1 = m.fma(n, -ln2, x)
    r = m.fma(n, -ln2_low, r1)
    return r, m.fma(n, -ln2_low, r1 - r), k


def limits(m: Arithmetic) -> tuple[float, float, float]:
    """|x| below which exp x is normal, and the arguments from which exp(x)/2 is surely infinite and exp x zero."""
    return (708.0, 711.0, -746.0) if m.float64 else (87.0, 90.0, -105.0)


def exp_reduced(m: Arithmetic, r: Vector, r_low: Vector | None = None) -> Vector:
    """exp(r + r_low) for |r| <= ln(2)/2."""
    rr = r * r
    p = two_halves(m, r, rr, pick(m, EXP))
    if r_low is None:
        return 1.0 + m.fma(rr, p, r)
    return 1.0 + (r + m.fma(rr, p, r_low))


def scale_with_care(m: Arithmetic, x: Vector, k: Vector) -> Vector:
    """x 2^k for x in [1/2, 2) and any k whose result is between half the smallest and twice the largest number."""
    f = format_of(m)
    k = (k << (f.width - f.fraction)) >> (f.width - f.fraction)  # the low bits, with their sign
    half = k >> 1
    return (x * power_of_two(m, half)) * power_of_two(m, k - half)


def exp_extreme(m: Arithmetic, x: Vector, shift: int = 0) -> Vector:
    """exp(x) 2^shift where the result may be subnormal, zero or infinite; NaN for NaN."""
    _, high, low = limits(m)
    inside = m.where(x > high, high, m.where(x < low, low, x))
    r, r_low, k = reduce_ln2(m, inside)
    return scale_with_care(m, exp_reduced(m, r, r_low), k + shift)


def exp(m: Arithmetic, x: Vector) -> Vector:
    """e^x."""
    r, r_low, k = reduce_ln2(m, x)
    y = times_power_of_two(m, exp_reduced(m, r, r_low if m.float64 else None), k)
    return m.slow_path(~(m.abs(x) <= limits(m)[0]), y, exp_extreme, x)


def exp_pair(m: Arithmetic, x: Vector, x_low: Vector) -> tuple[Vector, Vector]:
    """e^(x + x_low) in two parts, where it is normal. |x_low| is at most the last place of x."""
    r, r_low, k = reduce_ln2(m, x)
    rr = r * r
    y, y_low = fast_two_sum(1.0, r + m.fma(rr, two_halves(m, r, rr, pick(m, EXP)), r_low + x_low))
    scale = power_of_two(m, k)
    return y * scale, y_low * scale


def exp2_parts(m: Arithmetic, x: Vector, x_low: Vector | None = None) -> tuple[Vector, Vector]:
    """2^(x + x_low) = y 2^k: y and an integer with k in its low bits. |x_low| is at most the last place of x."""
    n, k = nearest_integer(m, x, 1.0)
    ln2, ln2_low = pick(m, LN2)
    part, part_low = x - n, None
    if x_low is not None:
        part, part_low = fast_two_sum(part, x_low)
    r, r_low = two_product(m, part, ln2)
    r_low = m.fma(part, ln2_low, r_low)
    if part_low is not None:
        r_low = m.fma(part_low, ln2, r_low)
    return exp_reduced(m, r, r_low), k


def exp2_extreme(m: Arithmetic, x: Vector, x_low: Vector | None = None) -> Vector:
    """2^(x + x_low) where the result may be subnormal, zero or infinite; NaN for NaN."""
    f = format_of(m)
    high, low = f.bias + 2.0, -(f.bias + f.fraction + 2.0)
    inside = m.where(x > high, high, m.where(x < low, low, x))
    y, k = exp2_parts(m, inside, x_low)
    return scale_with_care(m, y, k)


def exp2(m: Arithmetic, x: Vector) -> Vector:
    """2^x."""
    y, k = exp2_parts(m, x)
    return m.slow_path(~(m.abs(x) <= format_of(m).bias - 1.0), times_power_of_two(m, y, k), exp2_extreme, x)


def expm1_parts(m: Arithmetic, x: Vector) -> tuple[Vector, Vector]:
    """e^x - 1 as a large part and a small one still to be added, where e^x is normal.

    2^n (1 + r + q) - 1 = ((2^n - 1) + 2^n r) + 2^n q. The inner sum is exact as a pair: for n = 0 its first term
    is zero, otherwise its first term is the larger.
    """
    r, r_low, k = reduce_ln2(m, x)
    rr = r * r
    q = m.fma(rr, two_halves(m, r, rr, pick(m, EXPM1)), r_low)
    scale = power_of_two(m, k)
    large, lost = fast_two_sum(scale - 1.0, scale * r)
    return large, m.fma(scale, q, lost)


def expm1(m: Arithmetic, x: Vector) -> Vector:
    """e^x - 1. Below -50 it is -1 to the last bit."""
    inside = m.where(x < -50.0, -50.0, x)
    large, small = expm1_parts(m, inside)
    y = m.copysign(large + small, x)
    return m.slow_path(x > limits(m)[0], y, exp_extreme, x)


def hyperbolic_parts(m: Arithmetic, a: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """sinh a and cosh a for a >= 0, each as a large part and a small one still to be added, where e^a is normal."""
    r, r_low, k = reduce_ln2(m, a)
    up, down = power_of_two(m, k - 1), power_of_two(m, -1 - k)
    sinh_n, cosh_n = up - down, up + down
    z = r * r
    s_tail = m.fma(z * r, horner(m, z, pick(m, SINH)), r_low)  # sinh(r + r_low) - r
    c_tail = m.fma(r, r_low, z * horner(m, z, pick(m, COSH)))  # cosh(r + r_low) - 1
    sinh_large = m.fma(cosh_n, r, sinh_n)
    cosh_large = m.fma(sinh_n, r, cosh_n)
    sinh_lost = m.fma(cosh_n, r, sinh_n - sinh_large)
    cosh_lost = m.fma(sinh_n, r, cosh_n - cosh_large)
    sinh_small = m.fma(cosh_n, s_tail, m.fma(sinh_n, c_tail, sinh_lost))
    cosh_small = m.fma(sinh_n, s_tail, m.fma(cosh_n, c_tail, cosh_lost))
    return sinh_large, sinh_small, cosh_large, cosh_small


def half_exp(m: Arithmetic, a: Vector) -> Vector:
    """e^a / 2, also where e^a overflows."""
    return exp_extreme(m, a, -1)


def sinh(m: Arithmetic, x: Vector) -> Vector:
    """sinh x."""
    a = m.abs(x)
    large, small, _, _ = hyperbolic_parts(m, a)
    y = m.slow_path(~(a <= limits(m)[0] - 10.0), large + small, half_exp, a)
    return m.copysign(y, x)


def cosh(m: Arithmetic, x: Vector) -> Vector:
    """cosh x."""
    a = m.abs(x)
    _, _, large, small = hyperbolic_parts(m, a)
    return m.slow_path(~(a <= limits(m)[0] - 10.0), large + small, half_exp, a)


def tanh(m: Arithmetic, x: Vector) -> Vector:
    """tanh x = t / (t + 2) with t = e^(2|x|) - 1, the quotient corrected by its remainder. From 22 on it is 1."""
    a = m.abs(x)
    a = m.where(a > 22.0, 22.0, a)
    t, t_low = fast_two_sum(*expm1_parts(m, 2.0 * a))
    d, d_low = fast_two_sum(m.where(t > 2.0, t, 2.0), m.where(t > 2.0, 2.0, t))
    inverse = 1.0 / d
    q = t * inverse
    remainder = m.fma(-q, d, t) + m.fma(-q, d_low + t_low, t_low)
    return m.copysign(m.fma(remainder, inverse, q), x)
