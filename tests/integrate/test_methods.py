"""Every method reaches the order that it claims, and all reach the same motion."""

import numpy as np
import pytest
from bodies import random_body, random_load, random_motion
from scipy.integrate import solve_ivp

from poinsot._types import Array
from poinsot.body import twist
from poinsot.integrate import dop853
from poinsot.integrate.single import METHODS, compiled, simulate
from poinsot.spatial import Pose, quaternion

DURATION = 1.0


@pytest.fixture(scope="module")
def problem():
    """A random body under a random load (in time, place and velocity), and where SciPy says that it ends up."""
    rng = np.random.default_rng(7)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    load = random_load(rng, body)

    def derivative(t: float, y: Array) -> Array:
        d = twist.derivative(t, twist.TwistState(y[:9].reshape(3, 3), y[9:12], y[12:]), body, load)
        return np.concatenate([d.R.ravel(), d.p, d.V])

    y0 = np.concatenate([X_WB.R.ravel(), X_WB.p, V_WB_B])
    end = solve_ivp(derivative, (0, DURATION), y0, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return body, X_WB, V_WB_B, load, end


def error(problem, method: str, steps: int) -> float:
    body, X_WB, V_WB_B, load, end = problem
    run = simulate(body, X_WB, V_WB_B, load, method, DURATION, DURATION / steps, records=1)
    R = quaternion.to_matrix(run.orientation[-1])
    return max(np.abs(run.position[-1] - end[9:12]).max(), np.abs(R - end[:9].reshape(3, 3)).max())


@pytest.mark.parametrize("method", METHODS)
def test_order_under_a_random_load(problem, method):
    """Errors at h and h/2, in the range where neither rounding nor the next order shows."""
    order = METHODS[method].order
    steps = {1: 1600, 2: 200, 4: 60}[order]
    coarse, fine = error(problem, method, steps), error(problem, method, 2 * steps)
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.12)
    assert fine < {1: 0.02, 2: 1e-3, 4: 1e-4}[order]


@pytest.mark.parametrize("method", ["splitting", "splitting4", "rkmk4", "implicit midpoint"])
def test_order_under_a_load_of_time_and_place(method):
    rng = np.random.default_rng(8)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    a, b = rng.standard_normal((2, 3))

    def load(t: float, X: Pose, V: Array) -> Array:
        return np.concatenate([np.cos(3 * t) * a, X.R.T @ (b - X.p)])

    exact = dop853.solve(body, X_WB, V_WB_B, load, (0, DURATION), rtol=1e-13, atol=1e-14)

    def miss(steps: int) -> float:
        run = simulate(body, X_WB, V_WB_B, load, method, DURATION, DURATION / steps, records=1)
        return np.abs(run.angular_velocity[-1] - exact.angular_velocity[-1]).max()

    order = METHODS[method].order
    steps = {2: 200, 4: 60}[order]
    assert np.log2(miss(steps) / miss(2 * steps)) == pytest.approx(order, abs=0.15)


def test_forces_without_velocity_are_evaluated_once_in_a_kick():
    """The four stages of a kick fold into one, since a force of time and place is the same in all of them."""
    body = random_body(np.random.default_rng(0))

    def advance(load):
        return compiled("splitting", body, load)[1].count()["sin"]

    assert advance(lambda t, X, V: np.sin(t + X.p[0]) * np.ones(6)) == 2 + 5  # half a kick twice; five rotations
    assert advance(lambda t, X, V: np.sin(t + V[3]) * np.ones(6)) == 8 + 5


def test_batch_and_single_give_the_same_bits():
    rng = np.random.default_rng(9)
    body, twists = random_body(rng), rng.standard_normal((37, 6))
    batch = simulate(body, V_WB_B=twists, duration=0.5, records=3)
    assert batch.position.shape == (37, 4, 3)
    for k in (0, 8, 36):
        one = simulate(body, V_WB_B=twists[k], duration=0.5, records=3)
        assert np.array_equal(one.orientation, batch.orientation[k])
        assert np.array_equal(one.position, batch.position[k])


def test_records_and_steps():
    body = random_body(np.random.default_rng(0))
    run = simulate(body, V_WB_B=[1, 0, 0, 0, 0, 1], duration=1.0, step=0.03, records=10)
    np.testing.assert_allclose(run.time, np.linspace(0, 1, 11), atol=1e-15)
    np.testing.assert_allclose(run.velocity[0], [0, 0, 1], atol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "leapfrog"}, "method 'leapfrog' is unknown; there are peskin"),
        ({"step": 0.0}, "step must be positive, not 0.0"),
        ({"duration": -1.0}, "duration must be positive"),
        ({"records": 0}, "records must be positive"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulate(random_body(np.random.default_rng(0)), **arguments)
