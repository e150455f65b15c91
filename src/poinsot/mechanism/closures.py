"""Closures: what closes the loops of a tree. Each asks something of the frames of two links, or of two coordinates.

A closure holds where its rows g(q) (m,) are zero; then J v = g' and J vdot + J' v = g'' are zero too. A row is one of

    d . p         the origin of B lies in a plane of A with the normal d; p is the position of B's origin in A's axes
    u . R w       the angle between u, fixed in A, and w, fixed in B, is a right one, or whatever it was at neutral
    |p| - length  a rod without mass
    q_b - ratio q_a - offset
    q_b - f(t)    a coordinate that moves as prescribed

A joint's type says which of the first two it closes by (`JointType.closing`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.mechanism import kinematics
from poinsot.mechanism.joint_types import Closing, directional
from poinsot.mechanism.joints import Joint, as_axes
from poinsot.mechanism.model import Mechanism
from poinsot.spatial import Pose, motion
from poinsot.spatial.arrays import as_array

PARALLEL = 1e-15  # the sine of an angle that is none


@dataclass(frozen=True, eq=False)
class Coupling:
    """q_b = ratio q_a + offset, for joints of one degree of freedom: gears, racks, belts, joints that mimic others.

    ratio in the units of q_b by those of q_a, offset in those of q_b: [rad] or [m].
    """

    ratio: float
    offset: float = 0.0

    def __post_init__(self) -> None:
        for name in ("ratio", "offset"):
            _require_number(name, getattr(self, name))


@dataclass(frozen=True, eq=False)
class Distance:
    """The origins of both frames stay `length` [m] apart: a rod without mass."""

    length: float

    def __post_init__(self) -> None:
        _require_number("length", self.length)
        if not is_traced(self.length) and not self.length > 0:
            raise FieldError(f"length of a distance must be positive, not {self.length!r}.", "length")


@dataclass(frozen=True, eq=False)
class Driven:
    """q_b = f(t): a coordinate that moves as prescribed, [rad] or [m]; f is twice differentiable and can be traced."""

    motion: Callable[[Any], Any]

    def __post_init__(self) -> None:
        if not callable(self.motion):
            raise FieldError(f"a joint is driven by a function of time [s], not by {self.motion!r}.", "motion")

    def at(self, t: Any) -> tuple[Array, Array, Array]:
        """f, f' and f'' at a time."""

        def rate(t: Array) -> Array:
            return directional(self._of, t, np.ones(()))

        t = as_array(t) + np.zeros(())
        return self._of(t), rate(t), directional(rate, t, np.ones(()))

    def _of(self, t: Array) -> Array:
        value = as_array(self.motion(t)) + 0.0 * t
        if np.shape(value) != ():
            raise FieldError(f"a driven joint needs one number at a time, not {np.shape(value)}.", "motion")
        return value


Relation: TypeAlias = Joint | Closing | Coupling | Distance | Driven


def coupling(ratio: float, offset: float = 0.0) -> Coupling:
    """q_b = ratio q_a + offset."""
    return Coupling(ratio, offset)


def distance(length: float) -> Distance:
    """The origins of two frames stay `length` [m] apart."""
    return Distance(length)


def on_line(axis: ArrayLike) -> Closing:
    """The origin of B stays on the line through A's origin along `axis`, in A's axes: a pin of a planar linkage."""
    return Closing(straight=Closing.across(as_axes(axis)[0]))


def on_plane(normal: ArrayLike) -> Closing:
    """The origin of B stays in the plane through A's origin with this normal, in A's axes."""
    return Closing(straight=(as_axes(normal)[0],))


@dataclass(frozen=True, eq=False)
class Closure:
    """Two links of a tree, a and b, that are held together by a joint, a coupling or a distance.

    `a`: a link, or None for the world. `relation`: a joint from frame A to frame B, as if B's link hung on A's; a point
    on a line or plane; a distance; or a coupling of the two links' own joints. `placement_a`, `placement_b`: the poses
    of A and B in the frames of their links.
    """

    name: str
    a: str | None
    b: str
    relation: Relation
    placement_a: Pose = field(default_factory=Pose)
    placement_b: Pose = field(default_factory=Pose)

    def __post_init__(self) -> None:
        if not isinstance(self.relation, Relation):
            raise FieldError(
                f"{self.name!r} closes a loop by {self.relation!r}; it needs a joint such as pt.revolute(axis), "
                "pt.coupling(ratio), pt.distance(length), pt.on_line(axis) or pt.on_plane(normal).",
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


class Rows(NamedTuple):
    """The rows of closures: g (m,), J (m, nv) with g' = J v - rate, and J' v - rate' (m,).

    `wrench` (m, 6): on B, of a unit force, about the origin of C, the nearest link that carries both ends, in its axes;
    zero for a coupling or a drive. `rate` (m,): zero but for drives.
    """

    gap: Array
    J: Array
    bias: Array
    wrench: Array
    rate: Array = np.zeros(())


class LoopFrame(NamedTuple):
    """A frame on a link, seen from the link C that carries both ends of a loop, as if C were at rest.

    X: its pose in C. w, v0 (3,): angular velocity, and velocity of what passes C's origin, in C's axes; Jw, J0 (3, nv)
    their rows; alpha, a0 (3,) their rates at vdot = 0.
    """

    X: Pose
    w: Array
    v0: Array
    Jw: Array
    J0: Array
    alpha: Array
    a0: Array

    @property
    def velocity(self) -> Array:
        """Of the frame's origin (3,)."""
        return self.v0 + np.cross(self.w, self.X.p)

    @property
    def J(self) -> Array:
        """The rows (3, nv) of the velocity."""
        return self.J0 + rows_across(self.Jw, self.X.p)

    @property
    def acceleration(self) -> Array:
        """Of the frame's origin (3,), at vdot = 0."""
        return self.a0 + np.cross(self.alpha, self.X.p) + np.cross(self.w, self.velocity)


def rows_across(J: Array, p: Array) -> Array:
    """The rows (3, nv) of w x p, from those of w."""
    return np.stack([J[1] * p[2] - J[2] * p[1], J[2] * p[0] - J[0] * p[2], J[0] * p[1] - J[1] * p[0]])


def closing_rows(mech: Mechanism, closures: Sequence[Closure], q: Array, v: Array, t: Any = 0.0) -> Rows:
    """The rows of all closures at the time t [s], one below the other; gaps in m, rad or 1."""
    parts = [rows_of(mech, closure, q, v, t) for closure in closures]
    return Rows(*(np.concatenate(column) for column in zip(_no_rows(mech), *parts, strict=True)))


def _no_rows(mech: Mechanism) -> Rows:
    return Rows(np.zeros(0), np.zeros((0, mech.nv)), np.zeros(0), np.zeros((0, 6)), np.zeros(0))


def rows_of(mech: Mechanism, closure: Closure, q: Array, v: Array, t: Any = 0.0) -> Rows:
    """The rows of one closure at the time t [s]."""
    relation = closure.relation
    if isinstance(relation, Driven):
        return _driven(mech, closure, relation, q, t)
    if isinstance(relation, Coupling):
        return _coupled(mech, closure, relation, q)
    A, B, kept = frames(mech, closure, q, v)
    if isinstance(relation, Distance):
        rows = [_apart(A, B, relation.length)]
    else:
        asked = asked_by(relation)
        rows = [(_fixed_in_c if kept else _fixed_in_a)(A, B, d) for d in asked.straight]
        rows += [_aligned(A, B, *pair) for pair in asked.aligned] + [_screwed(A, B, *pair) for pair in asked.screwed]
    return (
        Rows(*(np.stack([as_array(x) for x in column]) for column in zip(*rows, strict=True)))
        if rows
        else _no_rows(mech)
    )


def asked_by(relation: Joint | Closing) -> Closing:
    """What a joint closes by."""
    if isinstance(relation, Closing):
        return relation
    asked: Closing = relation.type.closing(relation)
    return asked


# The rows, from two frames; r is the way from A's origin to B's.


def _fixed_in_c(A: LoopFrame, B: LoopFrame, d: Array) -> Rows:
    """d . r, with a direction that C keeps."""
    bias = d @ (B.acceleration - A.acceleration)
    return Rows(d @ (B.X.p - A.X.p), d @ (B.J - A.J), bias, _force(d, B))


def _force(f: Array, at: LoopFrame) -> Array:
    """The wrench (6,) of a force at a frame's origin."""
    return np.concatenate([np.cross(at.X.p, f), f])


def _fixed_in_a(A: LoopFrame, B: LoopFrame, d: Array) -> Rows:
    """d . r, with a direction that turns with A: d' = w x d."""
    d, r = A.X.R @ d, B.X.p - A.X.p
    rate, turning = B.velocity - A.velocity, np.cross(A.w, d)
    bias = d @ (B.acceleration - A.acceleration) + 2.0 * (turning @ rate)
    bias = bias + (np.cross(A.alpha, d) + np.cross(A.w, turning)) @ r
    return Rows(d @ r, d @ (B.J - A.J) + np.cross(d, r) @ A.Jw, bias, _force(d, B))


def _aligned(A: LoopFrame, B: LoopFrame, u: Array, w: Array) -> Rows:
    """u . w - its value at neutral, with u fixed in A and w in B: the rate is (w x u) . (w_B - w_A)."""
    neutral, u, w = u @ w, A.X.R @ u, B.X.R @ w
    across = np.cross(w, u)
    turning = np.cross(np.cross(B.w, w), u) + np.cross(w, np.cross(A.w, u))
    bias = across @ (B.alpha - A.alpha) + turning @ (B.w - A.w)
    return Rows(u @ w - neutral, across @ (B.Jw - A.Jw), bias, np.concatenate([across, np.zeros(3)]))


def _screwed(A: LoopFrame, B: LoopFrame, n: Array, pitch: Any) -> Rows:
    """How far B is along the axis n beyond what its turn brings; whole turns do not count."""
    row, (e1, e2), R = _fixed_in_a(A, B, n), Closing.across(n), A.X.R.T @ B.X.R
    angle = np.arctan2(e2 @ R @ e1 - e1 @ R @ e2, e1 @ R @ e1 + e2 @ R @ e2)
    lead, beyond, axis = 2 * np.pi * pitch, row.gap - pitch * angle, A.X.R @ n
    turn = axis @ (B.alpha - A.alpha) + np.cross(A.w, axis) @ (B.w - A.w)
    gap, J = beyond - lead * np.rint(beyond / lead), row.J - pitch * (axis @ (B.Jw - A.Jw))
    return Rows(gap, J, row.bias - pitch * turn, row.wrench - np.concatenate([pitch * axis, np.zeros(3)]))


def _apart(A: LoopFrame, B: LoopFrame, length: Any) -> Rows:
    """|r| - length."""
    r, rate = B.X.p - A.X.p, B.velocity - A.velocity
    now = np.sqrt(r @ r)
    over = np.where(now > 0, now, 1.0)  # origins that coincide have no direction: a row of zeros
    n = r / over
    along = n @ rate
    bias = n @ (B.acceleration - A.acceleration) + (rate @ rate - along * along) / over
    return Rows(now - length, n @ (B.J - A.J), bias, _force(n, B))


def _coupled(mech: Mechanism, closure: Closure, relation: Coupling, q: Array) -> Rows:
    (qa, va), (qb, vb) = (single_coordinate(mech, closure.name, link) for link in (closure.a, closure.b))
    row = np.zeros((1, mech.nv))
    row[0, vb] = 1.0
    row[0, va] = -1.0 * relation.ratio
    gap = np.reshape(q[qb] - relation.ratio * q[qa] - relation.offset, (1,))
    return Rows(gap, row, np.zeros(1), np.zeros((1, 6)), np.zeros(1))


def _driven(mech: Mechanism, closure: Closure, relation: Driven, q: Array, t: Any) -> Rows:
    place, freedom = single_coordinate(mech, closure.name, closure.b)
    row = np.zeros((1, mech.nv))
    row[0, freedom] = 1.0
    there, rate, acceleration = (np.reshape(x, (1,)) for x in relation.at(t))
    return Rows(q[place] - there, row, -acceleration, np.zeros((1, 6)), rate)


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


def _carriers(mech: Mechanism, closure: Closure) -> tuple[list[int], list[int]]:
    """The links that carry A, and those that carry B, from each inwards; none for the world."""
    ends = (-1 if name is None else mech.index(name) for name in (closure.a, closure.b))
    to_a, to_b = (list(kinematics.ancestors(mech, i)) for i in ends)
    return to_a, to_b


def carrier(mech: Mechanism, closure: Closure) -> int:
    """The nearest link that carries both ends of a closure; -1 for the world."""
    to_a, to_b = _carriers(mech, closure)
    return next((i for i in to_a if i in to_b), -1)


def count_of(relation: Relation) -> int:
    """How many rows a relation has."""
    return 1 if isinstance(relation, (Coupling, Distance, Driven)) else asked_by(relation).count


def frames(mech: Mechanism, closure: Closure, q: Array, v: Array) -> tuple[LoopFrame, LoopFrame, bool]:
    """Frames A and B, seen from the nearest link C that carries both; and whether C keeps A's directions.

    Only the joints between C and the two count. Directions are kept if they are all three, or those at right angles to
    an axis about which all joints between C and A turn: the rows may then be taken in C's axes, which is cheaper.
    """
    to_a, to_b = _carriers(mech, closure)
    own_a, own_b = [i for i in to_a if i not in to_b], [i for i in to_b if i not in to_a]
    A = _frame(mech, own_a[::-1], closure.placement_a, q, v)
    B = _frame(mech, own_b[::-1], closure.placement_b, q, v)
    return A, B, _keeps(mech, own_a, closure)


def frame_in_world(mech: Mechanism, name: str, placement: Pose, q: Array) -> LoopFrame:
    """A frame on a link, seen from the world; its velocities are zero."""
    path = list(kinematics.ancestors(mech, mech.index(name)))
    return _frame(mech, path[::-1], placement, q, np.zeros(mech.nv))


def _frame(mech: Mechanism, path: Sequence[int], placement: Pose, q: Array, v: Array) -> LoopFrame:
    """A frame on the last link of a path, seen from what carries its first link."""
    X, V, A = Pose(), np.zeros(6), np.zeros(6)
    J = np.zeros((6, mech.nv))
    for k in path:
        link, sq, sv = mech.links[k], mech.q_slices[k], mech.v_slices[k]
        X = X @ link.placement @ link.joint.type.pose(link.joint, q[sq])
        Ad = X.adjoint()
        J[:, sv] = Ad @ link.joint.type.subspace(link.joint, q[sq])
        own = J[:, sv] @ v[sv]
        V = V + own
        A = A + motion.bracket(V, own) + Ad @ link.joint.type.bias(link.joint, q[sq], v[sv])
    return LoopFrame(X @ placement, V[:3], V[3:], J[:3], J[3:], A[:3], A[3:])


def _keeps(mech: Mechanism, path: Sequence[int], closure: Closure) -> bool:
    """Whether the straight rows of a closure may be taken in C's axes; `path`: the links from A's inwards to C."""
    if isinstance(closure.relation, (Coupling, Distance, Driven)):
        return False
    straight = asked_by(closure.relation).straight
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


def _require_number(name: str, value: Any) -> None:
    if is_traced(value):
        return
    try:
        good = not isinstance(value, str) and np.shape(value) == () and bool(np.isfinite(float(value)))
    except (TypeError, ValueError):
        good = False
    if not good:
        raise FieldError(f"{name} must be a finite number, not {value!r}.", name)
