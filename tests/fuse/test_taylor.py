"""Taylor series of solutions: every operation against series of high precision, and against nested derivatives."""

import math

import mpmath
import numpy as np
import pytest

import poinsot as pt
from poinsot.fuse.derive.partials import PARTIALS
from poinsot.fuse.derive.recurrences import RULES
from poinsot.fuse.derive.taylor import series

ORDER = 8
RATE, LIMIT, START = -0.7, 0.3, 0.8  # x' = RATE (x - LIMIT), x(0) = START
FORMS = pytest.mark.parametrize("unrolled", [True, False], ids=["straight", "loop"])


def coefficients(f, t, y, unrolled, order=ORDER):
    """The series (n, order + 1) of y' = f(t, y)."""
    n = len(y)
    kernel = pt.kernel(f"(),({n})->({n},{order + 1})")(lambda t, y: series(f, t, y, order, unrolled).y)
    return kernel(t, np.asarray(y, dtype=float))


def exact(phi):
    """The same to 50 digits."""
    with mpmath.workdps(50):

        def x(t):
            return mpmath.mpf(LIMIT) + (mpmath.mpf(START) - mpmath.mpf(LIMIT)) * mpmath.exp(mpmath.mpf(RATE) * t)

        return np.array([float(c) for c in mpmath.taylor(lambda t: phi(x(t)), 0, ORDER)])


# For every operation a function of x in NumPy, and the same in mpmath.
CASES = {
    "add": (lambda x: x + np.sin(x), lambda x: x + mpmath.sin(x)),
    "sub": (lambda x: 1.0 - x, lambda x: 1 - x),
    "neg": (lambda x: -x, lambda x: -x),
    "mul": (lambda x: np.sin(x) * np.exp(x), lambda x: mpmath.sin(x) * mpmath.exp(x)),
    "square": (lambda x: (x + 1.0) * (x + 1.0), lambda x: (x + 1) ** 2),
    "div": (lambda x: np.exp(x) / (1.0 + x * x), lambda x: mpmath.exp(x) / (1 + x * x)),
    "reciprocal": (lambda x: 2.5 / x, lambda x: mpmath.mpf(2.5) / x),
    "sqrt": (lambda x: np.sqrt(1.0 + x), lambda x: mpmath.sqrt(1 + x)),
    "cbrt": (lambda x: np.cbrt(1.0 + x), lambda x: mpmath.cbrt(1 + x)),
    "exp": (np.exp, mpmath.exp),
    "exp2": (np.exp2, lambda x: mpmath.mpf(2) ** x),
    "expm1": (np.expm1, mpmath.expm1),
    "log": (np.log, mpmath.log),
    "log2": (np.log2, lambda x: mpmath.log(x) / mpmath.log(2)),
    "log10": (np.log10, lambda x: mpmath.log(x) / mpmath.log(10)),
    "log1p": (np.log1p, lambda x: mpmath.log(1 + x)),
    "sin": (np.sin, mpmath.sin),
    "cos": (np.cos, mpmath.cos),
    "tan": (np.tan, mpmath.tan),
    "arcsin": (np.arcsin, mpmath.asin),
    "arccos": (np.arccos, mpmath.acos),
    "arctan": (np.arctan, mpmath.atan),
    "sinh": (np.sinh, mpmath.sinh),
    "cosh": (np.cosh, mpmath.cosh),
    "tanh": (np.tanh, mpmath.tanh),
    "arcsinh": (np.arcsinh, mpmath.asinh),
    "arccosh": (lambda x: np.arccosh(1.5 + x), lambda x: mpmath.acosh(mpmath.mpf(1.5) + x)),
    "arctanh": (np.arctanh, mpmath.atanh),
    "arctan2": (lambda x: np.arctan2(x, np.cos(x)), lambda x: mpmath.atan2(x, mpmath.cos(x))),
    "hypot": (lambda x: np.hypot(x, 1.0 + x * x), lambda x: mpmath.sqrt(x**2 + (1 + x * x) ** 2)),
    "logaddexp": (lambda x: np.logaddexp(x, 2.0 * x), lambda x: mpmath.log(mpmath.exp(x) + mpmath.exp(2 * x))),
    "power": (lambda x: (1.0 + x) ** -1.5, lambda x: (1 + x) ** mpmath.mpf(-1.5)),
    "whole power": (lambda x: x**7, lambda x: x**7),
    "negative power": (lambda x: (2.0 + x) ** -5, lambda x: (2 + x) ** -5),
    "moving power": (lambda x: (1.0 + x) ** np.sin(x), lambda x: (1 + x) ** mpmath.sin(x)),
    "abs": (lambda x: np.abs(np.sin(x) - 2.0), lambda x: 2 - mpmath.sin(x)),
    "minimum": (lambda x: np.minimum(x * x, x), lambda x: x * x),
    "maximum": (lambda x: np.maximum(x * x, x), lambda x: x),
    "copysign": (lambda x: np.copysign(x, x - 5.0), lambda x: -x),
    "where": (lambda x: np.where(x > 0.5, np.sin(x), 0.0), mpmath.sin),
    "floor": (lambda x: np.floor(3.0 * x) * x, lambda x: 2 * x),
    "fma": (lambda x: np.array([x, 1.0]) @ np.array([np.sin(x), x]), lambda x: x * mpmath.sin(x) + x),
    "get": (lambda x: np.asarray(np.stack([np.sin(x), np.cos(x)]))[np.floor(x).astype(int)], mpmath.sin),
    "table": (lambda x: x * np.asarray(np.array([5.0, 6.0]))[np.floor(2 * x).astype(int)], lambda x: 6 * x),
    "interp": (lambda x: np.interp(x, [0.0, 0.5, 1.0], [1.0, 4.0, 2.0]) ** 2, lambda x: (4 - 4 * (x - 0.5)) ** 2),
}


@pytest.fixture(scope="module")
def all_operations():
    """For both forms, the coefficients (ORDER + 1,) of every function of x(t): z' = phi(x), all in one kernel."""

    def f(t, y):
        return np.stack([RATE * (y[0] - LIMIT), *(ours(y[0]) for ours, _ in CASES.values())])

    start = [START, *np.zeros(len(CASES))]
    rows = {unrolled: coefficients(f, 0.0, start, unrolled, ORDER + 1)[1:, 1:] for unrolled in (True, False)}
    return {unrolled: dict(zip(CASES, row * np.arange(1, ORDER + 2), strict=True)) for unrolled, row in rows.items()}


@FORMS
@pytest.mark.parametrize("name", CASES)
def test_operations(name, unrolled, all_operations):
    expected = exact(CASES[name][1])
    around = np.abs(np.pad(expected, 2))
    scale = np.max([around[k : k + ORDER + 1] for k in range(5)], axis=0)  # single coefficients can cancel
    np.testing.assert_array_less(np.abs(all_operations[unrolled][name] - expected), 2e-13 * scale + 1e-300)


def test_every_operation_is_tried():
    assert set(PARTIALS) - {"to_float"} <= set(CASES)
    assert set(RULES) - {"array", "set"} <= set(CASES)


@FORMS
def test_against_nested_derivatives(unrolled):
    """y'' = df/dt + df/dy f, and so on."""

    def f(t, y):
        x, v, w = y
        return np.stack([v * np.cos(t), np.arctan2(x, v) - np.sqrt(1.0 + w * w), np.exp(-x) * w / (2.0 + np.tanh(v))])

    def along(g):
        return lambda t, y: pt.jvp(g, wrt=(0, 1))(t, y, np.ones(()), f(t, y))[1]

    def derivatives(t, y):
        results, g = [], f
        for _ in range(5):
            results.append(g(t, y))
            g = along(g)
        return tuple(results)

    t, y = 0.3, np.array([0.4, 1.1, -0.6])
    expected = pt.kernel("(),(3)->(3),(3),(3),(3),(3)")(derivatives)(t, y)
    found = coefficients(f, t, y, unrolled, 5)
    np.testing.assert_array_equal(found[:, 0], y)
    for k, derivative in enumerate(expected, start=1):
        np.testing.assert_allclose(found[:, k] * math.factorial(k), derivative, rtol=1e-12, atol=1e-13)


@FORMS
def test_loops_and_calls_are_written_out(unrolled):
    """A loop of known length, a function that is compiled once, and a body that runs where a condition holds."""
    squared = pt.kernel("()->()")(lambda x: x * x)

    def f(t, y):
        total = pt.fori_loop(3, lambda i, s: s * np.cos(y[0]) + i, y[1])
        return np.stack([squared(y[1]), total + pt.when(y[0] > 0, lambda x: 2.0 * x, y[0])])

    def plain(t, y):
        c = np.cos(y[0])
        return np.stack([y[1] * y[1], ((y[1] * c + 0.0) * c + 1.0) * c + 2.0 + 2.0 * y[0]])

    y = np.array([0.4, 0.7])
    np.testing.assert_allclose(
        coefficients(f, 0.0, y, unrolled), coefficients(plain, 0.0, y, unrolled), rtol=1e-13, atol=1e-15
    )


@FORMS
def test_both_forms_on_both_back_ends(unrolled):
    """Interpreted and compiled, alone and in a batch: the same but for rounding, and in a batch the same bits."""

    def f(t, y):
        return np.stack([y[1], -np.sin(y[0]) * np.exp(-0.1 * t) - 0.1 * y[1] * np.sqrt(1 + y[1] * y[1])])

    kernel = pt.kernel("(),(2)->(2,9)")(lambda t, y: series(f, t, y, 8, unrolled).y)
    y = np.random.default_rng(0).normal(size=(11, 2))
    many = kernel(0.3, y)
    np.testing.assert_allclose(many, kernel.to("numpy")(0.3, y), rtol=1e-12, atol=1e-15)
    for k in range(11):
        np.testing.assert_array_equal(kernel(0.3, y[k]), many[k])


def test_loops_of_unknown_length_are_refused():
    def f(t, y):
        return pt.while_loop(lambda x: x[0] > 1.0, lambda x: 0.5 * x, y, most=50)

    with pytest.raises(pt.TraceError, match="number of times that is not known"):
        coefficients(f, 0.0, [3.0], True)


def test_switches_are_told():
    """Which comparisons a series depends on, and whether they hold for other values of their arguments."""

    def kernel(y, s):
        there = series(lambda t, y: np.where(y < 0.5, 1.0, 2.0), 0.0, y, 4)
        assert there.has_switches
        return there.unswitched(there.arguments[:, 0] + s * there.arguments[:, 1])

    stays = pt.kernel("(1),()->()")(lambda y, s: np.where(kernel(y, s), 1.0, 0.0))
    assert stays([0.2], 0.29) == 1
    assert stays([0.2], 0.31) == 0
