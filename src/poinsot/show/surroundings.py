"""The world around a picture: a studio for things of lab size, a field under a sky, or space around the Earth."""

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.environment import CentralGravity, EarthGravity
from poinsot.environment.earth import RADIUS
from poinsot.show.picture import Picture
from poinsot.show.relief import planes_of
from poinsot.show.vehicles import Vehicle
from poinsot.spatial import rotation

STUDIO = 60.0  # m: larger pictures are outdoors, also those a quarter as large in which something flies
KINDS = ("studio", "field", "orbit")
CLEAR = 25.0  # the height of a free flight above the ground, where none is given, in radii of the vehicle
RUNWAY = (1200.0, 30.0)  # m, length and width


@dataclass(frozen=True, eq=False)
class Surroundings:
    """kind: of `KINDS`. up, first: unit vectors (3,), the vertical and a horizontal axis. ground: its height [m] along
    `up`; None if there is none. datum: the height [m] that heights are counted from. sun (3,): towards it. runway,
    globe: for the page."""

    kind: str
    up: Array
    first: Array
    ground: float | None
    datum: float
    sun: Array
    runway: dict[str, Any] | None = None
    globe: dict[str, Any] | None = None

    def content(self) -> dict[str, Any]:
        """For the page."""
        vectors = {name: getattr(self, name).tolist() for name in ("up", "first", "sun")}
        rest = {name: getattr(self, name) for name in ("kind", "ground", "datum", "runway", "globe")}
        return {**vectors, **rest}


def surroundings_of(picture: Picture, vehicle: Vehicle, kind: str | None = None) -> Surroundings:
    """The surroundings that suit a picture, or those of a kind."""
    if kind is not None and kind not in KINDS:
        raise ValueError(f"surroundings must be one of {', '.join(KINDS)}, not {kind!r}.")
    description = picture.records.description
    globe = _globe(description.gravity, picture)
    if kind is None:
        far = picture.size > (STUDIO / 4 if vehicle.is_small else STUDIO)
        outdoors = np.any(picture.records.mechanism.gravity) and far
        kind = "orbit" if globe else "field" if outdoors else "studio"
    if kind == "orbit":
        globe = globe or _globe(CentralGravity(centre=picture.centre - np.array([0, 0, 7e6])), picture)
        start = picture.records.centres[0, 0, vehicle.body]
        up = _unit(start - np.asarray(globe["centre"])) if globe else picture.up
        side = rotation.perpendicular(up)
        sun = _unit((1.6 if globe and globe.get("low") else 0.75) * up + 0.55 * side + 0.25 * np.cross(up, side))
        return Surroundings(kind, up, side, None, 0.0, sun, None, globe)
    up = picture.up
    first = _unit(np.array([1.0, 0, 0]) - up[0] * up) if abs(up[0]) < 0.9 else rotation.perpendicular(up)
    ground = _ground(picture, vehicle, kind)
    paved = kind == "field" and ground is not None and picture.hills is None
    sun = _unit(0.45 * first - 0.75 * np.cross(up, first) + (1.5 if kind == "studio" else 0.95) * up)
    runway = _runway(picture, vehicle, up, first, ground or 0.0) if paved else None
    return Surroundings(kind, up, first, ground, ground if ground is not None and ground >= 0 else 0.0, sun, runway)


def _ground(picture: Picture, vehicle: Vehicle, kind: str) -> float | None:
    """The height [m] of the ground: of level planes, below terrain, else of the plane through the origin if all is
    above it, else below everything; None without gravity."""
    up, description = picture.up, picture.records.description
    for normal, height in planes_of(description):
        if np.allclose(normal, up):
            return height
    if picture.hills is not None:
        return picture.hills.lowest - (0.04 if kind == "studio" else 1e-3) * picture.size
    if not np.any(picture.records.mechanism.gravity):
        return None
    low, high = picture.bounds
    lowest = float(up @ np.where(up > 0, low, high))
    if abs(lowest) < 0.01 * picture.size or (kind == "field" and lowest > -2 * vehicle.radius):
        flies = picture.records.centres[:, 0, vehicle.body] @ up
        starts_low = lowest < 0 and vehicle.is_small and np.ptp(flies) < 0.3 * vehicle.path
        return lowest - CLEAR * vehicle.radius if starts_low else 0.0
    return lowest - (CLEAR * vehicle.radius if kind == "field" else 0.04 * picture.size)


def _runway(picture: Picture, vehicle: Vehicle, up: Array, first: Array, ground: float) -> dict[str, Any] | None:
    """A runway below the start of what flies more along than up; None for other things."""
    path = picture.records.centres[:, 0, vehicle.body]
    flat = path - np.outer(path @ up, up)
    way = flat[-1] - flat[0]
    if not vehicle.is_small or np.linalg.norm(way) < 2.0 * np.ptp(path @ up):
        return None
    course, length = _unit(way), max(RUNWAY[0], 1.2 * float(np.linalg.norm(way)))
    middle = flat[0] + ground * up + (min(length, 4 * RUNWAY[0]) / 2 - 250.0) * course
    turned = [float(course @ first), float(course @ np.cross(up, first))]
    return {"middle": middle.tolist(), "course": turned, "length": min(length, 4 * RUNWAY[0]), "width": RUNWAY[1]}


def _globe(gravity: Any, picture: Picture) -> dict[str, Any] | None:
    """The Earth of a world's gravity: centre [m], radius [m], angle [rad] at t = 0 and rate [rad/s], coast; low: there
    is a flight near the ground, sunk: how far [m] below terrain the sphere is drawn."""
    if isinstance(gravity, EarthGravity):
        earth = gravity.earth
        turning = {"rate": float(earth.rate), "angle": earth.angle}
        whole = {"centre": [0.0, 0.0, 0.0], "radius": RADIUS, **turning, "coast": coast()}
        near = {} if picture.below is None else picture.below.globe()
        sunk = 0.0 if picture.hills is None else 2.0 - min(picture.hills.lowest, 0.0)
        return {**whole, **near, "sunk": sunk}
    if isinstance(gravity, CentralGravity):
        centre = np.asarray(gravity.centre, dtype=float)
        return {"centre": centre.tolist(), "radius": RADIUS, "rate": 0.0, "coast": coast()}
    return None


@cache
def coast() -> list[list[list[int]]]:
    """The coastlines of the Earth: closed lines of longitude and latitude in tenths of degrees.

    Natural Earth 1:110m land (public domain, naturalearthdata.com), packed by docs/make/coast.py: for each line the
    number of points and then their differences, int16.
    """
    import zlib

    packed = resources.files("poinsot.show").joinpath("web/coast.bin").read_bytes()
    numbers = np.frombuffer(zlib.decompress(packed), dtype="<i2").astype(int)
    lines, at = [], 0
    while at < len(numbers):
        n = int(numbers[at])
        lines.append(np.cumsum(numbers[at + 1 : at + 1 + 2 * n].reshape(n, 2), axis=0).tolist())
        at += 1 + 2 * n
    return lines


def _unit(v: Array) -> Array:
    return np.asarray(v / np.linalg.norm(v))
