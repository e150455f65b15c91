"""Recorded flights, as inputs that hold from their times on: they run again to the same bits, kept in tables."""

import csv
import io
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poinsot._atomic import write_text
from poinsot._types import Array
from poinsot.run.stepper import WorldStepper
from poinsot.run.wall_clock import LiveRecord

END = "end"  # the last row of a table: nothing changes there, the flight ends


@dataclass(frozen=True, eq=False)
class FlownInputs:
    """Inputs of a flight: `names` of numbers, the times (k,) [s] at which some of them change, their values (k, n), and
    the `duration` [s]."""

    names: tuple[str, ...]
    times: Array
    values: Array
    duration: float

    @classmethod
    def of(cls, sim: WorldStepper, record: LiveRecord) -> "FlownInputs":
        """Those of a record of one world, from its start on."""
        if sim.batch is not None or np.any(record.start.steps) or np.any(record.start.origin):
            raise ValueError("a flight is that of a single world, from its start on.")
        n, period = len(record.actions), sim.substeps * sim.step_length
        changes = np.flatnonzero(np.any(record.actions[1:] != record.actions[:-1], axis=-1)) + 1
        kept = np.concatenate([np.zeros(min(n, 1), dtype=int), changes])
        return cls(sim.action_labels, kept * period, record.actions[kept], n * period)

    @property
    def inputs(self) -> dict[str, tuple[Array, Array]]:
        """For `simulate(inputs=...)`: times and values of each input, which hold until the next ones."""
        if any("[" in name for name in self.names):
            raise ValueError("a flight has inputs that are single numbers; one of this world is an array.")
        return {name: (self.times, self.values[:, k]) for k, name in enumerate(self.names)} if len(self.times) else {}

    def text(self) -> str:
        """A table with a row for each time; numbers have all their digits."""
        out = io.StringIO()
        write = csv.writer(out, lineterminator="\n")
        write.writerow(["t", *self.names])
        rows = zip(self.times, self.values, strict=True)
        write.writerows([repr(float(t)), *(repr(float(x)) for x in row)] for t, row in rows)
        write.writerow([repr(float(self.duration)), *[END] * len(self.names)])
        return out.getvalue()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the table, whole or not at all."""
        return write_text(path, self.text())


def load_flight(path: str | os.PathLike[str]) -> FlownInputs:
    """A flight from its table; an error names the row."""
    path = Path(path)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    if not rows or rows[0][:1] != ["t"] or len(rows) < 2:
        raise ValueError(f"'{path}' is not a flight: its first row must be t and the names of inputs.")
    names, last = tuple(rows[0][1:]), rows[-1]
    if last[1:] != [END] * len(names):
        raise ValueError(f"'{path}' is not a whole flight: its last row must be its duration and {END!r}.")
    table = np.array([_numbers(path, k, row, len(names)) for k, row in enumerate(rows[1:-1], 2)])
    table = table.reshape(len(rows) - 2, 1 + len(names))
    duration = _numbers(path, len(rows), last[:1], 0)[0]
    if (
        np.any(np.diff(table[:, 0]) <= 0)
        or not (table[:1, 0] == 0.0).all()
        or not duration > table[-1:, 0].max(initial=0)
    ):
        raise ValueError(f"'{path}': the times of a flight begin at 0, increase, and end before its duration.")
    return FlownInputs(names, table[:, 0], table[:, 1:], duration)


def _numbers(path: Path, k: int, row: Iterable[str], n: int) -> list[float]:
    try:
        numbers = [float(x) for x in row]
    except ValueError:
        numbers = []
    if len(numbers) != n + 1 or not np.all(np.isfinite(numbers)):
        raise ValueError(f"'{path}', row {k}: expected {n + 1} finite numbers.")
    return numbers
