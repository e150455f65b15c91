"""Many instances of a task as a vector environment of Gymnasium."""

from typing import Any

import numpy as np

from poinsot import _optional
from poinsot._types import Array
from poinsot.learn.played import Outcome, Played
from poinsot.learn.task import PURPOSE, Task
from poinsot.world import World

MODES = ("SAME_STEP", "NEXT_STEP", "DISABLED")


class VectorEnv(_optional.base("gymnasium.vector", "VectorEnv")):  # type: ignore[misc]
    """A batch of instances of a world as a `gymnasium.vector.VectorEnv`; the rest as for `Task`.

    autoreset: a name or member of Gymnasium's `AutoresetMode`. "SAME_STEP": the step in which an episode ends gives the
    first observation of the next, and the last of the old one in info["final_obs"]. "NEXT_STEP": the next episode
    begins with the step after, whose action is ignored. "DISABLED": reset(options={"reset_mask": ended}) begins it.
    """

    def __init__(self, world: World, *, batch: int = 1, autoreset: Any = "SAME_STEP", **task: Any) -> None:
        gym = _optional.require("gymnasium.vector", "learn", PURPOSE)
        batched = _optional.require("gymnasium.vector.utils", "learn", PURPOSE).batch_space
        self.task, name = Task(world, **task), getattr(autoreset, "name", autoreset)
        if name not in MODES:
            raise ValueError(f"autoreset must be one of {', '.join(MODES)}, not {autoreset!r}.")
        if not isinstance(batch, (int, np.integer)) or batch is True or batch < 1:
            raise ValueError(f"batch must be a whole number, one or more, not {batch!r}.")
        self._mode, self.metadata = name, {"autoreset_mode": gym.AutoresetMode[name], "render_modes": []}
        self._played = Played(self.task, int(batch))
        self.num_envs, self.render_mode, self.spec = int(batch), None, None
        self.single_action_space = self._played.action_space
        self.single_observation_space = self._played.observation_space
        self.action_space = batched(self.single_action_space, self.num_envs)
        self.observation_space = batched(self.single_observation_space, self.num_envs)
        self._over, self._begun = np.zeros(batch, dtype=bool), False

    @property
    def sim(self) -> Any:
        """The stepper: its state can be read, set, saved and restored, and its labels name the columns."""
        return self._played.sim

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin with the first episodes of a seed, or with the next ones: observations (n, no), and info.

        The first reset without a seed draws one. options={"reset_mask": mask}: only where the mask (n,) is true.
        """
        if seed is not None and not isinstance(seed, (int, np.integer)):
            raise ValueError(f"one seed, a whole number, is for all instances, not {seed!r}.")
        if options is not None and not isinstance(options, dict):
            raise TypeError(f"options must be a dict, as in {{'reset_mask': ended}}, not {options!r}.")
        super().reset(seed=None if seed is None else int(seed))
        where = (options or {}).get("reset_mask")
        if seed is None and not self._begun:
            seed, where = int(self.np_random.integers(2**31)), None
        elif where is not None:
            seed = None
        observation, info = self._played.start(seed, where)
        self._over &= False if where is None else ~np.asarray(where)
        self._begun = True
        return observation, info

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Hold actions (n, na) for a control period: observations, rewards, terminated, truncated (n,), and info."""
        self._require_begun()
        outcome = self._played.step(actions)
        ends = outcome.terminated | outcome.truncated
        if self._mode == "SAME_STEP" and np.any(ends):
            observation, info = self._played.start(where=ends)
            return observation, outcome.reward, outcome.terminated, outcome.truncated, info | _final(outcome, ends)
        if self._mode == "NEXT_STEP" and np.any(self._over):
            outcome = self._next_episodes(outcome)
            ends = outcome.terminated | outcome.truncated
        self._over = ends
        return outcome.observation, outcome.reward, outcome.terminated, outcome.truncated, outcome.info

    def _next_episodes(self, outcome: Outcome) -> Outcome:
        """The episodes that ended with the last step begin anew, with no reward for this one."""
        observation, info = self._played.start(where=self._over)
        goes_on = ~self._over
        return Outcome(
            observation,
            np.where(goes_on, outcome.reward, 0.0),
            outcome.terminated & goes_on,
            outcome.truncated & goes_on,
            info | {"broken": outcome.info["broken"] & goes_on},
        )

    def _require_begun(self) -> None:
        if not self._begun:
            raise ValueError("nothing was started yet: call reset() before step(actions).")

    def close_extras(self, **_: Any) -> None:
        """Release the stepper."""
        self._played.sim.close()


def _final(outcome: Outcome, ends: Array) -> dict[str, Any]:
    """The end of the episodes that ended, as Gymnasium's own vector environments tell it."""
    info = {name: x for key, value in outcome.info.items() for name, x in ((key, value), (f"_{key}", ends.copy()))}
    final = {"final_obs": outcome.observation, "final_info": info}
    return final | {f"_{key}": ends.copy() for key in final} | {"broken": outcome.info["broken"]}
