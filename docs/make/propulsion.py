"""Make docs/pictures/propulsion.png: a propeller in all quadrants, a solid motor, a landing, turbulence."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import poinsot as pt

BLUE, RED, GREEN, GREY = "#2a6f97", "#d1495b", "#3a7d44", "#8d99ae"
ROOT = Path(__file__).parent.parent.parent
plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
DOWN = (0, 1, 0, 0)  # level flight to the north on flat ground: z of the aircraft points down


def propeller(axes: plt.Axes) -> None:
    J = np.linspace(0, 1.2, 13)
    CT, CP = pt.Table((J,), 0.11 - 0.05 * J - 0.06 * J**2), pt.Table((J,), 0.05 + 0.02 * J - 0.06 * J**2)
    prop = pt.Propeller("prop", "plane", diameter=1.9, CT=CT, CP=CP, inertia=1.0)
    V = np.linspace(-40, 120, 801)
    for speed, colour in ((2400, BLUE), (1200, GREEN), (0, GREY), (-1200, RED)):
        T, _ = prop.at(1.225, V, np.full_like(V, pt.rpm(speed)))
        axes.plot(V, T / 1e3, color=colour, lw=1.8, label=f"{speed} rpm")
    axes.axhline(0, color="black", lw=0.6)
    axes.legend(frameon=False, fontsize=9)
    axes.set(xlabel="airspeed along the axis [m/s]", ylabel="thrust [kN]", ylim=(-4, 4))
    axes.set_title("A propeller: pulled, windmilling, stopped, reversed", loc="left", fontsize=11)


def motor(axes: plt.Axes) -> None:
    curve = pt.Tabulated([0, 0.1, 1.2, 2.5, 3.6, 3.9], [0, 1500, 2100, 1700, 300, 0])
    world = pt.World()
    world.add_body("rocket", pt.Inertia.cylinder(12.0, 0.06, 1.8))
    sizes = {"mass": 2.956, "radius": 0.033, "bore": 0.015, "length": 0.12, "grains": 5, "gap": 0.005}
    world.add(pt.SolidMotor("motor", "rocket", thrust=curve, direction=(0, 0, 1), point=(0, 0, -0.9), **sizes))
    run = world.simulate(4.5, 0.01)
    axes.plot(run.time, run.data["motor.force"].values[:, 2] / 1e3, color=RED, lw=1.8, label="thrust [kN]")
    axes.plot(run.time, run.data["motor.contents"].values, color=BLUE, lw=1.8, label="propellant [kg]")
    axes.plot(run.time, 1e2 * run.data["motor.web"].values, color=GREY, lw=1.8, label="burnt web [cm]")
    axes.legend(frameon=False, fontsize=9)
    axes.set(xlabel="time [s]")
    axes.set_title("A solid motor of five BATES grains", loc="left", fontsize=11)


def landing(axes: plt.Axes) -> None:
    world = pt.World()
    inertia = pt.Inertia(1100.0, (0, 0, 0), np.diag([1285.0, 1825.0, 2667.0]))
    plane = world.add_body("plane", inertia, position=(0, 0, 1.9), orientation=DOWN, velocity=(30, 0, -1.5))
    leg = {"stroke": 0.3, "preload": 1500.0, "air_length": 0.4, "damping": 4000.0, "orifice": 2000.0}
    for name, point in {"nose": (1.2, 0, 1.2), "left": (-0.4, -1.2, 1.2), "right": (-0.4, 1.2, 1.2)}.items():
        plane.add(pt.Gear(name, point=point, **leg))
    run = world.simulate(3.0, 0.002, every=0.01)
    for name, colour in (("left", BLUE), ("nose", RED)):
        axes.plot(run.time, run.data[f"plane.{name}.load"].values / 1e3, color=colour, lw=1.8, label=f"{name} [kN]")
        strut = 1e2 * run.data[f"plane.{name}.strut"].values
        axes.plot(run.time, strut, color=colour, lw=1.2, ls="--", label=f"{name} strut [cm]")
    axes.legend(frameon=False, fontsize=9)
    axes.set(xlabel="time [s]", ylim=(0, 32))
    axes.set_title("A landing at 1.5 m/s", loc="left", fontsize=11)
    print(f"landing: largest residual {run.ledger.relative_residual.max():.1e}")


def turbulence(axes: plt.Axes) -> None:
    wind = pt.Dryden(wind_at_6m=12.0, severity="moderate", span=11.0)
    world = pt.World((0, 0, 0), air=pt.US76(), wind=wind)
    world.add_body("plane", pt.Inertia.sphere(1.0, 1.0), position=(0, 0, 200), velocity=(60, 0, 0), orientation=DOWN)
    run = world.simulate(60.0, 0.02, every=0.02, record=["turbulence.gust"])
    gust = run.data["turbulence.gust"].values
    for k, (name, colour) in enumerate((("u", GREY), ("v", GREEN), ("w", BLUE))):
        axes.plot(run.time[1:], gust[1:, k] + 10 * (1 - k), color=colour, lw=1.0, label=name)
    axes.legend(frameon=False, fontsize=9, loc="upper right", ncols=3)
    axes.set(xlabel="time [s]", ylabel="gust [m/s], 10 m/s apart", ylim=(-15, 20))
    axes.set_title("Dryden turbulence, 200 m above the ground", loc="left", fontsize=11)


if __name__ == "__main__":
    figure, panels = plt.subplots(2, 2, figsize=(10, 7), dpi=110, layout="constrained")
    for draw, axes in zip((propeller, motor, landing, turbulence), panels.flat, strict=True):
        axes.grid(True, color="#e8ecf1", lw=0.8)
        axes.set_axisbelow(True)
        draw(axes)
    figure.savefig(ROOT / "docs" / "pictures" / "propulsion.png")
