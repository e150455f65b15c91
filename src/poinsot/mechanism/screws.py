"""The small moves that lead from one frame to the next, and what they do to twists, wrenches and inertias.

A frame is reached from its parent by shifts and turns along coordinate axes, or by a general pose. Each move has these
methods: `motion` takes a twist (6,) of the parent's frame to the child's, `force` takes a wrench (6,) or several
(6, k) of the child's frame to the parent's, and `inertia` a symmetric inertia (6, 6). One simple move after the other
costs about half of what one general transformation does.

`rates` takes what the laws of Newton and Euler need to know of a rigid motion: K (3, 3), whose rows are the angular
velocity, the angular acceleration and the acceleration of the frame's origin, in the frame's axes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poinsot._types import Array
from poinsot.spatial import Pose


def mirrored(A: Array) -> Array:
    """A symmetric matrix made exactly so, from its upper triangle: the lower one need not be computed."""
    return np.triu(np.ones(A.shape)) * A + np.triu(np.ones(A.shape), 1).T * A.T


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

    def rates(self, K: Array) -> Array:
        w, alpha, a = K
        p = self.X.p
        return np.stack([w, alpha, a + np.cross(alpha, p) + np.cross(w, np.cross(w, p))]) @ self.X.R

    def pose(self) -> Pose:
        return self.X


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
        Ad = np.block([[np.eye(3), np.zeros((3, 3))], [-self._cross, np.eye(3)]])
        return mirrored(Ad.T @ I @ Ad)

    def rates(self, K: Array) -> Array:
        """The acceleration of the new origin: a + alpha x d + w x (w x d)."""
        w, alpha, a = K
        i, j, k = (self.axis + 1) % 3, (self.axis + 2) % 3, self.axis
        there = np.zeros(3)
        there[i] = a[i] + self.d * (w[i] * w[k] + alpha[j])
        there[j] = a[j] + self.d * (w[j] * w[k] - alpha[i])
        there[k] = a[k] - self.d * (w[i] * w[i] + w[j] * w[j])
        return np.stack([w, alpha, there])

    def pose(self) -> Pose:
        return Pose._from(np.eye(3), self.d * np.eye(3)[self.axis])


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

    def motion(self, V: Array) -> Array:
        return np.concatenate([self._R.T @ V[:3], self._R.T @ V[3:]])

    def force(self, F: Array) -> Array:
        return np.concatenate([self._R @ F[:3], self._R @ F[3:]])

    def inertia(self, I: Array) -> Array:
        """R I R^T, block by block: in the plane that turns, with c^2 and c s, along the axis with c and s."""
        angular, coupling, linear = (self._turned(I[a : a + 3, b : b + 3], a == b) for a, b in ((0, 0), (0, 3), (3, 3)))
        return np.block([[angular, coupling], [coupling.T, linear]])

    def _turned(self, A: Array, symmetric: bool) -> Array:
        i, j, k = (self.axis + 1) % 3, (self.axis + 2) % 3, self.axis
        c, s, cc, cs = self.c, self.s, self.c * self.c, self.c * self.s
        difference, total = A[i, i] - A[j, j], A[i, j] + A[j, i]
        w, z = cc * difference - cs * total, cs * difference + cc * total
        B = np.zeros((3, 3))
        B[i, i], B[j, j], B[k, k] = A[j, j] + w, A[i, i] - w, A[k, k]
        B[i, j] = z - A[j, i]
        B[i, k], B[j, k] = c * A[i, k] - s * A[j, k], s * A[i, k] + c * A[j, k]
        if symmetric:
            B[j, i], B[k, i], B[k, j] = B[i, j], B[i, k], B[j, k]
        else:
            B[j, i] = z - A[i, j]
            B[k, i], B[k, j] = c * A[k, i] - s * A[k, j], s * A[k, i] + c * A[k, j]
        return B

    def rates(self, K: Array) -> Array:
        return K @ self._R

    def pose(self) -> Pose:
        return Pose._from(self._R, np.zeros(3))


Move = General | Shift | Turn


def motion(moves: Sequence[Move], V: Array) -> Array:
    """A twist of the parent's frame, in the child's."""
    for move in moves:
        V = move.motion(V)
    return V


def rates(moves: Sequence[Move], K: Array) -> Array:
    """The rates (3, 3) of the parent's frame, continued to the child's as if they were one body."""
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


def pose(moves: Sequence[Move]) -> Pose:
    """The child's frame in the parent's."""
    X = moves[0].pose()
    for move in moves[1:]:
        X = X @ move.pose()
    return X
