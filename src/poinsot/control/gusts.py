"""Turbulence in a world: Dryden gusts and rotations of the air around an aircraft, from reproducible noise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.control import noise
from poinsot.control.controller import TAKEN, Answer, Block
from poinsot.environment.air_mass import earth_of
from poinsot.environment.dryden import gust_filters, roll_filter, turbulence
from poinsot.fuse import is_traced
from poinsot.parts.element import require_not_negative
from poinsot.parts.scene import BodyState, Scene

SLOWEST = 5.0  # m/s: turbulence drifts past a slower aircraft at this speed


@dataclass(frozen=True, eq=False)
class Dryden(Block):
    """Turbulence of MIL-F-8785C around an aircraft: `pt.World(air=..., wind=pt.Dryden(wind_at_6m=8.0, span=11.0))`.

    `wind_at_6m` [m/s] sets the strength below 1000 ft above the ground, `severity` that above 2000 ft: "light",
    "moderate", "severe", or a probability of exceedance from 2e-1 to 1e-6 of figure 7; in between it is mixed. The
    `body` whose airspeed, height and axes count is the first one of the world, if none is named. `span` [m] is that of
    its wing.

    Every `sample` [s] the gusts u, v, w [m/s] and the rotations of the air p, q, r [rad/s], in the body's axes, are
    drawn by the exact transition of the filters of `poinsot.environment.dryden` over that time, those of q and r for
    gusts that are linear between samples: unit variables e, with
    theta = sample V/L and a = exp(-theta),

        u = sigma_u e,   e+ = a e + sqrt(1 - a^2) n;      p likewise with its own length 4 span/pi
        w = sigma_w (sqrt(3) e1 + (1 - sqrt(3)) e2)/sqrt(2),   e1' = (-e1 + noise) V/L,  e2' = (e1 - e2) V/L;   v too
        q = -w'/V filtered over 4 span/pi,   r = v'/V filtered over 3 span/pi

    so variance and spectrum are those of the standard from the start on. They are held until the next sample. Every
    point of every body meets u, v, w + (p, q, r) x (its place relative to the body): wings meet the gradient of gusts.
    The noise is a function of the name, the `seed`, the `instance` and the number of the sample, as for a `Sensor`.
    """

    structural: ClassVar[tuple[str, ...]] = ("sample", "delay", "severity")

    name: str = "turbulence"
    body: str = ""
    wind_at_6m: Annotated[float, "m/s"] = 0.0
    severity: str | float = "light"
    span: Annotated[float, "m"] = 10.0
    seed: float = 0.0
    instance: float = 0.0
    sample: Annotated[float | None, "s"] = field(default=0.02, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = f"turbulence {self.name!r}"
        require_not_negative(owner, wind_at_6m=self.wind_at_6m)
        if self.sample is None:
            raise FieldError(f"{owner} is drawn at samples; give it a sample time [s].", "sample")
        if not is_traced(self.span) and not 0 < self.span < np.inf:
            raise FieldError(f"span of {owner} must be above zero [m], not {self.span!r}.", "span")
        turbulence(0.0, 0.0, self.severity)  # an error if it is unknown

    def bodies(self) -> tuple[str, ...]:
        return (self.body,) if self.body else ()

    def memory_at_start(self) -> Mapping[str, Array]:
        """e of u, p (2,); e1 of v, w (2,); e2 of v, w (2,); v, w behind the filters of r and q (2,)."""
        return {"once": np.zeros(2), "first": np.zeros(2), "second": np.zeros(2), "behind": np.zeros(2)}

    def outputs_at_start(self) -> Mapping[str, Array]:
        return {"gust": np.zeros(3), "rates": np.zeros(3)}

    def reference(self, scene: Scene) -> BodyState:
        """The body around which it is drawn."""
        return scene[self.body or scene.bodies[0]]

    def answer(self, scene: Scene, memory: Mapping[str, Array]) -> Answer:
        h: Any = self.sample
        state = self.reference(scene)
        V = self._airspeed(scene, state)
        strength = turbulence(scene.ground(state.position).clearance, self.wind_at_6m, self.severity)
        filters, roll = gust_filters(strength, V), roll_filter(strength, V, self.span)
        n, first = self._normal(scene), scene.states[f"{self.name}.{TAKEN}"] == 0
        once = _once(h / np.stack([filters["u"].T1, roll.T1]), memory["once"], n[:2], first)
        theta = h / np.stack([filters["v"].T1, filters["w"].T1])
        e1, e2 = _twice(theta, memory["first"], memory["second"], n[2:4], n[4:], first)
        sigma, root = np.stack([strength.sigma_v, strength.sigma_w]), np.sqrt(3.0)
        across = sigma * (root * e1 + (1 - root) * e2) / np.sqrt(2.0)
        T = np.stack([3.0, 4.0]) * self.span / (np.pi * V)
        behind = _followed(h / T, memory["behind"], scene.states[f"{self.name}.gust"][1:], across)
        behind = np.where(first, across, behind)
        r, q = np.stack([1.0, -1.0]) * (across - behind) / (T * V)
        gust = np.stack([strength.sigma_u * once[0], across[0], across[1]])
        rates = np.stack([roll.K / np.sqrt(2 * roll.T1) * once[1], q, r])
        return {"gust": gust, "rates": rates}, {"once": once, "first": e1, "second": e2, "behind": behind}

    def at(self, scene: Scene, p: Array) -> tuple[Array, Array]:
        """The gust (3,) [m/s] at p (3,) [m] and the rotation of the air (3,) [rad/s], in the axes of the world."""
        state = self.reference(scene)
        gust, rates = (state.pose.R @ scene.states[f"{self.name}.{key}"] for key in ("gust", "rates"))
        return gust + np.cross(rates, p - state.position), rates

    def _airspeed(self, scene: Scene, state: BodyState) -> Array:
        """The speed [m/s] through the air as it would be without turbulence."""
        air: Any = scene.elements.get("air")
        if air is None:
            raise FieldError(f"turbulence {self.name!r} needs air; give the world air=pt.US76().", "air")
        v = state.velocity - air.velocity(earth_of(scene), scene.t, state.position)
        return np.sqrt(v @ v + SLOWEST**2 * np.exp(-(v @ v) / SLOWEST**2))

    def _normal(self, scene: Scene) -> Array:
        key = noise.key(self.name, self.seed, self.instance)
        numbers: Array = noise.normal(key, scene.states[f"{self.name}.{TAKEN}"], 6)
        return numbers

    def units(self) -> dict[str, str]:
        return {**super().units(), "gust": "m/s", "rates": "rad/s", "behind": "m/s"}


def _once(theta: Array, e: Array, n: Array, first: Any) -> Array:
    """e after theta time constants of first order, driven by noise; at the first sample, a draw."""
    return np.where(first, n, np.exp(-theta) * e + np.sqrt(-np.expm1(-2 * theta)) * n)


def _twice(theta: Array, e1: Array, e2: Array, n1: Array, n2: Array, first: Any) -> tuple[Array, Array]:
    """e1, e2 after theta time constants: e+ = Phi e + chol(P - Phi P Phi^T) n, P the covariance that they keep."""
    a = np.exp(-theta)
    lost = -np.expm1(-2 * theta)
    Q12, Q22 = 0.5 * lost - a * a * theta, 0.5 * lost - a * a * (theta * theta + theta)
    l11 = np.sqrt(lost)
    l21 = Q12 / l11
    l22 = np.sqrt(np.maximum(Q22 - l21 * l21, 0.0))
    new1, new2 = a * e1 + l11 * n1, a * (theta * e1 + e2) + l21 * n1 + l22 * n2
    return np.where(first, n1, new1), np.where(first, 0.5 * (n1 + n2), new2)


def _followed(theta: Array, y: Array, x0: Array, x1: Array) -> Array:
    """y after theta time constants of y' = x - y, exact for an x that goes from x0 to x1 in a straight line."""
    mean = -np.expm1(-theta) / theta
    return np.exp(-theta) * y + (mean - np.exp(-theta)) * x0 + (1 - mean) * x1


def apart(wind: Any) -> tuple[Any, list[Dryden]]:
    """The winds that are functions of time and place, and turbulence, which has states."""
    if isinstance(wind, Dryden):
        return None, [wind]
    if not isinstance(wind, (tuple, list)) or not any(isinstance(x, Dryden) for x in wind):
        return wind, []
    return [x for x in wind if not isinstance(x, Dryden)] or None, [x for x in wind if isinstance(x, Dryden)]
