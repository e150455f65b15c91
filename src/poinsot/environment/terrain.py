"""The ground as a surface: a plane, a height field, or heights above the figure of the Earth."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.environment.air_mass import earth_of, turning
from poinsot.environment.earth import Earth
from poinsot.environment.geodesy import radii
from poinsot.fuse import Table, is_traced
from poinsot.parts.element import Effect, Element
from poinsot.parts.scene import Footing, Scene
from poinsot.spatial.arrays import as_array, vector

STEP = 0.01  # m, to both sides, of the differences that give the slope on flat ground; on the Earth 1 m


@dataclass(frozen=True, eq=False)
class Terrain(Element):
    """The height [m] of the ground: a number, or a function or `Table` of x and y [m]; around the Earth, above its
    figure, of latitude and longitude [rad].

    It exerts no force of its own: parts ask for it with `scene.ground(p)`. The clearance of a point is its distance
    from the tangent plane below it, the normal that of the plane, with slopes by central differences: exact where the
    table is linear in each variable.
    """

    name: str = "ground"
    heights: Annotated[float | Callable[..., Any], "m"] = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.heights, Table) and (len(self.heights.axes) != 2 or self.heights.shape):
            raise FieldError(
                f"ground is a table with {len(self.heights.axes)} axes and values of shape {self.heights.shape}; it "
                "must be one of numbers over x and y, or latitude and longitude.",
                "ground",
            )
        if not callable(self.heights) and not is_traced(self.heights):
            try:
                fine = np.ndim(self.heights) == 0 and bool(np.isfinite(self.heights))
            except TypeError:
                fine = False
            if not fine:
                raise FieldError(f"ground={self.heights!r} must be a height [m], a pt.Table or a function.", "ground")

    def effect(self, scene: Scene) -> Effect:
        return Effect()

    def height(self, a: Any, b: Any) -> Array:
        """The height [m] at x, y [m], or at latitude, longitude [rad]."""
        return as_array(self.heights(a, b) if callable(self.heights) else self.heights)

    def under(self, scene: Scene, p: Array) -> Footing:
        """The ground under the point p (3,) [m] of the world."""
        earth = earth_of(scene)
        return self._flat(p) if earth is None else self._round(earth, scene.t, p)

    def _flat(self, p: Array) -> Footing:
        x, y, z = p
        slope_x, slope_y = self._slopes(x, y, STEP, STEP)
        upright = 1 / np.sqrt(1 + slope_x * slope_x + slope_y * slope_y)
        normal = vector(-slope_x, -slope_y, 1.0) * upright
        return Footing((z - self.height(x, y)) * upright, normal, np.zeros(3), np.zeros(3))

    def _round(self, earth: Earth, t: Any, p: Array) -> Footing:
        place = earth.geodetic(earth.rotation(t).T @ p)
        meridian, normal = radii(place.latitude, earth.ellipsoid)
        across = normal * np.cos(place.latitude)  # m per rad to the east; at the poles there is no east
        step = 1 / meridian
        by_latitude, by_longitude = self._slopes(place.latitude, place.longitude, step, step)
        north, east = by_latitude / meridian, by_longitude / np.maximum(across, 1.0)
        upright = 1 / np.sqrt(1 + north * north + east * east)
        up = earth.ned(p) @ (vector(-north, -east, -1.0) * upright)
        height = place.height - self.height(place.latitude, place.longitude)
        return Footing(height * upright, up, earth.ground_velocity(p), turning(earth))

    def _slopes(self, a: Array, b: Array, da: Any, db: Any) -> tuple[Array, Array]:
        if not callable(self.heights):
            return np.zeros(()), np.zeros(())
        along = (self.height(a + da, b) - self.height(a - da, b)) / (2 * da)
        return along, (self.height(a, b + db) - self.height(a, b - db)) / (2 * db)
