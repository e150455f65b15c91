"""Runs as flat tables: every number in its column, with its unit."""

import numpy as np
import pandas
import pytest

import poinsot as pt
from poinsot.files import tables

READ = {"x.csv": pandas.read_csv, "x.parquet": pandas.read_parquet}


def world() -> pt.World:
    w = pt.World()
    w.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), position=(0, 0, 1), angular_velocity=(1, 2, 3))
    w.add_body("arm", pt.Inertia.cylinder(1, 0.05, 1), joint=pt.revolute((0, 1, 0)), placement=(0, 0, 2), q=0.3)
    w.add_body("slide", pt.Inertia.sphere(1, 0.1), joint=pt.prismatic((0, 0, 1)))
    w.add_body("rod", pt.Inertia.sphere(1, 0.1), joint=pt.cylindrical((0, 0, 1)))
    w.add_spring("s", "box", "arm", 50.0, 0.5, 0.1)
    w.add_force("push", "box", (1.0, 2.0, 3.0))
    w.add_motor("lift", "slide", 9.0)
    w.add_motor("drill", "rod", (1.0, 2.0))
    w.add(pt.Cut("cut", body="box", at=(0, 0, 0.1), axis=(0, 0, 1), piece=pt.Inertia.box(0.1, (0.1, 0.2, 0.05))))
    return w


@pytest.mark.parametrize("name", READ)
def test_a_single_run(name, tmp_path):
    run = world().simulate(0.1, 1e-3)
    run.export(tmp_path / name)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    table = READ[name](tmp_path / name)
    assert len(table) == len(run.time)
    expected = {
        "time [s]": run.time,
        "box.position.z [m]": run["box"].position.sel(axis="z"),
        "box.orientation.w": run["box"].orientation.sel(wxyz="w"),
        "arm.angular_velocity.y [rad/s]": run["arm"].angular_velocity.sel(axis="y"),
        "arm.q [rad]": run.data.q.sel(coordinate="arm"),
        "slide.q [m]": run.data.q.sel(coordinate="slide"),
        "slide.v [m/s]": run.data.v.sel(freedom="slide"),
        "rod.q[0] [rad]": run.data.q.sel(coordinate="rod[0]"),
        "rod.q[1] [m]": run.data.q.sel(coordinate="rod[1]"),
        "box.q[3]": run.data.q.sel(coordinate="box[3]"),
        "box.q[4] [m]": run.data.q.sel(coordinate="box[4]"),
        "box.v[0] [rad/s]": run.data.v.sel(freedom="box[0]"),
        "box.v[3] [m/s]": run.data.v.sel(freedom="box[3]"),
        "energy [J]": run.data.energy,
        "momentum.x [kg m/s]": run.data.momentum.sel(axis="x"),
        "s.length [m]": run.data["s.length"],
        "push.force.y [N]": run.data["push.force"].sel(axis="y"),
        "lift.torque.0 [N]": run.data["lift.torque"][:, 0],
        "drill.torque.0 [N m]": run.data["drill.torque"][:, 0],
        "drill.torque.1 [N]": run.data["drill.torque"][:, 1],
        "cut.wrench.2 [N m]": run.data["cut.wrench"][:, 2],
        "cut.wrench.3 [N]": run.data["cut.wrench"][:, 3],
    }
    for column, values in expected.items():
        assert np.array_equal(table[column], values), column
    assert len(table.columns) == 1 + sum(v.size // len(run.time) for v in run.data.data_vars.values())


@pytest.mark.parametrize("name", READ)
def test_a_batch(name, tmp_path, monkeypatch):
    vary = {"box.mass": [1.0, 2.0, 3.0], "box.position": np.arange(9.0).reshape(3, 3)}
    run = world().simulate(0.1, 1e-3, vary=vary, every=0.01, record=["position", "reaction", "energy"])
    whole = pandas.concat(list(tables.frames(run)))
    monkeypatch.setattr(tables, "NUMBERS", 500)  # some rows at a time
    assert len(list(tables.frames(run))) > 2
    run.export(tmp_path / name)
    table = READ[name](tmp_path / name)
    assert table.equals(whole.reset_index(drop=True))
    assert len(table) == 3 * len(run.time)
    third = table[table["batch"] == 2]
    assert np.array_equal(third["box.position.x [m]"], run["box"].position.sel(axis="x")[:, 2])
    assert np.array_equal(third["arm.reaction.mx [N m]"], run["arm"].reaction.sel(spatial="mx")[:, 2])
    assert np.array_equal(third["arm.reaction.fz [N]"], run["arm"].reaction.sel(spatial="fz")[:, 2])
    assert set(third["box.mass"]) == {3.0}
    assert set(third["box.position[1]"]) == {7.0}


def test_a_loaded_run(tmp_path):
    run = world().simulate(0.1, 1e-3)
    run.save(tmp_path / "x.nc")
    run.export(tmp_path / "a.csv")
    pt.load_run(tmp_path / "x.nc", lazy=True).export(tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_where_a_table_cannot_go(tmp_path):
    run = world().simulate(0.01, 1e-3)
    with pytest.raises(ValueError, match=r"'x.xls': a table is written as .csv or .parquet, not as '.xls'\.$"):
        run.export("x.xls")
    with pytest.raises(ValueError, match=r"not as '.nc'. run.save writes such files"):
        run.export("x.nc")
    with pytest.raises(FileNotFoundError, match=r"the folder '.*nowhere' does not exist"):
        run.export(tmp_path / "nowhere" / "x.csv")
