"""The plots of a world that need many trims instead of one run: envelope, turns, V-n, root locus, flutter, Bode."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._fields import units_of
from poinsot._hints import hint
from poinsot._types import Array
from poinsot.cli.screen import complain

if TYPE_CHECKING:
    from poinsot.files.scenario import Scenario
    from poinsot.study.linear import Linear
    from poinsot.study.trimmed import Trim
    from poinsot.world import Description, World

CONDITIONS = {"turn_rate": ("rad/s",), "pitch_rate": ("rad/s",), "load_factor": ("1",)}
WORDS = ("trim", "free", "zero", "body", "output", "input", "below")  # of --with, beside conditions and numbers
OVER = "--over NAME=FIRST:LAST:COUNT"
DESIGN = {
    "weight": "N", "area": "m^2", "chord": "m", "lift_slope": "1", "least_lift": "1", "most_lift": "1",
    "least_load": "1", "most_load": "1", "cruise": "m/s", "dive": "m/s", "altitude": "m",
}  # fmt: skip
G_0 = 9.80665


@dataclass(frozen=True, eq=False)
class Question:
    """The request to a world: rows of numbers by name (--over), and words and numbers (--with)."""

    world: "World"
    over: Mapping[str, Array]
    given: Mapping[str, Any]
    scenario: "Scenario | None" = None

    @property
    def kind(self) -> str:
        """The kind of trim: the one asked for, that of the scenario, level flight of what flies, else rest."""
        if "trim" in self.given:
            return str(self.given["trim"])
        if self.scenario is not None and self.scenario.trim is not None:
            return self.scenario.trim.kind
        from poinsot.world import Start

        starts = [body.start for body in self.world.description.bodies.values()]
        return "level" if any(isinstance(s, Start) and (s.airspeed or s.mach) for s in starts) else "rest"

    def asked(self, kind: str) -> dict[str, Any]:
        """The conditions for `world.trim`: those of the scenario, if it is of the same kind, and --with."""
        made = self.scenario.trim.made if self.scenario is not None and self.scenario.trim is not None else None
        asked: dict[str, Any] = {}
        if made is not None and made.kind == kind:
            asked = {"free": made.free, "zero": made.zero, "body": made.body, "hold": dict(made.hold)}
        asked |= {key: self.given[key] for key in ("free", "zero", "body") if key in self.given}
        hold = {**asked.pop("hold", {}), **{k: x for k, x in self.given.items() if k not in WORDS}}
        return {**asked, "hold": {name: x for name, x in hold.items() if name not in self.over}}

    def rows(self, *allowed: Sequence[str]) -> list[tuple[str, Array]]:
        """The rows, one of each of these groups of names; an error if one is missing or of no use."""
        names = [next((name for name in self.over if name in group), None) for group in allowed]
        if strange := [name for name in self.over if name not in names]:
            raise ValueError(f"--over {strange[0]}: this plot goes over {' and '.join(map(' or '.join, allowed))}.")
        if missing := [group for group, name in zip(allowed, names, strict=True) if name is None]:
            raise ValueError(f"{' or '.join(missing[0])} is missing; give {OVER.replace('NAME', missing[0][0])}.")
        return [(name, self.over[name]) for name in names if name is not None]


def question(world: "World", over: Sequence[str], given: Sequence[str], scenario: "Scenario | None" = None) -> Question:
    """The request of --over and --with to a world, checked."""
    from poinsot.files.varied import varied

    rows: dict[str, Array] = {}
    for name, text in _pairs("--over", over):
        try:
            row: Any = varied(name, text, world.description, _units(name, world.description))
        except ValueError as error:
            raise ValueError(f"--over {name}={text}: {str(error).rstrip('.')}.") from None
        if callable(row) or np.ndim(row) != 1 or not np.size(row):
            raise ValueError(f'--over {name}={text}: give a row of numbers, "first:last:count" or "[a, b, ...]".')
        rows[name] = row
    return Question(world, rows, {k: _given(k, x, world.description) for k, x in _pairs("--with", given)}, scenario)


def _pairs(option: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise ValueError(f"{option} {text}: expected NAME=VALUE.")
        if name.strip() in dict(pairs):
            raise ValueError(f"{option} {name.strip()} is given twice.")
        pairs.append((name.strip(), value.strip()))
    return pairs


def _given(name: str, text: str, description: "Description") -> Any:
    """The value of a word, or of a number with its unit."""
    from poinsot.files.units import to_si

    if name in ("free", "zero"):
        return tuple(filter(None, (word.strip() for word in text.split(","))))
    if name in WORDS and name != "below":
        return text
    try:
        return to_si(text, ("rad/s",) if name == "below" else _units(name, description))
    except ValueError as error:
        raise ValueError(f"--with {name}={text}: {str(error).rstrip('.')}.") from None


def _units(name: str, description: "Description") -> tuple[str, ...]:
    """The SI units of a condition of flight, of a number of the design, or of a number of the world."""
    from poinsot.world import Start
    from poinsot.world.dimensions import units_at

    if name in description.inputs:
        return ()
    known = {**{k: (u,) for k, u in DESIGN.items()}, **CONDITIONS, **units_of(Start)}
    return known[name] if name in known else units_at(name, description)


# The plots.


def envelope(asked: Question) -> Any:
    """Speeds and altitudes at which it can fly."""
    from poinsot.show.envelope_plots import plot_envelope
    from poinsot.study.envelopes import envelope

    (speed, speeds), (_, altitudes) = asked.rows(("airspeed", "mach"), ("altitude",))
    kind = asked.kind
    return plot_envelope(envelope(asked.world, speeds, altitudes, kind, speed, **asked.asked(kind)))


def turns(asked: Question) -> Any:
    """Level turns."""
    from poinsot.show.envelope_plots import plot_turns
    from poinsot.study.envelopes import turn_performance

    loads = asked.over.get("load_factor")
    rest = {name: x for name, x in asked.over.items() if name != "load_factor"}
    ((_, speeds),) = Question(asked.world, rest, asked.given).rows(("airspeed",))
    options = {k: x for k, x in asked.asked("turn").items() if k != "hold"}
    hold = {k: x for k, x in asked.asked("turn")["hold"].items() if k not in ("load_factor", "turn_rate", "roll")}
    return plot_turns(turn_performance(asked.world, speeds, loads, hold=hold, **options))


def vn(asked: Question) -> Any:
    """The V-n diagram; weight, area and chord are those of the world unless they are given."""
    from poinsot.show.envelope_plots import plot_vn
    from poinsot.study.gust_loads import vn_diagram

    if asked.over:
        raise ValueError("vn goes from 0 to the dive speed by itself; it takes --with, and no --over.")
    if strange := [name for name in asked.given if name not in DESIGN]:
        raise ValueError(f"--with {strange[0]}: not a number of a V-n diagram{hint(strange[0], DESIGN)}.")
    numbers = {"altitude": 0.0, **_of_design(asked.world), **asked.given}
    if missing := [f"{name} [{unit}]" for name, unit in DESIGN.items() if name not in numbers]:
        raise ValueError(f"a V-n diagram needs {', '.join(missing)}: --with {missing[0].split()[0]}=...")
    lift, load = ((numbers.pop(f"least_{of}"), numbers.pop(f"most_{of}")) for of in ("lift", "load"))
    return plot_vn(vn_diagram(lift_limits=lift, load_limits=load, **numbers))


def _of_design(world: "World") -> dict[str, float]:
    """Weight [N] of all bodies, and area and chord of the one aerodynamic model, as far as the world says."""
    from poinsot.parts import Aero

    links = world.description.links()
    found = {"weight": G_0 * sum(float(k.inertia.mass) for k in links if k.inertia is not None)}
    models = [e for e in world.description.elements.values() if isinstance(e, Aero)]
    if len(models) == 1:
        found |= {key: float(getattr(models[0], key)) for key in ("area", "chord")}
    return found


def root_locus(asked: Question) -> Any:
    """The eigenvalues of the linear model over one number."""
    name, row, linear = _linear(asked)
    return linear.root_locus(row, label=_label(name, asked.world.description))


def flutter(asked: Question) -> Any:
    """Damping and frequency over the speed."""
    name, row, linear = _linear(asked, ("airspeed", "mach"))
    below = asked.given.get("below", np.inf)
    return linear.flutter(row, below=below, label=_label(name, asked.world.description))


def bode(asked: Question) -> Any:
    """Gain and phase of an output by an input; over one number, if there is one."""
    for key in ("output", "input"):
        if key not in asked.given:
            raise ValueError(f"a Bode plot needs an {key}: --with {key}=NAME.")
    outputs, by = asked.given["output"], asked.given["input"]
    if asked.over:
        return _linear(asked)[2].bode(outputs, by)
    kind = asked.kind
    trim = asked.world.trim(kind, **asked.asked(kind))
    return _linearised(asked, trim).bode(outputs, by)


def _linear(asked: Question, names: Sequence[str] = ()) -> "tuple[str, Array, Linear]":
    """The name of the one row, its numbers for which there is a trim, and the linear models about these."""
    if names:
        ((name, row),) = asked.rows(names)
    elif len(asked.over) != 1:
        raise ValueError(f"this plot goes over one number, not {len(asked.over)}: {OVER}.")
    else:
        ((name, row),) = asked.over.items()
    kind, options = asked.kind, asked.asked(asked.kind)
    trim = asked.world.trim(kind, vary={name: row}, explain=False, **options)
    found = np.flatnonzero(trim.converged)
    if len(found) < 2:
        first = trim.left(int(np.argmin(trim.converged)))
        raise ValueError(f"a trim was found at {len(found)} of {len(row)} values of {name}; 2 are needed. {first}")
    if len(found) < len(row):
        complain(f"warning: no trim was found at {len(row) - len(found)} of {len(row)} values of {name}; left out")
    return name, row[found], _linearised(asked, trim)[found]


def _linearised(asked: Question, trim: "Trim") -> "Linear":
    outputs = [asked.given["output"]] if "output" in asked.given else []
    linear = asked.world.linearise(trim)
    return linear if not outputs or outputs[0] in linear.outputs else asked.world.linearise(trim, outputs=outputs)


def _label(name: str, description: "Description") -> str:
    units = _units(name, description)
    unit = "" if units in ((), ("1",)) else f" [{' or '.join(units)}]"
    return "Mach number" if name == "mach" else f"{name.replace('_', ' ') if '.' not in name else name}{unit}"


CHARTS = {"envelope": envelope, "turns": turns, "vn": vn, "root_locus": root_locus, "flutter": flutter, "bode": bode}
