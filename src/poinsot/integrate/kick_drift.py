"""Kick and drift: forces change momenta while nothing moves, then bodies move freely; the two parts of a splitting."""

from collections.abc import Callable
from typing import Any, TypeAlias

from poinsot._types import Array, Scalar
from poinsot.integrate import schemes
from poinsot.spatial import Inertia, quaternion

FreeRotation: TypeAlias = Callable[[Any, Any, Array, Any], Array]  # (q_WB, L, moments, h) -> q_WB after free rotation
Rotation: TypeAlias = Callable[[Array, Array, Any], Array]  # (q_WB, L, h) -> q_WB


def kicked(forces: Callable[[Any], Any], t: Scalar, momenta: Any, h: Scalar) -> Any:
    """The momenta after P' = F, L' = tau for a time h [s] in which nothing moves, by RK4; forces(momenta) -> (F, tau).

    For forces that do not depend on velocity the four stages are one and the same, and only one is compiled.
    """
    return schemes.runge_kutta(schemes.RK4, lambda _, p: forces(p), t, momenta, h)


def drifted(inertia: Inertia, x: Array, P: Array, h: Scalar) -> Array:
    """The centre of mass (3,) [m] after a time h [s] of free motion: x' = P / m."""
    after: Array = x + h / inertia.mass * P
    return after


def free_attitude(inertia: Inertia, rotate: FreeRotation) -> Rotation:
    """The attitude q_WB (4,) of a body after free rotation, which `rotate` knows about principal axes."""
    moments, R_BP = inertia.principal()

    def rotated(attitude: Array, L: Array, h: Scalar) -> Array:
        q_BP = quaternion.from_matrix(R_BP)
        q_WP = rotate(quaternion.product(attitude, q_BP), L, moments, h)
        return quaternion.product(q_WP, quaternion.conjugate(q_BP))

    return rotated
