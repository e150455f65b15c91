"""The outcomes of the instances of a run: they go on, meet the condition to stop at, or break down."""

from dataclasses import dataclass, field

import numpy as np

from poinsot._types import Array
from poinsot.run.compiled import CompiledSystem
from poinsot.run.full_lists import full_list
from poinsot.run.open_loops import jumped, opened
from poinsot.run.result import Stop

Index = tuple[int, ...]  # of an instance: () in a single run, (k,) in a batch


@dataclass(frozen=True, eq=False)
class Breakdown:
    """A step to a number that is NaN or infinite: the step's number, when it ends [s], what happened, and x and y
    before it. reason: "broken", or "capacity" if a list of contacts was full."""

    step: int
    time: float
    what: str
    x: Array
    y: Array
    reason: str = "broken"

    def __str__(self) -> str:
        return f"{self.what} at t = {self.time:g} s"


def first_breakdown(
    compiled: CompiledSystem, x: Array, p: Array, t: float, first: int, h: float, count: int
) -> Breakdown:
    """Where one instance breaks down, within `count` steps from number `first` on, counted from the time t.

    They are repeated by halves, as the times of steps do not depend on how calls are cut.
    """
    step = first
    while count > 1:
        half = count // 2
        ahead = compiled.scan_records(x, p, t, step, h, half, 1)[0]
        if np.all(np.isfinite(compiled.from_stepped(ahead, p))):
            x, step, count = ahead, step + half, count - half
        else:
            count = half
    y = np.asarray(compiled.from_stepped(compiled.scan_records(x, p, t, step, h, 1, 1)[0], p))
    k = int(np.argmax(~np.isfinite(y)))
    what = f"{compiled.labels()[k]} became {y[k]:g}" if not np.isfinite(y[k]) else "a quantity became infinite"
    if compiled.is_adaptive and np.all(np.isnan(y)):
        what = f"no step, however short, meets the tolerance of {compiled.tolerance:g}"
    before, end = np.asarray(compiled.from_stepped(x, p)), t + (step + 1) * h
    if (full := full_list(compiled, end - h, before, p, h)) is not None:
        return Breakdown(step + 1, end, full, x, before, "capacity")
    what = jumped(compiled, end - h, before, end, y) or opened(compiled, end, y, p) or what
    return Breakdown(step + 1, end, what, x, before)


@dataclass(eq=False)
class Outcomes:
    """All instances, so far: when each met its condition [s], infinity if it did not; and those that broke down."""

    met_at: Array
    broken: dict[Index, Breakdown] = field(default_factory=dict)

    @property
    def met(self) -> Array:
        """Which instances met their condition."""
        return np.isfinite(self.met_at)

    def running(self) -> Array:
        """Which instances have neither met their condition nor broken down."""
        mask = np.array(~self.met)
        for index in self.broken:
            mask[index] = False
        return mask

    def over(self) -> bool:
        """Whether nothing is left to run."""
        return not np.any(self.running())

    def last(self) -> float:
        """When the last one that ended did [s]."""
        return max([float(self.met_at[self.met].max(initial=0.0)), *(b.time for b in self.broken.values())])

    def stop(self, end: float, halted: bool) -> Stop:
        """Why, and when, a run ended whose last record is at the time `end` [s]; `halted`: by Ctrl-C."""
        if self.met_at.ndim == 0:
            for breakdown in self.broken.values():
                return Stop(breakdown.reason, breakdown.time, str(breakdown))
            if self.met:
                return met(float(self.met_at))
        if halted:
            return interrupted(end)
        if self.met_at.ndim == 0:
            return over(end)
        times, n = np.where(self.met, self.met_at, end), len(self.met_at)
        if self.broken:
            notes = {int(k): str(breakdown) for (k,), breakdown in self.broken.items()}
            if all(breakdown.reason == "capacity" for breakdown in self.broken.values()):
                return Stop("capacity", times, f"{len(notes)} of {n} had more contacts than a list holds", notes)
            return Stop("broken", times, f"{len(notes)} of {n} broke down", notes)
        if np.any(self.met):
            return Stop("condition", times, f"{np.sum(self.met)} of {n} met the condition")
        return over(times)


def met(t: float) -> Stop:
    """The end of a single run that met its condition."""
    return Stop("condition", t, f"the condition was met at t = {t:.9g} s")


def interrupted(t: float) -> Stop:
    """The end of a run by Ctrl-C."""
    return Stop("interrupted", t, f"interrupted at t = {t:g} s")


def over(t: float | Array) -> Stop:
    """The end of a run whose duration was over."""
    return Stop("duration", t, "the duration was over")
