"""Running a program on the GPU: arrays of CuPy in and out, compiled by NVRTC."""

import math
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from .cuda import kernel_source
from .parallel import batch_shape

BLOCK = 128


def cupy() -> Any:
    """CuPy, with a GPU that it can use."""
    from poinsot import _optional

    module = _optional.require("cupy", "cuda", "The back end 'cuda'")
    try:
        found = module.cuda.runtime.getDeviceCount()
    except module.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(f"no GPU can be used: {error}. The back ends 'llvm' and 'numpy' need none.") from error
    if not found:
        raise RuntimeError("no GPU was found. The back ends 'llvm' and 'numpy' need none.")
    return module


_compiled: weakref.WeakKeyDictionary[Any, dict[tuple[bool, bool], Any]] = weakref.WeakKeyDictionary()


def compiled(program: Any, float64: bool, fast: bool) -> Any:
    """The program as a CUDA kernel, compiled once for each process; CuPy keeps the binaries on disk."""
    kernels = _compiled.setdefault(program.graph, {})
    if (float64, fast) not in kernels:
        inputs, outputs = ([math.prod(core) for core in side] for side in (program.inputs, program.outputs))
        source = kernel_source(program.graph, inputs, outputs, float64, fast)
        kernels[float64, fast] = cupy().RawKernel(source, "kernel", options=("--std=c++17",), backend="nvrtc")
    return kernels[float64, fast]


def run(program: Any, args: Sequence[Any], dtype: np.dtype[Any], fast: bool = False, out: Any = None) -> Any:
    """The program's outputs for arguments with any batch shape in front: CuPy arrays, or whatever exports dlpack."""
    cp = cupy()
    arrays = [_on_device(cp, arg, dtype) for arg in args]
    batch = batch_shape(arrays, program.inputs)
    count = math.prod(batch)
    inputs = [_batch_last(cp, a, batch, core) for a, core in zip(arrays, program.inputs, strict=True)]
    outputs = [cp.empty((math.prod(core), count), dtype) for core in program.outputs]
    kernel = compiled(program, dtype == np.float64, fast)
    if count:
        kernel((-(-count // BLOCK),), (BLOCK,), (*inputs, *outputs, np.int64(count)))
    results = [
        cp.moveaxis(o.reshape(core + batch), range(len(core)), range(-len(core), 0)) if core else o.reshape(batch)
        for o, core in zip(outputs, program.outputs, strict=True)
    ]
    if out is not None:
        targets = out if isinstance(out, tuple) else (out,)
        for target, result in zip(targets, results, strict=True):
            target[...] = result
        results = list(targets)
    return tuple(results) if len(results) > 1 else results[0]


def _on_device(cp: Any, x: Any, dtype: np.dtype[Any]) -> Any:
    if not isinstance(x, (cp.ndarray, np.ndarray)) and hasattr(x, "__dlpack__"):
        x = cp.from_dlpack(x)
    return cp.asarray(x, dtype=dtype)


def _batch_last(cp: Any, a: Any, batch: tuple[int, ...], core: tuple[int, ...]) -> Any:
    """The argument as (elements, batch), without a copy if it lies so already."""
    full = cp.broadcast_to(a, batch + core)
    moved = cp.moveaxis(full, range(len(batch), full.ndim), range(len(core)))
    return cp.ascontiguousarray(moved.reshape(math.prod(core), math.prod(batch)))
