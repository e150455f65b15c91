"""Three reaction wheels bring a satellite to rest in a given attitude, by PPO: python examples/learn/attitude.py"""

import numpy as np
from ppo import Settings, evaluate, train

import poinsot as pt
from poinsot.learn import VectorEnv

PERIOD, LIMIT = 0.5, 40.0  # s
WHEELS = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}


def satellite() -> pt.World:
    """A box of 80 kg with three wheels of up to 0.4 N m."""
    world = pt.World(gravity=(0, 0, 0))
    bus = world.add_body("satellite", pt.Inertia.box(mass=80.0, size=(0.6, 0.6, 0.8)))
    for name, axis in WHEELS.items():
        world.add_input(name, 0.0)
        bus.add(pt.Rotor(f"wheel_{name}", axis=axis, inertia=0.05, torque=pt.Input(name), max_speed=pt.rpm(4000)))
    return world


def any_attitude(generator: np.random.Generator, n: int) -> np.ndarray:
    """Unit quaternions (n, 4), up to 2 rad from the target about any axis."""
    axis = generator.normal(size=(n, 3))
    half = 0.5 * generator.uniform(0.0, 2.0, size=(n, 1))
    return np.concatenate([np.cos(half), np.sin(half) * axis / np.linalg.norm(axis, axis=1, keepdims=True)], axis=1)


def error(scene):
    """The vector part of the quaternion, on the short way to the target."""
    q = scene["satellite"].orientation
    return np.where(q[0] < 0, -1.0, 1.0) * q[1:]


def seen(t, scene):
    """The error and the angular velocity, both about 1."""
    return np.concatenate([2.0 * error(scene), 5.0 * scene["satellite"].angular_velocity])


def reward(t, scene):
    """One at most: at rest in the target attitude."""
    e, omega = error(scene), scene["satellite"].angular_velocity
    effort = sum(scene.input(name) ** 2 for name in WHEELS)
    return 1.0 - np.sqrt(e @ e + 1e-8) - 2.0 * omega @ omega - 0.05 * effort


def environment(batch: int) -> VectorEnv:
    return VectorEnv(
        satellite(), batch=batch, action=dict.fromkeys(WHEELS, 0.4), scaled=True, observation=seen, reward=reward,
        step=0.05, control_period=PERIOD, time_limit=LIMIT,
        vary={
            "satellite.orientation": any_attitude,
            "satellite.angular_velocity": lambda generator, n: generator.normal(0.0, 0.05, size=(n, 3)),
        },
    )  # fmt: skip


def learn(report=print):
    """The agent and its curve."""
    return train(environment(64), Settings(steps=600_000, rate=1e-3), report)


def final_errors(agent, batch: int = 64) -> np.ndarray:
    """The angles (n,) [rad] from the target, at the end of an episode with actions that have no noise."""
    env = environment(batch)
    observed, _ = env.reset(seed=1000)
    for _ in range(round(LIMIT / PERIOD)):
        observed, *_, info = env.step(agent.act(observed))
    return 2.0 * np.arcsin(np.linalg.norm(info["final_obs"][:, :3] / 2.0, axis=1))


if __name__ == "__main__":
    agent, curve = learn()
    returns, angles = evaluate(environment(64), agent), np.degrees(final_errors(agent))
    print(f"return of 64 fresh episodes: {returns.mean():.1f} +- {returns.std():.1f}, worst {returns.min():.1f}")
    print(f"angle from the target after {LIMIT:g} s: {angles.mean():.2f} deg, worst {angles.max():.2f} deg")
