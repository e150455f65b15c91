"""The state of one free body in the conventions of other libraries: order, axes and reference points.

Ours is the pose X_WB and the twist V_WB_B; theirs is a pair (q, v). A convention is data: a row of one table, tested
against the library itself. `com` is the centre of mass in the body frame [m], needed for libraries whose velocities or
moments refer to it. Batch shapes in front broadcast.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.spatial.arrays import as_array, halves, join, matvec
from poinsot.spatial.motion import twist_at, wrench_at
from poinsot.spatial.pose import Pose

Axes = Literal["world", "body"]
Point = Literal["origin", "com"]


@dataclass(frozen=True)
class Convention:
    """A library's representation of the state of a free body, and of a wrench on it."""

    position_first: bool  # q is (position of the body frame's origin, quaternion), else the other way round
    quaternion: Literal["wxyz", "xyzw"]
    angular_first: bool  # in velocities, in wrenches and in the 6x6 inertia
    angular_axes: Axes  # of the angular velocity
    linear_axes: Axes  # of the linear velocity
    linear_point: Point  # the point whose velocity it is
    wrench_axes: Axes  # of an applied wrench
    wrench_point: Point  # about which its moment is taken


CONVENTIONS = {
    "pinocchio": Convention(True, "xyzw", False, "body", "body", "origin", "body", "origin"),
    "mujoco": Convention(True, "wxyz", False, "body", "world", "origin", "world", "com"),
    "drake": Convention(False, "wxyz", True, "world", "world", "origin", "world", "origin"),
    "newton": Convention(True, "xyzw", False, "world", "world", "com", "world", "com"),
}


def to_peer(name: str, X_WB: Pose, V_WB_B: ArrayLike, com: ArrayLike = (0.0, 0.0, 0.0)) -> tuple[Array, Array]:
    """The (q, v) of the library `name`, shapes (..., 7) and (..., 6)."""
    c = _convention(name)
    wxyz = X_WB.quaternion()
    quaternion = wxyz if c.quaternion == "wxyz" else join(wxyz[..., 1:], wxyz[..., :1])
    q = join(X_WB.p, quaternion) if c.position_first else join(quaternion, X_WB.p)
    omega, v = halves(twist_at(V_WB_B, _offset(c.linear_point, com)))
    return q, _pair(c, _from_body(X_WB, omega, c.angular_axes), _from_body(X_WB, v, c.linear_axes))


def from_peer(name: str, q: ArrayLike, v: ArrayLike, com: ArrayLike = (0.0, 0.0, 0.0)) -> tuple[Pose, Array]:
    """The pose X_WB and the twist V_WB_B, shape (..., 6), from the (q, v) of the library `name`."""
    c = _convention(name)
    q = as_array(q)
    position, quaternion = (q[..., :3], q[..., 3:]) if c.position_first else (q[..., 4:], q[..., :4])
    wxyz = quaternion if c.quaternion == "wxyz" else join(quaternion[..., 3:], quaternion[..., :3])
    X_WB = Pose.from_quaternion(wxyz, position)
    omega, v_point = _unpair(c, v)
    V = join(_to_body(X_WB, omega, c.angular_axes), _to_body(X_WB, v_point, c.linear_axes))
    return X_WB, twist_at(V, -_offset(c.linear_point, com))


def wrench_to_peer(name: str, X_WB: Pose, F_B: ArrayLike, com: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """A wrench F_B about B's origin in body axes, as the library `name` expects an applied wrench, (..., 6).

    Pinocchio: `fext` of `aba`. MuJoCo: `xfrc_applied`. Drake: a spatial force applied at Bo. Newton: `body_f`.
    """
    c = _convention(name)
    m, f = halves(wrench_at(F_B, _offset(c.wrench_point, com)))
    return _pair(c, _from_body(X_WB, m, c.wrench_axes), _from_body(X_WB, f, c.wrench_axes))


def wrench_from_peer(name: str, X_WB: Pose, F: ArrayLike, com: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """The wrench F_B about B's origin in body axes, (..., 6): the inverse of `wrench_to_peer`."""
    c = _convention(name)
    m, f = _unpair(c, F)
    F_B = join(_to_body(X_WB, m, c.wrench_axes), _to_body(X_WB, f, c.wrench_axes))
    return wrench_at(F_B, -_offset(c.wrench_point, com))


def _convention(name: str) -> Convention:
    if name not in CONVENTIONS:
        raise ValueError(f"no conventions are known for the library {name!r}. Known: {', '.join(CONVENTIONS)}.")
    return CONVENTIONS[name]


def _offset(point: Point, com: ArrayLike) -> Array:
    return as_array(com) if point == "com" else np.zeros(3)


def _pair(c: Convention, angular: Array, linear: Array) -> Array:
    return join(angular, linear) if c.angular_first else join(linear, angular)


def _unpair(c: Convention, vector: ArrayLike) -> tuple[Array, Array]:
    first, second = halves(vector)
    return (first, second) if c.angular_first else (second, first)


def _from_body(X_WB: Pose, a_B: Array, axes: Axes) -> Array:
    return matvec(X_WB.R, a_B) if axes == "world" else a_B


def _to_body(X_WB: Pose, a: Array, axes: Axes) -> Array:
    return matvec(np.swapaxes(X_WB.R, -1, -2), a) if axes == "world" else a
