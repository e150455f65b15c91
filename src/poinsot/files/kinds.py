"""The tables of a scenario: what keys each kind has. Elements, shapes and joints bring their own, from their fields.

A new element of `poinsot.parts` appears in scenarios by itself; the types of its fields say in which units they are.
"""

from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np
from pydantic import Discriminator, Tag, create_model
from pydantic import Field as Key

from poinsot._fields import FieldType, field_types
from poinsot.environment import CentralGravity
from poinsot.files import readers
from poinsot.files.described import subclasses
from poinsot.files.dimensions import OF_JOINTS, table_name
from poinsot.files.readers import Table
from poinsot.mechanism.joint_types import JointType
from poinsot.mechanism.joints import TYPES
from poinsot.parts import Beam, Element
from poinsot.run import METHODS
from poinsot.spatial import Inertia
from poinsot.spatial.mesh import Mesh
from poinsot.spatial.shapes import Shape

A_BODY = readers.text("the name of a body")
OWNERS = ("body", "joint")  # the key of an element that names what it sits on; inside of a body it is that one
ROAMING = ("flow", "limit")  # elements that may do without, as they name tanks or cuts in full


# Elements, from their fields.


@cache
def elements() -> dict[str, Any]:
    """All kinds of elements by the names of their tables: "spring", "joint_stop", ..."""
    ours = ("poinsot.parts.", "poinsot.environment.")
    found = [c for c in subclasses(Element) if c.__module__.startswith(ours) and c is not CentralGravity]
    return {table_name(cls): cls for cls in sorted(found, key=lambda c: c.__name__.lower())}


def owner_of(cls: Any) -> str | None:
    """The key of an element that names what it sits on."""
    return next((key for key in OWNERS if key in {f.name for f in fields(cls)}), None)


@cache
def model_of(cls: Any, inside: bool = False) -> type[Table]:
    """The keys of an element; `inside` of a body, which it then sits on."""
    kind, keys = table_name(cls), {}  # type: str, dict[str, Any]
    owner, types = owner_of(cls), field_types(cls)
    for f in fields(cls):
        if inside and f.name == owner:
            continue
        needed = f.default is MISSING and f.default_factory is MISSING
        needed = needed or f.name == "name" or (f.name == owner and kind not in ROAMING)
        keys[f.name] = (_type_of(f.name, types[f.name], f.default), ... if needed else None)
    return create_model(cls.__name__, __base__=Table, __doc__=_first_line(cls), **keys)


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().partition("\n")[0]


def _type_of(name: str, kind: FieldType, default: Any) -> Any:
    """What may stand at a field of an element, by its type."""
    choices = set(get_args(kind.bare)) if get_origin(kind.bare) in (Union, UnionType) else {kind.bare}
    choices -= {NoneType}
    if name == "name":
        return readers.name("box")
    if get_origin(kind.bare) is Literal:
        return readers.choice(*get_args(kind.bare))
    if kind.arguments:
        return readers.law(kind.arguments, *kind.units)
    if any(get_origin(c) is Callable for c in choices):
        return readers.value(*kind.units)
    if choices == {bool}:
        return readers.flag()
    if choices == {int}:
        return readers.whole(1)
    if choices == {str}:
        return readers.text(f"the name of a {name}" if name in (*OWNERS, "tank", "cut") else "a name")
    if choices == {Inertia}:
        return Piece
    if choices == {tuple[str, ...]}:
        return readers.names()
    if choices <= {float, int}:
        return readers.number(*kind.units, infinite=default in (np.inf, -np.inf))
    return readers.array(*kind.units)


# Where things are.


def table(name: str, about: str, needed: dict[str, Any], **keys: Any) -> Any:
    """A table with keys that it needs, and others that it may have."""
    rows = {key: (kind, ...) for key, kind in needed.items()} | optional(**keys)
    return create_model(name, __base__=Table, __doc__=about, **rows)


def optional(**keys: Any) -> dict[str, Any]:
    """Keys that may be left out, as a model wants them."""
    return {key: (kind, None) for key, kind in keys.items()}


Orientation = table(
    "Orientation",
    "A turn: a unit quaternion wxyz, or roll, pitch and yaw about x, y and z, or an angle about an axis.",
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
    "Where a frame is: its position [m], and how it is turned.",
    {},
    position=readers.vector("m"),
    orientation=Turned,
)
Placed = readers.wrapped(Placement, "position", list)


# Bodies: shapes, inertia, joints.

SHAPED = optional(
    mass=readers.number("kg"),
    density=readers.number("kg/m^3", "kg/m^2", "kg/m"),
    position=readers.vector("m"),
    orientation=Turned,
    axis=readers.vector("1"),
)


def _by_kind(models: dict[str, dict[str, Any]]) -> Any:
    """A table whose key `kind` says which other keys it has."""
    tagged = []
    for kind, keys in models.items():
        model = create_model(kind.title(), __base__=Table, kind=(readers.choice(kind), ...), **keys)
        tagged.append(Annotated[model, Tag(kind)])
    return Annotated[
        Union[tuple(tagged)],  # noqa: UP007
        Discriminator(lambda x: x.get("kind") if isinstance(x, dict) else None),
        Key(description=f"a table with kind = {', '.join(models)}"),
    ]


def shapes() -> dict[str, type[Shape]]:
    """All shapes by their names, meshes apart."""
    return {cls.__name__.lower(): cls for cls in subclasses(Shape) if cls is not Mesh}


def _shape_keys(cls: type[Shape]) -> dict[str, Any]:
    keys: dict[str, Any] = {}
    for f in fields(cls):
        n = len(get_args(f.type))
        kind = readers.array("m", shape=(n,)) if n else readers.number("m")
        keys[f.name] = (kind, ... if f.default is MISSING else None)
    return {**keys, **SHAPED}


AnyShape = _by_kind(
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
)
PieceOf = table(
    "PieceOf",
    "A part of a body: all its shapes beyond a station along the axis of a cut, or shapes, or mass properties.",
    {},
    beyond=readers.number("m"),
    shape=list[AnyShape],  # type: ignore[valid-type]
    inertia=MassProperties,
)
Piece: Any = Annotated[PieceOf, Key(description="a table { beyond, shape, inertia }")]


def _joint_keys(joint: JointType) -> dict[str, Any]:
    """Its axes and parameters, and what resists motion in it: in units of turning, of sliding, or of both."""
    keys: dict[str, Any] = {name: (readers.vector("1"), ...) for name in joint.axes}
    keys |= {name: (readers.number(unit), ...) for name, unit in joint.parameters.items()}
    for key, (turn, slide) in OF_JOINTS.items() if joint.units else ():
        chosen = [turn] * ("rad" in joint.units) + [slide] * ("m" in joint.units)
        keys[key] = (readers.array(*chosen), None)
    return keys


def body_model() -> type[Table]:
    """A body: what it is made of, what it hangs on, how it starts, and the elements that sit on it."""
    return _body_model(tuple(TYPES))


@cache
def _body_model(joints: tuple[str, ...]) -> type[Table]:
    own: dict[str, Any] = {
        "shape": Annotated[list[AnyShape], Key(description="tables [[body.shape]]")],  # type: ignore[valid-type]
        "inertia": MassProperties,
        "origin": readers.choice("given", "com"),
        "parent": A_BODY,
        "joint": _by_kind({kind: _joint_keys(TYPES[kind]) for kind in joints}),
        "placement": Placed,
        "position": readers.vector("m"),
        "orientation": Turned,
        "velocity": readers.vector("m/s"),
        "angular_velocity": readers.vector("rad/s"),
        "q": readers.array("rad", "m", "1"),
        "v": readers.array("rad/s", "m/s"),
    }
    parts = {
        name: Annotated[list[model_of(cls, True)], Key(description=_first_line(cls))]  # type: ignore[misc]
        for name, cls in elements().items()
        if owner_of(cls) and name not in own
    }
    return table("Body", "A body.", {"name": readers.name("box")}, **own, **parts)


# The rest.

Particle = table(
    "Particle",
    "A point mass.",
    {"name": readers.name("ball"), "mass": readers.number("kg")},
    position=readers.vector("m"),
    velocity=readers.vector("m/s"),
)
Net = table(
    "Net",
    "Springs between the point masses of a set, by their numbers.",
    {"pairs": readers.array(shape=(None, 2)), "stiffness": readers.array("N/m")},
    rest_length=readers.array("m"),
    damping=readers.array("N s/m"),
)
ParticleSet = table(
    "ParticleSet",
    "Many point masses, called name0, name1, ..., and springs between them.",
    {
        "name": readers.name("net"),
        "masses": readers.array("kg"),
        "positions": readers.array("m", shape=(None, 3)),
    },
    velocities=readers.array("m/s", shape=(None, 3)),
    springs=Net,
)
Model = table(
    "Model",
    "A robot from a file: URDF or MJCF.",
    {},
    urdf=readers.file(".urdf"),
    mjcf=readers.file(".xml"),
    floating=readers.flag(),
    prefix=readers.text(),
    parent=A_BODY,
    placement=Placed,
    q=readers.array("rad", "m", "1"),
    v=readers.array("rad/s", "m/s"),
)
Centre = table("Centre", "The pull of a planet.", {}, mu=readers.number("m^3/s^2"), centre=readers.vector("m"))
RunOptions = table(
    "RunOptions",
    "How long and how to simulate.",
    {"duration": readers.number("s", positive=True)},
    step=readers.number("s", positive=True),
    method=readers.choice(*METHODS, "adaptive"),
    every=readers.number("s", positive=True),
    record=readers.names("a list of quantities"),
    until=readers.condition(),
    tolerance=readers.number("1", positive=True),
    seed=readers.whole(),
)
ShowOptions = table(
    "ShowOptions",
    "What `poinsot run` draws in the terminal, and into a picture.",
    {},
    draw=readers.text('a quantity, such as "box.position.z"'),
    crossing=readers.text('a verb, such as "flipped"'),
    plot=readers.names("a list of quantities"),
)
Varied: Any = Annotated[
    dict[str, readers.text('"lo:hi:n", "normal(mu, sigma)" or "uniform(lo, hi)"')],  # type: ignore[misc]
    Key(description="a table of paths and what they vary over"),
]
SweepOptions = table(
    "SweepOptions",
    "What `poinsot sweep` varies.",
    {"vary": Varied},
    samples=readers.whole(1),
    seed=readers.whole(),
    every=readers.number("s", positive=True),
    record=readers.names("a list of quantities"),
)


@cache
def beam_model() -> type[Table]:
    """A flexible beam on a body, or on the world."""
    return create_model("BeamInWorld", __base__=model_of(Beam), **optional(parent=A_BODY, placement=Placed))


TABLES: dict[str, type[Table]] = {"run": RunOptions, "show": ShowOptions, "sweep": SweepOptions}


def lists() -> dict[str, type[Table]]:
    """What may stand any number of times, as [[body]], [[spring]], ..."""
    own = {"body": body_model(), "particle": Particle, "particles": ParticleSet, "model": Model, "beam": beam_model()}
    return own | {name: model_of(cls) for name, cls in elements().items()}


PICTURES = ("energy", "momentum", "phase", "polhode", "margins")  # that `run.plot` knows beside quantities
TOP = ("title", "about", "gravity", "constants", "inputs")


def top_keys() -> list[str]:
    """The keys of a scenario."""
    return [*TOP, *TABLES, *lists()]
