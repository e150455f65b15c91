"""Where two shapes touch: patches, each with one normal and some points.

Balls and capsules on balls, capsules, boxes and cylinders, and boxes on boxes, have forms of their own; other convex
shapes touch by their supports. All of it is written without branches, so that it can be traced; points that do not
touch have a negative depth.
Ericson, Real-Time Collision Detection (2005), chapters 4 and 5; Gottschalk, Lin and Manocha, OBBTree (1996), for the
axes that separate boxes.
"""

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from poinsot._errors import FieldError
from poinsot._memo import memo
from poinsot._types import Array
from poinsot.contact.boxes import POINTS as BOX_POINTS
from poinsot.contact.boxes import box_on_box
from poinsot.contact.contact_patch import AWAY, ContactPatch
from poinsot.contact.convex import CORES, placed
from poinsot.contact.distances import DistanceShape, spots_on_distance
from poinsot.contact.hulls import ConvexMesh
from poinsot.contact.lying import Range, along, over_box, over_cylinder, over_segment
from poinsot.contact.manifolds import POINTS, convex_on_convex
from poinsot.contact.reach import reach
from poinsot.contact.spots import SPOTS
from poinsot.fuse import fori_loop, once, when
from poinsot.spatial import Pose
from poinsot.spatial.shapes import Box, Capsule, Cylinder, Ellipsoid, Sphere

HALVINGS = 40  # of a segment, to find its point that is nearest to a solid: to 1e-12 of its length
CLOSER = 1e-9  # of a segment: by no more than this does the last step take that point nearer
TINY = 1e-12  # m
SKIN = 1e-9  # of the size of a solid: so near to its surface a point counts as within


Meeting: TypeAlias = Callable[[Any, Pose, Any, Pose], list[ContactPatch]]


def patches(a: Any, X_WA: Pose, b: Any, X_WB: Pose, margin: float = 0.0) -> list[ContactPatch]:
    """The patches of shape a, at X_WA, on shape b, at X_WB; as many for each pair of shapes, wherever they are. They
    touch where they are less than a margin [m] apart."""
    found = _patches(a, X_WA, b, X_WB, margin)
    return [patch.raised(margin) for patch in found] if margin else found


def _patches(a: Any, X_WA: Pose, b: Any, X_WB: Pose, margin: float) -> list[ContactPatch]:
    meet = meeting(a, b)
    if meet is None:
        raise TypeError(f"it is not known how {a!r} and {b!r} touch.")
    if meet is _round_on_round or isinstance(a, DistanceShape) or isinstance(b, DistanceShape):
        return meet(a, X_WA, b, X_WB)
    find = _found_once(a if isinstance(a, ConvexMesh) else type(a), meet, _fixed(a), _fixed(b))
    (p, r), (q, s) = reach(a), reach(b)
    r = r + margin if margin else r
    gap = X_WA @ p - X_WB @ q

    def found(_: Any) -> list[tuple[Array, ...]]:
        return find(_numbers(a), X_WA.R, X_WA.p, _numbers(b), X_WB.R, X_WB.p)

    sizes = points_of(a, b)
    share = [np.ones(())] if len(sizes) > 1 else []
    away = [(np.zeros(3), np.zeros((n, 3)), np.full(n, AWAY), *share) for n in sizes]
    return [ContactPatch(*x) for x in when(gap @ gap < (r + s) * (r + s), found, away)]


def points_of(a: Any, b: Any) -> list[int]:
    """How many points each patch of two shapes that have no closed form has."""
    if isinstance(a, Box) and isinstance(b, Box):
        return [BOX_POINTS]
    if (type(a), type(b)) in MEETINGS:
        return [1] * (3 if isinstance(a, Capsule) or isinstance(b, Capsule) else 1)
    return [POINTS if _both_flat(a, b) else 1]


def meeting(a: Any, b: Any) -> Meeting | None:
    """How two shapes touch, if that is known."""
    A, B = type(a), type(b)
    if (A, B) in MEETINGS:
        return MEETINGS[A, B]
    if A in CORES and B in CORES:
        return _convex
    if B is DistanceShape and A in SPOTS:
        return _spots_on_distance
    return _distance_on_spots if A is DistanceShape and B in SPOTS else None


def require_meeting(a: Any, b: Any, owner: str) -> None:
    """An error if it is not known how two shapes touch."""
    if meeting(a, b) is None:
        names = " and ".join(type(x).__name__.lower() for x in (a, b))
        thin = [type(x).__name__.lower() for x in (a, b) if type(x).__name__ in THICK]
        mend = "".join(f" Give the {name} a thickness: take a {THICK[name.title()]}." for name in dict.fromkeys(thin))
        if any(type(x).__name__ == "Mesh" for x in (a, b)):
            mend += " Take pt.hull(mesh), or several convex pieces, such as those that the package coacd finds."
        raise FieldError(f"{owner}: {names} cannot touch each other.{mend}", "a")


THICK = {"Plate": "box", "Disc": "cylinder", "Rod": "capsule"}


@memo
def _found_once(owner: Any, meet: Meeting, a: Any, b: Any) -> Callable[..., list[tuple[Array, ...]]]:
    """A meeting of two kinds of shapes, whose numbers are given, compiled once for all such pairs; patches are told by
    what they have."""

    @once
    def meeting_of_shapes(x: Any, R: Array, p: Array, y: Any, S: Array, q: Array) -> list[tuple[Array, ...]]:
        one = a(*x) if isinstance(a, type) else a
        other = b(*y) if isinstance(b, type) else b
        found = meet(one, Pose.unchecked(R, p), other, Pose.unchecked(S, q))
        return [tuple(x for x in (f.normal, f.points, f.depths, f.share) if x is not None) for f in found]

    return meeting_of_shapes


def _fixed(shape: Any) -> Any:
    """The part that does not vary among shapes of a kind: the class; of a mesh, all of it."""
    return shape if isinstance(shape, ConvexMesh) else type(shape)


def _numbers(shape: Any) -> tuple[Any, ...]:
    """The numbers that do vary."""
    if isinstance(shape, ConvexMesh):
        return ()
    return tuple(getattr(shape, f.name) for f in fields(shape) if not f.name.startswith("inner_"))


def _core(shape: Sphere | Capsule, X: Pose) -> tuple[Array, Array]:
    """The two ends (3,) of the segment within a ball or capsule."""
    half = 0.5 * shape.height if isinstance(shape, Capsule) else 0.0
    along = half * X.R[:, 2]
    return X.p - along, X.p + along


def _round_on_round(a: Any, X: Pose, b: Any, Y: Pose) -> list[ContactPatch]:
    one, other, towards = _core(a, X), _core(b, Y), X.p - Y.p
    if isinstance(a, Capsule) and isinstance(b, Capsule):
        return capsules(one, a.radius, other, b.radius, towards)
    p, q = nearest(*one, *other)
    return [between(p, a.radius, q, b.radius, towards)]


def capsules(
    one: tuple[Array, Array], r: Any, other: tuple[Array, Array], s: Any, towards: Array
) -> list[ContactPatch]:
    """The patches of two capsules, by the ends of their axes and their radii; of a ball, the ends are one point."""
    p, _ = nearest(*one, *other)
    d, e = one[1] - one[0], other[1] - other[0]
    dd, ee = np.maximum(d @ d, TINY**2), np.maximum(e @ e, TINY**2)

    def at(t: Array) -> ContactPatch:
        x = one[0] + t * d
        return between(x, r, other[0] + np.clip((x - other[0]) @ e / ee, 0.0, 1.0) * e, s, towards)

    low, high = (np.clip(t, 0.0, 1.0) for t in over_segment(one[0], d, *other))
    return along(at, (low, high), (p - one[0]) @ d / dd, (high - low) * np.sqrt(dd), r + s)


def between(p: Array, r: Any, q: Array, s: Any, towards: Array) -> ContactPatch:
    """The patch of two balls at p and q with radii r and s; if the centres meet, one is where it came from."""
    gap = p - q
    gap = np.where(gap @ gap > TINY**2, gap, towards + np.array([0.0, 0.0, TINY]))
    n = gap / np.sqrt(gap @ gap)
    depth = r + s - n @ (p - q)
    return ContactPatch(n, (q + (s - depth / 2) * n)[None, :], np.stack([depth]))


def nearest(p0: Array, p1: Array, q0: Array, q1: Array) -> tuple[Array, Array]:
    """The points of two segments that are nearest to each other. Ericson, section 5.1.9."""
    d, e, r = p1 - p0, q1 - q0, p0 - q0
    dd, ee, de, dr, er = d @ d, e @ e, d @ e, d @ r, e @ r
    area, per_dd, per_ee = dd * ee - de * de, 1 / np.maximum(dd, TINY**2), 1 / np.maximum(ee, TINY**2)
    s = np.where(area > 1e-12 * dd * ee, (de * er - dr * ee) / np.maximum(area, TINY**4), 0.5)
    t = np.clip((de * np.clip(s, 0.0, 1.0) + er) * per_ee, 0.0, 1.0)
    s = np.clip((de * t - dr) * per_dd, 0.0, 1.0)
    return p0 + s * d, q0 + t * e


def _round_on_solid(a: Any, X: Pose, b: Any, Y: Pose) -> list[ContactPatch]:
    """A ball by its centre; a capsule where it is nearest to the solid, and at both ends of what lies over that."""
    ball_on, slope, over = _BALL_ON[type(b)](b)
    p, q = ((x - Y.p) @ Y.R for x in _core(a, X))

    def at(t: Array) -> ContactPatch:
        n, x, depth = ball_on(p + t * (q - p), a.radius)
        return ContactPatch(Y.R @ n, (Y @ x)[None, :], np.stack([depth]))

    if not isinstance(a, Capsule):
        return [at(np.zeros(()))]
    deepest = _nearest_to(slope, p, q)
    start, end = over(ball_on(p + deepest * (q - p), a.radius)[0], p, q - p)
    return along(at, (start, end), deepest, (end - start) * a.height, a.radius)


BallOn: TypeAlias = tuple[Callable[..., Any], Callable[[Array, Array], tuple[Array, Array]], Callable[..., Range]]


def _on_box(b: Box) -> BallOn:
    """How a ball touches a box at the origin; the slope and curvature of half the squared distance of a point from it,
    along d (3,); and what of a segment lies over it."""
    half = 0.5 * np.stack(list(b.size))

    def slope(c: Array, d: Array) -> tuple[Array, Array]:
        gap = c - np.clip(c, -half, half)
        return gap @ d, np.sum(np.where(np.abs(c) > half, d * d, 0.0))

    return lambda c, r: _ball_on_box(c, r, half), slope, partial(over_box, b)


def _on_cylinder(b: Cylinder) -> BallOn:
    """The same of a cylinder."""

    def on(c: Array) -> Array:
        across = np.sqrt(c[0] * c[0] + c[1] * c[1] + TINY * TINY)
        s = np.minimum(b.radius / across, 1.0)
        return np.stack([s * c[0], s * c[1], np.clip(c[2], -b.height / 2, b.height / 2)])

    def slope(c: Array, d: Array) -> tuple[Array, Array]:
        square, moved, turned = c[:2] @ c[:2] + TINY * TINY, d[:2] @ d[:2], c[0] * d[1] - c[1] * d[0]
        part = b.radius / np.sqrt(square)
        bent = np.where(part < 1, moved - part * turned * turned / square, 0.0)
        return (c - on(c)) @ d, bent + np.where(np.abs(c[2]) > b.height / 2, d[2] * d[2], 0.0)

    def ball_on(c: Array, r: Any) -> tuple[Array, Array, Array]:
        gap = c - on(c)
        length, across = np.sqrt(gap @ gap + TINY**2), np.sqrt(c[0] * c[0] + c[1] * c[1] + TINY * TINY)
        aside, along = b.radius - across, b.height / 2 - np.abs(c[2])  # the room to the side and to the nearer end
        by_side, inside = aside < along, np.minimum(aside, along) > -SKIN * (b.radius + b.height)
        out = np.where(by_side, np.stack([c[0] / across, c[1] / across, 0.0]), np.stack([0.0, 0.0, _sign(c[2])]))
        n = np.where(inside, out, gap / length)
        depth = r + np.where(inside, np.minimum(aside, along), -length)
        return n, c - (r - depth / 2) * n, depth

    return ball_on, slope, partial(over_cylinder, b)


def _sign(x: Array) -> Array:
    return np.where(x < 0, -1.0, 1.0)


_BALL_ON: dict[type, Callable[[Any], BallOn]] = {
    Box: _on_box,
    Cylinder: _on_cylinder,
}


def _ball_on_box(c: Array, r: Any, half: Array) -> tuple[Array, Array, Array]:
    """Normal, point and depth of a ball at c on a box at the origin; from within, it leaves by the nearest face, and on
    the surface as well: a gap that is mere rounding has no direction."""
    on = np.clip(c, -half, half)
    gap = c - on
    length = np.sqrt(gap @ gap + TINY**2)
    room = half - np.abs(c)  # to each face, from within
    least = np.minimum(np.minimum(room[0], room[1]), room[2])
    first = np.stack([room[0] <= least, (room[1] <= least) & (room[0] > least), room[2] < np.minimum(room[0], room[1])])
    out = np.where(first, np.where(c >= 0, 1.0, -1.0), 0.0)
    inside = least > -SKIN * np.sum(half)
    n, depth = np.where(inside, out, gap / length), r + np.where(inside, least, -length)
    return n, c - (r - depth / 2) * n, depth


def _nearest_to(slope: Callable[[Array, Array], tuple[Array, Array]], p: Array, q: Array) -> Array:
    """t in [0, 1] of the point p + t (q - p) that is nearest to a convex solid, by the slope of half the squared
    distance, which never falls along the segment.

    Its zero is found by halving. A last step of Newton's method makes it exact, and is what derivatives see.
    """
    d = q - p

    def halve(_: Any, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = ends
        t = 0.5 * (low + high)
        rises = slope(p + t * d, d)[0] > 0
        return np.where(rises, low, t), np.where(rises, t, high)

    low, high = fori_loop(HALVINGS, halve, (np.zeros(()), np.ones(())))
    t = 0.5 * (low + high)
    f, rate = slope(p + t * d, d)
    nearer = np.clip(f / np.maximum(rate, TINY * (d @ d)), -CLOSER, CLOSER)
    return np.clip(t - nearer, 0.0, 1.0)


def _reversed(meet: Meeting) -> Meeting:
    """The same meeting with a and b exchanged."""

    def turned_round(a: Any, X: Pose, b: Any, Y: Pose) -> list[ContactPatch]:
        return [ContactPatch(-p.normal, p.points, p.depths, p.share) for p in meet(b, Y, a, X)]

    return turned_round


def _boxes(a: Box, X: Pose, b: Box, Y: Pose) -> list[ContactPatch]:
    halves = (0.5 * np.stack(list(shape.size)) for shape in (a, b))
    return [ContactPatch(*box_on_box(X.p, X.R, Y.p, Y.R, *halves))]


def _convex(a: Any, X: Pose, b: Any, Y: Pose) -> list[ContactPatch]:
    return [ContactPatch(*convex_on_convex(placed(a, X), placed(b, Y), _both_flat(a, b)))]


def _both_flat(a: Any, b: Any) -> bool:
    """Whether two shapes may touch by more than a point."""
    return not isinstance(a, Sphere | Ellipsoid) and not isinstance(b, Sphere | Ellipsoid)


def _spots_on_distance(a: Any, X: Pose, b: DistanceShape, Y: Pose) -> list[ContactPatch]:
    return [ContactPatch(n, p[None, :], np.stack([depth])) for n, p, depth in spots_on_distance(a, X, b, Y)]


_solid_on_round, _distance_on_spots = _reversed(_round_on_solid), _reversed(_spots_on_distance)

MEETINGS: dict[tuple[type, type], Meeting] = {
    **{(a, b): _round_on_round for a in (Sphere, Capsule) for b in (Sphere, Capsule)},
    **{(a, b): _round_on_solid for a in (Sphere, Capsule) for b in (Box, Cylinder)},
    **{(a, b): _solid_on_round for a in (Box, Cylinder) for b in (Sphere, Capsule)},
    (Box, Box): _boxes,
}
