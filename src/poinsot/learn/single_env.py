"""One instance of a task as an environment of Gymnasium."""

from typing import Any

import numpy as np

from poinsot import _optional
from poinsot._types import Array
from poinsot.learn.played import Played
from poinsot.learn.task import PURPOSE, Task
from poinsot.world import World


class Env(_optional.base("gymnasium", "Env")):  # type: ignore[misc]
    """A single instance of a world as a `gymnasium.Env`; the options are those of `Task`.

    Episode e after reset(seed=s) is that of instance 0 of a `VectorEnv`.
    """

    def __init__(self, world: World, **task: Any) -> None:
        _optional.require("gymnasium", "learn", PURPOSE)
        self.task = Task(world, **task)
        self._played, self._begun = Played(self.task, None), False
        self.action_space, self.observation_space = self._played.action_space, self._played.observation_space
        self.metadata: dict[str, Any] = {"render_modes": []}
        self.render_mode = None

    @property
    def sim(self) -> Any:
        """The stepper: its state can be read, set, saved and restored, and its labels name the columns."""
        return self._played.sim

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin with the first episode of a seed, or with the next one; the first reset without a seed draws one."""
        super().reset(seed=int(seed) if isinstance(seed, np.integer) else seed)
        if seed is None and not self._begun:
            seed = int(self.np_random.integers(2**31))
        self._begun = True
        return self._played.start(seed)

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Hold an action (na,) for a control period: observation (no,), reward, terminated, truncated, and info."""
        if not self._begun:
            raise ValueError("nothing was started yet: call reset() before step(action).")
        outcome = self._played.step(action)
        ends = bool(outcome.terminated), bool(outcome.truncated)
        return outcome.observation, float(outcome.reward), *ends, outcome.info

    def close(self) -> None:
        """Release the stepper."""
        self._played.sim.close()
