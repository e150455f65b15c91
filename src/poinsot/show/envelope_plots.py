"""Plots of where an aircraft can fly: the envelope with its limits, the V-n diagram, turns."""

from typing import Any

import numpy as np

from poinsot.show.linear_plots import axes_for
from poinsot.show.plot_style import COLOURS, GREY


def plot_envelope(data: Any, ax: Any = None) -> Any:
    """Speeds and altitudes [km] at which `pt.envelope` found a trim, and elsewhere the limit that binds, by colour."""
    (plane,) = axes_for(ax, 1, 4.4)
    speed = next(name for name in ("airspeed", "mach") if name in data.dims)
    V, H = np.meshgrid(data[speed].values, data["altitude"].values / 1e3)
    ok, limit = data["flyable"].values, data["limit"].values
    plane.scatter(V[ok], H[ok], s=16, color=COLOURS[0], label="flyable")
    for k, word in enumerate(sorted({str(x) for x in limit[~ok]})):
        at = ~ok & (limit == word)
        plane.scatter(V[at], H[at], s=10, marker="x", color=COLOURS[1:][k % (len(COLOURS) - 1)], label=word)
    plane.set(xlabel="airspeed [m/s]" if speed == "airspeed" else "Mach number", ylabel="altitude [km]")
    plane.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return plane.figure


def plot_vn(data: Any, ax: Any = None) -> Any:
    """The load factors of `pt.vn_diagram` over the equivalent airspeed [m/s], with the lines of gusts."""
    (plane,) = axes_for(ax, 1, 4.2)
    V = data["airspeed"].values
    plane.fill_between(V, data["lower"].values, data["upper"].values, color=COLOURS[0], alpha=0.12, linewidth=0)
    for side in ("upper", "lower"):
        plane.plot(V, data[side].values, color=COLOURS[0], label="envelope" if side == "upper" else None)
        plane.plot(V, data[f"manoeuvre_{side}"].values, color=COLOURS[1], linewidth=1.0,
                   label="manoeuvres" if side == "upper" else None)  # fmt: skip
    for name in data.data_vars:
        if str(name).startswith("gust_"):
            label = str(name).split("_")[1] + " gust" if str(name).endswith("up") else None
            style = "--" if "cruise" in str(name) else ":"
            plane.plot(V, data[name].values, style, color=GREY, linewidth=1.0, label=label)
    plane.axhline(0.0, color=GREY, linewidth=0.6)
    plane.set(xlabel="equivalent airspeed [m/s]", ylabel="load factor")
    plane.legend(frameon=False, fontsize=9)
    return plane.figure


def plot_turns(data: Any, ax: Any = None) -> Any:
    """Turn rates [deg/s] of `pt.turn_performance` over the airspeed [m/s], for some load factors, and the sustained."""
    (plane,) = axes_for(ax, 1, 4.2)
    V, loads, rate = data["airspeed"].values, data["load_factor"].values, np.degrees(data["turn_rate"].values)
    for k in np.unique(np.linspace(0, len(loads) - 1, 6).astype(int)):
        plane.plot(V, rate[:, k], color=GREY, linewidth=1.0)
        last = np.flatnonzero(np.isfinite(rate[:, k]))
        if len(last):
            plane.annotate(f"n = {loads[k]:.3g}", (V[last[-1]], rate[last[-1], k]), fontsize=8, color=GREY)
    plane.plot(V, np.degrees(data["sustained_rate"].values), color=COLOURS[0], label="sustained")
    plane.set(xlabel="airspeed [m/s]", ylabel="turn rate [deg/s]")
    plane.legend(frameon=False)
    return plane.figure
