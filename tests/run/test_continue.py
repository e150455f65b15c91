"""Runs that go on: to the same bits as one long run, with the records that it would have."""

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
import run_worlds
from hypothesis import given, settings
from hypothesis import strategies as st
from run_worlds import RATES, STAIRS, breaking, rocket, slow

import poinsot as pt
from poinsot.fuse import kernels

RECORDS = ("time", "y", "p")
RISING = (0, 0, 2)
tumbling, machine = partial(run_worlds.tumbling, RISING), partial(run_worlds.machine, RISING)


WAVE = {"torque": lambda t: np.sin(30 * t)}
MASSES = {"box.mass": pt.Normal(2.0, 0.1)}
FALLS = {"box.velocity[2]": [1.0, 2.0, 1.9]}
RUNS: dict[str, Any] = {
    "single": (machine, {}),
    "free": (tumbling, {"every": 0.007}),
    "poinsot": (tumbling, {"method": "poinsot4", "ledger": False}),
    "stairs": (machine, {"every": 0.02, "inputs": STAIRS}),
    "function": (machine, {"inputs": WAVE}),
    "condition": (machine, {"every": 0.02, "until": lambda t, scene: t > 0.0943}),
    "batch": (machine, {"every": 0.02, "batch": 3, "vary": MASSES, "seed": 4}),
    "batch of free bodies": (tumbling, {"every": 0.02, "vary": FALLS}),
    "stairs in a batch": (machine, {"every": 0.02, "batch": 2, "inputs": STAIRS, "ledger": True}),
    "conditions": (machine, {"every": 0.01, "vary": FALLS, "until": slow}),
    "latches": (breaking, {"every": 0.05, "step": 2e-3, "factor": 8}),
    "broken": (rocket, {"every": 0.002, "method": "rk4"}),
    "broken in a batch": (rocket, {"every": 0.002, "method": "rk4", "batch": 3, "inputs": RATES}),
}


def pieces(name: str) -> tuple[pt.World, tuple[float, float], dict[str, Any]]:
    make, given = RUNS[name]
    options = dict(given)
    factor = options.pop("factor", 1)
    return make(), (0.044 * factor, 0.06 * factor), options


@pytest.mark.filterwarnings("ignore::poinsot.LimitWarning")
@pytest.mark.parametrize("name", RUNS)
@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_a_run_that_goes_on_has_the_bits_of_a_long_one(name):
    world, (a, b), options = pieces(name)
    whole = world.simulate(a + b, **options)
    joined = world.simulate(a, **options).continue_(b)
    for key in RECORDS:
        np.testing.assert_array_equal(getattr(joined, key), getattr(whole, key), strict=True)
    assert joined.stop.text == whole.stop.text
    np.testing.assert_array_equal(joined.stop.time, whole.stop.time)
    np.testing.assert_array_equal(joined.end.x, whole.end.x)
    if whole.compiled.keeps_ledger:
        np.testing.assert_array_equal(joined.ledger.inflow, whole.ledger.inflow)
    assert joined.settings["duration"] == pytest.approx(whole.settings["duration"])
    again = joined.repeat()
    np.testing.assert_array_equal(again.y, whole.y)


@pytest.mark.parametrize("name", ["single", "stairs", "batch", "conditions", "broken in a batch"])
@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_simulate_goes_on_from_the_end_of_a_run(name):
    world, (a, b), options = pieces(name)
    whole = world.simulate(a + b, **options)
    end = world.simulate(a, **options).end
    rest = {key: value for key, value in options.items() if key in ("every", "until", "ledger")}
    later = world.simulate(b, start=end, **rest)
    np.testing.assert_array_equal(later.y[-1], whole.y[-1])
    assert later.time[0] == end.time
    np.testing.assert_array_equal(later.time[1:], whole.time[whole.time > end.time])
    if later.compiled.keeps_ledger:
        assert later.ledger.relative_residual.max() < 1e-9


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=4), st.integers(1, 9))
def test_any_cuts_give_the_same_records(steps, stride):
    world = WORLD
    whole = world.simulate(sum(steps) * 1e-3, 1e-3, every=stride * 1e-3)
    run = world.simulate(steps[0] * 1e-3, 1e-3, every=stride * 1e-3)
    for count in steps[1:]:
        run = run.continue_(count * 1e-3)
    np.testing.assert_array_equal(run.y[-1], whole.y[-1])
    np.testing.assert_array_equal(run.time, whole.time)
    np.testing.assert_array_equal(run.y, whole.y)


WORLD = machine()


def test_nothing_compiles_again(monkeypatch):
    world = machine()
    run = world.simulate(0.05, inputs=STAIRS)
    assert run.ledger.relative_residual.max() < 1e-9
    monkeypatch.setattr(kernels, "trace", None)
    run = run.continue_(0.05).continue_(0.05)
    assert run.ledger.relative_residual.max() < 1e-9
    assert world.simulate(0.05, start=run.end).time[0] == run.time[-1]


def test_another_step_goes_on_at_the_same_time():
    world = machine()
    end = world.simulate(0.1).end
    later = world.simulate(0.1, 5e-4, start=end)
    assert later.time[0] == pytest.approx(0.1)
    assert later.time[-1] == pytest.approx(0.2)
    np.testing.assert_allclose(later.y[-1], world.simulate(0.2).y[-1], rtol=1e-9, atol=1e-9)


def test_a_single_state_starts_a_batch():
    world = machine()
    end = world.simulate(0.05, ledger=False).end
    many = world.simulate(0.05, batch=3, vary={"box.mass": [1.0, 2.0, 3.0]}, start=end)
    one = world.simulate(0.05, start=end, ledger=False)
    np.testing.assert_allclose(many.y[-1, 1], one.y[-1], rtol=1e-13, atol=1e-13)


def test_one_of_a_batch_goes_on_alone():
    world = tumbling()
    batch = world.simulate(0.2, vary=FALLS, until=slow)
    whole = world.simulate(0.3, vary=FALLS)
    one = world.simulate(0.3 - float(batch.end.times[1]), start=batch.end[1], method="rk4", ledger=False)
    assert one.time[0] == batch.stop.time[1]
    np.testing.assert_allclose(one.y[-1], whole.y[-1, 1], rtol=1e-9, atol=1e-9)


def test_an_adaptive_run_goes_on():
    world = machine()
    joined = world.simulate(0.3, method="adaptive", tolerance=1e-12).continue_(0.3)
    whole = world.simulate(0.6, method="adaptive", tolerance=1e-12)
    np.testing.assert_allclose(joined.time, whole.time, rtol=1e-14)
    np.testing.assert_allclose(joined.y, whole.y, rtol=1e-10, atol=1e-10)


def test_a_saved_run_goes_on(tmp_path):
    world = pt.World()
    world.add_particle("ball", 1.0)
    world.add_input("push", np.zeros(3))
    world.add_force("push_force", "ball", pt.Input("push"))
    stairs = {"push": ([0.0, 0.033, 0.07], np.array([[0, 0, 1], [0, 3, 0], [4, 0, 0]]))}
    options: dict[str, Any] = {"vary": {"ball.mass": [1.0, 2.0]}, "inputs": stairs, "every": 0.01}
    whole = world.simulate(0.12, **options)
    world.simulate(0.05, save=tmp_path / "run.nc", **options)
    later = pt.load_run(tmp_path / "run.nc").continue_(0.05)
    later.save(tmp_path / "later.nc")
    np.testing.assert_array_equal(pt.load_run(tmp_path / "later.nc").continue_(0.02).y, whole.y)
    rest = world.simulate(0.07, start=pt.load_run(tmp_path / "run.nc").end, every=0.01)
    rest.save(tmp_path / "rest.nc")
    np.testing.assert_array_equal(pt.load_run(tmp_path / "rest.nc").repeat().y, whole.y[5:])


def test_states_are_frozen_and_can_be_pickled():
    world = machine()
    end = world.simulate(0.05).end
    with pytest.raises(ValueError, match="read-only"):
        end.y[0] = 1.0
    again = pickle.loads(pickle.dumps(end))
    np.testing.assert_array_equal(world.simulate(0.05, start=again).y, world.simulate(0.05, start=end).y)
    assert "at t = 0.05 s" in repr(again)


# Bad input.


def test_a_state_of_another_world_is_refused_with_what_differs():
    end = machine().simulate(0.05).end
    with pytest.raises(ValueError, match="another world: body 'arm' is missing; element 'motor' is missing; input"):
        tumbling().simulate(0.1, start=end)
    heavier = machine()
    heavier["arm.mass"] = 3.0
    with pytest.raises(ValueError, match=r"arm\.mass was 1, and is 3\.0.*vary"):
        heavier.simulate(0.1, start=end)
    with pytest.raises(ValueError, match="another world: its hash was"):
        heavier.simulate(0.1, start=pickle.loads(pickle.dumps(end)))


def test_what_cannot_be_a_start_is_refused():
    world = tumbling()
    run = world.simulate(0.2, vary=FALLS, until=slow)
    with pytest.raises(TypeError, match=r"start must be the state of a run, such as run\.end or sim\.end, not Run"):
        world.simulate(0.1, start=run)
    with pytest.raises(ValueError, match=r"instance 0 ended at t = 0 s, before.*start=run\.end\[0\]"):
        world.simulate(0.1, start=run.end)
    with pytest.raises(ValueError, match="one of 3 instances, but the batch has 2"):
        world.simulate(0.1, start=run.end, batch=2, until=slow)
    with pytest.raises(ValueError, match=r"box\.position says how a body starts"):
        world.simulate(0.1, start=run.end, vary={"box.position": [0, 0, 1]}, until=slow)
    with pytest.raises(TypeError, match="no instances"):
        world.simulate(0.1).end[0]
