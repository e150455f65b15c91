"""Kernels that are compiled only once they are asked for much: NumPy is faster than to compile first."""

import itertools
import math
from collections.abc import Callable
from typing import Any

from poinsot._types import Array, Scalar
from poinsot.fuse import Kernel
from poinsot.fuse.llvm import jit
from poinsot.run.device_calls import OnDevice
from poinsot.run.kept_kernels import Compiled

FEW_STATES = 4096  # in one call
FEW_LOOKS = 16  # calls


def few_looks(kernel: Compiled, looks: int = FEW_LOOKS, device: str = "cpu") -> Callable[[Scalar, Array, Array], Any]:
    """A plain kernel of t, y (..., n) and p, which NumPy evaluates, operation by operation, in so many first calls if
    they are about few states. It has the same bits either way; but on a machine that cannot compile for the processor,
    many states of a run on the GPU are evaluated there, too."""
    if not isinstance(kernel, Kernel):
        return kernel
    calls, by_numpy = itertools.count(), kernel.to("numpy")
    by_code = OnDevice(kernel) if device == "cuda" and not jit.available() else kernel

    def call(t: Scalar, y: Array, p: Array) -> Any:
        few = math.prod(y.shape[:-1]) <= FEW_STATES and next(calls) < looks
        return (by_numpy if few else by_code)(t, y, p)

    return call
