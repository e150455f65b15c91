"""The default job: a T-handle spun in free fall, that flips over again and again.

It spins about the axis of its middle moment of inertia, which is unstable. Euler (1758) has the equations, Poinsot
(1834) the picture, and Dzhanibekov saw it happen to a wing nut in orbit in 1985.
"""

import numpy as np

from poinsot._types import Array
from poinsot.integrate.single import Trajectory, simulate
from poinsot.spatial import Inertia, Pose, rotation

ALUMINIUM = 2700.0  # kg/m^3
SPIN = np.array([6.0, 1e-3, 1e-3])  # rad/s, in body axes: about x, almost


def t_handle() -> Inertia:
    """A bar of 12 cm along y on a stem of 7 cm along x, aluminium rods of 1 cm radius, about their common centre."""
    bar = Inertia.cylinder(ALUMINIUM * np.pi * 0.01**2 * 0.12, 0.01, 0.12)
    stem = Inertia.cylinder(ALUMINIUM * np.pi * 0.01**2 * 0.07, 0.01, 0.07)
    whole = Pose(rotation.about_x(np.pi / 2)) @ bar + Pose(rotation.about_y(np.pi / 2), (0.045, 0.0, 0.0)) @ stem
    return Pose(p=-whole.com) @ whole


def spin(duration: float = 60.0, step: float = 1e-3, records: int = 3000) -> Trajectory:
    """Let the T-handle spin freely."""
    return simulate(t_handle(), V_WB_B=[*SPIN, 0.0, 0.0, 0.0], duration=duration, step=step, records=records)


def flips(motion: Trajectory) -> Array:
    """The times [s] at which the T-handle has turned half over: its spin about the stem changes sign."""
    rate = motion.angular_velocity[:, 0]
    before = np.flatnonzero(rate[:-1] * rate[1:] < 0)
    share = rate[before] / (rate[before] - rate[before + 1])
    return motion.time[before] + share * np.diff(motion.time)[before]
