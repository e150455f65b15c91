"""Ground tracks: on a map of the Earth, and on the globe as it is seen from above the track."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.show.plot_style import COLOURS, GREY, INK, PALE
from poinsot.show.surroundings import coast

Tracks = Mapping[str, tuple[Array, Array]]  # longitudes and latitudes (r,) [rad], by body
REGION = (90.0, 45.0)  # [deg] of longitude and latitude: tracks within are drawn on a map of their region


def draw_map(ax: Any, tracks: Tracks) -> None:
    """Latitude over longitude, with coastlines; lines end at the date line."""
    for line in coast():
        ax.plot(*_cut(*np.array(line).T / 10), color=GREY, lw=0.6)
    for k, (name, track) in enumerate(tracks.items()):
        x, y = np.degrees(track)
        ax.plot(*_cut(x, y), color=_colour(k), lw=1.4, label=name)
        ax.plot(x[0], y[0], "o", color=_colour(k), ms=5)
    ax.set(xlabel="longitude [deg]", ylabel="latitude [deg]")
    _frame(ax, np.degrees(np.hstack([np.stack(track) for track in tracks.values()])))
    ax.grid(color="#e6eaf0", lw=0.8)
    _finish(ax, "ground track (dot: start)", len(tracks))


def _frame(ax: Any, places: Array) -> None:
    """The whole map, or the region of places (2, n) [deg] with degrees of equal length in its middle."""
    low, high = np.nanmin(places, axis=1), np.nanmax(places, axis=1)
    if not np.all(high - low < REGION):
        ax.set(aspect="equal", xlim=(-180, 180), ylim=(-90, 90), xticks=range(-180, 181, 60), yticks=range(-90, 91, 30))
        return
    x, y = (low + high) / 2
    narrow = max(float(np.cos(np.radians(y))), 0.1)
    half = max(0.6 * (high[1] - low[1]), 0.6 * narrow * (high[0] - low[0]), 1e-3)
    ax.set(xlim=(x - half / narrow, x + half / narrow), ylim=(y - half, y + half), aspect=1 / narrow)
    ax.ticklabel_format(useOffset=False)


def _cut(x: Array, y: Array) -> tuple[Array, Array]:
    """A line of longitudes and latitudes [deg], cut where it crosses the date line."""
    jumps = np.flatnonzero(np.abs(np.diff(x)) > 180) + 1
    return np.insert(x.astype(float), jumps, np.nan), np.insert(y.astype(float), jumps, np.nan)


def draw_globe(ax: Any, tracks: Tracks) -> None:
    """The globe from far above the middle of the first track; what is behind it is faint."""
    first = directions(*next(iter(tracks.values())))
    middle = first.mean(axis=0)
    above = middle if np.linalg.norm(middle) > 0.3 else first[0]  # of whole orbits, from above the start
    longitude, latitude = np.arctan2(above[1], above[0]), np.arctan2(above[2], np.hypot(above[0], above[1]))
    view = seen_from(longitude, latitude)
    circle = np.linspace(0, 2 * np.pi, 200)
    ax.fill(np.cos(circle), np.sin(circle), facecolor="#f2f5f9", edgecolor=GREY, lw=1)
    for arc in _graticule():
        _draw(ax, view, arc, 0.0, color=PALE, lw=0.6)
    for line in coast():
        _draw(ax, view, directions(*np.radians(np.array(line).T / 10)), 0.0, color=GREY, lw=0.7)
    for k, (name, track) in enumerate(tracks.items()):
        way = directions(*track)
        _draw(ax, view, way, 0.25, color=_colour(k), lw=1.8, label=name)
        _draw(ax, view, way[:1], 0.25, color=_colour(k), marker="o", ms=5)
    ax.set(aspect="equal", xlim=(-1.05, 1.05), ylim=(-1.05, 1.05))
    ax.set_axis_off()
    place = [f"{abs(np.degrees(x)):.0f} deg {sides[int(x < 0)]}" for x, sides in ((latitude, "NS"), (longitude, "EW"))]
    _finish(ax, f"ground track from above {', '.join(place)} (dot: start)", len(tracks))


def directions(longitude: Any, latitude: Any) -> Array:
    """Unit vectors (n, 3) of places on the globe [rad]: x to longitude 0, z to the north pole."""
    flat = np.cos(latitude)
    return np.stack([flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)], axis=-1)


def seen_from(longitude: float, latitude: float) -> Array:
    """Rows (3, 3): east, north and up at a place [rad], the axes of the picture and towards the eye."""
    (s, c), (sl, cl) = ((np.sin(a), np.cos(a)) for a in (latitude, longitude))
    return np.array([[-sl, cl, 0.0], [-s * cl, -s * sl, c], [c * cl, c * sl, s]])


def _draw(ax: Any, view: Array, way: Array, behind: float, label: str | None = None, **style: Any) -> None:
    """A way (n, 3) on the globe; the parts behind it with this opacity, or not at all."""
    x, y, depth = view @ way.T
    ax.plot(np.where(depth >= 0, x, np.nan), np.where(depth >= 0, y, np.nan), label=label, **style)
    if behind:
        ax.plot(np.where(depth < 0, x, np.nan), np.where(depth < 0, y, np.nan), alpha=behind, **style)


def _graticule() -> list[Array]:
    """Meridians and parallels, every 30 deg."""
    s, t = np.linspace(-np.pi, np.pi, 181), np.linspace(-np.pi / 2, np.pi / 2, 91)
    meridians = [directions(np.full_like(t, x), t) for x in np.radians(np.arange(-180, 180, 30))]
    return meridians + [directions(s, np.full_like(s, y)) for y in np.radians(np.arange(-60, 61, 30))]


def _colour(k: int) -> str:
    return COLOURS[(k + 1) % len(COLOURS)]


def _finish(ax: Any, title: str, count: int) -> None:
    ax.set_title(title, fontsize=10, color=INK)
    if count > 1:
        ax.legend(frameon=False, fontsize=9, loc="lower left")
