"""Elements, which act on the bodies of a world: a new one is a frozen dataclass with a name and an effect."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from inspect import signature
from types import MethodType
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._fields import units_of
from poinsot._types import Array, ArrayLike, Scalar
from poinsot.fuse import is_traced
from poinsot.fuse.trace.purity import steady
from poinsot.parts.resisting import Resisting
from poinsot.parts.scene import BodyState, Scene
from poinsot.spatial import Inertia
from poinsot.spatial.arrays import as_array, number_in

Value: TypeAlias = ArrayLike | Callable[[Array, Scene], ArrayLike]
"""A constant, or a function of the time [s] and the scene."""

Deferred: TypeAlias = Any
"""A number or array; or a function of the `Dynamics`, if accelerations or reactions are needed to compute it."""


class Dynamics(Protocol):
    """One instant with its accelerations, as elements see it: the `Motion` of a world."""

    @property
    def scene(self) -> Scene:
        """The poses and velocities."""

    @property
    def effects(self) -> "Mapping[str, Effect]":
        """The effects of all elements, by name."""

    def acceleration(self, name: str) -> Array:
        """dV_WB_B/dt (6,) of a body."""

    def reaction(self, name: str) -> Array:
        """F_B (6,) on a body through its joint."""


@dataclass(frozen=True, eq=False)
class Effect:
    """The effect of an element at one instant.

    wrenches: F_B (6,) [N m, N] on bodies, about their origins in their own axes.
    joint_forces: tau (nv,) [N m, N] in joints, by the name of the body that the joint carries.
    stored: the recoverable energy [J] in the element; None if it stores none.
    power: what it adds to the energy of the system, its own store included [W]; by default, if it stores none, the
    power of its forces.
    rates: d/dt of its own states, by their names; contributions to those of others, by their full names.
    shown: other quantities of the element that can be recorded.
    carried: (L, p) (6,) [kg m^2/s, kg m/s], momentum relative to the bodies, about their origins in their own axes.
    outside: the part of the wrenches that comes from outside the world; None: all, unless the element is internal.
    mass: the mass flow into the world [kg/s].
    shares: parts of the power [W] that have rows of their own in the ledger, by the names that `Element.rows` gives.
    Over an implicit step, numerical: what the step itself adds to the energy in the element's forces and stores, per
    second [W]; foreseen: the energy [J] stored at its end, as the forces foresee it.

    power, rates and shown may be functions of the motion that follows from all effects.
    """

    wrenches: Mapping[str, Array] = field(default_factory=dict)
    joint_forces: Mapping[str, Array] = field(default_factory=dict)
    stored: Array | None = None
    power: Deferred | None = None
    rates: Mapping[str, Deferred] = field(default_factory=dict)
    shown: Mapping[str, Deferred] = field(default_factory=dict)
    carried: Mapping[str, Array] = field(default_factory=dict)
    outside: Mapping[str, Array] | None = None
    mass: Array | None = None
    shares: Mapping[str, Array] = field(default_factory=dict)
    numerical: Array | None = None
    foreseen: Array | None = None

    @property
    def is_deferred(self) -> bool:
        """Whether something in it is a function of the motion."""
        return any(callable(x) for x in (self.power, *self.rates.values(), *self.shown.values()))

    def evaluated(self, motion: Dynamics) -> "Effect":
        """The same effect, with the functions of the motion evaluated."""
        if not self.is_deferred:
            return self

        def value(x: Deferred) -> Any:
            return x(motion) if callable(x) else x

        rates, shown = ({key: value(x) for key, x in xs.items()} for xs in (self.rates, self.shown))
        return replace(self, power=value(self.power), rates=rates, shown=shown)


def combined(*effects: Effect, **shown: Deferred) -> Effect:
    """The sum of effects that all state their power, as that of one element which shows these quantities."""
    sums: tuple[dict[str, Array], ...] = ({}, {}, {})
    for effect in effects:
        outside = effect.wrenches if effect.outside is None else effect.outside
        for total, added in zip(sums, (effect.wrenches, effect.carried, outside), strict=True):
            for name, x in added.items():
                total[name] = total[name] + x if name in total else x
    stored = [effect.stored for effect in effects if effect.stored is not None]
    mass = [effect.mass for effect in effects if effect.mass is not None]
    powers: list[Any] = [effect.power for effect in effects]

    def power(m: Dynamics) -> Array:
        return sum((p(m) if callable(p) else p for p in powers), np.zeros(()))

    return Effect(
        wrenches=sums[0],
        stored=sum(stored, np.zeros(())) if stored else None,
        power=power,
        rates={name: rate for effect in effects for name, rate in effect.rates.items()},
        shown=shown,
        carried=sums[1],
        outside=sums[2],
        mass=sum(mass, np.zeros(())) if mass else None,
    )


def push(body: str, force: Array, point: Array, twist: Array) -> Effect:
    """The effect of a force (3,) [N] from outside at a point (3,) [m] of a body, both in its axes."""
    F = np.concatenate([np.cross(point, force), force])
    return Effect({body: F}, power=F @ twist)


@dataclass(frozen=True, eq=False)
class Element:
    """A named object that acts on bodies. Numbers among its fields can be left free, by "name.field"."""

    name: str

    internal: ClassVar[bool] = False  # acts only between bodies of the world: no inflow of momentum
    needs_implicit: ClassVar[bool] = False  # it cannot be stepped by a method that takes its forces at instants
    follows: ClassVar[bool] = False  # its forces follow from all others, together with the accelerations
    takes_only: ClassVar[bool] = False  # it gives back what it stores, or less: it brings no energy in
    structural: ClassVar[tuple[str, ...]] = ()  # numbers that decide its form, and cannot be left free
    tabled: ClassVar[tuple[str, ...]] = ()  # fields that are dicts, in which numbers have paths, "name.field.key"

    def __init_subclass__(cls) -> None:
        """Let every kind of element own its numbers: they are copied before its own `__post_init__` sees them."""
        super().__init_subclass__()
        own = cls.__dict__.get("__post_init__")
        if own is not None:

            @wraps(own)
            def frozen_first(self: Element) -> None:
                freeze(self)
                own(self)

            cls.__post_init__ = frozen_first  # type: ignore[method-assign]
        if cls.__module__.split(".")[0] != __name__.split(".")[0]:
            for name in ("effect", "settle"):
                if name in cls.__dict__:
                    setattr(cls, name, _guarded(cls.__dict__[name]))

    def __post_init__(self) -> None:
        freeze(self)

    def effect(self, scene: Scene) -> Effect:
        """Plain NumPy that can be traced."""
        raise NotImplementedError

    def bodies(self) -> tuple[str, ...]:
        """The names of the bodies that it acts on."""
        return ()

    def one_by_one(self) -> Callable[[Scene, BodyState, Any], Array] | None:
        """If all of its effect is that it acts on its bodies one by one, and by the same function: the wrench F_B (6,)
        of a scene, the body, and its number among `bodies`, which may be traced."""
        return None

    def only(self, names: Sequence[str]) -> "Element":
        """The same for some of its bodies, if it acts on them one by one."""
        raise TypeError(f"{self.name!r} acts on its bodies together.")

    def joints(self) -> tuple[str, ...]:
        """The names of the bodies whose joints it acts in."""
        return ()

    def states(self) -> Mapping[str, Array]:
        """Its own states by name, with their initial values."""
        return {}

    def ready(self, states: Mapping[str, Array]) -> Mapping[str, Array]:
        """Outputs that follow from its own states alone: they are known before its inputs are."""
        return {}

    def inertias(self, states: Mapping[str, Array]) -> Mapping[str, Inertia]:
        """The mass properties that it adds to bodies, in their frames, as a function of its own states."""
        return {}

    def decoupled(self) -> Mapping[str, Array]:
        """The moments of inertia (3, 3) [kg m^2], by body, that spin independently and do not add to the body's own."""
        return {}

    def holds(self, states: Mapping[str, Array]) -> Mapping[str, Array]:
        """The joints, by body, that may separate: 1 while the element holds one together, 0 once it has released it."""
        return {}

    def settle(self, motion: Dynamics, states: Mapping[str, Array]) -> Mapping[str, Array]:
        """Its own states after a step, where they do not follow from their rates alone, as for latches."""
        return states

    @property
    def rows(self) -> tuple[str, ...]:
        """The shares of its power that only take energy, if the ledger has a row for each: the names of
        `Effect.shares`."""
        return ()

    def happened(self, states: Mapping[str, Array]) -> Array | None:
        """1 from the instant on at which something happened to it, 0 before: a step in which it does is made in two
        parts. None if nothing of that kind ever does."""
        return None

    def corners(self, t: Scalar, states: Mapping[str, Array]) -> Array | None:
        """The times [s] (k,) at which its forces jump or have a corner, as far as they are known at the time t: steps
        end there. None if there are none."""
        return None

    # In an implicit step:

    def resisting(self, scene: Scene, h: Scalar) -> Resisting:
        """Its forces at the end of a step h [s]: for elements that do not take them at its start."""
        raise NotImplementedError

    @property
    def resists(self) -> bool:
        """Whether its forces are taken at the end of an implicit step."""
        return type(self).resisting is not Element.resisting

    def lets_go(self, before: Mapping[str, Array], after: Mapping[str, Array]) -> tuple[Array, dict[str, Array]] | None:
        """The time [s] of a release between its states before and after a step, and its states that are set then.

        Far in the future if it releases nothing in this step, and None if it never does.
        """
        return None

    @property
    def latches(self) -> bool:
        """Whether `settle` changes its states after a step."""
        return type(self).settle is not Element.settle

    def units(self) -> Mapping[str, str]:
        """The units of its states and outputs that are not fields; those of a field are in its type."""
        return {}


def _guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a user's element that is an error if it gives other numbers each time."""

    @wraps(method)
    def call(self: Element, *args: Any) -> Any:
        return steady(MethodType(method, self), *args, role=f"{method.__name__} of {type(self).__name__} {self.name!r}")

    return call


def freeze(item: Any) -> None:
    """Replace the arrays, lists and dicts among the fields of a frozen dataclass by copies; arrays are read-only."""
    for f in fields(item):
        value = getattr(item, f.name, None)
        if isinstance(value, (np.ndarray, list, dict)) and not is_traced(value):
            object.__setattr__(item, f.name, _copied(value))


def _copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return read_only(value)
    if isinstance(value, (list, tuple)):
        return tuple(map(_copied, value))
    return {key: _copied(x) for key, x in value.items()} if isinstance(value, dict) else value


def read_only(array: Array) -> Array:
    """A copy that cannot be written to; an array that is its own owner's and read-only already, as it is."""
    if array.flags.writeable or array.base is not None:
        array = array.copy()
        array.setflags(write=False)
    return array


E = TypeVar("E", bound=Element)


def alike(element: E, **changes: Any) -> E:
    """A copy with other values of some fields, which are known to be in order: they are not checked again."""
    made = object.__new__(type(element))
    made.__dict__.update({f.name: getattr(element, f.name) for f in fields(element)} | changes)
    return made


def units_of_outputs(element: Element) -> dict[str, str]:
    """The units of the fields, states and outputs of an element, by name; "N m, N" where the joint decides."""
    return {name: ", ".join(units) for name, units in units_of(type(element)).items()} | dict(element.units())


def value_of(value: Value, scene: Scene, shape: tuple[int, ...], field: str, owner: str, spread: bool = True) -> Array:
    """A constant or the value of a function as an array of this shape; a single number is broadcast if `spread`."""
    array = as_array(called(value, scene, field, owner) if callable(value) else value)
    if array.shape == shape:
        return array
    if array.shape == () and spread:
        return array * np.ones(shape)
    raise FieldError(f"{field} of {owner} has shape {array.shape}; it must have shape {shape}.", field)


def called(function: Callable[..., Any], scene: Scene, field: str, owner: str, clock: Any = None) -> Any:
    """The value of a function (t, scene), or of (t) alone; a second argument with a default, as in `lambda t, u=u`, is
    the user's own, unless it is called scene. t is the time of the scene, or of a `clock` [s] of its own."""
    t = scene.t if clock is None else clock
    try:
        known = signature(function).parameters.values()
    except (TypeError, ValueError):  # a function in C
        return steady(function, t, scene, role=f"{field} of {owner}")
    places = [p for p in known if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in places if p.default is p.empty]
    many = any(p.kind is p.VAR_POSITIONAL for p in known)
    strict = [p.name for p in known if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    late = any(p.name == "scene" for p in needed[:1])  # it would get the time
    if len(needed) > 2 or strict or late or not (places or many):
        raise FieldError(
            f"{field} of {owner} is a function {signature(function)}; it must be one of (t, scene), or of (t) alone.",
            field,
        )
    with_scene = many or len(needed) == 2 or any(p.name == "scene" for p in places[1:2])
    return steady(function, *((t, scene) if with_scene else (t,)), role=f"{field} of {owner}")


def require_finite(owner: str, **numbers: Any) -> None:
    """An error that names the value among these that is not a number, or not finite."""
    for name, value in numbers.items():
        if callable(value) or is_traced(value):
            continue
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise FieldError(f"{name} of {owner} must be numbers, not {value!r}.", name) from None
        if not np.all(np.isfinite(array)):
            raise FieldError(f"{name} of {owner} must be finite, not {value!r}.", name)


def require_points(owner: str, **points: Any) -> None:
    """An error that names the point among these that is not three finite numbers [m]."""
    require_finite(owner, **points)
    for name, value in points.items():
        if np.shape(as_array(value)) != (3,):
            raise FieldError(f"{name} of {owner} must be three numbers [m], not {value!r}.", name)


def require_single(owner: str, **numbers: Any) -> None:
    """An error that names the value among these that is not one finite number, nor a function."""
    require_finite(owner, **numbers)
    for name, value in numbers.items():
        if not callable(value) and np.shape(value) != ():
            raise FieldError(f"{name} of {owner} must be one number, not {value!r}.", name)


def require_limit(owner: str, limit: Any) -> None:
    """An error if a limit is negative or NaN; it may be infinite."""
    if is_traced(limit):
        return
    try:
        array = np.asarray(limit, dtype=float)
    except (TypeError, ValueError):
        raise FieldError(f"limit of {owner} must be numbers, not {limit!r}.", "limit") from None
    if not np.all(array >= 0):
        raise FieldError(f"limit of {owner} must be zero or more, not {limit!r}.", "limit")


@contextmanager
def within_range(what: str) -> Iterator[None]:
    """An error in words where plain numbers overflow, or are divided by zero."""
    try:
        yield
    except ArithmeticError as error:
        words = f"{what} has numbers that are too large, too small or too unlike to compute with"
        raise FieldError(f"{words}: {str(error.args[-1]).lower()}.") from error


def require_not_negative(owner: str, **numbers: Any) -> None:
    """An error that names the number among these that is negative or not finite."""
    require_finite(owner, **numbers)
    for name, value in numbers.items():
        if not callable(value) and not is_traced(value) and np.any(np.asarray(value) < 0):
            raise FieldError(f"{name} of {owner} must be zero or more, not {value!r}.", name)


def require_above_zero(owner: str, infinite: bool = False, **numbers: Any) -> None:
    """An error that names the number among these that is not above zero; it may be infinite, if that is said."""
    for name, value in numbers.items():
        if callable(value) or is_traced(value):
            continue
        if not (number_in(value) > 0 and (infinite or number_in(value) < np.inf)):
            raise FieldError(f"{name} of {owner} must be a number above zero, not {value!r}.", name)


def whole_number(owner: str, name: str, value: Any, least: int = 1) -> int:
    """A count as a Python integer; an error that names it if it is not a whole number, or too small."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or value < least:
        raise FieldError(f"{name} of {owner} must be a whole number, {least} or more, not {value!r}.", name)
    return int(value)


def require_share(owner: str, **numbers: Any) -> None:
    """An error that names the number among these that is not from 0 to 1."""
    for name, value in numbers.items():
        if callable(value) or is_traced(value):
            continue
        if not 0 <= number_in(value) <= 1:
            raise FieldError(f"{name} of {owner} must be between 0 and 1, not {value!r}.", name)
