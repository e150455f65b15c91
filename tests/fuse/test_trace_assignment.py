"""Indexing and item assignment: arrays, views and in-place operators behave as in NumPy."""

import numpy as np
import pytest
from fuse_laws import agrees


def fill(v):
    A = np.zeros((3, 3))
    A[0] = v
    A[1, :2] = v[1:]
    A[2, -1] = v[0] * 2
    A[-1, 0] += 5
    return A


def empty_then_filled(v):
    A = np.empty((3, 3))
    A[...] = v
    A[:, 1] = 1
    return A


def views(v):
    A = np.ones((3, 3))
    row, column, corner = A[1], A[:, 2], A[:2, :2]
    row[0] = v[0]
    column[:] = v
    corner *= v[2]
    A.T[0, 1] = 7.0
    return A


def in_place(v):
    A, b = np.outer(v, v), v.copy()
    A += 1
    A[0] -= v
    A[:, 0] *= 2
    A /= 3
    b **= 2
    A[1] @= np.eye(3) * 2
    return A + b


def scalars_are_values(v):
    x = v[0]
    y = x
    x += 1  # a new scalar: y and v stay
    return np.outer(np.stack([x, y, v[0]]), v)


def slices(v):
    A = np.outer(v, v + 1)
    A[::-1] = A.copy()
    A[::2, 1:] = A[::2, :-1] * 3
    A[1:, None, 0] = v[1:, None] - 4
    return A[:, ::-1]


def lists(v):
    A = np.outer(v, v + 1)
    A[[0, 2]] = A[[2, 0]]
    A[[0, 1], [1, 2]] = 9.0
    return A[np.ix_([2, 1, 0], [0, 2, 1])]


def ellipses(v):
    A = np.zeros((3, 1, 3))
    A[..., 0, 1] = v
    A[0, ...] += v
    return A[:, 0]


def masks(v):
    A = np.outer(v, v + 1)
    A[A > 0.5] = -1.0
    A[:, 0][v > 0] = 3.0
    A[np.array([True, False, True])] += 10
    return A


def masks_of_traced_values(v):
    A = np.outer(v, v + 1)
    A[A < 0] = 0
    A[A > 1] = v[0]
    A[(A > 0) & (A < 0.5)] = -v[1]
    return A


def arguments_are_not_changed(v):
    w = v
    v = v * 2
    v[0] = 1
    return np.outer(v, w)


def mixed_types(v):
    A = np.zeros((3, 3))
    A[0, 0] = True
    A[1, 1] = 3
    A[2] = v > 0
    return A


def symmetric(v):
    A = np.zeros((3, 3))
    for i in range(3):
        for j in range(i + 1):
            A[i, j] = A[j, i] = v[i] * v[j] + i
    return A


PROGRAMS = [
    fill, empty_then_filled, views, in_place, scalars_are_values, slices, lists, ellipses, masks,
    masks_of_traced_values, arguments_are_not_changed, mixed_types, symmetric,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_assignment(program, rng):
    agrees(lambda v: program(v.copy()), "(3)->(3,3)", rng.standard_normal((9, 3)))


def test_what_was_never_set_is_no_number():
    from poinsot.fuse import kernel

    def forgets(x):
        A = np.empty(2)
        A[0] = x
        return A

    with pytest.warns(RuntimeWarning, match="invalid"):
        result = kernel("()->(2)")(forgets)(1.0)
    assert result[0] == 1
    assert np.isnan(result[1])


INDICES = {
    "number": lambda A, i: A[i, 1],
    "row": lambda A, i: A[i].sum(),
    "column": lambda A, i: A[:, i] @ np.arange(3.0),
    "both": lambda A, i: A[i, i],
    "sum": lambda A, i: A[i - 1, 2 - i],
    "twice": lambda A, i: A[i][i],
}


@pytest.mark.parametrize("read", INDICES.values(), ids=INDICES)
def test_reading_at_a_traced_index(read, rng):
    A = rng.standard_normal((9, 3, 3))
    i = np.arange(9.0) % 3
    agrees(lambda A, x: read(A, x.astype(int)), "(3,3),()->()", A, i)


@pytest.mark.parametrize("index", ["i", "-i", "(i, 1)", "(1, -1 - i)", "(slice(None), i)", "(i, i)"])
def test_writing_at_a_traced_index(index, rng):
    def f(A, x):
        A, i = A.copy(), x.astype(int)
        A[eval(index, {"i": i})] = x + 10
        A[i, 0] += 0.5
        A[2, i] *= -1
        return A

    agrees(f, "(3,3),()->(3,3)", rng.standard_normal((9, 3, 3)), np.arange(9.0) % 3)


def test_constant_tables_at_a_traced_index():
    table = np.array([3.0, 1.0, 4.0])
    agrees(lambda x: np.asarray(table)[x.astype(int)], "()->()", np.array([0.0, 1.0, 2.0, -1.0, -3.0]))


def test_indices_outside_stay_inside():
    from poinsot.fuse import kernel

    k = kernel("(3),()->()")(lambda v, x: v[x.astype(int)])
    v, x = np.arange(3.0) + 1, np.array([-9.0, -4.0, -3.0, 0.0, 2.0, 3.0, 1e6, 1e300, -1e300, np.inf])
    for backend in ("numpy", "llvm"):
        got = k.to(backend)(v, x)
        np.testing.assert_array_equal(got[:7], [1, 1, 1, 1, 3, 3, 3])
        assert set(got[7:]) <= {1.0, 2.0, 3.0}
