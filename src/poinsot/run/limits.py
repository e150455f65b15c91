"""Limits of the structure in a run: which were passed, by what load, when, and in which of a batch."""

import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.parts.structure import COMPONENTS, LATCHES, Limit
from poinsot.run.compiled import Condition
from poinsot.spatial.arrays import as_array
from poinsot.world import System


class LimitWarning(UserWarning):
    """A load of the structure passed its limit."""


@dataclass(frozen=True, eq=False)
class Limits:
    """The limits of a run, by name: each a dict of numbers, or arrays (n,) of a batch.

    latched (0 or 1), latched_at [s], worst (the largest load, 1 at the limit), worst_at [s], case (which component).
    """

    cuts: dict[str, str]
    found: dict[str, dict[str, Array]]

    def __getitem__(self, name: str) -> dict[str, Array]:
        return self.found[name]

    def passed(self) -> dict[str, Array]:
        """Whether each limit was passed; of a batch (n,)."""
        return {name: row["latched"] > 0 for name, row in self.found.items()}

    def __str__(self) -> str:
        width = max([5, *map(len, self.found)])
        lines = [f"{'limit':<{width}}  {'cut':<12}  worst load  case      at [s]    passed at [s]"]
        for name, row in self.found.items():
            worst = np.atleast_1d(row["worst"])
            k = int(np.argmax(worst))
            one = {key: float(np.atleast_1d(value)[k]) for key, value in row.items()}
            passed = f"{one['latched_at']:.6g}" if one["latched"] else "-"
            case = COMPONENTS[int(one["case"])]
            line = f"{name:<{width}}  {self.cuts[name]:<12}  {one['worst']:>10.4g}  {case:<8}"
            line += f"  {one['worst_at']:<8.6g}  {passed}"
            if worst.size > 1:
                line += f"   (number {k}; {int(np.sum(row['latched'] > 0))} of {worst.size} passed it)"
            lines.append(line)
        return "\n".join(lines)

    __repr__ = __str__


def limits(system: System, y: Array) -> Limits:
    """The limits as the last rows y (..., ny) of a run tell of them."""
    elements = {name: e for name, e in system.description.elements.items() if isinstance(e, Limit)}
    states, start = {}, system.nq + system.nv  # type: dict[str, Array], int
    for name, value in system.states.items():
        states[name] = y[..., start]
        start += np.size(value)
    found = {name: {key: states[f"{name}.{key}"] for key in LATCHES} for name in elements}
    return Limits({name: e.cut for name, e in elements.items()}, found)


def warn(system: System, y: Array) -> None:
    """A warning for each limit that was passed and only warns."""
    found = limits(system, y)
    for name, row in found.found.items():
        if system.description.elements[name].then == "warn" and np.any(row["latched"] > 0):  # type: ignore[attr-defined]
            one = Limits({name: found.cuts[name]}, {name: row})
            warnings.warn(f"a limit of the structure was passed.\n{one}", LimitWarning, stacklevel=3)


def until(system: System, condition: Condition | None) -> Condition | None:
    """The condition to stop at, limits that stop the run included."""
    names = tuple(name for name, e in system.description.elements.items() if isinstance(e, Limit) and e.then == "stop")
    return _until(names, condition) if names else condition


@lru_cache(maxsize=64)
def _until(names: tuple[str, ...], condition: Condition | None) -> Condition:
    def passed(t: Any, scene: Any) -> Any:
        load = sum(scene.states[f"{name}.latched"] for name in names) - 0.5
        if condition is None:
            return load
        given = as_array(condition(t, scene))
        return (given if given.dtype == bool else given > 0) | (load > 0)

    return passed
