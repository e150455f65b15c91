"""The values of numbers that vary from instance to instance: arrays, or drawn from distributions."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.run import option_checks
from poinsot.run.distributions import Distribution
from poinsot.run.instances import require_possible
from poinsot.world import System, paths


def draw(
    system: System, vary: Mapping[str, Any], batch: int | None, seed: int | None
) -> tuple[dict[str, Array], int | None]:
    """The values (n, ...) of each varied number, and the number of instances n; None for a single run.

    A value is an array with one entry per instance, or a distribution to draw from. Each number has a random generator
    of its own, so varying a further one does not change the draws of the others.
    """
    n, seed = option_checks.batch(batch), option_checks.seed(seed)
    paths.require_different(system.description, vary)
    cores = {path: np.shape(system.numbers[path]) for path in vary}
    values = {path: plain(path, x, cores[path]) for path, x in vary.items() if not callable(x)}
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
            values[path] = plain(path, sample(path, distribution, n, seed), cores[path])
            require_drawn(path, values[path], (n, *cores[path]))
    require_finite(values)
    require_possible(system, values, n)
    return {path: values[path] for path in vary}, n


def require_drawn(path: str, drawn: Array, shape: tuple[int, ...]) -> None:
    """An error if what was drawn for the number at a path does not have this shape, (n, ...)."""
    if drawn.shape != shape:
        raise ValueError(
            f"{path}: an array of shape {shape} must be drawn, one entry for each of {shape[0]} instances, not one of "
            f"shape {drawn.shape}; draw values that fit"
            + (f", or vary its entries, as {path}[0]." if shape[1:] else ".")
        )


def plain(path: str, value: Any, core: tuple[int, ...]) -> Array:
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
    try:
        return np.array(distribution(np.random.default_rng([seed, *path.encode()]), n), dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} cannot be drawn from {distribution!r}: {error}") from error


def require_finite(values: Mapping[str, Array]) -> None:
    """An error that names the first path, and the first instance, with a value that is NaN or infinite."""
    for path, array in values.items():
        finite = np.isfinite(array)
        if not finite.all():
            k = int(np.argmin(finite.reshape(len(array), -1).all(axis=1))) if array.ndim else 0
            what = np.atleast_1d(array)[k].tolist()
            raise ValueError(f"{path} is varied over values that are not finite: {what} of instance {k}.")
