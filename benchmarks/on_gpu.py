"""Worlds on the GPU, many steps per launch, in float32 or float64: checked against the NumPy reference, then timed.

The kernels are those that `world.simulate` compiles. Needs NumPy and CuPy alone.
"""

import contextlib
import itertools
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

os.environ["CUPY_CACHE_DIR"] = tempfile.mkdtemp()  # so that compile times are those of compiling

import cupy as cp
import numpy as np

import poinsot as pt
from poinsot.fuse.cuda import launch as gpu
from poinsot.run.compiled import CompiledSystem

CHECKED = 65  # instances
HEAD = (
    "| world | steps before | method | floats | instances | M steps/s | wanted | error | trace s | NVRTC s "
    "| first call s | registers | local bytes | at the end |\n|---|--:|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|"
)


@dataclass(frozen=True)
class Fleet:
    """Many of one world: its start (count, ny), changed from instance to instance by `spread`; how many steps h [s] a
    launch takes, after each of so many `before`; what is `wanted` of it, steps/s by the bytes of a float; and what to
    say of the states (count, ny) at the end. Checked are q and v after up to `checked` steps, to `tolerance`, relative
    to the largest of each."""

    name: str
    world: Callable[[], pt.World]
    h: float
    steps: int
    spread: Callable[[Any, np.ndarray], np.ndarray] = lambda system, y: y
    before: tuple[int, ...] = (0,)
    checked: int = 4
    wanted: dict[int, float] | None = None
    tolerance: tuple[tuple[int, float], ...] = ((4, 2e-3), (8, 1e-9))
    tell: Callable[[Any, np.ndarray], str] = lambda system, y: ""


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without the warning that NumPy does what llvmlite would be needed for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


class Launched:
    """The kernel of a fleet's world, traced for the GPU and compiled."""

    def __init__(self, fleet: Fleet, method: str, dtype: Any) -> None:
        begin, self.fleet, self.dtype = time.perf_counter(), fleet, np.dtype(dtype)
        self.compiled = c = CompiledSystem(fleet.world().system(), method, {}, False)
        self.kernel = pt.fuse.Kernel(c._advance, f"({c.nx}),({c.np}),(),(),(),()->({c.nx})")
        self.program = self.kernel.gpu_program((c.nx,), (c.np,), (), (), (), (), dtype=self.dtype)
        self.trace_s = time.perf_counter() - begin
        begin = time.perf_counter()
        self.binary = gpu.compiled(self.program, self.dtype.itemsize == 8, False)[0]
        self.binary.compile()
        self.compile_s = time.perf_counter() - begin

    def start(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """States as they are stepped (count, nx), float64, and parameters (np,)."""
        c = self.compiled
        with quiet():
            p = c.parameters({}, {})
            y = self.fleet.spread(c.system, np.tile(c.start(p), (count, 1)))
            return np.asarray(c.to_stepped(y, np.tile(p, (count, 1)))), p

    def advance(self, x: Any, p: Any, n: Any, out: Any = None) -> Any:
        """x after n steps, on the GPU; n may differ from instance to instance."""
        clock = (0.0, 0.0, self.fleet.h, n)
        args = [x, p, *(np.asarray(v, self.dtype) if np.ndim(v) == 0 else v for v in clock)]
        return gpu.run(self.program, args, self.dtype, False, out=out)

    def ended(self, x: Any, p: np.ndarray) -> np.ndarray:
        """The states (count, ny) of stepped ones."""
        x = np.asarray(x, float)
        with quiet():
            return np.asarray(self.compiled.from_stepped(x, np.tile(p, (len(x), 1))))


def batch_last(a: np.ndarray, dtype: Any) -> Any:
    """An array (count, n) on the GPU, with the batch as the last axis in memory."""
    return cp.moveaxis(cp.ascontiguousarray(cp.asarray(np.asarray(a, dtype)).T), -1, 0)


def check(launched: Launched) -> float:
    """The error of a few instances, after different numbers of steps, against the reference in float64.

    Outputs are poisoned first; a second run gives the same bits.
    """
    fleet, dtype = launched.fleet, launched.dtype
    x, p = launched.start(CHECKED)
    x = np.asarray(x, dtype)
    n = np.asarray(1 + np.arange(CHECKED) % fleet.checked, dtype)
    clock = [np.full(CHECKED, value) for value in (0.0, 0.0, np.asarray(fleet.h, dtype))]
    program = launched.kernel.specialise(*(np.shape(a)[1:] for a in (x, np.tile(p, (CHECKED, 1)), *clock, n)))
    (expected,) = program.interpret(x, np.tile(p, (CHECKED, 1)), *clock, n, dtype=np.dtype(np.float64))
    runs = []
    for _ in range(2):
        out = batch_last(np.full(x.shape, np.nan), dtype)
        launched.advance(batch_last(x, dtype), p, cp.asarray(n), out=out)
        runs.append(cp.asnumpy(out))
    assert np.array_equal(*runs), f"{fleet.name}: two runs differ"
    s = launched.compiled.system
    kinds = np.split(np.arange(s.nq + s.nv), [s.nq])
    errors = [np.abs(runs[0] - expected)[:, k].max() / np.abs(expected[:, k]).max() for k in kinds]
    error = float(max(errors))
    assert error < dict(fleet.tolerance)[dtype.itemsize], f"{fleet.name}: error {error}"  # and so not NaN
    return error


def seconds(launch: Callable[[], Any], repeats: int = 5) -> float:
    """The median time of a launch, after a warm-up."""
    launch()
    times = []
    for _ in range(repeats):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        launch()
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, end) * 1e-3)
    return float(np.median(times))


def report(fleet: Fleet, method: str, dtype: Any, counts: tuple[int, ...]) -> None:
    """A row of the table for each size of batch."""
    launched = Launched(fleet, method, dtype)
    size = launched.dtype.itemsize
    begin = time.perf_counter()
    x, p = launched.start(CHECKED)
    launched.advance(batch_last(x, dtype), p, 1.0)
    cp.cuda.Stream.null.synchronize()
    first = launched.trace_s + launched.compile_s + time.perf_counter() - begin
    error = check(launched)
    for count, before in itertools.product(counts, fleet.before):
        x, p = launched.start(count)
        x, p = launched.advance(batch_last(x, dtype), p, float(before)), cp.asarray(p, dtype)
        out = batch_last(np.full(x.shape, np.nan), dtype)
        t = seconds(lambda x=x, p=p, out=out: launched.advance(x, p, float(fleet.steps), out=out))
        assert bool(cp.isfinite(out).all()), f"{fleet.name}: not finite"
        wanted = (fleet.wanted or {}).get(size)
        told = fleet.tell(launched.compiled.system, launched.ended(cp.asnumpy(out[:4096]), cp.asnumpy(p)))
        print(
            f"| {fleet.name} | {before} | {method} | f{8 * size} | {count} | {count * fleet.steps / t * 1e-6:.4g} "
            f"| {f'{wanted * 1e-6:.4g}' if wanted else ''} | {error:.0e} | {launched.trace_s:.1f} "
            f"| {launched.compile_s:.1f} | {first:.1f} | {launched.binary.num_regs} "
            f"| {launched.binary.local_size_bytes} | {told} |",
            flush=True,
        )


def rows(tasks: Iterable[tuple[Fleet, str, Any]], counts: tuple[int, ...]) -> None:
    """The table of fleets with a method and a type of floats each; it goes on after one that fails."""
    name, failed = cp.cuda.runtime.getDeviceProperties(0)["name"].decode(), 0
    print(f"{name}, CuPy {cp.__version__}, NumPy {np.__version__}, Poinsot {pt.__version__}\n\n{HEAD}", flush=True)
    for fleet, method, dtype in tasks:
        try:
            report(fleet, method, dtype, counts)
        except Exception as error:  # whatever it is, the others are worth their time on the machine
            failed += 1
            print(f"| {fleet.name} | | {method} | {dtype} | failed: {type(error).__name__}: {str(error)[:600]} |")
    if failed:
        raise SystemExit(f"{failed} failed")
