"""Make docs/pictures/parts-*.png: four vehicles with spinning parts, variable mass, breaking and flexible structure."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import poinsot as pt

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import vehicles  # noqa: E402

BLUE, RED, GREEN, GREY = "#2a6f97", "#d1495b", "#3a7d44", "#8d99ae"
PICTURES = ROOT / "docs" / "pictures"
plt.rcParams.update({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False})


def panels(n: int) -> tuple[plt.Figure, np.ndarray]:
    figure, axes = plt.subplots(1, n, figsize=(10, 4.2), dpi=110, layout="constrained")
    for one in axes:
        one.grid(True, color="#e8ecf1", lw=0.8)
        one.set_axisbelow(True)
    return figure, axes


# A propeller aircraft yaws when it is pitched up.


def propeller() -> None:
    figure, (left, right) = panels(2)
    for rpm, colour, name in (
        (0, GREY, "propeller stopped"),
        (2400, BLUE, "2400 rpm"),
        (-2400, RED, "2400 rpm, rotating left"),
    ):
        run = vehicles.propeller(rpm).simulate(4.0, 1e-3)
        w, x, y, z = run["plane"].orientation.values.T
        pitch = np.degrees(np.arcsin(2 * (w * y - z * x)))
        yaw = np.degrees(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
        left.plot(run.time, yaw, color=colour, lw=1.8, label=f"yaw, {name}")
    left.plot(run.time, pitch, color="black", lw=1.2, ls="--", label="pitch, all three")
    left.legend(frameon=False, fontsize=10, loc="upper left", bbox_to_anchor=(0.0, 0.98))
    left.set(xlabel="time [s]", ylabel="angle [degrees]", ylim=(-8, 45))
    left.set_title("Pulled up for a second, it yaws", loc="left", fontsize=12)
    speeds = np.linspace(-3000, 3000, 121)
    runs = vehicles.propeller(0).simulate(4.0, 1e-3, vary={"plane.prop.speed": pt.rpm(speeds)})
    w, x, y, z = runs["plane"].orientation.values[-1].T
    right.plot(speeds, np.degrees(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))), color=BLUE, lw=1.8)
    right.set(xlabel="propeller [rpm], positive: rotating right", ylabel="yaw after 4 s [degrees]")
    right.set_title("121 aircraft at once", loc="left", fontsize=12)
    figure.savefig(PICTURES / "parts-propeller.png")


# A spinning rocket stage loses 80 % of its mass.


def rocket() -> None:
    world = vehicles.rocket()
    run = world.simulate(75.0, 2.5e-4, every=0.25)
    mass = 200.0 + run.data["stage.fuel.contents"].values
    residual = run.ledger.relative_residual.max()
    print(f"rocket: {1 - mass[-1] / mass[0]:.1%} of its mass is burnt; largest residual {residual:.1e}")

    figure, (left, middle, right) = panels(3)
    v = np.linalg.norm(run["stage"].velocity.values, axis=1)
    left.plot(run.time, mass, color=GREY, lw=1.8)
    left.set(xlabel="time [s]", ylabel="mass [kg]", ylim=(0, 1100))
    speed = left.twinx()
    speed.plot(run.time, v / 1000, color=BLUE, lw=1.8)
    speed.set(ylabel="speed [km/s]", ylim=(0, 5.2))
    speed.yaxis.label.set_color(BLUE)
    speed.tick_params(length=0)
    left.set_title("Burning 80 % of its mass", loc="left", fontsize=12)

    omega = run["stage"].angular_velocity.values
    middle.semilogy(run.time, np.hypot(omega[:, 0], omega[:, 1]), color=RED, lw=1.8)
    middle.semilogy(run.time, np.abs(omega[:, 2]), color=BLUE, lw=1.8)
    reach = np.linspace(-0.4, -2.4, 11)
    runs = world.simulate(75.0, 1e-3, every=0.5, vary={"stage.engine.point[2]": reach})
    rates = runs["stage"].angular_velocity.values
    middle.semilogy(runs.time, np.hypot(rates[..., 0], rates[..., 1]), color=RED, lw=0.6, alpha=0.45)
    middle.annotate("axial", (4, 5.5), color=BLUE)
    middle.annotate("transverse\n(thin: nozzles 0.4\nto 2.4 m behind)", (1, 1.6e-4), color=RED)
    middle.set(xlabel="time [s]", ylabel="angular velocity [rad/s]", ylim=(1e-4, 30))
    middle.set_title("Jet damping", loc="left", fontsize=12)

    inflow = np.zeros((len(run.time), 8 * len(run.ledger.sources)))
    inflow[:, run.compiled.inflow_indices] = run.y[:, run.compiled.n_state :]
    exhaust = -inflow.reshape(len(run.time), -1, 8).sum(axis=1)  # the total outflow
    for first, what, colour, name in (
        (1, "momentum", GREEN, "momentum"),
        (4, "angular_momentum", GREY, "angular momentum"),
    ):
        craft = run.data[what].values
        total = craft + exhaust[:, first : first + 3]
        scale = np.linalg.norm(craft, axis=1).max()
        error = np.linalg.norm(total - total[0], axis=1) / scale
        right.semilogy(run.time[1:], np.maximum(error[1:], 1e-17), color=colour, lw=1.4, label=name)
    right.set(xlabel="time [s]", ylabel="relative change", ylim=(1e-17, 1e-8))
    right.legend(frameon=False, fontsize=10)
    right.set_title("Craft and exhaust together", loc="left", fontsize=12)
    figure.savefig(PICTURES / "parts-rocket.png")


# A pull-up breaks a wing at its limit.


def pull_up() -> None:
    world = vehicles.pull_up()
    run = world.simulate(3.0, 5e-4)
    print(run.limits)
    print(f"pull-up: largest residual {run.ledger.relative_residual.max():.1e}")
    figure, (left, right) = panels(2)
    broke = float(run.limits["left.limit"]["latched_at"])
    for name, colour, limit in (("left", RED, 38), ("right", BLUE, 40)):
        left.plot(run.time, run.data[f"{name}.root.bending"] / 1000, color=colour, lw=1.8, label=f"{name} root")
        left.axhline(limit, color=colour, lw=1, ls="--")
    limits = np.linspace(12e3, 37e3, 26)
    runs = world.simulate(1.5, 5e-4, vary={"left.limit.bending": limits})
    exceeded_at = runs.limits["left.limit"]["latched_at"]
    left.plot(exceeded_at, limits / 1000, "o", color=RED, ms=3, label="weaker left wings break")
    left.axvline(broke, color=GREY, lw=1)
    left.annotate(f"left wing breaks\nat {broke:.3f} s", (broke + 0.1, 32), color=RED)
    left.set(xlabel="time [s]", ylabel="bending moment [kN m]", ylim=(0, 58))
    left.legend(frameon=False, fontsize=10, loc="upper left")
    left.set_title("Bending moments of the wings and their limits", loc="left", fontsize=12)
    for name, colour in (("hull", GREY), ("left", RED), ("right", BLUE)):
        x, _, z = run[name].position.values.T
        right.plot(x, z, color=colour, lw=1.6, label=name)
    right.legend(frameon=False, fontsize=10)
    right.set(xlabel="distance [m]", ylabel="height [m]")
    right.set_title("Paths of the three bodies", loc="left", fontsize=12)
    figure.savefig(PICTURES / "parts-pull-up.png")


# A flexible wing in a gust.


def gust() -> None:
    span, n = vehicles.SPAN, vehicles.SEGMENTS
    soft, stiff = vehicles.gust(1.0), vehicles.gust(100.0)
    figure, (left, right) = panels(2)
    run = soft.simulate(2.5, 5e-4)
    print(f"gust: largest residual {run.ledger.relative_residual.max():.1e}")
    for when, colour in ((0.0, GREY), (0.35, BLUE), (0.55, RED), (0.9, GREEN)):
        k = int(np.argmin(np.abs(run.time - when)))
        hull = run["hull"].position.values[k]
        names = [f"right{i}" for i in reversed(range(n))], [f"left{i}" for i in range(n)]
        tips = []
        soft_joint = sum(soft.description.bodies[f"left{i}"].placement.p[0] for i in range(1, n))
        soft_joint += soft.description.bodies["left0"].placement.p[1] - 0.7
        scene = soft.system().scene(run.time[k], run.compiled.unpack(run.y[k]).state)[0]
        for side in ("right", "left"):
            tips.append(scene[f"{side}{n - 1}"].point((span - soft_joint, 0, 0)))
        points = [
            tips[0],
            *(run[b].position.values[k] for b in names[0]),
            *(run[b].position.values[k] for b in names[1]),
            tips[1],
        ]
        line = np.array(points) - hull
        left.plot(line[:, 1], line[:, 2], "o-", ms=3, color=colour, lw=1.6, label=f"{run.time[k]:.2f} s")
    left.legend(frameon=False, fontsize=10)
    left.set(xlabel="along the wings [m]", ylabel="above the fuselage [m]")
    left.set_title("Two wings of five segments in a gust of 40 m", loc="left", fontsize=12)
    lengths = np.geomspace(10, 200, 40)
    for world, colour, name in ((soft, BLUE, "flexible"), (stiff, GREY, "100 times as stiff")):
        runs = world.simulate(4.0, 2e-4, batch=len(lengths), inputs={"length": lengths})
        assert runs.stop.reason == "duration", runs.stop
        right.semilogx(lengths, runs.limits["left_limit"]["worst"] * 1e7 / 1000, color=colour, lw=1.8, label=name)
    right.legend(frameon=False, fontsize=10)
    right.set(xlabel="length of the gust [m]", ylabel="largest bending moment at the root [kN m]")
    right.set_title("40 gusts at once", loc="left", fontsize=12)
    figure.savefig(PICTURES / "parts-gust.png")


if __name__ == "__main__":
    propeller()
    rocket()
    pull_up()
    gust()
