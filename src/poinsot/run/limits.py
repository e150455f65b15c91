"""Limits of the structure in a run: which were passed, by what load, when, and in which instances of a batch."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array, Scalar
from poinsot.control.events import When
from poinsot.fuse.trace.purity import steady
from poinsot.parts.structure import COMPONENTS, LATCHES, Limit
from poinsot.run.compiled import Condition
from poinsot.spatial.arrays import as_array
from poinsot.world import System


class LimitWarning(UserWarning):
    """A load of the structure passed its limit."""


@dataclass(frozen=True, eq=False)
class Limits:
    """The limits of a run, by name: each a dict of numbers, or of arrays (n,) for a batch.

    latched (0 or 1), latched_at [s], worst (the largest load, 1 at the limit), worst_at [s], case (which component).
    """

    cuts: dict[str, str]
    latches: dict[str, dict[str, Array]]

    def __getitem__(self, name: str) -> dict[str, Array]:
        return self.latches[name]

    def passed(self) -> dict[str, Array]:
        """Whether each limit was passed; (n,) for a batch."""
        return {name: latch["latched"] > 0 for name, latch in self.latches.items()}

    def __str__(self) -> str:
        width = max([5, *map(len, self.latches)])
        lines = [f"{'limit':<{width}}  {'cut':<12}  worst load  case      at [s]    passed at [s]"]
        for name, latch in self.latches.items():
            worst = np.atleast_1d(latch["worst"])
            k = int(np.argmax(worst))
            one = {key: float(np.atleast_1d(value)[k]) for key, value in latch.items()}
            passed = f"{one['latched_at']:.6g}" if one["latched"] else "-"
            case = COMPONENTS[int(one["case"])]
            line = f"{name:<{width}}  {self.cuts[name]:<12}  {one['worst']:>10.4g}  {case:<8}"
            line += f"  {one['worst_at']:<8.6g}  {passed}"
            if worst.size > 1:
                line += f"   (number {k}; {int(np.sum(latch['latched'] > 0))} of {worst.size} passed it)"
            lines.append(line)
        return "\n".join(lines)

    __repr__ = __str__


def limits(system: System, y: Array) -> Limits:
    """The limits at the end of a run, from its last flat states y (..., ny)."""
    elements = {name: e for name, e in system.description.elements.items() if isinstance(e, Limit)}
    states, start = {}, system.nq + system.nv  # type: dict[str, Array], int
    for name, value in system.states.items():
        states[name] = y[..., start]
        start += np.size(value)
    latches = {name: {key: states[f"{name}.{key}"] for key in LATCHES} for name in elements}
    return Limits({name: e.cut for name, e in elements.items()}, latches)


def warn(system: System, y: Array) -> None:
    """A warning for each limit that was passed and only warns."""
    at_end = limits(system, y)
    for name, latch in at_end.latches.items():
        if system.description.elements[name].then == "warn" and np.any(latch["latched"] > 0):  # type: ignore[attr-defined]
            one = Limits({name: at_end.cuts[name]}, {name: latch})
            warnings.warn(f"a limit of the structure was passed.\n{one}", LimitWarning, stacklevel=3)


@memo
def until(system: System, condition: Condition | None) -> Condition | None:
    """The condition to stop at, including the limits and events that stop the run."""
    elements = system.description.elements.items()
    names = [f"{name}.latched" for name, e in elements if isinstance(e, Limit) and e.then == "stop"]
    names += [f"{name}.happened" for name, e in elements if isinstance(e, When) and e.stops]
    if not names:
        return condition

    def passed(t: Scalar, scene: Any) -> Any:
        load = sum(scene.states[name] for name in names) - 0.5
        if condition is None:
            return load
        value = as_array(steady(condition, t, scene, role="until"))
        return (value if value.dtype == bool else value > 0) | (load > 0)

    return passed
