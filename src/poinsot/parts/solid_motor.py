"""Solid motors: a thrust curve, and grains that burn from their bores and ends, with the mass that is left of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike, Scalar
from poinsot.fuse import is_traced
from poinsot.parts.element import (
    Dynamics,
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
    whole_number,
    within_range,
)
from poinsot.parts.flow import FlowTerms
from poinsot.parts.jet import require_direction
from poinsot.parts.loads import Tabulated
from poinsot.parts.scene import Scene
from poinsot.spatial import Inertia
from poinsot.spatial.arrays import as_array

NEVER = 1e30  # s
HAIR = 1e-9  # s: how far from a knot of the thrust the steps beside it end
LAST = 1e-6  # of the web
SEA_LEVEL = 101325.0  # Pa, at which thrust curves are measured


@dataclass(frozen=True, eq=False)
class SolidMotor(Element):
    """A motor of `grains` equal BATES grains in a row, whose thrust [N] is a `Tabulated` function of the time it burns.

    The propellant of `mass` [kg] leaves at T/c [kg/s] with the effective exhaust speed c = total impulse / mass. Each
    grain is a cylinder of `radius` R and `length` H [m] with a bore of radius `bore`. It burns from its bore and both
    ends, not outside. Burnt by the web w, a state, it has

        r = bore + w,   h = length - 2 w,   V = pi (R^2 - r^2) h,   burning area A = 2 pi r h + 2 pi (R^2 - r^2)
        w' = T/(c rho n A),   I_axis = m (R^2 + r^2)/2,   I_across = m ((R^2 + r^2)/4 + h^2/12 + mean d_k^2)

    with d_k [m] from the centre of the row, `position` (3,) [m] of the body, to that of each grain; `gap` [m] lies
    between them. Sutton and Biblarz, Rocket Propulsion Elements; the same as in RocketPy.

    The thrust acts at the nozzle, `point` (3,) [m], along `direction` (3,) in body axes, which is also the axis of the
    grains. It is lit at the time `ignition` [s], or when a signal or function first is above zero. Steps end where it
    is lit, at the knots of the curve and at burn-out, so that its forces are smooth within each. `factor` scales the
    thrust at the same flow of mass. With an `exit_area` [m^2] the thrust gains area (p0 - p) while it burns, p being
    the air's pressure and p0 = 101325 Pa. Grains that do not fit into `case_radius` and `case_length` [m] are an error.
    """

    structural: ClassVar[tuple[str, ...]] = ("grains", "case_radius", "case_length")

    body: str = ""
    thrust: Annotated[Value, "N"] = 0.0
    mass: Annotated[float, "kg"] = 0.0
    radius: Annotated[float, "m"] = 0.0
    length: Annotated[float, "m"] = 0.0
    bore: Annotated[float, "m"] = 0.0
    grains: int = 1
    gap: Annotated[float, "m"] = 0.0
    position: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    point: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    direction: Annotated[ArrayLike, "1"] = (1.0, 0.0, 0.0)
    ignition: Annotated[Value, "s"] = 0.0
    factor: Annotated[float, "1"] = 1.0
    exit_area: Annotated[float, "m^2"] = 0.0
    case_radius: Annotated[float, "m"] = np.inf
    case_length: Annotated[float, "m"] = np.inf

    def __post_init__(self) -> None:
        owner = f"solid motor {self.name!r}"
        if not isinstance(self.thrust, Tabulated) or self.thrust.values.ndim != 1 or np.any(self.thrust.values < 0):
            raise FieldError(
                f"thrust of {owner} must be a pt.Tabulated of times [s] and thrusts [N], none negative, such as "
                f"pt.load_eng(...).thrust, not {self.thrust!r}.",
                "thrust",
            )
        if not self.impulse > 0 or self.thrust.times[0] < 0:
            raise FieldError(f"thrust of {owner} must be above zero at some time after 0 s.", "thrust")
        require_points(owner, position=self.position, point=self.point)
        require_direction(owner, self.direction)
        require_finite(owner, direction=self.direction, ignition=self.ignition)
        numbers = {"bore": self.bore, "gap": self.gap, "factor": self.factor, "exit_area": self.exit_area}
        require_not_negative(owner, mass=self.mass, radius=self.radius, length=self.length, **numbers)
        self._require_grains(owner)
        with within_range(owner), np.errstate(over="ignore"):
            self._unit_moment(self._volume(np.zeros(())))

    def _require_grains(self, owner: str) -> None:
        object.__setattr__(self, "grains", whole_number(owner, "grains", self.grains))
        require_above_zero(owner, mass=self.mass, radius=self.radius, length=self.length)
        require_above_zero(owner, infinite=True, case_radius=self.case_radius, case_length=self.case_length)
        for name, value, limit, why in (
            ("bore", self.bore, self.radius, "the radius of its grains"),
            ("radius", self.radius, self.case_radius, "its case_radius"),
            ("length", self._row, self.case_length, "its case_length"),
        ):
            too_much = value >= limit if name == "bore" else value > limit * (1 + 1e-12)
            if not is_traced(value, limit) and too_much:
                what = "its row of grains" if name == "length" else f"{name} of the grains"
                raise FieldError(
                    f"{what} of {owner} measures {value:g} m, but {why} is {limit:g} m; it does not fit.", name
                )

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    @cached_property
    def impulse(self) -> float:
        """The total impulse [N s], with factor 1."""
        curve: Any = self.thrust
        return float(np.trapezoid(curve.values, curve.times))

    @property
    def exhaust_speed(self) -> Any:
        """The effective exhaust speed c [m/s], with factor 1."""
        return self.impulse / self.mass

    @property
    def density(self) -> Any:
        """The density of the propellant [kg/m^3]."""
        return self.mass / self._volume(np.zeros(()))

    @property
    def _row(self) -> Any:
        return self.grains * self.length + (self.grains - 1) * self.gap

    def states(self) -> Mapping[str, Array]:
        waits = {"clock": np.zeros(()), "lit": np.zeros(())} if callable(self.ignition) else {}
        return {"web": np.zeros(())} | waits

    @property
    def latches(self) -> bool:
        return callable(self.ignition)

    def settle(self, motion: Dynamics, states: Mapping[str, Array]) -> Mapping[str, Array]:
        fires = value_of(self.ignition, motion.scene, (), "ignition", f"solid motor {self.name!r}") > 0
        return {**states, "lit": np.where(fires, 1.0, states["lit"])}

    def happened(self, states: Mapping[str, Array]) -> Array | None:
        return states["lit"] if callable(self.ignition) else None

    def corners(self, t: Scalar, states: Mapping[str, Array]) -> Array:
        """Beside ignition, knots and burn-out: the thrust, or the force of the gas that gains speed on its way to the
        nozzle, jumps there, and no stage of a step lies on a jump."""
        knots = np.ravel(self._curve[0][:, None] + np.array([-HAIR, HAIR]))
        if not callable(self.ignition):
            return as_array(self.ignition) + knots
        return np.where(states["lit"] > 0, t - states["clock"] + knots, NEVER)

    def inertias(self, states: Mapping[str, Array]) -> Mapping[str, Inertia]:
        volume = self._volume(states["web"])
        return {self.body: self.inertia(states["web"])} if is_traced(volume) or volume > 0 else {}

    def inertia(self, web: Array) -> Inertia:
        """The mass properties of the grains burnt by a web [m], in the body's frame."""
        m = self.density * self._volume(web)
        return Inertia(m, as_array(self.position), m * self._unit_moment(web))

    def layer(self, web: Array) -> Inertia:
        """dG/dm, the mass properties per kilogram that burns."""
        s, m, (r, h) = self._axis(), self.density * self._volume(web), self._sizes(web)
        along = np.outer(s, s)
        slope = r * along + (0.5 * r - h / 3) * (np.eye(3) - along)  # of the moment per kilogram with the web
        moment = self._unit_moment(web) - m / (self.density * self._area(web)) * slope
        return Inertia(1.0, as_array(self.position), moment, check="never")

    def effect(self, scene: Scene) -> Effect:
        web, tau = scene.states[f"{self.name}.web"], self._burning(scene)
        left = web < self._thickest * (1 + LAST)  # the curve ends the burn, not an error of rounding before its end
        c, s = self.exhaust_speed, self._axis()
        clock = {"clock": scene.states[f"{self.name}.lit"]} if callable(self.ignition) else {}
        runs = left & (clock["clock"] > 0) if clock else left  # before it is lit, the clock stands at the first knot
        r = np.where(runs, np.interp(tau, *self._curve, left=0.0, right=0.0) / c, 0.0)
        terms = FlowTerms(scene, r, np.where(runs, self._slope(tau) / c, 0.0))
        layer = self.layer(web)
        terms.change(self.body, layer, -1.0)
        nozzle = as_array(self.point)
        terms.exchange(self.body, layer, (layer.com, np.zeros(3)), -1.0, nozzle, -self.factor * c * s)
        thrust, rates = self.factor * r * c, {"web": r / (self.density * self._area(web))} | clock
        effects = [replace(terms.effect(), rates=rates)]
        if is_traced(self.exit_area) or self.exit_area > 0:
            more = np.where(r > 0, self.exit_area * (SEA_LEVEL - scene.air(self.body).pressure), 0.0)
            effects, thrust = [*effects, push(self.body, more * s, nozzle, scene[self.body].twist)], thrust + more
        return combined(*effects, force=thrust * s, contents=self.density * self._volume(web))

    def _burning(self, scene: Scene) -> Array:
        """The time [s] since it was lit."""
        return scene.states[f"{self.name}.clock"] if callable(self.ignition) else scene.t - as_array(self.ignition)

    @cached_property
    def _curve(self) -> tuple[Array, Array]:
        curve: Any = self.thrust
        return curve.times, curve.values

    def _slope(self, tau: Array) -> Array:
        """dT/dt [N/s] of the curve, by the knots that lie behind."""
        times, values = self._curve
        jumps = np.diff(np.concatenate([[0.0], np.diff(values) / np.diff(times), [0.0]]))
        return sum((np.where(tau >= t, jump, 0.0) for t, jump in zip(times, jumps, strict=True)), np.zeros(()))

    @property
    def _thickest(self) -> Any:
        """The web [m] at which nothing is left."""
        return np.minimum(self.radius - self.bore, 0.5 * self.length)

    def _sizes(self, web: Array) -> tuple[Array, Array]:
        """The radius of the bore r and the length h of each grain [m]; none of it is left when one meets its limit."""
        w = np.clip(web, 0.0, self._thickest)
        return self.bore + w, self.length - 2 * w

    def _volume(self, web: Array) -> Array:
        r, h = self._sizes(web)
        return self.grains * np.pi * (self.radius**2 - r * r) * h

    def _area(self, web: Array) -> Array:
        r, h = self._sizes(web)
        return self.grains * 2 * np.pi * (r * h + self.radius**2 - r * r)

    def _unit_moment(self, web: Array) -> Array:
        """The moment (3, 3) [m^2] per kilogram about the centre of the row."""
        (r, h), s, n = self._sizes(web), self._axis(), self.grains
        across = (self.radius**2 + r * r) / 4 + h * h / 12 + (n * n - 1) / 12 * (self.length + self.gap) ** 2
        along = np.outer(s, s)
        return (self.radius**2 + r * r) / 2 * along + across * (np.eye(3) - along)

    def _axis(self) -> Array:
        d = as_array(self.direction)
        return d / np.linalg.norm(d)

    def units(self) -> dict[str, str]:
        return {"web": "m", "clock": "s", "lit": "1", "force": "N", "contents": "kg"}
