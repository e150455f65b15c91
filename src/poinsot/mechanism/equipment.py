"""Equipment in a robot file beyond the tree: shapes that links touch by, motors, positions with names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from poinsot._types import Array
from poinsot.spatial import Pose


@dataclass(frozen=True, eq=False)
class Scenery:
    """The shapes of a robot file that do not move, and those of its links, by their names.

    planes: each with its name, its pose in the world, z upwards, and a collider that has its surface and groups.
    solids: colliders in the world's frame. apart: the links that pass through all that the world itself has.
    """

    shapes: Mapping[str, tuple[Any, ...]]
    planes: tuple[tuple[str, Pose, Any], ...] = ()
    solids: tuple[Any, ...] = ()
    apart: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Equipment:
    """The equipment that a world takes from a robot file besides its links.

    shapes: a function that reads the shapes that links touch others by, by the names of links; it is called when the
    world has something to touch. apart: pairs of links that pass through each other. pairs: a function that gives
    pairs of links that touch, with their surface. motors: elements in joints, and the names of their inputs with their
    values. keyframes: by name, q (nq,), v (nv,), and values of inputs. tendons: elements along tendons over joints:
    springs, and stops whose stiffness is up to the world. scenery: a function that reads the shapes with those that do
    not move, if the file has any.
    """

    shapes: Callable[[], Mapping[str, tuple[Any, ...]]] = field(default=dict)
    apart: tuple[tuple[str, str], ...] = ()
    pairs: Callable[[], tuple[tuple[str, str, Any], ...]] = field(default=tuple)
    motors: tuple[Any, ...] = ()
    inputs: Mapping[str, float] = field(default_factory=dict)
    keyframes: Mapping[str, tuple[Array, Array, Mapping[str, float]]] = field(default_factory=dict)
    tendons: tuple[Any, ...] = ()
    scenery: Callable[[], Scenery] | None = None
