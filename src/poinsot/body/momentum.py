"""The momentum formulation: Y = (x, R or q, P, L), as in the notes on unconstrained rigid bodies.

Force and torque change the momenta; velocities follow from the momenta where they are needed. Without force and torque
P and L are constant to the last bit.
"""

from dataclasses import dataclass

import numpy as np

from poinsot._types import Array
from poinsot.body.forces import Load, at_centre
from poinsot.fuse import solve_spd
from poinsot.spatial import Inertia, Pose, quaternion, rotation


@dataclass(frozen=True)
class MomentumState:
    """Y: x (3,) [m] the centre of mass, attitude R_WB (3, 3) or q_WB (4,), P (3,) [kg m/s], L (3,) [kg m^2/s] about the
    centre of mass; all in world axes."""

    x: Array
    attitude: Array
    P: Array
    L: Array


@dataclass(frozen=True)
class MomentumRate:
    """The rate of Y: v [m/s], omega [rad/s], F [N], tau [N m], each (3,) in world axes."""

    v: Array
    omega: Array
    F: Array
    tau: Array


def matrix(attitude: Array) -> Array:
    """R_WB of an attitude: a rotation matrix or a quaternion."""
    return attitude if attitude.ndim == 2 else quaternion.to_matrix(attitude)


def angular_velocity(state: MomentumState, inertia: Inertia) -> Array:
    """omega = I(t)^-1 L with I(t) = R I_body R^T, (3,) [rad/s] in world axes."""
    R = matrix(state.attitude)
    return R @ solve_spd(inertia.moment, R.T @ state.L)


def rate(t: float, state: MomentumState, inertia: Inertia, load: Load) -> MomentumRate:
    """(v, omega, F, tau) = (P / M, I^-1 L, F, tau)."""
    X_WB, V_WB_B = to_motion(state, inertia)
    F, tau = at_centre(load(t, X_WB, V_WB_B), inertia, X_WB)
    return MomentumRate(state.P / inertia.mass, angular_velocity(state, inertia), F, tau)


def derivative(t: float, state: MomentumState, inertia: Inertia, load: Load) -> MomentumState:
    """dY/dt = (v, omega* R, F, tau), or with q' = (0, omega) q / 2 for a quaternion."""
    k = rate(t, state, inertia, load)
    if state.attitude.ndim == 2:
        return MomentumState(k.v, rotation.skew(k.omega) @ state.attitude, k.F, k.tau)
    return MomentumState(k.v, quaternion.derivative_world(state.attitude, k.omega), k.F, k.tau)


def integrate(state: MomentumState, k: MomentumRate, h: float = 1.0) -> MomentumState:
    """Y after the time h at constant rates: rotated by exp(h omega); x, P and L change by h times their rates."""
    attitude = (
        rotation.exact(k.omega, h) @ state.attitude
        if state.attitude.ndim == 2
        else quaternion.integrate_world(state.attitude, k.omega, h)
    )
    return MomentumState(state.x + h * k.v, attitude, state.P + h * k.F, state.L + h * k.tau)


def normalize(state: MomentumState) -> MomentumState:
    """The same state with its attitude projected back onto the group after a step that leaves it."""
    attitude = state.attitude
    attitude = rotation.orthonormalise(attitude, 2) if attitude.ndim == 2 else quaternion.normalize(attitude)
    return MomentumState(state.x, attitude, state.P, state.L)


def bracket(a: MomentumRate, b: MomentumRate) -> MomentumRate:
    """The commutator of two rates: rotations do not commute, [a, b] = a x b; all other components do."""
    zero = np.zeros(3)
    return MomentumRate(zero, np.cross(a.omega, b.omega), zero, zero)


def from_motion(inertia: Inertia, X_WB: Pose, V_WB_B: Array, as_quaternion: bool = True) -> MomentumState:
    """Y from the pose of the body frame and the twist of the body."""
    omega, v = V_WB_B[:3], V_WB_B[3:]
    R = X_WB.R
    v_com = v + np.cross(omega, inertia.com)
    attitude = X_WB.quaternion() if as_quaternion else R
    return MomentumState(X_WB @ inertia.com, attitude, inertia.mass * (R @ v_com), R @ (inertia.moment @ omega))


def to_motion(state: MomentumState, inertia: Inertia) -> tuple[Pose, Array]:
    """The pose X_WB of the body frame and the twist V_WB_B (6,) of the body."""
    R = matrix(state.attitude)
    omega = solve_spd(inertia.moment, R.T @ state.L)
    v = R.T @ state.P / inertia.mass - np.cross(omega, inertia.com)
    return Pose.unchecked(R, state.x - R @ inertia.com), np.concatenate([omega, v])
