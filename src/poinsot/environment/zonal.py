"""The gravitation of a body of revolution: zonal harmonics J_n about the z axis, as an energy and its derivatives.

With J_0 = -1, s = z/r and P_n the polynomials of Legendre, the energy of a unit of mass at p, |p| = r, and its
derivatives are sums of terms of one form, with k_n = mu J_n a^n / r^(n+1):

    U      = sum k_n P_n(s)
    grad U = sum k_n/r [P'_n z - P'_(n+1) u]
    Hess U = sum k_n/r^2 [P''_n z z^T - P''_(n+1) (z u^T + u z^T) + P''_(n+2) u u^T - P'_(n+1) E]

with the unit vectors z and u = p/r, because (n+1) P_n + s P'_n = P'_(n+1).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from poinsot._types import Array, ArrayLike, Scalar
from poinsot.spatial.arrays import components, matrix, vector

Zonal = Mapping[int, float]


def potential(p: ArrayLike, mu: Scalar, a: float, J: Zonal) -> Array:
    """U [J/kg] at p (..., 3) [m] of mu [m^3/s^2], the radius a [m] and the harmonics J_n; 0 at infinity."""
    _, _, k, P = _harmonics(p, mu, a, J)
    return _sum(k_n * P[n][0] for n, k_n in k.items())


def gravitation(p: ArrayLike, mu: Scalar, a: float, J: Zonal) -> Array:
    """-grad U (..., 3) [m/s^2] at p (..., 3) [m]."""
    r, (x, y, z), k, P = _harmonics(p, mu, a, J)
    along = _sum(k_n / r * P[n + 1][1] for n, k_n in k.items())
    axial = _sum(k_n / r * P[n][1] for n, k_n in k.items())
    return vector(along * x, along * y, along * z - axial)


def gravity_gradient(p: ArrayLike, mu: Scalar, a: float, J: Zonal) -> Array:
    """-Hess U (..., 3, 3) [1/s^2] at p (..., 3) [m]: how gravitation changes from place to place. Its trace is 0."""
    r, (x, y, z), k, P = _harmonics(p, mu, a, J)
    k = {n: -k_n / r**2 for n, k_n in k.items()}
    uu = _sum(k_n * P[n + 2][2] for n, k_n in k.items())
    zu = _sum(k_n * P[n + 1][2] for n, k_n in k.items())
    zz = _sum(k_n * P[n][2] for n, k_n in k.items())
    e = _sum(k_n * P[n + 1][1] for n, k_n in k.items())
    xy, xz, yz = uu * x * y, uu * x * z - zu * x, uu * y * z - zu * y
    return matrix(
        [[uu * x * x - e, xy, xz], [xy, uu * y * y - e, yz], [xz, yz, (uu * z - 2 * zu) * z + zz - e]],
    )


def _harmonics(p: ArrayLike, mu: Scalar, a: float, J: Zonal) -> tuple[Array, tuple[Array, ...], dict[int, Any], Any]:
    """r, the unit vector u = p/r, the k_n, and the polynomials P_n with their derivatives at s = u_z."""
    x, y, z = components(p)
    r = np.sqrt(x * x + y * y + z * z)
    u = (x / r, y / r, z / r)
    k = {n: mu * J_n / r * (a / r) ** n for n, J_n in {0: -1.0, **J}.items()}
    return r, u, k, legendre(u[2], max(k) + 2)


def legendre(s: Array, order: int) -> list[tuple[Any, Any, Any, Any]]:
    """P_n at s and its first three derivatives, for n from 0 to an order."""
    P: list[tuple[Any, Any, Any, Any]] = [(1.0, 0.0, 0.0, 0.0), (s, 1.0, 0.0, 0.0)]
    for n in range(1, order):
        (p, d, dd, ddd), before = P[n], P[n - 1][0]
        polynomial = ((2 * n + 1) * s * p - n * before) / (n + 1)
        P.append((polynomial, (n + 1) * p + s * d, (n + 2) * d + s * dd, (n + 3) * dd + s * ddd))
    return P


def _sum(terms: Any) -> Any:
    """The sum, the largest term last, so that the small ones are not lost one by one."""
    return sum(reversed(list(terms)))
