"""Forces and torques on one body, and their total wrench.

Collect all forces and their points of application, and sum force and torque: step 2 of de Nivelle, section 4.3.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.spatial import Inertia, Pose, motion
from poinsot.spatial.arrays import as_array

Value: TypeAlias = ArrayLike | Callable[[float, Pose, Array], ArrayLike]
Load: TypeAlias = Callable[[float, Pose, Array], Array]
"""(t [s], X_WB, V_WB_B) -> the total wrench F_B = (moment, force) [N m, N] about B's origin, in B's axes."""

_AXES = ("world", "body")


@dataclass(frozen=True)
class AppliedForce:
    """A force [N] at a point [m] of the body, in B's coordinates. Its value may be a function of (t, X_WB, V_WB_B)."""

    value: Value
    point: ArrayLike = (0.0, 0.0, 0.0)
    axes: str = "world"

    def __post_init__(self) -> None:
        _check_axes("force", self.axes)

    def wrench(self, t: float, X_WB: Pose, V_WB_B: Array) -> Array:
        """F_B = (p x f, f), (6,), about B's origin in B's axes."""
        f = _in_body(self.value, self.axes, t, X_WB, V_WB_B)
        return np.concatenate([np.cross(as_array(self.point), f), f])


@dataclass(frozen=True)
class AppliedTorque:
    """A pure couple [N m] on the body, without a point of application. Its value may be a function as for a force."""

    value: Value
    axes: str = "world"

    def __post_init__(self) -> None:
        _check_axes("torque", self.axes)

    def wrench(self, t: float, X_WB: Pose, V_WB_B: Array) -> Array:
        """F_B = (m, 0), (6,), in B's axes."""
        m = _in_body(self.value, self.axes, t, X_WB, V_WB_B)
        return np.concatenate([m, 0.0 * m])


def weight(inertia: Inertia, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> AppliedForce:
    """The weight m g, which acts at the centre of mass; gravity (3,) [m/s^2] in the world. De Nivelle, theorem 3.10."""
    return AppliedForce(inertia.mass * as_array(gravity), point=inertia.com)


def total(loads: Iterable[AppliedForce | AppliedTorque]) -> Load:
    """The sum of the wrenches of all forces and torques, about B's origin in B's axes."""
    loads = tuple(loads)

    def load(t: float, X_WB: Pose, V_WB_B: Array) -> Array:
        return sum((each.wrench(t, X_WB, V_WB_B) for each in loads), start=np.zeros(6))

    return load


def at_centre(F_B: Array, inertia: Inertia, X_WB: Pose) -> tuple[Array, Array]:
    """Total force [N] and torque [N m] about the centre of mass, both (3,) in world axes. Peskin (17), (19)."""
    F = motion.wrench_at(F_B, inertia.com)
    return X_WB.R @ F[3:], X_WB.R @ F[:3]


def _in_body(value: Value, axes: str, t: float, X_WB: Pose, V_WB_B: Array) -> Array:
    a = as_array(value(t, X_WB, V_WB_B) if callable(value) else value)
    return a if axes == "body" else X_WB.R.T @ a


def _check_axes(what: str, axes: str) -> None:
    if axes not in _AXES:
        raise ValueError(f"axes of a {what} must be 'world' or 'body', not {axes!r}.")
