"""Flows: mass that moves out of, into and between tanks, with the momentum that it carries.

The bodies and all that flows in them hold the momentum G V + h. A stream of r [kg/s] that runs straight from the point
a to the point b of a body carries h = r (a x b, b - a) relative to it, whatever the width of its pipe. With w, the
momentum of a kilogram that leaves or comes,

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
from poinsot.parts.element import Effect, Element, Value, require_finite, require_not_negative, require_points, value_of
from poinsot.parts.loads import Tabulated
from poinsot.parts.scene import BodyState, Scene
from poinsot.parts.tank import Tank
from poinsot.spatial import Inertia, motion
from poinsot.spatial.arrays import as_array

FADING = 4.0  # lags: no flow is asked for that would end a tank sooner; then the end is met without overshoot


@dataclass(frozen=True, eq=False)
class Flow(Element):
    """Mass that flows from a tank (`source`) to another (`to`), overboard (no `to`) or in from outside (no `source`).

    `rate` [kg/s]: a constant, a function, a `Tabulated` or an `Input`; and `proportion` [1/s] of what the source
    holds. The flow follows with the time constant `lag` [s], because what flows has to be accelerated first; it starts
    with `flowing` [kg/s], by default with a rate that is a number, else from rest. Near the end of a tank it fades.

    `point` (3,) [m]: where it leaves or enters the body, by default right where the mass lies in the tank; between two
    tanks of one body, a point that it passes; of two bodies, where it changes over, a point of the first. `velocity`
    (3,) [m/s]: of what leaves or comes in, relative to the body there, in body axes. Tanks are called by their full
    names, or short ones on the same body.
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
        return self

    def ends(self, scene: Scene) -> tuple[Tank | None, Tank | None]:
        """The tanks that it comes from and goes to."""
        return _tank(scene, self, "source"), _tank(scene, self, "to")

    def states(self) -> Mapping[str, Array]:
        start = 0.0 if callable(self.rate) else self.rate
        return {"rate": as_array(start if self.flowing is None else self.flowing)}

    def effect(self, scene: Scene) -> Effect:
        source, to = self.ends(scene)
        r = scene.states[f"{self.name}.rate"]
        faster = (self._wanted(scene, source, to) - r) / self.lag
        books = _Books(scene, r, faster)
        if source is not None:
            self._check(scene, source, r)
            books.take(source, -1.0)
        if to is not None:
            books.take(to, 1.0)
        via = None if self.point is None else as_array(self.point)
        if source is not None and to is not None and source.body == to.body:
            books.stream(source.body, books.place(source), books.place(to), via)
        elif source is not None and to is not None:
            leaves = books.place(source) if via is None else (via, np.zeros(3))
            books.stream(source.body, books.place(source), leaves)
            books.hand_over(source.body, to.body, leaves, books.place(to))
        else:
            tank, sign = (source, -1.0) if source is not None else (to, 1.0)
            assert tank is not None
            books.exchange(tank, sign, via, value_of(self.velocity, scene, (3,), "velocity", f"flow {self.name!r}"))
        return books.effect()

    def _wanted(self, scene: Scene, source: Tank | None, to: Tank | None) -> Array:
        """The rate [kg/s] that is asked for, less where a tank is nearly empty or full."""
        wanted = value_of(self.rate, scene, (), "rate", f"flow {self.name!r}")
        if source is not None:
            left = source.of(scene)
            wanted = np.minimum(wanted + self.proportion * left, left / _fading(scene, source, 0))
        if to is not None and to.is_bounded:
            wanted = np.minimum(wanted, (to.capacity - to.of(scene)) / _fading(scene, to, 1))
        return np.maximum(wanted, 0.0)

    def _check(self, scene: Scene, source: Tank, r: Array) -> None:
        """What flows at the start must be there."""
        left = source.of(scene)
        if not is_traced(r, left, self.lag) and r * self.lag > left:
            raise FieldError(
                f"flow {self.name!r} starts with {r:g} kg/s, for which tank {source.name!r} with {left:g} kg is too "
                "empty; let it start with less (flowing=0.0).",
                "flowing",
            )


def pulse(mass: float, at: float, over: float) -> Tabulated:
    """A rate [kg/s] that moves a mass [kg] from the time `at` [s] on, in `over` seconds: the release of a lump."""
    top = mass / (0.75 * over)
    return Tabulated(at + over * np.array([0.0, 0.25, 0.75, 1.0]), np.array([0.0, top, top, 0.0]))


def _flows(scene: Scene) -> Iterator[tuple[str, Flow]]:
    """All flows by name, those of thrusters among them."""
    for name, element in scene.elements.items():
        if (flow := getattr(element, "flow", None)) is not None:
            yield name, flow


def _fading(scene: Scene, tank: Tank, end: int) -> Any:
    """Over how long [s] each of the flows that leave (end = 0) or enter (1) a tank fades, so that none is too late."""
    lags = [flow.lag for _, flow in _flows(scene) if flow.ends(scene)[end] is tank]
    return FADING * len(lags) * reduce(np.maximum, lags)


def gain(scene: Scene, tank: Tank) -> Array:
    """What all flows together bring into a tank [kg/s]."""
    total: Array = np.zeros(())
    for name, flow in _flows(scene):
        source, to = flow.ends(scene)
        total = total + ((to is tank) * 1.0 - (source is tank) * 1.0) * scene.states[f"{name}.rate"]
    return total


def gains(scene: Scene, body: str) -> list[tuple[Array, Inertia]]:
    """What each tank of a body gains [kg/s], and the mass properties of a kilogram of it."""
    tanks = [e for e in scene.elements.values() if isinstance(e, Tank) and e.body == body]
    return [(gain(scene, tank), tank.layer(tank.of(scene))) for tank in tanks]


Place = tuple[Array, Array]  # a point of a body, and how it moves in it


class _Books:
    """What a flow of r [kg/s] does to the bodies that it touches, term by term."""

    def __init__(self, scene: Scene, r: Array, faster: Array) -> None:
        self.scene, self.r, self.faster = scene, r, faster
        self.wrenches: dict[str, Array] = {}
        self.carried: dict[str, Array] = {}
        self.carried_rate: dict[str, Array] = {}
        self.outside: dict[str, Array] = {}
        self.mass: Array | None = None
        self.rates: dict[str, Any] = {"rate": faster}
        self.lifted: Array = np.zeros(())  # W, what the contents gain of energy where they lie

    def place(self, tank: Tank) -> Place:
        """Where mass is taken from or put to in a tank."""
        rate = tank.climb() * gain(self.scene, tank) if tank.settles else np.zeros(3)
        return tank.layer(tank.of(self.scene)).com, rate

    def take(self, tank: Tank, sign: float) -> None:
        """-G' V of a tank that gains (sign = 1) or loses (-1) mass."""
        scene, body, gained = self.scene, self.scene[tank.body], sign * self.r
        layer = tank.layer(tank.of(scene))
        self._add(self.wrenches, tank.body, -gained * layer.momentum(body.twist))
        height = scene.mechanism.gravity @ body.point(layer.com)
        self.lifted = self.lifted + gained * (layer.kinetic_energy(body.twist) - height)
        self.rates[f"{tank.name}.contents"] = gained

    def stream(self, name: str, a: Place, b: Place, via: Array | None = None) -> None:
        """ad(V)^T h - h' of a stream in a body from a to b."""
        if via is not None:
            self.stream(name, a, (via, np.zeros(3)))
            self.stream(name, (via, np.zeros(3)), b)
            return
        (x, x_rate), (y, y_rate) = a, b
        path = np.concatenate([np.cross(x, y), y - x])
        turn = np.concatenate([np.cross(x_rate, y) + np.cross(x, y_rate), y_rate - x_rate])
        h, change = self.r * path, self.faster * path + self.r * turn
        self._add(self.carried, name, h)
        self._add(self.carried_rate, name, change)
        self._add(self.wrenches, name, motion.ad_dual(self.scene[name].twist, h) - change)

    def exchange(self, tank: Tank, sign: float, via: Array | None, u: Array) -> None:
        """What leaves (sign = -1) or comes in at a point, with the velocity u relative to the body there.

        Without a point it leaves as it lies, turning with the body as the rest of it does.
        """
        V = self.scene[tank.body].twist
        if via is None:
            layer = tank.layer(tank.of(self.scene))
            w = layer.momentum(V) + _point_momentum(layer.com, u)
        else:
            w = _point_momentum(via, motion.point_velocity(V, via) + u)
            a, b = self.place(tank), (via, np.zeros(3))
            self.stream(tank.body, *((a, b) if sign < 0 else (b, a)))
        self._add(self.wrenches, tank.body, sign * self.r * w)
        self._add(self.outside, tank.body, sign * self.r * w)
        self.mass = sign * self.r

    def hand_over(self, name: str, other: str, leaves: Place, goal: Place) -> None:
        """From a point of one body, with which it moves, on to a tank of another."""
        (x, x_rate), A, B = leaves, self.scene[name], self.scene[other]
        X_BA = B.pose.inverse() @ A.pose
        w = _point_momentum(x, motion.point_velocity(A.twist, x) + x_rate)
        self._add(self.wrenches, name, -self.r * w)
        self._add(self.wrenches, other, self.r * motion.momentum_in_frame(X_BA, w))
        self.stream(other, (X_BA @ x, _drift(A, B, X_BA.R, x, X_BA @ x) + X_BA.R @ x_rate), goal)

    def effect(self) -> Effect:
        twists = {name: self.scene[name].twist for name in self.wrenches}
        stored: Array = sum((twists[name] @ h for name, h in self.carried.items()), np.zeros(()))
        work = sum((twists[name] @ F for name, F in self.wrenches.items()), self.lifted)
        work = sum((twists[name] @ change for name, change in self.carried_rate.items()), work)

        def power(m: Any) -> Array:
            return sum((m.acceleration(name) @ h for name, h in self.carried.items()), work)

        return Effect(self.wrenches, {}, stored, power, self.rates, {}, self.carried, self.outside, self.mass)

    @staticmethod
    def _add(total: dict[str, Array], name: str, x: Array) -> None:
        total[name] = total[name] + x if name in total else x


def _point_momentum(x: Array, v: Array) -> Array:
    """(x x v, v) (6,), of a kilogram at the point x with the velocity v."""
    return np.concatenate([np.cross(x, v), v])


def _drift(A: BodyState, B: BodyState, R_BA: Array, x_A: Array, x_B: Array) -> Array:
    """How the point x_A of A moves in B (3,) [m/s], in B's axes."""
    return R_BA @ motion.point_velocity(A.twist, x_A) - motion.point_velocity(B.twist, x_B)


def _tank(scene: Scene, flow: Flow, end: str) -> Tank | None:
    name = getattr(flow, end)
    if name is None:
        return None
    tank = scene.element(name, flow.body)
    if not isinstance(tank, Tank):
        raise FieldError(f"flow {flow.name!r} needs a tank; {name!r} is a {type(tank).__name__}.", end)
    return tank
