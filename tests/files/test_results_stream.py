"""Runs written while they go on: the same file as one that was saved at the end, in little memory."""

import os
import signal
import tracemalloc
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import poinsot as pt
from poinsot.files import Writer, saving
from poinsot.run import Stop
from sparing import few

FORMATS = ("x.nc", "x.zarr")


@cache
def world() -> pt.World:
    """A body that tumbles, so that its quaternion changes sign, and a hinge with a motor."""
    w = pt.World()
    w.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), angular_velocity=(30, 0.2, 0.3))
    w.add_body("arm", pt.Inertia.cylinder(1, 0.05, 1), joint=pt.revolute((0, 1, 0)))
    w.add_input("u", 0.0)
    w.add_motor("motor", "arm", pt.Input("u"))
    return w


RUNS = {
    "single": {},
    "batch": {"batch": 3, "vary": {"box.mass": pt.Normal(2, 0.1)}, "every": 0.01, "ledger": True},
    "inputs": {"inputs": {"u": ([0.0, 0.7], [0.0, 1.0])}, "record": ["orientation", "reaction"]},
}


@pytest.fixture(scope="module", params=RUNS)
def run(request):
    return world().simulate(2.0, 1e-3, **RUNS[request.param])


def streamed(run: pt.Run, path: Path, size: int, stop: Stop | None = None) -> pt.Run:
    """A run written to a file by some records at a time."""
    with Writer(path, run.world, run.compiled, run.settings, run.record) as writer:
        for k in range(0, len(run.time), size):
            piece = slice(k, k + size)
            writer.add(run.time[piece], run.y[piece], run.p[piece] if run.p.ndim == run.y.ndim else run.p)
            assert not path.exists()
        return writer.finish(stop or run.stop)


@pytest.mark.parametrize(  # the bytes that are written together: a record, some, all
    ("name", "piece"),
    few([(name, piece) for name in FORMATS for piece in (1, 10_000, 2**24)], {("x.nc", 10_000), ("x.zarr", 1)}),
)
def test_a_streamed_run_is_the_run(run, name, piece, tmp_path, monkeypatch):
    monkeypatch.setattr(saving, "PIECE", piece)
    short = slice(0, 12 if piece == 1 else None)
    part = pt.Run(
        run.world, run.compiled, run.time[short], run.y[short], _some(run, short), run.settings, run.stop, run.record
    )
    mine = streamed(part, tmp_path / name, 1 if piece == 1 else 7)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    for back in (mine, pt.load_run(tmp_path / name)):
        xarray.testing.assert_identical(back.data.load(), part.data)
        assert np.asarray(back.y).tobytes() == part.y.tobytes()
        assert back.p.tobytes() == part.p.tobytes()
        assert (str(back.stop), back.stop.reason) == (str(part.stop), part.stop.reason)
        if run.compiled.keeps_ledger:
            assert str(back.ledger) == str(part.ledger)


def _some(run: pt.Run, records: slice) -> Any:
    return run.p[records] if run.p.ndim == run.y.ndim else run.p


def test_the_quaternions_of_this_test_change_sign():
    q = world().simulate(2.0, 1e-3)["box"].orientation
    assert np.any(q[:, 0] < 0)  # a pose alone gives w >= 0; the others follow on from the record before


def test_a_streamed_run_can_be_repeated(run, tmp_path):
    mine = streamed(run, tmp_path / "x.nc", 7)
    assert mine.repeat().y.tobytes() == run.y.tobytes()
    assert pt.load_run(tmp_path / "x.nc").repeat().y.tobytes() == run.y.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_memory_is_bounded(name, tmp_path, monkeypatch):
    """40 MB of records, in pieces of 1 MB: what is made of a piece is a few times as large, the whole is not."""
    monkeypatch.setattr(saving, "PIECE", 2**20)
    run = world().simulate(1.0, 1e-3)
    k = 1000
    time, y = np.arange(k) * 1e-3, np.repeat(run.y[-1:], k, axis=0)
    pieces = 40 * 2**20 // y.nbytes
    with Writer(tmp_path / name, run.world, run.compiled, run.settings) as writer:
        for _ in range(3):  # everything is compiled and imported once
            writer.add(time, y, run.p)
        tracemalloc.start()
        for piece in range(pieces):
            writer.add(time + piece + 3, y, run.p)
        written = writer.finish(run.stop)
        assert np.array_equal(written.y[-1], y[-1])
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert written.y.shape == ((pieces + 3) * k, y.shape[1])
    assert np.prod(written.y.shape) * 8 > 40e6
    assert peak < 15e6


def test_a_run_larger_than_memory_is_read_in_parts(tmp_path):
    run = world().simulate(2.0, 1e-3)
    run.save(tmp_path / "x.nc")
    back = pt.load_run(tmp_path / "x.nc", lazy=True)
    assert repr(back.y) == f"<array of shape {run.y.shape} on disk>"
    assert (back.y.shape, back.y.ndim, len(back.y)) == (run.y.shape, 2, len(run.y))
    for key in (0, -1, slice(3, 9), (slice(None), 2), (..., 0), [1, 5]):
        assert np.array_equal(back.y[key], run.y[key])
    assert not back.data.position.variable._in_memory


# What ends a run early.


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("reason", ["interrupted", "broken"])
def test_a_partial_run_is_kept_with_its_reason(name, reason, tmp_path):
    run = world().simulate(0.1, 1e-3)
    streamed(run, tmp_path / name, 7, Stop(reason, 0.42, f"{reason} at t = 0.42 s"))
    back = pt.load_run(tmp_path / name)
    assert (back.stop.reason, back.stop.time, str(back.stop)) == (reason, 0.42, f"{reason} at t = 0.42 s")
    assert xarray.load_dataset(tmp_path / name, engine=None if name == "x.nc" else "zarr").attrs["stop"] == reason
    assert np.array_equal(back.y, run.y)


@pytest.mark.parametrize("name", FORMATS)
def test_ctrl_c_while_a_piece_is_written(name, tmp_path, monkeypatch):
    """The piece is finished first; what came before is kept."""
    monkeypatch.setattr(saving, "PIECE", 10_000)
    run = world().simulate(1.0, 1e-3)
    put = Writer.put

    def interrupted(*arguments: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        put(*arguments)

    with Writer(tmp_path / name, run.world, run.compiled, run.settings) as writer:
        monkeypatch.setattr(Writer, "put", interrupted)
        with pytest.raises(KeyboardInterrupt):
            writer.add(run.time[:60], run.y[:60], run.p)
        monkeypatch.setattr(Writer, "put", put)
        writer.add(run.time[60:70], run.y[60:70], run.p)
        writer.finish(Stop("interrupted", 0.7, "interrupted at t = 0.7 s"))
    back = pt.load_run(tmp_path / name)
    assert np.array_equal(back.y, run.y[:70])
    assert np.array_equal(back.data.q, run.data.q[:70])


@pytest.mark.parametrize("name", FORMATS)
def test_an_abandoned_run_leaves_nothing(name, tmp_path, monkeypatch):
    monkeypatch.setattr(saving, "PIECE", 1)
    run = world().simulate(0.1, 1e-3)
    writer = Writer(tmp_path / name, run.world, run.compiled, run.settings)
    writer.add(run.time, run.y, run.p)
    assert len(list(tmp_path.iterdir())) == 1
    writer.abandon()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="a run without records"):
        Writer(tmp_path / name, run.world, run.compiled, run.settings).finish(run.stop)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        Writer(tmp_path / "nowhere" / name, run.world, run.compiled, run.settings)


@pytest.mark.parametrize("batch", [None, 3])
def test_a_run_that_is_saved_as_it_goes_is_the_same_run(batch, tmp_path):
    run = world().simulate(0.1, 1e-3, batch=batch)
    streamed = world().simulate(0.1, 1e-3, batch=batch, save=tmp_path / "x.nc")
    assert np.array_equal(streamed.y, run.y)
    assert streamed.y.size == run.y.size
