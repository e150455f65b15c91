"""A kernel as a recurrence: one instance after the other, with the bits of plain calls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poinsot.fuse import fori_loop, kernel
from poinsot.fuse.scan import scan


@kernel("(3),(2),(),()->(3)")
def wander(y, p, t, h):
    turned = np.stack([np.sin(y[1]) * p[0] + t, np.cos(y[2]) * p[1], np.tanh(y[0]) - h])
    return y + h * turned


@kernel("(2),(),()->(2)")
def spiral(y, h, n):
    return fori_loop(n, lambda i, y: y + h * np.stack([y[1] - 0.1 * y[0], -y[0]]), y)


def one_by_one(function, y, others, count):
    rows = []
    for k in range(count):
        y = function(y, *(a[k] if many else a for a, many in others))
        rows.append(y)
    return np.stack(rows)


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_same_bits_as_calls_in_a_row(count, seed):
    rng = np.random.default_rng(seed)
    y, p, t, h = rng.normal(size=3), rng.normal(size=2), rng.normal(size=count), 0.1
    expected = one_by_one(wander, y, [(p, False), (t, True), (h, False)], count)
    np.testing.assert_array_equal(scan(wander, y, p, t, h, count=count), expected)


def test_further_outputs_have_rows_too():
    @kernel("(2),()->(2),(),(3)")
    def stray(y, h):
        return y + h * y[::-1], y[0] * y[1], np.stack([h, *y])

    y, h = np.array([1.0, -0.5]), np.array([0.1, 0.2, 0.3])
    rows = scan(stray, y, h, count=3)
    for k in range(3):
        ends = stray(y if k == 0 else rows[0][k - 1], h[k])
        for made, end in zip(rows, ends, strict=True):
            np.testing.assert_array_equal(made[k], end)


def test_values_for_all_or_for_each_row():
    y, p = np.array([1.0, 2.0, 3.0]), np.array([[0.1 * k, 0.2] for k in range(5)])
    rows = scan(wander, y, p, 0.5, np.full(5, 0.1), count=5)
    np.testing.assert_array_equal(rows, one_by_one(wander, y, [(p, True), (0.5, False), (0.1, False)], 5))


def test_loops_inside_of_it():
    y = np.array([1.0, 0.0])
    rows = scan(spiral, y, 1e-3, 10, count=100)
    np.testing.assert_array_equal(rows[-1], spiral(y, 1e-3, 1000))
    np.testing.assert_array_equal(rows[0], spiral(y, 1e-3, 10))


def test_first_row_is_not_written_to():
    y = np.array([1.0, 0.0])
    scan(spiral, y, 1e-3, 10, count=3)
    np.testing.assert_array_equal(y, [1.0, 0.0])


def test_other_memory_layouts():
    y, p = np.arange(6.0)[::2], np.arange(10.0).reshape(5, 2).T[:, ::-1][:, 0]
    expected = one_by_one(wander, y.copy(), [(p.copy(), False), (0.5, False), (0.1, False)], 4)
    np.testing.assert_array_equal(scan(wander, y, p, 0.5, 0.1, count=4), expected)


def test_nan_goes_on_without_a_warning():
    rows = scan(spiral, np.array([np.nan, 0.0]), 1e-3, 1, count=3)
    assert np.isnan(rows).all()


def test_output_must_be_like_the_first_input():
    half = kernel("(2)->()")(lambda y: y[0])
    with pytest.raises(ValueError, match="one output, like its first input"):
        scan(half, np.zeros(2), count=3)


def test_many_numbers_each_from_others():
    """More than stay in registers: none is overwritten before all that need it have read it."""
    mixed = kernel("(40),()->(40)")(lambda y, h: y + h * (np.roll(y, 7) * y[::-1] - y))
    y = np.random.default_rng(0).uniform(-1, 1, 40)
    np.testing.assert_array_equal(scan(mixed, y, 0.1, count=9), one_by_one(mixed, y, [(0.1, False)], 9))
