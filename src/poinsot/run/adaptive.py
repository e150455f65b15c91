"""Single runs with steps of adaptive length: DOP853 on the compiled derivative."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array
from poinsot.integrate import dop853
from poinsot.run import outcomes
from poinsot.run.compiled import CompiledSystem
from poinsot.run.inputs import Inputs
from poinsot.run.progress import Progress
from poinsot.run.result import Stop
from poinsot.run.time_grid import TimeGrid

Start: TypeAlias = tuple[float, Array, Array]  # time [s], y (ny,), p (np,)


def advance_adaptively(
    compiled: CompiledSystem, grid: TimeGrid, start: Start, inputs: Inputs, tolerance: float, bar: Progress
) -> tuple[Array, Array, Stop]:
    """Times, flat states (r, ny) at those times, and why it ended.

    The tolerance is relative to the largest value of each number. Records between steps come from the interpolant of
    order seven. Loops are closed after each step, and in each record.
    """
    if inputs.jump:
        raise ValueError("an input that jumps cannot be stepped adaptively: give a function of time, or a Tabulated.")
    begin, y, p = start
    times, states = begin + grid.times, [y]
    if compiled.until is not None and compiled.condition(begin, y, p) > 0:
        return times[:1], np.stack(states), outcomes.met(begin)
    scale = 1e-3 * tolerance * (1 + np.abs(states[0]))
    solver = dop853.solver(
        lambda t, y: compiled.derivative(t, y, p), begin, y, begin + grid.duration, rtol=tolerance, atol=scale
    )
    try:
        for t_old in dop853.steps(solver):
            t, y = solver.t, solver.y
            if not np.all(np.isfinite(y)):
                return times[: len(states)], np.stack(states), _broken(compiled, t, y, "not finite")
            between = solver.dense_output()
            y = _closed(compiled, solver, p)
            met = compiled.until is not None and bool(compiled.condition(t, y, p) > 0)
            end = _onset(compiled, p, between, t_old, t) if met else t
            while len(states) < len(times) and times[len(states)] <= end:
                at = times[len(states)]
                states.append(y if at == t else compiled.normalize(at, between(at), p))
            if met:
                there = compiled.normalize(end, between(end), p)
                return np.append(times[: len(states)], end), np.stack([*states, there]), outcomes.met(end)
            bar.at(int((t - begin) / grid.step))
    except dop853.StepFailed as failure:
        return times[: len(states)], np.stack(states), _broken(compiled, solver.t, solver.y, failure.reason)
    except KeyboardInterrupt:
        return times[: len(states)], np.stack(states), outcomes.interrupted(solver.t)
    return times, np.stack(states), outcomes.over(begin + grid.duration)


def _closed(compiled: CompiledSystem, solver: Any, p: Array) -> Array:
    """y (ny,) at the end of a step, on the loops, if there are any; the next step begins there."""
    if compiled.system.loops:
        solver.y = compiled.normalize(solver.t, solver.y, p)
        solver.f = compiled.derivative(solver.t, solver.y, p)
    y: Array = solver.y
    return y


def _broken(compiled: CompiledSystem, t: float, y: Array, reason: str) -> Stop:
    bad = ~np.isfinite(y)
    quantity = compiled.labels()[int(np.argmax(bad))] if np.any(bad) else "the step"
    return Stop("broken", t, f"{quantity} broke down at t = {t:g} s: {reason}")


def _onset(compiled: CompiledSystem, p: Array, between: Callable[[Any], Array], low: float, high: float) -> float:
    """When the condition becomes true between two times [s], to rounding."""
    return float(
        outcomes.onset(lambda t: compiled.condition(t, compiled.normalize(t, between(t), p), p) > 0, low, high, 60)
    )
