"""Kernels on arrays of JAX, with derivatives: a `custom_vjp` per kernel, whose backward is a kernel too.

All arguments have one batch shape in front; `broadcast_to` brings them there, and sums derivatives back. Under `jit` a
kernel is called back from the compiled program. Outside of it, arrays on a GPU are handed over as they are, by dlpack.
"""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from poinsot import _optional
from poinsot._memo import memo
from poinsot.fuse import Kernel, signature
from poinsot.fuse.cuda import launch
from poinsot.learn.pullbacks import batch_of, core_ranks, evaluated, on_gpu, pullback

PURPOSE = "pt.bridge.jax"


def jax_call(kernel: Kernel) -> Callable[..., Any]:
    """The kernel as a function of JAX arrays (or numbers), of any batch shapes that broadcast."""
    jax = _optional.require("jax", "jax", PURPOSE)

    def call(*args: Any) -> Any:
        results = applied_to(jax, kernel, _arrays(jax, kernel, args))
        return results if len(results) > 1 else results[0]

    call.__name__, call.__doc__ = kernel.__name__, kernel.__doc__
    return call


def _arrays(jax: Any, kernel: Kernel, args: Sequence[Any]) -> list[Any]:
    """The arguments as arrays of one floating type; numbers of Python take that of the others."""
    args = [np.asarray(a) if isinstance(a, (list, tuple)) else a for a in args]
    dtype = jax.numpy.result_type(*args, float)
    if any(str(getattr(a, "dtype", "")) in ("float16", "bfloat16", "complex64", "complex128") for a in args):
        raise TypeError(f"{kernel!r} takes arrays of float32 or float64, not {[str(np.result_type(a)) for a in args]}.")
    return [jax.numpy.asarray(a, dtype=dtype) for a in args]


def as_jax_array(array: Any) -> Any:
    """A JAX array with a copy of an array."""
    return _optional.require("jax.numpy", "jax", PURPOSE).array(array)


def applied_to(jax: Any, kernel: Kernel, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The results for arrays whose batch shapes broadcast."""
    batch = batch_of(kernel, *(a.shape for a in arrays))
    full = [
        jax.numpy.broadcast_to(a, (*batch, *a.shape[a.ndim - rank :]))
        for a, rank in zip(arrays, core_ranks(kernel), strict=True)
    ]
    results: tuple[Any, ...] = _custom(kernel, jax)(*full)
    return results


@memo
def _custom(kernel: Kernel, jax: Any) -> Any:
    """The kernel, for arguments with one batch shape, with its derivative in reverse."""
    everything = tuple(range(len(core_ranks(kernel))))

    @jax.custom_vjp
    def call(*args: Any) -> tuple[Any, ...]:
        return _results(jax, kernel, args)

    def forward(*args: Any) -> tuple[Any, Any]:
        return call(*args), args

    def backward(args: Any, weights: Any) -> tuple[Any, ...]:
        return applied_to(jax, pullback(kernel, everything), (*args, *weights))

    call.defvjp(forward, backward)
    return call


def _results(jax: Any, kernel: Kernel, args: Sequence[Any]) -> tuple[Any, ...]:
    """The kernel, called back; or at once, with the memory of a GPU, if the numbers are known."""
    if args and not any(isinstance(a, jax.core.Tracer) for a in args) and _on_gpu(args):
        cp = launch.cupy()
        results = evaluated(on_gpu(kernel), [cp.from_dlpack(a) for a in args])
        cp.cuda.get_current_stream().synchronize()
        return tuple(jax.numpy.from_dlpack(cp.ascontiguousarray(a)) for a in results)
    dtype, ranks = args[0].dtype, core_ranks(kernel)
    batch = args[0].shape[: args[0].ndim - ranks[0]]
    known = signature.sizes(kernel._in, [a.shape for a in args], kernel._parameter_names)
    cores = [signature.resolve(core, known) for core in kernel._out]
    shapes = [jax.ShapeDtypeStruct((*batch, *core), dtype) for core in cores]

    def called_back(*arrays: Any) -> tuple[Any, ...]:
        results = evaluated(kernel, [np.asarray(a) for a in arrays])
        return tuple(np.asarray(a, dtype=dtype) for a in results)

    return tuple(jax.pure_callback(called_back, shapes, *args, vmap_method="expand_dims"))


def _on_gpu(args: Sequence[Any]) -> bool:
    """Whether these arrays are on a GPU, and CuPy is there to take them."""
    there = all(device.platform in ("gpu", "cuda") for a in args for device in a.devices())
    return there and find_spec("cupy") is not None
