"""Frames on the two links of a closure, seen from the nearest link that carries both; and rows made from them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poinsot._types import Array
from poinsot.mechanism import kinematics
from poinsot.mechanism.joint_types import Closing
from poinsot.mechanism.model import Mechanism
from poinsot.spatial import Pose, motion
from poinsot.spatial.arrays import as_array

if TYPE_CHECKING:
    from poinsot.mechanism.closures import Closure


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

    def part(self, start: int, end: int) -> "Rows":
        """Some of them."""
        return Rows(*(x[start:end] for x in self))


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


def no_rows(mech: Mechanism) -> Rows:
    """None at all."""
    return Rows(np.zeros(0), np.zeros((0, mech.nv)), np.zeros(0), np.zeros((0, 6)), np.zeros(0))


def stacked(rows: Sequence[Rows]) -> Rows:
    """Single rows, one below the other."""
    return Rows(*(np.stack([as_array(x) for x in column]) for column in zip(*rows, strict=True)))


# The rows, from two frames; r is the way from A's origin to B's.


def fixed_in_c(A: LoopFrame, B: LoopFrame, d: Array) -> Rows:
    """d . r, with a direction that C keeps."""
    bias = d @ (B.acceleration - A.acceleration)
    return Rows(d @ (B.X.p - A.X.p), d @ (B.J - A.J), bias, force_at(d, B.X.p))


def force_at(f: Array, p: Array) -> Array:
    """The wrench (6,) of a force at a point."""
    return np.concatenate([np.cross(p, f), f])


def fixed_in_a(A: LoopFrame, B: LoopFrame, d: Array) -> Rows:
    """d . r, with a direction that turns with A: d' = w x d."""
    d, r = A.X.R @ d, B.X.p - A.X.p
    rate, turning = B.velocity - A.velocity, np.cross(A.w, d)
    bias = d @ (B.acceleration - A.acceleration) + 2.0 * (turning @ rate)
    bias = bias + (np.cross(A.alpha, d) + np.cross(A.w, turning)) @ r
    return Rows(d @ r, d @ (B.J - A.J) + np.cross(d, r) @ A.Jw, bias, force_at(d, B.X.p))


def aligned(A: LoopFrame, B: LoopFrame, u: Array, w: Array) -> Rows:
    """u . w - its value at neutral, with u fixed in A and w in B: the rate is (w x u) . (w_B - w_A)."""
    neutral, u, w = u @ w, A.X.R @ u, B.X.R @ w
    across = np.cross(w, u)
    turning = np.cross(np.cross(B.w, w), u) + np.cross(w, np.cross(A.w, u))
    bias = across @ (B.alpha - A.alpha) + turning @ (B.w - A.w)
    return Rows(u @ w - neutral, across @ (B.Jw - A.Jw), bias, np.concatenate([across, np.zeros(3)]))


def screwed(A: LoopFrame, B: LoopFrame, n: Array, pitch: Any) -> Rows:
    """How far B is along the axis n beyond what its turn brings; whole turns do not count."""
    row, (e1, e2), R = fixed_in_a(A, B, n), Closing.across(n), A.X.R.T @ B.X.R
    angle = np.arctan2(e2 @ R @ e1 - e1 @ R @ e2, e1 @ R @ e1 + e2 @ R @ e2)
    lead, beyond, axis = 2 * np.pi * pitch, row.gap - pitch * angle, A.X.R @ n
    turn = axis @ (B.alpha - A.alpha) + np.cross(A.w, axis) @ (B.w - A.w)
    gap, J = beyond - lead * np.rint(beyond / lead), row.J - pitch * (axis @ (B.Jw - A.Jw))
    return Rows(gap, J, row.bias - pitch * turn, row.wrench - np.concatenate([pitch * axis, np.zeros(3)]))


def apart(A: LoopFrame, B: LoopFrame, length: Any) -> Rows:
    """|r| - length."""
    r, rate = B.X.p - A.X.p, B.velocity - A.velocity
    now = np.sqrt(r @ r)
    over = np.where(now > 0, now, 1.0)  # origins that coincide have no direction: a row of zeros
    n = r / over
    along = n @ rate
    bias = n @ (B.acceleration - A.acceleration) + (rate @ rate - along * along) / over
    return Rows(now - length, n @ (B.J - A.J), bias, force_at(n, B.X.p))
