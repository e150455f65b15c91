"""A quadruped learns to walk and turn as it is told, by derivatives of its steps: python examples/learn/walk.py

With --replay walk.html it then shows what it learnt. On a GPU: --device cuda --worlds 1024.
"""

import argparse
import time

import numpy as np
import torch
from short_horizon import Game, Settings, evaluate, game, train

import poinsot as pt

PERIOD, STEP, LIMIT = 0.02, 2e-3, 10.0  # s
LEGS = {"fl": (1, 1), "fr": (1, -1), "rl": (-1, 1), "rr": (-1, -1)}
REST = {"hip": 0.0, "thigh": 0.8, "shin": -1.6}  # rad
REACH = {"hip": 0.3, "thigh": 0.6, "shin": 0.6}  # rad, how far an action moves a motor's target from rest
MOTOR = {"kp": 40.0, "kd": 1.0, "limit": 20.0}  # N m/rad, N m s/rad, N m
JOINTS = [f"{leg}-{part}" for leg in LEGS for part in REST]
ACTIONS = [f"{name}-action" for name in JOINTS]
RADIUS, FRICTION, MASS = 0.022, 0.8, 11.6  # of a foot [m], of its rubber; of it all [kg]
BEAT, LIFT = 0.4, 0.06  # of a trot [s], and how high feet are lifted [m]
METHOD = "implicit, one iteration"


def quadruped() -> pt.World:
    """Twelve kilograms: a trunk, and four legs of three motors each that stand on round feet of rubber."""
    world = pt.World()
    world.add_ground(surface=pt.Material(stiffness=2e4, damping=1.0, friction=FRICTION))
    world.add_body("trunk", pt.Inertia.box(6.0, (0.38, 0.16, 0.1)), position=(0, 0, 0.3), shapes=())
    for leg, (x, y) in LEGS.items():
        add_leg(world, leg, x, y)
    world.add_input("speed", 0.0)
    world.add_input("turn", 0.0)
    return world


def add_leg(world: pt.World, leg: str, x: int, y: int) -> None:
    middle = pt.Pose(p=(0, 0, -0.1))
    links = {
        "hip": (pt.Inertia.sphere(0.6, 0.045), "trunk", (1, 0, 0), (0.19 * x, 0.05 * y, 0)),
        "thigh": (middle @ pt.Inertia.capsule(0.6, 0.02, 0.2), f"{leg}-hip", (0, 1, 0), (0, 0.08 * y, 0)),
        "shin": (middle @ pt.Inertia.capsule(0.15, 0.012, 0.2), f"{leg}-thigh", (0, 1, 0), (0, 0, -0.2)),
    }
    for part, (inertia, parent, axis, place) in links.items():
        name, joint = f"{leg}-{part}", pt.revolute(axis, damping=0.1, armature=0.01)
        world.add_body(name, inertia, parent, joint, place, q=REST[part], shapes=())
        world.add_input(f"{name}-action", 0.0)
        world.add_feedback(f"{name}-motor", name, target=target_of(name, part), **MOTOR)
    world.add_body(f"{leg}-foot", pt.Inertia.sphere(0.05, RADIUS), f"{leg}-shin", pt.fixed(), (0, 0, -0.2))


def target_of(name: str, part: str):
    return lambda t, scene: REST[part] + REACH[part] * scene.input(f"{name}-action")


def joints(scene):
    """Angles from rest, and rates, (12,) each."""
    q, v = (np.stack([scene.joint(name)[k][0] for name in JOINTS]) for k in (0, 1))
    return q - np.array([*REST.values()] * len(LEGS)), v


def told(scene):
    """The speed [m/s] and the rate of turning [rad/s] that are asked for."""
    return np.stack([scene.input("speed"), scene.input("turn")])


def seen(t, scene):
    """What is told, and the beat; which way is up, the trunk's velocity and rates in its own axes; the joints."""
    trunk, (q, v), beat = scene["trunk"], joints(scene), 2 * np.pi * t / BEAT
    R, beats = trunk.pose.R, np.stack([np.sin(beat), np.cos(beat)])
    return np.concatenate(
        [told(scene), beats, R[2], R.T @ trunk.velocity, 0.3 * trunk.angular_velocity, 2 * q, 0.1 * v]
    )


def reward(t, scene):
    """At most 2.5: it goes and turns as it is told, upright, without shaking, with little effort, and on the beat."""
    trunk, (q, v) = scene["trunk"], joints(scene)
    velocity, rates, up = trunk.pose.R.T @ trunk.velocity, trunk.angular_velocity, trunk.pose.R[2]
    speed, turn = told(scene)
    off, astray = (velocity[0] - speed) ** 2 + velocity[1] ** 2, (rates[2] - turn) ** 2
    followed = np.exp(-10.0 * off) - off + 0.5 * np.exp(-4.0 * astray) - 0.2 * astray
    torque = np.stack([scene.signal(f"{name}-motor.torque")[0] for name in JOINTS])
    effort = 2e-3 * np.sum(np.maximum(torque * v, 0.0)) + 3e-4 * torque @ torque + 0.02 * q @ q
    shaken = 0.03 * rates[:2] @ rates[:2] + 0.5 * velocity[2] ** 2 + up[:2] @ up[:2]
    low, late = 10.0 * (trunk.position[2] - 0.28) ** 2, 100.0 * np.sum((heights(scene) - lift(t, scene)) ** 2)
    return 1.0 + followed - effort - shaken - low - late


def heights(scene):
    """How high the feet are (4,) [m]."""
    return np.stack([scene[f"{leg}-foot"].position[2] for leg in LEGS]) - RADIUS


def lift(t, scene):
    """How high the feet should be (4,) [m]: diagonal ones together, by turns, as long as it is told to go."""
    speed, turn = told(scene)
    wave = LIFT * np.tanh(5.0 * speed + 2.0 * np.abs(turn)) * np.sin(2 * np.pi * t / BEAT)
    return np.maximum(wave * np.array([1.0, -1.0, -1.0, 1.0]), 0.0)


def fallen(t, scene):
    """It lies, or a knee touches the ground."""
    knees = np.stack([scene[f"{leg}-shin"].position[2] for leg in LEGS])
    return (scene["trunk"].pose.R[2, 2] < 0.6) | (np.min(knees) < 0.03)


def tilted(generator: np.random.Generator, n: int) -> np.ndarray:
    """Unit quaternions (n, 4), some degrees from upright."""
    q = np.concatenate([np.ones((n, 1)), generator.normal(0.0, 0.03, (n, 2)), np.zeros((n, 1))], axis=1)
    return q / np.linalg.norm(q, axis=1, keepdims=True)


VARIED = {
    "speed": pt.Uniform(0.0, 1.0),  # m/s
    "turn": pt.Uniform(-1.0, 1.0),  # rad/s
    "trunk.orientation": tilted,
    "trunk.velocity": lambda generator, n: generator.normal(0.0, 0.2, (n, 3)),
    **{f"{name}.q": pt.Normal(REST[name[3:]], 0.1) for name in JOINTS},
    **{f"{leg}-foot-ground.friction": pt.Uniform(0.5, 1.0) for leg in LEGS},
}


def walking(device: str = "cpu", starts: int = 1024) -> Game:
    """The task, with that many starts for each seed."""
    return game(
        quadruped(), ACTIONS, seen, reward, fallen, LIMIT, device, batch=starts, step=STEP, control_period=PERIOD,
        vary=VARIED, method=METHOD,
    )  # fmt: skip


def environment(batch: int):
    """The same for learners without derivatives, as `ppo.train(walk.environment(256), ...)`."""
    from poinsot.learn import VectorEnv

    return VectorEnv(
        quadruped(), batch=batch, action=dict.fromkeys(ACTIONS, 1.0), observation=seen, reward=reward, done=fallen,
        step=STEP, control_period=PERIOD, time_limit=LIMIT, vary=VARIED, method=METHOD,
    )  # fmt: skip


def learn(report=print, device: str = "cpu", **settings):
    """The task, the agent and its curve."""
    task = walking(device)
    return task, *train(task, Settings(**settings), report)


ORDERS = {0.0: (0.0, 0.0), 1.0: (0.5, 0.0), 4.0: (1.0, 0.0), 7.0: (0.6, 0.8), 11.0: (0.0, 0.0)}  # s: m/s, rad/s


def play(agent, orders=ORDERS, duration: float = 12.0, step: float = STEP, method: str = METHOD) -> pt.Run:
    """A run in which the agent follows orders: what it does is noted, and simulated with all that is recorded."""
    world, names = quadruped(), [*ACTIONS, "speed", "turn"]
    sim = world.stepper(step=step, control_period=PERIOD, observe=seen, inputs=names, method=method)
    observed, rows, times = sim.reset(), [], PERIOD * np.arange(round(duration / PERIOD))
    for t in times:
        order = orders[max(start for start in orders if start <= t + 1e-9)]
        rows.append([*agent.act(torch.tensor(observed).float()).double().numpy(), *order])
        observed = sim.step(rows[-1])
    inputs = {name: (times, column) for name, column in zip(names, np.transpose(rows), strict=True)}
    return world.simulate(duration, step, every=STEP, inputs=inputs, method=method)


def gait(run: pt.Run, begin: float, end: float) -> dict[str, float]:
    """How it goes between two times [s]."""
    data = run.data.sel(time=slice(begin, end))
    push = np.stack([data[f"{leg}-foot-ground.force"].values for leg in LEGS])  # (4, n, 3)
    torque = np.stack([data[f"{name}-motor.torque"].values[:, 0] for name in JOINTS])
    power = torque * np.stack([data.v.sel(freedom=name).values for name in JOINTS])
    down, place = push[..., 2] > 0, data.position.sel(body="trunk").values
    way = np.linalg.norm(np.diff(place[:, :2], axis=0), axis=1).sum()
    held = np.linalg.norm(push[..., :2], axis=-1)[down] / (FRICTION * push[..., 2][down])
    landings = (~down[:, :-1] & down[:, 1:]).sum()
    return {
        "speed [m/s]": way / (end - begin),
        "cost of transport": np.maximum(power, 0.0).sum() * STEP / (MASS * 9.80665 * way),
        "strides per second": landings / len(LEGS) / (end - begin),
        "share of time on the ground": down.mean(),
        "share of time in the air": (~down.any(axis=0)).mean(),
        "diagonal feet alike": (down[[0, 1]] == down[[3, 2]]).mean(),
        "feet of a side alike": (down[[0, 1]] == down[[2, 3]]).mean(),
        "largest torque [N m]": np.abs(torque).max(),
        "largest share of friction": held.max(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("steps", "worlds", "seed"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Settings, name))
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--replay", metavar="FILE", help="write what was learnt as a page that plays")
    given = parser.parse_args()
    pt.set_threads(1)
    began, processor = time.perf_counter(), time.process_time()
    task, agent, _ = learn(device=given.device, steps=given.steps, worlds=given.worlds, seed=given.seed)
    print(f"{time.perf_counter() - began:.0f} s, {time.process_time() - processor:.0f} s of one processor")
    returns = evaluate(task, agent)
    print(f"return of {len(returns)} fresh episodes: {returns.mean():.1f} +- {returns.std():.1f}", end=", ")
    print(f"worst {returns.min():.1f}, {np.sum(returns < 500.0)} below 500")
    if given.replay:
        run = play(agent.cpu())
        for name, value in gait(run, 5.0, 7.0).items():
            print(f"{name:>28} {value:.3f}")
        print(run.to_html(given.replay, camera="chase trunk"))


if __name__ == "__main__":
    main()
