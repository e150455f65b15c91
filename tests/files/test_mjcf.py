"""MJCF files: against MuJoCo, which runs them, and what is said about files that are not right."""

import re
import sys

import numpy as np
import pytest
from robot_checks import check_mujoco, same

import poinsot as pt
from poinsot.files import from_mujoco, load_mjcf, to_mujoco
from poinsot.mechanism.assembling import assembled
from poinsot.mechanism.closures import closing_rows

mujoco = pytest.importorskip("mujoco", reason="MuJoCo has no wheel for this platform")

# All that a file can say about bodies and joints, much of it in defaults, frames, included files and other angles.
CREATURE = """
<mujoco>
  <compiler angle="degree" eulerseq="zyx" autolimits="true"/>
  <option gravity="0.3 -0.2 -9"/>
  <default>
    <joint armature="0.02" damping="0.1"/>
    <geom density="700"/>
    <default class="leg"><joint axis="0 1 1" range="-40 80" stiffness="3" springref="20" frictionloss="0.3"/></default>
  </default>
  <worldbody>
    <body name="torso" pos="0 0.2 1.1" euler="30 20 -10">
      <joint name="root" type="free" damping="0.5" armature="0"/>
      <geom type="box" size="0.2 0.1 0.05" pos="0.02 0.01 0"/>
      <geom type="capsule" fromto="0 0 0 0.1 0.2 0.3" size="0.03"/>
      <frame pos="0.1 0.1 0" euler="0 45 0">
        <body name="thigh" pos="0 0 -0.1" childclass="leg">
          <joint name="hip_x" axis="1 0 0" pos="0 0 0.02" ref="15"/>
          <joint name="hip_y" axis="0 1 0" pos="0.01 0 0.02"/>
          <joint name="hip_z" axis="0 0 1" pos="0.01 0 0.02" stiffness="0"/>
          <geom type="cylinder" size="0.04 0.15" pos="0 0 -0.15"/>
          <body pos="0 0 -0.3">
            <joint name="knee" pos="0.05 0 0" springref="-5"/>
            <inertial pos="0.01 0.02 -0.1" mass="0.8" fullinertia="0.02 0.03 0.04 0.002 -0.001 0.003"/>
            <include file="foot.xml"/>
          </body>
        </body>
      </frame>
      <body name="arm" pos="-0.1 0 0.1">
        <joint name="shoulder" type="ball" pos="0 0 0.1" range="0 90" stiffness="2" damping="0.4"/>
        <geom type="ellipsoid" size="0.03 0.05 0.2" pos="0 0 -0.1"/>
        <body name="hand" pos="0 0 -0.3" quat="0.5 0.5 0.5 -0.5">
          <joint name="reach" type="slide" axis="1 1 0" pos="1 2 3" ref="0.1" springref="0.2" range="-0.1 0.3"
                 stiffness="9"/>
          <inertial pos="0 0.01 0" quat="0.8 0 0.6 0" mass="0.3" diaginertia="0.001 0.002 0.0025"/>
        </body>
      </body>
    </body>
    <body name="cart" pos="3 0 0">
      <joint type="slide" axis="1 0 0"/>
      <joint type="slide" axis="0 1 0"/>
      <joint type="hinge" axis="0 0 1"/>
      <geom type="sphere" size="0.1" pos="0.1 0 0"/>
    </body>
    <body name="post" pos="5 0 0"><geom type="box" size="0.1 0.1 1"/></body>
  </worldbody>
</mujoco>
"""
FOOT = """<mujoco><body name="foot" pos="0 0 -0.2" axisangle="0 0 1 30">
  <geom type="sphere" size="0.05"/></body></mujoco>"""


def load(path):
    with pytest.warns(UserWarning, match=r"ignored: limits of ball joints \(1\)\."):
        return load_mjcf(path)


@pytest.fixture
def creature(tmp_path):
    (tmp_path / "foot.xml").write_text(FOOT)
    (tmp_path / "creature.xml").write_text(CREATURE)
    return tmp_path / "creature.xml"


@pytest.fixture
def file(tmp_path):
    def write(text, name="robot.xml"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_agrees_with_mujoco(creature):
    model = mujoco.MjModel.from_xml_path(str(creature))
    check_mujoco(mujoco, load(creature), model, lambda b: model.body(b).name or f"body{b}")


def test_the_neutral_pose_of_a_free_body_is_that_of_the_file(creature):
    mech, model = load(creature), mujoco.MjModel.from_xml_path(str(creature))
    q, _ = from_mujoco(mech, model.qpos0, np.zeros(model.nv))
    same(q[:7], [1, 0, 0, 0, 0, 0, 0])
    same(to_mujoco(mech, q, np.zeros(mech.nv))[0], model.qpos0)


def test_links_joints_and_their_data(creature):
    mech = load(creature)
    names = "torso thigh_hip_x thigh_hip_y thigh_hip_z thigh body3_knee body3 foot arm_shoulder arm hand".split()
    assert [x.name for x in mech.links] == [*names, "cart_1", "cart_2", "cart", "post"]
    by_name = {x.joint.name: x.joint for x in mech.links}
    assert [x.joint.kind for x in mech.links if x.joint.nv] == (
        "free revolute revolute revolute revolute spherical prismatic prismatic prismatic revolute".split()
    )
    knee, reach, shoulder, root = (by_name[name] for name in ("knee", "reach", "shoulder", "root"))
    same([knee.lower, knee.upper, knee.rest], np.radians([-40, 80, -5]))
    assert (knee.stiffness, knee.damping, knee.friction, knee.armature) == (3, 0.1, 0.3, 0.02)
    assert (reach.lower, reach.upper, reach.rest, reach.stiffness) == (-0.1, 0.3, 0.2, 9)
    assert (shoulder.stiffness, shoulder.damping, shoulder.armature, shoulder.lower) == (2, 0.4, 0.02, -np.inf)
    assert (root.armature, root.damping) == (0, 0.5)
    same(mech.gravity, [0.3, -0.2, -9])
    assert mech.link("post").inertia.mass == pytest.approx(700 * 0.04 * 2)


def test_effort_limits(file):
    """As much one way as the other, or said to be left out."""
    text = BODY.format("").replace("<joint ", '<joint actuatorfrcrange="-3 {}" ')
    two = "<mujoco><worldbody>{}</worldbody></mujoco>"
    joint = load_mjcf(file(two.format(text.format(3)))).links[0].joint
    assert (joint.effort_limit, joint.velocity_limit) == (3, np.inf)
    with pytest.warns(UserWarning, match=r"ignored: effort limits that differ by direction \(1\)\."):
        assert load_mjcf(file(two.format(text.format(4)))).links[0].joint.effort_limit == np.inf


def test_gravity_can_be_switched_off(file):
    text = '<!-- -- <robot> -- --><mujoco><option><flag gravity="disable"/></option><worldbody>{}</worldbody></mujoco>'
    mech = load_mjcf(file(text.format("<body><freejoint/><geom size='1'/></body>")))
    same(mech.gravity, np.zeros(3))
    assert mech.links[0].name == "body1"


BODY = '<body name="b"><joint name="j"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{}</body>'


def test_files_of_meshes_and_pictures_are_not_needed(file):
    text = f"""<mujoco><compiler meshdir="nowhere"/>
      <asset><mesh file="a.stl"/><texture name="t" type="2d" file="a.png"/><material name="m" texture="t"/>
        <texture type="skybox" fileright="b.png"/><hfield name="h" file="h.png" size="1 1 1 1"/></asset>
      <worldbody><geom type="hfield" hfield="h"/>{BODY.format('<geom type="mesh" mesh="a" material="m"/>')}</worldbody>
    </mujoco>"""
    same(load_mjcf(file(text)).links[0].inertia.moment, np.eye(3))
    no_inertia = re.sub("<inertial.*?/>", "", text)
    for light in ('mass="0"', 'density="0"', 'group="3"'):
        visual = no_inertia.replace('<geom type="mesh"', f'<geom size="0.1"/><geom type="mesh" {light}')
        visual = visual.replace("<compiler", '<compiler inertiagrouprange="0 2"')
        same(load_mjcf(file(visual)).links[0].inertia.mass, 4000 / 3 * np.pi * 0.1**3, 1e-14)
    with pytest.raises(ValueError, match=r"robot\.xml: Error: .*a\.stl"):
        load_mjcf(file(no_inertia))


def test_a_creature_lives_in_a_world(creature):
    """The names of links that the file does not have are names that bodies of a world can have."""
    mech, world = load(creature), pt.World()
    world.add_mechanism(mech)
    assert [x.name for x in world.mechanism.links] == [x.name for x in mech.links]


def test_names_in_between_are_new_ones(file):
    """Of the massless links between the joints of a body: none is called as a body is, or as another one."""
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    text = f"""<mujoco><worldbody>
      <body name="b"><joint name="j" pos="1 0 0"/>{inertial}</body>
      <body name="b_j"><joint/>{inertial}</body>
      <body name="c"><joint name="2" axis="1 0 0"/><joint axis="0 1 0"/><joint/>{inertial}</body>
    </worldbody></mujoco>"""
    mech = load_mjcf(file(text))
    assert [x.name for x in mech.links] == ["b_j_", "b", "b_j", "c_2", "c_2_", "c"]


def test_moments_without_mass_and_constraints_switched_off_are_listed(file):
    text = BODY.format('<body><inertial pos="0 0 0" mass="0" diaginertia="1 1 1"/></body>')
    with pytest.warns(
        UserWarning,
        match=r"ignored: moments of inertia of bodies without mass \(1\), flag constraint=disable \(1\)\.",
    ):
        load_mjcf(file(f'<mujoco><option><flag constraint="disable"/></option><worldbody>{text}</worldbody></mujoco>'))


LOOPS = """
<mujoco>
  <worldbody>
    <body name="a" pos="0 0 1">
      <joint name="ja" axis="0 1 0" ref="0.2"/>
      <geom type="capsule" fromto="0 0 0 1 0 0" size="0.05"/>
      <body name="b" pos="1 0 0" euler="10 20 30">
        <joint name="jb" axis="0 1 0" pos="0.1 0 0"/>
        <geom size="0.1" pos="0.3 0 0.1"/>
      </body>
    </body>
    <body name="c" pos="0 1 1"><joint name="jc" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/></body>
    <body name="d" pos="0 2 1" euler="0 40 0"><freejoint/><geom type="box" size="0.1 0.2 0.3"/></body>
    <body name="e" pos="0.5 2 1"><freejoint/><geom type="box" size="0.1 0.2 0.3"/></body>
  </worldbody>
  <equality>
    <connect name="pin" body1="b" body2="c" anchor="0.2 0.1 0"/>
    <joint name="gear" joint1="jc" joint2="ja" polycoef="0.1 -2 0 0 0"/>
    <weld name="glue" body1="d" body2="e"/>
    <connect body1="d" anchor="0.1 0 0"/>
    <connect name="off" body1="a" body2="e" anchor="0 0 0" active="false"/>
  </equality>
</mujoco>"""


def test_equalities_are_closures(file):
    """They hold where MuJoCo's do, and their rows span what MuJoCo's do."""
    path = file(LOOPS)
    mech = load_mjcf(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    assert [closure.name for closure in mech.closures] == ["pin", "gear", "glue", "equality3"]
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    mujoco.mj_integratePos(model, data.qpos, 0.1 * rng.standard_normal(model.nv), 1.0)
    mujoco.mj_forward(model, data)
    q = from_mujoco(mech, data.qpos, data.qvel)[0]
    theirs = data.efc_pos[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]
    rows = closing_rows(mech, mech.closures, q, np.zeros(mech.nv))
    assert len(theirs) == len(rows.gap) == 3 + 1 + 6 + 3
    same(np.linalg.norm(rows.gap[:3]), np.linalg.norm(theirs[:3]))
    same(abs(rows.gap[3]), abs(theirs[3]))
    J = data.efc_J.reshape(-1, model.nv)[: len(theirs)]
    ours = np.array([to_mujoco(mech, q, row)[1] for row in rows.J])  # rotations of both begin in body axes
    for block in (slice(0, 3), slice(3, 4)):
        assert np.linalg.matrix_rank(np.concatenate([J[block], ours[block]]), tol=1e-9) == block.stop - block.start
    closed = assembled(mech, mech.closures, q)
    data.qpos[:] = to_mujoco(mech, closed, np.zeros(mech.nv))[0]
    mujoco.mj_forward(model, data)
    assert np.abs(data.efc_pos[: len(theirs)]).max() < 1e-11


MORE_LOOPS = """
<mujoco>
  <worldbody>
    <body name="a" pos="0 0 1">
      <joint name="ja" axis="0 1 0" ref="0.2"/><geom size="0.1" pos="0.3 0 0"/>
      <site name="sa" pos="1 0 0.1" euler="10 0 0"/>
    </body>
    <body name="b" pos="0 1 1">
      <joint name="jb" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/><site name="sb" pos="0.9 0 0"/>
    </body>
    <body name="c" pos="0 2 1"><joint name="jc" axis="0 1 0" ref="-0.1"/><geom size="0.1" pos="0.3 0 0"/></body>
    <body name="d" pos="0 2 1"><freejoint/><geom type="box" size="0.1 0.2 0.3"/><site name="sd" euler="0 20 0"/></body>
  </worldbody>
  <tendon>
    <fixed name="one"><joint joint="ja" coef="0.5"/><joint joint="jb" coef="-2"/></fixed>
    <fixed name="two"><joint joint="jc" coef="3"/></fixed>
  </tendon>
  <equality>
    <connect name="sites" site1="sa" site2="sb"/>
    <weld name="glue" site1="sa" site2="sd"/>
    <joint name="curve" joint1="jc" joint2="ja" polycoef="0.1 -2 0.3 0.2 -0.5"/>
    <joint name="still" joint1="jb" polycoef="0.3 0 0 0 0"/>
    <tendon name="rope" tendon1="one" tendon2="two" polycoef="0.1 0.7 0 0 0"/>
    <tendon name="curved" tendon1="one" tendon2="two" polycoef="0.1 0.7 1 0 0"/>
  </equality>
</mujoco>"""


def test_equalities_of_sites_polynomials_and_tendons(file):
    """Row by row as MuJoCo has them, but for the one that is not linear, which is listed."""
    path = file(MORE_LOOPS)
    with pytest.warns(UserWarning, match=r"ignored: sites \(3\), equalities \(1\)\.$"):
        mech = load_mjcf(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    data, rng = mujoco.MjData(model), np.random.default_rng(1)
    mujoco.mj_integratePos(model, data.qpos, 0.3 * rng.standard_normal(model.nv), 1.0)
    mujoco.mj_forward(model, data)
    q = from_mujoco(mech, data.qpos, data.qvel)[0]
    rows = closing_rows(mech, mech.closures, q, np.zeros(mech.nv))
    J = data.efc_J.reshape(-1, model.nv)
    ours = np.array([to_mujoco(mech, q, row)[1] for row in rows.J])
    same(np.linalg.norm(rows.gap[:3]), np.linalg.norm(data.efc_pos[:3]))
    same(np.linalg.norm(rows.gap[3:6]), np.linalg.norm(data.efc_pos[3:6]))
    for k in (9, 10, 11):  # curve, still, rope; the tendon's row is divided by the coefficient of its first joint
        scale = data.efc_pos[k] / rows.gap[k]
        same(scale, 0.5 if k == 11 else 1.0)
        same(ours[k] * scale, J[k])


def test_what_is_left_out_is_listed_once(file):
    text = f"""<mujoco><option density="1.2"><flag limit="disable"/></option>
      <worldbody><light/><camera/>{BODY.format('<site name="s"/><site name="t" pos="0 0 1"/>')}
      <body mocap="true"/>
      <body gravcomp="1"><joint type="free" armature="1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
      </worldbody>
      <tendon><spatial name="rope"><site site="s"/><site site="t"/></spatial></tendon>
      <actuator><motor joint="j"/></actuator><sensor><jointpos joint="j"/></sensor>
      <equality><joint joint1="j"/></equality><keyframe><key/></keyframe></mujoco>"""
    with pytest.warns(UserWarning, match="ignored: sites") as caught:
        load_mjcf(file(text))
    (message,) = (str(warning.message) for warning in caught)
    assert message.endswith(
        "robot.xml: ignored: sites (2), cameras (1), lights (1), sensors (1), spatial tendons 'rope' (1), "
        "mocap bodies (1), bodies with gravcomp (1), free joints with springs, friction or armature (1), "
        "options of the medium (1), flag limit=disable (1)."
    )
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<mujoco><worldbody>", "XML parse error"),
        ("", "the root element is <>, not <mujoco>."),
        ("<robot/>", "the root element is <robot>, not <mujoco>. This is URDF: use load_urdf."),
        ("<mujoco><worldbody><body/></worldbody><tendons/></mujoco>", "XML Error: Schema violation"),
        ("<mujoco><worldbody/></mujoco>", "a mechanism needs at least one link"),
        ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", "Error: mass and inertia of moving bodies"),
    ],
)
def test_errors_name_the_file(file, text, message):
    with pytest.raises(ValueError, match=re.escape("robot.xml: " + message)):
        load_mjcf(file(text))


def test_warnings_of_mujoco_are_heard_and_nothing_is_written(file, monkeypatch, tmp_path):
    """About a NaN, for one, MuJoCo writes a log into the working directory."""
    (elsewhere := tmp_path / "elsewhere").mkdir()
    path = file("""<mujoco><visual><quality shadowsize="4"/></visual><worldbody><body><joint axis="0 0 1"/>
      <geom size="0.1" mass="1" solref="nan 1"/></body></worldbody></mujoco>""")
    monkeypatch.chdir(elsewhere)
    with pytest.warns(UserWarning, match=r"robot.xml: XML contains a 'NaN'") as caught:
        load_mjcf(path)
    assert len(caught) == 1
    with pytest.raises(ValueError, match="entry that is not a finite number"), pytest.warns(UserWarning, match="NaN"):
        load_mjcf(file('<mujoco><worldbody><body pos="nan 0 0"><joint/><geom size="1"/></body></worldbody></mujoco>'))
    assert list(elsewhere.iterdir()) == []


def test_a_missing_file_and_a_missing_package(file, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"there is no file 'nothing\.xml'"):
        load_mjcf("nothing.xml")
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(
        ImportError, match=re.escape("Reading MJCF needs the package 'mujoco': pip install 'poinsot[robots]'")
    ):
        load_mjcf(file("<mujoco/>"))


def test_the_same_numbers_move_a_kernel(creature):
    """A mechanism from a file is a mechanism: it can be traced and compiled."""
    mech = load(creature)
    q, v = mech.neutral(), np.linspace(-1, 1, mech.nv)
    fd = pt.kernel("(n),(m),(m)->(m)")(lambda q, v, tau: pt.forward_dynamics(mech, q, v, tau))
    same(fd(q, v, 0 * v), pt.forward_dynamics(mech, q, v, 0 * v), 1e-12)


def test_too_many_equalities_are_refused_before_any_is_closed(file):
    many = '<joint joint1="h" polycoef="0 1 0 0 0"/>' * 1001
    body = '<body><joint name="h" type="hinge"/><geom size="0.1" mass="1"/></body>'
    with pytest.raises(ValueError, match="1001 equalities are active; 1000 are read at most"):
        load_mjcf(file(f"<mujoco><worldbody>{body}</worldbody><equality>{many}</equality></mujoco>"))
