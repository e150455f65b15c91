"""Look-ups beyond the grids of tables: which axis was left in a run, for how long, and how far."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array
from poinsot.fuse.trace.table import Table, look_ups
from poinsot.parts import Element
from poinsot.run.compiled import CompiledSystem
from poinsot.run.measuring import measuring
from poinsot.world import Motion, System

Records: TypeAlias = tuple[Array, Array, Array]  # time (r,), y (r, ..., ny), p (..., np) or (r, ..., np)


@dataclass(frozen=True)
class TableExit:
    """An axis of a table that was left: for a time [s] in all, of an instance of a batch the longest; the value that
    was farthest out, and the ends of the axis; share: of the instances that left it."""

    table: str
    axis: str
    time: float
    farthest: float
    ends: tuple[float, float]
    share: float = 1.0

    def __str__(self) -> str:
        low, high = self.ends
        words = (
            f"{self.axis} left {self.table!r}, {low:g} to {high:g}, for {self.time:.3g} s, up to {self.farthest:.4g}"
        )
        return words if self.share == 1.0 else f"{words}, in {100 * self.share:.3g} % of the instances"


class TableExits(tuple[TableExit, ...]):
    """All axes of tables that were left."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))


@dataclass(eq=False)
class Tally:
    """Per instance and axis (n, a): the time [s] that was spent beyond it, how far at most, and the value there."""

    axes: list[tuple[str, Table, int]]
    time: Array
    beyond: Array
    farthest: Array

    @classmethod
    def of(cls, axes: list[tuple[str, Table, int]], n: int) -> "Tally":
        return cls(axes, *(np.full((n, len(axes)), x) for x in (0.0, -np.inf, np.nan)))

    def add(self, values: Array, spans: Array) -> None:
        """Count values (m, n, a) at which axes were asked, each for a span (m, n) [s]."""
        beyond = np.stack([_beyond(table, axis, values[..., k]) for k, (_, table, axis) in enumerate(self.axes)], -1)
        sizes = np.array([table.axes[axis][-1] - table.axes[axis][0] for _, table, axis in self.axes])
        out = (beyond > 1e-12 * sizes) & (spans > 0)[..., None]
        self.time += np.sum(np.where(out, spans[..., None], 0.0), axis=0)
        beyond = np.where(out, beyond, -np.inf)
        worst = np.argmax(beyond, axis=0)[None]
        most = np.take_along_axis(beyond, worst, 0)[0]
        farther = most > self.beyond
        self.farthest = np.where(farther, np.take_along_axis(values, worst, 0)[0], self.farthest)
        self.beyond = np.where(farther, most, self.beyond)

    def exits(self) -> Iterator[TableExit]:
        """The axes that were left."""
        left = self.beyond > -np.inf
        for k, (name, table, axis) in enumerate(self.axes):
            if np.any(left[:, k]):
                grid, worst = table.axes[axis], int(np.argmax(self.beyond[:, k]))
                ends, share = (float(grid[0]), float(grid[-1])), float(np.mean(left[:, k]))
                longest, farthest = float(np.max(self.time[:, k])), float(self.farthest[worst, k])
                yield TableExit(name, table.label(axis), longest, farthest, ends, share)


def table_exits(compiled: CompiledSystem, records: Records, step: float | None, end: Any) -> TableExits:
    """The axes that were left in a run: at every step, or at the records if `step` [s] is None.

    The steps between records are made once more, from all records side by side. `end` [s]: when each instance ended.
    An input that jumps between two records counts from the second.
    """
    tables = _tables(compiled.system)
    if not tables:
        return TableExits()
    axes = [(name, table, axis) for name, table in tables.items() for axis in table.open_axes]
    tally, ends = Tally.of(axes, max(1, records[1][0, ..., 0].size)), np.reshape(end, -1)
    for at, values, spans in _looks(compiled, records, step):
        spans = np.where(at[:, None] <= ends * (1 + 1e-12), spans[:, None], 0.0)
        tally.add(np.reshape(values, (len(at), -1, len(axes))), np.broadcast_to(spans, (len(at), tally.time.shape[0])))
    return TableExits(tally.exits())


def _looks(compiled: CompiledSystem, records: Records, step: float | None) -> Iterator[tuple[Array, Array, Array]]:
    """Times (m,), the points (m, ..., a) at which axes are asked then, and the spans (m,) [s] that they stand for."""
    asked, (time, y, p) = _asked(compiled.original), records
    gaps = np.diff(time)
    h = np.inf if step is None else step
    steps, near = np.floor(gaps / h * (1 + 1e-9)).astype(int), np.minimum(gaps, h)
    spans = 0.5 * (np.append(near, 0.0) + np.append(0.0, near))
    yield time, asked(time, y, p)[0], spans if len(gaps) else np.ones(1)
    go_on = np.flatnonzero(steps > 1)
    x = np.asarray(compiled.to_stepped(y[go_on], _among(p, go_on, y)))
    for k in range(1, steps.max(initial=0)):
        kept = steps[go_on] > k
        go_on, x = go_on[kept], x[kept]
        t, own = time[go_on] + (k - 1) * h, _among(p, go_on, y)
        x = compiled.step_through(x, own, np.reshape(t, (-1,) + (1,) * (y.ndim - 2)), h)
        yield t + h, asked(t + h, np.asarray(compiled.from_stepped(x, own)), own)[0], np.full(len(t), h)


def _among(p: Array, chosen: Array, y: Array) -> Array:
    """The parameters of some records."""
    return p[chosen] if p.ndim == y.ndim else p


def _beyond(table: Table, axis: int, x: Array) -> Array:
    """How far x is beyond the axis; below 0 within."""
    return np.maximum(x - table.axes[axis][-1], table.axes[axis][0] - x)


@memo
def _tables(system: System) -> dict[str, Table]:
    """The tables that are asked at the start and can be left, by name: those with one, and the fields of parts."""
    if system.net is not None and not system.net.has_laws:
        return {}
    owned = {id(t): f"{name}.{field}" for name, e in system.description.acting() for field, t in _fields_of(e)}
    with np.errstate(all="ignore"):
        tables = system.first_tables()
    named = {table.name or owned.get(id(table), ""): table for table in tables if table.open_axes}
    return {name: table for name, table in named.items() if name}


def _fields_of(element: Element) -> Iterator[tuple[str, Table]]:
    for f in fields(element):
        value = getattr(element, f.name, None)
        for key, item in value.items() if isinstance(value, Mapping) else [("", value)]:
            if isinstance(item, Table):
                yield (f"{f.name}.{key}" if key else f.name), item


@memo
def _asked(compiled: CompiledSystem) -> Callable[[Array, Array, Array], tuple[Array, ...]]:
    """The compiled function of the points at which these axes are asked; of several look-ups, the farthest out."""
    tables = _tables(compiled.system)

    def points(motion: Motion) -> Array:
        with look_ups() as seen:
            compiled.system.solved(replace(motion.scene))
        return np.stack([_farthest(table, axis, seen) for table in tables.values() for axis in table.open_axes])

    return measuring(compiled, [points], "table exits")


def _farthest(table: Table, axis: int, seen: list[tuple[Table, tuple[Array, ...]]]) -> Array:
    asked = [point[axis] for other, point in seen if other is table or (table.name and other.name == table.name)]
    best: Array = 1.0 * asked[0]
    for x in asked[1:]:
        best = np.where(_beyond(table, axis, x) > _beyond(table, axis, best), x, best)
    return best
