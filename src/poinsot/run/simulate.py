"""Simulate one world, or many that differ in some numbers, for a while."""

import time as clock
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.run import limits
from poinsot.run.adaptive import advance_adaptively
from poinsot.run.interrupt import CtrlC
from poinsot.run.plan import Inputs, Plan, choose, draw, inputs_of, plan, require_fit
from poinsot.run.progress import Progress
from poinsot.run.rows import Condition, Rows
from poinsot.run.run import Run, Stop, settings_of, writer
from poinsot.world import System, World

HAND_OVER = 2**20  # bytes of records that are given to a file together
FIRST = 16  # steps in the first call, which tells how long they take
CALL = 0.2  # s: about how long one call of the kernel may take, so that progress shows and Ctrl-C works


def simulate(
    world: World,
    duration: float,
    step: float = 1e-3,
    *,
    method: str | None = None,
    batch: int | None = None,
    vary: Mapping[str, Any] | None = None,
    seed: int | None = None,
    inputs: Mapping[str, Any] | None = None,
    every: float | None = None,
    record: str | Sequence[str] | None = None,
    until: Condition | None = None,
    tolerance: float = 1e-10,
    ledger: bool | None = None,
    device: str = "cpu",
    save: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Run:
    """Let a world move for a duration [s], in steps [s], and keep records.

    method: a name in `METHODS`, or "adaptive"; by default one that conserves momentum for free bodies, RK4 otherwise.
    batch, vary: how many at once, and paths of numbers with one value for each, or distributions (`normal`, `uniform`)
    to draw from with the `seed`.
    inputs: by name, a constant, a function of time, or (times, values), each value held until the next.
    every: seconds between records; 10 ms by default, and of a batch the start and the end alone.
    record: which quantities `run.data` holds; see `OBSERVABLES`.
    until: a condition (t, scene) at which the run stops, as it becomes true; a number counts as true if it is positive.
    tolerance: of the method "adaptive", relative; its steps are chosen so.
    ledger: whether to keep one; by default for single runs.
    save: a file, x.nc or x.zarr, that takes the records while the run goes on, so that it may be larger than memory.
    device: "cpu" or "cuda". progress: a bar; by default on a terminal, for anything above a second.
    """
    vary = dict(vary or {})
    system = world.system(tuple(vary))
    numbers, n = draw(system, vary, batch, seed)
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device must be 'cpu' or 'cuda', not {device!r}.")
    given = inputs_of(system, inputs or {})
    require_fit(system, given, n)
    booked = n is None if ledger is None else ledger
    settings = settings_of(world, locals())
    adaptive = method == "adaptive"
    if adaptive and n is not None:
        raise ValueError("method 'adaptive' is for single runs; a batch needs a fixed step.")
    if adaptive and any(element.latches for element in world.description.elements.values()):
        raise ValueError("method 'adaptive' does not watch limits of the structure; take 'rk4'.")
    name = "rk4" if adaptive else choose(method, system)
    schedule = plan(duration, step, every, n is not None)
    rows = _rows(world, system, name, given.functions, booked, limits.until(system, until), device)
    settings |= {"method": "adaptive" if adaptive else name, "step": schedule.step}
    with writer(save, world, rows, settings, record) if save is not None else nullcontext() as keeper:
        course = _Course(rows, schedule, given, numbers, n, keeper)
        with Progress(schedule.steps, n or 1, progress) as bar:
            if adaptive:
                times, y, stop = advance_adaptively(rows, schedule, course.p, given, tolerance, bar)
                p = course.p
            else:
                course.run(bar)
                times, y, p, stop = course.times(), np.stack(course.kept), course.given(), course.stop()
        limits.warn(system, y[-1])
        if keeper is None:
            return Run(world, rows, times, y, p, settings, stop, record)
        keeper.add(times, y, p)
        return keeper.finish(stop)


def _rows(world: World, system: System, *others: Any) -> Rows:
    """The equations over rows, made and compiled once for each way to use them."""
    name, functions, *rest = others
    key = ("rows", system, name, *functions.items(), *rest)
    if key not in world.kept:
        world.kept[key] = Rows(system, name, functions, *rest)
    return world.kept[key]


@dataclass
class _Course:
    """A simulation under way."""

    rows: Rows
    schedule: Plan
    inputs: Inputs
    numbers: Mapping[str, Array]
    n: int | None
    keeper: Any = None  # a `Writer` that takes the records from time to time

    def __post_init__(self) -> None:
        self.p = self._given(0.0)
        with np.errstate(all="ignore"):
            self.y = np.asarray(self.rows.start(self.p))
            self.x = np.asarray(self.rows.enter(self.y, self.p))  # what is stepped
        self._require_finite_start()
        self.kept, self.steps_kept = [self.y], [0]
        self.stopped_at = np.full(self.y.shape[:-1], np.inf)  # when each instance met its condition [s]
        self.broken: dict[tuple[int, ...], tuple[float, str]] = {}
        self.reason = "duration"

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
        plan = self.schedule
        marks = np.append(np.arange(plan.stride, plan.steps, plan.stride), plan.steps)
        changes = np.rint(self.inputs.changes() / plan.step).astype(int)
        if self.rows.until is not None:
            self.stopped_at = np.where(self.rows.condition(0.0, self.y, self.p) > 0, 0.0, self.stopped_at)
        done, most = 0, FIRST
        try:
            with np.errstate(all="ignore"), CtrlC() as key:
                while done < plan.steps and not self._over() and not key.pressed:
                    mark = int(marks[np.searchsorted(marks, done, side="right")])
                    change = changes[np.searchsorted(changes, done, side="right") :]
                    room = min([plan.steps, *(int(c) for c in change[:1])]) - done
                    if len(changes) > 1:
                        self.p = self._given(done * plan.step)
                    started = clock.perf_counter()
                    records = min(room, most) // plan.stride if self._films and mark - done == plan.stride else 0
                    if records > 1:
                        count = records * plan.stride
                        self._film(done, records)
                    else:
                        count = min(mark - done, most, room)
                        self._advance(done, count)
                    took = clock.perf_counter() - started
                    most = max(1, min(4 * most, int(count * CALL / max(took, 1e-7))))
                    done += count
                    if records > 1 or done == mark or self._over():
                        self._keep(done)
                    bar.at(done)
                if key.pressed:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            self.reason = "interrupted"
            if self.steps_kept[-1] < done:
                self._keep(done)

    @property
    def _films(self) -> bool:
        """Whether a kernel makes many records in one call: of a single world, without a condition to watch."""
        return self.n is None and self.rows.until is None and self.rows.device == "cpu"

    def _film(self, done: int, records: int) -> None:
        """Advance by so many records in one call, and keep all but the last."""
        stride, h = self.schedule.stride, self.schedule.step
        film = np.concatenate([self.x[None], self.rows.film(self.x, self.p, done, h, stride, records)])
        shown = self.rows.leave(film, self.p)
        bad = ~np.isfinite(shown).all(axis=-1)
        last = int(np.argmax(bad)) if np.any(bad) else records
        for k in range(1, last):
            self.y = shown[k]
            self._keep(done + k * stride)
        self.x, self.y = film[last], shown[last]
        if bad[last]:
            self._look_for_nan(film[last - 1], done + (last - 1) * stride, stride)

    def _advance(self, done: int, count: int) -> None:
        rows, h = self.rows, self.schedule.step
        before, running = self.x, self._running()
        if self._films:
            self.x = rows.film(before, self.p, done, h, count, 1)[0]
        elif rows.until is None:
            new = rows.onward(before, self.p, 0.0, done, h, count)
            self.x = np.where(running[..., None], new, before) if self.broken else new
        else:
            new, made = rows.onward_until(before, self.p, done, h, count)
            self.x = np.where(running[..., None], new, before)
            met = running & (made < count)
            if np.any(met):
                self._locate((done + made) * h, met)
        self.y = np.asarray(rows.leave(self.x, self.p))
        self._look_for_nan(before, done, count)

    def _locate(self, t: Array, met: Array) -> None:
        """When, within the next step, the condition comes true: by bisection, to rounding."""
        rows, h = self.rows, self.schedule.step
        low, high = np.zeros(met.shape), np.ones(met.shape)
        for _ in range(48):
            middle = 0.5 * (low + high)
            there = rows.leave(rows.onward(self.x, self.p, t, 0, middle * h, 1), self.p)
            true = rows.condition(t + middle * h, there, self.p) > 0
            low, high = np.where(true, low, middle), np.where(true, middle, high)
        self.x = np.where(met[..., None], rows.onward(self.x, self.p, t, 0, high * h, 1), self.x)
        self.stopped_at = np.where(met, t + high * h, self.stopped_at)

    def _over(self) -> bool:
        """Whether nothing is left to run."""
        return not np.any(self._running())

    def _running(self) -> Array:
        """Which instances have neither met their condition nor broken down."""
        mask = np.array(~np.isfinite(self.stopped_at))
        for index in self.broken:
            mask[index] = False
        return mask

    def _look_for_nan(self, before: Array, done: int, count: int) -> None:
        """Set aside instances that broke down, with the first bad quantity and its time."""
        bad = ~np.isfinite(self.y).all(axis=-1)
        if not np.any(bad):
            return
        for index in map(tuple, np.argwhere(bad)):
            if index not in self.broken:
                self.broken[index] = self._first_bad(before[index], self.p[index], done, count)
                if self.n is not None:  # it stays as it was when last all was well
                    self.x[index], self.y[index] = self.last_row, self.last_good

    def _first_bad(self, x: Array, p: Array, done: int, count: int) -> tuple[float, str]:
        """Step by step from the last good row: the time, and what is not finite there."""
        h = self.schedule.step
        for k in range(count):
            ahead = self.rows.film(x, p, done + k, h, 1, 1)[0]
            new = np.asarray(self.rows.leave(ahead, p))
            if not np.all(np.isfinite(new)):
                self.last_row, self.last_good = x, np.asarray(self.rows.leave(x, p))
                what = self.rows.labels()[int(np.argmax(~np.isfinite(new)))]
                return (done + k + 1) * h, f"{what} became {new[np.argmax(~np.isfinite(new))]:g}"
            x = ahead
        return (done + count) * h, "a quantity became infinite"

    def _keep(self, done: int) -> None:
        if self.n is None and self.broken:
            when, _ = self.broken[()]
            self.y, done = self.last_good, round(when / self.schedule.step) - 1
            if done <= self.steps_kept[-1]:
                return
        elif self.n is not None and self._over():  # not later than the last one stopped
            times = [self.stopped_at[np.isfinite(self.stopped_at)].max(initial=0.0)]
            last = max(times + [when for when, _ in self.broken.values()])
            done = min(done, int(np.ceil(last / self.schedule.step * (1 - 1e-12))))
        self.kept.append(self.y)
        self.steps_kept.append(done)
        if self.keeper is not None and self.y.nbytes * len(self.kept) > HAND_OVER:
            self._hand_over()

    def _hand_over(self) -> None:
        """Give all records but the last one, whose time may still change, to what writes them."""
        times, y, p = self.times()[:-1], np.stack(self.kept[:-1]), self.given()
        p = p[:-1] if p.ndim == y.ndim else p
        del self.kept[:-1], self.steps_kept[:-1]
        self.keeper.add(times, y, p)

    def given(self) -> Array:
        """The rows p, (..., np), or (r, ..., np) if inputs change over time."""
        if len(self.inputs.changes()) == 1:
            return self.p
        return np.stack([self._given(k * self.schedule.step) for k in self.steps_kept])

    def times(self) -> Array:
        """Of the records [s]."""
        times = np.array(self.steps_kept, dtype=float) * self.schedule.step
        if self.n is None and np.isfinite(self.stopped_at) and self.steps_kept[-1] > 0:
            times[-1] = float(self.stopped_at)
        return times

    def stop(self) -> Stop:
        """Why, and when, the run ended."""
        end = self.steps_kept[-1] * self.schedule.step
        if self.n is None:
            if self.broken:
                when, what = self.broken[()]
                return Stop("broken", when, f"{what} at t = {when:g} s")
            if np.isfinite(self.stopped_at):
                return Stop(
                    "condition", float(self.stopped_at), f"the condition was met at t = {self.stopped_at:.9g} s"
                )
        if self.reason == "interrupted":
            return Stop("interrupted", end, f"interrupted at t = {end:g} s")
        times = np.where(np.isfinite(self.stopped_at), self.stopped_at, end)
        notes = {int(i[0]): f"{what} at t = {when:g} s" for i, (when, what) in self.broken.items()} if self.n else {}
        reason = "broken" if notes else "condition" if np.isfinite(self.stopped_at).any() else "duration"
        met = int(np.isfinite(self.stopped_at).sum())
        text = f"{len(notes)} of {self.n} broke down" if notes else "the duration was over"
        text = f"{met} of {self.n} met the condition" if reason == "condition" else text
        return Stop(reason, times if self.n else end, text, notes)
