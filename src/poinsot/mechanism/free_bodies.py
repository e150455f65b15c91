"""Many free bodies by number: inertias, places and velocities as arrays, for loops over bodies that stay loops.

In world axes, about the centre of mass of each, the equations of motion of all are those of one:

    I alpha = T - omega x I omega,   m a = F.

Their velocities are V = (omega, v) (6,) of the centres of mass. A sum of forces on them that resist their motion,
F = F_0 - K V, joins bodies by pairs; `JoinedBodies` finds the accelerations by conjugate gradients, preconditioned by
each body's own inertia and resistance, M_i + h K_ii. No matrix of all bodies is formed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import fori_loop, in_memory, solve_spd
from poinsot.mechanism.conjugate_gradients import conjugate_gradients
from poinsot.mechanism.model import Mechanism
from poinsot.spatial import quaternion, rotation


@dataclass(frozen=True, eq=False)
class BodyArrays:
    """Free bodies at an instant: masses (n,), centres of mass c (n, 3) in their axes, and moments of inertia about them
    (n, 3, 3); attitudes R (n, 3, 3), centres of mass x (n, 3) as seen from a point `about`, moments of inertia I
    (n, 3, 3), and velocities V (n, 6), in world axes."""

    about: Array
    mass: Array
    c: Array
    moment: Array
    R: Array
    x: Array
    I: Array
    V: Array

    @classmethod
    def of(cls, mech: Mechanism, y: Array, about: Array) -> "BodyArrays":
        """The links of a mechanism, all of them free, at a state that begins with q (7 n,) and v (6 n,)."""
        inertias = [link.inertia for link in mech.links if link.inertia is not None]
        mass, c, moment = (np.stack([1.0 * getattr(i, k) for i in inertias]) for k in ("mass", "com", "moment"))
        n = len(inertias)

        def place(k: Any, found: tuple[Array, ...]) -> tuple[Array, ...]:
            R, x, I, V = found
            (attitude, p), (w, u) = np.split(row(y, 7, k), [4]), np.split(row(y, 6, k, 7 * n), 2)
            centre = np.asarray(c)[k]
            R_k = quaternion.to_matrix(quaternion.normalize(attitude))
            R[k], x[k] = R_k, p - about + R_k @ centre
            I[k] = R_k @ np.asarray(moment)[k] @ R_k.T
            V[k, :3], V[k, 3:] = R_k @ w, R_k @ (u + np.cross(w, centre))
            return R, x, I, V

        blank = (
            in_memory(np.empty((n, 3, 3))),
            in_memory(np.empty((n, 3))),
            in_memory(np.empty((n, 3, 3))),
            in_memory(np.empty((n, 6))),
        )
        return cls(about, mass, c, moment, *fori_loop(n, place, blank))

    def __len__(self) -> int:
        return len(self.mass)

    def origins(self) -> Array:
        """The places (n, 3) of the origins of their frames."""

        def place(k: Any, p: Array) -> Array:
            p[k] = self.x[k] - self.R[k] @ np.asarray(self.c)[k]
            return p

        p: Array = fori_loop(len(self), place, in_memory(np.empty((len(self), 3))))
        return p

    def about_one(self, V: Array, more: int = 1) -> Array:
        """The twists (n + more, 6) about one point, of velocities V (n, 6) of the centres; the last are zero."""

        def shift(k: Any, W: Array) -> Array:
            W[k, :3], W[k, 3:] = V[k, :3], V[k, 3:] + np.cross(self.x[k], V[k, :3])
            return W

        W: Array = fori_loop(len(self), shift, in_memory(np.zeros((len(self) + more, 6))))
        return W

    def moment_in_body(self, k: Any) -> Array:
        """The moment of inertia (3, 3) of body k about its centre, in its own axes."""
        moment: Array = np.asarray(self.moment)[k]
        return moment

    def inertia_times(self, V: Array, k: Any) -> Array:
        """M V (6,) of body k."""
        return np.concatenate([self.I[k] @ V[:3], np.asarray(self.mass)[k] * V[3:]])

    def at_centre(self, F: Array, k: Any) -> Array:
        """A wrench F (6,) about the common point as one about the centre of body k."""
        return np.concatenate([F[:3] - np.cross(self.x[k], F[3:]), F[3:]])

    def moved(self, y: Array, V: Array, h: Scalar, new: Array) -> Array:
        """The new state, of which q and v are entered: those after a time h [s] from a state y at the velocities V
        (n, 6), turned exactly, and straight on."""
        n = len(self)

        def move(k: Any, new: Array) -> Array:
            w, c = V[k, :3] @ self.R[k], np.asarray(self.c)[k]
            turned = quaternion.integrate(quaternion.normalize(row(y, 7, k)[:4]), w, h)
            R = quaternion.to_matrix(turned)
            p, u = self.x[k] + h * V[k, 3:] + self.about - R @ c, V[k, 3:] @ R - np.cross(w, c)
            return with_row(with_row(new, [*turned, *p], k), [*w, *u], k, 7 * n)

        moved: Array = fori_loop(n, move, new)
        return moved


def row(x: Array, size: int, k: Any, start: int = 0) -> Array:
    """The numbers (size,) of body k in a flat array that has such rows from a place on."""
    return np.stack([x[start + size * k + j] for j in range(size)])


def with_row(x: Array, values: Sequence[Any], k: Any, start: int = 0) -> Array:
    """The flat array with a row of body k entered."""
    for j, value in enumerate(values):
        x[start + len(values) * k + j] = value
    return x


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
class JoinedBodies:
    """The matrix H = M + sum of J^T h K J of bodies that resist each other's motion, and P^-1 (n, 6, 6) of its diagonal
    blocks P. `others`: how many numbers after those of the bodies stand for what does not move."""

    bodies: BodyArrays
    between: Sequence[Resistances]
    inverses: Array
    others: int

    @classmethod
    def of(cls, bodies: BodyArrays, between: Sequence[Resistances], own: Array) -> "JoinedBodies":
        """own (n + others, 6, 6): the sums of the resistances of each body, about the common point."""

        def invert(k: Any, found: Array) -> Array:
            S = np.block([[np.eye(3), np.zeros((3, 3))], [rotation.skew(bodies.x[k]), np.eye(3)]])
            M = np.block([[bodies.I[k], np.zeros((3, 3))], [np.zeros((3, 3)), np.asarray(bodies.mass)[k] * np.eye(3)]])
            found[k] = solve_spd(M + S.T @ own[k] @ S, np.eye(6))
            return found

        n = len(bodies)
        return cls(bodies, between, fori_loop(n, invert, in_memory(np.empty((n, 6, 6)))), len(own) - n)

    def times(self, x: Array) -> Array:
        """H x (n, 6)."""
        n, bodies = len(self.bodies), self.bodies
        W, F = bodies.about_one(x, self.others), in_memory(np.zeros((n + self.others, 6)))
        for resistances in self.between:
            F = resistances.times(W, F)
        return by_body(n, lambda k: bodies.inertia_times(x[k], k) + bodies.at_centre(F[k], k))

    def solve(self, b: Array, start: Array, close: Scalar) -> tuple[Array, Any]:
        """x (n, 6) with H x = b, from a guess; and 0, or NaN if it was not found as closely."""

        def alone(r: Array) -> Array:
            return by_body(len(r), lambda k: self.inverses[k] @ r[k])

        return conjugate_gradients(self.times, alone, b, start, less, product, close)


def by_body(n: int, row: Callable[[Any], Array]) -> Array:
    """An array (n, 6) by its rows."""

    def enter(k: Any, x: Array) -> Array:
        x[k] = row(k)
        return x

    x: Array = fori_loop(n, enter, in_memory(np.empty((n, 6))))
    return x


def less(x: Array, s: Any, y: Array) -> Array:
    """x - s y (n, 6)."""
    return by_body(len(x), lambda k: x[k] - s * np.asarray(y)[k])


def product(x: Array, y: Array) -> Array:
    """The sum of the products of all entries of two arrays (n, 6)."""
    total: Array = fori_loop(len(x), lambda k, s: s + x[k] @ y[k], np.zeros(()))
    return total
