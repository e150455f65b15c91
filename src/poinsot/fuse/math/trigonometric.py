"""sin, cos and tan.

The argument is reduced to |r| <= pi/4 by subtracting n pi/2 in three parts with FMA (Cody and Waite, Software Manual
for the Elementary Functions, 1980); the error of the last rounding is kept as a second number. Two short polynomials
then give the sine and the cosine of r, and n mod 4 selects between them and sets the sign. Arguments of 2^20 and more
take the slow path: Payne and Hanek, SIGNUM Newsletter 18 (1983), in floating-point arithmetic.

Largest errors found, in ulp of float64 (some 20 million arguments each) and float32 (one of 19 of all arguments):
sin 0.85, 1.58; cos 0.86, 1.57; tan 0.87, 1.12.
"""

from __future__ import annotations

from poinsot.fuse.math.arithmetic import (
    INFINITY,
    NAN,
    Arithmetic,
    Vector,
    fast_two_sum,
    flip,
    format_of,
    horner,
    nearest_integer,
    pick,
    two_product,
    two_sum,
)
from poinsot.fuse.math.coefficients import COS, PI_2, PI_2_STEPS, SIN, TWO_OVER_PI, TWO_OVER_PI_DIGITS

LARGE = 2.0**20


def reduce_quarter_turns(m: Arithmetic, x: Vector) -> tuple[Vector, Vector, Vector]:
    """x = n pi/2 + r + r_low for x >= 0; n is in the low bits of the third result.

    x - n p1 is exact: it is a multiple of the last place of p1 and less than 1. In float64, n p2 is exact, since p2 is
    short, and so is the rounding error of its subtraction. In float32 that would need more parts, so n p2 is an exact
    pair.
    """
    n, quadrant = nearest_integer(m, x, pick(m, TWO_OVER_PI)[0])
    p1, p2, p3 = pick(m, PI_2_STEPS)
    r1 = m.fma(n, -p1, x)
    if m.float64:
        step = n * p2
        r = r1 - step
        r_low = m.fma(n, -p3, (r1 - r) - step)
    else:
        p, p_low = two_product(m, n, -p2)
        r, r_low = fast_two_sum(r1, p)
        r, r_low = fast_two_sum(r, m.fma(n, -p3, r_low + p_low))
    return m.slow_path(x >= LARGE, (r, r_low, quadrant), reduce_large, x)


def reduce_quarter_turns_roughly(m: Arithmetic, x: Vector) -> tuple[Vector, Vector]:
    """As `reduce_quarter_turns`, without r_low, which leaves r with an error of up to 1 ulp."""
    n, quadrant = nearest_integer(m, x, pick(m, TWO_OVER_PI)[0])
    p1, p2, p3 = pick(m, PI_2_STEPS)
    r = m.fma(n, -p3, m.fma(n, -p2, m.fma(n, -p1, x)))
    return m.slow_path(x >= LARGE, (r, quadrant), lambda m, x: reduce_large(m, x)[::2], x)


def reduce_large(m: Arithmetic, x: Vector) -> tuple[Vector, Vector, Vector]:
    """As `reduce_quarter_turns`, for x >= 2^20 up to the largest number; NaN for infinity.

    With 2/pi = sum_k d_k 2^(-p (k + 1)), digits below 2^p, the first k digits give multiples of 4 quarter turns and
    are left out; five more give 2p bits behind the point and p bits of slack for cancellation. The products are exact
    as pairs. Distilling the sum three times (each pass is a chain of exact two_sums, from the small end to the large)
    leaves n and a fraction with about twice the format's precision, even where the leading p bits cancel.
    """
    f, p = format_of(m), format_of(m).precision
    digits = pick(m, TWO_OVER_PI_DIGITS)
    exponent = m.shift_right_logical(m.bits(x), f.fraction) - f.bias
    k = m.floor(m.to_float(exponent - p) * (1 / p) - 0.5 / p)
    k = m.to_int(m.where(k > 0.0, k, 0.0))
    scaled = m.from_bits(m.bits(x) - (((k + 1) * p) << f.fraction))
    terms = []
    for j in range(5):
        high, low = two_product(m, scaled * 2.0 ** (-p * j), m.gather(digits, k + j))
        terms += [high, low]
    terms[:3] = [t - 4.0 * m.rint(0.25 * t) for t in terms[:3]]
    terms = distil(terms)
    n = m.rint(terms[0])
    terms[0] = terms[0] - n
    quarters, quarters_low = distil(distil(terms))[:2]
    half_pi, half_pi_low = pick(m, PI_2)
    r = quarters * half_pi
    r_low = m.fma(quarters, half_pi, -r) + m.fma(quarters, half_pi_low, quarters_low * half_pi)
    r, r_low = fast_two_sum(r, r_low)
    return m.where(x < INFINITY, r, NAN), r_low, m.bits(n + f.shifter)


def distil(terms: list[Vector]) -> list[Vector]:
    """The same sum in other terms: the first is the rounded sum, the others are its error."""
    result, s = [], terms[-1]
    for t in reversed(terms[:-1]):
        s, e = two_sum(t, s)
        result.append(e)
    return [s, *reversed(result)]


def sine_and_cosine_parts(m: Arithmetic, r: Vector, r_low: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """sin(r + r_low) and cos(r + r_low) for |r| <= pi/4, each as a large part and a small one still to be added.

    1 - r^2/2 = c + lost, its rounding error, both by FMA.
    """
    z, h = r * r, 0.5 * r
    c = m.fma(-h, r, 1.0)
    lost = m.fma(-h, r, 1.0 - c)
    s_tail, c_tail = horner(m, z, pick(m, SIN)), horner(m, z, pick(m, COS))
    return r, m.fma(z * r, s_tail, r_low * c), c, m.fma(z * z, c_tail, m.fma(-r, r_low, lost))


def sine_and_cosine_tails(m: Arithmetic, r: Vector) -> tuple[Vector, Vector, Vector]:
    """z = r^2 and the polynomials p with sin r = r + r z p(z) and cos r = 1 - z/2 + z^2 p(z)."""
    z = r * r
    return z, horner(m, z, pick(m, SIN)), horner(m, z, pick(m, COS))


def sincos(m: Arithmetic, x: Vector) -> tuple[Vector, Vector]:
    """sin x and cos x. The reduction and both polynomials are shared."""
    f = format_of(m)
    if m.float64:  # with less care for r_low than in `sine_and_cosine_parts`: at most 0.2 ulp each
        r, r_low, n = reduce_quarter_turns(m, m.abs(x))
        z, s_tail, c_tail = sine_and_cosine_tails(m, r)
        h = 0.5 * r
        c = m.fma(-h, r, 1.0)
        lost = m.fma(-r, h + r_low, 1.0 - c)
        s, c = r + m.fma(z * r, s_tail, r_low), c + m.fma(z * z, c_tail, lost)
    else:
        r, n = reduce_quarter_turns_roughly(m, m.abs(x))
        z, s_tail, c_tail = sine_and_cosine_tails(m, r)
        s, c = m.fma(z * r, s_tail, r), m.fma(z * z, c_tail, m.fma(z, -0.5, 1.0))
    odd = (n & 1) != 0
    top = f.width - 2  # moves bit 1 of the quadrant onto the sign bit
    quadrant = n << top
    sine = flip(m, m.where(odd, c, s), (m.bits(x) ^ quadrant) & f.sign)
    cosine = flip(m, m.where(odd, s, c), (quadrant + (1 << top)) & f.sign)  # by the next quadrant
    return sine, cosine


def sin(m: Arithmetic, x: Vector) -> Vector:
    """sin x."""
    return sincos(m, x)[0]


def cos(m: Arithmetic, x: Vector) -> Vector:
    """cos x."""
    return sincos(m, x)[1]


def tan(m: Arithmetic, x: Vector) -> Vector:
    """tan x = sin r / cos r, or -cos r / sin r where n is odd, with the quotient corrected by its remainder."""
    f = format_of(m)
    r, r_low, n = reduce_quarter_turns(m, m.abs(x))
    r, s_small, c, c_small = sine_and_cosine_parts(m, r, r_low)
    s, s_low = fast_two_sum(r, s_small)
    c, c_low = fast_two_sum(c, c_small)
    odd = (n & 1) != 0
    a, a_low = m.where(odd, c, s), m.where(odd, c_low, s_low)
    b, b_low = m.where(odd, s, c), m.where(odd, s_low, c_low)
    inverse = 1.0 / b
    q = a * inverse
    remainder = m.fma(-q, b, a) + m.fma(-q, b_low, a_low)
    sign = (m.bits(x) ^ (n << (f.width - 1))) & f.sign
    return flip(m, m.fma(remainder, inverse, q), sign)
