"""Bodies that resist each other's motion in places of lists, too many for a matrix: conjugate gradients.

The matrix H = M + h sum of J_i^T K_i J_i is that of `stiff_rows`. The bodies are numbered: first free bodies in loops
(`free_bodies.FreePart`), then links of a tree that is written out (`TreePart`), and last the world. What a list does
between two bodies joins these parts, and branches of the tree. Without that, each body resists with the sum of its own
resistances, and each part can be solved alone: a free body by its own inertia M + h K, a tree by the articulated-body
algorithm with G + h K (`mechanism.stiff`). That is the preconditioner. H itself is multiplied body by body: from
accelerations of all bodies about one point to the wrenches that resist them, and what each part needs beside these. So
neither H nor any J is formed, and the cost of an iteration is in proportion to the bodies and contacts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import fori_loop, in_memory
from poinsot.mechanism.block_vectors import Blocks
from poinsot.mechanism.conjugate_gradients import CLOSE, conjugate_gradients
from poinsot.mechanism.stiff import Added, StiffForces, StiffTree
from poinsot.mechanism.stiff_rows import accelerations


@dataclass(frozen=True, eq=False)
class Resistances:
    """Resistances between pairs of bodies, by place: h K (m, 6, 6) in world axes about one point, and the numbers of
    the two bodies, `pair`(k); the number after those of all bodies is the world's."""

    count: Any
    most: int
    K: Array
    pair: Callable[[Any], tuple[Any, Any]]

    def times(self, W: Array, F: Array) -> Array:
        """F (n + 1, 6) and what resists the twists W (n + 1, 6)."""

        def add(k: Any, F: Array) -> Array:
            i, j = self.pair(k)
            on = self.K[k] @ (W[i] - W[j])
            F[i] = F[i] + on
            F[j] = F[j] - on
            return F

        summed: Array = fori_loop(self.count, add, F, most=self.most)
        return summed


@dataclass(frozen=True, eq=False)
class JoinedLinks:
    """Links of a tree among the bodies that lists join, from number `first` on: their numbers in the tree, and for each
    the matrix Ad (6, 6) that takes a twist of the body that carries it to world axes and the common point."""

    links: Sequence[int]
    Ad: Sequence[Array]
    first: int = 0

    def moving(self, A: Mapping[int, Array] | Added, W: Array) -> Array:
        """Twists W (n, 6) of all bodies, with those of the links entered, given those A (6,) of their carriers."""
        for k, (link, Ad) in enumerate(zip(self.links, self.Ad, strict=True), self.first):
            W[k] = Ad @ A[link]
        return W

    def on(self, F: Array) -> dict[int, Array]:
        """Wrenches F (n, 6) on all bodies: those on the links, in the frames of their carriers."""
        return {link: Ad.T @ F[k] for k, (link, Ad) in enumerate(zip(self.links, self.Ad, strict=True), self.first)}

    def resisting(self, own: Array) -> dict[int, Array]:
        """Resistances own (n, 6, 6) of all bodies: those of the links, in the frames of their carriers."""
        places = enumerate(zip(self.links, self.Ad, strict=True), self.first)
        return {link: Ad.T @ own[k] @ Ad for k, (link, Ad) in places}


@dataclass(frozen=True, eq=False)
class ListedForces:
    """The action of a list on bodies over a step, in world axes about one point: forces F (n + 1, 6) as at the start,
    `resistances` between pairs, and their sums for each body, own (n + 1, 6, 6); the last is the world's.

    links: the bodies. fault: 0, or NaN if the list could not hold all that it should.
    """

    links: JoinedLinks
    resistances: Resistances
    own: Array
    F: Array
    fault: Any = 0.0


class Part(Protocol):
    """Some of the bodies: the forces on it, and what H and the preconditioner do there."""

    @property
    def loads(self) -> Array:
        """The forces on it, and what its motion needs without accelerations."""

    def moving(self, x: Array, W: Array) -> Array:
        """The accelerations W (n + 1, 6) of all bodies, with its own entered."""

    def needed(self, x: Array, F: Array) -> Array:
        """The forces that accelerate it so, and resist wrenches F (n + 1, 6)."""

    def alone(self, r: Array) -> Array:
        """The accelerations under forces, if no other body moves."""


def joined_accelerations(
    parts: Sequence[Part], between: Sequence[Resistances], n: int, start: Blocks, close: Scalar = CLOSE
) -> tuple[Blocks, Any]:
    """The accelerations of all parts with n bodies, from a guess; and 0, or NaN if they were not found as closely."""

    def times(x: Blocks) -> Blocks:
        W, F = in_memory(np.zeros((n + 1, 6))), in_memory(np.zeros((n + 1, 6)))
        for part, a in zip(parts, x, strict=True):
            W = part.moving(a, W)
        for resistances in between:
            F = resistances.times(W, F)
        return tuple(part.needed(a, F) for part, a in zip(parts, x, strict=True))

    def alone(r: Blocks) -> Blocks:
        return tuple(part.alone(a) for part, a in zip(parts, r, strict=True))

    return conjugate_gradients(times, alone, tuple(part.loads for part in parts), start, close)


@dataclass(frozen=True, eq=False)
class TreePart:
    """A tree among bodies that lists join. on: all forces on it but for those between pairs; `alone`, those that resist
    its motion alone. links: its links among the bodies."""

    tree: StiffTree
    on: StiffForces
    without: StiffForces
    links: JoinedLinks

    @classmethod
    def of(
        cls, tree: StiffTree, on: StiffForces, links: JoinedLinks, own: Sequence[Array], F: Sequence[Array]
    ) -> "TreePart":
        """own (n + 1, 6, 6), F (n + 1, 6): of each list, the sums of the resistances and forces on all bodies."""
        wrenches, resistances = on.wrenches, on.resistances
        for K, f in zip(own, F, strict=True):
            wrenches = _summed(wrenches, links.on(f))
            resistances = _summed(resistances, {link: x / on.h for link, x in links.resisting(K).items()})
        none = dict.fromkeys(resistances, np.zeros(6))
        known = replace(on, wrenches=none, resistances=resistances, couplings={}, joint_couplings={})
        return cls(tree, replace(on, wrenches=wrenches), known, links)

    @property
    def loads(self) -> Array:
        """b (nv,)."""
        tree, on = self.tree, self.on
        needed = tree.with_wrenches(tree.needed, {k: -F for k, F in on.wrenches.items()})
        b = tree.tau - tree.in_joints(needed)
        return b if on.joint_forces is None else b + on.joint_forces

    def moving(self, x: Array, W: Array) -> Array:
        """The accelerations of its links, given those of its joints (nv,)."""
        return self.links.moving(Added(self.tree, accelerations(self.tree, x)), W)

    def needed(self, x: Array, F: Array) -> Array:
        """The joint forces (nv,) that accelerate it so, and resist wrenches F (n + 1, 6)."""
        tree, on = self.tree, self.on
        A = Added(tree, accelerations(tree, x))
        needed = [body.G @ A.A[i] for i, body in enumerate(tree.T.bodies)]
        wrenches = _summed({link: on.h * K @ A[link] for link, K in on.resistances.items()}, self.links.on(F))
        for (i, j), K in on.couplings.items():
            wrenches = _summed(wrenches, {i: on.h * K @ A[j]})
            wrenches = _summed(wrenches, {j: on.h * K.T @ A[i]})
        inert = np.concatenate([np.zeros(0), *(here.armature for here in tree.here)])
        inert = inert if on.joint_resistances is None else inert + on.h * on.joint_resistances
        found = tree.in_joints(tree.with_wrenches(needed, wrenches)) + inert * x
        for (i, j), k in on.joint_couplings.items():
            found[i], found[j] = found[i] + on.h * k * x[j], found[j] + on.h * k * x[i]
        return found

    def alone(self, r: Array) -> Array:
        """The accelerations (nv,) under joint forces, by articulated bodies."""
        return self.tree.still().solve(replace(self.without, joint_forces=r))[0]


def solve(tree: StiffTree, on: StiffForces, lists: Sequence[ListedForces], start: Array) -> tuple[Array, Added]:
    """As `StiffTree.solve`, with lists; start (nv,): a guess of the accelerations."""
    links, fault = lists[0].links, sum((rows.fault for rows in lists), np.zeros(()))
    on = replace(on, joint_forces=fault + (np.zeros(tree.mech.nv) if on.joint_forces is None else on.joint_forces))
    part = TreePart.of(tree, on, links, [rows.own for rows in lists], [rows.F for rows in lists])
    (a,), unsolved = joined_accelerations([part], [rows.resistances for rows in lists], len(links.links), (start,))
    a = a + unsolved
    return a, Added(tree, accelerations(tree, a))


def _summed(x: Mapping[int, Array], y: Mapping[int, Array]) -> dict[int, Array]:
    """The sums of arrays by number."""
    return {**x, **{k: x[k] + value if k in x else value for k, value in y.items()}}
