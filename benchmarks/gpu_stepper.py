"""Worlds stepped from outside on the GPU: 50 Hz control and 1 kHz physics, feedback by CuPy in between, per period.

The first instances are checked against the processor. Needs NumPy and CuPy alone:

PYTHONPATH=src python benchmarks/gpu_stepper.py [--count 65536]
"""

import argparse
import time
from typing import Any

import cupy as cp
import numpy as np

import poinsot as pt
from cases.control import PLANTS, STEP, SUBSTEPS, world

CHECKED, PERIODS = 64, 50


def start(name: str, count: int) -> dict[str, np.ndarray]:
    """The numbers with which every instance starts."""
    mech, rng = PLANTS[name].mechanism(), np.random.default_rng(0)
    moving = [link.name for link in mech.links if link.joint.nv]
    spread = {"q": 0.3, "v": 0.1}
    return {f"{link}.{x}": scale * rng.standard_normal((count, 1)) for link in moving for x, scale in spread.items()}


def stepper(name: str, numbers: dict[str, np.ndarray], device: str) -> Any:
    return world(name).stepper(
        vary=numbers, step=STEP, control_period=SUBSTEPS * STEP, method="semi-implicit euler", device=device
    )


def periods(name: str, sim: Any, out: Any, count: int) -> Any:
    """Feedback and a control period, so many times."""
    n = out.shape[1] // 2
    sim.reset(seed=0, out=out)
    for _ in range(count):
        sim.step(PLANTS[name].law(out[:, :n], out[:, n:]), out=out)
    return out


def report(name: str, count: int) -> None:
    """One row of the table."""
    numbers = start(name, count)
    begin = time.perf_counter()
    sim = stepper(name, numbers, "cuda")
    out = cp.moveaxis(cp.empty((len(sim.observation_labels), count)), 0, 1)
    found = periods(name, sim, out, 3)[:CHECKED].get()
    ready = time.perf_counter() - begin
    few = stepper(name, {path: x[:CHECKED] for path, x in numbers.items()}, "cpu")
    expected = periods(name, few, np.empty(found.shape), 3)
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    assert error < 1e-10, f"{name}: off by {error}"
    n, times = out.shape[1] // 2, []
    for _ in range(5):
        cp.cuda.Stream.null.synchronize()
        begin = time.perf_counter()
        for _ in range(PERIODS):
            sim.step(PLANTS[name].law(out[:, :n], out[:, n:]), out=out)
        cp.cuda.Stream.null.synchronize()
        times.append((time.perf_counter() - begin) / PERIODS)
    t = float(np.median(times))
    print(
        f"| {name} | {count} | {1e6 * t:.0f} | {count / t * 1e-6:.3g} | {count * SUBSTEPS / t * 1e-9:.3g} "
        f"| {error:.0e} | {ready:.1f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, nargs="*", default=[4096, 65536], help="instances")
    arguments = parser.parse_args()
    print(f"{cp.cuda.runtime.getDeviceProperties(0)['name'].decode()}, CuPy {cp.__version__}, Poinsot {pt.__version__}")
    print("| world, float64 | instances | us per period | M periods/s | G steps/s | error | ready s |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name in PLANTS:
        for count in arguments.count:
            report(name, count)


if __name__ == "__main__":
    main()
