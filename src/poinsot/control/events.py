"""Events: something happens once, at the instant at which a condition becomes true."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from poinsot._errors import FieldError, UnknownNameError, about
from poinsot._hints import hint
from poinsot._types import Array, ArrayLike
from poinsot.control.controller import taken
from poinsot.control.release import Release
from poinsot.parts.element import Effect, Element
from poinsot.parts.scene import Scene
from poinsot.spatial.arrays import as_array

Outcome: TypeAlias = Mapping[str, ArrayLike] | Release | str
"""The action of an event: inputs and the values that it sets them to, a `Release`, or "stop"."""


@dataclass(frozen=True, eq=False)
class When(Element):
    """When a condition becomes true, for the first time, `happened` becomes 1 and stays 1; `at` [s] is that instant.

    condition: the name of a signal, a `Signal`, or a function (t, scene); a number counts as true if it is positive.
    The instant is found within the step by bisection, to rounding, and the step is then made in two parts.
    then: a dict of inputs and the values that they have from then on (of several events the last one counts); a
    `Release` of a joint; "stop", which ends the run; a list of these; or nothing, as other elements can take the
    signal "name.happened", and a `Thruster` its `ignition`.
    release: a body, whose joint is held until then, and comes loose, the same as a `Release` without springs; or a
    loop, which parts.
    """

    condition: Callable[..., Any] | str = "time"
    then: Outcome | Sequence[Outcome] | None = None
    release: str = ""

    def __post_init__(self) -> None:
        owner = f"event {self.name!r}"
        if not callable(self.condition) and not isinstance(self.condition, str):
            raise FieldError(
                f"condition of {owner} must be a signal or a function, not {self.condition!r}.", "condition"
            )
        for outcome in self.outcomes:
            if not (outcome == "stop" or isinstance(outcome, (Mapping, Release))):
                raise FieldError(
                    f"then of {owner} must be a dict of inputs, a pt.Release, or 'stop', not {outcome!r}.", "then"
                )

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Its action."""
        many = isinstance(self.then, Sequence) and not isinstance(self.then, str)
        return () if self.then is None else tuple(self.then) if many else (self.then,)  # type: ignore[arg-type,return-value]

    @property
    def releases(self) -> tuple[Release, ...]:
        """The joints that it releases."""
        own = (Release(self.release),) if self.release else ()
        return own + tuple(x for x in self.outcomes if isinstance(x, Release))

    @property
    def stops(self) -> bool:
        """Whether it ends the run."""
        return any(isinstance(x, str) for x in self.outcomes)

    @property
    def latches(self) -> bool:
        return True

    def bodies(self) -> tuple[str, ...]:
        return tuple(x.body for x in self.releases)

    def states(self) -> Mapping[str, Array]:
        return {"happened": np.zeros(()), "at": np.zeros(())}

    def holds(self, states: Mapping[str, Array]) -> Mapping[str, Array]:
        return {x.body: np.where(states["happened"] > 0, 0.0, 1.0) for x in self.releases}

    def happened(self, states: Mapping[str, Array]) -> Array:
        return states["happened"]

    def effect(self, scene: Scene) -> Effect:
        happened = scene.states[f"{self.name}.happened"]
        pushes = [x.push(scene, happened) for x in self.releases if x.has_springs]
        if not pushes:
            return Effect(power=np.zeros(()))
        wrenches: dict[str, Array] = {}
        outside: dict[str, Array] = {}
        for push in pushes:
            for total, added in ((wrenches, push.wrenches), (outside, push.outside)):
                for body, wrench in (push.wrenches if added is None else added).items():
                    total[body] = total.get(body, np.zeros(6)) + wrench
        stored = sum((push.stored for push in pushes if push.stored is not None), start=np.zeros(()))
        return Effect(wrenches, stored=stored, power=np.zeros(()), outside=outside)

    def sets(self) -> dict[str, Array]:
        """The inputs that it sets, and their values."""
        return {key: as_array(x) for given in self.outcomes if isinstance(given, Mapping) for key, x in given.items()}

    def noticed(self, scene: Scene, states: Mapping[str, Array]) -> dict[str, Array]:
        """Its states, with what happens in this scene."""
        value = taken(self.condition, scene, "condition", f"event {self.name!r}")
        if np.size(value) != 1:
            raise FieldError(
                f"condition of event {self.name!r} must be one number, true or false, not an array of shape "
                f"{np.shape(value)}.",
                "condition",
            )
        is_true = value if np.dtype(getattr(value, "dtype", float)).kind == "b" else value > 0
        now = np.reshape(is_true, ()) & (states["happened"] < 0.5)
        return {"happened": np.where(now, 1.0, states["happened"]), "at": np.where(now, scene.t, states["at"])}

    def units(self) -> dict[str, str]:
        return {"happened": "1", "at": "s"}


def events_of(elements: Mapping[str, Element]) -> dict[str, When]:
    """The events among these."""
    return {name: e for name, e in elements.items() if isinstance(e, When)}


def require_released_once(elements: Mapping[str, Element]) -> None:
    """An error if a body is released by two events, or twice by one: after the first, there is nothing to release."""
    by: dict[str, str] = {}
    for name, event in events_of(elements).items():
        for release in event.releases:
            if release.body in by:
                first = by[release.body]
                who = f"the event {name!r} twice" if first == name else f"the events {first!r} and {name!r}"
                raise FieldError(
                    f"{release.body!r} is released by {who}: a stage comes loose once. Join their conditions in one "
                    "event.",
                    "release",
                    name,
                )
            by[release.body] = name


def require_inputs(elements: Mapping[str, Element], inputs: Mapping[str, Array]) -> None:
    """An error if an event sets an input that does not exist, or to something of another shape."""
    for name, event in events_of(elements).items():
        for key, value in event.sets().items():
            if key not in inputs:
                raise UnknownNameError(f"there is no input {key!r}{hint(key, inputs)}.", key, name)
            if np.shape(value) != np.shape(inputs[key]):
                shape = np.shape(inputs[key])
                raise FieldError(f"event {name!r} sets the input {key!r} of shape {shape} to {value}.", "then", name)


def require_conditions(scene: Scene) -> None:
    """An error if a condition asks for something that does not exist, or is not one number."""
    for name, event in events_of(scene.elements).items():
        with about(name):
            event.noticed(replace(scene), {key: scene.states[f"{name}.{key}"] for key in event.states()})
            if np.isnan(np.asarray(taken(event.condition, scene, "condition", f"event {name!r}"), dtype=float)).any():
                raise FieldError(
                    f"condition of event {name!r} is NaN at the start: it would never happen.", "condition"
                )


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
