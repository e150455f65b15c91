"""Steps along Taylor series: the solution of y' = f(t, y) as polynomials in time, one after the other.

All of it is plain NumPy for one instance that can be traced, so that in a batch every instance has steps of its own.
Jorba and Zou, A software package for the numerical integration of ODEs by means of high-order Taylor methods,
Experimental Mathematics 14 (2005).
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import Kernel, fori_loop, when, while_loop
from poinsot.fuse.derive.taylor import Expansion, series
from poinsot.integrate.embedded import like

Rate: TypeAlias = Callable[[Any, Any], Any]  # (t, y (n,)) -> dy/dt (n,)

STEPS = 10**9  # steps in one call: more than anyone waits for
FLOOR = 1e-3  # to which the tolerance is relative where all numbers of a group are smaller than that
LOOKS, HALVINGS = 16, 40  # how often a step looks for a switch, and how closely it is located
LEAST = 4e-16  # of the time, the shortest step
FAR = 1e4  # a polynomial that holds for so many times the time that is asked for, ends there


def order_of(tolerance: float) -> int:
    """The order at which a series reaches a tolerance with the least work: -ln(tolerance)/2 + 1."""
    return max(3, math.ceil(1.0 - 0.5 * math.log(tolerance)))


@dataclass(frozen=True, eq=False)
class Piece:
    """A piece of the solution: y (n,) as polynomials with coefficients (n, order + 1), from the time `begin` [s] on,
    good for `length` [s], which is NaN if there is none. `singular`: there is no series at `begin`, but a straight
    line."""

    begin: Array
    length: Array
    coefficients: Array
    singular: Array

    def after(self, s: Scalar) -> Array:
        """y (n,) at the time begin + s."""
        line = self.coefficients[:, 0] + s * self.coefficients[:, 1]
        return np.where(self.singular, line, polynomial(self.coefficients, s))


def polynomial(c: Array, s: Scalar) -> Array:
    """c_0 + c_1 s + c_2 s^2 + ... for each row of c (n, order + 1), by Horner's rule."""
    y = c[:, -1]
    for k in reversed(range(c.shape[1] - 1)):
        y = c[:, k] + s * y
    return y


def step_length(c: Array, groups: Sequence[Any], tolerance: float) -> Array:
    """How long [s] a polynomial with the coefficients c (n, order + 1) is good for.

    Of each group of numbers, the last two terms are measured by its greatest number: where they would be as large as
    that is about the radius of convergence, and a step is so much shorter that the tolerance is left for what is
    missing; e^-2 of it at the order of (3-8), and the safety factor there. Groups are measured on their own, as
    positions and attitudes have little in common.
    """
    order = c.shape[1] - 1
    last, grown = (order - 1, order), [np.zeros(()), np.zeros(())]
    for group in groups:
        size = FLOOR + np.max(np.abs(c[group, 0]))
        grown = [np.maximum(m, np.max(np.abs(c[group, k])) / size) for m, k in zip(grown, last, strict=True)]
    near = (tolerance * math.exp(-0.7)) ** (1.0 / (order - 1))
    return near * np.exp(-np.maximum(*(np.log(np.maximum(m, 1e-300)) / k for m, k in zip(grown, last, strict=True))))


def expand(
    f: Rate,
    t: Scalar,
    y: Array,
    tolerance: float,
    groups: Sequence[Any],
    end: Scalar = np.inf,
    observers: int = 0,
    singular: Any = False,
) -> Piece:
    """The piece of the solution of y' = f(t, y) that begins at y (n,), at the time t [s].

    It ends where its series, cut off, is no longer good to the tolerance, and before that where something switches. A
    series that holds for far longer than the time up to `end` [s], as in uniform acceleration, ends there. Where there
    is none, as of |v| at rest, a short piece of a straight line leads away, but not after another: `singular`.
    The groups are places in y of numbers that are measured together; the last `observers` numbers belong to none.
    """
    there = series(f, t, y, order_of(tolerance), observers=observers)
    length = step_length(there.y, groups, tolerance)
    length = np.where(length > FAR * (end - t), end - t, length)
    if there.has_switches:
        length = unswitched(there, length)
    own = there.y[: len(y) - observers]
    exists = np.asarray(np.all(np.isfinite(own[:, -1])) & np.all(np.isfinite(own[:, -2])))
    away = np.where(singular, np.nan, np.minimum(_away(there.y, groups, tolerance), end - t))
    length = np.where(exists, length, away)
    length = np.where(length > LEAST * np.abs(t) + 1e-300, length, np.nan)
    return Piece(t + np.zeros(()), length, there.y, ~exists)


def _away(c: Array, groups: Sequence[Any], tolerance: float) -> Array:
    """How long [s] a straight line is good for, of a motion that changes within the time in which it began."""
    speeds = [np.max(np.abs(c[group, 1])) / (FLOOR + np.max(np.abs(c[group, 0]))) for group in groups]
    fastest = functools.reduce(np.maximum, speeds)
    return math.sqrt(tolerance) / np.maximum(fastest, 1e-300)


@dataclass(frozen=True, eq=False)
class Course:
    """How far a solution is: where its last piece began, and where it is within that piece; times in seconds; whether
    the piece before began without a series."""

    begin: Array
    start: Array
    s: Array
    y: Array
    goes_on: Array
    singular: Array

    @classmethod
    def at(cls, t: Scalar, y: Array) -> "Course":
        """At the beginning."""
        return cls(t + np.zeros(()), y, np.zeros(()), y, np.ones((), bool), np.zeros((), bool))


def march(
    piece_at: Callable[[Any, Array, Any], Piece], finish: Callable[[Array, Array], Array], course: Course, end: Scalar
) -> Course:
    """Piece after piece, up to the time `end` [s], which may be within one: then y is a value of its polynomial.

    piece_at(t, y, singular): the piece that begins there. finish(start, y): what the next piece begins with, where that
    which began at `start` ends with y. If there is no piece, y is NaN.
    """

    def step(at: Course) -> Course:
        piece = piece_at(at.begin, at.start, at.singular)
        reaches = ~(at.begin + piece.length < end)
        s = np.where(reaches, end - at.begin, piece.length)
        y = piece.after(np.where(np.isnan(piece.length), np.nan, s))
        begin, start = np.where(reaches, at.begin, at.begin + s), np.where(reaches, at.start, finish(at.start, y))
        return Course(begin, start, np.where(reaches, s, 0.0), y, ~reaches, ~reaches & piece.singular)

    course = replace(course, goes_on=course.begin + course.s < end)
    return while_loop(lambda at: at.goes_on, step, course, STEPS)


def unswitched(there: Expansion, length: Array) -> Array:
    """The length [s], or a shorter one: just beyond the first instant at which a switch is not as at the start."""

    def stays(s: Scalar) -> Any:
        return there.unswitched(polynomial(there.arguments, s))

    def look(i: Any, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bounds
        there = length * ((i + 1) / LOOKS)
        before = low == high
        good = stays(there)
        return np.where(before & good, there, low), np.where(before, there, high)

    def halve(_: Any, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bounds
        middle = 0.5 * (low + high)
        good = stays(middle)
        return np.where(good, middle, low), np.where(good, high, middle)

    bounds = fori_loop(LOOKS, look, (np.zeros(()), np.zeros(())))
    return when(bounds[0] < bounds[1], lambda now: fori_loop(HALVINGS, halve, now), bounds)[1]


def solution(
    f: Callable[..., Any], tolerance: float = 1e-12, groups: Sequence[Any] | None = None, parameters: bool = False
) -> Kernel:
    """A kernel (times (k,), y (n,)) -> the solution (k, n) of y' = f(t, y) at times [s] that do not decrease; y is that
    at the first.

    Steps do not depend on the times: what lies between is read off their polynomials. `groups`: places in y of numbers
    that are measured together, in length or angle; by default all. `parameters`: the kernel takes p (m,) as well, which
    is constant, and f is a function (t, y, p). Where there is no solution, the result is NaN.
    """
    if not 1e-16 <= tolerance < 1:
        raise ValueError(f"tolerance must be a number from 1e-16 to 1, not {tolerance!r}.")

    def solved(times: Array, y: Array, *p: Array) -> Array:
        together, count = [slice(0, len(y))] if groups is None else groups, len(times)

        def step(now: tuple[Any, ...]) -> tuple[Any, ...]:
            t, y, singular, i, rows = now
            piece = expand(lambda t, y: like(y, f(t, y, *p)), t, y, tolerance, together, times[-1], 0, singular)
            i, rows = _read(piece, times, i, rows)
            return t + piece.length, piece.after(piece.length), piece.singular, i, rows

        start = (times[0], y, np.zeros((), bool), *_first_rows(times, y))
        rows: Array = while_loop(lambda now: now[3] < count, step, start, STEPS)[4]
        return rows

    return Kernel(solved, "(k),(n),(m)->(k,n)" if parameters else "(k),(n)->(k,n)")


def _first_rows(times: Array, y: Array) -> tuple[Array, Array]:
    """How many of the times (k,) are the first one, and rows (k, n) with y at these."""
    count = len(times)

    def one(now: tuple[Array, Array]) -> tuple[Array, Array]:
        i, rows = now
        rows[i] = y
        return i + 1, rows

    start = (np.zeros((), int), np.zeros((count, len(y))))
    found: tuple[Array, Array] = while_loop(
        lambda now: (now[0] < count) & (np.asarray(times)[np.minimum(now[0], count - 1)] == times[0]), one, start, count
    )
    return found


def _read(piece: Piece, times: Array, i: Array, rows: Array) -> tuple[Array, Array]:
    """The rows (k, n) with all values, from number i on, that a piece gives; and the number of the first one beyond."""
    count = len(times)

    def is_within(now: tuple[Array, Array]) -> Any:
        t = np.asarray(times)[np.minimum(now[0], count - 1)]
        return (now[0] < count) & ~(piece.begin + piece.length < t)

    def one(now: tuple[Array, Array]) -> tuple[Array, Array]:
        i, rows = now
        s = np.asarray(times)[i] - piece.begin
        rows[i] = piece.after(np.where(np.isnan(piece.length), np.nan, s))
        return i + 1, rows

    read: tuple[Array, Array] = while_loop(is_within, one, (i, rows), count)
    return read
