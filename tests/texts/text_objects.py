"""Random objects, springs, bodies and motions for the tests that go through a text equation by equation."""

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from poinsot._types import Array
from poinsot.particles import Particles, Springs

SEEDS = st.integers(0, 2**32 - 1)
ROUNDING = 1e-12  # of sums over some points of about one metre, kilogram and second


def same(a, b, tolerance=ROUNDING, scale=1.0):
    """a equals b up to a tolerance, relative to the larger of `scale` and the largest entry of b."""
    np.testing.assert_allclose(a, b, rtol=0.0, atol=tolerance * max(scale, np.max(np.abs(b), initial=0.0)))


def rate(f: Callable[[float], Array], t: float = 0.0, h: float = 1e-3) -> Array:
    """df/dt, by a difference of sixth order."""
    return sum(c * (f(t + k * h) - f(t - k * h)) for k, c in ((1, 45), (2, -9), (3, 1))) / (60 * h)


def random_object(rng: np.random.Generator, n: int = 6) -> Particles:
    return Particles(rng.uniform(0.5, 3.0, n), rng.normal(size=(n, 3)), rng.normal(size=(n, 3)))


def random_springs(rng: np.random.Generator, n: int = 6) -> Springs:
    """Between every two of the masses."""
    pairs = np.array([(j, k) for j in range(n) for k in range(j)])
    e = len(pairs)
    return Springs(pairs, rng.uniform(1, 9, e), rng.uniform(0.1, 2, e), rng.uniform(0.1, 1, e))


def moved(o: Particles, acceleration: Array, t: float) -> Particles:
    """The object at the time t, if all accelerations stay as they are."""
    x = o.positions + t * o.velocities + t * t / 2 * acceleration
    return Particles(o.masses, x, o.velocities + t * acceleration)
