"""Fixed tendons of MJCF files: springs, dampers, dry friction, limits and motors along sums of joint coordinates, as in
MuJoCo."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.files import from_mujoco, load_mjcf, to_mujoco
from poinsot.parts import Tendon, TendonMotor
from poinsot.world import State, System

mujoco = pytest.importorskip("mujoco", reason="MuJoCo has no wheel for this platform")

# A finger whose last two joints are coupled, as those of the Shadow hand are, and a slider that pulls at one of them.
HAND = """
<mujoco>
  <compiler angle="radian"/>
  <option gravity="0.1 0.2 -9.81" timestep="1e-4" integrator="RK4"/>
  <worldbody>
    <body name="palm">
      <joint name="wrist" axis="0 1 0" damping="0.02"/>
      <geom type="box" size="0.04 0.04 0.01" mass="0.4" pos="0.04 0 0" contype="0" conaffinity="0"/>
      <body name="proximal" pos="0.09 0 0">
        <joint name="J3" axis="0 1 0" ref="0.1"/>
        <geom type="capsule" fromto="0 0 0 0.04 0 0" size="0.01" mass="0.05" contype="0" conaffinity="0"/>
        <body name="middle" pos="0.045 0 0">
          <joint name="J2" axis="0 1 0" springref="0.3"/>
          <geom type="capsule" fromto="0 0 0 0.03 0 0" size="0.01" mass="0.03" contype="0" conaffinity="0"/>
          <body name="distal" pos="0.035 0 0">
            <joint name="J1" axis="0 1 0"/>
            <geom type="capsule" fromto="0 0 0 0.02 0 0" size="0.01" mass="0.02" contype="0" conaffinity="0"/>
          </body>
        </body>
      </body>
    </body>
    <body name="weight" pos="0 0.3 0">
      <joint name="slide" type="slide" axis="0 0 1"/>
      <geom type="box" size="0.02 0.02 0.02" mass="0.2" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <tendon>
    <fixed name="J0" stiffness="0.6" damping="0.003" springlength="0.2">
      <joint joint="J2" coef="1"/><joint joint="J1" coef="0.7"/>
    </fixed>
    <fixed name="cord" stiffness="3" springlength="-0.2 0.1" damping="0.01">
      <joint joint="J3" coef="0.05"/><joint joint="slide" coef="-1"/>
    </fixed>
    <fixed name="at_ref" stiffness="0.2"><joint joint="J3" coef="1"/><joint joint="J2" coef="-1"/></fixed>
    <fixed name="plain"><joint joint="wrist" coef="1"/><joint joint="J3" coef="0.5"/></fixed>
  </tendon>
  <actuator>
    <motor name="pull" tendon="J0" gear="0.3" ctrlrange="-1 1" ctrllimited="true"/>
    <position name="hold" tendon="plain" kp="0.8" kv="0.02" gear="2" forcerange="-0.5 0.5"/>
    <velocity name="wind" tendon="cord" kv="0.5"/>
  </actuator>
</mujoco>"""


@pytest.fixture
def hand(tmp_path):
    path = tmp_path / "hand.xml"
    path.write_text(HAND)
    return load_mjcf(path), mujoco.MjModel.from_xml_path(str(path))


def states(mech, model, rng, count):
    """Random states, with controls that are partly beyond their ranges; in both sets of coordinates."""
    for _ in range(count):
        data = mujoco.MjData(model)
        data.qpos[:] = model.qpos0 + rng.normal(0, 0.4, model.nq)
        data.qvel[:], data.ctrl[:] = rng.normal(0, 1, model.nv), rng.normal(0, 1.2, model.nu)
        yield data, *from_mujoco(mech, data.qpos, data.qvel)


def test_forces_and_accelerations_are_those_of_mujoco(hand):
    """Passive forces, motors and accelerations; springs that are slack or not, and motors at their limits."""
    mech, model = hand
    world = pt.World((0.1, 0.2, -9.81))
    world.add_mechanism(mech)
    kinds = {name: type(e) for name, e in world.description.elements.items()}
    assert kinds == dict.fromkeys(("J0.tendon", "cord.tendon", "at_ref.tendon"), Tendon) | dict.fromkeys(
        ("pull.motor", "hold.motor", "wind.motor"), TendonMotor
    )
    system = System(world.description)
    slack, clipped, held = [], [], []
    for data, q, v in states(mech, model, np.random.default_rng(1), 30):
        mujoco.mj_forward(model, data)
        controls = dict(zip(("pull", "hold", "wind"), data.ctrl, strict=True))
        motion = system.motion(0.0, State(q, v, system.start().parts), inputs=controls)
        found = {"tendon": np.zeros(mech.nv), "motor": np.zeros(mech.nv)}
        for name, effect in motion.effects.items():
            for joint, f in effect.joint_forces.items():
                found[name.partition(".")[2]][mech.v_slices[mech.index(joint)]] += f
        dampers = pt.mechanism.dynamics.joint_forces(mech, q, v)
        np.testing.assert_allclose(to_mujoco(mech, q, found["tendon"] + dampers)[1], data.qfrc_passive, atol=1e-13)
        np.testing.assert_allclose(to_mujoco(mech, q, found["motor"])[1], data.qfrc_actuator, atol=1e-13)
        np.testing.assert_allclose(to_mujoco(mech, q, motion.vdot)[1], data.qacc, rtol=1e-9, atol=1e-9)
        assert motion.effects["J0.tendon"].shown["length"] == pytest.approx(data.ten_length[0])
        slack.append(-0.2 <= data.ten_length[1] <= 0.1)
        clipped.append(abs(data.ctrl[0]) > 1)
        held.append(abs(data.actuator_force[1]) == 0.5)
    assert all(any(x) and not all(x) for x in (slack, clipped, held))


def test_a_trajectory_is_that_of_mujoco(hand, tmp_path):
    """Half a second by RK4 on both sides, with the motors at work; and a saved run comes back with its tendons."""
    mech, model = hand
    (data, q, v), controls = next(states(mech, model, np.random.default_rng(3), 1)), (1.4, 0.3, -0.2)
    world = pt.World((0.1, 0.2, -9.81))
    world.add_mechanism(mech, q, v)
    run = world.simulate(0.5, 1e-4, inputs=dict(zip(("pull", "hold", "wind"), controls, strict=True)))
    data.ctrl[:] = controls
    for _ in range(5000):
        mujoco.mj_step(model, data)
    end = run.y[-1, : mech.nq], run.y[-1, mech.nq : mech.nq + mech.nv]
    np.testing.assert_allclose(np.concatenate(to_mujoco(mech, *end)), [*data.qpos, *data.qvel], rtol=1e-7, atol=1e-7)
    run.save(tmp_path / "run.nc")
    again = pt.load_run(tmp_path / "run.nc").repeat()
    np.testing.assert_array_equal(again.y, run.y)


LIMITED = """
<mujoco><compiler angle="radian"/>
  <worldbody>
    <body name="a"><joint name="ja" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="1"/>
      <body name="b" pos="0.3 0 0"><joint name="jb" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="1"/></body></body>
  </worldbody>
  <tendon>
    <fixed name="sum" range="-0.5 0.4" limited="true" frictionloss="0.02">
      <joint joint="ja" coef="1"/><joint joint="jb" coef="-2"/></fixed>
    {}
  </tendon>
</mujoco>"""


def test_limits_of_tendons_are_stops(tmp_path):
    """At rest against its stop, a tendon is beyond its limit by little, with the force that equilibrium asks for."""
    path = tmp_path / "limited.xml"
    path.write_text(LIMITED.format(""))
    mech = load_mjcf(path)
    world = pt.World()
    world.add_mechanism(mech, prefix="r_")
    stop, spring = (world.description.elements[f"r_sum.{kind}"] for kind in ("tendon_stop", "tendon"))
    assert (stop.over, stop.lower, stop.upper) == (("r_a", "r_b"), -0.5, 0.4)
    assert (spring.friction, spring.stiffness) == (0.02, 0.0)
    inertia = 1 / (np.array([1, -2]) @ np.linalg.solve(pt.mass_matrix(mech, np.zeros(2)), [1, -2]))
    assert stop.stiffness == pytest.approx(200.0**2 * inertia)
    held = pt.World()
    held.add_mechanism(mech, limits=False)
    assert "sum.tendon_stop" not in held.description.elements
    world["r_a.joint.damping"] = world["r_b.joint.damping"] = 1.0
    run = world.simulate(
        20.0, 1e-3, method="implicit", record=["r_sum.tendon_stop.tension", "r_sum.tendon_stop.length"]
    )
    force, length = (float(run.data[f"r_sum.tendon_stop.{x}"][-1]) for x in ("tension", "length"))
    assert 0.4 < length < 0.42 or -0.52 < length < -0.5
    q = run.y[-1, :2]
    np.testing.assert_allclose(
        pt.inverse_dynamics(mech, q, np.zeros(2), np.zeros(2)), force * np.array([1, -2]), atol=0.03
    )
    assert force == pytest.approx(-stop.stiffness * (length - np.clip(length, -0.5, 0.4)), rel=1e-3)


def test_tendons_through_space_are_named(tmp_path):
    path = tmp_path / "space.xml"
    sites = '<spatial name="rope"><site site="s"/><site site="t"/></spatial>'
    text = LIMITED.replace("<worldbody>", '<worldbody><site name="t"/>').replace(
        '<body name="b" pos="0.3 0 0">', '<body name="b" pos="0.3 0 0"><site name="s"/>'
    )
    path.write_text(text.format(sites).replace("</mujoco>", '<actuator><motor tendon="rope"/></actuator></mujoco>'))
    with pytest.warns(UserWarning, match=r"sites \(2\), actuators \(1\), spatial tendons 'rope' \(1\)\.$"):
        mech = load_mjcf(path)
    assert len(mech.equipment.tendons) == 2
