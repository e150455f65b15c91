"""A simulation under way: where its calls end changes nothing, and what breaks down is found."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from run_worlds import RATES, STAIRS, machine, rocket, slow, tumbling

import poinsot as pt
from poinsot.run import simulation
from poinsot.run.compiled import CompiledSystem
from poinsot.run.time_grid import time_grid
from poinsot.run.uncompiled import UncompiledWarning

RUNS: dict[str, tuple[Callable[[], pt.World], dict[str, Any]]] = {
    "single": (machine, {"every": 0.007}),
    "free": (tumbling, {"every": 0.007}),
    "stairs": (machine, {"every": 0.02, "inputs": STAIRS}),
    "condition": (machine, {"every": 0.02, "until": lambda t, scene: t > 0.0543}),
    "batch": (machine, {"every": 0.02, "batch": 3, "vary": {"box.mass": pt.Normal(2.0, 0.1)}}),
    "conditions": (machine, {"vary": {"box.velocity[2]": [1.0, 2.0]}, "until": slow}),
    "broken": (rocket, {"every": 0.002, "method": "rk4"}),
    "broken in a batch": (rocket, {"every": 0.002, "method": "rk4", "batch": 3, "inputs": RATES}),
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_where_calls_end_changes_no_bit(name, monkeypatch):
    """One step per call, some, or as many as possible."""
    make, options = RUNS[name]
    runs = []
    for first, seconds in ((1, 0.0), (5, 0.0), (10**6, 1e6)):
        monkeypatch.setattr(simulation, "FIRST", first)
        monkeypatch.setattr(simulation, "CALL", seconds)
        runs.append(make().simulate(0.1, 1e-3, **options))
    for run in runs[1:]:
        np.testing.assert_array_equal(run.time, runs[0].time)
        np.testing.assert_array_equal(run.y, runs[0].y)
        np.testing.assert_array_equal(run.p, runs[0].p)
        assert (run.stop.reason, run.stop.text, dict(run.stop.notes)) == (
            runs[0].stop.reason, runs[0].stop.text, dict(runs[0].stop.notes),
        )  # fmt: skip
        np.testing.assert_array_equal(run.stop.time, runs[0].stop.time)
    assert np.all(np.isfinite(runs[0].y))


@pytest.mark.parametrize(
    ("duration", "every"), [(0.01, 0.001), (0.01, 0.003), (0.01, 0.01), (0.01, 1.0), (0.001, None)]
)
def test_records_follow_on_each_other(duration, every):
    grid = time_grid(duration, 1e-3, every, False)
    steps = [0]
    while steps[-1] < grid.steps:
        steps.append(grid.next_record(steps[-1]))
    np.testing.assert_array_equal(np.array(steps) * grid.step, grid.times)
    between = [grid.next_record(k) for k in range(grid.steps)]
    assert between == [min(k for k in steps if k > done) for done in range(grid.steps)]


@pytest.mark.parametrize(("duration", "step", "every"), [(1e300, 1e-10, None), (1.0, 1e-320, None), (1.0, 0.1, 1e308)])
def test_steps_that_cannot_be_counted(duration, step, every):
    with pytest.raises(ValueError, match="which cannot be counted"), np.errstate(over="ignore"):
        time_grid(duration, step, every, False)


def test_an_input_changes_at_the_nearest_step():
    """A torque that is given for 3.4 steps acts on a flywheel for 3 of them, one for 3.6 steps for 4."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("wheel", pt.Inertia.cylinder(2.0, 1.0, 0.1), joint=pt.revolute((0, 0, 1)))  # 1 kg m^2
    world.add_input("torque", 0.0)
    world.add_motor("motor", "wheel", pt.Input("torque"))
    for end, steps in ((3.4e-3, 3), (3.6e-3, 4), (3e-3, 3)):
        run = world.simulate(0.1, 1e-3, inputs={"torque": ([0.0, end], [1.0, 0.0])}, every=1e-3)
        np.testing.assert_allclose(run.y[-1, 1], 1e-3 * steps, rtol=1e-14)
        np.testing.assert_array_equal(run.p[:, 0], np.arange(101) < steps)  # recorded as it acted


@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_a_force_that_is_not_the_same_twice_ends_the_run():
    """It gives NaN once, and not again when the steps are made once more to find what broke down."""
    calls = itertools.count()

    def fickle(t: Any, scene: Any) -> Any:
        low = float(scene["stone"].position[2]) < 0  # cannot be traced, so it is called anew for each step
        return np.array([0.0, 0.0, np.nan if next(calls) == 100 or low else 0.0])

    world = pt.World()
    world.add_particle("stone", 1.0, (0, 0, 10.0))
    world.add_force("fickle", "stone", fickle)
    with pytest.warns(UncompiledWarning):
        run = world.simulate(1.0, 0.01, method="euler", ledger=False)
    assert run.stop.reason == "broken"
    assert run.stop.text.startswith("a quantity became infinite at t = ")
    assert 0 < run.time[-1] < 1.0
    assert np.all(np.isfinite(run.y))


@pytest.mark.parametrize("method", ["rk4", "adaptive"])
def test_the_end_of_others_changes_no_bit(method, monkeypatch):
    """Instances that have ended take no part any more: each is to the bit what it is alone, however calls are cut."""
    heights = np.array([0.3, 0.05, 2.0, 0.1, 0.7, 0.31, 0.02, 0.5, 1.1, 0.4, 0.06])
    monkeypatch.setattr(simulation, "CALL", 0.0)
    world = tumbling()
    options = {"until": lambda t, scene: scene["box"].position[2] < 0, "outputs": {"fastest": "max(speed)"}}
    options |= {"method": method, "every": 0.05}

    def flown(z):
        return world.simulate(0.5, 1e-3, vary={"box.position[2]": z}, **options)

    together = flown(heights)
    ends = np.sqrt(2 * heights / 9.81)
    np.testing.assert_allclose(together.stop.time, np.minimum(ends, 0.5), rtol=1e-10)
    for k in range(len(heights)):
        alone = flown(heights[k : k + 1])
        np.testing.assert_array_equal(alone.y[-1, 0], together.y[-1, k])
        np.testing.assert_array_equal(alone.stop.time[0], together.stop.time[k])
        np.testing.assert_array_equal(alone.outputs.fastest[0], together.outputs.fastest[k])


def test_only_those_that_meet_their_condition_are_taken_to_it(monkeypatch):
    """The instant is found by many steps of the few that meet it, not of all."""
    world, counts = tumbling(), []
    real = CompiledSystem.__dict__["advance_until"]

    def counted(self):
        def advance_until(*numbers):
            *_, h, _, through = numbers
            counts.extend([np.size(h)] * int(through))
            return real.__get__(self, CompiledSystem)(*numbers)

        return advance_until

    monkeypatch.setattr(CompiledSystem, "advance_until", property(counted), raising=False)
    heights = np.array([0.1, 0.11, *np.full(30, 9.0)])
    world.simulate(
        0.3, 1e-2, vary={"box.position[2]": heights}, until=lambda t, scene: scene["box"].position[2] < 0, every=0.01
    )
    assert sum(counts) == 2 * (simulation.HALVINGS + 1)
