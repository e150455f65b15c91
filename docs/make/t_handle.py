"""Make docs/pictures/t-handle.png: the flipping T-handle, its spin over time and its path on the momentum sphere."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from poinsot.spatial import rotation
from poinsot.t_handle import spin, t_handle

BLUE, RED, GREY, PALE = "#2a6f97", "#d1495b", "#8d99ae", "#a9bccf"

body = t_handle()
I = np.diag(body.moment)
motion = spin()

plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.3), dpi=110, width_ratios=(1.75, 1), layout="constrained")
for k, colour, name in ((0, BLUE, "x, stem (middle moment)"), (1, RED, "y, bar (least)"), (2, GREY, "z (greatest)")):
    left.plot(motion.time, motion.angular_velocity[:, k], color=colour, label=name, lw=1.8)
left.set(xlabel="time [s]", ylabel="angular velocity in body axes [rad/s]", xlim=(0, 60))
left.set_title("A T-handle in free fall flips every 10 s", loc="left")
left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=3, frameon=False, fontsize=10)

R = rotation.about_x(-np.pi / 2 + 0.38) @ rotation.about_z(-0.75)  # how we look at the sphere


def draw(curve: np.ndarray, **style: object) -> None:
    """A curve (3, n) on the unit sphere: bright in front, pale behind."""
    x, y, depth = R @ curve
    for visible, alpha in ((depth > 0, 1.0), (depth <= 0, 0.18)):
        right.plot(np.where(visible, x, np.nan), np.where(visible, y, np.nan), alpha=alpha, **style)


def polhode(energy: float) -> list[np.ndarray]:
    """Where the ellipsoid sum(Pi_k^2 / I_k) = energy cuts the unit sphere: two curves about one axis."""
    c = 2 if energy < 1 / I[0] else 1
    a, b = (k for k in range(3) if k != c)
    s = np.linspace(0, 2 * np.pi, 721)
    r2 = (energy - 1 / I[c]) / (np.cos(s) ** 2 / I[a] + np.sin(s) ** 2 / I[b] - 1 / I[c])
    curves = []
    for sign in (1, -1):
        curve = np.empty((3, s.size))
        curve[a], curve[b], curve[c] = np.sqrt(r2) * np.cos(s), np.sqrt(r2) * np.sin(s), sign * np.sqrt(1 - r2)
        curves.append(curve)
    return curves


right.add_patch(plt.Circle((0, 0), 1, facecolor="#f2f5f9", edgecolor=PALE, lw=1))
for share in np.linspace(0.08, 0.92, 7) ** 1.5:
    for end in (1 / I[1], 1 / I[2]):
        for curve in polhode(end + share * (1 / I[0] - end)):
            draw(curve, color=PALE, lw=0.9)
Pi = (motion.angular_velocity * I).T
draw(Pi / np.linalg.norm(Pi, axis=0), color=RED, lw=2.4)
for axis, name in zip(np.eye(3), "xyz", strict=True):
    x, y, depth = R @ axis
    right.plot(x, y, "o", color="#30475e", ms=4, alpha=1.0 if depth > 0 else 0.3)
    right.annotate(name, (x, y), (6, 4), textcoords="offset points", color="#30475e")
right.set(aspect="equal", xlim=(-1.05, 1.05), ylim=(-1.05, 1.05))
right.set_axis_off()
right.set_title("The same, as Poinsot saw it: the angular\nmomentum wanders in the body (red)", fontsize=11)
figure.savefig(Path(__file__).parent.parent / "pictures" / "t-handle.png")
