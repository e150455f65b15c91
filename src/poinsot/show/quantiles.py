"""Plots of sweeps: quantiles over time, or how often outputs have which value; both over the varied parameters."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from poinsot._optional import require
from poinsot.show.flight_pictures import draw_dispersion
from poinsot.show.plot_style import COLOURS, INK, STYLE, given_axes
from poinsot.show.plots import saved
from poinsot.study.quantities import names, pick, unit_of, with_unit
from poinsot.study.swept import QUANTILES, Sweep, columns

DOTS = 4000  # at most, in a scatter plot
PANELS = 4


def quantile_plot(
    sweep: Sweep, what: Sequence[str] | None = None, path: str | os.PathLike[str] | None = None, ax: Any = None
) -> Any:
    """A matplotlib figure: the median and bands of each quantity over time, and final values over varied parameters.

    Of an output, a histogram, and its values over varied parameters. A pair, "north:west", is drawn as points with the
    ellipses that hold 50, 90 and 99 % of them.

    path: where to write it, as .png, .pdf, .svg ... ax: axes of matplotlib to draw into, one per panel, row by row, or
    one per pair.
    """
    require_some(sweep)
    plt = require("matplotlib.pyplot", "view", "plotting")
    if what and any(":" in name for name in what):
        return _dispersions(plt, sweep, what, path, ax)
    known = names(sweep.data)
    usual = sweep.outputs or [name for name in known if ".position." in name or name.endswith(".q")]
    chosen = list(what or usual or known)[:PANELS]
    if not chosen:
        raise ValueError("the sweep has recorded nothing that can be plotted; record a quantity such as position.")
    shown = dict(list(columns(sweep.varied).items())[:2])
    with plt.rc_context(STYLE):
        axes = _panels(plt, len(chosen), len(shown)) if ax is None else _rows(ax, len(chosen), 1 + len(shown))
        for row, name in zip(axes, chosen, strict=True):
            (_histogram if name in sweep.outputs else _bands)(row[0], sweep, name)
            for panel, (label, x) in zip(row[1:], shown.items(), strict=True):
                below = with_unit(label, sweep.unit_of_varied(label))
                _scatter(panel, x, sweep.at_end(name), below, _of_instances(sweep, name))
        if ax is None:
            _share_labels(axes[:, 1:] if any(name in sweep.outputs for name in chosen) else axes)
    return saved(axes[0, 0].figure, path)


def require_some(sweep: Sweep) -> None:
    """An error if there is nothing to be shown yet."""
    if not sweep.done:
        raise ValueError(f"'{sweep.path}': none of the {sweep.n:,} instances is done; give the same sweep again.")


def _panels(plt: Any, rows: int, parameters: int) -> Any:
    """The axes (rows, 1 + parameters) of a new figure."""
    return plt.subplots(
        rows, 1 + parameters, figsize=(4.6 + 2.6 * parameters, 0.6 + 2.5 * rows), squeeze=False,
        layout="constrained", width_ratios=(1.7, *[1] * parameters),
    )[1]  # fmt: skip


def _rows(ax: Any, rows: int, columns: int) -> Any:
    """The axes (rows, columns) that a user gave."""
    return np.array(given_axes(ax, rows * columns), dtype=object).reshape(rows, columns)


def _share_labels(axes: Any) -> None:
    """Below each other, only the last panel says what is along x."""
    for panel in axes[:-1].flat:
        panel.tick_params(labelbottom=False)
        panel.set_xlabel("")


def _dispersions(plt: Any, sweep: Sweep, what: Sequence[str], path: str | os.PathLike[str] | None, ax: Any) -> Any:
    """A panel per pair of outputs, or of quantities at the end."""
    pairs = [tuple(name.split(":", 1)) for name in what]
    if not all(len(pair) == 2 for pair in pairs):
        raise ValueError(f"{', '.join(what)}: pairs, such as north:west, are drawn by themselves.")
    with plt.rc_context(STYLE):
        if ax is None:
            size = (0.6 + 5.0 * len(pairs), 4.8)
            places = list(plt.subplots(1, len(pairs), figsize=size, squeeze=False, layout="constrained")[1][0])
        else:
            places = given_axes(ax, len(pairs))
        for place, (a, b) in zip(places, pairs, strict=True):
            labels = _named(sweep, a), _named(sweep, b)
            draw_dispersion(place, sweep.at_end(a), sweep.at_end(b), labels, f"{b} over {a}")
    return saved(places[0].figure, path)


def _named(sweep: Sweep, name: str) -> str:
    """A name with its unit; of an output, also what it is of."""
    if name in sweep.outputs:
        about = sweep.data[name].attrs
        text, unit = f"{name} = {about.get('description', '')}", str(about.get("units", ""))
    else:
        text, unit = name, unit_of(pick(sweep.data, name), name)
    return with_unit(text, unit)


def _of_instances(sweep: Sweep, name: str) -> str:
    """The title of values over a parameter."""
    if name not in sweep.outputs:
        return "final value"
    unit = str(sweep.data[name].attrs.get("units", ""))
    return with_unit(name, unit)


def _bands(ax: Any, sweep: Sweep, name: str) -> None:
    time = sweep.data["time"].values
    low, lower, middle, upper, high = sweep.quantiles(name, QUANTILES)
    ax.fill_between(time, low, high, color=COLOURS[0], alpha=0.15, lw=0, label="90 % of instances")
    ax.fill_between(time, lower, upper, color=COLOURS[0], alpha=0.3, lw=0, label="50 % of instances")
    ax.plot(time, middle, color=COLOURS[0], lw=1.6, label="median")
    ax.set_title(_named(sweep, name), fontsize=10, color=INK)
    ax.set_xlabel("time [s]")
    ax.grid(color="#e6eaf0", lw=0.8)
    ax.margins(x=0.0)
    ax.legend(frameon=False, fontsize=8)


def _histogram(ax: Any, sweep: Sweep, name: str) -> None:
    values = sweep.at_end(name)
    ax.hist(values[np.isfinite(values)], bins=40, color=COLOURS[0], alpha=0.6)
    ax.set_title(_named(sweep, name), fontsize=10, color=INK)
    ax.set_ylabel("instances")
    ax.grid(color="#e6eaf0", lw=0.8)


def _scatter(ax: Any, x: Any, y: Any, label: str, title: str) -> None:
    some = slice(None, None, max(1, len(x) // DOTS))
    ax.plot(x[some], y[some], ".", ms=2.5, alpha=0.4, color=COLOURS[1], mew=0, rasterized=True)
    ax.set_title(title, fontsize=10, color=INK)
    ax.set_xlabel(label)
    ax.grid(color="#e6eaf0", lw=0.8)
