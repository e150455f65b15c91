"""Small worlds whose runs are compared: whole and in pieces, alone and in batches, from outside and by themselves."""

from typing import Any

import numpy as np

import poinsot as pt

STAIRS = {"torque": ([0.0, 0.0333, 0.0701], [0.0, 1.0, -2.0])}
RATES = {"rate": np.array([0.1, 90.0, 60.0])}


def tumbling(velocity: Any = (0.0, 0.0, 0.0)) -> pt.World:
    """A free box."""
    world = pt.World()
    inertia = pt.Inertia.box(2.0, (0.1, 0.2, 0.3))
    world.add_body("box", inertia, velocity=velocity, angular_velocity=(3, 0.2, 0.3))
    return world


def machine(velocity: Any = (0.0, 0.0, 0.0)) -> pt.World:
    """A body that tumbles, and an arm with a motor."""
    world = tumbling(velocity)
    world.add_body("arm", pt.Inertia.cylinder(1, 0.05, 1), joint=pt.revolute((0, 1, 0)))
    world.add_input("torque", 0.0)
    world.add_motor("motor", "arm", pt.Input("torque"))
    return world


def breaking() -> pt.World:
    """A pendulum whose root gives way when it swings through."""
    world = pt.World()
    rod = pt.Pose(p=(0, 0, -0.5)) @ pt.Inertia.cylinder(1.0, 0.05, 1.0)
    body = world.add_body("rod", rod, joint=pt.revolute((0, 1, 0)), placement=(0, 0, 3), q=1.2)
    body.add(pt.Cut("root"))
    body.add(pt.Limit("pin", cut="root", axial=15.0, then="part"))
    return world


def rocket() -> pt.World:
    """Its thrust grows with its speed, until no number can hold it; how fast depends on an input."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("rocket", 1.0, velocity=(1.0, 0, 0))
    world.add_input("rate", 60.0)
    world.add_force("thrust", "rocket", lambda t, scene: scene.input("rate") * scene["rocket"].velocity ** 3)
    return world


def slow(t: Any, scene: Any) -> Any:
    return scene["box"].velocity[2] < 1.5
