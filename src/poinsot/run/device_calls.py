"""Kernels on the GPU for arrays that are on the processor."""

import os
import weakref
from concurrent.futures import Future
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.fuse import Kernel, buffers, signature
from poinsot.fuse.cuda import launch
from poinsot.fuse.kernels import Program, compilers


def traced_for_device(kernel: Kernel) -> Program:
    """The program of a kernel of known sizes as it is traced for the GPU, in float64: the only one that is needed."""
    inputs, _ = signature.parse(kernel.signature)
    return kernel.gpu_program(*(signature.resolve(core, {}) for core in inputs), dtype=np.float64)


class OnDevice:
    """A kernel on the GPU as a function of NumPy arrays, which are copied there and back.

    Results cannot be written to: while the last one is in use it stays on the GPU as well, and need not be copied there
    if it is the next argument.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._cupy, self._kernel, self._known = launch.cupy(), kernel.to("cuda"), _Known()
        self._begun: Future[Any] | None = None

    def begin(self) -> None:
        """Make the code for arrays of float64 in another thread while this one goes on."""
        if self._begun is None:
            program, device = traced_for_device(self._kernel), self._cupy.cuda.Device()

            def make() -> None:
                with device:  # that of this thread, not of the other
                    launch.compiled(program, True, False)

            self._begun = compilers(os.getpid()).submit(make)

    def __call__(self, *args: Any) -> Any:
        if self._begun is not None:
            self._begun.result()
        results = self._kernel(*(self._known.there(self._cupy, arg) for arg in args))
        many = results if isinstance(results, tuple) else (results,)
        here = tuple(_here(self._cupy, result) for result in many)
        self._known.keep(here[0], many[0])
        return here if isinstance(results, tuple) else here[0]


class _Known:
    """The last result of a kernel: where it is on the processor, and on the GPU."""

    def __init__(self) -> None:
        self._here: weakref.ref[Array] | None = None
        self._there: Any = None

    def keep(self, here: Array, there: Any) -> None:
        self._there = there
        self._here = weakref.ref(here, lambda ref: self._forget(ref))

    def _forget(self, ref: Any) -> None:
        if ref is self._here:
            self._here = self._there = None

    def there(self, cupy: Any, arg: Any) -> Any:
        """An argument on the GPU."""
        last = None if self._here is None else self._here()
        return self._there if last is not None and arg is last else cupy.asarray(arg)


def _here(cupy: Any, result: Any) -> Array:
    """A result on the processor, where it stays as it is."""
    target = buffers.empty(result.shape, result.dtype)
    cupy.asnumpy(result, out=target)
    target.flags.writeable = False
    return target
