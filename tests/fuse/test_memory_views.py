"""Parts of arrays that are indexed at run time: views, as in NumPy."""

import numpy as np
import pytest
from fuse_laws import agrees

from poinsot.fuse import fori_loop


def row_of_a_row(A, i):
    A[i][0] = 7.0
    A[0][i] += 3.0


def row_in_place(A, i):
    row = A[i]
    row += 1
    row[i] = 5.0
    A[i, 1] = -1.0
    A[2] = row  # sees the -1


def slices_of_slices(A, i):
    part = A[1:][:, :2]
    part[i % 2] *= 2
    A[:, i][1:] = 8.0


def transposed(A, i):
    A.T[i, 0] = 9.0
    A.T[1] += A.T[i]
    A.reshape(9)[i + 3] = 4.0
    A.transpose()[2][i] -= 0.5


def known_parts_of_parts(A, i):
    part = A.reshape(9)[2:8]
    part[1:5][i + 1] = 4.0
    A[1, 0] += part[2:][i] * A[1:, :][1][i]


def copies_stay_apart(A, i):
    row, other = A[i].copy(), A[[0, 1]]
    row[0] = 7.0
    row += 1
    other[i % 2] = 0.0
    A[i] = row * 2


def exchanged_rows(A, i):
    A[1:] = A[:-1] + A[i]
    A[i], A[2] = A[2].copy(), A[i].copy()


VIEWS = [
    row_of_a_row,
    row_in_place,
    slices_of_slices,
    transposed,
    known_parts_of_parts,
    copies_stay_apart,
    exchanged_rows,
]


@pytest.mark.parametrize("change", VIEWS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("loop", [True, False])
def test_parts_are_views(change, loop, rng):
    """Writing through a part of an array that is indexed at run time means what it means in NumPy."""

    def f(A, x):
        A, j = A.copy(), np.floor(3 * x).astype(int)

        def body(i, A):
            A[i, 1] = 3.0
            change(A, i)
            change(A, j)
            return A

        return fori_loop(3, body, A) if loop else body(j, A)

    agrees(f, "(3,3),()->(3,3)", rng.standard_normal((9, 3, 3)), rng.random(9))
