"""Events of a world that a button of a page can trigger, beside their own conditions."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.control.controller import taken
from poinsot.control.events import When, events_of
from poinsot.parts import Scene
from poinsot.world import World

PRESSED = "press-"  # before the name of an event: the input that triggers it


def triggered_by(event: When, key: str) -> When:
    """The event that also happens while the input `key` is above a half."""

    def condition(t: Scalar, scene: Scene) -> Array:
        value = np.reshape(taken(event.condition, scene, "condition", f"event {event.name!r}"), ())
        is_true = value if np.dtype(getattr(value, "dtype", float)).kind == "b" else value > 0
        return is_true | (scene.input(key) > 0.5)

    return replace(event, condition=condition)


def with_triggers(world: World, names: Sequence[str] | None) -> tuple[World, dict[str, str]]:
    """The world with a trigger for these of its events, by default all; and the input of each, by the event's name."""
    d = world.description
    events = events_of(d.elements)
    chosen = {name: PRESSED + name for name in (events if names is None else names) if name in events}
    if not chosen:
        return world, {}
    elements = {name: triggered_by(e, chosen[name]) if name in chosen else e for name, e in events.items()}
    inputs = {**d.inputs, **{key: np.zeros(()) for key in chosen.values()}}
    return World.of(replace(d, elements={**d.elements, **elements}, inputs=inputs)), chosen
