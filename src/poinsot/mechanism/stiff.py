"""Trees on which forces act that depend on the velocities at the end of a step: stiff springs, dampers, contacts.

A wrench on a body that falls by K for each unit of its twist, F(V) = F_0 - K (V - V_0), acts over a step h as an
inertia h K does: with the accelerations A that the step gives, V = V_0 + h A, so

    (M + h J^T K J) vdot = tau + J^T F_0 - bias,

and the articulated-body algorithm solves it as it stands, with G + h K for the inertia of the body. A force in a joint
that falls by d for each unit of its velocity is an armature h d. Neither M nor J is formed.

Where forces between two bodies, or in two joints, depend on the velocities of both, K joins branches of the tree; then
M + h J^T K J is formed, with zeros known in advance, and factorised.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import solve_spd
from poinsot.mechanism import floating
from poinsot.mechanism.book import External
from poinsot.mechanism.dynamics import external_wrenches
from poinsot.mechanism.form import canonical, composite, screws, visits
from poinsot.mechanism.form.screws import mirrored
from poinsot.mechanism.form.tree import still
from poinsot.mechanism.model import Mechanism, sized

if TYPE_CHECKING:
    from poinsot.mechanism.stiff_rows import RowList


class StiffTree:
    """A mechanism in a state, under forces that are known: tau (nv,) and wrenches F_B (6,) on links; and its
    accelerations under further ones that resist its motion. Free roots have their origins at rest, as in `floating`.
    """

    def __init__(self, mech: Mechanism, q: Array, v: Array, tau: Array, external: External = None) -> None:
        q, v, tau = sized(mech, q=q, v=v, tau=tau)
        self.mech, self.q, self.v, self.T = mech, q, v, canonical.tree_of(mech)
        resting, self.tau = floating.with_roots_at_rest(mech, v, tau)
        self.here = [body.at(q, resting) for body in self.T.bodies]
        wrenches, K = external_wrenches(mech, self.T, external), {-1: still(self.T)}
        self.needed: list[Array] = []  # the wrench that each body needs beyond those, if no joint accelerates
        for i, body in enumerate(self.T.bodies):
            K[i], F = visits.outward(self.here[i], resting[body.v], K[body.parent], wrenches[i])
            self.needed.append(F)

    def solve(self, on: "StiffForces") -> tuple[Array, "Added"]:
        """The accelerations a (nv,) under further forces, but for those of lists, and what they add to the acceleration
        of any link. Of a free root, a has the acceleration of its origin, in its axes."""
        if on.couplings or on.joint_couplings:
            return self._solve_coupled(on)
        bodies, here, pA = self.T.bodies, list(self.here), list(self.needed)
        IA, tau = [body.G for body in bodies], self.tau if on.joint_forces is None else self.tau + on.joint_forces
        for link in on.wrenches:
            k, _ = self.T.carriers[link]
            if k >= 0:
                pA[k], IA[k] = pA[k] - on.wrenches[link], IA[k] + on.h * on.resistances[link]
        for i, body in enumerate(bodies):
            if on.joint_resistances is not None and body.joint.nv:
                armature = here[i].armature + on.h * on.joint_resistances[body.v]
                here[i] = replace(here[i], armature=armature, bare=False)
        W, u = [np.zeros(0)] * len(bodies), [np.zeros(0)] * len(bodies)
        for i, body in reversed(list(enumerate(bodies))):
            W[i], u[i], Ia, pa = visits.inward(here[i], tau[body.v], IA[i], pA[i])
            if body.parent >= 0:
                IA[body.parent] = IA[body.parent] + screws.inertia(here[i].moves, Ia)
                pA[body.parent] = pA[body.parent] + screws.force(here[i].moves, pa)
        A, a = {-1: np.zeros(6)}, [np.zeros(0)]
        for i, body in enumerate(bodies):
            A[i], ai = visits.onward(here[i], A[body.parent], W[i], u[i])
            a.append(ai)
        return np.concatenate(a), Added(self, A)

    def _solve_coupled(self, on: "StiffForces") -> tuple[Array, "Added"]:
        """`solve` in joint space: (M + h sum J_i^T K_ij J_j) a = tau + J^T F - bias."""
        J = {link: self.jacobian(link) for link in on.wrenches}
        H, b = on.in_joints(self.mass_matrix, self.left)
        for link, F in on.wrenches.items():
            H = H + mirrored(J[link].T @ (on.h * on.resistances[link]) @ J[link])
            b = b + J[link].T @ F
        a = solve_spd(on.coupled(H, J), b)
        return a, Added(self, {-1: np.zeros(6)}, {link: J[link] @ a for link in J})

    @cached_property
    def mass_matrix(self) -> Array:
        """M (nv, nv), armatures included."""
        return composite.inertia_matrix(self.T, self.here)

    @cached_property
    def left(self) -> Array:
        """tau (nv,) less what the motion needs if no joint accelerates."""
        return self.tau - self.in_joints(self.needed)

    def in_joints(self, F: Sequence[Array]) -> Array:
        """The joint forces (nv,) that lead to wrenches F (6,) on the bodies of the tree."""
        F, found = list(F), [np.zeros(0)] * len(self.T.bodies)
        for i, body in reversed(list(enumerate(self.T.bodies))):
            found[i] = self.here[i].S.T @ F[i]
            if body.parent >= 0:
                F[body.parent] = F[body.parent] + screws.force(self.here[i].moves, F[i])
        return np.concatenate([np.zeros(0), *found])

    def with_wrenches(self, F: Sequence[Array], on: Mapping[int, Array]) -> list[Array]:
        """Wrenches on the bodies of the tree, with those on links, in the frames of their carriers."""
        F = list(F)
        for link, wrench in on.items():
            k, _ = self.T.carriers[link]
            if k >= 0:
                F[k] = F[k] + wrench
        return F

    def still(self) -> "StiffTree":
        """The same tree at rest, under no forces."""
        still = copy(self)
        still.tau, still.needed = np.zeros(self.mech.nv), [np.zeros(6) for _ in self.needed]
        still.__dict__.pop("left", None)
        return still

    def jacobian(self, link: int) -> Array:
        """J (6, nv): the twist of the body that carries a link is J v, about its origin in its axes."""
        k, _ = self.T.carriers[link]
        path = []
        while k >= 0:
            path.append(k)
            k = self.T.bodies[k].parent
        J = np.zeros((6, self.mech.nv))
        for k in reversed(path):
            here, v = self.here[k], self.T.bodies[k].v
            moved = [screws.motion(here.moves, J[:, c]) for c in range(self.mech.nv)]
            J = np.stack(moved, axis=1)
            J[:, v] = J[:, v] + here.S
        return J

    def rates(self, a: Array) -> tuple[Array, Array]:
        """vdot and wdot (nv,), as `floating.accelerations` gives them, from the accelerations of `solve`."""
        return floating.from_roots_at_rest(self.mech, self.q, self.v, a)


@dataclass(frozen=True, eq=False)
class StiffForces:
    """Further forces on a tree over a step h [s], which fall with the velocities.

    By the number of a link: wrenches F_0 (6,) and resistances K (6, 6), symmetric, not negative, in the frame of the
    body that carries it, `T.carriers`. In joints, or None: forces (nv,) and resistances (nv,). couplings: by two links
    i, j, the K (6, 6) by which the velocity of j resists i; its transpose is how that of i resists j. joint_couplings:
    by two elements of v, the number by which either resists the other. lists: forces in places that are only known at
    run time.
    """

    h: Scalar
    wrenches: Mapping[int, Array] = field(default_factory=dict)
    resistances: Mapping[int, Array] = field(default_factory=dict)
    joint_forces: Array | None = None
    joint_resistances: Array | None = None
    couplings: Mapping[tuple[int, int], Array] = field(default_factory=dict)
    joint_couplings: Mapping[tuple[int, int], Array] = field(default_factory=dict)
    lists: "Sequence[RowList]" = ()

    def in_joints(self, H: Array, b: Array) -> tuple[Array, Array]:
        """H (nv, nv) and b (nv,) with the forces in joints."""
        b = b if self.joint_forces is None else b + self.joint_forces
        H = H if self.joint_resistances is None else H + self.h * np.diag(self.joint_resistances)
        if self.joint_couplings:
            H = 1.0 * H
        for (i, j), k in self.joint_couplings.items():
            H[i, j] = H[j, i] = H[i, j] + self.h * k
        return H, b

    def coupled(self, H: Array, J: Mapping[int, Array]) -> Array:
        """H (nv, nv) with the couplings, given the Jacobians (6, nv) of their links."""
        for (i, j), K in self.couplings.items():
            both = J[i].T @ (self.h * K) @ J[j]
            H = H + both + both.T
        return H


class Added:
    """The accelerations that joints add to links: added[link], A (6,) in its carrier's frame, by its number.

    A: of the bodies of the tree; known: of links, where these are known already.
    """

    def __init__(self, tree: StiffTree, A: Mapping[int, Array], known: Mapping[int, Array] | None = None) -> None:
        self.tree, self.A, self.known = tree, A, known or {}

    def __getitem__(self, link: int) -> Array:
        if link in self.known:
            return self.known[link]
        return self.A[self.tree.T.carriers[link][0]]
