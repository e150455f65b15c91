"""Distributions of numbers that vary from instance to instance.

Each is a frozen class with its parameters, which are checked when it is made. Called with a random generator and n, it
draws n values. A function (generator, n) -> (n, ...) of the user is a distribution as well.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import erf, sqrt
from typing import Any, TypeAlias

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.spatial.physical import as_moment

Distribution: TypeAlias = Callable[[np.random.Generator, int], ArrayLike]  # (generator, n) -> n values

LEAST = 1e-3  # of a normal distribution that a cut must leave, so that enough is drawn soon
ROUNDING = 1e-12  # relative: of a covariance that should be symmetric, of probabilities that should add up to one


def _checked(distribution: Any) -> tuple[Array, ...]:
    """Its parameters as arrays, broadcast to one shape; stored as read-only copies. They must be finite numbers."""
    arrays = [_numbers(distribution, f.name) for f in fields(distribution)]
    try:
        return tuple(np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = ", ".join(f"{f.name} {x.shape}" for f, x in zip(fields(distribution), arrays, strict=True))
        raise FieldError(f"{_name(distribution)}: shapes that do not fit together: {shapes}.") from None


def _numbers(distribution: Any, name: str, infinite: bool = False) -> Array:
    value = getattr(distribution, name)
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise FieldError(f"{_name(distribution)}: {name} = {value!r} must be numbers.", name) from None
    if np.isnan(array).any() or not (infinite or np.isfinite(array).all()):
        raise FieldError(f"{_name(distribution)}: {name} = {value!r} must be finite.", name)
    array.setflags(write=False)
    object.__setattr__(distribution, name, array if array.ndim else float(array))
    return array


def _name(distribution: Any) -> str:
    return type(distribution).__name__


def _require(condition: Any, distribution: Any, name: str, text: str) -> None:
    """A FieldError about the parameter `name` unless the condition holds everywhere."""
    if not np.all(condition):
        value = getattr(distribution, name)
        shown = value.tolist() if isinstance(value, np.ndarray) else value
        raise FieldError(f"{_name(distribution)}: {name} = {shown} {text}.", name)


@dataclass(frozen=True)
class Normal:
    """A normal distribution of mean mu and standard deviation sigma."""

    mu: ArrayLike
    sigma: ArrayLike

    def __post_init__(self) -> None:
        _, sigma = _checked(self)
        _require(sigma >= 0, self, "sigma", "must be zero or more")

    def __call__(self, generator: np.random.Generator, n: int) -> Array:
        shape = np.broadcast_shapes(np.shape(self.mu), np.shape(self.sigma))
        values: Array = np.asarray(self.mu) + np.asarray(self.sigma) * generator.standard_normal((n, *shape))
        return values


@dataclass(frozen=True)
class Uniform:
    """A uniform distribution from low to high."""

    low: ArrayLike
    high: ArrayLike

    def __post_init__(self) -> None:
        low, high = _checked(self)
        _require(low <= high, self, "low", f"must not exceed high = {self.high!r}")

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

    def __post_init__(self) -> None:
        median, sigma = _checked(self)
        _require(median > 0, self, "median", "must be positive")
        _require(sigma >= 0, self, "sigma", "must be zero or more")

    def __call__(self, generator: np.random.Generator, n: int) -> Array:
        values: Array = np.asarray(self.median) * np.exp(
            Normal(np.zeros(np.shape(self.median)), self.sigma)(generator, n)
        )
        return values


@dataclass(frozen=True)
class Triangular:
    """A density that rises from low to mode and falls to high."""

    low: ArrayLike
    mode: ArrayLike
    high: ArrayLike

    def __post_init__(self) -> None:
        low, mode, high = _checked(self)
        _require(
            (low <= mode) & (mode <= high), self, "mode", f"must lie from low = {self.low!r} to high = {self.high!r}"
        )
        _require(low < high, self, "low", f"must be less than high = {self.high!r}")

    def __call__(self, generator: np.random.Generator, n: int) -> Array:
        low, mode, high = np.broadcast_arrays(self.low, self.mode, self.high)
        return np.asarray(generator.triangular(low, mode, high, (n, *low.shape)))


@dataclass(frozen=True)
class Truncated:
    """A normal distribution, mean mu and deviation sigma before the cut, of which only low to high is kept."""

    mu: ArrayLike
    sigma: ArrayLike
    low: ArrayLike = -np.inf
    high: ArrayLike = np.inf

    def __post_init__(self) -> None:
        arrays = [_numbers(self, f.name, infinite=f.name in ("low", "high")) for f in fields(self)]
        _, sigma, low, high = np.broadcast_arrays(*arrays)
        _require(sigma >= 0, self, "sigma", "must be zero or more")
        _require(low <= high, self, "low", f"must not exceed high = {self.high!r}")
        shares = np.vectorize(_share, otypes=[float])(*arrays)
        _require(
            shares >= LEAST, self, "low", f"to high = {self.high!r}: almost nothing of the distribution lies there"
        )

    def __call__(self, generator: np.random.Generator, n: int) -> Array:
        shape = np.broadcast_shapes(*(np.shape(getattr(self, f.name)) for f in fields(self)))
        mu, sigma, low, high = (np.broadcast_to(getattr(self, f.name), (n, *shape)) for f in fields(self))
        values: Array = mu + sigma * generator.standard_normal((n, *shape))
        while (outside := (values < low) | (values > high)).any():
            values[outside] = mu[outside] + sigma[outside] * generator.standard_normal(int(outside.sum()))
        return values


def _share(mu: float, sigma: float, low: float, high: float) -> float:
    """How much of a normal distribution lies from low to high."""
    if sigma == 0:
        return float(low <= mu <= high)
    a, b = ((x - mu) / (sigma * sqrt(2)) for x in (low, high))
    return (erf(b) - erf(a)) / 2


@dataclass(frozen=True)
class Choice:
    """One of some values, (k,) or (k, ...), all equally likely or with probabilities (k,)."""

    values: ArrayLike
    probabilities: ArrayLike | None = None

    def __post_init__(self) -> None:
        values = _numbers(self, "values")
        _require(values.ndim > 0 and values.size > 0, self, "values", "must be a list with one value or more")
        if self.probabilities is not None:
            p = _numbers(self, "probabilities")
            _require(
                p.shape == values.shape[:1], self, "probabilities", f"must be {len(values)} numbers, one per value"
            )
            _require(p >= 0, self, "probabilities", "must be zero or more")
            _require(abs(p.sum() - 1) <= len(p) * ROUNDING, self, "probabilities", f"add up to {p.sum():g}, not to 1")

    def __call__(self, generator: np.random.Generator, n: int) -> Array:
        values = np.asarray(self.values)
        p = None if self.probabilities is None else np.asarray(self.probabilities)
        return values[generator.choice(len(values), n, p=None if p is None else p / p.sum())]


@dataclass(frozen=True)
class MultivariateNormal:
    """Vectors (k,) of this mean (k,) and covariance (k, k), which is symmetric and positive semidefinite."""

    mean: ArrayLike
    covariance: ArrayLike

    def __post_init__(self) -> None:
        mean, C = _numbers(self, "mean"), _numbers(self, "covariance")
        _require(mean.ndim == 1 and mean.size > 0, self, "mean", "must be a vector")
        k = len(mean)
        _require(C.shape == (k, k), self, "covariance", f"must have the shape ({k}, {k}), as the mean has {k} numbers")
        size = np.abs(C).max()
        _require(np.abs(C - C.T) <= ROUNDING * size, self, "covariance", "must be symmetric")
        low = float(np.linalg.eigvalsh((C + C.T) / 2)[0])
        _require(low >= -1e-9 * size, self, "covariance", f"has the eigenvalue {low:g}: no vectors vary like that")

    def __call__(self, generator: np.random.Generator, n: int) -> Array:
        variances, axes = np.linalg.eigh(np.asarray(self.covariance))
        deviations = np.sqrt(np.maximum(variances, 0.0))
        values: Array = np.asarray(self.mean) + generator.standard_normal((n, len(variances))) @ (axes * deviations).T
        return values


@dataclass(frozen=True)
class PhysicalMoment:
    """Moments of inertia (3, 3) [kg m^2] about the com, every one of which a body can have, with this mean.

    The second moments of the mass, S = tr(I)/2 E - I = sum m x x^T, vary as A W A^T with S = A A^T for the mean, and a
    Wishart matrix W of nu = 2 / spread^2 degrees of freedom, divided by nu: the second moments of nu mass points drawn
    at random. So S stays positive semidefinite, and what lies in a plane or on a line stays there. E[W] = E and
    Var(W_ij) = (1 + delta_ij) / nu exactly: `spread` (below 1) is the relative standard deviation of sum m x^2 along
    any axis, and principal axes turn as well. W = T T^T with Bartlett's lower triangular T.
    """

    mean: ArrayLike
    spread: float

    def __post_init__(self) -> None:
        moment = as_moment(_numbers(self, "mean"))
        object.__setattr__(self, "mean", moment)
        spread = _numbers(self, "spread")
        _require(spread.ndim == 0 and 0 <= spread < 1, self, "spread", "must be one number from 0 to below 1")

    def __call__(self, generator: np.random.Generator, n: int) -> Array:
        mean = np.asarray(self.mean)
        if self.spread == 0:
            return np.broadcast_to(mean, (n, 3, 3)).copy()
        nu = 2 / self.spread**2
        T = np.zeros((n, 3, 3))
        for i in range(3):
            T[:, i, i] = np.sqrt(generator.chisquare(nu - i, n))
            T[:, i, :i] = generator.standard_normal((n, i))
        second, axes = np.linalg.eigh(np.trace(mean) / 2 * np.eye(3) - mean)
        B = (axes * np.sqrt(np.maximum(second, 0.0))) @ T / np.sqrt(nu)
        S = B @ np.swapaxes(B, 1, 2)
        return np.trace(S, axis1=1, axis2=2)[:, None, None] * np.eye(3) - S
