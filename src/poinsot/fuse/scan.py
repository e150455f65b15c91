"""One instance after the other, each starting where the last one ended: a kernel as a recurrence.

The inner loop of a kernel whose vectors are one wide takes instances strictly in turn. Given an output that lies one
row after its first input in memory, it reads what it has just written.
"""

import ctypes
import math
from dataclasses import replace
from typing import Any

import numpy as np

from poinsot.fuse.kernels import Kernel
from poinsot.fuse.llvm import jit
from poinsot.fuse.llvm.abi.inner_loop import kernel_module
from poinsot.fuse.llvm.target import this_machine

_LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def scan(kernel: Kernel, first: Any, *others: Any, count: int) -> np.ndarray:
    """Rows (count, ...): y_1 = kernel(first, *others), y_2 = kernel(y_1, *others), and so on, in float64.

    The kernel has one output, of the shape of its first input. Each of the others is one value for all, or has a
    further axis in front with `count` values, one for each row.
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
    _LOOP(_one_wide(program))(
        (ctypes.c_void_p * len(cores))(*addresses), (ctypes.c_ssize_t * (1 + len(sizes)))(count, *sizes), words, None
    )
    return rows[1:]


def _one_wide(program: Any) -> int:
    """The address of the kernel's loop with vectors of one element."""
    address = program.__dict__.get("_one_wide")
    if address is None:
        text = kernel_module(program.graph, program.inputs, program.outputs, replace(this_machine(8), width=1))
        address = jit.compile_module(text, f"{program.name} {program.signature}, one after the other")
        program.__dict__["_one_wide"] = address
    return address
