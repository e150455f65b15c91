"""The tables of poses, shapes and mass properties in a scenario."""

from dataclasses import MISSING, fields
from typing import Annotated, Any, Union, get_args

from pydantic import Discriminator, Tag, create_model
from pydantic import Field as Key

from poinsot.files import readers
from poinsot.files.described import subclasses
from poinsot.files.readers import KeyType, ScenarioTable
from poinsot.spatial.mesh import Mesh
from poinsot.spatial.physical import Check
from poinsot.spatial.shapes import Shape


def table(name: str, about: str, needed: dict[str, KeyType], **keys: KeyType) -> Any:
    """A table with required keys, and others that it may have."""
    every = {key: (kind, ...) for key, kind in needed.items()} | optional(**keys)
    return create_model(name, __base__=ScenarioTable, __doc__=about, **every)


def optional(**keys: KeyType) -> dict[str, Any]:
    """Keys that may be left out, in the form of pydantic."""
    return {key: (kind, None) for key, kind in keys.items()}


Orientation = table(
    "Orientation",
    "A rotation: a unit quaternion wxyz, or roll, pitch and yaw about x, y and z, or an angle about an axis.",
    {},
    wxyz=readers.array("1", shape=(4,)),
    roll=readers.number("rad"),
    pitch=readers.number("rad"),
    yaw=readers.number("rad"),
    axis=readers.vector("1"),
    angle=readers.number("rad"),
)
Turned = readers.wrapped(Orientation, "wxyz", list)
Placement = table(
    "Placement",
    "The pose of a frame: its position [m] and orientation.",
    {},
    position=readers.vector("m"),
    orientation=Turned,
)
Placed = readers.wrapped(Placement, "position", list)


SHAPED = optional(
    mass=readers.number("kg"),
    density=readers.number("kg/m^3", "kg/m^2", "kg/m"),
    position=readers.vector("m"),
    orientation=Turned,
    axis=readers.vector("1"),
    collide=readers.flag(),
)


def by_kind(models: dict[str, dict[str, Any]]) -> KeyType:
    """A table whose key `kind` says which other keys it has."""
    tagged = []
    for kind, keys in models.items():
        model = create_model(kind.title(), __base__=ScenarioTable, kind=(readers.choice(kind), ...), **keys)
        tagged.append(Annotated[model, Tag(kind)])
    return Annotated[
        Union[tuple(tagged)],  # noqa: UP007
        Discriminator(lambda x: x.get("kind") if isinstance(x, dict) else None),
        Key(description=f"a table with kind = {', '.join(models)}"),
    ]


def shapes() -> dict[str, type[Shape]]:
    """All shapes by their names, except meshes."""
    return {cls.__name__.lower(): cls for cls in subclasses(Shape) if cls is not Mesh}


def _shape_keys(cls: type[Shape]) -> dict[str, Any]:
    keys: dict[str, Any] = {}
    for f in fields(cls):
        n = len(get_args(f.type))
        kind = readers.array("m", shape=(n,)) if n else readers.number("m")
        keys[f.name] = (kind, ... if f.default is MISSING else None)
    return {**keys, **SHAPED}


AnyShape = by_kind(
    {name: _shape_keys(cls) for name, cls in shapes().items()}
    | {
        "mesh": {"file": (readers.file("STL, OBJ, PLY"), ...), "scale": (readers.number("1"), None), **SHAPED},
        "points": {
            "masses": (readers.array("kg", shape=(None,)), ...),
            "positions": (readers.array("m", shape=(None, 3)), ...),
        },
    }
)
MassProperties = table(
    "MassProperties",
    "Mass [kg], centre of mass [m], moment of inertia [kg m^2] about it: three numbers along the axes, or 3 x 3.",
    {"mass": readers.number("kg")},
    com=readers.vector("m"),
    moment=readers.array("kg m^2"),
    check=readers.choice(*get_args(Check)),
)
PieceOf = table(
    "PieceOf",
    "A part of a body: all its shapes beyond a station along the axis of a cut, or shapes, or mass properties.",
    {},
    beyond=readers.number("m"),
    shape=list[AnyShape],  # type: ignore[valid-type]
    inertia=MassProperties,
)
Piece: KeyType = Annotated[PieceOf, Key(description="a table { beyond, shape, inertia }")]
