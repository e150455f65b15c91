"""The <collision> elements of a URDF file, as shapes that links touch others by."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from poinsot.contact.colliders import Collider
from poinsot.contact.hulls import hull
from poinsot.files._reading import inside, source
from poinsot.spatial import Pose, shapes
from poinsot.spatial.mesh import points_of_file


def urdf_shapes(path: str) -> dict[str, tuple[Collider, ...]]:
    """The spheres, boxes, cylinders, capsules and meshes, these as their convex hulls, of each link."""
    robot = ElementTree.fromstring(source(path, "robot"))
    found = {}
    for link in robot.iter():
        if link.tag.rpartition("}")[2] != "link":
            continue
        with inside(f"{path}: collision of link {link.get('name')!r}"):
            items = [item for item in link if item.tag.rpartition("}")[2] == "collision"]
            found[str(link.get("name"))] = tuple(_collider(item, Path(path)) for item in items)
    return found


def _collider(collision: Any, path: Path) -> Collider:
    origin, geometry = collision.find("origin"), collision.find("geometry")
    if geometry is None or len(geometry) == 0:
        raise ValueError("it has no geometry.")
    if len(geometry) > 1:
        kinds = ", ".join(f"<{item.tag}>" for item in geometry)
        raise ValueError(f"its geometry has several shapes, {kinds}; give each a <collision> of its own.")
    X = Pose()
    if origin is not None:
        X = Pose.from_euler(_floats(origin, "rpy", 3, "0 0 0"), _floats(origin, "xyz", 3, "0 0 0"))
    return Collider(_shape(geometry[0], path), X)


def _shape(item: Any, path: Path) -> Any:
    kind = item.tag.rpartition("}")[2]
    if kind == "sphere":
        return shapes.Sphere(*_floats(item, "radius", 1))
    if kind == "box":
        return shapes.Box(tuple(_floats(item, "size", 3)))  # type: ignore[arg-type]
    if kind in ("cylinder", "capsule"):
        made = shapes.Cylinder if kind == "cylinder" else shapes.Capsule
        return made(*_floats(item, "radius", 1), *_floats(item, "length", 1))
    if kind == "mesh":
        scale = np.array(_floats(item, "scale", 3, "1 1 1"))
        return hull(scale * points_of_file(mesh_file(item.get("filename", ""), path)))
    raise ValueError(f"a <{kind}> is none of box, capsule, cylinder, mesh, sphere.")


def mesh_file(name: str, path: Path) -> Path:
    """The file of a mesh, whose package is sought in the folders above the robot's."""
    if not name.startswith("package://"):
        return path.parent / name.removeprefix("file://")
    package, _, rest = name.removeprefix("package://").partition("/")
    for folder in path.resolve().parents:
        for tried in (folder / package / rest, folder / rest):
            if tried.is_file():
                return tried
    raise ValueError(f"the mesh {name} was not found in the folders above the file.")


def _floats(item: Any, name: str, count: int, default: str | None = None) -> list[float]:
    text = item.get(name, default)
    try:
        numbers = [float(word) for word in (text or "").split()]
    except ValueError:
        numbers = []
    if len(numbers) != count or not np.all(np.isfinite(numbers)):
        raise ValueError(f"{name}={text!r} must be {count} number{'s' * (count > 1)}.")
    return numbers
