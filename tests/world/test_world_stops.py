"""Why a run ends: its duration, a condition that is located in time, a number that is none, Ctrl-C."""

import numpy as np
import pytest
from world_models import G, close

import poinsot as pt
from poinsot.run.compiled import CompiledSystem

STEPS = ("_advance", "_advance_until")  # the functions that make steps


def falling(height: float = 10.0) -> pt.World:
    world = pt.World()
    world.add_particle("stone", 1.0, (0, 0, height))
    return world


def below(height: float):
    return lambda t, scene: scene["stone"].position[2] < height


def test_duration():
    run = falling().simulate(0.5, 1e-3)
    assert (run.stop.reason, run.stop.time) == ("duration", 0.5)
    assert run.time[0] == 0.0
    assert run.time[-1] == 0.5
    assert "0.5 s" in repr(run)


def test_condition_is_located_in_time():
    """A stone that falls 10 m: t = sqrt(2 h / g), found between the steps to rounding; RK4 is exact for a parabola."""
    run = falling().simulate(5.0, 0.01, method="rk4", until=below(0.0))
    t = np.sqrt(2 * 10.0 / G)
    assert run.stop.reason == "condition"
    assert run.stop.time == pytest.approx(t, abs=1e-12)
    assert run.time[-1] == run.stop.time
    close(run["stone"].position[-1], [0, 0, 0], 1e-11)
    close(run["stone"].velocity[-1], [0, 0, -G * t], 1e-12)
    assert np.all(np.diff(run.time) > 0)
    assert run.ledger.relative_residual.max() < 1e-13  # the ledger ends where the run ends


def test_condition_may_be_a_number_that_becomes_positive():
    run = falling().simulate(5.0, 0.01, until=lambda t, scene: 4.0 - scene["stone"].position[2])
    assert run.stop.time == pytest.approx(np.sqrt(2 * 6.0 / G), abs=1e-12)


def test_condition_of_time():
    run = falling().simulate(5.0, 0.01, until=lambda t, scene: t > 0.12345)
    assert run.stop.time == pytest.approx(0.12345, abs=1e-14)


def test_condition_that_holds_at_the_start():
    run = falling().simulate(5.0, 0.01, until=below(20.0))
    assert (run.stop.reason, run.stop.time, len(run.time)) == ("condition", 0.0, 1)


def test_condition_that_is_never_met():
    run = falling().simulate(0.5, 0.01, until=below(0.0))
    assert run.stop.reason == "duration"
    assert run.time[-1] == 0.5


def test_condition_in_a_batch_stops_each_on_its_own():
    heights = np.array([1.0, 2.0, 50.0, 3.0])
    run = falling().simulate(1.0, 0.01, method="rk4", until=below(0.0), vary={"stone.position[2]": heights}, every=0.1)
    times = np.where(heights < 5, np.sqrt(2 * heights / G), 1.0)
    close(run.stop.time, times, 1e-12)
    close(run["stone"].position[-1, :, 2], np.where(heights < 5, 0.0, heights - G / 2), 1e-11)
    assert (run.stop.reason, str(run.stop)) == ("condition", "3 of 4 met the condition")
    # Each one is, to the bit, what a run of its own gives.
    for k, height in enumerate(heights):
        alone = falling(height).simulate(1.0, 0.01, method="rk4", until=below(0.0), ledger=False)
        assert alone.stop.time == run.stop.time[k]
        np.testing.assert_array_equal(alone.y[-1], run.y[-1][k])


def thrust(t, scene):
    """Grows with the speed, until no number can hold it."""
    rocket = scene["rocket"]
    return scene.input("rate") * rocket.velocity * (1 + rocket.position[0])


def exploding(rate: float = 60.0) -> pt.World:
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("calm", 1.0, (0, 0, 5))
    world.add_particle("rocket", 1.0, velocity=(1.0, 0, 0))
    world.add_input("rate", rate)
    world.add_force("thrust", "rocket", thrust)
    return world


@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_a_number_that_is_none_ends_the_run():
    """The last good state is kept; body, quantity and time of the first bad one are named."""
    run = exploding().simulate(10.0, 1e-3, method="rk4", every=0.01)
    assert run.stop.reason == "broken"
    assert "'rocket'" in run.stop.text
    assert f"t = {run.stop.time:g} s" in run.stop.text
    assert "nan" in run.stop.text or "inf" in run.stop.text
    assert 0 < run.stop.time < 1.0
    assert np.all(np.isfinite(run.y))
    assert run.time[-1] == pytest.approx(run.stop.time - 1e-3)
    with pytest.warns(pt.LedgerWarning):
        again = exploding().simulate(float(run.time[-1]), 1e-3, method="rk4", every=0.01)
    assert again.stop.reason == "duration"
    np.testing.assert_array_equal(again.y[-1], run.y[-1])


@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_a_broken_one_of_a_batch_leaves_the_others_alone():
    world = exploding()
    rates = np.array([0.1, 90.0, 0.2])
    run = world.simulate(1.0, 1e-3, method="rk4", batch=3, inputs={"rate": rates})
    assert run.stop.reason == "broken"
    assert list(run.stop.notes) == [1]
    assert "'rocket'" in run.stop.notes[1]
    assert "1 of 3" in run.stop.text
    for k in (0, 2):
        alone = world.simulate(1.0, 1e-3, method="rk4", inputs={"rate": rates[k]}, every=1.0, ledger=False)
        np.testing.assert_array_equal(alone.y[-1], run.y[-1][k])


def test_a_state_that_is_no_number_cannot_start():
    world = pt.World()
    world.add_particle("stone", 1.0)
    world.add_force("bad", "stone", lambda t, scene: np.array([1.0, np.nan, 0.0]))
    with pytest.raises(
        ValueError, match=r"Force 'bad' puts .*nan.* on 'stone' at the start: every force must be finite"
    ):
        world.simulate(1.0)


def test_interrupted_run_keeps_what_it_has(monkeypatch):
    """Ctrl-C in the third call of the kernel."""
    plain, calls = CompiledSystem.compile, []

    def compile_(self, function, *args, **kwargs):
        kernel = plain(self, function, *args, **kwargs)

        def call(*arguments):
            calls.append(function)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return kernel(*arguments)

        return call if function.__name__ in STEPS else kernel

    monkeypatch.setattr(CompiledSystem, "compile", compile_)
    run = falling().simulate(5.0, 1e-3, method="rk4", every=0.01)
    assert run.stop.reason == "interrupted"
    assert 0 < run.time[-1] < 5.0
    assert run.stop.time == run.time[-1]
    close(run["stone"].position[:, 2], 10.0 - G / 2 * run.time**2, 1e-11)
    assert "interrupted" in str(run.stop)
    assert run.data.attrs["stop"] == "interrupted"
