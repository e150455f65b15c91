"""Inverse dynamics, mass matrix and forward dynamics of a tree, with few operations.

The recursions are those of `book`, over the bodies of the canonical form of the mechanism (`form.canonical`). In a
kernel, the machine that is compiled for decides which bodies become straight-line code, and which stay in loops
(`form.division`, `form.rolled`).
Featherstone, Rigid Body Dynamics Algorithms (2008), tables 5.1, 6.2 and 7.1, with twists angular first.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.fuse import is_traced, solve_spd
from poinsot.mechanism import book
from poinsot.mechanism.book import External
from poinsot.mechanism.form import canonical, composite, division, rolled, screws, visits
from poinsot.mechanism.form.screws import mirrored
from poinsot.mechanism.form.tree import Tree, still
from poinsot.mechanism.joints import Joint
from poinsot.mechanism.model import Mechanism, as_rows, sized
from poinsot.mechanism.response import Response
from poinsot.spatial import Pose, motion


def inverse_dynamics(mech: Mechanism, q: Array, v: Array, vdot: Array, external: External = None) -> Array:
    """tau (nv,) [N m, N] that makes the mechanism accelerate with vdot (nv,). Recursive Newton-Euler.

    `external`: wrenches F_B (6,) on links, in their own frames, by name or as rows (n, 6).
    """
    q, v, vdot = sized(mech, q=q, v=v, vdot=vdot)
    T = canonical.tree_of(mech)
    wrenches = external_wrenches(mech, T, external)
    F, tau = _wrenches(T, q, v, vdot, wrenches)
    for i, F_i in F.items():
        tau[i] = T.bodies[i].subspace(q).T @ F_i
    return np.concatenate([np.zeros(0), *(tau[i] + b.armature * vdot[b.v] for i, b in enumerate(T.bodies))])


def _wrenches(
    T: Tree, q: Array, v: Array, vdot: Array, wrenches: Sequence[Array], at_joints: bool = True
) -> tuple[dict[int, Array], dict[int, Array]]:
    """F (6,) through the joint of each body in straight-line code; of each body in a loop S^T F or, if not `at_joints`,
    F as well. Table 5.1."""
    straight, rest = division.split(T, q)
    here = {i: T.bodies[i].at(q, v) for i in straight}
    K, F, in_loops = {-1: still(T)}, dict[int, Array](), dict[int, Array]()
    for i in straight:
        body = T.bodies[i]
        K[i], F[i] = visits.outward(here[i], v[body.v], K[body.parent], wrenches[i], vdot[body.v])
    for bodies in rest:
        loop = rolled.Loop(T, bodies, q, v, wrenches)
        loop.outward(K, vdot)
        in_loops |= loop.through(F, at_joints)
    for i in reversed(straight):
        if (p := T.bodies[i].parent) >= 0:
            F[p] = F[p] + screws.force(here[i].moves, F[i])
    return F, in_loops


def link_wrenches(
    mech: Mechanism, q: Array, v: Array, vdot: Array, external: External = None
) -> tuple[list[Array], list[Array]]:
    """The wrench F_B (6,) that each link gets from its parent through the joint, and the acceleration of each link less
    gravity (6,), in the links' own frames. With the true inertia of every link, which the canonical form moves about.
    """
    return book.newton_euler(mech, q, v, vdot, external)


def reactions(mech: Mechanism, q: Array, v: Array, vdot: Array, external: External = None) -> list[Array]:
    """F_B (6,) on each link through its joint, as `link_wrenches` has them. In a kernel, the recursion over most links
    of a large tree stays a loop, if each is a body of its own."""
    q, v, vdot = sized(mech, q=q, v=v, vdot=vdot)
    T = _link_by_link(mech) if is_traced(q) else None
    if T is None or not division.split(T, q)[1]:
        return link_wrenches(mech, q, v, vdot, external)[0]
    F, in_loops = _wrenches(T, q, v, vdot, external_wrenches(mech, T, external), at_joints=False)
    return [(F | in_loops)[i] for i in range(len(mech))]


def _link_by_link(mech: Mechanism) -> Tree | None:
    """The tree with the links as its bodies, each with its true inertia; None if links share one, or have other
    frames."""
    T = canonical.tree_of(mech)
    if any(k != i or is_traced(X.R, X.p) or not _is_own(X) for i, (k, X) in enumerate(T.carriers)):
        return None
    inertias = (np.zeros((6, 6)) if link.inertia is None else link.inertia.spatial() for link in mech.links)
    return replace(T, bodies=tuple(replace(body, G=G) for body, G in zip(T.bodies, inertias, strict=True)))


def _is_own(X: Pose) -> bool:
    """Whether a pose is that of a frame in itself."""
    return np.array_equal(X.R, np.eye(3)) and not np.any(X.p)


def mass_matrix(mech: Mechanism, q: Array) -> Array:
    """M (nv, nv), the joint-space inertia: tau = M vdot + bias forces. Composite rigid bodies."""
    (q,) = sized(mech, q=q)
    T = canonical.tree_of(mech)
    return composite.inertia_matrix(T, [body.at(q, np.zeros(mech.nv)) for body in T.bodies])


def forward_dynamics(mech: Mechanism, q: Array, v: Array, tau: Array, external: External = None) -> Array:
    """vdot (nv,) under joint forces tau (nv,) [N m, N].

    `external`: wrenches F_B (6,) on links, in their own frames, by name or as rows (n, 6). Articulated bodies; in a
    kernel, the recursion over most bodies of a large tree stays a loop, and on a GPU small trees are done by composite
    bodies, where that takes fewer operations.
    """
    q, v, tau = sized(mech, q=q, v=v, tau=tau)
    T = canonical.tree_of(mech)
    wrenches = external_wrenches(mech, T, external)
    if is_traced(q) and division.is_cheaper(T, composite.forward_dynamics, _by_articulated_bodies):
        return composite.forward_dynamics(T, q, v, tau, wrenches)
    return _by_articulated_bodies(T, q, v, tau, wrenches)


def forward_dynamics_articulated(mech: Mechanism, q: Array, v: Array, tau: Array, external: External = None) -> Array:
    """`forward_dynamics` by articulated bodies, for algorithms that need these anyway."""
    q, v, tau = sized(mech, q=q, v=v, tau=tau)
    T = canonical.tree_of(mech)
    return _by_articulated_bodies(T, q, v, tau, external_wrenches(mech, T, external))


def _by_articulated_bodies(T: Tree, q: Array, v: Array, tau: Array, wrenches: Sequence[Array]) -> Array:
    """vdot (nv,), table 7.1."""
    straight, rest = division.split(T, q)
    wide = division.ordered(T, straight)  # inwards, the contribution to the parent is used at once
    here, IA = {i: T.bodies[i].at(q, v) for i in straight}, {i: T.bodies[i].G for i in straight}
    K, A = {-1: still(T)}, {-1: np.zeros(6)}
    pA, W, u, vdot = (dict[int, Array]() for _ in range(4))
    for i in wide:
        body = T.bodies[i]
        K[i], pA[i] = visits.outward(here[i], v[body.v], K[body.parent], wrenches[i])
    loops = [rolled.Loop(T, bodies, q, v, wrenches) for bodies in rest]
    for loop in loops:
        loop.outward(K)
        loop.inward(tau, IA, pA)
    for i in reversed(straight):
        W[i], u[i], Ia, pa = visits.inward(here[i], tau[T.bodies[i].v], IA[i], pA[i])
        if (p := T.bodies[i].parent) >= 0:
            IA[p] = IA[p] + screws.inertia(here[i].moves, Ia)
            pA[p] = pA[p] + screws.force(here[i].moves, pa)
    for i in wide:
        A[i], vdot[i] = visits.onward(here[i], A[T.bodies[i].parent], W[i], u[i])
    for loop in loops:
        vdot |= loop.onward(A)
    return np.concatenate([np.zeros(0), *(vdot[i] for i in range(len(T.bodies)))])


def inverse_mass_matrix(mech: Mechanism, q: Array) -> Array:
    """M^-1 (nv, nv), without M: from factors that articulated bodies give."""
    A, B = inverse_mass_factors(mech, q)
    return mirrored(A.T @ B)


def inverse_mass_factors(mech: Mechanism, q: Array) -> tuple[Array, Array]:
    """A and B (nv, nv) with M^-1 = A^T B. Both are zero but where the joint of the row carries that of the column.

    Unit joint forces, a column for each, go inwards as in forward dynamics from rest without gravity. The rows of A are
    what acts at each joint, tau - S^T pA, those of B the accelerations D (tau - S^T pA). So M^-1 = A^T D A.
    Rodriguez and Kreutz-Delgado, IEEE Trans. Robot. Autom. 8 (1992).
    """
    (q,) = sized(mech, q=q)
    return Response(mech, q, np.eye(mech.nv), [[k] for k in range(mech.nv)], unrolled=True).factors()


def rows(n: int, count: int) -> tuple[list[Any], ...]:
    """So many empty lists with a place for each body."""
    return tuple([None] * n for _ in range(count))


def external_wrenches(mech: Mechanism, T: Tree, external: External) -> list[Array]:
    """The external wrench on each body, in its frame."""
    total = [np.zeros(6) for _ in T.bodies]
    for F, (k, X) in zip(as_rows(mech, external), T.carriers, strict=True):
        if F is not None and k >= 0:
            total[k] = total[k] + motion.wrench_in_frame(X, F)
    return total


def bias_forces(mech: Mechanism, q: Array, v: Array, external: External = None) -> Array:
    """tau (nv,) at which vdot = 0: Coriolis, centrifugal, gravity and external forces."""
    return inverse_dynamics(mech, q, v, np.zeros(mech.nv), external)


def gravity_forces(mech: Mechanism, q: Array) -> Array:
    """tau (nv,) that holds the mechanism at rest."""
    return bias_forces(mech, q, np.zeros(mech.nv))


def forward_dynamics_dense(mech: Mechanism, q: Array, v: Array, tau: Array, external: External = None) -> Array:
    """vdot (nv,) by solving M vdot = tau - bias: the dense route, for comparison and for small trees."""
    (tau,) = sized(mech, tau=tau)
    return solve_spd(mass_matrix(mech, q), tau - bias_forces(mech, q, v, external))


def joint_forces(mech: Mechanism, q: Array, v: Array) -> Array:
    """tau (nv,) of springs, dampers and dry friction in the joints; friction is smoothed over 1e-3 rad/s or m/s."""
    q, v = sized(mech, q=q, v=v)
    parts = []
    for link, sq, sv in zip(mech.links, mech.q_slices, mech.v_slices, strict=True):
        parts.append(link.joint.stiffness * strain(link.joint, q[sq]) - resistance(link.joint, v[sv]))
    return np.concatenate(parts)


def strain(joint: Joint, q: Array) -> Array:
    """u (nv,), from the coordinates of a joint to the rest position of its spring; the force is stiffness * u."""
    return joint.type.strain(joint, q, np.ones(joint.nv) * joint.rest)


def resistance(joint: Joint, v: Array) -> Array:
    """The force (nv,) [N m, N] of damper and dry friction against v; friction is smoothed over 1e-3 rad/s or m/s."""
    return joint.damping * v + joint.friction * np.tanh(v / 1e-3)
