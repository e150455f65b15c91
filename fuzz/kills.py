"""kill -9 at a random moment, and disks that are full: results are whole or not there, and sweeps resume to the bit."""

import atexit
import multiprocessing
import os
import resource
import shutil
import signal
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import poinsot as pt
from trial import require

SPELL = 0.6  # s: the time within which a child is killed; its work takes longer


def world() -> pt.World:
    w = pt.World(gravity=(0, 0, -9.81))
    w.add_body("box", pt.Inertia.box(mass=1.0, size=(0.1, 0.2, 0.3)), angular_velocity=(0.1, 5.0, 0.1))
    return w


def save(path: str, endless: bool = False) -> None:
    run = world().simulate(2.0, every=1e-3)
    run.save(path)
    while endless:
        run.save(path)


def stream(path: str, endless: bool = False) -> None:
    world().simulate(4000.0 if endless else 20.0, every=1e-3, save=path)


def sweep(path: str, endless: bool = False) -> None:
    pt.sweep(world(), {"box.mass": np.linspace(1.0, 2.0, 32)}, 0.05, save=path, chunk=4, every=0.01, progress=False)


@cache
def swept() -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "whole.zarr")
        sweep(path)
        return pt.load_sweep(path).data["position"].values


def trial(rng: np.random.Generator) -> None:
    work, suffix = [("save", ".nc"), ("save", ".zarr"), ("stream", ".nc"), ("stream", ".zarr"), ("sweep", ".zarr")][
        rng.integers(5)
    ]
    full = rng.random() < 0.3
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"result{suffix}"
        limit = int(10 ** rng.uniform(3, 6))
        interrupted(work, path, float(rng.uniform(0, SPELL)), limit if full else None)
        how = "the disk was full" if full else "kill -9"
        if work == "sweep":
            sweep(str(path))
            require(np.array_equal(pt.load_sweep(path).data["position"].values, swept()), f"{how}: other numbers")
        elif path.exists():
            run = pt.load_run(path)
            require(run.data.sizes["time"] > 0, f"{how}: {work} left an empty {suffix}")


def interrupted(work: str, path: Path, seconds: float, limit: int | None) -> None:
    """Let a child do the work; kill it some time after it began, or let no file grow beyond a limit [bytes].

    The children are forks of a server that has imported everything, so that a kill takes little longer than its wait.
    """
    here, there = multiprocessing.Pipe()
    child = server().Process(target=at_work, args=(work, str(path), limit, there))
    child.start()
    there.close()
    if here.poll(60):
        here.recv()
    if limit is None:
        time.sleep(seconds)
        child.kill()
    child.join(120)
    require(child.exitcode is not None, f"{work} hangs")
    child.close()
    here.close()


def at_work(work: str, path: str, limit: int | None, ready: Any) -> None:
    """In the child: do the work, quietly; a full disk may end it with any error."""
    warnings.simplefilter("ignore")
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    if limit is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    ready.send("ready")
    {"save": save, "stream": stream, "sweep": sweep}[work](path, endless=limit is None)


@cache
def server() -> Any:
    """Of forks, with a folder of their own for compiled code, which full disks and kills may damage."""
    os.environ["POINSOT_CACHE"] = cached = tempfile.mkdtemp(prefix="poinsot-kills-")
    atexit.register(shutil.rmtree, cached, ignore_errors=True)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["kills", "xarray", "zarr", "netCDF4"])
    return context
