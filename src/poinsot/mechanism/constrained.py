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
from poinsot.fuse import coarseness
from poinsot.mechanism import dynamics, floating, kinematics
from poinsot.mechanism.book import External
from poinsot.mechanism.closures import Closure, asked_by, closing_rows, reach_of
from poinsot.mechanism.form import sparse
from poinsot.mechanism.loop_frames import Rows, frames, spread
from poinsot.mechanism.model import Mechanism, plain, sized
from poinsot.mechanism.relations import Distance, Kept
from poinsot.mechanism.response import Response

PROXIMAL = {3: 1e-10, 1: 1e-14}  # of the diagonal of J M^-1 J^T, which is added to it, by the number of iterations:
# each multiplies the error along an eigenvector of it by this over the eigenvalue
RANK = 1e-9  # singular values of the scaled rows below this are none
ROUNDING = 1e-13  # of the terms that make up a derivative of a row: what is left of them if they cancel


class Constrained(NamedTuple):
    """Accelerations vdot (nv,), closing forces f (m,) [N, N m], and the rows of the closures."""

    vdot: Array
    f: Array
    rows: Rows


class Projected(NamedTuple):
    """q (nq,) and v (nv,) on the closures; of each row (m,), the kinetic energy that it took [J], and the gap left."""

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
    rows = firm_rows(mech, closures, q, v, t, independent)
    response = response_of(mech, closures, q, rows)
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
    J = firm_rows(mech, mech.closures, q, v).J
    return tau - J.T @ least(mech, mech.closures, J, J @ tau)


def least(mech: Mechanism, closures: Sequence[Closure], J: Array, b: Array) -> Array:
    """x (m,) with J J^T x = b: J^T x is the least of all u with J u = b."""
    reach = _reach(mech, closures, len(J))
    groups = [[k for k, places in enumerate(reach) if place in places] for place in range(mech.nv)]
    return proximal(sparse.pattern(len(J), groups), J @ J.T, b, 3)


def response_of(mech: Mechanism, closures: Sequence[Closure], q: Array, rows: Rows) -> Response:
    """How the tree answers to unit forces in the rows."""
    return Response(mech, q, rows.J.T, _reach(mech, closures, len(rows.gap)))


def _reach(mech: Mechanism, closures: Sequence[Closure], count: int) -> list[list[int]]:
    """The places in v that each row acts on; `count`: of all rows, or of those that hold positions."""
    asked = [asked_by(closure.relation) for closure in closures]
    whole = count == sum(relation.count for relation in asked)
    reach = [reach_of(mech, closure) for closure in closures]
    sizes = [relation.count if whole else relation.places for relation in asked]
    return [places for places, size in zip(reach, sizes, strict=True) for _ in range(size)]


def firm_rows(
    mech: Mechanism,
    closures: Sequence[Closure],
    q: Array,
    v: Array,
    t: Any = 0.0,
    independent: bool = False,
    places: bool = False,
) -> Rows:
    """The rows of closures, with zeros for derivatives that are mere rounding: such a row holds nothing.

    Divided by its own length it would hold something at random. Rows that are `independent` have no such derivatives
    that matter. `places`: only those that hold positions.
    """
    rows = closing_rows(mech, closures, q, v, t, places)
    return rows if independent else firm(mech, closures, q, rows, places)


def firm(mech: Mechanism, closures: Sequence[Closure], q: Array, rows: Rows, places: bool = False) -> Rows:
    """Rows, with zeros for derivatives that are mere rounding."""
    if not len(rows.gap):
        return rows
    terms = np.concatenate([_terms(mech, closure, q, places) for closure in closures])
    return rows._replace(J=np.where(np.abs(rows.J) > (ROUNDING * coarseness()) * terms, rows.J, 0.0))


def _terms(mech: Mechanism, closure: Closure, q: Array, places: bool) -> Array:
    """The sizes (m, nv) of the terms whose sums are the derivatives of a closure's rows; zeros for what is no sum.

    |v| + |w| |p| of unit velocities, of both frames for a row in meters, |J_w| for one that aligns directions.
    """
    asked = asked_by(closure.relation)
    if not isinstance(asked, (Kept, Distance)):
        return np.zeros((asked.places if places else asked.count, mech.nv))
    A, B = frames(mech, closure, q, np.zeros(mech.nv))
    sizes = spread(mech, (*A.freedoms, *B.freedoms), np.abs(np.concatenate([A.S, B.S], axis=1)))
    turning, moving = np.sum(sizes[:3], 0), np.sum(sizes[3:], 0)
    moving = moving + turning * np.sum(np.abs(A.X.p) + np.abs(B.X.p))
    if isinstance(asked, Distance):
        return moving[None]
    screwed = [moving + np.abs(pitch) * turning for _, pitch in asked.asked.screwed]
    parts = [moving] * len(asked.asked.straight) + [turning] * len(asked.asked.aligned) + screwed
    return np.stack(parts) if parts else np.zeros((0, mech.nv))


def closing_forces(response: Response, change: Array, turns: int) -> Array:
    """f (m,) with J M^-1 J^T f = change."""
    return proximal(response.pattern(), response.product(), change, turns)


def _added(turns: int) -> Any:
    """`PROXIMAL` for so many iterations; in float32 5e-6 and 2e-6, as more of them mend more."""
    return PROXIMAL[turns] * (coarseness() if turns == 1 else np.sqrt(coarseness()))


def proximal(pattern: sparse.Pattern, S: Array, b: Array, turns: int) -> Array:
    """x (m,) with S x = b for a symmetric, positive semidefinite S (m, m) and a b that it reaches.

    Loops that do not meet are solved apart.
    """
    x = np.zeros(len(b))
    for part, lower in zip(pattern.parts, pattern.lower, strict=True):
        chosen = list(part)
        own = S[chosen][:, chosen]
        diagonal = np.diag(own)
        mean = np.sum(diagonal) / len(part)
        regular = own + _added(turns) * np.diag(diagonal + np.where(mean > 0, mean, 1.0))  # also where rows are zero
        solve = sparse.solver(lower, regular)
        found = solve(b[chosen])
        for _ in range(turns - 1):
            found = found + solve(b[chosen] - own @ found)
        for place, value in zip(part, found, strict=True):
            x[place] = value
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
    iterations, before = 1 if independent else 3, q
    for _ in range(turns):
        rows = firm_rows(mech, closures, q, v, t, independent, places=True)
        response = response_of(mech, closures, q, rows)
        q = kinematics.integrate(mech, q, -response.moved_by(closing_forces(response, rows.gap, iterations)))
    v = floating.carried_over(mech, before, q, v) if floating.free_roots(mech) else v
    rows = firm_rows(mech, closures, q, v, t, independent)
    response = response_of(mech, closures, q, rows)
    rate = rows.J @ v - rows.rate
    f = closing_forces(response, rate, iterations)
    return Projected(q, v - response.moved_by(f), 0.5 * f * (rate + 2.0 * rows.rate), rows.gap)


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
    rows = firm_rows(mech, closures, q, np.zeros(mech.nv))
    if not len(rows.gap):
        return Mobility(mech.nv, 0, 0, 1.0)
    response = response_of(mech, closures, q, rows)
    S = plain(response.product())
    length = np.sqrt(np.maximum(np.diag(S), 1e-300))
    values = np.sqrt(np.maximum(np.linalg.eigvalsh(S / np.outer(length, length)), 0.0))
    counted = values[values > RANK**0.5]
    rank = len(counted)
    return Mobility(mech.nv - rank, len(length), len(length) - rank, float(counted.min(initial=1.0)))
