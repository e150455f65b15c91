"""The conventions of other libraries, each row of the table against the library itself.

The body has its centre of mass away from its frame's origin and a full moment of inertia, so that a wrong order, wrong
axes or a wrong reference point cannot hide.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import strategies as st
from spatial_strategies import ROUNDING, law, poses, same, twists, vectors, wrenches

from poinsot.spatial import rotation
from poinsot.spatial.motion import point_velocity
from poinsot.spatial.peers import CONVENTIONS, from_peer, to_peer, wrench_from_peer, wrench_to_peer
from poinsot.spatial.pose import Pose

MASS, COM = 2.5, np.array([0.3, -0.2, 0.1])
MOMENT = rotation.exp([0.3, 0.5, -0.2]) @ np.diag([0.2, 0.3, 0.4]) @ rotation.exp([0.3, 0.5, -0.2]).T  # about COM
POINT = np.array([-0.4, 0.7, 1.1])  # of the body, in its frame
C = rotation.skew(COM)
G = np.block([[MOMENT - MASS * C @ C, MASS * C], [-MASS * C, MASS * np.eye(3)]])  # spatial inertia, angular first
LINEAR_FIRST = [3, 4, 5, 0, 1, 2]
STATES = [(Pose.exp(xi), V) for xi, V in np.random.default_rng(8).normal(size=(5, 2, 6))]


@law(name=st.sampled_from(sorted(CONVENTIONS)), X=poses, V=twists, F=wrenches, com=vectors())
def test_there_and_back(name, X, V, F, com):
    Y, W = from_peer(name, *to_peer(name, X, V, com), com)
    same(Y.matrix(), X.matrix())
    same(W, V, 5e-14)
    same(wrench_from_peer(name, X, wrench_to_peer(name, X, F, com), com), F, 5e-14)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_batches_are_loops(name):
    rng = np.random.default_rng(9)
    xi, V = rng.normal(size=(2, 4, 6))
    q, v = to_peer(name, Pose.exp(xi), V, COM)
    for k in range(4):
        one = to_peer(name, Pose.exp(xi[k]), V[k], COM)
        same(q[k], one[0], 1e-15)
        same(v[k], one[1], 1e-15)
    same(from_peer(name, q, v, COM)[1], V)


def test_an_unknown_library_is_named():
    with pytest.raises(ValueError, match=r"the library 'bullet'\. Known: pinocchio, mujoco, drake, newton"):
        to_peer("bullet", Pose(), np.zeros(6))


@dataclass
class Seen:
    """A library's results for a state (q, v): the pose, the velocity of a point, and the kinetic energy."""

    X_WB: np.ndarray
    velocity_of_point: np.ndarray
    energy: float


def check_state(name, see, tolerance=ROUNDING):
    for X, V in STATES:
        seen = see(*to_peer(name, X, V, COM))
        same(seen.X_WB, X.matrix(), tolerance)
        same(seen.velocity_of_point, X.R @ point_velocity(V, POINT), tolerance)
        same(seen.energy, 0.5 * V @ G @ V, tolerance)


def check_wrench(name, accelerate, tolerance=ROUNDING):
    """At rest the derivative of a twist converts as the twist does, so the library must give Vdot = G^-1 F."""
    for X, F in STATES:
        q, rest = to_peer(name, X, np.zeros(6), COM)
        vdot = accelerate(q, rest, wrench_to_peer(name, X, F, COM))
        same(vdot, to_peer(name, X, np.linalg.solve(G, F), COM)[1], tolerance)


def test_pinocchio():
    pin = pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "free")
    inertia = pin.Inertia(MASS, COM, MOMENT)
    model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    frame = model.addFrame(pin.Frame("point", joint, pin.SE3(np.eye(3), POINT), pin.FrameType.OP_FRAME))
    data = model.createData()

    def see(q, v):
        pin.forwardKinematics(model, data, q, v)
        velocity = pin.getFrameVelocity(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        return Seen(data.oMi[joint].homogeneous, velocity.linear, pin.computeKineticEnergy(model, data, q, v))

    def accelerate(q, v, F):
        model.gravity = pin.Motion.Zero()
        external = pin.StdVec_Force()
        external.extend([pin.Force.Zero(), pin.Force(F)])
        return pin.aba(model, data, q, v, np.zeros(6), external)

    check_state("pinocchio", see)
    check_wrench("pinocchio", accelerate, 1e-13)  # the condition number of G
    same(inertia.matrix(), G[np.ix_(LINEAR_FIRST, LINEAR_FIRST)])


def test_mujoco():
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo has no wheel for this platform")
    ((xx, xy, xz), (_, yy, yz), (_, _, zz)) = MOMENT
    numbers = lambda *values: " ".join(repr(float(value)) for value in values)  # noqa: E731
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option gravity="0 0 0"><flag energy="enable"/></option><worldbody><body><freejoint/>
        <inertial mass="{MASS}" pos="{numbers(*COM)}" fullinertia="{numbers(xx, yy, zz, xy, xz, yz)}"/>
        <site name="point" pos="{numbers(*POINT)}"/></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)

    def see(q, v):
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        velocity = np.zeros(6)  # (angular, linear), world axes
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, 0, velocity, 0)
        X_WB = np.vstack([np.column_stack([data.xmat[1].reshape(3, 3), data.xpos[1]]), [0, 0, 0, 1]])
        return Seen(X_WB, velocity[3:], data.energy[1])

    def accelerate(q, v, F):
        data.qpos[:], data.qvel[:], data.xfrc_applied[1] = q, v, F
        mujoco.mj_forward(model, data)
        return data.qacc

    check_state("mujoco", see, 1e-13)  # MuJoCo works in the principal axes of the inertia, found by iteration
    check_wrench("mujoco", accelerate, 1e-13)


def test_drake():
    plant_module = pytest.importorskip("pydrake.multibody.plant", reason="Drake has no wheel for this platform")
    from pydrake.multibody.math import SpatialForce
    from pydrake.multibody.tree import RotationalInertia, SpatialInertia

    plant = plant_module.MultibodyPlant(time_step=0.0)
    ((xx, xy, xz), (_, yy, yz), (_, _, zz)) = MOMENT
    inertia = SpatialInertia.MakeFromCentralInertia(MASS, COM, RotationalInertia(xx, yy, zz, xy, xz, yz))
    body = plant.AddRigidBody("body", inertia)
    plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
    plant.Finalize()
    context = plant.CreateDefaultContext()

    def see(q, v):
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        X_WB = body.EvalPoseInWorld(context)
        velocity = body.EvalSpatialVelocityInWorld(context).Shift(X_WB.rotation() @ POINT)
        return Seen(X_WB.GetAsMatrix4(), velocity.translational(), plant.EvalKineticEnergy(context))

    def accelerate(q, v, F):
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        force = plant_module.ExternallyAppliedSpatialForce_[float]()
        force.body_index, force.p_BoBq_B, force.F_Bq_W = body.index(), np.zeros(3), SpatialForce(F)
        plant.get_applied_spatial_force_input_port().FixValue(context, [force])
        return plant.get_generalized_acceleration_output_port().Eval(context)

    check_state("drake", see)
    check_wrench("drake", accelerate, 1e-13)
    same(inertia.CopyToFullMatrix6(), G)


def test_newton(monkeypatch):
    wp = pytest.importorskip("warp", reason="Newton needs Warp, which has no wheel for this platform")
    newton = pytest.importorskip("newton", reason="Newton has no wheel for this platform")
    monkeypatch.setattr(wp.config, "enable_backward", False)  # compiles four times faster

    # Newton computes in float32 and its integrator is of first order; with a spherical inertia its step can still be
    # predicted: the centre of mass moves straight on, and the body rotates by 2 arctan(|omega| dt / 2) about omega.
    moment, dt = 0.4, 0.05
    builder = newton.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(mass=MASS, com=wp.vec3(*COM), inertia=wp.mat33(*(moment * np.eye(3)).ravel()), lock_inertia=True)
    model = builder.finalize(device="cpu")
    solver = newton.solvers.SolverSemiImplicit(model, angular_damping=0.0)

    def step(q, v, F):
        before, after = model.state(), model.state()
        before.body_q.assign(q[None]), before.body_qd.assign(v[None]), before.body_f.assign(F[None])
        solver.step(before, after, model.control(), None, dt)
        return after.body_q.numpy()[0], after.body_qd.numpy()[0]

    for X, V in STATES:
        q, v = to_peer("newton", X, V, COM)
        Y, W = from_peer("newton", *step(q, v, np.zeros(6)), COM)
        angle = np.linalg.norm(V[:3])
        turn = 2 * np.arctan(angle * dt / 2) / (angle * dt)
        same(Y.R, X.R @ rotation.exact(turn * V[:3], dt), 1e-6)
        same(Y @ COM, X @ COM + dt * X.R @ point_velocity(V, COM), 1e-6)
        same(Y.R @ W[:3], X.R @ V[:3], 1e-6)
        same(Y.R @ point_velocity(W, COM), X.R @ point_velocity(V, COM), 1e-6)
        # the coordinates of a free joint are written in the same way
        state = model.state()
        newton.eval_fk(model, wp.array(q, dtype=float, device="cpu"), wp.array(v, dtype=float, device="cpu"), state)
        same(state.body_q.numpy()[0], q, 1e-6)
        same(state.body_qd.numpy()[0], v, 1e-6)

    G_sphere = np.block([[moment * np.eye(3) - MASS * C @ C, MASS * C], [-MASS * C, MASS * np.eye(3)]])
    for X, F in STATES:
        q, rest = to_peer("newton", X, np.zeros(6), COM)
        _, v = step(q, rest, wrench_to_peer("newton", X, F, COM))
        same(v / dt, to_peer("newton", X, np.linalg.solve(G_sphere, F), COM)[1], 1e-6)
