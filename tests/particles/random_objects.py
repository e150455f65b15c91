"""Random general objects: point masses in any motion, networks of springs, external forces."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from poinsot.particles import Particles, Springs

ROUNDING = 1e-13  # some hundreds of roundings of numbers of size one


def law(examples: int = 40, **strategies: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A test that must hold for all examples of the strategies."""
    return lambda test: settings(max_examples=examples, deadline=None)(given(**strategies)(test))


def same(a: Any, b: Any, tolerance: float = ROUNDING, scale: float = 1.0) -> None:
    """a equals b up to a tolerance, relative to the larger of `scale` and the largest entry of b."""
    np.testing.assert_allclose(a, b, rtol=0.0, atol=tolerance * max(scale, np.max(np.abs(b), initial=0.0)))


def make_object(seed: int, n: int, batch: tuple[int, ...] = ()) -> Particles:
    rng = np.random.default_rng(seed)
    return Particles(rng.uniform(0.5, 3.0, n), rng.normal(size=(*batch, n, 3)), rng.normal(size=(*batch, n, 3)))


def make_springs(seed: int, n: int, e: int, damping: float = 1.0, **law: Any) -> Springs:
    """e springs between any masses, some in parallel."""
    rng = np.random.default_rng(seed)
    i = rng.integers(0, n, e)
    pairs = np.stack([i, (i + rng.integers(1, n, e)) % n], axis=1)
    return Springs(pairs, rng.uniform(1, 9, e), rng.uniform(0.1, 2, e), damping * rng.uniform(0.1, 1, e), **law)


def rope(length: Any, rate: Any, stiffness: Any, rest_length: Any, damping: Any) -> Any:
    """A custom law: it stiffens, and has no compression."""
    s = np.maximum(length - rest_length, 0.0)
    return stiffness * s * (1.0 + s * s) + np.where(s > 0.0, damping * rate, 0.0)


seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(2, 9)
