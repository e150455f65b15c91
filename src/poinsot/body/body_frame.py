"""The body-frame formulation: a position, a quaternion and a rigid speed function, as de Nivelle, section 4.

The frame sits at the centre of mass and rotates with the body, so the inertia matrix is constant. The velocity of the
centre of mass can be kept in body axes, where equation (8) has the term omega x V (the boxed term), or in world axes,
where the reference point moves along and the term drops out.
"""

from dataclasses import dataclass

import numpy as np

from poinsot._types import Array
from poinsot.body.forces import Load
from poinsot.fuse import solve_spd
from poinsot.spatial import Inertia, Pose, motion, quaternion


@dataclass(frozen=True)
class BodyFrameState:
    """X (3,) [m] the centre of mass in the world, q_WB (4,), V (3,) [m/s] its velocity and omega (3,) [rad/s] in body
    axes."""

    X: Array
    q: Array
    V: Array
    omega: Array


@dataclass(frozen=True)
class BodyFrameRate:
    """The velocity V and angular velocity omega, and their derivatives, each (3,) in body axes."""

    V: Array
    omega: Array
    Vdot: Array
    omegadot: Array


def accelerations(inertia: Inertia, V: Array, omega: Array, F: Array, T: Array) -> tuple[Array, Array]:
    """V' = F/m - omega x V and omega' = I^-1 (T - omega x I omega), (3,) each, in body axes. De Nivelle (8)."""
    return F / inertia.mass - np.cross(omega, V), solve_spd(inertia.moment, T - np.cross(omega, inertia.moment @ omega))


def force_and_torque(inertia: Inertia, v: Array, omega: Array, vdot: Array, omegadot: Array) -> tuple[Array, Array]:
    """F and tau about the origin, for a rigid speed function v + omega x x about an origin that is not the centre of
    mass C. De Nivelle (7) and (6), with I about the origin:

    F = m (v' + omega' x C + omega x (v + omega x C)), tau = m C x (v' + omega x v) + I omega' + omega x I omega.
    """
    m, C, I = inertia.mass, inertia.com, inertia.about(np.zeros(3))
    F = m * motion.point_acceleration(np.concatenate([omega, v]), np.concatenate([omegadot, vdot]), C)
    tau = m * np.cross(C, vdot + np.cross(omega, v)) + I @ omegadot + np.cross(omega, I @ omega)
    return F, tau


def rate(t: float, state: BodyFrameState, inertia: Inertia, load: Load) -> BodyFrameRate:
    """Steps 2 and 3 of the procedure: forces and torque about the centre of mass, then accelerations."""
    X_WB, V_WB_B = to_motion(state, inertia)
    F_B = motion.wrench_at(load(t, X_WB, V_WB_B), inertia.com)
    return BodyFrameRate(state.V, state.omega, *accelerations(inertia, state.V, state.omega, F_B[3:], F_B[:3]))


def derivative(t: float, state: BodyFrameState, inertia: Inertia, load: Load) -> BodyFrameState:
    """d/dt (X, q, V, omega) = (R V, q (0, omega)/2, F/m - omega x V, I^-1 (T - omega x I omega))."""
    k = rate(t, state, inertia, load)
    return BodyFrameState(quaternion.rotate(state.q, k.V), quaternion.derivative(state.q, k.omega), k.Vdot, k.omegadot)


def step(
    t: float, state: BodyFrameState, h: float, inertia: Inertia, load: Load, moving_reference: bool = False
) -> BodyFrameState:
    """The five-step procedure of section 4.3, corrected: one step h [s] of Euler's method.

    With `moving_reference` the rigid speed function is corrected for the new position of the centre of mass (step 5):
    V is stepped in world axes, without the boxed term, and rotated into the new body axes. First order either way.
    """
    k = rate(t, state, inertia, load)
    q = quaternion.integrate(state.q, state.omega, h)
    X = state.X + h * quaternion.rotate(state.q, state.V)
    omega = state.omega + h * k.omegadot
    if not moving_reference:
        return BodyFrameState(X, q, state.V + h * k.Vdot, omega)
    V_W = quaternion.rotate(state.q, state.V + h * (k.Vdot + np.cross(state.omega, state.V)))
    return BodyFrameState(X, q, quaternion.rotate(quaternion.conjugate(q), V_W), omega)


def integrate(state: BodyFrameState, k: BodyFrameRate, h: float = 1.0) -> BodyFrameState:
    """The state after the time h at constant rates; the centre of mass moves on a straight line along the present V."""
    return BodyFrameState(
        state.X + quaternion.rotate(state.q, h * k.V),
        quaternion.integrate(state.q, k.omega, h),
        state.V + h * k.Vdot,
        state.omega + h * k.omegadot,
    )


def normalize(state: BodyFrameState) -> BodyFrameState:
    """The same state with a unit quaternion again."""
    return BodyFrameState(state.X, quaternion.normalize(state.q), state.V, state.omega)


def from_motion(inertia: Inertia, X_WB: Pose, V_WB_B: Array) -> BodyFrameState:
    """The state from the pose of the body frame and the twist of the body."""
    omega, v = V_WB_B[:3], V_WB_B[3:]
    return BodyFrameState(X_WB @ inertia.com, X_WB.quaternion(), v + np.cross(omega, inertia.com), omega)


def to_motion(state: BodyFrameState, inertia: Inertia) -> tuple[Pose, Array]:
    """The pose X_WB of the body frame and the twist V_WB_B (6,) of the body."""
    R = quaternion.to_matrix(state.q)
    v = state.V - np.cross(state.omega, inertia.com)
    return Pose.unchecked(R, state.X - R @ inertia.com), np.concatenate([state.omega, v])
