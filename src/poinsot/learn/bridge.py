"""Bridges with derivatives: kernels and steppers as functions of torch tensors or JAX arrays."""

from collections.abc import Callable
from typing import Any

from poinsot.fuse import Kernel
from poinsot.learn.jax_bridge import as_jax_array, jax_call
from poinsot.learn.period_map import PeriodMap, period_kernel
from poinsot.learn.pullbacks import as_kernel
from poinsot.learn.torch_bridge import as_tensor, torch_call
from poinsot.run import WorldStepper


def torch(source: Kernel | WorldStepper) -> Any:
    """A kernel as a function of torch tensors, or a stepper as a `PeriodMap` of them, with derivatives of all orders.

    It works with `backward`, `torch.autograd.grad` and `torch.func`: grad, vjp, jvp, jacrev, jacfwd and vmap. On the
    CPU tensors and NumPy arrays share their memory; on a GPU they are passed to CuPy by dlpack (extra `cuda`).
    """
    return _bridged(source, torch_call, as_tensor)


def jax(source: Kernel | WorldStepper) -> Any:
    """A kernel as a function of JAX arrays, or a stepper as a `PeriodMap` of them, with derivatives in reverse.

    It works under `jit` and `vmap`, with `grad`, `vjp` and `jacrev`, also nested. The arithmetic is float32 unless JAX
    has 64 bits enabled.
    """
    return _bridged(source, jax_call, as_jax_array)


def _bridged(source: Any, call: Callable[[Kernel], Callable[..., Any]], own: Callable[[Any], Any]) -> Any:
    if not isinstance(source, WorldStepper):
        return call(as_kernel(source))
    state = source.state
    return PeriodMap(call(period_kernel(source)), own(state.x), own(state.p))
