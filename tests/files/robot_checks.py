"""What the tests of robot files share: random states, and a mechanism against other libraries."""

from dataclasses import replace

import numpy as np

import poinsot as pt
from poinsot.files import from_mujoco, from_pinocchio, to_mujoco, to_pinocchio
from poinsot.mechanism import dynamics, kinematics

TOLERANCE = 1e-10  # of the largest entry; the peers agree to about 1e-14


def same(ours, theirs, tolerance=TOLERANCE):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    assert np.max(np.abs(ours - theirs), initial=0) <= tolerance * (1 + np.max(np.abs(theirs), initial=0))


def states(mech, count=4, seed=0):
    """Random (q, v, vdot, tau)."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q = kinematics.integrate(mech, mech.neutral(), rng.uniform(-2, 2, mech.nv))
        yield q, *rng.normal(size=(3, mech.nv))


def check_pinocchio(pin, mech, model):
    """Every quantity, on random states. Pinocchio leaves out the mass of what is fixed to the world."""
    data = model.createData()
    for q, v, vdot, tau in states(mech):
        theirs = to_pinocchio(mech, q, v)
        for a, b in zip(from_pinocchio(mech, *theirs), (q, v), strict=True):
            same(np.cos(a), np.cos(b)), same(np.sin(a), np.sin(b))  # angles without limits come back within a turn

        def to(x, q=q):
            return to_pinocchio(mech, q, x)[1]

        pin.computeAllTerms(model, data, *theirs)
        pin.updateFramePlacements(model, data)
        for name, X_WB in pt.forward_kinematics(mech, q).items():
            same(X_WB.matrix(), data.oMf[model.getFrameId(name, pin.FrameType.BODY)].homogeneous)
        T = np.stack([to(e) for e in np.eye(mech.nv)], axis=1)  # theirs = T ours, and T is orthogonal
        M = np.triu(data.M) + np.triu(data.M, 1).T
        same(T @ pt.mass_matrix(mech, q) @ T.T, M)
        same(to(dynamics.bias_forces(mech, q, v)), data.nle)
        same(to(pt.inverse_dynamics(mech, q, v, vdot)), pin.rnea(model, data, *theirs, to(vdot)))
        same(to(pt.forward_dynamics(mech, q, v, tau)), pin.aba(model, data, *theirs, to(tau)))
        same(kinematics.kinetic_energy(mech, q, v), pin.computeKineticEnergy(model, data, *theirs))
        same(kinematics.potential_energy(mech, q), pin.computePotentialEnergy(model, data, theirs[0]))
        same(kinematics.centre_of_mass(mech, q), pin.centerOfMass(model, data, theirs[0]))


def check_mujoco(mujoco, mech, model, name_of):
    """Every quantity, on random states, without contacts and limits. Springs and dampers first, then without them."""
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    data = mujoco.MjData(model)

    def forward(q, v, tau):
        data.qpos[:], data.qvel[:] = to_mujoco(mech, q, v)
        data.qfrc_applied[:] = to_mujoco(mech, q, tau)[1]
        mujoco.mj_forward(model, data)

    for q, v, _, tau in states(mech):
        forward(q, v, tau)
        same(to_mujoco(mech, q, dynamics.joint_forces(without_friction(mech), q, v))[1], data.qfrc_passive)
    model.jnt_stiffness[:], model.dof_damping[:] = 0, 0
    for q, v, _, tau in states(mech):
        forward(q, v, tau)
        for a, b in zip(from_mujoco(mech, data.qpos, data.qvel), (q, v), strict=True):
            same(a, b)
        poses = pt.forward_kinematics(mech, q)
        for b in range(1, model.nbody):
            same(poses[name_of(b)].p, data.xpos[b])
            same(poses[name_of(b)].R, data.xmat[b].reshape(3, 3))
        T = np.stack([to_mujoco(mech, q, e)[1] for e in np.eye(mech.nv)], axis=1)
        M = np.zeros((mech.nv, mech.nv))
        for row, e in zip(M, np.eye(mech.nv), strict=True):
            mujoco.mj_mulM(model, data, row, e)
        same(T @ pt.mass_matrix(mech, q) @ T.T, M)
        same(acceleration_in_mujoco(mech, q, v, pt.forward_dynamics(mech, q, v, tau)), data.qacc)
        same(kinematics.potential_energy(mech, q), data.energy[0])
        same(kinematics.kinetic_energy(mech, q, v), data.energy[1])
        same(kinematics.centre_of_mass(mech, q), data.subtree_com[0])


def without_friction(mech):
    links = [replace(link, joint=replace(link.joint, friction=0.0)) for link in mech.links]
    return pt.Mechanism(tuple(links), mech.gravity)


def acceleration_in_mujoco(mech, q, v, vdot):
    """MuJoCo differentiates linear velocities in world axes: a = v' + omega x v, then turned as a velocity is."""
    a = vdot.copy()
    for link, sv in zip(mech.links, mech.v_slices, strict=True):
        if link.joint.kind == "free":
            omega, u = v[sv][:3], v[sv][3:]
            a[sv][3:] += np.cross(omega, u)
        if link.joint.kind == "planar":
            omega, u1, u2 = v[sv]
            a[sv][1:] += omega * np.array([-u2, u1])
    return to_mujoco(mech, q, a)[1]
