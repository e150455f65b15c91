"""The appearance of bodies: the shapes they are made of, the user's choice, or what their inertia suggests."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poinsot._optional import require
from poinsot._types import Array
from poinsot.contact.colliders import Collider
from poinsot.mechanism import Link, Mechanism
from poinsot.show import triangles as draw
from poinsot.show.airframes import airframe
from poinsot.show.marks import Colour, aimed
from poinsot.show.triangles import Triangles, triangles_of
from poinsot.show.turning import axis_of, sectors
from poinsot.spatial import Inertia, Pose
from poinsot.spatial.inertia import Solid
from poinsot.spatial.shapes import Shape
from poinsot.world import Description


@dataclass(frozen=True, eq=False)
class Look:
    """A surface in the frame of a body, and its colour; None for the body's own. pale: in a lighter tone of it."""

    triangles: Triangles
    colour: Colour | None = None
    pale: bool = False


MOST_FACES = 400_000  # of a mesh that is drawn
FARTHEST = 1e30  # m, below which the coordinates of its vertices must be: pictures are drawn in single precision
SLIM = 0.02  # the least semi-axis of an ellipsoid that is drawn, relative to the largest


def look_of(source: Any) -> list[Look]:
    """The look of a body from a `Look`, shape, solid, mesh file, object with vertices and faces, or a list of those."""
    if isinstance(source, Look):
        return [source]
    if isinstance(source, Shape):
        return [Look(triangles_of(source))]
    if isinstance(source, (Solid, Collider)):
        return [Look(triangles_of(source.shape).moved(source.pose))]
    if isinstance(source, (str, os.PathLike)):
        return from_file(Path(source))
    if hasattr(source, "vertices") and hasattr(source, "faces"):
        return [Look(checked(source.vertices, source.faces, f"{type(source).__name__} that is to be drawn"))]
    if isinstance(source, Iterable):
        return [look for item in source for look in look_of(item)]
    raise TypeError(f"{source!r} cannot be drawn: give a shape, a mesh file, a trimesh.Trimesh or a list of those.")


def checked(vertices: Any, faces: Any, owner: str) -> Triangles:
    """The surface of these vertices (n, 3) [m] and faces (k, 3); an error if it cannot be drawn."""
    v, f = np.asarray(vertices, dtype=float), np.asarray(faces)
    if v.ndim != 2 or f.ndim != 2 or v.shape[1] != 3 or f.shape[1] != 3 or not len(f):
        raise ValueError(f"the {owner} needs vertices (n, 3) and triangles (k, 3), not {v.shape} and {f.shape}.")
    if len(f) > MOST_FACES:
        raise ValueError(f"the {owner} has {len(f):,} triangles, too many to draw: simplify it.")
    if not np.issubdtype(f.dtype, np.integer) or f.min() < 0 or f.max() >= len(v):
        raise ValueError(f"the faces of the {owner} must be numbers of vertices, 0 to {len(v) - 1}.")
    if not np.all(np.abs(v) < FARTHEST):
        k = int(np.argmax(~np.all(np.abs(v) < FARTHEST, axis=1)))
        raise ValueError(f"vertex {k} of the {owner} is {v[k].tolist()}: give finite numbers below {FARTHEST:g} m.")
    return Triangles(v, f)


def looks_of(description: Description, mech: Mechanism, chosen: Mapping[str, Any]) -> dict[str, list[Look]]:
    """The looks of every body, an empty list for those without any: the user's choice, or the shapes that it is made of
    and its airframe. Parts of a body are drawn separately."""
    for name in chosen:
        mech.index(name)  # an error if there is none
    children: dict[str, list[Link]] = {link.name: [] for link in mech.links}
    for link in mech.links:
        if link.parent is not None:
            children[link.parent].append(link)
    looks = {}
    for link in mech.links:
        if link.name in chosen:
            looks[link.name] = look_of(chosen[link.name])
        else:
            inertia = description.bodies[link.name].inertia
            worn = [Look(surface, colour) for surface, colour in airframe(description, link.name)]
            alone = not worn and all(child.inertia is None for child in children[link.name])
            solids = _in_two_tones(inertia, link) if alone else look_of(inertia.solids) if inertia is not None else []
            looks[link.name] = solids + worn or _suggested(link, children[link.name])
    return looks


def _in_two_tones(inertia: Inertia | None, link: Link) -> list[Look]:
    """The solids of a body; one that can turn about its own axis has sectors in a second tone, so that this is seen."""
    if inertia is None:
        return []
    looks, axis = look_of(inertia.solids), axis_of(inertia, link)
    if axis is None:
        return looks
    halves = [sectors(look.triangles, axis, solid.pose.p) for look, solid in zip(looks, inertia.solids, strict=True)]
    return [look for odd, even in halves for look in (Look(even), Look(odd, pale=True))]


def is_point(inertia: Inertia | None) -> bool:
    """Whether all mass is in one point."""
    return inertia is not None and not np.any(inertia.moment)


def _suggested(link: Link, children: Sequence[Link]) -> list[Look]:
    """The ellipsoid of uniform density with the same moments, and bones to the joints of the children."""
    looks = [] if link.inertia is None or is_point(link.inertia) else [Look(ellipsoid_of(link.inertia))]
    ends = [child.placement.p for child in children]
    if looks and not children and np.linalg.norm(link.inertia.com) > 0:  # type: ignore[union-attr]
        ends.append(link.inertia.com)  # type: ignore[union-attr]
    lengths = [float(np.linalg.norm(end)) for end in ends]
    for end, length in zip(ends, lengths, strict=True):
        if length > 1e-3 * max([1e-9, *lengths]):
            looks.append(Look(bone(end, 0.04 * max(lengths))))
    return looks


def ellipsoid_of(inertia: Inertia) -> Triangles:
    """The ellipsoid of uniform density that has these mass properties: a_i^2 = 5 (I_j + I_k - I_i) / (2 m)."""
    moments, R = inertia.principal()
    squares = 2.5 * (moments.sum() - 2 * moments) / inertia.mass
    semi_axes = np.sqrt(np.maximum(squares, SLIM**2 * squares.max()))
    return draw.ball(around=32).scaled(semi_axes).moved(Pose(R, inertia.com))


def bone(end: Array, radius: float) -> Triangles:
    """A capsule from the origin to a point."""
    length = float(np.linalg.norm(end))
    X = Pose.from_quaternion(aimed(np.asarray(end, dtype=float)), p=np.asarray(end) / 2)
    return draw.capsule(min(radius, 0.25 * length), length, around=24).moved(X)


def from_file(path: Path) -> list[Look]:
    """Any mesh file, closed or not, as surfaces, one for each of its materials."""
    trimesh = require("trimesh", "mesh", "reading a mesh file")
    if not path.is_file():
        raise FileNotFoundError(f"mesh file '{path}' does not exist.")
    try:
        loaded = trimesh.load(path, force="scene")
    except (OSError, ImportError, ValueError):
        raise
    except Exception as error:  # the readers of file formats fail in their own ways
        raise ValueError(f"mesh file '{path}' cannot be read: {type(error).__name__}: {error}") from error
    parts = [mesh for mesh in loaded.dump() if hasattr(mesh, "faces")]
    faces = sum(len(mesh.faces) for mesh in parts)
    if not faces:
        raise ValueError(f"mesh file '{path}' has no triangles.")
    if faces > MOST_FACES:
        raise ValueError(f"mesh file '{path}' has {faces:,} triangles, too many to draw: simplify it.")
    return [Look(checked(m.vertices, m.faces, f"mesh file '{path}'"), _painted(m)) for m in parts]


def _painted(mesh: Any) -> Colour | None:
    """The colour of a mesh's material, or the mean of those of its vertices; None if it has neither."""
    visual = getattr(mesh, "visual", None)
    if visual is None or not getattr(visual, "defined", False):
        return None
    material = getattr(visual, "material", None)
    rgba = material.main_color if material is not None else np.mean(np.asarray(visual.vertex_colors), axis=0)
    r, g, b = (round(float(c)) for c in np.asarray(rgba)[:3])
    return r, g, b
