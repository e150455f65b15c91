"""Runs joined end to start, with the records that one long run would have."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.run.result import Run
from poinsot.world import World

NOT_INHERITED = ("duration", "batch", "vary", "seed", "start")  # options that are part of the state at the end


def continued(run: Run, world: World, duration: float, changes: Mapping[str, Any]) -> Run:
    """A run, and a further duration [s] of its world, joined into one."""
    if run.end is None:
        raise ValueError("this run cannot go on: its file does not hold the state at its end.")
    options = {name: value for name, value in run.settings["options"].items() if name not in NOT_INHERITED}
    start = replace(run.end, remembers=True)
    options |= {"step": run.settings["step"], "every": _every(run), "start": start, **changes}
    later = world.simulate(duration, **options)
    total = {"duration": run.settings["duration"] + duration}
    settings = {**later.settings, **total, "options": {**run.settings["options"], **changes, **total}}
    return Run(world, later.compiled, *_joined(run, later), settings, later.stop, run.record, later.end)


def _every(run: Run) -> float | None:
    """Seconds between the records of a run; None if it recorded the start and the end alone."""
    step, every = run.settings["step"], run.settings["options"]["every"]
    if every is not None or run.batch is not None or len(run.time) < 3:
        return every if every is None else float(every)
    return float(round((run.time[1] - run.time[0]) / step) * step)


def _joined(run: Run, later: Run) -> tuple[Array, Array, Array]:
    """Time, y and p of two runs: the end of the first is the start of the second.

    The end of the first is left out if it does not fall on the grid of the records.
    """
    assert run.end is not None
    every, last = _every(run), len(run.time)
    stride = 1 if every is None else max(1, round(every / run.end.step))
    if run.end.steps % stride and len(later.time) > 1:
        last -= 1
    time = np.concatenate([run.time[:last], later.time[1:]])
    y = np.concatenate([np.asarray(run.y[:last]), np.asarray(later.y[1:])])
    if run.p.ndim == later.p.ndim < y.ndim and np.array_equal(run.p, later.p):
        return time, y, run.p
    return time, y, np.concatenate([_each(run)[:last], _each(later)[1:]])


def _each(run: Run) -> Array:
    """The parameters of every record."""
    return np.broadcast_to(run.p, (len(run.time), *run.p.shape)) if run.p.ndim < run.y.ndim else np.asarray(run.p)
