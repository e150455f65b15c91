"""Worlds that several tests build, and how to compare."""

from typing import Any

import numpy as np

import poinsot as pt
from poinsot._types import Array

G = 9.81  # m/s^2
NOTHING = (0.0, 0.0, 0.0)


def rod(mass: float, length: float) -> pt.Inertia:
    """A thin rod that hangs down from the origin."""
    return pt.Pose(p=(0, 0, -length / 2)) @ pt.Inertia.cylinder(mass, 0.02, length)


def chain(n: int, angle: float = 0.4) -> pt.World:
    """n rods that hang on each other by hinges along y, each turned by the angle against the one before."""
    world, parent = pt.World(), None
    for k in range(n):
        placement = (0, 0, 0) if k == 0 else (0, 0, -0.5)
        parent = world.add_body(
            f"rod{k}", rod(1.0 + 0.1 * k, 0.5), parent, pt.revolute((0, 1, 0)), placement, q=angle, v=0.3
        )
    return world


def mixed() -> pt.World:
    """A free body, an arm of two joints, a net of four particles, and springs between them, in gravity."""
    world = pt.World()
    world.add_body(
        "box",
        pt.Inertia.box(2.0, (0.1, 0.2, 0.3)),
        position=(0.5, 0.2, 1.0),
        velocity=(0.1, 0.2, 0.3),
        angular_velocity=(1.0, 2.0, -1.0),
    )
    world.add_body("arm", rod(1.0, 0.5), joint=pt.universal((1, 0, 0), (0, 1, 0)), placement=(0, 0, 2), q=(0.3, -0.2))
    world.add_body(
        "hand", rod(0.4, 0.3), "arm", pt.revolute((1, 0, 0), damping=0.02, stiffness=0.5), (0, 0, -0.5), v=1.0
    )
    corners = np.array([(0, 0, 0), (0.3, 0, 0), (0.3, 0.3, 0), (0, 0.3, 0.05)]) + (1.0, 0.0, 1.5)
    net = pt.Particles(np.array([0.1, 0.2, 0.1, 0.3]), corners, np.zeros((4, 3)))
    sides = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    world.add_particles("net", net, pt.Springs.unstretched(net, sides, 40.0, 0.05))
    world.add_spring("line", "hand", "box", 30.0, 0.4, 0.1, point_a=(0, 0, -0.3), point_b=(0.05, 0.1, 0.15))
    world.add_spring("hook", "net2", "box", 20.0, 0.2, 0.0, point_b=(-0.05, 0, 0))
    world.add_spring("wall", "world", "net0", 15.0, 0.5, 0.02, point_a=(2.0, 0, 2.0))
    return world


def same_orientation(q: Any, expected: Any, tolerance: float) -> None:
    """Quaternions (..., 4) that are the same rotation."""
    q, expected = np.asarray(q), np.asarray(expected)
    sign = np.sign(np.sum(q * expected, axis=-1, keepdims=True))
    np.testing.assert_allclose(q * sign, expected, rtol=0, atol=tolerance)


def close(a: Any, b: Any, tolerance: float) -> None:
    """a equals b up to a tolerance, relative to the larger of one and the largest entry of b."""
    b = np.asarray(b, dtype=float)
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(1.0, float(np.max(np.abs(b), initial=0.0))))


def order_of(errors: Array) -> float:
    """The order of a scheme from its errors at steps that halve each time."""
    return float(np.mean(np.log2(errors[:-1] / errors[1:])))
