"""How two boxes touch.

The axis along which they overlap least is one of the normals of their faces, or across an edge of each. Between faces,
the touching points are the corners of the overlap of two rectangles: the edges of one face, clipped to the other, and
the corners of that one that lie over the first. Between edges, it is the point midway between them.

Where edges of two faces cross that are nearly parallel, the overlap of the faces has that point as well. So the faces
stand for it as long as they do so within PREFER: else a box that lies over the edge of another would touch it by a face
and by one point in turns, as it tilts by less than it is pressed in, and never come to rest.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.contact.contact_patch import AWAY
from poinsot.fuse import once

POINTS = 13
FIRST = 1e-3  # a face of the second box must overlap less than one of the first by this share of it
PREFER = 0.05  # edges must overlap less than a face where it touches by this share: beyond 18 degrees they do
CORNERS = ((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0))  # of a face, in order around it
TINY = 1e-12


@once
def box_on_box(
    x_a: Array, R_a: Array, x_b: Array, R_b: Array, half_a: Array, half_b: Array
) -> tuple[Array, Array, Array]:
    """The normal (3,) from b to a, points (13, 3) [m] and depths (13,) [m] of two boxes, given by their centres, axes
    and half sides."""
    d = x_b - x_a
    face_a, n_a, k_a = _least(_overlaps(R_a, half_a, R_b, half_b, d), [R_a[:, k] for k in range(3)], d)
    face_b, n_b, k_b = _least(_overlaps(R_b, half_b, R_a, half_a, d), [R_b[:, k] for k in range(3)], d)
    edge, n_e, pair = _edges(R_a, half_a, R_b, half_b, d)
    a_first = face_a <= face_b * (1 + FIRST)

    def pick(p: Any, q: Any) -> Any:
        return np.where(a_first, p, q)

    out = pick(n_a, -n_b)  # out of the reference face
    reference = Face.of(pick(x_a, x_b), pick(R_a, R_b), pick(half_a, half_b), pick(k_a, k_b), out)
    other_R, other_half = pick(R_b, R_a), pick(half_b, half_a)
    size = np.abs(out @ other_R)
    k = np.where((size[0] >= size[1]) & (size[0] >= size[2]), 0.0, np.where(size[1] >= size[2], 1.0, 2.0))
    incident = Face.of(pick(x_b, x_a), other_R, other_half, k, -out)
    points, depths = _overlap(reference, incident)
    deepest = np.max(depths)  # not the overlap of the boxes: their lowest corners may lie beside the face
    face = np.where(deepest > AWAY, deepest, pick(face_a, face_b))
    by_edges = edge < face - PREFER * np.abs(face) - TINY
    touching = np.concatenate([np.where(by_edges, AWAY, depths), np.stack([np.where(by_edges, edge, AWAY)])])
    middle = _midway(x_a, R_a, half_a, x_b, R_b, half_b, n_e, pair)
    n = -np.where(by_edges, n_e, np.where(a_first, n_a, n_b))
    points = np.concatenate([points, middle[None, :]])
    return n, np.where((touching > AWAY)[:, None], points, 0.5 * (x_a + x_b)), touching  # what is away may be anywhere


def _overlaps(R: Array, half: Array, other_R: Array, other_half: Array, d: Array) -> list[Array]:
    """How far two boxes overlap along the axes R of the first."""
    C = np.abs(R.T @ other_R) @ other_half
    along = np.abs(d @ R)
    return [half[k] + C[k] - along[k] for k in range(3)]


def _least(overlaps: list[Array], axes: list[Array], d: Array) -> tuple[Array, Array, Array]:
    """The least of some overlaps, its axis, in the direction of d, and its number."""
    best, n, which = overlaps[0], axes[0], np.zeros(())
    for k in range(1, len(axes)):
        less = overlaps[k] < best
        best, n, which = np.where(less, overlaps[k], best), np.where(less, axes[k], n), np.where(less, float(k), which)
    return best, np.where(n @ d < 0, -n, n), which


def _edges(R_a: Array, half_a: Array, R_b: Array, half_b: Array, d: Array) -> tuple[Array, Array, Array]:
    """The least overlap along an axis across an edge of each box, that axis from a to b, and 3 i + j of the edges."""
    overlaps, axes = [], []
    for i in range(3):
        for j in range(3):
            across = np.cross(R_a[:, i], R_b[:, j])
            square = across @ across
            n = across / np.sqrt(square + TINY**2)
            reach = np.abs(n @ R_a) @ half_a + np.abs(n @ R_b) @ half_b
            overlaps.append(np.where(square > 1e-6, reach - np.abs(n @ d), 1e9))  # parallel edges span no axis
            axes.append(n)
    return _least(overlaps, axes, d)


@dataclass(frozen=True, eq=False)
class Face:
    """A face of a box: its centre (3,), its normal out (3,), two edges along u and v (3,), and half their lengths."""

    centre: Array
    out: Array
    u: Array
    v: Array
    half_u: Array
    half_v: Array

    @classmethod
    def of(cls, x: Array, R: Array, half: Array, k: Array, towards: Array) -> "Face":
        """The face of the box at x whose normal is its axis number k, on the side of `towards`."""

        def axis(shift: int) -> tuple[Array, Array]:
            e, s = R[:, (2 + shift) % 3], half[(2 + shift) % 3]
            for j in (0, 1):
                e, s = np.where(k == j, R[:, (j + shift) % 3], e), np.where(k == j, half[(j + shift) % 3], s)
            return e, s

        (w, depth), (u, half_u), (v, half_v) = axis(0), axis(1), axis(2)
        out = np.where(w @ towards < 0, -w, w)
        return cls(x + depth * out, out, u, v, half_u, half_v)

    def corners(self) -> list[Array]:
        """Its corners (3,), in order around it."""
        return [self.centre + a * self.half_u * self.u + b * self.half_v * self.v for a, b in CORNERS]

    def flat(self, p: Array) -> Array:
        """p (3,) as it lies over the face: along u and v, and how deep below it."""
        r = p - self.centre
        return np.stack([r @ self.u, r @ self.v, -(r @ self.out)])

    def point(self, y: Array, depth: Array) -> Array:
        """The point midway between the face and the depth below it, at y (2,) along u and v."""
        return self.centre + y[0] * self.u + y[1] * self.v - 0.5 * depth * self.out


def _overlap(face: Face, other: Face) -> tuple[Array, Array]:
    """The corners (12, 3) of the overlap of two faces, and how deep each lies below the first (12,)."""
    corners = [face.flat(p) for p in other.corners()]
    points, depths = [], []
    for k in range(4):
        p, edge = corners[k], corners[(k + 1) % 4] - corners[k]
        start, end = _clipped(p, edge, (face.half_u, face.half_v))
        for t, there in ((start, start <= end), (end, (start <= end) & (end < 1.0))):  # where it ends, the next starts
            y = p + t * edge
            points.append(face.point(y, y[2]))
            depths.append(np.where(there, y[2], AWAY))
    u, v = 0.5 * (corners[0] - corners[1]), 0.5 * (corners[0] - corners[3])
    middle = 0.5 * (corners[0] + corners[2])
    area = u[0] * v[1] - u[1] * v[0]
    area = np.where(np.abs(area) > TINY, area, TINY)
    for a, b in CORNERS:
        y = np.stack([a * face.half_u, b * face.half_v])
        r = y - middle[:2]
        s, t = (r[0] * v[1] - r[1] * v[0]) / area, (u[0] * r[1] - u[1] * r[0]) / area
        depth = middle[2] + s * u[2] + t * v[2]
        points.append(face.point(y, depth))
        depths.append(np.where((np.abs(s) < 1) & (np.abs(t) < 1), depth, AWAY))
    return np.stack(points), np.stack(depths)


def _clipped(p: Array, edge: Array, half: tuple[Array, Array]) -> tuple[Array, Array]:
    """From where to where, as parts of an edge from p, it lies over a rectangle. Liang and Barsky (1984)."""
    start, end = np.zeros(()), np.ones(())
    for k in range(2):
        slope = np.where(np.abs(edge[k]) > TINY, edge[k], TINY)
        a, b = (-half[k] - p[k]) / slope, (half[k] - p[k]) / slope
        start, end = np.maximum(start, np.minimum(a, b)), np.minimum(end, np.maximum(a, b))
    return start, end


def _midway(
    x_a: Array, R_a: Array, half_a: Array, x_b: Array, R_b: Array, half_b: Array, n: Array, pair: Array
) -> Array:
    """The point midway between the two edges, number 3 i + j, that touch along n, which points from a to b."""
    i, j = np.floor(pair / 3), pair - 3 * np.floor(pair / 3)
    ends = []
    for x, R, half, k, side in ((x_a, R_a, half_a, i, 1.0), (x_b, R_b, half_b, j, -1.0)):
        p, e = x, R[:, 0]
        for m in range(3):
            towards = side * np.where(n @ R[:, m] < 0, -half[m], half[m])
            p = p + np.where(k == m, 0.0, towards) * R[:, m]
            e = np.where(k == m, R[:, m], e)
        ends.append((p, e))
    (p, e), (q, f) = ends
    w, c = q - p, e @ f
    across = np.maximum(1 - c * c, 1e-6)
    s, t = (w @ e - c * (w @ f)) / across, (c * (w @ e) - w @ f) / across
    return 0.5 * (p + s * e + q + t * f)
