"""A kernel as a recurrence: one instance after the other, each starting where the last one ended.

The inner loop of a kernel with vectors of one element takes instances strictly in order. If its output is one row after
its first input in memory, it reads what it has just written.
"""

import ctypes
import math
from typing import Any

import numpy as np

from poinsot.fuse.kernels import Kernel
from poinsot.fuse.llvm import jit

_LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def scan(kernel: Kernel, first: Any, *others: Any, count: int) -> np.ndarray:
    """y_1 = kernel(first, *others), y_2 = kernel(y_1, *others), ... in float64, as rows of an array (count, ...).

    The kernel has one output, of the shape of its first input. Each of the others is one value for all rows, or has an
    additional first axis with `count` values, one per row.
    """
    arrays = [np.asarray(a, dtype=float) for a in (first, *others)]
    program = kernel.specialise(*(a.shape for a in arrays))
    if list(program.outputs) != [program.inputs[0]]:
        raise ValueError(f"{kernel!r} cannot follow on from itself: give it one output, like its first input")
    rows = np.empty((count + 1, *program.inputs[0]))
    rows[0] = first
    if not jit.available() or program.is_hollow():
        for k in range(count):
            rest = (a[k] if a.ndim > len(c) else a for a, c in zip(arrays[1:], program.inputs[1:], strict=True))
            rows[k + 1] = kernel(rows[k], *rest)
        return rows[1:]
    inputs = [rows, *(np.asarray(a, order="C") for a in arrays[1:])]
    outer = [a.strides[0] if a.ndim > len(core) else 0 for a, core in zip(inputs, program.inputs, strict=True)]
    addresses = [*(a.ctypes.data for a in inputs), rows.ctypes.data + rows.strides[0]]
    cores = [*program.inputs, *program.outputs]
    sizes = [n for core in cores for n in core]
    strides = [8 * math.prod(core[axis + 1 :]) for core in cores for axis in range(len(core))]
    words = (ctypes.c_ssize_t * (len(cores) + len(strides)))(*outer, rows.strides[0], *strides)
    _LOOP(program.serial_loop.address)(
        (ctypes.c_void_p * len(cores))(*addresses), (ctypes.c_ssize_t * (1 + len(sizes)))(count, *sizes), words, None
    )
    return rows[1:]
