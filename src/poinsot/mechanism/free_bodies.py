"""Many free bodies by number: inertias, places and velocities as arrays, for loops over bodies that stay loops.

In world axes, about the centre of mass of each, the equations of motion of all are those of one:

    I alpha = T - omega x I omega,   m a = F.

Their velocities are V = (omega, v) (6,) of the centres of mass. A sum of forces on them that resist their motion,
F = F_0 - K V, joins bodies by pairs, to each other and to others; `FreePart` is their part in the conjugate gradients
that find the accelerations (`mechanism.stiff_joined`), preconditioned by each body's own inertia and resistance,
M_i + h K_ii. No matrix of all bodies is formed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import fori_loop, in_memory, solve_spd
from poinsot.mechanism.block_vectors import by_body
from poinsot.spatial import Inertia, Pose, quaternion, rotation


@dataclass(frozen=True, eq=False)
class BodyArrays:
    """Free bodies at an instant: masses (n,), centres of mass c (n, 3) in their axes, and moments of inertia about them
    (n, 3, 3); attitudes R (n, 3, 3), centres of mass x (n, 3) as seen from a point `about`, moments of inertia I
    (n, 3, 3), and velocities V (n, 6), in world axes. `at`: where the q and v of each begin in a flat state, (n,)."""

    about: Array
    at: tuple[Any, Any]
    mass: Array
    c: Array
    moment: Array
    R: Array
    x: Array
    I: Array
    V: Array

    @classmethod
    def of(cls, inertias: Sequence[Inertia], y: Array, at: tuple[Any, Any], about: Array) -> "BodyArrays":
        """Bodies whose q (7,) and v (6,) are at these places of a flat state."""
        mass, c, moment = (np.stack([1.0 * getattr(i, k) for i in inertias]) for k in ("mass", "com", "moment"))
        n = len(inertias)

        def place(k: Any, found: tuple[Array, ...]) -> tuple[Array, ...]:
            R, x, I, V = found
            (attitude, p), (w, u) = np.split(row(y, _place(at[0], k), 7), [4]), np.split(row(y, _place(at[1], k), 6), 2)
            centre = np.asarray(c)[k]
            R_k = quaternion.to_matrix(quaternion.normalize(attitude))
            R[k], x[k] = R_k, p - about + R_k @ centre
            I[k] = R_k @ np.asarray(moment)[k] @ R_k.T
            V[k, :3], V[k, 3:] = R_k @ w, R_k @ (u + np.cross(w, centre))
            return R, x, I, V

        blank = tuple(in_memory(np.empty((n, *shape))) for shape in ((3, 3), (3,), (3, 3), (6,)))
        return cls(about, at, mass, c, moment, *fori_loop(n, place, blank))

    def __len__(self) -> int:
        return len(self.mass)

    def places(self, more: int = 0) -> tuple[Array, Array]:
        """Attitudes (n + more, 3, 3) and origins (n + more, 3) of their frames; the last are left open."""

        def place(k: Any, found: tuple[Array, Array]) -> tuple[Array, Array]:
            R, p = found
            R[k], p[k] = self.R[k], self.x[k] - self.R[k] @ np.asarray(self.c)[k]
            return R, p

        blank = (in_memory(np.empty((len(self) + more, *shape))) for shape in ((3, 3), (3,)))
        found: tuple[Array, Array] = fori_loop(len(self), place, tuple(blank))
        return found

    def about_one(self, V: Array, W: Array) -> Array:
        """Twists W (m, 6) about one point, with those of the velocities V (n, 6) of the centres entered first."""

        def shift(k: Any, W: Array) -> Array:
            W[k, :3], W[k, 3:] = V[k, :3], V[k, 3:] + np.cross(self.x[k], V[k, :3])
            return W

        moved: Array = fori_loop(len(self), shift, W)
        return moved

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

    def state(self, k: Any) -> tuple[Pose, Array]:
        """Pose and twist V_WB_B (6,) of the frame of body k."""
        R, w, c = self.R[k], self.V[k, :3] @ self.R[k], np.asarray(self.c)[k]
        X = Pose.unchecked(R, self.x[k] + self.about - R @ c)
        return X, np.concatenate([w, self.V[k, 3:] @ R - np.cross(w, c)])

    def wrench_at_centre(self, F_B: Array, k: Any) -> Array:
        """A wrench F_B (6,) about the origin of the frame of body k, in its axes, as one about its centre."""
        return np.concatenate([self.R[k] @ (F_B[:3] - np.cross(np.asarray(self.c)[k], F_B[3:])), self.R[k] @ F_B[3:]])

    def moved(self, y: Array, V: Array, h: Scalar, new: Array) -> Array:
        """The new state, with their q and v entered: those after a time h [s] from a state y at velocities V (n, 6),
        turned exactly, and straight on."""

        def move(k: Any, new: Array) -> Array:
            (q, v), w, c = (_place(at, k) for at in self.at), V[k, :3] @ self.R[k], np.asarray(self.c)[k]
            turned = quaternion.integrate(quaternion.normalize(row(y, q, 4)), w, h)
            R = quaternion.to_matrix(turned)
            p, u = self.x[k] + h * V[k, 3:] + self.about - R @ c, V[k, 3:] @ R - np.cross(w, c)
            return with_row(with_row(new, q, [*turned, *p]), v, [*w, *u])

        moved: Array = fori_loop(len(self), move, new)
        return moved


def _place(places: Any, k: Any) -> Any:
    """The entry k of the places (n,): by steps of the same size, if they have such."""
    first, step = int(places[0]), int(places[1] - places[0]) if len(places) > 1 else 0
    return first + step * k if np.all(np.diff(places) == step) else np.asarray(places)[k]


def row(x: Array, start: Any, size: int) -> Array:
    """The numbers (size,) in a flat array from a place on."""
    return np.stack([x[start + j] for j in range(size)])


def with_row(x: Array, start: Any, values: Sequence[Any]) -> Array:
    """The flat array with numbers entered from a place on."""
    for j, value in enumerate(values):
        x[start + j] = value
    return x


@dataclass(frozen=True, eq=False)
class FreePart:
    """Free bodies among those that resist each other's motion: the first of them, with their wrenches `loads` (n, 6) at
    the centres of mass, and P^-1 (n, 6, 6) of the diagonal blocks P of the matrix."""

    bodies: BodyArrays
    loads: Array
    inverses: Array

    @classmethod
    def of(cls, bodies: BodyArrays, loads: Array, own: Array) -> "FreePart":
        """own (m, 6, 6): the sums of the resistances of each body, about the common point."""

        def invert(k: Any, found: Array) -> Array:
            S = np.block([[np.eye(3), np.zeros((3, 3))], [rotation.skew(bodies.x[k]), np.eye(3)]])
            M = np.block([[bodies.I[k], np.zeros((3, 3))], [np.zeros((3, 3)), np.asarray(bodies.mass)[k] * np.eye(3)]])
            found[k] = solve_spd(M + S.T @ own[k] @ S, np.eye(6))
            return found

        n = len(bodies)
        return cls(bodies, loads, fori_loop(n, invert, in_memory(np.empty((n, 6, 6)))))

    def moving(self, x: Array, W: Array) -> Array:
        """The accelerations W (m, 6) of all bodies about one point, with its own entered, from those of its centres."""
        return self.bodies.about_one(x, W)

    def needed(self, x: Array, F: Array) -> Array:
        """The wrenches (n, 6) that accelerate its bodies so, and resist wrenches F (m, 6) about one point."""
        bodies = self.bodies
        return by_body(len(bodies), lambda k: bodies.inertia_times(x[k], k) + bodies.at_centre(F[k], k))

    def alone(self, r: Array) -> Array:
        """The accelerations (n, 6) under wrenches at the centres, if no other body moves."""
        return by_body(len(r), lambda k: self.inverses[k] @ r[k])
