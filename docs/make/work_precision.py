"""Make docs/pictures/work-precision.png: the error in the attitude of a free brick over the time it took.

Prints all points as a table. Times are CPU time on one core, without compilation; all methods alternate in rounds, and
the best round counts.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from case import Work  # noqa: E402
from free_top import angle, exact, heyoka, mujoco, ours, ours_adaptive, processor_time, scipy  # noqa: E402
from poinsot import fuse  # noqa: E402
from poinsot.integrate.single import METHODS  # noqa: E402

ROUNDS, PATIENCE = 12, 0.2  # methods that take longer [s] have two rounds
TOLERANCES = tuple(10.0**-k for k in (3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))


def ladder(first: float, last: float, each: int = 3) -> tuple[int, ...]:
    """Numbers of steps, `each` of them per factor of ten."""
    return tuple(int(round(n, -1)) for n in 10 ** np.arange(np.log10(first), np.log10(last) + 1e-9, 1 / each))


@dataclass(frozen=True)
class Curve:
    name: str
    method: Callable[[float, int], Work]
    settings: tuple[float, ...]
    colour: str
    marker: str
    batch: int = 0  # bodies times steps in one call; 0: one at a time only
    lanes: int = 0  # bodies side by side, where their number is fixed
    line: str = "-"


@dataclass
class Point:
    curve: Curve
    setting: float
    bodies: int
    work: Work
    error: float
    times: list[float] = field(default_factory=list)

    @property
    def time(self) -> float:
        """The time per body [s]."""
        return min(self.times) / self.bodies


def ours_curve(name: str, colour: str, marker: str, first: int, last: int, each: int = 3) -> list[Curve]:
    if name not in METHODS:
        return []
    return [Curve(name, partial(ours, name), ladder(first, last, each), colour, marker, batch=2_000_000)]


CURVES = (
    *ours_curve("peskin", "#9cc5e0", "v", 10_000, 1_000_000, each=2),
    *ours_curve("implicit midpoint", "#6fb3b8", "^", 3_000, 100_000),
    *ours_curve("splitting", "#4c9ac4", "D", 3_000, 1_000_000),
    *ours_curve("rk4", "#a99bd8", "s", 3_000, 300_000),
    *ours_curve("rkmk4", "#7a66c8", "p", 2_000, 200_000),
    *ours_curve("splitting4", "#1d6fa5", "o", 1_000, 200_000),
    *ours_curve("rk4, body frame", "#4b3aa0", "h", 1_000, 200_000),
    *ours_curve("poinsot", "#0a2f5c", "*", 200, 640, each=12),
    Curve("DOP853, our derivative", ours_adaptive, TOLERANCES[2:11:2], "#7fa08f", "P"),
    Curve("heyoka, Taylor series", heyoka, TOLERANCES, "#d1495b", "o", lanes=8, line="--"),
    Curve("SciPy DOP853", scipy, TOLERANCES[:11:2], "#8d99ae", "X", line="--"),
    Curve("MuJoCo RK4", partial(mujoco, "RK4"), ladder(2_000, 200_000, 2), "#e09f3e", "s", line="--"),
    Curve("MuJoCo Euler", partial(mujoco, "EULER"), ladder(1e5, 1e6, 2), "#c9a66b", "v", line="--"),
    Curve("MuJoCo implicitfast", partial(mujoco, "IMPLICITFAST"), ladder(1e5, 1e6, 2), "#8c6d3f", "^", line="--"),
)


def points(curve: Curve, many: bool) -> list[Point]:
    points = []
    for setting in curve.settings:
        bodies = (curve.lanes or min(4096, max(64, curve.batch // int(setting) // 8 * 8))) if many else 1
        work = curve.method(setting, bodies)
        error = angle(np.atleast_2d(work())[:1], exact(1))
        points.append(Point(curve, setting, bodies, work, error))
    return points


def measure() -> tuple[list[Point], list[Point]]:
    """One body at a time, and many."""
    fuse.set_threads(1)
    one = [point for curve in CURVES for point in points(curve, many=False)]
    many = [point for curve in CURVES if curve.batch or curve.lanes for point in points(curve, many=True)]
    for round_ in range(ROUNDS):
        for point in one + many:
            if round_ < 2 or min(point.times) < PATIENCE:
                point.times.append(processor_time(point.work))
    return one, many


def draw(panels: tuple[list[Point], list[Point]]) -> plt.Figure:
    plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(1, 2, figsize=(10, 5.9), dpi=110, sharey=True, layout="constrained")
    titles = "One body", "Many bodies in a batch, time per body"
    for axis, points, title in zip(axes, panels, titles, strict=True):
        for curve, group in groupby(points, key=lambda point: point.curve):
            times, errors = zip(*((point.time, point.error) for point in group), strict=True)
            size = 10 if curve.marker == "*" else 6
            style = {"marker": curve.marker, "ms": size, "mew": 0, "color": curve.colour, "ls": curve.line, "lw": 1.6}
            axis.plot(times, errors, label=curve.name, **style)
        axis.set(xscale="log", yscale="log", ylim=(3e-13, 5), xlabel="time for 100 revolutions of the brick [s]")
        axis.set_yticks([10.0**-k for k in range(0, 13, 2)])
        axis.set_title(title, loc="left")
        axis.grid(color="#e6eaf0", lw=0.8)
        axis.minorticks_off()
    axes[0].set_ylabel("final error of the attitude [rad]")
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=5, frameon=False, fontsize=10, handlelength=2.6)
    return figure


def table(panels: tuple[list[Point], list[Point]]) -> None:
    print("| method | steps or tolerance | error [rad] | one body [ms] | of many [ms] |\n|---|--:|--:|--:|--:|")
    batched = {(point.curve.name, point.setting): f"{1e3 * point.time:.4f}" for point in panels[1]}
    for point in panels[0]:
        key = point.curve.name, point.setting
        print(f"| {key[0]} | {key[1]:g} | {point.error:.1e} | {1e3 * point.time:.3f} | {batched.get(key, '')} |")


if __name__ == "__main__":
    measured = measure()
    table(measured)
    draw(measured).savefig(ROOT / "docs" / "pictures" / "work-precision.png")
