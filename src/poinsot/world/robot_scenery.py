"""The surroundings in the files of robots: planes as grounds, and solids that do not move."""

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.environment import Ground
from poinsot.mechanism import Mechanism, fixed
from poinsot.mechanism.equipment import Scenery
from poinsot.spatial import Pose
from poinsot.world.touching import grounds, moves

if TYPE_CHECKING:
    from poinsot.world.builder import World

GROUND = "ground"
SOLIDS = "scenery"  # the body that has the solids of the world
SAME = 1e-9  # m: planes that differ by less are one


def with_scenery(world: "World", mechanism: Mechanism, prefix: str, parent: Any, placement: Pose) -> None:
    """Equip a robot whose links have been added, and let what does not move in its file touch those that do."""
    if parent is not None:
        raise FieldError(f"scenery=True is for a robot in the world, not one on {str(parent)!r}.", "scenery")
    read = mechanism.equipment.scenery
    there = Scenery(mechanism.equipment.shapes()) if read is None else read()
    still = [link.name for link in mechanism.links if not moves(world.description, prefix + link.name)]
    moving = [prefix + link.name for link in mechanism.links if link.name not in still]
    still = [prefix + name for name in still if there.shapes.get(name)]
    apart = tuple(prefix + name for name in there.apart)
    passed = [prefix + SOLIDS] if there.solids else []  # by the links that are apart from the world
    for called, X, collider in there.planes:
        passed.append(_ground_of(world, prefix + called, placement @ X, collider))
    if there.solids:
        solids = tuple(replace(c, pose=placement @ c.pose) for c in there.solids)
        still.append(str(world.add_body(prefix + SOLIDS, None, None, fixed(), shapes=solids)))
    world.equip(replace(mechanism.equipment, shapes=lambda: there.shapes), prefix)
    for name in apart:
        for other in passed if there.shapes.get(name.removeprefix(prefix)) else ():
            world.ignore(name, other)
    if still:
        world.collide(still, moving)
    if not still and not there.planes:
        warnings.warn(
            f"{mechanism.source or mechanism}: nothing in it stands still and may touch, so that scenery=True adds "
            "nothing; world.add_ground() is a plane.",
            stacklevel=5,
        )


def _ground_of(world: "World", name: str, X: Pose, collider: Any) -> str:
    """The name of the ground that is this plane: one that the world has, so that nothing touches twice, or a new one.

    A plane with a margin is touched that far above it.
    """
    normal, height = X.R[:, 2], float(X.R[:, 2] @ X.p)
    heights = (height, height + collider.margin)
    known = (ground.name for ground in grounds(world.description).values() if _is_plane(ground, normal, heights))
    if (there := next(known, None)) is not None:
        return there
    name = name if GROUND in world.description.elements else GROUND
    data = {"groups": collider.groups, "priority": collider.priority, "terrain": None}
    return world.add_ground(name.replace(" ", ""), collider.surface, normal=normal, height=heights[1], **data).name


def _is_plane(ground: Ground, normal: Array, heights: tuple[float, ...]) -> bool:
    """Whether a ground is a plane with this normal and one of these heights."""
    n, height = np.asarray(ground.normal) / np.linalg.norm(np.asarray(ground.normal)), ground.height
    if ground.terrain is not None:
        if callable(ground.terrain.heights) or np.ndim(ground.terrain.heights):
            return False
        n, height = np.array([0.0, 0.0, 1.0]), ground.terrain.heights
    alike = np.abs(n - normal).max() < SAME and min(abs(height - other) for other in heights) < SAME
    return bool(alike and ground.distance is None)
