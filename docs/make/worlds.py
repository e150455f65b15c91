"""The pictures of docs/worlds.md: a box thrown onto the ground, and the residuals of the ledger of a mixed world."""

from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import poinsot as pt
from poinsot.spatial import quaternion

BLUE, RED, GREY, GREEN = "#2b6cb0", "#c05621", "#8d99ae", "#2f855a"
PICTURES = Path(__file__).parent.parent / "pictures"
plt.rcParams.update({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False})


def thrown_box() -> pt.Run:
    """A box that flies, hits the ground with an edge, tumbles and comes to rest; it stays in the plane y = 0."""
    size = np.array([0.5, 0.4, 0.3])
    corners = size / 2 * [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    world = pt.World()
    world.add_body(
        "box",
        pt.Inertia.box(5.0, size),
        position=(0, 0, 1.0),
        orientation=quaternion.exp(np.array([0, 0.4, 0])),
        velocity=(2.0, 0, 0.5),
        angular_velocity=(0, 5.0, 0),
    )
    world.add_contact("corners", "box", corners, stiffness=2e4, damping=1.0, friction=0.6)
    return world.simulate(4.0, 1e-4, every=0.01)


def draw_box(axes: plt.Axes, run: pt.Run) -> None:
    half = np.array([0.25, 0.15])
    outline = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) * half
    shown = np.concatenate([np.arange(0, 60, 6), [len(run.time) - 1]])
    for k in shown:
        q, p = run["box"].orientation.values[k], run["box"].position.values[k]
        R = quaternion.to_matrix(q)
        points = p + outline @ np.array([R[:, 0], R[:, 2]])
        last = k == shown[-1]
        axes.fill(points[:, 0], points[:, 2], color=RED if last else BLUE, alpha=0.5 if last else 0.10, lw=0)
        axes.plot(points[:, 0], points[:, 2], color=RED if last else BLUE, lw=1.6 if last else 0.9)
    axes.plot(run["box"].position[:, 0], run["box"].position[:, 2], ":", color=GREY, lw=1.2)
    axes.axhline(0, color="#4a5568", lw=1.5)
    axes.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", ylim=(-0.05, 1.4))
    axes.set_title("A thrown box, every 60 ms, and its final position", loc="left", fontsize=12)


def draw_energy(axes: plt.Axes, run: pt.Run) -> None:
    total, kinetic = run.data.energy.values, run.data.kinetic_energy.values
    axes.plot(run.time, total, color=RED, lw=1.8)
    axes.plot(run.time, kinetic, color=BLUE, lw=1.4)
    axes.annotate("total", (1.35, total[135] + 2), color=RED)
    axes.annotate("kinetic", (0.33, kinetic[38] + 4), color=BLUE, ha="right")
    axes.set(xlabel="time [s]", ylabel="energy [J]", xlim=(0, 2), ylim=(0, None))
    axes.set_title("Its energy only decreases", loc="left", fontsize=12)
    axes.grid(True, color="#e8ecf1", lw=0.8)


def mixed() -> pt.World:
    """A free body, an arm of two joints, a net of particles, and springs between them."""
    world = pt.World()
    box = pt.Inertia.box(2.0, (0.1, 0.2, 0.3))
    world.add_body("box", box, position=(0.5, 0.2, 1.0), velocity=(0.1, 0.2, 0.3), angular_velocity=(1.0, 2.0, -1.0))
    hang = pt.Pose(p=(0, 0, -0.25))
    arm = pt.universal((1, 0, 0), (0, 1, 0))
    world.add_body("arm", hang @ pt.Inertia.cylinder(1.0, 0.02, 0.5), joint=arm, placement=(0, 0, 2), q=(0.3, -0.2))
    wrist = pt.revolute((1, 0, 0), damping=0.02, stiffness=0.5)
    world.add_body("hand", hang @ pt.Inertia.cylinder(0.4, 0.02, 0.5), "arm", wrist, (0, 0, -0.5), v=1.0)
    corners = np.array([(0, 0, 0), (0.3, 0, 0), (0.3, 0.3, 0), (0, 0.3, 0.05)]) + (1.0, 0.0, 1.5)
    net = pt.Particles(np.array([0.1, 0.2, 0.1, 0.3]), corners, np.zeros((4, 3)))
    world.add_particles("net", net, pt.Springs.unstretched(net, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], 40.0, 0.05))
    world.add_spring("line", "hand", "box", 30.0, 0.4, 0.1, point_a=(0, 0, -0.5), point_b=(0.05, 0.1, 0.15))
    world.add_spring("hook", "net2", "box", 20.0, 0.2, 0.0, point_b=(-0.05, 0, 0))
    return world


def draw_ledger(axes: plt.Axes) -> None:
    world, steps = mixed(), 0.016 / 2.0 ** np.arange(8)
    colors = {"euler": GREY, "midpoint": GREEN, "rk4": BLUE}
    for method, color in colors.items():
        residuals = np.array([world.simulate(0.8, h, method=method).ledger.relative_residual.max() for h in steps])
        axes.loglog(steps, residuals, "o-", color=color, lw=1.8, ms=5)
        axes.annotate(method, (steps[4], 3 * residuals[4]), color=color, ha="right")
        orders = [np.log2(a / b) for a, b in pairwise(residuals)]
        print(method, " ".join(f"{x:.1e}" for x in residuals), "orders", " ".join(f"{o:.1f}" for o in orders))
    axes.set(xlabel="step [s]", ylabel="largest relative residual")
    axes.set_title("A free body, an arm, a net: residuals of the ledger", loc="left", fontsize=12)
    axes.grid(True, color="#e8ecf1", lw=0.8)


run = thrown_box()
print(run.ledger)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 4.0), dpi=110, layout="constrained", gridspec_kw={"width_ratios": [1.5, 1]}
)
draw_box(left, run)
draw_energy(right, run)
figure.savefig(PICTURES / "worlds.png")
figure, axes = plt.subplots(figsize=(7, 4.2), dpi=110, layout="constrained")
draw_ledger(axes)
figure.savefig(PICTURES / "ledger.png")
