"""Kernels as bridges need them: with one batch shape for all arguments, and their pullbacks and pushforwards."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from poinsot._memo import memo
from poinsot.fuse import Kernel, jvp, signature, vjp
from poinsot.fuse.trace import pytree


def as_kernel(source: Any) -> Kernel:
    """A kernel that can be differentiated."""
    if not isinstance(source, Kernel):
        raise TypeError(
            f"a bridge starts at a kernel, pt.kernel(signature)(function), or at a stepper; not {source!r}."
        )
    if source.function is None:
        raise TypeError(f"{source!r} was unpickled, without its function; make the bridge from the kernel itself.")
    return source.to("llvm") if source.backend == "cuda" else source


def core_ranks(kernel: Kernel) -> list[int]:
    """The number of core dimensions of each argument."""
    return [len(core) for core in kernel._in]


@memo
def pullback(kernel: Kernel, wrt: tuple[int, ...]) -> Kernel:
    """The derivatives of sum(w * y) by the arguments in `wrt`: (x ..., w ...) -> (d/dx ...)."""
    return _last(vjp(kernel, wrt), len(kernel._out))


@memo
def pushforward(kernel: Kernel, wrt: tuple[int, ...]) -> Kernel:
    """The derivative of the results along changes of the arguments in `wrt`: (x ..., dx ...) -> (dy ...)."""
    return _last(jvp(kernel, wrt), len(kernel._out))


def _last(derived: Any, first: int) -> Kernel:
    """A kernel without its first results."""

    def rest(*args: Any) -> Any:
        results = derived.function(*args)[first:]
        return results if len(results) > 1 else results[0]

    rest.__name__ = derived.__name__
    sides = (",".join(map(signature.text, side)) for side in (derived._in, derived._out[first:]))
    return Kernel(rest, "->".join(sides), strict=derived.strict)


@memo
def batch_of(kernel: Kernel, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The batch shape of arguments of these shapes; an error if one has too few dimensions or they do not fit."""
    if len(shapes) != len(kernel._in):
        raise TypeError(f"{kernel!r} takes {len(kernel._in)} arrays, not {len(shapes)}.")
    kernel.specialise(*shapes)
    ranks = core_ranks(kernel)
    return np.broadcast_shapes(*(s[: len(s) - rank] for s, rank in zip(shapes, ranks, strict=True)))


@memo
def on_gpu(kernel: Kernel) -> Kernel:
    """The kernel for the GPU, which remembers what it compiled."""
    return kernel.to("cuda")


def evaluated(kernel: Kernel, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a kernel as a flat tuple, whatever the structure of those of its function."""
    with np.errstate(all="ignore"):
        results = pytree.flatten(kernel(*arrays))[0]
    return tuple(results)
