"""What is measured at an instant: for a single run by the command, it is traced together, from one scene."""

from typing import TYPE_CHECKING, cast

import numpy as np

from poinsot._alone import makes_one_run
from poinsot._memo import memo
from poinsot._types import Array, Scalar
from poinsot.fuse.trace.function_graph import SharedTrace
from poinsot.parts.scene import Scene
from poinsot.world import State

if TYPE_CHECKING:
    from poinsot.run.compiled import CompiledSystem


@memo
def traced_together(compiled: "CompiledSystem") -> SharedTrace | None:
    """Where functions of t, the state (n_state,) and p are traced; None if each is traced alone.

    What is traced together stays in memory, which matters little where nothing follows.
    """
    return SharedTrace([(), (compiled.n_state,), (compiled.np,)]) if makes_one_run() and not compiled.net else None


def scene(compiled: "CompiledSystem", t: Scalar, y: Array, p: Array) -> Scene:
    """Poses and velocities of a flat state y (n_state or more,)."""
    together, system = traced_together(compiled.original), compiled.system
    known = {} if together is None or y is not together.leaves[1] else together.known
    if "scene" not in known:
        state = State(*np.split(y[: compiled.n_state], np.cumsum([system.nq, system.nv])))
        known["scene"] = compiled.context(p, np.zeros(0, int)).scene(t, state)
    return cast(Scene, known["scene"])
