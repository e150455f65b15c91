"""The GPU: every result checked against the NumPy reference on fresh random inputs, then timed with events.

Needs NumPy and CuPy alone:

PYTHONPATH=src python benchmarks/gpu.py [--quick] [--joints 7 30 60 200]
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

os.environ["CUPY_CACHE_DIR"] = tempfile.mkdtemp()  # so that compile times are those of compiling

import cupy as cp
import numpy as np

import f16_book as book
import poinsot as pt
import robots
from poinsot.fuse.cuda import launch as gpu
from poinsot.fuse.plan.budget import Budget, tracing_for
from poinsot.integrate.splitting import free_rotation
from poinsot.mechanism import kinematics
from poinsot.mechanism.derivatives import forward_dynamics_derivatives

Args = Callable[[np.random.Generator, int], list[Any]]
TOLERANCE = {4: 1e-3, 8: 1e-10}  # by the bytes of a float; a chain of 200 joints multiplies rounding by a thousand


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


def step(mech: pt.Mechanism, q: Any, v: Any, tau: Any, h: Any) -> Any:
    """Semi-implicit Euler."""
    v = v + h * pt.forward_dynamics(mech, q, v, tau)
    return q + h * v, v


def many_steps(mech: pt.Mechanism) -> pt.fuse.Kernel:
    def advance(q: Any, v: Any, tau: Any, h: Any, steps: Any) -> Any:
        return pt.fori_loop(steps, lambda _, state: step(mech, *state, tau, h), (q, v))

    return pt.fuse.Kernel(advance, "(n),(n),(n),(),()->(n),(n)")


def floating_steps(mech: pt.Mechanism) -> pt.fuse.Kernel:
    """The same, of a mechanism whose first joint is free."""

    def advance(q: Any, v: Any, tau: Any, h: Any, steps: Any) -> Any:
        def turn(_: Any, state: Any) -> Any:
            q, v = state
            v = v + h * pt.forward_dynamics(mech, q, v, tau)
            return kinematics.integrate(mech, q, h * v), v

        return pt.fori_loop(steps, turn, (q, v))

    q, v = mech.nq, mech.nv
    return pt.fuse.Kernel(advance, f"({q}),({v}),({v}),(),()->({q}),({v})")


def one_step(mech: pt.Mechanism) -> pt.fuse.Kernel:
    return pt.fuse.Kernel(lambda q, v, tau, h: step(mech, q, v, tau, h), "(n),(n),(n),()->(n),(n)")


def step_jacobians(mech: pt.Mechanism) -> pt.fuse.Kernel:
    """d(q, v)/d(q, v) (2n, 2n) and d(q, v)/d tau (2n, n) of one step."""

    def jacobians(q: Any, v: Any, tau: Any, h: Any) -> Any:
        dq, dv, dtau = (h * D for D in forward_dynamics_derivatives(mech, q, v, tau))
        one = np.eye(mech.nv)
        A = np.block([[one + h * dq, h * (one + dv)], [dq, one + dv]])
        return A, np.concatenate([h * dtau, dtau])

    n = mech.nv
    return pt.fuse.Kernel(jacobians, f"({n}),({n}),({n}),()->({2 * n},{2 * n}),({2 * n},{n})")


def top_steps() -> pt.fuse.Kernel:
    moments = np.array([0.3, 0.6, 0.75])

    def advance(q: Any, L: Any, h: Any, steps: Any) -> Any:
        return pt.fori_loop(steps, lambda _, q: free_rotation(q, L, moments, h), q)

    return pt.fuse.Kernel(advance, "(4),(3),(),()->(4)")


def fighter_steps() -> pt.fuse.Kernel:
    """RK4 of the F-16 of `f16_book`, with 24 tables, at a fixed power and fixed controls.

    The four stages are a loop: its derivative, written out once, takes half of the instructions that stay near a
    multiprocessor, and fewer registers.
    """
    tables = {
        name: pt.Table(tuple(axes), values, outside="extrapolate") for name, (axes, values) in book.tables().items()
    }
    f16 = book.model(SimpleNamespace(**tables), np.where)
    reach, weight = np.array([0.5, 0.5, 1.0, 0.0]), np.array([1.0, 2.0, 2.0, 1.0]) / 6

    def advance(x: Any, u: Any, h: Any, steps: Any) -> Any:
        def step(_: Any, x: Any) -> Any:
            def stage(i: Any, carry: Any) -> Any:
                there, end = carry
                rate = np.stack(f16(*there[:9], there[11], *u))
                return x + h * reach[i] * rate, end + h * weight[i] * rate

            return pt.fori_loop(4, stage, (x, x))[1]

        return pt.fori_loop(steps, step, x)

    return pt.fuse.Kernel(advance, "(12),(4),(),()->(12)")


def fighters(rng: np.random.Generator, count: int) -> list[Any]:
    drawn = book.states(count)
    x = np.concatenate([drawn[:, :9], np.zeros((count, 2)), drawn[:, 9:10]], axis=1)
    return [x, drawn[:, 10:] * [1, 0.1, 0.1, 0.1], 1e-3]


def arms(n: int, h: float = 1e-4, *more: float) -> Args:
    return lambda rng, count: [*rng.standard_normal((3, count, n)), h, *more]


def floating(mech: pt.Mechanism, h: float = 1e-4) -> Args:
    def states(rng: np.random.Generator, count: int) -> list[Any]:
        q = rng.standard_normal((count, mech.nq))
        q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
        return [q, *rng.standard_normal((2, count, mech.nv)), h]

    return states


def tops(rng: np.random.Generator, count: int) -> list[Any]:
    q = rng.standard_normal((count, 4))
    return [q / np.linalg.norm(q, axis=1)[:, None], rng.standard_normal((count, 3)), 1e-2]


def operations(kernel: pt.fuse.Kernel, **sizes: int) -> int:
    """Of the body of a kernel's loop, or of the kernel, if everything is written out."""
    with tracing_for(Budget(10**9, 0, 0)):
        graph = pt.fuse.Kernel(kernel.function, kernel.signature).program(**sizes).graph
    bodies = [node.data for node in graph.live() if node.op == "loop"]
    return sum((bodies[0] if bodies else graph).count().values())


@dataclass(frozen=True)
class Ceilings:
    """What the machine can do, measured: fused multiply-adds [1/s] by the bytes of a float, and copied bytes [1/s]."""

    fma: dict[int, float]
    bandwidth: float


def seconds(launch: Callable[[], Any], repeats: int = 5, inner: int = 1) -> float:
    """The median time of a launch, after a warm-up."""
    launch()
    times = []
    for _ in range(repeats):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        for _ in range(inner):
            launch()
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, end) * 1e-3 / inner)
    return float(np.median(times))


def ceilings() -> Ceilings:
    fma, blocks = {}, 132 * 8 * 8
    for itemsize, name in ((4, "float"), (8, "double")):
        body = " ".join(f"a{k} = fma(a{k}, b, c);" for k in range(8))
        heads = " ".join(f"T a{k} = x[threadIdx.x] + {k};" for k in range(8))
        text = (
            f'typedef {name} T; extern "C" __global__ void peak(T* x, T b, T c) {{ {heads}\n'
            f"#pragma unroll 16\nfor (int i = 0; i < 4096; i++) {{ {body} }}\n"
            f"x[threadIdx.x] = {' + '.join(f'a{k}' for k in range(8))}; }}"
        )
        kernel = cp.RawKernel(text, "peak", backend="nvrtc")
        x, number = cp.zeros(256, f"f{itemsize}"), np.dtype(f"f{itemsize}").type
        t = seconds(lambda k=kernel, x=x, n=number: k((blocks,), (256,), (x, n(0.5), n(0.25))))
        fma[itemsize] = blocks * 256 * 4096 * 8 / t
    a, b = cp.ones(1 << 29, "f4"), cp.zeros(1 << 29, "f4")
    return Ceilings(fma, 2 * a.nbytes / seconds(lambda: cp.copyto(b, a)))


def error_of(found: np.ndarray, expected: np.ndarray) -> float:
    """Relative to the largest of a matrix, or, of the numbers of a state, each to the largest of its own kind."""
    largest = np.abs(expected).max(axis=0) if expected.ndim == 2 else np.abs(expected).max()
    return float((np.abs(found - expected) / np.maximum(largest, 1e-6 * np.max(largest))).max())


def check(kernel: pt.fuse.Kernel, args: Args, dtype: Any, fast: bool) -> tuple[float, Any, float]:
    """The error of 257 instances against the reference; the program, and the time [s] to compile it.

    Outputs are poisoned first; a second run gives the same bits.
    """
    dtype = np.dtype(dtype)
    small = [np.asarray(a, dtype) for a in args(np.random.default_rng(), 257)]
    shapes = [a.shape for a in small]
    expected = kernel.specialise(*shapes).interpret(*(a.astype(np.float64) for a in small), dtype=np.dtype(np.float64))
    program = kernel.gpu_program(*shapes, dtype=dtype)
    begin = time.perf_counter()
    gpu.compiled(program, dtype.itemsize == 8, fast)[0].compile()
    compile_s = time.perf_counter() - begin
    runs = []
    for _ in range(2):
        outputs = tuple(cp.full(e.shape, np.nan, dtype) for e in expected)
        gpu.run(program, small, dtype, fast, out=outputs)
        runs.append([cp.asnumpy(o) for o in outputs])
    assert all(np.array_equal(a, b) for a, b in zip(*runs, strict=True)), "two runs differ"
    error = max(error_of(f, e) for f, e in zip(runs[0], expected, strict=True))
    assert error < TOLERANCE[dtype.itemsize], f"error {error}"  # and so not NaN
    return error, program, compile_s


def batch_last(a: Any, dtype: Any) -> Any:
    """An array (count, ...) on the GPU, with the batch as the last axis in memory."""
    a = cp.asarray(np.asarray(a, dtype))
    return cp.moveaxis(cp.ascontiguousarray(cp.moveaxis(a, 0, -1)), -1, 0) if a.ndim > 1 else a


def report(name: str, kernel: pt.fuse.Kernel, args: Args, count: int, steps: int, limits: Ceilings, ops: int) -> None:
    """One row of the table for each precision; `args` without the number of steps, unless there is none."""
    for dtype, fast in ((np.float32, False), (np.float32, True), (np.float64, False)):
        size = np.dtype(dtype).itemsize
        few = (lambda rng, n: [*args(rng, n), 3.0]) if steps > 1 else args
        error, program, compile_s = check(kernel, few, dtype, fast)
        large = [batch_last(a, dtype) for a in args(np.random.default_rng(), count)]
        large += [batch_last(float(steps), dtype)] if steps > 1 else []
        out = tuple(batch_last(np.full((count, *core), np.nan), dtype) for core in program.outputs)
        t = seconds(lambda: gpu.run(program, large, dtype, fast, out=out), inner=5 if steps > 1 else 20)  # noqa: B023
        assert all(bool(cp.isfinite(o).all()) for o in out)
        moved = sum(a.nbytes for a in (*large, *out))
        floors = ops * count * steps / (2 * limits.fma[size]), moved / limits.bandwidth
        print(
            f"| {name} | f{8 * size}{' fast' if fast else ''} | 2^{int(np.log2(count))} | {steps} "
            f"| {count * steps / t * 1e-9:.3g} | {floors[0] / t:.0%} | {floors[1] / t:.0%} | {error:.0e} "
            f"| {compile_s:.1f} |",
            flush=True,
        )


def checks_of_the_interface() -> None:
    """Arrays of others, streams, layouts, results in given arrays."""

    class Foreign:  # an array that is only known by the protocol
        def __init__(self, array: Any) -> None:
            self.array, self.shape, self.dtype = array, array.shape, array.dtype

        def __dlpack__(self, **options: Any) -> Any:
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self) -> Any:
            return self.array.__dlpack_device__()

    kernel = pt.kernel("(3),(3)->(3)")(np.cross)
    a, b = np.random.default_rng().standard_normal((2, 5, 1000, 3))
    on_gpu, expected = kernel.to("cuda"), np.cross(a, b)

    def same(found: Any) -> None:
        np.testing.assert_allclose(cp.asnumpy(found), expected, rtol=0, atol=1e-14)

    x, y = cp.asarray(a), cp.asarray(b)
    same(on_gpu(x, y))
    same(on_gpu(Foreign(x), Foreign(y)))
    same(on_gpu(batch_last(a.reshape(-1, 3), "f8").reshape(5, 1000, 3), y[..., ::-1][..., ::-1]))
    with cp.cuda.Stream(non_blocking=True) as stream:
        late = on_gpu(x + 0, y + 0)
        stream.synchronize()
    same(late)
    out = cp.full((5, 1000, 3), np.nan)
    assert on_gpu(x, y, out=out) is out
    same(out)
    same(on_gpu(x, y, out=x))
    print("arrays by dlpack, streams, layouts, given outputs: right")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one size of batch")
    parser.add_argument("--joints", type=int, nargs="*", default=[7, 30, 60, 200], help="which trees")
    arguments = parser.parse_args()
    limits = ceilings()
    print(f"{cp.cuda.runtime.getDeviceProperties(0)['name'].decode()}, CuPy {cp.__version__}, NumPy {np.__version__}")
    print(
        f"ceilings: {limits.fma[4] * 1e-12:.1f} T fused multiply-adds/s in f32, {limits.fma[8] * 1e-12:.1f} T in f64; "
        f"{limits.bandwidth * 1e-12:.2f} TB/s copied"
    )
    checks_of_the_interface()
    print("| case | floats | instances | steps | G/s | of arithmetic | of bandwidth | error | compile s |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    sizes = (1 << 16,) if arguments.quick else (1 << 16, 1 << 20)
    for count in sizes:
        report("free body, splitting", top_steps(), tops, count, 1000, limits, operations(top_steps()))
        report("F-16, RK4", fighter_steps(), fighters, count, 200, limits, operations(fighter_steps()))
    for n, branching, steps, counts in (
        (7, 0.2, 200, sizes),
        (30, 0.2, 50, sizes),
        (60, 0.0, 20, sizes[:1]),
        (200, 0.0, 20, sizes[:1]),
    ):
        if n in arguments.joints:
            kernel = many_steps(random_tree(n, branching))
            for count in counts:
                report(f"{n} joints", kernel, arms(n), count, steps, limits, operations(kernel, n=n))
    if 30 in arguments.joints:
        humanoid = robots.mechanism(robots.humanoid())
        kernel = floating_steps(humanoid)
        for count in sizes:
            report("floating humanoid", kernel, floating(humanoid), count, 50, limits, operations(kernel))
    if 7 in arguments.joints:
        arm, panda = random_tree(7, 0.2), robots.mechanism(robots.panda())
        kernel = many_steps(panda)
        for count in sizes:
            report("Panda", kernel, arms(7), count, 200, limits, operations(kernel, n=7))
        for name, mech in (("7 joints", arm), ("Panda", panda)):
            kernel = one_step(mech)
            report(f"{name}, a step a launch", kernel, arms(7), 1 << 22, 1, limits, operations(kernel, n=7))
        for name, mech in (("7 joints", arm), ("Panda", panda)):
            kernel = step_jacobians(mech)
            report(f"{name}, Jacobians of a step", kernel, arms(7, 1e-2), 1 << 20, 1, limits, operations(kernel))


if __name__ == "__main__":
    main()
