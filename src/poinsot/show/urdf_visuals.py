"""The looks of the links of a URDF file."""

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

import numpy as np

from poinsot._types import Array
from poinsot.show import triangles as draw
from poinsot.show.looks import Look, from_file
from poinsot.show.marks import Colour
from poinsot.spatial import Pose, euler


def urdf_looks(
    path: str | os.PathLike[str],
    folders: Mapping[str, str | os.PathLike[str]] | None = None,
    missing: Literal["error", "warn"] = "error",
    kind: Literal["visual", "collision"] = "visual",
) -> dict[str, list[Look]]:
    """The <visual> elements of a URDF file: the boxes, cylinders, spheres and meshes of each link, with their colours.

    `folders`: the folders of the packages in "package://name/..."; by default they are searched for above the file.
    Meshes are read with trimesh, in the colours of their materials where the file gives none. missing: whether a mesh
    that cannot be read, or is too large to draw, is an error or a warning; a link that has nothing else is left out. A
    world with a robot from `load_urdf` has these looks by default; for a run from elsewhere use
    run.view(looks=urdf_looks("robot.urdf")). kind: the shapes of <collision> instead.
    """
    path = Path(path)
    robot = ElementTree.fromstring(path.read_bytes())
    named = {m.get("name"): m for m in robot.findall("material")}
    by_link = {}
    for link in robot.findall("link"):
        looks, lost = [], False
        for visual in link.findall(kind):
            colour = _colour(visual.find("material"), named)
            try:
                found = _geometry(visual.find("geometry"), path, folders or {})
            except (OSError, ImportError, ValueError) as error:
                if missing == "error":
                    raise
                warnings.warn(f"link {link.get('name')!r} is drawn without a part: {error}", stacklevel=2)
                lost = True
                continue
            X = _origin(visual.find("origin"))
            looks += [Look(look.triangles.moved(X), colour or look.colour) for look in found]
        if looks or not lost:
            by_link[str(link.get("name"))] = looks
    return by_link


def _geometry(geometry: Any, path: Path, folders: Mapping[str, Any]) -> list[Look]:
    if geometry is None or len(geometry) == 0:
        return []
    item = geometry[0]
    if item.tag == "box":
        return [Look(draw.box(_floats(item.get("size"))))]
    if item.tag == "cylinder":
        return [Look(draw.cylinder(float(item.get("radius")), float(item.get("length"))))]
    if item.tag == "sphere":
        return [Look(draw.ball(float(item.get("radius"))))]
    if item.tag == "mesh":
        scale = _floats(item.get("scale") or "1 1 1")
        parts = from_file(_mesh_file(item.get("filename"), path, folders))
        return [Look(part.triangles.scaled(scale), part.colour) for part in parts]
    raise ValueError(f"{path}: a <{item.tag}> cannot be drawn; known are box, cylinder, sphere, mesh.")


def _mesh_file(name: str, path: Path, folders: Mapping[str, Any]) -> Path:
    if not name.startswith("package://"):
        return path.parent / name.removeprefix("file://")
    package, _, rest = name.removeprefix("package://").partition("/")
    if package in folders:
        return Path(folders[package]) / rest
    for folder in path.resolve().parents:
        for tried in (folder / package / rest, folder / rest):
            if tried.is_file():
                return tried
    raise FileNotFoundError(
        f"{path}: the mesh {name} was not found above the file; give the folder of its package, as in "
        f"folders={{{package!r}: ...}}."
    )


def _origin(origin: Any) -> Pose:
    if origin is None:
        return Pose()
    return Pose(euler.to_matrix(_floats(origin.get("rpy") or "0 0 0")), _floats(origin.get("xyz") or "0 0 0"))


def _colour(material: Any, named: Mapping[Any, Any]) -> Colour | None:
    if material is None:
        return None
    colour = material.find("color")
    if colour is None and material.get("name") in named:
        colour = named[material.get("name")].find("color")
    if colour is None:
        return None
    r, g, b = (round(255 * c) for c in _floats(colour.get("rgba"))[:3])
    return r, g, b


def _floats(text: str) -> Array:
    return np.array(text.split(), dtype=float)
