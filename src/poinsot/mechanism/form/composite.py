"""Composite bodies: the joint-space inertia matrix M, its sparse factors, and the forward dynamics that they give.

Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 6. A composite inertia is that of a rigid body, with
half of the numbers of an articulated one; but M has an entry for each pair of joints of which one carries the other.
That pays for small trees.
"""

from collections.abc import Sequence

import numpy as np

from poinsot._types import Array
from poinsot.mechanism.form import screws, sparse, visits
from poinsot.mechanism.form.screws import mirrored
from poinsot.mechanism.form.tree import Here, Tree, still
from poinsot.spatial import rotation


def inertia_matrix(T: Tree, here: Sequence[Here]) -> Array:
    """M (nv, nv), zero where neither of two joints carries the other. Table 6.2."""
    nv = sum(body.joint.nv for body in T.bodies)
    M = np.zeros((nv, nv))
    whole = [(G[5, 5], np.stack([G[2, 4], G[0, 5], G[1, 3]]), G[:3, :3]) for G in (body.G for body in T.bodies)]
    for i, body in reversed(list(enumerate(T.bodies))):
        if body.parent >= 0:
            moved = screws.moments(here[i].moves, *whole[i])
            whole[body.parent] = tuple(a + b for a, b in zip(whole[body.parent], moved, strict=True))
        F = _inertia(*whole[i]) @ here[i].S
        M[body.v, body.v] = mirrored(here[i].S.T @ F) + np.diag(here[i].armature)
        j = i
        while T.bodies[j].parent >= 0:
            F = screws.force(here[j].moves, F)
            j = T.bodies[j].parent
            M[T.bodies[j].v, body.v] = here[j].S.T @ F
            M[body.v, T.bodies[j].v] = M[T.bodies[j].v, body.v].T
    return M


def _inertia(mass: Array, h: Array, I: Array) -> Array:
    """The inertia (6, 6) with these moments of mass."""
    C = rotation.skew(h)
    return np.block([[I, C], [C.T, mass * np.eye(3)]])


def forward_dynamics(T: Tree, q: Array, v: Array, tau: Array, wrenches: Sequence[Array]) -> Array:
    """vdot (nv,) with M vdot = tau - bias forces, under external wrenches on the bodies."""
    here = [body.at(q, v) for body in T.bodies]
    K, F = {-1: still(T)}, dict[int, Array]()
    for i, body in enumerate(T.bodies):
        K[i], F[i] = visits.outward(here[i], v[body.v], K[body.parent], wrenches[i])
    left = [tau[k] for k in range(len(tau))]
    for i, body in reversed(list(enumerate(T.bodies))):
        left[body.v] = list(tau[body.v] - here[i].S.T @ F[i])
        if body.parent >= 0:
            F[body.parent] = F[body.parent] + screws.force(here[i].moves, F[i])
    return sparse.factorised(_carriers(T), inertia_matrix(T, here))(np.stack(left))


def _carriers(T: Tree) -> list[list[int]]:
    """For each entry of v those that carry it, the nearest first: the places of M that are not zero."""
    carriers: list[list[int]] = [[] for _ in range(sum(body.joint.nv for body in T.bodies))]
    for body in T.bodies:
        inherited: list[int] = []
        if body.parent >= 0 and (parents := range(len(carriers))[T.bodies[body.parent].v]):
            inherited = [parents[-1], *carriers[parents[-1]]]
        for k in range(body.v.start, body.v.stop):
            carriers[k] = inherited
            inherited = [k, *inherited]
    return carriers
