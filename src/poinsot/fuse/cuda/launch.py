"""Running a program on the GPU: arrays of CuPy in and out, compiled by NVRTC.

Arguments are read and results written in place, as long as the elements of an instance, and the instances, are at equal
distances; others are copied first. Fastest is the batch as the last axis in memory. Launches go to CuPy's current
stream.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from poinsot._memo import memo
from poinsot.fuse.cuda.translation import kernel_source
from poinsot.fuse.signature import batch_shape


def cupy() -> Any:
    """CuPy, with a GPU that it can use."""
    from poinsot import _optional

    module = _optional.require("cupy", "cuda", "The back end 'cuda'")
    try:
        count = module.cuda.runtime.getDeviceCount()
    except module.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(f"no GPU can be used: {error}. The back ends 'llvm' and 'numpy' need none.") from error
    if not count:
        raise RuntimeError("no GPU was found. The back ends 'llvm' and 'numpy' need none.")
    return module


@memo
def compiled(program: Any, float64: bool, fast: bool) -> tuple[Any, int, int]:
    """The program as a CUDA kernel, made once per process; the threads and shared memory [bytes] of its blocks.

    CuPy keeps the binaries on disk.
    """
    inputs, outputs = ([math.prod(core) for core in side] for side in (program.inputs, program.outputs))
    source = kernel_source(program.graph, inputs, outputs, float64, fast)
    kernel = cupy().RawKernel(source.text, "kernel", options=("--std=c++17", *source.options), backend="nvrtc")
    if source.shared:
        kernel.max_dynamic_shared_size_bytes = source.shared
    else:  # all of the first-level cache is for local memory, whatever the kernel before had
        kernel.preferred_shared_memory_carveout = 0
    return kernel, source.block, source.shared


def run(program: Any, args: Sequence[Any], dtype: np.dtype[Any], fast: bool = False, out: Any = None) -> Any:
    """The program's outputs for arguments with any batch shape in front: CuPy arrays, or whatever exports dlpack."""
    cp = cupy()
    arrays = [_on_device(cp, arg, dtype) for arg in args]
    batch = batch_shape(arrays, program.inputs)
    count = math.prod(batch)
    inputs = [_DeviceArray.of(cp, a, batch, core) for a, core in zip(arrays, program.inputs, strict=True)]
    targets = (None,) * len(program.outputs) if out is None else out if isinstance(out, tuple) else (out,)
    outputs, results = [], []
    for target, core in zip(targets, program.outputs, strict=True):
        own = target is None or target.dtype != dtype or any(cp.may_share_memory(target, a) for a in arrays)
        result = _empty(cp, batch, core, dtype) if own else target
        argument = _DeviceArray.of(cp, result, batch, core)
        if argument.array is not result:  # its layout is not regular: it was copied, and results would be lost
            result = _empty(cp, batch, core, dtype)
            argument = _DeviceArray.of(cp, result, batch, core)
        outputs.append(argument)
        results.append((target, result))
    kernel, block, shared = compiled(program, dtype == np.float64, fast)
    if count:
        parameters = [x for a in (*inputs, *outputs) for x in (a.array, np.int64(a.row), np.int64(a.lane))]
        kernel((-(-count // block),), (block,), (*parameters, np.int64(count)), shared_mem=shared)
    for target, result in results:
        if target is not None and target is not result:
            target[...] = result
    ends = [result if target is None else target for target, result in results]
    return tuple(ends) if len(ends) > 1 else ends[0]


def _on_device(cp: Any, x: Any, dtype: np.dtype[Any]) -> Any:
    if not isinstance(x, (cp.ndarray, np.ndarray)) and hasattr(x, "__dlpack__"):
        x = cp.from_dlpack(x)
    return cp.asarray(x, dtype=dtype)


def _empty(cp: Any, batch: tuple[int, ...], core: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """A new array with the batch last in memory."""
    array = cp.empty(core + batch, dtype)
    return cp.moveaxis(array, range(len(core)), range(-len(core), 0)) if core else array


class _DeviceArray:
    """An array, and the distances in it of the elements of an instance (`row`) and of the instances (`lane`)."""

    def __init__(self, array: Any, row: int, lane: int) -> None:
        self.array, self.row, self.lane = array, row, lane

    @classmethod
    def of(cls, cp: Any, a: Any, batch: tuple[int, ...], core: tuple[int, ...]) -> "_DeviceArray":
        """The array itself if its layout is regular, a copy otherwise."""
        full = cp.broadcast_to(a, batch + core)
        row = _distance(core, full.strides[len(batch) :], a.itemsize)
        lane = _distance(batch, full.strides[: len(batch)], a.itemsize)
        if row is not None and lane is not None:
            return cls(a, row, lane)
        copy = _empty(cp, batch, core, a.dtype)
        copy[...] = full
        return cls(copy, math.prod(batch), 1)


def _distance(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> int | None:
    """The distance, in elements, between neighbours along these axes together; None if it varies."""
    axes = [(n, stride) for n, stride in zip(shape, strides, strict=True) if n != 1]
    if not axes:
        return 0
    for (_, outer), (n, inner) in pairwise(axes):
        if outer != n * inner:
            return None
    return axes[-1][1] // itemsize if axes[-1][1] % itemsize == 0 else None
