"""A simulation under way: from call to call of a kernel, from record to record."""

import time as clock
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.run.compiled import Rows
from poinsot.run.interrupt import CtrlC
from poinsot.run.outcomes import Fates, first_breakdown, onset
from poinsot.run.plan import Inputs, Plan
from poinsot.run.progress import Progress
from poinsot.run.result import Stop

HAND_OVER = 2**20  # bytes of records that are given to a file together
FIRST = 16  # steps in the first call, which tells how long they take
CALL = 0.2  # s: about how long one call of the kernel may take, so that progress shows and Ctrl-C works


@dataclass(eq=False)
class Course:
    """Rows of a single world, n None, or of a batch of n, and what has been recorded of them so far.

    x (..., nx) is what is stepped, y (..., ny) the same as states; both after `done` steps. p (..., np) holds now.
    """

    rows: Rows
    schedule: Plan
    inputs: Inputs
    numbers: Mapping[str, Array]
    n: int | None
    writer: Any = None  # a `Writer` that takes the records from time to time

    def __post_init__(self) -> None:
        self.inputs = self.inputs.on_steps(self.schedule.step)
        self.p = self._given(0.0)
        with np.errstate(all="ignore"):
            self.y = np.asarray(self.rows.start(self.p))
            self.x = np.asarray(self.rows.enter(self.y, self.p))
        self._require_finite_start()
        self.done, self.interrupted = 0, False
        changes, steps = np.rint(self.inputs.changes() / self.schedule.step).astype(int), self.schedule.steps
        self.pauses = np.append(changes[changes < steps], steps)  # numbers of steps beyond which p does not hold
        self.fates = Fates(np.full(self.y.shape[:-1], np.inf))
        self.kept, self.steps_kept = [self.y], [0]

    def _given(self, t: float) -> Array:
        """The rows p that hold from the time t on."""
        return self.rows.row(self.numbers, self.inputs.at(t), () if self.n is None else (self.n,))

    def _require_finite_start(self) -> None:
        if np.all(np.isfinite(self.y)):
            return
        where = np.argwhere(~np.isfinite(self.y))[0]
        raise ValueError(f"the run cannot start: {self.rows.labels()[where[-1]]} is {self.y[tuple(where)]}.")

    def run(self, bar: Progress) -> None:
        """Advance to the end, or to a reason to stop."""
        if self.rows.until is not None:
            met = self.rows.condition(0.0, self.y, self.p) > 0
            self.fates.met_at = np.where(met, 0.0, self.fates.met_at)
        most = FIRST
        try:
            with np.errstate(all="ignore"), CtrlC() as key:
                while self.done < self.schedule.steps and not self.fates.over() and not key.pressed:
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
        plan, done = self.schedule, self.done
        record = plan.next_record(done)
        end = min(int(self.pauses[np.searchsorted(self.pauses, done, side="right")]), done + most)
        records = (end - done) // plan.stride if self._films and record - done == plan.stride else 0
        if self.inputs.jump:
            self.p = self._given(done * plan.step)
        if records > 1:
            self._film(records)
        else:
            self._advance(min(record, end) - done)
        if records > 1 or self.done == record or self.fates.over():
            self._keep()

    @property
    def _films(self) -> bool:
        """Whether a kernel makes many records in one call: of a single world, without a condition to watch."""
        return self.n is None and self.rows.until is None and self.rows.device == "cpu"

    def _film(self, records: int) -> None:
        """Advance by so many records in one call, and keep all but the last."""
        stride, first = self.schedule.stride, self.done
        ahead = self.rows.film(self.x, self.p, first, self.schedule.step, stride, records)
        film = np.concatenate([self.x[None], ahead])
        shown = self.rows.leave(film, self.p)
        bad = ~np.isfinite(shown).all(axis=-1)
        last = int(np.argmax(bad)) if np.any(bad) else records
        for k in range(1, last):
            self.y, self.done = shown[k], first + k * stride
            self._keep()
        self._arrive(film[last], shown[last], film[last - 1], stride)

    def _advance(self, count: int) -> None:
        """Advance by so many steps all that have not ended."""
        rows, p, h, first = self.rows, self.p, self.schedule.step, self.done
        before, running = self.x, self.fates.running()
        if self._films:
            x = rows.film(before, p, first, h, count, 1)[0]
        elif rows.until is None:
            x = rows.onward(before, p, 0.0, first, h, count)
            x = np.where(running[..., None], x, before) if self.fates.broken else x
        else:
            x, made = rows.onward_until(before, p, first, h, count)
            x, met = np.where(running[..., None], x, before), running & (made < count)
            x = self._meet(x, (first + made) * h, met) if np.any(met) else x
        self._arrive(x, np.asarray(rows.leave(x, p)), before, count)

    def _meet(self, x: Array, t: Array, met: Array) -> Array:
        """The rows x, those that `met` taken to where, within the step at t [s], their condition comes true."""
        rows, p, h = self.rows, self.p, self.schedule.step

        def holds(share: Array) -> Array:
            return rows.condition(t + share * h, rows.leave(rows.onward(x, p, t, 0, share * h, 1), p), p) > 0

        share = onset(holds, np.zeros(met.shape), np.ones(met.shape), 48)
        self.fates.met_at = np.where(met, t + share * h, self.fates.met_at)
        return np.where(met[..., None], rows.onward(x, p, t, 0, share * h, 1), x)

    def _arrive(self, x: Array, y: Array, before: Array, count: int) -> None:
        """Be at the rows x and y, `count` steps on from `before`; what broke down stays as it last was well."""
        broken, h = self.fates.broken, self.schedule.step
        for index in map(tuple, np.argwhere(~np.isfinite(y).all(axis=-1))):
            if index not in broken:
                found = first_breakdown(self.rows, before[index], self.p[index], self.done, h, count)
                broken[index], x[index], y[index] = found, found.x, found.y
        self.x, self.y, self.done = x, y, self.done + count

    # From record to record.

    def _keep(self) -> None:
        """Record the rows as they are, at the step at which the last of them moved."""
        step = self.done
        if self.n is None and self.fates.broken:
            step = self.fates.broken[()].step - 1
            if step <= self.steps_kept[-1]:
                return
        elif self.n is not None and self.fates.over():
            step = min(step, int(np.ceil(self.fates.last() / self.schedule.step * (1 - 1e-12))))
        self.kept.append(self.y)
        self.steps_kept.append(step)
        if self.writer is not None and self.y.nbytes * len(self.kept) > HAND_OVER:
            self._hand_over()

    def _hand_over(self) -> None:
        """Give all records but the last one, whose time may still change, to what writes them."""
        times, y, p = self.records()
        del self.kept[:-1], self.steps_kept[:-1]
        self.writer.add(times[:-1], y[:-1], p[:-1] if p.ndim == y.ndim else p)

    def records(self) -> tuple[Array, Array, Array]:
        """Times (r,) [s] and rows y (r, ..., ny) of what is kept; rows p (..., np), or (r, ..., np) if inputs jump."""
        h = self.schedule.step
        times = np.array(self.steps_kept, dtype=float) * h
        if self.n is None and self.fates.met and self.steps_kept[-1] > 0:
            times[-1] = float(self.fates.met_at)
        p = np.stack([self._given(k * h) for k in self.steps_kept]) if self.inputs.jump else self.p
        return times, np.stack(self.kept), p

    def stop(self) -> Stop:
        """Why, and when, the run ended."""
        return self.fates.stop(self.steps_kept[-1] * self.schedule.step, self.interrupted)
