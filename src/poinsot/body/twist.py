"""The twist formulation: F = G V' - ad(V)^T G V, in the body frame or in any other frame fixed to the body.

Lynch & Park, sections 2.2 and 2.3. The equation is the same in every frame {a}; only G_a = Ad^T G_b Ad changes. Here
the frame is that of the inertia, whose origin need not be the centre of mass.
"""

from dataclasses import dataclass

import numpy as np

from poinsot._types import Array
from poinsot.body.forces import Load
from poinsot.fuse import solve_spd
from poinsot.spatial import Inertia, Pose, motion, rotation


@dataclass(frozen=True)
class TwistState:
    """R_WB (3, 3) and p_WB (3,) [m], the pose of the frame, and V_WB_B (6,) [rad/s, m/s], the twist in its own axes."""

    R: Array
    p: Array
    V: Array


@dataclass(frozen=True)
class TwistRate:
    """The twist V (6,) and its derivative V' (6,)."""

    V: Array
    Vdot: Array


def wrench(G: Array, V: Array, Vdot: Array) -> Array:
    """F = G V' - ad(V)^T G V, (6,) [N m, N]: the wrench that this motion requires. Lynch & Park, section 2.2."""
    return G @ Vdot - motion.ad_dual(V, G @ V)


def acceleration(G: Array, V: Array, F: Array) -> Array:
    """V' = G^-1 (F + ad(V)^T G V), (6,) [rad/s^2, m/s^2]."""
    return solve_spd(G, F + motion.ad_dual(V, G @ V))


def rate(t: float, state: TwistState, inertia: Inertia, load: Load) -> TwistRate:
    """The twist and its derivative."""
    X_WB, V = to_motion(state)
    return TwistRate(V, acceleration(inertia.spatial(), V, load(t, X_WB, V)))


def derivative(t: float, state: TwistState, inertia: Inertia, load: Load) -> TwistState:
    """d/dt (R, p, V) = (R [omega], R v, V')."""
    k = rate(t, state, inertia, load)
    X_dot = np.block([[state.R, state.p[:, None]]]) @ motion.twist_matrix(k.V)
    return TwistState(X_dot[:, :3], X_dot[:, 3], k.Vdot)


def integrate(state: TwistState, k: TwistRate, h: float = 1.0) -> TwistState:
    """The state after the time h at constant rates: X exp(h V), V + h V'."""
    X = Pose.unchecked(state.R, state.p) @ Pose.exp(h * k.V)
    return TwistState(X.R, X.p, state.V + h * k.Vdot)


def bracket(a: TwistRate, b: TwistRate) -> TwistRate:
    """The commutator of two rates. Increments act from the right, X exp(V): the sign is opposite to that of ad."""
    return TwistRate(-motion.bracket(a.V, b.V), np.zeros(6))


def normalize(state: TwistState) -> TwistState:
    """The same state with its attitude projected back onto the group after a step that leaves it."""
    return TwistState(rotation.orthonormalise(state.R, 2), state.p, state.V)


def from_motion(inertia: Inertia, X_WB: Pose, V_WB_B: Array) -> TwistState:
    """The state of a frame with this pose and twist."""
    return TwistState(X_WB.R, X_WB.p, V_WB_B)


def to_motion(state: TwistState, inertia: Inertia | None = None) -> tuple[Pose, Array]:
    """The pose X_WB and the twist V_WB_B (6,)."""
    return Pose.unchecked(state.R, state.p), state.V
