"""Moves from one frame to the next, and how they transform twists, wrenches and inertias.

A frame is reached from its parent by shifts and turns along coordinate axes, or by a general pose. Each move has these
methods: `motion` takes a twist (6,) of the parent's frame to the child's, `force` takes a wrench (6,) or several
(6, k) of the child's frame to the parent's, `inertia` a symmetric inertia (6, 6), and `moments` that of a rigid body.
One simple move after the other costs about half of what one general transformation does.

`rates` transforms the rates of a rigid motion that the laws of Newton and Euler need, `Rates`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from poinsot._types import Array
from poinsot.fuse import is_traced
from poinsot.spatial import Pose, rotation

CYCLES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))  # the axes, from each on


def mirrored(A: Array) -> Array:
    """A matrix that is symmetric but for rounding, made symmetric from its upper triangle: half of it is computed."""
    return np.triu(np.ones(A.shape)) * A + np.triu(np.ones(A.shape), 1).T * A.T


@dataclass(frozen=True, eq=False)
class Rates:
    """The motion of a frame in its axes: angular velocity w (3,) [rad/s], angular acceleration alpha (3,) [rad/s^2],
    acceleration a (3,) of its origin [m/s^2], and U (3, 3) = (alpha x) + (w x)(w x): a point at r accelerates with
    a + U r."""

    w: Array
    alpha: Array
    a: Array
    U: Array

    @classmethod
    def of(cls, w: Array, alpha: Array, a: Array) -> "Rates":
        """With U from w and alpha."""
        P = np.outer(w, w)
        U = np.zeros((3, 3))
        for i, j, k in CYCLES:
            U[i, i], U[i, j], U[j, i] = -(P[j, j] + P[k, k]), P[i, j] - alpha[k], P[i, j] + alpha[k]
        return cls(w, alpha, a, U)

    @classmethod
    def beside(cls, k: int, Ue: Array, w: Array, about: Array, a: Array) -> "Rates":
        """From U e (3,), e being the axis number k, and the component of alpha along it: that takes fewer products."""
        _, i, j = CYCLES[k]
        P = np.outer(w, w)
        alpha, U = np.zeros(3), np.zeros((3, 3))
        alpha[k], alpha[i], alpha[j] = about, P[j, k] - Ue[j], Ue[i] - P[i, k]
        U[:, k], U[k, i], U[k, j] = Ue, P[i, k] - alpha[j], P[j, k] + alpha[i]
        U[i, j], U[j, i] = P[i, j] - about, P[i, j] + about
        U[i, i], U[j, j] = Ue[k] + P[i, i] - P[k, k], -(P[i, i] + P[k, k])  # U e has the squares of the other two
        return cls(w, alpha, a, U)

    def packed(self) -> Array:
        """w, alpha and a, as (3, 3); U follows from them."""
        return np.stack([self.w, self.alpha, self.a])


_UPPER = tuple(zip(*np.triu_indices(6), strict=True))


def packed(I: Array) -> Array:
    """The upper triangle of a symmetric matrix (6, 6), as (21,)."""
    return np.stack([I[i, j] for i, j in _UPPER])


def unpacked(x: Array) -> Array:
    """The symmetric matrix (6, 6) with this upper triangle (21,)."""
    I = np.zeros((6, 6))
    for k, (i, j) in enumerate(_UPPER):
        I[i, j] = I[j, i] = x[k]
    return I


@dataclass(frozen=True, eq=False)
class General:
    """Any pose X_PC."""

    X: Pose

    def motion(self, V: Array) -> Array:
        return self.X.inverse().adjoint() @ V

    def force(self, F: Array) -> Array:
        return self.X.inverse().adjoint().T @ F

    def inertia(self, I: Array) -> Array:
        Ad = self.X.inverse().adjoint()
        return mirrored(Ad.T @ I @ Ad)

    def rates(self, K: Rates) -> Rates:
        return Rates.of(*(np.stack([K.w, K.alpha, K.a + K.U @ self.X.p]) @ self.X.R))

    def moments(self, mass: Array, h: Array, I: Array) -> tuple[Array, Array, Array]:
        G = self.inertia(np.block([[I, rotation.skew(h)], [rotation.skew(h).T, mass * np.eye(3)]]))
        return mass, np.stack([G[2, 4], G[0, 5], G[1, 3]]), G[:3, :3]

    def pose(self) -> Pose:
        return self.X

    def inverse(self) -> "General":
        return General(self.X.inverse())


@dataclass(frozen=True, eq=False)
class Shift:
    """A translation by d along a coordinate axis."""

    axis: int
    d: Array | float

    @property
    def _cross(self) -> Array:
        """(d e x)."""
        j, k = (self.axis + 1) % 3, (self.axis + 2) % 3
        C = np.zeros((3, 3))
        C[k, j], C[j, k] = self.d, -self.d
        return C

    def motion(self, V: Array) -> Array:
        """The velocity of the new origin: v + omega x d."""
        return np.concatenate([V[:3], V[3:] - self._cross @ V[:3]])

    def force(self, F: Array) -> Array:
        """The moment about the old origin: m + d x f."""
        return np.concatenate([F[:3] + self._cross @ F[3:], F[3:]])

    def inertia(self, I: Array) -> Array:
        """With the blocks A, C, L of I and S = (d e x): C' = C + S L, A' = A + C S^T + S C'^T."""
        i, j, k, d = self.axis, (self.axis + 1) % 3, (self.axis + 2) % 3, self.d
        A, C, L = I[:3, :3], I[:3, 3:], I[3:, 3:]
        there = C + self._cross @ L
        B = np.zeros((3, 3))
        B[i, i], B[j, j], B[k, k] = (
            A[i, i],
            A[j, j] - d * (C[j, k] + there[j, k]),
            A[k, k] + d * (C[k, j] + there[k, j]),
        )
        B[i, j] = B[j, i] = A[i, j] - d * C[i, k]
        B[i, k] = B[k, i] = A[i, k] + d * C[i, j]
        B[j, k] = B[k, j] = A[j, k] + d * (C[j, j] - there[k, k])
        return np.block([[B, there], [there.T, L]])

    def rates(self, K: Rates) -> Rates:
        return replace(K, a=K.a + self.d * K.U[:, self.axis])

    def moments(self, mass: Array, h: Array, I: Array) -> tuple[Array, Array, Array]:
        """Steiner's theorem for a shift along one axis."""
        i, j, k, d = self.axis, (self.axis + 1) % 3, (self.axis + 2) % 3, self.d
        there = h + mass * d * np.eye(3)[i]
        more = np.zeros((3, 3))
        more[j, j] = more[k, k] = d * (h[i] + there[i])
        more[i, j] = more[j, i] = -d * h[j]
        more[i, k] = more[k, i] = -d * h[k]
        return mass, there, I + more

    def pose(self) -> Pose:
        return Pose.unchecked(np.eye(3), self.d * np.eye(3)[self.axis])

    def inverse(self) -> "Shift":
        return Shift(self.axis, -self.d)


@dataclass(frozen=True, eq=False)
class Turn:
    """A rotation about a coordinate axis by the angle with cosine c and sine s."""

    axis: int
    c: Array | float
    s: Array | float

    @property
    def _R(self) -> Array:
        i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
        R = np.eye(3)
        R[i, i], R[i, j], R[j, i], R[j, j] = self.c, -self.s, self.s, self.c
        return R

    @property
    def _is_right(self) -> bool:
        """Whether the angle is known to be a multiple of a right one."""
        return not is_traced(self.c, self.s) and not (self.c and self.s)

    def _turn(self, x: Array, y: Array) -> tuple[Array, Array]:
        """(c x - s y, s x + c y): if the angle is known, by three shears, of which each is one operation."""
        c, s = self.c, self.s
        if is_traced(c, s) or self._is_right:
            return c * x - s * y, s * x + c * y
        flip = -1.0 if c < 0 else 1.0  # half a turn less: no tangent is larger than 1
        t, s = flip * s / (1 + flip * c), flip * s
        x = x - t * y
        y = y + s * x
        return flip * (x - t * y), flip * y

    def _turned_vector(self, x: Array) -> Array:
        """R x, (3,) or (3, k)."""
        i, j, k = (self.axis + 1) % 3, (self.axis + 2) % 3, self.axis
        parts = {k: x[k]}
        parts[i], parts[j] = self._turn(x[i], x[j])
        return np.stack([parts[0], parts[1], parts[2]])

    def motion(self, V: Array) -> Array:
        back = self.inverse()
        return np.concatenate([back._turned_vector(V[:3]), back._turned_vector(V[3:])])

    def force(self, F: Array) -> Array:
        return np.concatenate([self._turned_vector(F[:3]), self._turned_vector(F[3:])])

    def inertia(self, I: Array) -> Array:
        """R I R^T, block by block."""
        angular, coupling, linear = (self._turned(I[a : a + 3, b : b + 3], a == b) for a, b in ((0, 0), (0, 3), (3, 3)))
        return np.block([[angular, coupling], [coupling.T, linear]])

    def _turned(self, A: Array, symmetric: bool) -> Array:
        """R A R^T. With u = c (A_ii - A_jj) - s (A_ij + A_ji), in the plane that turns it is
        [[A_jj, A_ij], [A_ji, A_ii]] + [[c, s], [s, -c]] u."""
        i, j, k, c, s = (self.axis + 1) % 3, (self.axis + 2) % 3, self.axis, self.c, self.s
        B = np.zeros((3, 3))
        if not self._is_right:
            u = c * (A[i, i] - A[j, j]) - s * (A[i, j] + A[j, i])
            B[i, i], B[j, j], B[i, j], B[j, i] = A[j, j] + c * u, A[i, i] - c * u, A[i, j] + s * u, A[j, i] + s * u
        elif s:  # a right angle
            B[i, i], B[j, j], B[i, j], B[j, i] = A[j, j], A[i, i], -A[j, i], -A[i, j]
        else:
            B[i, i], B[j, j], B[i, j], B[j, i] = A[i, i], A[j, j], A[i, j], A[j, i]
        B[k, k] = A[k, k]
        B[i, k], B[j, k] = self._turn(A[i, k], A[j, k])
        if symmetric:
            B[j, i], B[k, i], B[k, j] = B[i, j], B[i, k], B[j, k]
        else:
            B[k, i], B[k, j] = self._turn(A[k, i], A[k, j])
        return B

    def rates(self, K: Rates) -> Rates:
        back = self.inverse()
        w, alpha, a = back._turned_vector(K.packed().T).T
        if self._is_right:
            return Rates(w, alpha, a, back._turned(K.U, symmetric=False))
        return Rates.of(w, alpha, a)

    def along(self, K: Rates) -> Array:
        """U e (3,) after the turn, e being its axis, from the rates before it."""
        return self.inverse()._turned_vector(K.U[:, self.axis])

    def moments(self, mass: Array, h: Array, I: Array) -> tuple[Array, Array, Array]:
        return mass, self._turned_vector(h), self._turned(I, symmetric=True)

    def pose(self) -> Pose:
        return Pose.unchecked(self._R, np.zeros(3))

    def inverse(self) -> "Turn":
        return Turn(self.axis, self.c, -self.s)


Move = General | Shift | Turn


def motion(moves: Sequence[Move], V: Array) -> Array:
    """A twist of the parent's frame, in the child's."""
    for move in moves:
        V = move.motion(V)
    return V


def rates(moves: Sequence[Move], K: Rates) -> Rates:
    """The rates of the parent's frame, continued to the child's as if they were one body."""
    for move in moves:
        K = move.rates(K)
    return K


def force(moves: Sequence[Move], F: Array) -> Array:
    """A wrench in the child's frame, in the parent's."""
    for move in reversed(moves):
        F = move.force(F)
    return F


def inertia(moves: Sequence[Move], I: Array) -> Array:
    """An inertia in the child's frame, in the parent's."""
    for move in reversed(moves):
        I = move.inertia(I)
    return I


def moments(moves: Sequence[Move], mass: Array, h: Array, I: Array) -> tuple[Array, Array, Array]:
    """The mass, the first moments (3,) and the moments of inertia (3, 3) of a rigid body in the child's frame, in the
    parent's: a third of the numbers of an articulated inertia."""
    for move in reversed(moves):
        mass, h, I = move.moments(mass, h, I)
    return mass, h, I


def back(moves: Sequence[Move]) -> list[Move]:
    """The moves from the child's frame to the parent's."""
    return [move.inverse() for move in reversed(moves)]


def pose(moves: Sequence[Move]) -> Pose:
    """The child's frame in the parent's."""
    X = moves[0].pose()
    for move in moves[1:]:
        X = X @ move.pose()
    return X
