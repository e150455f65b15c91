"""Where two convex shapes of any kind touch: one patch, with points over the whole of it.

The nearest points of their cores give the normal; where the cores overlap, the face by which they leave each other
does. Flat parts of both, within TILT of the plane across the normal, are found as polygons of points that are farthest
along normals tilted by it, all around; the points of the patch are the corners of the overlap of the polygons.
"""

from dataclasses import dataclass

import numpy as np

from poinsot._types import Array
from poinsot.contact.contact_patch import AWAY
from poinsot.contact.convex import Convex
from poinsot.contact.nearest_points import nearest_points
from poinsot.contact.polishing import polished
from poinsot.contact.portals import Exit, exit_of
from poinsot.fuse import once, when
from poinsot.spatial import Pose, rotation

AROUND = 6  # corners of a polygon
POINTS = 3 * AROUND + 1
TILT = 4e-3  # rad
ASIDE = 0.25  # of the angle between two corners, the first lies beside an axis: the same seen from both sides
ASKEW = Pose.exp(np.array([0.7, -0.4, 1.1, 0.0, 0.0, 0.0])).R  # of the axes of a body, in which n is none by symmetry
DEEP = 1e-6  # m: cores that are nearer overlap
TINY = 1e-12
THIN = 1e-2  # the area over the square of its girth of a polygon that is an edge; TILT makes cylinders as wide as this


def convex_on_convex(A: Convex, B: Convex, flat: bool = True) -> tuple[Array, Array, Array]:
    """The normal (3,) from b to a, points (m, 3) [m] and depths (m,) [m]: 19 of them, or one if no part is `flat`."""
    n, a, b, overlap = touching_cores(A, B)
    depth = A.radius + B.radius + overlap
    middle = 0.5 * (a - A.radius * n + b + B.radius * n)
    if not flat:
        return n, middle[None, :], np.stack([depth])
    points, depths = _patch(A, B, n, middle)
    alone = np.where(np.any(depths > AWAY), AWAY, depth)
    return n, np.concatenate([points, middle[None, :]]), np.concatenate([depths, np.stack([alone])])


def touching_cores(A: Convex, B: Convex) -> tuple[Array, Array, Array, Array]:
    """The normal (3,) from b to a, points (3,) of the cores that touch, and how deep the cores overlap [m]; where one
    is curved, what the search has found is polished."""
    curved = A.curved or B.curved
    one, other = (A.still(), B.still()) if curved else (A, B)
    near = nearest_points(one, other)
    gap = np.sqrt(near.v @ near.v + TINY * TINY)
    apart = Exit(near.v / gap, -gap, near.a, near.b, near.corners_a, near.corners_b, near.weights)
    core = when(gap < DEEP, lambda _: exit_of(one, other), apart)
    if not curved:
        return core.normal, core.a, core.b, core.depth
    n, a, b = polished(A, B, core)
    return n, a, b, n @ (b - a)


@dataclass(frozen=True, eq=False)
class Polygon:
    """The flat part of a shape across a normal: its corners (k, 2) [m] in order around it, the slopes (2,) and the
    height [m] at the origin of its plane, and its girth [m]; `flat`: whether it is more than an edge."""

    corners: Array
    slopes: Array
    height: Array
    girth: Array
    flat: Array

    @classmethod
    def of(cls, points: Array) -> "Polygon":
        """Through points (k, 3): two coordinates along the plane, and the height."""
        following = np.concatenate([points[1:], points[:1]])
        N = 0.5 * np.sum(np.cross(points, following), axis=0)  # Newell: its area along each axis
        edges = (following - points)[:, :2]
        girth = np.sum(np.sqrt(np.sum(edges * edges, axis=1) + TINY * TINY))
        flat = np.abs(N[2]) > THIN * girth * girth / (4 * np.pi)
        area = np.where(flat, N[2], 1.0)
        slopes = np.where(flat, -N[:2] / area, 0.0)
        middle = np.sum(points, axis=0) / len(points)
        return cls(points[:, :2], slopes, middle[2] - slopes @ middle[:2], girth, flat)

    def at(self, y: Array) -> Array:
        """Its height [m] at y (2,)."""
        return self.height + self.slopes @ y


@once
def _overlap(over: Array, under: Array) -> tuple[Array, Array]:
    """The corners (18, 2) of the overlap of two polygons, given by points (6, 3), and how deep they touch there."""
    top, bottom = Polygon.of(over), Polygon.of(under)
    top_larger = top.girth * np.where(top.flat, 1.0, 0.0) >= bottom.girth * np.where(bottom.flat, 1.0, 0.0)
    large, small = (np.where(top_larger, p, q) for p, q in ((over, under), (under, over)))
    reference, incident = Polygon.of(large), Polygon.of(small)
    found, there = [], []
    for k in range(AROUND):
        p, edge = incident.corners[k], incident.corners[(k + 1) % AROUND] - incident.corners[k]
        start, end = _clipped(p, edge, reference.corners)
        long = edge @ edge > 1e-16 * (incident.girth * incident.girth + TINY)
        found += [p + start * edge, p + end * edge]
        there += [long & (start <= end), long & (start <= end) & (end < 1.0)]
    for k in range(AROUND):
        p = reference.corners[k]
        new = np.sum((p - reference.corners[k - 1]) ** 2) > 1e-16 * reference.girth * reference.girth
        found.append(p)
        there.append(new & incident.flat & _inside(p, incident.corners))
    usable = reference.flat & (incident.girth > THIN * reference.girth * TILT)
    depths = [np.where(usable & t, bottom.at(y) - top.at(y), AWAY) for y, t in zip(found, there, strict=True)]
    return np.stack(found), np.stack(depths)


def _patch(A: Convex, B: Convex, n: Array, origin: Array) -> tuple[Array, Array]:
    """The points (18, 3) of a patch across n, and their depths (18,); AWAY where there is none."""
    u, v = _across(n, B.axes) if A.curved and not B.curved else _across(-n, A.axes)[::-1]
    frame = np.stack([u, v, n])
    polygons = []
    for body, side in ((A, -1.0), (B, 1.0)):
        corners = []
        for k in range(AROUND):
            turn = 2 * np.pi * (k + ASIDE) / AROUND
            d = side * n + TILT * (np.cos(turn) * u + np.sin(turn) * v)
            d = d / np.sqrt(1 + TILT * TILT)
            corners.append(frame @ (body.support(d) + side * body.radius * n - origin))
        polygons.append(np.stack(corners))
    found, depths = _overlap(polygons[0], polygons[1])
    return np.where((depths > AWAY)[:, None], origin + found @ frame[:2], origin), depths  # what is away is kept near


def _across(n: Array, R: Array) -> tuple[Array, Array]:
    """Two axes across n, right-handed with it, which turn with the axes R of a body. They jump where n is across the
    third of these axes, so that is one like no other."""
    R = R @ ASKEW
    u = R @ rotation.perpendicular(n @ R)
    return u, np.cross(n, u)


def _clipped(p: Array, edge: Array, corners: Array) -> tuple[Array, Array]:
    """From where to where, as parts of an edge from p, it lies over a convex polygon, counter-clockwise. Cyrus and Beck
    (1978)."""
    start, end = np.zeros(()), np.ones(())
    for k in range(AROUND):
        a, b = corners[k], corners[(k + 1) % AROUND]
        out = np.stack([b[1] - a[1], a[0] - b[0]])
        room, speed = out @ (a - p), out @ edge
        leaves, enters = speed > 0, speed < 0
        t = room / np.where(leaves | enters, speed, 1.0)
        end = np.where(leaves, np.minimum(end, t), end)
        start = np.where(enters, np.maximum(start, t), start)
        start = np.where(~leaves & ~enters & (room < 0), 2.0, start)  # along this side, and beyond it
    return start, end


def _inside(p: Array, corners: Array) -> Array:
    """Whether p lies strictly within a convex polygon, counter-clockwise."""
    within = np.array(True)
    for k in range(AROUND):
        a, b = corners[k], corners[(k + 1) % AROUND]
        out = np.stack([b[1] - a[1], a[0] - b[0]])
        short = out @ out < TINY * TINY
        within = within & ((out @ (p - a) < 0) | short)
    return within
