"""Products of large matrices, in tiles, so that each element that is loaded serves several sums at once."""

import numpy as np

TILE = 4  # rows and columns of a tile
_PANEL = 20  # columns of a panel


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A B of matrices of values.

    Columns are processed in panels, so that elements are still in the cache when they are used again.
    """
    C, t = np.full((len(A), B.shape[1]), 0.0, dtype=object), TILE
    for first in range(0, B.shape[1], _PANEL):
        for i in range(0, len(A), t):
            for j in range(first, min(first + _PANEL, B.shape[1]), t):
                for k in range(len(B)):
                    C[i : i + t, j : j + t] += np.multiply.outer(A[i : i + t, k], B[k, j : j + t])
    return C
