"""Thrusters: engines whose thrust is the reaction of their exhaust."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.parts.element import (
    Effect,
    Element,
    Value,
    called,
    require_above_zero,
    require_finite,
    require_not_negative,
    require_points,
    value_of,
)
from poinsot.parts.flow import Flow
from poinsot.parts.scene import Scene
from poinsot.spatial.arrays import as_array


@dataclass(frozen=True, eq=False)
class Thruster(Element):
    """An engine at a `point` (3,) [m] of a body, with its thrust along a `direction` (3,) in body axes.

    `thrust` [N]: a constant, a function, a `Tabulated` or an `Input`. It burns thrust / exhaust_speed [kg/s] from its
    `tank`, follows with the time constant `lag` [s], and ends with the tank. The effective `exhaust_speed` [m/s],
    relative to the nozzle, is the specific impulse [s] times 9.80665 m/s^2. `direction` may be a function: a
    gimballed nozzle. The initial flow is `flowing` [kg/s], by default that of a constant thrust, else zero. Without a
    tank it is a force without end. The tank may be on another body. `ignition`: the name of an event; there is no
    thrust before it, and the clock t of the thrust starts then.
    """

    body: str = ""
    tank: str | None = None
    thrust: Annotated[Value, "N"] = 0.0
    exhaust_speed: Annotated[float, "m/s"] = 3000.0
    direction: Annotated[Value, "1"] = (0.0, 0.0, 1.0)
    point: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    lag: Annotated[float, "s"] = 0.02
    flowing: Annotated[float | None, "kg/s"] = None
    ignition: str = ""

    def __post_init__(self) -> None:
        owner = f"thruster {self.name!r}"
        require_points(owner, point=self.point)
        require_finite(owner, direction=self.direction)
        require_not_negative(owner, thrust=self.thrust, flowing=0.0 if self.flowing is None else self.flowing)
        require_above_zero(owner, lag=self.lag)
        if not is_traced(self.exhaust_speed) and not 0 < self.exhaust_speed < np.inf:
            raise FieldError(
                f"exhaust_speed of {owner} must be above zero [m/s], not {self.exhaust_speed}.", "exhaust_speed"
            )

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    @property
    def flow(self) -> Flow | None:
        """The flow of propellant out of the nozzle."""
        if self.tank is None:
            return None

        def velocity(t: Array, scene: Scene) -> Array:
            return -self.exhaust_speed * self._direction(scene)

        def burnt(t: Array, scene: Scene) -> Array:
            return self._thrust(scene) / self.exhaust_speed

        rate: Value = burnt if callable(self.thrust) or self.ignition else as_array(self.thrust) / self.exhaust_speed
        return Flow(self.name, self.body, self.tank, None, rate, 0.0, self.point, velocity, self.lag, self.flowing)

    def states(self) -> Mapping[str, Array]:
        return {} if self.flow is None else self.flow.states()

    def effect(self, scene: Scene) -> Effect:
        if self.flow is None:
            f = self._thrust(scene) * self._direction(scene)
            return Effect({self.body: np.concatenate([np.cross(as_array(self.point), f), f])}, shown={"force": f})
        effect = self.flow.effect(scene)
        f = scene.states[f"{self.name}.rate"] * self.exhaust_speed * self._direction(scene)
        return replace(effect, shown={"force": f})

    def _thrust(self, scene: Scene) -> Array:
        owner = f"thruster {self.name!r}"
        if not self.ignition:
            return value_of(self.thrust, scene, (), "thrust", owner)
        lit, at = (scene.signal(f"{self.ignition}.{key}") for key in ("happened", "at"))
        thrust = called(self.thrust, scene, "thrust", owner, scene.t - at) if callable(self.thrust) else self.thrust
        return np.where(lit > 0, value_of(thrust, scene, (), "thrust", owner), 0.0)

    def _direction(self, scene: Scene) -> Array:
        d = value_of(self.direction, scene, (3,), "direction", f"thruster {self.name!r}")
        return d / np.linalg.norm(d)

    def units(self) -> dict[str, str]:
        return {"rate": "kg/s", "force": "N"}
