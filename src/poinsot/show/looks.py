"""The appearance of bodies: the shapes they are made of, the user's choice, or what their inertia suggests."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poinsot._optional import require
from poinsot._types import Array
from poinsot.mechanism import Link
from poinsot.show import triangles as draw
from poinsot.show.marks import Colour, aimed
from poinsot.show.triangles import Triangles, triangles_of
from poinsot.spatial import Inertia, Pose
from poinsot.spatial.inertia import Solid
from poinsot.spatial.shapes import Shape
from poinsot.world import Description


@dataclass(frozen=True, eq=False)
class Look:
    """A surface in the frame of a body, and its colour; None for the body's own."""

    triangles: Triangles
    colour: Colour | None = None


def look_of(source: Any) -> list[Look]:
    """The look of a body from a `Look`, shape, solid, mesh file, object with vertices and faces, or a list of those."""
    if isinstance(source, Look):
        return [source]
    if isinstance(source, Shape):
        return [Look(triangles_of(source))]
    if isinstance(source, Solid):
        return [Look(triangles_of(source.shape).moved(source.pose))]
    if isinstance(source, (str, os.PathLike)):
        return [Look(from_file(Path(source)))]
    if hasattr(source, "vertices") and hasattr(source, "faces"):
        return [Look(Triangles(np.asarray(source.vertices), np.asarray(source.faces)))]
    if isinstance(source, Iterable):
        return [look for item in source for look in look_of(item)]
    raise TypeError(f"{source!r} cannot be drawn: give a shape, a mesh file, a trimesh.Trimesh or a list of those.")


def looks_of(description: Description, chosen: Mapping[str, Any]) -> dict[str, list[Look]]:
    """The looks of every body, an empty list for those without any. Parts of a body are drawn separately."""
    mech = description.mechanism(parts=False)
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
        elif (inertia := description.bodies[link.name].inertia) is not None and inertia.solids:
            looks[link.name] = look_of(inertia.solids)
        else:
            looks[link.name] = _suggested(link, children[link.name])
    return looks


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
    semi_axes = np.sqrt(np.maximum(squares, 1e-4 * squares.max()))
    return draw.ball(around=32).scaled(semi_axes).moved(Pose(R, inertia.com))


def bone(end: Array, radius: float) -> Triangles:
    """A capsule from the origin to a point."""
    length = float(np.linalg.norm(end))
    X = Pose.from_quaternion(aimed(np.asarray(end, dtype=float)), p=np.asarray(end) / 2)
    return draw.capsule(min(radius, 0.25 * length), length, around=24).moved(X)


def from_file(path: Path) -> Triangles:
    """Any mesh file, closed or not, as triangles."""
    trimesh = require("trimesh", "mesh", "reading a mesh file")
    if not path.is_file():
        raise FileNotFoundError(f"mesh file '{path}' does not exist.")
    mesh = trimesh.load(path, force="mesh")
    return Triangles(np.asarray(mesh.vertices), np.asarray(mesh.faces))
