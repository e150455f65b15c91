"""What is worth following in a picture: free bodies with all that hangs on them, their sizes and their paths."""

from dataclasses import dataclass

import numpy as np

from poinsot._types import Array
from poinsot.parts import Parachute
from poinsot.show.picture import Picture
from poinsot.spatial import quaternion

CANOPY = 1.4  # how far a parachute reaches from where it is tied on, by the root of its drag area
SMALL = 6.0  # a vehicle whose path is this many times its radius is followed


@dataclass(frozen=True, eq=False)
class Vehicle:
    """A body seen as what a camera follows.

    body: its index; root: whether it stands in the world itself; radius [m] around `middle` (3,), its centre of mass in
    its own frame, that holds it and the bodies that hang on it at the start; eye (3,): a place to look out from, above
    it; top: +1 or -1, the sign of its z axis that points up; path [m]: half the diagonal of a box around its path;
    bulk: from 0, a rod, to 1, a ball or cube.
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
    radius = max([*(_farthest(picture, j, centre) for j in own), *(_canopies(picture, link.name, middle))])
    points = np.concatenate([np.zeros((1, 3)), *(look.triangles.vertices for look in picture.looks[link.name])])
    body = records.description.bodies.get(link.name)
    top = -1.0 if getattr(body, "start", None) is not None else 1.0
    highest = float((top * points[:, 2]).max()) + 0.06 * radius
    eye = np.array([middle[0], middle[1], top * max(highest, top * middle[2])])
    masses = [i.mass for j in own if (i := records.mechanism.links[j].inertia) is not None]
    sides = np.sort(np.ptp(points, axis=0))
    shares = sides / sides[2] if len(own) == 1 and sides[2] > 0 else np.array([0.5, 0.7, 1.0])
    bulk = float(shares[1] * np.sqrt(shares[0]))
    path = float(np.linalg.norm(np.ptp(records.centres[:, 0, k], axis=0))) / 2
    return Vehicle(k, link.parent is None, radius or picture.size, middle, eye, top, path, float(sum(masses)), bulk)


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


def _canopies(picture: Picture, body: str, middle: Array) -> list[float]:
    """How far [m] the parachutes of a body reach."""
    elements = picture.records.description.elements.values()
    return [
        float(np.linalg.norm(np.asarray(e.point, dtype=float) - middle)) + CANOPY * float(np.sqrt(max(e.CdS, 0.0)))
        for e in elements
        if isinstance(e, Parachute) and e.body == body
    ]


def _farthest(picture: Picture, k: int, centre: Array) -> float:
    """The distance [m] of the farthest point of a body from a point in the world, at the start."""
    records = picture.records
    place, turned = records.positions[0, 0, k], records.wxyz[0, 0, k]
    looks = [look.triangles.vertices for look in picture.looks[records.names[k]]]
    points = np.concatenate(looks) if looks else np.zeros((1, 3))
    away: Array = np.linalg.norm(place + quaternion.rotate(turned, points) - centre, axis=1)
    return float(away.max())
