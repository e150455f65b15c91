"""Strips: pieces of a wing with the polar of their aerofoil, which move and turn with what carries them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import Table, is_traced
from poinsot.fuse.trace.purity import steady
from poinsot.parts.element import (
    Dynamics,
    Effect,
    Element,
    Value,
    require_finite,
    require_not_negative,
    require_points,
    require_single,
    value_of,
)
from poinsot.parts.scene import Scene
from poinsot.spatial.arrays import as_array

Unsteady: TypeAlias = Literal["none", "wagner"]

# Wagner's function is about 1 - sum A exp(-b s), s in half chords. These three terms are within 0.005 of Theodorsen's
# function at all frequencies; the two of Jones, NACA Report 681, are within 0.015.
WAGNER = np.array([0.0554, 0.2649, 0.1797]), np.array([0.0176, 0.1226, 0.4737])
FASTEST = 0.8  # the Mach number from which Prandtl and Glauert's factor stays
STILL = 1e-9  # m/s


@dataclass(frozen=True, eq=False)
class Section:
    """An aerofoil: CL, CD and Cm about the quarter chord, of the angle of attack [rad] and the Mach number.

        CL = lift_slope (alpha - zero_lift) k,   CD = drag + induced CL^2,   Cm = moment k,   k = 1/sqrt(1 - M^2)

    k is Prandtl and Glauert's factor, 1 unless `compressible`; from Mach 0.8 on it stays. Beyond the angle `stall`
    [rad], within some `stall_width`, the flow separates: a flat plate with the normal force 2 sin^2 alpha at half
    chord. Without `stall` it never does. `polar`: a table of one's own over alpha, or alpha and Mach number, with the
    three outputs CL, CD, Cm; or a function (alpha, mach) -> (CL, CD, Cm). Then the rest does not count.
    Beard and McLain, Small Unmanned Aircraft, section 4.2.
    """

    lift_slope: Annotated[float, "1/rad"] = 2 * np.pi
    zero_lift: Annotated[float, "rad"] = 0.0
    drag: Annotated[float, "1"] = 0.0
    induced: Annotated[float, "1"] = 0.0
    moment: Annotated[float, "1"] = 0.0
    stall: Annotated[float | None, "rad"] = None
    stall_width: Annotated[float, "rad"] = 0.02
    compressible: bool = False
    polar: Table | Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        names = ("lift_slope", "zero_lift", "drag", "induced", "moment", "stall_width")
        require_single("a section", **{name: getattr(self, name) for name in names})
        require_not_negative("a section", drag=self.drag, induced=self.induced)
        for name, value in (("stall", self.stall), ("stall_width", self.stall_width)):
            if value is not None and not is_traced(value) and not 0 < value < np.inf:
                raise FieldError(f"{name} of a section must be above zero [rad], not {value!r}.", name)
        if isinstance(self.polar, Table) and (self.polar.shape != (3,) or len(self.polar.axes) > 2):
            words = f"{len(self.polar.axes)} axes and values of shape {self.polar.shape}"
            raise FieldError(f"polar of a section has {words}; it needs alpha, or alpha and mach, and (3,).", "polar")
        if self.polar is not None and not callable(self.polar):
            raise FieldError(f"polar of a section must be a table or a function, not {self.polar!r}.", "polar")

    def coefficients(self, alpha: Array, mach: Array) -> tuple[Array, Array, Array]:
        """CL, CD, Cm at an angle of attack [rad] and a Mach number."""
        if isinstance(self.polar, Table):
            CL, CD, Cm = self.polar(*(alpha, mach)[: len(self.polar.axes)])
            return CL, CD, Cm
        if self.polar is not None:
            CL, CD, Cm = steady(self.polar, alpha, mach, role="polar of a section")
            return CL, CD, Cm
        k = 1 / np.sqrt(1 - np.minimum(mach, FASTEST) ** 2) if self.compressible else 1.0
        CL, Cm = k * self.lift_slope * (alpha - self.zero_lift), k * self.moment
        CD = self.drag + self.induced * CL * CL
        if self.stall is None:
            return CL, CD, as_array(Cm)
        s = np.sin(alpha)
        plate, width = 2 * s * np.abs(s), 2 * self.stall_width  # the normal force of the plate, with its sign
        apart = 1 + 0.5 * (np.tanh((alpha - self.stall) / width) - np.tanh((alpha + self.stall) / width))
        flat = (plate * np.cos(alpha), self.drag + plate * s, -0.25 * plate)
        CL, CD, Cm = (x + apart * (y - x) for x, y in zip((CL, CD, Cm), flat, strict=True))
        return CL, CD, Cm


@dataclass(frozen=True, eq=False)
class Panel:
    """A strip with all its numbers, on a body: quarter-chord point p (3,) [m], unit vectors forward, right and down
    (3,) of its chord line, chord and width [m], flap deflection [rad] with the flap's share of the chord."""

    body: str
    p: Array
    forward: Array
    right: Array
    down: Array
    chord: Array
    width: Array
    section: Section
    flap: Any = 0.0
    deflection: Any = 0.0


def oriented(forward: Array, right: Array, twist: Any) -> tuple[Array, Array, Array]:
    """The chord's forward, right and down directions, turned nose up by the twist [rad]."""
    down, c, s = np.cross(forward, right), np.cos(twist), np.sin(twist)
    return c * forward - s * down, right, c * down + s * forward


@dataclass(frozen=True, eq=False)
class Flowing:
    """The flow at a panel: u forward and w down [m/s] at the quarter chord, relative to the air; q [rad/s] nose up."""

    air: Any
    u: Array
    w: Array
    q: Array

    @property
    def speed(self) -> Array:
        """sqrt(u^2 + w^2) [m/s], with the derivative 0 at rest."""
        square = self.u * self.u + self.w * self.w
        still = square < STILL**4
        return np.where(still, 0.0, np.sqrt(np.where(still, 1.0, square)))

    def alpha(self, chord: Any) -> Array:
        """The angle of attack [rad] at three quarters of the chord, where thin aerofoils feel their rotation."""
        w = self.w + 0.5 * chord * self.q
        return np.arctan2(w, np.where(self.u * self.u + w * w < STILL**2, 1.0, self.u))


def met(panel: Panel, scene: Scene, point: Any = None) -> Flowing:
    """The flow past a panel; point: p as it was given, so that it is looked up once."""
    air = scene.air(panel.body, panel.p if point is None else point)
    return Flowing(air, air.velocity @ panel.forward, air.velocity @ panel.down, air.rates @ panel.right)


def loads(panel: Panel, flow: Flowing, alpha: Array, change: Array) -> tuple[Array, dict[str, Array]]:
    """F_B (6,) on the body of a panel, and what is shown of it.

    L = rho/2 S V^2 CL across the flow, D = rho/2 S V^2 CD along it, at the quarter chord; the couple rho/2 S V^2 c Cm;
    and what accelerates the air: pi rho c^2/4 per width times `change` (2,), the rates of w at half chord and of q.
    """
    p, c, S, V = panel.p, panel.chord, panel.chord * panel.width, flow.speed
    tau, moment = flap_derivatives(panel.flap)
    CL, CD, Cm = panel.section.coefficients(alpha + tau * panel.deflection, flow.air.mach)
    Cm = Cm + moment * panel.deflection
    k = 0.5 * flow.air.density * S * V
    f = k * (CL * (flow.w * panel.forward - flow.u * panel.down) - CD * (flow.u * panel.forward + flow.w * panel.down))
    added = 0.25 * np.pi * flow.air.density * c * c * panel.width
    m = k * V * c * Cm - 0.25 * added * c * flow.u * flow.q - added * c * c / 32 * change[1]
    behind = -added * change[0] * panel.down
    half = p - 0.25 * c * panel.forward
    F = np.concatenate([np.cross(p, f) + np.cross(half, behind) + m * panel.right, f + behind])
    return F, {"lift": k * V * CL, "alpha": alpha, "force": f + behind}


def flap_derivatives(share: Any) -> tuple[Any, Any]:
    """How much a flap's deflection adds to the angle of attack, and to Cm, by thin aerofoil theory (Glauert).

    tau = 1 - (theta - sin theta)/pi,  dCm = -sin theta (1 - cos theta)/2,  cos theta = 2 share - 1
    """
    if not is_traced(share) and np.ndim(share) == 0 and float(share) == 0.0:
        return 0.0, 0.0
    theta = np.arccos(2 * share - 1)
    return 1 - (theta - np.sin(theta)) / np.pi, -0.5 * np.sin(theta) * (1 - np.cos(theta))


def wake(alpha: Array, lag: Array) -> Array:
    """The angle of attack behind which the wake of vortices lags: (1 - sum A) alpha + sum A lag."""
    A = WAGNER[0]
    return (1 - A.sum()) * alpha + A @ lag


def wake_rates(alpha: Array, lag: Array, flow: Flowing, chord: Any) -> Array:
    """d(lag)/dt = b_i 2V/c (alpha - lag): Wagner's function as states."""
    return WAGNER[1] * (2 * flow.speed / chord) * (alpha - lag)


def accelerations_of(panel: Panel, flow: Flowing) -> Callable[[Dynamics], Array]:
    """The rates (2,) of w at half chord [m/s^2], in air that does not accelerate, and of q [rad/s^2]."""

    def rates(motion: Dynamics) -> Array:
        V, A = motion.scene[panel.body].twist, motion.acceleration(panel.body)
        r = panel.p - 0.25 * panel.chord * panel.forward
        moved = V[3:] + np.cross(V[:3], panel.p) - flow.air.velocity  # of the air, in body axes
        change = A[3:] + np.cross(A[:3], r) + np.cross(V[:3], moved)
        return np.stack([change @ panel.down, A[:3] @ panel.right])

    return rates


@dataclass(frozen=True, eq=False)
class Strip(Element):
    """A piece of a wing or tail on a body, with its quarter chord at a `point` (3,) [m]: lift, drag and moment of a
    `section`, by the velocity and rotation of that body, or segment of a beam, through the air.

    `chord`, `width` [m]; `forward` and `up`: directions (3,) in body axes, along the chord and out of its upper side;
    `twist` [rad]: nose up. `flap`: its share of the chord, with a `deflection` [rad], trailing edge down: a number,
    `Input`, `Signal` or function; its effect is that of thin aerofoil theory times `effectiveness`.

    unsteady="wagner": the lift lags behind as the wake rolls off (three states, for Wagner's function, which is that of
    Theodorsen for any motion), and the air that moves with the strip has mass. The acceleration of
    that air is a state as well: it follows the true one with `mass_lag` [s]. `alpha_start` [rad]: the angle of attack
    before t = 0. Bisplinghoff, Ashley and Halfman, Aeroelasticity, chapter 5.
    """

    body: str = ""
    point: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    chord: Annotated[float, "m"] = 1.0
    width: Annotated[float, "m"] = 1.0
    section: Section = field(default_factory=Section)
    forward: Annotated[ArrayLike, "1"] = (1.0, 0.0, 0.0)
    up: Annotated[ArrayLike, "1"] = (0.0, 0.0, -1.0)
    twist: Annotated[float, "rad"] = 0.0
    flap: Annotated[float, "1"] = 0.0
    deflection: Annotated[Value, "rad"] = 0.0
    effectiveness: Annotated[float, "1"] = 1.0
    unsteady: Unsteady = "none"
    alpha_start: Annotated[float, "rad"] = 0.0
    mass_lag: Annotated[float, "s"] = 1e-3

    tabled: ClassVar[tuple[str, ...]] = ("section",)

    def __post_init__(self) -> None:
        owner = f"strip {self.name!r}"
        require_points(owner, point=self.point)
        require_single(owner, chord=self.chord, width=self.width, twist=self.twist, mass_lag=self.mass_lag)
        require_foil(self, owner, self.forward, ("chord", "width", "mass_lag"))

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def states(self) -> Mapping[str, Array]:
        if self.unsteady == "none":
            return {}
        return {"lag": self.alpha_start * np.ones(3), "acceleration": np.zeros(2)}

    def effect(self, scene: Scene) -> Effect:
        panel = self._patch(scene)
        F, shown, rates = panel_effect(panel, scene, self, {k: scene.states[f"{self.name}.{k}"] for k in self.states()})
        return Effect({self.body: F}, rates=rates, shown=shown)

    def _patch(self, scene: Scene) -> Panel:
        forward, right = chord_axes(self.forward, self.up)
        delta = value_of(self.deflection, scene, (), "deflection", f"strip {self.name!r}") * self.effectiveness
        axes = oriented(forward, right, self.twist)
        return Panel(self.body, as_array(self.point), *axes, self.chord, self.width, self.section, self.flap, delta)  # type: ignore[arg-type]

    def units(self) -> dict[str, str]:
        return {"lift": "N", "alpha": "rad", "force": "N", "lag": "rad", "acceleration": "m/s^2, rad/s^2"}


def panel_effect(
    panel: Panel, scene: Scene, owner: Any, states: Mapping[str, Array]
) -> tuple[Array, dict[str, Array], dict[str, Any]]:
    """F_B (6,) on the body of a panel, what is shown of it, and the rates of its states."""
    flow = met(panel, scene)
    alpha = flow.alpha(panel.chord)
    if owner.unsteady == "none":
        return *loads(panel, flow, alpha, np.zeros(2)), {}
    lag, change = states["lag"], states["acceleration"]
    F, shown = loads(panel, flow, wake(alpha, lag), change)
    true = accelerations_of(panel, flow)
    rates = {
        "lag": wake_rates(alpha, lag, flow, panel.chord),
        "acceleration": lambda motion: (true(motion) - change) / owner.mass_lag,
    }
    return F, shown, rates


def chord_axes(forward: Any, up: Any) -> tuple[Array, Array]:
    """Unit vectors forward, and to the right across the upper side."""
    f, u = as_array(forward), as_array(up)
    f = f / np.sqrt(f @ f)
    r = np.cross(f, u)
    return f, r / np.sqrt(r @ r)


def require_foil(element: Any, owner: str, forward: Any, positive: tuple[str, ...]) -> None:
    """An error that names what is wrong with a strip or wing."""
    for name in positive:
        value = getattr(element, name)
        require_finite(owner, **{name: value})
        if not callable(value) and not is_traced(value) and not np.all(np.asarray(value, dtype=float) > 0):
            raise FieldError(f"{name} of {owner} must be above zero, not {value!r}.", name)
    require_finite(owner, twist=element.twist)
    require_single(owner, **{k: getattr(element, k) for k in ("deflection", "effectiveness", "alpha_start", "flap")})
    if not is_traced(element.flap) and not 0 <= element.flap <= 1:
        raise FieldError(f"flap of {owner} is its share of the chord, from 0 to 1, not {element.flap!r}.", "flap")
    if element.unsteady not in get_args(Unsteady):
        raise FieldError(f"unsteady of {owner} must be 'none' or 'wagner', not {element.unsteady!r}.", "unsteady")
    if not isinstance(element.section, Section):
        raise FieldError(f"section of {owner} must be a pt.Section, not {element.section!r}.", "section")
    if not is_traced(forward, element.up):
        require_points(owner, forward=forward, up=element.up)
        if np.linalg.norm(np.cross(forward, element.up)) < 1e-6:
            raise FieldError(f"forward and up of {owner} are parallel; up goes out of the upper side.", "up")
