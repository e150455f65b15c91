"""Scenarios whose start is trimmed: the file, the command, and its mistakes."""

import numpy as np
import pytest
from typer.testing import CliRunner

from poinsot.cli.commands import application
from poinsot.files.problems import ScenarioError
from poinsot.files.scenario import read_scenario
from poinsot.study.swept import load_sweep

PLANE = """
title = "A trimmed aircraft"
[run]
duration = "2 s"
step = "10 ms"
record = ["airspeed", "altitude"]
[air]
model = "us76"
[inputs]
thrust = { value = 500, limits = [0, 4000] }
elevator = { value = 0, limits = ["-20 deg", "20 deg"] }
[[body]]
name = "plane"
[body.start]
trim = "level"
altitude = "1000 m"
airspeed = "60 m/s"
zero = ["u", "w", "q"]
free = ["alpha", "thrust", "elevator"]
[body.inertia]
mass = 1100
moment = [[1285, 0, 0], [0, 1825, 0], [0, 0, 2667]]
[[body.aero]]
name = "aero"
axes = "wind"
area = 16.2
span = 10.9
chord = 1.5
inputs = { elevator = "elevator" }
[body.aero.coefficients]
CL = "0.3 + 4.6*alpha"
CD = "0.03 + 0.055*(0.3 + 4.6*alpha)**2"
Cm = "0.03 - 0.9*alpha - 1.2*elevator"
Cmq = -12
CY_beta = -0.4
Cl_beta = -0.09
Cn_beta = 0.065
Clp = -0.47
Cnr = -0.1
[[body.force]]
name = "pull"
value = ["thrust", 0, 0]
axes = "body"
"""


SWEEP = """
[outputs]
low = "min(altitude)"
high = "max(altitude)"
alpha = "final(alpha)"
[sweep]
samples = 12
[sweep.vary]
"plane.mass" = "uniform(900, 1300)"
"plane.start.airspeed" = "uniform(50, 70)"
"""


def test_sweeps_of_a_scenario_trim_every_instance(tmp_path):
    pytest.importorskip("zarr")
    (tmp_path / "plane.toml").write_text(PLANE + SWEEP)
    where = ["--out", str(tmp_path / "plane.zarr"), "--no-plot"]
    done = CliRunner().invoke(application(), ["sweep", str(tmp_path / "plane.toml"), *where])
    assert done.exit_code == 0, done.output
    data = load_sweep(tmp_path / "plane.zarr").data
    assert np.abs(data.high - data.low).max() < 1e-6
    assert np.ptp(data.alpha.values) > 0.03
    runs = read_scenario(PLANE).run(vary={"plane.mass": [900.0, 1300.0]}, record=["altitude"])
    np.testing.assert_allclose(runs.data.altitude.values, 1000.0, atol=1e-7)


def test_a_scenario_starts_trimmed():
    scenario = read_scenario(PLANE)
    assert scenario.trim is not None
    assert scenario.world.input_limits["elevator"] == pytest.approx((-np.pi / 9, np.pi / 9))
    assert scenario.world["thrust"] == scenario.trim["thrust"] > 500
    assert scenario.world["plane.start.alpha"] == pytest.approx(scenario.trim["alpha"])
    run = scenario.run()
    np.testing.assert_allclose(run.data.altitude.values, 1000.0, atol=1e-7)
    np.testing.assert_allclose(run.data.airspeed.values, 60.0, atol=1e-7)


def test_a_turn_by_its_load_factor():
    text = PLANE.replace('trim = "level"', 'trim = "turn"\nload_factor = 1.5')
    text = text.replace('["u", "w", "q"]', '["u", "v", "w", "q"]').replace(
        '["alpha",', '["alpha", "roll", "turn_rate",'
    )
    trim = read_scenario(text).trim
    assert trim["load_factor"] == pytest.approx(1.5)
    np.testing.assert_allclose(trim["turn_rate"], 9.81 * np.tan(trim["roll"]) / 60.0, rtol=0.02)


def test_the_command_prints_it(tmp_path):
    path = tmp_path / "plane.toml"
    path.write_text(PLANE)
    shown = CliRunner().invoke(application(), ["run", str(path), "--out", str(tmp_path / "plane.nc"), "--no-html"])
    assert shown.exit_code == 0, shown.output
    assert "trim 'level', all rates below" in shown.output
    assert "elevator" in shown.output


MISTAKES = {
    "kind": ('trim = "level"', 'trim = "levl"', "did you mean 'level'"),
    "name": ('"alpha", "thrust"', '"alpha", "thrst"', "did you mean 'thrust'"),
    "unreachable": ('airspeed = "60 m/s"', 'airspeed = "20 m/s"', "'level' is not reached"),
    "without": ('trim = "level"\n', "", "free belongs to a trim"),
    "limits": ("limits = [0, 4000]", "limits = [4000, 0]", "must be two numbers that increase"),
    "key of an input": ("limits = [0, 4000]", "limit = [0, 4000]", "expected a number, or a table { value"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told(mistake):
    old, new, words = MISTAKES[mistake]
    with pytest.raises(ScenarioError) as error:
        read_scenario(PLANE.replace(old, new))
    assert words in str(error.value)
