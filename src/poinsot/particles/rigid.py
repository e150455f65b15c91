"""The rigid speed function nearest to an object: by definition 4.1 it moves rigidly if its velocities fit one."""

from dataclasses import dataclass

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.particles.objects import Particles, angular_momentum, centre_of_mass, centre_velocity, total_mass
from poinsot.spatial import Inertia
from poinsot.spatial.arrays import as_array, dot


@dataclass(frozen=True, eq=False)
class RigidSpeed:
    """V(x) = v + omega x x, de Nivelle definition 4.1, in W.

    v (3,) [m/s] is the velocity of a point at the origin of W, not that of the object; omega (3,) [rad/s]. `residual`
    [m/s] is the root of the mean of |v_i - V(x_i)|^2, weighted by mass: zero for a rigid object. `rank` is 3, or 2 if
    all points are on one line, or 0 if they coincide: then omega is not determined along the line, or not at all, and
    what is not determined is zero.
    """

    v: Array
    omega: Array
    residual: float
    rank: int

    def __call__(self, x: ArrayLike) -> Array:
        """The velocity [m/s] of a point of the rigid object at x (..., 3) [m]."""
        return self.v + np.cross(self.omega, as_array(x))


def rigid_speed_function(particles: Particles) -> RigidSpeed:
    """The rigid speed function nearest to the velocities, in the sense of least squares weighted by mass.

    It is that of the rigid body with the same momentum and angular momentum: v_C = P/m and I omega = L, Peskin (25),
    (37). I is singular if there are fewer than three points or all are on one line, Peskin p. 9; then omega is the
    shortest that fits. An object moves rigidly if the residual is zero up to rounding.
    """
    if particles.positions.ndim != 2:
        raise ValueError(
            f"one instant at a time: positions must have shape (n, 3); got {particles.positions.shape}. "
            "For a record k of a motion take `trajectory[k]`."
        )
    C, V = centre_of_mass(particles), centre_velocity(particles)
    inertia = Inertia.points(particles.masses, particles.positions)
    rank = inertia.rank
    omega = np.zeros(3)
    if rank > 0:
        moments, axes = np.linalg.eigh(inertia.moment)
        L = axes.T @ angular_momentum(particles)
        regular = slice(3 - rank, 3)  # on a line, the first moment is zero and its axis is the line
        omega = axes[:, regular] @ (L[regular] / moments[regular])
    fit = V + np.cross(omega, particles.positions - C)
    deviation = particles.velocities - fit
    residual = np.sqrt(np.sum(particles.masses * dot(deviation, deviation)) / total_mass(particles))
    return RigidSpeed(V - np.cross(omega, C), omega, float(residual), rank)
