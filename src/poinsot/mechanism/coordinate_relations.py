"""Relations of coordinates: couplings of joints, and joints that are driven."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._signatures import misfit
from poinsot._types import Array
from poinsot.fuse import Kernel, Table
from poinsot.fuse.graph.nodes import tracing
from poinsot.mechanism.joint_types import directional
from poinsot.mechanism.loop_frames import Rows
from poinsot.mechanism.model import Mechanism
from poinsot.mechanism.relations import require_number
from poinsot.mechanism.row_meanings import Meaning
from poinsot.spatial.arrays import as_array

if TYPE_CHECKING:
    from poinsot.mechanism.closures import Closure

EXPLAINED = 0.6  # of the change at the steepest rate: what the trapezoidal rule may miss in a motion without jumps
STILL = 1e-9  # of the motion, or of 1 rad or m: a jump that is none


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

    def meanings(self, mech: Mechanism, closure: "Closure") -> list[Meaning]:
        return _of_q(mech, closure)

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
            if not isinstance(name, str) or name == "world":
                raise FieldError(f"weights must be by the names of links, which have joints, not {name!r}.", "ratio")
            require_number(f"weight of {name!r}", weight)
        require_number("offset", self.offset)

    def joints(self, closure: "Closure") -> tuple[str, ...]:
        return (closure.b, *self.weights)

    def meanings(self, mech: Mechanism, closure: "Closure") -> list[Meaning]:
        return _of_q(mech, closure)

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

    def meanings(self, mech: Mechanism, closure: "Closure") -> list[Meaning]:
        return _of_q(mech, closure)

    def rows(self, mech: Mechanism, closure: "Closure", q: Array, v: Array, t: Any) -> Rows:
        (qa, va), (qb, vb) = (single_coordinate(mech, closure.name, link) for link in (closure.a, closure.b))
        there, slope, curvature = self.followed(closure)(q[qa])
        row = np.zeros((1, mech.nv))
        row[0, vb] = 1.0
        row[0, va] = -1.0 * slope
        gap = np.reshape(q[qb] - there - self.offset, (1,))
        bias = np.reshape(-1.0 * curvature * v[va] * v[va], (1,))
        return Rows(gap, row, bias, np.zeros((1, 6)), np.zeros(1))

    def followed(self, closure: "Closure") -> "WithRates":
        return WithRates(self.function, f"the function of {closure.name!r}")

    def argument(self, mech: Mechanism, closure: "Closure", q: Array, t: Any) -> Any:
        """The argument of the function: the coordinate of the first joint."""
        return q[single_coordinate(mech, closure.name, closure.a)[0]]


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
        if wrong := misfit(self.motion, "t"):
            raise FieldError(f"the motion of a joint is {wrong}.", "motion")

    def joints(self, closure: "Closure") -> tuple[str, ...]:
        return (closure.b,)

    def meanings(self, mech: Mechanism, closure: "Closure") -> list[Meaning]:
        return _of_q(mech, closure)

    def rows(self, mech: Mechanism, closure: "Closure", q: Array, v: Array, t: Any) -> Rows:
        place, freedom = single_coordinate(mech, closure.name, closure.b)
        row = np.zeros((1, mech.nv))
        row[0, freedom] = 1.0
        there, rate, acceleration = (np.reshape(x, (1,)) for x in self.followed(closure)(t))
        return Rows(q[place] - there, row, -acceleration, np.zeros((1, 6)), rate)

    def followed(self, closure: "Closure") -> "WithRates":
        return WithRates(self.motion, f"the motion of {closure.name!r}")

    def argument(self, mech: Mechanism, closure: "Closure", q: Array, t: Any) -> Any:
        """The argument of the motion: the time."""
        return t


def _of_q(mech: Mechanism, closure: "Closure") -> list[Meaning]:
    """The one row of a relation that says where the coordinate of b is."""
    unit = mech.links[mech.index(closure.b)].joint.type.units[0]
    return [Meaning(f"too much in q of {closure.b!r}", f"too little in q of {closure.b!r}", unit)]


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
        try:
            y = np.stack([as_array(part) + 0.0 * x for part in y]) if isinstance(y, (tuple, list)) else as_array(y)
            y = y + 0.0 * x
        except TypeError as error:  # text, None and the like
            raise FieldError(f"{self.name} must give numbers, not {y!r}.", "relation") from error
        if np.shape(y) != self.shape:
            raise FieldError(f"{self.name} must give numbers of shape {self.shape}, not {np.shape(y)}.", "relation")
        return y

    def jumps(self, x0: Any, x1: Any) -> tuple[Array, Array]:
        """Whether f, and whether f', jumps between two arguments: it changes by more than its rates at both explain.

        By the trapezoidal rule, which misses less than `EXPLAINED` of the larger rate for what is smooth over that
        distance, and half of it where the rate itself jumps.
        """
        there, rate, curvature = zip(self(x0), self(x1), strict=True)
        return _leaps(there, rate, x1 - x0), _leaps(rate, curvature, x1 - x0)


def _leaps(y: tuple[Array, Array], rate: tuple[Array, Array], dx: Any) -> Array:
    """Whether y changes by more than its rates explain, at the beginning and the end of dx."""
    missed = np.abs(y[1] - y[0] - 0.5 * (rate[0] + rate[1]) * dx)
    steepest = np.maximum(np.abs(rate[0]), np.abs(rate[1]))
    size = np.maximum(np.maximum(np.abs(y[0]), np.abs(y[1])), 1.0)
    leap: Array = missed > EXPLAINED * steepest * np.abs(dx) + STILL * size
    return leap


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


def coupling(ratio: Any, offset: float = 0.0) -> Coupling | Sharing | Cam:
    """q_b = ratio q_a + offset; with a mapping, the sum of weights times the q of the links that it names; with a
    function, q_b = f(q_a) + offset."""
    if isinstance(ratio, Mapping):
        return Sharing(ratio, offset)
    return Cam(ratio, offset) if callable(ratio) else Coupling(ratio, offset)
