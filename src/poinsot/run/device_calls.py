"""Kernels on the GPU for arrays that are on the processor."""

from typing import Any

from poinsot.fuse import Kernel


def on_device(kernel: Kernel) -> Any:
    """A kernel on the GPU as a function of NumPy arrays, which are copied there and back."""
    import cupy

    def call(*args: Any) -> Any:
        results = kernel(*map(cupy.asarray, args))
        return tuple(map(cupy.asnumpy, results)) if isinstance(results, tuple) else cupy.asnumpy(results)

    return call
