"""Landing gear: an oleo strut with a wheel, whose tyre rolls, slips, steers, brakes, and holds at standstill."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.parts.element import (
    Effect,
    Element,
    Value,
    require_above_zero,
    require_finite,
    require_not_negative,
    require_points,
    require_share,
    value_of,
)
from poinsot.parts.jet import require_direction
from poinsot.parts.scene import Footing, Scene
from poinsot.spatial.arrays import as_array

SWIFTEST = 0.02  # s: the tread does not settle faster than this, so that speed does not require a short step
DAMPED = 0.02  # s: F = kappa N (z + DAMPED z')
SLOWEST = 1e-4  # the least friction coefficient of rolling


class _Touch(NamedTuple):
    """A wheel on the ground: contact point (3,) [m] in the body's frame; load N [N]; deflection of the tyre [m]; the
    unit normal, forward and sideways directions, and the velocity of the contact point over the ground, world axes."""

    point: Array
    load: Array
    deflection: Array
    footing: Footing
    forward: Array
    side: Array
    velocity: Array


@dataclass(frozen=True, eq=False)
class Gear(Element):
    """A leg of a landing gear: `point` (3,) [m] of the body is the axle with the strut extended, `up` (3,) the way that
    the axle moves into the body, `forward` (3,) that in which the wheel of the `radius` [m] rolls; body axes, those of
    an aircraft by default.

    **Strut.** Shortened by s, a state, up to its `stroke` [m], it carries

        F = stiffness s + preload (1 - s/air_length)^(-exponent) + damping s' + orifice s'|s'|

    a spring, a column of gas of the length air_length [m], and a damper; `rebound` [N s/m] is its damping on the way
    back. It lies against its stop at s = 0 up to the `preload` [N], and beyond the stroke against one with ten times
    the stiffness of the tyre. The wheel has no mass, so s' follows from the forces. Without a stroke it is rigid.

    **Tyre.** The load N = tyre_stiffness times its deflection. The tread's deflection z (2,) [m], along and across,
    carries F = tread_stiffness N (z + 0.02 s z'), and follows the velocity v of the contact point over the ground,

        z' = (v - l z)/(1 + l 0.02 s),  l_along = |v_along|/z_max,  l_across = |v_across|/z_max + |v_along|/relaxation

    (a model of bristles, after Dahl, 1968; relaxation length: Pacejka, Tire and Vehicle Dynamics), so it holds at
    standstill without creeping, and
    at speed F_across = tread_stiffness N relaxation tan(slip). z_max is where F reaches the friction: along, the brake
    (`brake` from 0 to 1 times `brake_torque` [N m], by the radius) and rolling resistance `rolling` N, at most
    friction N; across, what is left of friction N.

    `steering` [rad] turns the wheel to the right, about -up. While `down` is not above 0.5, nothing touches.
    `brake`, `steering` and `down` are numbers, functions, inputs or signals. The ground is `scene.ground(p)`.
    """

    body: str = ""
    point: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    up: Annotated[ArrayLike, "1"] = (0.0, 0.0, -1.0)
    forward: Annotated[ArrayLike, "1"] = (1.0, 0.0, 0.0)
    radius: Annotated[float, "m"] = 0.2
    stroke: Annotated[float, "m"] = 0.0
    stiffness: Annotated[float, "N/m"] = 0.0
    preload: Annotated[float, "N"] = 0.0
    air_length: Annotated[float, "m"] = np.inf
    exponent: Annotated[float, "1"] = 1.3
    damping: Annotated[float, "N s/m"] = 0.0
    rebound: Annotated[float | None, "N s/m"] = None
    orifice: Annotated[float, "N s^2/m^2"] = 0.0
    tyre_stiffness: Annotated[float, "N/m"] = 2e5
    tread_stiffness: Annotated[float, "1/m"] = 40.0
    relaxation: Annotated[float, "m"] = 0.15
    friction: Annotated[float, "1"] = 0.8
    rolling: Annotated[float, "1"] = 0.02
    brake_torque: Annotated[float, "N m"] = 0.0
    brake: Annotated[Value, "1"] = 0.0
    steering: Annotated[Value, "rad"] = 0.0
    down: Annotated[Value, "1"] = 1.0

    def __post_init__(self) -> None:
        owner = f"gear {self.name!r}"
        require_points(owner, point=self.point)
        for name in ("up", "forward"):
            require_finite(owner, **{name: getattr(self, name)})
            require_direction(owner, getattr(self, name), name)
        for name in ("stroke", "stiffness", "preload", "damping", "orifice", "friction", "rolling", "brake_torque"):
            require_not_negative(owner, **{name: getattr(self, name)})
        for name in ("radius", "tyre_stiffness", "tread_stiffness", "relaxation"):
            require_above_zero(owner, **{name: getattr(self, name)})
        require_share(owner, brake=self.brake)
        require_finite(owner, steering=self.steering, down=self.down)
        if not is_traced(self.up, self.forward) and np.linalg.norm(np.cross(_unit(self.up), _unit(self.forward))) < 0.1:
            raise FieldError(f"forward of {owner} must not be along its strut, {self.up!r}.", "forward")
        self._require_strut(owner)

    def _require_strut(self, owner: str) -> None:
        if not self.has_strut:
            return
        if not is_traced(self.stroke, self.air_length) and not self.air_length > self.stroke:
            raise FieldError(
                f"air_length of {owner} must be above its stroke of {self.stroke:g} m, not {self.air_length!r}.",
                "air_length",
            )
        if not is_traced(self.exponent) and not 1 < self.exponent < np.inf:
            raise FieldError(f"exponent of {owner} must be above 1, not {self.exponent!r}.", "exponent")
        if not is_traced(self.damping, self.orifice) and not (self.damping > 0 or self.orifice > 0):
            raise FieldError(f"{owner} has a strut without damping [N s/m]; it would never come to rest.", "damping")
        if self.rebound is not None and not is_traced(self.rebound) and not 0 < self.rebound < np.inf:
            raise FieldError(f"rebound of {owner} must be above zero [N s/m], not {self.rebound!r}.", "rebound")

    @property
    def has_strut(self) -> bool:
        """Whether the strut gives."""
        return is_traced(self.stroke) or self.stroke > 0

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def states(self) -> Mapping[str, Array]:
        return {"tread": np.zeros(2)} | ({"strut": np.zeros(())} if self.has_strut else {})

    def effect(self, scene: Scene) -> Effect:
        body, s = scene[self.body], scene.states.get(f"{self.name}.strut", np.zeros(()))
        touch = self._touch(scene, s)
        along, across, tread_rate = self._friction(scene, touch)
        n = touch.footing.normal
        f = touch.load * n + along * touch.forward + across * touch.side
        F = body.wrench(f, touch.point)
        up = body.pose.R @ _unit(self.up)
        s_rate, carried = self._strut_rate(s, f @ up)
        deflecting = -(n @ (touch.velocity + s_rate * up))
        energy = self._gas_energy(s) + 0.5 * self.tyre_stiffness * touch.deflection**2
        rates = {"tread": tread_rate} | ({"strut": s_rate} if self.has_strut else {})
        return Effect(
            {self.body: F},
            stored=energy,
            power=F @ body.twist + carried * s_rate + touch.load * deflecting,
            rates=rates,
            shown={"force": f, "load": touch.load, "deflection": touch.deflection},
        )

    def _touch(self, scene: Scene, s: Array) -> _Touch:
        body, owner = scene[self.body], f"gear {self.name!r}"
        axle = as_array(self.point) + s * _unit(self.up)
        footing = scene.ground(body.point(axle))
        is_down = value_of(self.down, scene, (), "down", owner) > 0.5
        deflection = np.where(is_down, np.maximum(self.radius - footing.clearance, 0.0), 0.0)
        n = footing.normal
        point = axle - np.minimum(self.radius, footing.clearance) * (body.pose.R.T @ n)
        angle = value_of(self.steering, scene, (), "steering", owner)
        up, ahead = _unit(self.up), _unit(self.forward)
        heading = body.pose.R @ (np.cos(angle) * ahead + np.sin(angle) * np.cross(ahead, up))
        side = np.cross(heading, n)
        side = side / np.sqrt(side @ side + 1e-30)
        velocity = body.velocity_of(point) - footing.velocity
        velocity = velocity - np.cross(footing.turning, body.pose.R @ (point - axle))
        return _Touch(point, self.tyre_stiffness * deflection, deflection, footing, np.cross(n, side), side, velocity)

    def _friction(self, scene: Scene, touch: _Touch) -> tuple[Array, Array, Array]:
        """The forces of the tread along and across [N], and z' (2,) [m/s]."""
        z, kappa, N = scene.states[f"{self.name}.tread"], self.tread_stiffness, touch.load
        brake = np.clip(value_of(self.brake, scene, (), "brake", f"gear {self.name!r}"), 0.0, 1.0)
        braked = brake * self.brake_torque / self.radius / np.maximum(N, 1.0)
        along = np.maximum(np.minimum(braked + self.rolling, self.friction), SLOWEST)
        used = np.minimum(np.abs(kappa * z[0]), along)
        across = np.sqrt(np.maximum(self.friction**2 - used**2, 0.01 * self.friction**2 + SLOWEST**2))
        v = np.stack([touch.velocity @ touch.forward, touch.velocity @ touch.side])
        rolling = np.abs(v[0])
        settling = np.stack([rolling * kappa / along, np.abs(v[1]) * kappa / across + rolling / self.relaxation])
        rate = (v - settling * z) / (1 + settling * SWIFTEST)
        force = -kappa * N * (z + DAMPED * rate)
        return np.clip(force[0], -along * N, along * N), np.clip(force[1], -across * N, across * N), rate

    def _strut_rate(self, s: Array, pressed: Array) -> tuple[Array, Array]:
        """s' [m/s] under a load along the strut [N], and what the gas and springs carry [N]."""
        gas = self._gas(s)
        if not self.has_strut:
            return np.zeros(()), gas
        net = pressed - gas
        back = self.damping if self.rebound is None else self.rebound
        c = np.where(net > 0, self.damping, back)
        rate = 2 * net / (c + np.sqrt(c * c + 4 * self.orifice * np.abs(net) + 1e-12))
        return np.where(s > 0, rate, np.maximum(rate, 0.0)), gas

    def _gas(self, s: Array) -> Array:
        beyond = np.maximum(s - self.stroke, 0.0)
        return self.stiffness * s + self.preload * self._squeezed(s) ** (-self.exponent) + self._stop() * beyond

    def _gas_energy(self, s: Array) -> Array:
        """The energy [J] in gas and springs."""
        if not self.has_strut:
            return np.zeros(())
        beyond, k = np.maximum(s - self.stroke, 0.0), self.exponent - 1
        if is_traced(self.air_length) or self.air_length < np.inf:
            gas = self.preload * self.air_length / k * (self._squeezed(s) ** (-k) - 1)
        else:
            gas = self.preload * s
        return 0.5 * self.stiffness * s * s + gas + 0.5 * self._stop() * beyond**2

    def _squeezed(self, s: Array) -> Array:
        return np.maximum(1 - s / self.air_length, 1e-3)

    def _stop(self) -> Any:
        return 10 * self.tyre_stiffness

    def units(self) -> dict[str, str]:
        return {"tread": "m", "strut": "m", "force": "N", "load": "N", "deflection": "m"}


def _unit(direction: ArrayLike) -> Array:
    d = as_array(direction)
    return d / np.linalg.norm(d)
