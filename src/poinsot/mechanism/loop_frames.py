"""Frames on the two links of a closure, seen from the nearest link that carries both; and rows made from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poinsot._types import Array
from poinsot.fuse import is_traced
from poinsot.mechanism import kinematics
from poinsot.mechanism.joint_types import Closing
from poinsot.mechanism.model import Mechanism
from poinsot.spatial import Pose, motion, rotation
from poinsot.spatial.arrays import as_array

if TYPE_CHECKING:
    from poinsot.mechanism.closures import Closure


class Rows(NamedTuple):
    """The rows of closures: g (m,), J (m, nv) with g' = J v - rate, and J' v - rate' (m,).

    `wrench` (m, 6): on B, of a unit force, about the origin of C, the nearest link that carries both ends, in its axes;
    zero for a coupling or a drive; J is its power. `rate` (m,): zero but for drives.
    """

    gap: Array
    J: Array
    bias: Array
    wrench: Array
    rate: Array = np.zeros(())

    def part(self, start: int, end: int) -> "Rows":
        """Some of them."""
        return Rows(*(x[start:end] for x in self))


@dataclass(frozen=True, eq=False)
class LoopFrame:
    """A frame on a link, seen from the link C that carries both ends of a loop, as if C were at rest.

    X: its pose in C. V, A (6,): its twist and the rate of that at vdot = 0, about C's origin in C's axes. S (6, k): the
    twists of unit velocities of the joints on the way from C, whose places in v are `freedoms` (k,).
    """

    X: Pose
    V: Array
    A: Array
    S: Array
    freedoms: tuple[int, ...]

    @property
    def w(self) -> Array:
        """The angular velocity (3,)."""
        return self.V[:3]

    @property
    def alpha(self) -> Array:
        """Its rate (3,), at vdot = 0."""
        return self.A[:3]

    @cached_property
    def velocity(self) -> Array:
        """The velocity of the frame's origin (3,)."""
        return self.velocity_at(self.X.p)

    @cached_property
    def acceleration(self) -> Array:
        """The acceleration of the frame's origin (3,), at vdot = 0."""
        return self.A[3:] + np.cross(self.alpha, self.X.p) + np.cross(self.w, self.velocity)

    def velocity_at(self, p: Array) -> Array:
        """The velocity of the point of the link that is at p."""
        return self.V[3:] + np.cross(self.w, p)

    def rows_at(self, p: Array) -> Array:
        """The rows (3, k) of `velocity_at`."""
        w, v = self.S[:3], self.S[3:]
        return v + np.stack([w[1] * p[2] - w[2] * p[1], w[2] * p[0] - w[0] * p[2], w[0] * p[1] - w[1] * p[0]])


def spread(mech: Mechanism, freedoms: Sequence[int], x: Array) -> Array:
    """Columns (m, k) for some of the places in v, with zeros for the others (m, nv)."""
    whole = np.zeros((len(x), mech.nv))
    for column, place in enumerate(freedoms):
        whole[:, place] = x[:, column]
    return whole


def carriers(mech: Mechanism, closure: "Closure") -> tuple[list[int], list[int]]:
    """The links that carry A, and those that carry B, from each inwards; none for the world."""
    ends = (-1 if name is None else mech.index(name) for name in (closure.a, closure.b))
    to_a, to_b = (list(kinematics.ancestors(mech, i)) for i in ends)
    return to_a, to_b


def carrier(mech: Mechanism, closure: "Closure") -> int:
    """The nearest link that carries both ends of a closure; -1 for the world."""
    to_a, to_b = carriers(mech, closure)
    return next((i for i in to_a if i in to_b), -1)


def frames(mech: Mechanism, closure: "Closure", q: Array, v: Array) -> tuple[LoopFrame, LoopFrame]:
    """Frames A and B, seen from the nearest link C that carries both; only the joints between C and the two count."""
    own_a, own_b = ways(mech, closure)
    A = _frame(mech, own_a[::-1], closure.placement_a, q, v)
    B = _frame(mech, own_b[::-1], closure.placement_b, q, v)
    return A, B


def ways(mech: Mechanism, closure: "Closure") -> tuple[list[int], list[int]]:
    """The links from those of A and B inwards, without C, the nearest that carries both."""
    to_a, to_b = carriers(mech, closure)
    return [i for i in to_a if i not in to_b], [i for i in to_b if i not in to_a]


def frame_in_world(mech: Mechanism, name: str, placement: Pose, q: Array) -> LoopFrame:
    """A frame on a link, seen from the world; its velocities are zero."""
    path = list(kinematics.ancestors(mech, mech.index(name)))
    return _frame(mech, path[::-1], placement, q, np.zeros(mech.nv))


def _frame(mech: Mechanism, path: Sequence[int], placement: Pose, q: Array, v: Array) -> LoopFrame:
    """A frame on the last link of a path, seen from what carries its first link."""
    X, V, A = Pose(), np.zeros(6), np.zeros(6)
    columns: list[Array] = [np.zeros((6, 0))]
    freedoms: list[int] = []
    moves = is_traced(v) or bool(np.any(v))
    for k in path:
        link, sq, sv = mech.links[k], mech.q_slices[k], mech.v_slices[k]
        X = X @ link.placement @ link.joint.type.pose(link.joint, q[sq])
        Ad = X.adjoint()
        columns.append(Ad @ link.joint.type.subspace(link.joint, q[sq]))
        freedoms += range(sv.start, sv.stop)
        if moves:
            own = columns[-1] @ v[sv]
            V = V + own
            A = A + motion.bracket(V, own) + Ad @ link.joint.type.bias(link.joint, q[sq], v[sv])
    return LoopFrame(X @ placement, V, A, np.concatenate(columns, axis=1), tuple(freedoms))


def no_rows(mech: Mechanism) -> Rows:
    """None at all."""
    return Rows(np.zeros(0), np.zeros((0, mech.nv)), np.zeros(0), np.zeros((0, 6)), np.zeros(0))


class Row(NamedTuple):
    """One row of two frames: g, J' v, and the wrench (6,) on B of a unit force, as in `Rows`.

    -wrench acts on A, or -`on_a`: the same where the gap is closed.
    """

    gap: Any
    bias: Any
    wrench: Array
    on_a: Array | None = None


def held(mech: Mechanism, A: LoopFrame, B: LoopFrame, rows: Sequence[Row]) -> Rows:
    """Rows of two frames. J (m, nv) is the power of the wrenches on A and B, for unit velocities of the joints."""
    if not rows:
        return no_rows(mech)
    gap, bias, wrench = (np.stack([as_array(x) for x in column]) for column in list(zip(*rows, strict=True))[:3])
    on_a = np.stack([row.wrench if row.on_a is None else row.on_a for row in rows])
    J = np.concatenate([-(on_a @ A.S), wrench @ B.S], axis=1)
    return Rows(gap, spread(mech, (*A.freedoms, *B.freedoms), J), bias, wrench, np.zeros(len(rows)))


# The rows, from two frames; r is the way from A's origin to B's.


def fixed_in_c(A: LoopFrame, B: LoopFrame, d: Array) -> Row:
    """d . r, with a direction that C keeps."""
    bias = d @ (B.acceleration - A.acceleration)
    return Row(d @ (B.X.p - A.X.p), bias, force_at(d, B.X.p), force_at(d, A.X.p))


def force_at(f: Array, p: Array) -> Array:
    """The wrench (6,) of a force at a point."""
    return np.concatenate([np.cross(p, f), f])


def fixed_in_a(A: LoopFrame, B: LoopFrame, d: Array) -> Row:
    """d . r, with a direction that turns with A: d' = w x d."""
    d, r = A.X.R @ d, B.X.p - A.X.p
    rate, turning = B.velocity - A.velocity, np.cross(A.w, d)
    bias = d @ (B.acceleration - A.acceleration) + 2.0 * (turning @ rate)
    bias = bias + (np.cross(A.alpha, d) + np.cross(A.w, turning)) @ r
    return Row(d @ r, bias, force_at(d, B.X.p))


def aligned(A: LoopFrame, B: LoopFrame, u: Array, w: Array) -> Row:
    """u . w - its value at neutral, with u fixed in A and w in B: the rate is (w x u) . (w_B - w_A)."""
    neutral, u, w = u @ w, A.X.R @ u, B.X.R @ w
    across = np.cross(w, u)
    turning = np.cross(np.cross(B.w, w), u) + np.cross(w, np.cross(A.w, u))
    bias = across @ (B.alpha - A.alpha) + turning @ (B.w - A.w)
    return Row(u @ w - neutral, bias, np.concatenate([across, np.zeros(3)]))


def turned(A: LoopFrame, B: LoopFrame, pairs: Sequence[tuple[Array, Array]]) -> list[Row]:
    """In place of the rows of `aligned` pairs, for frames that are far from where they should be: zero only if B is the
    right way round, where those are zero as well if B is upside down.

    The angle [rad] by which B is turned too far, about axes of A; without the rates of the rows. The derivatives are
    those near the closed position, and everywhere exact for the sum of the squares of the rows.
    """
    about = turning_axes(pairs)
    if len(about) == 3:
        off = rotation.log(A.X.R.T @ B.X.R)
    elif len(about) == 2:
        n = pairs[0][1]
        there = A.X.R.T @ (B.X.R @ n)
        across, along = np.cross(n, there), n @ there
        sine = np.sqrt(across @ across)
        across = np.where(sine > 0, across, about[0])  # upside down: it may turn either way
        off = np.arctan2(sine, along) / np.where(sine > 0, sine, 1.0) * across
    else:
        return [aligned(A, B, *pair) for pair in pairs]
    return [Row(d @ off, np.zeros(()), np.concatenate([A.X.R @ d, np.zeros(3)])) for d in about]


def turning_axes(pairs: Sequence[tuple[Array, Array]]) -> tuple[Array, ...]:
    """The axes of A about which B is not to turn, for pairs of directions that allow no turn at all, or one about an
    axis that both share; none for others."""
    if len(pairs) == 3:
        return tuple(np.eye(3))
    return tuple(Closing.across(pairs[0][1])) if len(pairs) == 2 and pairs[0][1] is pairs[1][1] else ()


def screwed(A: LoopFrame, B: LoopFrame, n: Array, pitch: Any) -> Row:
    """How far B is along the axis n beyond what its turn brings; whole turns do not count."""
    row, (e1, e2), R = fixed_in_a(A, B, n), Closing.across(n), A.X.R.T @ B.X.R
    angle = np.arctan2(e2 @ R @ e1 - e1 @ R @ e2, e1 @ R @ e1 + e2 @ R @ e2)
    lead, beyond, axis = 2 * np.pi * pitch, row.gap - pitch * angle, A.X.R @ n
    turn = axis @ (B.alpha - A.alpha) + np.cross(A.w, axis) @ (B.w - A.w)
    gap = beyond - lead * np.rint(beyond / lead)
    return Row(gap, row.bias - pitch * turn, row.wrench - np.concatenate([pitch * axis, np.zeros(3)]))


def apart(A: LoopFrame, B: LoopFrame, length: Any) -> Row:
    """|r| - length."""
    r, rate = B.X.p - A.X.p, B.velocity - A.velocity
    now = np.sqrt(r @ r)
    over = np.where(now > 0, now, 1.0)  # origins that coincide have no direction: a row of zeros
    n = r / over
    along = n @ rate
    bias = n @ (B.acceleration - A.acceleration) + (rate @ rate - along * along) / over
    return Row(now - length, bias, force_at(n, B.X.p))
