"""Relations: what a closure asks of two frames. Each makes its own rows.

A row g(q) is zero where the relation holds; then J v = g' and J vdot + J' v = g'' are zero too. Rolling has rows that
are rates of no g: they hold velocities only.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.mechanism.joint_types import Closing
from poinsot.mechanism.joints import as_axes
from poinsot.mechanism.loop_frames import (
    Rows,
    aligned,
    apart,
    carrier,
    fixed_in_a,
    fixed_in_c,
    frames,
    held,
    screwed,
    turned,
    turning_axes,
    ways,
)
from poinsot.mechanism.model import Mechanism
from poinsot.mechanism.row_meanings import Meaning, along, direction

if TYPE_CHECKING:
    from poinsot.mechanism.closures import Closure

PARALLEL = 1e-15  # the sine of an angle that is none


class RowMaker(Protocol):
    """The rows of a relation: how many rows it has, how many of them hold positions, and the rows themselves."""

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

    def meanings(self, mech: Mechanism, closure: "Closure") -> list[Meaning]:
        """The meaning of each row's gap, in words, and its unit."""


@dataclass(frozen=True, eq=False)
class Kept:
    """Directions that are kept: those of a joint, of a point on a line or in a plane.

    `far`: by rows for positions that are far from closed, in which B may be upside down (`loop_frames.turned`).
    """

    asked: Closing
    far: bool = False

    @property
    def count(self) -> int:
        return self.asked.count

    places = count

    def joints(self, closure: "Closure") -> tuple[str, ...]:
        return ()

    def meanings(self, mech: Mechanism, closure: "Closure") -> list[Meaning]:
        frame = "frame A"
        if self._in_c(mech, closure):
            c = carrier(mech, closure)
            frame = "the world" if c < 0 else repr(mech.links[c].name)
        found = [along(d, frame) for d in self.asked.straight]
        axes = turning_axes(self.asked.aligned) if self.far else ()
        found += [along(d, "frame A", "about", "rad") for d in axes]
        for u, w in () if axes else self.asked.aligned:
            words = f"between {direction(u)} of frame A and {direction(w)} of frame B"
            found.append(Meaning(words, words, "rad", u @ w))
        return found + [along(n, "frame A") for n, _ in self.asked.screwed]

    def rows(self, mech: Mechanism, closure: "Closure", q: Array, v: Array, t: Any) -> Rows:
        A, B = frames(mech, closure, q, v)
        straight = fixed_in_c if self._in_c(mech, closure) else fixed_in_a
        rows = [straight(A, B, d) for d in self.asked.straight]
        rows += turned(A, B, self.asked.aligned) if self.far else [aligned(A, B, *pair) for pair in self.asked.aligned]
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

    def meanings(self, mech: Mechanism, closure: "Closure") -> list[Meaning]:
        return [Meaning("too far apart", "too near each other", "m")]

    def rows(self, mech: Mechanism, closure: "Closure", q: Array, v: Array, t: Any) -> Rows:
        A, B = frames(mech, closure, q, v)
        return held(mech, A, B, [apart(A, B, self.length)])


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


def distance(length: float) -> Distance:
    """The origins of two frames stay `length` [m] apart."""
    return Distance(length)


def on_line(axis: ArrayLike) -> Closing:
    """The origin of B stays on the line through A's origin along `axis`, in A's axes: a pin of a planar linkage."""
    return Closing(straight=Closing.across(as_axes(axis)[0]))


def on_plane(normal: ArrayLike) -> Closing:
    """The origin of B stays in the plane through A's origin with this normal, in A's axes."""
    return Closing(straight=(as_axes(normal)[0],))
