"""Convex shapes as a core and a ball: K = core + radius B.

The core is known by its support, the point of it that is farthest along a unit vector d (3,), in the axes of the
shape's frame. Shapes with sharp edges have a core that is smaller by `radius` on all sides, so that their edges are
rounded by it: by ROUNDED of the largest ball that fits in. Balls, capsules and ellipsoids are exact: the support of an
ellipsoid that is smaller by r is x(d) - r d, while r is below the least radius of its curvature.
van den Bergen, Collision Detection in Interactive 3D Environments (2003), sections 3.4 and 4.3.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array
from poinsot.contact.features import Feature, FeatureAt, of_box, of_ellipsoid, of_frustum, of_mesh
from poinsot.contact.hulls import ROUNDED, ConvexMesh, far_point
from poinsot.fuse import held
from poinsot.spatial import Pose, shapes

Support: TypeAlias = Callable[[Array], Array]
TINY = 1e-12  # m


@dataclass(frozen=True, eq=False)
class Convex:
    """A convex shape at a place: the support of its core, the radius [m] around it, and a point (3,) [m] within; what
    of the core is at a point of it; its size [m]; whether the core is curved; and its axes (3, 3). In world axes."""

    support: Support
    radius: Any
    centre: Array
    feature: FeatureAt
    size: Any
    curved: bool
    axes: Array

    def still(self) -> "Convex":
        """The same, without derivatives."""
        return replace(
            self,
            support=lambda d: held(self.support(held(d))),
            radius=held(self.radius),
            centre=held(self.centre),
            feature=lambda *at: Feature(*map(held, self.feature(*at).parts())),
            size=held(self.size),
            axes=held(self.axes),
        )


@dataclass(frozen=True, eq=False)
class Core:
    """A core in the axes of its shape: its support, the radius [m] around it, a point (3,) [m] within, what of it is at
    a point of it, its size [m], and whether it is curved."""

    support: Support
    radius: Any
    centre: Array
    feature: FeatureAt
    size: Any
    curved: bool = False


def placed(shape: Any, X: Pose) -> Convex:
    """A convex shape at the pose X."""
    core: Core = CORES[type(shape)](shape)

    def feature(x: Array, d: Array, corners: Array, weights: Array) -> Feature:
        R, p = held(X.R), held(X.p)
        here = core.feature((held(x) - p) @ R, d @ X.R, (held(corners) - p) @ R, held(weights))
        return Feature(X @ here.point, here.along @ X.R.T, here.reach, X.R @ here.bend @ X.R.T)

    support = lambda d: X @ core.support(d @ X.R)  # noqa: E731
    return Convex(support, core.radius, X @ core.centre, feature, core.size, core.curved, X.R)


def _sphere(s: shapes.Sphere) -> Core:
    return Core(lambda d: np.zeros(3), s.radius, np.zeros(3), of_box((0.0, 0.0, 0.0)), s.radius)


def _capsule(s: shapes.Capsule) -> Core:
    h = s.height / 2
    support = lambda d: np.stack([0.0, 0.0, _towards(d[2], h)])  # noqa: E731
    return Core(support, s.radius, np.zeros(3), of_box((0.0, 0.0, h)), s.radius + h)


def _box(s: shapes.Box) -> Core:
    a, b, c = s.size
    r = ROUNDED * np.minimum(np.minimum(a, b), c) / 2
    half = tuple(side / 2 - r for side in s.size)
    support = lambda d: np.stack([_towards(x, h) for x, h in zip(d, half, strict=True)])  # noqa: E731
    return Core(support, r, np.zeros(3), of_box(half), (a + b + c) / 2)


def _cylinder(s: shapes.Cylinder) -> Core:
    r = ROUNDED * np.minimum(s.radius, s.height / 2)
    circles = (s.radius - r, s.radius - r, -s.height / 2 + r, s.height / 2 - r)
    return Core(_frustum(*circles), r, np.zeros(3), of_frustum(*circles), s.radius + s.height / 2, curved=True)


def _cone(s: shapes.Cone) -> Core:
    """A cone whose side and ends are moved inwards by r: a narrower one."""
    R, h, r = s.radius, s.height, ROUNDED * np.minimum(s.radius, s.height / 2) / 2
    slope = (R - s.top_radius) / h
    inwards = r * np.sqrt(1 + slope * slope)
    low, high = -h / 2 + r, h / 2 - r
    bottom = R - slope * r - inwards
    top = s.top_radius + slope * r - inwards
    tip = np.where(top < 0, low + bottom / np.maximum(slope, TINY), high)  # the narrower cone may end below its top
    circles = (bottom, np.maximum(top, 0.0), low, tip)
    return Core(_frustum(*circles), r, s.com, of_frustum(*circles), R + s.top_radius + h / 2, curved=True)


def _frustum(bottom: Any, top: Any, low: Any, high: Any) -> Support:
    """The support of a circle with the radius `bottom` at the height `low`, and one with the radius `top` at `high`."""

    def support(d: Array) -> Array:
        across = np.sqrt(d[0] * d[0] + d[1] * d[1] + TINY * TINY)
        up = top * across + high * d[2] > bottom * across + low * d[2]
        r = np.where(up, top, bottom)
        return np.stack([r * d[0] / across, r * d[1] / across, np.where(up, high, low)])

    return support


def _ellipsoid(s: shapes.Ellipsoid) -> Core:
    a, b, c = s.semi_axes
    least, most = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
    r = 0.5 * least * least / most
    D2 = np.stack([a * a, b * b, c * c])
    support = lambda d: D2 * d / np.sqrt(np.sum(D2 * d * d) + TINY * TINY) - r * d  # noqa: E731
    return Core(support, r, np.zeros(3), of_ellipsoid(D2, r), most, curved=True)


def _mesh(s: ConvexMesh) -> Core:
    corners, r, centre = s.core()
    size = 0.5 * float(np.max(np.ptp(s.vertices, axis=0)))
    return Core(lambda d: far_point(corners, d), r, centre, of_mesh(size), size)


def _towards(x: Array, length: Any) -> Array:
    return np.where(x < 0, -length, length)


CORES: dict[type, Callable[[Any], Core]] = {
    shapes.Sphere: _sphere,
    shapes.Capsule: _capsule,
    shapes.Box: _box,
    shapes.Cylinder: _cylinder,
    shapes.Cone: _cone,
    shapes.Ellipsoid: _ellipsoid,
    ConvexMesh: _mesh,
}
