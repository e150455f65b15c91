"""The pull of a body of revolution on a rigid body: energy, force and torque, from its zonal harmonics.

A body of mass m and moment I about its centre of mass, at p = r u from the centre of a planet with the axis z, has the
energy of its mass and of its extent in the field U of `zonal`, up to terms of the order (size/r)^4:

    E = m U - h/2,   h = tr(Hess U I) = sum k_n/r^2 [P''_n A - 2 P''_(n+1) B + P''_(n+2) C - P'_(n+1) T]

with A = z.I z, B = z.I u, C = u.I u, T = tr I; for n = 0 alone this is the formula of MacCullagh. The force is -grad E,
with the gradient of h once more from (n+1) P_n + s P'_n = P'_(n+1):

    grad h = sum k_n/r^3 { z [P'''_n A - 2 P'''_(n+1) B + P'''_(n+2) C - P''_(n+1) T]
                         - u [P'''_(n+1) A - 2 P'''_(n+2) B + P'''_(n+3) C - P''_(n+2) T]
                         - 2 P''_(n+1) I z + 2 P''_(n+2) I u }

and the torque about the centre of mass, the derivative of E by rotations, is the sum of (I a) x b over the terms a b^T
of Hess U. All vectors are in one frame, most often the body's own.
"""

from typing import Any, NamedTuple

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.environment.zonal import Zonal, legendre


class Planet(NamedTuple):
    """mu [m^3/s^2], the radius [m] of its harmonics, and these by n."""

    mu: Any
    radius: float
    zonal: Zonal


class Pull(NamedTuple):
    """Energy [J], force (3,) [N], and torque (3,) [N m] about the centre of mass."""

    energy: Array
    force: Array
    torque: Array


def pull(planet: Planet, p: Array, z: Array, m: Scalar, I: Array) -> Pull:
    """The pull on a mass m [kg] with the moment I (3, 3) [kg m^2] about its centre of mass at p (3,) [m] from the
    planet's centre; z (3,): the planet's axis."""
    near = 1 / np.sqrt(p @ p)  # 1/r: the only division
    u = p * near
    k = {n: planet.mu * J_n * near * (planet.radius * near) ** n for n, J_n in {0: -1.0, **planet.zonal}.items()}
    P = legendre(u @ z, max(k) + 3)

    def terms(shift: int, derivative: int, power: int) -> Any:
        """The sum of k_n/r^power times a derivative of P_(n + shift), the largest term last."""
        return sum(k_n * near**power * P[n + shift][derivative] for n, k_n in reversed(k.items()))

    Iz, Iu, T = I @ z, I @ u, I[0, 0] + I[1, 1] + I[2, 2]
    A, B, C = z @ Iz, z @ Iu, u @ Iu
    zz, zu, uu, e = terms(0, 2, 2), -terms(1, 2, 2), terms(2, 2, 2), -terms(1, 1, 2)  # of Hess U
    h = zz * A + 2 * zu * B + uu * C + e * T
    along_z = terms(0, 3, 3) * A - 2 * terms(1, 3, 3) * B + terms(2, 3, 3) * C - terms(1, 2, 3) * T
    along_u = terms(1, 3, 3) * A - 2 * terms(2, 3, 3) * B + terms(3, 3, 3) * C - terms(2, 2, 3) * T
    grad_U = terms(0, 1, 1) * z - terms(1, 1, 1) * u
    grad_h = along_z * z - along_u * u - 2 * terms(1, 2, 3) * Iz + 2 * terms(2, 2, 3) * Iu
    torque = np.cross(Iu, uu * u + zu * z) + np.cross(Iz, zu * u + zz * z)
    return Pull(m * terms(0, 0, 0) - 0.5 * h, 0.5 * grad_h - m * grad_U, torque)
