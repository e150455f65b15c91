"""Actuators against closed forms: lags, limits, dead band, play, jam."""

import numpy as np
import pytest
from scipy import signal

import poinsot as pt


def moved(duration=2.0, **data):
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("ball", 1.0)
    world.add(pt.Actuator("servo", **data))
    run = world.simulate(duration, 1e-3, every=0.01)
    return np.asarray(run.time), np.asarray(run.data["servo.out"])


def test_first_and_second_order():
    t, out = moved(input=1.0, lag=0.3)
    np.testing.assert_allclose(out, 1 - np.exp(-t / 0.3), atol=1e-12)
    t, out = moved(input=1.0, frequency=8.0, damping=0.3)
    np.testing.assert_allclose(out, signal.step(([64.0], [1, 4.8, 64.0]), T=t)[1], atol=1e-9)


@pytest.mark.parametrize("order", [{"lag": 0.05}, {"frequency": 30.0, "damping": 1.0}])
def test_rate_and_position_limits(order):
    _, out = moved(input=5.0, rate=0.8, high=1.0, **order)
    assert np.max(np.diff(out)) / 0.01 < 0.8 * (1 + 1e-9)
    middle = (out > 0.2) & (out < 0.8)
    np.testing.assert_allclose(np.diff(out[middle]) / 0.01, 0.8, rtol=1e-9)
    assert 0.999 < out[-1] <= 1.0


def test_a_stop_holds_what_would_overshoot():
    t, out = moved(input=1.0, frequency=8.0, damping=0.1, high=1.0)
    assert out.max() <= 1.0
    assert np.all(out[t > 1.0] > 0.8)


def test_dead_band():
    t, out = moved(8.0, input=lambda t: 0.5 * np.sin(t), lag=1e-2, dead_band=0.2)
    c = 0.5 * np.sin(t)
    np.testing.assert_allclose(out, c - np.clip(c, -0.2, 0.2), atol=6e-3)


def test_backlash_is_the_play_operator():
    t, out = moved(12.0, input=lambda t: np.sin(t), lag=5e-3, backlash=0.4)
    x, play = np.sin(t - 5e-3), 0.0  # slow against the lag: a delay of 5 ms
    for k, now in enumerate(x):
        play = np.clip(play, now - 0.2, now + 0.2)
        assert abs(out[k] - play) < 2e-3


@pytest.mark.parametrize("order", [{"lag": 0.1}, {"frequency": 20.0}])
def test_jam(order):
    t, out = moved(input=lambda t: np.sin(3 * t), jam=lambda t: t - 1.0004, **order)
    assert np.ptp(out[t > 1.005]) == 0
    assert np.ptp(out[t < 1]) > 0.5


def test_a_servo_in_a_loop_needs_no_other_state():
    """The output follows from the state alone: a gain around the servo is not a loop without a state."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("ball", 1.0)
    world.add(pt.Actuator("servo", pt.Signal("gain.out"), lag=0.5, start=1.0))
    world.add(pt.Controller("gain", lambda t, u: -3.0 * u, {"u": "servo.out"}))
    run = world.simulate(1.0, 1e-3)
    np.testing.assert_allclose(run.data["servo.out"], np.exp(-8 * run.time), atol=1e-10)


def test_play_can_be_varied():
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("ball", 1.0)
    world.add(pt.Actuator("servo", lambda t: np.sin(t), lag=5e-3))
    run = world.simulate(2.0, 1e-3, vary={"servo.backlash": [0.0, 0.4]})
    np.testing.assert_allclose(run.data["servo.out"][-1], [np.sin(2.0 - 5e-3), 0.8], atol=2e-3)


def test_errors():
    with pytest.raises(ValueError, match="lag of actuator 'servo' must be above zero, not 0"):
        pt.Actuator("servo", lag=0.0)
    with pytest.raises(ValueError, match=r"start of actuator 'servo' must be between low, 1\.0"):
        pt.Actuator("servo", low=1.0)
