"""Strict kernels: infinities, NaN and zeros of either sign as in NumPy, and every operation rounded on its own."""

import pickle

import numpy as np
import pytest

import poinsot as pt

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -3.5, np.inf, -np.inf, np.nan, 5e-324, 1e308])
ONE = {  # functions of one number that kernels simplify
    "x * 0": lambda x: x * 0.0,
    "x * -0": lambda x: x * -0.0,
    "0 / x": lambda x: 0.0 / x,
    "x / x": lambda x: x / x,
    "x - x": lambda x: x - x,
    "x + 0": lambda x: x + 0.0,
    "x - 0": lambda x: x - 0.0,
    "0 - x": lambda x: 0.0 - x,
    "-(x - 1)": lambda x: -(x - 1.0),
    "-x - 1": lambda x: -x - 1.0,
    "x * 1 * -1": lambda x: x * 1.0 * -1.0,
    "x / 4": lambda x: x / 4.0,
    "x / -x": lambda x: x / -x,
    "x ** 0": lambda x: x**0,
    "x ** 2": lambda x: x**2,
    "x ** -1": lambda x: x**-1.0,
    "sign": np.sign,
    "x // x": lambda x: x // x,
    "x // 0": lambda x: x // 0.0,
}
TWO = {  # functions of two numbers
    "x - y, y - x": lambda x, y: np.stack([x - y, y - x]),
    "-(x - y)": lambda x, y: -(x - y),
    "-x - y": lambda x, y: -x - y,
    "(-x) * y": lambda x, y: (-x) * y,
    "2 x y, -2 x y": lambda x, y: np.stack([2.0 * x * y, -2.0 * x * y]),
    "where": lambda x, y: np.where(x < y, x * 0.0, y / y),
    "fmod": np.fmod,
    "remainder": np.remainder,
    "floor_divide": np.floor_divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "max, min of both": lambda x, y: np.stack([np.max(np.stack([x, y]), 0), np.min(np.stack([x, y]), 0)]),
}
SIGNATURES = {name: "(),()->(2)" if "," in name else "(),()->()" for name in TWO}


def same(actual, expected):
    np.testing.assert_array_equal(actual, expected)
    zeros = expected == 0
    np.testing.assert_array_equal(np.signbit(actual[zeros]), np.signbit(expected[zeros]))


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
@pytest.mark.parametrize("name", ONE)
def test_special_values_of_one_number(name, backend):
    f = pt.kernel("()->()", strict=True)(ONE[name]).to(backend)
    with np.errstate(all="ignore"):
        same(f(SPECIAL), ONE[name](SPECIAL))


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
@pytest.mark.parametrize("name", TWO)
def test_special_values_of_two_numbers(name, backend):
    x, y = (a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL))
    f = pt.kernel(SIGNATURES[name], strict=True)(TWO[name]).to(backend)
    with np.errstate(all="ignore"):
        expected = TWO[name](x, y)
        same(f(x, y), expected.T if "," in name else expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", [np.fmod, np.remainder])
def test_remainders_of_any_quotient(function, dtype):
    """Quotients up to 2^2098; without `strict` they are right up to 2^53."""
    rng = np.random.default_rng(3)
    info = np.finfo(dtype)
    powers = rng.uniform(info.minexp - info.nmant, info.maxexp - 1, (2, 500))
    x, y = (rng.choice([-1, 1], (2, 500)) * np.exp2(powers)).astype(dtype)
    same(pt.kernel("(),()->()", strict=True)(function)(x, y), function(x, y))
    loose = pt.kernel("(),()->()")(function)(x, y)
    assert not np.array_equal(loose, function(x, y))
    assert function(dtype(1e30), dtype(7)) == pt.kernel("(),()->()", strict=True)(function)(dtype(1e30), dtype(7))


def test_a_product_is_not_fused_with_a_sum():
    x = np.random.default_rng(0).normal(size=(3, 1000))
    f = pt.kernel("(),(),()->()", strict=True)(lambda a, b, c: a * b + c)
    np.testing.assert_array_equal(f(*x), x[0] * x[1] + x[2])


@pytest.mark.filterwarnings("ignore:invalid value")
def test_loops_calls_derivatives_and_pickles_are_strict_too():
    def power(x):
        return pt.fori_loop(3, lambda i, y: y * 0.0 + x, x)

    f = pt.kernel("()->()", strict=True)(power)
    assert np.isnan(f(np.inf))
    assert np.isnan(pickle.loads(pickle.dumps(f))(np.inf))
    assert np.isnan(pt.kernel("()->()", strict=True)(lambda x: f(x) * 1.0)(np.inf))
    slope = pt.jacobian(pt.kernel("()->()", strict=True)(lambda x: x * x / x))  # (2 x - x x/x)/x
    assert np.isnan(slope(0.0))


def test_kernels_are_not_strict_unless_asked():
    assert pt.kernel("()->()")(lambda x: x * 0.0)(np.inf) == 0.0


@pytest.mark.parametrize("strict", [False, True])
def test_quotients_and_remainders_of_numbers_that_are_none(strict):
    """NaN stays NaN, and so does what has no value; in kernels of either kind."""
    values = [0.0, 1.0, -1.0, 2.5, -3.5, np.inf, -np.inf, np.nan]
    a, b = (np.array(x) for x in zip(*[(x, y) for x in values for y in values], strict=True))
    for f in (np.floor_divide, np.remainder, np.fmod):
        with np.errstate(all="ignore"):
            wanted = f(a, b)
            result = pt.kernel("(),()->()", strict=strict)(f)(a, b)
        np.testing.assert_array_equal(result, wanted, err_msg=f.__name__)
