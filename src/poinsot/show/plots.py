"""Plots of a run with matplotlib: time histories, energy and momentum, phase portraits, the polhode."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from poinsot._atomic import write_bytes
from poinsot._hints import hint
from poinsot._optional import require
from poinsot._types import Array
from poinsot.parts import Limit
from poinsot.run.result import Run
from poinsot.show import flight_pictures
from poinsot.show.flight_pictures import Panel
from poinsot.show.history import History, history, quantities, spelled
from poinsot.show.plot_style import COLOURS, INK, PALE, STYLE, given_axes
from poinsot.spatial import rotation

BAND = (0.05, 0.95)  # the quantiles of a batch that are drawn


def plot(
    run: Run,
    *what: str,
    body: str | Sequence[str] | None = None,
    instance: int | None = None,
    path: str | os.PathLike[str] | None = None,
    ax: Any = None,
) -> Any:
    """A figure of a run.

    what: quantities such as "position" or "spring.tension", one panel each over time; or the name of a picture:
    "energy", "momentum", "phase" (joint velocities over coordinates), "polhode" (the angular momentum in body axes, on
    the unit sphere), "margins" (of the limits of the structure), "path" (in three dimensions), "ground_track" (on
    a map), "globe" (the same, from space), "height_and_speed", "mach_altitude", "elements" (of an orbit), "eclipse",
    "dispersion" (of the ends of a batch). By default: energy, momentum, and the motion.
    body: which ones; by default the first, and for "polhode" the first that rotates freely. instance: of a batch; by
    default the median and the band of 90 %. path: where to write it, as .png, .pdf, .svg ...
    ax: axes of matplotlib to draw into, or a list of them, one per panel, instead of a new figure.
    """
    plt = require("matplotlib.pyplot", "view", "plotting")
    bodies = [body] if isinstance(body, str) or body is None else list(body)
    names = what or ("energy", "momentum", *_motion(run))
    panels = [panel for name in names for panel in _panels(run, name, bodies, instance)]
    over_time = not any(name in NOT_OVER_TIME for name in names)
    with plt.rc_context(STYLE):
        axes = _axes(plt, panels, over_time) if ax is None else _given(panels, ax)
        for panel, place in zip(panels, axes, strict=True):
            panel(place)
        if over_time:
            axes[-1].set_xlabel("time [s]")
    return saved(axes[0].figure, path)


def _axes(plt: Any, panels: Sequence[Panel], over_time: bool) -> list[Any]:
    """The axes of a new figure, one below the other."""
    width, height = (7.0, 2.3) if over_time else (6.4, 4.6)
    figure = plt.figure(figsize=(width, 0.5 + height * len(panels)), layout="constrained")
    axes: list[Any] = []
    for k, panel in enumerate(panels):
        shared = {"sharex": axes[0]} if over_time and axes else {}
        axes.append(figure.add_subplot(len(panels), 1, k + 1, projection=_projection(panel), **shared))
        if over_time and k + 1 < len(panels):
            axes[-1].tick_params(labelbottom=False)
    return axes


def _given(panels: Sequence[Panel], ax: Any) -> list[Any]:
    """The axes of the user, checked."""
    axes = given_axes(ax, len(panels))
    for panel, place in zip(panels, axes, strict=True):
        if _projection(panel) == "3d" and not hasattr(place, "get_zlim"):
            raise ValueError("ax: 'path' needs axes in three dimensions: plt.subplot(projection='3d').")
    return axes


def _projection(panel: Panel) -> str | None:
    """The kind of axes that a panel draws into: "3d", or None for plain ones."""
    kind: str | None = getattr(panel, "projection", None)
    return kind


def _panels(run: Run, name: str, bodies: Sequence[str | None], instance: int | None) -> list[Panel]:
    """The panels of a picture, or of a quantity over time."""
    if name in PICTURES:
        return PICTURES[name](run, bodies, instance)
    try:
        return _histories(run, name, bodies, instance)
    except ValueError as error:
        known = {*PICTURES, *quantities(run)}
        if name in known or "." in name:
            raise
        choices = f"{hint(name, known)}; there are {', '.join(sorted(known))}"
        raise ValueError(f"{name!r} cannot be plotted{choices}.") from error


def saved(figure: Any, path: str | os.PathLike[str] | None) -> Any:
    """The figure, written to a file if a path is given: as .png, .pdf, .svg ..."""
    if path is not None:
        data = BytesIO()
        figure.savefig(data, format=Path(path).suffix.removeprefix(".") or "png", dpi=150)
        write_bytes(path, data.getvalue())
    return figure


def _motion(run: Run) -> list[str]:
    """The quantities of the motion: joint coordinates for mechanisms, else position and angular velocity."""
    links = run.compiled.system.bodies.links
    free = all(link.joint.type.position or not link.joint.nv for link in links)
    wanted = ("position", "angular_velocity") if free else ("q", "v")
    return [name for name in wanted if name in quantities(run)]


# Panels over time.


def _histories(run: Run, name: str, bodies: Sequence[str | None], instance: int | None) -> list[Panel]:
    quantity, named, _ = spelled(run, name)
    of_body = named is None and "body" in run.columns_of(quantity)[quantity].dims
    return [_over_time(run, name, body, instance) for body in (bodies if of_body else [None])]


def _over_time(run: Run, name: str, body: str | None, instance: int | None) -> Panel:
    shown = [history(run, name, body, i) for i in _instances(run, instance)]

    def panel(ax: Any) -> None:
        _curves(ax, shown)
        _finish(ax, shown[0].label, len(shown[0].components) > 1)

    return panel


def _instances(run: Run, instance: int | None) -> list[int]:
    return [instance or 0] if run.batch is None or instance is not None else list(range(run.batch))


def _curves(ax: Any, shown: Sequence[History], names: dict[str, str] | None = None) -> None:
    """Each component; for many instances the median, and a band around it."""
    first = shown[0]
    for k, label in enumerate(first.components):
        colour = COLOURS[k % len(COLOURS)]
        values = np.stack([h.components[label] for h in shown])
        text = _listed((names or {}).get(label, label))
        ax.plot(first.time, np.median(values, axis=0), color=colour, lw=1.6, label=text)
        if len(shown) > 1:
            ax.fill_between(first.time, *np.quantile(values, BAND, axis=0), color=colour, alpha=0.18, lw=0)


def _listed(label: str) -> str:
    """A label that the legend lists: matplotlib leaves out those that start with an underscore."""
    return f" {label}" if label.startswith("_") else label


def _finish(ax: Any, label: str, legend: bool) -> None:
    ax.set_title(label, fontsize=10, color=INK)
    ax.grid(color="#e6eaf0", lw=0.8)
    ax.margins(x=0.0)
    ax.ticklabel_format(axis="y", useOffset=False)
    if legend:
        ax.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))


# Whole pictures.


def _energy(run: Run, bodies: Sequence[str | None], instance: int | None) -> list[Panel]:
    shown = []
    for i in _instances(run, instance):
        total, kinetic = history(run, "energy", None, i), history(run, "kinetic_energy", None, i)
        (E,), (T,) = total.components.values(), kinetic.components.values()
        shown.append(History("energy", "J", total.time, {"total": E, "kinetic": T, "potential and stored": E - T}))

    def panel(ax: Any) -> None:
        _curves(ax, shown)
        _finish(ax, "energy [J]", True)

    return [panel]


def _momentum(run: Run, bodies: Sequence[str | None], instance: int | None) -> list[Panel]:
    return [_over_time(run, name, None, instance) for name in ("momentum", "angular_momentum")]


def _margins(run: Run, bodies: Sequence[str | None], instance: int | None) -> list[Panel]:
    """The margins of all limits of the structure: 1 without load, 0 at the limit."""
    names = [name for name, e in run.world.description.elements.items() if isinstance(e, Limit)]
    if not names:
        raise ValueError("this world has no limits whose margins could be drawn; add a pt.Limit.")
    shown = []
    for i in _instances(run, instance):
        each = {name: history(run, f"{name}.margin", None, i) for name in names}
        columns = {name: next(iter(h.components.values())) for name, h in each.items()}
        shown.append(History("margins", "1", run.time, columns))

    def panel(ax: Any) -> None:
        _curves(ax, shown)
        ax.axhline(0.0, color=COLOURS[1], lw=1.0, ls="--")
        _finish(ax, "load margins (0 at the limit)", True)

    return [panel]


def _phase(run: Run, bodies: Sequence[str | None], instance: int | None) -> list[Panel]:
    mech = run.compiled.system.bodies
    q, v = history(run, "q", None, instance or 0), history(run, "v", None, instance or 0)
    lines = []
    for link, sq, sv in zip(mech.links, mech.q_slices, mech.v_slices, strict=True):
        if link.joint.nq == link.joint.nv and link.name in (
            *filter(None, bodies),
            *([] if any(bodies) else [link.name]),
        ):
            for i, j in zip(range(sq.start, sq.stop), range(sv.start, sv.stop), strict=True):
                lines.append((list(q.components)[i], list(q.components.values())[i], list(v.components.values())[j]))
    if not lines:
        raise ValueError("there is no joint whose coordinates and velocities could be drawn against each other.")

    def panel(ax: Any) -> None:
        for k, (name, x, y) in enumerate(lines):
            ax.plot(x, y, color=COLOURS[k % len(COLOURS)], lw=1.2, label=_listed(name))
            ax.plot(x[0], y[0], "o", color=COLOURS[k % len(COLOURS)], ms=5)
        _finish(ax, "phase portrait (dot: initial state)", len(lines) > 1)
        ax.margins(x=0.05)
        ax.set(xlabel="coordinate q [rad, m]", ylabel="velocity v [rad/s, m/s]")

    return [panel]


def _polhode(run: Run, bodies: Sequence[str | None], instance: int | None) -> list[Panel]:
    chosen = bodies if any(bodies) else [_first_rotating(run)]
    momenta = [_angular_momentum(run, body, instance or 0) for body in chosen]
    return [partial(_draw_sphere, name=name, Pi=Pi, moments=moments) for name, Pi, moments in momenta]


def _first_rotating(run: Run) -> str:
    for link in run.compiled.system.bodies.links:
        if link.inertia is not None and link.inertia.rank == 3 and link.joint.type.attitude:
            return link.name
    raise ValueError("no body of this run rotates freely; name one with body=...")


def _angular_momentum(run: Run, body: str | None, instance: int) -> tuple[str, Array, Array]:
    """A body's name, its angular momentum about its centre of mass in principal axes (r, 3), and its moments (3,)."""
    inertia = run.compiled.system.mechanism.link(str(body)).inertia
    if inertia is None or inertia.rank < 3:
        raise ValueError(f"body {body!r} has no polhode: its inertia is singular.")
    moments, R_BP = inertia.principal()
    omega = np.stack(list(history(run, "angular_velocity", body, instance).components.values()), axis=-1)
    return str(body), (omega @ inertia.moment) @ R_BP, moments


def _draw_sphere(ax: Any, name: str, Pi: Array, moments: Array) -> None:
    """The angular momentum in principal axes on the unit sphere, with the polhodes of all energies."""
    view = rotation.about_x(-np.pi / 2 + 0.38) @ rotation.about_z(-0.75)

    def draw(curve: Array, **style: Any) -> None:
        x, y, depth = view @ curve.T
        for visible, alpha in ((depth > 0, 1.0), (depth <= 0, 0.18)):
            ax.plot(np.where(visible, x, np.nan), np.where(visible, y, np.nan), alpha=alpha, **style)

    circle = np.linspace(0, 2 * np.pi, 200)
    ax.fill(np.cos(circle), np.sin(circle), facecolor="#f2f5f9", edgecolor=PALE, lw=1)
    for curve in polhodes(moments):
        draw(curve, color=PALE, lw=0.8)
    length = np.linalg.norm(Pi, axis=1)
    draw(Pi / np.where(length > 0, length, 1.0)[:, None], color=COLOURS[1], lw=2.2)
    for axis, label in zip(np.eye(3), ("least moment", "intermediate", "greatest"), strict=True):
        x, y, depth = view @ axis
        ax.plot(x, y, "o", color=INK, ms=4, alpha=1.0 if depth > 0 else 0.3)
        ax.annotate(label, (x, y), (6, 4), textcoords="offset points", color=INK, fontsize=8)
    ax.set(aspect="equal", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))
    ax.set_axis_off()
    ax.set_title(f"angular momentum of {name}\nin principal axes, on the unit sphere", fontsize=10, color=INK)


def polhodes(moments: Array, count: int = 7) -> list[Array]:
    """Curves (n, 3) where energy ellipsoids sum Pi_k^2 / I_k = const intersect the unit sphere. Moments ascend."""
    s = np.linspace(0, 2 * np.pi, 361)
    curves = []
    inverse = 1 / moments
    for end, (a, b) in ((0, (1, 2)), (2, (0, 1))):
        if abs(inverse[end] - inverse[1]) < 1e-9 * inverse[1]:
            continue
        for share in np.linspace(0.08, 0.92, count) ** 1.5:
            energy = inverse[end] + share * (inverse[1] - inverse[end])
            r2 = (energy - inverse[end]) / (np.cos(s) ** 2 * inverse[a] + np.sin(s) ** 2 * inverse[b] - inverse[end])
            for sign in (1, -1):
                curve = np.empty((s.size, 3))
                r = np.sqrt(r2)
                curve[:, a], curve[:, b], curve[:, end] = (
                    r * np.cos(s),
                    r * np.sin(s),
                    sign * np.sqrt(np.maximum(1 - r2, 0)),
                )
                curves.append(curve)
    return curves


PICTURES: dict[str, Callable[[Run, Sequence[str | None], int | None], list[Panel]]] = {
    "energy": _energy, "momentum": _momentum, "phase": _phase, "polhode": _polhode, "margins": _margins,
    **flight_pictures.PICTURES_OF_FLIGHT,
}  # fmt: skip
NOT_OVER_TIME = ("polhode", "phase", *flight_pictures.NOT_OVER_TIME)
