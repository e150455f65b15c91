"""Bodies of a tree by a number that is only known at run time: their constants are in tables.

A loop keeps the poses of its bodies, or a part of them, in `places`, an array (bodies, ...): `enter` is the first visit
to a body, and may write there; `at` is any later one.
"""

from collections.abc import Sequence

import numpy as np

from poinsot._types import Array
from poinsot.fuse import TraceError, budget
from poinsot.mechanism.form import screws
from poinsot.mechanism.form.canonical import screw_numbers
from poinsot.mechanism.form.division import KEPT
from poinsot.mechanism.form.screws import General, Move, Shift, Turn, packed, unpacked
from poinsot.mechanism.form.tree import Here, TreeBody, free_directions, second_moments
from poinsot.mechanism.model import plain
from poinsot.spatial import Pose


def entry(table: Array, i: Array) -> Array:
    """table[i] of a constant table; a constant if all its entries are the same, first + i if each is one more."""
    if np.all(table == table[0]):
        return table[0]
    if table.dtype == int and np.all(table[1:] - table[:-1] == 1):
        return table[0] + i
    return np.asarray(table)[i]


def row(table: Array, i: Array) -> Array:
    """table[i] (k,); constants for columns that are the same in all rows."""
    try:
        table = plain(table)
    except TraceError:  # numbers that are left free
        return table[i]
    return np.stack([np.asarray(entry(column, i)) for column in table.T])


class Screws:
    """Bodies on simple joints, in canonical form: (a, b) q about and along z, after shifts and turns along the axes.

    The cosine and the sine of the joint's angle are kept, unless the machine rather recomputes them.
    """

    nv = 1

    def __init__(self, bodies: Sequence[TreeBody], firsts: Array, q: Array, v: Array) -> None:
        self.numbers = np.array([screw_numbers(body.rest) for body in bodies if body.rest is not None], dtype=float)
        self.first_numbers = np.array([(*self.numbers[k, :3], 0.0, 0.0, 1.0, 0.0) for k in firsts])
        self.numbers[firsts, :3] = (1.0, 0.0, 0.0)
        self.about, self.beside = np.array([body.screw for body in bodies]).T
        self.G = np.array([packed(body.G) for body in bodies], dtype=float)
        self.E = np.array([np.diag(second_moments(body.G)) for body in bodies])
        if not np.any(self.E[:, 2]):  # nothing along z: the others are moments of inertia, exactly
            self.E[:, :2] = self.G[:, [6, 0]]
        self.armature = np.array([body.armature for body in bodies], dtype=float)
        directions, self.bare = {body.direction for body in bodies}, all(body.is_bare for body in bodies)
        self.direction = directions.pop() if len(directions) == 1 else None
        self.known = self.direction if self.bare else None  # the entry of W that is one by its definition
        self.width = 6 + (self.known is None)
        self.q, self.indices = q, np.array([body.q.start for body in bodies], dtype=int)
        self.turns = bool(np.any(self.about) or np.any(self.numbers[:, 7]))
        recompute = budget().recompute and KEPT * len(bodies) > budget().live_values
        self.places = np.empty((len(bodies), 2 if self.turns and not recompute else 0))

    def enter(self, i: Array, places: Array) -> Here:
        """The body, as `at`; keep the cosine and the sine of the joint's angle."""
        turn = self._turn(i) if self.turns else None
        if self.places.size:
            places[i] = turn
        return self._here(i, turn)

    def _turn(self, i: Array) -> Array:
        angle = entry(self.numbers[:, 7], i) + entry(self.about, i) * self._q(i)
        return np.stack([np.cos(angle), np.sin(angle)])

    def _q(self, i: Array) -> Array:
        return self.q[entry(self.indices, i)]

    def at(self, i: Array, places: Array) -> Here:
        turn = None if not self.turns else places[i] if self.places.size else self._turn(i)
        return self._here(i, turn)

    def _here(self, i: Array, turn: Array | None) -> Here:
        S = np.zeros((6, 1))
        S[2, 0], S[5, 0] = entry(self.about, i), entry(self.beside, i)
        moves = [*_moves(self.numbers[:, :7], i)]
        if np.any(self.numbers[:, 8]) or np.any(self.beside):
            moves.append(Shift(2, entry(self.numbers[:, 8], i) + entry(self.beside, i) * self._q(i)))
        if turn is not None:
            moves.append(Turn(2, *turn))
        G = unpacked(row(self.G, i))
        E = np.diag(row(self.E, i)) - G[:3, :3] * (1 - np.eye(3))
        return Here(moves, S, np.zeros(6), G, E, row(self.armature, i), self.direction, self.bare)

    def first_moves(self, c: Array) -> list[Move]:
        return _moves(self.first_numbers, c)

    def packed(self, W: Array, u: Array) -> Array:
        """W and u, which one sweep keeps for the next; u in the place where W is one by its definition."""
        k = self.known
        return np.concatenate([W[:, 0], u] if k is None else [W[:k, 0], u, W[k + 1 :, 0]])

    def unpacked(self, x: Array) -> tuple[Array, Array]:
        k = self.known
        if k is None:
            return x[:6, None], x[6:]
        return np.concatenate([x[:k], np.ones(1), x[k + 1 :]])[:, None], x[k : k + 1]


def _moves(numbers: Array, i: Array) -> list[Move]:
    """As in `canonical`: turn and shift along the parent's z, across, tilt about x; without those that never do
    anything."""
    moves: list[Move] = []
    for k, move in ((0, Turn(2, 0, 0)), (2, Shift(2, 0)), (3, Shift(0, 0)), (4, Shift(1, 0)), (5, Turn(0, 0, 0))):
        if isinstance(move, Turn) and np.any(numbers[:, k : k + 2] != (1.0, 0.0)):
            moves.append(Turn(move.axis, entry(numbers[:, k], i), entry(numbers[:, k + 1], i)))
        elif isinstance(move, Shift) and np.any(numbers[:, k : k + 1]):
            moves.append(Shift(move.axis, entry(numbers[:, k], i)))
    return moves


class Poses:
    """Bodies on joints of any kind: their poses are in memory, and all have as many directions as the largest joint."""

    def __init__(self, bodies: Sequence[TreeBody], firsts: Array, q: Array, v: Array) -> None:
        self.nv = max(1, *(body.joint.nv for body in bodies))  # one, if all are fixed
        fill = [self.nv - body.joint.nv for body in bodies]  # directions without motion, with an inertia of 1
        parts = list(zip(bodies, fill, strict=True))
        self.S = np.stack([np.concatenate([body.subspace(q), np.zeros((6, k))], axis=1).ravel() for body, k in parts])
        self.bias = np.stack([body.bias(q, v) for body in bodies])
        self.armature = np.stack([np.concatenate([body.armature, np.ones(k)]) for body, k in parts])
        self.G = np.stack([packed(body.G) for body in bodies])
        self.E = np.stack([second_moments(body.G).ravel() for body in bodies])
        poses = [screws.pose(body.moves(q[body.q])) for body in bodies]
        S = _numbers(self.S)
        first = S[0].reshape(6, self.nv) if S is not None and np.all(S[0] == S) else None
        self.free = [] if first is None else free_directions(first, self.armature) or []
        self.rows = [k for k in range(6) if k not in self.free]
        self.width = self.nv * (len(self.rows) + 1)
        columns = np.stack([np.concatenate([X.R.ravel(), X.p]) for X in poses]).T
        self.known = {k: numbers for k, column in enumerate(columns) if (numbers := _numbers(column)) is not None}
        self.moving = [k for k in range(12) if k not in self.known]
        moving = [columns[k] for k in self.moving]
        self.places = np.stack(moving, axis=-1) if moving else np.empty((len(bodies), 0))

    def enter(self, i: Array, places: Array) -> Here:
        """The body, as `at`: all poses are known."""
        return self.at(i, places)

    def at(self, i: Array, places: Array) -> Here:
        x, S = places[i] if self.moving else (), row(self.S, i).reshape(6, self.nv)
        X = np.stack([entry(self.known[k], i) if k in self.known else x[self.moving.index(k)] for k in range(12)])
        move = General(Pose.unchecked(X[:9].reshape(3, 3), X[9:]))
        G, E = unpacked(row(self.G, i)), row(self.E, i).reshape(3, 3)
        return Here([move], S, row(self.bias, i), G, E, row(self.armature, i), None, bare=False)

    def first_moves(self, c: Array) -> list[Move]:
        return []

    def packed(self, W: Array, u: Array) -> Array:
        """W and u, which one sweep keeps for the next, without the rows of W that are known by its definition."""
        return np.concatenate([W[self.rows].ravel(), u])

    def unpacked(self, x: Array) -> tuple[Array, Array]:
        W = np.zeros((6, self.nv))
        W[self.rows] = x[: -self.nv].reshape(len(self.rows), self.nv)
        for column, k in enumerate(self.free):
            W[k, column] = 1.0
        return W, x[-self.nv :]


def _numbers(column: Array) -> Array | None:
    """Numbers as a plain array, if they are known while a function is traced."""
    try:
        return plain(column)
    except TraceError:
        return None
