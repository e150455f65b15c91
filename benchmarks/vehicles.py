"""Vehicles with spinning parts, changing mass, breaking and bending structure: the worlds of docs/parts.md."""

from typing import Any

import numpy as np

import poinsot as pt

RHO = 1.225  # kg/m^3, of air
SPAN, SEGMENTS, CRUISE = 12.0, 5, 60.0  # of the flexible wings [m], and the speed in the gust [m/s]


def propeller(rpm: float) -> pt.World:
    """A light aircraft, pulled up for a second; x forward, y right, z down. Its tail holds and damps it."""
    world = pt.World(gravity=(0, 0, 0))
    moment = np.diag([1285.0, 1825.0, 2667.0])
    plane = world.add_body("plane", pt.Inertia(1043.0, np.zeros(3), moment), velocity=(60.0, 0, 0))
    plane.add(pt.Rotor("prop", axis=(1, 0, 0), inertia=1.6, speed=pt.rpm(rpm)))

    def tail(t: Any, scene: Any) -> Any:
        p, q, r = scene["plane"].angular_velocity
        elevator = 1400.0 * np.where(t < 1.0, np.sin(np.pi * t) ** 2, 0.0)
        return np.stack([-5000.0 * p, elevator - 1500.0 * q, -1200.0 * r])

    world.add_torque("tail", "plane", tail, axes="body")
    return world


def rocket() -> pt.World:
    """A stage that spins and burns 80 % of its mass."""
    world = pt.World(gravity=(0, 0, 0))
    start = {"angular_velocity": (0.3, 0.0, pt.rpm(30))}
    stage = world.add_body("stage", pt.Inertia.cylinder(200.0, 0.5, 3.0, inner_radius=0.45), **start)
    stage.add(pt.Tank("fuel", capacity=900.0, contents=860.0, radius=0.44, height=2.4))
    stage.add(pt.Thruster("engine", "", "fuel", thrust=32_000.0, exhaust_speed=2800.0, point=(0, 0, -1.6)))
    return world


def pull_up() -> pt.World:
    """An aircraft that is pulled up too hard: a wing breaks off; x forward, y left, z up.

    Lift and drag of each wing act at its middle; the tail follows the elevator.
    """
    S, C, V0 = 16.0, 5.5, 85.0  # wing area [m^2], slope of the lift, speed [m/s]
    trim = 820.0 * 9.81 / (0.5 * RHO * V0**2 * S * C)  # rad: at which the lift is the weight
    world = pt.World()
    hull = world.add_body(
        "hull",
        pt.Inertia.box(700.0, (6.0, 1.2, 1.3)),
        position=(0, 0, 300.0),
        velocity=(V0, 0, 0),
        orientation=pt.Pose.from_euler([0, -trim, 0]).quaternion(),
    )
    for name, side, bears in (("left", 1.0, 38e3), ("right", -1.0, 40e3)):
        wing = world.add_body(name, pt.Inertia.box(60.0, (1.4, 4.0, 0.2)), hull, placement=(0.1, 2.6 * side, 0.3))
        world.add_force(f"{name}_air", name, lambda t, scene, name=name: _air(scene[name], S / 2, C), axes="body")
        wing.add(pt.Cut("root", at=(0, -2.0 * side, 0), axis=(0, side, 0)))
        wing.add(pt.Limit("limit", cut="root", bending=bears, then="part"))

    def tail(t: Any, scene: Any) -> Any:
        w = scene["hull"].angular_velocity
        v = scene["hull"].pose.R.T @ scene["hull"].velocity
        elevator = -np.radians(9.0) * np.clip((t - 0.5) / 0.8, 0.0, 1.0)
        angle = np.arctan2(-v[2], v[0]) - trim - 4.0 * w[1] / V0 + elevator  # of the air at the tail
        return np.stack([-9000.0 * w[0], 0.5 * RHO * (v @ v) * 2.5 * 3.0 * 4.0 * angle, -9000.0 * w[2]])

    world.add_torque("tail", "hull", tail, axes="body")
    return world


def _air(body: Any, area: float, slope: float) -> Any:
    """Lift and drag [N] on a wing of an area [m^2], in its own axes."""
    v = body.pose.R.T @ body.velocity
    speed2 = v @ v
    angle = np.clip(np.arctan2(-v[2], v[0]), -0.3, 0.3)
    lift, drag = 0.5 * RHO * speed2 * area * slope * angle, 0.5 * RHO * speed2 * area * (0.03 + 0.9 * angle**2)
    return (lift * np.stack([-v[2], 0.0 * v[1], v[0]]) - drag * v) / np.sqrt(speed2)


def gust(stiffness: float) -> pt.World:
    """An aircraft with two flexible wings in a gust of a `length` [m]; only what it adds to level flight."""
    world = pt.World(gravity=(0, 0, 0))
    hull = world.add_body("hull", pt.Inertia.box(1500.0, (8.0, 1.5, 1.5)))
    world.add_input("length", 40.0)
    for name, side in (("left", 1.0), ("right", -1.0)):
        beam = pt.Beam(
            name,
            SPAN,
            EI=lambda x: 8e5 * stiffness * (1 - 0.06 * x) ** 3,
            GJ=lambda x: 6e5 * stiffness * (1 - 0.06 * x) ** 3,
            mass_per_length=lambda x: 14 * (1 - 0.05 * x),
            polar=lambda x: 2.0 * (1 - 0.05 * x),
            n=SEGMENTS,
            damping=0.01 / stiffness,
        )
        X = pt.Pose.from_euler([0, 0, side * np.pi / 2], p=(0, 0.7 * side, 0))
        middles = 0.5 * (beam.ends[1:] + beam.ends[:-1]) - beam.joints
        for k, segment in enumerate(world.add_beam(beam, hull, X)):
            middle, width = (middles[k], 0, 0), beam.ends[k + 1] - beam.ends[k]

            def lift(
                t: Any, scene: Any, segment: str = str(segment), middle: Any = middle, width: float = width
            ) -> Any:
                """0.5 rho V S C (w - vertical speed) [N], for a gust w = 5 m/s (1 - cos)."""
                phase = np.clip(CRUISE * t / scene.inputs["length"], 0.0, 1.0)
                w = 5.0 * (1 - np.cos(2 * np.pi * phase))
                up = w - scene[segment].velocity_of(middle)[2]
                return np.stack([0 * t, 0 * t, 0.5 * RHO * CRUISE * 5.5 * width * 1.3 * up])

            world.add_force(f"{name}_lift{k}", str(segment), lift, point=middle)
        world.add(pt.Cut(f"{name}_root", f"{name}0", at=(-beam.joints[0], 0, 0), axis=(1, 0, 0)))
        world.add(pt.Limit(f"{name}_limit", cut=f"{name}_root", bending=1e7))
    return world


def dive() -> pt.World:
    """An aircraft that dives ever faster, until the hinge of its flap gives way; x forward, y left, z up."""
    world = pt.World()
    hull = world.add_body(
        "hull",
        pt.Inertia.box(700.0, (6.0, 8.0, 1.3)),
        position=(0, 0, 1500.0),
        velocity=(50.0, 0, -50.0),
        orientation=pt.Pose.from_euler([0, np.pi / 4, 0]).quaternion(),
    )
    flap = world.add_body(
        "flap",
        pt.Pose(p=(-0.3, 0, 0)) @ pt.Inertia.box(8.0, (0.6, 2.0, 0.05)),
        hull,
        pt.revolute((0, 1, 0), damping=5.0),
        (-2.0, 2.0, 0.2),
        q=[0.05],
    )
    world.add_feedback("servo", "flap", kp=800.0, kd=40.0, target=pt.Tabulated([0.0, 2.0], [0.05, 0.35]))
    world.add_force("air", "flap", lambda t, scene: _air(scene["flap"], 1.2, 4.0), point=(-0.2, 0, 0), axes="body")
    flap.add(pt.Cut("hinge", axis=(0, 1, 0)))
    flap.add(pt.Limit("limit", cut="hinge", shear=400.0, then="part"))
    world.add_torque("tail", hull, lambda t, scene: -20e3 * scene["hull"].angular_velocity, axes="body")
    return world
