"""Runge-Kutta methods that estimate their error: orders, estimates, and steps chosen by them."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.integrate import schemes, taylor_series
from poinsot.integrate.dense_output import Within
from poinsot.integrate.embedded import DOP853, DOPRI5, Embedded, March, first_step, following_step, march, solution
from poinsot.integrate.rosenbrock import RODAS4

SCHEMES = {"order 5": DOPRI5, "order 8": DOP853}


def kepler(t, y):
    r = y[:2]
    return np.concatenate([y[2:], -r / (r @ r) ** 1.5])


def ellipse(e):
    """At the pericentre of an ellipse of semi-major axis 1, whose period is 2 pi."""
    return np.array([1 - e, 0.0, 0.0, np.sqrt((1 + e) / (1 - e))])


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_weights(scheme):
    """Consistent: the weights sum to 1, and those of an error estimate to 0."""
    assert abs(sum(scheme.tableau.b) - 1) < 4e-15
    for weights in scheme.errors:
        assert abs(sum(weights)) < 2e-15
        assert len(weights) == len(scheme.tableau.b)


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_order_and_estimate(scheme):
    """A step halved has its error divided by 2^(order + 1), and the estimate falls with its own power."""
    y0 = ellipse(0.3)
    errors, estimates = [], []
    for h in (0.2, 0.1):
        fine = y0
        for _ in range(64):
            fine, _ = DOP853.step(kepler, 0.0, fine, h / 64)
        new, es = scheme.step(kepler, 0.0, y0, h)
        errors.append(np.abs(new - fine).max())
        estimates.append(float(scheme.norm(es, h)))
        assert errors[-1] < 10 * estimates[-1]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(scheme.tableau.order + 1, abs=1.0)
    assert np.log2(estimates[0] / estimates[1]) == pytest.approx(scheme.power, abs=1.0)


HEUN = Embedded(schemes.Tableau(2, ((), (1.0,)), (0.5, 0.5)), ((-0.5, 0.5),), 2)  # without weights of its own


@pytest.mark.parametrize(("scheme", "order"), [(DOPRI5, 4), (DOP853, 7), (RODAS4, 3), (HEUN, 3)])
def test_dense_output(scheme, order):
    """Within a step its error is that of its order; at both ends it is the solution that was stepped."""

    def within(y, h):
        tried = scheme.attempt(kepler, 0.0, y, h)
        step = Within(np.zeros(()), h, tuple(tried.terms()))
        return tried.new, np.stack([step.at(x * h) for x in (0.0, 0.2, 0.5, 0.8, 1.0)])

    kernel, y0, errors = pt.kernel("(4),()->(4),(5,4)")(within), ellipse(0.3), []
    for h in (0.1, 0.05):
        new, found = kernel(y0, h)
        np.testing.assert_allclose(found[0], y0, rtol=0, atol=1e-15)
        np.testing.assert_allclose(found[-1], new, rtol=0, atol=1e-15)
        exact = solution(kepler, DOP853, 1e-15)(np.array([0.0, 0.2, 0.5, 0.8]) * h, y0)
        errors.append(np.abs(found[1:-1] - exact[1:]).max())
    least = min(order, scheme.tableau.order) if scheme is HEUN else order
    assert np.log2(errors[0] / errors[1]) == pytest.approx(least + 1, abs=0.3)


def test_the_coefficients_of_dense_output_are_those_of_scipy():
    oracle = pytest.importorskip("scipy.integrate._ivp.dop853_coefficients")
    np.testing.assert_allclose([[*row, 0, 0][:15] for row in DOP853.further[:1]], oracle.A[13:14, :15], rtol=1e-15)
    for k, row in enumerate(DOP853.further):
        np.testing.assert_allclose(row, oracle.A[13 + k, : len(row)], rtol=1e-15, atol=0)
        assert not np.any(oracle.A[13 + k, len(row) :])
    np.testing.assert_allclose(DOP853.dense, oracle.D, rtol=1e-15, atol=0)


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_times_between_change_no_bit(scheme):
    kernel, y, end = solution(kepler, scheme, 1e-9), ellipse(0.5), 7.0
    times = np.linspace(0, end, 197)
    few, many = kernel([0.0, end], y), kernel(times, y)
    np.testing.assert_array_equal(many[-1], few[-1])
    np.testing.assert_allclose(many[::7], kernel(times[::7], y), rtol=0, atol=1e-15)
    exact = solution(kepler, DOP853, 1e-14)(times, y)
    assert np.abs(many - exact).max() < 3 * np.abs(few[-1] - exact[-1]).max() + 1e-8


def orbit(scheme, turns):
    """A kernel of (y, tolerance, longest step) -> y after some turns of an orbit, steps made and time."""

    def run(y, tolerance, longest):
        tolerated = lambda a: tolerance * (1e-3 + a)  # noqa: E731
        f = pt.once(kepler)

        def attempt(t, now, h):
            new, errors = scheme.step(f, t, now[0], h)
            scale = tolerated(np.maximum(np.abs(now[0]), np.abs(new)))
            return (new, now[1] + 1), scheme.norm([e / scale for e in errors], h)

        first = first_step(lambda h: f(0.0, y + h * f(0.0, y)), y, tolerated(np.abs(y)), scheme.power)
        zero, false = np.zeros(()), np.zeros((), bool)
        end = march(
            attempt,
            scheme.power,
            March(zero, (y, zero), first, zero + 1, zero, false, false),
            turns * 2 * np.pi,
            longest,
        )
        return (*end.now, end.t)

    return pt.kernel("(4),(),()->(4),(),()")(run)


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_tolerance_and_error(scheme):
    """The error after ten turns of a narrow ellipse goes with the tolerance; every instance stops at the end."""
    eccentricities, turns = np.array([0.0, 0.3, 0.7]), 10
    y = np.stack([ellipse(e) for e in eccentricities])
    run, before = orbit(scheme, turns), np.inf
    for tolerance in (1e-6, 1e-9, 1e-12):
        end, steps, t = run(y, tolerance, np.inf)
        error = np.abs(end - y).max(axis=-1)
        assert np.all(t == turns * 2 * np.pi)
        assert np.all(error < 3e5 * tolerance)
        assert np.all(error < before)
        assert np.all(np.diff(steps) > 0)  # narrower ellipses need more steps
        before = error
    _, longer, _ = run(y, 1e-6, np.inf)
    _, short, _ = run(y, 1e-6, 0.01)
    assert np.all(short >= turns * 2 * np.pi / 0.01)
    assert np.all(longer < short)


def test_bits_do_not_depend_on_the_batch():
    y = np.stack([ellipse(e) for e in np.linspace(0, 0.9, 21)])
    run = orbit(DOP853, 2)
    together = run(y, 1e-9, np.inf)
    for k in (0, 7, 20):
        for a, b in zip(run(y[k], 1e-9, np.inf), together, strict=True):
            np.testing.assert_array_equal(a, b[k])


def test_the_control_of_steps():
    """Small errors lengthen the step, large ones shorten it, within bounds; one that is not a number does as well."""
    for error, low, high in (
        (1e-6, 1.5, 6.0),
        (1.0, 0.7, 1.0),
        (1e3, 0.2, 0.9),
        (np.nan, 0.2, 0.2),
        (np.inf, 0.2, 0.2),
    ):
        h, remembered = following_step(8, 1.0, np.array(error), np.array(1.0))
        assert low <= h <= high
        assert (remembered == 1.0) == (not error < 1.0)


@pytest.mark.parametrize("power", [5, 8])
@pytest.mark.parametrize("size", [1.0, 1e-9])
@pytest.mark.parametrize("speed", [3.0, 1e-9, 0.0])
def test_the_first_step_is_that_of_the_book(power, size, speed):
    """Hairer, Norsett and Wanner I, II.4: 0.01 |y|/|y'|, and then by the change of the rate along it."""
    y, tolerated = size * np.array([3.0, -4.0]), np.array([1e-3, 2e-3])
    slope, bend = speed * np.array([0.5, 2.0]), speed * np.array([-7.0, 1.0])
    h = first_step(lambda s: slope + s * bend, y, tolerated, power)
    d0, d1, d2 = (np.sqrt(np.mean((x / tolerated) ** 2)) for x in (y, slope, bend))
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h1 = max(1e-6, 1e-3 * h0) if max(d1, d2) <= 1e-15 else (0.01 / max(d1, d2)) ** (1 / power)
    assert h == pytest.approx(min(100 * h0, h1), rel=1e-8)


def test_the_first_step_where_the_rate_is_not_finite():
    rates = {0.0: np.ones(2)}
    h = first_step(lambda s: rates.get(float(s), np.full(2, np.inf)), np.ones(2), np.ones(2), 5)
    assert 0 < h <= 0.01


@pytest.mark.parametrize("before", [1.0, 0.03])
def test_the_following_step_is_that_of_gustafsson(before):
    """0.9 e^(-0.7/p) e_before^(0.4/p) after a step that will do, 0.9 e^(-1/p), at most 1, after one that will not."""
    for error in (1e-30, 1e-5, 0.4, 1.0, 1.1, 30.0, 1e13):
        e = max(error, 1e-12)
        factor = 0.9 * e ** (-0.7 / 5) * before ** (0.4 / 5) if e <= 1 else min(0.9 * e ** (-1 / 5), 1.0)
        h, remembered = following_step(5, 0.3, np.array(error), np.array(before))
        assert h == pytest.approx(0.3 * min(max(factor, 0.2), 6.0), rel=1e-13)
        assert remembered == pytest.approx(max(e, 1e-4) if e <= 1 else before)


def test_the_coefficients_of_order_8_are_those_of_scipy():
    """Stages, weights and both estimates of the error, to the last digits."""
    oracle = pytest.importorskip("scipy.integrate._ivp.dop853_coefficients")
    for k, row in enumerate(DOP853.tableau.a):
        np.testing.assert_allclose(row, oracle.A[k, : len(row)], rtol=1e-15, atol=0)
    np.testing.assert_allclose(DOP853.tableau.b[:12], oracle.B, rtol=1e-15, atol=0)
    for own, other in zip(DOP853.errors, (oracle.E5, oracle.E3), strict=True):
        np.testing.assert_allclose(np.abs(own[:12]), np.abs(other[:12]), rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_solutions_of_equations(scheme):
    """Once around, at times between, with parameters, with the bits of one in many, and none through a collision."""
    kernel = solution(lambda t, y, p: np.concatenate([y[2:], p[0] * kepler(t, y)[2:]]), scheme, 1e-10, parameters=True)
    starts = np.stack([ellipse(e) for e in (0.0, 0.3, 0.8)])
    times = np.linspace(0, 2 * np.pi, 9)
    many = kernel(times, starts, [1.0])
    np.testing.assert_array_equal(many[:, 0], starts)
    np.testing.assert_allclose(many[:, -1], starts, atol=1e-6)
    np.testing.assert_allclose(many[0, :, 0], np.cos(times), atol=1e-8)
    np.testing.assert_array_equal(kernel(times, starts[1], [1.0]), many[1])
    ends = kernel(times[[0, -1]], starts, [1.0])
    np.testing.assert_allclose(ends[:, -1], starts, atol=1e-6)
    with np.errstate(all="ignore"):
        falls, back = kernel(times[[0, -1]], [1.0, 0, 0, 0], [1.0]), kernel([0.0, 1.0, 0.5], starts[1], [1.0])
    assert np.all(np.isnan(falls[-1]))
    assert np.isnan(back).all(1).tolist() == [False, False, True]
    assert solution(kepler, scheme)(times, starts).shape == (3, 9, 4)
    for bad in (0.0, 1.0, np.nan):
        with pytest.raises(ValueError, match="tolerance must be"):
            solution(kepler, scheme, bad)


SOLVERS = {
    "order 5": lambda f, **options: solution(f, DOPRI5, **options),
    "order 8": lambda f, **options: solution(f, DOP853, **options),
    "rodas": lambda f, **options: solution(f, RODAS4, **options),
    "taylor": taylor_series.solution,
}


def swing(t, y):
    return np.stack([y[1], -y[0]])


def test_slopes_of_a_solution():
    """Of a pendulum's swing by its start, against differences; steps follow from the start, so that they tell too."""
    solve = solution(lambda t, y: np.stack([y[1], -np.sin(y[0])]), tolerance=1e-12)
    end = pt.kernel("(2)->(2)")(lambda y: solve(np.stack([0.0, 3.0]), y)[-1])
    at, h = np.array([1.2, 0.3]), 1e-5
    slopes = np.stack([(end(at + h * e) - end(at - h * e)) / (2 * h) for e in np.eye(2)], axis=-1)
    np.testing.assert_allclose(pt.jacobian(end)(at), slopes, rtol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_times_of_all_kinds(solver):
    """One time, equal ones, below zero; and those that decrease or are no numbers, of which none is waited for."""
    kernel, y = solver(swing, tolerance=1e-8), np.array([1.0, 0.0])
    for times in ([0.0], [2.0, 2.0], [0.0, 0.0, 1.0, 1.0, 1.0], [-3.0, -1.0, 0.0]):
        np.testing.assert_allclose(kernel(times, y)[:, 0], np.cos(np.subtract(times, times[0])), atol=1e-7)
    with np.errstate(all="ignore"):
        assert np.isnan(kernel([0.0, 1.0, np.nan], y)[-1]).all()
        assert np.isnan(kernel([0.0, np.nan, np.nan], y)[1:]).all()
        assert np.isnan(kernel([5.0, 4.0], y)[1]).all()


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_many_times_are_hardly_more_code(solver):
    """All that grows with the times is to hand out the result, so that a thousand compile about as quickly as few."""
    kernel = solver(swing, tolerance=1e-8)
    few, many = (sum(kernel.count(k=k, n=2).values()) for k in (3, 4001))
    assert many - few <= 2 * (4001 - 3)


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
@pytest.mark.parametrize("rate", [lambda t, y: y[0], lambda t, y: np.concatenate([y, y])])
def test_rates_of_another_shape_are_refused(solver, rate):
    with pytest.raises(ValueError, match=r"f must return dy/dt of the shape of y, \(2,\), not \((4,)?\)"):
        solver(rate, tolerance=1e-6)([0.0, 1.0], [1.0, 0.0])
