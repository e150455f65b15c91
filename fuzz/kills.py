"""kill -9 at a random moment, and disks that are full: results are whole or not there, and sweeps resume to the bit."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np

import poinsot as pt
from trial import require

WORK = """
import sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, {here!r})
import kills
print("ready", flush=True)
kills.{work}({path!r})
print("done", flush=True)
"""


def world() -> pt.World:
    w = pt.World(gravity=(0, 0, -9.81))
    w.add_body("box", pt.Inertia.box(mass=1.0, size=(0.1, 0.2, 0.3)), angular_velocity=(0.1, 5.0, 0.1))
    return w


def save(path: str) -> None:
    run = world().simulate(2.0, every=1e-3)
    for _ in range(40):
        run.save(path)


def stream(path: str) -> None:
    world().simulate(40.0, every=1e-3, save=path)


def sweep(path: str) -> None:
    pt.sweep(world(), {"box.mass": np.linspace(1.0, 2.0, 64)}, 0.05, save=path, chunk=4, every=0.01, progress=False)


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
        interrupted(work, path, float(rng.uniform(0, 1.5)), limit if full else None)
        how = "the disk was full" if full else "kill -9"
        if work == "sweep":
            sweep(str(path))
            require(np.array_equal(pt.load_sweep(path).data["position"].values, swept()), f"{how}: other numbers")
        elif path.exists():
            run = pt.load_run(path)
            require(run.data.sizes["time"] > 0, f"{how}: {work} left an empty {suffix}")


def interrupted(work: str, path: Path, seconds: float, limit: int | None) -> None:
    """Let a child do the work; kill it some time after it began, or let no file grow beyond a limit [bytes]."""

    def no_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    code = WORK.format(here=str(Path(__file__).parent), work=work, path=str(path))
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | ({"POINSOT_CACHE": "/nonexistent"} if limit else {}),
        preexec_fn=no_room if limit is not None else None,
    )
    assert child.stdout is not None
    child.stdout.readline()
    if limit is None:
        time.sleep(seconds)
        child.kill()
    child.wait(timeout=120)
    child.stdout.close()
