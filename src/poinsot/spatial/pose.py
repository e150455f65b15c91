"""The pose of a frame B in a frame A: X_AB = (R_AB, p_AB), an element of SE(3)."""

from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.spatial import euler, motion, quaternion, rotation
from poinsot.spatial.arrays import as_array, blocks, halves, join, matvec

_NO_ROTATION = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_NO_TRANSLATION = (0.0, 0.0, 0.0)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Pose:
    """The pose X_AB of frame B in frame A.

    R: R_AB, whose columns are the axes of B in A's axes, shape (..., 3, 3).
    p: p_AB, from A's origin to B's origin in A's axes [m], shape (..., 3).

    X_AC = X_AB @ X_BC composes poses; x_A = X_AB @ x_B takes points, shape (..., 3), from B's coordinates to A's.
    The arrays are copied and cannot be written to. Batch shapes in front broadcast.
    """

    R: Array
    p: Array

    __array_ufunc__ = None  # so that array @ Pose is an error, not an array of poses

    def __init__(self, R: ArrayLike = _NO_ROTATION, p: ArrayLike = _NO_TRANSLATION) -> None:
        R, p = _own(R, (3, 3), "R"), _own(p, (3,), "p")
        rotation.check(R, "R of Pose")
        self._set(R, p)

    def _set(self, R: Array, p: Array) -> None:
        for name, value in (("R", R), ("p", p)):
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    @classmethod
    def unchecked(cls, R: Array, p: Array) -> "Pose":
        """From arrays that need no check and are not written to elsewhere, such as the results of this class."""
        X = object.__new__(cls)
        X._set(R, p)
        return X

    @classmethod
    def identity(cls) -> "Pose":
        """The pose of a frame in itself."""
        return cls()

    @classmethod
    def exp(cls, xi: ArrayLike) -> "Pose":
        """The pose after one unit of time at the constant twist xi = (omega, v), (..., 6).

        It is the exponential of `motion.twist_matrix(xi)`: R = exp(omega), p = J(omega) v, J the left Jacobian.
        """
        omega, v = halves(xi)
        return cls.unchecked(rotation.exp(omega), matvec(rotation.left_jacobian(omega), v))

    def log(self) -> Array:
        """The twist xi = (omega, v) with |omega| <= pi and Pose.exp(xi) = X, (..., 6)."""
        omega = rotation.log(self.R)
        return join(omega, matvec(rotation.left_jacobian_inverse(omega), self.p))

    @classmethod
    def from_matrix(cls, T: ArrayLike) -> "Pose":
        """From the matrix [[R, p], [0, 1]], (..., 4, 4)."""
        T = _own(T, (4, 4), "T")
        if not is_traced(T) and np.any(T[..., 3, :] != (0.0, 0.0, 0.0, 1.0)):
            raise ValueError(
                f"T of Pose has the last row {T[..., 3, :].tolist()}, not [0, 0, 0, 1]. "
                "The position is in the last column; if yours is in the last row, use T.T."
            )
        return cls(T[..., :3, :3], T[..., :3, 3])

    def matrix(self) -> Array:
        """The matrix [[R, p], [0, 1]], (..., 4, 4)."""
        top = blocks([[self.R, self.p[..., :, None]]])
        return blocks([[top], [np.array([[0.0, 0.0, 0.0, 1.0]])]])

    @classmethod
    def from_quaternion(cls, q: ArrayLike, p: ArrayLike = _NO_TRANSLATION) -> "Pose":
        """From a unit quaternion (w, x, y, z) that takes B's coordinates to A's, (..., 4), and p_AB [m]."""
        q = _own(q, (4,), "q")
        quaternion.check(q, "q of Pose")
        return cls(quaternion.to_matrix(quaternion.normalize(q)), p)

    def quaternion(self) -> Array:
        """The unit quaternion (w, x, y, z) of R, with w >= 0, (..., 4)."""
        return quaternion.from_matrix(self.R)

    @classmethod
    def from_euler(cls, angles: ArrayLike, p: ArrayLike = _NO_TRANSLATION) -> "Pose":
        """From the angles (roll, pitch, yaw) [rad] of `spatial.euler`, (..., 3), and p_AB [m]."""
        return cls(euler.to_matrix(_own(angles, (3,), "angles")), p)

    def euler(self) -> Array:
        """The angles (roll, pitch, yaw) [rad] of R, (..., 3)."""
        return euler.from_matrix(self.R)

    def inverse(self) -> "Pose":
        """X_BA from X_AB."""
        R_BA = np.swapaxes(self.R, -1, -2)
        return self.unchecked(R_BA, -matvec(R_BA, self.p))

    def adjoint(self) -> Array:
        """The matrix Ad of X_AB: V_A = Ad V_B for twists, (..., 6, 6)."""
        return motion.Ad(self.R, self.p)

    @overload
    def __matmul__(self, other: "Pose") -> "Pose": ...
    @overload
    def __matmul__(self, other: ArrayLike) -> Array: ...
    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Pose):
            return self.unchecked(self.R @ other.R, self.p + matvec(self.R, other.p))
        if is_traced(other) or isinstance(other, np.ndarray | list | tuple):
            return self.p + matvec(self.R, as_array(other))
        return NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pose):
            return NotImplemented
        return np.array_equal(self.R, other.R) and np.array_equal(self.p, other.p)

    def __hash__(self) -> int:
        return hash(((self.R + 0.0).tobytes(), (self.p + 0.0).tobytes()))  # + 0.0, because -0.0 == 0.0

    def __repr__(self) -> str:
        if is_traced(self.R, self.p):
            return "<Pose, traced>"
        batch = np.broadcast_shapes(self.R.shape[:-2], self.p.shape[:-1])
        if batch:
            return f"<Pose, batch of shape {batch}>"
        return f"<Pose p={_brief(self.p)} m, roll-pitch-yaw={_brief(np.degrees(self.euler()))} deg>"


def _brief(a: Array) -> str:
    return "[" + ", ".join(f"{x + 0.0:.6g}" for x in np.round(a, 9)) + "]"  # + 0.0 makes 0.0 of -0.0


def _own(x: ArrayLike, core: tuple[int, ...], name: str) -> Array:
    """A copy of x as floats, after a check of its shape and values."""
    a = as_array(x) if is_traced(x) else np.array(x, dtype=float)
    if a.shape[-len(core) :] != core:
        raise ValueError(f"{name} of Pose has the shape {a.shape}; it needs {core}, with any batch shape in front.")
    if not is_traced(a) and not np.all(np.isfinite(a)):
        raise ValueError(f"{name} of Pose has an entry that is not a finite number: {a.tolist()}.")
    return a
