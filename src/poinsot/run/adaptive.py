"""Single runs with steps of adaptive length: SciPy's DOP853 on the compiled derivative."""

import numpy as np

from poinsot import _optional
from poinsot._types import Array
from poinsot.run.plan import Inputs, Plan
from poinsot.run.progress import Progress
from poinsot.run.rows import Rows
from poinsot.run.run import Stop


def advance_adaptively(
    rows: Rows, plan: Plan, p: Array, inputs: Inputs, tolerance: float, bar: Progress
) -> tuple[Array, Array, Stop]:
    """Times, rows (r, ny) at those times, and why it ended. The tolerance is relative, to each number's largest value.

    Records between steps come from the interpolant of order seven.
    """
    integrate = _optional.require("scipy.integrate", "adaptive", "Adaptive time stepping")
    if len(inputs.changes()) > 1:
        raise ValueError("an input that jumps cannot be stepped adaptively: give a function of time, or a Tabulated.")
    times, found = plan.times, [np.asarray(rows.start(p))]
    scale = 1e-3 * tolerance * (1 + np.abs(found[0]))
    if rows.until is not None and rows.condition(0.0, found[0], p) > 0:
        return times[:1], np.stack(found), Stop("condition", 0.0, "the condition was met at t = 0 s")
    solver = integrate.DOP853(
        lambda t, y: rows.derivative(t, y, p), 0.0, found[0], plan.duration, rtol=tolerance, atol=scale
    )
    try:
        while solver.status == "running":
            message = solver.step()
            t, y = solver.t, solver.y
            if solver.status == "failed" or not np.all(np.isfinite(y)):
                what = rows.labels()[int(np.argmax(~np.isfinite(y)))] if not np.all(np.isfinite(y)) else "the step"
                text = f"{what} broke down at t = {t:g} s: {message or 'not finite'}"
                return times[: len(found)], np.stack(found), Stop("broken", t, text)
            between = solver.dense_output()
            met = rows.until is not None and bool(rows.condition(t, y, p) > 0)
            end = _moment(rows, p, between, solver.t_old, t) if met else t
            while len(found) < len(times) and times[len(found)] <= end:
                found.append(y if times[len(found)] == t else rows.unit(between(times[len(found)])))
            if met:
                stop = Stop("condition", end, f"the condition was met at t = {end:.9g} s")
                return np.append(times[: len(found)], end), np.stack([*found, rows.unit(between(end))]), stop
            bar.at(int(t / plan.step))
    except KeyboardInterrupt:
        stop = Stop("interrupted", solver.t, f"interrupted at t = {solver.t:g} s")
        return times[: len(found)], np.stack(found), stop
    return times, np.stack(found), Stop("duration", plan.duration, "the duration was over")


def _moment(rows: Rows, p: Array, between: Array, low: float, high: float) -> float:
    """When the condition comes true between two times, by bisection to rounding."""
    for _ in range(60):
        middle = 0.5 * (low + high)
        true = rows.condition(middle, rows.unit(between(middle)), p) > 0  # type: ignore[operator]
        low, high = (low, middle) if true else (middle, high)
    return high
