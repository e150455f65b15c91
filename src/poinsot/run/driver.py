"""Simulate one world, or many that differ in some numbers, for a while."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from os import PathLike
from typing import Any

from poinsot.run import limits
from poinsot.run.adaptive import advance_adaptively
from poinsot.run.compiled import Condition, Rows
from poinsot.run.plan import choose, draw, inputs_of, plan, require_fit
from poinsot.run.progress import Progress
from poinsot.run.result import Run, settings_of, writer
from poinsot.run.simulation import Course
from poinsot.world import System, World


def simulate(
    world: World,
    duration: float,
    step: float = 1e-3,
    *,
    method: str | None = None,
    batch: int | None = None,
    vary: Mapping[str, Any] | None = None,
    seed: int | None = None,
    inputs: Mapping[str, Any] | None = None,
    every: float | None = None,
    record: str | Sequence[str] | None = None,
    until: Condition | None = None,
    tolerance: float = 1e-10,
    ledger: bool | None = None,
    device: str = "cpu",
    save: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Run:
    """Let a world move for a duration [s], in steps [s], and keep records.

    method: a name in `METHODS`, or "adaptive"; by default one that conserves momentum for free bodies, RK4 otherwise.
    batch, vary: how many at once, and paths of numbers with one value for each, or distributions (`normal`, `uniform`)
    to draw from with the `seed`.
    inputs: by name, a constant, a function of time, or (times, values), each value held until the next; they change at
    the nearest steps.
    every: seconds between records; 10 ms by default, and of a batch the start and the end alone.
    record: which quantities `run.data` holds; see `OBSERVABLES`.
    until: a condition (t, scene) at which the run stops, as it becomes true; a number counts as true if it is positive.
    tolerance: of the method "adaptive", relative; its steps are chosen so.
    ledger: whether to keep one; by default for single runs.
    save: a file, x.nc or x.zarr, that takes the records while the run goes on, so that it may be larger than memory.
    device: "cpu" or "cuda". progress: a bar; by default on a terminal, for anything above a second.
    """
    vary = dict(vary or {})
    system = world.system(tuple(vary))
    numbers, n = draw(system, vary, batch, seed)
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device must be 'cpu' or 'cuda', not {device!r}.")
    given = inputs_of(system, inputs or {})
    require_fit(system, given, n)
    booked = n is None if ledger is None else ledger
    settings = settings_of(world, locals())
    adaptive = method == "adaptive"
    if adaptive:
        _require_adaptable(world, n)
    name = "rk4" if adaptive else choose(method, system)
    schedule = plan(duration, step, every, n is not None)
    rows = _rows(world, system, name, given.functions, booked, limits.until(system, until), device)
    settings |= {"method": "adaptive" if adaptive else name, "step": schedule.step}
    with writer(save, world, rows, settings, record) if save is not None else nullcontext() as keeper:
        course = Course(rows, schedule, given, numbers, n, keeper)
        with Progress(schedule.steps, n or 1, progress) as bar:
            if adaptive:
                times, y, stop = advance_adaptively(rows, schedule, course.p, given, tolerance, bar)
                p = course.p
            else:
                course.run(bar)
                (times, y, p), stop = course.records(), course.stop()
        limits.warn(system, y[-1])
        if keeper is None:
            return Run(world, rows, times, y, p, settings, stop, record)
        keeper.add(times, y, p)
        return keeper.finish(stop)


def _require_adaptable(world: World, n: int | None) -> None:
    """An error if a run cannot be stepped by the method "adaptive"."""
    if n is not None:
        raise ValueError("method 'adaptive' is for single runs; a batch needs a fixed step.")
    if any(element.latches for element in world.description.elements.values()):
        raise ValueError("method 'adaptive' does not watch limits of the structure; take 'rk4'.")


def _rows(world: World, system: System, method: str, functions: Mapping[str, Any], *rest: Any) -> Rows:
    """The equations over rows, made and compiled once for each way to use them."""
    key = ("rows", system, method, *functions.items(), *rest)
    if key not in world.kept:
        world.kept[key] = Rows(system, method, functions, *rest)
    return world.kept[key]
