"""The GPU: every result checked against the NumPy reference, then timed with events. Needs NumPy and CuPy alone.

PYTHONPATH=src python benchmarks/gpu.py [--quick]
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import cupy as cp
import numpy as np

import poinsot as pt
from poinsot.fuse import gpu
from poinsot.integrate.splitting import free_rotation


def random_tree(n: int, branching: float, seed: int = 1) -> pt.Mechanism:
    """Revolute joints with general placements: nothing folds away."""
    rng = np.random.default_rng(seed)
    links = []
    for k in range(n):
        parent = None if k == 0 else f"l{k - 1 if rng.random() >= branching else rng.integers(k)}"
        inertia = pt.Inertia.points(0.1 + rng.random(6), 0.5 * rng.standard_normal((6, 3)))
        links.append(
            pt.Link(f"l{k}", inertia, parent, pt.revolute(rng.standard_normal(3)), pt.Pose.exp(rng.standard_normal(6)))
        )
    return pt.Mechanism(links)


def arm_steps(mech: pt.Mechanism) -> pt.fuse.Kernel:
    """Semi-implicit Euler: n steps of h."""

    def advance(q: Any, v: Any, tau: Any, h: Any, steps: Any) -> Any:
        def step(_: Any, state: Any) -> Any:
            q, v = state
            v = v + h * pt.forward_dynamics(mech, q, v, tau)
            return q + h * v, v

        return pt.fori_loop(steps, step, (q, v))

    return pt.fuse.Kernel(advance, "(n),(n),(n),(),()->(n),(n)")


def top_steps() -> pt.fuse.Kernel:
    moments = np.array([0.3, 0.6, 0.75])

    def advance(q: Any, L: Any, h: Any, steps: Any) -> Any:
        return pt.fori_loop(steps, lambda _, q: free_rotation(q, L, moments, h), q)

    return pt.fuse.Kernel(advance, "(4),(3),(),()->(4)")


def measure(
    kernel: pt.fuse.Kernel, args: Callable[[np.random.Generator, int], list[Any]], count: int, dtype: Any, fast: bool
) -> dict[str, float]:
    """Error of a small batch against the reference, then the best time of a large one."""
    dtype = np.dtype(dtype)
    small = [np.asarray(a, dtype) for a in args(np.random.default_rng(5), 257)]
    program = kernel.specialise(*(a.shape for a in small))
    expected = program.interpret(*(a.astype(np.float64) for a in small), dtype=np.dtype(np.float64))
    begin = time.perf_counter()
    found = gpu.run(program, small, dtype, fast)
    cp.cuda.Device().synchronize()
    compile_s = time.perf_counter() - begin
    found = found if isinstance(found, tuple) else (found,)
    error = max(float(np.abs(cp.asnumpy(f) - e).max() / np.abs(e).max()) for f, e in zip(found, expected, strict=True))
    large = [cp.asarray(np.asarray(a, dtype)) for a in args(np.random.default_rng(6), count)]
    large = [cp.ascontiguousarray(a.T).T if a.ndim > 1 else a for a in large]
    best = np.inf
    for _ in range(4):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        gpu.run(program, large, dtype, fast)
        end.record()
        end.synchronize()
        best = min(best, cp.cuda.get_elapsed_time(start, end) * 1e-3)
    return {"error": error, "seconds": best, "first": compile_s}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--joints", type=int, nargs="*", default=[7, 30, 60, 200], help="which trees")
    arguments = parser.parse_args()
    quick = arguments.quick
    print(f"{cp.cuda.runtime.getDeviceProperties(0)['name'].decode()}, CuPy {cp.__version__}, NumPy {np.__version__}")
    print("| case | dtype | fast | instances | steps | G steps/s | error | first call s |")
    print("|---|---|---|---|---|---|---|---|")

    def row(name: str, kernel: Any, args: Any, counts: Any, steps: int) -> None:
        for dtype, fast in ((np.float32, False), (np.float32, True), (np.float64, False)):
            for count in counts:
                m = measure(kernel, args(steps), count, dtype, fast)
                rate = count * steps / m["seconds"] * 1e-9
                print(
                    f"| {name} | {np.dtype(dtype)} | {fast} | {count} | {steps} | {rate:.3g} | {m['error']:.1e} "
                    f"| {m['first']:.2f} |",
                    flush=True,
                )

    large = (1 << 16,) if quick else (1 << 16, 1 << 20)

    def tops(steps: int) -> Any:
        def args(rng: np.random.Generator, n: int) -> list[Any]:
            q = rng.standard_normal((n, 4))
            return [q / np.linalg.norm(q, axis=1)[:, None], rng.standard_normal((n, 3)), 1e-2, float(steps)]

        return args

    row("free body, splitting", top_steps(), tops, large, 1000)
    for n, branching, steps, counts in (
        (7, 0.2, 200, large),
        (30, 0.2, 50, large),
        (60, 0.0, 20, (1 << 16,)),
        (200, 0.0, 20, (1 << 16,)),
    ):
        if n not in arguments.joints:
            continue

        def arms(steps: int, n: int = n) -> Any:
            return lambda rng, count: [*rng.standard_normal((3, count, n)), 1e-4, float(steps)]

        row(f"{n} joints", arm_steps(random_tree(n, branching)), arms, counts, steps)


if __name__ == "__main__":
    main()
