"""Recursions over the bodies of a tree that stay loops in the machine code, for trees too large for straight-line code.

One loop runs over chains of bodies (`chains`), and one inside it along a chain: values for the next body are carried,
values for the next sweep are in memory, the numbers of the model are in tables (`numbered`), and the loop bodies are
those of `visits`. Code size and compile time do not grow with the tree.

The first sweep keeps the wrench that the motion of each body needs; or, where memory is slow, only the rates at the
ends of the chains, which are then unwound on the way in, body by body.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.fuse import budget, fori_loop
from poinsot.mechanism.form import screws, visits
from poinsot.mechanism.form.chains import chains
from poinsot.mechanism.form.division import KEPT
from poinsot.mechanism.form.numbered import Poses, Screws, entry, row
from poinsot.mechanism.form.screws import Move, Rates, packed, unpacked
from poinsot.mechanism.form.tree import Here, Tree

Visit = Callable[..., tuple[Array, Any]]
Transform = Callable[[Sequence[Move], Array], Array]


class Loop:
    """The bodies of a tree that stay in a loop, between those in straight-line code.

    `outward`, `inward` and `onward` are the sweeps of the articulated-body algorithm, `outward` and `through` those of
    inverse dynamics. Dicts hold the values of the bodies in straight-line code, by number; -1 is the world.
    """

    def __init__(self, T: Tree, bodies: Sequence[int], q: Array, v: Array, wrenches: Sequence[Array]) -> None:
        self.chains = chains(T, bodies)
        self.bodies = self.chains.bodies
        chosen = [T.bodies[i] for i in self.bodies]
        self.dofs = [list(range(body.v.start, body.v.stop)) for body in chosen]
        self.model = (Screws if all(body.is_simple for body in chosen) else Poses)(chosen, self.chains.firsts, q, v)
        self.v, self.F = self._of_joints(v), np.stack([wrenches[i] for i in self.bodies])

    def outward(self, K: dict[int, Rates], vdot: Array | None = None) -> None:
        """From the rates of the bodies outside, the wrenches that the motion needs, with vdot or without."""
        self.vdot = (lambda i: None) if vdot is None else self._of_joints(vdot)

        def visit(i: Array, K: Array, memory: tuple[Array, Array]) -> tuple[Array, tuple[Array, Array]]:
            wrenches, places = memory
            here = self.model.enter(i, places)
            rates, F = visits.outward(here, self.v(i), Rates.of(*K), row(self.F, i), self.vdot(i))
            if wrenches.size:
                wrenches[i, :6] = F
            return rates.packed(), (wrenches, places)

        def into(moves: Sequence[Move], K: Array) -> Array:
            return screws.rates(moves, Rates.of(*K)).packed()

        unwinds = KEPT * len(self.bodies) > budget().nearby_values
        empty = np.empty((len(self.bodies), 0 if unwinds else self.model.width))
        begin = {i: K[i].packed() for i in self.chains.outside}
        self.K, (self.wrenches, self.places) = self._along(visit, into, begin, (empty, self.model.places))

    def inward(self, tau: Array, IA: dict[int, Array], pA: dict[int, Array]) -> None:
        """Add the contributions of the bodies in the loop to the inertias and bias forces of the bodies outside."""
        forces = self._of_joints(tau)

        def through(moves: Sequence[Move], Ia: Array, pa: Array) -> Array:
            return np.concatenate([packed(screws.inertia(moves, Ia)), screws.force(moves, pa)])

        def visit(i: Array, total: Array, F: Array, here: Here, gains: Array) -> tuple[Array, Array]:
            I, p = here.G + unpacked(total[:21]), total[21:] + F
            W, u, Ia, pa = visits.inward(here, forces(i), I, p)
            gains[i] = self.model.packed(W, u)
            return through(here.moves, Ia, pa), gains

        def leave(moves: Sequence[Move], total: Array) -> Array:
            return through(moves, unpacked(total[:21]), total[21:])

        totals, self.gains = self._against(visit, leave, 27, self.model.width)
        for p, x in totals.items():
            if p >= 0:
                IA[p], pA[p] = IA[p] + unpacked(x[:21]), pA[p] + x[21:]

    def onward(self, A: dict[int, Array]) -> dict[int, Array]:
        """vdot of each body, from the accelerations that the joints add to the bodies outside."""

        def visit(i: Array, A: Array, vdot: Array) -> tuple[Array, Array]:
            W, u = self.model.unpacked(self.gains[i])
            A, vdot[i] = visits.onward(self.model.at(i, self.places), A, W, u)
            return A, vdot

        return self._by_body(self._along(visit, screws.motion, A, np.empty((len(self.bodies), self.model.nv)))[1])

    def through(self, F: dict[int, Array], at_joints: bool = True) -> dict[int, Array]:
        """S^T F of each body, or F (6,), from the wrenches F through the joints; those on bodies outside are added to
        theirs."""
        width = self.model.nv if at_joints else 6

        def visit(i: Array, total: Array, F: Array, here: Here, kept: Array) -> tuple[Array, Array]:
            total = total + F
            kept[i, :width] = here.S.T @ total if at_joints else total
            return screws.force(here.moves, total), kept

        totals, kept = self._against(visit, screws.force, 6, width)
        for p, x in totals.items():
            if p >= 0:
                F[p] = F[p] + x
        return self._by_body(kept) if at_joints else {i: kept[k, :6] for k, i in enumerate(self.bodies)}

    def respond(self, columns: Array, IA: dict[int, Array], pA: dict[int, Array]) -> Array:
        """Columns C (nv, m) of joint forces, inwards, at rest and without gravity: what they add to the inertias and
        bias forces (6, m) of the bodies outside, and Y^T Z (m, m) of the bodies in the loop (`response`)."""
        forces, m, nv = self._of_joints(columns), columns.shape[1], self.model.nv

        def stand(i: Array, places: Array) -> Array:
            self.model.enter(i, places)
            return places

        def through(moves: Sequence[Move], Ia: Array, pa: Array) -> Array:
            return np.concatenate([packed(screws.inertia(moves, Ia)), screws.force(moves, pa).ravel()])

        def visit(i: Array, total: Array, carry: Array, memory: tuple[Array, Array]) -> Any:
            here, C, (gains, product) = self.model.at(i, self.places), forces(i), memory
            p = total[21:].reshape(6, m)
            W, u, Ia, pa = visits.inward(here, C, here.G + unpacked(total[:21]), p)
            u = u.reshape(nv, m)
            gains[i] = np.concatenate([W.ravel(), u.ravel()])
            return through(here.moves, Ia, pa), carry, (gains, product + (C - here.S.T @ p).T @ u)

        def leave(moves: Sequence[Move], total: Array) -> Array:
            return through(moves, unpacked(total[:21]), total[21:].reshape(6, m))

        self.places = fori_loop(len(self.bodies), stand, self.model.places)
        memory = np.empty((len(self.bodies), (6 + m) * nv)), np.zeros((m, m))
        totals, (self.gains, product) = self._back(visit, leave, 21 + 6 * m, lambda c: np.zeros(0), memory)
        for p, x in totals.items():
            if p >= 0:
                IA[p], pA[p] = IA[p] + unpacked(x[:21]), pA[p] + x[21:].reshape(6, m)
        return product

    def responding(self, f: Array, A: dict[int, Array]) -> dict[int, Array]:
        """vdot of each body under forces f (m,) of the columns of `respond`."""
        nv = self.model.nv

        def visit(i: Array, A: Array, vdot: Array) -> tuple[Array, Array]:
            gains = self.gains[i]
            W, u = gains[: 6 * nv].reshape(6, nv), gains[6 * nv :].reshape(nv, len(f)) @ f
            A, vdot[i] = visits.onward(self.model.at(i, self.places), A, W, u)
            return A, vdot

        return self._by_body(self._along(visit, screws.motion, A, np.empty((len(self.bodies), nv)))[1])

    def _of_joints(self, x: Array) -> Callable[[Array], Array]:
        """The entries of a vector (nv,), or rows of a matrix, that belong to a body, (k,), with zeros where its joint
        has fewer."""
        k = self.model.nv
        if all(len(dofs) == k for dofs in self.dofs):
            places = np.array(self.dofs, dtype=int)
            return lambda i: np.stack([x[entry(column, i)] for column in places.T])
        blank = [np.zeros(x.shape[1:])] * k
        copy = np.stack([np.stack([*(x[k] for k in dofs), *blank][:k]) for dofs in self.dofs])
        return lambda i: copy[i]

    def _by_body(self, x: Array) -> dict[int, Array]:
        return {i: x[k, : len(self.dofs[k])] for k, i in enumerate(self.bodies)}

    def _along(self, visit: Visit, into: Transform, start: dict[int, Array], memory: Any) -> tuple[Array, Any]:
        """Body after body, outwards: carry, memory = visit(i, carry, memory), starting from the bodies outside.

        `into` takes the carry through the first moves of a chain, which the bodies inside chains do not have. Returns
        the carries at the bodies outside followed by those at the ends of the chains, and the memory.
        """
        blank = np.zeros(start[self.chains.outside[0]].shape)
        rows = np.stack([*(start[p] for p in self.chains.outside), *[blank] * len(self.chains)])

        def chain(c: Array, carry: tuple[Array, Any]) -> tuple[Array, Any]:
            rows, memory = carry
            first = entry(self.chains.firsts, c)

            def body(k: Array, carry: tuple[Array, Any]) -> tuple[Array, Any]:
                return visit(first + k, *carry)

            begin = into(self.model.first_moves(c), rows[entry(self.chains.begins, c)])
            rows[len(self.chains.outside) + c], memory = fori_loop(entry(self.chains.sizes, c), body, (begin, memory))
            return rows, memory

        return _each(len(self.chains), chain, (rows, memory))

    def _against(self, visit: Visit, out: Transform, size: int, width: int) -> tuple[dict[int, Array], Array]:
        """Body after body, inwards: total, memory = visit(i, total, F, here, memory), F the wrench for the motion.

        Contributions of several chains are added up. Returns the totals of the bodies outside, and the memory: that of
        the wrenches, if they were kept, in which each visit may overwrite its own.
        """
        kept = bool(self.wrenches.size)

        def with_wrench(i: Array, total: Array, K: Array, memory: Any) -> tuple[Array, Array, Any]:
            here = self.model.at(i, self.places)
            if kept:
                F = memory[i, :6]
            else:
                rates = Rates.of(*K)
                F = visits.wrench(here, rates) - row(self.F, i)
                K = visits.unwound(here, self.v(i), rates, self.vdot(i)).packed()
            total, memory = visit(i, total, F, here, memory)
            return total, K, memory

        def rates_at_end(c: Array) -> Array:
            return np.zeros(0) if kept else self.K[len(self.chains.outside) + c]

        memory = self.wrenches if kept else np.empty((len(self.bodies), width))
        return self._back(with_wrench, out, size, rates_at_end, memory)

    def _back(
        self, visit: Callable[..., Any], out: Transform, size: int, begin: Callable[[Array], Array], memory: Any
    ) -> tuple[dict[int, Array], Any]:
        """Body after body, inwards: total, carry, memory = visit(i, total, carry, memory), the carry from `begin` (c)
        at the end of each chain."""
        rows = np.zeros((self.chains.rows, size))

        def chain(k: Array, carry: tuple[Array, Any]) -> tuple[Array, Any]:
            rows, memory = carry
            c = len(self.chains) - 1 - k
            last = entry(self.chains.lasts, c)

            def body(k: Array, carry: tuple[Array, Array, Any]) -> Any:
                return visit(last - k, *carry)

            start = rows[entry(self.chains.ends, c)], begin(c), memory
            total, _, memory = fori_loop(entry(self.chains.sizes, c), body, start)
            p = entry(self.chains.starts, c)
            rows[p] = np.where(entry(self.chains.is_first_back, c), 0.0, rows[p]) + out(
                self.model.first_moves(c), total
            )
            return rows, memory

        rows, memory = _each(len(self.chains), chain, (rows, memory))
        return {p: rows[k] for k, p in enumerate(self.chains.outside)}, memory


def _each(n: int, body: Callable[..., Any], carry: Any) -> Any:
    """A loop, unless there is only one iteration."""
    return body(0, carry) if n == 1 else fori_loop(n, body, carry)
