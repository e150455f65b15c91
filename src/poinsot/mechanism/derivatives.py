"""First derivatives of inverse and forward dynamics, by recursions of their own.

Everything is expressed in one frame at rest, so that the twist S_j of a joint is the same vector for all bodies that it
carries, and dS_i/dq_j = S_j x S_i for every j that carries i. It is where the root of the tree is just now: there the
twists of the root's own joint are simple. By q we differentiate along v: the change of tau as the joints move a little
with the velocities v, which for simple joints is the ordinary derivative.
Carpentier and Mansard, RSS (2018); symbols as in Singh, Russo and Wensing, IEEE Robot. Autom. Lett. 7 (2022).
"""

from collections.abc import Sequence

import numpy as np

from poinsot._types import Array
from poinsot.mechanism.dynamics import (
    External,
    external_wrenches,
    forward_dynamics_articulated,
    inverse_mass_factors,
    rows,
)
from poinsot.mechanism.form import screws, tree
from poinsot.mechanism.form.screws import Move, mirrored
from poinsot.mechanism.model import Mechanism, sized
from poinsot.spatial import Pose, motion, rotation


def inverse_dynamics_derivatives(
    mech: Mechanism, q: Array, v: Array, vdot: Array, external: External = None
) -> tuple[Array, Array, Array]:
    """d tau/dq, d tau/dv and d tau/dvdot = M, each (nv, nv).

    External wrenches are fixed to their links: they turn and move with them.
    """
    q, v, vdot = sized(mech, q=q, v=v, vdot=vdot)
    T = tree.of(mech)
    n = len(T.bodies)
    given = external_wrenches(mech, T, external)
    X, S, V, A, psi_dot, psi_ddot, S_dot, I, B, f = rows(n, 10)
    for i, body in enumerate(T.bodies):
        p = body.parent
        if p < 0:
            X[i], V_P, A_P = Pose(), np.zeros(6), screws.motion(body.moves(q[body.q]), tree.falling(T))
        else:
            X[i], V_P, A_P = _compose(X[p], body.moves(q[body.q])), V[p], A[p]
        S[i] = X[i].adjoint() @ body.subspace(q)
        V[i] = V_P + S[i] @ v[body.v]
        A[i] = A_P + S[i] @ vdot[body.v] + motion.bracket(V[i], S[i] @ v[body.v])
        psi_dot[i] = motion.ad(V_P) @ S[i]
        psi_ddot[i] = motion.ad(A_P) @ S[i] + motion.ad(V_P) @ psi_dot[i]
        S_dot[i] = motion.ad(V[i]) @ S[i]
        I[i] = _in_frame(X[i], body.G)
        h = I[i] @ V[i]
        B[i] = _coriolis(I[i], V[i])
        f[i] = I[i] @ A[i] - motion.ad_dual(V[i], h) - motion.wrench_in_frame(X[i], given[i])
    dq, dv, M = (np.zeros((mech.nv, mech.nv)) for _ in range(3))
    for i, body in reversed(list(enumerate(T.bodies))):
        IS, BS = I[i] @ S[i], B[i].T @ S[i]  # what S_i^T I and S_i^T B see of an ancestor's motion
        along = I[i] @ psi_ddot[i] + B[i] @ psi_dot[i] + _bar(f[i]) @ S[i]
        with_v = I[i] @ (psi_dot[i] + S_dot[i]) + B[i] @ S[i]
        j = i
        while j >= 0:
            other = T.bodies[j]
            dq[body.v, other.v] = BS.T @ psi_dot[j] + IS.T @ psi_ddot[j]
            dv[body.v, other.v] = BS.T @ S[j] + IS.T @ (psi_dot[j] + S_dot[j])
            M[body.v, other.v] = IS.T @ S[j]
            if j != i:
                dq[other.v, body.v], dv[other.v, body.v] = S[j].T @ along, S[j].T @ with_v
                M[other.v, body.v] = M[body.v, other.v].T
            j = other.parent
        M[body.v, body.v] = mirrored(M[body.v, body.v]) + np.diag(body.armature)
        if body.parent >= 0:
            p = body.parent
            I[p], B[p], f[p] = I[p] + I[i], B[p] + B[i], f[p] + f[i]
    return dq, dv, M


def forward_dynamics_derivatives(
    mech: Mechanism, q: Array, v: Array, tau: Array, external: External = None
) -> tuple[Array, Array, Array]:
    """d vdot/dq, d vdot/dv and d vdot/d tau = M^-1, each (nv, nv): d vdot = -M^-1 d tau, at the vdot that tau gives.

    What floats freely moves alike wherever it is, whichever way it is turned, and however fast it goes along; turned
    by dq, it only sees gravity g turn by g x dq, and its own acceleration v' + w x v is the same at any v. So those
    columns are known.
    """
    q, v = sized(mech, q=q, v=v)
    vdot = forward_dynamics_articulated(mech, q, v, tau, external)
    A, B = inverse_mass_factors(mech, q)
    dq, dv, _ = inverse_dynamics_derivatives(mech, q, v, vdot, external)
    floating = [body for body in tree.of(mech).bodies if body.parent < 0 and body.joint.type.is_free and body.is_bare]
    for body in floating:
        dq[:, body.v] = 0.0
        dv[:, _along(body)] = 0.0
    by_q, by_v = A.T @ (-B @ dq), A.T @ (-B @ dv)  # the factors are sparse: they cost less than M^-1
    for body in floating:
        about = slice(body.v.start, body.v.start + 3)
        gravity = screws.motion(body.moves(q[body.q]), -tree.falling(tree.of(mech)))[3:]
        by_q[_along(body), about] = rotation.skew(gravity)
        by_v[_along(body), _along(body)] = -rotation.skew(v[about])
    return by_q, by_v, mirrored(A.T @ B)


def _along(body: tree.Body) -> slice:
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
    """B (6, 6) = bar(I V) - ad(V)^T I - I ad(V): what a body's wrench I A - ad(V)^T I V changes with V, less I ad(V).

    With the second moments Sigma = tr(J)/2 - J, the first moments c and the momentum p, it is
    -2 [[(w x) Sigma + (c x)(v x), 0], [(p x), 0]].
    """
    J, C, p = I[:3, :3], I[:3, 3:], (I @ V)[3:]
    W, U = rotation.skew(V[:3]), rotation.skew(V[3:])
    Sigma = 0.5 * np.trace(J) * np.eye(3) - J
    return -2 * np.block([[W @ Sigma + C @ U, np.zeros((3, 3))], [rotation.skew(p), np.zeros((3, 3))]])


def _bar(F: Array) -> Array:
    """The matrix (6, 6) with _bar(F) u = -ad(u)^T F: how a wrench changes as it is carried along u."""
    N, f = rotation.skew(F[:3]), rotation.skew(F[3:])
    return -np.block([[N, f], [f, np.zeros((3, 3))]])
