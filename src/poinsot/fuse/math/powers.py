"""power, cbrt and hypot.

power: x^y = 2^(y log2 x), where log2 x and its product with y are double-double. With s = f/(2 + f) as in `logarithm`,
log2 x = k + (2/ln 2) s (1 + s^2/3 + s^4 q(s^2)); everything but q is a pair, which gives some 10 bits more than the
format has, enough for the largest exponents. Cases: C99, annex F.9.4.4.

cbrt: x = 2^(3q) w with 1 <= w < 8; a polynomial and one step of third order give w^(-1/3), and one more of Newton
corrects c = w (w^(-1/3))^2 by the remainder w - c^3.

Largest errors found, in ulp of float64 (some 1.5 million arguments each) and float32 (one of 19 of all arguments):
power 1.07, 0.95 (float32: 1.5 million); cbrt 0.74, 0.74; hypot 1.15, 1.18 (float32: 1.5 million).
"""

from __future__ import annotations

from poinsot.fuse.math.arithmetic import (
    INFINITY,
    NAN,
    Arithmetic,
    Vector,
    fast_two_sum,
    format_of,
    horner,
    nearest_integer,
    pick,
    times_power_of_two,
    two_product,
    within,
)
from poinsot.fuse.math.coefficients import INVERSE_CBRT, LOG2_E, LOG_LONG, THIRD
from poinsot.fuse.math.exponential import exp2_extreme, exp2_parts
from poinsot.fuse.math.logarithm import split_exponent


def log2_pair(m: Arithmetic, k: Vector, x: Vector) -> tuple[Vector, Vector]:
    """k + log2(x) in two parts, for x between sqrt(1/2) and sqrt(2)."""
    f = x - 1.0
    d, d_low = fast_two_sum(1.0, x)
    inverse = 1.0 / d
    s = f * inverse
    s_low = m.fma(-s, d_low, m.fma(-s, d, f)) * inverse
    z, z_low = two_product(m, s, s)
    z_low = m.fma(s + s, s_low, z_low)
    third, third_low = pick(m, THIRD)
    p, p_low = two_product(m, z, third)  # atanh(s)/s - 1 = z/3 + z^2 (1/5 + ...), whose slope is 1/3 + 2z/5
    p_low = m.fma(z_low, m.fma(z, 0.4, third), m.fma(z, third_low, p_low))
    p_low = m.fma(z * z, horner(m, z, pick(m, LOG_LONG)), p_low)
    a, a_low = two_product(m, s, p)  # atanh(s) - s
    a_low = m.fma(s, p_low, m.fma(s_low, p, a_low + s_low))
    large, lost = fast_two_sum(s, a)
    small = lost + a_low
    c, c_low = (2.0 * part for part in pick(m, LOG2_E))
    g, g_low = two_product(m, large, c)
    g_low = m.fma(large, c_low, m.fma(small, c, g_low))
    total, lost = fast_two_sum(k, g)
    return fast_two_sum(total, lost + g_low)


def times_pair(m: Arithmetic, y: Vector, h: Vector, h_low: Vector) -> tuple[Vector, Vector]:
    """y (h + h_low) in two parts."""
    e, e_low = two_product(m, y, h)
    return e, m.fma(y, h_low, e_low)


def power_special(m: Arithmetic, x: Vector, y: Vector) -> Vector:
    """x^y for all x and y."""
    f = format_of(m)
    a = m.abs(x)
    up = f.fraction + 2.0
    subnormal = a < f.smallest_normal
    k, mantissa, _ = split_exponent(m, m.where(subnormal, a * 2.0**up, a))
    h, h_low = log2_pair(m, k - m.where(subnormal, up, 0.0), mantissa)
    h = m.where(a == 0.0, -INFINITY, m.where(a < INFINITY, h, INFINITY))
    e, e_low = times_pair(m, y, h, h_low)
    value = exp2_extreme(m, e, m.where(m.abs(e) < 2.0 * f.bias, e_low, 0.0))
    integer = m.floor(y) == y
    odd = integer & (m.floor(0.5 * y) != 0.5 * y)
    value = m.where(odd, m.copysign(value, x), value)
    value = m.where((x < 0.0) & (a < INFINITY) & ~integer, NAN, value)
    value = m.where((x == x) & (y == y), value, NAN)
    one = (x == 1.0) | (y == 0.0) | ((x == -1.0) & (m.abs(y) == INFINITY))
    return m.where(one, 1.0, value)


def power(m: Arithmetic, x: Vector, y: Vector) -> Vector:
    """x^y. Negative, subnormal and infinite x, and results outside the normal range, take the slow path."""
    f = format_of(m)
    k, mantissa, _ = split_exponent(m, x)
    e, e_low = times_pair(m, y, *log2_pair(m, k, mantissa))
    value, n = exp2_parts(m, e, e_low)
    usual = within(m, x, f.smallest_normal, INFINITY) & (m.abs(e) < f.bias - 1.0)
    return m.slow_path(~usual, times_power_of_two(m, value, n), power_special, x, y)


def cbrt_normal(m: Arithmetic, a: Vector) -> Vector:
    """The cube root of a normal a > 0."""
    f = format_of(m)
    offset = -f.bias % 3  # makes the biased exponent e of w = 1 a multiple of 3
    biased = m.shift_right_logical(m.bits(a), f.fraction)
    e = m.from_bits(biased | ((f.bias + f.fraction) << f.fraction)) - (2.0**f.fraction - offset)
    q, q_bits = nearest_integer(m, e - 1.0, 1 / 3)  # e = 3 q + r
    r = m.fma(q, -3.0, e)
    w = times_power_of_two(m, a, (f.bias + offset) - (q_bits + (q_bits << 1)))
    mantissa = m.from_bits((m.bits(a) & ((1 << f.fraction) - 1)) | f.one)
    b = 2.0 ** (-1 / 3)  # 2^(-r/3) for r = 0, 1, 2 by interpolation
    root = m.fma(r, m.fma(r, (b * b - 2 * b + 1) / 2, (4 * b - b * b - 3) / 2), 1.0)
    y = horner(m, mantissa, pick(m, INVERSE_CBRT)) * root
    h = m.fma(w * y, -(y * y), 1.0)
    y = m.fma(y * h, m.fma(h, 2 / 9, 1 / 3), y)
    yy = y * y
    c = w * yy
    c = m.fma(m.fma(c * c, -c, w), yy * (1 / 3), c)
    return times_power_of_two(m, c, q_bits - (f.bias + offset) // 3)


def cbrt_special(m: Arithmetic, a: Vector) -> Vector:
    up = 18 if m.float64 else 8
    value = cbrt_normal(m, a * 2.0 ** (3 * up)) * 2.0**-up
    return m.where((a > 0.0) & (a < INFINITY), value, a)


def cbrt(m: Arithmetic, x: Vector) -> Vector:
    """The real cube root."""
    a = m.abs(x)
    normal = within(m, a, format_of(m).smallest_normal, INFINITY)
    return m.copysign(m.slow_path(~normal, cbrt_normal(m, a), cbrt_special, a), x)


def hypot_special(m: Arithmetic, x: Vector, y: Vector) -> Vector:
    """The same with scaling; infinity wins over NaN."""
    a, b = m.abs(x), m.abs(y)
    scale = 2.0**600 if m.float64 else 2.0**96
    large = (a > 1.0) | (b > 1.0)
    into, back = m.where(large, 1 / scale, scale), m.where(large, scale, 1 / scale)
    a_scaled, b_scaled = a * into, b * into
    value = m.sqrt(m.fma(a_scaled, a_scaled, b_scaled * b_scaled)) * back
    return m.where((a == INFINITY) | (b == INFINITY), INFINITY, value)


def hypot(m: Arithmetic, x: Vector, y: Vector) -> Vector:
    """sqrt(x^2 + y^2)."""
    f = format_of(m)
    square = m.fma(x, x, y * y)
    safe = within(m, square, f.smallest_normal * 2.0 ** (f.precision + 5), INFINITY)
    return m.slow_path(~safe, m.sqrt(square), hypot_special, x, y)
