"""The turning Earth below a flight: the place that terrain and grid are laid out around, and axes that turn with it."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._types import Array
from poinsot.environment.earth import Earth
from poinsot.environment.geodesy import radii
from poinsot.show.marks import Track
from poinsot.spatial import quaternion

if TYPE_CHECKING:
    from poinsot.show.picture import Picture

LOW = 60e3  # m: what comes lower than this flies over a place, with air above it; what stays above it is in orbit


@dataclass(frozen=True, eq=False)
class Below:
    """latitude, longitude [rad]: where a path is lowest; reach [m]: how far from there it goes, while it is low.
    always: whether it is low all the time."""

    earth: Earth
    latitude: float
    longitude: float
    reach: float
    always: bool

    @property
    def radii(self) -> tuple[float, float]:
        """The radii of curvature [m] of the figure there, along the meridian and across."""
        along, across = radii(self.latitude, self.earth.ellipsoid)
        return float(along), float(across)

    @property
    def foot(self) -> Array:
        """The point (3,) [m] of the figure, in Earth-fixed axes."""
        return np.asarray(self.earth.ecef(self.latitude, self.longitude, 0.0), dtype=float)

    @property
    def axes(self) -> Array:
        """East, north and up (3, 3) there as columns, in Earth-fixed axes."""
        north, east, down = np.asarray(self.earth.ned(self.foot), dtype=float).T
        return np.stack([east, north, -down], axis=1)

    def globe(self) -> dict[str, Any]:
        """The sphere that touches the figure along the whole parallel of latitude: its centre is on the Earth's axis,
        so that it stays where it is when the Earth turns."""
        _, across = self.radii
        deep = self.earth.ellipsoid.e2 * across * float(np.sin(self.latitude))
        return {"centre": [0.0, 0.0, -deep], "radius": across, "low": True}

    def turning(self, time: Array) -> Array:
        """Orientations (r, 4) of the Earth-fixed axes at times (r,) [s]."""
        half = 0.5 * (self.earth.angle + self.earth.rate * np.asarray(time, dtype=float))
        return np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=-1)

    def carried(self, time: Array, point: Array) -> Track:
        """The track of Earth-fixed axes through a point (3,) [m] of the Earth, over times (r,) [s]."""
        turn = self.turning(time)
        return Track(quaternion.rotate(turn, point), turn)

    def fixed(self, time: Array, points: Array, origin: Array) -> Array:
        """Points (r, 3) [m] of the world at times (r,) in Earth-fixed axes, from an origin (3,) in these."""
        return np.asarray(quaternion.rotate(quaternion.conjugate(self.turning(time)), points) - origin)


def below(picture: "Picture") -> Below | None:
    """The place on the Earth below the path of the heaviest body; None on flat ground, and for what stays in orbit."""
    records, earth = picture.records, picture.records.description.earth
    if earth is None:
        return None
    masses = [0.0 if link.inertia is None else float(link.inertia.mass) for link in records.mechanism.links]
    path = records.centres[:, 0, int(np.argmax(masses))]
    some = np.unique(np.linspace(0, len(path) - 1, 200).astype(int))
    points = np.stack([earth.rotation(records.time[k]).T @ path[k] for k in some])
    places = [earth.geodetic(p) for p in points]
    heights = np.array([float(place.height) for place in places])
    lowest = places[int(np.argmin(heights))]
    if heights.min() > LOW:
        return None
    found = Below(earth, float(lowest.latitude), float(lowest.longitude), 0.0, bool(heights.max() < LOW))
    return replace(found, reach=float(np.linalg.norm(points[heights < LOW] - found.foot, axis=1).max()))
