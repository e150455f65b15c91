"""A stepper against the wall clock, with inputs from outside: fixed steps that follow the clock, as well as they can.

The simulated time that is due is speed * (wall time since the start, without pauses). Each control period is a step of
the same length, whatever the clock does; so the motion follows from the actions alone, and a recording of them replays
to the same bits.
"""

import time
import warnings
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.run.stepper import WorldStepper
from poinsot.run.stepper_options import StepperState

Inputs = Callable[[Any], Any]  # of the latest observation: an action as for `sim.step`, or None to hold the last one
OnFrame = Callable[["LiveFrame"], Any]  # may return False to stop


class BehindWarning(UserWarning):
    """The physics is slower than the wall clock, and the simulated time was set back."""


@dataclass(frozen=True, eq=False)
class LiveFrame:
    """A view for a page: the number of periods so far, the simulated time (...) [s], the observation (..., no), and
    the stepper itself. `late` [s]: by how much the simulated time is behind the clock."""

    count: int
    time: Any
    observation: Any
    late: float
    sim: WorldStepper


@dataclass(frozen=True, eq=False)
class LiveRecord:
    """A record of what happened: the state at the start, and the actions (n, ..., na) of the periods with the wall
    times (n,) [s] at which they were read. `dropped` [s]: simulated time given up because the physics was too slow."""

    start: StepperState
    actions: Array
    read_at: Array
    dropped: float

    def replay(self, sim: WorldStepper) -> Iterator[Any]:
        """Step a stepper of the same world through it, to the same bits: what is observed after each period."""
        sim.state = self.start
        for action in self.actions:
            yield sim.step(action if sim.action_labels else None)


@dataclass(eq=False)
class LiveRun:
    """A stepper that follows the wall clock; `advance` does what is due, `run` goes on until it is over.

    Nothing else may step it meanwhile, or the record is not complete.

    inputs: called with the latest observation before each period; gives the action. before: called before each period
    that is due; it may pause, stop or start anew, and then the period is not done. on_frame: called after the periods
    that were due, at most `rate` times per second. speed: simulated time per wall time, 0.1 for slow motion; it can be
    changed at any time. paused: nothing moves. most_late [s]: of wall time; beyond it the clock is set back, with a
    warning, instead of ever more periods being due at once. clock, sleep: of the wall, in seconds.
    """

    sim: WorldStepper
    inputs: Inputs | None = None
    on_frame: OnFrame | None = None
    speed: float = 1.0
    rate: float = 60.0
    most_late: float = 0.25
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    paused: bool = False
    before: Callable[[], None] | None = None
    count: int = field(default=0, init=False)  # periods so far
    dropped: float = field(default=0.0, init=False)  # s, of simulated time

    def __post_init__(self) -> None:
        for name in ("speed", "rate", "most_late"):
            _require_positive(name, getattr(self, name))
        for name in ("inputs", "before", "on_frame"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise TypeError(f"{name} must be a function, not {getattr(self, name)!r}.")
        self.period = self.sim.substeps * self.sim.step_length
        self._seen = self.sim.observation
        self._told = self._stopped = False
        self._begin()

    def _begin(self) -> None:
        """An empty record, from the state and the time of now on."""
        self._start, self._read_at = self.sim.state, array("d")
        self._changes: list[tuple[int, Array]] = []  # the actions that differ from those before, with their periods
        self.count, self.dropped, self._due = 0, 0.0, 0.0
        self._began = self._looked = self.clock()

    # What is due.

    def advance(self, most: float = np.inf) -> int:
        """Do the control periods that are due by now, at most some; their number."""
        now = self.clock()
        elapsed, self._looked = now - self._looked, now
        if self.paused or self._stopped:
            return 0
        _require_positive("speed", self.speed)
        self._due += self.speed * elapsed
        self._set_back()
        done = 0
        while done < most and self._is_due():
            if self.before is not None:
                self.before()
                if not self._is_due():
                    break
            self.step()
            self._due -= self.period
            done += 1
            if self.clock() - now > self.most_late:  # show something, and look at the clock again
                break
        return done

    def _is_due(self) -> bool:
        return self._due >= self.period * (1.0 - 1e-9) and not (self.paused or self._stopped)

    def _set_back(self) -> None:
        """Give up simulated time that would never be caught up, and say so once."""
        most = max(self.speed * self.most_late, self.period)
        if self._due <= most + 1e-12:
            return
        self.dropped += self._due - most
        self._due = most
        if not self._told:
            self._told = True
            warnings.warn(
                f"the physics is more than {self.most_late:g} s behind the clock: simulated time is dropped. Lower "
                f"speed ({self.speed:g}), or take a longer step ({self.sim.step_length:g} s).",
                BehindWarning,
                stacklevel=4,
            )

    def step(self) -> Any:
        """One control period now, whatever the clock says: also while paused, to go on step by step."""
        action = None if self.inputs is None else self.inputs(self._seen)
        self._seen = self.sim.step(action)
        acted = self.sim._host(self.sim.action)
        if not self._changes or not np.array_equal(acted, self._changes[-1][1]):
            self._changes.append((self.count, acted.copy()))
        self._read_at.append(self.clock() - self._began)
        self.count += 1
        return self._seen

    # How it goes on.

    def run(self, duration: float | None = None) -> LiveRecord:
        """Follow the clock for a duration [s] of simulated time, or until `stop`, Ctrl-C, or on_frame returns False."""
        last = np.inf if duration is None else self.count + round(_require_positive("duration", duration) / self.period)
        self._looked, self._stopped, shown = self.clock(), False, -np.inf
        try:
            while self.count < last and not self._stopped:
                done, now = self.advance(last - self.count), self.clock()
                if self.on_frame is not None and (now - shown) * self.rate >= 1.0 - 1e-9:
                    shown = now if now - shown > 1.5 / self.rate else shown + 1.0 / self.rate  # keeps the rate
                    if self.on_frame(self.frame) is False:
                        break
                if not done and not self._stopped:
                    self.sleep(self._wait(now - shown))
        except KeyboardInterrupt:
            pass
        return self.record

    def _wait(self, since_shown: float) -> float:
        """How long [s] nothing will be due."""
        to_frame = 1.0 / self.rate - since_shown if self.on_frame is not None else 1.0 / self.rate
        to_period = np.inf if self.paused else (self.period - self._due) / self.speed
        return float(max(min(to_frame, to_period), 1e-4))

    def reset(self, seed: int | None = None) -> Any:
        """Start anew, with a new record: what is observed."""
        return self._anew(self.sim.reset(seed=seed))

    def go_on_from(self, state: StepperState) -> Any:
        """Start from a state, with a new record: what is observed."""
        self.sim.state = state
        return self._anew(self.sim.observation)

    def _anew(self, seen: Any) -> Any:
        self._seen = seen
        self._begin()
        return seen

    def stop(self) -> None:
        """End `run` after the period that is being computed; from any thread."""
        self._stopped = True

    @property
    def frame(self) -> LiveFrame:
        """The latest view."""
        return LiveFrame(self.count, self.sim.time, self._seen, self._due / self.speed, self.sim)

    @property
    def record(self) -> LiveRecord:
        """The record so far."""
        width = (*np.shape(self.sim.time), len(self.sim.action_labels))
        periods = [period for period, _ in self._changes] + [self.count]
        actions = np.array([action for _, action in self._changes]).reshape((len(self._changes), *width))
        actions = np.repeat(actions, np.diff(periods), axis=0)
        return LiveRecord(self._start, actions, np.array(self._read_at), self.dropped)


def live(sim: WorldStepper, inputs: Inputs | None = None, duration: float | None = None, **options: Any) -> LiveRecord:
    """Run a stepper against the wall clock, with inputs from outside; see `LiveRun` for all options."""
    return LiveRun(sim, inputs, **options).run(duration)


def _require_positive(name: str, value: float) -> float:
    if not isinstance(value, (int, float, np.number)) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a positive number, not {value!r}.")
    return float(value)
