"""Worlds for the pictures of the viewer in docs/pictures."""

import sys
from pathlib import Path

import numpy as np

import poinsot as pt
from poinsot.spatial import quaternion

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"


def flipping_handle() -> pt.Run:
    """A T-handle spun about its intermediate axis, and Poinsot's construction."""
    world = pt.load_scenario(ROOT / "examples" / "t-handle.toml").world
    body, omega = world.description.bodies["handle"], np.array([6.0, 1.0, 0.6])
    L = body.inertia.moment @ omega
    axis = np.cross(L, (0.0, 0.0, -1.0))
    phi = axis / np.linalg.norm(axis) * np.arccos(-L[2] / np.linalg.norm(L))  # so that L points down
    world["handle.orientation"], world["handle.angular_velocity"] = quaternion.exp(phi), omega
    return world.simulate(30.0, 1e-3, every=0.02)


def double_pendulum() -> pt.Run:
    """Two rods, released from high up."""
    world = pt.World()
    hinge = pt.revolute((0.0, 1.0, 0.0))
    rod = pt.Pose(p=(0.0, 0.0, -0.5)) @ pt.Inertia.capsule(1.0, 0.035, 0.93)
    bob = pt.Pose(p=(0.0, 0.0, -1.0)) @ pt.Inertia.sphere(0.6, 0.085)
    world.add_body("upper", rod, joint=hinge, placement=(0.0, 0.0, 2.2), q=[2.2])
    world.add_body("lower", rod + bob, "upper", hinge, placement=(0.0, -0.08, -1.0), q=[0.5])
    return world.simulate(12.0, 1e-3, every=0.01)


def tumbling_box() -> pt.Run:
    """A box thrown onto the ground."""
    world = pt.World()
    size = (0.5, 0.32, 0.2)
    corners = np.array(np.meshgrid(*[(-s / 2, s / 2) for s in size])).reshape(3, -1).T
    world.add_body(
        "box",
        pt.Inertia.box(2.0, size),
        position=(-1.2, 0.0, 1.0),
        velocity=(2.2, 0.4, 1.0),
        angular_velocity=(2.0, 7.0, 1.0),
    )
    world.add_contact("ground", "box", corners, stiffness=2e4, damping=0.3, friction=0.5)
    return world.simulate(1.6, 2e-4, every=0.01)


def net() -> pt.Run:
    """A net of springs, fixed at its rim, and a box that hangs on four of its knots."""
    world = pt.World()
    n, side, height = 7, 1.6, 1.3
    x = np.linspace(-side / 2, side / 2, n)
    gap = x[1] - x[0]
    knots = [(i, j) for i in range(n) for j in range(n)]
    held = {(i, j) for i, j in knots if i % 3 == 0 and j % 3 == 0 and (i, j) != (3, 3)}

    def end(i: int, j: int) -> tuple[str, tuple[float, float, float]]:
        return ("world", (x[i], x[j], height)) if (i, j) in held else (f"m{i}_{j}", (0.0, 0.0, 0.0))

    for i, j in knots:
        if (i, j) not in held:
            world.add_particle(f"m{i}_{j}", 0.03, (x[i], x[j], height))
    for i, j in knots:
        for a, b in ((i + 1, j), (i, j + 1)):
            if (a, b) in knots and not {(i, j), (a, b)} <= held:
                (p, at), (q, to) = end(i, j), end(a, b)
                world.add_spring(f"s{i}_{j}_{a}_{b}", p, q, 300.0, 0.9 * gap, 0.3, at, to)
    wide, tall = 1.4 * gap, 0.8 * gap
    box = pt.Inertia.box(1.2, (wide, wide, tall))
    world.add_body("box", box, position=(0.0, 0.0, height - 0.55), velocity=(0.8, 0.3, 0.0), angular_velocity=(1, 2, 6))
    for i, j in ((2, 2), (2, 4), (4, 2), (4, 4)):
        corner = (np.sign(x[i]) * wide / 2, np.sign(x[j]) * wide / 2, tall / 2)
        world.add_spring(f"rope{i}{j}", "box", f"m{i}_{j}", 150.0, 0.35, 0.3, point_a=corner)
    return world.simulate(6.0, 5e-4, every=0.02, method="rk4", ledger=False)


def robot_arm() -> pt.Run:
    """Six joints with feedback control that follow targets."""
    world = pt.World()
    _, y, z = np.eye(3)
    lengths = {"base": 0.16, "shoulder": 0.2, "upper": 0.5, "fore": 0.42, "wrist": 0.14, "hand": 0.12}
    radii = {"base": 0.11, "shoulder": 0.085, "upper": 0.06, "fore": 0.05, "wrist": 0.042, "hand": 0.035}
    axes = {"base": z, "shoulder": y, "upper": y, "fore": z, "wrist": y, "hand": z}
    start = [0.3, -0.1, 0.8, 0.0, 0.7, 0.0]
    parent, height = None, 0.0
    for k, (name, length) in enumerate(lengths.items()):
        r = radii[name]
        body = pt.Pose(p=(0.0, 0.0, length / 2)) @ (
            pt.Inertia.cylinder(6.0, r, length) if name == "base" else pt.Inertia.capsule(20.0 * length, r, length)
        )
        if name == "hand":
            for side in (-1, 1):
                body += pt.Pose(p=(0.0, side * 0.045, length + 0.055)) @ pt.Inertia.box(0.1, (0.035, 0.015, 0.09))
            body += pt.Pose(p=(0.0, 0.0, length + 0.01)) @ pt.Inertia.box(0.2, (0.05, 0.13, 0.03))
        world.add_body(name, body, parent, pt.revolute(axes[name]), (0.0, 0.0, height), q=[start[k]])
        swing = 0.8 if k in (0, 3) else 0.35
        world.add_feedback(
            f"motor{k}", name, 900.0, 60.0, limit=400.0,
            target=lambda t, scene, k=k, swing=swing: start[k] + swing * np.sin(1.1 * t + k) - swing * np.sin(k + 0.0),
        )  # fmt: skip
        parent, height = name, length
    return world.simulate(8.0, 1e-3, every=0.02)


def rockets() -> pt.Run:
    """200 model rockets with motors, rails and hulls that differ a little, until they land."""
    world, n = pt.load_scenario(ROOT / "examples" / "model-rocket.toml").world, 200
    rng = np.random.default_rng(3)
    numbers = {
        "rocket.motor.factor": pt.Normal(1, 0.03),
        "rocket.start.pitch": pt.Normal(1.5, 0.02),
        "rocket.hull.axis": np.stack([np.ones(n), 0.004 * rng.normal(size=n), np.zeros(n)], axis=1),
    }
    landed = lambda t, scene: (scene["rocket"].position[2] < 0.1) & (t > 2)  # noqa: E731
    return world.simulate(
        150, 5e-3, every=0.5, batch=n, vary=numbers, seed=1, outputs={"apogee": "max(altitude)"}, until=landed
    )


EXAMPLES = {
    "flipping-handle": (
        flipping_handle,
        {
            "time": 9.4,
            "show": "+poinsot",
            "camera": {"direction": (1.0, -1.6, 0.6), "distance": 0.92, "look_at": (0.0, 0.0, -0.015)},
        },
    ),
    "double-pendulum": (
        double_pendulum,
        {"time": 6.0, "trails": {"lower": (0.0, 0.0, -1.0)}, "camera": (0.6, -1.6, 0.35)},
    ),
    "tumbling-box": (
        tumbling_box,
        {"time": 0.51, "show": ("+forces", "+exposures"), "camera": {"direction": (1.0, -1.6, 0.5), "distance": 0.9}},
    ),
    "net": (net, {"time": 1.0}),
    "batch": (rockets, {"camera": {"direction": (0.5, -1.0, 0.42)}, "colour": "apogee", "ghosts": 150}),
    "robot-arm": (robot_arm, {"time": 5.2, "trails": {"hand": (0.0, 0.0, 0.2)}}),
}


def light(path: Path) -> None:
    """Write a picture again with fewer colours, so that it stays below 150 kB."""
    from PIL import Image

    with Image.open(path) as picture:
        picture.convert("RGB").quantize(250, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB", flush=True)


def animation() -> None:
    """The T-handle flips once."""
    options = {"camera": {"direction": (1.0, -1.6, 0.6), "distance": 0.95, "look_at": (0.0, 0.0, -0.015)}}
    flipping_handle().animate(
        PICTURES / "view-flipping-handle.gif", show="+poinsot", size=(320, 240), fps=8, end=5.0, **options
    )


if __name__ == "__main__":
    for name in sys.argv[1:] or (*EXAMPLES, "animation"):
        if name == "animation":
            animation()
        else:
            make, options = EXAMPLES[name]
            light(make().snapshot(PICTURES / f"view-{name}.png", size=(960, 600), **options))
