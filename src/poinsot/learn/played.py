"""A task being played: the stepper, what it shows as the task names it, and how the episodes went."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.learn.task import Task


@dataclass(frozen=True, eq=False)
class Outcome:
    """A step's result: observation (..., no), reward, terminated, truncated (...), and the quantities of `info`."""

    observation: Array
    reward: Array
    terminated: Array
    truncated: Array
    info: dict[str, Array]


class Played:
    """Instances of a task, (batch,) of them or a single one, (): `start` and `step`."""

    def __init__(self, task: Task, batch: int | None) -> None:
        self.action_space, self.observation_space = task.action_space(), task.observation_space()
        self.task, self.sim = task, task.stepper(batch)
        if self.sim.batch != batch:
            raise ValueError(f"vary has values for {self.sim.batch} instances; an Env has one, so use a VectorEnv.")
        bounds = task.action_bounds()
        self._low, self._high = bounds.low.astype(float), bounds.high.astype(float)
        self._count = len(self.observation_space.low)  # columns of the observation; then come the reward and the info
        self._labels = self.sim.observation_labels[self._count + len(task.rewarded) :]
        start, action = self.sim.reset()[..., : self._count], np.zeros((*self._many, len(self.sim.action_labels)))
        action = np.clip(action, self._low, self._high)
        self._reward, self._done = (task.judge(role, start, action) for role in ("reward", "done"))

    @property
    def _many(self) -> tuple[int, ...]:
        return () if self.sim.batch is None else (self.sim.batch,)

    def start(self, seed: int | None = None, where: Array | None = None) -> tuple[Array, dict[str, Array]]:
        """Begin episodes, all or those of a mask; what is observed, and `info`."""
        seen = self.sim.reset(seed=seed, where=where)
        return self._shown(seen), self._info(seen)

    def step(self, action: Any) -> Outcome:
        """Hold an action (..., na) for a control period. Breaking down truncates an episode, and `info` says so."""
        given = self._taken(action)
        seen = self.sim.step(given)
        observed, reward = seen[..., : self._count], np.zeros(self._many)
        if self.task.rewarded:
            reward = np.array(seen[..., self._count])
        elif self._reward is not None:
            reward = np.asarray(self._reward(observed, given), dtype=float)
        self._require_finite(reward)
        terminated = self.sim.terminated
        if self._done is not None:
            terminated = (np.asarray(self._done(observed, given)) > 0) & ~self.sim.broken
        truncated = (self.sim.truncated & ~terminated) | self.sim.broken
        return Outcome(self._shown(seen), reward, terminated, truncated, self._info(seen))

    def _require_finite(self, reward: Array) -> None:
        if np.all(np.isfinite(reward)):
            return
        k = tuple(np.argwhere(~np.isfinite(reward))[0])
        which = f" of instance {k[0]}" if k else ""
        raise ValueError(
            f"the reward{which} is {reward[k]} at t = {np.asarray(self.sim.time)[k]:g} s, in a state that is finite: a "
            "learner would learn nothing from it. Let the reward be finite wherever an episode may come."
        )

    def _taken(self, action: Any) -> Array:
        """The inputs (..., na) that an action sets, within their bounds."""
        try:
            given = np.asarray(action)
        except ValueError:  # rows of different lengths
            given = np.asarray(None)
        if given.dtype.kind not in "fiub":
            raise ValueError(f"the action {action!r} is not an array of real numbers. Nothing was stepped.")
        given = given.astype(float)
        if given.shape != (*self._many, len(self._low)):
            self.sim.step(given)  # says what is wrong
        if not np.all(np.isfinite(given)):
            return given
        if self.task.scaled:
            given = self._low + 0.5 * (given + 1.0) * (self._high - self._low)
        return np.clip(given, self._low, self._high)

    def _shown(self, seen: Array) -> Array:
        return np.array(seen[..., : self._count], dtype=self.task.dtype)

    def _info(self, seen: Array) -> dict[str, Array]:
        first = seen.shape[-1] - len(self._labels)
        columns = {label: np.array(seen[..., first + k]) for k, label in enumerate(self._labels)}
        return {"time": self.sim.time, "broken": np.array(self.sim.broken)} | columns
