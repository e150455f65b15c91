"""Propellers: thrust and torque of the advance ratio, on a rotor that an engine drives or a governor holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, get_args

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import Table
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
    value_of,
)
from poinsot.parts.jet import require_direction
from poinsot.parts.rotor import Rotor
from poinsot.parts.scene import Scene
from poinsot.spatial.arrays import as_array

Hand = Literal["right", "left"]
STATION = 0.7 * np.pi  # the blade at 0.7 of the radius moves with 0.7 pi n D
SLIGHT = 1e-12  # m/s, added to that speed, so that angles have derivatives at rest


@dataclass(frozen=True, eq=False)
class Propeller(Element):
    """A propeller of a `diameter` D [m] at a `point` (3,) [m] of a body, its thrust along `axis` (3,) in body axes.

        T = rho n^2 D^4 CT(J),    Q = rho n^2 D^5 CP(J)/(2 pi),    J = V/(n D)

    with n [1/s] revolutions per second, V [m/s] along the axis through the air at the point. `CT` and `CP`: each a
    `Table` of J, or of J and the `pitch` [rad] of the blades. In terms of the angle phi = atan2(V, 0.7 pi n D) at which
    the air meets the blades, T = rho/2 (V^2 + (0.7 pi n D)^2) (pi/4) D^2 C_T(phi), and Q likewise with D^3: that form
    stays finite at rest. Beyond the table, windmilling or blown from behind, the coefficients go on linearly in phi to
    -`stopped_drag` and -`stopped_torque` where the blades stand, phi = 90 deg, and to the opposite at -90 deg;
    backwards, T(-n, -V) = -T(n, V). That the angle phi describes
    all four quadrants is from ships' propellers (van Lammeren, van Manen and Oosterveld, 1969); the straight lines
    beyond the table are a model of ours, with the right signs and limits, and no fit to measurements.

    It is a `Rotor` of the moment `inertia` [kg m^2], with its gyroscopic moment and the reaction of what drives it:
    an `engine`, by its name on the body, or a `torque` [N m]; without both a governor keeps the `speed` [rad/s].
    `hand`: "right" turns clockwise seen from behind, about +axis; "left" about -axis. Forces across the axis, as in
    oblique flow, are not part of it.
    """

    body: str = ""
    diameter: Annotated[float, "m"] = 0.0
    CT: Table | None = None
    CP: Table | None = None
    pitch: Annotated[Value, "rad"] = 0.0
    point: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    axis: Annotated[ArrayLike, "1"] = (1.0, 0.0, 0.0)
    hand: Hand = "right"
    inertia: Annotated[float, "kg m^2"] = 0.0
    speed: Annotated[Value, "rad/s"] = 0.0
    engine: str | None = None
    torque: Annotated[Value | None, "N m"] = None
    friction: Annotated[float, "N m s/rad", "N m s"] = 0.0
    lag: Annotated[float, "s"] = 0.05
    stopped_drag: Annotated[float, "1"] = 0.1
    stopped_torque: Annotated[float, "1"] = 0.01

    def __post_init__(self) -> None:
        owner = f"propeller {self.name!r}"
        require_points(owner, point=self.point)
        require_direction(owner, self.axis, "axis")
        require_finite(owner, axis=self.axis, pitch=self.pitch)
        require_not_negative(owner, stopped_drag=self.stopped_drag, stopped_torque=self.stopped_torque)
        require_above_zero(owner, diameter=self.diameter)
        for name in ("CT", "CP"):
            table = getattr(self, name)
            if not isinstance(table, Table) or len(table.axes) not in (1, 2) or table.shape:
                raise FieldError(f"{name} of {owner} must be a pt.Table of J, or of J and pitch, not {table!r}.", name)
        if self.hand not in get_args(Hand):
            raise FieldError(f"hand of {owner} must be 'right' or 'left', not {self.hand!r}.", "hand")
        if self.engine is not None and self.torque is not None:
            raise FieldError(f"{owner} has the engine {self.engine!r} and a torque; give one.", "torque")
        _ = self.rotor  # checked before any work starts

    @cached_property
    def rotor(self) -> Rotor:
        """The propeller as a rotor, with the torque of the air as its load."""
        axis = as_array(self.axis) * (1.0 if self.hand == "right" else -1.0)
        torque = self.torque if self.engine is None else self._driving
        return Rotor(self.name, self.body, axis, self.inertia, self.speed, torque, self._load, self.lag, self.friction)

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def states(self) -> Mapping[str, Array]:
        return self.rotor.states()

    def decoupled(self) -> Mapping[str, Array]:
        return self.rotor.decoupled()

    def effect(self, scene: Scene) -> Effect:
        turning = self.rotor.effect(scene)
        thrust, torque = self.forces(scene)
        s = as_array(self.axis) / np.linalg.norm(as_array(self.axis))
        pushed = push(self.body, thrust * s, as_array(self.point), scene[self.body].twist)
        shown = {"speed": turning.shown["speed"]} if "speed" in turning.shown else {}
        return combined(pushed, turning, thrust=thrust, torque=torque, force=thrust * s, **shown)

    def forces(self, scene: Scene) -> tuple[Array, Array]:
        """Thrust [N] and the torque [N m] with which the air brakes it, at an instant."""
        air, s = scene.air(self.body, self.point), as_array(self.axis) / np.linalg.norm(as_array(self.axis))
        owner = f"propeller {self.name!r}"
        sigma = scene.states.get(f"{self.name}.speed", self.speed)
        return self.at(air.air.density, air.velocity @ s, sigma, value_of(self.pitch, scene, (), "pitch", owner))

    def at(self, density: Any, V: Any, speed: Any, pitch: Any = 0.0) -> tuple[Any, Any]:
        """T [N] and Q [N m] in air of a density [kg/m^3], advancing with V [m/s], turning with `speed` [rad/s]."""
        D, back = self.diameter, np.where(as_array(speed) < 0, -1.0, 1.0)
        V, nD = back * V, back * speed * D / (2 * np.pi)
        x = STATION * nD
        pressure = back * 0.5 * density * (V * V + x * x) * (np.pi / 4) * D**2
        phi = np.arctan2(V, x + SLIGHT)
        C_T = _quadrants(self.CT, V, nD, phi, pitch, -self.stopped_drag)
        C_Q = _quadrants(self.CP, V, nD, phi, pitch, -self.stopped_torque * 2 * np.pi)
        return pressure * C_T, pressure * D * C_Q / (2 * np.pi)

    def _load(self, t: Array, scene: Scene) -> Array:
        return -self.forces(scene)[1]

    def _driving(self, t: Array, scene: Scene) -> Array:
        return scene.signal(f"{scene.element(str(self.engine), self.body).name}.torque")

    def units(self) -> dict[str, str]:
        return {"thrust": "N", "torque": "N m", "force": "N", "speed": "rad/s"}


def _quadrants(table: Any, V: Any, nD: Any, phi: Any, pitch: Any, stopped: Any) -> Any:
    """A coefficient of the dynamic pressure at the blades, at the angle phi from -90 to 90 deg."""
    first, last = table.axes[0][0], table.axes[0][-1]
    below, above = first * nD > V, last * nD < V
    J = np.where(below, first, np.where(above, last, V / np.where(below | above | (nD <= 0), 1.0, nD)))
    J = np.clip(J, first, last)
    edge = np.arctan(J / STATION)
    known = table(J) if len(table.axes) == 1 else table(J, pitch)
    known = known * (8 / np.pi) / (J * J + STATION**2)
    end = np.where(below, -np.pi / 2, np.pi / 2)
    share = np.where(below | above, (phi - edge) / (end - edge), 0.0)
    return known + share * (np.where(below, -stopped, stopped) - known)
