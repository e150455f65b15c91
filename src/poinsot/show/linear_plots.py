"""Plots of linear models: Bode, root locus over a sweep, flutter diagram."""

from typing import Any

import numpy as np

from poinsot._optional import require
from poinsot._types import Array
from poinsot.show.plot_style import COLOURS, GREY, STYLE, given_axes
from poinsot.study.linear import Linear


def axes_for(ax: Any, rows: int, height: float = 2.6) -> list[Any]:
    """Axes to draw into: those given, one or several, or those of a new figure below each other."""
    plt = require("matplotlib.pyplot", "view", "plotting")
    if ax is not None:
        return given_axes(ax, rows)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(rows, 1, figsize=(6.4, height * rows + 0.4), squeeze=False, layout="constrained")
    del figure
    return list(axes[:, 0])


def bode(linear: Linear, output: str, input: str, omega: Any = None, ax: Any = None) -> Any:
    """Gain [dB] and phase [deg] of an output by an input, over omega [rad/s]; of many models, one line each."""
    if omega is None:
        sizes = np.abs(linear.eigenvalues())
        sizes = sizes[sizes > 1e-9 * sizes.max(initial=1.0)]
        low, high = (sizes.min(), sizes.max()) if sizes.size else (1.0, 1.0)
        omega = np.geomspace(0.1 * low, 10 * high, 600)
    omega = np.asarray(omega, dtype=float)
    response = np.atleast_2d(linear.response(omega, output, input))
    gain, phase = axes_for(ax, 2)
    for k, one in enumerate(response):
        colour = COLOURS[k % len(COLOURS)]
        with np.errstate(divide="ignore"):
            gain.semilogx(omega, 20 * np.log10(np.abs(one)), color=colour)
        phase.semilogx(omega, np.degrees(np.unwrap(np.angle(one))), color=colour)
    gain.set(ylabel="gain [dB]", title=f"{output} by {input}")
    phase.set(xlabel="frequency [rad/s]", ylabel="phase [deg]")
    return gain.figure


def root_locus(linear: Linear, over: Any = None, label: str = "", ax: Any = None) -> Any:
    """The eigenvalues [1/s] of many models in the complex plane, each on its way; over: a number per model, shown as a
    colour, with its label."""
    (plane,) = axes_for(ax, 1, 4.4)
    values = tracked(np.atleast_2d(linear.eigenvalues()))
    over = np.arange(len(values)) if over is None else np.asarray(over, dtype=float)
    plane.axvline(0.0, color=GREY, linewidth=0.8)
    plane.plot(values.real, values.imag, color=GREY, linewidth=0.8, zorder=1)
    many = np.broadcast_to(over[:, None], values.shape)
    dots = plane.scatter(values.real.ravel(), values.imag.ravel(), c=many.ravel(), s=14, cmap="viridis", zorder=2)
    if len(values) > 1:
        plane.figure.colorbar(dots, ax=plane, label=label)
    plane.set(xlabel="real part [1/s]", ylabel="imaginary part [rad/s]")
    return plane.figure


def flutter(linear: Linear, speeds: Any, below: float = np.inf, ax: Any = None, label: str = "speed [m/s]") -> Any:
    """Damping ratio and frequency [rad/s] of all oscillations over the speed [m/s]; those `below` a frequency. label:
    of what they are over, if it is not the speed."""
    speeds = np.asarray(speeds, dtype=float)
    values = tracked(np.atleast_2d(linear.eigenvalues()))
    if len(values) != len(speeds):
        raise ValueError(f"{len(speeds)} speeds for {len(values)} linear models.")
    damping, frequency = axes_for(ax, 2)
    damping.axhline(0.0, color=GREY, linewidth=0.8)
    shown = 0
    for way in values.T:
        swings = (way.imag > 1e-9) & (np.abs(way) < below)
        if not swings.any():
            continue
        size, colour = np.abs(np.where(swings, way, 1.0)), COLOURS[shown % len(COLOURS)]
        damping.plot(speeds, np.where(swings, -way.real / size, np.nan), color=colour)
        frequency.plot(speeds, np.where(swings, way.imag, np.nan), color=colour)
        shown += 1
    damping.set(ylabel="damping ratio")
    frequency.set(xlabel=label, ylabel="frequency [rad/s]")
    return damping.figure


def tracked(values: Array) -> Array:
    """Eigenvalues (b, n) in an order in which each column is one way through the sweep: the nearest to where the way
    would go on straight."""
    optimize = require("scipy.optimize", "adaptive", "following eigenvalues through a sweep")
    found = [values[0]]
    for now in values[1:]:
        ahead = found[-1] if len(found) < 2 else 2 * found[-1] - found[-2]
        rows, columns = optimize.linear_sum_assignment(np.abs(ahead[:, None] - now[None, :]))
        found.append(now[columns[np.argsort(rows)]])
    return np.array(found)
