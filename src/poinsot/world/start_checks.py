"""What is checked of a world at its start: effects are well formed and finite, and no body is deep in the Earth."""

import numpy as np

from poinsot._errors import FieldError
from poinsot.fuse import is_traced
from poinsot.parts import Effect, Scene
from poinsot.world.description import Description

DEEPEST_START = -1e4  # m, above the Earth's polar radius


def check_effect(kind: str, effect: Effect, scene: Scene) -> None:
    """An error if the effect of an element at the start is malformed or not finite."""
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
