"""Rotors: parts that spin about an axis fixed in their body and carry angular momentum."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.parts.element import (
    Dynamics,
    Effect,
    Element,
    Value,
    require_above_zero,
    require_finite,
    require_not_negative,
    value_of,
)
from poinsot.parts.loads import limited
from poinsot.parts.scene import Scene
from poinsot.spatial import motion
from poinsot.spatial.arrays import as_array

STICTION = 1e-3  # rad/s, over which dry friction is smoothed


@dataclass(frozen=True, eq=False)
class Rotor(Element):
    """A part with the moment J [kg m^2] about its axis of symmetry s, spinning at sigma [rad/s] relative to its body.

    The body's inertia G includes the rotor at rest. The spin adds the momentum h = J sigma s:

        F = G V' + J sigma' s - ad(V)^T (G V + h)     (de Nivelle, section 2, point 3; Stevens and Lewis)

    `speed` alone: a motor maintains it with whatever torque is needed. A constant; or a function, `Tabulated` or
    `Input` that the speed follows, from rest, with the time constant `lag` [s].

    With a `torque` [N m], a number or function, the motor drives the rotor, within +-max_torque and up to +-max_speed,
    against `friction` [N m s/rad] and `dry_friction` [N m], starting from the number `speed`. Then
    J (sigma' + s . omega') = torque, and the remaining inertia of the body is G - J s s^T.

    `load`: an external torque [N m] about the axis on the rotor, as from the air. `angle` [rad]: its initial value, if
    the angle is to be a state. A fast rotor does not require a short step.
    """

    body: str = ""
    axis: Annotated[ArrayLike, "1"] = (0.0, 0.0, 1.0)
    inertia: Annotated[float, "kg m^2"] = 0.0
    speed: Annotated[Value, "rad/s"] = 0.0
    torque: Annotated[Value | None, "N m"] = None
    load: Annotated[Value, "N m"] = 0.0
    lag: Annotated[float, "s"] = 0.05
    friction: Annotated[float, "N m s/rad", "N m s"] = 0.0
    dry_friction: Annotated[float, "N m"] = 0.0
    max_torque: Annotated[float, "N m"] = np.inf
    max_speed: Annotated[float, "rad/s"] = np.inf
    angle: Annotated[float | None, "rad"] = None

    def __post_init__(self) -> None:
        owner = f"rotor {self.name!r}"
        require_finite(owner, axis=self.axis, speed=self.speed, load=self.load)
        if self.is_driven:
            require_finite(owner, torque=self.torque)
            if not is_traced(self.inertia) and self.inertia == 0:
                raise FieldError(
                    f"inertia of {owner} must be above zero [kg m^2], so that a torque can turn it.", "inertia"
                )
        numbers = {"inertia": self.inertia, "friction": self.friction, "dry_friction": self.dry_friction}
        require_not_negative(owner, lag=self.lag, **numbers)
        require_above_zero(owner, infinite=True, max_torque=self.max_torque, max_speed=self.max_speed)
        if np.shape(self.axis) != (3,) or not (is_traced(self.axis) or np.any(as_array(self.axis))):
            raise FieldError(f"axis of {owner} must be three numbers, not all zero; it is {self.axis!r}.", "axis")
        if self.torque is not None and callable(self.speed):
            raise FieldError(f"{owner} has a torque: its speed must be a number, that with which it starts.", "speed")
        if self.torque is None and callable(self.speed) and self.lag == 0:
            raise FieldError(f"{owner} follows a function; give it a lag [s] above zero, in which it can.", "lag")

    @property
    def is_driven(self) -> bool:
        """Whether a torque drives it, so that its speed is free."""
        return self.torque is not None

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def states(self) -> Mapping[str, Array]:
        own: dict[str, Array] = {}
        if self.is_driven or callable(self.speed):
            own["speed"] = as_array(0.0 if callable(self.speed) else self.speed)
        if self.angle is not None:
            own["angle"] = as_array(self.angle)
        return own

    def decoupled(self) -> Mapping[str, Array]:
        s = self._axis()
        return {self.body: self.inertia * np.outer(s, s)} if self.is_driven else {}

    def effect(self, scene: Scene) -> Effect:
        sigma = scene.states.get(f"{self.name}.speed", self.speed)
        effect = self._driven(scene, sigma) if self.is_driven else self._prescribed(scene, as_array(sigma))  # type: ignore[arg-type]
        return effect if self.angle is None else replace(effect, rates={**effect.rates, "angle": sigma})

    def _driven(self, scene: Scene, sigma: Array) -> Effect:
        """Driven by a torque: on the body act its reaction, and that of the momentum J (sigma + s . omega) s."""
        s, J, V, load = self._at(scene)
        tau, spin = self._motor(scene, sigma), sigma + s @ V[:3]
        h = _moment(J * spin * s)
        return Effect(
            wrenches={self.body: motion.ad_dual(V, h) - _moment(tau * s)},
            stored=0.5 * J * spin * spin,
            power=tau * sigma + load * spin,
            rates={"speed": lambda m: (tau + load) / J - s @ m.acceleration(self.body)[:3]},
            shown={"torque": tau},
            carried={self.body: h},
            outside={self.body: _moment(load * s)},
        )

    def _prescribed(self, scene: Scene, sigma: Array) -> Effect:
        """At a prescribed speed: on the body act the rate of h = J sigma s, and the gyroscopic moment."""
        s, J, V, load = self._at(scene)
        change = np.zeros(())
        if callable(self.speed):
            change = (value_of(self.speed, scene, (), "speed", f"rotor {self.name!r}") - sigma) / self.lag
        h = _moment(J * sigma * s)

        def torque(m: Dynamics) -> Array:
            return J * (change + s @ m.acceleration(self.body)[:3]) - load

        return Effect(
            wrenches={self.body: motion.ad_dual(V, h) + _moment((load - J * change) * s)},
            stored=V @ h + 0.5 * J * sigma * sigma,
            power=lambda m: sigma * torque(m) + load * (sigma + s @ V[:3]),
            rates={"speed": change} if callable(self.speed) else {},
            shown={"torque": torque} if callable(self.speed) else {"torque": torque, "speed": sigma},
            carried={self.body: h},
            outside={self.body: _moment(load * s)},
        )

    def _at(self, scene: Scene) -> tuple[Array, float, Array, Array]:
        """Axis s, moment J, the body's twist V, and the load."""
        load = value_of(self.load, scene, (), "load", f"rotor {self.name!r}")
        return self._axis(), self.inertia, scene[self.body].twist, load

    def _motor(self, scene: Scene, sigma: Array) -> Array:
        """The torque of the motor less friction [N m]."""
        assert self.torque is not None
        tau = limited(value_of(self.torque, scene, (), "torque", f"rotor {self.name!r}"), self.max_torque)
        if is_traced(self.max_speed) or self.max_speed < np.inf:  # fades over the last hundredth of the limit
            left = np.clip(100 * (1 - np.abs(sigma) / self.max_speed), 0.0, 1.0)
            tau = np.where(tau * sigma > 0, left * tau, tau)
        return tau - self.friction * sigma - self.dry_friction * np.tanh(sigma / STICTION)

    def _axis(self) -> Array:
        s = as_array(self.axis)
        return s / np.linalg.norm(s)


def rpm(revolutions: float) -> float:
    """Revolutions per minute in rad/s."""
    return revolutions * (2 * np.pi / 60)


def _moment(m: Array) -> Array:
    """A wrench or momentum (6,) without a linear part."""
    return np.concatenate([m, np.zeros(3)])
