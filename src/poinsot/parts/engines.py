"""Engines that turn propellers and other rotors: piston engines and electric motors, with their torque as a signal."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.fuse import is_traced
from poinsot.parts.element import (
    Effect,
    Element,
    Value,
    require_above_zero,
    require_finite,
    require_not_negative,
    require_share,
    value_of,
)
from poinsot.parts.flow import Flow
from poinsot.parts.scene import Scene

SEA_LEVEL_DENSITY = 1.225  # kg/m^3


@dataclass(frozen=True, eq=False)
class PistonEngine(Element):
    """An engine on a body that turns a `rotor`, a `Propeller` with `engine=` its name, and shows its `torque` [N m].

        torque = throttle (power/speed) f min(1, sigma/idle) - drag sigma/speed,    f = 1.132 rho/rho_0 - 0.132

    `power` [W] is that at sea level, full throttle and the `speed` [rad/s]. f is how it falls with the density of the
    air, an empirical line for engines without a supercharger (Gagg and Ferrar, 1934); it is 1 with a turbocharger
    (`turbo`) and in a world without air. Below the speed `idle` [rad/s] the torque fades: a standing engine does not
    start by itself. `drag` [N m] is the torque that turns the engine with no throttle at its speed. Fuel flows at
    bsfc [kg/J] times its power from a `tank` to the engine, with the time constant `lag` [s]; the power ends with it.
    """

    body: str = ""
    rotor: str = ""
    power: Annotated[float, "W"] = 0.0
    speed: Annotated[float, "rad/s"] = 0.0
    throttle: Annotated[Value, "1"] = 1.0
    idle: Annotated[float, "rad/s"] = 60.0
    drag: Annotated[float, "N m"] = 0.0
    turbo: bool = False
    tank: str | None = None
    bsfc: Annotated[float, "kg/J"] = 0.0
    lag: Annotated[float, "s"] = 0.1

    def __post_init__(self) -> None:
        owner = f"piston engine {self.name!r}"
        require_share(owner, throttle=self.throttle)
        require_not_negative(owner, power=self.power, drag=self.drag, bsfc=self.bsfc)
        require_above_zero(owner, speed=self.speed, idle=self.idle, lag=self.lag)
        if self.tank is not None and not is_traced(self.bsfc) and self.bsfc == 0:
            raise FieldError(f"{owner} burns fuel of tank {self.tank!r}: bsfc [kg/J] must be above zero.", "bsfc")

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    @property
    def flow(self) -> Flow | None:
        """The flow of fuel from the tank, which leaves with the velocity of its place there."""
        if self.tank is None:
            return None
        return Flow(self.name, self.body, self.tank, None, self._demand, lag=self.lag, flowing=0.0)

    def states(self) -> Mapping[str, Array]:
        return {} if self.flow is None else self.flow.states()

    def effect(self, scene: Scene) -> Effect:
        torque = self._fired(scene)
        if self.flow is not None:
            torque = torque * self.flow.share(scene)
        sigma = _speed_of(scene, self)
        net = torque - self.drag * sigma / self.speed
        fuel = Effect(power=np.zeros(())) if self.flow is None else self.flow.effect(scene)
        return replace(fuel, shown={"torque": net, "shaft_power": net * sigma})

    def _fired(self, scene: Scene) -> Array:
        """The torque [N m] of the burning fuel, while there is any."""
        throttle = np.clip(value_of(self.throttle, scene, (), "throttle", f"piston engine {self.name!r}"), 0.0, 1.0)
        running = np.clip(_speed_of(scene, self) / self.idle, 0.0, 1.0)
        full = self.power / self.speed * running * throttle
        if self.turbo or "air" not in scene.elements:
            return full
        return full * np.maximum(1.132 * scene.air(self.body).air.density / SEA_LEVEL_DENSITY - 0.132, 0.0)

    def _demand(self, t: Array, scene: Scene) -> Array:
        return self.bsfc * np.maximum(self._fired(scene) * _speed_of(scene, self), 0.0)

    def units(self) -> dict[str, str]:
        return {"rate": "kg/s", "torque": "N m", "shaft_power": "W"}


@dataclass(frozen=True, eq=False)
class ElectricMotor(Element):
    """A motor on a body that turns a `rotor`, such as a `Propeller` with `engine=` its name; it shows its `torque`.

        i = (throttle voltage - sigma/kv)/resistance,    torque = (i - i0)/kv

    `kv` [rad/s per V] is the speed per volt, `no_load_current` i0 [A] what it takes to turn alone, against the motion.
    |i| stays within `max_current` [A]. The `voltage` [V] of the battery is a number or a function.
    """

    body: str = ""
    rotor: str = ""
    kv: Annotated[float, "rad/(V s)"] = 0.0
    resistance: Annotated[float, "ohm"] = 0.0
    voltage: Annotated[Value, "V"] = 0.0
    throttle: Annotated[Value, "1"] = 1.0
    no_load_current: Annotated[float, "A"] = 0.0
    max_current: Annotated[float, "A"] = np.inf

    def __post_init__(self) -> None:
        owner = f"electric motor {self.name!r}"
        require_share(owner, throttle=self.throttle)
        require_finite(owner, voltage=self.voltage)
        require_not_negative(owner, no_load_current=self.no_load_current)
        require_above_zero(owner, kv=self.kv, resistance=self.resistance)
        require_above_zero(owner, infinite=True, max_current=self.max_current)

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def effect(self, scene: Scene) -> Effect:
        owner = f"electric motor {self.name!r}"
        throttle = np.clip(value_of(self.throttle, scene, (), "throttle", owner), 0.0, 1.0)
        U, sigma = throttle * value_of(self.voltage, scene, (), "voltage", owner), _speed_of(scene, self)
        current = np.clip((U - sigma / self.kv) / self.resistance, -self.max_current, self.max_current)
        torque = (current - self.no_load_current * np.tanh(sigma)) / self.kv
        shown = {"torque": torque, "current": current, "electric_power": U * current}
        return Effect(power=np.zeros(()), shown=shown)

    def units(self) -> dict[str, str]:
        return {"torque": "N m", "current": "A", "electric_power": "W"}


def _speed_of(scene: Scene, engine: Any) -> Array:
    """The speed [rad/s] of the rotor that an engine turns."""
    rotor = scene.element(engine.rotor, engine.body).name
    if f"{rotor}.speed" not in scene.states:
        kind = f"{type(engine).__name__} {engine.name!r}"
        raise FieldError(
            f"{kind} turns {rotor!r}, whose speed is not free; give that propeller engine={engine.name!r}.", "rotor"
        )
    return scene.states[f"{rotor}.speed"]
