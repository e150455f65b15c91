"""Kernels on tensors of torch, with derivatives: an `autograd.Function` per kernel, whose backward is a kernel too.

All arguments of such a function have one batch shape in front; `expand` brings them there, and sums derivatives back.
Backward calls the same kind of function of the pullback, so derivatives of derivatives, and `torch.func`, follow.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from poinsot import _optional
from poinsot._memo import memo
from poinsot.fuse import Kernel
from poinsot.fuse.cuda import launch
from poinsot.learn.pullbacks import batch_of, core_ranks, evaluated, on_gpu, pullback, pushforward

PURPOSE = "pt.bridge.torch"


def torch_call(kernel: Kernel) -> Callable[..., Any]:
    """The kernel as a function of tensors (or numbers), of any batch shapes that broadcast."""
    torch = _optional.require("torch", "torch", PURPOSE)

    def call(*args: Any) -> Any:
        tensors = _tensors(torch, kernel, args)
        results = applied(torch, kernel, tensors)
        return results if len(results) > 1 else results[0]

    call.__name__, call.__doc__ = kernel.__name__, kernel.__doc__
    return call


def _tensors(torch: Any, kernel: Kernel, args: Sequence[Any]) -> list[Any]:
    """The arguments as tensors of one floating type on one device."""
    given = [a for a in args if isinstance(a, torch.Tensor)]
    devices = {a.device for a in given}
    if len(devices) > 1:
        raise ValueError(f"{kernel!r}: the tensors are on several devices, {', '.join(map(str, devices))}.")
    floats = {a.dtype for a in given if a.dtype.is_floating_point or a.dtype.is_complex}
    if bad := floats - {torch.float32, torch.float64}:
        raise TypeError(f"{kernel!r} takes tensors of float32 or float64, not {next(iter(bad))}.")
    dtype = torch.float32 if floats == {torch.float32} else torch.float64
    device = next(iter(devices), torch.device("cpu"))
    tensors = [a if isinstance(a, torch.Tensor) else as_tensor(a) for a in args]
    return [a.to(device, dtype) for a in tensors]


def as_tensor(array: Any) -> Any:
    """A tensor with a copy of an array."""
    return _optional.require("torch", "torch", PURPOSE).from_numpy(np.array(array, dtype=float))


def applied(torch: Any, kernel: Kernel, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The results for tensors whose batch shapes broadcast."""
    batch = batch_of(kernel, *(tuple(a.shape) for a in tensors))
    full = [a.expand((*batch, *a.shape[a.ndim - rank :])) for a, rank in zip(tensors, core_ranks(kernel), strict=True)]
    results: tuple[Any, ...] = _function(kernel, torch).apply(*full)
    return results


@memo
def _function(kernel: Kernel, torch: Any) -> Any:
    """The `autograd.Function` of a kernel, for arguments with one batch shape."""
    ranks = core_ranks(kernel)

    class KernelFunction(torch.autograd.Function):
        @staticmethod
        def forward(*args: Any) -> Any:
            return _results(torch, kernel, args)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, *weights: Any) -> Any:
            wanted = tuple(k for k, needed in enumerate(ctx.needs_input_grad) if needed)
            found = iter(applied(torch, pullback(kernel, wanted), (*ctx.saved_tensors, *weights)))
            return tuple(next(found) if k in wanted else None for k in range(len(ranks)))

        @staticmethod
        def jvp(ctx: Any, *changes: Any) -> Any:
            moving = tuple(k for k, change in enumerate(changes) if change is not None)
            along = (changes[k] for k in moving)
            return applied(torch, pushforward(kernel, moving), (*ctx.saved_tensors, *along))

        @staticmethod
        def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
            batched = [a if d is None else a.movedim(d, 0) for a, d in zip(args, in_dims, strict=True)]
            results = applied(torch, kernel, batched)
            return results, (0,) * len(results)

    return KernelFunction


def _results(torch: Any, kernel: Kernel, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The kernel on tensors: views of their memory go in, and its results are views too."""
    if tensors and tensors[0].is_cuda:
        cp, stream = launch.cupy(), torch.cuda.current_stream(tensors[0].device)
        known = hasattr(stream, "__cuda_stream__") and hasattr(cp.cuda.Stream, "from_external")
        own = cp.cuda.Stream.from_external(stream) if known else cp.cuda.ExternalStream(stream.cuda_stream)
        with cp.cuda.Device(tensors[0].device.index), own:
            results = evaluated(on_gpu(kernel), [cp.from_dlpack(a.detach()) for a in tensors])
            return tuple(torch.from_dlpack(cp.asarray(a)) for a in results)
    arrays = [a.detach().resolve_neg().numpy() for a in tensors]
    return tuple(torch.from_numpy(np.asarray(a)) for a in evaluated(kernel, arrays))
