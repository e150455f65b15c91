"""Nutation and precession of the axis of a heavy symmetric top.

With u = cos(theta), the vertical component of the axis, and the constants

    a = L_3 / A     b = L_z / A     beta = 2 m g l / A     alpha = omega_x^2 + omega_y^2 + beta u

the axis oscillates between two roots of a cubic, (du/dt)^2 = f(u) = (1 - u^2)(alpha - beta u) - (b - a u)^2, as

    u = u_1 cn^2 w + u_2 sn^2 w,     w = rate t + w0.

The Cayley-Klein parameters q_w + i q_z = cos(theta/2) exp(i (phi + psi)/2) and q_x + i q_y = sin(theta/2)
exp(i (phi - psi)/2) stay smooth where the axis passes near the vertical and Euler's angles jump. Arguments are taken as
exact numbers and the roots computed to hundreds of digits, once per top: no digits are lost where roots meet.

Whittaker, Analytical Dynamics (1904), sections 71 to 73; Klein, The Mathematical Theory of the Top (1897).
"""

import cmath
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import copysign, hypot, sqrt

import numpy as np

from poinsot._types import Array
from poinsot.body.exact.elliptic import Jacobi, first_kind, jacobi, quarter_period, third_kind

DIGITS = 320
TINY = 1e-140  # 1 - u or 1 + u where an axis is so near to the vertical that it counts as vertical


@dataclass(frozen=True)
class Band:
    """The range of the nutation, x = 1 - u and y = 1 + u at the roots u_1 <= u_2, and the oscillation between them.
    Rate zero: the tilt is constant."""

    x1: float
    x2: float
    y1: float
    y2: float
    span: float = 0.0  # u_2 - u_1
    mc: float = 1.0
    rate: float = 0.0
    w0: float = 0.0
    sn0: float = 0.0
    cn0: float = 1.0

    @classmethod
    def around(cls, u: Fraction, du: Fraction, a: Fraction, b: Fraction, alpha: Fraction, beta: Fraction) -> "Band":
        """The band that contains u; du is its rate."""
        slope = 2 * a * (b - a * u) - 2 * u * (alpha - beta * u) - beta * (1 - u * u)  # f'(u)
        still = cls(float(1 - u), float(1 - u), float(1 + u), float(1 + u))
        separatrix = a == b and alpha == beta > 0  # it rises to the vertical in infinite time
        if du == slope == 0 or (separatrix and 1 - u < TINY):
            return still
        with localcontext(prec=DIGITS):
            A, B, Alpha, Beta, U = (Decimal(c.numerator) / Decimal(c.denominator) for c in (a, b, alpha, beta, u))
            u1, u2, top = (A * A / Beta - 1, Decimal(1), Beta) if separatrix else roots(A, B, Alpha, Beta)
            x1, y2, span = 1 - u1, 1 + u2, u2 - u1
            if span < Decimal(TINY):
                return still
            if a == b:
                x2 = 1 - u2 if alpha < beta else Decimal(0)
            else:
                x2 = (B - A) ** 2 / ((top - Beta) * x1)  # from f(1) = -(b - a)^2
            y1 = (A + B) ** 2 / ((top + Beta) * y2)  # from f(-1) = -(a + b)^2
            mc, rate = float((top - Beta * u2) / (top - Beta * u1)), float((top - Beta * u1).sqrt() / 2)
            sn, cn = (float(max(c / span, Decimal(0)).sqrt()) for c in (U - u1, u2 - U))
        sn, cn = copysign(sn, du if du else -1) / hypot(sn, cn), cn / hypot(sn, cn)
        w0 = float(first_kind(sn, cn, mc))
        lowest = float(y1) if mc == 0.0 or mc * float(y1) > TINY * TINY else 0.0
        return cls(float(x1), float(x2), lowest, float(y2), float(span), mc, rate, w0, sn, cn)

    @property
    def sign(self) -> float:
        """The sign of sn w at the start."""
        return copysign(1.0, self.sn0)

    def start(self) -> Jacobi:
        """sn, cn, dn of w0, from the tilt at t = 0; w0 itself may lack digits where it is close to +-K."""
        dn = hypot(self.cn0, sqrt(self.mc) * self.sn0)
        return Jacobi(*(np.array(c) for c in (self.w0, self.sn0, self.cn0, dn, 0.0)))


def roots(a: Decimal, b: Decimal, alpha: Decimal, beta: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    """u_1, u_2 and top = beta u_3, for the roots u_1 <= u_2 <= 1 <= u_3 of f; beta may be zero.

    Newton's iteration converges from above to the largest root of beta^2 f(top / beta); the others solve a quadratic.
    """
    c2, c1, c0 = alpha + a * a, beta * (2 * a * b - beta), beta * beta * (alpha - b * b)
    top, above = c2 + 2 * beta, Decimal("inf")
    while top < above and (slope := (3 * top - 2 * c2) * top + c1) > 0:
        top, above = top - (((top - c2) * top + c1) * top + c0) / slope, top
    product = (b * b - alpha) / top
    half = (2 * a * b - beta - beta * product) / top / 2
    apart = max(half * half - product, Decimal(0)).sqrt()
    return half - apart, half + apart, top


def from_above(j: Jacobi, mc: float) -> Jacobi:
    """sn, cn, dn of u - K, from those of u. DLMF 22.4(iii)."""
    k1, earlier = sqrt(mc), np.where(j.sign * j.sn < 0.0, 1.0, 0.0)
    return Jacobi(j.u - quarter_period(mc), -j.cn / j.dn, k1 * j.sn / j.dn, k1 / j.dn, j.half_periods - earlier)


@dataclass(frozen=True)
class Nutation:
    """The motion of a top with mgl >= 0: its band, and the constants of its precession."""

    band: Band
    total: float  # a + b
    excess: float  # b - a
    drift: float  # L_3 (1/C - 1/A)
    half_sum0: float
    half_difference0: float

    @classmethod
    def through(cls, transverse: float, axial: float, mgl: float, q_WB: Array, omega: Array) -> "Nutation":
        """The motion of the top that has this orientation and angular velocity at t = 0."""
        klein0, klein1, omega_xy = complex(q_WB[0], q_WB[3]), complex(q_WB[1], q_WB[2]), complex(omega[0], omega[1])
        klein0, klein1 = (c if abs(c) ** 2 > TINY else 0j for c in (klein0, klein1))
        numbers = (transverse, axial, klein0.real, klein1.real, klein1.imag, klein0.imag, *omega)
        A, C, w, x, y, z, wx, wy, wz = (Fraction(c) for c in numbers)
        size = w * w + x * x + y * y + z * z
        u = (w * w + z * z - x * x - y * y) / size
        up_x, up_y = 2 * (x * z - w * y) / size, 2 * (y * z + w * x) / size  # the vertical, normal to the body's axis
        a, beta = C * wz / A, 2 * Fraction(mgl) / A
        b, alpha = up_x * wx + up_y * wy + a * u, wx * wx + wy * wy + beta * u
        scale = alpha + a * a + 2 * beta
        total, excess = (c if c * c > Fraction(TINY) ** 2 * scale else Fraction(0) for c in (a + b, b - a))
        alpha = alpha if abs(alpha - beta) > Fraction(TINY) * scale else beta
        du = up_x * wy - up_y * wx
        band = Band.around(u, du, (total - excess) / 2, (total + excess) / 2, alpha, beta)
        # A parameter that starts from zero has the phase of its rate.
        half_sum = cmath.phase(klein0 if klein0 else -band.sign * klein1 * omega_xy.conjugate())
        half_difference = cmath.phase(klein1 if klein1 else klein0 * omega_xy)
        return cls(band, float(total), float(excess), float(wz - a), half_sum, half_difference)

    def at(self, t: Array) -> Jacobi:
        return jacobi(self.band.rate * t + self.band.w0, self.band.mc)

    def half_angle(self, j: Jacobi) -> tuple[Array, Array]:
        """sin(theta/2) and cos(theta/2); one that passes through zero changes its sign there."""
        band, s2, c2 = self.band, j.sn * j.sn, j.cn * j.cn
        sine = sqrt(0.5 * band.x1) * j.cn if band.x2 == 0.0 else np.sqrt(0.5 * (band.x1 * c2 + band.x2 * s2))
        if band.y1 == 0.0:
            return sine, band.sign * sqrt(0.5 * band.y2) * j.sn
        return sine, np.sqrt(0.5 * (band.y1 * c2 + band.y2 * s2))

    def half_angles(self, t: Array) -> tuple[Array, Array]:
        """(phi + psi)/2 and (phi - psi)/2 [rad], whose rates are half of (a + b)/(1 + u) + drift and of
        (b - a)/(1 - u) - drift.

        1 - u is counted from the lower root, where it is greatest, and 1 + u from the upper one, to avoid cancellation.
        """
        band, twist, now, start = self.band, self.drift * t, self.at(t), self.band.start()
        x1, x2, y1, y2, span, mc = band.x1, band.x2, band.y1, band.y2, band.span, band.mc

        def time(h: float, now: Jacobi, start: Jacobi) -> Array:
            """The integral of sn^2 / (cn^2 + h sn^2) over time [s]."""
            return (third_kind(now, h, mc) - third_kind(start, h, mc)) / band.rate if band.rate > 0.0 else 0.0 * t

        above = below = np.zeros_like(t)
        if x2 > 0.0:
            above = self.excess / x1 * (t + span / x1 * time(x2 / x1, now, start))
        if y1 > 0.0 and mc > 0.0:
            later = time(mc * y1 / y2, from_above(now, mc), from_above(start, mc))
            below = self.total / y2 * (t + mc * span / y2 * later)
        elif y1 > 0.0:  # the separatrix: dn = cn, and the integral is elementary
            swing = np.arctan(sqrt(x1 / y1) * now.sn) - np.arctan(sqrt(x1 / y1) * start.sn)
            below = self.total / 2.0 * (t + sqrt(x1 / y1) / band.rate * swing)
        return self.half_sum0 + 0.5 * (below + twist), self.half_difference0 + 0.5 * (above - twist)

    def axis_rate(self, j: Jacobi) -> Array:
        """d(theta)/dt + i sin(theta) d(phi)/dt [rad/s], complex: the rate of the axis."""
        band, (sine, cosine) = self.band, self.half_angle(j)
        around = self.excess * cosine / sine if band.x2 > 0.0 else 0.0
        around = around + (self.total * sine / cosine if band.y1 > 0.0 else 0.0)
        if band.rate == 0.0:
            return 0.5j * around + 0.0 * j.u
        sn_part = j.sn / cosine if band.y1 > 0.0 else band.sign * sqrt(2.0 / band.y2)
        cn_part = j.cn / sine if band.x2 > 0.0 else sqrt(2.0 / band.x1)
        return 0.5j * around - band.rate * band.span * j.dn * sn_part * cn_part
