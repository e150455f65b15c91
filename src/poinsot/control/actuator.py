"""Actuators: what lies between a command and its effect."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.control.controller import taken
from poinsot.fuse import is_traced
from poinsot.parts.element import Effect, Element, Value, require_not_negative
from poinsot.parts.scene import Scene
from poinsot.spatial.arrays import as_array


@dataclass(frozen=True, eq=False)
class Actuator(Element):
    """A servo, valve or the like: `out` follows the command `input`, in its own units.

    First order with the time constant `lag` [s]:      x' = (c - x) / lag, within +-rate
    or second order with a `frequency` w [rad/s]:      x'' = w^2 (c - x) - 2 damping w x'

    c is the command beyond the `dead_band` (zero if |input| is below it), within `low` and `high`; x starts at `start`
    and stays within them too, and |x'| within `rate` [1/s]. With `backlash`, `out` only moves while x is more than half
    of it away. While `jam`, a number, signal or function of time, is positive, x stays where it is.
    """

    input: Value | str = 0.0
    lag: Annotated[float, "s"] = 0.02
    frequency: Annotated[float | None, "rad/s"] = None
    damping: Annotated[float, "1"] = 0.7
    low: float = -np.inf
    high: float = np.inf
    rate: float = np.inf
    dead_band: float = 0.0
    backlash: float = 0.0
    jam: Value | str = 0.0
    start: float = 0.0

    def __post_init__(self) -> None:
        owner = f"actuator {self.name!r}"
        require_not_negative(owner, damping=self.damping, dead_band=self.dead_band, backlash=self.backlash)
        for name in ("lag", "rate") if self.frequency is None else ("frequency", "rate"):
            value: Any = getattr(self, name)
            if not is_traced(value) and not value > 0:
                raise FieldError(f"{name} of {owner} must be above zero, not {value!r}.", name)
        if not is_traced(self.low, self.high, self.start) and not self.low <= self.start <= self.high:
            raise FieldError(
                f"start of {owner} must be between low, {self.low}, and high, {self.high}, not {self.start!r}.", "start"
            )

    @property
    def has_play(self) -> bool:
        """Whether there is backlash, or may be."""
        return is_traced(self.backlash) or self.backlash > 0

    def states(self) -> Mapping[str, Array]:
        states = {"position": as_array(self.start)}
        states |= {} if self.frequency is None else {"speed": np.zeros(())}
        return states | {"driven": as_array(self.start)}

    def ready(self, states: Mapping[str, Array]) -> Mapping[str, Array]:
        x = np.clip(states["position"], self.low, self.high)
        if not self.has_play:
            return {"out": x}
        return {"out": np.clip(states["driven"], x - 0.5 * self.backlash, x + 0.5 * self.backlash)}

    def effect(self, scene: Scene) -> Effect:
        own = {key: scene.states[f"{self.name}.{key}"] for key in self.states()}
        owner = f"actuator {self.name!r}"
        asked, jam = (np.reshape(taken(getattr(self, k), scene, k, owner), ()) for k in ("input", "jam"))
        command = np.clip(asked - np.clip(asked, -self.dead_band, self.dead_band), self.low, self.high)
        x, stuck = own["position"], jam > 0
        if self.frequency is None:
            rates, speed = {}, np.clip((command - x) / self.lag, -self.rate, self.rate)
        else:
            speed, push = self._second_order(own["speed"], x, command)
            rates = {"speed": np.where(stuck, -10.0 * self.frequency * own["speed"], push)}
        speed = np.where(stuck, 0.0, speed)
        rates |= {"position": speed, "driven": self._drive(own, speed) if self.has_play else speed}
        return Effect(power=np.zeros(()), rates=rates, shown={**self.ready(own), "command": command})

    def _second_order(self, v: Array, x: Array, command: Array) -> tuple[Array, Array]:
        """x' and v': at a stop x stays, and v decays; at the largest rate v stays."""
        w: Any = self.frequency
        push = w * w * (command - x) - 2.0 * self.damping * w * v
        at_stop = ((x >= self.high) & (v > 0)) | ((x <= self.low) & (v < 0))
        at_most = (np.abs(v) >= self.rate) & (v * push > 0)
        speed = np.where(at_stop, 0.0, np.clip(v, -self.rate, self.rate))
        return speed, np.where(at_stop, -10.0 * w * v, np.where(at_most, 0.0, push))

    def _drive(self, own: Mapping[str, Array], speed: Array) -> Array:
        """The rate of what is driven with play: that of x while x pushes it; what it lags behind is caught up with."""
        gap, half = own["position"] - own["driven"], 0.5 * self.backlash
        beyond = gap - np.clip(gap, -half, half)
        fast = 2.0 * (1.0 / self.lag if self.frequency is None else self.frequency)
        pushed = (np.abs(gap) >= half) & (gap * speed > 0)
        return np.where(pushed, speed, 0.0) + fast * beyond
