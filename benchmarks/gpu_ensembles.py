"""Ensembles of ordinary differential equations on the GPU, each instance with steps of its own: Lorenz, three bodies.

Needs NumPy and CuPy alone:

PYTHONPATH=src python benchmarks/gpu_ensembles.py [--quick]

Lorenz is the case of the paper on DiffEqGPU (Utkarsh and others, Automated translation and accelerated solving of
differential equations on multiple GPU platforms, 2024): from (1, 0, 0), for 1 s, rho from 0 to 21, float32, both
tolerances 1e-8, only the end is kept. Its published times, by kernels of Tsitouras' method on a Tesla V100 (14 TFLOP/s
in float32; an H200 has 60), are in PUBLISHED. Order 8 in float64 takes fewer steps to the same tolerance, with more
digits. For three bodies the paper has no figure. Instances are checked against RK4 in fine steps, by NumPy.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np

import poinsot as pt
from poinsot.integrate.embedded import DOP853, DOPRI5, Embedded, solution

CHECKED = 256
PUBLISHED = {  # instances -> s, GPUTsit5, adaptive; and MPGOS (C++), on the same machine
    2_097_152: (17.840e-3, 11.046e-3),
    8_388_608: (69.451e-3, 48.808e-3),
}


def lorenz(t: Any, y: Any, p: Any) -> Any:
    return np.stack([10.0 * (y[1] - y[0]), p[0] * y[0] - y[1] - y[0] * y[2], y[0] * y[1] - 2.666 * y[2]])


def three_bodies(t: Any, y: Any, p: Any) -> Any:
    """Equal masses in a plane, places (3, 2) and velocities (3, 2); no parameter is used."""
    x = [y[2 * k : 2 * k + 2] for k in range(3)]
    pulls = {}
    for i, j in ((0, 1), (0, 2), (1, 2)):
        d = x[j] - x[i]
        r2 = d[0] * d[0] + d[1] * d[1]
        pulls[i, j] = d / (r2 * np.sqrt(r2))
    a = pulls[0, 1] + pulls[0, 2], pulls[1, 2] - pulls[0, 1], -pulls[0, 2] - pulls[1, 2]
    return np.concatenate([y[6:], *a])


@dataclass(frozen=True)
class Ensemble:
    """Equations, starts (count, n) and parameters (count, m), how long [s] they go on; steps of the fine solution."""

    rates: Callable[[Any, Any, Any], Any]
    starts: Callable[[int], tuple[np.ndarray, np.ndarray]]
    duration: float
    fine: int

    def expected(self, y: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The ends (count, n), by RK4 in fine steps, all side by side."""
        h, x, numbers = self.duration / self.fine, y.T.copy(), p.T
        for _ in range(self.fine):
            k1 = self.rates(0.0, x, numbers)
            k2 = self.rates(0.0, x + 0.5 * h * k1, numbers)
            k3 = self.rates(0.0, x + 0.5 * h * k2, numbers)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + self.rates(0.0, x + h * k3, numbers))
        return x.T


def sweep(count: int) -> tuple[np.ndarray, np.ndarray]:
    """All from one point; rho from 0 to 21."""
    return np.tile([1.0, 0.0, 0.0], (count, 1)), np.linspace(0, 21, count)[:, None]


def eights(count: int) -> tuple[np.ndarray, np.ndarray]:
    """The figure of eight of Chenciner and Montgomery (2000), every number off by about 0.001."""
    x, v = np.array([0.97000436, -0.24308753]), np.array([-0.93240737, -0.86473146])
    eight = np.concatenate([x, -x, [0, 0], -0.5 * v, -0.5 * v, v])
    noise = np.random.default_rng(0).standard_normal((count, 12))
    return eight + 1e-3 * noise, np.zeros((count, 1))


LORENZ = Ensemble(lorenz, sweep, 1.0, 2000)
EIGHTS = Ensemble(three_bodies, eights, 6.32591398, 16_000)


def on_device(a: np.ndarray, dtype: Any) -> Any:
    """(count, n) on the GPU, with the instances as the last axis in memory."""
    return cp.moveaxis(cp.asarray(np.ascontiguousarray(np.moveaxis(a, 0, -1), dtype)), -1, 0)


def timed(launch: Callable[[], Any], repeats: int = 5) -> float:
    """The median time [s], after a warm-up."""
    times = []
    for _ in range(repeats + 1):
        cp.cuda.Stream.null.synchronize()
        begin = time.perf_counter()
        launch()
        cp.cuda.Stream.null.synchronize()
        times.append(time.perf_counter() - begin)
    return float(np.median(times[1:]))


def report(name: str, case: Ensemble, scheme: Embedded, tolerance: float, dtype: Any, count: int, limit: float) -> None:
    """One row of the table; the error of the checked instances must be below the limit."""
    y, p = case.starts(count)
    few = np.linspace(0, count - 1, CHECKED).astype(int)
    kernel = solution(case.rates, scheme, tolerance, parameters=True).to("cuda")
    args = cp.asarray(np.array([0.0, case.duration], dtype)), on_device(y, dtype), on_device(p, dtype)
    begin = time.perf_counter()
    out = kernel(*args)
    cp.cuda.Stream.null.synchronize()
    ready = time.perf_counter() - begin
    t = timed(lambda: kernel(*args, out=out))
    found = cp.asnumpy(out[cp.asarray(few), 1])
    expected = case.expected(y[few], p[few])
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    assert error < limit, f"{name}: off by {error}"
    published = PUBLISHED.get(count, ()) if case is LORENZ else ()
    beside = ", ".join(f"{count / seconds * 1e-6:.0f}" for seconds in published) or "-"
    floats, rate = f"f{8 * np.dtype(dtype).itemsize}", f"{1e3 * t:.2f} | {count / t * 1e-6:.4g}"
    print(
        f"| {name} | {floats} | {tolerance:.0e} | {count} | {rate} | {beside} | {error:.0e} | {ready:.1f} |", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one size of ensembles")
    parser.add_argument("--count", type=int, nargs="*", help="instances")
    given = parser.parse_args()
    counts = given.count or [2_097_152, *([] if given.quick else [8_388_608])]
    print(f"{cp.cuda.runtime.getDeviceProperties(0)['name'].decode()}, CuPy {cp.__version__}, Poinsot {pt.__version__}")
    print("| ensemble | floats | tolerance | instances | ms | M/s | published: DiffEqGPU, MPGOS | error | ready s |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for count in counts:
        report("Lorenz, order 5", LORENZ, DOPRI5, 1e-8, np.float32, count, 1e-4)
        report("Lorenz, order 5", LORENZ, DOPRI5, 1e-8, np.float64, count, 1e-6)
        report("Lorenz, order 8", LORENZ, DOP853, 1e-8, np.float64, count, 1e-6)
    for count in (given.count or [1 << 20])[:1]:
        report("three bodies, order 5", EIGHTS, DOPRI5, 1e-5, np.float32, count, 1e-2)
        report("three bodies, order 8", EIGHTS, DOP853, 1e-9, np.float64, count, 1e-5)
        report("three bodies, order 8", EIGHTS, DOP853, 1e-12, np.float64, count, 1e-8)


if __name__ == "__main__":
    main()
