"""Trees of many bodies that touch by lists, too many for a joint-space matrix: accelerations by conjugate gradients.

The matrix H = M + h sum of J_i^T K_i J_i is that of `stiff_rows`. What a list does between two bodies joins branches of
the tree; without that, each body resists with the sum of its own resistances, and the articulated-body algorithm solves
it as it stands, with G + h K (`mechanism.stiff`). That is the preconditioner. H itself is multiplied body by body:
accelerations outwards, the wrenches that they need, and these inwards to the joints. So neither H nor any J is formed,
and the cost of an iteration is in proportion to the bodies and contacts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.fuse import in_memory
from poinsot.mechanism.conjugate_gradients import conjugate_gradients
from poinsot.mechanism.free_bodies import Resistances
from poinsot.mechanism.stiff import Added, StiffForces, StiffTree
from poinsot.mechanism.stiff_rows import accelerations


@dataclass(frozen=True, eq=False)
class ListedForces:
    """The action of a list on bodies over a step, in world axes about one point: forces F (n + 1, 6) as at the start,
    `resistances` between pairs, and their sums for each body, own (n + 1, 6, 6); the last is the world's.

    links: the numbers of the bodies' links. Ad: for each, the matrix (6, 6) that takes a twist of the body that carries
    it there. fault: 0, or NaN if the list could not hold all that it should.
    """

    links: Sequence[int]
    Ad: Sequence[Array]
    resistances: Resistances
    own: Array
    F: Array
    fault: Any = 0.0

    def on(self, F: Array) -> dict[int, Array]:
        """Wrenches F (n + 1, 6) on the bodies, by their links, in the frames of their carriers."""
        return {link: Ad.T @ F[k] for k, (link, Ad) in enumerate(zip(self.links, self.Ad, strict=True))}

    def resisting(self) -> dict[int, Array]:
        """The sums of the resistances of each body, in the frame of its carrier."""
        return {link: Ad.T @ self.own[k] @ Ad for k, (link, Ad) in enumerate(zip(self.links, self.Ad, strict=True))}

    def against(self, A: Mapping[int, Array]) -> dict[int, Array]:
        """The wrenches that resist the accelerations A (6,) of the carriers, by link."""
        n = len(self.links)
        W = in_memory(np.stack([*(Ad @ A[link] for link, Ad in zip(self.links, self.Ad, strict=True)), np.zeros(6)]))
        return self.on(self.resistances.times(W, in_memory(np.zeros((n + 1, 6)))))


def solve(tree: StiffTree, on: StiffForces, lists: Sequence[ListedForces], start: Array) -> tuple[Array, Added]:
    """As `StiffTree.solve`, with lists; start (nv,): a guess of the accelerations."""
    still, wrenches, resistances = tree.still(), on.wrenches, on.resistances
    inert = np.concatenate([np.zeros(0), *(here.armature for here in tree.here)])
    inert = inert if on.joint_resistances is None else inert + on.h * on.joint_resistances
    fault: Any = sum((rows.fault for rows in lists), np.zeros(()))
    for rows in lists:
        wrenches = _summed(wrenches, rows.on(rows.F))
        resistances = _summed(resistances, {link: K / on.h for link, K in rows.resisting().items()})
    known = replace(on, wrenches=dict.fromkeys(resistances, np.zeros(6)), resistances=resistances, couplings={})

    def alone(r: Array) -> Array:
        return still.solve(replace(known, joint_forces=r))[0]

    def times(x: Array) -> Array:
        A = Added(tree, accelerations(tree, x))
        needed = [body.G @ A.A[i] for i, body in enumerate(tree.T.bodies)]
        F = {link: on.h * K @ A[link] for link, K in on.resistances.items()}
        for rows in lists:
            F = _summed(F, rows.against({link: A[link] for link in rows.links}))
        for (i, j), K in on.couplings.items():
            F = _summed(F, {i: on.h * K @ A[j]})
            F = _summed(F, {j: on.h * K.T @ A[i]})
        return tree.in_joints(tree.with_wrenches(needed, F)) + inert * x

    b = tree.tau - tree.in_joints(tree.with_wrenches(tree.needed, {k: -F for k, F in wrenches.items()})) + fault
    a, unsolved = conjugate_gradients(times, alone, b if on.joint_forces is None else b + on.joint_forces, start)
    a = a + unsolved
    return a, Added(tree, accelerations(tree, a))


def _summed(x: Mapping[int, Array], y: Mapping[int, Array]) -> dict[int, Array]:
    """The sums of arrays by number."""
    return {**x, **{k: x[k] + value if k in x else value for k, value in y.items()}}
