"""Kernels traced from a world's functions, or read from disk where they were traced before (`fuse.program_cache`)."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array
from poinsot.fuse import Kernel, program_cache
from poinsot.fuse.graph.observers import observe
from poinsot.fuse.kernels import Program
from poinsot.fuse.trace.function_graph import SharedTrace
from poinsot.fuse.trace.purity import VaryingFunctionError
from poinsot.run.device_calls import OnDevice, traced_for_device
from poinsot.run.uncompiled import warn_uncompiled

Compiled: TypeAlias = Callable[..., Any]  # a kernel, or the plain function in a loop over the instances


def compiled_kernel(
    function: Callable[..., Any],
    signature: str,
    device: str,
    observers: Sequence[int],
    plain: bool,
    place: str | None,
    found: list[Any] | None = None,
    shared: SharedTrace | None = None,
) -> Compiled:
    """A kernel; or, if the function cannot be traced, a warning and the function itself, instance by instance.

    `observers`: outputs that change no bit of the others; products are fused by the same rule without any. `plain`:
    NumPy gives the same bits. `place`: the key of its program on disk; None if it is not kept. `found`: what the
    function puts there as it is traced, which is kept with the program. `shared`: where it is traced with others.
    """
    kernel = Kernel(function, signature)
    kernel.shared = shared
    if device == "cpu" and (kept := program_cache.read(place)) is not None:
        kernel.adopt(kept[0])
        if found is not None:
            found[:] = kept[1]
        return kernel.to("numpy") if kept[0].only_moves else kernel
    try:
        with program_cache.heard(place) as said:
            program = traced_for_device(kernel) if device == "cuda" else kernel.program()
    except VaryingFunctionError:
        raise
    except Exception as error:  # whatever a user's function raises on numbers that are not known yet
        if not warn_uncompiled(error):
            raise
        return np.vectorize(function, signature=signature)
    if device == "cuda":
        return OnDevice(kernel)
    program.graph.plain = plain
    if not plain:
        observe(program.graph, observers)
    if not said:
        program_cache.write(place, program, found)
    return kernel.to("numpy") if program.only_moves else kernel


def first_output(
    function: Callable[..., Any], signature: str, name: str, place: str | None, shared: SharedTrace | None
) -> tuple[Program, Array] | None:
    """The program of the first of two outputs, and which numbers of the second can differ from zero.

    It is plain: NumPy gives the same bits. None if a user's function in it cannot be traced.
    """
    if (kept := program_cache.read(place)) is not None:
        return kept
    try:
        with program_cache.heard(place) as said:
            kernel = Kernel(function, signature)
            kernel.shared = shared
            traced = kernel.program()
    except VaryingFunctionError:
        raise
    except Exception:  # whatever a user's function raises on numbers that are not known yet
        return None
    graph, width = traced.graph, int(np.prod(traced.outputs[0]))
    possible = np.array([node.op != "const" or node.data != 0 for node in graph.outputs[width:]], dtype=bool)
    graph.outputs = graph.outputs[:width]
    graph.plain = True
    program = Program(graph, traced.inputs, traced.outputs[:1], name, "")
    if not said:
        program_cache.write(place, program, possible)
    return program, possible
