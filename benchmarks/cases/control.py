"""Many instances stepped from outside: 50 Hz control and 1 kHz physics, feedback by NumPy in between; one thread."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

import poinsot as pt
import robots
from case import Case, Contender, Work
from poinsot.mechanism import kinematics

BATCH, SUBSTEPS, PERIODS, STEP, FEW = 4096, 20, 5, 1e-3, 2

CART_POLE = """
<mujoco>
  <option timestep="0.001" gravity="0 0 -9.80665"/>
  <worldbody>
    <body><joint type="slide" axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <body><joint type="hinge" axis="0 1 0"/><inertial pos="0 0 0.5" mass="0.1" diaginertia="0.01 0.01 0.001"/></body>
    </body>
  </worldbody>
</mujoco>
"""


@dataclass(frozen=True)
class Plant:
    """A mechanism with motors in its first joints, gains of the feedback u = -kp q - kd v, and MuJoCo's text of it."""

    mechanism: Callable[[], pt.Mechanism]
    text: Callable[[], str]
    motors: int
    kp: float
    kd: float

    @functools.cache  # noqa: B019
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        rng, mech = np.random.default_rng(0), self.mechanism()
        return 0.3 * rng.standard_normal((BATCH, mech.nq)), 0.1 * rng.standard_normal((BATCH, mech.nv))

    def law(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return -self.kp * q[..., -self.motors :] - self.kd * v[..., -self.motors :]


def cart_pole() -> pt.Mechanism:
    cart, pole = pt.Inertia(1.0, np.zeros(3), np.eye(3)), pt.Inertia(0.1, [0, 0, 0.5], np.diag([0.01, 0.01, 0.001]))
    links = [
        pt.Link("cart", cart, None, pt.prismatic((1, 0, 0))),
        pt.Link("pole", pole, "cart", pt.revolute((0, 1, 0))),
    ]
    return pt.Mechanism(links, gravity=robots.G)


PLANTS = {
    "cart-pole": Plant(cart_pole, lambda: CART_POLE, 1, 20.0, 2.0),
    "panda": Plant(lambda: robots.mechanism(robots.panda()), lambda: robots.panda().urdf(), 7, 0.1, 0.01),
}


@functools.cache
def world(name: str) -> pt.World:
    plant = PLANTS[name]
    mech, made = plant.mechanism(), pt.World(gravity=robots.G)
    made.add_mechanism(mech, limits=False)
    driven = [link for link in mech.links if link.joint.nv][: plant.motors]
    for link in driven:
        made.add_input(f"u_{link.name}", 0.0)
        made.add_motor(f"motor_{link.name}", link.name, pt.Input(f"u_{link.name}"))
    return made


def varied(name: str) -> dict[str, np.ndarray]:
    """The numbers with which every instance starts."""
    mech, (q, v) = PLANTS[name].mechanism(), PLANTS[name].start()
    moving = [link.name for link in mech.links if link.joint.nv]
    return {f"{link}.{x}": a[:, k : k + 1] for k, link in enumerate(moving) for x, a in (("q", q), ("v", v))}


def stepped(name: str) -> Work:
    """An action in, a period, observations out."""
    plant = PLANTS[name]
    sim = world(name).stepper(
        vary=varied(name), step=STEP, control_period=SUBSTEPS * STEP, method="semi-implicit euler", threads=1
    )
    sim.reset()
    begin, out = sim.state, np.empty((BATCH, len(sim.observation_labels)))
    n = out.shape[1] // 2

    def work() -> np.ndarray:
        sim.state = begin
        q, v = plant.start()
        for _ in range(PERIODS):
            sim.step(plant.law(q, v), out=out)
            q, v = out[:, :n], out[:, n:]
        return out.copy()

    return work


def kernel_alone(name: str) -> Work:
    """The kernel that `world.simulate` calls, without records, conditions and checks of actions."""
    plant, made = PLANTS[name], world(name)
    run = made.simulate(STEP, STEP, vary=varied(name), method="semi-implicit euler")
    compiled, numbers = run.compiled, run.varied
    p0 = compiled.parameters(numbers, {}, (BATCH,))
    y0, first = compiled.start(p0), p0.shape[1] - plant.motors
    n = y0.shape[1] // 2

    def work() -> np.ndarray:
        y, p = y0, p0.copy()
        for k in range(PERIODS):
            p[:, first:] = plant.law(y[:, :n], y[:, n:])
            y = compiled.advance(y, p, 0.0, SUBSTEPS * k, STEP, SUBSTEPS)
        return y

    return work


def mujoco_rollout(name: str) -> Work:
    """MuJoCo's own way to advance many states, in C++, a call for each period."""
    import mujoco
    from mujoco.rollout import Rollout

    plant = PLANTS[name]
    spec = mujoco.MjSpec.from_string(plant.text())
    spec.option.timestep, spec.option.gravity = STEP, robots.G
    spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
    for flag in ("CONSTRAINT", "CONTACT", "EULERDAMP", "ACTUATION", "SPRING", "DAMPER", "SENSOR"):
        spec.option.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
    model = spec.compile()
    data, n = mujoco.MjData(model), model.nq
    state, control = np.empty((BATCH, SUBSTEPS, 1 + 2 * n)), np.zeros((BATCH, SUBSTEPS, n))
    torques, rollout = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED), Rollout(nthread=0)

    def work() -> np.ndarray:
        now = np.hstack([np.zeros((BATCH, 1)), *plant.start()])
        for _ in range(PERIODS):
            control[:, :, : plant.motors] = plant.law(now[:, 1 : 1 + n], now[:, 1 + n :])[:, None]
            rollout.rollout(model, data, now, control=control, control_spec=torques, state=state, nstep=SUBSTEPS)
            now = state[:, -1].copy()
        return now[:, 1:]

    return work


# Gymnasium's own cart-pole: one step of Euler per period of 20 ms, a push of +-10 N, an end at 2.4 m or 12 degrees.

PUSH, GYM_STEP, GYM_PERIODS = 10.0, 0.02, 20


@functools.cache
def gym_start() -> np.ndarray:
    """x, x', theta, theta' (4, n)."""
    return np.random.default_rng(0).uniform(-0.05, 0.05, (4, BATCH))


@functools.cache
def gym_world() -> pt.World:
    """The same cart-pole: uniform pole of 1 m, 0.1 kg on 1 kg."""
    made = pt.World(gravity=(0, 0, -9.8))
    made.add_body("cart", pt.Inertia(1.0, np.zeros(3), np.eye(3)), joint=pt.prismatic((1, 0, 0)))
    rod = pt.Inertia(0.1, (0, 0, 0.5), np.diag([0.1 / 12, 0.1 / 12, 1e-5]))
    made.add_body("pole", rod, "cart", pt.revolute((0, 1, 0)))
    made.add_input("push", 0.0)
    made.add_motor("motor", "cart", pt.Input("push"))
    return made


def gym_over(t: float, scene: pt.Scene) -> np.ndarray:
    x, theta = scene.joint("cart")[0][0], scene.joint("pole")[0][0]
    return (np.abs(x) > 2.4) | (np.abs(theta) > np.radians(12.0))


def gym_law(theta: np.ndarray, rate: np.ndarray) -> np.ndarray:
    return (theta + 0.2 * rate > 0).astype(int)


def gym_stepped() -> Work:
    start = dict(zip(("cart.q", "cart.v", "pole.q", "pole.v"), gym_start()[:, :, None], strict=True))
    sim = gym_world().stepper(
        vary=start, step=GYM_STEP, method="euler", until=gym_over, duration=10.0, autoreset=True, threads=1
    )
    sim.reset()
    begin, out = sim.state, np.empty((BATCH, 4))

    def work() -> np.ndarray:
        sim.state = begin
        theta, rate = gym_start()[2:]
        for _ in range(GYM_PERIODS):
            sim.step(PUSH * (2.0 * gym_law(theta, rate)[:, None] - 1.0), out=out)
            theta, rate = out[:, 1], out[:, 3]
        return out.copy()

    return work


def gymnasium() -> Work:
    """Gymnasium's own vector environment, in NumPy."""
    from gymnasium.envs.classic_control.cartpole import CartPoleVectorEnv

    envs = CartPoleVectorEnv(num_envs=BATCH)
    envs.reset(seed=0)

    def work() -> np.ndarray:
        envs.state, envs.steps[:], envs.prev_done[:] = gym_start(), 0, False
        for _ in range(GYM_PERIODS):
            envs.step(gym_law(*envs.state[2:]))
        return envs.state[[0, 2, 1, 3]].T

    return work


def gym_expected() -> np.ndarray:
    """The equations of the pole in plain NumPy: (J + m l^2) theta'' + m l cos(theta) x'' = m g l sin(theta), ..."""
    x, v, theta, w = gym_start()
    for _ in range(GYM_PERIODS):
        f, c, s = PUSH * (2.0 * gym_law(theta, w) - 1.0), np.cos(theta), np.sin(theta)
        M = np.stack([np.stack([1.1 + 0 * c, 0.05 * c], -1), np.stack([0.05 * c, 0.1 / 3 + 0 * c], -1)], -2)
        right = np.stack([f + 0.05 * w * w * s, 0.1 * 9.8 * 0.5 * s], -1)
        a, alpha = np.linalg.solve(M, right[..., None])[..., 0].T
        x, v, theta, w = x + GYM_STEP * v, v + GYM_STEP * a, theta + GYM_STEP * w, w + GYM_STEP * alpha
    return np.stack([x, theta, v, w], -1)


def expected(name: str) -> np.ndarray:
    """The first instances by the plain functions, without the compiler."""
    plant, mech = PLANTS[name], PLANTS[name].mechanism()
    ends = []
    for q, v in zip(*(x[:FEW] for x in plant.start()), strict=True):
        for k in range(PERIODS * SUBSTEPS):
            if k % SUBSTEPS == 0:
                tau = np.zeros(mech.nv)
                tau[: plant.motors] = plant.law(q, v)
            v = v + STEP * pt.forward_dynamics(mech, q, v, tau)
            q = kinematics.integrate(mech, q, STEP * v)
        ends.append(np.concatenate([q, v]))
    return np.array(ends)


def error(result: np.ndarray, wanted: np.ndarray) -> float:
    """The greatest error of the first instances, relative to the greatest component."""
    return float(np.max(np.abs(result[: len(wanted)] - wanted)) / np.abs(wanted).max())


GYM = Case(
    name="control-gymnasium",
    what=f"Gymnasium's cart-pole, {BATCH} instances, one step of Euler per period; per instance and control period",
    items=BATCH * GYM_PERIODS,
    contenders=(
        Contender("poinsot, world.stepper", gym_stepped),
        Contender("gymnasium, CartPoleVectorEnv", gymnasium, ">= 1 x", "gymnasium"),
    ),
    expected=gym_expected,
    tolerance=1e-9,
    error=error,
)
CASES = tuple(
    Case(
        name=f"control-{name}",
        what=f"{name}, {BATCH} instances, 50 Hz control, {SUBSTEPS} steps of 1 ms; per instance and control period",
        items=BATCH * PERIODS,
        contenders=(
            Contender("poinsot, world.stepper", partial(stepped, name)),
            Contender("poinsot, the kernel of world.simulate", partial(kernel_alone, name), ">= 0.8 x"),
            Contender("mujoco.rollout", partial(mujoco_rollout, name), ">= 20 x", "mujoco"),
        ),
        expected=partial(expected, name),
        tolerance=1e-9,
        error=error,
    )
    for name in PLANTS
) + (GYM,)
