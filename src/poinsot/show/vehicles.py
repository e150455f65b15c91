"""What is worth following in a picture: free bodies with all that hangs on them, their sizes and their paths."""

from dataclasses import dataclass

import numpy as np

from poinsot._types import Array
from poinsot.parts import Parachute
from poinsot.show.picture import Picture
from poinsot.spatial import quaternion

CANOPY = 1.4  # how far a parachute reaches from where it is tied on, by the root of its drag area
EASY = 3.0  # s over which a camera draws back when a parachute opens
SMALL = 6.0  # a vehicle whose path is this many times its radius is followed


@dataclass(frozen=True, eq=False)
class Vehicle:
    """A body seen as what a camera follows.

    body: its index; root: whether it stands in the world itself; radius [m] around `middle` (3,), its centre of mass in
    its own frame, that holds it and the bodies that hang on it at the start; eye (3,): a place to look out from, above
    it; top: +1 or -1, the sign of its z axis that points up; path [m]: half the diagonal of a box around its path;
    bulk: from 0, a rod, to 1, a ball or cube. grown (r,): how many times as large it is with its parachutes, at each
    record; None without any.
    """

    body: int
    root: bool
    radius: float
    middle: Array
    eye: Array
    top: float
    path: float
    mass: float
    bulk: float = 0.5
    grown: Array | None = None

    @property
    def distance(self) -> float:
        """How far [m] a camera that follows it is away: nearer to what is slender or flat."""
        return self.radius * (3.4 + 1.4 * self.bulk)

    @property
    def is_small(self) -> bool:
        """Whether it is small against its path."""
        return self.path > SMALL * self.radius


def vehicles_of(picture: Picture) -> list[Vehicle]:
    """Every body as a vehicle."""
    return [_vehicle(picture, k) for k in range(len(picture.records.names))]


def main_vehicle(vehicles: list[Vehicle]) -> Vehicle:
    """The heaviest one that stands in the world itself."""
    return max(vehicles, key=lambda v: (v.root, v.mass))


def _vehicle(picture: Picture, k: int) -> Vehicle:
    records = picture.records
    link = records.mechanism.links[k]
    own = _with_children(picture, k)
    middle = np.zeros(3) if link.inertia is None else np.asarray(link.inertia.com, dtype=float)
    centre = records.centres[0, 0, k]
    radius = max(_farthest(picture, j, centre) for j in own) or picture.size
    canopies = _canopies(picture, [records.names[j] for j in own], middle)
    points = np.concatenate([np.zeros((1, 3)), *(look.triangles.vertices for look in picture.looks[link.name])])
    body = records.description.bodies.get(link.name)
    top = -1.0 if getattr(body, "start", None) is not None else 1.0
    highest = float((top * points[:, 2]).max()) + 0.06 * radius
    eye = np.array([middle[0], middle[1], top * max(highest, top * middle[2])])
    masses = [i.mass for j in own if (i := records.mechanism.links[j].inertia) is not None]
    whole = quaternion.rotate(
        quaternion.conjugate(records.wxyz[0, 0, k]), np.concatenate([_points(picture, j) for j in own])
    )
    sides = np.sort(np.ptp(whole, axis=0))
    shares = sides / sides[2] if sides[2] > 0 else np.array([0.5, 0.7, 1.0])
    bulk = float(shares[1] * np.sqrt(shares[0]))
    path = float(np.linalg.norm(np.ptp(records.centres[:, 0, k], axis=0))) / 2
    grown = None if canopies is None else np.maximum(canopies / radius, 1.0)
    return Vehicle(k, link.parent is None, radius, middle, eye, top, path, float(sum(masses)), bulk, grown)


def _with_children(picture: Picture, k: int) -> list[int]:
    """The indices of a body and of all that hang on it; of a body in a tree, itself alone."""
    links = picture.records.mechanism.links
    if links[k].parent is not None:
        return [k]
    own = {links[k].name}
    for link in links:
        if link.parent in own:
            own.add(link.name)
    return [j for j, link in enumerate(links) if link.name in own]


def _canopies(picture: Picture, bodies: list[str], middle: Array) -> Array | None:
    """How far (r,) [m] the parachutes of bodies reach as they open, over some seconds; None if they have none."""
    records = picture.records
    reach = None
    for e in records.description.elements.values():
        if isinstance(e, Parachute) and e.body in bodies:
            away = float(np.linalg.norm(np.asarray(e.point, dtype=float) - middle))
            share = np.sqrt(np.clip(records.of(e.name, "open")[:, 0], 0.0, 1.0))
            own = _eased(records.time, share) * (away + CANOPY * float(np.sqrt(max(e.CdS, 0.0))))
            reach = own if reach is None else np.maximum(reach, own)
    return reach


def _eased(time: Array, values: Array) -> Array:
    """Values (r,) over time as their mean over EASY seconds, so that a camera does not jump."""
    if len(time) < 2:
        return values
    sums = np.concatenate([[0.0], np.cumsum(np.diff(time) * (values[1:] + values[:-1]) / 2)])
    low, high = np.maximum(time - EASY / 2, time[0]), np.minimum(time + EASY / 2, time[-1])
    return np.asarray((np.interp(high, time, sums) - np.interp(low, time, sums)) / (high - low))


def _farthest(picture: Picture, k: int, centre: Array) -> float:
    """The distance [m] of the farthest point of a body from a point in the world, at the start."""
    return float(np.linalg.norm(_points(picture, k) - centre, axis=1).max())


def _points(picture: Picture, k: int) -> Array:
    """The points (n, 3) [m] of the surfaces of a body in the world, at the start."""
    records = picture.records
    looks = [look.triangles.vertices for look in picture.looks[records.names[k]]]
    points = np.concatenate(looks) if looks else np.zeros((1, 3))
    return np.asarray(records.positions[0, 0, k] + quaternion.rotate(records.wxyz[0, 0, k], points))
