"""Vehicles that a picture may follow: free bodies with all that hangs on them, their sizes and their paths."""

from collections.abc import Sequence
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
    own = _trees(picture)
    parachutes = [e for e in picture.records.description.elements.values() if isinstance(e, Parachute)]
    return [_vehicle(picture, k, own[k], parachutes) for k in range(len(own))]


def main_vehicle(vehicles: list[Vehicle]) -> Vehicle:
    """The heaviest one that stands in the world itself."""
    return max(vehicles, key=lambda v: (v.root, v.mass))


def _vehicle(picture: Picture, k: int, own: Sequence[int], parachutes: Sequence[Parachute]) -> Vehicle:
    """Body k; own: the numbers of all that are of it."""
    records = picture.records
    links = records.mechanism.links
    link = links[k]
    middle = np.zeros(3) if link.inertia is None else np.asarray(link.inertia.com, dtype=float)
    centre = records.centres[0, 0, k]
    radius = max(_farthest(picture, j, centre) for j in own) or picture.size
    canopies = _canopies(picture, [links[j].name for j in own], parachutes, middle)
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


def _trees(picture: Picture) -> list[list[int]]:
    """For each body the numbers of itself and of all that hang on it; of a body in a tree, itself alone."""
    parents, own = picture.records.mechanism.parents, list[list[int]]()
    roots: list[int] = []
    for k, parent in enumerate(parents):
        own.append([k])
        roots.append(k if parent < 0 else roots[parent])
        if parent >= 0:
            own[roots[k]].append(k)
    return own


def _canopies(picture: Picture, bodies: Sequence[str], parachutes: Sequence[Parachute], middle: Array) -> Array | None:
    """How far (r,) [m] the parachutes of bodies reach as they open, over some seconds; None if they have none."""
    records = picture.records
    reach = None
    for e in parachutes:
        if e.body in bodies:
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
