"""Tanks: variable mass on a body. The contents are a state; mass, centre of mass and inertia follow from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.parts.element import Effect, Element, require_above_zero, require_not_negative, require_points
from poinsot.parts.scene import Scene
from poinsot.spatial import Inertia
from poinsot.spatial.arrays import as_array
from poinsot.spatial.shapes import Box, Cylinder, Disc, Plate, Sphere


@dataclass(frozen=True, eq=False)
class Tank(Element):
    """Contents [kg] of a body, up to a capacity [kg], in a container centred at `position` (3,) [m] of the body.

    The container is a point, a box of `size` (3,) [m], a cylinder of `radius` and `height` [m] along z, or a ball of
    `radius`. The contents fill all of it at decreasing density, like a charge that burns throughout; or, if it
    `settles`, they fill a box or cylinder from the bottom, at -z of the body, up to a level. `Flow` and `Thruster` move
    the contents.
    """

    body: str = ""
    capacity: Annotated[float, "kg"] = np.inf
    contents: Annotated[float, "kg"] = 0.0
    position: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    size: Annotated[ArrayLike | None, "m"] = None
    radius: Annotated[float | None, "m"] = None
    height: Annotated[float | None, "m"] = None
    settles: bool = False

    def __post_init__(self) -> None:
        owner = f"tank {self.name!r}"
        require_points(owner, position=self.position)
        require_not_negative(owner, contents=self.contents)
        require_above_zero(owner, infinite=True, capacity=self.capacity)
        if not is_traced(self.capacity, self.contents) and not 0 <= self.contents <= self.capacity:
            raise FieldError(f"{owner} holds {self.contents} kg, but its capacity is {self.capacity} kg.", "contents")
        if (self.size is not None and self.radius is not None) or (self.height is not None and self.radius is None):
            raise ValueError(
                f"{owner} is a box (size), a cylinder (radius, height) or a ball (radius); give one of them."
            )
        if self.settles and (self._tallness is None or not self.is_bounded):
            raise FieldError(
                f"{owner} settles: it needs a size, or a radius and a height, and a capacity [kg].", "settles"
            )

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def states(self) -> Mapping[str, Array]:
        return {"contents": as_array(self.contents)}

    def effect(self, scene: Scene) -> Effect:
        shown = {"filled": self.of(scene) / self.capacity} if self.is_bounded else {}
        return Effect(power=np.zeros(()), shown=shown)

    def inertias(self, states: Mapping[str, Array]) -> Mapping[str, Inertia]:
        contents = states["contents"]
        return {self.body: self.inertia(contents)} if is_traced(contents) or contents > 0 else {}

    @property
    def is_bounded(self) -> bool:
        """Whether it has a finite capacity."""
        return is_traced(self.capacity) or self.capacity < np.inf

    def of(self, scene: Scene) -> Array:
        """The contents [kg] at an instant."""
        return scene.states[f"{self.name}.contents"]

    def inertia(self, contents: Array) -> Inertia:
        """The mass properties of the contents [kg], in the body's frame."""
        centre, moment = as_array(self.position), self._unit_moment()
        if self.settles:
            level = self._tallness * contents / self.capacity
            centre = centre + _up(0.5 * (level - self._tallness))
            moment = moment + level**2 / 12 * np.diag([1.0, 1.0, 0.0])
        return Inertia(contents, centre, contents * moment)  # type: ignore[arg-type]

    def layer(self, contents: Array) -> Inertia:
        """dG/dm, the mass properties per kilogram that leaves or enters: a layer at the level, or a part of it all."""
        level = _up(self._tallness * (contents / self.capacity - 0.5)) if self.settles else np.zeros(3)
        return Inertia(1.0, as_array(self.position) + level, self._unit_moment())

    def climb(self) -> Array:
        """The derivative of the centre of that layer with respect to the contents (3,) [m/kg]."""
        return _up(self._tallness / self.capacity) if self.settles else np.zeros(3)

    @property
    def _tallness(self) -> float:
        """The height [m] of the container along z."""
        return self.height if self.size is None else as_array(self.size)[2]  # type: ignore[return-value]

    def _unit_moment(self) -> Array:
        """The moment (3, 3) [m^2] per kilogram about its centre; of a flat layer, if it settles."""
        if self.size is not None:
            x, y, z = as_array(self.size)
            return (Plate((x, y)) if self.settles else Box((x, y, z))).unit_moment
        if self.radius is None:
            return np.zeros((3, 3))
        if self.height is None:
            return Sphere(self.radius).unit_moment
        return (Disc(self.radius) if self.settles else Cylinder(self.radius, self.height)).unit_moment

    def units(self) -> dict[str, str]:
        return {"filled": "1"}


def _up(z: float | Array) -> Array:
    return z * np.array([0.0, 0.0, 1.0])
