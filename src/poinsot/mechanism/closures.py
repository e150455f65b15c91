"""Closures: what closes the loops of a tree. Each asks something of the frames of two links, or of coordinates.

A closure holds where its rows g(q) (m,) are zero; then J v = g' and J vdot + J' v = g'' are zero too. A row is one of

    d . p         the origin of B lies in a plane of A with the normal d; p is the position of B's origin in A's axes
    u . R w       the angle between u, fixed in A, and w, fixed in B, is a right one, or whatever it was at neutral
    |p| - length  a rod without mass
    q_b - ratio q_a - offset
    q_b - f(t)    a coordinate that moves as prescribed

or that of a curve or a wheel (`guides`). A joint's type says which of the first two it closes by
(`JointType.closing`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.fuse import is_traced
from poinsot.mechanism.coordinate_relations import Cam, Coupling, Driven, Sharing
from poinsot.mechanism.guides import Guided, RollingContact
from poinsot.mechanism.joint_types import Closing
from poinsot.mechanism.joints import Joint
from poinsot.mechanism.loop_frames import Rows, no_rows, ways
from poinsot.mechanism.model import Mechanism, plain
from poinsot.mechanism.relations import Distance, Kept, RowMaker
from poinsot.mechanism.row_meanings import Meaning, told
from poinsot.spatial import Pose
from poinsot.spatial.arrays import as_array

Relation: TypeAlias = Joint | Closing | Coupling | Sharing | Cam | Distance | Driven | Guided | RollingContact


def asked_by(relation: Relation, far: bool = False) -> RowMaker:
    """The maker of a relation's rows; `far`: for positions that are far from closed."""
    if isinstance(relation, Joint):
        return Kept(relation.type.closing(relation), far)
    return Kept(relation, far) if isinstance(relation, Closing) else relation


def count_of(relation: Relation) -> int:
    """How many rows a relation has."""
    return asked_by(relation).count


@dataclass(frozen=True, eq=False)
class Closure:
    """Two links of a tree, a and b, that are held together by a joint, a coupling or a distance.

    `a`: a link, or None for the world. `relation`: a joint from frame A to frame B, as if B's link hung on A's; a point
    on a line, plane or curve; a distance; a wheel that rolls; or a coupling of the links' own joints. `placement_a`,
    `placement_b`: the poses of A and B in the frames of their links. `held`: 1, or 0 once it has parted.
    """

    name: str
    a: str | None
    b: str
    relation: Relation
    placement_a: Pose = field(default_factory=Pose)
    placement_b: Pose = field(default_factory=Pose)
    held: Any = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise FieldError(f"the name of a closure must be text, not {self.name!r}.", "name")
        if not isinstance(self.relation, Relation):
            raise FieldError(
                f"{self.name!r} closes a loop by {self.relation!r}; it needs a joint such as pt.revolute(axis), "
                "pt.coupling(ratio), pt.distance(length), pt.on_line(axis), pt.on_plane(normal), pt.on_curve(f, span) "
                "or pt.rolling(radius).",
                "relation",
                self.name,
            )
        for name in ("placement_a", "placement_b"):
            if not isinstance(getattr(self, name), Pose):
                raise FieldError(
                    f"{name} of {self.name!r} must be a pt.Pose, not {getattr(self, name)!r}; pt.Pose(p=...) is at a "
                    "position.",
                    name,
                    self.name,
                )
        if self.b is None:
            raise FieldError(f"b of {self.name!r} is the world: let a be the world, and b a body.", "b", self.name)
        if self.a == self.b:
            raise FieldError(f"{self.name!r} holds {self.b!r} to itself: a and b must be two bodies.", "b", self.name)
        if isinstance(self.relation, Sharing) and self.b in self.relation.weights:
            raise FieldError(
                f"{self.name!r} couples {self.b!r} to itself: leave it out of the weights, and divide the others by 1 "
                "less its weight.",
                "relation",
                self.name,
            )


def prefixed(closure: Closure, prefix: str) -> Closure:
    """The same for links with a prefix before their names."""
    relation, a = closure.relation, closure.a
    if isinstance(relation, Sharing):
        relation = replace(relation, weights={prefix + name: weight for name, weight in relation.weights.items()})
    ends = (None if a is None else prefix + a, prefix + closure.b)
    return Closure(prefix + closure.name, *ends, relation, closure.placement_a, closure.placement_b)


def closing_rows(
    mech: Mechanism,
    closures: Sequence[Closure],
    q: Array,
    v: Array,
    t: Any = 0.0,
    places: bool = False,
    far: bool = False,
) -> Rows:
    """The rows of all closures at the time t [s], one below the other; gaps in m, rad or 1. `places`: only those that
    hold positions. `far`: as they are taken far from where the closures hold, without their rates."""
    parts = [rows_of(mech, closure, q, v, t, places, far) for closure in closures]
    return Rows(*(np.concatenate(column) for column in zip(no_rows(mech), *parts, strict=True)))


def jumps(
    mech: Mechanism, closure: Closure, before: tuple[Array, Any], after: tuple[Array, Any]
) -> tuple[Array, Array] | None:
    """Whether the function that a closure follows, and whether its slope, jumps between (q, t) before and after a step;
    None if it follows none."""
    relation = closure.relation
    if not isinstance(relation, (Driven, Cam)):
        return None
    return relation.followed(closure).jumps(*(relation.argument(mech, closure, q, t) for q, t in (before, after)))


def reach_of(mech: Mechanism, closure: Closure) -> list[int]:
    """The places in v whose joints a closure acts on."""
    names = asked_by(closure.relation).joints(closure)
    links = [mech.index(name) for name in names] if names else [k for way in ways(mech, closure) for k in way]
    return [place for k in links for place in range(mech.v_slices[k].start, mech.v_slices[k].stop)]


def sizes_of(mech: Mechanism, closure: Closure) -> Array:
    """How large a gap of each row (m,) would be of the order of the loop itself: its size [m], or 1 (rad).

    The size is the longest way from a joint or an end of the loop to the next, or to the centre of mass.
    """
    lengths = [row.unit != "rad" for row in asked_by(closure.relation).meanings(mech, closure)]
    ways_in = [mech.links[k] for way in ways(mech, closure) for k in way]
    ways_in += [mech.links[mech.index(name)] for name in asked_by(closure.relation).joints(closure)]
    points = [closure.placement_a.p, closure.placement_b.p, *(link.placement.p for link in ways_in)]
    points += [link.inertia.com for link in ways_in if link.inertia is not None]
    own = [getattr(closure.relation, name) for name in ("length", "radius") if hasattr(closure.relation, name)]
    size = np.max(np.stack([*(np.sqrt(p @ p) for p in points), *(as_array(x) + np.zeros(()) for x in own)]))
    return np.where(np.array(lengths), np.where(size > 0, size, 1.0), 1.0)


def meanings(mech: Mechanism, closures: Sequence[Closure], far: bool = False) -> list[tuple[str, int, Meaning]]:
    """The meaning of each row of closures, with the name of its closure and its number in it."""
    asked = [(closure, asked_by(closure.relation, far).meanings(mech, closure)) for closure in closures]
    return [(closure.name, k, row) for closure, rows in asked for k, row in enumerate(rows)]


def told_open(mech: Mechanism, closures: Sequence[Closure], q: Array, tolerance: float = 1e-12) -> str:
    """In words, how far closures are open, of each that is: the gaps of all their rows, with their meaning."""
    gaps = closing_rows(mech, closures, q, np.zeros(mech.nv), far=True).gap
    rows = [(name, meaning) for name, _, meaning in meanings(mech, closures, far=True)]
    sizes = np.concatenate([np.zeros(0), *(plain(sizes_of(mech, closure)) for closure in closures)])
    return told(rows, plain(gaps), sizes, tolerance)


def rows_of(
    mech: Mechanism, closure: Closure, q: Array, v: Array, t: Any = 0.0, places: bool = False, far: bool = False
) -> Rows:
    """The rows of one closure at the time t [s]."""
    asked = asked_by(closure.relation, far)
    rows = asked.rows(mech, closure, q, v, t)
    if is_traced(closure.held) or closure.held != 1.0:  # what has parted asks for nothing
        rows = Rows(*(closure.held * x for x in rows))
    return rows.part(0, asked.places) if places and asked.places < asked.count else rows
