"""Rotation matrices R_WB, that take body coordinates to world coordinates, and rotation vectors phi = theta n [rad].

Matrices have shape (..., 3, 3), vectors (..., 3); batch shapes in front broadcast.
"""

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.spatial import quaternion
from poinsot.spatial.arrays import as_array, components, dot, matrix, scaled, vector
from poinsot.spatial.series import stumpff

TOLERANCE = 1e-5  # on R^T R = E: lets a matrix that came through float32 pass, but not one typed with four digits
E = np.eye(3)
E.setflags(write=False)


def skew(a: ArrayLike) -> Array:
    """The matrix (a x) with (a x) b = a x b, (..., 3) -> (..., 3, 3). Peskin (47)."""
    x, y, z = components(a)
    return matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def unskew(A: ArrayLike) -> Array:
    """The vector a of the antisymmetric part of A: unskew(skew(a)) = a, (..., 3, 3) -> (..., 3)."""
    A = as_array(A)
    return 0.5 * vector(A[..., 2, 1] - A[..., 1, 2], A[..., 0, 2] - A[..., 2, 0], A[..., 1, 0] - A[..., 0, 1])


def about_x(angle: ArrayLike) -> Array:
    """The rotation by an angle [rad] about the x axis, (...) -> (..., 3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    return matrix([[1, 0, 0], [0, c, -s], [0, s, c]])


def about_y(angle: ArrayLike) -> Array:
    """The rotation by an angle [rad] about the y axis, (...) -> (..., 3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    return matrix([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def about_z(angle: ArrayLike) -> Array:
    """The rotation by an angle [rad] about the z axis, (...) -> (..., 3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    return matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def exp(phi: ArrayLike) -> Array:
    """The rotation by the angle theta = |phi| [rad] about phi, (..., 3) -> (..., 3, 3).

    Peskin (52) with phi = Omega dt, n = phi/theta and P = n n^T:
    R = P + cos(theta) (E - P) + sin(theta) (n x) = cos(theta) E + c_1 (phi x) + c_2 phi phi^T.
    """
    phi = as_array(phi)
    c0, c1, c2 = (stumpff(k, dot(phi, phi))[..., None, None] for k in (0, 1, 2))
    return c0 * E + c1 * skew(phi) + c2 * (phi[..., :, None] * phi[..., None, :])


def exact(Omega: ArrayLike, dt: ArrayLike) -> Array:
    """R(Omega, dt): the rotation at the constant angular velocity Omega [rad/s] during the time dt [s]. Peskin (52)."""
    return exp(scaled(dt, Omega))


def log(R: ArrayLike) -> Array:
    """The rotation vector phi [rad] of R, |phi| <= pi, (..., 3, 3) -> (..., 3): exp(log(R)) = R.

    At the angle pi, phi and -phi are the same rotation, and either may be returned.
    """
    return quaternion.log(quaternion.from_matrix(R))


def left_jacobian(phi: ArrayLike) -> Array:
    """J with exp(phi + d) = exp(J d) exp(phi) to first order in d; also the mean of exp(a phi) over a from 0 to 1.

    J = E + c_2 (phi x) + c_3 (phi x)^2, (..., 3) -> (..., 3, 3).
    """
    phi = as_array(phi)
    c2, c3 = (stumpff(k, dot(phi, phi))[..., None, None] for k in (2, 3))
    W = skew(phi)
    return E + c2 * W + c3 * (W @ W)


def left_jacobian_inverse(phi: ArrayLike) -> Array:
    """The inverse of `left_jacobian`, for |phi| < 2 pi, (..., 3) -> (..., 3, 3).

    J^-1 = E - (phi x)/2 + d (phi x)^2 with d = (1 - c_1/(2 c_2))/theta^2, computed without cancellation.
    """
    phi = as_array(phi)
    c2, c3, c4 = (stumpff(k, dot(phi, phi))[..., None, None] for k in (2, 3, 4))
    W = skew(phi)
    return E - 0.5 * W + (0.5 * c3 - c4) / c2 * (W @ W)


def perpendicular(n: ArrayLike) -> Array:
    """A unit vector perpendicular to the unit vector n, (..., 3) -> (..., 3): x where n is z.

    Duff et al., J. Comput. Graph. Tech. 6 (2017).
    """
    x, y, z = components(n)
    sign = np.copysign(1.0, z)
    a = -1.0 / (sign + z)
    return vector(1.0 + sign * x * x * a, sign * x * y * a, -sign * x)


def from_z_to(direction: ArrayLike) -> Array:
    """The rotation vector phi [rad] of the shortest rotation that takes z to a direction of any length.

    (..., 3) -> (..., 3). To -z it goes about x; a direction of no length leaves z where it is.
    """
    x, y, z = components(direction)
    axis = vector(-y, x, 0.0)  # z x direction
    sine = np.sqrt((axis[..., None, :] @ axis[..., :, None])[..., 0, 0])
    phi = scaled(np.arctan2(sine, z) / np.where(sine > 0.0, sine, 1.0), axis)
    return np.where(((sine == 0.0) & (z < 0.0))[..., None], np.array([np.pi, 0.0, 0.0]), phi)


def orthonormalise(R: ArrayLike, iterations: int = 10) -> Array:
    """The rotation nearest to R: its polar factor, by Newton's iteration X <- (X + X^-T)/2, (..., 3, 3).

    Ten iterations converge to rounding for singular values of R between 1/50 and 50; two are enough to remove the drift
    of a long computation. Higham, SIAM J. Sci. Stat. Comput. 7 (1986).
    """
    X = as_array(R)
    _check_proper(X, "R")
    for _ in range(iterations):
        cofactors, determinant = _cofactors(X)
        X = 0.5 * X + (0.5 / determinant)[..., None, None] * cofactors
    return X


def check(R: Array, name: str) -> None:
    """Raise an error if R is not a rotation. Traced values have no numbers to check."""
    if is_traced(R):
        return
    error = np.max(np.abs(np.swapaxes(R, -1, -2) @ R - E), initial=0.0)
    if not error <= TOLERANCE:
        raise ValueError(
            f"{name} is not a rotation: R^T R differs from the identity by {error:.1e}. "
            "If it is meant to be one, use spatial.rotation.orthonormalise(R)."
        )
    _check_proper(R, name)


def _check_proper(R: Array, name: str) -> None:
    if is_traced(R):
        return
    determinant = np.min(_cofactors(R)[1], initial=1.0)
    if not determinant > 0.0:
        raise ValueError(
            f"{name} is not a rotation: its determinant is {determinant:.3g}, not +1. "
            "A frame needs three right-handed axes: change the sign of one column, or swap two."
        )


def _cofactors(X: Array) -> tuple[Array, Array]:
    """The cofactor matrix det(X) X^-T, whose rows are cross products of the rows of X, and det(X)."""
    a, b, c = X[..., 0, :], X[..., 1, :], X[..., 2, :]
    bc = np.cross(b, c)
    return np.stack([bc, np.cross(c, a), np.cross(a, b)], axis=-2), dot(a, bc)
