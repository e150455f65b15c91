"""Make docs/pictures/springs-cost.png: what a body of springs costs, and print the table of the page.

De Nivelle, section 2: simulated as point masses and springs, an object costs the square of its points, and tiny steps.
A cube of points, each joined to every other or to its neighbours only, with springs so stiff that its slowest vibration
has 10 Hz whatever the number of points is. Processor time of one thread; the step is the longest that is stable, and
the script checks that: one that is 5 % shorter stays, one that is 5 % longer diverges.
"""

from itertools import product
from pathlib import Path
from time import process_time

import matplotlib.pyplot as plt
import numpy as np

import poinsot as pt
from poinsot import fuse
from poinsot.integrate import single
from poinsot.particles import Particles, Springs, Stepper

BLUE, RED, GREY, INK = "#2a6f97", "#d1495b", "#8d99ae", "#0a2f5c"
SLOWEST = 2 * np.pi * 10  # rad/s
SIDES = (2, 3, 4, 5, 6, 7, 8)
fuse.set_threads(1)


def cube(side, neighbours):
    """side^3 points of a cube of one metre and one kilogram, and pairs: of neighbours (26 of each), or all."""
    grid = np.array(list(product(range(side), repeat=3)))
    i, j = np.triu_indices(len(grid), 1)
    if neighbours:
        near = np.abs(grid[i] - grid[j]).max(axis=1) == 1
        i, j = i[near], j[near]
    x = (grid - (side - 1) / 2) / (side - 1)
    return Particles(np.full(len(x), 1 / len(x)), x), np.stack([i, j], axis=1)


def frequencies(o, pairs):
    """The slowest vibration and the fastest [rad/s], for springs of 1 N/m."""
    n, d = len(o), o.positions[pairs[:, 1]] - o.positions[pairs[:, 0]]
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    blocks, K = d[:, :, None] * d[:, None, :], np.zeros((n, n, 3, 3))
    for a, b in ((0, 1), (1, 0)):
        np.add.at(K, (pairs[:, a], pairs[:, a]), blocks)
        np.add.at(K, (pairs[:, a], pairs[:, b]), -blocks)
    squares = np.linalg.eigvalsh(K.transpose(0, 2, 1, 3).reshape(3 * n, 3 * n)) / o.masses[0]
    return np.sqrt(squares[6]), np.sqrt(squares[-1])  # the first six are the rigid motions


def is_stable(o, springs, step):
    """Whether a small vibration stays small over 400 steps."""
    noise = 1e-6 * np.random.default_rng(1).normal(size=o.positions.shape)
    stepper = Stepper(Particles(o.masses, o.positions, noise), springs, step=step)
    try:
        stepper.advance(400)
    except FloatingPointError:
        return False
    return bool(np.abs(stepper.particles.positions - o.positions).max() < 1e-3)


def seconds_per_step(advance, steps):
    """The least processor time of one step, of five rounds."""
    advance(steps)
    best = np.inf
    for _ in range(5):
        start = process_time()
        advance(steps)
        best = min(best, (process_time() - start) / steps)
    return best


def measured(side, neighbours):
    """Points, springs, seconds of one step, longest stable step [s]."""
    o, pairs = cube(side, neighbours)
    slowest, fastest = frequencies(o, pairs)
    stiffness = (SLOWEST / slowest) ** 2
    springs, limit = Springs.unstretched(o, pairs, stiffness), 2 / (fastest * SLOWEST / slowest)
    assert is_stable(o, springs, 0.95 * limit)
    assert not is_stable(o, springs, 1.05 * limit)
    stepper = Stepper(o, springs, step=0.5 * limit)
    return len(o), len(springs), seconds_per_step(stepper.advance, max(20, 200_000 // len(springs))), limit


def rigid():
    """Seconds of one step of a rigid body that spins once per second, and the step for 1e-3 rad after that second."""
    body, V = pt.Inertia.box(1.0, (1.0, 0.8, 0.6)), np.array([2 * np.pi, 0.5, 0.5, 0, 0, 0])
    enter, advance, leave = single.compiled("splitting", body, lambda t, X, V: np.zeros(6))
    start = enter(np.eye(3), np.zeros(3), V)

    def orientation(steps):
        return leave(*advance(*start, 0.0, 1.0 / steps, steps))[1]

    exact = orientation(4096)
    steps = next(n for n in range(4, 400) if 2 * np.linalg.norm(orientation(n) - exact) < 1e-3)
    return seconds_per_step(orientation, 100_000), 1.0 / steps


def draw(rows, rigid_time, rigid_step):
    plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), dpi=110, layout="constrained")
    n = rows["all"][:, 0]
    for name, colour, label in (
        ("all", RED, "every point joined\nto every other"),
        ("neighbours", BLUE, "neighbours only"),
    ):
        _, _, seconds, limit = rows[name].T
        for axis, values in zip(axes, (1e6 * seconds, 1e3 * limit, 1e3 * seconds / limit), strict=True):
            axis.loglog(n, values, "o-", color=colour, lw=1.8, ms=5, label=label)
    for axis, values, power, words, offset in (
        (axes[0], 1e6 * rows["all"][:, 2], 2, "∝ points²", (-8, 0)),
        (axes[1], 1e3 * rows["neighbours"][:, 3], -1 / 3, "∝ 1/∛points", (8, 6)),
    ):
        guide = 1.5 * values[-1] * (n[3:] / n[-1]) ** power
        axis.loglog(n[3:], guide, "--", color=GREY, lw=1)
        side = "right" if power > 0 else "left"
        axis.annotate(words, (n[4], guide[1]), color=GREY, ha=side, xytext=offset, textcoords="offset points")
    for axis, value in zip(axes, (1e6 * rigid_time, 1e3 * rigid_step, 1e3 * rigid_time / rigid_step), strict=True):
        axis.axhline(value, color=INK, lw=1.8, label="rigid body")
        axis.set_xlabel("points")
        axis.set_xticks(n, [f"{k:.0f}" for k in n])
        axis.minorticks_off()
        axis.grid(True, color="#e8ecf1", lw=0.8)
    axes[1].set_yticks([4, 6, 10, 20, 40], ["4", "6", "10", "20", "40"])
    axes[0].set_title("Processor time of one step [µs]", loc="left", fontsize=12)
    axes[1].set_title("Longest step [ms]", loc="left", fontsize=12)
    axes[2].set_title("Processor time of one second [ms]", loc="left", fontsize=12)
    axes[2].legend(frameon=False, fontsize=10, loc="lower left", bbox_to_anchor=(0.0, 0.12))
    return figure


def table(rows, rigid_time, rigid_step):
    head = ["points", "springs, all", "step", "springs, neighbours", "step", "longest step, all", "neighbours"]
    print(f"| {' | '.join(head)} |\n|{'--:|' * len(head)}")
    for (n, e, t, h), (_, e2, t2, h2) in zip(rows["all"], rows["neighbours"], strict=True):
        times = f"{1e6 * t:.3g} µs | {e2:.0f} | {1e6 * t2:.3g} µs | {1e3 * h:.3g} ms | {1e3 * h2:.3g} ms"
        print(f"| {n:.0f} | {e:.0f} | {times} |")
    print(f"rigid body: {1e9 * rigid_time:.3g} ns, {1e3 * rigid_step:.3g} ms")


if __name__ == "__main__":
    rows = {name: np.array([measured(side, name == "neighbours") for side in SIDES]) for name in ("all", "neighbours")}
    found = rows, *rigid()
    table(*found)
    draw(*found).savefig(Path(__file__).parent.parent / "pictures" / "springs-cost.png")
