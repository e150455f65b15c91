"""Unit quaternions q = (w, x, y, z), scalar first, that take body coordinates to world coordinates.

q = (cos(theta/2), n sin(theta/2)) is the rotation by the angle theta about the unit vector n. q and -q are the same
rotation. Arrays have shape (..., 4), vectors (..., 3); batch shapes in front broadcast.
"""

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.spatial.arrays import as_array, components, dot, matrix, scaled, vector
from poinsot.spatial.series import arctan_ratio, stumpff

TOLERANCE = 1e-5  # on |q| = 1: lets a quaternion that came through float32 pass


def identity() -> Array:
    """The identity, (1, 0, 0, 0)."""
    return np.array([1.0, 0.0, 0.0, 0.0])


def product(q1: ArrayLike, q2: ArrayLike) -> Array:
    """Hamilton's product q1 q2: the rotation by q2, followed by q1."""
    w1, x1, y1, z1 = components(q1)
    w2, x2, y2, z2 = components(q2)
    return vector(
        w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
        w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
        w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
        w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
    )


def conjugate(q: ArrayLike) -> Array:
    """(w, -x, -y, -z): the inverse of a unit quaternion."""
    w, x, y, z = components(q)
    return vector(w, -x, -y, -z)


def normalize(q: ArrayLike) -> Array:
    """q / |q|."""
    q = as_array(q)
    return scaled(1.0 / np.sqrt(dot(q, q)), q)


def rotate(q: ArrayLike, x: ArrayLike) -> Array:
    """q x q*: the vector x in body axes, expressed in world axes."""
    q, x = as_array(q), as_array(x)
    w, u = q[..., :1], q[..., 1:]
    t = 2.0 * np.cross(u, x)
    return x + w * t + np.cross(u, t)


def to_matrix(q: ArrayLike) -> Array:
    """The rotation matrix R_WB of a unit quaternion, (..., 4) -> (..., 3, 3)."""
    w, x, y, z = components(q)
    return matrix(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def from_matrix(R: ArrayLike) -> Array:
    """The unit quaternion with w >= 0 of a rotation matrix R_WB, (..., 3, 3) -> (..., 4).

    R gives all products 4 q_i q_j. Row i of that matrix is 4 q_i q, so any row, normalised, is the quaternion; the row
    with the largest diagonal entry is the most accurate. Shepperd (1978), Markley (2008).
    """
    R = as_array(R)
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (components(R[..., i, :]) for i in range(3))
    wx, wy, wz = zy - yz, xz - zx, yx - xy
    rows = [
        [1.0 + xx + yy + zz, wx, wy, wz],
        [wx, 1.0 + xx - yy - zz, xy + yx, xz + zx],
        [wy, xy + yx, 1.0 - xx + yy - zz, yz + zy],
        [wz, xz + zx, yz + zy, 1.0 - xx - yy + zz],
    ]
    best, pivot = rows[0], rows[0][0]
    for i in (1, 2, 3):
        better = rows[i][i] > pivot
        best = [np.where(better, new, old) for new, old in zip(rows[i], best, strict=True)]
        pivot = np.where(better, rows[i][i], pivot)
    sign = np.where(best[0] < 0.0, -1.0, 1.0)
    return normalize(vector(*(sign * entry for entry in best)))


def exp(phi: ArrayLike) -> Array:
    """The unit quaternion of a rotation vector phi [rad], (..., 3) -> (..., 4)."""
    x, y, z = components(phi)
    quarter = 0.25 * (x * x + y * y + z * z)  # the half angle, squared
    sine = 0.5 * stumpff(1, quarter)
    return vector(stumpff(0, quarter), sine * x, sine * y, sine * z)


def log(q: ArrayLike) -> Array:
    """The rotation vector phi [rad], |phi| <= pi, of a quaternion of any length but zero, (..., 4) -> (..., 3)."""
    w, x, y, z = components(q)
    sign = np.where(w < 0.0, -1.0, 1.0)  # of q and -q, the one whose angle is at most pi
    scale = 2.0 * sign * arctan_ratio(x * x + y * y + z * z, sign * w)
    return vector(scale * x, scale * y, scale * z)


def derivative(q: ArrayLike, omega_B: ArrayLike) -> Array:
    """dq/dt = q (0, omega_B) / 2, with the angular velocity [rad/s] in body axes."""
    return product(q, _pure(omega_B))


def derivative_world(q: ArrayLike, omega_W: ArrayLike) -> Array:
    """dq/dt = (0, omega_W) q / 2, with the angular velocity [rad/s] in world axes."""
    return product(_pure(omega_W), q)


def integrate(q: ArrayLike, omega_B: ArrayLike, dt: ArrayLike) -> Array:
    """q after the time dt [s] at the angular velocity omega_B [rad/s], constant in body axes: q exp(omega_B dt)."""
    return _keep_unit(product(q, exp(scaled(dt, omega_B))))


def integrate_world(q: ArrayLike, omega_W: ArrayLike, dt: ArrayLike) -> Array:
    """q after the time dt [s] at the angular velocity omega_W [rad/s], constant in world axes: exp(omega_W dt) q.

    De Nivelle, section 4.3, with the increment normalised: his has a factor |omega|.
    """
    return _keep_unit(product(exp(scaled(dt, omega_W)), q))


def check(q: Array, name: str) -> None:
    """Raise an error if q is not unit. Traced values have no numbers to check."""
    if is_traced(q):
        return
    length = np.sqrt(dot(q, q))
    if not np.all(np.abs(length - 1.0) <= TOLERANCE):
        worst = np.ravel(length)[np.argmax(np.abs(np.ravel(length) - 1.0))]
        raise ValueError(
            f"{name} is not a unit quaternion: its length is {worst:.6g}. Use spatial.quaternion.normalize(q)."
        )


def _pure(omega: ArrayLike) -> Array:
    """(0, omega / 2)."""
    x, y, z = components(omega)
    return vector(0, 0.5 * x, 0.5 * y, 0.5 * z)


def _keep_unit(q: Array) -> Array:
    """One Newton step towards |q| = 1: for a quaternion that is unit up to rounding as accurate as a square root."""
    return scaled(1.5 - 0.5 * dot(q, q), q)
