"""The default job: a T-handle spun in free fall, that flips over again and again.

It spins about the axis of its middle moment of inertia, which is unstable. Euler (1758) has the equations, Poinsot
(1834) the picture, and Dzhanibekov saw it happen to a wing nut in orbit in 1985.
"""

from dataclasses import dataclass

import numpy as np

from poinsot._types import Array
from poinsot.fuse import fori_loop, kernel
from poinsot.integrate.splitting import free_rotation
from poinsot.spatial import Inertia, Pose, quaternion, rotation

ALUMINIUM = 2700.0  # kg/m^3


def t_handle() -> Inertia:
    """A bar of 12 cm along y on a stem of 7 cm along x, aluminium rods of 1 cm radius, about their common centre."""
    bar = Inertia.cylinder(ALUMINIUM * np.pi * 0.01**2 * 0.12, 0.01, 0.12)
    stem = Inertia.cylinder(ALUMINIUM * np.pi * 0.01**2 * 0.07, 0.01, 0.07)
    whole = Pose(rotation.about_x(np.pi / 2)) @ bar + Pose(rotation.about_y(np.pi / 2), (0.045, 0.0, 0.0)) @ stem
    return Pose(p=-whole.com) @ whole


@dataclass(frozen=True)
class FreeSpin:
    """A torque-free rotation: times (n,) [s], attitudes q_WB (n, 4), angular momentum (3,) in the world [kg m^2/s]."""

    inertia: Inertia
    time: Array
    orientation: Array
    momentum: Array

    @property
    def angular_velocity(self) -> Array:
        """omega_B (n, 3) [rad/s], in body axes."""
        Pi = quaternion.rotate(quaternion.conjugate(self.orientation), self.momentum)
        return np.linalg.solve(self.inertia.moment, Pi[..., None])[..., 0]

    @property
    def energy(self) -> Array:
        """Kinetic energy (n,) [J]."""
        omega = self.angular_velocity
        return 0.5 * np.sum(omega * (omega @ self.inertia.moment), axis=-1)

    @property
    def spin_axis(self) -> int:
        """The body axis about which it was spun."""
        return int(np.argmax(np.abs(self.angular_velocity[0])))

    def flips(self) -> Array:
        """The times [s] at which the body has turned half over: its spin about that axis changes sign."""
        spin = self.angular_velocity[:, self.spin_axis]
        before = np.flatnonzero(spin[:-1] * spin[1:] < 0)
        share = spin[before] / (spin[before] - spin[before + 1])
        return self.time[before] + share * np.diff(self.time)[before]


def spin(inertia: Inertia, omega: Array, duration: float, step: float, every: int) -> FreeSpin:
    """Let a body whose principal axes are its body axes spin freely from omega (3,) [rad/s], recording now and then."""
    moments = np.diag(inertia.moment)

    @kernel("(4),(3)->(4)")
    def advance(q: Array, L: Array) -> Array:
        return fori_loop(every, lambda _, q: free_rotation(q, L, moments, step, order=4), q)

    records = round(duration / step) // every
    L = moments * omega
    attitudes = [quaternion.identity()]
    for _ in range(records):
        attitudes.append(advance(attitudes[-1], L))
    return FreeSpin(inertia, step * every * np.arange(records + 1), np.array(attitudes), L)
