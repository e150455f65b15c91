"""A kernel as a recurrence: one instance after the other, each starting where the last one ended.

The inner loop of a kernel with vectors of one element takes instances strictly in order. If its first output is one row
after its first input in memory, it reads what it has just written.
"""

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from poinsot.fuse.kernels import Kernel, Program
from poinsot.fuse.llvm import jit

_LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def scan(kernel: Kernel, first: Any, *others: Any, count: int) -> Any:
    """y_1 = kernel(first, *others), y_2 = kernel(y_1, *others), ... in float64, as rows of an array (count, ...).

    The kernel's output has the shape of its first input; of several outputs, the first one has, and the rows of all are
    returned. Each of the others is one value for all rows, or has an additional first axis with `count` values, one per
    row.
    """
    arrays = [np.asarray(a, dtype=float) for a in (first, *others)]
    program = kernel.specialise(*(a.shape for a in arrays))
    if program.outputs[:1] != program.inputs[:1]:
        raise ValueError(f"{kernel!r} cannot follow on from itself: give it one output, like its first input")
    rows = np.empty((count + 1, *program.inputs[0]))
    rows[0] = first
    more = [np.empty((count, *core)) for core in program.outputs[1:]]
    if jit.available() and not program.is_hollow():
        _run(program, [rows, *(np.asarray(a, order="C") for a in arrays[1:])], [rows[1:], *more], count)
    else:
        for k in range(count):
            rest = (a[k] if a.ndim > len(c) else a for a, c in zip(arrays[1:], program.inputs[1:], strict=True))
            ends = kernel(rows[k], *rest)
            for end, made in zip([rows[1:], *more], ends if more else (ends,), strict=True):
                end[k] = made
    return (rows[1:], *more) if more else rows[1:]


def _run(program: Program, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], count: int) -> None:
    """The loop over the rows, which begin with those of the first input and of all outputs."""
    cores = [*program.inputs, *program.outputs]
    outer = [a.strides[0] if a.ndim > len(core) else 0 for a, core in zip((*inputs, *outputs), cores, strict=True)]
    sizes = [n for core in cores for n in core]
    strides = [8 * math.prod(core[axis + 1 :]) for core in cores for axis in range(len(core))]
    words = (ctypes.c_ssize_t * (len(cores) + len(strides)))(*outer, *strides)
    addresses = (ctypes.c_void_p * len(cores))(*(a.ctypes.data for a in (*inputs, *outputs)))
    _LOOP(program.serial_loop.address)(addresses, (ctypes.c_ssize_t * (1 + len(sizes)))(count, *sizes), words, None)
