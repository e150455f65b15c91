"""Euler angles of the 3-2-1 sequence, (roll, pitch, yaw) [rad]: R_WB = Rz(yaw) Ry(pitch) Rx(roll), as URDF's rpy.

Arrays have shape (..., 3); batch shapes in front broadcast. At pitch = +-90 deg (gimbal lock) roll and yaw turn about
the same axis: only their difference (or sum) is determined, and `rates` is infinite. No three angles can do better. Use
quaternions to compute, angles to read.
"""

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.spatial import quaternion
from poinsot.spatial.arrays import as_array, components, vector
from poinsot.spatial.rotation import about_x, about_y, about_z


def to_matrix(angles: ArrayLike) -> Array:
    """R_WB, (..., 3) -> (..., 3, 3)."""
    roll, pitch, yaw = components(angles)
    return about_z(yaw) @ about_y(pitch) @ about_x(roll)


def from_matrix(R_WB: ArrayLike) -> Array:
    """The angles of R_WB with |pitch| <= pi/2, (..., 3, 3) -> (..., 3).

    Pitch and roll are read from R_WB with the yaw removed, so the three angles are consistent: they reproduce R_WB even
    at pitch = +-90 deg, where the yaw is not determined.
    """
    R = as_array(R_WB)
    yaw = np.arctan2(R[..., 1, 0], R[..., 0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    pitch = np.arctan2(-R[..., 2, 0], c * R[..., 0, 0] + s * R[..., 1, 0])
    roll = np.arctan2(s * R[..., 0, 2] - c * R[..., 1, 2], c * R[..., 1, 1] - s * R[..., 0, 1])
    return vector(roll, pitch, yaw)


def to_quaternion(angles: ArrayLike) -> Array:
    """The unit quaternion (w, x, y, z) of the same rotation, (..., 3) -> (..., 4)."""
    half = 0.5 * as_array(angles)
    (cx, cy, cz), (sx, sy, sz) = components(np.cos(half)), components(np.sin(half))
    q_zy = quaternion.product(vector(cz, 0, 0, sz), vector(cy, 0, sy, 0))
    return quaternion.product(q_zy, vector(cx, sx, 0, 0))


def rates(angles: ArrayLike, omega_B: ArrayLike) -> Array:
    """d(roll, pitch, yaw)/dt [rad/s] at the angular velocity omega_B [rad/s] in body axes; infinite at pitch +-90 deg.

    The kinematic equation of Stevens & Lewis, Aircraft Control and Simulation, chapter 1.
    """
    roll, pitch, _ = components(angles)
    p, q, r = components(omega_B)
    pitch_rate = q * np.cos(roll) - r * np.sin(roll)
    yaw_rate = (q * np.sin(roll) + r * np.cos(roll)) / np.cos(pitch)
    return vector(p + yaw_rate * np.sin(pitch), pitch_rate, yaw_rate)


def omega(angles: ArrayLike, angle_rates: ArrayLike) -> Array:
    """The angular velocity omega_B [rad/s] in body axes, from the angles and their rates: the inverse of `rates`."""
    roll, pitch, _ = components(angles)
    roll_rate, pitch_rate, yaw_rate = components(angle_rates)
    return vector(
        roll_rate - yaw_rate * np.sin(pitch),
        pitch_rate * np.cos(roll) + yaw_rate * np.cos(pitch) * np.sin(roll),
        yaw_rate * np.cos(pitch) * np.cos(roll) - pitch_rate * np.sin(roll),
    )
