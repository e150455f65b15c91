"""Worlds that the tests of learning share."""

from typing import Any

import numpy as np

import poinsot as pt


def cart_pole() -> pt.World:
    world = pt.World()
    world.add_body("cart", pt.Inertia.box(1.0, (0.3, 0.2, 0.1)), joint=pt.prismatic((1, 0, 0)))
    pole = pt.Pose(p=(0, 0, 0.5)) @ pt.Inertia.cylinder(0.1, 0.02, 1.0)
    world.add_body("pole", pole, parent="cart", joint=pt.revolute((0, 1, 0)), q=0.05)
    world.add_input("push", 0.0)
    world.add_motor("motor", "cart", pt.Input("push"))
    return world


def upright(t: Any, scene: Any) -> Any:
    return np.cos(scene.joint("pole")[0][0]) - 1e-2 * scene.input("push") ** 2


def fallen(t: Any, scene: Any) -> Any:
    return abs(scene.joint("pole")[0][0]) > 0.2


BOUNDS = {"cart.q": 10.0, "cart.v": 100.0, "pole.q": (-10.0, 10.0), "pole.v": 100.0}
TASK: dict[str, Any] = {
    "action": {"push": 10.0}, "observation": BOUNDS, "reward": upright, "done": fallen,
    "vary": {"pole.q[0]": pt.Normal(0.0, 0.05)}, "control_period": 0.02, "time_limit": 0.6,
}  # fmt: skip


@pt.kernel("(3),(3,3),()->(3),()")
def swirl(a, M, s):
    """Two results of three arguments."""
    return np.sin(M @ a) * s, a @ a * np.exp(-s)


SHAPES = [((3,), (3, 3), ()), ((5, 3), (3, 3), (2, 1)), ((4, 3), (4, 3, 3), (4,))]


def normal(shapes: Any, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]
