"""Parachutes: drag against the flow where they are tied on, from the moment of a trigger."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.parts.element import (
    Dynamics,
    Effect,
    Element,
    Value,
    called,
    require_finite,
    require_not_negative,
    require_points,
    require_single,
)
from poinsot.parts.scene import Scene
from poinsot.spatial.arrays import as_array

NEVER = 1e30  # s
MASS_LAG = 0.02  # s, with which the acceleration of the air in the canopy follows the true one


@dataclass(frozen=True, eq=False)
class Parachute(Element):
    """A parachute tied to a `point` (3,) [m] of a body: the drag F = rho/2 V^2 CdS x(t) against the flow there.

    It opens at the instant, found within the step, at which `trigger` is first above zero: a number, `Input`, `Signal`,
    the name of a signal, or a function (t, scene) of a number or condition, as
    `lambda t, scene: scene.air("rocket").altitude < 300`. By default it is open from the start.
    x = min(1, (t - t_open)/`inflation`)^`growth`, from 0 to 1 in `inflation` [s]: Knacke, Parachute Recovery Systems
    Design Manual, chapter 5. Falling at rest it has the terminal velocity sqrt(2 m g/(rho CdS)).

    `added_mass` [kg]: of the air that a full canopy takes along, as about rho 4/3 pi R^3 /2 of a hemisphere; then its
    force -added_mass x dv/dt acts as well, by the acceleration of the point, which follows the true one with 0.02 s.
    It shows `drag` [N], `open`, from 0 to 1, and `opened_at` [s].
    """

    body: str = ""
    CdS: Annotated[float, "m^2"] = 1.0
    point: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    trigger: Annotated[Value, "1"] = 1.0
    inflation: Annotated[float, "s"] = 0.0
    growth: Annotated[float, "1"] = 2.0
    added_mass: Annotated[float, "kg"] = 0.0

    structural: ClassVar[tuple[str, ...]] = ("trigger",)

    def __post_init__(self) -> None:
        owner = f"parachute {self.name!r}"
        require_points(owner, point=self.point)
        require_single(owner, CdS=self.CdS, inflation=self.inflation, added_mass=self.added_mass, growth=self.growth)
        require_not_negative(owner, CdS=self.CdS, inflation=self.inflation, added_mass=self.added_mass)
        if not isinstance(self.trigger, str):
            require_finite(owner, trigger=self.trigger)
        if not is_traced(self.growth) and not 0 < float(self.growth) < np.inf:
            raise FieldError(f"growth of {owner} must be above zero, not {self.growth!r}.", "growth")

    @property
    def _is_open(self) -> bool:
        """Whether it is open from the start on."""
        return not callable(self.trigger) and not isinstance(self.trigger, str) and not is_traced(self.trigger)

    @property
    def latches(self) -> bool:
        return not self._is_open

    @property
    def _has_mass(self) -> bool:
        return is_traced(self.added_mass) or self.added_mass > 0

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def states(self) -> Mapping[str, Array]:
        opened = {} if self._is_open else {"opened_at": np.full((), NEVER)}
        return opened | ({"acceleration": np.zeros(3)} if self._has_mass else {})

    def settle(self, motion: Dynamics, states: Mapping[str, Array]) -> Mapping[str, Array]:
        fired = (self._trigger(motion.scene) > 0) & (states["opened_at"] >= NEVER)
        return {**states, "opened_at": np.where(fired, motion.scene.t, states["opened_at"])}

    def happened(self, states: Mapping[str, Array]) -> Array | None:
        return None if self._is_open else np.where(states["opened_at"] < NEVER, 1.0, 0.0)

    def effect(self, scene: Scene) -> Effect:
        r = as_array(self.point)
        air, x = scene.air(self.body, self.point), self._inflated(scene)
        f = -0.5 * air.density * self.CdS * x * air.airspeed * air.velocity
        rates: dict[str, Any] = {}
        if self._has_mass:
            a = scene.states[f"{self.name}.acceleration"]
            f = f - self.added_mass * x * a
            rates["acceleration"] = lambda motion: (_acceleration(motion, self.body, r) - a) / MASS_LAG
        F = np.concatenate([np.cross(r, f), f])
        drag = air.dynamic_pressure * self.CdS * x
        return Effect({self.body: F}, rates=rates, shown={"drag": drag, "open": x})

    def _inflated(self, scene: Scene) -> Array:
        """How far it is open, from 0 to 1."""
        if self._is_open:
            since = as_array(scene.t)
            if not float(self.trigger) > 0:  # type: ignore[arg-type]
                return np.zeros(())
        else:
            since = scene.t - scene.states[f"{self.name}.opened_at"]
        if not is_traced(self.inflation) and self.inflation == 0:
            return np.where(since >= 0, 1.0, 0.0)
        share = np.clip(since / np.maximum(self.inflation, 1e-9), 0.0, 1.0)
        return np.where(share > 0, np.where(share > 0, share, 1.0) ** self.growth, 0.0)

    def _trigger(self, scene: Scene) -> Array:
        if isinstance(self.trigger, str):
            return scene.signal(self.trigger)
        value = called(self.trigger, scene, "trigger", f"parachute {self.name!r}") if callable(self.trigger) else 1.0
        return as_array(value) * 1.0

    def units(self) -> dict[str, str]:
        return {"drag": "N", "open": "1", "opened_at": "s", "acceleration": "m/s^2"}


def _acceleration(motion: Dynamics, body: str, r: Array) -> Array:
    """The acceleration (3,) [m/s^2] of a point of a body, in body axes."""
    V, A = motion.scene[body].twist, motion.acceleration(body)
    return A[3:] + np.cross(V[:3], V[3:]) + np.cross(A[:3], r) + np.cross(V[:3], np.cross(V[:3], r))
