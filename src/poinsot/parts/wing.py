"""Wings: strips along the span of a rigid body, or of a beam whose bending and twist change their lift."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, get_args

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.parts.beam import Beam
from poinsot.parts.element import (
    Effect,
    Element,
    Value,
    require_finite,
    require_points,
    require_single,
    value_of,
    whole_number,
)
from poinsot.parts.scene import Scene
from poinsot.parts.strip import Panel, Section, Unsteady, chord_axes, oriented, panel_effect, require_foil
from poinsot.spatial.arrays import as_array

Side = Literal["right", "left", "both"]


@dataclass(frozen=True, eq=False)
class Wing(Element):
    """Strips from root to tip, each with the velocity and orientation of the body or beam segment that it sits on.

    On a rigid `body`: the root at `position` (3,) [m], to the `side` right, left or both, `half_span` [m] long, with
    `dihedral` [rad] up and `sweep` [rad] back of the line through the strips, and `strips` on each side. A swept strip
    stands across that line and feels the flow across it (simple sweep theory).

    On a `beam`: along its axis, with `strips` on each of its segments. So bending turns the lift, twist changes it, and
    their rates damp: divergence, reversal of ailerons and flutter come out. Sweep and dihedral are those of the beam.

    `chord` [m], `twist` [rad], nose up: numbers, pairs (root, tip), or functions of the distance y [m] from the root.
    `axis`: where the line, or the beam's axis, cuts the chord, as a share of it from the leading edge. `forward`, `up`:
    directions in the axes of the body or beam; by default x forward and z down, on a beam -y forward, as for the right
    wing of a beam yawed by 90 degrees; (0, 1, 0) for the left one. `section`, `unsteady`, `mass_lag`, `alpha_start`: as
    for a `Strip`. `aileron`: it reaches over this part of the span (from, to), as shares; `flap`, `deflection`,
    `effectiveness` as for a strip; on both sides the left one deflects the other way, unless `together`.
    """

    body: str = ""
    beam: Beam | None = None
    half_span: Annotated[float | None, "m"] = None
    chord: Annotated[Any, "m"] = 1.0
    section: Section = field(default_factory=Section)
    strips: int = 1
    side: Side = "both"
    position: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    axis: Annotated[float, "1"] = 0.25
    sweep: Annotated[float, "rad"] = 0.0
    dihedral: Annotated[float, "rad"] = 0.0
    twist: Annotated[Any, "rad"] = 0.0
    forward: Annotated[ArrayLike | None, "1"] = None
    up: Annotated[ArrayLike, "1"] = (0.0, 0.0, -1.0)
    aileron: Annotated[ArrayLike, "1"] = (0.0, 1.0)
    flap: Annotated[float, "1"] = 0.0
    deflection: Annotated[Value, "rad"] = 0.0
    effectiveness: Annotated[float, "1"] = 1.0
    together: bool = False
    unsteady: Unsteady = "none"
    alpha_start: Annotated[float, "rad"] = 0.0
    mass_lag: Annotated[float, "s"] = 1e-3

    structural: ClassVar[tuple[str, ...]] = ("strips", "aileron")
    tabled: ClassVar[tuple[str, ...]] = ("section",)

    def __post_init__(self) -> None:
        owner = f"wing {self.name!r}"
        require_points(owner, position=self.position)
        require_single(owner, sweep=self.sweep, dihedral=self.dihedral, axis=self.axis, mass_lag=self.mass_lag)
        require_finite(owner, aileron=self.aileron)
        sizes = ("chord", "mass_lag", *(["half_span"] if self.half_span is not None else []))
        require_foil(self, owner, self._forward, sizes)
        object.__setattr__(self, "strips", whole_number(owner, "strips", self.strips))
        if self.side not in get_args(Side):
            raise FieldError(f"side of {owner} must be one of {', '.join(get_args(Side))}, not {self.side!r}.", "side")
        shares = np.asarray(self.aileron, dtype=float)
        if shares.shape != (2,) or not 0 <= shares[0] < shares[1] <= 1:
            raise FieldError(
                f"aileron of {owner} goes from a share of the span to another, not {self.aileron!r}.", "aileron"
            )
        for name in ("chord", "twist"):
            value = getattr(self, name)
            if not callable(value) and not is_traced(value) and np.shape(value) not in ((), (2,)):
                raise FieldError(
                    f"{name} of {owner} must be a number, (root, tip) or a function of y, not {value!r}.", name
                )
        self._check_carrier(owner)

    def _check_carrier(self, owner: str) -> None:
        if self.beam is None:
            if self.half_span is None:
                raise FieldError(f"{owner} needs its half_span [m], or a beam=pt.Beam(...) to sit on.", "half_span")
            return
        if not isinstance(self.beam, Beam):
            raise FieldError(
                f"beam of {owner} must be a pt.Beam that was added to the world, not {self.beam!r}.", "beam"
            )
        for name in ("sweep", "dihedral"):
            if not is_traced(getattr(self, name)) and getattr(self, name) != 0:
                raise FieldError(f"{owner} sits on beam {self.beam.name!r}: the beam's placement has its {name}.", name)

    # Where the strips are.

    @property
    def _span(self) -> Any:
        """The length [m] of one side."""
        return self.half_span if self.beam is None else self.beam.length

    @property
    def _sides(self) -> tuple[float, ...]:
        """1 for the right one, -1 for the left one."""
        return (1.0,) if self.beam is not None else {"right": (1.0,), "left": (-1.0,), "both": (1.0, -1.0)}[self.side]

    @property
    def edges(self) -> Array:
        """The shares of the span where strips begin and end, on one side."""
        if self.beam is None:
            return np.linspace(0.0, 1.0, self.strips + 1)
        ends = self.beam.ends / self.beam.length
        pieces = [np.linspace(a, b, self.strips + 1)[:-1] for a, b in itertools.pairwise(ends)]
        return np.concatenate([*pieces, [1.0]])

    def bodies(self) -> tuple[str, ...]:
        return (self.body,) if self.beam is None else tuple(f"{self.beam.name}{k}" for k in range(self.beam.n))

    @property
    def count(self) -> int:
        """The number of strips."""
        return len(self._sides) * (len(self.edges) - 1)

    def panels(self, deflection: Any = 0.0) -> list[Panel]:
        """All strips, root first, the right side first."""
        span, edges, panels = self._span, self.edges, []
        for side in self._sides:
            for a, b in itertools.pairwise(edges):
                eta = 0.5 * (a + b)
                delta, c = self._deflected(deflection, a, b, side), _along(self.chord, eta, span)
                body, p, axes, c, width = self._placed(side, eta, c, (b - a) * span)
                turned = oriented(axes[0], axes[1], _along(self.twist, eta, span))
                quarter = p + (self.axis - 0.25) * c * turned[0]
                panels.append(Panel(body, quarter, *turned, c, width, self.section, self.flap, delta))
        return panels

    def _deflected(self, deflection: Any, a: float, b: float, side: float) -> Any:
        """The deflection of a strip from a to b of the span: in the share of it that the aileron covers."""
        start, end = np.asarray(self.aileron, dtype=float)
        share = max(0.0, min(b, end) - max(a, start)) / (b - a)
        return deflection * (share if self.together else share * side)

    def _placed(
        self, side: float, eta: float, chord: Any, width: Any
    ) -> tuple[str, Array, tuple[Array, Array], Any, Any]:
        """Body, point of the line, forward and right axes, chord and width of the strip at a share eta of the span."""
        forward, right = chord_axes(self._forward, self.up)
        if self.beam is not None:
            name, p = self.beam.place(eta * self.beam.length)
            return name, p, (forward, right), chord, width
        up = np.cross(right, forward)
        out = side * np.cos(self.dihedral) * right + np.sin(self.dihedral) * up
        c, s = np.cos(self.sweep), np.sin(self.sweep)
        p = as_array(self.position) + eta * self._span * (out - s / c * forward)
        axes = (c * forward + s * out, side * (c * out - s * forward))
        return self.body, p, axes, chord * c, width / c

    @property
    def _forward(self) -> Any:
        return self.forward if self.forward is not None else (1.0, 0.0, 0.0) if self.beam is None else (0.0, -1.0, 0.0)

    # At one instant.

    def states(self) -> Mapping[str, Array]:
        if self.unsteady == "none":
            return {}
        n = self.count
        return {"lag": self.alpha_start * np.ones((n, 3)), "acceleration": np.zeros((n, 2))}

    def effect(self, scene: Scene) -> Effect:
        delta = value_of(self.deflection, scene, (), "deflection", f"wing {self.name!r}") * self.effectiveness
        own = {key: scene.states[f"{self.name}.{key}"] for key in self.states()}
        wrenches: dict[str, Array] = {}
        shown, rates = [], []  # type: list[dict[str, Array]], list[dict[str, Any]]
        for k, panel in enumerate(self.panels(delta)):
            F, seen, change = panel_effect(panel, scene, self, {key: x[k] for key, x in own.items()})
            wrenches[panel.body] = wrenches[panel.body] + F if panel.body in wrenches else F
            shown.append(seen)
            rates.append(change)
        together = {key: np.stack([seen[key] for seen in shown]) for key in ("lift", "alpha")}
        return Effect(wrenches, rates=_stacked_rates(rates), shown=together)

    def units(self) -> dict[str, str]:
        return {"lift": "N", "alpha": "rad", "lag": "rad", "acceleration": "m/s^2, rad/s^2"}


def _stacked_rates(rates: list[dict[str, Any]]) -> dict[str, Any]:
    """The rates of the states of all strips."""
    if not rates[0]:
        return {}
    laws: list[Callable[[Any], Array]] = [change["acceleration"] for change in rates]
    return {
        "lag": np.stack([change["lag"] for change in rates]),
        "acceleration": lambda motion: np.stack([law(motion) for law in laws]),
    }


def _along(value: Any, eta: float, span: Any) -> Any:
    """A number, the line between (root, tip), or a function of the distance y [m], at a share eta of the span."""
    if callable(value):
        return value(eta * span)
    return value if np.ndim(value) == 0 else (1 - eta) * value[0] + eta * value[1]
