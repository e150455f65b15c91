"""Pictures of flights and orbits: paths, ground tracks, heights and speeds, elements, eclipses, dispersion."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.environment import Earth
from poinsot.run.result import Run
from poinsot.show.ground_tracks import draw_globe, draw_map
from poinsot.show.plot_style import COLOURS, GREY, INK

Panel = Callable[[Any], None]  # draws into the axes of matplotlib
Bodies = Sequence[str | None]
ELEMENTS = {
    "semi_major_axis": (1e-3, "semi-major axis [km]"), "eccentricity": (1.0, "eccentricity"),
    "inclination": (180 / np.pi, "inclination [deg]"), "node": (180 / np.pi, "right ascension of the node [deg]"),
    "argument_of_perigee": (180 / np.pi, "argument of perigee [deg]"),
}  # fmt: skip
SHARES = (0.5, 0.9, 0.99)  # of the draws within the ellipses


def _values(run: Run, quantity: str, body: str, instance: int | None) -> Array:
    """A quantity of a body (r, ...), recorded or computed from the states."""
    array = run.columns_of(quantity)[quantity].sel(body=body)
    return np.asarray((array if run.batch is None else array.isel(batch=instance or 0)).values)


def _chosen(run: Run, bodies: Bodies) -> list[str]:
    names = [link.name for link in run.compiled.system.bodies.links]
    for name in filter(None, bodies):
        if name not in names:
            raise ValueError(f"there is no body {name!r}; there are {', '.join(names)}.")
    return [name for name in bodies if name] or names[:1]


def _earth(run: Run, what: str) -> Earth:
    earth = run.world.description.earth
    if earth is None:
        raise ValueError(f"{what!r} needs a world around the Earth: pt.World(earth=pt.Earth()).")
    return earth


def _dressed(ax: Any, title: str) -> None:
    ax.set_title(title, fontsize=10, color=INK)
    ax.grid(color="#e6eaf0", lw=0.8)


def _scaled(length: float) -> tuple[float, str]:
    return (1e-3, "km") if length > 2e4 else (1.0, "m")


def _path(run: Run, bodies: Bodies, instance: int | None) -> list[Panel]:
    """The ways of bodies in three dimensions, in world axes, around the Earth with a wire globe."""
    names = _chosen(run, bodies)
    ways = [_values(run, "position", name, instance) for name in names]
    factor, unit = _scaled(max(np.ptp(way, axis=0).max() for way in ways))
    earth = run.world.description.earth
    radius = 0.0 if earth is None else earth.ellipsoid.a
    far = radius > 0 and max(np.ptp(way, axis=0).max() for way in ways) > 1e6

    def panel(ax: Any) -> None:
        if far:
            _globe(ax, factor * radius)
        for k, (name, way) in enumerate(zip(names, ways, strict=True)):
            x, y, z = factor * way.T
            ax.plot(x, y, z, color=COLOURS[k % len(COLOURS)], lw=1.6, label=name)
            ax.scatter(x[:1], y[:1], z[:1], color=COLOURS[k % len(COLOURS)], s=18)
        ax.set(xlabel=f"x [{unit}]", ylabel=f"y [{unit}]", zlabel=f"z [{unit}]")
        ax.set_title("path (dot: start)", fontsize=10, color=INK)
        ax.set_aspect("equal" if far else "auto")
        if len(names) > 1:
            ax.legend(frameon=False, fontsize=9)

    panel.projection = "3d"  # type: ignore[attr-defined]
    return [panel]


def _globe(ax: Any, radius: float) -> None:
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 37), np.linspace(0, np.pi, 19))
    ax.plot_wireframe(
        radius * np.cos(u) * np.sin(v),
        radius * np.sin(u) * np.sin(v),
        radius * np.cos(v),
        color=GREY,
        lw=0.3,
        alpha=0.5,
    )


def _ground_track(run: Run, bodies: Bodies, instance: int | None) -> list[Panel]:
    return [partial(draw_map, tracks=_tracks(run, "ground_track", bodies, instance))]


def _globe_track(run: Run, bodies: Bodies, instance: int | None) -> list[Panel]:
    return [partial(draw_globe, tracks=_tracks(run, "globe", bodies, instance))]


def _tracks(run: Run, what: str, bodies: Bodies, instance: int | None) -> dict[str, tuple[Array, Array]]:
    """Longitudes and latitudes (r,) [rad] of bodies."""
    _earth(run, what)
    return {
        name: (_values(run, "longitude", name, instance), _values(run, "latitude", name, instance))
        for name in _chosen(run, bodies)
    }


def _heights(run: Run, body: str, instance: int | None) -> Array:
    earth, p = run.world.description.earth, _values(run, "position", body, instance)
    return p[:, 2] if earth is None else np.asarray(earth.height(p))


def _speeds(run: Run, body: str, instance: int | None) -> tuple[Array, str]:
    """Through the air where there is some, else relative to the axes of the world."""
    if "air" in run.world.description.elements:
        return _values(run, "airspeed", body, instance), "airspeed"
    return np.linalg.norm(_values(run, "velocity", body, instance), axis=1), "speed"


def _height_and_speed(run: Run, bodies: Bodies, instance: int | None) -> list[Panel]:
    names = _chosen(run, bodies)
    heights = {name: _heights(run, name, instance) for name in names}
    speeds = {name: _speeds(run, name, instance) for name in names}
    factor, unit = _scaled(max(np.abs(h).max() for h in heights.values()))

    def lines(curves: dict[str, Array], title: str) -> Panel:
        def panel(ax: Any) -> None:
            for k, (name, y) in enumerate(curves.items()):
                ax.plot(run.time, y, color=COLOURS[k % len(COLOURS)], lw=1.6, label=name)
            _dressed(ax, title)
            ax.margins(x=0.0)
            if len(curves) > 1:
                ax.legend(frameon=False, fontsize=9)

        return panel

    what = next(iter(speeds.values()))[1]
    return [
        lines({name: factor * h for name, h in heights.items()}, f"height [{unit}]"),
        lines({name: v for name, (v, _) in speeds.items()}, f"{what} [m/s]"),
    ]


def _mach_altitude(run: Run, bodies: Bodies, instance: int | None) -> list[Panel]:
    if "air" not in run.world.description.elements:
        raise ValueError("'mach_altitude' needs a world with air: pt.World(air=pt.US76()).")
    names = _chosen(run, bodies)
    curves = [tuple(_values(run, key, name, instance) for key in ("mach", "altitude")) for name in names]

    def panel(ax: Any) -> None:  # always in km: so it can be drawn into the picture of an envelope
        for k, (name, (mach, altitude)) in enumerate(zip(names, curves, strict=True)):
            ax.plot(mach, altitude / 1e3, color=COLOURS[k % len(COLOURS)], lw=1.6, label=name)
            ax.plot(mach[0], altitude[0] / 1e3, "o", color=COLOURS[k % len(COLOURS)], ms=5)
        ax.set(xlabel="Mach number", ylabel="altitude [km]")
        _dressed(ax, "altitude over Mach number (dot: start)")
        if len(names) > 1:
            ax.legend(frameon=False, fontsize=9)

    return [panel]


def _elements(run: Run, bodies: Bodies, instance: int | None) -> list[Panel]:
    """The osculating elements over time, one panel each."""
    _earth(run, "elements")
    name = _chosen(run, bodies)[0]

    def one(key: str, factor: float, title: str) -> Panel:
        y = factor * _values(run, key, name, instance)
        y = np.unwrap(y, period=360.0) if title.endswith("[deg]") else y

        def panel(ax: Any) -> None:
            ax.plot(run.time, y, color=COLOURS[0], lw=1.4)
            _dressed(ax, f"{title.replace(' [', f' of {name} [')}" if "[" in title else f"{title} of {name}")
            ax.margins(x=0.0)

        return panel

    return [one(key, factor, title) for key, (factor, title) in ELEMENTS.items()]


def _eclipse(run: Run, bodies: Bodies, instance: int | None) -> list[Panel]:
    """A bar per body: dark in the umbra, grey in the penumbra."""
    if _earth(run, "eclipse").epoch is None:
        raise ValueError("'eclipse' needs the epoch of the Earth: pt.Earth(epoch=\"2026-03-20T12:00:00Z\").")
    names = _chosen(run, bodies)
    light = {name: _values(run, "sunlight", name, instance) for name in names}

    def panel(ax: Any) -> None:
        for k, name in enumerate(names):
            extent = (run.time[0], run.time[-1], k - 0.35, k + 0.35)
            grid = np.interp(np.linspace(*extent[:2], 2000), run.time, light[name])[None]
            ax.imshow(grid, aspect="auto", extent=extent, cmap="gray", vmin=-0.15, vmax=1.1, interpolation="nearest")
        ax.set(ylim=(len(names) - 0.5, -0.5), xlim=(run.time[0], run.time[-1]), yticks=range(len(names)))
        ax.set_yticklabels(names)
        shares = ", ".join(f"{name} {100 * np.mean(1 - x):.1f} %" for name, x in light.items())
        ax.set_title(f"eclipse (dark: umbra); in shadow: {shares}", fontsize=10, color=INK)

    return [panel]


def ellipse(x: Array, y: Array, share: float) -> Array:
    """The closed curve (n, 2) around the mean that holds a share of points (x, y), if they are normal: |L^-1 d|^2 =
    -2 ln(1 - share), L L^T being their covariance."""
    C = np.cov(x, y)
    values, vectors = np.linalg.eigh(C)
    s = np.linspace(0, 2 * np.pi, 181)
    circle = np.sqrt(-2 * np.log(1 - share)) * np.stack([np.cos(s), np.sin(s)])
    return (np.array([[np.mean(x)], [np.mean(y)]]) + vectors @ (np.sqrt(np.maximum(values, 0))[:, None] * circle)).T


def draw_dispersion(ax: Any, x: Array, y: Array, labels: tuple[str, str], title: str) -> None:
    """Points with the ellipses of 50, 90 and 99 %."""
    finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[finite], y[finite]
    if len(x) < 3:
        raise ValueError(f"a dispersion needs three or more finite points, not {len(x)}.")
    some = slice(None, None, max(1, len(x) // 4000))
    ax.plot(x[some], y[some], ".", ms=2.5, alpha=0.35, color=COLOURS[0], mew=0, rasterized=True)
    for k, share in enumerate(SHARES):
        curve = ellipse(x, y, share)
        ax.plot(*curve.T, color=COLOURS[1], lw=1.8 - 0.4 * k, label=f"{100 * share:g} %")
    ax.plot(np.mean(x), np.mean(y), "+", color=INK, ms=9)
    ax.set(xlabel=labels[0], ylabel=labels[1])
    ax.set_aspect("equal", adjustable="datalim")
    _dressed(ax, title)
    ax.legend(frameon=False, fontsize=9)


def _dispersion(run: Run, bodies: Bodies, instance: int | None) -> list[Panel]:
    """Where the instances of a batch ended: x and y of the world, around the Earth east and north of their mean."""
    if run.batch is None or run.batch < 3:
        raise ValueError("'dispersion' needs a batch of three or more instances.")
    name = _chosen(run, bodies)[0]
    earth, labels = run.world.description.earth, ("x [m]", "y [m]")
    if earth is None:
        ends = _ends(run, "position", name)
    else:
        ends, labels = _around(earth, _ends(run, "longitude", name), _ends(run, "latitude", name))

    def panel(ax: Any) -> None:
        draw_dispersion(ax, ends[:, 0], ends[:, 1], labels, f"where {name} ended, {run.batch:,} instances")

    return [panel]


def _ends(run: Run, quantity: str, body: str) -> Array:
    """A quantity of a body at the end, of all instances (b, ...)."""
    return np.asarray(run.columns_of(quantity)[quantity].sel(body=body).isel(time=-1).values)


def _around(earth: Earth, longitude: Array, latitude: Array) -> tuple[Array, tuple[str, str]]:
    """Places (b, 2) [m] on the Earth's figure, east and north of their mean, and the labels of the axes."""
    p = earth.ecef(latitude, longitude, 0.0)
    middle = p[np.isfinite(p).all(axis=1)].mean(axis=0)
    R_EN = earth.ned(middle)
    return (p - middle) @ R_EN[:, [1, 0]], ("east of the mean [m]", "north of the mean [m]")


PICTURES_OF_FLIGHT: dict[str, Callable[[Run, Bodies, int | None], list[Panel]]] = {
    "path": _path, "ground_track": _ground_track, "globe": _globe_track, "height_and_speed": _height_and_speed,
    "mach_altitude": _mach_altitude, "elements": _elements, "eclipse": _eclipse, "dispersion": _dispersion,
}  # fmt: skip
NOT_OVER_TIME = ("path", "ground_track", "globe", "mach_altitude", "dispersion")
