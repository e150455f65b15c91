"""Worlds against the bare kernel that they come down to, and against MuJoCo's rollout of the same arm."""

import functools
from functools import partial
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

import poinsot as pt
from case import Case, Contender, Work
from models import G, arm, states
from poinsot.mechanism import kinematics

JOINTS, BATCH, STEPS, STEP = 7, 4096, 100, 1e-3


@functools.cache
def mechanism() -> pt.Mechanism:
    """The random arm as a mechanism."""
    links = [
        pt.Link(
            f"link{i}",
            pt.Inertia(link.mass, link.com, link.moment),
            None if link.parent < 0 else f"link{link.parent}",
            pt.revolute((0, 0, 1)),
            pt.Pose(link.R, link.p),
        )
        for i, link in enumerate(arm(JOINTS))
    ]
    return pt.Mechanism(links, gravity=(0, 0, -G))


@functools.cache
def start() -> tuple[np.ndarray, np.ndarray]:
    q, v, _ = states(JOINTS, BATCH)
    return q, v


def in_a_world() -> Work:
    """As a user writes it: a batch of worlds that start differently."""
    world = pt.World(gravity=(0, 0, -G))
    world.add_mechanism(mechanism())
    q, v = start()
    vary = {f"link{i}.{letter}": x[:, i : i + 1] for i in range(JOINTS) for letter, x in (("q", q), ("v", v))}

    def work() -> np.ndarray:
        run = world.simulate(STEPS * STEP, STEP, vary=vary, method="semi-implicit euler")
        return run.y[-1]

    return work


def bare() -> Work:
    """The kernel alone."""
    mech = mechanism()

    @pt.kernel(f"({JOINTS}),({JOINTS})->({JOINTS}),({JOINTS})")
    def advance(q: Any, v: Any) -> Any:
        def step(_: Any, y: Any) -> Any:
            q, v = y
            v = v + STEP * pt.forward_dynamics(mech, q, v, np.zeros(JOINTS))
            return kinematics.integrate(mech, q, STEP * v), v

        return pt.fori_loop(STEPS, step, (q, v))

    q, v = start()
    return lambda: np.concatenate(advance(q, v), axis=-1)


def mujoco_rollout() -> Work:
    """MuJoCo's own way to advance many states, in C++, on one thread."""
    spec = mujoco.MjSpec()
    spec.option.gravity, spec.option.timestep = [0, 0, -G], STEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    bodies: list[Any] = []
    for link in arm(JOINTS):
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, link.R.ravel())
        parent = spec.worldbody if link.parent < 0 else bodies[link.parent]
        body = parent.add_body(pos=link.p, quat=quaternion)
        body.mass, body.ipos, body.explicitinertial = link.mass, link.com, True
        m = link.moment
        body.fullinertia = [m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2]]
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
        bodies.append(body)
    model = spec.compile()
    data = mujoco.MjData(model)
    q, v = start()
    initial = np.concatenate([np.zeros((BATCH, 1)), q, v], axis=1)

    def work() -> np.ndarray:
        state, _ = rollout.rollout(model, [data], initial, nstep=STEPS)
        return state[:, -1, 1:]

    return work


def expected() -> np.ndarray:
    """The first instances by the plain functions, without the compiler; NaN stands for those that were not done."""
    mech, few = mechanism(), 4
    q, v = (x[:few].copy() for x in start())
    for k in range(few):
        for _ in range(STEPS):
            v[k] = v[k] + STEP * pt.forward_dynamics(mech, q[k], v[k], np.zeros(JOINTS))
            q[k] = q[k] + STEP * v[k]
    return np.concatenate([q, v], axis=-1)


def error(result: np.ndarray, wanted: np.ndarray) -> float:
    """The greatest error of the first instances, relative to the greatest component."""
    return float(np.max(np.abs(result[: len(wanted)] - wanted)) / np.abs(wanted).max())


def recorded(every: float) -> Work:
    """One world for ten seconds, with records so often."""
    world = pt.World(gravity=(0, 0, -G))
    q, v = start()
    world.add_mechanism(mechanism(), q[0], v[0])
    return lambda: world.simulate(10.0, STEP, every=every).y[-1]


CASES = (
    Case(
        name="world-records",
        what=f"one arm of {JOINTS} joints, 10,000 steps of RK4, the ledger kept; per step",
        items=10_000,
        contenders=(
            Contender("100 records a second", partial(recorded, 0.01)),
            Contender("one at the end", partial(recorded, 10.0), ">= 0.9 x"),
        ),
        expected=recorded(1.0),
        tolerance=0.0,
    ),
    Case(
        name="world-arm",
        what=f"{JOINTS} joints, {BATCH} worlds, {STEPS} steps of semi-implicit Euler; per world and step",
        items=BATCH * STEPS,
        contenders=(
            Contender("poinsot, world.simulate", in_a_world),
            Contender("poinsot, the bare kernel", bare, ">= 0.8 x"),
            Contender("mujoco.rollout", mujoco_rollout, ">= 15 x", "mujoco"),
        ),
        expected=expected,
        tolerance=1e-9,
        error=error,
    ),
)
