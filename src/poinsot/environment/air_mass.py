"""The air of a world: an atmosphere, and the winds in it, which every body of the world meets.

On flat ground, z up, north is the world's x, east is -y and down is -z, and the height is z. Around the Earth the air
turns with it, and the height is that above its figure.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.environment.airspeed import AIR_QUANTITIES, AirData
from poinsot.environment.atmosphere import US76, Atmosphere
from poinsot.environment.earth import Earth
from poinsot.environment.wind import SteadyWind, Wind, total_wind
from poinsot.parts.element import Effect, Element
from poinsot.parts.scene import Scene
from poinsot.parts.whereabouts import level
from poinsot.spatial.arrays import as_array


def height(earth: Earth | None, p: Array) -> Array:
    """The height [m] of p (3,) [m]."""
    return p[2] if earth is None else earth.height(p)


def ground_velocity(earth: Earth | None, p: Array) -> Array:
    """The velocity (3,) [m/s] of a point at p (3,) [m] that stands still on the Earth, in the axes of the world."""
    return np.zeros(3) if earth is None else earth.ground_velocity(p)


def turning(earth: Earth | None) -> Array:
    """The angular velocity (3,) [rad/s] of the Earth and its air, in the axes of the world."""
    return np.array([0.0, 0.0, 0.0 if earth is None else earth.rate])


@dataclass(frozen=True, eq=False)
class AirMass(Element):
    """An atmosphere and winds, each a function (t, position, height) -> (3,) [m/s] north, east, down; they add up.

    It exerts no force of its own: forces ask for it with `scene.air(body, point)`.
    """

    name: str = "air"
    atmosphere: Atmosphere = field(default_factory=US76)
    winds: tuple[Wind, ...] = ()

    quantities: ClassVar[tuple[str, ...]] = (*AIR_QUANTITIES, "rates")  # of a body, that are signals
    tabled: ClassVar[tuple[str, ...]] = ("winds",)

    def __post_init__(self) -> None:
        if not isinstance(self.atmosphere, Atmosphere):
            raise FieldError(f"air={self.atmosphere!r} must be an atmosphere, such as pt.US76().", "air")

    def effect(self, scene: Scene) -> Effect:
        return Effect()

    def velocity(self, earth: Earth | None, t: Any, p: Array) -> Array:
        """The velocity of the air (3,) [m/s] at p (3,) [m] in the world, in its axes."""
        v = ground_velocity(earth, p)
        if not self.winds:
            return v
        place = p if earth is None else earth.rotation(t).T @ p
        return v + level(earth, p) @ total_wind(self.winds, t, place, height(earth, p))

    def met_by(self, scene: Scene, body: str, point: Any) -> AirData:
        """The air that a point (3,) [m] of a body meets, the body's axes being those of an aircraft."""
        earth, state = earth_of(scene), scene[body]
        p = state.point(point)
        air, rotation = self.velocity(earth, scene.t, p), turning(earth)
        turbulence: Any = scene.elements.get("turbulence")
        if hasattr(turbulence, "at"):
            gust, whirl = turbulence.at(scene, p)
            air, rotation = air + gust, rotation + whirl
        relative = state.pose.R.T @ (state.velocity_of(point) - air)
        rates = state.twist[:3] - state.pose.R.T @ rotation
        altitude = height(earth, p)
        above = scene.ground(p).clearance if "ground" in scene.elements else altitude
        return AirData(relative, self.atmosphere.at(altitude), altitude, rates, above)


def earth_of(scene: Scene) -> Earth | None:
    """The Earth of a scene, if its world is one around it."""
    return scene.earth if isinstance(scene.earth, Earth) else None


def winds_of(wind: Any) -> tuple[Wind, ...]:
    """One wind, several, or the velocity (3,) [m/s] of a steady one, north, east, down."""
    if wind is None:
        return ()
    if callable(wind):
        return (wind,)
    if isinstance(wind, (tuple, list)) and wind and all(map(callable, wind)):
        return tuple(wind)
    if np.shape(as_array(wind)) == (3,):
        return (SteadyWind(wind),)
    raise FieldError(
        f"wind={wind!r} must be a wind, such as pt.SteadyWind(...), several, or three numbers [m/s].", "wind"
    )
