"""Robots from files on the ground and on themselves: the same pairs, points and depths as in MuJoCo; motors and
keyframes."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import poinsot as pt
from poinsot.environment import PairTouch
from poinsot.files import to_mujoco
from poinsot.files.mjcf_contact import surface
from poinsot.world.touching import _touched_by

mujoco = pytest.importorskip("mujoco")


def leg(name, x, y):
    return f"""
    <body name="{name}-hip" pos="{x} {y} 0">
      <joint name="{name}-roll" axis="1 0 0" range="-60 60"/> <geom type="sphere" size="0.05" mass="0.4"/>
      <body name="{name}-thigh" pos="0 {0.06 * np.sign(y)} 0">
        <joint name="{name}-pitch" axis="0 1 0" range="-90 90"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.025" mass="0.5" friction="0.9 0.01 0.001" condim="4"/>
        <body name="{name}-shin" pos="0 0 -0.2">
          <joint name="{name}-knee" axis="0 1 0" range="-150 0"/>
          <geom type="box" pos="0 0 -0.09" size="0.015 0.015 0.09" mass="0.2"/>
          <geom name="{name}-foot" type="sphere" pos="0 0 -0.2" size="0.022" mass="0.05" friction="1.1" priority="1"/>
        </body>
      </body>
    </body>"""


QUADRUPED = f"""
<mujoco model="quadruped">
  <default> <joint damping="0.2" armature="0.01"/> </default>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1" friction="0.5"/>
    <body name="trunk" pos="0 0 0.36">
      <freejoint/>
      <geom type="box" size="0.2 0.08 0.05" mass="6"/>
      <geom type="cylinder" size="0.04 0.06" pos="0.1 0 0.08" mass="0.3"/>
      <geom type="ellipsoid" size="0.05 0.03 0.02" pos="-0.2 0 0.05" mass="0.1" contype="0" conaffinity="0"/>
      {leg("fl", 0.2, 0.08)} {leg("fr", 0.2, -0.08)} {leg("rl", -0.2, 0.08)} {leg("rr", -0.2, -0.08)}
    </body>
  </worldbody>
  <contact> <exclude body1="fl-shin" body2="trunk"/> </contact>
  <actuator>
    <position name="fl-knee-servo" joint="fl-knee" kp="60" kv="2" forcerange="-20 20"/>
    <motor name="fr-knee-motor" joint="fr-knee" gear="3" ctrlrange="-0.5 0.8"/>
    <velocity name="rl-knee-drive" joint="rl-knee" kv="4" ctrlrange="-0.2 0.2"/>
  </actuator>
  <keyframe>
    <key name="crouch" qpos="0 0 0.3 1 0 0 0  0 0.8 -1.6  0 0.8 -1.6  0 0.8 -1.6  0 0.8 -1.6" ctrl="-1.6 0.5 0.1"/>
  </keyframe>
</mujoco>
"""


@pytest.fixture(scope="module")
def quadruped(tmp_path_factory):
    path = tmp_path_factory.mktemp("robots") / "quadruped.xml"
    path.write_text(QUADRUPED)
    return pt.load_mjcf(path), mujoco.MjModel.from_xml_path(str(path))


@pytest.fixture(scope="module")
def world(quadruped):
    world = pt.World()
    world.add_mechanism(quadruped[0], q="crouch")
    with pytest.warns(UserWarning, match=r"xml: planes, .*geoms of the world are left out: floor \(world.add_ground"):
        world.add_ground()
    with pytest.MonkeyPatch.context() as patch:  # pair by pair: their depths are compared
        patch.setattr("poinsot.world.touching.LISTED", 10**6)
        world.collide()
    return world


def mujoco_pairs(model):
    """The pairs of bodies that MuJoCo's rules let touch, without the world."""
    names = [model.body(b).name for b in range(model.nbody)]
    excluded = {(int(s) >> 16, int(s) & 0xFFFF) for s in model.exclude_signature}
    found = set()
    for g in range(model.ngeom):
        for k in range(g + 1, model.ngeom):
            a, b = sorted((int(model.geom_bodyid[g]), int(model.geom_bodyid[k])))
            near = a == b or model.body_parentid[b] == a or model.body_parentid[a] == b
            bits = (
                model.geom_contype[g] & model.geom_conaffinity[k] or model.geom_contype[k] & model.geom_conaffinity[g]
            )
            if a and not near and bits and (a, b) not in excluded and (b, a) not in excluded:
                found.add(frozenset((names[a], names[b])))
    return found


def test_the_same_pairs_may_touch(world, quadruped):
    ours = {frozenset(ends) for e in world.description.elements.values() for ends in _touched_by(e)}
    assert ours == mujoco_pairs(quadruped[1])
    assert frozenset(("fl-shin", "trunk")) not in ours
    assert frozenset(("fr-shin", "trunk")) in ours


def test_depths_on_the_ground_and_on_each_other_are_mujocos(world, quadruped):
    """The deepest point of each pair of bodies, wherever MuJoCo finds one."""
    mech, model = quadruped
    rng, data = np.random.default_rng(3), mujoco.MjData(model)
    seen = set()
    for _ in range(8):
        q, v = mech.neutral(), np.zeros(mech.nv)
        q[:4] = rng.normal(size=4) * [1, 0.3, 0.3, 1]
        q[:4] /= np.linalg.norm(q[:4])
        q[4:7] = [0, 0, -rng.uniform(0.05, 0.25)]
        q[7:] = np.tile([0.0, 0.0, -1.2], 4) + rng.uniform(-1, 1, size=12)
        data.qpos[:], _ = to_mujoco(mech, q, v)
        mujoco.mj_forward(model, data)
        theirs = {}
        for contact in data.contact:
            bodies = sorted(int(model.geom_bodyid[g]) for g in contact.geom)
            key = frozenset(model.body(b).name for b in bodies)
            theirs[key] = max(theirs.get(key, -1.0), -contact.dist)
        state = pt.World.start(world)
        scene = world.scene(type(state)(q, v, state.parts))
        for name, e in world.description.elements.items():
            if not hasattr(e, "meeting"):
                continue
            pair = frozenset((e.a, e.b) if isinstance(e, PairTouch) else (e.body, "world"))
            depth = max(float(np.max(p.depths)) for p in e.meeting(scene).patches)
            others = [
                f for n, f in world.description.elements.items() if n.startswith(name.removesuffix("-2")) and f is not e
            ]
            same = [f for f in others if set(f.bodies()) == set(e.bodies()) and hasattr(f, "meeting")]
            depth = max([depth, *(float(np.max(p.depths)) for f in same for p in f.meeting(scene).patches)])
            if "trunk" in pair and "world" not in pair:
                continue  # by a cylinder with rounded edges, or a box: compared elsewhere
            assert (depth > 0) == (theirs.get(pair, -1.0) > 0), (pair, depth, theirs.get(pair))
            if depth > 0:
                seen.add(pair)
                deep = 5e-3 if "shin" in str(pair) and "world" not in pair else 1e-6  # of edges that cross, one of many
                assert depth == pytest.approx(theirs[pair], abs=deep)
    assert len(seen) > 8


def test_it_stands_by_itself(world):
    """On its feet under PD, at 2 ms; the feet bear its weight."""
    mech_mass = 6.4 + 4 * 1.15
    stand = pt.World.of(world.description)
    for leg_name in ("fl", "fr", "rl", "rr"):
        for part, angle in (("hip", 0.0), ("thigh", 0.8), ("shin", -1.6)):
            stand.add_feedback(f"hold-{leg_name}-{part}", f"{leg_name}-{part}", 80.0, 3.0, target=[angle])
    kept = {
        k: e for k, e in stand.description.elements.items() if not k.endswith(".motor") and not isinstance(e, PairTouch)
    }
    stand.description = replace(stand.description, elements=kept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = stand.simulate(1.5, 2e-3, every=0.5, ledger=False)
    up = sum(
        run.data[name].values[-1, 2]
        for name in run.data
        if name.endswith("-ground.force") or ("-ground-" in name and name.endswith(".force"))
    )
    assert up == pytest.approx(9.81 * mech_mass, rel=1e-3)
    assert np.abs(run.data.velocity.values[-1]).max() < 1e-3
    assert run.data.position.sel(body="trunk", axis="z").values[-1] > 0.2


def test_motors_and_keyframes(quadruped):
    mech, model = quadruped
    world = pt.World()
    world.add_mechanism(mech, q="crouch", prefix="a_")
    elements = world.description.elements
    servo, motor, drive = (elements[f"a_{name}.motor"] for name in ("fl-knee-servo", "fr-knee-motor", "rl-knee-drive"))
    assert (servo.kp, servo.kd, servo.limit, servo.joint) == (60, 2, 20, "a_fl-shin")
    assert (drive.kp, drive.kd, drive.joint) == (0, 4, "a_rl-shin")
    assert (motor.value.name, motor.value.factor) == ("a_fr-knee-motor", 3)
    assert {name: float(u) for name, u in world.description.inputs.items()} == {
        "a_fl-knee-servo": -1.6, "a_fr-knee-motor": 0.5, "a_rl-knee-drive": 0.1,
    }  # fmt: skip
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.qvel[6:] = 0.3
    state = world.start()
    v = np.zeros(mech.nv)
    v[6:] = 0.3
    places = (("fl-knee-servo", "fl-shin"), ("fr-knee-motor", "fr-shin"), ("rl-knee-drive", "rl-shin"))
    for controls in (data.ctrl.copy(), (-1.5, 5.0, 5.0), (-1.5, -5.0, -5.0)):  # the last two within their ctrlrange
        data.ctrl[:] = controls
        mujoco.mj_forward(model, data)
        for (name, _), u in zip(places, controls, strict=True):
            world[f"a_{name}"] = u
        motion = world.motion(type(state)(state.q, v, state.parts))
        for name, joint in places:
            dof = model.joint(name.rpartition("-")[0]).dofadr[0]
            ours = motion.effects[f"a_{name}.motor"].joint_forces[f"a_{joint}"]
            assert ours == pytest.approx(data.qfrc_actuator[[dof]], rel=1e-12)
    with pytest.raises(ValueError, match="has no keyframe 'crouh'; did you mean 'crouch'"):
        pt.World().add_mechanism(mech, q="crouh")
    assert not pt.World().add_mechanism(mech, motors=False)[0].world.description.inputs


@pytest.mark.parametrize("stated", ["", 'solimp="0 0.8 0.01"', 'solref="-2000 -40"', 'solimp="0.5 0.99 0.1 0.3 3"'])
def test_softness_is_mujocos_at_rest(stated):
    """A ball on MuJoCo's own contact sinks as deep as on the spring that stands for it."""
    text = f"""<mujoco><worldbody><geom type="plane" size="1 1 1" {stated}/><body pos="0 0 0.1"><freejoint/>
    <geom type="sphere" size="0.1" mass="2" {stated}/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for _ in range(3000):
        mujoco.mj_step(model, data)
    ours = surface(model.geom_friction[1], 3, model.geom_solref[1], model.geom_solimp[1], 2.0)
    assert 0.1 - data.qpos[2] == pytest.approx(2 * 9.81 / ours.stiffness, rel=1e-3)


@pytest.mark.parametrize("stated", ["", 'solref="0.01 1"', 'solimp="0.8 0.95 0.001 0.5 2"'])
def test_a_softness_that_a_file_states_is_read_with_a_warning(stated, tmp_path):
    path = tmp_path / "ball.xml"
    ball = f'<body><freejoint/><geom type="sphere" size="0.1" mass="2" {stated}/></body>'
    path.write_text(f"<mujoco><worldbody>{ball}</worldbody></mujoco>")
    world = pt.World()
    world.add_mechanism(pt.load_mjcf(path))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        world.add_ground()
    assert [("solref" in str(w.message)) for w in caught] == ([True] if stated else [])


URDF = """
<robot name="stool">
  <link name="seat">
    <inertial> <mass value="4"/> <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/> </inertial>
    <collision> <origin xyz="0 0 0.1" rpy="0 0 0.5"/> <geometry> <box size="0.4 0.3 0.05"/> </geometry> </collision>
    <collision> <origin xyz="0 0 -0.2"/> <geometry> <cylinder radius="0.15" length="0.4"/> </geometry> </collision>
    <collision>
      <origin xyz="0.3 0 0"/> <geometry> <mesh filename="wedge.obj" scale="0.1 0.1 0.1"/> </geometry>
    </collision>
  </link>
</robot>
"""


def test_a_urdf_touches_by_its_collision_elements(tmp_path):
    (tmp_path / "stool.urdf").write_text(URDF)
    stool = pt.load_urdf(tmp_path / "stool.urdf", floating=True)  # nothing is read before something may touch
    world = pt.World()
    world.add_mechanism(stool, q=[1, 0, 0, 0, 0, 0, 0.4])
    with pytest.raises(ValueError, match=r"collision of link 'seat': mesh file .*wedge.obj' does not exist"):
        world.add_ground()
    (tmp_path / "wedge.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    world = pt.World()
    world.add_mechanism(stool, q=[1, 0, 0, 0, 0, 0, 0.4])
    world.add_ground()
    assert [type(c.shape).__name__ for c in world.description.bodies["seat"].shapes] == [
        "Box",
        "Cylinder",
        "ConvexMesh",
    ]
    run = world.simulate(0.5, 1e-3, every=0.25, ledger=False)
    assert run.data["seat-ground.force"].values[-1, 2] == pytest.approx(4 * 9.81, rel=1e-6)


BALL = """<mujoco><worldbody><body name="b"><freejoint/><geom name="g" size="0.1" {}/></body></worldbody>
<contact>{}</contact></mujoco>"""


@pytest.mark.parametrize(
    ("geom", "pair", "told"),
    [
        ('friction="-1 0 0"', "", "g: friction of a material must be zero or more"),
        ("", '<pair name="p" geom1="g" geom2="h" friction="-1 1 0 0 0"/>', "pair p: friction of a material"),
    ],
)
def test_errors_of_mjcf_shapes_name_the_file_and_the_geom(tmp_path, geom, pair, told):
    path = tmp_path / "ball.xml"
    other = '</body><body name="c"><freejoint/><geom name="h" size="0.1"/></body></worldbody>'
    path.write_text(BALL.format(geom, pair).replace("</body></worldbody>", other))
    world = pt.World()
    world.add_ground()
    with pytest.raises(ValueError, match=f"ball.xml: {told}"):
        world.add_mechanism(pt.load_mjcf(path))


def test_a_pair_of_shapes_of_one_body_is_none(tmp_path):
    path = tmp_path / "ball.xml"
    path.write_text(BALL.format("", '<pair geom1="g" geom2="g"/>'))
    world = pt.World()
    world.add_ground()
    world.add_mechanism(pt.load_mjcf(path))
    assert list(world.description.elements) == ["ground", "b-ground"]


def test_a_urdf_collision_has_one_shape(tmp_path):
    path = tmp_path / "two.urdf"
    path.write_text(
        '<robot name="r"><link name="l"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
        'iyz="0"/></inertial><collision><geometry><sphere radius="1"/><box size="1 1 1"/></geometry></collision></link>'
        "</robot>"
    )
    world = pt.World()
    world.add_ground()
    with pytest.raises(ValueError, match="its geometry has several shapes, <sphere>, <box>"):
        world.add_mechanism(pt.load_urdf(path))


def test_a_motor_that_is_called_as_its_body(tmp_path):
    """As in Gymnasium's half cheetah: the input is another name."""
    path = tmp_path / "cheetah.xml"
    path.write_text("""<mujoco><worldbody><body name="thigh"><joint name="hip"/><geom size="0.1"/></body></worldbody>
      <actuator><motor name="thigh" joint="hip" gear="2"/></actuator>
      <keyframe><key name="up" qpos="1" ctrl="0.5"/></keyframe></mujoco>""")
    world = pt.World()
    world.add_mechanism(pt.load_mjcf(path), q="up", prefix="a_")
    assert (world.description.inputs["a_thigh_motor"], world["a_thigh.q"][0]) == (0.5, 1.0)
    motor = world.description.elements["a_thigh_motor.motor"]
    assert (motor.joint, motor.value.name, motor.value.factor) == ("a_thigh", "a_thigh_motor", 2.0)
