"""Recursions over the bodies of a tree that stay loops in the machine code, for trees too large to be written out.

A tree is a row of chains, each hanging on the end of an earlier one or on a body outside of the loop. One loop runs
over the chains, and one inside of it along a chain: what a body hands to the next is carried, what the sweeps hand to
each other lies in memory, the numbers of the model lie in tables, and the bodies are those of `articulated`, given
their numbers at run time. Code size and compile time do not grow with the tree.

The first sweep leaves the wrench that the motion of each body takes; or, where memory is dear, nothing but the rates at
the ends of the chains, which are then unwound on the way in, body by body.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.fuse import TraceError, budget, fori_loop
from poinsot.mechanism import articulated, screws
from poinsot.mechanism.division import KEPT, sums
from poinsot.mechanism.screws import General, Move, Shift, Turn, packed, unpacked
from poinsot.mechanism.tree import Body, Here, Tree, screw_numbers, second_moments
from poinsot.spatial import Pose

Visit = Callable[..., tuple[Array, Any]]
Transform = Callable[[Sequence[Move], Array], Array]


class Loop:
    """The bodies of a tree that stay in a loop, between those that are written out.

    `outward`, `inward` and `onward` are the sweeps of the articulated-body algorithm, `outward` and `through` those of
    inverse dynamics. Dicts hold what is known of the bodies that are written out, by number; -1 is the world.
    """

    def __init__(self, T: Tree, bodies: Sequence[int], q: Array, v: Array, given: Sequence[Array]) -> None:
        chains = _chains(T, bodies)
        self.bodies = [i for chain in chains for i in chain]
        self.outside = sorted({T.bodies[i].parent for i in bodies} - set(bodies))
        self.sizes = np.array([len(chain) for chain in chains], dtype=int)
        self.firsts = np.cumsum([0, *self.sizes[:-1]])
        parents = [T.bodies[chain[0]].parent for chain in chains]
        row = {i: k for k, i in enumerate([*self.outside, *(chain[-1] for chain in chains)])}
        self.begins = np.array([row[p] for p in parents], dtype=int)
        self.starts, self.ends, self.rows = _rows(parents, [chain[-1] for chain in chains], self.outside)
        self.is_last = np.array([parents[c] not in parents[c + 1 :] for c in range(len(chains))])
        chosen = [T.bodies[i] for i in self.bodies]
        self.dofs = [list(range(body.v.start, body.v.stop)) for body in chosen]
        self.model = (_Screws if all(body.is_simple for body in chosen) else _Poses)(chosen, self.firsts, q)
        self.v, self.F = self._of_joints(v), np.stack([given[i] for i in self.bodies])

    def outward(self, K: dict[int, Array], vdot: Array | None = None) -> None:
        """From the rates (3, 3) of the bodies outside, the wrenches that the motion takes, with vdot if given."""
        self.vdot = (lambda i: None) if vdot is None else self._of_joints(vdot)

        def visit(i: Array, K: Array, memory: tuple[Array, Array]) -> tuple[Array, tuple[Array, Array]]:
            wrenches, places = memory
            self.model.enter(i, places)
            K, F = articulated.outward(self.model.at(i, places), self.v(i), K, _row(self.F, i), self.vdot(i))
            if wrenches.size:
                wrenches[i, :6] = F
            return K, (wrenches, places)

        empty = np.empty((len(self.bodies), 0 if budget().unwinds else self.model.width))
        self.K, (self.wrenches, self.places) = self._along(visit, screws.rates, K, (empty, self.model.places))

    def inward(self, tau: Array, IA: dict[int, Array], pA: dict[int, Array]) -> None:
        """Add to inertias and wrenches of the bodies outside what they feel of those in the loop."""
        forces = self._of_joints(tau)

        def through(moves: Sequence[Move], Ia: Array, pa: Array) -> Array:
            return np.concatenate([packed(screws.inertia(moves, Ia)), screws.force(moves, pa)])

        def visit(i: Array, felt: Array, F: Array, here: Here, gains: Array) -> tuple[Array, Array]:
            I, p = here.G + unpacked(felt[:21]), felt[21:] + F
            W, u, Ia, pa = articulated.inward(here, forces(i), I, p)
            gains[i] = self.model.packed(W, u)
            return through(here.moves, Ia, pa), gains

        def leave(moves: Sequence[Move], felt: Array) -> Array:
            return through(moves, unpacked(felt[:21]), felt[21:])

        felt, self.gains = self._against(visit, leave, 27, self.model.width)
        for p, x in felt.items():
            if p >= 0:
                IA[p], pA[p] = IA[p] + unpacked(x[:21]), pA[p] + x[21:]

    def onward(self, A: dict[int, Array]) -> dict[int, Array]:
        """vdot of each body, from what the joints add to the accelerations of the bodies outside."""

        def visit(i: Array, A: Array, vdot: Array) -> tuple[Array, Array]:
            W, u = self.model.unpacked(self.gains[i])
            A, vdot[i] = articulated.onward(self.model.at(i, self.places), A, W, u)
            return A, vdot

        return self._by_body(self._along(visit, screws.motion, A, np.empty((len(self.bodies), self.model.nv)))[1])

    def through(self, F: dict[int, Array]) -> dict[int, Array]:
        """S^T F of each body, from the wrenches F through the joints; what bodies outside feel is added to theirs."""

        def visit(i: Array, felt: Array, F: Array, here: Here, tau: Array) -> tuple[Array, Array]:
            felt = felt + F
            tau[i, : self.model.nv] = here.S.T @ felt
            return screws.force(here.moves, felt), tau

        felt, tau = self._against(visit, screws.force, 6, self.model.nv)
        for p, x in felt.items():
            if p >= 0:
                F[p] = F[p] + x
        return self._by_body(tau)

    def _of_joints(self, x: Array) -> Callable[[Array], Array]:
        """The entries of a vector (nv,) that belong to a body, (k,), with zeros where its joint has fewer."""
        k = self.model.nv
        if all(len(dofs) == k for dofs in self.dofs):
            places = np.array(self.dofs, dtype=int)
            return lambda i: np.stack([x[_entry(column, i)] for column in places.T])
        blank = [np.zeros(())] * k
        copy = np.stack([np.stack([*(x[k] for k in dofs), *blank][:k]) for dofs in self.dofs])
        return lambda i: copy[i]

    def _by_body(self, x: Array) -> dict[int, Array]:
        return {i: x[k, : len(self.dofs[k])] for k, i in enumerate(self.bodies)}

    def _along(self, visit: Visit, into: Transform, start: dict[int, Array], memory: Any) -> tuple[Array, Any]:
        """Body after body, outwards: carry, memory = visit(i, carry, memory), starting from the bodies outside.

        `into` takes what is carried through the first moves of a chain, which the bodies inside of chains do not have.
        What is carried at the ends of the chains, (chains, ...), and the memory.
        """
        blank = np.zeros(start[self.outside[0]].shape)
        rows = np.stack([*(start[p] for p in self.outside), *[blank] * len(self.sizes)])

        def chain(c: Array, carry: tuple[Array, Any]) -> tuple[Array, Any]:
            rows, memory = carry
            first = _entry(self.firsts, c)

            def body(k: Array, carry: tuple[Array, Any]) -> tuple[Array, Any]:
                return visit(first + k, *carry)

            begin = into(self.model.first_moves(c), rows[_entry(self.begins, c)])
            rows[len(self.outside) + c], memory = fori_loop(_entry(self.sizes, c), body, (begin, memory))
            return rows, memory

        rows, memory = _each(len(self.sizes), chain, (rows, memory))
        return rows[len(self.outside) :], memory

    def _against(self, visit: Visit, out: Transform, size: int, width: int) -> tuple[dict[int, Array], Array]:
        """Body after body, inwards: felt, memory = visit(i, felt, F, here, memory), F the wrench that the motion takes.

        What comes from several chains is added up: for each body outside, and the memory. It is that of the wrenches,
        if they were kept: a visit may write over its own.
        """
        rows = np.zeros((self.rows, size))
        memory = self.wrenches if self.wrenches.size else np.empty((len(self.bodies), width))

        def chain(k: Array, carry: tuple[Array, Any]) -> tuple[Array, Any]:
            rows, memory = carry
            c = len(self.sizes) - 1 - k
            last = _entry(self.firsts + self.sizes - 1, c)

            def body(k: Array, carry: tuple[Array, Array, Any]) -> tuple[Array, Array, Any]:
                felt, K, memory = carry
                i = last - k
                here = self.model.at(i, self.places)
                if self.wrenches.size:
                    F = memory[i, :6]
                else:
                    F = articulated.wrench(here, K) - _row(self.F, i)
                    K = articulated.unwound(here, self.v(i), K, self.vdot(i))
                felt, memory = visit(i, felt, F, here, memory)
                return felt, K, memory

            start = rows[_entry(self.ends, c)], self.K[c], memory
            felt, _, memory = fori_loop(_entry(self.sizes, c), body, start)
            p = _entry(self.starts, c)
            rows[p] = np.where(_entry(self.is_last, c), 0.0, rows[p]) + out(self.model.first_moves(c), felt)
            return rows, memory

        rows, memory = _each(len(self.sizes), chain, (rows, memory))
        return {p: rows[k] for k, p in enumerate(self.outside)}, memory


def _chains(T: Tree, bodies: Sequence[int]) -> list[list[int]]:
    """The bodies in rows without branches; on the end of a row hang those that follow it, the small ones first."""
    children: dict[int, list[int]] = {}
    sizes = sums(T, [int(i in bodies) for i in range(len(T.bodies))])
    for i in sorted(bodies, key=lambda i: sizes[i]):
        children.setdefault(T.bodies[i].parent, []).append(i)
    chains: list[list[int]] = []
    waiting = [i for i in reversed(bodies) if T.bodies[i].parent not in bodies]
    while waiting:
        chains.append([waiting.pop()])
        while len(following := children.get(chains[-1][-1], [])) == 1:
            chains[-1] += following
        waiting += reversed(following)
    return chains


def _rows(parents: Sequence[int], ends: Sequence[int], outside: Sequence[int]) -> tuple[Array, Array, int]:
    """In which row of a scratch each chain finds what it starts from, and in which it leaves what it ends with.

    The first rows are those of the bodies outside. The row of an end is used again when no chain waits for it any more;
    the last row is for ends on which nothing hangs. Also the number of rows.
    """
    row = {p: k for k, p in enumerate(outside)}
    free: list[int] = []
    count = len(outside)
    starts, leaves = [], []
    for c, (parent, end) in enumerate(zip(parents, ends, strict=True)):
        starts.append(row[parent])
        if parent not in outside and parent not in parents[c + 1 :]:
            free.append(row[parent])
        if end not in parents:
            leaves.append(-1)
            continue
        row[end] = free.pop() if free else count
        count = max(count, row[end] + 1)
        leaves.append(row[end])
    return np.array(starts, dtype=int), np.array([count if k < 0 else k for k in leaves], dtype=int), count + 1


def _each(n: int, body: Callable[..., Any], carry: Any) -> Any:
    return body(0, carry) if n == 1 else fori_loop(n, body, carry)


def _entry(table: Array, i: Array) -> Array:
    """table[i] of a constant table, known at once if all its entries are the same, or their places."""
    if np.all(table == table[0]):
        return table[0]
    if table.dtype == int and np.array_equal(table, np.arange(len(table))):
        return i
    return np.asarray(table)[i]


def _row(table: Array, i: Array) -> Array:
    """table[i] (k,), columns that are the same in all rows known at once."""
    try:
        table = np.asarray(table).__array__()
    except TraceError:  # numbers that are left free
        return table[i]
    return np.stack([np.asarray(_entry(column, i)) for column in table.T])


class _Screws:
    """Bodies on simple joints, in canonical form: (a, b) q about and along z, after shifts and turns along the axes.

    What is kept of a place are the cosine and the sine of the joint's angle, unless the machine would rather compute
    them again than keep so many.
    """

    nv = 1

    def __init__(self, bodies: Sequence[Body], firsts: Array, q: Array) -> None:
        self.numbers = np.array([screw_numbers(body.rest) for body in bodies if body.rest is not None], dtype=float)
        self.first_numbers = np.array([(*self.numbers[k, :3], 0.0, 0.0, 1.0, 0.0) for k in firsts])
        self.numbers[firsts, :3] = (1.0, 0.0, 0.0)
        self.about = np.array([float(body.joint.kind != "prismatic") for body in bodies])
        self.beside = np.array([_slide(body) for body in bodies])
        self.G = np.array([packed(body.G) for body in bodies], dtype=float)
        self.E = np.array([np.diag(second_moments(body.G)) for body in bodies])
        if not np.any(self.E[:, 2]):  # nothing along z: the others are moments of inertia, exactly
            self.E[:, :2] = self.G[:, [6, 0]]
        self.armature = np.array([body.armature for body in bodies], dtype=float)
        directions = {body.direction if body.is_bare else None for body in bodies}
        self.direction = directions.pop() if len(directions) == 1 else None
        self.width = 6 + (self.direction is None)
        self.q, self.indices = q, np.array([body.q.start for body in bodies], dtype=int)
        self.turns = bool(np.any(self.about) or np.any(self.numbers[:, 7]))
        self.again = budget().again and KEPT * len(bodies) > budget().kept
        self.places = np.empty((len(bodies), 2 if self.turns and not self.again else 0))

    def enter(self, i: Array, places: Array) -> None:
        """Keep the cosine and the sine of the joint's angle."""
        if self.places.size:
            places[i] = self._turn(i)

    def _turn(self, i: Array) -> Array:
        angle = _entry(self.numbers[:, 7], i) + _entry(self.about, i) * self._q(i)
        return np.stack([np.cos(angle), np.sin(angle)])

    def _q(self, i: Array) -> Array:
        return self.q[_entry(self.indices, i)]

    def at(self, i: Array, places: Array) -> Here:
        S = np.zeros((6, 1))
        S[2, 0], S[5, 0] = _entry(self.about, i), _entry(self.beside, i)
        moves = [*_moves(self.numbers[:, :7], i)]
        if np.any(self.numbers[:, 8]) or np.any(self.beside):
            moves.append(Shift(2, _entry(self.numbers[:, 8], i) + _entry(self.beside, i) * self._q(i)))
        if self.turns:
            moves.append(Turn(2, *(self._turn(i) if self.again else places[i])))
        G = unpacked(_row(self.G, i))
        E = np.diag(_row(self.E, i)) - G[:3, :3] * (1 - np.eye(3))
        return Here(moves, S, np.zeros(6), G, E, _row(self.armature, i), self.direction)

    def first_moves(self, c: Array) -> list[Move]:
        return _moves(self.first_numbers, c)

    def packed(self, W: Array, u: Array) -> Array:
        """What one sweep leaves to the next; where W is one by its definition, u."""
        if self.direction is None:
            return np.concatenate([W[:, 0], u])
        return np.concatenate([W[: self.direction, 0], u, W[self.direction + 1 :, 0]])

    def unpacked(self, x: Array) -> tuple[Array, Array]:
        k = self.direction
        if k is None:
            return x[:6, None], x[6:]
        return np.concatenate([x[:k], np.ones(1), x[k + 1 :]])[:, None], x[k : k + 1]


def _moves(numbers: Array, i: Array) -> list[Move]:
    """As `tree`: turn and shift along the parent's z, across, tilt about x; without those that do nothing anywhere."""
    moves: list[Move] = []
    for k, move in ((0, Turn(2, 0, 0)), (2, Shift(2, 0)), (3, Shift(0, 0)), (4, Shift(1, 0)), (5, Turn(0, 0, 0))):
        if isinstance(move, Turn) and np.any(numbers[:, k : k + 2] != (1.0, 0.0)):
            moves.append(Turn(move.axis, _entry(numbers[:, k], i), _entry(numbers[:, k + 1], i)))
        elif isinstance(move, Shift) and np.any(numbers[:, k : k + 1]):
            moves.append(Shift(move.axis, _entry(numbers[:, k], i)))
    return moves


def _slide(body: Body) -> float:
    """How far [m] a simple joint moves along its axis for one unit of q."""
    return {"revolute": 0.0, "prismatic": 1.0, "helical": float(body.joint.pitch)}[body.joint.kind]


class _Poses:
    """Bodies on joints of any kind: their poses lie in memory, and a joint has as many directions as the largest."""

    def __init__(self, bodies: Sequence[Body], firsts: Array, q: Array) -> None:
        self.nv = max(body.joint.nv for body in bodies)
        self.width = 7 * self.nv
        fill = [self.nv - body.joint.nv for body in bodies]  # directions without motion, and an inertia that is not 0
        parts = list(zip(bodies, fill, strict=True))
        self.S = np.stack([np.concatenate([body.subspace(q), np.zeros((6, k))], axis=1).ravel() for body, k in parts])
        self.armature = np.stack([np.concatenate([body.armature, np.ones(k)]) for body, k in parts])
        self.G = np.stack([packed(body.G) for body in bodies])
        self.E = np.stack([second_moments(body.G).ravel() for body in bodies])
        poses = [screws.pose(body.moves(q[body.q])) for body in bodies]
        self.places = np.stack([np.concatenate([X.R.ravel(), X.p]) for X in poses])

    def enter(self, i: Array, places: Array) -> None:
        """They are all known."""

    def at(self, i: Array, places: Array) -> Here:
        X, S = places[i], _row(self.S, i).reshape(6, self.nv)
        move = General(Pose._from(X[:9].reshape(3, 3), X[9:]))
        G, E = unpacked(_row(self.G, i)), _row(self.E, i).reshape(3, 3)
        return Here([move], S, np.zeros(6), G, E, _row(self.armature, i), None)

    def first_moves(self, c: Array) -> list[Move]:
        return []

    def packed(self, W: Array, u: Array) -> Array:
        return np.concatenate([W.ravel(), u])

    def unpacked(self, x: Array) -> tuple[Array, Array]:
        return x[: 6 * self.nv].reshape(6, self.nv), x[6 * self.nv :]
