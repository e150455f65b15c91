"""Springs and dampers between any two points of any two bodies."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._fields import Arguments
from poinsot._types import Array, ArrayLike
from poinsot.fuse.trace.purity import steady
from poinsot.particles.internal import length_and_direction
from poinsot.parts.element import Effect, Element, require_not_negative, require_points
from poinsot.parts.scene import WORLD, Scene


@dataclass(frozen=True, eq=False)
class Spring(Element):
    """A spring with the tension T = stiffness (l - rest_length) + damping l' [N], l [m] being the distance of its ends.

    `a`, `b`: the names of two bodies, "world" for a point at rest; `point_a`, `point_b`: points [m] in their frames.
    `tension`: a custom law, (length, rate, stiffness, rest_length, damping) -> T.
    """

    a: str = WORLD
    b: str = WORLD
    stiffness: Annotated[float, "N/m"] = 0.0
    rest_length: Annotated[float, "m"] = 0.0
    damping: Annotated[float, "N s/m"] = 0.0
    point_a: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    point_b: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    tension: Annotated[
        Callable[..., Any] | None, Arguments("length", "rate", "stiffness", "rest_length", "damping")
    ] = None

    def __post_init__(self) -> None:
        owner = f"spring {self.name!r}"
        require_points(owner, point_a=self.point_a, point_b=self.point_b)
        require_not_negative(owner, rest_length=self.rest_length, damping=self.damping, stiffness=self.stiffness)
        if self.a == self.b:
            raise FieldError(
                f"{owner} joins {self.a!r} to itself; its ends must be two bodies, or a body and 'world'.", "b"
            )

    @property
    def internal(self) -> bool:  # type: ignore[override]
        return WORLD not in (self.a, self.b)

    def bodies(self) -> tuple[str, ...]:
        return tuple(name for name in (self.a, self.b) if name != WORLD)

    def effect(self, scene: Scene) -> Effect:
        A, B = scene[self.a], scene[self.b]
        length, n = length_and_direction(B.point(self.point_b) - A.point(self.point_a))
        rate = n @ (B.velocity_of(self.point_b) - A.velocity_of(self.point_a))
        stretch = length - self.rest_length
        stored: Array | None = None
        power: Array | None = None
        if self.tension is not None:
            numbers = (length, rate, self.stiffness, self.rest_length, self.damping)
            T = steady(self.tension, *numbers, role=f"tension of spring {self.name!r}")
        else:
            T = self.stiffness * stretch + self.damping * rate
            stored, power = 0.5 * self.stiffness * stretch * stretch, -self.damping * rate * rate
        ends = ((self.a, A.wrench(T * n, self.point_a)), (self.b, B.wrench(-T * n, self.point_b)))
        shown = {"length": length, "tension": np.asarray(T)}
        return Effect({name: F for name, F in ends if name != WORLD}, stored=stored, power=power, shown=shown)

    def units(self) -> dict[str, str]:
        return {"length": "m", "tension": "N"}
