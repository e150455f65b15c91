"""Where a shape can touch a plane: its spots, each the lowest point of one of its features.

A spot is a function of the upward normal n (3,), in the axes of the shape's frame, that gives a point (3,) [m] there:
corners of a box, the lowest points of balls and ellipsoids, and of the rims of cylinders, cones and discs. A rim has
three, 120 degrees apart, the first of them the lowest, so that it rolls smoothly and stands on its end as well. A mesh
with many corners has the lowest of them, and those that are lowest if it is tilted slightly to all sides.

On ground that bends, the normal that counts is the one at the spot (`lowest`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array
from poinsot.contact.hulls import ConvexMesh, far_point
from poinsot.spatial import Pose, shapes

Spot: TypeAlias = Callable[[Array], Array]
FLAT = 1e-9  # the sine of the angle below which a rim is level, and its lowest point any
AGAIN = 4  # times that a spot is sought anew where the ground bends
RIM = ((1.0, 0.0), (-0.5, np.sqrt(0.75)), (-0.5, -np.sqrt(0.75)))  # cosines and sines of the places on a rim


def spots_of(shape: Any) -> list[Spot]:
    """All spots of a shape."""
    return SPOTS[type(shape)](shape)


def ball(z: Any, radius: Any) -> Spot:
    """The spot of a ball with its centre on the z axis; of a point, if the radius is zero."""
    return lambda n: np.stack([0.0, 0.0, z]) - radius * n


def lowest(spot: Spot, X: Pose, n: Array, normal_at: Callable[[Array], Array] | None) -> Array:
    """The point (3,) [m] of a spot of a shape at X where n (3,) is upwards; on ground that bends, `normal_at` a point
    (3,), where the normal is that at the point itself, both in the axes in which X is told.

    p = X spot(n), n := n(p), again and again: with the radius r of the shape and R of the ground, the error of the
    direction falls by r/R each time.
    """
    p = X @ spot(X.R.T @ n)
    if normal_at is not None and not isinstance(spot, Corner):
        for _ in range(AGAIN):
            p = X @ spot(X.R.T @ normal_at(p))
    return p


@dataclass(frozen=True, eq=False)
class Corner:
    """The spot at a point of the shape, wherever upwards is."""

    x: Any
    y: Any
    z: Any

    def __call__(self, n: Array) -> Array:
        return np.stack([self.x, self.y, self.z])


def rim(z: Any, radius: Any) -> list[Spot]:
    """The spots of a circle about the z axis."""

    def at(cosine: float, sine: float) -> Spot:
        def spot(n: Array) -> Array:
            x, y = -n[0] - FLAT, -n[1]
            length = np.sqrt(x * x + y * y + FLAT * FLAT * FLAT)
            e = np.stack([x, y]) / length
            across = np.stack([-e[1], e[0]])
            return np.concatenate([radius * (cosine * e + sine * across), np.stack([z])])

        return spot

    return [at(cosine, sine) for cosine, sine in RIM]


def ellipsoid(semi_axes: Any) -> Spot:
    """The lowest point of an ellipsoid: -D^2 n / sqrt(n^T D^2 n), D its semi-axes."""

    def spot(n: Array) -> Array:
        d = np.stack(list(semi_axes))
        return -d * d * n / np.sqrt(np.sum(d * d * n * n))

    return spot


def _box(s: shapes.Box) -> list[Spot]:
    a, b, c = s.size
    return [Corner(x * a / 2, y * b / 2, z * c / 2) for x, y, z in _signs(3)]


def _plate(s: shapes.Plate) -> list[Spot]:
    a, b = s.size
    return [Corner(x * a / 2, y * b / 2, 0.0) for x, y in _signs(2)]


def _cone(s: shapes.Cone) -> list[Spot]:
    pointed = isinstance(s.top_radius, float | int) and s.top_radius == 0
    top = [ball(s.height / 2, 0.0)] if pointed else rim(s.height / 2, s.top_radius)
    return rim(-s.height / 2, s.radius) + top


def _mesh(s: ConvexMesh) -> list[Spot]:
    if len(s.vertices) <= ALL:
        return [Corner(*v) for v in s.vertices]
    size = float(np.ptp(s.vertices, axis=0).max())

    def lowest(n: Array, k: int) -> Array:
        turn = 2 * np.pi * (k + 0.3) / AROUND
        e = np.where(np.abs(n[2]) < 0.9, np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]))
        u = np.cross(n, e)
        u = u / np.sqrt(u @ u)
        return far_point(s.vertices, -n + TILT * (np.cos(turn) * u + np.sin(turn) * np.cross(n, u)))

    def at(k: int) -> Spot:
        def spot(n: Array) -> Array:
            found = [lowest(n, j) for j in range(k + 1)]
            there = [found[k] - p for p in found[:k]]
            known = np.array(False)
            for gap in there:
                known = known | (gap @ gap < (1e-9 * size) ** 2)
            return found[k] + np.where(known, size, 0.0) * n  # a corner that is there already is put out of reach

        return spot

    return [at(k) for k in range(AROUND)]


ALL = 12  # corners of a mesh: with more of them, only the lowest count
AROUND, TILT = 6, 4e-3  # so many to all sides, by this angle [rad]


def _signs(n: int) -> list[tuple[int, ...]]:
    return list(product((-1, 1), repeat=n))


SPOTS: dict[type, Callable[[Any], list[Spot]]] = {
    shapes.Box: _box,
    shapes.Plate: _plate,
    shapes.Ellipsoid: lambda s: [ellipsoid(s.semi_axes)],
    shapes.Sphere: lambda s: [ball(0.0, s.radius)],
    shapes.Capsule: lambda s: [ball(sign * s.height / 2, s.radius) for sign in (-1, 1)],
    shapes.Cylinder: lambda s: rim(-s.height / 2, s.radius) + rim(s.height / 2, s.radius),
    shapes.Cone: _cone,
    shapes.Disc: lambda s: rim(0.0, s.radius),
    ConvexMesh: _mesh,
    shapes.Rod: lambda s: [ball(sign * s.length / 2, 0.0) for sign in (-1, 1)],
}
