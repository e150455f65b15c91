"""Twists V = (omega, v) and wrenches F = (m, f), angular part first, under changes of frame and of reference point.

A twist [rad/s, m/s] is the angular velocity of a body, and the velocity of the body-fixed point that is at the
reference point. A wrench [N m, N] is the moment about the reference point, and the force. The momentum (L, p) of a body
transforms like a wrench. V . F is the power [W], the same in every frame. Arrays have shape (..., 6), (..., 3) and
(..., 3, 3); batch shapes in front broadcast.
"""

from typing import TYPE_CHECKING

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.spatial.arrays import as_array, blocks, cross, halves, join, matvec
from poinsot.spatial.rotation import skew

if TYPE_CHECKING:
    from poinsot.spatial.pose import Pose


def Ad(R: ArrayLike, p: ArrayLike) -> Array:
    """The adjoint matrix of the pose (R_AB, p_AB): V_A = Ad V_B, (..., 6, 6). Lynch & Park, section 2.3.

    Ad = [[R, 0], [(p x) R, R]].
    """
    R = as_array(R)
    return blocks([[R, np.zeros_like(R)], [skew(p) @ R, R]])


def ad(V: ArrayLike) -> Array:
    """The matrix of the Lie bracket, ad(V1) V2 = bracket(V1, V2), (..., 6) -> (..., 6, 6). Lynch & Park, def. 8.1."""
    omega, v = halves(V)
    W = skew(omega)
    return blocks([[W, np.zeros_like(W)], [skew(v), W]])


def bracket(V1: ArrayLike, V2: ArrayLike) -> Array:
    """The Lie bracket of two twists, (omega1 x omega2, v1 x omega2 + omega1 x v2). Lynch & Park, def. 8.1."""
    (omega1, v1), (omega2, v2) = halves(V1), halves(V2)
    return join(cross(omega1, omega2), cross(v1, omega2) + cross(omega1, v2))


def ad_dual(V: ArrayLike, F: ArrayLike) -> Array:
    """ad(V)^T F = (-omega x m - v x f, -omega x f). Lynch & Park, def. 8.2.

    The equation of motion of a rigid body is F = G dV/dt - ad_dual(V, G V), in any frame fixed to the body.
    """
    (omega, v), (m, f) = halves(V), halves(F)
    return join(cross(m, omega) + cross(f, v), cross(f, omega))


def twist_in_frame(X_AB: "Pose", V_B: ArrayLike) -> Array:
    """V_A = Ad(X_AB) V_B: the twist at B's origin in B's axes, moved to A's origin and A's axes."""
    omega, v = halves(V_B)
    omega_A = matvec(X_AB.R, omega)
    return join(omega_A, matvec(X_AB.R, v) + cross(X_AB.p, omega_A))


def wrench_in_frame(X_AB: "Pose", F_B: ArrayLike) -> Array:
    """F_A = Ad(X_BA)^T F_B: the wrench about B's origin in B's axes, moved to A's origin and A's axes."""
    m, f = halves(F_B)
    f_A = matvec(X_AB.R, f)
    return join(matvec(X_AB.R, m) + cross(X_AB.p, f_A), f_A)


momentum_in_frame = wrench_in_frame


def twist_at(V: ArrayLike, r: ArrayLike) -> Array:
    """The same twist in the same axes, at the point r [m] from the old reference point: v + omega x r."""
    omega, v = halves(V)
    return join(omega, v + cross(omega, r))


def wrench_at(F: ArrayLike, r: ArrayLike) -> Array:
    """The same wrench in the same axes, about the point r [m] from the old reference point: m - r x f."""
    m, f = halves(F)
    return join(m + cross(f, r), f)


momentum_at = wrench_at


def twist_matrix(V: ArrayLike) -> Array:
    """[V] = [[(omega x), v], [0, 0]], (..., 6) -> (..., 4, 4): for a body twist, d/dt of the pose matrix is T [V]."""
    omega, v = halves(V)
    top = blocks([[skew(omega), v[..., :, None]]])
    return blocks([[top], [np.zeros_like(top[..., :1, :])]])


def point_velocity(V: ArrayLike, x: ArrayLike) -> Array:
    """v + omega x x [m/s]: the velocity of the body-fixed point at x from the reference point. De Nivelle, def. 4.1."""
    omega, v = halves(V)
    return v + cross(omega, x)


def point_acceleration(V: ArrayLike, Vdot: ArrayLike, x: ArrayLike) -> Array:
    """The acceleration [m/s^2] of the body-fixed point at x from the reference point. De Nivelle (4).

    a = v' + omega' x x + omega x (v + omega x x).

    It holds where V' is the derivative of V's components, and axes and reference point belong to one frame:

    - a frame fixed in the world: v is the velocity of the body-fixed point that is passing the fixed origin, and
      x is the present position of the point;
    - a frame fixed in the body, such as V_WB_B: x is constant, and a is in body axes.

    In both, v' is not the acceleration of a body-fixed point: omega x v is missing. Where the axes are fixed in the
    world but the reference point moves with the body (the convention of MuJoCo, Drake and Newton), use
    `point_acceleration_moving`.
    """
    (omega, _), (alpha, a) = halves(V), halves(Vdot)
    return a + cross(alpha, x) + cross(omega, point_velocity(V, x))


def point_acceleration_moving(V: ArrayLike, Vdot: ArrayLike, x: ArrayLike) -> Array:
    """The same [m/s^2], for axes fixed in the world and a reference point that moves with the body.

    a = v' + omega' x x + omega x (omega x x): here v' is the acceleration of the reference point itself, and the term
    omega x v drops out (the boxed term of de Nivelle, section 4.3).
    """
    (omega, _), (alpha, a) = halves(V), halves(Vdot)
    return a + cross(alpha, x) + cross(omega, cross(omega, x))
