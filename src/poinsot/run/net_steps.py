"""Steps of nets: loops over springs and over masses, of which the code does not grow with their number.

The flat state y is that of `CompiledSystem`: q and v, three numbers for each mass, and the inflow that the ledger
keeps. Each method is that of the same name of any world; the stages of a step share one body of code.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import fori_loop, in_memory
from poinsot.fuse.trace.purity import steady
from poinsot.integrate import schemes
from poinsot.integrate.schemes import COMPOSITIONS
from poinsot.mechanism.form.numbered import entry
from poinsot.run import ledger
from poinsot.run.ledger import WIDTH
from poinsot.world.nets import Net, SpringRows, with_numbers
from poinsot.world.system import System

NetStep: TypeAlias = Callable[["NetMotion", Array, Scalar], Array]  # (motion, y, h) -> y after a step


@dataclass(frozen=True, eq=False)
class Inflow:
    """Where y has the inflow: `indices` in the flattened table of sources and conserved quantities, in order.

    gravity: pairs of a column and a place in y. springs: for each group of them the places (e,) of its first number.
    """

    indices: Array
    gravity: tuple[tuple[int, int], ...] = ()
    springs: tuple[Array, ...] = ()

    @classmethod
    def of(cls, system: System, net: Net, kept: bool) -> "Inflow":
        """That of all sources which can bring something in, or of none.

        Gravity brings momentum; a spring to a point at rest, momentum and angular momentum, six numbers; a spring with
        damping takes energy. Gravity that is left free may point anywhere.
        """
        if not kept:
            return cls(np.zeros(0, int))
        names = {name: WIDTH * k for k, name in enumerate(ledger.sources(system))}
        free = any(path.startswith("gravity") for path in net.places)
        g = np.ones(3) if free else net.gravity
        turning = np.abs(np.cross(np.eye(3), g)).sum(axis=0)
        columns = [1 + c for c in range(6) if (g[c] if c < 3 else turning[c - 3])]
        first = [np.array([names[name] + (1 if rows.anchored else 7) for name in rows.names]) for rows in net.springs]
        widths = [(6 if rows.anchored else 0) + rows.damped for rows in net.springs]
        own = [np.add.outer(start, np.arange(w)).ravel() for start, w in zip(first, widths, strict=True)]
        indices = np.sort(np.concatenate([np.array(columns, int), *own]).astype(int))
        start = system.nq + system.nv
        at = [
            start + np.searchsorted(indices, x) if w else np.zeros(0, int) for x, w in zip(first, widths, strict=True)
        ]
        return cls(indices, tuple((c, start + k) for k, c in enumerate(columns)), tuple(at))


@dataclass(frozen=True, eq=False)
class NetMotion:
    """A net while it is traced, with its numbers in memory, and where the inflow goes."""

    net: Net
    inflow: Inflow

    @classmethod
    def of(cls, net: Net, inflow: Inflow, numbers: Mapping[str, Any]) -> "NetMotion":
        """With the values of free numbers in their places."""
        return cls(with_numbers(net, numbers), inflow)

    @cached_property
    def n(self) -> int:
        return len(self.net)

    @cached_property
    def _groups(self) -> "list[_Group]":
        places = self.inflow.springs or [np.zeros(0, int)] * len(self.net.springs)
        return [_Group.of(rows, at) for rows, at in zip(self.net.springs, places, strict=True)]

    @cached_property
    def _mass(self) -> "Entries":
        return entries(self.net.mass)

    def forces(self, q: Array, v: Array, v_at: int, y: Array, weight: Scalar) -> tuple[Array, Array]:
        """The forces of all springs F (3 n,), and y with `weight` [s] times what they bring in.

        q has the positions, and v the velocities from the place `v_at` on.
        """
        F = in_memory(np.zeros(3 * self.n))
        for group in self._groups:

            def pull(e: Any, sums: tuple[Array, ...], group: Any = group) -> tuple[Array, ...]:
                F, *books = sums
                i, j = group.first(e), None if group.second is None else group.second(e)
                x, T, rate, n = group.tension(e, i, j, q, v, v_at)
                f = T * n
                for c in range(3):
                    F[i + c] = F[i + c] + f[c]
                if j is not None:
                    for c in range(3):
                        F[j + c] = F[j + c] - f[c]
                return F, *(group.booked(e, y, weight, f, x, T, rate) for y in books)

            F, *books = fori_loop(len(group.rows), pull, (F, y) if group.place is not None else (F,))
            y = books[0] if books else y
        return F, y

    def weighed(self, q: Array, y: Array, weight: Scalar) -> Array:
        """y with `weight` [s] times what gravity brings in."""
        if not self.inflow.gravity:
            return y
        mass, g = self._mass, self.net.gravity

        def add(i: Any, sums: tuple[Array, Array]) -> tuple[Array, Array]:
            m = mass(i)
            return sums[0] + m, sums[1] + m * np.stack([q[3 * i + c] for c in range(3)])

        total, moment = fori_loop(self.n, add, (np.zeros(()), np.zeros(3)))
        rate = np.concatenate([total * g, np.cross(moment, g)])
        for column, at in self.inflow.gravity:
            y[at] = y[at] + weight * rate[column - 1]
        return y

    def accelerations(self, F: Array, i: Any) -> list[Array]:
        """Those of mass i, a = F / m + g (3,)."""
        m, g = self._mass(i), self.net.gravity
        return [F[3 * i + c] / m + g[c] for c in range(3)]


Entries: TypeAlias = Callable[[Any], Any]  # the number of an entry -> the entry


def entries(array: Any, *at: int) -> Entries:
    """The entries of an array, or of its part at some places in front or behind: in memory, unless all are the same."""
    if not isinstance(array, np.ndarray):
        return lambda e: array[(*at, e)]
    row = array[at] if at else array
    if np.all(row == row[0]):
        same = row[0].item()
        return lambda e: same
    table = in_memory(row)
    return lambda e: table[e]


@dataclass(frozen=True, eq=False)
class _Group:
    """Springs of one law in memory, entry by entry: where q has the masses at both ends, where y has the inflow."""

    rows: SpringRows
    first: Entries
    second: Entries | None
    anchor: tuple[Entries, ...]
    numbers: tuple[Entries, ...]
    place: Entries | None

    @classmethod
    def of(cls, rows: SpringRows, place: Array) -> "_Group":
        return cls(
            rows,
            entries(3 * rows.first),
            None if rows.anchored else entries(3 * rows.second),
            tuple(entries(rows.anchors, c) for c in range(3)) if rows.anchored else (),
            tuple(entries(rows.numbers, r) for r in range(3)),
            entries(place) if len(place) else None,
        )

    def tension(self, e: Any, i: Any, j: Any, q: Array, v: Array, v_at: int) -> tuple[Any, ...]:
        """Spring e: the position of its first mass, tension, rate of the length, and direction away from there."""
        x = np.stack([q[i + c] for c in range(3)])
        there = np.stack([self.anchor[c](e) if j is None else q[j + c] for c in range(3)])
        d = there - x
        length = np.sqrt(d @ d)
        n = d * (1.0 / np.where(length > 0.0, length, 1.0))
        k, rest = self.numbers[0](e), self.numbers[1](e)
        if not self.rows.damped:
            return x, k * (length - rest), None, n
        u = np.stack([-v[v_at + i + c] if j is None else v[v_at + j + c] - v[v_at + i + c] for c in range(3)])
        rate, damping, law = n @ u, self.numbers[2](e), self.rows.law
        if law is None:
            return x, k * (length - rest) + damping * rate, rate, n
        role = f"tension of spring {self.rows.names[0]!r}"
        return x, steady(law, length, rate, k, rest, damping, role=role), rate, n

    def booked(self, e: Any, y: Array, weight: Any, f: Array, x: Array, T: Any, rate: Any) -> Array:
        """y with what spring e brings in: momentum from a point at rest, and energy, of which dampers take some.

        The power of a damper is -c l'^2, that of all forces of a custom law -T l'.
        """
        assert self.place is not None
        at = self.place(e)
        if self.rows.anchored:
            for c, brought in enumerate(np.concatenate([f, np.cross(x, f)])):
                y[at + c] = y[at + c] + weight * brought
            at = at + 6
        if self.rows.damped:
            power = T * rate if self.rows.law is not None else (rate * rate) * self.numbers[2](e)
            y[at] = y[at] - weight * power
        return y


def runge_kutta(tableau: schemes.Tableau) -> NetStep:
    """The step of a method of which each stage needs the slope of the one before alone."""
    a = np.array([*(row[-1] for row in tableau.a[1:]), 0.0])
    b = np.array(tableau.b)

    def step(motion: NetMotion, y: Array, h: Scalar) -> Array:
        n = motion.n

        def stage(s: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
            end, now = carry
            share, ahead = h * entry(b, s), h * entry(a, s)
            F, end = motion.forces(now, now, 3 * n, end, share)
            end = motion.weighed(now, end, share)

            def move(i: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
                end, now = carry
                slopes = [*((3 * i + c, now[3 * n + 3 * i + c]) for c in range(3))]
                slopes += [(3 * n + 3 * i + c, x) for c, x in enumerate(motion.accelerations(F, i))]
                for k, slope in slopes:
                    end[k] = end[k] + share * slope
                    now[k] = y[k] + ahead * slope
                return end, now

            return fori_loop(n, move, (end, now))

        return fori_loop(len(b), stage, (y, y))[0]

    return step


def _kicked(motion: NetMotion, y: Array, h: Scalar, tableau: schemes.Tableau) -> Array:
    """y after the forces have acted for a time h while nothing moves."""
    n = motion.n
    a, b = np.array([*(row[-1] for row in tableau.a[1:]), 0.0]), np.array(tableau.b)

    def stage(s: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        end, v = carry
        share, ahead = h * entry(b, s), h * entry(a, s)
        F, end = motion.forces(y, v, 0, end, share)
        end = motion.weighed(y, end, share)

        def move(i: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
            end, v = carry
            for c, slope in enumerate(motion.accelerations(F, i)):
                k = 3 * i + c
                end[3 * n + k] = end[3 * n + k] + share * slope
                v[k] = y[3 * n + k] + ahead * slope
            return end, v

        return fori_loop(n, move, (end, v))

    def velocity(k: Any, v: Array) -> Array:
        v[k] = y[3 * n + k]
        return v

    v = fori_loop(3 * n, velocity, in_memory(np.empty(3 * n)))
    return fori_loop(len(b), stage, (y, v))[0]


def _drifted(motion: NetMotion, y: Array, h: Scalar) -> Array:
    """y after the masses have moved straight on for a time h."""

    def move(k: Any, y: Array) -> Array:
        y[k] = y[k] + h * y[3 * motion.n + k]
        return y

    moved: Array = fori_loop(3 * motion.n, move, y)
    return moved


def splitting(order: int) -> NetStep:
    """Kicks and drifts in turn, composed by Strang and Suzuki."""
    drifts = np.array([0.0, *COMPOSITIONS[order]])
    kicks = 0.5 * (drifts + np.array([*COMPOSITIONS[order], 0.0]))

    def step(motion: NetMotion, y: Array, h: Scalar) -> Array:
        tableau = schemes.RK4 if motion.net.damped else schemes.EULER

        def part(k: Any, y: Array) -> Array:
            y = _drifted(motion, y, h * entry(drifts, k))
            return _kicked(motion, y, h * entry(kicks, k), tableau)

        return fori_loop(len(drifts), part, y)

    return step


def semi_implicit_euler(motion: NetMotion, y: Array, h: Scalar) -> Array:
    """A kick by the forces at the start, then a drift with the new velocities."""
    return _drifted(motion, _kicked(motion, y, h, schemes.EULER), h)


NET_STEPS: dict[str, NetStep] = {
    "euler": runge_kutta(schemes.EULER),
    "midpoint": runge_kutta(schemes.MIDPOINT),
    "rk4": runge_kutta(schemes.RK4),
    "semi-implicit euler": semi_implicit_euler,
    "splitting": splitting(2),
    "splitting4": splitting(4),
    "poinsot": splitting(2),
    "poinsot4": splitting(4),
}
