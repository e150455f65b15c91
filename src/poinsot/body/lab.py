"""The lab-frame scheme of Peskin, equations (30) to (62): everything in the coordinates of the laboratory.

The angular momentum is stepped, and the angular velocity follows from I Omega = L where it is needed. Only the points
at which forces act are tracked, and three marks that give the orientation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from poinsot._types import Array
from poinsot.body.forces import Load, at_centre
from poinsot.fuse import solve_spd
from poinsot.spatial import Inertia, Pose, rotation
from poinsot.spatial.shapes import moment_of

Forces: TypeAlias = Callable[[float, Array, Array], Array]
"""(t [s], points (n, 3) [m], their velocities (n, 3) [m/s]) -> the force (n, 3) [N] on each, all in the world."""


@dataclass(frozen=True)
class LabState:
    """The variables (30): X_cm, U_cm (3,), the tracked points X (n, 3) [m] relative to X_cm, L (3,) [kg m^2/s], and the
    moment of inertia I (3, 3) [kg m^2]; all in world axes.

    `marks` (3, 3) are three more points, in its rows: one metre from X_cm along each body axis.
    """

    X_cm: Array
    U_cm: Array
    X: Array
    L: Array
    I: Array
    marks: Array


def drift(state: LabState, dt: float, masses: Array | None = None) -> LabState:
    """The body moves without forces, (37) to (39), and its inertia rotates with it, (62).

    `masses` (n,): if given, the tracked points are the whole body, and I is summed over them again, (59).
    """
    Omega = angular_velocity(state)
    R = rotation.exact(Omega, dt)  # (52)
    X, marks = state.X @ R.T, state.marks @ R.T  # (38)
    X_cm = state.X_cm + dt * state.U_cm  # (39)
    I = R @ state.I @ R.T if masses is None else moment_of((masses[:, None] * X).T @ X)  # (62) or (59)
    shape = 1.5 * np.eye(3) - 0.5 * (marks.T @ marks)  # keeps the marks orthogonal in spite of rounding
    return LabState(X_cm, state.U_cm, X @ shape, state.L, (I + I.T) / 2, marks @ shape)


def kick(state: LabState, dt: float, mass: float, F: Array, tau: Array) -> LabState:
    """The total force F [N] and torque tau [N m] about the centre of mass change the momenta: (40), (41)."""
    return LabState(state.X_cm, state.U_cm + dt / mass * F, state.X, state.L + dt * tau, state.I, state.marks)


def step(t: float, state: LabState, dt: float, mass: float, forces: Forces, masses: Array | None = None) -> LabState:
    """One time step under forces at the tracked points. First order; only torque changes L."""
    state = drift(state, dt, masses)
    F = forces(t + dt, state.X_cm + state.X, state.U_cm + np.cross(angular_velocity(state), state.X))
    return kick(state, dt, mass, np.sum(F, axis=0), np.sum(np.cross(state.X, F), axis=0))


def step_under_load(t: float, state: LabState, dt: float, inertia: Inertia, load: Load) -> LabState:
    """One time step under a load, the total wrench on the body."""
    state = drift(state, dt)
    X_WB, V_WB_B = to_motion(state, inertia)
    return kick(state, dt, inertia.mass, *at_centre(load(t + dt, X_WB, V_WB_B), inertia, X_WB))


def angular_velocity(state: LabState) -> Array:
    """Omega (3,) [rad/s] with I Omega = L. (37)"""
    return solve_spd(state.I, state.L)


def from_points(masses: Array, positions: Array, velocity: Array, omega: Array) -> LabState:
    """Point masses (n,) at positions (n, 3) in rigid motion, from the velocity of their centre and Omega. (21)-(28)"""
    body = Inertia.points(masses, positions)
    body.require_regular("the points")
    return LabState(body.com, velocity, positions - body.com, body.moment @ omega, body.moment, np.eye(3))


def from_motion(inertia: Inertia, X_WB: Pose, V_WB_B: Array, points: Array | None = None) -> LabState:
    """The state from the pose and twist of the body frame; points (n, 3) [m] in B, where forces act, are tracked."""
    R, omega = X_WB.R, V_WB_B[:3]
    tracked = np.zeros((0, 3)) if points is None else points - inertia.com
    U_cm = R @ (V_WB_B[3:] + np.cross(omega, inertia.com))
    I = R @ inertia.moment @ R.T
    return LabState(X_WB @ inertia.com, U_cm, tracked @ R.T, R @ (inertia.moment @ omega), I, R.T)


def to_motion(state: LabState, inertia: Inertia) -> tuple[Pose, Array]:
    """The pose X_WB and the twist V_WB_B (6,) of the body frame, with the orientation from the marks."""
    R = state.marks.T
    omega = R.T @ solve_spd(state.I, state.L)
    v = R.T @ state.U_cm - np.cross(omega, inertia.com)
    return Pose.unchecked(R, state.X_cm - R @ inertia.com), np.concatenate([omega, v])
