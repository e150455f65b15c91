"""The articulated-body recursion as loops in the machine code, for trees too long to be written out.

The numbers of the model lie in tables, what the sweeps hand to each other in memory, and the bodies are those of
`articulated`, given their numbers at run time. Code size and compile time do not grow with the tree.
"""

from collections.abc import Sequence

import numpy as np

from poinsot._types import Array
from poinsot.fuse import fori_loop
from poinsot.mechanism import articulated, screws
from poinsot.mechanism.screws import Move, Shift, Turn
from poinsot.mechanism.tree import Here, Tree, falling, screw_numbers

WRITTEN_OUT = 60  # bodies: beyond that, compiling takes longer than most people wait, and the loop is hardly slower
_UPPER = tuple(zip(*np.triu_indices(6), strict=True))


def pays(T: Tree) -> bool:
    """Whether the tree is long, and all of its joints turn about one axis, without motors' inertia."""
    return len(T.bodies) > WRITTEN_OUT and all(body.direction == 2 and body.is_bare for body in T.bodies)


def forward_dynamics(T: Tree, q: Array, v: Array, tau: Array, given: Sequence[Array]) -> Array:
    """vdot (nv,), as `dynamics.forward_dynamics`. The world is body number n."""
    n = len(T.bodies)
    model, F = _Model(T), np.stack(list(given))
    order = np.array([body.v.start for body in T.bodies])
    q, v, tau = (np.stack([x[k] for k in order]) for x in (q, v, tau))

    def outward(i: Array, carry: tuple[Array, ...]) -> tuple[Array, ...]:
        V, c, pA, turns = carry
        angle = model.offset(i) + q[i]
        turns[i] = np.stack([np.cos(angle), np.sin(angle)])
        here = model.at(i, turns)
        V[i], c[i], pA[i] = articulated.outward(here, v[i][None], V[model.parent(i)], F[i])
        return V, c, pA, turns

    def inward(k: Array, carry: tuple[Array, ...]) -> tuple[Array, ...]:
        IA, pA, U, D, u = carry
        i = n - 1 - k
        p, here = model.parent(i), model.at(i, turns)
        U_i, D_i, u_i, Ia, pa = articulated.inward(here, tau[i][None], _unpacked(IA[i]), pA[i], c[i])
        IA[p] = IA[p] + _packed(screws.inertia(here.moves, Ia))
        pA[p] = pA[p] + screws.force(here.moves, pa)
        U[i], D[i], u[i] = U_i[:, 0], D_i[0, 0], u_i[0]
        return IA, pA, U, D, u

    def onward(i: Array, carry: tuple[Array, ...]) -> tuple[Array, ...]:
        A, vdot = carry
        here, A_P = model.at(i, turns), A[model.parent(i)]
        A[i], vdot_i = articulated.onward(here, A_P, c[i], U[i][:, None], D[i][None, None], u[i][None])
        vdot[i] = vdot_i[0]
        return A, vdot

    empty = (np.zeros((n + 1, 6)), np.zeros((n, 6)), np.zeros((n + 1, 6)), np.zeros((n, 2)))
    _, c, pA, turns = fori_loop(n, outward, empty)
    inertias = np.concatenate([model.G, np.zeros((1, 21))])
    _, _, U, D, u = fori_loop(n, inward, (np.array(inertias), pA, np.zeros((n, 6)), np.zeros(n), np.zeros(n)))
    A = np.zeros((n + 1, 6))
    A[n] = falling(T)
    _, vdot = fori_loop(n, onward, (A, np.zeros(n)))
    return np.stack([vdot[int(k)] for k in np.argsort(order)])


class _Model:
    """The tree's numbers in tables, read at a run-time index; columns that are zero in all rows are left out."""

    def __init__(self, T: Tree) -> None:
        self.numbers = np.array([screw_numbers(body.rest) for body in T.bodies])
        self.G = np.array([[body.G[i, j] for i, j in _UPPER] for body in T.bodies])
        self.parents = np.array([body.parent if body.parent >= 0 else len(T.bodies) for body in T.bodies])

    def parent(self, i: Array) -> Array:
        return np.asarray(self.parents)[i]

    def offset(self, i: Array) -> Array:
        """The angle [rad] that is added to q."""
        return self._number(i, 7)

    def at(self, i: Array, turns: Array) -> Here:
        zero = np.zeros(1)
        G = _unpacked(np.stack([_column(self.G, i, k) for k in range(21)]))
        return Here(self._moves(i, turns), np.eye(6)[:, 2:3], np.zeros(6), G, zero, 2)

    def _moves(self, i: Array, turns: Array) -> list[Move]:
        """As `tree`: turn and shift along the parent's z, across, tilt about x, shift along the body's z, the joint."""
        moves: list[Move] = []
        if self._any_turn(0):
            moves.append(Turn(2, self._number(i, 0), self._number(i, 1)))
        for axis, k in ((2, 2), (0, 3), (1, 4)):
            moves += [Shift(axis, self._number(i, k))] if np.any(self.numbers[:, k]) else []
        if self._any_turn(5):
            moves.append(Turn(0, self._number(i, 5), self._number(i, 6)))
        moves += [Shift(2, self._number(i, 8))] if np.any(self.numbers[:, 8]) else []
        return [*moves, Turn(2, turns[i, 0], turns[i, 1])]

    def _any_turn(self, k: int) -> bool:
        """Whether the turns with cosine k and sine k + 1 do anything; half a turn has no sine."""
        return bool(np.any(self.numbers[:, k : k + 2] != (1.0, 0.0)))

    def _number(self, i: Array, k: int) -> Array:
        return _column(self.numbers, i, k)


def _column(table: Array, i: Array, k: int) -> Array:
    """table[i, k], known at once if the column is the same in all rows."""
    column = table[:, k]
    return np.asarray(column[0]) if np.all(column == column[0]) else np.asarray(column)[i]


def _packed(I: Array) -> Array:
    """The upper triangle of a symmetric matrix (6, 6), as (21,)."""
    return np.stack([I[i, j] for i, j in _UPPER])


def _unpacked(x: Array) -> Array:
    I = np.zeros((6, 6))
    for k, (i, j) in enumerate(_UPPER):
        I[i, j] = I[j, i] = x[k]
    return I
