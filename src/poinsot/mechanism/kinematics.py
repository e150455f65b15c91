"""Positions, velocities and accelerations of the links, Jacobians, momentum and energy."""

from collections.abc import Iterator, Sequence

import numpy as np

from poinsot._types import Array
from poinsot.mechanism.model import Mechanism, sized
from poinsot.spatial import Pose, motion


def joint_poses(mech: Mechanism, q: Array) -> list[Pose]:
    """X_PB of every link B in its parent P: placement, then joint."""
    (q,) = sized(mech, q=q)
    return [
        link.placement @ link.joint.type.pose(link.joint, q[sq])
        for link, sq in zip(mech.links, mech.q_slices, strict=True)
    ]


def subspaces(mech: Mechanism, q: Array) -> list[Array]:
    """S (6, nv) of every joint, in the link's own frame."""
    (q,) = sized(mech, q=q)
    return [link.joint.type.subspace(link.joint, q[sq]) for link, sq in zip(mech.links, mech.q_slices, strict=True)]


def world_poses(mech: Mechanism, q: Array) -> list[Pose]:
    """X_WB of every link, in order."""
    poses: list[Pose] = []
    for parent, X_PB in zip(mech.parents, joint_poses(mech, q), strict=True):
        poses.append(X_PB if parent < 0 else poses[parent] @ X_PB)
    return poses


def forward_kinematics(mech: Mechanism, q: Array) -> dict[str, Pose]:
    """X_WB, the pose of every link in the world, by its name."""
    return dict(zip((link.name for link in mech.links), world_poses(mech, q), strict=True))


def twists(mech: Mechanism, q: Array, v: Array) -> list[Array]:
    """V_WB_B (6,) of every link: V = Ad(X_BP) V_P + S v."""
    q, v = sized(mech, q=q, v=v)
    V: list[Array] = []
    for i, (X_PB, S) in enumerate(zip(joint_poses(mech, q), subspaces(mech, q), strict=True)):
        own = S @ v[mech.v_slices[i]]
        parent = mech.parents[i]
        V.append(own if parent < 0 else X_PB.inverse().adjoint() @ V[parent] + own)
    return V


def accelerations(mech: Mechanism, q: Array, v: Array, vdot: Array) -> list[Array]:
    """dV_WB_B/dt (6,) of every link, without gravity: A = Ad A_P + S v' + ad(V) S v + S' v."""
    q, v, vdot = sized(mech, q=q, v=v, vdot=vdot)
    V, A = twists(mech, q, v), []  # type: list[Array], list[Array]
    for i, (X_PB, S) in enumerate(zip(joint_poses(mech, q), subspaces(mech, q), strict=True)):
        link, sq, sv = mech.links[i], mech.q_slices[i], mech.v_slices[i]
        own = S @ vdot[sv] + motion.bracket(V[i], S @ v[sv]) + link.joint.type.bias(link.joint, q[sq], v[sv])
        parent = mech.parents[i]
        A.append(own if parent < 0 else X_PB.inverse().adjoint() @ A[parent] + own)
    return A


def ancestors(mech: Mechanism, i: int) -> Iterator[int]:
    """The link itself, its parent, and so on to the root."""
    while i >= 0:
        yield i
        i = mech.parents[i]


def jacobian(mech: Mechanism, q: Array, name: str) -> Array:
    """J (6, nv) with V_WB_B = J v, for the link with this name, in its own frame."""
    S, X = subspaces(mech, q), joint_poses(mech, q)
    columns: list[Array] = [np.zeros((6, link.joint.nv)) for link in mech.links]
    X_BA = Pose()  # of ancestor A in the link's frame B
    for a in ancestors(mech, mech.index(name)):
        columns[a] = X_BA.adjoint() @ S[a]
        X_BA = X_BA @ X[a].inverse()
    return np.concatenate(columns, axis=1)


def jacobian_rate(mech: Mechanism, q: Array, v: Array, name: str) -> Array:
    """dJ/dt (6, nv): each column is a twist fixed to its own link A, in the frame of the link B.

    d/dt (Ad(X_BA) S_A) = Ad(X_BA) (ad(V_A) S_A + S_A') - ad(V_B) Ad(X_BA) S_A, with V_A, S_A in A's axes, V_B in B's.
    """
    S, X, V = subspaces(mech, q), joint_poses(mech, q), twists(mech, q, v)
    b = mech.index(name)
    columns: list[Array] = [np.zeros((6, link.joint.nv)) for link in mech.links]
    X_BA = Pose()
    for a in ancestors(mech, b):
        link, sq, sv = mech.links[a], mech.q_slices[a], mech.v_slices[a]
        Ad = X_BA.adjoint()
        V_A = X_BA.inverse().adjoint() @ V[b]  # the link's own twist, in A's frame
        S_dot = link.joint.type.subspace_rate(link.joint, q[sq], v[sv])
        columns[a] = Ad @ (motion.ad(V[a] - V_A) @ S[a] + S_dot)
        X_BA = X_BA @ X[a].inverse()
    return np.concatenate(columns, axis=1)


def centre_of_mass(mech: Mechanism, q: Array) -> Array:
    """The centre of all mass (3,) [m] in the world."""
    if all(link.inertia is None for link in mech.links):
        raise ValueError(f"{mech} has no centre of mass: none of its links has an inertia.")
    total, moment = 0.0, np.zeros(3)
    for link, X_WB in zip(mech.links, world_poses(mech, q), strict=True):
        if link.inertia is not None:
            total = total + link.inertia.mass
            moment = moment + link.inertia.mass * (X_WB @ link.inertia.com)
    return moment / total


def momentum(mech: Mechanism, q: Array, v: Array) -> Array:
    """Total momentum (L, P) (6,) about the world's origin, in world axes."""
    return momentum_of(mech, world_poses(mech, q), twists(mech, q, v))


def momentum_of(mech: Mechanism, poses: Sequence[Pose], V: Sequence[Array]) -> Array:
    """The same from X_WB and V_WB_B of every link."""
    total = np.zeros(6)
    for link, X_WB, V_B in zip(mech.links, poses, V, strict=True):
        if link.inertia is not None:
            total = total + motion.momentum_in_frame(X_WB, link.inertia.momentum(V_B))
    return total


def centroidal_momentum(mech: Mechanism, q: Array, v: Array) -> Array:
    """Total momentum (L, P) (6,) about the centre of all mass, in world axes."""
    return motion.momentum_at(momentum(mech, q, v), centre_of_mass(mech, q))


def kinetic_energy(mech: Mechanism, q: Array, v: Array) -> Array:
    """T [J], the motors' rotors (armature) included."""
    (v,) = sized(mech, v=v)
    return kinetic_energy_of(mech, v, twists(mech, q, v))


def kinetic_energy_of(mech: Mechanism, v: Array, V: Sequence[Array]) -> Array:
    """The same from v (nv,) and V_WB_B of every link."""
    T: Array = np.zeros(())
    for i, (link, V_B) in enumerate(zip(mech.links, V, strict=True)):
        if link.inertia is not None:
            T = T + link.inertia.kinetic_energy(V_B)
        T = T + 0.5 * np.sum(link.joint.armature * v[mech.v_slices[i]] ** 2)
    return T


def potential_energy(mech: Mechanism, q: Array) -> Array:
    """U [J] in gravity, zero where all centres of mass are at the world's origin."""
    return potential_energy_of(mech, world_poses(mech, q))


def potential_energy_of(mech: Mechanism, poses: Sequence[Pose]) -> Array:
    """The same from X_WB of every link."""
    U: Array = np.zeros(())
    for link, X_WB in zip(mech.links, poses, strict=True):
        if link.inertia is not None:
            U = U - link.inertia.mass * (mech.gravity @ (X_WB @ link.inertia.com))
    return U


def position_rate(mech: Mechanism, q: Array, v: Array) -> Array:
    """dq/dt (nq,)."""
    q, v = sized(mech, q=q, v=v)
    parts = zip(mech.links, mech.q_slices, mech.v_slices, strict=True)
    return np.concatenate([link.joint.type.rate(link.joint, q[sq], v[sv]) for link, sq, sv in parts])


def normalize(mech: Mechanism, q: Array) -> Array:
    """q (nq,) with every quaternion in it normalized to the length 1."""
    (q,) = sized(mech, unit=False, q=q)
    parts = zip(mech.links, mech.q_slices, strict=True)
    return np.concatenate([link.joint.type.normalize(link.joint, q[sq]) for link, sq in parts])


def integrate(mech: Mechanism, q: Array, u: Array) -> Array:
    """q (nq,) after one unit of time at the constant joint velocities u (nv,): on the group, exactly."""
    q, u = sized(mech, q=q, u=u)
    parts = zip(mech.links, mech.q_slices, mech.v_slices, strict=True)
    return np.concatenate([link.joint.type.integrate(link.joint, q[sq], u[sv]) for link, sq, sv in parts])


def difference(mech: Mechanism, q1: Array, q2: Array) -> Array:
    """The u (nv,) with integrate(q1, u) = q2."""
    q1, q2 = sized(mech, q1=q1, q2=q2)
    parts = zip(mech.links, mech.q_slices, strict=True)
    return np.concatenate([link.joint.type.difference(link.joint, q1[sq], q2[sq]) for link, sq in parts])
