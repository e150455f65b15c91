"""The tables of contact: [[surface]], what touches is made of; [[ground]]; [[pair]], two bodies that touch."""

from collections.abc import Callable
from typing import Any

from poinsot._errors import FieldError
from poinsot._hints import hint
from poinsot.files import readers
from poinsot.files.readers import ScenarioTable
from poinsot.files.shape_tables import table
from poinsot.world import World

A_SURFACE = readers.text("the name of a [[surface]]")
A_PAIR = readers.text("the name of a body or of a [[ground]]")

SurfaceTable = table(
    "SurfaceTable",
    "What bodies that touch are made of.",
    {"name": readers.name("rubber")},
    stiffness=readers.number("N/m"),
    damping=readers.number("s/m"),
    friction=readers.number("1"),
)
GroundTable = table(
    "GroundTable",
    "The ground that the shapes of all bodies may touch: the plane normal . x = height, or the [terrain].",
    {"name": readers.name("ground")},
    surface=A_SURFACE,
    height=readers.number("m"),
    normal=readers.vector("1"),
    velocity=readers.vector("m/s"),
    ignored=readers.names(),
)
PairTable = table(
    "PairTable",
    "Two bodies that may touch each other, or a body and a ground with a surface of their own.",
    {"a": A_PAIR, "b": A_PAIR},
    surface=A_SURFACE,
)
MODELS = {"surface": SurfaceTable, "ground": GroundTable, "pair": PairTable}


def _surface(world: World, entries: dict[str, Any]) -> None:
    world.add_surface(**entries)


def _ground(world: World, entries: dict[str, Any]) -> None:
    ignored = tuple(entries.pop("ignored", ()))
    for body in ignored:
        if body not in world.description.bodies:
            raise FieldError(f"there is no body {body!r}{hint(body, world.description.bodies)}.", "ignored")
    world.add_ground(**entries, ignored=ignored)


def _pair(world: World, entries: dict[str, Any]) -> None:
    world.collide(**entries)


_ADDED: dict[str, Callable[[World, dict[str, Any]], None]] = {"surface": _surface, "ground": _ground, "pair": _pair}


def add(kind: str, world: World, found: ScenarioTable) -> None:
    """Add what a table describes to a world."""
    _ADDED[kind](world, {key: value for key, value in found.entries().items() if value is not None})
