"""Jacobi's elliptic functions, and the elliptic integrals that the motion of a top needs, in NumPy.

Functions take the complementary parameter mc = 1 - m = k'^2, 0 <= mc <= 1, instead of m = k^2: it keeps its digits
where m is close to 1. Integrals are sums of positive terms, so there is no cancellation.
"""

from math import inf, pi, sqrt
from typing import NamedTuple

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.spatial.series import arctan_ratio

ONE = np.ones(())


class Jacobi(NamedTuple):
    """sn, cn, dn of u, and the number of half periods 2K in u, rounded to the nearest integer."""

    u: Array
    sn: Array
    cn: Array
    dn: Array
    half_periods: Array

    @property
    def sign(self) -> Array:
        """The factor 1 or -1 of sn and cn when u is reduced to -K <= u <= K."""
        return 1.0 - 2.0 * (self.half_periods % 2.0)

    @property
    def am(self) -> Array:
        """The amplitude [rad], continuous in u: sn = sin(am), cn = cos(am)."""
        return pi * self.half_periods + np.arctan2(self.sign * self.sn, self.sign * self.cn)


def quarter_period(mc: float) -> float:
    """K = F(pi/2 | m) = pi / (2 agm(1, k')); infinite at mc = 0. DLMF 19.8.5."""
    a, b = 1.0, sqrt(mc)
    while abs(a - b) > 1e-8 * a > 0.0:  # the next difference is of the order of its square
        a, b = 0.5 * (a + b), sqrt(a * b)
    return pi / (a + b) if mc > 0.0 else inf


def jacobi(u: ArrayLike, mc: float) -> Jacobi:
    """sn(u | m), cn(u | m), dn(u | m) for real u of any shape.

    Landen's transformations reduce the modulus to the nearer limit: the circular functions at m = 0, or the hyperbolic
    functions at m = 1. DLMF 22.7.
    """
    u = np.asarray(u, dtype=float)
    K = quarter_period(mc)
    half_periods = np.rint(u / (2.0 * K))
    r = u - 2.0 * K * half_periods if mc > 0.0 else u
    k, k1 = sqrt(1.0 - mc), sqrt(mc)
    s, c, d = _descend(r, k, k1) if k < k1 else _ascend(r, k, k1)
    sign = 1.0 - 2.0 * (half_periods % 2.0)
    half_periods = half_periods + np.where(c < 0.0, np.sign(s), 0.0)  # rounding took u across +-K
    return Jacobi(u, sign * s, sign * c, d, half_periods)


def _descend(u: Array, k: float, k1: float) -> tuple[Array, Array, Array]:
    """sn, cn, dn from those of the smaller modulus l = (1 - k')/(1 + k'). DLMF 22.7.2 to 22.7.4."""
    if k < 1e-17:
        return np.sin(u), np.cos(u), np.ones_like(u)
    l = (k / (1.0 + k1)) ** 2
    s, c, d = _descend(u / (1.0 + l), l, 2.0 * sqrt(k1) / (1.0 + k1))
    below = 1.0 + l * s * s
    return (1.0 + l) * s / below, c * d / below, (1.0 - l * s * s) / below


def _ascend(u: Array, k: float, k1: float) -> tuple[Array, Array, Array]:
    """sn, cn, dn from those of the larger modulus, whose complement is l1 = (1 - k)/(1 + k). DLMF 22.7.6 to 22.7.8."""
    if k1 == 0.0:
        return _hyperbolic(u)
    l1 = (k1 / (1.0 + k)) ** 2
    inner = u / (1.0 + l1)  # at most K/2 of the larger modulus: far from K, a tiny l1 has no effect
    s, c, d = _hyperbolic(inner) if l1 < 1e-17 else _ascend(inner, 2.0 * sqrt(k) / (1.0 + k), l1)
    return (1.0 + l1) * s * c / d, (d * d - l1) / ((1.0 - l1) * d), (d * d + l1) / ((1.0 + l1) * d)


def _hyperbolic(u: Array) -> tuple[Array, Array, Array]:
    sech = 2.0 * np.exp(-np.abs(u)) / (1.0 + np.exp(-2.0 * np.abs(u)))
    return np.tanh(u), sech, sech


def first_kind(sn: ArrayLike, cn: ArrayLike, mc: float) -> Array:
    """u with -K <= u <= K, from sn(u | m) and cn(u | m) >= 0: F(asin sn | m) = sn R_F(cn^2, dn^2, 1). DLMF 19.25.5."""
    s, c = np.asarray(sn, dtype=float), np.asarray(cn, dtype=float)
    return s * carlson_rf(c * c, c * c + mc * (s * s), 1.0)


def third_kind(j: Jacobi, h: float, mc: float) -> Array:
    """The integral of sn^2 / (cn^2 + h sn^2) from 0 to u, for h >= 1 or 0 < h <= mc.

    It is (Pi(n) - F) / n with n = 1 - h, regular at n = 0: sn^3 R_J(cn^2, dn^2, 1, cn^2 + h sn^2) / 3 up to the first
    quarter period, plus twice its value there for every further half period. DLMF 19.25.14.
    """
    s2, c2 = j.sn * j.sn, j.cn * j.cn
    if mc <= 0.0:
        return (j.u - j.sn * arctan_ratio((h - 1.0) * s2, ONE)) / h
    complete = carlson_rj(0.0, mc, 1.0, h)
    within = j.sign * j.sn * s2 * carlson_rj(c2, c2 + mc * s2, 1.0, c2 + h * s2)
    return (2.0 * j.half_periods * complete + within) / 3.0


def carlson_rf(x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
    """R_F = 1/2 int_0^oo dt / sqrt((t + x)(t + y)(t + z)), at most one of them zero. DLMF 19.16.1, 19.36.1."""
    x, y, z = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (x, y, z)))
    while True:
        mean = (x + y + z) / 3.0
        X, Y, Z = 1.0 - x / mean, 1.0 - y / mean, 1.0 - z / mean
        if not _largest(X, Y, Z) > 0.003:
            break
        pairs = _pairs(x, y, z)
        x, y, z = 0.25 * (x + pairs), 0.25 * (y + pairs), 0.25 * (z + pairs)
    return _rf_series(X, Y, Z) / np.sqrt(mean)


def _rf_series(X: Array, Y: Array, Z: Array) -> Array:
    """R_F(1 - X, 1 - Y, 1 - Z) where X + Y + Z = 0; what is left out is of seventh order. DLMF 19.36.1."""
    E2, E3 = X * Y - Z * Z, X * Y * Z
    series = 1.0 - E2 / 10.0 + E3 / 14.0 + E2 * E2 / 24.0 - 3.0 / 44.0 * E2 * E3 - 5.0 / 208.0 * E2**3
    return series + 3.0 / 104.0 * E3 * E3


def carlson_rj(x: ArrayLike, y: ArrayLike, z: ArrayLike, p: ArrayLike) -> Array:
    """R_J = 3/2 int_0^oo dt / ((t + p) sqrt((t + x)(t + y)(t + z))), in the circular cases (p-x)(p-y)(p-z) >= 0.

    DLMF 19.16.2, 19.36.2; Carlson, Numerical Algorithms 10 (1995).
    """
    x, y, z, p = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (x, y, z, p)))
    delta, total, scale = (p - x) * (p - y) * (p - z), np.zeros_like(p), 1.0
    while True:
        mean = (x + y + z + 2.0 * p) / 5.0
        X, Y, Z, P = 1.0 - x / mean, 1.0 - y / mean, 1.0 - z / mean, 1.0 - p / mean
        if not _largest(X, Y, Z, P) > 0.0015:
            break
        d = (np.sqrt(p) + np.sqrt(x)) * (np.sqrt(p) + np.sqrt(y)) * (np.sqrt(p) + np.sqrt(z))
        total = total + scale / d * arctan_ratio(scale**3 * delta / d / d, ONE)  # R_C(1, 1 + e) = atan(sqrt(e))/sqrt(e)
        pairs = _pairs(x, y, z)
        x, y, z, p = 0.25 * (x + pairs), 0.25 * (y + pairs), 0.25 * (z + pairs), 0.25 * (p + pairs)
        scale *= 0.25
    return scale * _rj_series(X, Y, Z, P) / (mean * np.sqrt(mean)) + 6.0 * total


def _rj_series(X: Array, Y: Array, Z: Array, P: Array) -> Array:
    """R_J(1 - X, 1 - Y, 1 - Z, 1 - P) where X + Y + Z + 2 P = 0; what is left out is of sixth order. DLMF 19.36.2."""
    E2 = X * Y + X * Z + Y * Z - 3.0 * P * P
    E3 = X * Y * Z + 2.0 * E2 * P + 4.0 * P**3
    E4, E5 = (2.0 * X * Y * Z + E2 * P + 3.0 * P**3) * P, X * Y * Z * P * P
    series = 1.0 - 3.0 / 14.0 * E2 + E3 / 6.0 + 9.0 / 88.0 * E2 * E2 - 3.0 / 22.0 * E4 - 9.0 / 52.0 * E2 * E3
    return series + 3.0 / 26.0 * E5


def _pairs(x: Array, y: Array, z: Array) -> Array:
    rx, ry, rz = np.sqrt(x), np.sqrt(y), np.sqrt(z)
    return rx * ry + (rx + ry) * rz


def _largest(*entries: Array) -> float:
    return max(float(np.max(np.abs(entry), initial=0.0)) for entry in entries)
