"""Make docs/pictures/solar-system.png: the planets as one object, three bodies on an eight, and what both conserve.

Elements of the planets at the epoch J2000: Standish, "Keplerian elements for approximate positions of the major
planets" (Jet Propulsion Laboratory), mean ecliptic and equinox of J2000; masses from the same institute.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from poinsot import particles as pp

AU, DAY, SUN = 1.495978707e11, 86400.0, 1.98841e30  # m, s, kg
# a [AU], e, inclination, mean longitude, longitude of perihelion, of the node [deg], mass of the sun / mass
PLANETS = {
    "Mercury": (0.38709927, 0.20563593, 7.00497902, 252.25032350, 77.45779628, 48.33076593, 6023600.0),
    "Venus": (0.72333566, 0.00677672, 3.39467605, 181.97909950, 131.60246718, 76.67984255, 408523.71),
    "Earth and Moon": (1.00000261, 0.01671123, -0.00001531, 100.46457166, 102.93768193, 0.0, 328900.56),
    "Mars": (1.52371034, 0.09339410, 1.84969142, -4.55343205, -23.94362959, 49.55953891, 3098708.0),
    "Jupiter": (5.20288700, 0.04838624, 1.30439695, 34.39644051, 14.72847983, 100.47390909, 1047.3486),
    "Saturn": (9.53667594, 0.05386179, 2.48599187, 49.95424423, 92.59887831, 113.66242448, 3497.898),
    "Uranus": (19.18916464, 0.04725744, 0.77263783, 313.23810451, 170.95427630, 74.01692503, 22902.98),
    "Neptune": (30.06992276, 0.00859048, 1.77004347, -55.12002969, 44.96476227, 131.78422574, 19412.24),
}
COLOURS = ["#8d99ae", "#e09f3e", "#2a6f97", "#d1495b", "#b08968", "#c9ada7", "#48bfe3", "#5e60ce"]
INK, GREY = "#0a2f5c", "#8d99ae"


def state(a, e, inclination, longitude, perihelion, node, ratio):
    """Position [m] and velocity [m/s] relative to the sun, by Kepler's equation M = u - e sin u."""
    i, L, varpi, Omega = np.radians([inclination, longitude, perihelion, node])
    M = u = L - varpi
    for _ in range(50):
        u = u - (u - e * np.sin(u) - M) / (1 - e * np.cos(u))
    n = np.sqrt(pp.G * SUN * (1 + 1 / ratio) / (a * AU) ** 3)
    b = np.sqrt(1 - e * e)
    x = a * AU * np.array([np.cos(u) - e, b * np.sin(u), 0])
    v = a * AU * n / (1 - e * np.cos(u)) * np.array([-np.sin(u), b * np.cos(u), 0])

    def about(k, angle):
        R, (p, q) = np.eye(3), [j for j in range(3) if j != k]
        R[np.ix_([p, q], [p, q])] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        return R

    R = about(2, Omega) @ about(0, i) @ about(2, varpi - Omega)
    return R @ x, R @ v


def solar_system():
    """Sun and planets, about their common centre of mass."""
    states = np.array([np.zeros((2, 3)), *(state(*row) for row in PLANETS.values())])
    masses = SUN * np.array([1.0, *(1 / row[-1] for row in PLANETS.values())])
    states -= np.tensordot(masses, states, 1) / masses.sum()
    return pp.Particles(masses, states[:, 0], states[:, 1])


def figure_eight():
    """Chenciner and Montgomery, Ann. Math. 152 (2000); G = 1."""
    x, v = np.array([0.97000436, -0.24308753, 0.0]), np.array([-0.93240737, -0.86473146, 0.0])
    return pp.Particles(np.ones(3), [x, -x, 0 * x], [-v / 2, -v / 2, v])


def drifts(run, pulls):
    """The largest relative change of angular momentum and of energy up to each record."""
    p = run.particles
    L = pp.angular_momentum(p, np.zeros(3))
    energy = pp.kinetic_energy(p) + pp.spring_energy(p, pulls)
    L_size = np.linalg.norm(p.masses[:, None] * np.cross(p.positions[0], p.velocities[0]), axis=1).sum()
    rows = np.linalg.norm(L - L[0], axis=1) / L_size, np.abs(energy / energy[0] - 1)
    return [np.maximum.accumulate(row)[1:] for row in rows]


sun = solar_system()
pulls = pp.gravitation(sun)
run = pp.simulate(sun, pulls, step=0.5 * DAY, steps=2 * 365 * 165, every=20)
years = run.time / (365.25 * DAY)
eight = figure_eight()
eight_pulls = pp.gravitation(eight, constant=1.0)
eights = pp.simulate(eight, eight_pulls, step=6.32591398 / 2000, steps=2000, every=10)

plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(13, 4.4), dpi=110, layout="constrained", width_ratios=[1, 1, 1.15]
)
x = run.particles.positions / AU
for k, (name, colour) in enumerate(zip(PLANETS, COLOURS, strict=True), 1):
    left.plot(*(x[:, k, :2] - x[:, 0, :2]).T, color=colour, lw=0.7)
    if k > 4:
        left.annotate(
            name, (x[0, k, 0], x[0, k, 1]), color=colour, fontsize=9, xytext=(4, 4), textcoords="offset points"
        )
    left.plot(x[0, k, 0], x[0, k, 1], "o", color=colour, ms=4)
left.plot(0, 0, "o", color="#ffb703", ms=6)
left.set(aspect="equal", xlabel="x [AU]", ylabel="y [AU]")
left.set_title("Sun and planets, 165 years", loc="left", fontsize=12)
middle.plot(*eights.particles.positions[:, 0, :2].T, color=GREY, lw=1.4)
for k, colour in enumerate(("#2a6f97", "#d1495b", "#e09f3e")):
    middle.plot(*eight.positions[k, :2], "o", color=colour, ms=10)
    middle.annotate("", eight.positions[k, :2] + 0.35 * eight.velocities[k, :2], eight.positions[k, :2],
                    arrowprops={"arrowstyle": "->", "color": colour, "lw": 1.6})  # fmt: skip
middle.set(aspect="equal", xlabel="x", ylabel="y")
middle.set_title("Three equal masses on one eight", loc="left", fontsize=12)
momentum, energy = drifts(run, pulls)
right.semilogy(years[1:], energy, color="#d1495b", lw=1.8)
right.semilogy(years[1:], momentum, color=INK, lw=1.8)
right.annotate("energy: bounded", (30, energy[-1] * 1.6), color="#d1495b")
right.annotate("angular momentum: rounding", (30, momentum[-1] * 3), color=INK)
right.set(xlabel="years", ylim=(1e-17, 1e-4))
right.set_title("Largest relative change so far", loc="left", fontsize=12)
right.grid(True, color="#e8ecf1", lw=0.8)
figure.savefig(Path(__file__).parent.parent / "pictures" / "solar-system.png")

angle = np.unwrap(np.arctan2(x[:, 1:, 1] - x[:, :1, 1], x[:, 1:, 0] - x[:, :1, 0]), axis=0)
print("| | period here [years] | largest change: L, energy |\n|---|--:|--:|")
for k, name in enumerate(PLANETS):
    turns = (angle[-1, k] - angle[0, k]) / (2 * np.pi)
    print(f"| {name} | {years[-1] / turns:.4f} | |")
print(f"| all | | {momentum[-1]:.1e}, {energy[-1]:.1e} |")
