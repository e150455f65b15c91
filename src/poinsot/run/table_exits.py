"""Look-ups beyond the grids of tables: which axis was left in a run, for how long, and how far."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array
from poinsot.fuse.trace.table import Table, look_ups
from poinsot.parts import Element
from poinsot.run.compiled import CompiledSystem
from poinsot.run.observe import measuring
from poinsot.world import Motion, System


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


def table_exits(compiled: CompiledSystem, time: Array, y: Array, p: Array) -> TableExits:
    """The axes that were left at the records: time (r,), y (r, ..., ny), p (..., np)."""
    tables = _tables(compiled.system)
    if not tables:
        return TableExits()
    (values,) = _asked(compiled.original)(time, y, p)
    spans = np.gradient(time) if len(time) > 1 else np.zeros(1)
    spans[[0, -1]] *= 0.5
    axes = [(name, table, axis) for name, table in tables.items() for axis in table.open_axes]
    return TableExits(_found(axes, np.reshape(values, (len(time), -1, len(axes))), spans))


def _found(axes: list[tuple[str, Table, int]], values: Array, spans: Array) -> Iterator[TableExit]:
    for k, (name, table, axis) in enumerate(axes):
        grid, x = table.axes[axis], values[..., k]
        beyond = _beyond(table, axis, x)
        out = beyond > 1e-12 * (grid[-1] - grid[0])
        if not np.any(out):
            continue
        longest = float(np.max(np.sum(np.where(out, spans[:, None], 0.0), axis=0)))
        farthest = float(x.flat[np.argmax(np.where(out, beyond, -np.inf))])
        share = float(np.mean(np.any(out, axis=0)))
        yield TableExit(name, table.label(axis), longest, farthest, (float(grid[0]), float(grid[-1])), share)


def _beyond(table: Table, axis: int, x: Array) -> Array:
    """How far x is beyond the axis; below 0 within."""
    return np.maximum(x - table.axes[axis][-1], table.axes[axis][0] - x)


@memo
def _tables(system: System) -> dict[str, Table]:
    """The tables that are asked at the start and can be left, by name: those with one, and the fields of parts."""
    owned = {id(t): f"{name}.{field}" for name, e in system.description.acting() for field, t in _fields_of(e)}
    with np.errstate(all="ignore"), look_ups() as seen:
        system.motion(0.0, system.start())
    named = {table.name or owned.get(id(table), ""): table for table, _ in seen if table.open_axes}
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

    return measuring(compiled, [points])


def _farthest(table: Table, axis: int, seen: list[tuple[Table, tuple[Array, ...]]]) -> Array:
    asked = [point[axis] for other, point in seen if other is table or (table.name and other.name == table.name)]
    best: Array = 1.0 * asked[0]
    for x in asked[1:]:
        best = np.where(_beyond(table, axis, x) > _beyond(table, axis, best), x, best)
    return best
