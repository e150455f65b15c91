"""Runge-Kutta methods that estimate their own error, and the control of the step by it.

All of it is plain NumPy for one instance that can be traced, so that in a batch every instance has steps of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import Kernel, fori_loop, when, while_loop
from poinsot.fuse.trace.pytree import flatten
from poinsot.integrate import dormand_prince
from poinsot.integrate.dense_output import Within, hermite, weighted
from poinsot.integrate.schemes import Derivative, Tableau, combine

SAFETY, LEAST, MOST = 0.9, 0.2, 6.0  # of the step to the one that would just do; how much the next may differ
STEPS = 10**9  # tries in one call: more than anyone waits for


@dataclass(frozen=True, eq=False)
class Attempt:
    """A step that was tried: y at its end, the estimates of its error, and the function that gives the terms of its
    dense output, `Within.terms`."""

    new: Any
    errors: list[Any]
    terms: Callable[[], list[Any]]


class Scheme(Protocol):
    """A method that estimates its own errors, which grow with the step to a power; dense output has so many terms."""

    @property
    def power(self) -> int: ...

    @property
    def terms(self) -> int: ...

    def attempt(self, f: Derivative, t: Scalar, y: Any, h: Scalar) -> Attempt:
        """A step from y at the time t."""

    def norm(self, estimates: Sequence[Array], h: Scalar) -> Array:
        """The error from estimates relative to what is tolerated."""


@dataclass(frozen=True)
class Embedded:
    """A Runge-Kutta method, with the weights of the stages in its error estimates: one, or two of which the second
    keeps the first from being too small by chance. `power`: the error grows with the step to this power.

    Dense output: cubic by the rates at both ends; more exact by the weights of all stages in further terms. `further`:
    the rows of a of more stages for it, after that at the end of the step.
    """

    tableau: Tableau
    errors: tuple[tuple[float, ...], ...]
    power: int
    dense: tuple[tuple[float, ...], ...] = ()
    further: tuple[tuple[float, ...], ...] = ()

    @property
    def terms(self) -> int:
        return 4 + len(self.dense)

    @property
    def _has_end(self) -> bool:
        """Whether the last stage is the first of the next step."""
        return self.tableau.a[-1] == self.tableau.b[:-1] and self.tableau.b[-1] == 0.0

    def step(self, f: Derivative, t: Scalar, y: Any, h: Scalar) -> tuple[Any, list[Any]]:
        """y at t + h, and the estimates of its error, before they are multiplied by h."""
        tried = self.attempt(f, t, y, h)
        return tried.new, tried.errors

    def attempt(self, f: Derivative, t: Scalar, y: Any, h: Scalar) -> Attempt:
        """The same with dense output, of order 4 for the method of order 5, and 7 for that of order 8."""
        k: list[Any] = []

        def stage(row: Sequence[float], k: Sequence[Any]) -> Any:
            return f(t + sum(row) * h, combine(y, [(a * h, kj) for a, kj in zip(row, k, strict=True) if a]))

        for row in self.tableau.a:
            k.append(stage(row, k))
        new = combine(y, [(b * h, ki) for b, ki in zip(self.tableau.b, k, strict=True) if b])
        errors = [combine(None, [(e, ki) for e, ki in zip(es, k, strict=True) if e]) for es in self.errors]

        def terms() -> list[Any]:
            more = [*k] if self._has_end else [*k, f(t + h, new)]
            ends = hermite(y, new, more[0], more[-1], h)
            for row in self.further:
                more.append(stage(row, more))
            return ends + weighted(self.dense, more, h)

        return Attempt(new, errors, terms)

    def norm(self, estimates: Sequence[Array], h: Scalar) -> Array:
        """The error of a step from estimates (n,) that are relative to what is tolerated: up to 1 the step will do."""
        squares = [np.mean(e * e) for e in estimates]
        if len(squares) == 1:
            return np.abs(h) * np.sqrt(squares[0])
        five, three = squares
        return np.abs(h) * five / np.sqrt(five + 0.01 * three + 1e-300)


# Dormand and Prince (1980), order 5(4).
_FIVE = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_FIVE_WITHIN = (
    (-12715105075 / 11282082432, 0.0, 87487479700 / 32700410799, -10690763975 / 1880347072)
    + (701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423)
)  # fmt: skip
DOPRI5 = Embedded(
    Tableau(5, _FIVE, (*_FIVE[-1], 0.0)),
    ((71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),),
    5,
    (_FIVE_WITHIN,),
)
DOP853 = Embedded(
    Tableau(8, dormand_prince.A, dormand_prince.B), (dormand_prince.E5, dormand_prince.E3), 8,
    dormand_prince.DENSE, dormand_prince.FURTHER,
)  # fmt: skip


def flat(y: Any) -> Array:
    """All arrays of a state as one (n,)."""
    return np.concatenate([np.ravel(leaf) for leaf in flatten(y)[0]])


def first_step(rate: Callable[[Any], Array], y: Array, tolerated: Array, power: int) -> Array:
    """A step [s] to begin with, from the rate (n,) at the start and after a small step along it.

    rate(h): dy/dt at the start moved along its own rate by h. Hairer, Norsett and Wanner I, section II.4.
    """
    slope = rate(0.0)
    d0, d1 = (np.sqrt(np.mean((x / tolerated) ** 2)) for x in (y, slope))
    h0 = np.where((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / np.maximum(d1, 1e-300))
    d2 = np.sqrt(np.mean(((rate(h0) - slope) / tolerated) ** 2)) / h0
    largest = np.maximum(d1, d2)
    h1 = np.where(largest <= 1e-15, np.maximum(1e-6, 1e-3 * h0), (0.01 / np.maximum(largest, 1e-300)) ** (1 / power))
    return np.where(np.isfinite(largest), np.minimum(100 * h0, h1), h0)


def following_step(power: int, h: Scalar, error: Array, before: Array) -> tuple[Array, Array]:
    """The next step, and the error to remember: PI control, by this error and the one before (Gustafsson).

    After an error above 1 the step is to be repeated. An error that is not a number counts as a large one.
    """
    e = np.where(np.isfinite(error), np.maximum(error, 1e-12), 1e12)
    power_of, power_before = np.log(e) / power, np.log(before) / power  # one exponential instead of three powers
    factor = SAFETY * np.exp(np.where(e <= 1, 0.4 * power_before - 0.7 * power_of, -power_of))
    factor = np.clip(np.where(e <= 1, factor, np.minimum(factor, 1.0)), LEAST, MOST)
    return h * factor, np.where(e <= 1, np.maximum(e, 1e-4), before)


@dataclass(frozen=True, eq=False)
class March:
    """Where a march of adaptive steps is: the time [s], what is stepped, the next step [s], the last error, the
    length [s] of the step in which it stopped, and whether it stopped by a condition or for want of a step. `held`:
    whether steps may no longer lead beyond the end."""

    t: Array
    now: Any
    h: Array
    error: Array
    tried: Array
    met: Array
    failed: Array
    held: Array | bool = False


def _within(left: Scalar, wanted: Array) -> Array:
    """The step [s] that is wanted, or half or all of what is left [s]: rather two equal steps than a long and a very
    short one."""
    halves = np.where(wanted < left, 0.5 * left, left)
    return np.where(wanted < 0.5 * left, wanted, halves)


def _is_no_step(t: Scalar, h: Array) -> Array:
    """Whether h [s] is about the rounding of the time t [s], or no number."""
    return ~((h > 4e-16 * np.abs(t) + 1e-300) & (h < np.inf))


def march(
    attempt: Callable[[Any, Any, Any], tuple[Any, Array]],
    power: int,
    start: March,
    end: Scalar,
    longest: Scalar = np.inf,
    is_met: Callable[[Any, Any], Any] | None = None,
    settled: Callable[[Any, Any, Any, Any], Any] | None = None,
    corner: Callable[[Any, Any, Any], Any] | None = None,
    limit: Scalar | None = None,
    tries: Scalar | None = None,
) -> March:
    """Steps to the time `end`, each as long as its error allows, up to `longest` [s]; no more than `tries`. The last
    ends there; with a `limit` [s] it may lead beyond, up to that, if there are steps at all that do.

    attempt(t, now, h): what is stepped after h, and its error, which may be up to 1. is_met(t, now): whether to stop
    before the step that leads there, or, with a limit, after it. settled(t, now, h, new): what an accepted step makes
    of `new`, and its length [s]: less than h if something happens within it, where the next step begins. corner(t, now,
    end): a time up to the end at which a step shall end.
    """

    def step(at: March) -> March:
        stop = (corner or _no_corner)(at.t, at.now, end if limit is None else np.where(at.held, end, limit))
        left = stop - at.t
        h = _within(left, np.minimum(at.h, longest))
        new, error = attempt(at.t, at.now, h)
        does, ends = error <= 1.0, (new, h)
        new, length = ends if settled is None else when(does, lambda x: settled(at.t, at.now, h, x[0]), ends)
        t = np.where((h == left) & (length == h), stop, at.t + length)
        met = (does & is_met(t, new)) if is_met is not None else np.zeros((), bool)
        following, remembered = _next_step(power, h, error, at, does)
        stays = met if limit is None else np.zeros((), bool)
        lost = _is_no_step(at.t, following) & (~does | ((following <= h) & ~met))  # a first one that short may grow
        failed, goes = lost & (at.held if limit is not None else True), does & ~stays
        return March(
            np.where(goes, t, at.t), chosen(goes, new, at.now), np.where(stays, at.h, following),
            np.where(stays, at.error, remembered), np.where(met, length, at.tried), met, failed, at.held | lost,
        )  # fmt: skip

    return _repeated(lambda at: (at.t < end) & ~at.met & ~at.failed, step, start, tries)


def _next_step(power: int, h: Array, error: Array, at: March, does: Array) -> tuple[Array, Array]:
    """The length [s] of the next step, and the error to remember; no shorter than before if this one was cut short."""
    following, remembered = following_step(power, h, error, at.error)
    return np.where(does & (h < at.h), np.maximum(following, at.h), following), remembered


def _repeated(goes_on: Callable[[Any], Any], step: Callable[[Any], Any], start: Any, tries: Scalar | None) -> Any:
    """Steps while a march goes on, or no more than so many."""
    if tries is None:
        return while_loop(goes_on, step, start, STEPS)
    counted = (start, tries + np.zeros(()))
    return while_loop(
        lambda now: goes_on(now[0]) & (now[1] > 0), lambda now: (step(now[0]), now[1] - 1), counted, STEPS
    )[0]


def _no_corner(t: Any, now: Any, end: Any) -> Any:
    """All is smooth up to the end."""
    return end


def chosen(where: Any, new: Any, old: Any) -> Any:
    """The new arrays of a state where something holds, and else the old ones."""
    leaves, rebuild = flatten(old)
    return rebuild([np.where(where, b, a) for a, b in zip(leaves, flatten(new)[0], strict=True)])


def like(y: Array, rate: Any) -> Any:
    """The rate of change of y (n,), if it has that shape."""
    if np.shape(rate) != np.shape(y):
        raise ValueError(f"f must return dy/dt of the shape of y, {np.shape(y)}, not {np.shape(rate)}.")
    return rate


def solution(
    f: Callable[..., Any], scheme: Scheme = DOP853, tolerance: float = 1e-9, parameters: bool = False
) -> Kernel:
    """A kernel (times (k,), y (n,)) -> the solution (k, n) of y' = f(t, y) at times [s] that do not decrease; y is that
    at the first.

    Steps do not depend on the times but the last, where they end: what lies between is read off dense output. The root
    of the mean square of the errors of a step, each over 1 + the size of its number, is at most the tolerance.
    `parameters`: the kernel takes p (m,) as well, which is constant, and f is a function (t, y, p). Where no step is
    short enough, or times decrease, the result is NaN.
    """
    if not 1e-16 <= tolerance < 1:
        raise ValueError(f"tolerance must be a number from 1e-16 to 1, not {tolerance!r}.")

    def solved(times: Array, y: Array, *p: Array) -> Array:
        def rate(t: Scalar, y: Array) -> Array:
            return like(y, f(t, y, *p))

        def next_row(i: Any, carry: tuple[March, Array]) -> tuple[March, Array]:
            here, end = times[np.maximum(i - 1, 0)], times[i]
            attempt = partial(_attempt, scheme, rate, tolerance, end if len(times) > 2 else np.inf)
            at = march(attempt, scheme.power, carry[0], end, limit=np.maximum(times[-1], end))
            y, within = at.now
            y = np.where(at.t > end, within.at(end), y) if len(times) > 2 else y
            carry[1][i] = np.where((at.t >= end) & (end >= here), y, np.nan)
            return at, carry[1]

        slope = rate(times[0], y)
        h = first_step(lambda h: rate(times[0], y + h * slope), y, tolerance * (1.0 + np.abs(y)), scheme.power)
        zero, no, rows = np.zeros(()), np.zeros((), bool), np.zeros((len(times), len(y)))
        now = (y, Within.nothing(times[0], y, scheme.terms))
        at = March(times[0] + zero, now, h, zero + 1e-4, zero, no, no)
        found: Array = fori_loop(len(times), next_row, (at, rows))[1]
        return found

    return Kernel(solved, "(k),(n),(m)->(k,n)" if parameters else "(k),(n)->(k,n)")


def _attempt(
    scheme: Scheme, rate: Derivative, tolerance: float, end: Scalar, t: Scalar, now: tuple[Array, Within], h: Scalar
) -> tuple[tuple[Array, Within], Array]:
    """A step, and its error; with dense output if it is good and leads beyond the time `end`."""
    tried = scheme.attempt(rate, t, now[0], h)
    tolerated = tolerance * (1.0 + np.maximum(np.abs(now[0]), np.abs(tried.new)))
    error = scheme.norm([e / tolerated for e in tried.errors], h)
    if end is np.inf:
        return (tried.new, now[1]), error
    beyond = (error <= 1.0) & (t + h > end)
    return (tried.new, when(beyond, lambda _: Within(t, h, tuple(tried.terms())), now[1])), error
