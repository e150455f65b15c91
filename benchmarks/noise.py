"""Noise from a counter: the time for one number, in a batch of 4096 on one thread, and on a GPU if there is one.

PYTHONPATH=src python benchmarks/noise.py

Before it is timed, the bits of a GPU are compared with those of the processor, and its numbers to rounding.
"""

import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import poinsot as pt
from poinsot.control import noise
from poinsot.fuse import Kernel

BATCH, GPU_BATCH, REPEATS = 4096, 1 << 24, 300
LOOP = 100  # samples of one instance


def cases() -> dict[str, tuple[Kernel, int]]:
    """Kernels of a whole number, and how many random numbers each makes."""
    key = noise.key("imu.gyro", seed=7)

    def walk(instance: Any) -> Any:
        own = noise.key("walk", 7, instance)
        return pt.fori_loop(LOOP, lambda n, x: x + noise.normal(own, n, 2), np.zeros(2))

    return {
        "uniform, 1": (pt.kernel("()->()")(lambda n: noise.uniform(key, n)), 1),
        "uniform, 2": (pt.kernel("()->(2)")(lambda n: noise.uniform(key, n, 2)), 2),
        "normal, 1": (pt.kernel("()->()")(lambda n: noise.normal(key, n)), 1),
        "normal, 2": (pt.kernel("()->(2)")(lambda n: noise.normal(key, n, 2)), 2),
        "normal, 3": (pt.kernel("()->(3)")(lambda n: noise.normal(key, n, 3)), 3),
        "normal, 3, of each instance": (
            pt.kernel("()->(3)")(lambda n: noise.normal(noise.key("imu.gyro", 7, n), 5, 3)), 3),
        f"normal, 2, summed in a loop of {LOOP}": (pt.kernel("()->(2)")(walk), 2 * LOOP),
    }  # fmt: skip


def best(call: Callable[[], Any], repeats: int) -> float:
    """The shortest time [s]."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def words(n: Any) -> Any:
    """The bits of one block, as halves, which float32 holds."""
    return np.stack([h * 1.0 for w in noise.bits(noise.key("a", 3, n), n, 1) for h in (w >> 16, w & 0xFFFF)])


def on_processor(dtype: Any) -> None:
    n = np.arange(BATCH, dtype=dtype)
    for name, (kernel, count) in cases().items():
        kernel(n)
        seconds = best(lambda kernel=kernel: kernel(n), REPEATS)
        operations = sum(kernel.count().values())
        print(
            f"{np.dtype(dtype)}  {name:40} {seconds / BATCH / count * 1e9:6.2f} ns per number, {operations} operations"
        )


def on_gpu(cupy: Any, dtype: Any) -> None:
    n = cupy.arange(1 << 20, dtype=dtype)
    kernel = pt.kernel("()->(4)")(words)
    same = np.array_equal(cupy.asnumpy(kernel.to("cuda")(n)), kernel(cupy.asnumpy(n)))
    print(f"{np.dtype(dtype)}  GPU: {n.size} x 2 words, bits {'equal' if same else 'DIFFERENT'}")
    for name, (kernel, count) in cases().items():
        device = kernel.to("cuda")
        few = n[:100_000]
        apart = np.abs(cupy.asnumpy(device(few)) - kernel(cupy.asnumpy(few))).max() / np.finfo(dtype).eps
        many = cupy.arange(GPU_BATCH // (LOOP if count > LOOP else 1), dtype=dtype)
        device(many)
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        for _ in range(5):
            device(many)
        end.record()
        end.synchronize()
        seconds = cupy.cuda.get_elapsed_time(begin, end) / 5e3
        rate = many.size * count / seconds / 1e9
        print(f"{np.dtype(dtype)}  GPU: {name:40} {rate:8.1f} G numbers/s, within {apart:.1f} eps of the processor")


if __name__ == "__main__":
    pt.set_threads(1)
    for precision in (np.float64, np.float32):
        on_processor(precision)
    if importlib.util.find_spec("cupy"):
        import cupy

        for precision in (np.float64, np.float32):
            on_gpu(cupy, precision)
