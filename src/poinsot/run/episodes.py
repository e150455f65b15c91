"""The numbers that are drawn anew for every episode of every instance, reproducible from a seed.

Instance k in its episode e gets number k of the draws of episode e, whatever the others do. Episode 0 has the draws of
`world.simulate` with the same seed. Sensors have noise of their own in each instance and episode, likewise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.run import option_checks
from poinsot.run.drawing import draw, require_finite
from poinsot.run.instances import require_possible
from poinsot.world import System

BYTES = 256  # added to the number of an episode in its seed, so that it is told from the bytes of a path
SEEDS = 2**24  # of the noise of an episode: whole numbers that float32 holds
KEPT = 64  # episodes whose draws are remembered


@dataclass(eq=False)
class Episodes:
    """Values of the varied numbers by path, for every instance and episode; n is None for a single world."""

    system: System
    vary: Mapping[str, Any]
    batch: int | None
    seed: int
    noisy: tuple[str, ...] = ()  # paths of the numbers by which noise differs

    def __post_init__(self) -> None:
        self.seed = option_checks.seed(self.seed, bool(self.noisy))
        self.random = {path: x for path, x in self.vary.items() if callable(x)}
        fixed = {path: x for path, x in self.vary.items() if not callable(x)}
        self.n = draw(self.system, fixed, self.batch, self.seed)[1]
        self.count = 1 if self.n is None else self.n
        first = draw(self.system, self.vary, self.count if self.random else self.n, self.seed)[0]
        self._rows = {0: first}

    def values(self, episodes: Array) -> dict[str, Array]:
        """The values (n, ...) for the instances in their episodes (n,); for a single world (...)."""
        values = dict(self._row(0))
        for path in self.random if np.any(episodes) else ():
            values[path] = values[path].copy()
            for e in np.unique(episodes):
                here = np.reshape(episodes == e, self.count)
                values[path][here] = self._row(int(e))[path][here]
        values |= {path: self._noise(path, episodes) for path in self.noisy}
        single = (*self.random, *self.noisy) if self.n is None else ()
        return {path: x[0] if path in single else x for path, x in values.items()}

    @property
    def are_new(self) -> bool:
        """Whether an episode has other numbers than the one before."""
        return bool(self.random or self.noisy)

    def _noise(self, path: str, episodes: Array) -> Array:
        """The number of the instance, or the seed of the episode (n,), in addition to the sensor's own."""
        own = float(self.system.numbers[path])
        if path.endswith(".instance"):
            return own + np.arange(float(self.count))
        known = {e: self.seed if e == 0 else _seed(self.seed, e) for e in map(int, np.unique(episodes))}
        return own + np.array([known[int(e)] for e in np.reshape(episodes, self.count)], dtype=float)

    def _row(self, episode: int) -> dict[str, Array]:
        """The values of an episode, for all instances."""
        if episode not in self._rows:
            if len(self._rows) > KEPT:
                self._rows = {0: self._rows[0]}
            drawn = {}
            for path, distribution in self.random.items():
                generator = np.random.default_rng([self.seed, *path.encode(), BYTES + episode])
                drawn[path] = np.reshape(distribution(generator, self.count), self._rows[0][path].shape)
            require_finite(drawn)
            require_possible(self.system, drawn, self.count, few=0)
            self._rows[episode] = drawn
        return self._rows[episode]


def _seed(seed: int, episode: int) -> int:
    """The seed of the noise in an episode after the first."""
    return int(np.random.SeedSequence([seed, BYTES + episode]).generate_state(1)[0]) % SEEDS
