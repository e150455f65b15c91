"""Rosenbrock methods: their orders, their damping of what is stiff, and the two ways to solve their equations."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.integrate import embedded, rosenbrock
from poinsot.integrate.embedded import March, march
from poinsot.integrate.rosenbrock import RODAS4, ROS2, derivatives, factorized, moved_by, solver

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
        return factorized(A)(b), derivatives(lambda t, x: np.sin(t * (A @ x)), t, x, n)

    results = []
    for limit in (n, 0):
        monkeypatch.setattr(rosenbrock, "WRITTEN_OUT", limit)
        kernel = pt.kernel(f"({n},{n}),({n}),({n}),()->({n}),({n},{n})")(found)
        results.append(kernel(A, b, np.arange(float(n)), 0.7))
    argument = 0.7 * A @ np.arange(float(n))
    for solution, J in results:
        np.testing.assert_allclose(solution, np.linalg.solve(np.eye(n) + A, b), rtol=1e-11)
        np.testing.assert_allclose(J, np.cos(argument)[:, None] * 0.7 * A, rtol=1e-13, atol=1e-15)


def test_coordinates_are_eliminated():
    """x0' = x3, x1' = x4 in a mixed order, a filter x2, and a quadrature: found as such, and solved as by NumPy; what
    follows something else than a number of its own, or follows a coordinate, is none."""
    rng = np.random.default_rng(5)
    A, n, share = rng.normal(size=(3, 5)), 5, 0.3

    def rate(t, x):
        force = np.sin(A @ x[:5])
        return np.stack([x[4], x[3], force[0], force[1], force[2], x[0] * x[4]])

    def found(x, b):
        assert moved_by(rate, 0.0, x, n) == {0: 4, 1: 3}
        return solver(rate, 0.0, x, n, share)(b)

    x, b = rng.normal(size=(2, 6))
    J = np.zeros((6, 6))
    J[0, 4] = J[1, 3] = 1.0
    J[2:5, :5] = np.cos(A @ x[:5])[:, None] * A
    J[5, 0], J[5, 4] = x[4], x[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rosenbrock, "WRITTEN_OUT", 0)
        np.testing.assert_allclose(pt.kernel("(6),(6)->(6)")(found)(x, b), np.linalg.solve(np.eye(6) - share * J, b))
    chain = lambda t, x: np.stack([x[1], x[2], x[0] * x[1], x[0] + 1.0])  # noqa: E731
    pt.kernel("(4)->(4)")(lambda x: (moved_by(chain, 0.0, x, 4) == {0: 1} or 1 / 0) and x).program()


@pytest.mark.parametrize("name", SCHEMES)
def test_the_estimate_is_of_the_size_of_the_error(name):
    """Of the embedded method, one order lower: it shrinks by one power of the step less than the error."""
    scheme, start = SCHEMES[name], np.array([0.3, 1.0, 0.0])
    kernel = pt.kernel("(3),()->(3)")(lambda y, h: scheme.step(driven, 0.0, y, h)[1][0])
    sizes = [np.abs(kernel(start, h)).max() for h in (0.02, 0.01, 0.005)]
    np.testing.assert_allclose(np.log2(np.array(sizes[:-1]) / sizes[1:]), scheme.power, atol=0.35)


def test_solutions_of_stiff_equations():
    """Van der Pol's with mu = 1000, against the figures of the test set of Hairer and Wanner, from two tolerances."""

    def van_der_pol(t, y, mu):
        return np.stack([y[1], mu[0] * (1 - y[0] ** 2) * y[1] - y[0]])

    exact = np.array([1.706167732170469, -8.928097010248e-4])
    errors = []
    for tolerance in (1e-5, 1e-8):
        kernel = embedded.solution(van_der_pol, RODAS4, tolerance, parameters=True)
        ends = kernel([0.0, 2000.0], np.array([[2.0, 0.0], [2.0, 0.1]]), [1000.0])[:, -1]
        errors.append(np.abs(ends[0] / exact - 1).max())
        np.testing.assert_allclose(ends[1], ends[0], rtol=1e-2)
    assert errors[0] < 1e-3
    assert errors[1] < 1e-6
