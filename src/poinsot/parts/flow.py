"""Flows: mass that moves out of, into and between tanks, with the momentum that it carries.

The momentum of a body and the streams in it is G V + h. A straight stream of r [kg/s] from the point a to the point b
of a body carries h = r (a x b, b - a) relative to it, whatever the width of its pipe. With w, the momentum per kilogram
that leaves or enters,

    G V' = F + ad(V)^T (G V + h) - G' V - h' - r_out w_out + r_in w_in

`docs/variable-mass.md` derives it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.parts.element import (
    Dynamics,
    Effect,
    Element,
    Value,
    require_finite,
    require_not_negative,
    require_points,
    value_of,
)
from poinsot.parts.loads import Tabulated
from poinsot.parts.scene import BodyState, Scene
from poinsot.parts.tank import Tank
from poinsot.spatial import Inertia, motion
from poinsot.spatial.arrays import as_array

FADING = 4.0  # lags: the commanded flow would not empty a tank sooner, so that the end is reached without overshoot


@dataclass(frozen=True, eq=False)
class Flow(Element):
    """Mass that flows from a tank (`source`) to another (`to`), overboard (no `to`) or in from outside (no `source`).

    `rate` [kg/s]: a constant, a function, a `Tabulated` or an `Input`; plus `proportion` [1/s] of the contents of the
    source. The flow follows with the time constant `lag` [s], because mass has to be accelerated first; it starts with
    `flowing` [kg/s], by default with a constant rate, else from zero. It fades as a tank becomes empty or full.

    `point` (3,) [m]: where it leaves or enters the body, by default at the location of the mass in the tank; between
    two tanks of one body, a point that it passes; of two bodies, the point of the first where it crosses over.
    `velocity` (3,) [m/s]: of the mass that leaves or enters, relative to the body there, in body axes. Tanks are named
    by their full names, or by short ones on the same body.
    """

    body: str = ""
    source: str | None = None
    to: str | None = None
    rate: Annotated[Value, "kg/s"] = 0.0
    proportion: Annotated[float, "1/s"] = 0.0
    point: Annotated[ArrayLike | None, "m"] = None
    velocity: Annotated[Value, "m/s"] = (0.0, 0.0, 0.0)
    lag: Annotated[float, "s"] = 0.02
    flowing: Annotated[float | None, "kg/s"] = None

    def __post_init__(self) -> None:
        owner = f"flow {self.name!r}"
        require_finite(owner, velocity=self.velocity, lag=self.lag)
        require_not_negative(owner, rate=self.rate, proportion=self.proportion)
        if self.flowing is not None:
            require_not_negative(owner, flowing=self.flowing)
        if self.point is not None:
            require_points(owner, point=self.point)
        if self.source == self.to:
            raise FieldError(
                f"{owner} goes from {self.source!r} to {self.to!r}; give it a source, a goal or both.", "to"
            )
        if not is_traced(self.lag) and not self.lag > 0:
            raise FieldError(f"lag of {owner} must be above zero [s]; nothing starts to flow at once.", "lag")

    @property
    def flow(self) -> "Flow":
        """Itself: engines have the flow that feeds them under this name."""
        return self

    def ends(self, scene: Scene) -> tuple[Tank | None, Tank | None]:
        """The source and the destination."""
        return _tank(scene, self, "source"), _tank(scene, self, "to")

    def states(self) -> Mapping[str, Array]:
        start = 0.0 if callable(self.rate) else self.rate
        return {"rate": as_array(start if self.flowing is None else self.flowing)}

    def effect(self, scene: Scene) -> Effect:
        source, to = self.ends(scene)
        r = scene.states[f"{self.name}.rate"]
        r_rate = (self._commanded(scene, source, to) - r) / self.lag
        terms = FlowTerms(scene, r, r_rate)
        if source is not None:
            self._check(scene, source, r)
        for tank, sign in ((source, -1.0), (to, 1.0)):
            if tank is not None:
                terms.change(tank.body, tank.layer(tank.of(scene)), sign)
                terms.rates[f"{tank.name}.contents"] = sign * r
        via = None if self.point is None else as_array(self.point)
        if source is not None and to is not None and source.body == to.body:
            terms.stream(source.body, terms.end(source), terms.end(to), via)
        elif source is not None and to is not None:
            outlet = terms.end(source) if via is None else (via, np.zeros(3))
            terms.stream(source.body, terms.end(source), outlet)
            terms.hand_over(source.body, to.body, outlet, terms.end(to))
        else:
            tank, sign = (source, -1.0) if source is not None else (to, 1.0)
            assert tank is not None
            u = value_of(self.velocity, scene, (3,), "velocity", f"flow {self.name!r}")
            body, end = tank.body, terms.end(tank)
            if source is not None and via is not None and self.body not in ("", body):  # a nozzle on another body
                body, outlet = self.body, (via, np.zeros(3))
                terms.hand_over(tank.body, body, end, outlet)
                end = outlet
            terms.exchange(body, tank.layer(tank.of(scene)), end, sign, via, u)
        return terms.effect()

    def _commanded(self, scene: Scene, source: Tank | None, to: Tank | None) -> Array:
        """The commanded rate [kg/s], less where a tank is nearly empty or full."""
        rate = value_of(self.rate, scene, (), "rate", f"flow {self.name!r}")
        if source is not None:
            left = source.of(scene)
            rate = np.minimum(rate + self.proportion * left, left / _fading(scene, source, 0))
        if to is not None and to.is_bounded:
            rate = np.minimum(rate, (to.capacity - to.of(scene)) / _fading(scene, to, 1))
        return np.maximum(rate, 0.0)

    def share(self, scene: Scene) -> Array:
        """The share of the rate that its tanks allow: 1, and less where one is nearly empty or full."""
        asked = value_of(self.rate, scene, (), "rate", f"flow {self.name!r}")
        flows = asked > 0
        return np.where(flows, self._commanded(scene, *self.ends(scene)) / np.where(flows, asked, 1.0), 1.0)

    def _check(self, scene: Scene, source: Tank, r: Array) -> None:
        """The source must hold enough for the initial flow."""
        left = source.of(scene)
        if not is_traced(r, left, self.lag) and r * self.lag > left:
            raise FieldError(
                f"flow {self.name!r} starts with {r:g} kg/s, for which tank {source.name!r} with {left:g} kg is too "
                "empty; let it start with less (flowing=0.0).",
                "flowing",
            )


def pulse(mass: float, at: float, over: float) -> Tabulated:
    """A rate [kg/s] that moves a mass [kg] from the time `at` [s] on, within `over` seconds: a dump."""
    top = mass / (0.75 * over)
    return Tabulated(at + over * np.array([0.0, 0.25, 0.75, 1.0]), np.array([0.0, top, top, 0.0]))


def _flows(scene: Scene) -> Iterator[tuple[str, Flow]]:
    """All flows by name, including those of thrusters."""
    for name, element in scene.elements.items():
        if (flow := getattr(element, "flow", None)) is not None:
            yield name, flow


def _fading(scene: Scene, tank: Tank, end: int) -> Any:
    """The time [s] over which each flow that leaves (end = 0) or enters (1) a tank fades, so that all end in time."""
    lags = [flow.lag for _, flow in _flows(scene) if flow.ends(scene)[end] is tank]
    return FADING * len(lags) * reduce(np.maximum, lags)


def gain(scene: Scene, tank: Tank) -> Array:
    """The net inflow of a tank [kg/s] from all flows."""
    total: Array = np.zeros(())
    for name, flow in _flows(scene):
        source, to = flow.ends(scene)
        total = total + ((to is tank) * 1.0 - (source is tank) * 1.0) * scene.states[f"{name}.rate"]
    return total


def gains(scene: Scene, body: str) -> list[tuple[Array, Inertia]]:
    """The net inflow [kg/s] of each tank of a body, and the mass properties per kilogram of it."""
    tanks = [e for e in scene.elements.values() if isinstance(e, Tank) and e.body == body]
    return [(gain(scene, tank), tank.layer(tank.of(scene))) for tank in tanks]


End = tuple[Array, Array]  # the end of a stream: a point of a body [m], and its velocity relative to the body [m/s]


class FlowTerms:
    """The effect of a flow of r [kg/s] on the bodies concerned, collected term by term."""

    def __init__(self, scene: Scene, r: Array, r_rate: Array) -> None:
        self.scene, self.r, self.r_rate = scene, r, r_rate
        self.wrenches: dict[str, Array] = {}
        self.carried: dict[str, Array] = {}
        self.carried_rate: dict[str, Array] = {}
        self.outside: dict[str, Array] = {}
        self.mass: Array | None = None
        self.rates: dict[str, Any] = {"rate": r_rate}
        self.gained: Array = np.zeros(())  # W, energy of the mass that tanks gain

    def end(self, tank: Tank) -> End:
        """The end of a stream in a tank."""
        rate = tank.climb() * gain(self.scene, tank) if tank.settles else np.zeros(3)
        return tank.layer(tank.of(self.scene)).com, rate

    def change(self, name: str, layer: Inertia, sign: float) -> None:
        """-G' V of a body that gains (sign = 1) or loses (-1) mass; layer: dG/dm, per kilogram of it."""
        body, inflow = self.scene[name], sign * self.r
        self._add(self.wrenches, name, -inflow * layer.momentum(body.twist))
        minus_potential = self.scene.mechanism.gravity @ body.point(layer.com)
        self.gained = self.gained + inflow * (layer.kinetic_energy(body.twist) - minus_potential)

    def stream(self, name: str, a: End, b: End, via: Array | None = None) -> None:
        """ad(V)^T h - h' of a stream in a body from a to b."""
        if via is not None:
            self.stream(name, a, (via, np.zeros(3)))
            self.stream(name, (via, np.zeros(3)), b)
            return
        (x, x_rate), (y, y_rate) = a, b
        path = np.concatenate([np.cross(x, y), y - x])
        path_rate = np.concatenate([np.cross(x_rate, y) + np.cross(x, y_rate), y_rate - x_rate])
        h, h_rate = self.r * path, self.r_rate * path + self.r * path_rate
        self._add(self.carried, name, h)
        self._add(self.carried_rate, name, h_rate)
        self._add(self.wrenches, name, motion.ad_dual(self.scene[name].twist, h) - h_rate)

    def exchange(self, name: str, layer: Inertia, end: End, sign: float, via: Array | None, u: Array) -> None:
        """Mass that leaves (sign = -1) or enters a body at a point, with the velocity u relative to the body there.

        layer, end: where it was before, or goes to. Without a point it leaves from there, rotating with the body like
        the rest of it.
        """
        V = self.scene[name].twist
        if via is None:
            w = layer.momentum(V) + _point_momentum(layer.com, u)
        else:
            w = _point_momentum(via, motion.point_velocity(V, via) + u)
            outlet = (via, np.zeros(3))
            self.stream(name, *((end, outlet) if sign < 0 else (outlet, end)))
        self._add(self.wrenches, name, sign * self.r * w)
        self._add(self.outside, name, sign * self.r * w)
        self.mass = sign * self.r

    def hand_over(self, name: str, other: str, outlet: End, to: End) -> None:
        """From a point of one body, with whose velocity it leaves, to a tank of another."""
        (x, x_rate), A, B = outlet, self.scene[name], self.scene[other]
        X_BA = B.pose.inverse() @ A.pose
        w = _point_momentum(x, motion.point_velocity(A.twist, x) + x_rate)
        self._add(self.wrenches, name, -self.r * w)
        self._add(self.wrenches, other, self.r * motion.momentum_in_frame(X_BA, w))
        self.stream(other, (X_BA @ x, _relative_velocity(A, B, X_BA.R, x, X_BA @ x) + X_BA.R @ x_rate), to)

    def effect(self) -> Effect:
        twists = {name: self.scene[name].twist for name in self.wrenches}
        stored: Array = sum((twists[name] @ h for name, h in self.carried.items()), np.zeros(()))
        work = sum((twists[name] @ F for name, F in self.wrenches.items()), self.gained)
        work = sum((twists[name] @ h_rate for name, h_rate in self.carried_rate.items()), work)

        def power(m: Dynamics) -> Array:
            return sum((m.acceleration(name) @ h for name, h in self.carried.items()), work)

        return Effect(self.wrenches, {}, stored, power, self.rates, {}, self.carried, self.outside, self.mass)

    @staticmethod
    def _add(total: dict[str, Array], name: str, x: Array) -> None:
        total[name] = total[name] + x if name in total else x


def _point_momentum(x: Array, v: Array) -> Array:
    """(x x v, v) (6,), the momentum per kilogram at the point x with the velocity v."""
    return np.concatenate([np.cross(x, v), v])


def _relative_velocity(A: BodyState, B: BodyState, R_BA: Array, x_A: Array, x_B: Array) -> Array:
    """The velocity of the point x_A of A relative to B (3,) [m/s], in B's axes."""
    return R_BA @ motion.point_velocity(A.twist, x_A) - motion.point_velocity(B.twist, x_B)


def _tank(scene: Scene, flow: Flow, end: str) -> Tank | None:
    name = getattr(flow, end)
    if name is None:
        return None
    tank = scene.element(name, flow.body)
    if not isinstance(tank, Tank):
        raise FieldError(f"flow {flow.name!r} needs a tank; {name!r} is a {type(tank).__name__}.", end)
    return tank
