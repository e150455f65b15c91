"""Files appear whole or not at all: processes that are killed, that write at the same time, that run out of disk."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import cache
from pathlib import Path

import pytest

import poinsot as pt
from poinsot import _atomic as atomic

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked and killed as POSIX systems do")

# Two runs a and b, of different lengths, that any number of children can save without computing anything.
START = """
import os, random, signal, sys, time
import numpy as np
import poinsot as pt

w = pt.World()
w.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), angular_velocity=(9, 2, 3))
runs = [w.simulate(duration, 1e-3) for duration in (0.1, 10.0)]
for run in runs:
    run.data, run.ledger
name = sys.argv[1]

def child(work):
    pid = os.fork()
    if not pid:
        try:
            work()
        finally:
            os._exit(0)
    return pid

def whole(back):
    return any(len(back.time) == len(r.time) and back.y.tobytes() == r.y.tobytes() and
               back.data.identical(r.data) and str(back.ledger) == str(r.ledger) for r in runs)

def write(run):
    if name.endswith((".csv", ".parquet")):
        run.export(name)
    else:
        run.save(name)
"""


def script(text: str, folder: Path, *arguments: str) -> str:
    code = START + textwrap.dedent(text)
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


@pytest.mark.parametrize("times", [4, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["x.nc", "x.zarr"])
def test_a_killed_process_leaves_the_old_file_or_none(name, times, tmp_path):
    """At first nothing may be there; as soon as something is, it is always one of the two runs, whole."""
    out = script(
        """
        dice = random.Random(1)
        times = int(sys.argv[2])
        write(runs[1])
        t = time.perf_counter(); write(runs[1]); took = time.perf_counter() - t
        import shutil
        shutil.rmtree(name, ignore_errors=True) if os.path.isdir(name) else os.remove(name)
        kept = cut = 0
        k = 0
        while k < times or not (kept and cut):
            k += 1
            pid = child(lambda: write(runs[k % 2]))
            time.sleep(dice.random() * 2 * took)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            cut += any(n != name for n in os.listdir())
            if os.path.exists(name):
                assert whole(pt.load_run(name)), k
                kept += 1
            else:
                assert not kept, "the old file is gone"
        write(runs[0])
        print(os.listdir() == [name])
        """,
        tmp_path,
        name,
        str(times),
    )
    assert out == "True\n"  # some were finished, some were not, and what those left is gone


@pytest.mark.parametrize("name", ["x.nc", "x.zarr"])
def test_processes_that_write_at_the_same_time_do_not_mix(name, tmp_path):
    out = script(
        """
        running = {child(lambda: [write(run) for _ in range(2)]) for run in runs for _ in range(2)}
        while running:
            if os.path.exists(name):
                assert whole(pt.load_run(name))
            running = {pid for pid in running if os.waitpid(pid, os.WNOHANG)[0] == 0}
        print(os.listdir() == [name], whole(pt.load_run(name)))
        """,
        tmp_path,
        name,
    )
    assert out == "True True\n"


def test_a_full_disk_leaves_the_old_file(tmp_path):
    names = ["x.csv", "x.nc", "x.parquet", "x.zarr"]
    out = script(
        """
        import resource
        names = sys.argv[1:]
        for name in names:
            write(runs[0])
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))  # no file may grow beyond this
        for name in names:
            try:
                write(runs[1])
            except OSError as error:
                print("OSError", name.endswith((".csv", ".parquet")) or whole(pt.load_run(name)))
        print(sorted(os.listdir()) == names)
        """,
        tmp_path,
        *names,
    )
    assert out == "OSError True\n" * 4 + "True\n"


# The parts of it.


@cache
def tumbling():
    w = pt.World()
    w.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), angular_velocity=(9, 2, 3))
    return w


@cache
def short_run():
    return tumbling().simulate(0.1)


def fail(path: Path) -> None:
    path.write_text("new")
    raise RuntimeError


def test_a_file_that_fails_is_removed(tmp_path):
    (tmp_path / "x").write_text("old")
    with pytest.raises(RuntimeError), atomic.replacing(tmp_path / "x") as temporary:
        fail(temporary)
    assert (tmp_path / "x").read_text() == "old"
    with atomic.replacing(tmp_path / "x") as temporary:
        temporary.write_text("new")
        assert (tmp_path / "x").read_text() == "old"
    assert [p.read_text() for p in tmp_path.iterdir()] == ["new"]


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_leads_to_what_was_written(there, tmp_path):
    (tmp_path / "data").mkdir()
    target, link = tmp_path / "data" / "run.csv", tmp_path / "latest.csv"
    if there:
        target.write_text("old")
    link.symlink_to(target)
    atomic.write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert [p.name for p in tmp_path.rglob("*.csv")].count("run.csv") == 1
    assert len(list(target.parent.iterdir())) == 1
    short_run().save(tmp_path / "whole.zarr")
    (tmp_path / "latest.zarr").symlink_to(tmp_path / "whole.zarr", target_is_directory=True)
    with pytest.raises(FileExistsError, match=r"a symbolic link to '.*whole.zarr'; it is not replaced"):
        short_run().save(tmp_path / "latest.zarr")
    assert (tmp_path / "latest.zarr").is_symlink()


def test_links_that_lead_nowhere(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="link"):
        atomic.write_text(tmp_path / "a", "new")
    (tmp_path / "c").symlink_to(tmp_path / "nowhere" / "c")
    with pytest.raises(FileNotFoundError, match=r"the folder '.*nowhere' does not exist"):
        atomic.write_text(tmp_path / "c", "new")


def test_folders_change_places_also_where_the_system_cannot_at_once(tmp_path, monkeypatch):
    for platform in (sys.platform, "other"):
        monkeypatch.setattr(atomic.sys, "platform", platform)
        for name in "ab":
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / "text").write_text(name)
        atomic._exchange(tmp_path / "a", tmp_path / "b")
        assert [(tmp_path / name / "text").read_text() for name in "ab"] == ["b", "a"]
        assert len(list(tmp_path.iterdir())) == 2


def test_only_what_dead_processes_left_is_removed(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    mine = atomic.beside(tmp_path / "x.nc")
    mine.write_text("at work")
    orphan = mine.with_name(mine.name.replace(f"-{os.getpid()}-", f"-{dead.pid}-"))
    orphan.write_text("left")
    other = orphan.with_name(orphan.name.replace(".x.nc.", ".y.nc."))
    other.write_text("of another file")
    atomic.beside(tmp_path / "x.nc")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([mine.name, other.name])


def test_ctrl_c_waits_until_a_piece_is_written():
    done = []

    def interrupt(word: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        done.append(word)

    def work() -> None:
        with atomic.undisturbed():
            with atomic.undisturbed():
                interrupt("inner")
            interrupt("outer")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["inner", "outer"]
    with pytest.raises(KeyboardInterrupt):
        interrupt("afterwards")
    assert done == ["inner", "outer"]


def test_a_saved_run_outlives_the_file_it_replaces(tmp_path):
    """A run that reads from a NetCDF file keeps what it has opened."""
    first, second = short_run(), tumbling().simulate(0.2)
    first.save(tmp_path / "x.nc")
    lazy = pt.load_run(tmp_path / "x.nc", lazy=True)
    second.save(tmp_path / "x.nc")
    assert lazy.y[...].tobytes() == first.y.tobytes()
    assert lazy.data.load().identical(first.data)
    assert pt.load_run(tmp_path / "x.nc").y.tobytes() == second.y.tobytes()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_file_is_never_replaced(tmp_path):
    """A pipe here; devices are alike, and a user who may do all would lose /dev/full to a replay."""
    pipe = tmp_path / "pipe.html"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="a device, pipe or socket cannot be replaced"):
        atomic.write_text(pipe, "x")
    assert pipe.is_fifo()
    assert sorted(tmp_path.iterdir()) == [pipe]
