"""Make docs/pictures/aerodynamics-wing.png: the Goland wing flutters and diverges, and its aileron loses its effect."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import poinsot as pt
from poinsot.mechanism import kinematics
from poinsot.world import State

BLUE, RED, GREY = "#2a6f97", "#d1495b", "#8d99ae"
PICTURES = Path(__file__).parent.parent / "pictures"
plt.rcParams.update({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False})

SPAN, CHORD = 6.096, 1.8288  # m
BEAM = pt.Beam(
    "wing",
    SPAN,
    EI=9.77e6,
    EI_side=9.77e8,
    GJ=0.987e6,
    mass_per_length=35.71,
    polar=7.446,
    n=6,
    offset=(0.1 * CHORD, 0),
)
TO_THE_RIGHT = pt.Pose(R=[[0, -1, 0], [-1, 0, 0], [0, 0, -1]])
AILERON = {"aileron": (0.6, 1.0), "flap": 0.2, "deflection": pt.Input("aileron")}


def goland(**options: object) -> pt.World:
    """The wing on the world, in a wind from the north."""
    world = pt.World(gravity=(0, 0, 0), air=pt.US76(), wind=(-100.0, 0, 0))
    world.add_input("aileron", 0.0)
    world.add_beam(BEAM, placement=TO_THE_RIGHT)
    world.add(pt.Wing("strips", beam=BEAM, chord=CHORD, axis=0.33, **options))
    return world


def roots(speeds: np.ndarray) -> np.ndarray:
    """The eigenvalues with the two lowest frequencies, bending and torsion, at each speed [m/s]: (n, 2)."""
    system = goland(unsteady="wagner", mass_lag=2e-4).system(["air.winds[0].velocity"])
    start, nv = system.start(), system.nv
    size = 2 * nv + system.ns

    @pt.kernel(f"({size}),()->({size})")
    def rate(x: np.ndarray, V: np.ndarray) -> np.ndarray:
        now = State(kinematics.integrate(system.mechanism, start.q, x[:nv]), x[nv : 2 * nv], x[2 * nv :])
        change = system.derivative(0.0, now, {"air.winds[0].velocity": np.stack([-V, 0 * V, 0 * V])})
        return np.concatenate([now.v, change.v, change.parts])

    h, found = 1e-6 * np.eye(size), []
    for V in speeds:
        values = np.linalg.eigvals(((rate(h, V) - rate(-h, V)) / 2e-6).T)
        slow = values[(values.imag > 15) & (values.imag < 130)]
        near = np.array([slow[np.argmin(np.abs(slow - before))] for before in (found[-1] if found else (50j, 88j))])
        found.append(near)
    return np.array(found)


def effect_of_aileron(speeds: np.ndarray) -> np.ndarray:
    """The lift that the aileron makes on the wing that twists, by that on a rigid one."""
    system, share = goland(**AILERON).system(["air.winds[0].velocity"]), []
    start, nv = system.start(), system.nv
    for V in speeds:
        wind = {"air.winds[0].velocity": np.array([-V, 0.0, 0.0])}

        def at(x: np.ndarray, delta: float, wind: dict = wind) -> tuple[np.ndarray, float]:
            q = kinematics.integrate(system.mechanism, start.q, x)
            motion = system.motion(0.0, State(q, np.zeros(nv), np.zeros(0)), wind, {"aileron": np.array(delta)})
            return motion.vdot, motion.effects["strips"].shown["lift"].sum()

        still, delta, h = np.zeros(nv), 1e-4, 1e-6
        slope = np.stack([(at(h * e, 0.0)[0] - at(-h * e, 0.0)[0]) / (2 * h) for e in np.eye(nv)], axis=1)
        twisted = -np.linalg.solve(slope, at(still, delta)[0])
        share.append(at(twisted, delta)[1] / at(still, delta)[1])
    return np.array(share)


def main() -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), dpi=110, layout="constrained")
    speeds = np.arange(30.0, 171.0, 5.0)
    values = roots(speeds)
    for k, (colour, name) in enumerate(((BLUE, "bending"), (RED, "torsion"))):
        left.plot(speeds, values[:, k].real, color=colour, lw=1.8, label=name)
    flutter = np.interp(0.0, values[speeds > 100, 1].real, speeds[speeds > 100])
    left.axhline(0.0, color="black", lw=0.8)
    left.plot([flutter], [0.0], "o", color=RED)
    left.annotate(f"flutter at {flutter:.0f} m/s", (flutter, 0.0), (75, 3.0), arrowprops={"arrowstyle": "->"})
    left.set(xlabel="airspeed [m/s]", ylabel="growth of small motions [1/s]", ylim=(-30, 8))
    left.legend(frameon=False, loc="lower left")
    left.set_title("The Goland wing flutters", loc="left", fontsize=12)
    speeds = np.linspace(10.0, 190.0, 19)
    effect = effect_of_aileron(speeds)
    reversal = np.interp(0.0, -effect, speeds)
    right.plot(speeds, effect, color=BLUE, lw=1.8)
    right.plot([reversal], [0.0], "o", color=BLUE)
    right.annotate(f"reversal at {reversal:.0f} m/s", (reversal, 0.0), (40, -0.45), arrowprops={"arrowstyle": "->"})
    right.axhline(0.0, color="black", lw=0.8)
    right.set(xlabel="airspeed [m/s]", ylabel="lift by the aileron (rigid wing: 1)")
    right.set_title("An aileron twists it, and reverses", loc="left", fontsize=12)
    for one in (left, right):
        one.grid(True, color="#e8ecf1", lw=0.8)
        one.set_axisbelow(True)
    figure.savefig(PICTURES / "aerodynamics-wing.png")


if __name__ == "__main__":
    main()
