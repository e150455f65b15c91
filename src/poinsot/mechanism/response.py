"""How a tree answers to joint forces: the factors of its inverse mass matrix, by articulated bodies."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.mechanism.form import canonical, division, rolled, screws, sparse, visits
from poinsot.mechanism.form.tree import Tree
from poinsot.mechanism.model import Mechanism

MOST = 16  # columns that act on bodies in a loop, where each takes part in every operation


class Response:
    """How a tree at rest, without gravity, answers to columns C (nv, m) of joint forces: Y = A C and Z = B C (nv, m) of
    the factors M^-1 = A^T B, so that C^T M^-1 C = Y^T Z; and M^-1 C f.

    `reach`: for each column the places in v at which it may be other than zero. A column is taken only to the bodies
    that carry one of these. `unrolled`: all in straight-line code, as `factors` needs it.
    """

    def __init__(
        self, mech: Mechanism, q: Array, columns: Array, reach: Sequence[Sequence[int]], unrolled: bool = False
    ) -> None:
        self.T = T = canonical.tree_of(mech)
        self.nv, self.m = columns.shape
        self.acting = _acting(T, reach)
        straight, rest = (list(range(len(T.bodies))), []) if unrolled else self._split(q)
        self.here = {i: T.bodies[i].at(q, np.zeros(mech.nv)) for i in straight}
        self.W, self.y, self.z = (dict[int, Array]() for _ in range(3))
        IA = {i: T.bodies[i].G for i in straight}
        pA = {i: np.zeros((6, len(self.acting[i]))) for i in straight}
        self.loops = [rolled.Loop(T, bodies, q, np.zeros(mech.nv), [np.zeros(6)] * len(T.bodies)) for bodies in rest]
        self.products = [self._through_loop(loop, columns, IA, pA) for loop in self.loops]
        for i in reversed(straight):
            body, here, acting = T.bodies[i], self.here[i], self.acting[i]
            C, p = columns[body.v][:, acting], pA[i]
            self.W[i], u, Ia, pa = visits.inward(here, C, IA[i], p)
            self.y[i], self.z[i] = C - here.S.T @ p, u.reshape(body.joint.nv, len(acting))
            if body.parent >= 0:
                IA[body.parent] = IA[body.parent] + screws.inertia(here.moves, Ia)
                self._add(pA, body.parent, acting, screws.force(here.moves, pa))

    def _split(self, q: Array) -> tuple[list[int], list[list[int]]]:
        """As `division.split`; where many columns act on the bodies of a loop, straight-line code leaves out more."""
        straight, rest = division.split(self.T, q)
        if any(len(self.acting[i]) > MOST for loop in rest for i in loop):
            return list(range(len(self.T.bodies))), []
        return straight, rest

    def _through_loop(self, loop: rolled.Loop, columns: Array, IA: Any, pA: Any) -> tuple[list[int], Array]:
        """The columns that act on a loop, and their product in it; it adds to the bodies outside."""
        acting = sorted({k for i in loop.bodies for k in self.acting[i]})
        p = {i: np.zeros((6, len(acting))) for i in loop.chains.outside}
        product = loop.respond(columns[:, acting], IA, p)
        for i in loop.chains.outside:
            if i >= 0:
                self._add(pA, i, acting, p[i])
        return acting, product

    def _add(self, pA: dict[int, Array], i: int, acting: Sequence[int], p: Array) -> None:
        """Add columns to those of a body, on which they act among others."""
        place = {k: column for column, k in enumerate(acting)}
        own = [p[:, place[k]] if k in place else np.zeros(6) for k in self.acting[i]]
        pA[i] = pA[i] + np.stack(own, axis=1) if own else pA[i]

    def factors(self) -> tuple[Array, Array]:
        """Y and Z (nv, m), for trees in straight-line code."""
        Y, Z = np.zeros((self.nv, self.m)), np.zeros((self.nv, self.m))
        for i, body in enumerate(self.T.bodies):
            for column, k in enumerate(self.acting[i]):
                Y[body.v, k], Z[body.v, k] = self.y[i][:, column], self.z[i][:, column]
        return Y, Z

    def product(self) -> Array:
        """C^T M^-1 C (m, m), symmetric to the last bit."""
        entries: dict[tuple[int, int], Any] = {}
        products = [(self.acting[i], self.y[i].T @ self.z[i]) for i in self.here]
        for acting, own in [*products, *self.products]:
            for a, k in enumerate(acting):
                for b, j in enumerate(acting[: a + 1]):
                    entries[k, j] = entries[k, j] + own[a, b] if (k, j) in entries else own[a, b]
        product = np.zeros((self.m, self.m))
        for (k, j), x in entries.items():
            product[k, j] = product[j, k] = x
        return product

    def pattern(self) -> sparse.Pattern:
        """Where C^T M^-1 C may be other than zero."""
        return sparse.pattern(self.m, [*(self.acting[i] for i in self.here), *(acting for acting, _ in self.products)])

    def moved_by(self, f: Array) -> Array:
        """M^-1 C f (nv,)."""
        A, vdot = {-1: np.zeros(6)}, dict[int, Array]()
        for i, here in self.here.items():
            u = self.z[i] @ f[self.acting[i]]
            A[i], vdot[i] = visits.onward(here, A[self.T.bodies[i].parent], self.W[i], u)
        for loop, (acting, _) in zip(self.loops, self.products, strict=True):
            vdot |= loop.responding(f[acting], A)
        return np.concatenate([np.zeros(0), *(vdot[i] for i in range(len(self.T.bodies)))])


def _acting(T: Tree, reach: Sequence[Sequence[int]]) -> list[list[int]]:
    """For each body the columns that act on it or on bodies that it carries."""
    acting: list[set[int]] = [set() for _ in T.bodies]
    for i, body in reversed(list(enumerate(T.bodies))):
        own = range(body.v.start, body.v.stop)
        acting[i] |= {k for k, places in enumerate(reach) if any(place in own for place in places)}
        if body.parent >= 0:
            acting[body.parent] |= acting[i]
    return [sorted(columns) for columns in acting]
