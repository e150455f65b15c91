"""Numbers that vary from instance to instance: arrays of values, and distributions to draw them from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.run.instances import require_possible
from poinsot.world import System

Distribution: TypeAlias = Callable[[np.random.Generator, int], ArrayLike]  # (generator, n) -> n values


def draw(
    system: System, vary: Mapping[str, Any], batch: int | None, seed: int | None
) -> tuple[dict[str, Array], int | None]:
    """The values (n, ...) of each varied number, and the number of instances n; None for a single run.

    A value is an array with one entry per instance, or a distribution to draw from. Each number has a random generator
    of its own, so varying a further one does not change the draws of the others.
    """
    if batch is not None and (not isinstance(batch, (int, np.integer)) or batch < 0):
        raise ValueError(f"batch must be a whole number, zero or more, not {batch!r}.")
    n = None if batch is None else int(batch)
    cores = {path: np.shape(system.numbers[path]) for path in vary}
    values = {path: _plain(path, x, cores[path]) for path, x in vary.items() if not callable(x)}
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
    for path, distribution in vary.items():
        if callable(distribution):
            if n is None:
                raise ValueError(f"{path} is drawn at random: say how many with batch=...")
            values[path] = _plain(path, sample(path, distribution, n, 0 if seed is None else seed), cores[path])
            if values[path].shape != (n, *cores[path]):
                raise ValueError(
                    f"{path} has the shape {cores[path]}, but values of shape {values[path].shape[1:]} were drawn; "
                    "draw values that fit, or vary its entries."
                )
    require_finite(values)
    require_possible(system, values, n)
    return {path: values[path] for path in vary}, n


def _plain(path: str, value: Any, core: tuple[int, ...]) -> Array:
    """The values as an array; those of a joint with one coordinate may be plain numbers, (n,) for (n, 1)."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"{path} is varied over {value!r}; give an array of numbers, one entry per instance, or a distribution "
            "such as pt.Normal(mu, sigma)."
        ) from None
    if core != (1,) or array.ndim > 1:
        return array
    return array.reshape(core if array.size == 1 else (-1, 1))


def sample(path: str, distribution: Distribution, n: int, seed: int) -> Array:
    """n values for the number at a path, from a random generator of its own."""
    return np.asarray(distribution(np.random.default_rng([seed, *path.encode()]), n), dtype=float)


def require_finite(values: Mapping[str, Array]) -> None:
    """An error that names the first path with a value that is NaN or infinite."""
    for path, array in values.items():
        if not np.all(np.isfinite(array)):
            raise ValueError(f"{path} is varied over values that are not finite.")


@dataclass(frozen=True)
class Normal:
    """A normal distribution of mean mu and standard deviation sigma."""

    mu: ArrayLike
    sigma: ArrayLike

    def __call__(self, generator: np.random.Generator, n: int) -> Array:
        shape = np.broadcast_shapes(np.shape(self.mu), np.shape(self.sigma))
        values: Array = np.asarray(self.mu) + np.asarray(self.sigma) * generator.standard_normal((n, *shape))
        return values


@dataclass(frozen=True)
class Uniform:
    """A uniform distribution from low to high."""

    low: ArrayLike
    high: ArrayLike

    def __call__(self, generator: np.random.Generator, n: int) -> Array:
        shape = np.broadcast_shapes(np.shape(self.low), np.shape(self.high))
        low, high = np.asarray(self.low), np.asarray(self.high)
        values: Array = low + (high - low) * generator.random((n, *shape))
        return values


@dataclass(frozen=True)
class LogNormal:
    """exp of a normal distribution: positive values with this median, and sigma of their logarithm."""

    median: ArrayLike
    sigma: ArrayLike

    def __call__(self, generator: np.random.Generator, n: int) -> Array:
        values: Array = np.asarray(self.median) * np.exp(
            Normal(np.zeros(np.shape(self.median)), self.sigma)(generator, n)
        )
        return values


@dataclass(frozen=True)
class Triangular:
    """A density that rises from low to mode and falls to high."""

    low: float
    mode: float
    high: float

    def __call__(self, generator: np.random.Generator, n: int) -> Array:
        return generator.triangular(self.low, self.mode, self.high, n)


@dataclass(frozen=True)
class Truncated:
    """A normal distribution, mean mu and deviation sigma before the cut, of which only low to high is kept."""

    mu: float
    sigma: float
    low: float = -np.inf
    high: float = np.inf

    def __call__(self, generator: np.random.Generator, n: int) -> Array:
        values = np.zeros(0)
        for _ in range(1000):
            drawn = self.mu + self.sigma * generator.standard_normal(max(n, 16))
            values = np.concatenate([values, drawn[(drawn >= self.low) & (drawn <= self.high)]])
            if len(values) >= n:
                return values[:n]
        raise ValueError(f"{self}: almost nothing of the distribution lies from low to high.")


@dataclass(frozen=True)
class Choice:
    """One of some values, (k,) or (k, ...), all equally likely or with probabilities (k,)."""

    values: ArrayLike
    probabilities: ArrayLike | None = None

    def __call__(self, generator: np.random.Generator, n: int) -> Array:
        values = np.asarray(self.values, dtype=float)
        p = None if self.probabilities is None else np.asarray(self.probabilities, dtype=float)
        return values[generator.choice(len(values), n, p=p)]


@dataclass(frozen=True)
class MultivariateNormal:
    """Vectors (k,) of this mean (k,) and covariance (k, k)."""

    mean: ArrayLike
    covariance: ArrayLike

    def __call__(self, generator: np.random.Generator, n: int) -> Array:
        covariance = np.asarray(self.covariance, dtype=float)
        return generator.multivariate_normal(np.asarray(self.mean), covariance, n, check_valid="raise")
