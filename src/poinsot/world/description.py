"""The description of a world as frozen data: bodies, elements, gravity, inputs."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._errors import FieldError, about
from poinsot._hints import hint
from poinsot._types import Array, ArrayLike
from poinsot.contact.colliders import Collider, as_collider
from poinsot.control.events import require_released_once
from poinsot.environment import AirMass, CentralGravity, Earth, EarthGravity
from poinsot.fuse import is_traced
from poinsot.mechanism import Joint, Link, Mechanism, fixed, free
from poinsot.parts import WORLD, Element
from poinsot.parts.element import read_only
from poinsot.parts.scene import MOUNT
from poinsot.spatial import Inertia, Pose, quaternion
from poinsot.spatial.arrays import as_array, as_numbers, as_plain
from poinsot.world.flight_start import Start
from poinsot.world.orbit import Orbit

HELD = 1e30  # kg, kg m^2: the armature of a joint that is held; the acceleration that remains is below rounding
AS_PARENT = Pose()  # the joint's frame is that of the parent
STATE = ("position", "orientation", "velocity", "angular_velocity", "q", "v")
RESERVED = (WORLD, "gravity", "supports", "joints", "numerical")  # the frame at rest, and sources of the ledger


@dataclass(frozen=True, eq=False)
class Body:
    """A body and its initial state.

    As a `Link`: inertia in its own frame, parent, joint, placement. Without a joint it is free, or fixed to its parent
    if it has one. It starts at `position` (3,) [m] of its frame's origin, with `orientation` (4,) wxyz, the `velocity`
    (3,) [m/s] of that origin, in world axes, and the `angular_velocity` (3,) [rad/s] in body axes; or with the
    coordinates `q` and velocities `v` of its joint; or as a `start` says. By default it is at rest in the joint's
    neutral position. `shapes`: what it touches others by; by default the shapes that its inertia is made of.
    """

    name: str
    inertia: Inertia | None = None
    parent: str | None = None
    joint: Joint | None = None
    placement: Pose = AS_PARENT
    position: ArrayLike | None = None
    orientation: ArrayLike | None = None
    velocity: ArrayLike | None = None
    angular_velocity: ArrayLike | None = None
    q: ArrayLike | None = None
    v: ArrayLike | None = None
    start: Start | Orbit | None = field(default=None, metadata={"described": "if given"})
    shapes: tuple[Collider, ...] | None = field(default=None, metadata={"described": "if given"})

    def __post_init__(self) -> None:
        check_name("a body", self.name)
        if self.shapes is not None:
            with about(self.name, "shapes"):
                given = self.shapes if isinstance(self.shapes, list | tuple) else (self.shapes,)
                object.__setattr__(self, "shapes", tuple(as_collider(shape) for shape in given))
        self._check_start()
        if not isinstance(self.joint, Joint | None):
            raise TypeError(f"joint of body {self.name!r} must be one as pt.revolute((0, 0, 1)), not {self.joint!r}.")
        if self.joint is None:
            object.__setattr__(self, "joint", free() if self.parent is None else fixed())
        joint = self.hinge
        for name, value in self._defaults().items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        for name, size in {
            "position": 3, "orientation": 4, "velocity": 3, "angular_velocity": 3, "q": joint.nq, "v": joint.nv,
        }.items():  # fmt: skip
            value = getattr(self, name)
            if value is None:
                continue
            array = as_array(value)
            if not is_traced(array):
                array = as_numbers(f"{name} of body {self.name!r}", value)
                if name in ("q", "v") and size == 1:
                    array = array.reshape(-1) if array.ndim == 0 else array
                if not np.all(np.isfinite(array)):
                    words = f"{name} of body {self.name!r} must be finite numbers"
                    raise FieldError(f"{words}, not {as_plain(value)!r}.", name, self.name)
            if array.shape != (size,):
                what = f" of its {joint.kind} joint" if name in ("q", "v") else ""
                raise FieldError(
                    f"{name}{what} of body {self.name!r} needs {size} numbers, not {value!r}.", name, self.name
                )
            if name == "orientation":
                with about(self.name, name):
                    quaternion.check(array, f"orientation of body {self.name!r}")
                array = quaternion.normalize(array)
            object.__setattr__(self, name, array if is_traced(array) else read_only(array))

    def _check_start(self) -> None:
        """An error if there is something else than a `Start` or an `Orbit`, or anything else beside it."""
        if self.start is not None and not isinstance(self.start, (Start, Orbit)):
            words = f"start of body {self.name!r} must be a pt.Start or a pt.Orbit"
            raise FieldError(f"{words}, not {self.start!r}.", "start", self.name)
        for key in STATE if self.start is not None else ():
            if getattr(self, key) is not None:
                raise FieldError(f"body {self.name!r}: give either start or {key}, not both.", key, self.name)

    def started(self, earth: Earth | None, air: Element | None) -> "Body":
        """The body with its start, if it has one, as a position, orientation and velocities in the world's axes."""
        if self.start is None:
            return self
        with about(self.name, "start"):
            state = self.start.state(earth, air if isinstance(air, AirMass) else None)
        return replace(self, start=None, **state)  # type: ignore[arg-type]

    def _defaults(self) -> dict[str, Array]:
        """The initial state by default: at rest, in the neutral position."""
        if self.start is not None:
            return {}
        joint, default = self.hinge, {}  # type: Joint, dict[str, Array]
        as_body = self.parent is None and joint.type.position
        if as_body and self.q is None:
            default |= {"position": self.placement.p}
            if joint.type.attitude:
                default |= {"orientation": self.placement.quaternion()}
        elif self.position is None and self.orientation is None:
            default |= {"q": joint.type.neutral(joint)}
        if as_body and self.v is None:
            default |= {"velocity": np.zeros(3)}
            if joint.type.attitude:
                default |= {"angular_velocity": np.zeros(3)}
        elif self.velocity is None and self.angular_velocity is None:
            default |= {"v": np.zeros(joint.nv)}
        return default

    @property
    def hinge(self) -> Joint:
        """The joint that it hangs on."""
        assert self.joint is not None
        return self.joint

    def link(self, more: Inertia | None = None, turning: Array | None = None) -> Link:
        """The body as a link of a mechanism: with the mass that its parts add, without the moment of its rotors."""
        inertia = self.inertia if more is None else more if self.inertia is None else self.inertia + more
        if turning is not None:
            inertia = self._without(inertia, turning)
        return Link(self.name, inertia, self.parent, self.hinge, self.placement)

    def _without(self, inertia: Inertia | None, turning: Array) -> Inertia:
        if inertia is None:
            raise FieldError(
                f"body {self.name!r} has no mass, but a rotor; give it an inertia that includes the rotor's.",
                "inertia",
                self.name,
            )
        try:
            return Inertia(inertia.mass, inertia.com, inertia.moment - turning, check=inertia.check)
        except ValueError as error:
            raise FieldError(
                f"the inertia of body {self.name!r} must include that of its rotors, but without them it has {error}",
                "inertia",
                self.name,
            ) from error


@dataclass(frozen=True, eq=False)
class Description:
    """Bodies and elements by name, gravity (3,) [m/s^2] or an element, inputs with their default values."""

    bodies: Mapping[str, Body] = field(default_factory=dict)
    elements: Mapping[str, Element] = field(default_factory=dict)
    gravity: Array | CentralGravity | EarthGravity = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    inputs: Mapping[str, Array] = field(default_factory=dict)

    @cached_property
    def field(self) -> Array:
        """The uniform gravity (3,) [m/s^2]."""
        return np.zeros(3) if isinstance(self.gravity, Element) else as_array(self.gravity)

    @property
    def earth(self) -> Earth | None:
        """The Earth, if the world is one around it: its axes are then inertial, equal to Earth-fixed ones at t = 0."""
        return self.gravity.earth if isinstance(self.gravity, EarthGravity) else None

    def started(self) -> dict[str, Body]:
        """The bodies by name, those with a start with the initial state that it means in the world's axes."""
        return {name: body.started(self.earth, self.elements.get("air")) for name, body in self.bodies.items()}

    def acting(self) -> Iterator[tuple[str, Element]]:
        """All elements by name, gravity that is not uniform among them."""
        if isinstance(self.gravity, Element):
            yield "gravity", self.gravity
        yield from self.elements.items()

    def mechanism(self, states: Mapping[str, Array] | None = None, parts: bool = True) -> Mechanism:
        """The tree of all bodies, with the mass that elements add in these states, and mounts for releasable joints."""
        return Mechanism(self.links(states, parts), self.field)

    def links(self, states: Mapping[str, Array] | None = None, parts: bool = True) -> tuple[Link, ...]:
        """The links of its mechanism."""
        states = states or initial_states(self)
        more, decoupled = {}, {}  # type: dict[str, Inertia], dict[str, Array]
        for name, element in self.elements.items():
            gather(more, element.inertias(own_states(states, name)))
            gather(decoupled, element.decoupled())
        held = self.held(states) if parts else {}
        return tuple(
            link
            for name, body in self.bodies.items()
            for link in mounted(body.link(more.get(name), decoupled.get(name)), held.get(name))
        )

    def held(self, states: Mapping[str, Array]) -> dict[str, Array]:
        """The bodies whose joints may be released: 1 while every element that may release them holds, else 0."""
        return {name: held for name, held in self.holding(states).items() if name in self.bodies}

    def holding(self, states: Mapping[str, Array]) -> dict[str, Array]:
        """The same, with the loops that may part."""
        held: dict[str, Array] = {}
        for name, element in self.elements.items():
            for what, holds in element.holds(own_states(states, name)).items():
                held[what] = holds if what not in held else holds * held[what]
        return held

    def check(self) -> None:
        """An error if something refers to a name that does not exist."""
        if not self.bodies:
            raise ValueError("the world is empty: add a body with world.add_body(name, inertia).")
        require_released_once(self.elements)
        for name, element in self.elements.items():
            loops = {k for k in element.holds(element.states()) if k in self.elements and self.elements[k].follows}
            for body in (*element.bodies(), *element.joints()):
                if body not in self.bodies and body not in loops:
                    kind = type(element).__name__
                    raise FieldError(
                        f"{kind} {name!r} acts on {body!r}, which is not a body{hint(body, self.bodies)}.", owner=name
                    )
            for body in element.joints():
                if not self.bodies[body].hinge.nv:
                    raise FieldError(
                        f"{type(element).__name__} {name!r}: body {body!r} is fixed, it has no joint to move.",
                        "joint",
                        name,
                    )


def mounted(link: Link, held: Array | None) -> tuple[Link, ...]:
    """A link whose joint may be released, `held` being 1 before and 0 after: on a mount, a frame without mass.

    The mount hangs on a free joint. While a huge armature holds that one, the joint moves as usual; after the release
    the joint is held instead, as it is, and the mount moves with the body. One of the two is always held, so the body
    never has more than its own degrees of freedom. A joint that is free itself needs no mount.
    """
    if held is None:
        return (link,)
    holding, jamming = np.where(held > 0, HELD, 0.0), np.where(held > 0, 0.0, HELD)
    if link.joint.type.is_free:
        return (replace(link, joint=replace(link.joint, armature=link.joint.armature + holding)),)
    mount = Link(link.name + MOUNT, None, link.parent, free(armature=holding), link.placement)
    jammed = replace(link.joint, armature=link.joint.armature + jamming) if link.joint.nv else link.joint
    return mount, replace(link, parent=mount.name, joint=jammed, placement=Pose())


def gather(total: dict[str, Any], added: Mapping[str, Any]) -> None:
    """Add each item to the total of the same name."""
    for name, x in added.items():
        total[name] = total[name] + x if name in total else x


def initial_states(description: Description) -> dict[str, Array]:
    """The states of all elements at the start, as "element.state"."""
    return {
        f"{name}.{key}": as_array(value)
        for name, element in description.elements.items()
        for key, value in element.states().items()
    }


def own_states(states: Mapping[str, Array], element: str) -> dict[str, Array]:
    """The states of one element, by their own names."""
    start = f"{element}."
    return {key.removeprefix(start): value for key, value in states.items() if key.startswith(start)}


def check_name(what: str, name: str) -> None:
    """An error if this cannot be a name: it would not fit into a path, cannot be seen, or is reserved."""
    if not isinstance(name, str) or not name or any(c in ".[]" or c.isspace() for c in name):
        raise FieldError(
            f"{name!r} cannot be the name of {what}: it needs one or more letters, without dots, brackets and spaces.",
            "name",
        )
    if unseen := next((c for c in name if not c.isprintable()), None):
        raise FieldError(
            f"{name!r} cannot be the name of {what}: it contains U+{ord(unseen):04X}, a character that cannot be seen.",
            "name",
        )
    if name in RESERVED:
        raise FieldError(f"{name!r} cannot be the name of {what}: the names {', '.join(RESERVED)} are taken.", "name")


def check_new_names(d: Description, names: Iterable[str], is_number: Callable[[Description, str], bool]) -> None:
    """An error if a name is taken by something in a description, or if it is the path of one of its numbers."""
    for name in names:
        words = ""
        for what, taken in (("a body", d.bodies), ("an element", d.elements), ("an input", d.inputs)):
            if name in taken:
                words = f"there is {what} called {name!r} already; every name can be used once."
        if name == "earth" and d.earth is not None:
            words = "'earth' is the Earth of this world already; give another name."
        if not words and "." in name and is_number(d, name):
            words = f"{name!r} is a number of the world already; give the part another name."
        if words:
            raise FieldError(words, "name", name)
