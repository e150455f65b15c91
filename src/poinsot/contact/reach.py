"""Balls that hold shapes: what lies outside both of them cannot touch."""

from collections.abc import Callable
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.contact.distances import DistanceShape
from poinsot.contact.hulls import ConvexMesh
from poinsot.spatial import shapes


def reach(shape: Any) -> tuple[Array, Any]:
    """The centre (3,) [m] and radius [m] of a ball that holds a shape, in its frame."""
    return REACH[type(shape)](shape)


def _mesh(s: ConvexMesh) -> tuple[Array, float]:
    centre = 0.5 * (s.vertices.min(axis=0) + s.vertices.max(axis=0))
    return centre, float(np.linalg.norm(s.vertices - centre, axis=1).max())


def _about_origin(radius: Callable[[Any], Any]) -> Callable[[Any], tuple[Array, Any]]:
    return lambda s: (np.zeros(3), radius(s))


def _diagonal(*sides: Any) -> Any:
    return 0.5 * np.sqrt(sum(side * side for side in sides))


REACH: dict[type, Callable[[Any], tuple[Array, Any]]] = {
    shapes.Sphere: _about_origin(lambda s: s.radius),
    shapes.Capsule: _about_origin(lambda s: s.radius + s.height / 2),
    shapes.Box: _about_origin(lambda s: _diagonal(*s.size)),
    shapes.Cylinder: _about_origin(lambda s: _diagonal(2 * s.radius, s.height)),
    shapes.Cone: _about_origin(lambda s: _diagonal(2 * np.maximum(s.radius, s.top_radius), s.height)),
    shapes.Ellipsoid: _about_origin(lambda s: np.maximum(np.maximum(*s.semi_axes[:2]), s.semi_axes[2])),
    ConvexMesh: _mesh,
    DistanceShape: _about_origin(lambda s: s.radius),
}
