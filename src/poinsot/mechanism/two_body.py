"""Two bodies and a joint in 3-D vectors, as Featherstone solves them (2002), and the extension to any motion and joint.

B1 with mass m1, moment I1 about its centre of mass C1, and B2 with m2, I2, C2, are joined at the point P by a revolute
joint with the axis s. A force f through C1 and a couple tau act on B1. The names and the numbers (1) to (26) are those
of the text; all vectors are in the axes of one frame that does not move. Pairs put the linear part first here, as the
text does: (f, tau), (a1, omegadot1). The rest of Poinsot puts the angular part first.

The functions after `solution` drop the restrictions of the text: the bodies may move, the joint may be of any kind, and
it may have a motor. docs/two-bodies.md derives them. Both solutions give every unknown of the text.
"""

from dataclasses import dataclass

import numpy as np

from poinsot._types import Array
from poinsot.fuse import is_traced, solve_spd
from poinsot.mechanism import kinematics
from poinsot.mechanism.model import Mechanism, sized
from poinsot.spatial import Inertia
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


@dataclass(frozen=True, eq=False)
class TwoBodySolution:
    """Every unknown of the text, in the axes of one frame that does not move.

    a1, a2 (3,) [m/s^2]: the accelerations of C1 and C2. omegadot1, omegadot2 (3,) [rad/s^2]. f1, tau1, f2, tau2 (3,)
    [N], [N m]: the net force through C1 or C2, and the net couple, on each body; no other force acts on B2, so f2 and
    tau2 are what the joint transmits. alpha (k,): the accelerations of the joint's k degrees of freedom [rad/s^2] or
    [m/s^2]; k = 1 in the text.
    """

    a1: Array
    omegadot1: Array
    a2: Array
    omegadot2: Array
    f1: Array
    tau1: Array
    f2: Array
    tau2: Array
    alpha: Array


def net_force(m: float, I: Array, a: Array, omegadot: Array) -> tuple[Array, Array]:
    """(1) to (4): f = m a [N] and tau = I omegadot [N m], of a body at rest, at its centre of mass."""
    return m * a, I @ omegadot


def acceleration_at_P(r: Array, a: Array, omegadot: Array) -> tuple[Array, Array]:
    """(5) to (8): the acceleration a - r x omegadot [m/s^2] of a body's point at P, and omegadot, the same anywhere.

    The body is at rest; a is the acceleration of its centre of mass C, and r = CP.
    """
    return a - np.cross(r, omegadot), omegadot


def force_at_P(r: Array, f: Array, tau: Array) -> tuple[Array, Array]:
    """(9), (10): a force f through C and a couple tau as a force through P and a couple tau - r x f, where r = CP."""
    return f, tau - np.cross(r, f)


def total(b: TwoBodies, f1: Array, tau1: Array, f2: Array, tau2: Array) -> tuple[Array, Array]:
    """(11), (12): the sum f [N] and tau [N m] of what acts on the two bodies, expressed at C1."""
    return f1 + f2, tau1 + tau2 + np.cross(b.r1 - b.r2, f2)


def acceleration_of_B2(b: TwoBodies, a1: Array, omegadot1: Array, alpha: Array) -> tuple[Array, Array]:
    """(17), (16): a2 [m/s^2] and omegadot2 [rad/s^2] of B2, from the motion of B1 and of the joint; (13), (14) at P."""
    a2 = a1 + np.cross(b.r2 - b.r1, omegadot1) + np.cross(b.r2, b.s) * alpha
    return a2, omegadot1 + b.s * alpha


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


def solution(b: TwoBodies, f: Array, tau: Array) -> TwoBodySolution:
    """(26), under a force f [N] through C1 and a couple tau [N m] on B1, and every other unknown of the text."""
    accelerations = solve_spd(matrix(b), np.concatenate([f, tau]))
    a1, omegadot1 = accelerations[:3], accelerations[3:]
    joint = alpha(b, a1, omegadot1)
    a2, omegadot2 = acceleration_of_B2(b, a1, omegadot1, joint)
    one, two = net_force(b.m1, b.I1, a1, omegadot1), net_force(b.m2, b.I2, a2, omegadot2)
    return TwoBodySolution(a1, omegadot1, a2, omegadot2, *one, *two, np.stack([joint]))


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


def solution_in_motion(b: TwoBodies, motion: JointMotion, f: Array, tau: Array) -> TwoBodySolution:
    """Every unknown for bodies in motion and any joint, by equations (f), (e), (b) and (c) of docs/two-bodies.md."""
    IA, pA = articulated(b, motion)
    A1 = solve_spd(IA, np.concatenate([f, tau]) - pA)
    _, p1, X, G, p, c = _terms(b, motion)
    alpha = solve_spd(motion.S.T @ G @ motion.S, motion.Q - motion.S.T @ (G @ (X @ A1 + c) + p))
    A2 = X @ A1 + motion.S @ alpha + c  # (b), at P
    F = G @ A2 + p  # (c), at P
    omega2, omegadot2, f2 = motion.omega1 + motion.nu[3:], A2[3:], F[:3]
    a2 = A2[:3] + np.cross(b.r2, omegadot2) - np.cross(omega2, np.cross(omega2, b.r2))
    f1, tau1 = net_force(b.m1, b.I1, A1[:3], A1[3:])
    tau2 = F[3:] + np.cross(b.r2, f2)  # from P back to C2
    return TwoBodySolution(A1[:3], A1[3:], a2, omegadot2, f1, tau1 + p1[3:], f2, tau2, alpha)


def from_mechanism(mech: Mechanism, q: Array, v: Array, Q: Array) -> tuple[TwoBodies, JointMotion]:
    """Two links, the first free and the second on a joint of any kind, as the text has them: in world axes, with P at
    the origin of B2's frame. q (nq,), v (nv,) of both links; Q (k,) [N m, N] of the joint's motor.

    `s` is the axis of the joint's first degree of freedom, if that is a rotation; `JointMotion` has them all.
    """
    q, v = sized(mech, q=q, v=v)
    one, two = _two_inertias(mech)
    X1, X2 = kinematics.world_poses(mech, q)
    R1, R2 = X1.R, X2.R
    joint, q2, v2 = mech.links[1].joint, q[mech.q_slices[1]], v[mech.v_slices[1]]
    S, bias = joint.type.subspace(joint, q2), joint.type.bias(joint, q2, v2)
    V = S @ v2
    bias_of_P = bias[3:] + np.cross(V[:3], V[3:])  # seen from B1: the velocity of P rotates with the axes of B2
    I1, I2 = R1 @ one.moment @ R1.T, R2 @ two.moment @ R2.T
    s = R2 @ S[:3, 0] if joint.nv else np.zeros(3)
    bodies = TwoBodies(one.mass, I1, two.mass, I2, X2.p - X1 @ one.com, -R2 @ two.com, s)
    nu, S, bias = (np.concatenate([R2 @ a, R2 @ w]) for a, w in ((V[3:], V[:3]), (S[3:], S[:3]), (bias_of_P, bias[:3])))
    return bodies, JointMotion(R1 @ v[:3], nu, S, bias, Q)


def _two_inertias(mech: Mechanism) -> tuple[Inertia, Inertia]:
    """The inertias of the two links; an error if it is not the mechanism of the text."""
    if len(mech) != 2 or mech.parents != (-1, 0) or not mech.links[0].joint.type.is_free:
        found = ", ".join(f"{link.name!r} ({link.joint.kind}) on {link.parent!r}" for link in mech.links)
        raise ValueError(
            "two bodies and a joint are a mechanism of two links, the first on a free joint, the second on the first; "
            f"got {found}."
        )
    for what, value, fix in (
        ("gravity", mech.gravity, "if uniform, it adds g to a1 and a2 and changes nothing else: give the Mechanism 0"),
        ("armature", mech.links[1].joint.armature, "add it to the inertia of a link, or use forward_dynamics"),
    ):
        if not is_traced(value) and np.any(value):
            raise ValueError(f"the two-body problem has no {what}; got {np.asarray(value)}. Fix: {fix}.")
    one, two = (link.inertia for link in mech.links)
    if one is None or two is None:
        massless = mech.links[0 if one is None else 1].name
        raise ValueError(f"link {massless!r} has no inertia; the text's bodies have mass. Fix: give the Link one.")
    return one, two


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
