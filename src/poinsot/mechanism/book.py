"""The three recursions over a tree as the book has them, on 6x6 arrays: the version to read first.

Inverse dynamics, joint-space inertia matrix, forward dynamics. `dynamics` computes the same in another form, with a
fraction of the operations; the tests compare the two. Everything is in the links' own frames: X[i] (6, 6) takes a twist
from the parent's frame to the link's, its transpose takes a wrench back. Gravity enters as an acceleration of the
world, upwards.
Featherstone, Rigid Body Dynamics Algorithms (2008), tables 5.1, 6.2 and 7.1, with twists angular first. Armature, the
inertia of a motor's rotor, is added to the diagonal of the joint-space inertia.
"""

from collections.abc import Mapping

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.fuse import solve_spd
from poinsot.mechanism import kinematics
from poinsot.mechanism.model import Mechanism, as_rows, sized
from poinsot.spatial.motion import ad_dual, bracket

External = Mapping[str, ArrayLike] | ArrayLike | None


def inverse_dynamics(mech: Mechanism, q: Array, v: Array, vdot: Array, external: External = None) -> Array:
    """tau (nv,) [N m, N] that makes the mechanism accelerate with vdot (nv,). Recursive Newton-Euler, table 5.1.

    `external`: wrenches F_B (6,) on links, in their own frames, by name or as rows (n, 6).
    """
    (vdot,) = sized(mech, vdot=vdot)
    F, _ = newton_euler(mech, q, v, vdot, external)
    S = kinematics.subspaces(mech, q)
    motors = [link.joint.armature * vdot[sv] for link, sv in zip(mech.links, mech.v_slices, strict=True)]
    return np.concatenate([S[i].T @ F[i] + motors[i] for i in range(len(mech))])


def newton_euler(
    mech: Mechanism, q: Array, v: Array, vdot: Array, external: External = None
) -> tuple[list[Array], list[Array]]:
    """The wrench F_B (6,) that each link gets from its parent through the joint, and the acceleration A_B (6,) of each
    link less gravity, in the links' own frames."""
    q, v, vdot = sized(mech, q=q, v=v, vdot=vdot)
    X, S, I, F_ext = transforms(mech, q), kinematics.subspaces(mech, q), inertias(mech), as_rows(mech, external)
    V, A, F = {-1: np.zeros(6)}, {-1: upwards(mech)}, dict[int, Array]()
    for i, p in enumerate(mech.parents):
        vJ = S[i] @ v[mech.v_slices[i]]
        V[i] = X[i] @ V[p] + vJ
        A[i] = X[i] @ A[p] + S[i] @ vdot[mech.v_slices[i]] + bias(mech, i, q, v) + bracket(V[i], vJ)
        F[i] = I[i] @ A[i] - ad_dual(V[i], I[i] @ V[i])
        if (external_wrench := F_ext[i]) is not None:
            F[i] = F[i] - external_wrench
    for i, p in reversed(list(enumerate(mech.parents))):
        if p >= 0:
            F[p] = F[p] + X[i].T @ F[i]
    return [F[i] for i in range(len(mech))], [A[i] for i in range(len(mech))]


def mass_matrix(mech: Mechanism, q: Array) -> Array:
    """M (nv, nv), the joint-space inertia: tau = M vdot + bias forces. Composite rigid bodies, table 6.2."""
    (q,) = sized(mech, q=q)
    X, S, Ic, at = transforms(mech, q), kinematics.subspaces(mech, q), inertias(mech), mech.v_slices
    M = np.zeros((mech.nv, mech.nv))
    for i, p in reversed(list(enumerate(mech.parents))):
        if p >= 0:
            Ic[p] = Ic[p] + X[i].T @ Ic[i] @ X[i]
        F = Ic[i] @ S[i]
        M[at[i], at[i]] = S[i].T @ F + np.diag(armature(mech, i))
        j = i
        while mech.parents[j] >= 0:
            F = X[j].T @ F
            j = mech.parents[j]
            M[at[i], at[j]] = F.T @ S[j]
            M[at[j], at[i]] = M[at[i], at[j]].T
    return M


def forward_dynamics(mech: Mechanism, q: Array, v: Array, tau: Array, external: External = None) -> Array:
    """vdot (nv,) under joint forces tau (nv,) [N m, N]. Articulated bodies, table 7.1.

    `external`: wrenches F_B (6,) on links, in their own frames, by name or as rows (n, 6).
    """
    q, v, tau = sized(mech, q=q, v=v, tau=tau)
    X, S, IA, F_ext = transforms(mech, q), kinematics.subspaces(mech, q), inertias(mech), as_rows(mech, external)
    V, A = {-1: np.zeros(6)}, {-1: upwards(mech)}
    c, pA, U, D, u, vdot = (dict[int, Array]() for _ in range(6))
    for i, p in enumerate(mech.parents):
        vJ = S[i] @ v[mech.v_slices[i]]
        V[i] = X[i] @ V[p] + vJ
        c[i] = bias(mech, i, q, v) + bracket(V[i], vJ)
        pA[i] = -ad_dual(V[i], IA[i] @ V[i])
        if (external_wrench := F_ext[i]) is not None:
            pA[i] = pA[i] - external_wrench
    for i, p in reversed(list(enumerate(mech.parents))):
        U[i] = IA[i] @ S[i]
        D[i] = S[i].T @ U[i] + np.diag(armature(mech, i))
        u[i] = tau[mech.v_slices[i]] - S[i].T @ pA[i]
        if p >= 0:
            Ia = IA[i] - U[i] @ solve_spd(D[i], U[i].T)
            pa = pA[i] + Ia @ c[i] + U[i] @ solve_spd(D[i], u[i])
            IA[p] = IA[p] + X[i].T @ Ia @ X[i]
            pA[p] = pA[p] + X[i].T @ pa
    for i, p in enumerate(mech.parents):
        A[i] = X[i] @ A[p] + c[i]
        vdot[i] = solve_spd(D[i], u[i] - U[i].T @ A[i])
        A[i] = A[i] + S[i] @ vdot[i]
    return np.concatenate([vdot[i] for i in range(len(mech))])


def transforms(mech: Mechanism, q: Array) -> list[Array]:
    """X (6, 6) of each link: twists of its parent's frame, in its own."""
    return [X_PB.inverse().adjoint() for X_PB in kinematics.joint_poses(mech, q)]


def inertias(mech: Mechanism) -> list[Array]:
    """I (6, 6) of each link about its origin; zero for a frame without mass."""
    return [np.zeros((6, 6)) if link.inertia is None else link.inertia.spatial() for link in mech.links]


def upwards(mech: Mechanism) -> Array:
    """The acceleration (6,) of the world less gravity."""
    return np.concatenate([np.zeros(3), -mech.gravity])


def bias(mech: Mechanism, i: int, q: Array, v: Array) -> Array:
    """S' v (6,), the book's c_J, of joint i."""
    joint = mech.links[i].joint
    return joint.type.bias(joint, q[mech.q_slices[i]], v[mech.v_slices[i]])


def armature(mech: Mechanism, i: int) -> Array:
    """(nv,) [kg m^2, kg] of joint i."""
    joint = mech.links[i].joint
    return np.ones(joint.nv) * joint.armature
