"""First derivatives of inverse and forward dynamics, by recursions of their own.

Everything is expressed in one frame at rest, so that the twist S_j of a joint is the same vector for all bodies that it
carries, and dS_i/dq_j = S_j x S_i for every j that carries i. It coincides with the frame of the tree's root at this
instant: there the twists of the root's own joint are simple. Derivatives by q are along v: the change of tau as the
joints move a little with the velocities v, which for simple joints is the ordinary derivative.
Carpentier and Mansard, RSS (2018); symbols as in Singh, Russo and Wensing, IEEE Robot. Autom. Lett. 7 (2022).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from poinsot._types import Array
from poinsot.mechanism.book import External
from poinsot.mechanism.dynamics import (
    external_wrenches,
    forward_dynamics_articulated,
    inverse_mass_factors,
    rows,
)
from poinsot.mechanism.form import canonical, screws
from poinsot.mechanism.form.screws import Move, mirrored
from poinsot.mechanism.form.tree import Tree, TreeBody, falling
from poinsot.mechanism.joint_types import directional
from poinsot.mechanism.joints import Joint
from poinsot.mechanism.model import Mechanism, sized
from poinsot.spatial import Pose, motion, rotation


@dataclass(frozen=True, eq=False)
class Change:
    """One body and its joint, in the frame at rest, and how the motion beyond the joint changes with its q and v.

    As q changes along S, all bodies beyond the joint are carried along S; besides, each V changes by V_q, and each A by
    A_q - ad(V) V_q. As v changes, each V changes by S, and each A by A_v - ad(V) S. All are (6, nv), the same for all
    bodies beyond. `S_dot`: dS/dt; `S_q`: dS/dq_k relative to the body, for each k; none if that is zero.
    """

    X: Pose
    S: Array
    V: Array
    A: Array
    V_q: Array
    A_q: Array
    S_dot: Array
    S_q: Sequence[Array] = ()

    @property
    def A_v(self) -> Array:
        return self.V_q + self.S_dot


def inverse_dynamics_derivatives(
    mech: Mechanism, q: Array, v: Array, vdot: Array, external: External = None
) -> tuple[Array, Array, Array]:
    """d tau/dq, d tau/dv and d tau/dvdot = M, each (nv, nv).

    External wrenches are fixed to their links: they turn and move with them.
    """
    q, v, vdot = sized(mech, q=q, v=v, vdot=vdot)
    T = canonical.tree_of(mech)
    wrenches = external_wrenches(mech, T, external)
    changes, I, B, f = rows(len(T.bodies), 4)
    for i, body in enumerate(T.bodies):
        changes[i] = c = _change(T, body, changes, q, v, vdot)
        I[i] = _in_frame(c.X, body.G)
        h = I[i] @ c.V
        B[i] = _coriolis(I[i], c.V)
        f[i] = I[i] @ c.A - motion.ad_dual(c.V, h) - motion.wrench_in_frame(c.X, wrenches[i])
    dq, dv, M = (np.zeros((mech.nv, mech.nv)) for _ in range(3))
    for i, body in reversed(list(enumerate(T.bodies))):
        c = changes[i]
        IS, BS = I[i] @ c.S, B[i].T @ c.S  # S_i^T I and S_i^T B act on the motion of an ancestor
        by_q = I[i] @ c.A_q + B[i] @ c.V_q + _bar(f[i]) @ c.S
        by_v = I[i] @ c.A_v + B[i] @ c.S
        j = i
        while j >= 0:
            other, o = T.bodies[j], changes[j]
            dq[body.v, other.v] = BS.T @ o.V_q + IS.T @ o.A_q
            dv[body.v, other.v] = BS.T @ o.S + IS.T @ o.A_v
            M[body.v, other.v] = IS.T @ o.S
            if j != i:
                dq[other.v, body.v], dv[other.v, body.v] = o.S.T @ by_q, o.S.T @ by_v
                M[other.v, body.v] = M[body.v, other.v].T
            j = other.parent
        if c.S_q:  # tau = S^T f: f stays, S changes
            dq[body.v, body.v] = dq[body.v, body.v] + np.stack([S_k.T @ f[i] for S_k in c.S_q], axis=1)
        M[body.v, body.v] = mirrored(M[body.v, body.v]) + np.diag(body.armature)
        if (p := body.parent) >= 0:
            I[p], B[p], f[p] = I[p] + I[i], B[p] + B[i], f[p] + f[i]
    return dq, dv, M


def _change(T: Tree, body: TreeBody, before: Sequence[Change], q: Array, v: Array, vdot: Array) -> Change:
    """With psi' = ad(V_P) S and psi'' = ad(A_P) S + ad(V_P) psi': V_q = psi', A_q = psi''."""
    if body.parent < 0:
        X, V_P, A_P = Pose(), np.zeros(6), screws.motion(body.moves(q[body.q]), falling(T))
    else:
        P = before[body.parent]
        X, V_P, A_P = _compose(P.X, body.moves(q[body.q])), P.V, P.A
    S = X.adjoint() @ body.subspace(q)
    V = V_P + S @ v[body.v]
    A = A_P + S @ vdot[body.v] + motion.bracket(V, S @ v[body.v])
    psi_dot = motion.ad(V_P) @ S
    psi_ddot = motion.ad(A_P) @ S + motion.ad(V_P) @ psi_dot
    c = Change(X, S, V, A, psi_dot, psi_ddot, motion.ad(V) @ S)
    return c if body.joint.type.is_constant else _bent(c, body.joint, V_P, q[body.q], v[body.v], vdot[body.v])


def _bent(c: Change, joint: Joint, V_P: Array, q: Array, v: Array, vdot: Array) -> Change:
    """With the terms of a subspace that depends on q, S_k = dS/dq_k and S' = sum S_k v_k: column k of V_q gains
    e_k = S_k v, that of A_q ad(V_P + V) e_k + S_k vdot + d(S' v)/dq_k; A gains S' v."""
    Ad, S_rate, unit = c.X.adjoint(), joint.type.subspace_rate, np.eye(joint.nv)
    S_q = [Ad @ S_rate(joint, q, e) for e in unit]
    e = np.stack([S_k @ v for S_k in S_q], axis=1)
    bias_q = [Ad @ directional(lambda x: joint.type.bias(joint, x, v), q, e) for e in unit]
    more = np.stack([S_k @ vdot + bias_k for S_k, bias_k in zip(S_q, bias_q, strict=True)], axis=1)
    return replace(
        c,
        A=c.A + Ad @ joint.type.bias(joint, q, v),
        V_q=c.V_q + e,
        A_q=c.A_q + motion.ad(V_P + c.V) @ e + more,
        S_dot=c.S_dot + Ad @ S_rate(joint, q, v),
        S_q=S_q,
    )


def forward_dynamics_derivatives(
    mech: Mechanism, q: Array, v: Array, tau: Array, external: External = None
) -> tuple[Array, Array, Array]:
    """d vdot/dq, d vdot/dv and d vdot/d tau = M^-1, each (nv, nv): d vdot = -M^-1 d tau, at the vdot that tau gives.

    The motion of a floating tree does not depend on where it is, on its attitude, or on its velocity; rotated by dq, it
    only sees gravity g change by g x dq, and its acceleration v' + w x v is the same at any v. So those columns are
    known.
    """
    q, v = sized(mech, q=q, v=v)
    vdot = forward_dynamics_articulated(mech, q, v, tau, external)
    A, B = inverse_mass_factors(mech, q)
    dq, dv, _ = inverse_dynamics_derivatives(mech, q, v, vdot, external)
    T = canonical.tree_of(mech)
    floating = [body for body in T.bodies if body.parent < 0 and body.joint.type.is_free and body.is_bare]
    for body in floating:
        dq[:, body.v] = 0.0
        dv[:, _along(body)] = 0.0
    by_q, by_v = A.T @ (-B @ dq), A.T @ (-B @ dv)  # the factors are sparse: they cost less than M^-1
    for body in floating:
        about = slice(body.v.start, body.v.start + 3)
        gravity = screws.motion(body.moves(q[body.q]), -falling(T))[3:]
        by_q[_along(body), about] = rotation.skew(gravity)
        by_v[_along(body), _along(body)] = -rotation.skew(v[about])
    return by_q, by_v, mirrored(A.T @ B)


def _along(body: TreeBody) -> slice:
    """The entries of v that are a free joint's velocity."""
    return slice(body.v.start + 3, body.v.stop)


def _compose(X: Pose, moves: Sequence[Move]) -> Pose:
    for move in moves:
        X = X @ move.pose()
    return X


def _in_frame(X_WB: Pose, G: Array) -> Array:
    """The inertia (6, 6) in the axes of W about its origin, from mass and first and second moments."""
    m, h, I = G[5, 5], np.stack([G[2, 4], G[0, 5], G[1, 3]]), G[:3, :3]
    R, P = X_WB.R, rotation.skew(X_WB.p)
    h_W, H = R @ h, rotation.skew(R @ h)
    I_W = mirrored(R @ I @ R.T - (H @ P + (H @ P).T) - m * (P @ P))
    C = rotation.skew(h_W + m * X_WB.p)
    return np.block([[I_W, C], [C.T, m * np.eye(3)]])


def _coriolis(I: Array, V: Array) -> Array:
    """B (6, 6) = bar(I V) - ad(V)^T I - I ad(V): the derivative of a body's wrench I A - ad(V)^T I V, less I ad(V).

    With the second moments Sigma = tr(J)/2 - J, the first moments c and the momentum p, it is
    -2 [[(w x) Sigma + (c x)(v x), 0], [(p x), 0]].
    """
    J, C, p = I[:3, :3], I[:3, 3:], (I @ V)[3:]
    W, U = rotation.skew(V[:3]), rotation.skew(V[3:])
    Sigma = 0.5 * np.trace(J) * np.eye(3) - J
    return -2 * np.block([[W @ Sigma + C @ U, np.zeros((3, 3))], [rotation.skew(p), np.zeros((3, 3))]])


def _bar(F: Array) -> Array:
    """The matrix (6, 6) with _bar(F) u = -ad(u)^T F: the change of a wrench that is carried along u."""
    N, f = rotation.skew(F[:3]), rotation.skew(F[3:])
    return -np.block([[N, f], [f, np.zeros((3, 3))]])
