"""Where two shapes touch: patches, each with one normal and some points.

Balls, capsules and boxes, in any pair. All of it is written without branches, so that it can be traced; points that do
not touch have a negative depth.
Ericson, Real-Time Collision Detection (2005), chapters 4 and 5; Gottschalk, Lin and Manocha, OBBTree (1996), for the
axes that separate boxes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.contact.boxes import box_on_box
from poinsot.fuse import fori_loop
from poinsot.spatial import Pose
from poinsot.spatial.shapes import Box, Capsule, Sphere

HALVINGS = 30  # of an edge, to find its point that is nearest to a box: to 1e-9 of its length
TINY = 1e-12  # m


@dataclass(frozen=True, eq=False)
class Patch:
    """The unit normal (3,) that points from b to a, points (m, 3) [m], and their depths (m,) [m]; in world axes."""

    normal: Array
    points: Array
    depths: Array


Meeting: TypeAlias = Callable[[Any, Pose, Any, Pose], list[Patch]]


def patches(a: Any, X_WA: Pose, b: Any, X_WB: Pose) -> list[Patch]:
    """The patches of shape a, at X_WA, on shape b, at X_WB; as many for each pair of shapes, wherever they are."""
    return MEETINGS[type(a), type(b)](a, X_WA, b, X_WB)


def require_meeting(a: Any, b: Any, owner: str) -> None:
    """An error if it is not known how two shapes touch."""
    if (type(a), type(b)) not in MEETINGS:
        names = " and ".join(type(x).__name__.lower() for x in (a, b))
        raise FieldError(f"{owner}: {names} cannot touch each other yet; spheres, capsules and boxes can.", "a")


def _core(shape: Sphere | Capsule, X: Pose) -> tuple[Array, Array]:
    """The two ends (3,) of the segment within a ball or capsule."""
    half = 0.5 * shape.height if isinstance(shape, Capsule) else 0.0
    along = half * X.R[:, 2]
    return X.p - along, X.p + along


def _round_on_round(a: Any, X: Pose, b: Any, Y: Pose) -> list[Patch]:
    p, q = nearest(*_core(a, X), *_core(b, Y))
    return [_between(p, a.radius, q, b.radius, X.p - Y.p)]


def _between(p: Array, r: Any, q: Array, s: Any, towards: Array) -> Patch:
    """Of two balls at p and q, with the radii r and s; if the centres meet, one is taken to be where it came from."""
    gap = p - q
    gap = np.where(gap @ gap > TINY**2, gap, towards + np.array([0.0, 0.0, TINY]))
    n = gap / np.sqrt(gap @ gap)
    depth = r + s - n @ (p - q)
    return Patch(n, (q + (s - depth / 2) * n)[None, :], np.stack([depth]))


def nearest(p0: Array, p1: Array, q0: Array, q1: Array) -> tuple[Array, Array]:
    """The points of two segments that are nearest to each other. Ericson, section 5.1.9."""
    d, e, r = p1 - p0, q1 - q0, p0 - q0
    dd, ee, de, dr, er = d @ d, e @ e, d @ e, d @ r, e @ r
    area = dd * ee - de * de
    s = np.where(area > 1e-12 * dd * ee, (de * er - dr * ee) / np.maximum(area, TINY**4), 0.5)
    t = np.clip((de * np.clip(s, 0.0, 1.0) + er) / np.maximum(ee, TINY**2), 0.0, 1.0)
    s = np.clip((de * t - dr) / np.maximum(dd, TINY**2), 0.0, 1.0)
    return p0 + s * d, q0 + t * e


def _round_on_box(a: Any, X: Pose, b: Box, Y: Pose) -> list[Patch]:
    """A ball by its centre; a capsule by both ends of its segment, and by the point of it nearest to the box."""
    half = 0.5 * np.stack(list(b.size))
    p, q = ((x - Y.p) @ Y.R for x in _core(a, X))
    found = [_ball_on_box(p, a.radius, half)]
    if isinstance(a, Capsule):
        found += [_ball_on_box(x, a.radius, half) for x in (q, p + _nearest_to_box(p, q, half) * (q - p))]
    return [Patch(Y.R @ n, (Y @ x)[None, :], np.stack([depth])) for n, x, depth in found]


def _ball_on_box(c: Array, r: Any, half: Array) -> tuple[Array, Array, Array]:
    """Normal, point and depth of a ball at c on a box at the origin; from within, it leaves by the nearest face."""
    on = np.clip(c, -half, half)
    gap = c - on
    length = np.sqrt(gap @ gap + TINY**2)
    room = half - np.abs(c)  # to each face, from within
    least = np.minimum(np.minimum(room[0], room[1]), room[2])
    first = np.stack([room[0] <= least, (room[1] <= least) & (room[0] > least), room[2] < np.minimum(room[0], room[1])])
    out = np.where(first, np.where(c >= 0, 1.0, -1.0), 0.0)
    inside = least > 0
    n, depth = np.where(inside, out, gap / length), r + np.where(inside, least, -length)
    return n, c - (r - depth / 2) * n, depth


def _nearest_to_box(p: Array, q: Array, half: Array) -> Array:
    """t in [0, 1] of the point p + t (q - p) that is nearest to a box at the origin: the slope of the squared distance
    never falls along the segment, so its zero is found by halving."""

    def halve(_: Any, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = ends
        t = 0.5 * (low + high)
        x = p + t * (q - p)
        rises = (q - p) @ (x - np.clip(x, -half, half)) > 0
        return np.where(rises, low, t), np.where(rises, t, high)

    low, high = fori_loop(HALVINGS, halve, (np.zeros(()), np.ones(())))
    t: Array = 0.5 * (low + high)
    return t


def _box_on_round(a: Box, X: Pose, b: Any, Y: Pose) -> list[Patch]:
    return [Patch(-p.normal, p.points, p.depths) for p in _round_on_box(b, Y, a, X)]


def _boxes(a: Box, X: Pose, b: Box, Y: Pose) -> list[Patch]:
    halves = (0.5 * np.stack(list(shape.size)) for shape in (a, b))
    return [Patch(*box_on_box(X.p, X.R, Y.p, Y.R, *halves))]


MEETINGS: dict[tuple[type, type], Meeting] = {
    **{(a, b): _round_on_round for a in (Sphere, Capsule) for b in (Sphere, Capsule)},
    **{(a, Box): _round_on_box for a in (Sphere, Capsule)},
    **{(Box, b): _box_on_round for b in (Sphere, Capsule)},
    (Box, Box): _boxes,
}
