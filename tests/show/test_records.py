"""The records of a picture: the numbers of the run's own data, without equations of motion where none are needed."""

import numpy as np
import pytest

from poinsot.cli.finding import examples
from poinsot.files import load_scenario
from poinsot.show.records import records_of
from poinsot.world import System


@pytest.fixture(scope="module")
def run():
    scenario = load_scenario(examples()["straight-line"])  # with loops, whose forces follow from accelerations
    return scenario.world.simulate(0.02, step=0.01)


def test_what_elements_show_is_what_the_run_records(run):
    records = records_of(run)
    shown = [(name, key) for name, effect in motion_at_start(run).effects.items() for key in effect.shown]
    assert any(name in run.compiled.system.loops for name, _ in shown)
    for name, key in shown[:4]:
        data = run.observed([f"{name}.{key}"])[f"{name}.{key}"].values
        assert records.of(name, key)[:, 0] == pytest.approx(data, rel=1e-12, abs=1e-12 * (1 + np.abs(data).max()))


def motion_at_start(run):
    system = run.compiled.system
    return system.motion(0.0, system.start())


def test_poses_and_velocities_need_no_equations_of_motion(run, monkeypatch):
    records, data = records_of(run), run.data
    monkeypatch.setattr(System, "solved", lambda *_: pytest.fail("the equations of motion were set up"))
    assert records.positions[:, 0] == pytest.approx(data["position"].values, rel=1e-13, abs=1e-13)
    assert records.velocities[:, 0] == pytest.approx(data["velocity"].values, rel=1e-13, abs=1e-13)
