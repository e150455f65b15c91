"""Slender finned rockets: normal forces and centres of pressure of nose, fins and transitions by Barrowman's method.

J. S. Barrowman, The practical calculation of the aerodynamic characteristics of slender finned vehicles, Catholic
University of America (1967). Lengths `at` are from the tip of the nose backwards [m].
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, get_args

import numpy as np

from poinsot._errors import FieldError
from poinsot._hints import hint
from poinsot._types import Array, ArrayLike
from poinsot.fuse import Table, is_traced
from poinsot.fuse.trace.purity import steady
from poinsot.parts.aerodynamics import centre_of_mass
from poinsot.parts.element import (
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

NoseShape = Literal["cone", "ogive", "parabolic", "elliptic", "von karman"]

PRESSED_AT = {"cone": 2 / 3, "parabolic": 1 / 2, "elliptic": 1 / 3, "von karman": 1 / 2}  # of the length
SETS = {5: 2.37, 6: 2.74, 7: 2.99, 8: 3.24}  # what more than four fins bring in the plane of the flow, of one fin
SUBSONIC, SUPERSONIC = 0.8, 1.1  # between these Mach numbers the compressibility stays


@dataclass(frozen=True, eq=False)
class Nose:
    """A nose of a `length` [m], as wide at its base as the rocket. Slender body theory: CN' = 2 of the base, at
    X = L - volume/base, for a tangent ogive, a cone, a paraboloid, half an ellipsoid or a von Karman body."""

    length: Annotated[float, "m"] = 0.3
    shape: NoseShape = "ogive"

    def __post_init__(self) -> None:
        _require_positive(self, "the nose", "length")
        if self.shape not in get_args(NoseShape):
            known = get_args(NoseShape)
            words = f"shape of the nose must be one of {', '.join(known)}, not {self.shape!r}"
            raise FieldError(f"{words}{hint(str(self.shape), known)}.", "shape")

    def normal(self, diameter: Any, mach: Any) -> tuple[Any, Any]:
        """CN' [1/rad], of the base, and the place [m] where it acts."""
        L, r = self.length, 0.5 * diameter
        if self.shape != "ogive":
            return 2.0, PRESSED_AT[self.shape] * L
        rho = (L * L + r * r) / (2 * r)  # the radius of the arc
        volume = L * rho**2 - L**3 / 3 - (rho - r) * rho**2 * np.arcsin(L / rho)  # by pi
        return 2.0, L - volume / r**2


@dataclass(frozen=True, eq=False)
class Transition:
    """A cone between the diameters `fore` and `aft` [m], of a `length` [m]; a boat tail if `aft` is smaller."""

    at: Annotated[float, "m"] = 1.0
    length: Annotated[float, "m"] = 0.1
    fore: Annotated[float, "m"] = 0.1
    aft: Annotated[float, "m"] = 0.08

    def __post_init__(self) -> None:
        _require_positive(self, "a transition", "length", "fore", "aft")
        require_finite("a transition", at=self.at)
        if not is_traced(self.fore, self.aft) and self.fore == self.aft:
            raise FieldError(f"a transition from {self.fore:g} m to {self.aft:g} m is none; leave it out.", "aft")

    def normal(self, diameter: Any, mach: Any) -> tuple[Any, Any]:
        """CN' = 2 ((aft/d)^2 - (fore/d)^2) and its place."""
        ratio = self.fore / self.aft
        place = self.at + self.length / 3 * (1 + (1 - ratio) / (1 - ratio**2))
        return 2 * (self.aft**2 - self.fore**2) / diameter**2, place


@dataclass(frozen=True, eq=False)
class Fins:
    """`count` trapezoidal fins with their root chord from `at` on: `root`, `tip` chord, `span` from the body, `sweep`
    of the leading edge backwards over the span [m]; `cant` [rad]: turned so as to roll the rocket about its axis."""

    at: Annotated[float, "m"] = 1.0
    root: Annotated[float, "m"] = 0.1
    tip: Annotated[float, "m"] = 0.05
    span: Annotated[float, "m"] = 0.08
    sweep: Annotated[float, "m"] = 0.05
    count: int = 4
    cant: Annotated[Value, "rad"] = 0.0

    structural: ClassVar[tuple[str, ...]] = ("count",)  # it decides the form, and cannot be left free

    def __post_init__(self) -> None:
        _require_positive(self, "the fins", "root", "span")
        require_finite("the fins", at=self.at, sweep=self.sweep, tip=self.tip, cant=self.cant)
        if not is_traced(self.tip) and self.tip < 0:
            raise FieldError(f"tip of the fins must be zero or more [m], not {self.tip!r}.", "tip")
        if isinstance(self.count, bool) or not isinstance(self.count, int) or not 3 <= self.count <= 8:
            raise FieldError(f"count of the fins must be from 3 to 8, not {self.count!r}.", "count")

    @property
    def area(self) -> Any:
        """The area of one fin [m^2]."""
        return 0.5 * (self.root + self.tip) * self.span

    def one(self, diameter: Any, mach: Any) -> Any:
        """CN' of one fin alone, of the rocket's cross section: 2 pi AR/(2 + sqrt(4 + (b AR/cos)^2)), Diederich.

        b = sqrt(|M^2 - 1|) (Prandtl and Glauert; Ackeret).
        """
        AR = 2 * self.span**2 / self.area
        along = self.sweep + 0.5 * (self.tip - self.root)  # of the line of half chords
        cosine = self.span / np.sqrt(self.span**2 + along**2)
        slow, fast = np.minimum(mach, SUBSONIC), np.maximum(mach, SUPERSONIC)
        b = np.where(mach < SUPERSONIC, np.sqrt(1 - slow**2), np.sqrt(fast**2 - 1))
        slope = 2 * np.pi * AR / (2 + np.sqrt(4 + (b * AR / cosine) ** 2))
        return slope * self.area / (0.25 * np.pi * diameter**2)

    def normal(self, diameter: Any, mach: Any) -> tuple[Any, Any]:
        """CN' of all fins on the body, (1 + r/(s + r)) N/2 of one for up to four of them, and its place."""
        r, c, t = 0.5 * diameter, self.root, self.tip
        several = SETS.get(self.count, self.count / 2)
        place = self.at + self.sweep / 3 * (c + 2 * t) / (c + t) + (c + t - c * t / (c + t)) / 6
        return (1 + r / (self.span + r)) * several * self.one(diameter, mach), place

    def rolling(self, diameter: Any, mach: Any) -> tuple[Any, Any]:
        """Cl by the cant [1/rad], each fin's lift at its mean radius; and by p d/2V, the sum of c(y) y^2 over it."""
        r, s, c, t = 0.5 * diameter, self.span, self.root, self.tip
        one, (forced, damped) = self.one(diameter, mach), _interference(1 + s / r, t / c)
        arm = r + s / 3 * (c + 2 * t) / (c + t)
        square = ((c + 3 * t) * s**3 + 4 * (c + 2 * t) * r * s**2 + 6 * (c + t) * s * r**2) / 12
        cant = forced * self.count * arm * one / diameter
        return cant, -2 * damped * self.count * one / self.area * square / diameter**2


def _interference(tau: Any, taper: Any) -> tuple[Any, Any]:
    """The factors by which a body changes the rolling moment of canted fins, and its damping; tau = 1 + span/radius."""
    square, sine = tau * tau, np.arcsin((tau * tau - 1) / (tau * tau + 1))
    once, whole = (tau + 1) / (tau * (tau - 1)), (square + 1) ** 2 / (square * (tau - 1) ** 2)
    forced = 0.25 * np.pi**2 * (tau + 1) ** 2 / square + np.pi * whole * sine - 2 * np.pi * once
    forced = forced + whole * sine**2 - 4 * once * sine + 8 / (tau - 1) ** 2 * np.log((square + 1) / (2 * tau))
    above = (tau - taper) / tau - (1 - taper) / (tau - 1) * np.log(tau)
    below = 0.5 * (tau + 1) * (tau - taper) - (1 - taper) * (tau**3 - 1) / (3 * (tau - 1))
    return forced / np.pi**2, 1 + above / below


@dataclass(frozen=True, eq=False)
class Barrowman(Element):
    """A rocket of a `diameter` [m], A = pi d^2/4: each part has a normal force at its own place, by the flow there,

        N = rho/2 V^2 A CN' sin(alpha),    and all of it the drag rho/2 V^2 A CD along the axis

    so that the rocket's rotation is damped. `tip` (3,) [m]: the point of the nose, `axis` (3,): forwards, in body axes.
    `drag`: CD, a number, a function of the Mach number, or a table over it. `fins` and `transitions`: one or several.
    """

    body: str = ""
    diameter: Annotated[float, "m"] = 0.1
    nose: Nose | None = None
    fins: Any = ()
    transitions: Any = ()
    drag: Annotated[Any, "1"] = 0.0
    tip: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    axis: Annotated[ArrayLike, "1"] = (1.0, 0.0, 0.0)

    tabled: ClassVar[tuple[str, ...]] = ("nose", "fins", "transitions")

    def __post_init__(self) -> None:
        owner = f"rocket {self.name!r}"
        _require_positive(self, owner, "diameter")
        require_points(owner, tip=self.tip, axis=self.axis)
        if not is_traced(self.axis) and not np.any(as_array(self.axis)):
            raise FieldError(f"axis of {owner} must point forwards; it is zero.", "axis")
        for key, kind in (("nose", Nose), ("fins", Fins), ("transitions", Transition)):
            for part in _several(getattr(self, key)):
                if not isinstance(part, kind):
                    raise FieldError(f"{key} of {owner} must be made of pt.{kind.__name__}, not {part!r}.", key)
        if isinstance(self.drag, Table) and (len(self.drag.axes) > 1 or self.drag.shape):
            raise FieldError(
                f"drag of {owner} is a table over {len(self.drag.axes)} axes; it needs Mach alone.", "drag"
            )
        require_single(owner, drag=self.drag)
        require_not_negative(owner, drag=self.drag)
        if (
            not self.parts
            and not callable(self.drag)
            and not is_traced(self.drag)
            and np.all(np.asarray(self.drag) == 0)
        ):
            raise FieldError(f"{owner} has neither parts nor drag; give it a nose=pt.Nose(...), fins=...", "nose")

    @property
    def parts(self) -> tuple[Any, ...]:
        """Its parts that have a normal force."""
        return (*_several(self.nose), *_several(self.transitions), *_several(self.fins))

    def centre_of_pressure(self, mach: Any = 0.0) -> tuple[Any, Any]:
        """CN' [1/rad] of the whole rocket, and its place [m] behind the tip."""
        pairs = [part.normal(self.diameter, mach) for part in self.parts]
        total = sum(slope for slope, _ in pairs)
        return total, sum(slope * place for slope, place in pairs) / total

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def effect(self, scene: Scene) -> Effect:
        n = as_array(self.axis) / np.sqrt(as_array(self.axis) @ as_array(self.axis))
        A, m, f = 0.25 * np.pi * self.diameter**2, np.zeros(3), np.zeros(3)
        air = scene.air(self.body, centre_of_mass(scene, self.body, self.name))
        for part in self.parts:
            slope, place = part.normal(self.diameter, air.mach)
            p = as_array(self.tip) - place * n
            flow = scene.air(self.body, p)
            across = flow.velocity - (flow.velocity @ n) * n
            force = -0.5 * flow.density * A * slope * flow.airspeed * across
            f, m = f + force, m + np.cross(p, force)
            if isinstance(part, Fins):
                m = m + self._roll(part, scene, flow, n, A)
        drag = -0.5 * air.density * A * self._drag(air.mach) * air.airspeed * (air.velocity @ n) * n
        f, m = f + drag, m + np.cross(as_array(self.tip), drag)
        shown = {"force": f, "angle": _angle(air.velocity, n)}
        return Effect({self.body: np.concatenate([m, f])}, shown=shown)

    def _roll(self, fins: Fins, scene: Scene, flow: Any, n: Array, A: Any) -> Array:
        """The moment (3,) of canted fins about the axis, and its damping."""
        cant = value_of(fins.cant, scene, (), "cant", f"rocket {self.name!r}")
        by_cant, by_rate = fins.rolling(self.diameter, flow.mach)
        d, V = self.diameter, flow.airspeed
        return 0.5 * flow.density * A * d * V * (by_cant * cant * V + by_rate * 0.5 * d * (flow.rates @ n)) * n

    def _drag(self, mach: Array) -> Any:
        if isinstance(self.drag, Table):
            return self.drag(mach)
        return steady(self.drag, mach, role=f"drag of rocket {self.name!r}") if callable(self.drag) else self.drag

    def units(self) -> dict[str, str]:
        return {"force": "N", "angle": "rad"}


def _angle(v: Array, n: Array) -> Array:
    """The angle [rad] between the velocity through the air and the axis; 0 at rest."""
    across = v - (v @ n) * n
    square, along = across @ across, v @ n
    still = square < 1e-18
    return np.where(still, 0.0, np.arctan2(np.sqrt(np.where(still, 1.0, square)), along))


def _several(parts: Any) -> tuple[Any, ...]:
    return () if parts is None else tuple(parts) if isinstance(parts, (tuple, list)) else (parts,)


def _require_positive(item: Any, owner: str, *names: str) -> None:
    """An error that names the number among these fields that is not above zero."""
    for name in names:
        value: Any = getattr(item, name)
        require_finite(owner, **{name: value})
        if not is_traced(value) and (np.shape(value) != () or not float(value) > 0):
            raise FieldError(f"{name} of {owner} must be above zero, not {value!r}.", name)
