"""Two smooth worlds for methods that choose their steps: an orbit that closes, and a double pendulum."""

import numpy as np

import poinsot as pt

MU = 4.0


def orbiter(eccentricity=0.6):
    """A particle at the pericentre of an ellipse of semi-major axis 1 m; its period is pi seconds."""
    world = pt.World(gravity=pt.CentralGravity(mu=MU))
    speed = np.sqrt(MU * (1 + eccentricity) / (1 - eccentricity))
    world.add_particle("moon", 1.0, position=(1 - eccentricity, 0, 0), velocity=(0, speed, 0))
    return world


def double_pendulum():
    world = pt.World()
    arm = pt.Inertia(1.0, (0, 0, -0.5), np.diag([0.1, 0.1, 0.01]))
    world.add_body("upper", arm, joint=pt.revolute((1, 0, 0)), q=1.5)
    world.add_body("lower", arm, parent="upper", joint=pt.revolute((0, 1, 0)), placement=(0, 0, -1), q=0.5)
    return world
