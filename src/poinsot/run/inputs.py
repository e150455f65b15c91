"""Inputs of a simulation as a user gives them: constants, functions of time, and values that jump."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot._signatures import misfit
from poinsot._types import Array
from poinsot.spatial.arrays import as_numbers
from poinsot.world import System


@dataclass(frozen=True, eq=False)
class Inputs:
    """Values from outside, by name: functions of time, and constants or staircases.

    `functions` are compiled into the kernel. `held`: times (k,) [s] and values (k, ..., shape), each of which holds
    from its time on.
    """

    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    held: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)

    def changes(self) -> Array:
        """The times [s] at which some value changes."""
        return np.unique(np.concatenate([np.zeros(1), *(times for times, _ in self.held.values())]))

    def on_steps(self, h: float, origin: float = 0.0) -> "Inputs":
        """The same, with each change at the nearest step of h [s], counted from the origin [s]."""
        held = {
            name: (origin + np.rint((times - origin) / h) * h if len(times) > 1 else times, x)
            for name, (times, x) in self.held.items()
        }
        return Inputs(self.functions, held)

    @cached_property
    def jump(self) -> bool:
        """Whether some value changes after the start."""
        return len(self.changes()) > 1

    def at(self, t: float) -> dict[str, Array]:
        """The values that hold from the time t on."""
        return {
            name: values[max(0, int(np.searchsorted(times, t * (1 + 1e-12) + 1e-12, side="right")) - 1)]
            for name, (times, values) in self.held.items()
        }


def read_inputs(system: System, inputs: Mapping[str, Any]) -> Inputs:
    """The inputs of a run, checked.

    Each is a constant, a function of time, a `Tabulated` (linear in between), or a pair (times (k,), values (k, ...)),
    each value held until the next one.
    """
    functions: dict[str, Any] = {}
    held: dict[str, tuple[Array, Array]] = {}
    for name, value in inputs.items():
        if name not in system.inputs:
            raise ValueError(
                f"the world has no input {name!r}{hint(name, system.inputs)}; add it with world.add_input."
            )
        core = np.shape(system.inputs[name])
        if callable(value):
            functions[name] = value
            if wrong := misfit(value, "t"):
                raise ValueError(f"input {name!r} is {wrong}.")
            given = np.shape(value(0.0))
            if given != core:
                raise ValueError(f"input {name!r} has the shape {core}, but its function gives {given}.")
        else:
            held[name] = _staircase(name, value)
    return Inputs(functions, held)


def _staircase(name: str, value: Any) -> tuple[Array, Array]:
    """Times (k,) [s] and the values (k, ...) that hold from each of them on."""
    if isinstance(value, tuple) and len(value) == 2 and np.ndim(value[0]) == 1:
        times, values = (as_numbers(f"input {name!r}", part) for part in value)
        if values.ndim == 0:
            raise ValueError(f"input {name!r}: {len(times)} times for one value; give one value for each time.")
        if len(times) != len(values) or not np.all(np.diff(times) > 0):
            raise ValueError(f"input {name!r}: {len(times)} times, which must increase, for {len(values)} values.")
    else:
        times, values = np.zeros(1), as_numbers(f"input {name!r}", value)[None]
    if not np.all(np.isfinite(times)):
        raise ValueError(f"input {name!r} changes at times that are not finite.")
    if not np.all(np.isfinite(values)):
        raise ValueError(f"input {name!r} holds values that are not finite.")
    return times, values


def require_shapes(system: System, inputs: Inputs, n: int | None) -> None:
    """An error if an input has neither its declared shape nor, in a batch of n, that shape for each instance."""
    for name, (_, values) in inputs.held.items():
        core = np.shape(system.inputs[name])
        if values.shape[1:] != core and (n is None or values.shape[1:] != (n, *core)):
            raise ValueError(
                f"input {name!r} has the shape {core}; values of shape {values.shape[1:]} do not fit"
                + ("." if n is None else f", nor do they fit the batch of {n}.")
            )
