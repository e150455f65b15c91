"""Meshes: shapes bounded by a closed surface of triangles, with exact integrals.

A triangle and an inner point span a tetrahedron, whose moments are polynomials in its corners. Summed over all
faces, with the sign of each volume, they give the moments of the body inside.
"""

from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from poinsot._optional import require
from poinsot._types import Array
from poinsot.spatial.shapes import Shape


@dataclass(frozen=True, eq=False)
class Mesh(Shape):
    """A closed surface: `vertices` (n, 3) [m] and `faces` (k, 3), counter-clockwise as seen from outside.

    Every edge must belong to two faces that run along it in opposite directions; this is checked, and so is the
    sign of the volume. Cavities are surfaces wound the other way. Self-intersections are not checked.
    """

    vertices: Array
    faces: Array

    __eq__ = object.__eq__  # a shape is equal to one with the same lengths; a mesh has none
    __hash__ = object.__hash__

    def __post_init__(self) -> None:
        vertices, faces = np.array(self.vertices, dtype=float), np.array(self.faces)
        _check_arrays(vertices, faces)
        if _edges(vertices, faces)[1].min() == 1:  # files such as STL give each triangle corners of its own
            faces = _share_corners(vertices, faces)
        _check_closed(vertices, faces)
        for name, array in (("vertices", vertices), ("faces", faces)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if len(faces) < 4 or abs(self.volume) <= 1e-14 * np.ptp(vertices[faces], axis=(0, 1)).max() ** 3:
            raise ValueError("mesh encloses no volume: its faces fold back onto themselves.")
        if self.volume < 0:
            raise ValueError(
                f"mesh is inside out: its volume is {self.volume:.6g} m^3. Invert it with mesh.invert() of trimesh, "
                "or reverse the vertices of each face."
            )

    @cached_property
    def _integrals(self) -> tuple[float, Array, Array]:
        """Volume, com and covariance. The tetrahedra have their apex at the centre of the bounding box to find the com,
        then at the com, so that a mesh far away from the origin keeps its digits."""
        corners = self.vertices[self.faces]
        middle = (corners.min(axis=(0, 1)) + corners.max(axis=(0, 1))) / 2
        volume, first, _ = _tetrahedra(corners - middle)
        com = first / (volume or 1.0)
        _, _, second = _tetrahedra(corners - middle - com)
        return volume, middle + com, second / (volume or 1.0)

    @property
    def volume(self) -> float:
        return self._integrals[0]

    @property
    def com(self) -> Array:
        return self._integrals[1]

    @property
    def covariance(self) -> Array:
        return self._integrals[2]


def as_mesh(source: Any) -> Mesh:
    """A Mesh from a file (STL, OBJ, PLY, ... as trimesh reads it), a trimesh.Trimesh, or (vertices, faces)."""
    if isinstance(source, Mesh):
        return source
    if isinstance(source, str | PathLike):
        return _load(Path(fspath(source)))
    if hasattr(source, "vertices") and hasattr(source, "faces"):
        return Mesh(source.vertices, source.faces)
    if hasattr(source, "dump"):
        return _only_body("scene", source)
    if isinstance(source, tuple | list) and len(source) == 2:
        return Mesh(*source)
    raise TypeError(
        f"cannot make a mesh of {type(source).__name__}: give a path, a trimesh.Trimesh or (vertices, faces)."
    )


def _load(path: Path) -> Mesh:
    trimesh = require("trimesh", "mesh", "reading a mesh file")
    if not path.is_file():
        raise FileNotFoundError(f"mesh file '{path}' does not exist.")
    try:
        return _only_body(f"mesh file '{path}'", trimesh.load(path, force="scene", process=False))
    except IndexError as error:
        raise ValueError(f"mesh file '{path}': a face names a vertex that does not exist: {error}.") from error
    except MemoryError:
        raise
    except Exception as error:  # the readers of trimesh raise errors of many kinds on files that are broken
        raise ValueError(f"mesh file '{path}': {error or type(error).__name__}") from error


def points_of_file(path: Path) -> Array:
    """All vertices (n, 3) [m] in a mesh file, of one body or several, closed or not."""
    trimesh = require("trimesh", "mesh", "reading a mesh file")
    if not path.is_file():
        raise ValueError(f"mesh file '{path}' does not exist.")
    try:
        bodies = trimesh.load(path, force="scene", process=False).dump()
    except Exception as error:  # the readers of trimesh raise errors of many kinds on files that are broken
        raise ValueError(f"mesh file '{path}': {error or type(error).__name__}") from error
    return np.concatenate([np.zeros((0, 3)), *(np.asarray(b.vertices) for b in bodies if hasattr(b, "vertices"))])


def _only_body(name: str, scene: Any) -> Mesh:
    bodies = [body for body in scene.dump() if hasattr(body, "faces")]
    if len(bodies) != 1:
        raise ValueError(
            f"{name} holds {len(bodies)} bodies; one is needed. Add them up: "
            "sum(Inertia.mesh(body, density=...) for body in trimesh.load(path, force='scene').dump())."
        )
    return as_mesh(bodies[0])


def _tetrahedra(corners: Array) -> tuple[float, Array, Array]:
    """Integrals of 1, r and r r^T over the tetrahedra that the origin spans with triangles `corners` (k, 3, 3)."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    s = a + b + c
    volume = np.sum(a * np.cross(b, c), axis=1) / 6
    first = volume @ s / 4
    second = sum((volume[:, None] * r).T @ r for r in (a, b, c, s)) / 20
    return float(volume.sum()), first, second


def _check_arrays(vertices: Array, faces: Array) -> None:
    if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
        raise ValueError(f"mesh vertices must be finite, with shape (n, 3); got shape {vertices.shape}.")
    if faces.ndim != 2 or faces.shape[1] != 3 or len(faces) < 4 or not np.issubdtype(faces.dtype, np.integer):
        raise ValueError(f"mesh faces must be at least 4 triples of vertex numbers; got {faces.dtype} {faces.shape}.")
    wrong = np.flatnonzero(((faces < 0) | (faces >= len(vertices))).any(axis=1))
    if wrong.size:
        face = tuple(faces[wrong[0]].tolist())
        raise ValueError(f"mesh face {wrong[0]} = {face} names a vertex outside 0..{len(vertices) - 1}.")
    a, b, c = faces.T
    wrong = np.flatnonzero((a == b) | (b == c) | (c == a))
    if wrong.size:
        face = tuple(faces[wrong[0]].tolist())
        raise ValueError(
            f"mesh face {wrong[0]} = {face} is degenerate: it uses a vertex twice. Remove such faces with "
            "mesh.update_faces(mesh.nondegenerate_faces()) of trimesh."
        )


def _edges(vertices: Array, faces: Array) -> tuple[Array, Array, Array]:
    """Undirected edges as `low * n + high`, how many faces each has, and the sum of the directions (+1, -1)."""
    start, end = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    low, high = np.minimum(start, end).astype(np.int64), np.maximum(start, end)
    keys, index, count = np.unique(low * len(vertices) + high, return_inverse=True, return_counts=True)
    return keys, count, np.bincount(index, weights=np.where(start < end, 1.0, -1.0))


def _share_corners(vertices: Array, faces: Array) -> Array:
    """The faces with one vertex number per position; faces that become degenerate have no area and are dropped."""
    _, first, index = np.unique(vertices, axis=0, return_index=True, return_inverse=True)
    a, b, c = faces = first[index.ravel()][faces].T
    return faces.T[(a != b) & (b != c) & (c != a)]


def _check_closed(vertices: Array, faces: Array) -> None:
    keys, count, direction = _edges(vertices, faces)
    for broken, problem in (
        (
            count == 1,
            "is not watertight: {n} open edges, the first {edge}. Close it with trimesh.repair.fill_holes(mesh), or "
            "mesh.merge_vertices() if corners that should meet are slightly apart.",
        ),
        (
            count > 2,
            "is not a simple surface: {n} edges have more than two faces, the first {edge}. Split the body there and "
            "add the inertias of its parts.",
        ),
        (
            direction != 0,
            "is wound inconsistently: {n} edges have two faces with opposite orientations, the first "
            "{edge}. Repair it with trimesh.repair.fix_normals(mesh).",
        ),
    ):
        if broken.any():
            i, j = divmod(int(keys[broken][0]), len(vertices))
            edge = f"from vertex {i} at {vertices[i].tolist()} to vertex {j} at {vertices[j].tolist()}"
            raise ValueError("mesh " + problem.format(n=int(broken.sum()), edge=edge))
