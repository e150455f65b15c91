"""The tables of elements, such as [[spring]] and [[body.tank]]: their keys are the fields of their classes."""

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np
from pydantic import AfterValidator, BeforeValidator, create_model
from pydantic import Field as Key

from poinsot._fields import FieldType, field_types
from poinsot.control import Block, Controller, When
from poinsot.control.blocks import LinearBlock
from poinsot.environment import AirMass, CentralGravity, EarthGravity, Ground, PairTouch, Terrain, Touch, TouchList
from poinsot.files import computed, control_tables, readers, vehicle_tables
from poinsot.files.described import subclasses, table_name
from poinsot.files.readers import KeyType, ScenarioTable
from poinsot.files.shape_tables import Piece
from poinsot.files.size_limits import COUNT
from poinsot.fuse import Table
from poinsot.parts import ClosedLoop, Element
from poinsot.parts.barrowman import Fins, Transition
from poinsot.spatial import Inertia

OWNERS = ("body", "joint")  # the key that names what an element sits on; inside a body it is that body
# Elements that are written in another way: gravity = {...}, [[close]], [[controller]], [[event]]; or not in scenarios.
OTHERWISE: tuple[type, ...] = (
    AirMass, Block, CentralGravity, ClosedLoop, Controller, EarthGravity, Ground, LinearBlock, PairTouch, Terrain,
    Touch, TouchList, When,
)  # fmt: skip
OWNERLESS = ("flow", "limit", "wing")  # elements that may do without, as they name tanks, cuts or beams in full

SEVERAL: dict[tuple[str, str], Any] = {("barrowman", "fins"): Fins, ("barrowman", "transitions"): Transition}


@cache
def elements() -> dict[str, Any]:
    """All kinds of elements, by the names of their tables: "spring", "joint_stop", ..."""
    ours = ("poinsot.parts.", "poinsot.environment.", "poinsot.control.")
    classes = [c for c in subclasses(Element) if c.__module__.startswith(ours) and c not in OTHERWISE]
    return {table_name(cls): cls for cls in sorted(classes, key=lambda c: c.__name__.lower())}


def owner_of(cls: Any) -> str | None:
    """The key of an element that names what it sits on."""
    return next((key for key in OWNERS if key in {f.name for f in fields(cls)}), None)


@cache
def model_of(cls: Any, inside: bool = False) -> type[ScenarioTable]:
    """The keys of an element; `inside` a body, it sits on that body."""
    kind, keys = table_name(cls), {}  # type: str, dict[str, Any]
    owner, types = owner_of(cls), field_types(cls)
    own = (vehicle_tables.KEYS | control_tables.KEYS).get(kind, {})
    for f in fields(cls):
        if inside and f.name == owner:
            continue
        needed = f.default is MISSING and f.default_factory is MISSING
        needed = needed or f.name == "name" or (f.name == owner and kind not in OWNERLESS)
        reader = own.get(f.name) or _several(kind, f.name) or type_of(f.name, types[f.name], f.default)
        keys[f.name] = (reader, ... if needed else None)
    keys = {name: (reader, None) for name, reader in own.items()} | keys
    return create_model(cls.__name__, __base__=ScenarioTable, __doc__=first_line(cls), **keys)


def _several(kind: str, name: str) -> KeyType | None:
    """One or more dataclasses that are a field of an element, such as the fins of a rocket, as tables."""
    if (kind, name) not in SEVERAL:
        return None
    one = _within(SEVERAL[kind, name])
    alone = BeforeValidator(lambda x: [x] if isinstance(x, dict) else x)
    return Annotated[list[one], alone, Key(description="a table, or a list of tables")]  # type: ignore[valid-type]


@cache
def _within(cls: Any) -> KeyType:
    """A dataclass that is a field of an element, such as the section of a wing, as a table."""
    types = field_types(cls)
    keys: dict[str, Any] = {
        f.name: (type_of(f.name, types[f.name], f.default), ... if f.default is MISSING else None) for f in fields(cls)
    }
    model = create_model(f"{cls.__name__}Table", __base__=ScenarioTable, __doc__=first_line(cls), **keys)

    def make(table: ScenarioTable) -> Any:
        try:
            return cls(**table.entries())
        except ValueError as error:
            raise readers.problem(str(error).rstrip(".")) from None

    return Annotated[model, AfterValidator(make), Key(description=f"a table {{ {', '.join(keys)} }}")]


def first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().partition("\n")[0]


def type_of(name: str, kind: FieldType, default: Any) -> KeyType:
    """The reader for a field of an element, by its type."""
    choices = set(get_args(kind.bare)) if get_origin(kind.bare) in (Union, UnionType) else {kind.bare}
    choices -= {NoneType}
    if name == "name":
        return readers.name("box")
    if Table in choices:
        return computed.grid()
    if len(choices) == 1 and is_dataclass(bare := next(iter(choices))) and bare is not Inertia:
        return _within(bare)  # type: ignore[arg-type]
    if get_origin(kind.bare) is Literal:
        return readers.choice(*get_args(kind.bare))
    if kind.arguments:
        return computed.law(kind.arguments, *kind.units)
    if any(get_origin(c) is Callable for c in choices):
        return computed.value(*kind.units)
    if choices == {bool}:
        return readers.flag()
    if choices == {int}:
        return readers.whole(1, COUNT)
    if choices == {str}:
        return readers.text(f"the name of a {name}" if name in (*OWNERS, "tank", "cut") else "a name")
    if choices == {Inertia}:
        return Piece
    if choices == {tuple[str, ...]}:
        return readers.names()
    if choices <= {float, int}:
        return readers.number(*kind.units, infinite=default in (np.inf, -np.inf))
    return readers.array(*kind.units)
