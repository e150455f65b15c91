"""The tables of a scenario: which keys each kind has. Elements, shapes and joints bring their own, from their fields.

A new element of `poinsot.parts` appears in scenarios by itself; the types of its fields say in which units they are.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Annotated, Any

from pydantic import Field as Key
from pydantic import create_model

from poinsot.files import computed, contact_tables, control_tables, flight_tables, readers
from poinsot.files.element_tables import elements, first_line, model_of, owner_of
from poinsot.files.fly_tables import FlyOptions
from poinsot.files.readers import ScenarioTable
from poinsot.files.shape_tables import AnyShape, MassProperties, Placed, Turned, by_kind, optional, table
from poinsot.mechanism.joint_types import JointType
from poinsot.mechanism.joints import TYPES
from poinsot.parts import Beam
from poinsot.run import METHODS
from poinsot.world.dimensions import OF_JOINTS

A_BODY = readers.text("the name of a body")


def _joint_keys(joint: JointType) -> dict[str, Any]:
    """Its axes and parameters, and what resists motion in it: in units of rotation, of translation, or of both."""
    keys: dict[str, Any] = {name: (readers.vector("1"), ...) for name in joint.axes}
    keys |= {name: (readers.number(unit), ...) for name, unit in joint.parameters.items()}
    for key, (angular, linear) in OF_JOINTS.items() if joint.units else ():
        units = [angular] * ("rad" in joint.units) + [linear] * ("m" in joint.units)
        keys[key] = (readers.array(*units), None)
    return keys


def _any_joint(joints: tuple[str, ...]) -> Any:
    return by_kind({kind: _joint_keys(TYPES[kind]) for kind in joints})


def body_model(item: Mapping[str, Any] | None = None) -> type[ScenarioTable]:
    """A body: its shapes, its joint, its initial state, and the elements that sit on it.

    For one item: with those kinds of elements that sit on it, which is the same if it has no key that is wrong.
    """
    kinds = inside = _kinds_inside()
    if item is not None and {*item} <= {*inside, *_body_model(tuple(TYPES), ()).model_fields}:
        kinds = tuple(name for name in inside if name in item)
    return _body_model(tuple(TYPES), kinds)


def _kinds_inside() -> tuple[str, ...]:
    """The kinds of elements that may sit on a body."""
    return tuple(name for name, cls in elements().items() if owner_of(cls))


@cache
def _body_model(joints: tuple[str, ...], inside: tuple[str, ...]) -> type[ScenarioTable]:
    own: dict[str, Any] = {
        "shape": Annotated[list[AnyShape], Key(description="tables [[body.shape]]")],  # type: ignore[valid-type]
        "inertia": MassProperties,
        "origin": readers.choice("given", "com"),
        "parent": A_BODY,
        "joint": _any_joint(joints),
        "placement": Placed,
        "position": readers.vector("m"),
        "orientation": Turned,
        "velocity": readers.vector("m/s"),
        "angular_velocity": readers.vector("rad/s"),
        "q": readers.array("rad", "m", "1"),
        "v": readers.array("rad/s", "m/s"),
        "start": flight_tables.start_model(),
    }
    parts = {
        name: Annotated[list[model_of(cls, True)], Key(description=first_line(cls))]  # type: ignore[misc]
        for name, cls in elements().items()
        if name in inside and name not in own
    }
    model: type[ScenarioTable] = table("Body", "A body.", {"name": readers.name("box")}, **own, **parts)
    return model


# Other tables.

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
    "A robot from a file: URDF, SDF or MJCF.",
    {},
    urdf=readers.file(".urdf"),
    sdf=readers.file(".sdf"),
    mjcf=readers.file(".xml"),
    floating=readers.flag(),
    limits=readers.flag(),
    scenery=readers.flag(),
    prefix=readers.text(),
    parent=A_BODY,
    placement=Placed,
    q=readers.array("rad", "m", "1"),
    v=readers.array("rad/s", "m/s"),
)
Weights: Any = Annotated[
    dict[str, readers.number("1", "m/rad", "rad/m")],  # type: ignore[misc]
    Key(description="a table of weights by the names of bodies"),
]
Coupled = table(
    "Coupled",
    "q_b = ratio q_a + offset; or the sum of weights times the q of other bodies; or a function of q_a.",
    {},
    ratio=readers.number("1", "m/rad", "rad/m"),
    weights=Weights,
    function=computed.law(("q",)),
    offset=readers.number("rad", "m"),
)
Rolls = table(
    "Rolls",
    "A ball, or a disc with an axis, rolls on a plane without slipping.",
    {"radius": readers.number("m", positive=True)},
    normal=readers.vector("1"),
    axis=readers.vector("1"),
    slips=readers.flag(),
)
Guide = table(
    "Guide",
    "A point stays on the curve [x(s), y(s), z(s)].",
    {"curve": computed.law(("s",)), "span": readers.array(shape=(2,))},
    samples=readers.whole(2),
)
Drive = table(
    "Drive",
    "The q of a joint is a function of time.",
    {"name": readers.name("drive"), "joint": A_BODY, "motion": computed.law(("t",), "rad", "m")},
)


@cache
def close_model() -> type[ScenarioTable]:
    """A closed loop: two bodies held together by a joint, a line, plane or curve, a distance, rolling; or coupled."""
    model: type[ScenarioTable] = table(
        "Close",
        "A closed loop: frame B on body b, held to frame A on body a or on the world.",
        {"name": readers.name("pin"), "a": A_BODY, "b": A_BODY},
        joint=_any_joint(tuple(TYPES)),
        on_line=readers.vector("1"),
        on_plane=readers.vector("1"),
        on_curve=Guide,
        distance=readers.number("m", positive=True),
        coupling=Coupled,
        rolling=Rolls,
        placement_a=Placed,
        placement_b=Placed,
    )
    return model


Centre = table("Centre", "The pull of a planet.", {}, mu=readers.number("m^3/s^2"), centre=readers.vector("m"))
RunOptions = table(
    "RunOptions",
    "How long and how to simulate.",
    {"duration": readers.number("s", positive=True)},
    step=readers.number("s", positive=True),
    method=readers.choice(*METHODS),
    every=readers.number("s", positive=True),
    record=readers.names("a list of quantities"),
    until=computed.condition(),
    tolerance=readers.number("1", positive=True),
    ledger_tolerance=readers.number("1", positive=True),
    seed=readers.whole(),
    flight=readers.file(".csv"),
)
ShowOptions = table(
    "ShowOptions",
    "What `poinsot run` draws in the terminal, into a picture and into its replay.",
    {},
    camera=readers.camera(),
    layers=readers.names('a list of layers, such as ["+forces"]'),
    surroundings=readers.choice("studio", "field", "orbit"),
    draw=readers.text('a quantity, such as "box.position.z"'),
    crossing=readers.text('a verb, such as "flipped"'),
    plot=readers.names("a list of quantities"),
)
Varied: Any = Annotated[
    dict[str, readers.text('"lo:hi:n", "normal(mu, sigma)" or "uniform(lo, hi)"')],  # type: ignore[misc]
    Key(description="a table of paths with the values that they take"),
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
def beam_model() -> type[ScenarioTable]:
    """A flexible beam on a body, or on the world."""
    return create_model("BeamInWorld", __base__=model_of(Beam), **optional(parent=A_BODY, placement=Placed))


SURROUNDINGS = flight_tables.WORLD_TABLES
TABLES: dict[str, type[ScenarioTable]] = {
    "run": RunOptions,
    "show": ShowOptions,
    "sweep": SweepOptions,
    "fly": FlyOptions,
}


class Models(Mapping[str, type[ScenarioTable]]):
    """Models by the names of their tables, each made when it is first asked for: they take a millisecond each."""

    def __init__(self, makers: Mapping[str, Callable[[], type[ScenarioTable]]]) -> None:
        self.makers = makers

    def __getitem__(self, name: str) -> type[ScenarioTable]:
        return self.makers[name]()

    def __contains__(self, name: object) -> bool:  # which `Mapping` answers by making the model
        return name in self.makers

    def __iter__(self) -> Iterator[str]:
        return iter(self.makers)

    def __len__(self) -> int:
        return len(self.makers)


def lists() -> Models:
    """The tables that may stand any number of times: [[body]], [[spring]], ..."""
    known = {"particle": Particle, "particles": ParticleSet, "model": Model, "drive": Drive}
    known |= {"table": flight_tables.TableOfNumbers} | control_tables.MODELS | contact_tables.MODELS
    makers: dict[str, Callable[[], type[ScenarioTable]]] = {
        "body": body_model,
        "beam": beam_model,
        "close": close_model,
    }
    makers |= {name: partial(_itself, model) for name, model in known.items()}
    return Models(makers | {name: partial(model_of, cls) for name, cls in elements().items()})


def _itself(model: type[ScenarioTable]) -> type[ScenarioTable]:
    return model


PICTURES = (  # that `run.plot` knows beside quantities
    "energy", "momentum", "phase", "polhode", "margins",
    "path", "ground_track", "globe", "height_and_speed", "mach_altitude", "elements", "eclipse", "dispersion",
)  # fmt: skip
TOP = ("title", "about", "gravity", "constants", "inputs", "outputs")


def top_keys() -> list[str]:
    """The keys of a scenario."""
    return [*TOP, *SURROUNDINGS, *TABLES, *lists()]
