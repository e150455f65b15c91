"""The Jacobians of relative velocities between bodies that are chosen at run time.

All screws of a tree are in world axes about one point. The velocity of a relative to b, along a wrench basis E (r, 6) in
these axes, is u = J v with J[:, k] = (1 if joint k carries a) E S_k - (1 if it carries b) E S_k.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.mechanism.form.tree import Tree
from poinsot.spatial import Pose


@dataclass(frozen=True, eq=False)
class Branches:
    """A tree at q (nq,), with the poses X_WC of its bodies, taken about a point `about` (3,) [m] of the world.

    ends: for each pair that may be asked for, the numbers of two of its bodies; -1 is the world.
    """

    T: Tree
    q: Array
    poses: list[Pose]
    about: Array
    ends: tuple[tuple[int, int], ...]

    @cached_property
    def _paths(self) -> np.ndarray:
        """1 where a velocity carries a body, (bodies, nv)."""
        paths = np.zeros((len(self.T.bodies) + 1, self.T.bodies[-1].v.stop))  # the last row is that of the world
        for i, body in enumerate(self.T.bodies):
            paths[i] = paths[body.parent]
            paths[i, body.v] = 1.0
        return paths

    @cached_property
    def signs(self) -> np.ndarray:
        """(pairs, n): 1, 0 or -1 for each pair and each velocity that is reached."""
        between = [self._paths[a] - self._paths[b] for a, b in self.ends]
        return np.stack(between)[:, self.reached]

    @cached_property
    def reached(self) -> list[int]:
        """The entries of v that any of the pairs depends on: not those of joints that always carry both."""
        moved = [self._paths[a] != self._paths[b] for a, b in self.ends]
        return [int(k) for k in np.flatnonzero(np.any(moved, axis=0))]

    def screws(self) -> Array:
        """(n, 6): of the velocities that are reached, in world axes."""
        found = {}
        for body, X in zip(self.T.bodies, self.poses, strict=True):
            S, r = body.subspace(self.q), X.p - self.about
            for c, k in enumerate(range(body.v.start, body.v.stop)):
                w = X.R @ S[:3, c]
                found[k] = np.concatenate([w, X.R @ S[3:, c] + np.cross(r, w)])
        return np.stack([found[k] for k in self.reached])

    def jacobians(self) -> Callable[[Any, Array], Array]:
        """J (r, n) of a pair by its number, along a wrench basis E (r, 6)."""
        S, signs = self.screws(), self.signs

        def jacobian(pair: Any, E: Array) -> Array:
            on = np.asarray(signs)[pair]
            return np.stack([on * (S @ e) for e in E])

        return jacobian
