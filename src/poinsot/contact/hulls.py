"""Convex meshes: the hulls of points, and the farthest of their corners."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poinsot._optional import require
from poinsot._types import Array
from poinsot.fuse import fori_loop
from poinsot.spatial.mesh import Mesh

ROUNDED = 0.05  # the radius of sharp edges, over that of the largest ball within a shape
MOST = 64  # corners of a hull: the farthest is sought among all of them
IN_A_LOOP = 24  # corners: more of them are gone through by a loop
FLAT = 1e-3  # of its volume: what a mesh may lack of its hull and count as convex


@dataclass(frozen=True, eq=False)
class ConvexMesh(Mesh):
    """A mesh that is convex: shapes of any kind may touch it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        hull = require("scipy.spatial", "contact", "Contact of meshes").ConvexHull(self.vertices)
        if self.volume < (1 - FLAT) * hull.volume:
            raise ValueError(
                f"mesh is not convex: it fills {100 * self.volume / hull.volume:.3g} % of its hull. Take "
                "pt.hull(mesh), or give convex pieces, such as those that the package coacd finds."
            )
        if len(self.vertices) > MOST:
            raise ValueError(
                f"mesh has {len(self.vertices)} corners; contact takes {MOST} at most. pt.hull(mesh) takes the best."
            )
        object.__setattr__(self, "_core", _core_of(hull))

    # Filled in by __post_init__.
    _core: tuple[Array, float, Array] = field(init=False, repr=False)

    def core(self) -> tuple[Array, float, Array]:
        """The corners (k, 3) [m] of the mesh with all faces moved inwards by ROUNDED of the radius of the largest ball
        that fits in, that distance [m], and the centre of the ball (3,) [m]."""
        return self._core


def _core_of(hull_of_it: Any) -> tuple[Array, float, Array]:
    """The core of a convex mesh. The largest ball: Boyd and Vandenberghe, Convex Optimization (2004), section 8.5."""
    spatial, optimize = (require(f"scipy.{room}", "contact", "Contact of meshes") for room in ("spatial", "optimize"))
    n, d = hull_of_it.equations[:, :3], -hull_of_it.equations[:, 3]
    found = optimize.linprog([0, 0, 0, -1], np.hstack([n, np.ones((len(n), 1))]), d, bounds=[(None, None)] * 4)
    centre, r = found.x[:3], ROUNDED * float(found.x[3])
    corners = spatial.HalfspaceIntersection(np.hstack([n, (r - d)[:, None]]), centre).intersections
    scale = 1e-9 * np.ptp(corners)
    return corners[np.unique(np.round(corners / scale), axis=0, return_index=True)[1]], r, centre


def hull(points: Any, most: int = MOST) -> ConvexMesh:
    """The convex hull of points (n, 3) [m], or of a mesh; if it has more corners than `most`, those that are farthest
    along directions spread evenly."""
    corners = np.asarray(points.vertices if hasattr(points, "vertices") else points, dtype=float)
    if corners.ndim != 2 or corners.shape[1] != 3 or len(corners) < 4 or not np.isfinite(corners).all():
        raise ValueError(f"a hull needs at least 4 points (n, 3), all finite; got an array of shape {corners.shape}.")
    spatial = require("scipy.spatial", "contact", "The hull of a mesh")
    try:
        found = spatial.ConvexHull(corners)
        if len(found.vertices) > most:
            far = np.argmax(corners[found.vertices] @ _spread(8 * most).T, axis=0)
            kept, counts = np.unique(far, return_counts=True)
            corners = corners[found.vertices[kept[np.argsort(-counts, kind="stable")[:most]]]]
            found = spatial.ConvexHull(corners)
    except spatial.QhullError as error:
        raise ValueError("the points of a hull lie in one plane; give it a thickness.") from error
    number = {v: k for k, v in enumerate(found.vertices)}
    faces = np.array([[number[v] for v in face] for face in found.simplices])
    vertices = corners[found.vertices]
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    inwards = np.sum(np.cross(b - a, c - a) * found.equations[:, :3], axis=1) < 0
    faces[inwards] = faces[inwards][:, ::-1]
    return ConvexMesh(vertices, faces)


def _spread(n: int) -> Array:
    """Unit vectors (n, 3), about evenly spread: a spiral by the golden angle."""
    z, turn = 1 - (2 * np.arange(n) + 1) / n, np.pi * (3 - np.sqrt(5)) * np.arange(n)
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)


def far_point(corners: Array, d: Array) -> Array:
    """The corner (3,) that is farthest along d (3,)."""

    def better(k: Any, now: tuple[Array, Array]) -> tuple[Array, Array]:
        best, most = now
        along = corners[k] @ d
        return np.where(along > most, corners[k], best), np.maximum(along, most)

    now = corners[0] + 0 * d, corners[0] @ d
    if len(corners) > IN_A_LOOP:
        return fori_loop(len(corners), better, now)[0]
    for k in range(1, len(corners)):
        now = better(k, now)
    return now[0]
