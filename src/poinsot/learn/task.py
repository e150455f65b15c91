"""A task in a world: what may be done, what is observed, what is rewarded, and when an episode is over."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from poinsot import _optional
from poinsot._hints import hint
from poinsot._types import Array
from poinsot.control import Actuator
from poinsot.learn.judgement import Judgement, is_of_scene, judgement
from poinsot.parts import Input, Signal
from poinsot.run import WorldStepper, option_checks
from poinsot.run.measured import Quantity, measurement
from poinsot.world import World

Bounds: TypeAlias = Any  # None, a number b for (-b, b), or a pair (low, high) of numbers or arrays
PURPOSE = "An environment"


@dataclass(frozen=True, eq=False)
class Task:
    """The task of a learner in a world.

    action: names of inputs, or a dict from names to bounds; by default all inputs. Bounds are a pair (low, high), or
    one number b for (-b, b); without them those of an actuator that takes the input. Actions beyond them are clipped.
    scaled: actions go from -1 to 1, and are mapped to their bounds; learners like that.
    observation: quantities as for `world.stepper`, signals, functions (t, scene), or a dict from these to bounds; q and
    v by default.
    reward, done: a quantity or a function (t, scene), compiled into the step, with the action as inputs of the scene;
    or a function of the observation (no,) and, if it has a second parameter, the action (na,), compiled for one
    instance where it can be traced, else called on the batch. A condition is met if it is true, or above zero.
    step, control_period, time_limit [s]: of the physics, of one action, and of an episode, which is then truncated.
    vary: numbers by path, or distributions from which every episode draws anew.
    info: quantities that the dict `info` shows, by their labels. dtype: of actions and observations.
    """

    world: World
    action: Sequence[str] | Mapping[str, Bounds] | None = None
    scaled: bool = False
    observation: Sequence[Quantity] | Mapping[Quantity, Bounds] | None = None
    reward: Any = None
    done: Any = None
    step: float = 1e-3
    control_period: float | None = None
    time_limit: float | None = None
    vary: Mapping[str, Any] = field(default_factory=dict)
    info: Sequence[Quantity] = ()
    dtype: Any = np.float32
    method: str | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.world, World):
            raise TypeError(f"{PURPOSE} needs a world: pt.World(...), not {self.world!r}.")
        if np.dtype(self.dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise ValueError(f"dtype must be float32 or float64, not {self.dtype!r}.")
        for name in ("action", "observation", "info"):
            value = getattr(self, name)
            if isinstance(value, str) or callable(value):
                object.__setattr__(self, name, (value,))

    # What is done.

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs that actions set."""
        known = self.world.description.inputs
        names = option_checks.names("action", known if self.action is None else self.action)
        if not names:
            raise ValueError("a task needs an action: add an input to the world with world.add_input.")
        for name in names:
            if name not in known:
                raise ValueError(f"the world has no input {name!r}{hint(name, known)}; add it with world.add_input.")
        return names

    def action_bounds(self) -> Any:
        """The space (na,) of what actions set, in the order of the inputs."""
        given = self.action if isinstance(self.action, Mapping) else {}
        inputs = self.world.description.inputs
        return self._box((n, int(np.size(inputs[n])), given.get(n, self._actuated(n))) for n in self.inputs)

    def action_space(self) -> Any:
        """The space (na,) of actions: the same, or from -1 to 1."""
        bounds = self.action_bounds()
        if not self.scaled:
            return bounds
        if not bounds.is_bounded():
            raise ValueError("scaled actions need bounds: action={'push': (-10, 10)}.")
        return type(bounds)(-1.0, 1.0, bounds.shape, self.dtype)

    def _actuated(self, name: str) -> Bounds:
        """The bounds of an input: those of the actuator that takes it, if there is one."""
        for element in self.world.description.elements.values():
            if isinstance(element, Actuator):
                taken: Any = element.input
                if taken == name or taken in (Input(name), Signal(name)):
                    return element.low, element.high
        return None

    # What is observed.

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The observed quantities."""
        return ("q", "v") if self.observation is None else option_checks.names("observation", self.observation)

    def observation_space(self) -> Any:
        """The space (no,) of observations."""
        given = self.observation if isinstance(self.observation, Mapping) else {}
        return self._box((q, len(measurement(self.system, [q]).labels), given.get(q)) for q in self.quantities)

    def _box(self, parts: Iterable[tuple[Any, int, Bounds]]) -> Any:
        spaces = _optional.require("gymnasium.spaces", "learn", PURPOSE)
        pairs = [_pair(name, size, bounds) for name, size, bounds in parts]
        if not pairs:
            raise ValueError("nothing is observed; name at least one quantity, observation=['q', 'v'].")
        low, high = (np.concatenate(side).astype(self.dtype) for side in zip(*pairs, strict=True))
        return spaces.Box(low, high, dtype=self.dtype)

    @cached_property
    def system(self) -> Any:
        """The equations of the world, with the numbers that vary left free."""
        return self.world.system(tuple(self.vary))

    @cached_property
    def rewarded(self) -> tuple[Quantity, ...]:
        """The reward, if it is a quantity of the scene."""
        if not is_of_scene(self.reward):
            return ()
        count = len(measurement(self.system, [self.reward]).labels)
        if count != 1:
            raise ValueError(f"the reward {self.reward!r} has {count} numbers; it must be one.")
        return (self.reward,)

    # How it goes on.

    def stepper(self, batch: int | None) -> WorldStepper:
        """The stepper whose observations are those of the task, then the reward, if of the scene, and `info`."""
        done = Signal(self.done) if isinstance(self.done, str) else self.done
        return self.world.stepper(
            batch=batch, step=self.step, control_period=self.control_period, inputs=self.inputs,
            observe=(*self.quantities, *self.rewarded, *self.info), vary=self.vary, duration=self.time_limit,
            until=done if is_of_scene(done) else None, method=self.method, threads=self.threads,
        )  # fmt: skip

    def judge(self, role: str, start: Array, actions: Array) -> Judgement | None:
        """The reward, or the condition `done`, as a function of observations and actions, if it is one."""
        function = getattr(self, role)
        return None if function is None or is_of_scene(function) else judgement(role, function, start, actions)


def _pair(name: Any, size: int, bounds: Bounds) -> tuple[Array, Array]:
    """Low and high (size,) of a quantity."""
    bounds = np.inf if bounds is None else bounds
    try:
        low, high = (-np.asarray(bounds), bounds) if np.ndim(bounds) == 0 else bounds
        pair = np.broadcast_to(np.ravel(low), (size,)), np.broadcast_to(np.ravel(high), (size,))
        fits = bool(np.all(pair[0].astype(float) < pair[1].astype(float)))
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise ValueError(
            f"the bounds of {name!r} are {bounds!r}; give (low, high) with low below high, for {size} numbers each."
        )
    return pair[0].astype(float), pair[1].astype(float)
