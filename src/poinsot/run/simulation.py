"""A simulation under way: from call to call of a kernel, from record to record."""

import time as clock
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.run.compiled import CompiledSystem
from poinsot.run.inputs import Inputs
from poinsot.run.interrupt import CtrlC
from poinsot.run.outcomes import Outcomes, first_breakdown, onset
from poinsot.run.progress import Progress
from poinsot.run.result import Stop
from poinsot.run.time_grid import TimeGrid

HAND_OVER = 2**20  # bytes of records that are written to a file together
FIRST = 16  # steps in the first call, which shows how long they take
CALL = 0.2  # s: about how long one call of the kernel may take, so that progress shows and Ctrl-C works


@dataclass(eq=False)
class Simulation:
    """A single world, n None, or a batch of n: where it is, and the records so far.

    x (..., nx) is the form that is stepped, y (..., ny) the flat state; both after `done` steps. p (..., np) holds now.
    """

    compiled: CompiledSystem
    grid: TimeGrid
    inputs: Inputs
    numbers: Mapping[str, Array]
    n: int | None
    writer: Any = None  # a `Writer` that gets the records from time to time

    def __post_init__(self) -> None:
        self.inputs = self.inputs.on_steps(self.grid.step)
        self.p = self._parameters(0.0)
        with np.errstate(all="ignore"):
            self.y = np.asarray(self.compiled.start(self.p))
            self.x = np.asarray(self.compiled.to_stepped(self.y, self.p))
        self._require_finite_start()
        if problem := self.compiled.open_loops(self.y, self.p):
            raise ValueError(problem)
        self.done, self.interrupted = 0, False
        changes, steps = np.rint(self.inputs.changes() / self.grid.step).astype(int), self.grid.steps
        self.pauses = np.append(changes[changes < steps], steps)  # step numbers beyond which p does not hold
        self.outcomes = Outcomes(np.full(self.y.shape[:-1], np.inf))
        self.kept, self.steps_kept = [self.y], [0]

    def _parameters(self, t: float) -> Array:
        """The parameters that hold from the time t on."""
        return self.compiled.parameters(self.numbers, self.inputs.at(t), () if self.n is None else (self.n,))

    def _require_finite_start(self) -> None:
        if np.all(np.isfinite(self.y)):
            return
        where = np.argwhere(~np.isfinite(self.y))[0]
        raise ValueError(f"the run cannot start: {self.compiled.labels()[where[-1]]} is {self.y[tuple(where)]}.")

    def run(self, bar: Progress) -> None:
        """Advance to the end, or to a reason to stop."""
        if self.compiled.until is not None:
            met = self.compiled.condition(0.0, self.y, self.p) > 0
            self.outcomes.met_at = np.where(met, 0.0, self.outcomes.met_at)
        most = FIRST
        try:
            with np.errstate(all="ignore"), CtrlC() as key:
                while self.done < self.grid.steps and not self.outcomes.over() and not key.pressed:
                    before, started = self.done, clock.perf_counter()
                    self._call(most)
                    took = max(clock.perf_counter() - started, 1e-7)
                    most = max(1, min(4 * most, int((self.done - before) * CALL / took)))
                    bar.at(self.done)
                if key.pressed:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            self.interrupted = True
            if self.steps_kept[-1] < self.done:
                self._keep()

    # From call to call.

    def _call(self, most: int) -> None:
        """As many steps, up to `most`, as one call of a kernel can make: to the next record, or over several."""
        grid, done = self.grid, self.done
        record = grid.next_record(done)
        end = min(int(self.pauses[np.searchsorted(self.pauses, done, side="right")]), done + most)
        records = (end - done) // grid.stride if self._scans and record - done == grid.stride else 0
        if self.inputs.jump:
            self.p = self._parameters(done * grid.step)
        if records > 1:
            self._scan(records)
        else:
            self._advance(min(record, end) - done)
        if records > 1 or self.done == record or self.outcomes.over():
            self._keep()

    @property
    def _scans(self) -> bool:
        """Whether one call of a kernel makes many records: for a single world, without a condition to watch."""
        return self.n is None and self.compiled.until is None and self.compiled.device == "cpu"

    def _scan(self, records: int) -> None:
        """Advance by this many records in one call, and keep all but the last."""
        stride, first = self.grid.stride, self.done
        ahead = self.compiled.scan_records(self.x, self.p, first, self.grid.step, stride, records)
        x = np.concatenate([self.x[None], ahead])
        y = self.compiled.from_stepped(x, self.p)
        bad = ~np.isfinite(y).all(axis=-1)
        last = int(np.argmax(bad)) if np.any(bad) else records
        for k in range(1, last):
            self.y, self.done = y[k], first + k * stride
            self._keep()
        self._arrive(x[last], y[last], x[last - 1], stride)

    def _advance(self, count: int) -> None:
        """Advance all that have not ended by this many steps."""
        compiled, p, h, first = self.compiled, self.p, self.grid.step, self.done
        before, running = self.x, self.outcomes.running()
        if self._scans:
            x = compiled.scan_records(before, p, first, h, count, 1)[0]
        elif compiled.until is None:
            x = compiled.advance(before, p, 0.0, first, h, count)
            x = np.where(running[..., None], x, before) if self.outcomes.broken else x
        else:
            x, made = compiled.advance_until(before, p, first, h, count)
            x, met = np.where(running[..., None], x, before), running & (made < count)
            x = self._meet(x, (first + made) * h, met) if np.any(met) else x
        self._arrive(x, np.asarray(compiled.from_stepped(x, p)), before, count)

    def _meet(self, x: Array, t: Array, met: Array) -> Array:
        """x, with those that `met` their condition at the instant within the step at t [s] when it becomes true."""
        compiled, p, h = self.compiled, self.p, self.grid.step

        def holds(share: Array) -> Array:
            there = compiled.from_stepped(compiled.advance(x, p, t, 0, share * h, 1), p)
            true: Array = compiled.condition(t + share * h, there, p) > 0
            return true

        share = onset(holds, np.zeros(met.shape), np.ones(met.shape), 48)
        self.outcomes.met_at = np.where(met, t + share * h, self.outcomes.met_at)
        return np.where(met[..., None], compiled.advance(x, p, t, 0, share * h, 1), x)

    def _arrive(self, x: Array, y: Array, before: Array, count: int) -> None:
        """Be at x and y, `count` steps after `before`; instances that broke down stay at their last finite state."""
        broken, h = self.outcomes.broken, self.grid.step
        for index in map(tuple, np.argwhere(~np.isfinite(y).all(axis=-1))):
            if index not in broken:
                breakdown = first_breakdown(self.compiled, before[index], self.p[index], self.done, h, count)
                broken[index], x[index], y[index] = breakdown, breakdown.x, breakdown.y
        self.x, self.y, self.done = x, y, self.done + count

    # From record to record.

    def _keep(self) -> None:
        """Record the states as they are, at the step at which the last of them moved."""
        step = self.done
        if self.n is None and self.outcomes.broken:
            step = self.outcomes.broken[()].step - 1
            if step <= self.steps_kept[-1]:
                return
        elif self.n is not None and self.outcomes.over():
            step = min(step, int(np.ceil(self.outcomes.last() / self.grid.step * (1 - 1e-12))))
        self.kept.append(self.y)
        self.steps_kept.append(step)
        if self.writer is not None and self.y.nbytes * len(self.kept) > HAND_OVER:
            self._hand_over()

    def _hand_over(self) -> None:
        """Give all records but the last one, whose time may still change, to the writer."""
        times, y, p = self.records()
        del self.kept[:-1], self.steps_kept[:-1]
        self.writer.add(times[:-1], y[:-1], p[:-1] if p.ndim == y.ndim else p)

    def records(self) -> tuple[Array, Array, Array]:
        """Times (r,) [s] and states y (r, ..., ny) of the records; p (..., np), or (r, ..., np) if inputs jump."""
        h = self.grid.step
        times = np.array(self.steps_kept, dtype=float) * h
        if self.n is None and self.outcomes.met and self.steps_kept[-1] > 0:
            times[-1] = float(self.outcomes.met_at)
        p = np.stack([self._parameters(k * h) for k in self.steps_kept]) if self.inputs.jump else self.p
        return times, np.stack(self.kept), p

    def stop(self) -> Stop:
        """Why, and when, the run ended."""
        return self.outcomes.stop(self.steps_kept[-1] * self.grid.step, self.interrupted)
