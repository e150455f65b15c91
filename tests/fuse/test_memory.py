"""Arrays that loops read and write at indices known only at run time."""

import numpy as np
import pytest
from fuse_laws import agrees
from hypothesis import given, settings
from hypothesis import strategies as st

from poinsot.fuse import fori_loop, kernel, once

PRIMES = np.array([2.0, 3.0, 5.0, 7.0, 11.0, 13.0])
ORDER = np.array([3, 1, 0, 2, 5, 4])
INDEXED_GLOBALLY = np.arange(6.0) ** 2


def write_in_turn(n, v, x):
    def body(i, A):
        A[i] = x + i
        return A

    return fori_loop(n, body, v.copy())


def write_into_zeros(n, v, x):
    def body(i, A):
        A[i] = A[i - 1] + v[i] * x
        return A

    return fori_loop(n, body, np.zeros(6))


def prefix_sums(n, v, x):
    def body(i, A):
        A[i + 1] += A[i]
        return A

    return fori_loop(np.minimum(n, 5), body, v.copy())


def constant_tables(n, v, x):
    """A table of floats, and one of integers that are indices themselves."""

    def body(i, c):
        A, total = c
        A[ORDER_HERE[i]] = PRIMES_HERE[i] * x + total
        return A, total + PRIMES_HERE[ORDER_HERE[i]]

    PRIMES_HERE, ORDER_HERE = PRIMES, ORDER
    return fori_loop(n, body, (v.copy(), 0.0))[0]


def global_tables(n, v, x):
    return fori_loop(n, lambda i, c: c * 0.5 + np.asarray(INDEXED_GLOBALLY)[i], v)


def matrix_rows(n, v, x):
    def body(i, A):
        A[i, 1] = x
        A[i] = A[i] * 2
        A[:, i % 2] += A[i, 0]
        return A

    return fori_loop(n, body, np.outer(v, [1.0, 2.0])).sum(axis=1)


def swapped_arrays(n, v, x):
    def body(i, c):
        a, b = c
        b = b.copy()
        b[i] = a[i] + x
        return b, a

    a, b = fori_loop(n, body, (v.copy(), np.zeros(6)))
    return a - 2 * b


def rotated_arrays(n, v, x):
    def body(i, c):
        a, b, d = c
        a[i] += 1
        return b, d, a

    a, b, d = fori_loop(n, body, (v.copy(), v * 2, v * 3))
    return a + 10 * b + 100 * d


def kept_and_changed(n, v, x):
    """The array before and the array after a change are both used."""

    def body(i, c):
        A, kept = c
        before = A.copy()
        A[i] = x * i
        return A, kept + before * 2 + A

    A, kept = fori_loop(n, body, (v.copy(), np.zeros(6)))
    return A + kept


def negative_indices(n, v, x):
    def body(i, A):
        A[-1 - i] = A[-i] + x
        return A

    return fori_loop(n, body, v.copy())


def integer_array(n, v, x):
    def body(i, c):
        seen, j = c
        seen[j] += 1
        return seen, (j * 2 + i) % 6

    return fori_loop(n, body, (np.array([0, 0, 0, 0, 0, 5]), 1))[0] * x


def boolean_array(n, v, x):
    def body(i, flags):
        flags[i] = (v[i] > x) & ~flags[i - 1]
        return flags

    return np.where(fori_loop(n, body, v > 0), 1.0, 2.0)


def index_that_differs_between_lanes(n, v, x):
    j = np.floor(np.abs(5.9 * x)).astype(int)

    def body(i, A):
        A[j] += A[(i + j) % 6]
        return A

    return fori_loop(n, body, v.copy())


def nested_loops(n, v, x):
    def body(i, A):
        def inner(j, A):
            A[j] += A[i] * x
            return A

        return fori_loop(i, inner, A)

    return fori_loop(n, body, v.copy())


def bubble_sort(n, v, x):
    def compare(j, A):
        a, b = A[j], A[j + 1]
        A[j] = np.minimum(a, b)
        A[j + 1] = np.maximum(a, b)
        return A

    return fori_loop(n, lambda i, A: fori_loop(5, compare, A), v.copy())


def inside_of_a_function(n, v, x):
    def reverse(A):
        def body(i, B):
            B[5 - i] = A[i] * x
            return B

        return fori_loop(6, body, np.zeros(6))

    reversed_once = once(reverse)
    return fori_loop(n, lambda i, A: reversed_once(A), v)


PROGRAMS = [
    write_in_turn, write_into_zeros, prefix_sums, constant_tables, global_tables, matrix_rows, swapped_arrays,
    rotated_arrays, kept_and_changed, negative_indices, integer_array, boolean_array, index_that_differs_between_lanes,
    nested_loops, bubble_sort, inside_of_a_function,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("lanes", [1, 6, 13])
def test_run_time_counts(program, lanes, rng):
    n, v, x = np.arange(lanes) % 7.0, rng.standard_normal((lanes, 6)), rng.uniform(-1, 1, lanes)
    wrap = lambda n, v, x: program(n.astype(int), v, x)  # noqa: E731
    agrees(wrap, "(),(6),()->(6)", n[::-1].copy(), v, x)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 4])
def test_constant_counts(program, n, rng):
    agrees(lambda v, x: program(n, v, x), "(6),()->(6)", rng.standard_normal((9, 6)), rng.uniform(-1, 1, 9))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(-40, 40), st.integers(-40, 40)), min_size=1, max_size=12))
def test_indices_outside_stay_inside(pairs):
    """Reads and writes outside of the array go to its ends; what lies around it is never touched."""
    read, write = np.array(pairs, dtype=float).T
    result = OUTSIDE(read, write, np.arange(4.0))
    clamp = lambda i: np.clip(np.where(i < 0, i + 4, i), 0, 3).astype(int)  # noqa: E731
    for r, w, got in zip(read, write, result, strict=True):
        want = np.arange(4.0)
        for i in range(3):
            want[clamp(w + i)] = want[clamp(r - i)] + 10
        np.testing.assert_array_equal(got, want)


def _outside(read, write, v):
    def body(i, A):
        A[write.astype(int) + i] = A[read.astype(int) - i] + 10
        return A

    return fori_loop(3, body, v)


OUTSIDE = kernel("(),(),(4)->(4)")(_outside)


def test_long_chains_of_writes():
    def f(x):
        def body(i, A):
            A[i] = x
            for j in range(1500):
                A[j] = A[j] + 1.0
            return A

        return fori_loop(2, body, np.zeros(1500)).sum()

    assert kernel("()->()")(f).to("numpy")(1.0) == 3000 + 1  # A[0] starts again at 1, so does A[1] after one round


def test_boolean_tables(rng):
    """Read at uniform and at varying indices, and carried."""
    pattern = np.array([True, False, True, True])

    def f(x):
        j = np.floor(4 * x).astype(int)

        def body(i, flags):
            flags[j] = ~flags[i] ^ pattern[j]
            flags[3 - i] = flags[i] | pattern[i]
            return flags

        return np.where(fori_loop(4, body, np.array([False, True, False, True])), 1.0, x)

    agrees(f, "()->(4)", rng.random(11))


def test_indices_chosen_many_times_over_are_bounded_in_no_time():
    """Each choice names the index before it twice: looked through one by one, 2^60 of them."""

    def last(x):
        i = np.zeros((), int)
        for k in range(60):
            i = np.where(x > k, np.minimum(i + 1, 4), i)
        return np.asarray(np.arange(5.0))[i]

    np.testing.assert_array_equal(kernel("()->()")(last)(np.array([-1.0, 2.5, 99.0])), [0, 3, 4])
