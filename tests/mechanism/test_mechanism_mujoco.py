"""Random trees in MuJoCo and here: every quantity that both know, at one random state."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanism_peers import MuJoCo
from trees import SEEDS, TREES, pool, random_motion, same

import poinsot as pt
from poinsot._types import Array
from poinsot.mechanism import dynamics, kinematics
from poinsot.spatial import motion

mujoco = pytest.importorskip("mujoco", reason="MuJoCo has no wheel for this platform")


class State:
    """A mechanism, its twin in MuJoCo, and both at one state, with forces and external wrenches."""

    def __init__(self, n: int, tree: int, seed: int) -> None:
        base = "free" if tree % 2 else None
        self.mech = pool(n, tree, kinds=MuJoCo.KINDS, heavy=True, base=base)
        self.peer = MuJoCo(self.mech)
        rng = np.random.default_rng(seed)
        self.q, self.v, self.tau = random_motion(rng, self.mech)
        self.F = rng.standard_normal((len(self.mech), 6))
        self.T = self.peer.turned(self.q)
        self.X = kinematics.world_poses(self.mech, self.q)
        self.model, data = self.peer.model, self.peer.data
        data.qpos[self.peer.q_places] = self.peer.q(self.q)
        data.qvel[self.peer.v_places] = self.T @ self.v
        data.qfrc_applied[self.peer.v_places] = self.T @ self.tau  # T turns: its inverse is its transpose
        for i, X, F in zip(self.peer.ids, self.X, self.F, strict=True):
            data.xfrc_applied[i] = self.central(i, X, F)
        mujoco.mj_forward(self.model, data)
        mujoco.mj_subtreeVel(self.model, data)
        mujoco.mj_rnePostConstraint(self.model, data)
        self.data = data

    def central(self, i: int, X: pt.Pose, F: Array) -> Array:
        """A wrench (force, moment) in world axes about the body's centre of mass."""
        about = motion.wrench_at(F, self.model.body_ipos[i])
        return np.concatenate([X.R @ about[3:], X.R @ about[:3]])

    def ours(self, x: Array) -> Array:
        """Their forces as ours."""
        return self.T.T @ x[self.peer.v_places]


def over_states(test):
    @settings(max_examples=25)
    @given(n=st.integers(1, 10), tree=st.integers(0, TREES - 1), seed=SEEDS)
    def run(n: int, tree: int, seed: int) -> None:
        test(State(n, tree, seed))

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@over_states
def test_dynamics(s):
    M = np.zeros((s.mech.nv, s.mech.nv))
    mujoco.mj_fullM(s.model, s.data, M)
    M = s.T.T @ M[np.ix_(s.peer.v_places, s.peer.v_places)] @ s.T
    same(pt.mass_matrix(s.mech, s.q), M)
    M_inv = np.zeros_like(M)
    mujoco.mj_solveM(s.model, s.data, M_inv, np.eye(s.mech.nv))
    M_inv = s.T.T @ M_inv[np.ix_(s.peer.v_places, s.peer.v_places)] @ s.T
    same(dynamics.inverse_mass_matrix(s.mech, s.q), M_inv, max(1e-10, 1e-14 * np.linalg.cond(M)))
    turning = s.T.T @ _turning(s)
    same(dynamics.bias_forces(s.mech, s.q, s.v) - M @ turning, s.ours(s.data.qfrc_bias))
    vdot = s.T.T @ s.data.qacc[s.peer.v_places] - turning
    same(pt.forward_dynamics(s.mech, s.q, s.v, s.tau, s.F), vdot, max(1e-10, 1e-14 * np.linalg.cond(M)))


def _turning(s: State) -> Array:
    """T' v: the linear velocity of a free body is in world axes there, so its rate is omega x v ahead of ours."""
    extra = np.zeros(s.mech.nv)
    if s.mech.links[0].joint.kind == "free":
        extra[3:6] = s.T[3:6, 3:6] @ np.cross(s.v[:3], s.v[3:6])
    return extra


@over_states
def test_kinematics(s):
    V = kinematics.twists(s.mech, s.q, s.v)
    for i, X in enumerate(s.X):
        body = s.peer.ids[i]
        same(X.p, s.data.xpos[body])
        same(X.R, s.data.xmat[body].reshape(3, 3))
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(s.model, s.data, mujoco.mjtObj.mjOBJ_XBODY, body, velocity, 1)
        same(V[i], velocity)
    linear, angular = np.zeros((2, 3, s.mech.nv))
    mujoco.mj_jacBody(s.model, s.data, linear, angular, body)
    theirs = np.concatenate([X.R.T @ angular, X.R.T @ linear])[:, s.peer.v_places] @ s.T
    same(kinematics.jacobian(s.mech, s.q, s.mech.links[-1].name), theirs)


@over_states
def test_momentum_and_energy(s):
    same(kinematics.potential_energy(s.mech, s.q), s.data.energy[0])
    same(kinematics.kinetic_energy(s.mech, s.q, s.v), s.data.energy[1])
    same(kinematics.centre_of_mass(s.mech, s.q), s.data.subtree_com[0])
    mass = s.model.body_subtreemass[0]
    central = np.concatenate([s.data.subtree_angmom[0], mass * s.data.subtree_linvel[0]])
    same(kinematics.centroidal_momentum(s.mech, s.q, s.v), central)


@over_states
def test_wrenches_through_joints(s):
    """MuJoCo gives them in world axes, about the centre of mass of the whole tree that a body belongs to."""
    vdot = pt.forward_dynamics(s.mech, s.q, s.v, s.tau, s.F)
    through, _ = dynamics.link_wrenches(s.mech, s.q, s.v, vdot, s.F)
    for i, X in enumerate(s.X):
        body = s.peer.ids[i]
        about = s.data.subtree_com[s.model.body_rootid[body]]
        ours = motion.wrench_at(motion.wrench_in_frame(X, through[i]), about)
        same(ours, s.data.cfrc_int[body], 1e-9)  # they follow accelerations that differ by the condition of M
