"""Taylor steps of plain functions: exact solutions, dense output, batches, switches, and where there is no series."""

import numpy as np
import pytest

from poinsot.integrate import taylor_series
from poinsot.integrate.taylor_series import order_of, polynomial, solution, step_length


def swinging(t, y):
    return np.stack([y[1], -y[0]])


@pytest.fixture(scope="module")
def swings():
    return solution(swinging, 1e-15)


def test_orders():
    """-ln(tolerance)/2 + 1, rounded up: Jorba and Zou (2005), (11)."""
    assert [order_of(tolerance) for tolerance in (1e-3, 1e-6, 1e-10, 1e-15)] == [5, 8, 13, 19]


def test_polynomials():
    c = np.array([[1.0, -2.0, 3.0], [0.5, 0.0, 4.0]])
    np.testing.assert_allclose(polynomial(c, 0.1), [1.0 - 0.2 + 0.03, 0.5 + 0.04])


def test_the_length_of_a_step():
    """The radius of convergence of 1/(1 - t) is 1: the missing part of its series is about the tolerance."""
    for tolerance in (1e-6, 1e-12):
        order = order_of(tolerance)
        h = step_length(np.ones((1, order + 1)), [slice(0, 1)], tolerance)
        missing = h ** (order + 1) / (1 - h)
        assert 1e-3 * tolerance < missing < tolerance


def test_a_swing_to_rounding_at_any_time(swings):
    times = np.linspace(0, 20, 41)
    found = swings(times, [[1.0, 0.0], [0.0, 2.0]])
    np.testing.assert_allclose(found[0, :, 0], np.cos(times), atol=2e-14)
    np.testing.assert_allclose(found[1, :, 1], 2 * np.cos(times), atol=2e-14)


def test_times_change_no_bit(swings):
    """What is asked for is read off the polynomials, whose steps do not depend on it; nor do they on the batch."""
    starts = np.random.default_rng(0).normal(size=(11, 2))
    often, rarely = swings(np.linspace(0, 20, 41), starts), swings([0.0, 20.0], starts)
    np.testing.assert_array_equal(often[:, -1], rarely[:, -1])
    for k in (0, 7, 10):
        np.testing.assert_array_equal(swings([0.0, 20.0], starts[k]), rarely[k])


def test_parameters():
    """Kepler's ellipses about several masses, each once around."""

    def kepler(t, y, p):
        x, v = y[:3], y[3:]
        return np.concatenate([v, -p[0] * x / (x @ x) ** 1.5])

    kernel = solution(kepler, 1e-15, (slice(0, 3), slice(3, 6)), parameters=True)
    for mu in (1.0, 4.0):
        y = np.array([0.5, 0, 0, 0, np.sqrt(3 * mu), 0])
        period = 2 * np.pi / np.sqrt(mu)
        np.testing.assert_allclose(kernel([0.0, period], y, [mu])[-1], y, atol=1e-13)


def test_switches():
    """A speed that changes at a place, and a table of straight lines, of which each piece is followed to its end."""
    places = solution(lambda t, y: np.where(y < 1.0, 1.0, 0.5))([0.0, 0.5, 2.0, 3.0], [0.0])
    np.testing.assert_allclose(places[:, 0], [0.0, 0.5, 1.5, 2.0], atol=1e-12)
    by_time = solution(lambda t, y: np.interp(t, [0.0, 1.0, 3.0], [0.0, 2.0, -2.0]) + 0.0 * y)
    np.testing.assert_allclose(by_time([0.0, 1.0, 3.0], [0.0])[:, 0], [0.0, 1.0, 1.0], atol=1e-12)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_where_there_is_no_series():
    """From a point without one, a short way leads on; a whole line of such points is refused; so is what blows up."""
    kernel = solution(lambda t, y: np.stack([9.81 - 0.3 * y[0] * np.sqrt(y[0] * y[0])]), 1e-12)
    limit = np.sqrt(9.81 / 0.3)
    assert kernel([0.0, 1.0], [0.0])[1, 0] == pytest.approx(limit * np.tanh(9.81 / limit), rel=1e-12)
    on_an_axis = solution(lambda t, y: np.stack([1.0 + np.sqrt(y[1] * y[1]), y[1]]), 1e-12)
    assert np.isnan(on_an_axis([0.0, 1.0], [0.0, 0.0])[1, 0])
    assert np.isnan(solution(lambda t, y: y * y)([0.0, 2.0], [1.0])[1, 0])  # 1 / (1 - t)


def test_tolerances_that_cannot_be():
    with pytest.raises(ValueError, match="tolerance must be a number from 1e-16 to 1, not 0"):
        taylor_series.solution(swinging, 0.0)
