"""Sweeps: the same bits however they are cut, nothing lost when they stop, statistics that are right."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from functools import cache
from typing import Any

import numpy as np
import pytest
import xarray
from scipy.stats import spearmanr

import poinsot as pt
from poinsot.fuse import Kernel
from poinsot.run import kept_kernels, simulation
from poinsot.show.quantiles import quantile_plot
from poinsot.show.sweep_page import sweep_page
from poinsot.study import sweeps
from poinsot.study.quantities import names, pick
from poinsot.study.sweeps import points, sweep
from poinsot.study.swept import load_sweep

pytest.importorskip("zarr")
OPTIONS: dict[str, Any] = {"duration": 0.5, "step": 0.01, "every": 0.1, "samples": 30, "seed": 3}


def fresh() -> pt.World:
    w = pt.World()
    w.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), velocity=(1, 0, 2), angular_velocity=(1, 5, 0))
    w.add_force("push", "box", pt.Input("thrust"))
    w.add_input("thrust", [0.0, 0.0, 1.0])
    return w


world = cache(fresh)  # the same one in all tests: it is compiled once
VARY = {"box.mass": np.array([1.0, 2.0, 3.0]), "box.velocity[2]": pt.Normal(2.0, 0.1)}


def test_arrays_span_a_grid_and_numbers_are_drawn_at_each_point():
    vary = {
        "box.mass": np.array([1.0, 2.0]),
        "box.velocity[0]": np.array([5.0, 6.0, 7.0]),
        "box.velocity[2]": pt.Uniform(0, 1),
    }
    drawn = points(world(), vary, samples=4, seed=1)
    assert list(drawn) == list(vary)
    assert all(len(x) == 24 for x in drawn.values())
    pairs = list(zip(drawn["box.mass"], drawn["box.velocity[0]"], strict=True))
    assert pairs == [(m, v) for m in (1.0, 2.0) for v in (5.0, 6.0, 7.0) for _ in range(4)]
    assert len(set(drawn["box.velocity[2]"])) == 24
    more = points(world(), {**vary, "box.velocity[1]": pt.Uniform(0, 1)}, samples=4, seed=1)
    assert np.array_equal(more["box.velocity[2]"], drawn["box.velocity[2]"])  # another number changes no draw


def test_a_sweep_is_the_runs_one_by_one(tmp_path):
    swept = sweep(world(), VARY, save=tmp_path / "a.zarr", chunk=32, **OPTIONS)
    assert (swept.n, swept.done, len(swept.broken)) == (90, 90, 0)
    for k in (0, 31, 32, 89):
        one = fresh()
        one["box.mass"], one["box.velocity[2]"] = (swept.varied[path][k] for path in VARY)
        run = one.simulate(0.5, 0.01, every=0.1, method="rk4")
        assert np.allclose(run.data.position.values, swept.data.position.values[:, k], rtol=0, atol=1e-14)


def test_chunks_do_not_change_a_bit(tmp_path):
    first = sweep(world(), VARY, save=tmp_path / "a.zarr", chunk=90, **OPTIONS)
    second = sweep(world(), VARY, save=tmp_path / "b.zarr", chunk=7, **OPTIONS)
    for name in first:
        if name != "done":
            assert np.array_equal(first.data[name].values, second.data[name].values), name


def test_a_sweep_can_run_on_another_device(tmp_path, monkeypatch):
    """With the processor in the place of the GPU: steps go there, chunk by chunk, and it is another sweep."""
    sent: list[int] = []

    def on_device(kernel: Any) -> Any:
        return lambda x, *others: sent.append(len(x)) or kernel(x, *others)

    monkeypatch.setattr(Kernel, "to", lambda kernel, backend: kernel)
    monkeypatch.setattr(kept_kernels, "OnDevice", on_device)
    there = sweep(fresh(), VARY, save=tmp_path / "a.zarr", chunk=32, device="cuda", **OPTIONS)
    assert set(sent) == {1, 32, 26}  # the first one, to lay out the store, and 90 in chunks
    here = sweep(world(), VARY, save=tmp_path / "b.zarr", chunk=32, **OPTIONS)
    for name in here:
        assert np.array_equal(here.data[name].values, there.data[name].values), name
    with pytest.raises(FileExistsError, match="holds another sweep"):
        sweep(world(), VARY, save=tmp_path / "a.zarr", chunk=32, **OPTIONS)


def test_a_sweep_without_its_device_begins_nothing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)  # as if it were not installed
    with pytest.raises(ImportError, match=r"needs the package 'cupy': pip install 'poinsot\[cuda\]'"):
        sweep(fresh(), VARY, save=tmp_path / "a.zarr", device="cuda", **OPTIONS)
    assert not list(tmp_path.iterdir())


def test_inputs_can_be_varied(tmp_path):
    thrust = np.array([[0.0, 0, 0], [0, 0, 2], [0, 0, 4]])
    options = OPTIONS | {"samples": None}
    swept = sweep(world(), {"thrust": thrust}, save=tmp_path / "a.zarr", **options)
    v = swept.at_end("box.velocity.z")
    assert np.allclose(v, 2.0 + 0.5 * (thrust[:, 2] / 2.0 - 9.81), rtol=1e-13)


def test_inputs_can_be_given(tmp_path):
    options = OPTIONS | {"samples": None, "inputs": {"thrust": [0.0, 0.0, 4.0]}}
    swept = sweep(world(), {"box.mass": np.array([1.0, 2.0])}, save=tmp_path / "a.zarr", **options)
    expected = 2.0 + 0.5 * (4.0 / np.array([1.0, 2.0]) - 9.81)
    assert np.allclose(swept.at_end("box.velocity.z"), expected, atol=1e-6)  # RK4, in the axes of a body that turns


def test_a_sweep_goes_on_where_it_was(tmp_path, monkeypatch):
    done: list[int] = []
    work = sweeps.work

    def failing(job: sweeps.Job, k: int) -> int:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(work(job, k))
        return k

    monkeypatch.setattr(sweeps, "work", failing)
    with pytest.raises(KeyboardInterrupt):
        sweep(world(), VARY, save=tmp_path / "a.zarr", chunk=20, **OPTIONS)
    half = load_sweep(tmp_path / "a.zarr")
    assert (half.done, half.n) == (40, 90)
    assert half.statistics("box.position.z")["mean"] == pytest.approx(
        np.mean(half.at_end("box.position.z")[:40]), rel=1e-15
    )
    done.clear()
    monkeypatch.setattr(sweeps, "work", lambda job, k: done.append(k) or work(job, k))
    whole = sweep(world(), VARY, save=tmp_path / "a.zarr", chunk=20, **OPTIONS)
    assert done == [2, 3, 4]
    again = sweep(world(), VARY, save=tmp_path / "b.zarr", chunk=20, **OPTIONS)
    assert np.array_equal(whole.data.position.values, again.data.position.values)


def test_a_sweep_of_which_nothing_is_done_is_not_drawn(tmp_path, monkeypatch):
    def stopped(job: sweeps.Job, k: int) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(sweeps, "work", stopped)
    with pytest.raises(KeyboardInterrupt):
        sweep(world(), VARY, save=tmp_path / "a.zarr", chunk=20, **OPTIONS)
    for draw in (quantile_plot, sweep_page):
        with pytest.raises(ValueError, match="none of the 90 instances is done"):
            draw(load_sweep(tmp_path / "a.zarr"))


def test_half_a_chunk_is_not_kept(tmp_path, monkeypatch):
    """Ctrl-C in the middle of a chunk: it is not done, and is done again."""
    want = sweep(world(), VARY, save=tmp_path / "a.zarr", chunk=32, **OPTIONS)
    real, calls = simulation.Simulation._call, []

    def pressed(self, most):
        calls.append(self)
        if len(calls) > 2:
            os.kill(os.getpid(), signal.SIGINT)
        real(self, most)

    monkeypatch.setattr(simulation.Simulation, "_call", pressed)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            sweep(world(), VARY, save=tmp_path / "b.zarr", chunk=32, **OPTIONS)
    finally:
        signal.signal(signal.SIGINT, before)
    monkeypatch.undo()
    assert load_sweep(tmp_path / "b.zarr").done < 90
    found = sweep(world(), VARY, save=tmp_path / "b.zarr", chunk=32, **OPTIONS)
    xarray.testing.assert_identical(found.data.load(), want.data.load())


def test_another_sweep_is_not_mixed_in(tmp_path):
    sweep(world(), VARY, save=tmp_path / "a.zarr", **OPTIONS)
    with pytest.raises(FileExistsError, match="holds another sweep or run"):
        sweep(world(), VARY, save=tmp_path / "a.zarr", **OPTIONS | {"seed": 4})
    swept = sweep(world(), VARY, save=tmp_path / "a.zarr", fresh=True, **OPTIONS | {"seed": 4})
    assert swept.done == 90


def test_statistics(tmp_path):
    swept = sweep(world(), VARY, save=tmp_path / "a.zarr", **OPTIONS)
    z = swept.at_end("box.position.z")
    summary = swept.statistics("box.position.z")
    assert summary["mean"] == np.mean(z)
    assert summary["std"] == np.std(z, ddof=1)
    assert summary["50 %"] == np.median(z)
    assert np.array_equal(swept.quantiles("box.position.z")[2, -1], np.median(z))
    for path, rank in swept.influences("box.position.z").items():
        assert rank == pytest.approx(spearmanr(swept.varied[path], z).statistic, rel=1e-13)


@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_instances_that_break_are_told_apart(tmp_path):
    w = pt.World(gravity=(0, 0, 0))
    w.add_particle("a", 1.0, (1, 0, 0))
    w.add_force("pull", "a", lambda t, s: s.input("k") * s["a"].position ** 3)
    w.add_input("k", 0.0)
    options = OPTIONS | {"samples": None, "duration": 4.0}
    swept = sweep(w, {"k": np.array([-1.0, 3.0, -2.0, 4.0])}, save=tmp_path / "a.zarr", **options)
    assert swept.broken.tolist() == [1, 3]
    assert np.isfinite(swept.statistics("a.position.x")["mean"])


def test_a_condition_that_ends_all_of_a_chunk(tmp_path):
    options = OPTIONS | {"samples": None, "duration": 2.0}
    vary = {"box.velocity[2]": np.array([1.0, 2.0, 3.0])}
    until = lambda t, s: s["box"].position[2] < 0  # noqa: E731
    swept = sweep(world(), vary, save=tmp_path / "a.zarr", chunk=1, until=until, **options)
    flight = 2 * vary["box.velocity[2]"] / (9.81 - 0.5)
    assert np.allclose(swept.data.stop_time.values, flight, rtol=1e-9)
    assert np.allclose(swept.at_end("box.position.z"), 0, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vary": {}}, "nothing is varied"),
        ({"vary": {"box.mas": np.ones(2)}}, "box.mas"),
        ({"vary": {"box.velocity": np.ones(2)}}, "has the shape"),
        ({"vary": {"box.velocity": pt.Normal(0, 1)}}, "vary its entries"),
        ({"vary": {"box.mass": np.array([1.0, np.nan])}}, "not finite"),
        ({"samples": 0}, "samples must be a positive whole number"),
        ({"engine": "spark"}, "engine must be one of local, dask"),
        ({"save": "a.nc"}, "a sweep is stored as .zarr"),
    ],
)
def test_bad_sweeps_are_told(change, message, tmp_path):
    options = {"vary": VARY, "save": tmp_path / "a.zarr", **OPTIONS, **change}
    with pytest.raises((ValueError, KeyError), match=message):
        sweep(world(), **options)


def test_plots_name_units_of_varied_numbers(tmp_path):
    vary = {"box.mass": [1.0, 2.0], "gravity": np.array([[0, 0, -9.0], [0, 0, -10.0]])}
    swept = sweep(world(), vary, save=tmp_path / "a.zarr", **OPTIONS)
    assert [swept.unit_of_varied(x) for x in ("box.mass", "gravity", "gravity[2]")] == ["kg", "m/s^2", "m/s^2"]
    figure = quantile_plot(swept, ["box.position.z"])
    assert [ax.get_xlabel() for ax in figure.axes] == ["time [s]", "box.mass [kg]", "gravity[0] [m/s^2]"]
    assert "box.position.z [m]" in sweep_page(swept)
    run = world().simulate(0.1, 0.05, vary={"box.mass": [1.0, 2.0]})
    assert run.data["box.mass"].attrs["units"] == "kg"


def test_names_of_quantities(tmp_path):
    w = fresh()
    w.add_body("arm", pt.Inertia.box(1.0, (0.1, 0.2, 0.3)), joint=pt.revolute((1, 0, 0)), q=[0.5])
    run = w.simulate(0.1, 0.01)
    known = names(run.data)
    for name in known:
        assert pick(run.data, name).dims == ("time",), name
    assert {
        "box.position.z",
        "box.orientation.w",
        "arm.q",
        "box.q[6]",
        "arm.v",
        "energy",
        "momentum.x",
        "push.force.z",
    } <= set(known)
    assert pick(run.data, "arm.q").values[0] == 0.5
    with pytest.raises(ValueError, match=r"'arm\.qq' was not recorded; did you mean 'arm\.q'"):
        pick(run.data, "arm.qq")


def test_names_of_quantities_with_several_dimensions():
    """An element may show a matrix: each entry has a name, by which it can be had."""
    loads = np.arange(12.0).reshape(2, 2, 3)
    data = xarray.Dataset({"grid.loads": (("time", "grid.loads.0", "grid.loads.1"), loads)})
    assert names(data) == [f"grid.loads.{i}.{j}" for i in range(2) for j in range(3)]
    assert pick(data, "grid.loads.1.2").values.tolist() == [5.0, 11.0]


@pytest.mark.slow
def test_a_cluster_gives_the_same_bits_though_a_worker_dies(tmp_path):
    """Two processes; one of them is killed while it works. Its chunk is done by another; no finished one is lost."""
    distributed = pytest.importorskip("distributed")
    options = OPTIONS | {"duration": 1.0, "step": 1e-4, "samples": 2000}
    local = sweep(world(), VARY, save=tmp_path / "local.zarr", chunk=1000, **options)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address, killed = cluster.scheduler_address, []
        first = next(iter(cluster.workers.values())).pid
        path = tmp_path / "dask.zarr"

        def kill_when_it_works(left: int) -> None:
            if not killed:
                time.sleep(0.02)
                os.kill(first, signal.SIGKILL)
                killed.append(left)

        run = sweeps.ENGINES["dask"]
        values = points(world(), VARY, options["samples"], options["seed"])
        own = {k: v for k, v in options.items() if k not in ("samples", "seed")}
        job = sweeps.Job(world().description, own, values, 1000, str(path))
        run(job, sweeps._waiting(job, False), address, kill_when_it_works)
    assert killed
    assert 0 < killed[0] < job.chunks
    swept = load_sweep(path)
    assert swept.done == swept.n == local.n == 6000
    for name in local:
        assert np.array_equal(local.data[name].values, swept.data[name].values), name


def test_a_fresh_sweep_removes_nothing_that_is_not_ours(tmp_path):
    path = tmp_path / "a.zarr"
    path.mkdir()
    (path / "thesis.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"a.zarr' exists and is not a saved run or sweep of Poinsot"):
        sweep(world(), VARY, save=path, fresh=True, **OPTIONS)
    assert (path / "thesis.txt").read_text() == "mine"
    other = tmp_path / "other.zarr"
    xarray.Dataset({"x": ("k", [1.0, 2.0])}).to_zarr(other, zarr_format=2)
    for fresh in (True, False):
        with pytest.raises(FileExistsError, match="is not a"):
            sweep(world(), VARY, save=other, fresh=fresh, **OPTIONS)
    assert list(xarray.open_zarr(other).x.values) == [1.0, 2.0]


def test_files_that_a_user_put_into_a_sweep_stay(tmp_path):
    path = tmp_path / "a.zarr"
    sweep(world(), VARY, save=path, **OPTIONS)
    (path / "position" / "notes.md").write_text("mine")
    with pytest.raises(FileExistsError, match=r"'position/notes.md' in it was not written by Poinsot"):
        sweep(world(), VARY, save=path, fresh=True, **OPTIONS)
    assert (path / "position" / "notes.md").read_text() == "mine"
    (tmp_path / "link.zarr").symlink_to(path)
    with pytest.raises(FileExistsError, match=r"link.zarr' exists and is not"):
        sweep(world(), VARY, save=tmp_path / "link.zarr", fresh=True, **OPTIONS)


def test_a_run_replaces_neither_a_sweep_nor_a_store_of_others(tmp_path):
    run = world().simulate(0.1)
    sweep(world(), VARY, save=tmp_path / "a.zarr", **OPTIONS)
    with pytest.raises(FileExistsError, match=r"a.zarr' is a sweep, not a saved run"):
        run.save(tmp_path / "a.zarr")
    xarray.Dataset({"x": ("k", [1.0, 2.0])}).to_zarr(tmp_path / "b.zarr", zarr_format=2)
    with pytest.raises(FileExistsError, match=r"b.zarr' exists and is not a saved run"):
        run.save(tmp_path / "b.zarr")


def test_a_sweep_is_laid_out_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a.zarr"

    def full(*arguments: Any) -> None:
        raise OSError(28, "full")

    with monkeypatch.context() as patch:
        patch.setattr(sweeps, "_make_room", full)
        with pytest.raises(OSError, match="full"):
            sweep(world(), VARY, save=path, **OPTIONS)
    assert not list(tmp_path.iterdir())
    sweep(world(), VARY, save=path, chunk=30, **OPTIONS)
    shutil.rmtree(path / "done")  # as if it had been laid out in part
    assert sweep(world(), VARY, save=path, chunk=30, **OPTIONS).done == 90
    assert [p.name for p in tmp_path.iterdir()] == ["a.zarr"]


def test_a_chunk_whose_mark_is_damaged_is_done_again(tmp_path, monkeypatch):
    path = tmp_path / "a.zarr"
    first = sweep(world(), VARY, save=path, chunk=30, **OPTIONS).data.position.values
    (path / "done" / "1").write_bytes(b"")
    done: list[int] = []
    work = sweeps.work
    monkeypatch.setattr(sweeps, "work", lambda job, k: done.append(k) or work(job, k))
    assert np.array_equal(sweep(world(), VARY, save=path, chunk=30, **OPTIONS).data.position.values, first)
    assert done == [1]


def test_a_chunk_reaches_the_disk_before_it_counts(tmp_path, monkeypatch):
    flushed: list[str] = []
    flush = sweeps._flush

    def noted(folder: Any, piece: str) -> None:
        flushed.append(f"{folder.name}/{piece}")
        assert folder.name == "done" or not (tmp_path / "a.zarr" / "done" / "1").exists()
        flush(folder, piece)

    path = tmp_path / "a.zarr"
    sweep(world(), VARY, save=path, chunk=45, **OPTIONS)
    (path / "done" / "1").unlink()
    monkeypatch.setattr(sweeps, "_flush", noted)
    sweep(world(), VARY, save=path, chunk=45, **OPTIONS)
    assert flushed[-1] == "done/1"
    assert {name.partition("/")[0] for name in flushed} == set(map(str, load_sweep(path)))
    assert all((path / name).exists() for name in flushed)


SHARE = """
import sys
import threading
sys.path.insert(0, {here!r})
import test_sweep
from poinsot.study import sweeps
work = sweeps.work
sweeps.work = lambda job, k: print(k, flush=True) or work(job, k)
sweeps.sweep(test_sweep.world(), test_sweep.VARY, save={path!r}, chunk=3, progress=False, **test_sweep.OPTIONS)
"""


@pytest.mark.skipif(os.name != "posix", reason="the locks of POSIX")
def test_processes_share_a_sweep(tmp_path):
    code = SHARE.format(here=os.path.dirname(__file__), path=str(tmp_path / "a.zarr"))
    children = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    texts = [child.communicate(timeout=120)[0] for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert sorted(int(k) for text in texts for k in text.split()) == list(range(30))  # each once
    alone = sweep(world(), VARY, save=tmp_path / "b.zarr", chunk=90, **OPTIONS)
    assert np.array_equal(load_sweep(tmp_path / "a.zarr").data.position.values, alone.data.position.values)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.zarr", "b.zarr"]


STRENGTH = 1.0
GUARD: Any = True
FORCE = np.array([0.0, 0.0, 1.0])


def scaled(x: Any) -> Any:
    return STRENGTH * x


def push(t: Any, scene: pt.Scene) -> Any:
    return scaled(FORCE) if GUARD else None


def test_a_sweep_is_not_resumed_with_other_physics(tmp_path, monkeypatch):
    """The globals that a force reads belong to it: also those of a function it calls, and arrays changed in place."""

    def swept() -> Any:
        w = pt.World()
        w.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)))
        w.add_force("push", "box", push)
        vary = {"box.mass": np.array([1.0, 2.0])}
        return sweep(w, vary, 0.02, 0.01, save=tmp_path / "a.zarr", progress=False)

    swept()
    swept()
    monkeypatch.setitem(globals(), "STRENGTH", 2.0)
    with pytest.raises(FileExistsError, match="holds another sweep"):
        swept()
    monkeypatch.setitem(globals(), "STRENGTH", 1.0)
    swept()
    FORCE[2] = 5.0
    try:
        with pytest.raises(FileExistsError, match="holds another sweep"):
            swept()
    finally:
        FORCE[2] = 1.0
    monkeypatch.setitem(globals(), "GUARD", threading.Lock())
    with pytest.raises(FileExistsError, match=r"reads _thread.lock, which cannot be compared"):
        swept()


@pytest.mark.parametrize("name", ["left/wing", "left\\wing", "/"])
def test_names_with_slashes_are_kept(tmp_path, name):
    """They would be folders in a store, and what is in these would be lost."""
    world = pt.World()
    world.add_body(name, pt.Inertia.box(1.0, (0.1, 0.2, 0.3)), position=(0, 0, 1.0))
    world.add_torque(f"{name}motor", name, (0, 0, 1.0))
    vary = {f"{name}.mass": np.array([1.0, 2.0, 3.0]), f"{name}.position": np.eye(3)}
    swept = pt.sweep(world, vary, 0.02, 1e-2, save=tmp_path / "a.zarr", chunk=2)
    assert swept.n == 9
    assert set(swept.varied) == set(vary)
    assert np.array_equal(np.unique(swept.varied[f"{name}.mass"]), [1.0, 2.0, 3.0])
    assert np.all(swept.at_end(f"{name}motor.torque.z") == 1.0)
    assert f"{name}.mass" in swept.data.coords
    for suffix in ("nc", "zarr"):
        run = world.simulate(0.02, 1e-2, vary={f"{name}.mass": [1.0, 2.0]})
        run.save(tmp_path / f"b.{suffix}")
        back = pt.load_run(tmp_path / f"b.{suffix}")
        assert back.data.body.values.tolist() == [name]
        np.testing.assert_array_equal(back.data[f"{name}.mass"], [1.0, 2.0])
        np.testing.assert_array_equal(back.data[f"{name}motor.torque"], run.data[f"{name}motor.torque"])
