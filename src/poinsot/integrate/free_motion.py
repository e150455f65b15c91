"""Free rotation, exact to rounding: Poinsot's motion over one step, by the addition theorem of elliptic functions.

Euler's equations, omega_i' = a_i omega_j omega_k, are solved by functions of one Weierstrass function wp: at any time
wp(u) = e_i + a_j a_k omega_i^2 for each axis i. The constants e_i follow from omega, and wp(h) is a short series. The
angular velocity after the step h is then algebraic, and on the same polhode however short the series is: energy and
angular momentum are conserved. What remains is the angle phi about L, an integral of the third kind. It follows from a
solution N of Lame's equation, N'' = (2 wp + V) N, by

    phi' - |L| / I_3 = sqrt(wp - V) sin(phi - h |L| / I_3 - arg N),

whose left side is known. Rest, a sphere, a symmetric top and the separatrix are not special cases.

Whittaker, Analytical Dynamics (1904), section 69; Whittaker and Watson, Modern Analysis (1927), 20.3 and 23.7.
"""

from typing import Any

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.spatial import quaternion
from poinsot.spatial.arrays import as_array

_J, _K = [1, 2, 0], [2, 0, 1]  # the axes that follow each axis
_AT_REST = 1e-37  # (rad/s)^2; keeps 0/0 away, in float32 too
_SMALL = 1e-20  # rad^2; below it the rotation is h omega to the last digit


def free_motion(q: ArrayLike, L: ArrayLike, moments: ArrayLike, h: float | Array, terms: int = 10) -> Array:
    """The attitude q_WB (4,) after the time h [s] of torque-free rotation.

    L (3,) [kg m^2/s] is the angular momentum in world axes, moments (3,) [kg m^2] are the principal moments along the
    axes of B, the greatest last. With ten terms it is exact to rounding while the body rotates by 0.6 rad or less;
    beyond that the error grows steeply, and from about a quarter of the polhode on the result is NaN.
    """
    q, moments = as_array(q), as_array(moments)
    I = moments / moments[2]
    a = (I[_J] - I[_K]) / I
    b = a[_J] * a[_K]
    l = quaternion.rotate(quaternion.conjugate(q), as_array(L) / moments[2])  # L / I_3 in body axes [rad/s]
    omega, l2 = l / I, l @ l + _AT_REST
    rate, twice_energy = np.sqrt(l2), l @ omega

    s = h * h * (b * omega * omega)
    w = np.sum(s) / 3  # h^2 wp(u)
    e = w - s  # h^2 e_i, whose sum is zero
    c = _weierstrass(e, terms)
    wp = 1 + sum(reversed(c))  # h^2 wp(h)
    P = np.sqrt(wp - e)
    after = (omega * P[_J] * P[_K] + h * a * omega[_J] * omega[_K] * P) / (wp - w)
    l_after = I * after

    V = e[2] + h * h * b[2] * l2  # h^2 wp where the body would spin about its third axis alone
    real, imaginary = _lame(c, V, h**3 * b[2] * rate * (twice_energy - l2))
    share = 1 / (l2 + l @ l_after)
    y = h * rate * ((twice_energy + omega @ l_after) * share - 1)  # h (phi' - |L| / I_3)
    x = np.sqrt(wp - V - y * y)
    part, other = wp - V + (real * x - imaginary * y), real * y + imaginary * x
    c0, s0 = np.cos(0.5 * h * rate), np.sin(0.5 * h * rate)
    cosine, sine = c0 * part - s0 * other, c0 * other + s0 * part  # of phi / 2, times one and the same number

    # About l by phi, then the shortest way from l to l_after.
    v = share * (sine * rate * (l + l_after) - cosine * np.cross(l, l_after))
    v = np.where(h * h * l2 > _SMALL, v, 0.25 * h * cosine * (omega + after))
    return quaternion.normalize(quaternion.product(q, np.concatenate([cosine[None], v])))


def _weierstrass(e: Array, terms: int) -> list[Any]:
    """c_n h^2n for n = 2, 3, ..., where h^2 wp(h) = 1 + c_2 h^4 + c_3 h^6 + ... Abramowitz and Stegun (18.5.1)."""
    c = [e @ e / 10, e[0] * e[1] * e[2] / 7]
    for n in range(4, terms + 1):
        c.append(3 / ((2 * n + 1) * (n - 3)) * sum(c[m - 2] * c[n - m - 2] for m in range(2, n - 1)))
    return c


def _lame(c: list[Any], V: Any, C: Any) -> tuple[Any, Any]:
    """h N(h), its even powers, which are real, and its odd ones, which are imaginary: N = 1/h - V h/2 - i C h^2/3 + ...

    V and C come with their powers of h.
    """
    even, odd = [1.0, -V / 2], [0.0, -C / 3]
    for n in range(2, len(c) + 2):
        for series, k in ((even, 2 * n), (odd, 2 * n + 1)):
            earlier = sum(c[m - 2] * series[n - m] for m in range(2, n + 1))
            series.append((V * series[n - 1] + 2 * earlier) / (k * (k - 3)))
    return sum(reversed(even)), sum(reversed(odd))
