"""States of runs on disk: arrays of the group "run", and their layout and clock in its text."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.run.continuing import Layout, RunState
from poinsot.run.outcomes import Breakdown
from poinsot.world import Description

if TYPE_CHECKING:
    from xarray import Dataset

ARRAYS = ("y", "x", "p")


def arrays_of(name: str, state: RunState) -> dict[str, Any]:
    """The arrays of a state, called "name_x" and so on, with their dimensions."""
    instance = () if state.batch is None else (f"{name}_instance",)
    arrays = {f"{name}_{key}": ((*instance, f"{name}_{key}_number"), getattr(state, key)) for key in ARRAYS}
    return {**arrays, f"{name}_times": (instance, state.times)}


def text_of(state: RunState) -> dict[str, Any]:
    """The rest of it, for JSON."""
    layout = state.layout
    return {
        "hash": layout.hash,
        "method": layout.method,
        "states": list(layout.states),
        "parameters": {path: list(shape) for path, shape in layout.parameters.items()},
        "outputs": list(layout.outputs),
        "memory": layout.memory,
        "step": state.step,
        "origin": state.origin,
        "steps": state.steps,
        "broken": [[list(map(int, index)), int(b.step), float(b.time), b.what] for index, b in state.broken.items()],
    }


def read_state(
    name: str, whole: "Dataset", text: Mapping[str, Any], description: Description, inputs: Mapping[str, Any]
) -> RunState:
    """A state from the group "run" of a file."""
    y, x, p, times = (np.asarray(whole[f"{name}_{key}"].values) for key in (*ARRAYS, "times"))
    shapes = {path: tuple(shape) for path, shape in text["parameters"].items()}
    kept, memory = tuple(text["outputs"]), text["memory"]
    layout = Layout(text["hash"], text["method"], tuple(text["states"]), shapes, description, kept, memory)
    broken = {
        tuple(index): Breakdown(step, time, what, x[tuple(index)], y[tuple(index)])
        for index, step, time, what in text["broken"]
    }
    return RunState(layout, text["step"], text["origin"], text["steps"], y, x, p, times, broken, inputs)
