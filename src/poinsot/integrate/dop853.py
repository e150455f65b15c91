"""Adaptive steps of high order: SciPy's DOP853 on a compiled derivative, with dense output."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from poinsot import _optional
from poinsot._types import Array, ArrayLike
from poinsot.body import momentum
from poinsot.body.forces import Load
from poinsot.fuse import Kernel
from poinsot.fuse.trace.pytree import flatten
from poinsot.integrate.single import BodyTrajectory, compiled
from poinsot.spatial import Inertia, Pose


class StepFailed(RuntimeError):
    """DOP853 found no step that meets its tolerance; the `reason` in SciPy's words."""

    def __init__(self, t: float, reason: str) -> None:
        super().__init__(f"DOP853 stopped at t = {t} s: {reason}")
        self.reason = reason


def solver(
    f: Callable[[Any, Array], Array],
    t0: float,
    y0: Array,
    t1: float,
    rtol: float,
    atol: float | Array,
    first_step: float | None = None,
) -> Any:
    """SciPy's solver of y' = f(t, y) from t0 to t1 [s]."""
    return _scipy().DOP853(f, t0, y0, t1, rtol=rtol, atol=atol, first_step=first_step)


def steps(solver: Any) -> Iterator[float]:
    """Make one step after the other, to the end; after each, the time [s] that it started at."""
    while solver.status == "running":
        message = solver.step()
        if solver.status == "failed":
            raise StepFailed(solver.t, message)
        yield solver.t_old


def _scipy() -> Any:
    return _optional.require("scipy.integrate", "adaptive", "Adaptive time stepping")


def solve(
    inertia: Inertia,
    X_WB: Pose | None = None,
    V_WB_B: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    load: Load | None = None,
    times: ArrayLike = (0.0, 1.0),
    rtol: float = 1e-12,
    atol: float = 1e-12,
) -> BodyTrajectory:
    """The motion of one body at the given times (n,) [s], which increase; pose and twist are those at the first.

    The momentum formulation, stepped by DOP853, which chooses its steps itself but ends one at each of the times: its
    interpolant is less accurate than its steps.
    """
    problem = BodyProblem(inertia, X_WB, V_WB_B, load)
    times = _checked(times)
    states, first_step = [problem.start], None
    for t0, t1 in pairwise(times):
        run = solver(problem.derivative, t0, states[-1], t1, rtol, atol, first_step)
        for _ in steps(run):
            pass
        first_step = min(run.h_abs, t1 - t0)
        states.append(run.y)
    return problem.trajectory(times, np.array(states))


def dense(
    inertia: Inertia,
    X_WB: Pose | None = None,
    V_WB_B: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    load: Load | None = None,
    duration: float = 1.0,
    rtol: float = 1e-12,
    atol: float = 1e-12,
) -> Callable[[ArrayLike], BodyTrajectory]:
    """The motion of one body as a function of time, from 0 to the duration [s]: DOP853's interpolant of order seven."""
    problem = BodyProblem(inertia, X_WB, V_WB_B, load)
    run = solver(problem.derivative, 0.0, problem.start, float(_checked((0.0, duration))[1]), rtol, atol)
    edges, pieces = [0.0], []
    for _ in steps(run):
        edges.append(run.t)
        pieces.append(run.dense_output())
    solution = _scipy().OdeSolution(edges, pieces)

    def at(times: ArrayLike) -> BodyTrajectory:
        times = np.asarray(times, dtype=float)
        return problem.trajectory(times, np.moveaxis(solution(times), 0, -1))

    return at


class BodyProblem:
    """y' = f(t, y) for the flat state (13,): its start, its compiled derivative, and the conversion to motions."""

    def __init__(self, inertia: Inertia, X_WB: Pose | None, V_WB_B: ArrayLike, load: Load | None) -> None:
        _scipy()
        inertia.require_regular("the body")
        load = load or (lambda t, X, V: np.zeros(6))
        state = momentum.from_motion(inertia, X_WB or Pose(), np.asarray(V_WB_B, dtype=float))
        self.start = np.concatenate([np.ravel(leaf) for leaf in flatten(state)[0]])

        def derivative(t: Any, y: Array) -> Any:
            state = momentum.MomentumState(y[0:3], y[3:7] / np.sqrt(y[3:7] @ y[3:7]), y[7:10], y[10:13])
            return np.concatenate(flatten(momentum.derivative(t, state, inertia, load))[0])

        self.derivative = Kernel(derivative, "(),(13)->(13)")
        self._to_motion = compiled("rk4", inertia, load)[2]

    def trajectory(self, times: Array, states: Array) -> BodyTrajectory:
        x, q, P, L = np.split(states, (3, 7, 10), axis=-1)
        return BodyTrajectory(times, *self._to_motion(x, q / np.linalg.norm(q, axis=-1, keepdims=True), P, L))


def _checked(times: ArrayLike) -> Array:
    times = np.asarray(times, dtype=float)
    if times.ndim != 1 or len(times) < 2 or not np.all(np.diff(times) > 0):
        raise ValueError(f"times must be two or more increasing numbers [s], not {times}.")
    return times
