"""The vehicles of docs/parts.md on the GPU: batches of varied worlds, against the same worlds on the processor.

All numbers of all records are compared, q, v, states of parts and the ledger, and when each joint parted. On a machine
with llvmlite and CuPy:

PYTHONPATH=src python benchmarks/gpu_worlds.py

A machine with the GPU may have NumPy and CuPy alone; the processor's part is then made elsewhere and taken along:

PYTHONPATH=src python benchmarks/gpu_worlds.py --processor worlds.npz
PYTHONPATH=src python benchmarks/gpu_worlds.py --against worlds.npz
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import poinsot as pt
import vehicles

CHECKED = 1024  # instances that run on the processor, too; what comes out for one does not depend on the others
TOLERANCE = 1e-8  # relative: what thousands of steps make of rounding, in worlds that break and tumble


@dataclass(frozen=True)
class Case:
    """A world, how long [s] and in what steps [s] it runs, and the numbers and inputs that vary, between two values."""

    world: Callable[[], pt.World]
    duration: float
    step: float
    vary: dict[str, tuple[float, float]] = field(default_factory=dict)
    inputs: dict[str, tuple[float, float]] = field(default_factory=dict)

    def run(self, count: int, device: str) -> pt.Run:
        """A batch, with a ledger and five records."""
        rng = np.random.default_rng(0)
        drawn = {k: rng.uniform(*ends, 2**20)[:count] for k, ends in (self.vary | self.inputs).items()}
        vary, inputs = ({k: drawn[k] for k in names} for names in (self.vary, self.inputs))
        options = {"every": self.duration / 4, "ledger": True, "device": device, "progress": False}
        return self.world().simulate(self.duration, self.step, batch=count, vary=vary, inputs=inputs, **options)


CASES = {
    "propeller": Case(lambda: vehicles.propeller(0), 4.0, 1e-3, {"plane.prop.speed": (-300.0, 300.0)}),
    "rocket": Case(vehicles.rocket, 75.0, 2e-3, {"stage.engine.point[2]": (-2.4, -0.4)}),
    "pull-up": Case(
        vehicles.pull_up, 2.0, 1e-3, {"left.limit.bending": (12e3, 60e3), "right.limit.bending": (12e3, 60e3)}
    ),
    "gust": Case(lambda: vehicles.gust(1.0), 2.5, 5e-4, inputs={"length": (10.0, 200.0)}),
    "dive": Case(vehicles.dive, 3.0, 1e-3, {"flap.limit.shear": (380.0, 600.0)}),
}


def found(run: pt.Run) -> dict[str, Any]:
    """What is compared: states, when joints parted, and the residuals of the ledger."""
    limits = {
        f"{name}.{key}": latch[key] for name, latch in run.limits.latches.items() for key in ("latched", "latched_at")
    }
    return {"y": run.y[:, :CHECKED], "ledger": run.ledger.relative_residual.max()} | {
        k: x[:CHECKED] for k, x in limits.items()
    }


def timed(case: Case, count: int, device: str) -> tuple[pt.Run, float, float]:
    """A run; how long [s] it takes to get ready, tracing and compiling; and to run."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # without llvmlite, starts and ledgers are found by NumPy
        run = case.run(count, device)
        first = time.perf_counter() - begin
        again = run.repeat(progress=False)
    last = time.perf_counter() - begin - first
    assert np.array_equal(run.y, again.y, equal_nan=True), "two runs differ"
    return run, first - last, last


def difference(a: Any, b: Any) -> float:
    """The largest, relative to the largest value of each number of a row, or to 1 if that is less."""
    return float((np.abs(a - b).max(axis=(0, 1)) / np.maximum(np.abs(b).max(axis=(0, 1)), 1.0)).max())


def report(name: str, count: int, device: str, known: dict[str, Any] | None) -> dict[str, Any]:
    """One row of the table; checked against what is known."""
    case = CASES[name]
    run, compile_s, run_s = timed(case, count, device)
    now, steps = found(run), round(case.duration / case.step)
    assert run.stop.reason == "duration", run.stop
    latched = [now[k] for k in now if k.endswith(".latched")]
    parted = f"{int(sum(x.sum() for x in latched))}" if latched else "-"
    error, moment = "-", "-"
    if known is not None:
        off = difference(now["y"], known["y"])
        assert off < TOLERANCE, f"{name}: off by {off}"
        error = f"{off:.0e}"
        for key in (k for k in now if k.endswith(".latched")):
            assert np.array_equal(now[key], known[key]), f"{name}: {key} differs"
            late = np.abs(now[f"{key}_at"] - known[f"{key}_at"]).max()
            moment = f"{max(late, float(moment) if moment != '-' else 0.0):.0e}"
    print(
        f"| {name} | {device} | {count} | {steps} | {compile_s:.1f} | {run_s:.2f} | {count * steps / run_s * 1e-6:.3g} "
        f"| {error} | {parted} | {moment} | {now['ledger']:.0e} |",
        flush=True,
    )
    return now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=16384, help="instances on the GPU")
    parser.add_argument("--processor", metavar="FILE", help="run on the processor alone, and write what comes out")
    parser.add_argument("--against", metavar="FILE", help="what the processor found elsewhere")
    parser.add_argument("cases", nargs="*", default=list(CASES), help=f"of {', '.join(CASES)}")
    arguments = parser.parse_args()
    print("| world | on | instances | steps | ready s | run s | M steps/s | error | parted | moment s | ledger |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    kept: dict[str, Any] = {}
    if arguments.against:
        with np.load(arguments.against) as file:
            kept = dict(file)
    for name in arguments.cases:
        known = {k.removeprefix(f"{name}/"): x for k, x in kept.items() if k.startswith(f"{name}/")}
        if not arguments.against:
            known = report(name, CHECKED, "cpu", None)
            kept |= {f"{name}/{k}": x for k, x in known.items()}
        if not arguments.processor:
            report(name, arguments.count, "cuda", known)
    if arguments.processor:
        np.savez_compressed(arguments.processor, **kept)


if __name__ == "__main__":
    main()
