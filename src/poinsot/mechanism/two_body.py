"""Two bodies and a joint in 3-D vectors, as Featherstone solves them (2002), and the extension to any motion and joint.

B1 with mass m1, moment I1 about its centre of mass C1, and B2 with m2, I2, C2, are joined at the point P by a revolute
joint with the axis s. A force f through C1 and a couple tau act on B1. The names and the numbers (1) to (26) are those
of the text; all vectors are in the axes of one frame that does not move. Pairs put the linear part first here, as the
text does: (f, tau), (a1, omegadot1). The rest of Poinsot puts the angular part first.

The functions after `solution` drop the restrictions of the text: the bodies may move, the joint may be of any kind, and
it may have a motor. docs/two-bodies.md derives them.
"""

from dataclasses import dataclass

import numpy as np

from poinsot._types import Array
from poinsot.fuse import solve_spd
from poinsot.spatial.rotation import skew


@dataclass(frozen=True, eq=False)
class TwoBodies:
    """m1, m2 [kg], I1, I2 (3, 3) [kg m^2], r1 = C1P, r2 = C2P (3,) [m], the joint's axis s (3,) of length one."""

    m1: float
    I1: Array
    m2: float
    I2: Array
    r1: Array
    r2: Array
    s: Array


def J(b: TwoBodies) -> Array:
    """(19): the moment of B2 about P, (3, 3) [kg m^2]; symmetric and positive definite."""
    return b.I2 + b.m2 * skew(b.r2).T @ skew(b.r2)


def K(b: TwoBodies) -> Array:
    """(23): (3, 3) [kg m^2]; K s alpha is the couple about C1 that accelerates the joint by alpha."""
    return J(b) + b.m2 * skew(b.r1) @ skew(b.r2)


def sJs(b: TwoBodies) -> Array:
    """The denominator of (18): the moment of B2 about the joint's axis [kg m^2], above zero."""
    return b.s @ J(b) @ b.s


def alpha_18(b: TwoBodies, a1: Array, omegadot1: Array) -> Array:
    """(18): the joint's acceleration [rad/s^2]."""
    r1, r2, s = b.r1, b.r2, b.s
    numerator = s @ (b.I2 @ omegadot1 - b.m2 * np.cross(r2, a1 + np.cross(r2 - r1, omegadot1)))
    return -numerator / (s @ (b.I2 @ s - b.m2 * np.cross(r2, np.cross(r2, s))))


def alpha_20(b: TwoBodies, a1: Array, omegadot1: Array) -> Array:
    """(20): the same, by J."""
    return -(b.s @ (J(b) @ omegadot1 - b.m2 * np.cross(b.r2, a1 - np.cross(b.r1, omegadot1)))) / sJs(b)


def alpha(b: TwoBodies, a1: Array, omegadot1: Array) -> Array:
    """(24): the same, by K: the joint's acceleration [rad/s^2] that goes with an acceleration of B1."""
    return -(b.s @ (K(b).T @ omegadot1 - b.m2 * skew(b.r2) @ a1)) / sJs(b)


def A(b: TwoBodies) -> Array:
    """(21), in front of a1: (3, 3) [kg]."""
    r2_s = skew(b.r2) @ b.s
    return (b.m1 + b.m2) * np.eye(3) + b.m2**2 * np.outer(r2_s, b.s @ skew(b.r2)) / sJs(b)


def B(b: TwoBodies) -> Array:
    """(21), in front of omegadot1: (3, 3) [kg m]."""
    return b.m2 * (skew(b.r2) - skew(b.r1)) - b.m2 * np.outer(skew(b.r2) @ b.s, K(b) @ b.s) / sJs(b)


def C(b: TwoBodies) -> Array:
    """(25), in front of a1: (3, 3) [kg m]; the transpose of B."""
    return b.m2 * (skew(b.r1) - skew(b.r2)) + b.m2 * np.outer(K(b) @ b.s, b.s @ skew(b.r2)) / sJs(b)


def D(b: TwoBodies) -> Array:
    """(25), in front of omegadot1: (3, 3) [kg m^2]."""
    r12 = skew(b.r1) - skew(b.r2)
    return b.I1 + b.I2 - b.m2 * r12 @ r12 - np.outer(K(b) @ b.s, K(b) @ b.s) / sJs(b)


def matrix(b: TwoBodies) -> Array:
    """[[A, B], [C, D]], (6, 6): (f, tau) = matrix (a1, omegadot1). The articulated-body inertia of B1 at C1."""
    return np.block([[A(b), B(b)], [C(b), D(b)]])


def solution(b: TwoBodies, f: Array, tau: Array) -> tuple[Array, Array]:
    """(26): a1 [m/s^2] of C1 and omegadot1 [rad/s^2], under a force f [N] through C1 and a couple tau [N m] on B1."""
    accelerations = solve_spd(matrix(b), np.concatenate([f, tau]))
    return accelerations[:3], accelerations[3:]


# Beyond the text.


@dataclass(frozen=True, eq=False)
class JointMotion:
    """The motion of the two bodies, and the freedom of their joint.

    omega1 (3,) [rad/s] is of B1; nu, S and bias are of B2 relative to B1, at P, linear part first:
    nu (6,): the velocity of B2's point at P [m/s], and the angular velocity [rad/s]; S (6, k): the joint allows the
    relative accelerations S alpha + bias; Q (k,): the joint's force [N] or torque [N m] on B2 along S.
    """

    omega1: Array
    nu: Array
    S: Array
    bias: Array
    Q: Array


def at_rest(b: TwoBodies) -> JointMotion:
    """The case of the text: no motion, a revolute joint, no motor."""
    return JointMotion(np.zeros(3), np.zeros(6), np.concatenate([np.zeros(3), b.s])[:, None], np.zeros(6), np.zeros(1))


def articulated(b: TwoBodies, motion: JointMotion) -> tuple[Array, Array]:
    """IA (6, 6) and pA (6,): (f, tau) = IA (a1, omegadot1) + pA. Equation (f) of docs/two-bodies.md."""
    G1, p1, X, G, p, c = _terms(b, motion)
    U = G @ motion.S
    W = solve_spd(motion.S.T @ U, U.T)  # (S^T G S)^-1 S^T G
    IA = G1 + X.T @ (G - U @ W) @ X
    pA = p1 + X.T @ (G @ c + p - W.T @ (motion.S.T @ (G @ c + p) - motion.Q))
    return IA, pA


def solution_in_motion(b: TwoBodies, motion: JointMotion, f: Array, tau: Array) -> tuple[Array, Array, Array]:
    """a1 [m/s^2] of C1, omegadot1 [rad/s^2] and alpha (k,), by equations (f) and (e) of docs/two-bodies.md."""
    IA, pA = articulated(b, motion)
    A1 = solve_spd(IA, np.concatenate([f, tau]) - pA)
    _, _, X, G, p, c = _terms(b, motion)
    alpha = solve_spd(motion.S.T @ G @ motion.S, motion.Q - motion.S.T @ (G @ (X @ A1 + c) + p))
    return A1[:3], A1[3:], alpha


def _terms(b: TwoBodies, motion: JointMotion) -> tuple[Array, Array, Array, Array, Array, Array]:
    """G1, p1, X, G, p, c of docs/two-bodies.md: B1 at C1; from C1 to P; B2 at P; and the joint's velocity terms."""
    E, O = np.eye(3), np.zeros((3, 3))
    omega1, (nu, nu_omega) = motion.omega1, (motion.nu[:3], motion.nu[3:])
    omega2 = omega1 + nu_omega
    inward = np.cross(omega2, np.cross(omega2, b.r2))
    G1 = np.block([[b.m1 * E, O], [O, b.I1]])  # (1), (2)
    p1 = np.concatenate([np.zeros(3), np.cross(omega1, b.I1 @ omega1)])
    X = np.block([[E, -skew(b.r1)], [O, E]])  # (5), (7)
    G = np.block([[b.m2 * E, b.m2 * skew(b.r2)], [-b.m2 * skew(b.r2), J(b)]])  # (3), (4), (9), (10)
    p = np.concatenate([-b.m2 * inward, np.cross(omega2, b.I2 @ omega2) + b.m2 * np.cross(b.r2, inward)])
    c = np.concatenate(
        [np.cross(omega1, np.cross(omega1, b.r1)) + 2 * np.cross(omega1, nu), np.cross(omega1, nu_omega)]
    )
    return G1, p1, X, G, p, c + motion.bias
