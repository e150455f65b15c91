"""Make docs/pictures/parts-*.png: four vehicles with spinning parts, changing mass, breaking and bending structure."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import poinsot as pt

BLUE, RED, GREEN, GREY = "#2a6f97", "#d1495b", "#3a7d44", "#8d99ae"
PICTURES = Path(__file__).parent.parent / "pictures"
plt.rcParams.update({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False})


def panels(n: int) -> tuple[plt.Figure, np.ndarray]:
    figure, axes = plt.subplots(1, n, figsize=(10, 4.2), dpi=110, layout="constrained")
    for one in axes:
        one.grid(True, color="#e8ecf1", lw=0.8)
        one.set_axisbelow(True)
    return figure, axes


# A propeller aircraft that is pitched up yaws.


def propeller() -> None:
    def aircraft(rpm: float) -> pt.World:
        """x forward, y right, z down; moments of inertia of a light aircraft; its tail holds and damps it."""
        world = pt.World(gravity=(0, 0, 0))
        moment = np.diag([1285.0, 1825.0, 2667.0])
        plane = world.add_body("plane", pt.Inertia(1043.0, np.zeros(3), moment), velocity=(60.0, 0, 0))
        plane.add(pt.Rotor("prop", axis=(1, 0, 0), inertia=1.6, speed=pt.rpm(rpm)))

        def tail(t, scene):
            p, q, r = scene["plane"].angular_velocity
            elevator = 1400.0 * np.where(t < 1.0, np.sin(np.pi * t) ** 2, 0.0)
            return np.stack([-5000.0 * p, elevator - 1500.0 * q, -1200.0 * r])

        world.add_torque("tail", "plane", tail, axes="body")
        return world

    figure, (left, right) = panels(2)
    for rpm, colour, name in (
        (0, GREY, "propeller stopped"),
        (2400, BLUE, "2400 rpm"),
        (-2400, RED, "2400 rpm, turning left"),
    ):
        run = aircraft(rpm).simulate(4.0, 1e-3)
        w, x, y, z = run["plane"].orientation.values.T
        pitch = np.degrees(np.arcsin(2 * (w * y - z * x)))
        yaw = np.degrees(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
        left.plot(run.time, yaw, color=colour, lw=1.8, label=f"yaw, {name}")
    left.plot(run.time, pitch, color="black", lw=1.2, ls="--", label="pitch, all three")
    left.legend(frameon=False, fontsize=10, loc="upper left", bbox_to_anchor=(0.0, 0.98))
    left.set(xlabel="time [s]", ylabel="angle [degrees]", ylim=(-8, 45))
    left.set_title("Pulled up for a second, it yaws", loc="left", fontsize=12)
    speeds = np.linspace(-3000, 3000, 121)
    runs = aircraft(0).simulate(4.0, 1e-3, vary={"plane.prop.speed": pt.rpm(speeds)})
    w, x, y, z = runs["plane"].orientation.values[-1].T
    right.plot(speeds, np.degrees(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))), color=BLUE, lw=1.8)
    right.set(xlabel="propeller [rpm], positive: turning right", ylabel="yaw after 4 s [degrees]")
    right.set_title("121 aircraft at once", loc="left", fontsize=12)
    figure.savefig(PICTURES / "parts-propeller.png")


# A rocket stage that spins and loses 80 % of its mass.


def rocket() -> None:
    world = pt.World(gravity=(0, 0, 0))
    start = {"angular_velocity": (0.3, 0.0, pt.rpm(30))}
    stage = world.add_body("stage", pt.Inertia.cylinder(200.0, 0.5, 3.0, inner_radius=0.45), **start)
    stage.add(pt.Tank("fuel", capacity=900.0, contents=860.0, radius=0.44, height=2.4))
    stage.add(pt.Thruster("engine", "", "fuel", thrust=32_000.0, exhaust_speed=2800.0, point=(0, 0, -1.6)))
    run = world.simulate(75.0, 2.5e-4, every=0.25)
    mass = 200.0 + run.data["stage.fuel.contents"].values
    print(
        f"rocket: {1 - mass[-1] / mass[0]:.1%} of its mass is gone; largest remainder {run.ledger.relative.max():.1e}"
    )

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
    middle.annotate("about its axis", (4, 5.5), color=BLUE)
    middle.annotate("across it\n(thin: nozzles 0.4\nto 2.4 m behind)", (1, 1.6e-4), color=RED)
    middle.set(xlabel="time [s]", ylabel="angular velocity [rad/s]", ylim=(1e-4, 30))
    middle.set_title("The jet damps", loc="left", fontsize=12)

    width = 8 * len(run.ledger.sources)
    exhaust = -run.y[:, -width:].reshape(len(run.time), -1, 8).sum(axis=1)  # what went out so far
    for first, what, colour, name in (
        (1, "momentum", GREEN, "momentum"),
        (4, "angular_momentum", GREY, "angular momentum"),
    ):
        held = run.data[what].values
        both = held + exhaust[:, first : first + 3]
        scale = np.linalg.norm(held, axis=1).max()
        error = np.linalg.norm(both - both[0], axis=1) / scale
        right.semilogy(run.time[1:], np.maximum(error[1:], 1e-17), color=colour, lw=1.4, label=name)
    right.set(xlabel="time [s]", ylabel="change, relative", ylim=(1e-17, 1e-8))
    right.legend(frameon=False, fontsize=10)
    right.set_title("Craft and exhaust", loc="left", fontsize=12)
    figure.savefig(PICTURES / "parts-rocket.png")


# A pull-up that breaks a wing at its limit.


def pull_up() -> None:
    S, C, V0 = 16.0, 5.5, 85.0  # wing area [m^2], slope of the lift, speed [m/s]
    TRIM = 820.0 * 9.81 / (0.6125 * V0**2 * S * C)  # rad: at which the lift is the weight

    def aircraft() -> pt.World:
        """x forward, y left, z up. Lift and drag of each wing at its middle, a tail that follows the elevator."""
        world = pt.World()
        hull = world.add_body(
            "hull", pt.Inertia.box(700.0, (6.0, 1.2, 1.3)), position=(0, 0, 300.0), velocity=(V0, 0, 0),
            orientation=pt.Pose.from_euler([0, -TRIM, 0]).quaternion(),
        )  # fmt: skip

        def air(t, scene, name, area):
            body = scene[name]
            v = body.pose.R.T @ body.velocity
            speed2 = v @ v
            angle = np.clip(np.arctan2(-v[2], v[0]), -0.3, 0.3)
            lift, drag = 0.6125 * speed2 * area * C * angle, 0.6125 * speed2 * area * (0.03 + 0.9 * angle**2)
            return lift * np.stack([-v[2], 0 * t, v[0]]) / np.sqrt(speed2) - drag * v / np.sqrt(speed2)

        for name, side in (("left", 1.0), ("right", -1.0)):
            X = pt.Pose(p=(0.1, 2.6 * side, 0.3))
            wing = world.add_body(name, pt.Inertia.box(60.0, (1.4, 4.0, 0.2)), hull, pt.free(), X)
            world.add_force(f"{name}_air", name, lambda t, scene, name=name: air(t, scene, name, S / 2), axes="body")
            wing.add(pt.Cut("root", at=(0, -2.0 * side, 0), axis=(0, side, 0)))
            wing.add(pt.Limit("limit", cut="root", bending=38e3 if name == "left" else 40e3, then="part"))

        def tail(t, scene):
            w = scene["hull"].angular_velocity
            v = scene["hull"].pose.R.T @ scene["hull"].velocity
            elevator = -np.radians(9.0) * np.clip((t - 0.5) / 0.8, 0.0, 1.0)
            angle = np.arctan2(-v[2], v[0]) - TRIM - 4.0 * w[1] / V0 + elevator  # of the air at the tail
            return np.stack([-9000.0 * w[0], 0.6125 * (v @ v) * 2.5 * 3.0 * 4.0 * angle, -9000.0 * w[2]])

        world.add_torque("tail", "hull", tail, axes="body")
        return world

    world = aircraft()
    run = world.simulate(3.0, 5e-4)
    print(run.limits)
    print(f"pull-up: largest remainder {run.ledger.relative.max():.1e}")
    figure, (left, right) = panels(2)
    broke = float(run.limits["left.limit"]["latched_at"])
    for name, colour, limit in (("left", RED, 38), ("right", BLUE, 40)):
        left.plot(run.time, run.data[f"{name}.root.bending"] / 1000, color=colour, lw=1.8, label=f"{name} root")
        left.axhline(limit, color=colour, lw=1, ls="--")
    limits = np.linspace(12e3, 37e3, 26)
    runs = world.simulate(1.5, 5e-4, vary={"left.limit.bending": limits})
    passed_at = runs.limits["left.limit"]["latched_at"]
    left.plot(passed_at, limits / 1000, "o", color=RED, ms=3, label="weaker left wings part")
    left.axvline(broke, color=GREY, lw=1)
    left.annotate(f"left wing parts\nat {broke:.3f} s", (broke + 0.1, 32), color=RED)
    left.set(xlabel="time [s]", ylabel="bending moment [kN m]", ylim=(0, 58))
    left.legend(frameon=False, fontsize=10, loc="upper left")
    left.set_title("Bending of the wings, and their limits", loc="left", fontsize=12)
    for name, colour in (("hull", GREY), ("left", RED), ("right", BLUE)):
        x, _, z = run[name].position.values.T
        right.plot(x, z, color=colour, lw=1.6, label=name)
    right.legend(frameon=False, fontsize=10)
    right.set(xlabel="along [m]", ylabel="height [m]")
    right.set_title("The ways of the three bodies", loc="left", fontsize=12)
    figure.savefig(PICTURES / "parts-pull-up.png")


# A flexible wing in a gust.


def gust() -> None:
    span, n, speed = 12.0, 5, 60.0

    def aircraft(stiffness: float) -> pt.World:
        world = pt.World(gravity=(0, 0, 0))  # in level flight, weight and lift cancel: only what the gust adds
        hull = world.add_body("hull", pt.Inertia.box(1500.0, (8.0, 1.5, 1.5)))
        world.add_input("length", 40.0)
        for name, side in (("left", 1.0), ("right", -1.0)):
            beam = pt.Beam(
                name, span, EI=lambda x: 8e5 * stiffness * (1 - 0.06 * x) ** 3,
                GJ=lambda x: 6e5 * stiffness * (1 - 0.06 * x) ** 3,
                mass_per_length=lambda x: 14 * (1 - 0.05 * x), polar=lambda x: 2.0 * (1 - 0.05 * x),
                n=n, damping=0.01 / stiffness,
            )  # fmt: skip
            X = pt.Pose.from_euler([0, 0, side * np.pi / 2], p=(0, 0.7 * side, 0))
            for k, segment in enumerate(world.add_beam(beam, hull, X)):

                def lift(t, scene, segment=str(segment)):
                    """0.5 rho V S C (w - vertical speed), for a gust w = 5 m/s (1 - cos)."""
                    phase = np.clip(speed * t / scene.inputs["length"], 0.0, 1.0)
                    w = 5.0 * (1 - np.cos(2 * np.pi * phase))
                    body = scene[segment]
                    up = w - body.velocity_of((span / n / 2, 0, 0))[2]
                    return np.stack([0 * t, 0 * t, 0.6125 * speed * 5.5 * (span / n) * 1.3 * up])

                world.add_force(f"{name}_lift{k}", str(segment), lift, point=(span / n / 2, 0, 0))
            world.add(pt.Cut(f"{name}_root", f"{name}0", axis=(1, 0, 0)))
            world.add(pt.Limit(f"{name}_limit", cut=f"{name}_root", bending=1e7))
        return world

    soft, stiff = aircraft(1.0), aircraft(100.0)
    figure, (left, right) = panels(2)
    run = soft.simulate(2.5, 5e-4)
    print(f"gust: largest remainder {run.ledger.relative.max():.1e}")
    for when, colour in ((0.0, GREY), (0.35, BLUE), (0.55, RED), (0.9, GREEN)):
        k = int(np.argmin(np.abs(run.time - when)))
        hull = run["hull"].position.values[k]
        names = [f"right{i}" for i in reversed(range(n))], [f"left{i}" for i in range(n)]
        tips = []
        scene = soft.system().scene(run.time[k], run.rows.unpack(run.y[k]).state)[0]
        for side in ("right", "left"):
            tips.append(scene[f"{side}{n - 1}"].point((span / n, 0, 0)))
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
    right.set(xlabel="length of the gust [m]", ylabel="largest bending at the root [kN m]")
    right.set_title("40 gusts at once", loc="left", fontsize=12)
    figure.savefig(PICTURES / "parts-gust.png")


if __name__ == "__main__":
    propeller()
    rocket()
    pull_up()
    gust()
