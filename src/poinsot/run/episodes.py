"""The numbers that are drawn anew for every episode of every instance, reproducible from a seed.

Instance k in its episode e gets number k of the draws of episode e, whatever the others do. Episode 0 has the draws of
`world.simulate` with the same seed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.run.drawing import draw, require_finite
from poinsot.run.instances import require_possible
from poinsot.world import System

BYTES = 256  # added to the number of an episode in its seed, so that it is told from the bytes of a path
KEPT = 64  # episodes whose draws are remembered


@dataclass(eq=False)
class Episodes:
    """Values of the varied numbers by path, for every instance and episode; n is None for a single world."""

    system: System
    vary: Mapping[str, Any]
    batch: int | None
    seed: int

    def __post_init__(self) -> None:
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
        return {path: x[0] if self.n is None and path in self.random else x for path, x in values.items()}

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
