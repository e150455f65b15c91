"""The modes of a linear model: frequency, damping, time to half, participation, and the names of the field."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._optional import require
from poinsot._types import Array
from poinsot.mechanism.model import coordinates
from poinsot.parts.beam import Flexure
from poinsot.world import System

ALONG = ("V", "alpha", "u", "w", "q", "pitch", "altitude")  # longitudinal states
ACROSS = ("beta", "v", "p", "r", "roll", "heading")
SMALL = 1e-7  # relative to the fastest: an eigenvalue that is zero but for rounding


@dataclass(frozen=True, eq=False)
class Modes:
    """One row per mode, pairs of conjugate eigenvalues being one, the slowest first.

    eigenvalues (m,) [1/s], with imaginary parts of 0 or more. participation (m, n): the share of each state in each
    mode, |w_i v_i| of left and right eigenvectors, with the sum 1. shapes (m, n): right eigenvectors.
    """

    eigenvalues: Array
    participation: Array
    shapes: Array
    states: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def frequency(self) -> Array:
        """The natural frequency |lambda| [rad/s]."""
        return np.abs(self.eigenvalues)

    @property
    def damping(self) -> Array:
        """The damping ratio -Re(lambda)/|lambda|; 0 where lambda is."""
        return np.asarray(-self.eigenvalues.real / np.where(self.frequency > 0, self.frequency, 1.0)) + 0.0

    @property
    def period(self) -> Array:
        """2 pi/Im(lambda) [s]; infinite without oscillation."""
        with np.errstate(divide="ignore"):
            return np.asarray(2 * np.pi / self.eigenvalues.imag)

    @property
    def time_to_half(self) -> Array:
        """ln 2/-Re(lambda) [s]; negative: the time to double."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(2.0) / -self.eigenvalues.real)

    def __getitem__(self, name: str) -> complex:
        """The eigenvalue [1/s] of the mode with this name."""
        if name not in self.names:
            raise KeyError(f"there is no mode {name!r}; there are {', '.join(n for n in self.names if n)}.")
        return complex(self.eigenvalues[self.names.index(name)])

    def __len__(self) -> int:
        return len(self.eigenvalues)

    @property
    def data(self) -> Any:
        """An xarray.Dataset with the dimensions mode and state."""
        xarray = require("xarray", "", "the table of modes as a dataset")
        columns = ("eigenvalues", "frequency", "damping", "period", "time_to_half")
        arrays: dict[str, Any] = {name: ("mode", getattr(self, name)) for name in columns}
        arrays["participation"] = (("mode", "state"), self.participation)
        return xarray.Dataset(arrays, coords={"name": ("mode", list(self.names)), "state": list(self.states)})

    def __str__(self) -> str:
        head = f"{'mode':<20}{'frequency':>12}{'damping':>10}{'half':>12}{'double':>12}   most in"
        rows = [head, f"{'':<20}{'rad/s':>12}{'':>10}{'s':>12}{'s':>12}"]
        for k, name in enumerate(self.names):
            half, most = self.time_to_half[k], np.argsort(-self.participation[k])[:2]
            halves = f"{half:>12.4g}{'':>12}" if half > 0 else f"{'':>12}{-half:>12.4g}"
            halves = f"{'':>24}" if not np.isfinite(half) else halves
            words = ", ".join(f"{self.states[i]} {self.participation[k, i]:.2f}" for i in most)
            rows.append(f"{name:<20}{self.frequency[k]:>12.5g}{self.damping[k]:>10.4f}{halves}   {words}")
        return "\n".join(rows)


def modes_of(A: Array, states: Sequence[str], bending: Mapping[str, str]) -> Modes:
    """The modes of dx/dt = A x."""
    values, V = np.linalg.eig(A)
    W = np.linalg.pinv(V)
    shares = np.abs(V.T * W)
    shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    fastest = np.abs(values).max(initial=0.0)
    values = np.where(np.abs(values) < SMALL * fastest, 0.0, values)
    kept = np.flatnonzero(values.imag >= 0)
    kept = kept[np.lexsort((values[kept].real, np.abs(values[kept])))]
    names = _names(values[kept], shares[kept], tuple(states), bending)
    return Modes(values[kept], shares[kept], V.T[kept], tuple(states), names)


def _names(values: Array, shares: Array, states: tuple[str, ...], bending: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the field: of an aircraft by the states that take part most, of flexible joints by the way they
    bend, counted from the slowest."""
    names, counts = [""] * len(values), dict[str, int]()
    share = {name: shares[:, k] for k, name in enumerate(states)}

    def part(*of: str) -> Array:
        return np.sum([share.get(name, np.zeros(len(values))) for name in of], axis=0)

    bent = part(*bending)
    for k in np.flatnonzero(bent > 0.5):
        ways = {
            way: sum(shares[k, states.index(s)] for s, w in bending.items() if w == way) for way in bending.values()
        }
        way = max(ways, key=lambda w: ways[w])
        counts[way] = counts.get(way, 0) + 1
        names[k] = f"{way} {counts[way]}"
    if "pitch" not in states or "roll" not in states:
        return tuple(names)
    rigid = (part(*ALONG, *ACROSS) > 0.5) & (bent <= 0.5)
    along, swings = part(*ALONG) > part(*ACROSS), values.imag > 0
    _name(names, rigid & along & swings, part("alpha", "w", "q"), "short period")
    _name(names, rigid & along & swings, part("V", "u", "pitch"), "phugoid")
    _name(names, rigid & ~along & swings, part("beta", "v", "r"), "Dutch roll")
    _name(names, rigid & ~along & ~swings & (values != 0), part("p"), "roll")
    _name(names, rigid & ~along & ~swings & (values != 0), part("roll", "heading", "r"), "spiral")
    _name(names, rigid & ~along & ~swings, part("heading"), "heading")
    _name(names, rigid & along & ~swings, part("altitude"), "altitude")
    return tuple(names)


def _name(names: list[str], among: Array, by: Array, name: str) -> None:
    """Give a name to the mode, among those without one, in which these states take part most."""
    open_ = among & np.array([not n for n in names], dtype=bool)
    if open_.any():
        names[int(np.argmax(np.where(open_, by, -1.0)))] = name


def flexible_states(system: System) -> dict[str, str]:
    """The states of joints with flexures: "twist" for those about the beam's own axis, x, else "bending"."""
    joints = {e.joint for _, e in system.description.acting() if isinstance(e, Flexure)}
    ways: dict[str, str] = {}
    for name, k in coordinates(system.mechanism, "v"):
        if name in joints:
            spherical = system.mechanism.link(name).joint.nv == 3
            way = "twist" if spherical and k == "[0]" else "bending"
            ways |= {f"{name}.{letter}{k}": way for letter in "qv"}
    return ways
