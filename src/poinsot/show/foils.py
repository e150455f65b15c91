"""Wings, tails and fins with their chord and thickness, and the flaps that turn on them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.parts import Strip, Wing
from poinsot.parts.strip import Panel, chord_axes, oriented
from poinsot.show.triangles import Triangles, lofted

THICK = 0.12  # of an aerofoil, relative to its chord
ALL_MOVING = 0.95  # a flap with this share of the chord or more is the whole surface, and turns about its quarter chord
SAMPLES = 16  # of a wing along one side


@dataclass(frozen=True, eq=False)
class Flap:
    """A part of a wing that turns on a body about an axis (3,) through the hinge (3,) [m]; its surface is about the
    hinge, in body axes. sign: of the angle by which it turns at a positive deflection."""

    body: str
    hinge: Array
    axis: Array
    triangles: Triangles
    sign: float = 1.0


@dataclass(frozen=True, eq=False)
class Slices:
    """Sections of a wing at shares of its span (n,): quarter chord p (n, 3) [m], forward, right and down (n, 3), chord
    (n,) [m]. Between them, and a little beyond, they are taken linearly."""

    shares: Array
    p: Array
    forward: Array
    right: Array
    down: Array
    chord: Array

    @classmethod
    def of(cls, shares: Any, panels: Sequence[Panel]) -> "Slices":
        names = ("p", "forward", "right", "down", "chord")
        columns = [np.array([np.asarray(getattr(q, name), dtype=float) for q in panels]) for name in names]
        return cls(np.asarray(shares, dtype=float), *columns)

    def at(self, shares: Array) -> "Slices":
        """The sections at other shares of the span."""
        k = np.clip(np.searchsorted(self.shares, shares) - 1, 0, max(len(self.shares) - 2, 0))
        k1 = np.minimum(k + 1, len(self.shares) - 1)
        step = self.shares[k1] - self.shares[k]
        w = np.where(step > 0, (shares - self.shares[k]) / np.where(step > 0, step, 1.0), 0.0)

        def between(a: Array) -> Array:
            u = w if a.ndim == 1 else w[:, None]
            return np.asarray((1 - u) * a[k] + u * a[k1])

        own = (self.p, self.forward, self.right, self.down, self.chord)
        return Slices(shares, *(between(a) for a in own))

    def rings(self, start: float, end: float | Array) -> Array:
        """Closed rings (n, m, 3) around the aerofoil between two shares of the chord."""
        ends = np.broadcast_to(end, self.shares.shape)
        rings = []
        for k, stop in enumerate(ends):
            back, up = outline(start, float(stop)).T
            along = np.multiply.outer((0.25 - back) * self.chord[k], self.forward[k])
            rings.append(self.p[k] + along - np.multiply.outer(up * self.chord[k], self.down[k]))
        return np.array(rings)


def outline(start: float, end: float, count: int = 12) -> Array:
    """Points (m, 2) around a symmetric aerofoil between two shares of its chord, in chords: behind the leading edge,
    and up. Abbott and von Doenhoff, Theory of Wing Sections, (6.2), with a closed trailing edge."""
    x = start + (end - start) * 0.5 * (1 - np.cos(np.linspace(0, np.pi, count)))
    y = 5 * THICK * (0.2969 * np.sqrt(x) - 0.1260 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)
    upper, lower = np.stack([x, y], axis=-1)[::-1], np.stack([x, -y], axis=-1)
    return np.concatenate([upper, lower[1:-1]] if start == 0 and end == 1 else [upper, lower[int(start == 0) :]])


def hinge_of(flap: float) -> float:
    """Where a flap with this share of the chord is hinged, as a share of it from the leading edge."""
    return 1.0 if flap == 0 else 0.0 if flap >= ALL_MOVING else 1.0 - flap


def strip_panel(strip: Strip) -> Panel:
    """A strip where it is on its body."""
    forward, right = chord_axes(strip.forward, strip.up)
    axes = oriented(forward, right, strip.twist)
    return Panel(strip.body, np.asarray(strip.point, dtype=float), *axes, strip.chord, strip.width, strip.section)  # type: ignore[arg-type]


def spread(panel: Panel) -> Slices:
    """Both ends of a strip."""
    half = 0.5 * np.multiply.outer(np.array([-1.0, 1.0]) * panel.width, panel.right)
    both = Slices.of([0.0, 1.0], [panel, panel])
    return replace(both, p=both.p + half)


def wing_slices(wing: Wing) -> list[Slices]:
    """The sections of each side of a wing on a rigid body."""
    panels = replace(wing, strips=SAMPLES).panels()
    shares = (np.arange(SAMPLES) + 0.5) / SAMPLES
    return [Slices.of(shares, panels[k : k + SAMPLES]) for k in range(0, len(panels), SAMPLES)]


def fixed_parts(element: Strip | Wing) -> Iterator[Triangles]:
    """The surfaces that do not turn, in the axes of the body."""
    hinge = hinge_of(float(element.flap))
    for slices, zone, has_flap in _zones(element):
        end = hinge if has_flap else 1.0
        if end > 0:
            yield lofted(slices.at(zone).rings(0.0, end))


def flaps(element: Strip | Wing) -> Iterator[Flap]:
    """The surfaces that turn; those of a wing on a beam are one for each of its strips."""
    hinge, share = hinge_of(float(element.flap)), float(element.flap)
    if share == 0:
        return
    if isinstance(element, Wing) and element.beam is not None:
        for panel in element.panels(1.0):
            if panel.deflection:
                yield _flap(panel.body, spread(panel), hinge, 1.0)
        return
    left = len(list(_zones(element))) // 2 if isinstance(element, Wing) and element.side == "both" else 10**9
    for k, (slices, zone, has_flap) in enumerate(_zones(element)):
        if has_flap:
            other = isinstance(element, Wing) and not element.together and (k >= left or element.side == "left")
            yield _flap(element.body, slices.at(zone), hinge, -1.0 if other else 1.0)


def _flap(body: str, slices: Slices, hinge: float, sign: float) -> Flap:
    """A flap behind its hinge line, which goes through the middle of the section."""
    at = slices.p + ((0.25 - (hinge or 0.25)) * slices.chord)[:, None] * slices.forward
    axis = at[-1] - at[0]
    axis = axis * np.sign(axis @ slices.right[0]) / np.linalg.norm(axis)
    surface = lofted(slices.rings(hinge, 1.0))
    return Flap(body, at[0], axis, Triangles(surface.vertices - at[0], surface.faces), sign)


def _zones(element: Strip | Wing) -> Iterator[tuple[Slices, Array, bool]]:
    """The stretches of a surface along its span: its sections, the shares of the span, and whether it has a flap."""
    if isinstance(element, Strip):
        yield spread(strip_panel(element)), np.array([0.0, 1.0]), element.flap > 0
        return
    start, end = np.asarray(element.aileron, dtype=float)
    edges = np.unique([0.0, start, end, 1.0]) if element.flap > 0 else np.array([0.0, 1.0])
    for slices in wing_slices(element):
        for a, b in pairwise(edges):
            yield slices, np.linspace(a, b, 5), element.flap > 0 and start <= 0.5 * (a + b) <= end
