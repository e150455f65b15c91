"""Relations: what a closure asks of two frames, or of coordinates. Each makes its own rows.

A row g(q) is zero where the relation holds; then J v = g' and J vdot + J' v = g'' are zero too. Rolling has rows that
are rates of no g: they hold velocities only.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import Kernel, Table, is_traced
from poinsot.fuse.graph.nodes import tracing
from poinsot.mechanism.joint_types import Closing, directional
from poinsot.mechanism.joints import as_axes
from poinsot.mechanism.loop_frames import (
    Rows,
    aligned,
    apart,
    fixed_in_a,
    fixed_in_c,
    frames,
    held,
    screwed,
    ways,
)
from poinsot.mechanism.model import Mechanism
from poinsot.spatial.arrays import as_array

if TYPE_CHECKING:
    from poinsot.mechanism.closures import Closure

PARALLEL = 1e-15  # the sine of an angle that is none


class RowMaker(Protocol):
    """What a relation knows: how many rows it has, how many of them hold positions, and the rows themselves."""

    @property
    def count(self) -> int:
        """The number of rows."""

    @property
    def places(self) -> int:
        """How many of them, the first ones, are rates of a gap; the others hold velocities only."""

    def rows(self, mech: Mechanism, closure: "Closure", q: Array, v: Array, t: Any) -> Rows:
        """The rows at the time t [s]."""

    def joints(self, closure: "Closure") -> tuple[str, ...]:
        """The links in whose joints it acts; none if it acts on the two frames."""

    def lengths(self, mech: Mechanism, closure: "Closure") -> list[bool]:
        """Whether the gap of each row is a length [m]; otherwise it is an angle, or the cosine of one."""


@dataclass(frozen=True, eq=False)
class Kept:
    """Directions that are kept: those of a joint, of a point on a line or in a plane."""

    asked: Closing

    @property
    def count(self) -> int:
        return self.asked.count

    places = count

    def joints(self, closure: "Closure") -> tuple[str, ...]:
        return ()

    def lengths(self, mech: Mechanism, closure: "Closure") -> list[bool]:
        asked = self.asked
        return [True] * len(asked.straight) + [False] * len(asked.aligned) + [True] * len(asked.screwed)

    def rows(self, mech: Mechanism, closure: "Closure", q: Array, v: Array, t: Any) -> Rows:
        A, B = frames(mech, closure, q, v)
        along = fixed_in_c if self._in_c(mech, closure) else fixed_in_a
        rows = [along(A, B, d) for d in self.asked.straight]
        rows += [aligned(A, B, *pair) for pair in self.asked.aligned]
        rows += [screwed(A, B, *pair) for pair in self.asked.screwed]
        return held(mech, A, B, rows)

    def _in_c(self, mech: Mechanism, closure: "Closure") -> bool:
        """Whether the straight rows may be taken in C's axes, which is cheaper.

        They may if they are all three, or at right angles to an axis about which all joints between C and A turn.
        """
        straight, (path, _) = self.asked.straight, ways(mech, closure)
        if len(straight) == 3:
            return True
        turns = [closure.placement_a.R, *(mech.links[k].placement.R for k in path)]
        joints = [mech.links[k].joint for k in path]
        if len(straight) != 2 or is_traced(*straight, *turns, *(joint.axes for joint in joints)):
            return False
        asked = axis = np.cross(straight[0], straight[1])
        for joint, R in zip(joints, turns[:-1], strict=True):
            axis, screw = R @ axis, joint.type.screw
            if screw is None or (screw(joint)[0] and np.linalg.norm(np.cross(joint.axes[0], axis)) > PARALLEL):
                return False
        return bool(np.linalg.norm(np.cross(turns[-1] @ axis, asked)) <= PARALLEL)


@dataclass(frozen=True, eq=False)
class Distance:
    """The origins of both frames stay `length` [m] apart: a rod without mass."""

    count: ClassVar[int] = 1
    places: ClassVar[int] = 1

    length: float

    def __post_init__(self) -> None:
        require_positive("length", "a distance", self.length)

    def joints(self, closure: "Closure") -> tuple[str, ...]:
        return ()

    def lengths(self, mech: Mechanism, closure: "Closure") -> list[bool]:
        return [True]

    def rows(self, mech: Mechanism, closure: "Closure", q: Array, v: Array, t: Any) -> Rows:
        A, B = frames(mech, closure, q, v)
        return held(mech, A, B, [apart(A, B, self.length)])


# Relations of coordinates.


@dataclass(frozen=True, eq=False)
class Coupling:
    """q_b = ratio q_a + offset, for joints of one degree of freedom: gears, racks, belts, joints that mimic others.

    ratio in the units of q_b by those of q_a, offset in those of q_b: [rad] or [m].
    """

    count: ClassVar[int] = 1
    places: ClassVar[int] = 1

    ratio: float
    offset: float = 0.0

    def __post_init__(self) -> None:
        for name in ("ratio", "offset"):
            require_number(name, getattr(self, name))

    def joints(self, closure: "Closure") -> tuple[str, ...]:
        return (closure.b, str(closure.a))

    def lengths(self, mech: Mechanism, closure: "Closure") -> list[bool]:
        return _is_length(mech, closure)

    def rows(self, mech: Mechanism, closure: "Closure", q: Array, v: Array, t: Any) -> Rows:
        return _linear(mech, closure, q, {closure.a: self.ratio}, self.offset)


@dataclass(frozen=True, eq=False)
class Sharing:
    """q_b = the sum of weights times the q of other joints + offset: differentials, belts over several wheels.

    `weights` by the names of the links whose joints they are, each of one degree of freedom.
    """

    count: ClassVar[int] = 1
    places: ClassVar[int] = 1

    weights: Mapping[str, float]
    offset: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.weights, Mapping) or not self.weights:
            raise FieldError(f"weights must be numbers by the names of links, not {self.weights!r}.", "ratio")
        for name, weight in self.weights.items():
            require_number(f"weight of {name!r}", weight)
        require_number("offset", self.offset)

    def joints(self, closure: "Closure") -> tuple[str, ...]:
        return (closure.b, *self.weights)

    def lengths(self, mech: Mechanism, closure: "Closure") -> list[bool]:
        return _is_length(mech, closure)

    def rows(self, mech: Mechanism, closure: "Closure", q: Array, v: Array, t: Any) -> Rows:
        return _linear(mech, closure, q, self.weights, self.offset)


@dataclass(frozen=True, eq=False)
class Cam:
    """q_b = f(q_a) + offset, with a function that is twice differentiable and can be traced: cams, gears that are not
    round, polynomials of MJCF."""

    count: ClassVar[int] = 1
    places: ClassVar[int] = 1

    function: Callable[[Any], Any]
    offset: float = 0.0

    def __post_init__(self) -> None:
        require_number("offset", self.offset)

    def joints(self, closure: "Closure") -> tuple[str, ...]:
        return (closure.b, str(closure.a))

    def lengths(self, mech: Mechanism, closure: "Closure") -> list[bool]:
        return _is_length(mech, closure)

    def rows(self, mech: Mechanism, closure: "Closure", q: Array, v: Array, t: Any) -> Rows:
        (qa, va), (qb, vb) = (single_coordinate(mech, closure.name, link) for link in (closure.a, closure.b))
        there, slope, curvature = WithRates(self.function, f"the function of {closure.name!r}")(q[qa])
        row = np.zeros((1, mech.nv))
        row[0, vb] = 1.0
        row[0, va] = -1.0 * slope
        gap = np.reshape(q[qb] - there - self.offset, (1,))
        bias = np.reshape(-1.0 * curvature * v[va] * v[va], (1,))
        return Rows(gap, row, bias, np.zeros((1, 6)), np.zeros(1))


@dataclass(frozen=True)
class Polynomial:
    """y = c0 + c1 (x - at) + c2 (x - at)^2 + ..., with the coefficients c."""

    coefficients: tuple[float, ...]
    at: float = 0.0

    def __call__(self, x: Any) -> Any:
        y = 0.0 * x
        for c in reversed(self.coefficients):
            y = y * (x - self.at) + c
        return y


@dataclass(frozen=True, eq=False)
class Driven:
    """q_b = f(t): a coordinate that moves as prescribed, [rad] or [m]; f is twice differentiable and can be traced."""

    count: ClassVar[int] = 1
    places: ClassVar[int] = 1

    motion: Callable[[Any], Any]

    def __post_init__(self) -> None:
        if not callable(self.motion):
            raise FieldError(f"a joint is driven by a function of time [s], not by {self.motion!r}.", "motion")

    def joints(self, closure: "Closure") -> tuple[str, ...]:
        return (closure.b,)

    def lengths(self, mech: Mechanism, closure: "Closure") -> list[bool]:
        return _is_length(mech, closure)

    def rows(self, mech: Mechanism, closure: "Closure", q: Array, v: Array, t: Any) -> Rows:
        place, freedom = single_coordinate(mech, closure.name, closure.b)
        row = np.zeros((1, mech.nv))
        row[0, freedom] = 1.0
        there, rate, acceleration = (
            np.reshape(x, (1,)) for x in WithRates(self.motion, f"the motion of {closure.name!r}")(t)
        )
        return Rows(q[place] - there, row, -acceleration, np.zeros((1, 6)), rate)


def _is_length(mech: Mechanism, closure: "Closure") -> list[bool]:
    """Whether the coordinate of b is a length."""
    return [mech.links[mech.index(closure.b)].joint.type.units[0] == "m"]


def _linear(mech: Mechanism, closure: "Closure", q: Array, weights: Mapping[Any, Any], offset: Any) -> Rows:
    """q_b - the sum of weights times other coordinates - offset."""
    place, freedom = single_coordinate(mech, closure.name, closure.b)
    row = np.zeros((1, mech.nv))
    row[0, freedom] = 1.0
    gap = q[place] - offset
    for link, weight in weights.items():
        place, freedom = single_coordinate(mech, closure.name, link)
        row[0, freedom] = row[0, freedom] - weight
        gap = gap - weight * q[place]
    return Rows(np.reshape(gap, (1,)), row, np.zeros(1), np.zeros((1, 6)), np.zeros(1))


@dataclass(frozen=True, eq=False)
class WithRates:
    """f, f' and f'' of a function of one number, which can be traced; each of this shape. `name`: for errors."""

    function: Callable[[Any], Any]
    name: str
    shape: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.function, Table) and self.function.method != "cubic":
            raise FieldError(f"the table of {self.name} must be cubic, not {self.function.method}.", "relation")

    def __call__(self, x: Any) -> tuple[Array, ...]:
        x = as_array(x) + np.zeros(())
        found: tuple[Array, ...] = self._traced(x) if tracing() else self._kernel(x)
        return found

    @cached_property
    def _kernel(self) -> Kernel:
        size = ",".join(map(str, self.shape))
        return Kernel(self._traced, f"()->({size}),({size}),({size})").to("numpy")

    def _traced(self, x: Array) -> tuple[Array, Array, Array]:
        def rate(x: Array) -> Array:
            return directional(self._value, x, np.ones(()))

        return self._value(x), rate(x), directional(rate, x, np.ones(()))

    def _value(self, x: Array) -> Array:
        y = self.function(x)
        y = np.stack([as_array(part) + 0.0 * x for part in y]) if isinstance(y, (tuple, list)) else as_array(y)
        if np.shape(y) != self.shape:
            raise FieldError(f"{self.name} must give numbers of shape {self.shape}, not {np.shape(y)}.", "relation")
        return y + 0.0 * x


def single_coordinate(mech: Mechanism, name: str, link: str | None) -> tuple[int, int]:
    """The places in q and v of a joint of one degree of freedom."""
    k = -1 if link is None else mech.index(link)
    if k < 0 or mech.links[k].joint.nv != 1:
        what = "the world" if k < 0 else f"link {link!r} on a {mech.links[k].joint.kind} joint"
        raise FieldError(
            f"{name!r} couples or drives joints of one degree of freedom (revolute, prismatic or helical), and {what} "
            "has none.",
            "relation",
            name,
        )
    return mech.q_slices[k].start, mech.v_slices[k].start


def require_positive(name: str, owner: str, value: Any) -> None:
    """An error if a number is not finite and above zero."""
    require_number(name, value)
    if not is_traced(value) and not value > 0:
        raise FieldError(f"{name} of {owner} must be positive, not {value!r}.", name)


def require_number(name: str, value: Any) -> None:
    """An error if this is not one finite number."""
    if is_traced(value):
        return
    try:
        good = not isinstance(value, str) and np.shape(value) == () and bool(np.isfinite(float(value)))
    except (TypeError, ValueError):
        good = False
    if not good:
        raise FieldError(f"{name} must be a finite number, not {value!r}.", name)


# As a user calls them.


def coupling(ratio: Any, offset: float = 0.0) -> Coupling | Sharing | Cam:
    """q_b = ratio q_a + offset; with a mapping, the sum of weights times the q of the links that it names; with a
    function, q_b = f(q_a) + offset."""
    if isinstance(ratio, Mapping):
        return Sharing(ratio, offset)
    return Cam(ratio, offset) if callable(ratio) else Coupling(ratio, offset)


def distance(length: float) -> Distance:
    """The origins of two frames stay `length` [m] apart."""
    return Distance(length)


def on_line(axis: ArrayLike) -> Closing:
    """The origin of B stays on the line through A's origin along `axis`, in A's axes: a pin of a planar linkage."""
    return Closing(straight=Closing.across(as_axes(axis)[0]))


def on_plane(normal: ArrayLike) -> Closing:
    """The origin of B stays in the plane through A's origin with this normal, in A's axes."""
    return Closing(straight=(as_axes(normal)[0],))
