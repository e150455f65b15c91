"""The tables of contact: [[surface]], what touches is made of; [[ground]]; [[pair]], two bodies that touch."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from poinsot._errors import FieldError
from poinsot._hints import hint
from poinsot._types import Array
from poinsot.environment import Terrain
from poinsot.files import computed, readers
from poinsot.files.expressions import Law
from poinsot.files.readers import Context, ScenarioTable
from poinsot.files.shape_tables import table
from poinsot.files.size_limits import PATCHES
from poinsot.world import World

A_SURFACE = readers.text("the name of a [[surface]]")
A_PAIR = readers.text("the name of a body or of a [[ground]]")


def _law(*arguments: str) -> Callable[[object, Context], Any]:
    """A reader of formulas of these lengths."""

    def read(value: object, context: Context) -> Any:
        found = computed.law_in(value, arguments, ("m",), context)
        if found is None:
            raise readers.problem(f"must be a formula of {', '.join(arguments)}, not {value!r}")
        return found

    return read


SurfaceTable = table(
    "SurfaceTable",
    "What bodies that touch are made of.",
    {"name": readers.name("rubber")},
    stiffness=readers.number("N/m"),
    damping=readers.number("s/m"),
    friction=readers.number("1"),
    torsion=readers.number("m"),
    rolling=readers.number("m"),
)
GroundTable = table(
    "GroundTable",
    "The ground that the shapes of all bodies may touch: the plane normal . x = height, or the [terrain]; or by "
    "heights over x and y, or where a distance is zero.",
    {"name": readers.name("ground")},
    surface=A_SURFACE,
    height=readers.number("m"),
    normal=readers.vector("1"),
    velocity=readers.vector("m/s"),
    ignored=readers.names(),
    heights=readers.typed(_law("x", "y"), "a formula or table of x and y [m]", {"type": "string"}),
    distance=readers.typed(_law("x", "y", "z"), "a formula of x, y and z [m]", {"type": "string"}),
    capacity=readers.whole(1, PATCHES),
)
PairTable = table(
    "PairTable",
    "Two bodies that may touch each other, or a body and a ground with a surface of their own; or all of some bodies, "
    "but for neighbours; or all bodies.",
    {},
    a=A_PAIR,
    b=A_PAIR,
    bodies=readers.names(),
    surface=A_SURFACE,
    capacity=readers.whole(1, PATCHES),
)
MODELS = {"surface": SurfaceTable, "ground": GroundTable, "pair": PairTable}


def _surface(world: World, entries: dict[str, Any]) -> None:
    world.add_surface(**entries)


def _ground(world: World, entries: dict[str, Any]) -> None:
    ignored = tuple(entries.pop("ignored", ()))
    for body in ignored:
        if body not in world.description.bodies:
            raise FieldError(f"there is no body {body!r}{hint(body, world.description.bodies)}.", "ignored")
    if "distance" in entries:
        entries["distance"] = OfPoint(entries["distance"])
    if "heights" in entries:
        entries["terrain"] = Terrain(entries["name"], entries.pop("heights"))
    world.add_ground(**entries, ignored=ignored)


def _pair(world: World, entries: dict[str, Any]) -> None:
    bodies = entries.pop("bodies", None)
    if bodies is not None and ("a" in entries or "b" in entries):
        raise FieldError("give either a and b, or bodies", "bodies")
    if ("a" in entries) != ("b" in entries):
        raise FieldError("give both a and b", "a" if "a" in entries else "b")
    world.collide(bodies if bodies is not None else entries.pop("a", None), **entries)


@dataclass(frozen=True)
class OfPoint:
    """A law of x, y and z as a function of a point (3,) [m]."""

    law: Law

    def __call__(self, p: Array) -> Any:
        return self.law(p[0], p[1], p[2])


_ADDED: dict[str, Callable[[World, dict[str, Any]], None]] = {"surface": _surface, "ground": _ground, "pair": _pair}


def add(kind: str, world: World, found: ScenarioTable) -> None:
    """Add what a table describes to a world."""
    _ADDED[kind](world, {key: value for key, value in found.entries().items() if value is not None})
