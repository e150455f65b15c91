"""The times of a simulation: a whole number of equal steps, and records on some of them."""

from dataclasses import dataclass

import numpy as np

from poinsot._types import Array

NEVER = 2**53  # a stride longer than any run


@dataclass(frozen=True)
class TimeGrid:
    """Times: `steps` steps of `step` [s], a record after each `stride` of them and at the end."""

    duration: float
    step: float
    steps: int
    stride: int

    @property
    def times(self) -> Array:
        """The times of the records [s]."""
        return np.append(np.arange(0, self.steps, self.stride), self.steps) * self.step

    def next_record(self, done: int) -> int:
        """After how many steps, `done` of them being made, the next record is due."""
        return min((done // self.stride + 1) * self.stride, self.steps)


def whole_steps(name: str, duration: float, step: float) -> int:
    """How many steps [s] a duration [s] of this name takes, or an error that says which ones fit."""
    for what, value in (("step", step), (name, duration)):
        if not (np.isscalar(value) and np.isreal(value) and np.isfinite(value) and float(value) > 0):  # type: ignore[arg-type]
            raise ValueError(f"{what} must be a positive number of seconds, not {value!r}.")
    _countable(name, duration, step)
    count = max(1, round(duration / step))
    if abs(count * step - duration) > 1e-9 * duration:
        raise ValueError(
            f"a {name} of {duration:g} s is not a multiple of the step of {step:g} s; the nearest is "
            f"{count * step:.12g} s."
        )
    return count


def _countable(name: str, length: float, step: float) -> None:
    if not length / step < NEVER:
        raise ValueError(f"{name} = {length:g} s takes {length / step:g} steps of {step:g} s, which cannot be counted.")


def time_grid(duration: float, step: float, every: float | None, batched: bool) -> TimeGrid:
    """The time grid of a run; the step is shortened a little where the duration is not a whole number of steps."""
    for name, value in (("duration", duration), ("step", step), *([("every", every)] if every is not None else [])):
        if not (np.isscalar(value) and np.isreal(value) and np.isfinite(value) and float(value) > 0):  # type: ignore[arg-type]
            raise ValueError(f"{name} must be a positive number of seconds, not {value!r}.")
    if step > duration * (1 + 1e-9):
        raise ValueError(f"the step of {step:g} s is longer than the duration of {duration:g} s.")
    for name, value in (("duration", duration), *([("every", every)] if every is not None else [])):
        _countable(name, value, step)
    steps, asked = int(np.ceil(duration / step * (1 - 1e-9))), step
    if abs(steps * step - duration) > 1e-9 * duration:
        step = duration / steps
    if every is None:
        stride = NEVER if batched else max(1, round(max(0.01, duration / 10_000) / step))
    else:
        stride = max(1, round(every / asked))
        if abs(stride * asked - every) > 1e-6 * every and every > asked:
            raise ValueError(
                f"records every {every:g} s do not fall on steps of {asked:g} s; take a multiple of the step, such as "
                f"{stride * asked:g} s."
            )
    return TimeGrid(duration, step, steps, stride)
