"""Events: something happens once, at the instant at which a condition becomes true."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._errors import FieldError, UnknownNameError
from poinsot._hints import hint
from poinsot._types import Array, ArrayLike
from poinsot.control.controller import taken
from poinsot.parts.element import Effect, Element
from poinsot.parts.scene import Scene
from poinsot.spatial.arrays import as_array


@dataclass(frozen=True, eq=False)
class When(Element):
    """When a condition becomes true, for the first time, `happened` becomes 1 and stays 1; `at` [s] is that instant.

    condition: the name of a signal, a `Signal`, or a function (t, scene); a number counts as true if it is positive.
    The instant is found within the step by bisection, to rounding, and the step is then made in two parts.
    then: a dict of inputs and the values that they have from then on (of several events the last one counts); "stop",
    which ends the run; or nothing, as other elements can take the signal "name.happened".
    release: a body, whose joint is held until then, and comes loose; or a loop, which parts.
    """

    condition: Callable[..., Any] | str = "time"
    then: Mapping[str, ArrayLike] | str | None = None
    release: str = ""

    def __post_init__(self) -> None:
        owner = f"event {self.name!r}"
        if not callable(self.condition) and not isinstance(self.condition, str):
            raise FieldError(
                f"condition of {owner} must be a signal or a function, not {self.condition!r}.", "condition"
            )
        if not (self.then is None or self.then == "stop" or isinstance(self.then, Mapping)):
            raise FieldError(f"then of {owner} must be a dict of inputs, or 'stop', not {self.then!r}.", "then")

    @property
    def latches(self) -> bool:
        return True

    def bodies(self) -> tuple[str, ...]:
        return (self.release,) if self.release else ()

    def states(self) -> Mapping[str, Array]:
        return {"happened": np.zeros(()), "at": np.zeros(())}

    def holds(self, states: Mapping[str, Array]) -> Mapping[str, Array]:
        return {self.release: np.where(states["happened"] > 0, 0.0, 1.0)} if self.release else {}

    def effect(self, scene: Scene) -> Effect:
        return Effect(power=np.zeros(()))

    def sets(self) -> dict[str, Array]:
        """The inputs that it sets, and their values."""
        return {key: as_array(x) for key, x in self.then.items()} if isinstance(self.then, Mapping) else {}

    def noticed(self, scene: Scene, states: Mapping[str, Array]) -> dict[str, Array]:
        """Its states, with what happens in this scene."""
        value = taken(self.condition, scene, "condition", f"event {self.name!r}")
        is_true = value if np.dtype(getattr(value, "dtype", float)).kind == "b" else value > 0
        now = np.reshape(is_true, ()) & (states["happened"] < 0.5)
        return {"happened": np.where(now, 1.0, states["happened"]), "at": np.where(now, scene.t, states["at"])}

    def units(self) -> dict[str, str]:
        return {"happened": "1", "at": "s"}


def events_of(elements: Mapping[str, Element]) -> dict[str, When]:
    """The events among these."""
    return {name: e for name, e in elements.items() if isinstance(e, When)}


def require_inputs(elements: Mapping[str, Element], inputs: Mapping[str, Array]) -> None:
    """An error if an event sets an input that does not exist, or to something of another shape."""
    for name, event in events_of(elements).items():
        for key, value in event.sets().items():
            if key not in inputs:
                raise UnknownNameError(f"there is no input {key!r}{hint(key, inputs)}.", key, name)
            if np.shape(value) != np.shape(inputs[key]):
                shape = np.shape(inputs[key])
                raise FieldError(f"event {name!r} sets the input {key!r} of shape {shape} to {value}.", "then", name)


def inputs_after(
    elements: Mapping[str, Element], states: Mapping[str, Array], inputs: Mapping[str, Array]
) -> dict[str, Array]:
    """The inputs, as set by the last event that happened."""
    values, since = dict(inputs), dict.fromkeys(inputs, np.full((), -1.0))
    for name, event in events_of(elements).items():
        happened, at = states[f"{name}.happened"], states[f"{name}.at"]
        for key, value in event.sets().items():
            later = (happened > 0.5) & (at >= since[key])
            values[key], since[key] = np.where(later, value, values[key]), np.where(later, at, since[key])
    return values
