"""Trees on which forces act that depend on the velocities at the end of a step: stiff springs, dampers, contacts.

A wrench on a body that falls by K for each unit of its twist, F(V) = F_0 - K (V - V_0), acts over a step h as an
inertia h K does: with the accelerations A that the step gives, V = V_0 + h A, so

    (M + h J^T K J) vdot = tau + J^T F_0 - bias,

and the articulated-body algorithm solves it as it stands, with G + h K for the inertia of the body. A force in a joint
that falls by d for each unit of its velocity is an armature h d. Neither M nor J is formed.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.mechanism import floating
from poinsot.mechanism.book import External
from poinsot.mechanism.dynamics import external_wrenches
from poinsot.mechanism.form import canonical, screws, visits
from poinsot.mechanism.form.tree import still
from poinsot.mechanism.model import Mechanism, sized
from poinsot.spatial import motion


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

    def solve(
        self,
        h: Scalar,
        wrenches: Mapping[int, Array],
        resistances: Mapping[int, Array],
        joint_forces: Array | None = None,
        joint_resistances: Array | None = None,
    ) -> tuple[Array, "Added"]:
        """The accelerations a (nv,) under further forces, and what they add to the acceleration of any link.

        By the number of a link: wrenches F_0 (6,) and resistances K (6, 6), symmetric, not negative, in its frame. In
        joints: forces (nv,) and resistances (nv,). Of a free root, a has the acceleration of its origin, in its axes.
        """
        bodies, here, pA = self.T.bodies, list(self.here), list(self.needed)
        IA, tau = [body.G for body in bodies], self.tau if joint_forces is None else self.tau + joint_forces
        for link in wrenches:
            k, X = self.T.carriers[link]
            if k >= 0:
                pA[k] = pA[k] - motion.wrench_in_frame(X, wrenches[link])
                IA[k] = IA[k] + screws.General(X).inertia(h * resistances[link])
        for i, body in enumerate(bodies):
            if joint_resistances is not None and body.joint.nv:
                here[i] = replace(here[i], armature=here[i].armature + h * joint_resistances[body.v], bare=False)
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

    def rates(self, a: Array) -> tuple[Array, Array]:
        """vdot and wdot (nv,), as `floating.accelerations` gives them, from the accelerations of `solve`."""
        return floating.from_roots_at_rest(self.mech, self.q, self.v, a)


class Added:
    """What the joints add to the accelerations of links: added[link], A (6,) in the link's frame, by its number."""

    def __init__(self, tree: StiffTree, A: Mapping[int, Array]) -> None:
        self.tree, self.A = tree, A

    def __getitem__(self, link: int) -> Array:
        k, X = self.tree.T.carriers[link]
        return screws.General(X).motion(self.A[k])
