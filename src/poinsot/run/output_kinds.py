"""Outputs of a run, kept while it goes on: the largest altitude, the time of touch-down, a mean, without any records.

Each kind of output has a few numbers of memory, which follow the stepped state and are updated after every step. Values
are taken at the steps: an extremum between two of them is missed by at most |f''| h^2 / 8, means are sums of
trapezoids. The time of an event is located within its step, to rounding.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from poinsot._hints import hint
from poinsot._types import Array, Scalar
from poinsot.fuse import fori_loop
from poinsot.spatial.arrays import as_array
from poinsot.world import Motion, System

HALVINGS = 50  # of a step, in which the time of an event is located

Step: TypeAlias = Callable[[Any, Any, Any], Any]  # (t, form, h) -> form
MotionOf: TypeAlias = Callable[[Any, Any], Motion]  # (t, form) -> the motion there
Value: TypeAlias = Callable[[Any, Motion], Any]  # (t, motion) -> a number, or whether a condition is true


@dataclass(frozen=True)
class OutputKind:
    """How an output remembers: its numbers at the start and after a step, and the result from them.

    start(t, value), update(memory, value, h), result(memory, t, value) with the time and value at the end.
    """

    size: int
    start: Callable[[Any, Any], Sequence[Any]]
    update: Callable[[Array, Any, Any], Sequence[Any]]
    result: Callable[[Array, Any, Any], Any]


def _mean(memory: Array, t: Any, value: Any) -> Any:
    """The integral over time, divided by the time; the value itself if no time has passed."""
    begin, integral, _ = memory
    passed = t - begin
    return np.where(passed > 0, integral / np.where(passed > 0, passed, 1.0), value)


def _trapezoid(memory: Array, value: Any, h: Any) -> list[Any]:
    begin, integral, last = memory
    return [begin, integral + 0.5 * h * (last + value), value]


KINDS: dict[str, OutputKind] = {
    "max": OutputKind(1, lambda t, x: [x], lambda m, x, h: [np.maximum(m[0], x)], lambda m, t, x: m[0]),
    "min": OutputKind(1, lambda t, x: [x], lambda m, x, h: [np.minimum(m[0], x)], lambda m, t, x: m[0]),
    "mean": OutputKind(3, lambda t, x: [t, 0.0, x], _trapezoid, _mean),
    "rms": OutputKind(
        3, lambda t, x: [t, 0.0, x * x], lambda m, x, h: _trapezoid(m, x * x, h),
        lambda m, t, x: np.sqrt(_mean(m, t, x * x)),
    ),
    "final": OutputKind(0, lambda t, x: [], lambda m, x, h: [], lambda m, t, x: x),
    "time": OutputKind(
        1, lambda t, x: [np.where(x > 0, t, np.inf)], lambda m, x, h: [m[0]],
        lambda m, t, x: np.where(np.isfinite(m[0]), m[0], np.nan),
    ),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Output:
    """One number of a run: its name, its kind, the function of a motion that it is of, and both in words.

    formula: data from which that function follows, with the system; None if there are none. unit: "" if unknown.
    """

    name: str
    kind: str
    of: Value
    text: str
    formula: Any = None
    unit: str = ""

    def value(self, t: Scalar, motion: Motion) -> Array:
        """The number at one instant; of a condition 1 if it is true, else 0."""
        value = as_array(self.of(t, motion))
        if self.kind == "time":
            return np.where(value if value.dtype == bool else value > 0, 1.0, 0.0)
        return 1.0 * value


def checked(system: System, outputs: Sequence[Output]) -> tuple[Output, ...]:
    """The outputs, if each is a number at the start of the world."""
    motion = system.first_motion()
    for output in outputs:
        if output.kind not in KINDS:
            raise ValueError(f"output {output.name!r}: there is no {output.kind!r}{hint(output.kind, KINDS)}.")
        shape = np.shape(output.of(0.0, motion))
        if shape != ():
            raise ValueError(
                f"output {output.name!r}: {output.text} is of an array of shape {shape}, not of a number; take an "
                "entry, as in velocity[2], or its norm(...)."
            )
    return tuple(outputs)


def split(outputs: Sequence[Output], memory: Array) -> list[Array]:
    """The memory (..., nm) of each output, (size, ...)."""
    edges = np.cumsum([KINDS[output.kind].size for output in outputs])
    return [np.moveaxis(part, -1, 0) for part in np.split(memory, edges[:-1], axis=-1)]


def memory_size(outputs: Sequence[Output]) -> int:
    """How many numbers all of them remember."""
    return sum(KINDS[output.kind].size for output in outputs)


def remembered(outputs: Sequence[Output], t: Any, values: Array) -> Array:
    """The memory (..., nm) at the start, at the time t [s], of the values (..., k) then."""
    each = zip(outputs, np.moveaxis(values, -1, 0), strict=True)
    numbers = [x for output, value in each for x in KINDS[output.kind].start(t, value)]
    many = values.shape[:-1]
    return np.stack([np.zeros(many) + x for x in numbers], axis=-1) if numbers else np.zeros((*many, 0))


def results(outputs: Sequence[Output], memory: Array, t: Any, values: Sequence[Any]) -> list[Any]:
    """The outputs (...) from memory (..., nm), and time and values (...) at the end."""
    parts = split(outputs, memory)
    return [KINDS[o.kind].result(part, t, x) for o, part, x in zip(outputs, parts, values, strict=True)]


def remembering(outputs: Sequence[Output], step: Step, motion_of: MotionOf) -> Step:
    """The step of a form together with the memory (nm,) of outputs; `motion_of` tells what happens in a form.

    `new`: the form that the step leads to, if it is known.
    """

    def value_at(output: Output, t: Scalar, form: Any, h: Scalar) -> Array:
        """The quantity of an output, after a part h of the step from a form at the time t."""
        return output.value(t + h, motion_of(t + h, step(t, form, h)))

    def whole(t: Scalar, now: tuple[Any, Array], h: Scalar, new: Any = None) -> tuple[Any, Array]:
        form, memory = now
        new = step(t, form, h) if new is None else new
        motion, numbers = motion_of(t + h, new), []  # type: Motion, list[Any]
        for output, part in zip(outputs, split(outputs, memory), strict=True):
            value = output.value(t + h, motion) if KINDS[output.kind].size else 0.0
            if output.kind == "time":
                begins = ~np.isfinite(part[0]) & (value > 0)
                onset = _onset(begins, t, h, partial(value_at, output, t, form))
                numbers.append(np.where(begins, onset, part[0]))
            else:
                numbers += KINDS[output.kind].update(part, value, h)
        return new, np.stack([as_array(x) for x in numbers]) if numbers else memory

    return whole


def _onset(begins: Any, t: Scalar, h: Scalar, value: Callable[[Any], Any]) -> Any:
    """When [s], in the step h from the time t, value(part of h) becomes positive, if it `begins` to be so."""

    def halve(_: Any, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = ends
        middle = 0.5 * (low + high)
        true = value(middle * h) > 0
        return np.where(true, low, middle), np.where(true, middle, high)

    return t + h * fori_loop(np.where(begins, HALVINGS, 0), halve, (np.zeros(()), np.ones(())))[1]
