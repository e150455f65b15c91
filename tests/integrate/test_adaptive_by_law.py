"""Adaptive steps of one body: where they stop, what they are given, and what they refuse."""

import sys

import numpy as np
import pytest
from bodies import random_body

from poinsot.integrate import dop853
from poinsot.integrate.single import simulate
from poinsot.spatial import Inertia, Pose

BODY = Inertia.box(2.0, (0.1, 0.2, 0.3))


def test_steps_start_where_the_ones_before_ended():
    """y' = -y from 1 s to 3 s, and the times that the steps start at."""
    run = dop853.solver(lambda t, y: -y, 1.0, np.ones(1), 3.0, 1e-10, 1e-12)
    starts = []
    for t in dop853.steps(run):
        assert t < run.t
        starts.append((t, run.t))
    assert starts[0][0] == 1.0
    assert starts[-1][1] == 3.0 == run.t
    assert [end for _, end in starts[:-1]] == [start for start, _ in starts[1:]]
    np.testing.assert_allclose(run.y, np.exp(-2.0), rtol=1e-9)


def test_the_first_step_is_as_long_as_told():
    run = dop853.solver(lambda t, y: 0 * y, 0.0, np.ones(1), 1.0, 1e-3, 1e-3, 0.125)
    assert next(dop853.steps(run)) == 0.0
    assert run.t == 0.125


def test_tolerances_are_what_they_are_called():
    """A large relative tolerance does not count beside zero, nor an absolute one beside a large number."""
    steps = {}
    for rtol, atol in ((1e-3, 1e-12), (1e-12, 1e-3), (1e-12, 1e-12)):
        run = dop853.solver(lambda t, y: 1e3 * np.cos(t) + 0 * y, 0.0, np.array([1e3]), 10.0, rtol, atol)
        steps[rtol, atol] = sum(1 for _ in dop853.steps(run))
    assert steps[1e-3, 1e-12] < steps[1e-12, 1e-3] < steps[1e-12, 1e-12]


def test_an_equation_that_ends_stops_with_the_time_and_the_reason():
    """y' = y^2 has no solution beyond t = 1."""
    run = dop853.solver(lambda t, y: y**2, 0.0, np.ones(1), 2.0, 1e-9, 1e-9)
    with pytest.raises(dop853.StepFailed, match=r"DOP853 stopped at t = (0\.99|1\.00).*: Required step size") as caught:
        list(dop853.steps(run))
    assert run.t < 1.01
    assert "step size" in caught.value.reason
    assert not caught.value.reason.startswith("DOP853")


@pytest.mark.parametrize(
    "times", [[0.0], [], 1.0, [0.0, 0.0], [1.0, 0.5], [0.0, 2.0, 2.0], [[0.0, 1.0]], [0.0, np.nan]]
)
def test_times_that_are_not_two_or_more_that_increase(times):
    with pytest.raises(ValueError, match="times must be two or more increasing numbers"):
        dop853.solve(BODY, times=times)


@pytest.mark.parametrize("duration", [0.0, -1.0, np.nan])
def test_a_duration_that_is_not_above_zero(duration):
    with pytest.raises(ValueError, match="times must be two or more increasing numbers"):
        dop853.dense(BODY, duration=duration)


def test_a_body_without_inertia_is_refused():
    rod = Inertia.points([1.0, 1.0], [[0, 0, 1.0], [0, 0, -1.0]])
    for run in (lambda: dop853.solve(rod), lambda: dop853.dense(rod), lambda: simulate(rod)):
        with pytest.raises(ValueError, match="the body"):
            run()


def test_the_interpolant_is_asked_for_any_times():
    """One time or an array of them, in any order; at the ends of the steps it is the motion itself."""
    rng = np.random.default_rng(3)
    body, X_WB, V = random_body(rng), Pose.from_euler((0.1, 0.2, 0.3), p=(1, 2, 3)), rng.standard_normal(6)
    load = lambda t, X, V: np.array([0.1 * t, 0, 0, 0, 0, 1.0])  # noqa: E731
    motion = dop853.dense(body, X_WB, V, load, 2.0)
    times = np.array([2.0, 0.5, 0.0, 1.0])
    found = motion(times)
    assert found.position.shape == (4, 3)
    exact = dop853.solve(body, X_WB, V, load, [0.0, 0.5, 1.0, 2.0])
    for name in ("position", "orientation", "velocity", "angular_velocity"):
        values = getattr(exact, name)
        np.testing.assert_allclose(getattr(found, name), values[[3, 1, 0, 2]], atol=1e-7)
        np.testing.assert_allclose(getattr(motion(0.5), name), values[1], atol=1e-7)
    np.testing.assert_array_equal(found.time, times)
    np.testing.assert_allclose(exact.position[0], X_WB.p, atol=1e-15)
    np.testing.assert_allclose(exact.velocity[0], X_WB.R @ V[3:], atol=1e-14)


def test_without_scipy_it_says_what_is_missing_before_any_work(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.integrate", None)
    with pytest.raises(ImportError, match="Adaptive time stepping needs the package 'scipy'"):
        dop853.BodyProblem(BODY, None, np.zeros(6), None)
