"""Checks of the options of a scenario against its world: what is run, drawn and varied."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot.files import readers
from poinsot.files.checked import FAILURES, message
from poinsot.files.kinds import PICTURES
from poinsot.files.problems import Problem
from poinsot.files.size_limits import MOST_STEPS, SHORTEST
from poinsot.files.varied import varied
from poinsot.run.columns import Columns
from poinsot.run.observe import LABELS, observables
from poinsot.run.stepping import choose_method
from poinsot.run.time_grid import TimeGrid, time_grid
from poinsot.study.quantities import expand, names
from poinsot.world import World
from poinsot.world.dimensions import units_at


def set_numbers(world: World, later: Mapping[str, Any]) -> Iterator[Problem]:
    """Set numbers of a world by their paths; the problems with it."""
    for path, value in later.items():
        try:
            _ = world[path]  # the path first: its end alone would tell a unit, rightly or not
            world[path] = readers.array_of(value, units_at(path, world.description))
        except KeyError:
            yield Problem((path,), f"there is no such number{hint(path, world.paths())}", value)
        except FAILURES as error:
            yield Problem((path,), message(error), value)


def of_run(world: World, run: Mapping[str, Any]) -> dict[str, Callable[[], Any]]:
    """By key of [run], a check that raises an error if its value does not fit the world."""
    system, step = world.system(), min(run["step"], run["duration"])
    return {
        "method": lambda: choose_method(run.get("method"), system),
        "every" if "every" in run else "step": lambda: _grid(run["duration"], step, run.get("every")),
        "record": lambda: observables(system, run.get("record")),
        "until": lambda: "until" in run and run["until"](0.0, world.scene()),
    }


def _grid(duration: float, step: float, every: float | None) -> TimeGrid:
    """The time grid, if its steps can be counted."""
    if not (duration >= SHORTEST and step >= SHORTEST and duration <= MOST_STEPS * step):
        raise ValueError(
            f"a duration of {duration:g} s in steps of {step:g} s: a step is at least {SHORTEST:g} s, and a run has at "
            f"most {MOST_STEPS:g} steps"
        )
    return time_grid(duration, step, every, False)


def not_shown(world: World, show: Mapping[str, Any], record: Any) -> list[Problem]:
    """The quantities to draw that are not among those recorded."""
    data, problems = _sample(world, record), []
    known = names(data)
    for key, drawn in {"draw": [show.get("draw")], "plot": show.get("plot", ())}.items():
        pictures = PICTURES if key == "plot" else ()
        for name in filter(None, drawn):
            if name not in known and not (key == "plot" and (expand(data, name) or name in (*data, *pictures))):
                near = hint(name, [*known, *pictures]) or f"; there are {', '.join(known[:20])}, ..."
                problems.append(Problem(("show", key), f"{name!r} is not recorded{near}"))
    return problems


def of_sweep_record(world: World, record: Any) -> None:
    """An error if one of these quantities cannot be recorded."""
    observables(world.system(), record)


def _sample(world: World, record: Any) -> Columns:
    """The data of a run with one record, the start."""
    system = world.system()
    motion = system.first_motion()
    chosen = observables(system, record)
    arrays = {name: (("time", *x.dims), np.asarray(x.of(motion))[None]) for name, x in chosen.items()}
    used = {dim for x in chosen.values() for dim in x.dims}
    return Columns.made(arrays, {dim: list(label(system)) for dim, label in LABELS.items() if dim in used})


def of_sweep(world: World, path: str, text: str) -> None:
    """An error if there is no such number or input, or if the text does not state its values."""
    if path not in world.description.inputs:
        try:
            world[path]
        except KeyError:
            raise ValueError(f"there is no such number{hint(path, world.paths())}") from None
    varied(path, text, world.description)
