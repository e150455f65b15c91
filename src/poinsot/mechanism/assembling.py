"""Assembly: the position nearby in which all loops of a tree are closed, or what is open at best."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.fuse import fori_loop
from poinsot.mechanism import kinematics
from poinsot.mechanism.closures import Closure, closing_rows, sizes_of, told_open
from poinsot.mechanism.constrained import closing_forces, firm, least, response_of
from poinsot.mechanism.model import Mechanism, sized

TRIES = (0.03, 0.1, 0.3, 1.0)  # [rad, m], how far from the guess loops are assembled anew where that got stuck


def assembled(
    mech: Mechanism, closures: Sequence[Closure], q: Array, tolerance: float = 1e-12, most: int = 200
) -> Array:
    """The q (nq,) nearby at which all closures hold, by damped Newton; an error with what is open if there is none.

    Where that gets stuck, as in a chain that is pushed along its straight line, it starts anew from positions around
    the guess, further and further away.
    """
    (q,) = sized(mech, q=q)
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers that are far too large, for which there is none
        found, rng = nearest(mech, closures, q, tolerance, most), np.random.default_rng(0)
        for away in (0.0, *TRIES):
            if away:
                there = kinematics.integrate(mech, q, away * rng.standard_normal(mech.nv))
                there = nearest(mech, closures, there, tolerance, most, weighted=False)
                found = there if _openness(mech, closures, there) < _openness(mech, closures, found) else found
            if is_closed(mech, closures, found, 10 * tolerance):
                return found
    raise ValueError(
        f"the loops cannot be closed: at best {told_open(mech, closures, found)}. Start nearer to a position in which "
        "they are closed, or check placements and lengths."
    )


def nearest(
    mech: Mechanism,
    closures: Sequence[Closure],
    q: Array,
    tolerance: float = 1e-12,
    most: int = 200,
    weighted: bool = True,
) -> Array:
    """The q (nq,) nearby at which all closures hold, or, if there is none, at which no step brings them nearer.

    Damped Newton, also for numbers that are not known yet: a step moves no coordinate by more than 0.5 rad or m, and is
    halved until it makes the gap smaller by a share of it. `weighted`: steps are the least by the measure of kinetic
    energy; otherwise by the sum of squares, in which the light end of a long chain moves no more than the rest.
    """

    def move(_: Any, at: tuple[Array, Array]) -> tuple[Array, Array]:
        q = at[0]
        rows = closing_rows(mech, closures, q, np.zeros(mech.nv), places=True, far=True)
        rows = firm(mech, closures, q, rows, places=True)
        if weighted:
            response = response_of(mech, closures, q, rows)
            step = -response.moved_by(closing_forces(response, rows.gap, 3))
        else:
            step = -rows.J.T @ least(mech, closures, rows.J, rows.gap)
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
        there = kinematics.integrate(mech, q, part * step)
        gap = closing_rows(mech, closures, there, np.zeros(mech.nv), far=True).gap
        worse: Array = np.where(np.sqrt(gap @ gap) < (1.0 - 1e-3 * part) * now, 0, 1)
        return worse

    def halve(_: Any, at: tuple[Array, Array]) -> tuple[Array, Array]:
        part = 0.5 * at[0]
        return part, is_worse(part)

    def halve_if_worse(_: Any, at: tuple[Array, Array]) -> tuple[Array, Array]:
        halved: tuple[Array, Array] = fori_loop(at[1], halve, at)
        return halved

    part, worse = fori_loop(16, halve_if_worse, (np.ones(()), is_worse(np.ones(()))))
    return np.where(worse > 0, 0.0, part)


def _openness(mech: Mechanism, closures: Sequence[Closure], q: Array) -> Array:
    """The largest gap, by the size of its loop."""
    gap = closing_rows(mech, closures, q, np.zeros(mech.nv), far=True).gap
    return _largest(gap / np.concatenate([np.zeros(0), *(sizes_of(mech, closure) for closure in closures)]))


def is_closed(mech: Mechanism, closures: Sequence[Closure], q: Array, tolerance: float = 1e-11) -> Any:
    """Whether all gaps are within a tolerance, by the sizes of their loops and by coordinates larger than 1."""
    return _openness(mech, closures, q) <= tolerance * np.maximum(_largest(q), 1.0)


def _largest(x: Array) -> Array:
    """The largest size of a number in x (n,), 0 if there is none."""
    largest: Array = np.max(np.abs(np.concatenate([np.zeros(1), x])))
    return largest
