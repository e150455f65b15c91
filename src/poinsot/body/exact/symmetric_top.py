"""The free symmetric body: no torque, two equal moments of inertia. Everything is elementary.

Whittaker, Analytical Dynamics (1904), section 69; Goldstein, Classical Mechanics, section 5.6.
"""

from dataclasses import dataclass

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.body.exact import checks
from poinsot.spatial import quaternion

Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class SymmetricTop:
    """A body on which no torque acts, symmetric about its z axis: its exact orientation and angular velocity.

    transverse, axial: the transverse and axial moments of inertia A and C [kg m^2] about the centre of mass. q0: the
    orientation q_WB at t = 0, wxyz. omega0: the angular velocity at t = 0 [rad/s], body axes.
    """

    transverse: float
    axial: float
    q0: Array
    omega0: Array

    def __post_init__(self) -> None:
        for name in ("transverse", "axial"):
            object.__setattr__(self, name, checks.positive(name, getattr(self, name)))
        object.__setattr__(self, "q0", checks.orientation(self.q0))
        object.__setattr__(self, "omega0", checks.angular_velocity(self.omega0))

    @property
    def body_rate(self) -> float:
        """n = (C - A)/A omega_z [rad/s]: omega rotates about the z axis in the body, with the period 2 pi / n."""
        return float((self.axial - self.transverse) / self.transverse * self.omega0[2])

    @property
    def precession_rate(self) -> float:
        """|L| / A [rad/s]: the z axis rotates about L in the world, with the period 2 pi A / |L|."""
        return float(np.linalg.norm(self.angular_momentum)) / self.transverse

    @property
    def energy(self) -> float:
        """E = omega . I omega / 2 [J]."""
        x, y, z = self.omega0
        return float(0.5 * (self.transverse * (x * x + y * y) + self.axial * z * z))

    @property
    def angular_momentum(self) -> Array:
        """L = R I omega [kg m^2/s], (3,), world axes."""
        moments = np.array([self.transverse, self.transverse, self.axial])
        return quaternion.rotate(self.q0, moments * self.omega0)

    def angular_velocity(self, t: ArrayLike) -> Array:
        """omega_B [rad/s] in body axes at the times t [s], (...) -> (..., 3): omega0, rotated about z by n t."""
        x, y, z = self.omega0
        angle = self.body_rate * checks.times(t)
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([c * x - s * y, s * x + c * y, np.full_like(angle, z)], axis=-1)

    def orientation(self, t: ArrayLike) -> Array:
        """q_WB, wxyz, at the times t [s], (...) -> (..., 4): R = exp(t L/A) R_0 exp(-n t z), for omega = L/A - n z."""
        t = checks.times(t)
        precessed = quaternion.integrate_world(self.q0, self.angular_momentum / self.transverse, t)
        return quaternion.integrate(precessed, -self.body_rate * Z, t)
