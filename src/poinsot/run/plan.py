"""What a simulation is asked to do, checked before any work starts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from poinsot._hints import hint
from poinsot._types import Array, ArrayLike
from poinsot.run.stepping import METHODS, default, flies
from poinsot.world import System

Draw: TypeAlias = Callable[[np.random.Generator, int], ArrayLike]
"""A distribution: (generator, n) -> n values."""


@dataclass(frozen=True)
class Plan:
    """Times: `steps` steps of `step` [s], a record after each `stride` of them and at the end."""

    duration: float
    step: float
    steps: int
    stride: int

    @property
    def times(self) -> Array:
        """Of the records [s]."""
        return np.append(np.arange(0, self.steps, self.stride), self.steps) * self.step

    def next_record(self, done: int) -> int:
        """The number of steps after which, `done` of them being made, the next record is due."""
        return min((done // self.stride + 1) * self.stride, self.steps)


def plan(duration: float, step: float, every: float | None, batched: bool) -> Plan:
    """Whole numbers of steps; the step is shortened a little where it does not fit the duration."""
    for name, value in (("duration", duration), ("step", step), *([("every", every)] if every is not None else [])):
        if not (np.isscalar(value) and np.isreal(value) and np.isfinite(value) and float(value) > 0):  # type: ignore[arg-type]
            raise ValueError(f"{name} must be a positive number of seconds, not {value!r}.")
    if step > duration * (1 + 1e-9):
        raise ValueError(f"the step of {step:g} s is longer than the duration of {duration:g} s.")
    steps, asked = int(np.ceil(duration / step * (1 - 1e-9))), step
    if abs(steps * step - duration) > 1e-9 * duration:
        step = duration / steps
    if every is None:
        stride = steps if batched else max(1, round(max(0.01, duration / 10_000) / step))
    else:
        stride = max(1, round(every / asked))
        if abs(stride * asked - every) > 1e-6 * every and every > asked:
            raise ValueError(
                f"records every {every:g} s do not fall on steps of {asked:g} s; take a multiple of the step, such as "
                f"{stride * asked:g} s."
            )
    return Plan(duration, step, steps, min(stride, steps))


def choose(method: str | None, system: System) -> str:
    """The method by name, checked, or a good one."""
    if method is None:
        return default(system)
    if method not in METHODS:
        raise ValueError(
            f"method {method!r} is unknown{hint(method, METHODS)}; there are {', '.join(METHODS)}, adaptive."
        )
    if METHODS[method].free_bodies_only and not flies(system):
        raise ValueError(
            f"method {method!r} is for free bodies and particles of given, constant mass; this world has joints, parts "
            "with states or free mass properties. Take 'rk4'."
        )
    return method


def draw(
    system: System, vary: Mapping[str, Any], batch: int | None, seed: int | None
) -> tuple[dict[str, Array], int | None]:
    """The values (n, ...) of each varied number, and the number of instances n; None if there is but one.

    A value is an array with one entry for each instance, or a distribution to draw from; each number has random numbers
    of its own, so that a further one does not change those of the others.
    """
    if batch is not None and (not isinstance(batch, (int, np.integer)) or batch < 1):
        raise ValueError(f"batch must be a positive whole number, not {batch!r}.")
    n = None if batch is None else int(batch)
    values = {path: np.asarray(given, dtype=float) for path, given in vary.items() if not callable(given)}
    cores = {path: np.shape(system.numbers[path]) for path in vary}
    for path, array in values.items():
        core = cores[path]
        if array.shape == core:
            continue
        if array.ndim != len(core) + 1 or array.shape[1:] != core:
            raise ValueError(
                f"{path} has the shape {core}; it can vary over an array of shape (n, *{core}), not {array.shape}."
            )
        if n is not None and array.shape[0] != n:
            raise ValueError(f"{path} varies over {array.shape[0]} values, but the batch has {n}.")
        n = array.shape[0]
    for path, given in vary.items():
        if callable(given):
            if n is None:
                raise ValueError(f"{path} is drawn at random: say how many with batch=...")
            values[path] = drawn(path, given, n, 0 if seed is None else seed)
            if values[path].shape != (n, *cores[path]):
                raise ValueError(
                    f"{path} has the shape {cores[path]}, but values of shape {values[path].shape[1:]} were drawn; "
                    "draw such as fit, or vary its entries."
                )
    require_finite(values)
    return {path: values[path] for path in vary}, n


def drawn(path: str, distribution: Draw, n: int, seed: int) -> Array:
    """n values for the number at a path, by random numbers of its own."""
    return np.asarray(distribution(np.random.default_rng([seed, *path.encode()]), n), dtype=float)


def require_finite(values: Mapping[str, Array]) -> None:
    """An error that names the first path of which a value is NaN or infinite."""
    for path, array in values.items():
        if not np.all(np.isfinite(array)):
            raise ValueError(f"{path} is varied over values that are not finite.")


@dataclass(frozen=True)
class normal:
    """A normal distribution of mean mu and standard deviation sigma."""

    mu: ArrayLike
    sigma: ArrayLike

    def __call__(self, generator: np.random.Generator, n: int) -> Array:
        shape = np.broadcast_shapes(np.shape(self.mu), np.shape(self.sigma))
        return np.asarray(self.mu) + np.asarray(self.sigma) * generator.standard_normal((n, *shape))


@dataclass(frozen=True)
class uniform:
    """A uniform distribution from low to high."""

    low: ArrayLike
    high: ArrayLike

    def __call__(self, generator: np.random.Generator, n: int) -> Array:
        shape = np.broadcast_shapes(np.shape(self.low), np.shape(self.high))
        return np.asarray(self.low) + (np.asarray(self.high) - np.asarray(self.low)) * generator.random((n, *shape))


@dataclass(frozen=True, eq=False)
class Inputs:
    """What comes from outside: functions of time, and constants or staircases, by name.

    `functions` go into the kernel. `held`: times (k,) [s] from which on values (k, ..., shape) hold.
    """

    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    held: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)

    def changes(self) -> Array:
        """The times [s] at which some value changes."""
        return np.unique(np.concatenate([np.zeros(1), *(times for times, _ in self.held.values())]))

    def on_steps(self, h: float) -> "Inputs":
        """The same, with each change at the nearest step of h [s]."""
        return Inputs(self.functions, {name: (np.rint(times / h) * h, x) for name, (times, x) in self.held.items()})

    @cached_property
    def jump(self) -> bool:
        """Whether some value changes after the start."""
        return len(self.changes()) > 1

    def at(self, t: float) -> dict[str, Array]:
        """The values that hold from the time t on."""
        return {
            name: values[max(0, int(np.searchsorted(times, t * (1 + 1e-12) + 1e-12, side="right")) - 1)]
            for name, (times, values) in self.held.items()
        }


def inputs_of(system: System, given: Mapping[str, Any]) -> Inputs:
    """Inputs as a user gives them: a constant, a function of time, a `Tabulated` (straight lines in between), or a pair
    (times (k,), values (k, ...)), each value held until the next one."""
    functions: dict[str, Any] = {}
    held: dict[str, tuple[Array, Array]] = {}
    for name, value in given.items():
        if name not in system.inputs:
            raise ValueError(
                f"the world has no input {name!r}{hint(name, system.inputs)}; add it with world.add_input."
            )
        core = np.shape(system.inputs[name])
        if callable(value):
            functions[name] = value
            if np.shape(value(0.0)) != core:
                raise ValueError(f"input {name!r} has the shape {core}, but its function gives {np.shape(value(0.0))}.")
            continue
        if isinstance(value, tuple) and len(value) == 2 and np.ndim(value[0]) == 1:
            times, values = np.asarray(value[0], dtype=float), np.asarray(value[1], dtype=float)
            if len(times) != len(values) or not np.all(np.diff(times) > 0):
                raise ValueError(f"input {name!r}: {len(times)} times, which must increase, for {len(values)} values.")
        else:
            times, values = np.zeros(1), np.asarray(value, dtype=float)[None]
        if not np.all(np.isfinite(values)):
            raise ValueError(f"input {name!r} holds values that are not finite.")
        held[name] = (times, values)
    return Inputs(functions, held)


def require_fit(system: System, given: Inputs, n: int | None) -> None:
    """An error if an input has neither the shape that it should have nor, of a batch, one such value for each."""
    for name, (_, values) in given.held.items():
        core = np.shape(system.inputs[name])
        if values.shape[1:] != core and (n is None or values.shape[1:] != (n, *core)):
            raise ValueError(
                f"input {name!r} has the shape {core}; values of shape {values.shape[1:]} do not fit"
                + ("." if n is None else f", nor do they fit the batch of {n}.")
            )


def names_of(record: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """What to record, as a tuple."""
    return None if record is None else (record,) if isinstance(record, str) else tuple(record)
