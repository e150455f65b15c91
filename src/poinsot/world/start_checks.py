"""Checks of a world at its start: effects are well formed and finite, latches can be judged, what parts has
mass, and no body is deep in the Earth."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from poinsot._errors import FieldError, about
from poinsot._types import Array
from poinsot.fuse import is_traced
from poinsot.parts import Effect, Element, Scene
from poinsot.parts.element import Dynamics, within_range
from poinsot.parts.scene import MOUNT
from poinsot.world.description import Description, own_states

DEEPEST_START = -1e4  # m, above the Earth's polar radius


def check_effects(scene: Scene, description: Description) -> None:
    """An error if the effect of an element at the start is malformed or not finite, or cannot be computed."""
    for name, element in description.acting():
        kind = f"{type(element).__name__} {name!r}"
        with about(name), within_range(kind):
            _check(kind, scene.effect(name), scene)


def _check(kind: str, effect: Effect, scene: Scene) -> None:
    for body, F in effect.wrenches.items():
        if np.shape(F) != (6,):
            raise ValueError(f"{kind} puts an array of shape {np.shape(F)} on {body!r}; a wrench has the shape (6,).")
        if not is_traced(F) and not np.all(np.isfinite(F)):
            raise ValueError(f"{kind} puts {F} on {body!r} at the start: every force must be finite.")
    for body, tau in effect.joint_forces.items():
        n = scene.joint(body)[1].shape
        if np.shape(tau) != n:
            raise ValueError(
                f"{kind} puts an array of shape {np.shape(tau)} into the joint of {body!r}, which has the shape {n}."
            )
        if not is_traced(tau) and not np.all(np.isfinite(tau)):
            raise ValueError(f"{kind} puts {tau} into the joint of {body!r} at the start: every force must be finite.")


def require_latches(names: Sequence[str], states: Mapping[str, Array], start: Callable[[], Dynamics]) -> None:
    """An error if an element cannot be judged after a step, as by a signal that does not exist."""
    motion = start() if names else None
    for name in names:
        with about(name):
            motion.scene.elements[name].settle(motion, own_states(states, name))  # type: ignore[union-attr, arg-type]


def checked_limits(name: str, limits: Any) -> tuple[float, float]:
    """The limits of an input or another unknown: two numbers that increase; infinite where there is none."""
    try:
        low, high = (float(x) for x in limits)
    except (TypeError, ValueError):
        low = high = np.nan
    if not low < high:
        raise FieldError(f"limits of {name!r} must be two numbers that increase, not {limits!r}.", "limits", name)
    return low, high


def require_mass_apart(
    letting_go: Mapping[str, Element], states: Mapping[str, Array], description: Description
) -> None:
    """An error if something that may be released has no mass to move on its own."""
    gone: dict[str, Array] = {}
    for name, element in letting_go.items():
        own = own_states(states, name)
        _, sets = element.lets_go(own, own) or (None, {})
        gone |= {f"{name}.{key}": value for key, value in sets.items()}
    try:
        description.mechanism({**states, **gone})
    except FieldError as error:
        words = f"once everything has parted that may, {error}"
        raise FieldError(words, error.field, error.owner.removesuffix(MOUNT)) from error


def require_places(scene: Scene, description: Description) -> None:
    """An error if a body with mass starts deep in the Earth of the world."""
    earth = description.earth
    for name in scene.bodies if earth is not None else ():
        p = scene[name].position
        if scene.inertia(name) is None or is_traced(p):
            continue
        above = np.linalg.norm(p) - earth.ellipsoid.b  # type: ignore[union-attr]
        if above < DEEPEST_START:
            words = f"body {name!r} starts {-above:.0f} m deep in the Earth, at {p.tolist()}"
            raise FieldError(
                f"{words}: give it start=pt.Start(...), or a position [m] from its centre.", "position", name
            )
