"""Trees whose loops are closed: dynamics with closing forces, and the way back onto the closures after a step.

M vdot = tau - bias + J^T f and J vdot + J' v = 0. Articulated bodies give Y and Z with J M^-1 J^T = Y^T Z, so

    (Y^T Z) f = -(J a + J' v),     vdot = a + M^-1 J^T f,

with the accelerations a of the tree without closures: a system as small as there are rows. After a step the state is
put back onto the closures by the same system: q moves by -M^-1 J^T (Y^T Z)^-1 g, and v by -M^-1 J^T (Y^T Z)^-1 J v, the
least change by the measure of kinetic energy. Both are impulses in the closures, so loops add no momentum of their own.

Rows that depend on each other leave f open, not vdot: f is found by proximal iterations, each of them regular.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from poinsot._types import Array
from poinsot.fuse import fori_loop, solve_spd
from poinsot.mechanism import dynamics, kinematics
from poinsot.mechanism.book import External
from poinsot.mechanism.closures import Closure, closing_rows
from poinsot.mechanism.dynamics import Response
from poinsot.mechanism.loop_frames import Rows
from poinsot.mechanism.model import Mechanism, plain, sized

PROXIMAL = {3: 1e-10, 1: 1e-14}  # of the diagonal of J M^-1 J^T, which is added to it, by the number of iterations:
# each multiplies the error along an eigenvector of it by this over the eigenvalue
RANK = 1e-9  # singular values of the scaled rows below this are none


class Constrained(NamedTuple):
    """Accelerations vdot (nv,), closing forces f (m,) [N, N m], and the rows of the closures."""

    vdot: Array
    f: Array
    rows: Rows


class Projected(NamedTuple):
    """q (nq,) and v (nv,) on the closures, the kinetic energy (m,) [J] that each row took, and the largest gap left."""

    q: Array
    v: Array
    lost: Array
    gap: Array


def forward_dynamics(mech: Mechanism, q: Array, v: Array, tau: Array, external: External = None) -> Array:
    """vdot (nv,) under joint forces tau (nv,) [N m, N], with the mechanism's closures held.

    `external`: wrenches F_B (6,) on links, in their own frames, by name or as rows (n, 6).
    """
    if not mech.closures:
        return dynamics.forward_dynamics(mech, q, v, tau, external)
    return constrained_dynamics(mech, mech.closures, q, v, tau, external, mech.independent).vdot


def constrained_dynamics(
    mech: Mechanism,
    closures: Sequence[Closure],
    q: Array,
    v: Array,
    tau: Array,
    external: External = None,
    independent: bool = False,
    t: Any = 0.0,
) -> Constrained:
    """vdot (nv,), and the closing forces f (m,) [N, N m], one for each row of the closures at the time t [s].

    `independent`: no row follows from the others, so that one solution without iterations does.
    """
    q, v, tau = sized(mech, q=q, v=v, tau=tau)
    free = dynamics.forward_dynamics(mech, q, v, tau, external)
    rows = closing_rows(mech, closures, q, v, t)
    response = Response(mech, q, rows.J.T)
    f = closing_forces(response, -(rows.J @ free + rows.bias), 1 if independent else 3)
    return Constrained(free + response.moved_by(f), f, rows)


def inverse_dynamics(mech: Mechanism, q: Array, v: Array, vdot: Array, external: External = None) -> Array:
    """tau (nv,) that makes the mechanism accelerate with vdot (nv,), which its closures must allow.

    Closing forces can stand for joint forces: of all tau that do, the one with the least sum of squares.
    """
    tau = dynamics.inverse_dynamics(mech, q, v, vdot, external)
    if not mech.closures:
        return tau
    q, v = sized(mech, q=q, v=v)
    J = closing_rows(mech, mech.closures, q, v).J
    return tau - J.T @ _proximal(J @ J.T, J @ tau, 3)


def closing_forces(response: Response, change: Array, turns: int) -> Array:
    """f (m,) with J M^-1 J^T f = change."""
    return _proximal(response.Y.T @ response.Z, change, turns)


def _proximal(S: Array, b: Array, turns: int) -> Array:
    """x with S x = b for a symmetric, positive semidefinite S (m, m) and a b that it reaches."""
    if not len(b):
        return b
    own = np.diag(S)
    mean = np.sum(own) / len(b)
    regular = S + PROXIMAL[turns] * np.diag(own + np.where(mean > 0, mean, 1.0))  # also where rows are zero
    x: Array = solve_spd(regular, b)
    for _ in range(turns - 1):
        x = x + solve_spd(regular, b - S @ x)
    return x


def projected(
    mech: Mechanism,
    closures: Sequence[Closure],
    q: Array,
    v: Array,
    turns: int = 1,
    independent: bool = False,
    t: Any = 0.0,
) -> Projected:
    """q and v put back onto the closures, and the kinetic energy (m,) [J] that each row takes: f (J v + rate)/2.

    `turns` of Newton's method; from a gap g, one leaves a gap of the order of g^2. `independent`: no row follows from
    the others.
    """
    q, v = sized(mech, q=q, v=v)
    iterations = 1 if independent else 3
    for _ in range(turns):
        rows = closing_rows(mech, closures, q, v, t, places=True)
        response = Response(mech, q, rows.J.T)
        q = kinematics.integrate(mech, q, -response.moved_by(closing_forces(response, rows.gap, iterations)))
    rows = closing_rows(mech, closures, q, v, t)
    response = Response(mech, q, rows.J.T)
    rate = rows.J @ v - rows.rate
    f = closing_forces(response, rate, iterations)
    return Projected(q, v - response.moved_by(f), 0.5 * f * (rate + 2.0 * rows.rate), _largest(rows.gap))


def assembled(
    mech: Mechanism, closures: Sequence[Closure], q: Array, tolerance: float = 1e-12, most: int = 200
) -> Array:
    """The q (nq,) nearby at which all closures hold, by damped Newton; an error with what is open if there is none."""
    (q,) = sized(mech, q=q)
    q = nearest(mech, closures, q, tolerance, most)
    if is_closed(mech, closures, q, 10 * tolerance):
        return q
    raise ValueError(
        f"the loops cannot be closed: at best {_open(closures, mech, q)}. Start nearer to a position in which they are "
        "closed, or check placements and lengths."
    )


def nearest(mech: Mechanism, closures: Sequence[Closure], q: Array, tolerance: float = 1e-12, most: int = 200) -> Array:
    """The q (nq,) nearby at which all closures hold, or, if there is none, at which no step brings them nearer.

    Damped Newton, also for numbers that are not known yet: a step moves no coordinate by more than 0.5 rad or m, and is
    halved until it makes the gap smaller by a share of it.
    """

    def move(_: Any, at: tuple[Array, Array]) -> tuple[Array, Array]:
        q = at[0]
        rows = closing_rows(mech, closures, q, np.zeros(mech.nv), places=True)
        response = Response(mech, q, rows.J.T)
        step = -response.moved_by(closing_forces(response, rows.gap, 3))
        step = step * np.minimum(1.0, 0.5 / np.maximum(_largest(step), 1e-300))
        part = _part(mech, closures, q, step, np.sqrt(rows.gap @ rows.gap))
        q = kinematics.integrate(mech, q, part * step)
        return q, np.where(is_closed(mech, closures, q, tolerance) | (part == 0), 0.0, 1.0)

    def move_if_open(_: Any, at: tuple[Array, Array]) -> tuple[Array, Array]:
        moved: tuple[Array, Array] = fori_loop(np.where(at[1] > 0, 1, 0), move, at)
        return moved

    found: Array = fori_loop(most, move_if_open, (q, np.where(is_closed(mech, closures, q, tolerance), 0.0, 1.0)))[0]
    return found


def _part(mech: Mechanism, closures: Sequence[Closure], q: Array, step: Array, now: Array) -> Array:
    """The largest power of 1/2 of a step by which the gap gets smaller than `now` by a share of it; 0 if none does."""

    def is_worse(part: Array) -> Array:
        gap = closing_rows(mech, closures, kinematics.integrate(mech, q, part * step), np.zeros(mech.nv)).gap
        worse: Array = ~(np.sqrt(gap @ gap) < (1.0 - 1e-3 * part) * now)
        return worse

    def halve(_: Any, part: Array) -> Array:
        halved: Array = np.where(is_worse(part), 0.5 * part, part)
        return halved

    part: Array = fori_loop(np.where(is_worse(np.ones(())), 16, 0), halve, np.ones(()))
    return np.where(part > 0.5**16, part, 0.0)


def is_closed(mech: Mechanism, closures: Sequence[Closure], q: Array, tolerance: float = 1e-11) -> Any:
    """Whether all gaps are within a tolerance, relative to coordinates that are larger than 1 m or rad."""
    gap = closing_rows(mech, closures, q, np.zeros(mech.nv)).gap
    return _largest(gap) <= tolerance * np.maximum(_largest(q), 1.0)


def _largest(x: Array) -> Array:
    """The largest size of a number in x (n,), 0 if there is none."""
    largest: Array = np.max(np.abs(np.concatenate([np.zeros(1), x])))
    return largest


def _open(closures: Sequence[Closure], mech: Mechanism, q: Array) -> str:
    """In words, how far each closure is open."""
    gaps = {c.name: np.abs(closing_rows(mech, [c], q, np.zeros(mech.nv)).gap).max(initial=0.0) for c in closures}
    return ", ".join(f"{name!r} is open by {gap:.3g}" for name, gap in gaps.items() if gap > 1e-12)


@dataclass(frozen=True)
class Mobility:
    """How free a mechanism with closures is, here: degrees of freedom, rows, redundant rows, and how near to a position
    in which the rows lose a rank: the least singular value of the rows that count, 1 for rows that are independent."""

    degrees_of_freedom: int
    rows: int
    redundant: int
    margin: float

    def __str__(self) -> str:
        near = " (nearly singular)" if self.margin < 1e-4 else ""
        return (
            f"{self.degrees_of_freedom} degrees of freedom; {self.rows} rows of closures, {self.redundant} redundant; "
            f"margin {self.margin:.3g}{near}"
        )


def mobility(mech: Mechanism, closures: Sequence[Closure], q: Array) -> Mobility:
    """The mobility at q, by the rank of the rows, each divided by its length in the measure of kinetic energy."""
    (q,) = sized(mech, q=q)
    rows = closing_rows(mech, closures, q, np.zeros(mech.nv))
    if not len(rows.gap):
        return Mobility(mech.nv, 0, 0, 1.0)
    response = Response(mech, q, rows.J.T)
    S = plain(response.Y.T @ response.Z)
    length = np.sqrt(np.maximum(np.diag(S), 1e-300))
    values = np.sqrt(np.maximum(np.linalg.eigvalsh(S / np.outer(length, length)), 0.0))
    counted = values[values > RANK**0.5]
    rank = len(counted)
    return Mobility(mech.nv - rank, len(length), len(length) - rank, float(counted.min(initial=1.0)))
