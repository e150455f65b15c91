"""Memory for large results, kept when nothing uses it any more.

New memory of the system costs a fault for every page that is first written to, often more than the kernel that writes.
A result takes memory that an earlier one has left. A lease stands between the two: it is the base of the array that was
handed out and of all its views, so it ends with the last of them, and only then is the memory free again.
"""

import math
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from poinsot.fuse import signature
from poinsot.fuse.signature import Shape

SMALL = 1 << 20  # bytes; less is taken from the C library, which keeps it itself
ALIGNED = 64  # bytes
LIMIT = 1 << 28  # bytes that are kept, by default


def _default_limit() -> int:
    chosen = os.environ.get("POINSOT_BUFFERS") or str(LIMIT)
    if not chosen.strip().isdecimal():
        raise ValueError(f"POINSOT_BUFFERS is {chosen!r}: set it to a number of bytes, 0 for none, or unset it.")
    return int(chosen)


class _Pool:
    """Free memory, the oldest first. Its lock is reentrant: a lease may end whenever Python takes memory."""

    def __init__(self, limit: int) -> None:
        self.limit, self._lock = limit, threading.RLock()
        self._free: OrderedDict[int, np.ndarray] = OrderedDict()  # by identity

    def take(self, size: int) -> np.ndarray | None:
        """Memory of this size, if there is some."""
        with self._lock:
            for key in reversed([*self._free]):
                if (memory := self._free.get(key)) is not None and memory.nbytes == size:
                    return self._free.pop(key, None)
        return None

    def give(self, memory: np.ndarray) -> None:
        """Keep memory that is free; the oldest goes back to the system if it is too much."""
        with self._lock:
            self._free[id(memory)] = memory
            while self._free and sum(m.nbytes for m in [*self._free.values()]) > self.limit:
                self._free.popitem(last=False)


_pool: _Pool | None = None


def _current() -> _Pool:
    global _pool
    if _pool is None:
        _pool = _Pool(_default_limit())
    return _pool


def _new_pool() -> None:
    """In a child of a fork: another thread of the parent may have held the lock."""
    global _pool
    _pool = None if _pool is None else _Pool(_pool.limit)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_pool)


class _Lease:
    """Memory while an array uses it."""

    __slots__ = ("__array_interface__", "_memory")

    def __init__(self, memory: np.ndarray, nbytes: int) -> None:
        start = memory.ctypes.data
        self._memory = memory
        self.__array_interface__: dict[str, Any] = {
            "version": 3, "shape": (nbytes,), "typestr": "|u1", "data": (start + -start % ALIGNED, False),
        }  # fmt: skip

    def __del__(self) -> None:
        if _pool is not None:
            _pool.give(self._memory)


def keep_buffers(limit: int) -> None:
    """Keep at most so many bytes of memory that large results have left, for the next ones; 0: none.

    By default POINSOT_BUFFERS, or 256 MiB.
    """
    global _pool
    if isinstance(limit, bool) or not isinstance(limit, (int, np.integer)) or limit < 0:
        raise ValueError(f"the limit of buffers must be a number of bytes, zero or more, not {limit!r}.")
    _pool = _Pool(int(limit))


def is_large(nbytes: int) -> bool:
    """Whether so many bytes are worth to be kept."""
    return SMALL <= nbytes <= _current().limit


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """As `np.empty`, in memory that is free again, if there is some."""
    nbytes = int(np.prod(shape)) * dtype.itemsize
    if not is_large(nbytes):
        return np.empty(shape, dtype)
    size = nbytes + -nbytes % ALIGNED + ALIGNED
    memory = _current().take(size)
    lease = _Lease(np.empty(size, np.uint8) if memory is None else memory, nbytes)
    return np.asarray(lease).view(dtype).reshape(shape)


def for_results(
    inputs: Sequence[Shape], outputs: Sequence[Shape], args: Sequence[np.ndarray], dtype: np.dtype[Any]
) -> tuple[np.ndarray, ...] | None:
    """Arrays for the results of a kernel, if these are large, and NumPy would make them in C order, too."""
    if not all(a.flags.c_contiguous for a in args):
        return None
    try:
        batch = signature.batch_shape(args, inputs)
    except ValueError:  # which NumPy tells
        return None
    if not any(is_large(math.prod(batch + core) * dtype.itemsize) for core in outputs):
        return None
    return tuple(empty(batch + core, dtype) for core in outputs)
