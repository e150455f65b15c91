"""Convex shapes as a core and a ball: K = core + radius B.

The core is known by its support, the point of it that is farthest along a unit vector d (3,), in the axes of the
shape's frame. Shapes with sharp edges have a core that is smaller by `radius` on all sides, so that their edges are
rounded by it: by ROUNDED of the largest ball that fits in. Balls, capsules and ellipsoids are exact: the support of an
ellipsoid that is smaller by r is x(d) - r d, while r is below the least radius of its curvature.
van den Bergen, Collision Detection in Interactive 3D Environments (2003), sections 3.4 and 4.3.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array
from poinsot.contact.hulls import ROUNDED, ConvexMesh, far_point
from poinsot.spatial import Pose, shapes

Support: TypeAlias = Callable[[Array], Array]
TINY = 1e-12  # m


@dataclass(frozen=True, eq=False)
class Convex:
    """A convex shape at a place: the support of its core, the radius [m] around it, and a point (3,) [m] within; all
    in world axes."""

    support: Support
    radius: Any
    centre: Array


def placed(shape: Any, X: Pose) -> Convex:
    """A convex shape at the pose X."""
    support, radius, centre = CORES[type(shape)](shape)
    return Convex(lambda d: X @ support(d @ X.R), radius, X @ centre)


def _sphere(s: shapes.Sphere) -> tuple[Support, Any, Array]:
    return lambda d: np.zeros(3), s.radius, np.zeros(3)


def _capsule(s: shapes.Capsule) -> tuple[Support, Any, Array]:
    return lambda d: np.stack([0.0, 0.0, _towards(d[2], s.height / 2)]), s.radius, np.zeros(3)


def _box(s: shapes.Box) -> tuple[Support, Any, Array]:
    a, b, c = s.size
    r = ROUNDED * np.minimum(np.minimum(a, b), c) / 2
    return lambda d: np.stack([_towards(x, side / 2 - r) for x, side in zip(d, s.size, strict=True)]), r, np.zeros(3)


def _cylinder(s: shapes.Cylinder) -> tuple[Support, Any, Array]:
    r = ROUNDED * np.minimum(s.radius, s.height / 2)
    return _frustum(s.radius - r, s.radius - r, -s.height / 2 + r, s.height / 2 - r), r, np.zeros(3)


def _cone(s: shapes.Cone) -> tuple[Support, Any, Array]:
    """A cone whose side and ends are moved inwards by r: a narrower one."""
    R, h, r = s.radius, s.height, ROUNDED * np.minimum(s.radius, s.height / 2) / 2
    slope = (R - s.top_radius) / h
    inwards = r * np.sqrt(1 + slope * slope)
    low, high = -h / 2 + r, h / 2 - r
    bottom = R - slope * r - inwards
    top = s.top_radius + slope * r - inwards
    tip = np.where(top < 0, low + bottom / np.maximum(slope, TINY), high)  # the narrower cone may end below its top
    return _frustum(bottom, np.maximum(top, 0.0), low, tip), r, s.com


def _frustum(bottom: Any, top: Any, low: Any, high: Any) -> Support:
    """The support of a circle with the radius `bottom` at the height `low`, and one with the radius `top` at `high`."""

    def support(d: Array) -> Array:
        across = np.sqrt(d[0] * d[0] + d[1] * d[1] + TINY * TINY)
        up = top * across + high * d[2] > bottom * across + low * d[2]
        r = np.where(up, top, bottom)
        return np.stack([r * d[0] / across, r * d[1] / across, np.where(up, high, low)])

    return support


def _ellipsoid(s: shapes.Ellipsoid) -> tuple[Support, Any, Array]:
    a, b, c = s.semi_axes
    least, most = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
    r = 0.5 * least * least / most
    D2 = np.stack([a * a, b * b, c * c])
    return lambda d: D2 * d / np.sqrt(np.sum(D2 * d * d) + TINY * TINY) - r * d, r, np.zeros(3)


def _mesh(s: ConvexMesh) -> tuple[Support, Any, Array]:
    corners, r, centre = s.core()
    return lambda d: far_point(corners, d), r, centre


def _towards(x: Array, length: Any) -> Array:
    return np.where(x < 0, -length, length)


CORES: dict[type, Callable[[Any], tuple[Support, Any, Array]]] = {
    shapes.Sphere: _sphere,
    shapes.Capsule: _capsule,
    shapes.Box: _box,
    shapes.Cylinder: _cylinder,
    shapes.Cone: _cone,
    shapes.Ellipsoid: _ellipsoid,
    ConvexMesh: _mesh,
}
