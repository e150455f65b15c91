"""Flat panels of a spacecraft: the drag of thin air, and the pressure of sunlight."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.environment.air_mass import earth_of
from poinsot.environment.almanac import AU, PRESSURE
from poinsot.fuse import is_traced
from poinsot.parts.element import (
    Effect,
    Element,
    push,
    require_finite,
    require_not_negative,
    require_points,
    require_share,
)  # fmt: skip
from poinsot.parts.scene import Scene
from poinsot.spatial.arrays import as_array


@dataclass(frozen=True, eq=False)
class FlatPanel(Element):
    """A flat panel of an `area` [m^2] at a `point` (3,) [m] of a body, with an outward `normal` n (3,).

    In air, with the velocity v relative to it, the drag is -rho/2 C A max(n . v, 0) v (free molecules, whose share of
    reflection is in the coefficient C = `drag`, about 2.2). In the light of the Sun, in the direction s, the force is

        -P A cos [(1 - S) s + 2 (S cos + D/3) n],   cos = max(n . s, 0)

    with the shares S `specular` and D `diffuse` that are reflected, the rest being absorbed; P = 4.54e-6 Pa at 1 AU,
    times the share of the Sun's disc that is seen. Montenbruck and Gill, sections 3.4 and 3.5; Wertz, Spacecraft
    Attitude Determination, 17.2.2. `both_sides`: it acts with either side. One panel does not shade another.

    It needs a world with air, or an Earth with an epoch; it feels what there is.
    """

    body: str = ""
    area: Annotated[float, "m^2"] = 1.0
    normal: Annotated[ArrayLike, "1"] = (1.0, 0.0, 0.0)
    point: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    drag: Annotated[float, "1"] = 2.2
    specular: Annotated[float, "1"] = 0.0
    diffuse: Annotated[float, "1"] = 0.0
    both_sides: bool = False

    def __post_init__(self) -> None:
        owner = f"panel {self.name!r}"
        require_not_negative(owner, area=self.area, drag=self.drag)
        require_share(owner, specular=self.specular, diffuse=self.diffuse)
        require_points(owner, point=self.point)
        require_finite(owner, normal=self.normal)
        if np.shape(self.normal) != (3,) or not (is_traced(self.normal) or np.any(as_array(self.normal))):
            raise FieldError(f"normal of {owner} must be three numbers, not all zero; it is {self.normal!r}.", "normal")
        if not is_traced(self.specular, self.diffuse) and self.specular + self.diffuse > 1:
            words = f"specular={self.specular!r} and diffuse={self.diffuse!r} of {owner} are shares of the light"
            raise FieldError(f"{words}: together they are 1 at most.", "diffuse")

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def effect(self, scene: Scene) -> Effect:
        earth = earth_of(scene)
        lit, blown = earth is not None and earth.epoch is not None, "air" in scene.elements
        if not lit and not blown:
            raise FieldError(
                f"panel {self.name!r} meets neither air nor sunlight: give the world air=pt.US76(), or the Earth an "
                "epoch.",
                "panel",
            )
        drag = self._drag(scene) if blown else np.zeros(3)
        light = self._light(scene) if lit else np.zeros(3)
        effect = push(self.body, drag + light, as_array(self.point), scene[self.body].twist)
        return Effect(effect.wrenches, power=effect.power, shown={"drag": drag, "light": light})

    def _drag(self, scene: Scene) -> Array:
        """The force (3,) [N] of the air, in body axes."""
        air = scene.air(self.body, self.point)
        _, towards = self._facing(air.velocity)
        return -0.5 * air.density * self.drag * self.area * towards * air.velocity

    def _light(self, scene: Scene) -> Array:
        """The force (3,) [N] of sunlight, in body axes."""
        earth, state = earth_of(scene), scene[self.body]
        assert earth is not None
        p, sun = state.position, earth.sun(scene.t)
        away = sun - p
        d = np.sqrt(away @ away)
        s = state.pose.R.T @ away / d
        n, cos = self._facing(s)
        P = PRESSURE * (AU / d) ** 2 * earth.sunlight(p, scene.t)
        return -P * self.area * cos * ((1 - self.specular) * s + 2 * (self.specular * cos + self.diffuse / 3) * n)

    def _facing(self, direction: Array) -> tuple[Array, Array]:
        """The unit normal on the side that a direction (3,) meets, and their product; 0 at the back of one side."""
        n = as_array(self.normal) / np.linalg.norm(as_array(self.normal))
        cos = n @ direction
        if self.both_sides:
            return np.where(cos < 0, -1.0, 1.0) * n, np.abs(cos)
        return n, np.maximum(cos, 0.0)

    def units(self) -> dict[str, str]:
        return {"drag": "N", "light": "N"}
