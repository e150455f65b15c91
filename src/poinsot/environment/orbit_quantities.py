"""Quantities of a body in orbit: osculating elements, height, sunlight and magnetic field."""

from collections.abc import Callable
from typing import Any, NamedTuple

from poinsot._types import Array
from poinsot.environment.air_mass import earth_of
from poinsot.environment.earth import Earth
from poinsot.environment.kepler import Elements, elements_of
from poinsot.parts.scene import BodyState, Scene


class OrbitQuantity(NamedTuple):
    """A quantity of a body around the Earth, of (earth, t, body); its unit, meaning, and whether it is a vector (3,).

    needs: the field of the Earth that must be given."""

    of: Callable[[Earth, Any, BodyState], Array]
    unit: str
    meaning: str
    needs: str = ""
    is_vector: bool = False


def _element(name: str) -> Callable[[Earth, Any, BodyState], Array]:
    def of(earth: Earth, t: Any, body: BodyState) -> Array:
        found: Array = getattr(elements_of(body.position, body.velocity, earth.mu), name)
        return found

    return of


def _sun_direction(earth: Earth, t: Any, body: BodyState) -> Array:
    away = earth.sun(t) - body.position
    direction: Array = body.pose.R.T @ away / (away @ away) ** 0.5
    return direction


OSCULATING = "of the ellipse that the body's origin would follow around a centre alone"
ORBIT_QUANTITIES: dict[str, OrbitQuantity] = {
    name: OrbitQuantity(_element(name), "m" if name == "semi_major_axis" else "1" if name == "eccentricity" else "rad",
                        OSCULATING)
    for name in Elements._fields
} | {
    "height": OrbitQuantity(lambda e, t, b: e.height(b.position), "m", "above the Earth's figure"),
    "sunlight": OrbitQuantity(
        lambda e, t, b: e.sunlight(b.position, t), "1", "share of the Sun's disc that is seen: 0 in the umbra", "epoch"
    ),
    "sun_direction": OrbitQuantity(_sun_direction, "1", "to the Sun, body axes", "epoch", True),
    "magnetic_field": OrbitQuantity(
        lambda e, t, b: b.pose.R.T @ e.magnetic_field(b.position, t), "T", "of the Earth, body axes", "magnetic", True
    ),
}  # fmt: skip


def orbit_quantity(name: str, scene: Scene, body: str) -> Array:
    """A quantity of `ORBIT_QUANTITIES` in a scene."""
    earth = earth_of(scene)
    assert earth is not None
    return ORBIT_QUANTITIES[name].of(earth, scene.t, scene[body])


def known_around(earth: Earth | None) -> list[str]:
    """The names of the quantities that a world with this Earth has."""
    if earth is None:
        return []
    return [name for name, q in ORBIT_QUANTITIES.items() if not q.needs or getattr(earth, q.needs) is not None]
