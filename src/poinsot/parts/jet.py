"""Jets: air-breathing engines whose thrust is a function of Mach number, altitude and power, with spool and fuel."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._fields import Arguments
from poinsot._types import Array, ArrayLike
from poinsot.fuse import Table, is_traced
from poinsot.fuse.trace.purity import steady
from poinsot.parts.element import (
    Effect,
    Element,
    Value,
    combined,
    push,
    require_above_zero,
    require_finite,
    require_not_negative,
    require_points,
    require_share,
    value_of,
)
from poinsot.parts.flow import Flow
from poinsot.parts.scene import Scene
from poinsot.spatial import motion
from poinsot.spatial.arrays import as_array


@dataclass(frozen=True, eq=False)
class Jet(Element):
    """A turbojet or turbofan at a `point` (3,) [m] of a body, its thrust along a `direction` (3,) in body axes.

    `thrust` [N]: the net thrust, a function or `Table` of (mach, altitude [m], power); a `Table` of (mach, altitude)
    or a number is that at full power, times the power. The Mach number and altitude are those of the body's origin.
    The power P, from 0 to 1, is a state, and follows the `throttle`: a number, a function, an `Input` or a `Signal`.

        P' = (throttle - P)/spool, within +-spool_rate [1/s];   or P' = spool(P, throttle), as `afterburning_spool`

    With spool=0, or None, the power is the throttle at every instant: no state, and no rotor that would turn faster.
    It starts at `power`, by default at a throttle that is a number, else at 0. Fuel flows at tsfc T [kg/s] from a
    `tank` to the engine, following with the time constant `lag` [s]; thrust ends with the tank. The fuel leaves with
    the velocity of the engine: its momentum relative to that, and that of the air, are in the net thrust.

    The rotor of the moment J = `rotor_inertia` [kg m^2] turns about the direction of the thrust with a speed [rad/s]
    between the two of `rotor_speed`, at P = 0 and 1, and has the momentum h = J speed along it (Stevens and Lewis,
    Aircraft Control and Simulation): the gyroscopic moment -omega x h and -h' act on the body.
    """

    body: str = ""
    thrust: Annotated[Callable[..., Any] | float, Arguments("mach", "altitude", "power"), "N"] = 0.0
    throttle: Annotated[Value, "1"] = 1.0
    spool: Annotated[Callable[..., Any] | float | None, Arguments("power", "command"), "s"] = 1.0
    spool_rate: Annotated[float, "1/s"] = np.inf
    power: Annotated[float | None, "1"] = None
    tank: str | None = None
    tsfc: Annotated[float, "kg/(N s)"] = 0.0
    direction: Annotated[Value, "1"] = (1.0, 0.0, 0.0)
    point: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    lag: Annotated[float, "s"] = 0.1
    rotor_inertia: Annotated[float, "kg m^2"] = 0.0
    rotor_speed: Annotated[ArrayLike, "rad/s"] = (0.0, 0.0)

    def __post_init__(self) -> None:
        owner = f"jet {self.name!r}"
        require_points(owner, point=self.point)
        require_finite(owner, direction=self.direction, rotor_speed=self.rotor_speed)
        require_not_negative(owner, thrust=self.thrust, tsfc=self.tsfc, rotor_inertia=self.rotor_inertia)
        require_direction(owner, self.direction)
        if isinstance(self.thrust, Table) and (len(self.thrust.axes) not in (2, 3) or self.thrust.shape):
            raise FieldError(
                f"thrust of {owner} is a table with {len(self.thrust.axes)} axes and values of shape "
                f"{self.thrust.shape}; it must be one of numbers, of (mach, altitude, power) or (mach, altitude).",
                "thrust",
            )
        if not callable(self.spool) and not is_traced(self.spool) and self.spool == 0:
            object.__setattr__(self, "spool", None)
        require_above_zero(owner, spool=1.0 if self.spool is None else self.spool, lag=self.lag)
        self._require_no_spool(owner)
        require_above_zero(owner, infinite=True, spool_rate=self.spool_rate)
        require_share(owner, throttle=self.throttle, power=0.0 if self.power is None else self.power)
        if np.shape(self.rotor_speed) != (2,):
            raise FieldError(
                f"rotor_speed of {owner} must be two numbers [rad/s], at no and at full power, not "
                f"{self.rotor_speed!r}.",
                "rotor_speed",
            )
        if self.tank is not None and not is_traced(self.tsfc) and self.tsfc == 0:
            raise FieldError(f"{owner} burns fuel of tank {self.tank!r}: tsfc [kg/(N s)] must be above zero.", "tsfc")

    def _require_no_spool(self, owner: str) -> None:
        """An error if an engine whose power is the throttle has something that only a spool has."""
        if self.spool is not None:
            return
        for name, left_out in (("power", None), ("spool_rate", np.inf), ("rotor_inertia", 0.0)):
            value = getattr(self, name)
            if is_traced(value) or value != left_out:
                raise FieldError(
                    f"{owner} has no spool, and thus no {name}; give it a spool [s], or leave that out.", name
                )

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def states(self) -> Mapping[str, Array]:
        if self.spool is None:
            return {} if self.flow is None else self.flow.states()
        first = self.power if self.power is not None else 0.0 if callable(self.throttle) else self.throttle
        return {"power": as_array(first), **({} if self.flow is None else self.flow.states())}

    @property
    def flow(self) -> Flow | None:
        """The flow of fuel from the tank into the engine."""
        if self.tank is None:
            return None
        return Flow(self.name, self.body, self.tank, None, self._demand, point=self.point, lag=self.lag, flowing=0.0)

    def effect(self, scene: Scene) -> Effect:
        V, s, thrust = scene[self.body].twist, self._direction(scene), self._thrust(scene)
        fuel = [] if self.flow is None else [self.flow.effect(scene)]
        if self.flow is not None:
            thrust = thrust * self.flow.share(scene)
        pushed = push(self.body, thrust * s, as_array(self.point), V)
        if self.spool is None:
            return combined(pushed, *fuel, force=thrust * s, thrust=thrust, power=self._power(scene))
        return combined(pushed, self._turning(scene, V, s), *fuel, force=thrust * s, thrust=thrust)

    def _power_rate(self, scene: Scene) -> Array:
        """P' [1/s]."""
        P, command = self._power(scene), self._command(scene)
        if callable(self.spool):
            return self._number(self.spool, "spool", P, command)
        return np.clip((command - P) / self.spool, -self.spool_rate, self.spool_rate)

    def _command(self, scene: Scene) -> Array:
        """The throttle, from 0 to 1."""
        return np.clip(value_of(self.throttle, scene, (), "throttle", f"jet {self.name!r}"), 0.0, 1.0)

    def _power(self, scene: Scene) -> Array:
        """P: the state, or without a spool the throttle."""
        return self._command(scene) if self.spool is None else scene.states[f"{self.name}.power"]

    def _thrust(self, scene: Scene) -> Array:
        """The net thrust [N] while there is fuel."""
        P = self._power(scene)
        if not callable(self.thrust):
            return as_array(self.thrust) * P
        air = scene.air(self.body)
        if isinstance(self.thrust, Table) and len(self.thrust.axes) == 2:
            return as_array(self.thrust(air.mach, air.altitude)) * P
        return self._number(self.thrust, "thrust", air.mach, air.altitude, P)

    def _number(self, law: Any, field: str, *arguments: Array) -> Array:
        """The value of a law, a number."""
        value = as_array(steady(law, *arguments, role=f"{field} of jet {self.name!r}"))
        if value.shape:
            raise FieldError(
                f"{field} of jet {self.name!r} gives an array of shape {value.shape}, not a number.", field
            )
        return value

    def _demand(self, t: Array, scene: Scene) -> Array:
        """The fuel [kg/s] that it would burn."""
        return self.tsfc * np.maximum(self._thrust(scene), 0.0)

    def _turning(self, scene: Scene, V: Array, s: Array) -> Effect:
        """The effect of the rotor, driven by the gas: that of a rotor at a prescribed speed. And the rate of P."""
        J, (idle, full) = self.rotor_inertia, as_array(self.rotor_speed)
        P, power_rate, zero = self._power(scene), self._power_rate(scene), np.zeros(3)
        sigma, change = idle + (full - idle) * P, (full - idle) * power_rate
        h, h_rate = np.concatenate([J * sigma * s, zero]), np.concatenate([J * change * s, zero])
        return Effect(
            wrenches={self.body: motion.ad_dual(V, h) - h_rate},
            stored=V @ h + 0.5 * J * sigma * sigma,
            power=lambda m: J * sigma * (change + s @ m.acceleration(self.body)[:3]),
            rates={"power": power_rate},
            carried={self.body: h},
            outside={},
        )

    def _direction(self, scene: Scene) -> Array:
        d = value_of(self.direction, scene, (3,), "direction", f"jet {self.name!r}")
        return d / np.linalg.norm(d)

    def units(self) -> dict[str, str]:
        return {"rate": "kg/s", "force": "N", "thrust": "N"}


def afterburning_spool(power: Any, command: Any) -> Any:
    """P' [1/s] of an engine with an afterburner, P = 0.5 being full power without it: Stevens and Lewis, the F-16's.

    While the command is in the range of the afterburner and the power is not, the power makes for 0.6; the other way
    round, for 0.4. With the way left d, P' = 5 d with the afterburner, and without it d, if d is below 0.25, 0.1 d
    above 0.5, and (1.9 - 3.6 d) d in between.
    """
    burning, wanted = power >= 0.5, command >= 0.5
    d = np.where(wanted == burning, command, np.where(burning, 0.4, 0.6)) - power
    return np.where(burning, 5.0, np.clip(1.9 - 3.6 * d, 0.1, 1.0)) * d


def require_direction(owner: str, direction: Any, field: str = "direction") -> None:
    """An error if a direction is not three numbers, not all zero."""
    if callable(direction) or is_traced(direction):
        return
    if np.shape(direction) != (3,) or not np.any(as_array(direction)):
        raise FieldError(f"{field} of {owner} must be three numbers, not all zero; it is {direction!r}.", field)
