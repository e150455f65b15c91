"""Make docs/pictures/particles.png, stiff springs compared with the rigid body, and print the table of the page."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.particles import (
    Particles,
    Springs,
    angular_momentum,
    centre_of_mass,
    natural_frequencies,
    verlet,
)
from poinsot.spatial import rotation

BLUE, RED, GREY = "#2a6f97", "#d1495b", "#8d99ae"
T = 2.0  # s

# Six masses, each joined to each, rotating freely, not about a principal axis.
masses = np.array([3.0, 2.0, 1.0, 1.0, 0.5, 0.5])
points = np.array([(3, 0, 0), (-3, 1, 0), (0, 2.5, 0.5), (0, -2.5, 1), (1, 0.5, 2), (0.5, -1, -2)]) / 10
points = points - centre_of_mass(Particles(masses, points))
start = Particles(masses, points, np.cross([3.0, 0.2, 0.4], points))
pairs = np.stack(np.triu_indices(len(masses), 1), axis=1)
L, I = angular_momentum(start), pt.Inertia.points(masses, points).moment


def rotation_rate(t: float, R: np.ndarray) -> np.ndarray:
    """R' = Omega x R with I(t) Omega = L, Peskin (37)."""
    R = R.reshape(3, 3)
    return (rotation.skew(R @ np.linalg.solve(I, R.T @ L)) @ R).ravel()


def rigid(steps: int) -> np.ndarray:
    """The positions of the masses of the rigid body at T, by the classical Runge-Kutta scheme."""
    R, h = np.eye(3).ravel(), T / steps
    for _ in range(steps):
        k1 = rotation_rate(0, R)
        k2 = rotation_rate(0, R + h / 2 * k1)
        k3 = rotation_rate(0, R + h / 2 * k2)
        R = R + h / 6 * (k1 + 2 * k2 + 2 * k3 + rotation_rate(0, R + h * k3))
    return points @ R.reshape(3, 3).T


exact = solve_ivp(rotation_rate, (0, T), np.eye(3).ravel(), method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
reference = points @ exact.reshape(3, 3).T


def error(x: np.ndarray) -> np.ndarray:
    """The root mean square distance [m] from the masses of the rigid body."""
    return np.sqrt(np.mean(np.sum((x - reference) ** 2, axis=-1), axis=-1))


@pt.kernel("(n,3),(n,3),(),(),()->(n,3)")
def simulated(x, v, stiffness, h, steps):
    springs = Springs.unstretched(start, pairs, stiffness)
    return pt.fori_loop(steps.astype(int), lambda i, p: verlet(p, h, springs), Particles(masses, x, v)).positions


stiffness = 10.0 ** np.arange(3, 9)
omega = np.array([natural_frequencies(start, Springs.unstretched(start, pairs, k))[-1] for k in stiffness])
steps = np.ceil(T * omega)  # half the limit
errors = error(simulated(start.positions, start.velocities, stiffness, T / steps, steps))
print("| stiffness [N/m] | omega_max [rad/s] | limit 2/omega_max [s] | steps | error [m] |\n|--:|--:|--:|--:|--:|")
for row in zip(stiffness, omega, 2 / omega, steps, errors, strict=True):
    print("| {:.0e} | {:.3g} | {:.2g} | {:.0f} | {:.1e} |".format(*row))

plt.rcParams.update({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False})
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), dpi=110, layout="constrained", sharey=True)
left.loglog(stiffness, errors, "o-", color=BLUE, lw=1.8)
left.loglog(stiffness, errors[2] * stiffness[2] / stiffness, "--", color=GREY, lw=1)
left.annotate("∝ 1 / stiffness", (stiffness[3], 2.2 * errors[3]), color=GREY)
left.set(xlabel="stiffness of the springs [N/m]", ylabel="error of the positions after 2 s [m]")
left.set_title("Stiffer springs approach the rigid body", loc="left", fontsize=12)
few = 2 ** np.arange(2, 10)
right.loglog(steps, errors, "o-", color=BLUE, lw=1.8)
right.loglog(few, [error(rigid(n)) for n in few], "s-", color=RED, lw=1.8)
right.annotate("masses and springs,\nsteps at half the limit", (1.3e3, 1e-3), color=BLUE)
right.annotate("rigid body,\nRunge-Kutta", (5, 1e-8), color=RED)
right.set(xlabel="steps for 2 s of motion")
right.set_title("Cost in steps", loc="left", fontsize=12)
for axes in (left, right):
    axes.grid(True, color="#e8ecf1", lw=0.8)
    axes.set_axisbelow(True)
figure.savefig(Path(__file__).parent.parent / "pictures" / "particles.png")
