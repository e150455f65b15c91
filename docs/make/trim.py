"""Make docs/pictures/trim-*.png: modes and the envelope of the aircraft of docs/trim-and-modes.md."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import poinsot as pt
from poinsot.show.envelope_plots import plot_envelope, plot_vn

DOCS = Path(__file__).parent.parent
plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
LONGITUDINAL = {"free": ("alpha", "thrust", "elevator"), "zero": ("u", "w", "q")}


def aircraft() -> pt.World:
    """The world that the page begins with."""
    text = (DOCS / "trim-and-modes.md").read_text()
    names: dict = {}
    exec(re.search(r"```python\n(.*?)```", text, re.S)[1], names)
    return names["world"]


def modes(world: pt.World) -> None:
    speeds = np.linspace(35, 80, 46)
    linear = world.linearise(world.trim("level", vary={"airspeed": speeds}))
    figure = plt.figure(figsize=(11, 4.6), layout="constrained")
    left, right = figure.subfigures(1, 2)
    plane = left.subplots()
    linear.root_locus(speeds, label="airspeed [m/s]", ax=plane)
    for name in ("short period", "phugoid", "Dutch roll", "roll"):
        value = linear[30].modes()[name]
        plane.annotate(name, (value.real, value.imag), textcoords="offset points", xytext=(8, 6), fontsize=9)
    linear[30].bode("q", "elevator", omega=np.geomspace(0.02, 50, 400), ax=right.subplots(2, 1))
    figure.savefig(DOCS / "pictures/trim-modes.png", dpi=110)


def envelope(world: pt.World) -> None:
    world.input_limits["thrust"] = (0, 1300)
    data = pt.envelope(
        world, np.linspace(20, 90, 36), np.linspace(0, 8000, 21), limits={"alpha": (-0.2, 0.3)}, **LONGITUDINAL
    )
    loads = pt.vn_diagram(
        weight=1100 * 9.81, area=16.2, chord=1.5, lift_slope=4.6, lift_limits=(-1.0, 1.5), load_limits=(-1.52, 3.8),
        cruise=54, dive=81,
    )  # fmt: skip
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    plot_envelope(data, ax=left)
    left.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, 1.16), ncols=3)
    plot_vn(loads, ax=right)
    figure.savefig(DOCS / "pictures/trim-envelope.png", dpi=110)


if __name__ == "__main__":
    modes(aircraft())
    envelope(aircraft())
