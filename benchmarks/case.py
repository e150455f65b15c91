"""What a benchmark case is: a small frozen description, which `run.py` measures."""

import contextlib
import importlib
import multiprocessing
import os
import tempfile
import time
import timeit
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Work = Callable[[], Any]


@dataclass(frozen=True)
class Contender:
    """One way to do the work of a case.

    `make` sets it up and returns the work: a function that does it once and returns the result. That, with the first
    call, is the set-up time: model building, tracing, compilation. Work that has a method `measure() -> float` knows
    its own figure, all other work is timed.
    """

    name: str
    make: Callable[[], Work]
    target: str = ""  # ">= 20 x": a multiple of the first contender's figure; "<= 0.3 s": the figure itself
    peer: str = ""  # the module that must be there, imported before the clock starts
    tolerance: float | None = None  # of its own, where it does not compute quite the same
    apart: bool = False  # in a process of its own, kept to one core and one thread; `make` must be picklable


def relative(result: Any, expected: Any) -> float:
    """The greatest error of an instance (the last axis), relative to its greatest component."""
    result, expected = (np.concatenate(x, -1) if isinstance(x, tuple) else np.asarray(x) for x in (result, expected))
    if result.shape != expected.shape:
        raise ValueError(f"a result of shape {result.shape}, where {expected.shape} was expected")
    return float(np.max(np.abs(result - expected).max(-1) / np.abs(expected).max(-1)))


@dataclass(frozen=True)
class Case:
    """Contenders for the same work; the first is the one that the others are compared with."""

    name: str
    what: str
    contenders: tuple[Contender, ...]
    expected: Callable[[], Any]  # the result, found in an independent way
    tolerance: float
    error: Callable[[Any, Any], float] = relative
    items: int = 1  # what a call works through; figures are for one of them
    unit: str = "s"


@dataclass
class Measured:
    """Work with its own way to a figure."""

    work: Work
    measure: Callable[[], float]

    def __call__(self) -> Any:
        return self.work()


_clock = [time.perf_counter]


def count_processor_time() -> None:
    """From now on, the time of this process alone: what else the machine does counts less."""
    _clock[0] = time.process_time


def counts_processor_time() -> bool:
    return _clock[0] is time.process_time


def seconds(work: Work, number: int = 1) -> float:
    return timeit.timeit(work, number=number, timer=_clock[0]) / number


def repetitions(work: Work) -> int:
    """How often to call quick work in a row, so that neither the clock nor cold caches count."""
    number = 1
    while number * seconds(work, number) < 5e-2:
        number *= 2
    return number


def best(work: Work, rounds: int = 20) -> float:
    number = repetitions(work)
    return min(seconds(work, number) for _ in range(rounds))


@contextlib.contextmanager
def cold_cache() -> Iterator[str]:
    """An empty folder for compiled kernels, so that compilation is not skipped."""
    before = os.environ.get("POINSOT_CACHE")
    with tempfile.TemporaryDirectory(prefix="poinsot-bench-") as folder:
        os.environ["POINSOT_CACHE"] = folder
        try:
            yield folder
        finally:
            os.environ.pop("POINSOT_CACHE")
            if before is not None:
                os.environ["POINSOT_CACHE"] = before


class Missing(Exception):
    """A peer that is not installed."""


class Entry:
    """A contender, set up: its result, and a figure as often as one asks for it."""

    def __init__(self, contender: Contender) -> None:
        if contender.peer:
            try:
                importlib.import_module(contender.peer)
            except ImportError as error:
                raise Missing(str(error)) from error
        start = time.perf_counter()
        with cold_cache():
            self.work = contender.make()
            self.result = self.work()
        self.setup = time.perf_counter() - start
        self.measure: Callable[[], float] | None = getattr(self.work, "measure", None)
        self.number = 1 if self.measure else repetitions(self.work)

    def figure(self) -> float:
        return self.measure() if self.measure else seconds(self.work, self.number)

    def close(self) -> None:
        pass


ONE_THREAD = {
    "JAX_ENABLE_X64": "1",
    "JAX_PLATFORMS": "cpu",
    "OMP_NUM_THREADS": "1",
    # XLA's fusion emitters make some code of jaxlib 0.10 a hundred times slower (MJX), and other code a little.
    "XLA_FLAGS": "--xla_cpu_use_fusion_emitters=false --xla_cpu_multi_thread_eigen=false "
    "intra_op_parallelism_threads=1",
}


class RemoteEntry:
    """The same in a process of its own, whose settings do not reach the others."""

    def __init__(self, contender: Contender) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, end = context.Pipe()
        self.process = context.Process(target=self.serve, args=(contender, end), daemon=True)
        self.process.start()
        end.close()
        try:
            self.setup, self.result = self._receive()
        except BaseException:
            self.close()
            raise

    @staticmethod
    def serve(contender: Contender, pipe: Any) -> None:
        os.environ.update(ONE_THREAD)
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        try:
            entry = Entry(contender)
            pipe.send((entry.setup, entry.result))
            while pipe.recv():
                pipe.send(entry.figure())
        except EOFError:
            return
        except Exception as error:
            pipe.send(error if isinstance(error, Missing) else RuntimeError(repr(error)))

    def _receive(self) -> Any:
        answer = self.pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def figure(self) -> float:
        self.pipe.send(True)
        return self._receive()

    def close(self) -> None:
        self.pipe.close()
        self.process.join(5)
        self.process.kill()
