"""Robots with the looks of the files that they were loaded from: URDF visuals, MJCF geoms."""

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from poinsot._optional import require
from poinsot.environment import PairTouch, Touch, TouchList
from poinsot.show import triangles as draw
from poinsot.show.looks import Look, look_of
from poinsot.show.triangles import Triangles
from poinsot.show.urdf_visuals import urdf_looks
from poinsot.spatial import Pose
from poinsot.world import Description, World
from poinsot.world.robot_scenery import SOLIDS

VISIBLE = 3  # groups of geoms from this one on are for collisions, in MuJoCo's own viewer too


def own_looks(world: World) -> dict[str, list[Look]]:
    """The looks of the bodies of a world that were loaded from files of robots; what cannot be read is warned of.
    Bodies without any have the shapes for collisions, or are not to be seen; those whose looks were lost are left out,
    and become ellipsoids."""
    found: dict[str, list[Look]] = {}
    for path, prefix in world.robots:
        looks, bodies = _read(path, "visual", "its bodies are ellipsoids"), world.description.bodies
        names = [name.removeprefix(prefix) for name in bodies if name.startswith(prefix)]
        bare = [name for name in names if not looks.get(name)]
        shapes = _read(path, "collision", "some of its bodies are ellipsoids") if bare else {}
        looks |= {name: shapes[name] for name in bare if shapes.get(name)}
        if (still := bodies.get(prefix + SOLIDS)) is not None and still.inertia is None and still.shapes:
            looks.setdefault(SOLIDS, look_of(still.shapes))
        if any(looks.values()):  # what the file gives no look is not to be seen
            found |= {prefix + name: own for name, own in looks.items() if prefix + name in bodies}
    return found


def _read(path: str, kind: Literal["visual", "collision"], otherwise: str) -> dict[str, list[Look]]:
    """The looks of one kind in a file; none, and a warning, if it cannot be read."""
    try:
        if Path(path).suffix == ".xml":
            return mjcf_looks(path, kind == "collision")
        return urdf_looks(path, missing="warn", kind=kind)
    except (OSError, ValueError, ImportError, SyntaxError) as error:
        warnings.warn(f"'{path}': its looks cannot be read ({error}); {otherwise}.", stacklevel=3)
        return {}


def collision_looks(robots: Sequence[tuple[str, str]], description: Description) -> dict[str, list[Look]]:
    """The shapes of bodies that may touch: those of contacts, else those for collisions in the files of robots."""
    found: dict[str, list[Look]] = {}
    for path, prefix in robots:
        own = _read(path, "collision", "its shapes for collisions are not drawn")
        found |= {prefix + name: looks for name, looks in own.items() if looks}
    for element in description.elements.values():
        if isinstance(element, TouchList):
            for name in element.bodies():
                found[name] = look_of(
                    [c for c, own in zip(element.colliders, element.owners, strict=True) if own == name]
                )
        for body, field in (("body", "shapes"), ("a", "shapes_a"), ("b", "shapes_b")):
            if isinstance(element, (Touch, PairTouch)) and (name := getattr(element, body, "")):
                inertia = description.bodies[name].inertia
                solids = getattr(element, field) or (inertia.solids if inertia is not None else ())
                found[name] = look_of(solids)
    return found


def mjcf_looks(path: str | os.PathLike[str], collisions: bool = False) -> dict[str, list[Look]]:
    """The geoms of each body of an MJCF file, with their colours; those of groups 3 to 5, for collisions, are left out
    where a body has others. Use it as run.view(looks=mjcf_looks("robot.xml")). collisions: those that may touch,
    instead."""
    mujoco = require("mujoco", "robots", "Reading MJCF")
    spec = mujoco.MjSpec.from_file(os.fspath(path))
    spec.compiler.fusestatic, spec.compiler.discardvisual = False, False
    model = spec.compile()
    by_body: dict[str, list[Look]] = {}
    for b in range(1, model.nbody):
        geoms = range(model.body_geomadr[b], model.body_geomadr[b] + model.body_geomnum[b])
        touching = [g for g in geoms if model.geom_contype[g] or model.geom_conaffinity[g]]
        seen = touching if collisions else [g for g in geoms if model.geom_group[g] < VISIBLE] or list(geoms)
        looks = [look for g in seen if (look := _geom(mujoco, model, g)) is not None]
        by_body[model.body(b).name or f"body{b}"] = looks
    return by_body


def _geom(mujoco: Any, model: Any, g: int) -> Look | None:
    """A geom as a look, in the frame of its body; None for planes and height fields."""
    kinds, size = mujoco.mjtGeom, model.geom_size[g]
    shape = {
        kinds.mjGEOM_SPHERE: lambda: draw.ball(size[0]),
        kinds.mjGEOM_CAPSULE: lambda: draw.capsule(size[0], 2 * size[1]),
        kinds.mjGEOM_ELLIPSOID: lambda: draw.ball().scaled(size),
        kinds.mjGEOM_CYLINDER: lambda: draw.cylinder(size[0], 2 * size[1]),
        kinds.mjGEOM_BOX: lambda: draw.box(2 * size),
        kinds.mjGEOM_MESH: lambda: _mesh(model, int(model.geom_dataid[g])),
    }.get(kinds(int(model.geom_type[g])))
    if shape is None:
        return None
    material = int(model.geom_matid[g])
    rgba = model.mat_rgba[material] if material >= 0 else model.geom_rgba[g]
    r, green, b = (round(255 * float(c)) for c in rgba[:3])
    X = Pose.from_quaternion(model.geom_quat[g], model.geom_pos[g])
    return Look(shape().moved(X), (r, green, b))


def _mesh(model: Any, m: int) -> Triangles:
    v, f = int(model.mesh_vertadr[m]), int(model.mesh_faceadr[m])
    vertices = np.asarray(model.mesh_vert[v : v + model.mesh_vertnum[m]], dtype=float)
    faces = np.asarray(model.mesh_face[f : f + model.mesh_facenum[m]])
    return Triangles(vertices[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3))
