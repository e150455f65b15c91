"""Single runs with steps of adaptive length: SciPy's DOP853 on the compiled derivative."""

from collections.abc import Callable
from typing import Any

import numpy as np

from poinsot import _optional
from poinsot._types import Array
from poinsot.run import outcomes
from poinsot.run.compiled import Rows
from poinsot.run.plan import Inputs, Plan
from poinsot.run.progress import Progress
from poinsot.run.result import Stop


def advance_adaptively(
    rows: Rows, plan: Plan, p: Array, inputs: Inputs, tolerance: float, bar: Progress
) -> tuple[Array, Array, Stop]:
    """Times, rows (r, ny) at those times, and why it ended. The tolerance is relative, to each number's largest value.

    Records between steps come from the interpolant of order seven.
    """
    integrate = _optional.require("scipy.integrate", "adaptive", "Adaptive time stepping")
    if inputs.jump:
        raise ValueError("an input that jumps cannot be stepped adaptively: give a function of time, or a Tabulated.")
    times, found = plan.times, [np.asarray(rows.start(p))]
    if rows.until is not None and rows.condition(0.0, found[0], p) > 0:
        return times[:1], np.stack(found), outcomes.met(0.0)
    scale = 1e-3 * tolerance * (1 + np.abs(found[0]))
    solver = integrate.DOP853(
        lambda t, y: rows.derivative(t, y, p), 0.0, found[0], plan.duration, rtol=tolerance, atol=scale
    )
    try:
        while solver.status == "running":
            message = solver.step()
            t, y = solver.t, solver.y
            if solver.status == "failed" or not np.all(np.isfinite(y)):
                return times[: len(found)], np.stack(found), _broken(rows, t, y, message)
            between = solver.dense_output()
            met = rows.until is not None and bool(rows.condition(t, y, p) > 0)
            end = _moment(rows, p, between, solver.t_old, t) if met else t
            while len(found) < len(times) and times[len(found)] <= end:
                found.append(y if times[len(found)] == t else rows.unit(between(times[len(found)])))
            if met:
                there = rows.unit(between(end))
                return np.append(times[: len(found)], end), np.stack([*found, there]), outcomes.met(end)
            bar.at(int(t / plan.step))
    except KeyboardInterrupt:
        return times[: len(found)], np.stack(found), outcomes.interrupted(solver.t)
    return times, np.stack(found), outcomes.over(plan.duration)


def _broken(rows: Rows, t: float, y: Array, message: str | None) -> Stop:
    bad = ~np.isfinite(y)
    what = rows.labels()[int(np.argmax(bad))] if np.any(bad) else "the step"
    return Stop("broken", t, f"{what} broke down at t = {t:g} s: {message or 'not finite'}")


def _moment(rows: Rows, p: Array, between: Callable[[Any], Array], low: float, high: float) -> float:
    """When the condition comes true between two times [s], to rounding."""
    return float(outcomes.onset(lambda t: rows.condition(t, rows.unit(between(t)), p) > 0, low, high, 60))
