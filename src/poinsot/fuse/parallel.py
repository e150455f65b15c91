"""Large batches on several threads: NumPy releases the interpreter lock inside the loop of a ufunc."""

import contextvars
import functools
import itertools
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from poinsot.fuse.buffers import SMALL, empty
from poinsot.fuse.signature import Shape, batch_shape


class Cores(Protocol):
    """The core shapes of a program's arguments and results."""

    inputs: list[Shape]
    outputs: list[Shape]


SERIAL_WORK = 400_000  # operations; for fewer, starting threads costs more than it gains


@functools.cache
def _default_threads() -> int:
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    chosen = os.environ.get("POINSOT_THREADS") or "0"
    if not chosen.strip().isdecimal():
        raise ValueError(f"POINSOT_THREADS is {chosen!r}: set it to a number of threads, or unset it to use all cores.")
    return int(chosen) or available or 1


_threads: int | None = None


def threads() -> int:
    """The number of threads that share a large batch: POINSOT_THREADS, or all cores."""
    return _threads if _threads is not None else _default_threads()


def set_threads(count: int | None) -> None:
    """Use this many threads for large batches from now on; None goes back to the default."""
    global _threads
    if count is not None and count < 1:
        raise ValueError(f"the number of threads must be at least 1, not {count}")
    _threads = count


@functools.cache
def _pool(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="poinsot")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


def separable(program: Cores, args: Sequence[np.ndarray], out: Any) -> bool:
    """Whether no thread writes where another may still read: each output is new, an input itself, or disjoint."""
    targets = () if out is None else out if isinstance(out, tuple) else (out,)
    if out is not None and [type(target) for target in targets] != [np.ndarray] * len(program.outputs):
        return False
    for a, core in zip(args, program.inputs, strict=True):
        for target, target_core in zip(targets, program.outputs, strict=False):
            same = a.__array_interface__ == target.__array_interface__ and len(core) == len(target_core)
            if not same and np.may_share_memory(a, target):
                return False
    return True


def call(ufunc: np.ufunc, program: Cores, args: Sequence[np.ndarray], out: Any, dtype: np.dtype[Any]) -> Any:
    """Split the longest batch axis between the threads."""
    batch = batch_shape(args, program.inputs)
    axis = int(np.argmax(batch))
    if out is None:
        targets = tuple(empty(batch + core, dtype) for core in program.outputs)
    else:
        targets = out if isinstance(out, tuple) else (out,)
    count = threads()
    edges = np.linspace(0, batch[axis], count + 1).astype(int)
    edges[1:-1] -= edges[1:-1] % 64

    def part(array: np.ndarray, core: Shape, piece: slice) -> np.ndarray:
        from_end = len(batch) - axis + len(core)
        if array.ndim < from_end or array.shape[-from_end] == 1:
            return array
        index: tuple[Any, ...] = (..., piece, *(slice(None),) * (from_end - 1))
        piece_of: np.ndarray = array[index]
        return piece_of

    def work(piece: slice) -> None:
        inputs = [part(a, core, piece) for a, core in zip(args, program.inputs, strict=True)]
        outputs = tuple(part(a, core, piece) for a, core in zip(targets, program.outputs, strict=True))
        ufunc(*inputs, out=outputs)

    pieces = [slice(a, b) for a, b in itertools.pairwise(edges) if b > a]
    contexts = [contextvars.copy_context() for _ in pieces]  # with the caller's np.errstate
    list(_pool(count).map(lambda context, piece: context.run(work, piece), contexts, pieces))
    return targets if len(targets) > 1 else targets[0]


def stacked(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """As `np.stack` along a new first axis; if they are large, several threads copy them: to get new memory from the
    system takes longer than to write to it."""
    first = arrays[0]
    if threads() < 2 or first.nbytes < SMALL or any(a.dtype != first.dtype for a in arrays):
        return np.stack(arrays)
    result = np.empty((len(arrays), *first.shape), first.dtype)
    list(_pool(threads()).map(np.copyto, result, arrays))
    return result
