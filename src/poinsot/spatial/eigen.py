"""Eigenvalues and eigenvectors of a symmetric 3x3 matrix by plain arithmetic, which can be traced."""

import numpy as np

from poinsot._types import Array
from poinsot.fuse import fori_loop

SWEEPS = 6  # each at least squares what is left beside the diagonal; six are enough from any start


def principal_axes(A: Array) -> tuple[Array, Array]:
    """The eigenvalues (3,) of A (3, 3), ascending, and a rotation R (3, 3) whose columns are the eigenvectors.

    By Jacobi's rotations, A <- J^T A J, each of which makes one entry beside the diagonal zero. Axes that are principal
    already stay as they are, in their order of size. Golub and Van Loan, Matrix Computations (2013), section 8.5.
    """
    size = np.trace(A)
    D, R = fori_loop(SWEEPS, _sweep, (A / size, np.eye(3) + 0.0 * A))
    moments, axes = [size * D[k, k] for k in range(3)], [R[:, k] for k in range(3)]
    for i, j in ((0, 1), (1, 2), (0, 1)):
        swaps, a, b = moments[i] > moments[j], axes[i], axes[j]
        axes[i], axes[j] = np.where(swaps, b, a), np.where(swaps, -a, b)  # a quarter turn, so that R stays a rotation
        moments[i], moments[j] = np.minimum(moments[i], moments[j]), np.maximum(moments[i], moments[j])
    return np.stack(moments), np.stack(axes, axis=1)


def _sweep(_: int, factors: tuple[Array, Array]) -> tuple[Array, Array]:
    """Each of the three entries beside the diagonal made zero in turn, by the smaller of two angles."""
    D, R = factors
    for i, j in ((0, 1), (0, 2), (1, 2)):
        difference, twice = D[j, j] - D[i, i], 2 * D[i, j]
        length = np.sqrt(difference * difference + twice * twice + 1e-300)
        below = difference + np.where(difference < 0, -length, length)
        tangent = np.where(twice == 0, 0.0, twice / np.where(twice == 0, 1.0, below))
        c = 1 / np.sqrt(1 + tangent * tangent)
        s = tangent * c
        J = np.stack([_row(k, i, j, c, s) for k in range(3)])
        D, R = J.T @ D @ J, R @ J
    return (D + D.T) / 2, R


def _row(k: int, i: int, j: int, c: Array, s: Array) -> Array:
    """Row k of the rotation by the angle with cosine c and sine s in the plane of axes i and j."""
    row = {i: {i: c, j: s}, j: {i: -s, j: c}}.get(k, {k: np.ones(())})
    return np.stack([row.get(m, np.zeros(())) for m in range(3)])
