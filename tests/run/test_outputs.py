"""Outputs kept while a run goes on, against exact motions and against records of every step."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poinsot as pt
from poinsot.files.scenario import read_scenario
from poinsot.study.sweeps import sweep

G = 9.81


def thrown() -> pt.World:
    world = pt.World(gravity=(0, 0, -G))
    world.add_body("ball", pt.Inertia.box(1.0, (0.1, 0.2, 0.3)), position=(0, 0, 1.0), velocity=(1.0, 0, 3.0))
    return world


def pendulum() -> pt.World:
    world = pt.World()
    rod = pt.Pose(p=(0, 0, -0.5)) @ pt.Inertia.cylinder(1.0, 0.05, 1.0)
    world.add_body("rod", rod, joint=pt.revolute((0, 1, 0)), q=0.5)
    world.add_body(
        "end", pt.Inertia.sphere(0.2, 0.05), parent="rod", joint=pt.revolute((0, 1, 0)), placement=(0, 0, -1)
    )
    world.add_input("torque", 0.1)
    world.add_motor("motor", "rod", pt.Input("torque"))
    return world


def altitude(t: Any, scene: Any) -> Any:
    return scene["ball"].position[2]


THROWN = {
    "apogee": "max(altitude)",
    "t_touch": "time(altitude < 0)",
    "never": "time(speed > 100)",
    "mean_vz": "mean(velocity[2])",
    "rms_vz": "rms(ball.velocity.z)",
    "end": "final(position[0])",
    "lowest": ("min", altitude),
    "last": altitude,
}


def test_a_throw_has_its_exact_outputs():
    run = thrown().simulate(1.0, 1e-3, outputs=THROWN)
    out = {name: float(x) for name, x in run.outputs.items()}
    assert out["apogee"] == pytest.approx(1 + 9 / (2 * G), abs=G * 1e-6 / 8 + 1e-12)
    assert out["t_touch"] == pytest.approx((3 + np.sqrt(9 + 2 * G)) / G, rel=1e-12)
    assert np.isnan(out["never"])
    assert out["mean_vz"] == pytest.approx(3 - G / 2, rel=1e-12)
    assert out["rms_vz"] == pytest.approx(np.sqrt(9 - 3 * G + G**2 / 3), rel=1e-5)
    assert out["end"] == pytest.approx(1.0, rel=1e-12)
    assert out["lowest"] == out["last"] == pytest.approx(4 - G / 2, rel=1e-12)
    assert run.outputs.apogee.attrs["description"] == "max(altitude)"


def test_outputs_are_those_of_records_of_every_step():
    """For joints, with an input that jumps, in several calls of the kernel."""
    outputs = {
        "a": 'max(angle("rod") + 0.1*rate("end"))', "b": "min(end.position.x)", "c": "mean(energy)", "d": "rms(rod.q)",
        "e": "final(torque * t)", "f": "time(rod.q < 0)",
    }  # fmt: skip
    world, stairs = pendulum(), {"torque": ([0.0, 0.31], [0.1, -0.2])}
    run = world.simulate(0.7, 1e-3, outputs=outputs, inputs=stairs, every=1e-3, ledger=False)
    q, v = run.data.q.sel(coordinate="rod").values, run.data.v.sel(freedom="end").values
    got = {name: float(x) for name, x in run.outputs.items()}
    assert got["a"] == pytest.approx((q + 0.1 * v).max(), rel=1e-14)
    assert got["b"] == pytest.approx(float(run.data.position.sel(body="end", axis="x").min()), rel=1e-14)
    assert got["d"] == pytest.approx(np.sqrt(np.trapezoid(q**2, run.time) / 0.7), rel=1e-12)
    assert got["e"] == pytest.approx(-0.2 * 0.7, rel=1e-14)
    stopped = world.simulate(0.7, 1e-3, inputs=stairs, until=lambda t, scene: scene.joint("rod")[0][0] < 0)
    assert got["f"] == pytest.approx(float(stopped.stop.time), rel=1e-13)
    plain = world.simulate(0.7, 1e-3, inputs=stairs, every=1e-3, ledger=False)
    np.testing.assert_allclose(run.y, plain.y, rtol=1e-12, atol=1e-13)


def test_batches_end_each_at_its_own_time():
    world, speeds = thrown(), np.array([1.0, 3.0, 5.0, 3.0])
    options: dict[str, Any] = {"outputs": THROWN, "until": lambda t, scene: scene["ball"].position[2] < 0}
    runs = world.simulate(1.0, 1e-3, vary={"ball.velocity[2]": speeds}, **options)
    flight = (speeds + np.sqrt(speeds**2 + 2 * G)) / G
    over = flight < 1
    np.testing.assert_allclose(runs.outputs.t_touch[over], flight[over], rtol=1e-12)
    np.testing.assert_allclose(runs.outputs.end, np.minimum(flight, 1.0), rtol=1e-12)
    np.testing.assert_allclose(runs.outputs.mean_vz, speeds - G * np.minimum(flight, 1.0) / 2, rtol=1e-11)
    assert np.isnan(runs.outputs.t_touch[2])
    assert runs.outputs["ball.velocity[2]"].dims == ("batch",)
    one = world.simulate(1.0, 1e-3, vary={"ball.velocity[2]": 3.0}, ledger=False, **options)
    for name in THROWN:
        np.testing.assert_array_equal(one.outputs[name], runs.outputs[name][1])


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 899))
def test_outputs_go_on_with_the_run(cut):
    whole = WORLD.simulate(0.9, 1e-3, outputs=THROWN)
    joined = WORLD.simulate(cut * 1e-3, 1e-3, outputs=THROWN).continue_((900 - cut) * 1e-3)
    for name in THROWN:
        np.testing.assert_array_equal(joined.outputs[name], whole.outputs[name])


WORLD = thrown()


def test_a_rest_of_a_run_has_outputs_of_its_own():
    end = WORLD.simulate(0.5, 1e-3).end
    later = WORLD.simulate(0.4, 1e-3, start=end, outputs={"mean": "mean(velocity[2])", "top": "max(altitude)"})
    assert float(later.outputs["mean"]) == pytest.approx(3 - G * 0.7, rel=1e-12)
    assert float(later.outputs.top) == pytest.approx(1 + 3 * 0.5 - G * 0.125, rel=1e-12)


@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_what_broke_down_has_no_outputs():
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("rocket", 1.0, velocity=(1.0, 0, 0))
    world.add_input("rate", 0.0)
    world.add_force("thrust", "rocket", lambda t, scene: scene.input("rate") * scene["rocket"].velocity ** 3)
    runs = world.simulate(0.1, batch=2, inputs={"rate": [0.1, 1e3]}, outputs={"top": "max(speed)"}, method="rk4")
    assert runs.outputs.top[0] > 1
    assert np.isnan(runs.outputs.top[1])


def test_outputs_are_saved_with_the_run(tmp_path):
    run = thrown().simulate(1.0, 1e-3, outputs={"apogee": "max(altitude)", "t": "time(altitude < 0)"})
    run.save(tmp_path / "run.nc")
    again = pt.load_run(tmp_path / "run.nc")
    assert again.outputs.apogee == run.outputs.apogee
    assert again.outputs.t == run.outputs.t


def test_sensitivities_of_outputs():
    """Of a throw, by its speed w: mean w - g T / 2, end z + w T - g T^2 / 2, rms^2 = w^2 - w g T + g^2 T^2 / 3."""
    outputs = {"mean": "mean(velocity[2])", "end": "final(altitude)", "rms": "rms(velocity[2])"}
    found = thrown().sensitivity(outputs, ["ball.velocity[2]"], 0.8)
    assert found["mean", "ball.velocity[2]"] == pytest.approx(1.0, rel=1e-11)
    assert found["end", "ball.velocity[2]"] == pytest.approx(0.8, rel=1e-11)
    rms = np.sqrt(9 - 3 * G * 0.8 + G**2 * 0.64 / 3)
    assert found["rms", "ball.velocity[2]"] == pytest.approx((3 - G * 0.4) / rms, rel=1e-4)
    assert found.values["rms"] == pytest.approx(rms, rel=1e-5)
    with pytest.raises(ValueError, match="output 't': the time of an event cannot be differentiated"):
        thrown().sensitivity({"t": "time(altitude < 0)"}, ["ball.velocity[2]"], 0.8)


SCENARIO = """
[constants]
high = 1.2
[outputs]
apogee = "max(altitude)"
t_high = "time(altitude > high)"
[run]
duration = 1.0
[[body]]
name = "ball"
position = [0, 0, 1]
velocity = [1, 0, 3]
inertia = { mass = 1, moment = [1, 1, 1] }
"""


def test_scenarios_and_sweeps_keep_outputs(tmp_path):
    scenario = read_scenario(SCENARIO)
    run = scenario.run()
    assert float(run.outputs.apogee) == pytest.approx(1 + 9 / (2 * G), abs=2e-6)
    assert float(run.outputs.t_high) == pytest.approx((3 - np.sqrt(9 - 2 * G * 0.2)) / G, rel=1e-11)
    run.save(tmp_path / "run.nc")
    assert pt.load_run(tmp_path / "run.nc").outputs.t_high == run.outputs.t_high
    speeds = np.array([2.0, 3.0, 4.0])
    options = {key: scenario.options[key] for key in ("duration", "outputs")}
    done = sweep(scenario.world, {"ball.velocity[2]": speeds}, save=tmp_path / "x.zarr", chunk=2, **options)
    assert done.outputs == ["apogee", "t_high"]
    np.testing.assert_allclose(done.at_end("apogee"), 1 + speeds**2 / (2 * G), atol=2e-6)
    assert done.statistics("apogee")["max"] == pytest.approx(1 + 16 / (2 * G), abs=2e-6)
    assert done.influences("apogee") == {"ball.velocity[2]": pytest.approx(1.0)}


# Bad input.


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("max(altitud)", "output 'x': 'max.altitud.': 'altitud' is not defined here; did you mean 'altitude'"),
        ("maximum(altitude)", "there is no 'maximum'.*expected max, min, mean, rms, final, time of a formula"),
        ("mx(altitude)", "there is no 'mx'; did you mean 'max'"),
        ("altitude", "expected max, min, mean"),
        ("max(altitude, speed)", "expected max, min, mean"),
        ("max(velocity)", r"max\(velocity\) is of an array of shape \(3,\), not of a number; take an entry"),
        ("max(ball.velocity)", r"shape \(3,\)"),
        ("max(ball.velocity.w)", "there is no quantity 'ball.velocity.w'; did you mean 'ball.velocity"),
        ('max(altitude("bal"))', "there is no body 'bal'; did you mean 'ball'"),
        ("max(altitude", "cannot be parsed"),
        ("max(__import__('os'))", "there is no function '__import__'"),
        (("biggest", altitude), "there is no 'biggest'"),
        (3.0, "output 'x' is 3.0; expected max, min"),
    ],
)
def test_outputs_that_are_wrong_are_refused_before_anything_runs(text, match, monkeypatch):
    world = thrown()
    monkeypatch.setattr("poinsot.run.simulation.Simulation.run", None)
    with pytest.raises(ValueError, match=match):
        world.simulate(1.0, outputs={"x": text})


def test_names_of_outputs_are_checked():
    world = thrown()
    for name in ("position", "a.b", ""):
        with pytest.raises(ValueError, match="a name has letters, digits and _ only, and is not that of a record"):
            world.simulate(1.0, outputs={name: "max(altitude)"})
    with pytest.raises(ValueError, match="no outputs were kept"):
        _ = world.simulate(0.01).outputs
    with pytest.raises(ValueError, match="'altitude' of which body"):
        pendulum().simulate(0.01, outputs={"x": "max(altitude)"})
    with pytest.raises(ValueError, match=r"(?s)outputs.apogee.*did you mean 'altitude'"):
        read_scenario(SCENARIO.replace("max(altitude)", "max(altitde)"))


@pytest.mark.parametrize(
    ("formula", "unit"),
    [
        ("max(position[2])", "m"),
        ("max(ball.position.z)", "m"),
        ("rms(norm(velocity))", "m/s"),
        ("final(energy)", "J"),
        ("time(velocity[2] < 0)", "s"),
        ("max(2 * position[2])", None),  # not a quantity itself
        ("final(orientation[0])", None),  # of no unit
    ],
)
def test_outputs_have_the_unit_of_the_quantity_that_they_are_of(formula, unit):
    run = thrown().simulate(0.5, 0.01, outputs={"x": formula}, ledger=False)
    assert run.outputs.x.attrs.get("units") == unit
