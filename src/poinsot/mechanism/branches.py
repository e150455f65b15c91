"""The Jacobians of relative velocities between bodies that are chosen at run time.

All screws S_k = (w_k, v_k) of a tree are in world axes about one point. The velocity of a point r of a relative to b is
u = J v with J[:, k] = (v_k + w_k x r) s_k, s_k being 1 if joint k carries a alone, -1 if it carries b alone, else 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.mechanism.form.tree import Tree
from poinsot.spatial import Pose

DIGITS = 15  # signs in a word: two bits each


@dataclass(frozen=True, eq=False)
class Branches:
    """A tree at q (nq,), v (nv,), with the poses X_WC of its bodies, taken about a point `about` (3,) [m] of the world.

    ends: for each pair that may be asked for, the numbers of two of its bodies; -1 is the world.
    """

    T: Tree
    q: Array
    v: Array
    poses: list[Pose]
    about: Array
    ends: tuple[tuple[int, int], ...]

    @cached_property
    def _paths(self) -> np.ndarray:
        """1 where a velocity carries a body, (bodies, nv)."""
        shape = len(self.T.bodies) + 1, self.T.bodies[-1].v.stop  # the last row is that of the world
        paths = np.zeros(shape, dtype=int)  # whole numbers, which stay plain in a trace
        for i, body in enumerate(self.T.bodies):
            paths[i] = paths[body.parent]
            paths[i, body.v] = 1
        return paths

    @cached_property
    def signs(self) -> np.ndarray:
        """(pairs, n): 1, 0 or -1 for each pair and each velocity that is reached."""
        between = [self._paths[a] - self._paths[b] for a, b in self.ends]
        return np.stack(between)[:, self.reached]

    @cached_property
    def _words(self) -> np.ndarray:
        """The signs as digits 0, 1 and 2 of whole numbers (pairs, words): to look up one of these is one memory access,
        to take it apart is fast."""
        words = np.zeros((len(self.ends), -(-len(self.reached) // DIGITS)), dtype=int)
        for k, column in enumerate(self.signs.T):
            words[:, k // DIGITS] |= column + 1 << 2 * (k % DIGITS)
        return words

    def _signs_of(self, pair: Any) -> Array:
        """(n,): of a pair that is chosen at run time."""
        words = np.asarray(self._words)[pair]
        return np.stack([1.0 * ((words[k // DIGITS] >> 2 * (k % DIGITS)) & 3) - 1.0 for k in range(len(self.reached))])

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

    def jacobians(self) -> tuple[list[int], Callable[[Any, Array, Array, bool], tuple[Array, Array]]]:
        """The entries of v that are reached, and a function: J (3, n) of the velocity of a point r (3,) of a relative
        to b, in the axes Q (3, 3), for a pair by its number; or (6, n), with the relative angular velocity before it;
        and that velocity J v."""
        S, _, moving = self.screws(), self._words, self.v[np.array(self.reached)]  # found before any loop

        def jacobian(pair: Any, Q: Array, r: Array, both: bool) -> tuple[Array, Array]:
            on = self._signs_of(pair)
            w = on[:, None] * S[:, :3]
            u = (on[:, None] * S[:, 3:] + np.cross(w, r)) @ Q
            J = np.concatenate([(w @ Q).T, u.T]) if both else u.T
            return J, J @ moving

        return self.reached, jacobian
