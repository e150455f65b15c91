"""Kinds of meetings: how shapes that are chosen at run time touch, by one piece of code with their numbers as data."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.contact.contact_patch import ContactPatch
from poinsot.contact.distances import DistanceShape
from poinsot.contact.hulls import ConvexMesh
from poinsot.contact.near_pairs import Nearby, PatchSizes, deeper
from poinsot.contact.patches import between, capsules, meeting, nearest, points_of
from poinsot.contact.spots import spots_of
from poinsot.spatial import Pose
from poinsot.spatial.shapes import Capsule, Sphere

ORDER = ("Sphere", "Capsule", "Ellipsoid", "Cone", "Cylinder", "Box", "ConvexMesh", "DistanceShape")  # a before b


@dataclass(frozen=True)
class MeetingKind:
    """All meetings of a shape like a with one like b: classes whose numbers vary, or shapes as they are. b None: with
    the ground. along: of balls and capsules, whether some pairs are two capsules, which may lie along each other.
    """

    a: Any
    b: Any
    along: bool = field(default=False, compare=False)

    @classmethod
    def alone(cls, shape: Any) -> "MeetingKind":
        """All meetings of shapes like this one with the ground."""
        return cls(_fixed(shape), None)

    @property
    def is_round(self) -> bool:
        """Whether both are balls or capsules: of those, only the axis counts."""
        return self.a is Capsule and self.b is Capsule

    def sizes(self, one: Any, other: Any) -> PatchSizes:
        """The sizes of the patches of two shapes of this kind; other None: with the ground."""
        if self.b is None or isinstance(other, DistanceShape):
            return PatchSizes((1,) * len(spots_of(one)))
        if self.is_round:
            return PatchSizes((1,) * (3 if self.along else 1), self.along)
        points = tuple(points_of(one, other))
        return PatchSizes(points, len(points) > 1)

    def numbers(self, shape: Any) -> list[Any]:
        """The numbers of a shape, in a row."""
        if self.is_round and isinstance(shape, Sphere):
            return [shape.radius, 0.0]
        return [x for part in _parts(shape) for x in np.ravel(part)]

    def pose_numbers(self, X: Pose) -> Array:
        """The numbers of a pose, in a row: the place, and the axis or all axes."""
        return np.concatenate([X.p, X.R[:, 2] if self.is_round else np.ravel(X.R)])

    def met(self, x: Array, at_x: Array, y: Array, at_y: Array) -> list[ContactPatch]:
        """The patches of two shapes by their numbers and those of their poses."""
        if self.is_round:
            if self.along:
                return capsules(_axis(x, at_x), x[0], _axis(y, at_y), y[0], at_x[:3] - at_y[:3])
            p, q = nearest(*_axis(x, at_x), *_axis(y, at_y))
            return [between(p, x[0], q, y[0], at_x[:3] - at_y[:3])]
        one, other = _made(self.a, x), _made(self.b, y)
        meet = meeting(one, other)
        assert meet is not None
        return meet(one, _pose(at_x), other, _pose(at_y))

    def nearby(self, x: Array, at_x: Array, y: Array, at_y: Array, ahead: Any) -> Nearby:
        """The patches of `met`, and whether they are less than this [m] apart; of balls and capsules, only of pairs
        that are near."""
        if not self.is_round:
            return deeper(self.met(x, at_x, y, at_y), -ahead)
        p, q = nearest(*_axis(x, at_x), *_axis(y, at_y))
        gap, reach = p - q, x[0] + y[0] + ahead

        def made() -> Any:
            if self.along:
                return deeper(self.met(x, at_x, y, at_y), -ahead)
            return between(p, x[0], q, y[0], at_x[:3] - at_y[:3])

        return [(gap @ gap < reach * reach, made)]

    def placed(self, x: Array, at_x: Array) -> tuple[Any, Pose]:
        """A shape like a, and its pose, by its numbers and those of its pose."""
        return _made(self.a, x), _pose(at_x)


def kind_of(one: Any, other: Any) -> tuple[MeetingKind, bool]:
    """The kind of a meeting, and whether the two change places in it."""
    turned = ORDER.index(type(one).__name__) > ORDER.index(type(other).__name__)
    a, b = (other, one) if turned else (one, other)
    if isinstance(a, Sphere | Capsule) and isinstance(b, Sphere | Capsule):
        return MeetingKind(Capsule, Capsule, isinstance(a, Capsule)), turned
    return MeetingKind(_fixed(a), _fixed(b)), turned


def kind_of_all(pairs: Iterable[tuple[Any, Any]]) -> MeetingKind:
    """The kind of meetings of which all are alike; the second shape is None where it is the ground."""
    kinds = [MeetingKind.alone(a) if b is None else kind_of(a, b)[0] for a, b in pairs]
    return replace(kinds[0], along=any(kind.along for kind in kinds))


def _fixed(shape: Any) -> Any:
    """The part that is alike in shapes of a kind: the class; of a mesh or a distance, all of it."""
    return shape if isinstance(shape, ConvexMesh | DistanceShape) else type(shape)


def _parts(shape: Any) -> tuple[Any, ...]:
    if isinstance(shape, ConvexMesh | DistanceShape):
        return ()
    return tuple(getattr(shape, f.name) for f in fields(shape) if not f.name.startswith("inner_"))


def _made(like: Any, numbers: Array) -> Any:
    """A shape of a class from its numbers."""
    if not isinstance(like, type):
        return like
    values: list[Any] = []
    rest = list(numbers)
    for f in (f for f in fields(like) if not f.name.startswith("inner_")):
        n = THREE.get((like.__name__, f.name), 1)
        values.append(rest[0] if n == 1 else np.stack(rest[:n]))
        rest = rest[n:]
    return like(*values)


def _axis(x: Array, at_x: Array) -> tuple[Array, Array]:
    """The ends of the axis of a capsule with the numbers (radius, height); the height of a ball is zero."""
    d = 0.5 * x[1] * at_x[3:]
    return at_x[:3] - d, at_x[:3] + d


THREE = {("Box", "size"): 3, ("Ellipsoid", "semi_axes"): 3}  # fields of more than one number


def _pose(numbers: Array) -> Pose:
    """The pose that `pose_numbers` tells."""
    return Pose.unchecked(np.reshape(numbers[3:], (3, 3)), numbers[:3])
