"""Runs saved and loaded: the same data, ledger, world, and the same bits when they are repeated."""

import json
import subprocess
import sys
import warnings
from dataclasses import fields, replace
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
import pytest
import xarray

import poinsot as pt
from poinsot.files import saving
from poinsot.run import RunOptions, simulate
from sparing import few

FORMATS = ("x.nc", "x.zarr")


def world(force: Any = None) -> pt.World:
    """A free body, a mechanism and a particle, joined by a spring; a motor with an input."""
    w = pt.World()
    w.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), position=(0, 0, 1), angular_velocity=(9, 2, 3))
    w.add_body("arm", pt.Inertia.cylinder(1, 0.05, 1), joint=pt.revolute((0, 1, 0)), placement=(0, 0, 2), q=0.3)
    w.add_particle("ball", 0.5, (1, 0, 1))
    w.add_spring("s/1", "box", "arm", 50.0, 0.5, 0.1, point_b=(0, 0, -0.3))
    w.add_input("u", 0.0)
    w.add_motor("motor", "arm", pt.Input("u"))
    if force is not None:
        w.add_force("drag", "box", force)
    return w


def drag(t: Any, scene: pt.Scene) -> Any:
    return -0.1 * scene["box"].velocity


def low(t: Any, scene: pt.Scene) -> Any:
    return scene["box"].position[2] < 0.95


RUNS = {
    "single": {},
    "recorded": {"record": ["position", "reaction"], "every": 0.1},
    "batch": {"batch": 3, "vary": {"box.mass": pt.Normal(2, 0.1), "ball.position": [(1.0, 0, k) for k in range(3)]}},
    "batch with ledger": {"batch": 2, "seed": 4, "vary": {"box.mass": pt.Uniform(1, 2)}, "ledger": True, "every": 0.1},
    "inputs": {"inputs": {"u": ([0.0, 0.2], [0.0, 1.0])}},
    "tabulated": {"inputs": {"u": pt.Tabulated([0.0, 0.5], [0.0, 1.0])}},
    "free number": {"vary": {"box.mass": 2.5}, "method": "midpoint"},
}


@cache
def short_run() -> pt.Run:
    return world().simulate(0.1)


@pytest.fixture(scope="module", params=RUNS)
def run(request):
    return world().simulate(0.5, 1e-3, **RUNS[request.param])


@pytest.mark.parametrize(
    ("name", "run"),
    few([(name, kind) for name in FORMATS for kind in RUNS], {*(("x.nc", kind) for kind in RUNS), ("x.zarr", "batch")}),
    indirect=["run"],
)
def test_a_run_comes_back(run, name, tmp_path):
    run.save(tmp_path / name)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    for lazy in (False, True):
        back = pt.load_run(tmp_path / name, lazy=lazy)
        xarray.testing.assert_identical(back.data.load(), run.data)
        for a, b in ((back.time, run.time), (back.y, run.y), (back.p, run.p)):
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
        assert (back.stop.reason, back.stop.text, back.stop.notes) == (run.stop.reason, run.stop.text, run.stop.notes)
        assert np.array_equal(back.stop.time, run.stop.time)
        if run.compiled.keeps_ledger:
            assert str(back.ledger) == str(run.ledger)
        else:
            with pytest.raises(ValueError, match="no ledger was kept"):
                _ = back.ledger
        own = {k: v for k, v in run.settings.items() if k != "options"}
        assert own == {k: v for k, v in back.settings.items() if k != "options"}
        if lazy:
            names = ["reaction", "energy"]
            xarray.testing.assert_identical(back.observed(names).load(), run.observed(names))
        assert back.batch == run.batch
        assert repr(back) == repr(run)


@pytest.mark.parametrize("run", few(RUNS, {"batch with ledger", "inputs", "free number"}), indirect=True)
def test_a_run_can_be_repeated(run, tmp_path):
    run.save(tmp_path / "x.nc")
    for source in (run, pt.load_run(tmp_path / "x.nc")):
        again = source.repeat()
        assert again.y.tobytes() == run.y.tobytes()
        xarray.testing.assert_identical(again.data, run.data)
        assert len(again.repeat(duration=0.1).time) <= len(run.time)


def test_a_run_can_be_repeated_by_another_process(tmp_path):
    run = world().simulate(0.2, 1e-3, seed=1, batch=5, vary={"box.mass": pt.Normal(2, 0.1)})
    run.save(tmp_path / "x.nc")
    code = "import poinsot as pt; pt.load_run('x.nc').repeat().save('y.nc')"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert pt.load_run(tmp_path / "y.nc").y.tobytes() == run.y.tobytes()


def test_all_options_of_simulate_are_kept():
    assert {f.name for f in fields(RunOptions)} == set(signature(simulate).parameters) - {"world", "progress", "save"}


@pytest.mark.parametrize("run", few(RUNS, {"single", "batch"}), indirect=True)
def test_a_loaded_run_can_be_saved_again(run, tmp_path):
    run.save(tmp_path / "x.nc")
    pt.load_run(tmp_path / "x.nc", lazy=True).save(tmp_path / "y.zarr")
    back = pt.load_run(tmp_path / "y.zarr")
    xarray.testing.assert_identical(back.data, run.data)
    assert back.repeat().y.tobytes() == run.y.tobytes()


@pytest.mark.parametrize(("name", "engine"), [("x.nc", "h5netcdf"), ("x.zarr", "zarr")])
def test_everybody_can_read_the_file(name, engine, tmp_path):
    run = world().simulate(0.1, 1e-3, batch=3, vary={"box.mass": pt.Normal(2, 0.1)}, every=0.01)
    run.save(tmp_path / name)
    code = (
        f"import xarray, sys; d = xarray.open_dataset('{name}', engine='{engine}')\n"
        "p = d.position.sel(body='box', axis='z')\n"
        "print(p.dims, p.units, d.time.units, d['box.mass'].dims, d.method, d.stop, float(p[-1, 2]))\n"
        "print('poinsot' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert result.stderr == ""
    z = float(run["box"].position[-1, 2, 2])
    assert result.stdout == f"('time', 'batch') m s ('batch',) rk4 duration {z}\nFalse\n"


def test_the_world_comes_back(tmp_path):
    w = world()
    run = w.simulate(0.1)
    w["box.mass"] = 99.0  # what happens to the world later does not matter
    run.save(tmp_path / "x.nc")
    back = pt.load_run(tmp_path / "x.nc")
    assert back.world["box.mass"] == 2.0
    assert back.world.simulate(0.1).y.tobytes() == run.y.tobytes()
    assert back.repeat().y.tobytes() == run.y.tobytes()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_broken_runs_are_kept_with_their_reason(name, tmp_path):
    w = pt.World()
    w.add_particle("a", 1.0)
    w.add_force("push", "a", blow)
    for options in ({}, {"batch": 3, "vary": {"a.mass": [100.0, 1.0, 100.0]}}):
        run = w.simulate(1.0, 0.01, method="rk4", **options)
        assert run.stop.reason == "broken"
        run.save(tmp_path / name)
        back = pt.load_run(tmp_path / name, allow_code=True)
        assert (back.stop.reason, back.stop.text, dict(back.stop.notes)) == ("broken", run.stop.text, run.stop.notes)
        xarray.testing.assert_identical(back.data, run.data)
        again = back.repeat()
        assert again.y.tobytes() == run.y.tobytes()


def blow(t: Any, scene: pt.Scene) -> Any:
    return np.exp(scene["a"].velocity + 1.0)


@pytest.mark.parametrize("name", FORMATS)
def test_states_of_parts(name, tmp_path):
    """Contents of a tank that are recorded, and varied at the start."""
    w = pt.World()
    craft = w.add_body("craft", pt.Inertia.box(100, (1, 2, 3)), angular_velocity=(0.1, 0.2, 0.3))
    craft.add(pt.Tank("left", capacity=80, contents=60, position=(0, 2, 0)))
    craft.add(pt.Thruster("engine", tank="left", thrust=100.0, exhaust_speed=2500.0))
    run = w.simulate(0.1, 1e-3, vary={"craft.left.contents": [50.0, 60.0]}, every=0.02)
    run.save(tmp_path / name)
    back = pt.load_run(tmp_path / name)
    xarray.testing.assert_identical(back.data, run.data)
    assert np.array_equal(back.data["craft.left.contents.varied"], [50.0, 60.0])
    assert np.array_equal(back.data["craft.left.contents"][0], [50.0, 60.0])
    assert back.repeat().y.tobytes() == run.y.tobytes()


@pytest.mark.parametrize("name", FORMATS)
def test_a_world_without_freedom(name, tmp_path):
    w = pt.World()
    w.add_body("wall", pt.Inertia.box(1, (1, 1, 1)), joint=pt.fixed())
    run = w.simulate(0.1)
    run.save(tmp_path / name)
    xarray.testing.assert_identical(pt.load_run(tmp_path / name).data, run.data)


# Functions of the user's.


def test_a_run_with_a_function(tmp_path):
    run = world(drag).simulate(0.3, 1e-3, until=low)
    run.save(tmp_path / "x.nc")
    back = pt.load_run(tmp_path / "x.nc", allow_code=True)
    assert back.stop.reason == "condition"
    assert back.repeat().y.tobytes() == run.y.tobytes()
    closed = pt.load_run(tmp_path / "x.nc")
    xarray.testing.assert_identical(closed.data, run.data)
    xarray.testing.assert_identical(closed.observed(["position"]), run.observed(["position"]))
    assert str(closed.ledger) == str(run.ledger)
    for use in (closed.repeat, lambda: closed.observed(["reaction"])):
        with pytest.raises(
            ValueError, match=r"its world cannot move again. Force 'drag' needs .*allow_code=True.*until"
        ):
            use()
    with pytest.raises(ValueError, match=r"Force 'drag' needs the function .*:drag"):
        closed.world.simulate(0.1)
    closed.save(tmp_path / "y.nc")  # and still nothing is lost
    assert pt.load_run(tmp_path / "y.nc", allow_code=True).repeat().y.tobytes() == run.y.tobytes()


def test_a_run_with_a_function_that_has_no_name(tmp_path):
    run = world(lambda t, scene: -0.1 * scene["box"].velocity).simulate(0.1)
    run.save(tmp_path / "x.nc")
    back = pt.load_run(tmp_path / "x.nc", allow_code=True)
    xarray.testing.assert_identical(back.data, run.data)
    with pytest.raises(ValueError, match=r"Force 'drag' needs .*<lambda>' \(test_results.py:\d+\)"):
        back.repeat()
    assert run.repeat().y.tobytes() == run.y.tobytes()


# What can go wrong.


def test_a_newer_file(tmp_path, monkeypatch):
    with monkeypatch.context() as later:
        later.setattr(saving, "FORMAT", saving.FORMAT + 1)
        short_run().save(tmp_path / "x.nc")
    with pytest.raises(ValueError, match=r"x.nc' was written by Poinsot .* in format 2; .*Update Poinsot"):
        pt.load_run(tmp_path / "x.nc")


def test_other_versions_are_named(tmp_path):
    run = short_run()
    old = replace(run, settings={**run.settings, "numpy": "1.0"})
    old.save(tmp_path / "x.nc")
    with pytest.warns(UserWarning, match=r"made with .*'numpy': '1.0'.* last digits may differ"):
        pt.load_run(tmp_path / "x.nc").repeat()
    replace(run, settings={**run.settings, "description_hash": "0"}).save(tmp_path / "x.nc")
    with pytest.raises(ValueError, match="its world had the hash 0, and now has"):
        pt.load_run(tmp_path / "x.nc").repeat()


def test_what_is_not_a_run(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file '.*x.nc'"):
        pt.load_run(tmp_path / "x.nc")
    (tmp_path / "x.nc").write_text("nothing")
    with pytest.raises(ValueError, match=r"x.nc' is not a run saved by Poinsot"):
        pt.load_run(tmp_path / "x.nc")
    xarray.Dataset({"a": ("x", np.arange(3))}).to_netcdf(tmp_path / "y.nc", engine="h5netcdf")
    with pytest.raises(ValueError, match=r"y.nc' is not a run saved by Poinsot"):
        pt.load_run(tmp_path / "y.nc")
    (tmp_path / "x.zarr").mkdir()
    with pytest.raises(ValueError, match=r"x.zarr' is not a run saved by Poinsot"):
        pt.load_run(tmp_path / "x.zarr")
    run = short_run()
    run.save(tmp_path / "z.nc")
    whole = (tmp_path / "z.nc").read_bytes()
    for part in (0.1, 0.5, 0.9, 0.99):
        (tmp_path / "z.nc").write_bytes(whole[: int(part * len(whole))])
        with pytest.raises(ValueError, match=r"z.nc' is not a run saved by Poinsot"):
            pt.load_run(tmp_path / "z.nc")


def test_where_a_run_cannot_go(tmp_path):
    run = short_run()
    with pytest.raises(FileNotFoundError, match=r"the folder '.*nowhere' does not exist"):
        run.save(tmp_path / "nowhere" / "x.nc")
    with pytest.raises(ValueError, match=r"stored as .nc \(NetCDF\) or .zarr, not as '.csv'. run.export writes tables"):
        run.save(tmp_path / "x.csv")
    with pytest.raises(ValueError, match="not as ''"):
        run.save(tmp_path / "x")
    for name in FORMATS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "precious").write_text("mine")
        with pytest.raises(FileExistsError, match="exists and is not a saved run"):
            run.save(tmp_path / name)
        assert (tmp_path / name / "precious").read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(FORMATS)


def test_saving_and_loading_warns_of_nothing(tmp_path):
    run = short_run()
    for name in FORMATS:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run.save(tmp_path / name)
            run.save(tmp_path / name)
            pt.load_run(tmp_path / name)


def test_damaged_files_are_told_by_name(tmp_path, monkeypatch):
    import h5py

    path = tmp_path / "x.nc"
    short_run().save(path)
    whole = path.read_bytes()
    for change in ({"description": {"class": "Description"}}, {"stop": 5}, {"options": []}, {"free": 1}):
        path.write_bytes(whole)
        with h5py.File(path, "r+") as file:
            meta = json.loads(file["run/text"][:].tobytes())
            text = json.dumps(meta | change).encode()
            file["run/text"][:] = np.frombuffer(text.ljust(len(file["run/text"])), np.uint8)
        with pytest.raises(ValueError, match=r"x.nc' is damaged, and cannot be read"):
            pt.load_run(path)
    path.write_bytes(whole)

    def failing(*arguments: Any) -> None:
        raise RuntimeError("Link iteration failed")

    monkeypatch.setattr("xarray.open_dataset", lambda *arguments, **options: failing())
    with pytest.raises(ValueError, match=r"x.nc' is not a run saved by Poinsot, or is damaged: Link iteration failed"):
        pt.load_run(path)
