"""A cart swings up a pole and balances it, learnt by PPO: python examples/learn/swing_up.py"""

import numpy as np
from ppo import Settings, evaluate, train

import poinsot as pt
from poinsot.learn import VectorEnv

PERIOD, LIMIT = 0.04, 8.0  # s


def cart_pole() -> pt.World:
    """A pole of 1 m and 0.1 kg hangs from a cart of 1 kg on a rail; a force pushes the cart."""
    world = pt.World()
    world.add_body("cart", pt.Inertia.box(1.0, (0.3, 0.2, 0.1)), joint=pt.prismatic((1, 0, 0)))
    pole = pt.Pose(p=(0, 0, 0.5)) @ pt.Inertia.cylinder(mass=0.1, radius=0.02, height=1.0)
    world.add_body("pole", pole, parent="cart", joint=pt.revolute((0, 1, 0)), q=np.pi)
    world.add_input("push", 0.0)
    world.add_motor("motor", "cart", pt.Input("push"))
    return world


def seen(t, scene):
    """The cart's position and velocity, sine and cosine of the pole's angle, and its rate."""
    (x,), (v,) = scene.joint("cart")
    (angle,), (rate,) = scene.joint("pole")
    return np.stack([x, v / 3, np.sin(angle), np.cos(angle), rate / 5])


def reward(t, scene):
    """One at most: upright, at the middle of the rail."""
    (x,), (angle,) = scene.joint("cart")[0], scene.joint("pole")[0]
    return 0.5 * (1.0 + np.cos(angle)) - 0.1 * x**2 - 1e-3 * scene.input("push") ** 2


def off_the_rail(t, scene):
    return abs(scene.joint("cart")[0][0]) > 2.4


def environment(batch: int) -> VectorEnv:
    return VectorEnv(
        cart_pole(), batch=batch, action={"push": 10.0}, scaled=True, observation=seen, reward=reward,
        done=off_the_rail, step=4e-3, control_period=PERIOD, time_limit=LIMIT,
        vary={"pole.q[0]": pt.Uniform(np.pi - 0.5, np.pi + 0.5), "cart.q[0]": pt.Uniform(-0.5, 0.5)},
    )  # fmt: skip


def learn(report=print):
    """The agent and its curve."""
    return train(environment(64), Settings(steps=1_500_000, entropy=1e-3), report)


if __name__ == "__main__":
    agent, curve = learn()
    returns = evaluate(environment(64), agent)
    print(f"return of 64 fresh episodes: {returns.mean():.1f} +- {returns.std():.1f}, worst {returns.min():.1f}")
