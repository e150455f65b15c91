"""A simulation under way: from call to call of a kernel, from record to record."""

import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.fuse import Kernel
from poinsot.fuse.parallel import stacked
from poinsot.run.advancing import scanned_until
from poinsot.run.compiled import CompiledSystem
from poinsot.run.continuing import RunState, layout_of, require_together, resumed, with_memory
from poinsot.run.inputs import Inputs
from poinsot.run.interrupt import CtrlC
from poinsot.run.open_loops import open_loops
from poinsot.run.outcomes import Outcomes, first_breakdown
from poinsot.run.progress import Progress
from poinsot.run.result import Stop
from poinsot.run.rounds import in_rounds
from poinsot.run.time_grid import TimeGrid

HAND_OVER = 2**20  # bytes of records that are written to a file together
FIRST = 16  # steps in the first call, which shows how long they take
GROWTH = 16  # from call to call, at most
HALVINGS = 48  # of the step in which a condition becomes true
WATCHED = 16  # records in one call, where a condition is watched: those after it became true are made in vain
CALL = 0.2  # s: about how long one call of the kernel may take, so that progress shows and Ctrl-C works
LONGER = {"cpu": 1.0, "cuda": 2.5}  # times as long, by the device: to a GPU, each call copies all states, and back


@dataclass(eq=False)
class Simulation:
    """A single world, n None, or a batch of n: where it is, and the records so far.

    x (..., nx) is the form that is stepped, y (..., ny) the flat state; both after `done` steps. p (..., np) holds now.
    A run that goes on from the state of another one counts its steps from the same origin [s], if they are as long.
    """

    compiled: CompiledSystem
    grid: TimeGrid
    inputs: Inputs
    numbers: Mapping[str, Array]
    n: int | None
    writer: Any = None  # a `Writer` that gets the records from time to time
    start: RunState | None = None

    def __post_init__(self) -> None:
        start, h = self.start, self.grid.step
        goes_on = start is not None and start.step == h
        self.origin = 0.0 if start is None else start.origin if goes_on else start.time
        self.first = start.steps if start is not None and goes_on else 0  # steps before this run
        self.done, self.interrupted, steps = self.first, False, self.first + self.grid.steps
        self.grid = replace(self.grid, steps=steps)
        self.inputs = self.inputs.on_steps(h, self.origin)
        self.p = self._parameters(self.time(self.done))
        with np.errstate(all="ignore"):
            self._begin()
        self._require_finite_start()
        if start is None and (problem := open_loops(self.compiled, self.y, self.p)):
            raise ValueError(problem)
        changes = np.rint((self.inputs.changes() - self.origin) / h).astype(int)
        self.pauses = np.append(changes[changes < steps], steps)  # step numbers beyond which p does not hold
        self.kept, self.steps_kept = [self.y], [self.done]

    def _begin(self) -> None:
        """Be at the start of the world, or at the state from which this run goes on."""
        start, compiled = self.start, self.compiled
        if start is None:
            self.y = np.asarray(compiled.start(self.p))
            x = np.asarray(compiled.to_stepped(self.y, self.p))
            self.x = with_memory(compiled, x[..., : compiled.nx - compiled.n_memory], 0.0, self.y, self.p)
        else:
            self.y, self.x = resumed(start, compiled, self.n, self.p)
        self.outcomes = Outcomes(np.full(self.y.shape[:-1], np.inf))
        own = np.broadcast_to(0.0 if start is None else start.times, self.y.shape[:-1])
        if start is not None:
            self.outcomes.broken |= start.broken if start.batch == self.n else {}
        if compiled.until is not None:
            met = self.outcomes.running() & (compiled.condition(own, self.y, self.p) > 0)
            self.outcomes.met_at = np.where(met, own, self.outcomes.met_at)
        if start is not None:
            require_together(own, start.time, self.outcomes.running())

    def time(self, steps: int) -> float:
        """The time [s] after this many steps."""
        return self.origin + steps * self.grid.step

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
        most, call = FIRST, CALL * LONGER[self.compiled.device]
        try:
            with np.errstate(all="ignore"), CtrlC() as key:
                while self.done < self.grid.steps and not self.outcomes.over() and not key.pressed:
                    before, started = self.done, clock.perf_counter()
                    self._call(most)
                    took = max(clock.perf_counter() - started, 1e-7)
                    most = max(1, min(GROWTH * most, int((self.done - before) * call / took)))
                    bar.at(self.done - self.first)
                if key.pressed:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            self.interrupted = True
            if self.steps_kept[-1] < self.done:
                self._keep()

    # From call to call.

    def _call(self, most: int) -> None:
        """As many steps, up to `most`, as one call of a kernel can make: to the next record, or over several."""
        done, stride = self.done, self.grid.stride
        record = self.grid.next_record(done)
        if self.compiled.is_adaptive:  # its steps may end at records, but not where a call ends
            most = max(most, record - done)
        end = min(int(self.pauses[np.searchsorted(self.pauses, done, side="right")]), done + most)
        records = (end - done) // stride if self._scans and record - done == stride else 0
        if self.inputs.jump:
            self.p = self._parameters(self.time(done))
        if self.compiled.until is not None:
            records = min(records, WATCHED)
        if self._scans:
            self._scan(max(1, records), stride if records else min(record, end) - done)
        else:
            self._advance(min(record, end) - done)
        if records > 1 or self.done == record or self.outcomes.over():
            self._keep()

    @cached_property
    def _scans(self) -> bool:
        """Whether one call of a kernel makes many records: for a single world, with a compiled condition or none."""
        compiled = self.compiled
        steps = compiled.advance_until if compiled.until is not None else None
        return self.n is None and compiled.device == "cpu" and (steps is None or isinstance(steps, Kernel))

    def _scan(self, records: int, stride: int) -> None:
        """Advance by this many times `stride` steps in one call, or to where the run ends; keep all but the last."""
        first, before = self.done, self.x
        ahead, begins, lengths = self._ahead(records, stride)
        y = self.compiled.from_stepped(ahead, self.p)
        ends = ~np.isfinite(y).all(axis=-1) | (lengths > 0)
        last = int(np.argmax(ends)) if np.any(ends) else records - 1
        for k in range(last):
            self.y, self.done = y[k], first + (k + 1) * stride
            self._keep()
        x, y, before = ahead[last], y[last], ahead[last - 1] if last else before
        if lengths[last] > 0:
            x, self.outcomes.met_at = self._meet(x, self.p, begins[last], lengths[last])
            y = np.asarray(self.compiled.from_stepped(x, self.p))
        self._arrive(x, y, before, stride)

    def _ahead(self, records: int, stride: int) -> tuple[Array, Array, Array]:
        """x after each of so many times `stride` steps, and the begin and length [s] of the step in which the condition
        becomes true, or the length 0."""
        compiled, where = self.compiled, (self.x, self.p, self.origin)
        if compiled.until is None:
            none = np.zeros(records)
            return compiled.scan_records(*where, self.done, self.grid.step, stride, records), none, none
        return scanned_until(compiled.advance_until, *where, self.done, self.grid.step, stride, 0.0, records)

    def _advance(self, count: int) -> None:
        """Advance all that have not ended by this many steps; the others take no part."""
        compiled, h, first, t, before = self.compiled, self.grid.step, self.done, self.origin, self.x
        at = self._going()
        x, p = (before, self.p) if at is ... else (before[at], self.p[at])
        if compiled.until is None:
            (x,) = self._made(compiled.advance, x, p, t, first, h, count)
        else:
            x, times, lengths = self._made(compiled.advance_until, x, p, t, first, h, count, 0.0)
            x, met_at = self._meet(x, p, times, lengths)
            self.outcomes.met_at = _put(self.outcomes.met_at, at, met_at)
        y = np.asarray(compiled.from_stepped(x, p))
        self._arrive(_put(before, at, x), _put(self.y, at, y), before, count)

    def _made(self, advance: Any, x: Array, p: Array, *where: Any) -> tuple[Array, ...]:
        """The results of a kernel that advances from x (..., nx); a batch with steps of its own goes in rounds."""
        compiled, tries = self.compiled, None
        if self.n is not None and compiled.is_adaptive and compiled.device == "cpu":
            tries = compiled.tries
        if tries is not None:
            return in_rounds(advance, tries, x, p, *where)
        outputs = advance(x, p, *where)
        return outputs if isinstance(outputs, tuple) else (outputs,)

    def _going(self) -> Any:
        """The index of the instances that have not ended."""
        running = self.outcomes.running()
        return ... if np.all(running) else np.flatnonzero(running)

    def _meet(self, x: Array, p: Array, t: Array, h: Array) -> tuple[Array, Array]:
        """x and when the condition became true [s], infinity if it did not: those with a step of h > 0 from t [s] go to
        the instant within it, found by bisection."""
        x, t, h = map(np.asarray, (x, t, h))
        met_at = np.full(h.shape, np.inf)
        if not np.any(h > 0):
            return x, met_at
        at = ... if np.all(h > 0) else np.flatnonzero(h > 0)
        low, high = np.zeros(h[at].shape), np.ones(h[at].shape)

        def step(share: Array) -> Sequence[Array]:
            if self._scans:
                return [y[0] for y in scanned_until(self.compiled.advance_until, x, p, t, 0.0, share * h, 1.0, 1.0, 1)]
            return self.compiled.advance_until(x[at], p[at], t[at], 0.0, share * h[at], 1.0, 1.0)

        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            true = step(middle)[2] > 0
            low, high = np.where(true, low, middle), np.where(true, middle, high)
        return _put(x, at, step(high)[0]), _put(met_at, at, t[at] + high * h[at])

    def _arrive(self, x: Array, y: Array, before: Array, count: int) -> None:
        """Be at x and y, `count` steps after `before`; instances that broke down stay at their last finite state."""
        broken, h = self.outcomes.broken, self.grid.step
        with np.errstate(all="ignore"):
            sound = np.isfinite(np.sum(y))  # mostly: then all numbers are
        ended = [] if sound else [*map(tuple, np.argwhere(~np.isfinite(y).all(axis=-1)))]
        if ended:
            x, y = np.array(x), np.array(y)
        for index in ended:
            if index not in broken:
                breakdown = first_breakdown(
                    self.compiled, before[index], self.p[index], self.origin, self.done, h, count
                )
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
            ended = np.ceil((self.outcomes.last() - self.origin) / self.grid.step * (1 - 1e-12))
            step = max(self.first, min(step, int(ended)))
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
        times = self.origin + np.array(self.steps_kept, dtype=float) * self.grid.step
        if self.n is None and self.outcomes.met and self.steps_kept[-1] > self.first:
            times[-1] = float(self.outcomes.met_at)
        p = np.stack([self._parameters(self.time(k)) for k in self.steps_kept]) if self.inputs.jump else self.p
        return times, stacked(self.kept), p

    def stop(self) -> Stop:
        """Why, and when, the run ended."""
        return self.outcomes.stop(self.time(self.steps_kept[-1]), self.interrupted)

    def end(self, inputs: Mapping[str, Any]) -> RunState:
        """The state at which the run ended; `inputs` as they were given."""
        outcomes, broken = self.outcomes, self.outcomes.broken
        times = np.where(outcomes.met, outcomes.met_at, self.time(self.done))
        for index, breakdown in broken.items():
            times[index] = self.time(breakdown.step - 1)
        steps = broken[()].step - 1 if () in broken else self.done
        clock = (self.origin, steps)
        if self.n is None and outcomes.met:
            clock = (float(outcomes.met_at), 0)
        p = self._parameters(self.time(self.done)) if self.inputs.jump else self.p
        layout, h = layout_of(self.compiled), self.grid.step
        return RunState(layout, h, *clock, self.y, self.x, p, times, dict(broken), inputs)


def _put(values: Array, at: Any, new: Array) -> Array:
    """`values` with new ones at an index: a new array, for the old one may be a record."""
    if at is ...:
        return np.asarray(new)
    values = values.copy()
    values[at] = new
    return values
