"""Worlds from end to end against other libraries: SciPy on Pinocchio's equations, and MuJoCo."""

from typing import Any

import numpy as np
import pytest
from mechanism_peers import MuJoCo, Pinocchio
from scipy.integrate import solve_ivp
from trees import pool, random_state
from world_models import chain, close, rod

import poinsot as pt
from poinsot._types import Array
from poinsot.mechanism import kinematics
from sparing import few

pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")


def exact(world: pt.World, peer: Pinocchio, T: float, tau: Any = None, wrenches: Any = None) -> tuple[Array, Array]:
    """q and v after T seconds: Pinocchio's forward dynamics, integrated by SciPy to 1e-12."""
    mech, start = world.mechanism, world.start()

    def rate(t: float, y: Array) -> Array:
        q, v = kinematics.normalize(mech, y[: mech.nq]), y[mech.nq :]
        forces = np.zeros(mech.nv) if tau is None else tau(t, q, v)
        external = None if wrenches is None else wrenches(t, q, v)
        return np.concatenate([kinematics.position_rate(mech, q, v), peer.forward_dynamics(q, v, forces, external)])

    y = solve_ivp(rate, (0, T), np.concatenate([start.q, start.v]), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    return kinematics.normalize(mech, y[: mech.nq]), y[mech.nq :]


def final(world: pt.World, T: float, h: float) -> tuple[Array, Array, Any]:
    run = world.simulate(T, h, every=T)
    n = world.mechanism.nq
    return run.y[-1][:n], run.y[-1][n : n + world.mechanism.nv], run


@pytest.mark.parametrize(("n", "step", "tolerance"), [(1, 1e-3, 1e-9), (2, 5e-4, 1e-9), (6, 1e-4, 1e-8)])
def test_chains(n, step, tolerance):
    """A pendulum, a double pendulum, a chain of six; long ones are chaotic and magnify what is left."""
    world = chain(n)
    q, v, run = final(world, 1.0, step)
    expected = exact(world, Pinocchio(world.mechanism), 1.0)
    close(q, expected[0], tolerance)
    close(v, expected[1], 10 * tolerance)
    assert run.ledger.relative_residual.max() < 1e-7


@pytest.mark.parametrize("seed", few(range(4), {0, 1}))
def test_random_trees(seed):
    """All kinds of joints, branches, fixed links, motors, several trees side by side."""
    mech = pool(4, seed)
    rng = np.random.default_rng(seed)
    q0, v0 = random_state(rng, mech)
    world = pt.World(gravity=mech.gravity)
    world.add_mechanism(mech, q0, v0)
    q, v, run = final(world, 0.2, 1e-4)
    expected = exact(world, Pinocchio(mech), 0.2)
    close(kinematics.difference(mech, expected[0], q), np.zeros(mech.nv), 1e-8)
    close(v, expected[1], 1e-7)
    assert run.ledger.relative_residual.max() < 1e-6


def test_motors_springs_feedback_and_forces_against_pinocchio():
    """Everything that acts in joints and on bodies, in one arm: the same torques and wrenches given to Pinocchio."""
    world = pt.World()
    world.add_body("upper", rod(1.5, 0.5), joint=pt.revolute((0, 1, 0), stiffness=3.0, rest=0.2, damping=0.1), q=0.5)
    world.add_body("lower", rod(1.0, 0.4), "upper", pt.universal((1, 0, 0), (0, 1, 0)), (0, 0, -0.5), q=(0.1, 0.2))
    world.add_body("slide", pt.Inertia.sphere(0.3, 0.05), "lower", pt.prismatic((0, 0, 1), friction=0.0), (0, 0, -0.4))
    world.add_motor("drive", "upper", lambda t, scene: 2.0 * np.sin(3 * t))
    world.add_feedback("hold", "lower", (5.0, 4.0), (0.3, 0.2), target=(0.2, -0.1))
    world.add_feedback("servo", "slide", 200.0, 4.0, target=pt.Tabulated([0.0, 1.0], [0.0, 0.1]), limit=30.0)
    world.add_force("push", "slide", (1.0, 2.0, 3.0), point=(0.1, 0, 0))
    world.add_torque("twist", "lower", (0.1, 0.2, 0.3), axes="body")
    mech = world.mechanism

    def tau(t: float, q: Array, v: Array) -> Array:
        upper = 3.0 * (0.2 - q[0]) - 0.1 * v[0] + 2.0 * np.sin(3 * t)
        lower = np.array([5.0, 4.0]) * (np.array([0.2, -0.1]) - q[1:3]) - np.array([0.3, 0.2]) * v[1:3]
        return np.array([upper, *lower, np.clip(200.0 * (0.1 * t - q[3]) - 4.0 * v[3], -30, 30)])

    def wrenches(t: float, q: Array, v: Array) -> Array:
        f = pt.forward_kinematics(mech, q)["slide"].R.T @ np.array([1.0, 2.0, 3.0])
        external = np.zeros((3, 6))
        external[1, :3] = (0.1, 0.2, 0.3)
        external[2] = np.concatenate([np.cross([0.1, 0, 0], f), f])
        return external

    q, v, run = final(world, 1.0, 2e-4)
    expected = exact(world, Pinocchio(mech), 1.0, tau, wrenches)
    close(q, expected[0], 1e-10)
    close(v, expected[1], 1e-9)
    assert run.ledger.relative_residual.max() < 1e-10


def test_robot_without_contact_against_mujoco():
    """Six hinges and a gripper's slide; MuJoCo steps with RK4 as well, so both make the same steps, to rounding."""
    mujoco = pytest.importorskip("mujoco")
    axes = [(0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0)]
    world, parent = pt.World(), None
    for k, axis in enumerate(axes):
        parent = world.add_body(
            f"link{k}",
            pt.Pose(p=(0.05, 0.02, 0.15)) @ pt.Inertia.cylinder(2.0 - 0.25 * k, 0.06, 0.3),
            parent,
            pt.revolute(axis, armature=0.05),
            (0.0, 0.03 * k, 0.1 if k == 0 else 0.3),
            q=0.2 * k - 0.4,
            v=0.5 - 0.1 * k,
        )
    finger = pt.Inertia.box(0.1, (0.02, 0.02, 0.1))
    world.add_body("finger", finger, parent, pt.prismatic((0, 0, 1)), (0, 0, 0.3), v=0.1)
    mech, start = world.mechanism, world.start()
    peer = MuJoCo(mech)
    peer.model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    peer.model.opt.timestep = 1e-3
    peer.data.qpos[peer.q_places], peer.data.qvel[peer.v_places] = start.q, start.v
    for _ in range(500):
        mujoco.mj_step(peer.model, peer.data)
    q, v, _ = final(world, 0.5, 1e-3)
    close(q, peer.data.qpos[peer.q_places], 1e-11)
    close(v, peer.data.qvel[peer.v_places], 1e-10)


def test_reactions_against_mujoco():
    """The wrench through a joint, in motion: MuJoCo's cfrc_int, about the centre of its tree, in world axes."""
    mujoco = pytest.importorskip("mujoco")
    world = chain(3)
    mech, start, motion = world.mechanism, world.start(), world.motion()
    peer = MuJoCo(mech)
    peer.data.qpos[peer.q_places], peer.data.qvel[peer.v_places] = start.q, start.v
    mujoco.mj_forward(peer.model, peer.data)
    mujoco.mj_rnePostConstraint(peer.model, peer.data)
    for link, i in zip(mech.links, peer.ids, strict=True):
        F, X = motion.reaction(link.name), motion[link.name].pose
        moment, force = X.R @ F[:3], X.R @ F[3:]
        about = peer.data.subtree_com[peer.model.body_rootid[i]]
        theirs = peer.data.cfrc_int[i]
        close(force, theirs[3:], 1e-10)
        close(moment + np.cross(X.p - about, force), theirs[:3], 1e-10)
