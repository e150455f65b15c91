"""Rosenbrock methods: their orders, their damping of what is stiff, and the two ways to solve their equations."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.integrate import rosenbrock
from poinsot.integrate.embedded import March, march
from poinsot.integrate.rosenbrock import RODAS4, ROS2, derivatives, factorized

SCHEMES = {"RODAS4": RODAS4, "ROS2": ROS2}


def driven(t, y):
    """Nonlinear, with an explicit time, and a third number that no rate depends on."""
    return np.stack([y[1] * np.cos(t) + t, -y[0] * y[1] + np.sin(3 * t), y[0] * y[0]])


def marched(scheme, f, n, quadratures=0):
    """The kernel that goes from (0, y) to (end, y) in a number of equal steps."""

    def steps(y, end, count):
        h = end / count
        return pt.fori_loop(count.astype(int), lambda k, y: scheme.step(f, k * h, y, h, quadratures)[0], y)

    return pt.kernel(f"({n}),(),()->({n})")(steps)


@pytest.mark.parametrize(("name", "counts"), [("RODAS4", (40, 80, 160)), ("ROS2", (80, 160, 320))])
def test_the_order_of_equations_with_time_in_them(name, counts):
    scheme, start = SCHEMES[name], np.array([0.3, 1.0, 0.0])
    exact = solve_ivp(lambda t, y: driven(t, y), (0, 2), start, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    kernel = marched(scheme, driven, 3)
    errors = [np.abs(kernel(start, 2.0, float(n)) - exact).max() for n in counts]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders > scheme.order - 0.25), (errors, orders)
    assert errors[-1] < {"RODAS4": 5e-10, "ROS2": 1e-5}[name]


@pytest.mark.parametrize("name", SCHEMES)
def test_numbers_that_no_rate_depends_on_need_no_equations(name):
    start = np.array([0.3, 1.0, 0.0])
    whole, less = (marched(SCHEMES[name], driven, 3, k)(start, 2.0, 50.0) for k in (0, 1))
    np.testing.assert_allclose(less, whole, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", SCHEMES)
def test_what_is_stiff_is_gone_after_one_step(name):
    """L-stability: y' = -rate (y - cos t) falls onto cos t, whatever the rate."""
    kernel = marched(SCHEMES[name], lambda t, y: -1e12 * (y - np.cos(t)), 1)
    assert abs(kernel(np.array([1e3]), 0.1, 1.0)[0] - np.cos(0.1)) < 1e-2
    assert abs(kernel(np.array([1e3]), 0.1, 20.0)[0] - np.cos(0.1)) < 1e-5


def test_robertson():
    """Chemical rates from 4e-2 to 3e7, against SciPy's Radau."""

    def f(t, y):
        a, b = 0.04 * y[0] - 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
        return np.stack([-a, a - b, b])

    def attempt(t, y, h):
        new, (error,) = RODAS4.step(f, t, y, h)
        return new, np.sqrt(np.mean((error / (1e-9 * np.abs(new) + 1e-13)) ** 2))

    def to(y, end):
        zero, false = np.zeros(()), np.zeros((), bool)
        start = March(zero, y, zero + 1e-6, zero + 1e-4, zero, false, false)
        return march(attempt, RODAS4.power, start, end).now

    exact = solve_ivp(f, (0, 40), [1.0, 0, 0], "Radau", rtol=1e-11, atol=1e-14).y[:, -1]
    np.testing.assert_allclose(pt.kernel("(3),()->(3)")(to)(np.array([1.0, 0, 0]), 40.0), exact, rtol=1e-7)


@pytest.mark.parametrize("n", [3, 9])
def test_the_equations_by_loops_and_written_out(n, monkeypatch):
    """The same Jacobian, and the same solution as NumPy's."""
    rng = np.random.default_rng(n)
    A, b = rng.normal(size=(n, n)) / n, rng.normal(size=n)

    def found(A, b, x, t):
        J, f_t = derivatives(lambda t, x: np.sin(t * (A @ x)), t, x, n)
        return factorized(A)(b), J, f_t

    results = []
    for limit in (n, 0):
        monkeypatch.setattr(rosenbrock, "WRITTEN_OUT", limit)
        kernel = pt.kernel(f"({n},{n}),({n}),({n}),()->({n}),({n},{n}),({n})")(found)
        results.append(kernel(A, b, np.arange(float(n)), 0.7))
    argument, x = 0.7 * A @ np.arange(float(n)), np.arange(float(n))
    for solution, J, f_t in results:
        np.testing.assert_allclose(solution, np.linalg.solve(np.eye(n) + A, b), rtol=1e-11)
        np.testing.assert_allclose(J, np.cos(argument)[:, None] * 0.7 * A, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(f_t, np.cos(argument) * (A @ x), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", SCHEMES)
def test_the_estimate_is_of_the_size_of_the_error(name):
    """Of the embedded method, one order lower: it shrinks by one power of the step less than the error."""
    scheme, start = SCHEMES[name], np.array([0.3, 1.0, 0.0])
    kernel = pt.kernel("(3),()->(3)")(lambda y, h: scheme.step(driven, 0.0, y, h)[1][0])
    sizes = [np.abs(kernel(start, h)).max() for h in (0.02, 0.01, 0.005)]
    np.testing.assert_allclose(np.log2(np.array(sizes[:-1]) / sizes[1:]), scheme.power, atol=0.35)
