"""Random bodies, motions and loads for the tests of one rigid body."""

import numpy as np

from poinsot._types import Array
from poinsot.body.forces import AppliedForce, AppliedTorque, Load, total, weight
from poinsot.spatial import Inertia, Pose


def random_body(rng: np.random.Generator) -> Inertia:
    """Eight points of random mass and position: the centre of mass is not the origin, no axis is principal."""
    return Inertia.points(0.1 + rng.random(8), rng.standard_normal((8, 3)))


def random_motion(rng: np.random.Generator) -> tuple[Pose, Array]:
    return Pose.exp(rng.standard_normal(6)), rng.standard_normal(6)


def random_load(rng: np.random.Generator, body: Inertia) -> Load:
    """Weight, a force that depends on time and position, a drag, a spring to a point of the world, and two torques."""
    a, b, c = rng.standard_normal((3, 3))
    w, k, d = 1 + rng.random(3)
    points = rng.standard_normal((3, 3))
    return total(
        [
            weight(body),
            AppliedForce(lambda t, X, V: a * np.cos(w * t) + 0.3 * X.p, points[0]),
            AppliedForce(lambda t, X, V: -d * (V[3:] + np.cross(V[:3], points[1])), points[1], axes="body"),
            AppliedForce(lambda t, X, V: k * (b - X @ points[2]), points[2]),
            AppliedTorque(lambda t, X, V: np.sin(w * t) * c, axes="body"),
            AppliedTorque(0.2 * a),
        ]
    )


def unphysical(moments: tuple[float, float, float]) -> Inertia:
    """Moments that no mass distribution has, but for which Euler's equations are still valid mathematics."""
    inertia = object.__new__(Inertia)
    for name, value in (("mass", 1.0), ("com", np.zeros(3)), ("moment", np.diag(moments))):
        object.__setattr__(inertia, name, value)
    return inertia
