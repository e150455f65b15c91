"""Floating-point warnings: none from branches that were not taken, and NumPy's usual one for a NaN that was made."""

import warnings

import numpy as np
import pytest

from poinsot.fuse import fori_loop, gradient, kernel, set_threads
from poinsot.fuse.llvm.target import host

WIDTH = host().vector_bytes // 8

# Functions that are fine everywhere, though the branch not taken would divide by zero, overflow or take a bad root.
QUIET = {
    "division": lambda x: np.where(x == 0, 1.0, np.sin(x) / x),
    "root": lambda x: np.where(x >= 0, np.sqrt(x), -x),
    "logarithm": lambda x: np.where(x > 0, np.log(x), 0.0),
    "power": lambda x: np.where(x > 0, x**0.3, 0.0),
    "arcs": lambda x: np.where(np.abs(x) <= 1, np.arcsin(x) + np.arccos(x), 2.0),
    "overflow": lambda x: np.where(x < 80, np.exp(x), 1.0) + np.exp(1e3 * x) * 0.0,
    "difference of infinities": lambda x: (
        np.where(x < 1, x, (x * 1e308 * x * 1e308) - (x * x * x * 1e308 * 1e308)) * 0.0
    ),
    "integers": lambda x: np.where(x > 0, (1e30 * x).astype(int) // (x * 0).astype(int), 2),
    "a loop": lambda x: fori_loop(3, lambda i, c: np.where(c > 0, np.sqrt(c), -c), x),
    "comparison with a NaN": lambda x: np.where(x < np.nan, x, x + 1),
    "a NaN not chosen": lambda x: np.where(x > -1e300, x, np.nan),
    "infinity": lambda x: np.where(x > 0, np.inf, x),
}
POINTS = np.array([0.0, -1.0, 2.0, 1e-300, -5.0, 0.5, 1e3, -0.0, 3.0])


@pytest.mark.parametrize("name", QUIET)
@pytest.mark.parametrize("count", [1, 3, 9, 4 * WIDTH + 1])
def test_branches_not_taken_are_silent(name, count):
    x = np.resize(POINTS, count)
    small = np.where(np.abs(x) < 1e-30, 0, x).astype(np.float32)
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        result = kernel("()->()")(QUIET[name])(x)
        single = kernel("()->()")(QUIET[name])(small)
    assert not np.isnan(result).any()
    assert not np.isnan(single).any()


# Functions that make a NaN out of numbers.
LOUD = {
    "root": lambda x: np.sqrt(x),
    "logarithm": lambda x: np.log(x),
    "division": lambda x: (x + 1) / (np.abs(x) - 1),
    "arcs": lambda x: np.arcsin(x * 3),
    "power": lambda x: x**0.3,
    "in a loop": lambda x: fori_loop(3, lambda i, c: np.sqrt(c), x),
}


@pytest.mark.parametrize("name", LOUD)
@pytest.mark.parametrize("count", [1, 7, 4 * WIDTH + 3])
def test_a_nan_that_is_made_is_reported(name, count):
    k = kernel("()->()")(LOUD[name])
    x = np.full(count, 0.25)
    x[-1] = -1.0
    with pytest.warns(RuntimeWarning, match="invalid value encountered"):
        result = k(x)
    assert np.isnan(result[-1])
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="invalid value"):
        k(x)
    with np.errstate(invalid="ignore"):
        k(x)
    x[-1] = np.nan  # one that was passed in is not reported
    with np.errstate(all="raise"):
        assert np.isnan(k(x)[-1])


def test_a_nan_elsewhere_hides_nothing():
    k = kernel("(2)->()")(lambda v: np.sqrt(v[0]) + v[1])
    with pytest.warns(RuntimeWarning, match="invalid"):
        k(np.array([[np.nan, 1.0], [-1.0, 1.0]]))
    with np.errstate(all="raise"):
        k(np.array([[-1.0, np.nan], [1.0, 1.0]]))


def test_flags_of_earlier_work_do_not_matter():
    """Neither side's flags leak into the other's report."""
    k = kernel("()->()")(lambda x: np.where(x > 0, np.log(x), 0.0))
    x = np.array([-1.0, 0.0, 1.0])
    with np.errstate(all="ignore"):
        np.sqrt(x), 1 / x
    with np.errstate(all="raise"):
        k(x)
        np.add(x, 1.0)


@pytest.mark.parametrize("threads", [1, 2])
def test_reports_reach_the_caller_from_threads(threads):
    set_threads(threads)
    k = kernel("()->()")(lambda x: np.sqrt(x))
    x = np.ones(1_000_000)
    x[-1] = -1
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="invalid"):
        k(x)
    with np.errstate(invalid="ignore"):
        k(x)


def test_gradients_are_silent_where_the_function_is():
    k = gradient(kernel("()->()")(lambda x: np.where(x > 0, np.sqrt(x) + np.log(x) + 1 / x, 0.0)))
    with np.errstate(all="raise"):
        result = k(np.array([0.0, -1.0, 4.0]))
    np.testing.assert_allclose(result, [0, 0, 0.25 + 0.25 - 1 / 16])


def test_constants_that_are_no_numbers():
    """A NaN among the constants is part of the program: tracing says nothing about it."""
    with np.errstate(all="raise"):
        for _ in range(20):  # Python's interpreter specialises code after a while
            result = kernel("(3)->(3)")(lambda v: np.where(v > 0, v, np.array([np.nan, np.inf, 1.0]) * 1.0))(np.ones(3))
    np.testing.assert_array_equal(result, 1)
