"""Shapes as triangles. Vertices are doubled along the edges of a surface, so that edges look sharp."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.spatial import Pose, shapes
from poinsot.spatial.mesh import Mesh
from poinsot.spatial.shapes import Shape

AROUND = 48  # corners of a circle
FLAT = 2000  # meshes of fewer faces are drawn with all edges sharp


@dataclass(frozen=True, eq=False)
class Triangles:
    """A surface: vertices (n, 3) [m] and faces (k, 3), counter-clockwise as seen from outside."""

    vertices: Array
    faces: Array

    def moved(self, X: Pose) -> "Triangles":
        """The surface at the pose X."""
        return Triangles(self.vertices @ X.R.T + X.p, self.faces)

    def scaled(self, factors: Any) -> "Triangles":
        """The surface scaled by these factors along x, y, z."""
        return Triangles(self.vertices * np.asarray(factors), self.faces)

    @property
    def reach(self) -> float:
        """The distance [m] of its farthest vertex from the origin."""
        return float(np.sqrt((self.vertices**2).sum(axis=1).max(initial=0.0)))


def joined(parts: Sequence[Triangles]) -> Triangles:
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    faces = [part.faces + start for part, start in zip(parts, starts, strict=False)]
    return Triangles(np.concatenate([part.vertices for part in parts]), np.concatenate(faces))


def revolved(*profiles: Sequence[tuple[float, float]], around: int = AROUND) -> Triangles:
    """The surface that profiles of (radius, z) [m] sweep about z, with sharp edges between one profile and the next.

    The outside is to the right of a profile as it goes up.
    """
    angle = 2 * np.pi * np.arange(around) / around
    parts = []
    for profile in profiles:
        r, z = np.array(profile, dtype=float).T
        ring = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        vertices = np.concatenate([r[:, None, None] * ring, np.broadcast_to(z[:, None, None], (len(r), around, 1))], -1)
        i, j = np.meshgrid(np.arange(len(r) - 1), np.arange(around), indexing="ij")
        a, b = i * around + j, i * around + (j + 1) % around
        c, d = b + around, a + around
        lower, upper = np.stack([a, b, c], -1)[r[:-1] > 0], np.stack([a, c, d], -1)[r[1:] > 0]
        parts.append(Triangles(vertices.reshape(-1, 3), np.concatenate([lower.reshape(-1, 3), upper.reshape(-1, 3)])))
    return joined(parts)


def lofted(rings: Array) -> Triangles:
    """The surface through closed rings (n, m, 3) [m], one after the other, with flat ends."""
    n, m, _ = rings.shape
    return Triangles(rings.reshape(-1, 3), loft_faces(n, m))


def loft_faces(n: int, m: int) -> Array:
    """The faces (k, 3) between n closed rings of m points each, and of the flat ends."""
    i, j = np.meshgrid(np.arange(n - 1), np.arange(m), indexing="ij")
    a, b = i * m + j, i * m + (j + 1) % m
    sides = np.stack([np.stack([a, b, b + m], -1), np.stack([a, b + m, a + m], -1)], -2).reshape(-1, 3)
    fan = np.stack([np.zeros(m - 2, int), np.arange(1, m - 1), np.arange(2, m)], -1)
    return np.concatenate([sides, fan[:, ::-1], fan + (n - 1) * m])


def box(size: Any) -> Triangles:
    """A cuboid with sides `size` [m]."""
    corners, faces = [], []  # type: list[Array], list[Array]
    for axis in range(3):
        u, v = np.roll(np.eye(3), axis + 1, axis=0)[:2]
        n = np.cross(u, v)
        for side in (n, -n):
            a, b = (u, v) if side @ n > 0 else (v, u)
            faces.append(np.array([[0, 1, 2], [0, 2, 3]]) + 4 * len(faces))
            corners += [side - a - b, side + a - b, side + a + b, side - a + b]
    return Triangles(0.5 * np.array(corners) * np.asarray(size, dtype=float), np.concatenate(faces))


def ball(radius: float = 1.0, around: int = AROUND) -> Triangles:
    """A sphere."""
    return revolved(_arc(radius, -90, 90, around // 2), around=around)


def cylinder(radius: float, height: float, inner: float = 0.0) -> Triangles:
    """A cylinder along z, or a tube."""
    R, h = radius, height / 2
    rings = [[(inner, -h), (R, -h)], [(R, -h), (R, h)], [(R, h), (inner, h)]]
    return revolved(*rings, *([[(inner, h), (inner, -h)]] if inner else []))


def capsule(radius: float, height: float, around: int = AROUND) -> Triangles:
    """A cylinder along z between two half balls."""
    low, high = _arc(radius, -90, 0, around // 4), _arc(radius, 0, 90, around // 4)
    return revolved([(r, z - height / 2) for r, z in low] + [(r, z + height / 2) for r, z in high], around=around)


def coil(turns: int, radius: float, thickness: float, pitch_thickness: float) -> Triangles:
    """A helical spring along z, from 0 to 1, with straight ends.

    It is meant to be scaled: `thickness` is that of the wire normal to z, `pitch_thickness` along z.
    """
    s = np.linspace(0, 1, 16 * turns + 1)
    angle = 2 * np.pi * turns * s
    z = 0.1 + 0.8 * s
    lead = np.clip(np.minimum(s, 1 - s) * turns, 0, 1)  # the coil starts and ends on its axis
    line = np.stack([radius * lead * np.cos(angle), radius * lead * np.sin(angle), z], -1)
    line = np.concatenate([[[0, 0, 0]], line, [[0, 0, 1]]])
    return _tube(line, thickness, pitch_thickness)


def _tube(line: Array, normal: float, along: float, sides: int = 8) -> Triangles:
    """A tube about a line (n, 3) that winds about z, of thickness `normal` to z and `along` it."""
    tangent = np.gradient(line, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    out = line * [1, 1, 0]
    out = np.where(np.linalg.norm(out, axis=1, keepdims=True) > 1e-9, out, [1.0, 0.0, 0.0])
    u = out - np.sum(out * tangent, axis=1, keepdims=True) * tangent
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    v = np.cross(tangent, u)
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = np.cos(angle)[None, :, None] * u[:, None] + np.sin(angle)[None, :, None] * v[:, None]
    vertices = line[:, None] + ring * np.array([normal, normal, along])
    i, j = np.meshgrid(np.arange(len(line) - 1), np.arange(sides), indexing="ij")
    a, b = i * sides + j, i * sides + (j + 1) % sides
    faces = np.stack([np.stack([a, b, b + sides], -1), np.stack([a, b + sides, a + sides], -1)], -2)
    return Triangles(vertices.reshape(-1, 3), faces.reshape(-1, 3))


def _arc(radius: float, start: float, end: float, count: int) -> list[tuple[float, float]]:
    """Points (r, z) of a circle between two latitudes [degrees]; poles are on the axis."""
    latitude = np.linspace(start, end, count + 1)
    r = np.where(np.abs(latitude) == 90, 0.0, radius * np.cos(np.radians(latitude)))
    return list(zip(r.tolist(), (radius * np.sin(np.radians(latitude))).tolist(), strict=True))


def _mesh(m: Mesh) -> Triangles:
    if len(m.faces) >= FLAT:
        return Triangles(m.vertices, m.faces)
    return Triangles(m.vertices[m.faces].reshape(-1, 3), np.arange(3 * len(m.faces)).reshape(-1, 3))


# The surface of each kind of shape; thin ones get a visible thickness.
SHAPES: dict[type[Shape], Callable[[Any], Triangles]] = {
    shapes.Box: lambda s: box(s.size),
    shapes.Ellipsoid: lambda s: ball().scaled(s.semi_axes),
    shapes.Sphere: lambda s: ball(s.radius),
    shapes.Cylinder: lambda s: cylinder(s.radius, s.height, s.inner_radius),
    shapes.Capsule: lambda s: capsule(s.radius, s.height),
    shapes.Cone: lambda s: revolved(
        [(0, -s.height / 2), (s.radius, -s.height / 2)],
        [(s.radius, -s.height / 2), (s.top_radius, s.height / 2)],
        [(s.top_radius, s.height / 2), (0, s.height / 2)],
    ),
    shapes.Rod: lambda s: capsule(s.length / 80, s.length * (1 - 1 / 40)),
    shapes.Plate: lambda s: box((*s.size, min(s.size) / 50)),
    shapes.Disc: lambda s: cylinder(s.radius, s.radius / 30, min(s.inner_radius, 0.96 * s.radius)),
    Mesh: _mesh,
}


def triangles_of(shape: Shape) -> Triangles:
    """A shape as triangles."""
    kind = next((SHAPES[k] for k in type(shape).__mro__ if k in SHAPES), None)
    if kind is None:
        raise TypeError(f"a shape of the kind {type(shape).__name__} cannot be drawn; known are {', '.join(_known())}.")
    return kind(shape)


def _known() -> list[str]:
    return [kind.__name__ for kind in SHAPES]
