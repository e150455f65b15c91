"""What stands still in MJCF files: planes as grounds, and solids, that robots touch as in MuJoCo."""

import warnings

import numpy as np
import pytest

import poinsot as pt
from poinsot._errors import FieldError
from poinsot.environment import Ground, PairTouch, Touch, TouchList
from poinsot.files import load_scenario, to_mujoco
from poinsot.show.robots import own_looks

mujoco = pytest.importorskip("mujoco", reason="MuJoCo has no wheel for this platform")

STEPS = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1" friction="0.7" margin="0.004"/>
    <geom name="ramp" type="plane" size="5 5 0.1" pos="-1 0 0" euler="0 30 0" contype="2" conaffinity="2"/>
    <geom name="step" type="box" size="0.2 0.2 0.05" pos="0.5 0 0.05" friction="0.3"/>
    <geom name="picture" type="box" size="9 9 9" contype="0" conaffinity="0"/>
    <geom name="rail" type="capsule" size="0.03" fromto="0.9 -1 0.3 0.9 1 0.3"/>
    <body name="post" pos="0 0.6 0"><geom type="cylinder" size="0.05 0.5" pos="0 0 0.5"/></body>
    <body name="ball" pos="0.5 0 0.25"><freejoint/><geom type="sphere" size="0.1" mass="1" friction="0.5"/></body>
    <body name="brick" pos="-0.5 0 0.3"><freejoint/>
      <geom type="box" size="0.1 0.1 0.1" mass="2" contype="3" conaffinity="3"/></body>
    <body name="ghost" pos="0 -0.5 0.2"><freejoint/><geom type="sphere" size="0.05" mass="1"/></body>
  </worldbody>
  <contact><exclude body1="world" body2="ghost"/></contact>
</mujoco>"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("robots") / "steps.xml"
    path.write_text(STEPS)
    return path


@pytest.fixture(scope="module")
def world(file):
    world = pt.World()
    world.add_mechanism(pt.load_mjcf(file), scenery=True)
    return world


def test_which_touch(world):
    """Groups, exclusions and margins; ghosts fall through all of the world, but not through other bodies."""
    grounds = [e for e in world.description.elements.values() if isinstance(e, Ground)]
    assert [g.name for g in grounds] == ["ground", "ramp"]
    np.testing.assert_allclose(grounds[1].normal, [0.5, 0, np.sqrt(0.75)], atol=1e-15)
    assert [g.height for g in grounds] == pytest.approx([0.004, -0.5])
    touched = {(e.body, e.ground) for e in world.description.elements.values() if isinstance(e, Touch)}
    assert touched == {("ball", "ground"), ("brick", "ground"), ("brick", "ramp")}
    pairs = {frozenset((e.a, e.b)) for e in world.description.elements.values() if isinstance(e, PairTouch)}
    still = {"scenery": ("ball", "brick"), "post": ("ball", "brick", "ghost")}
    assert pairs == {frozenset((a, b)) for a, others in still.items() for b in others}
    assert world["ball-ground.friction"] == 0.7  # the larger one
    body = world.description.bodies["ball"].shapes[0].surface
    assert world["ball-ground.stiffness"] == pytest.approx(body.stiffness, rel=1e-8)  # the floor is rigid


def test_depths_are_mujocos(world, file):
    """Of the deepest point of each pair of bodies, over random places."""
    mech, model = pt.load_mjcf(file), mujoco.MjModel.from_xml_path(str(file))
    rng, data, seen = np.random.default_rng(1), mujoco.MjData(model), set()
    for _ in range(150):
        q = mech.neutral()
        for k in range(3):
            turn = rng.normal(size=4)
            q[7 * k : 7 * k + 4] = turn / np.linalg.norm(turn)
            place = rng.uniform((-1.4, -0.3, 0.05), (1.0, 0.6, 0.3))
            q[7 * k + 4 : 7 * k + 7] = place - model.body_pos[2 + k]
        data.qpos[:], _ = to_mujoco(mech, q, np.zeros(mech.nv))
        mujoco.mj_forward(model, data)
        theirs = {}
        for contact in data.contact:
            bodies = sorted({model.body(int(model.geom_bodyid[g])).name for g in contact.geom})
            if {"post", "world"} & set(bodies):
                key = *bodies, model.geom(contact.geom[0]).name if model.geom_type[contact.geom[0]] == 0 else ""
                theirs[key] = max(theirs.get(key, -1.0), -contact.dist)
        state = world.start()
        scene = world.scene(type(state)(q, np.zeros(mech.nv), state.parts))
        ours = {}
        for e in world.description.elements.values():
            if isinstance(e, Touch | PairTouch):
                ends = [e.body] if isinstance(e, Touch) else [x for x in (e.a, e.b) if x != "scenery"]
                ground = {"ground": "floor"}.get(e.ground, e.ground) if isinstance(e, Touch) else ""
                key = *sorted([*ends, *(["world"] if len(ends) == 1 else [])]), ground
                deep = max(float(np.max(p.depths)) for p in e.meeting(scene).patches)
                ours[key] = max(ours.get(key, -1.0), deep)
        for key in theirs.keys() | {k for k, d in ours.items() if d > 0}:
            if key[-1] or "ball" in key:  # planes and balls: the same points on both sides
                margin = 0.004 if key[-1] == "floor" else 0.0
                assert ours[key] == pytest.approx(theirs.get(key, 0.0) + margin, abs=1e-6), key
                seen.add(key)
    assert {key[-1] for key in seen} == {"floor", "ramp", ""}
    assert ("ball", "post", "") in seen


def test_a_ball_rests_on_the_step_and_a_brick_on_the_floor(world):
    """The floor is rigid: they sink in by what their own softness and weight make of it."""
    run = world.simulate(3.0, 2e-3, record=["position"])
    ends = {name: run[name].position.values[-1] for name in ("ghost", "ball", "brick")}
    assert ends["ghost"][2] < -10
    stiffness = world.description.bodies["ball"].shapes[0].surface.stiffness
    assert ends["ball"][2] == pytest.approx(0.2 - 9.81 / stiffness, abs=1e-6)
    assert 0.1 < ends["brick"][2] < 0.1041


def test_nothing_touches_twice(file):
    """A plane that the world has is not added again; a ground of the same name is an error; without the word, nothing
    touches until it is said."""
    robot = pt.load_mjcf(file)
    two = pt.World()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        two.add_mechanism(robot)
    assert not any(isinstance(e, Ground | Touch | PairTouch | TouchList) for e in two.description.elements.values())
    two = pt.World()
    two.add_mechanism(robot, prefix="a_", scenery=True)
    assert "ground" in two.description.elements
    with pytest.raises(FieldError, match="ground"):
        two.add_ground()
    count = len([e for e in two.description.elements.values() if isinstance(e, Ground)])
    two.add_mechanism(robot, prefix="b_", scenery=True)
    assert len([e for e in two.description.elements.values() if isinstance(e, Ground)]) == count
    assert not {"a_ghost-ground", "b_ghost-ground"} & two.description.elements.keys()
    touches = [e for e in two.description.elements.values() if isinstance(e, Touch) and e.body == "b_ball"]
    assert [e.ground for e in touches] == ["ground"]


@pytest.mark.parametrize("ground", [None, 0.0])
def test_a_ground_that_is_there_stays_and_counts(file, ground):
    world = pt.World(ground=ground)
    world.add_ground(surface=pt.Material(friction=0.123))
    world.add_mechanism(pt.load_mjcf(file), scenery=True)
    touches = [e for e in world.description.elements.values() if isinstance(e, Touch)]
    assert [(e.body, e.ground) for e in touches] == [("ball", "ground"), ("brick", "ground"), ("brick", "ramp")]
    assert world["ground.height"] == 0.0
    assert world["ball-ground.friction"] == pytest.approx(0.5)  # of the ball, which is larger


def test_it_moves_with_the_placement(file):
    world = pt.World()
    world.add_mechanism(pt.load_mjcf(file), scenery=True, placement=pt.Pose.from_euler((0.3, 0.1, 0.2), p=(1, 2, 3)))
    ground = world.description.elements["ground"]
    X = pt.Pose.from_euler((0.3, 0.1, 0.2), p=(1, 2, 3))
    np.testing.assert_allclose(ground.normal, X.R[:, 2], atol=1e-15)
    assert ground.height == pytest.approx(X.R[:, 2] @ X.p + 0.004)
    step = world.description.bodies["scenery"].shapes[0]
    np.testing.assert_allclose(step.pose.p, X @ np.array([0.5, 0, 0.05]))


def test_what_is_told(file, tmp_path):
    robot = pt.load_mjcf(file)
    world = pt.World()
    world.add_body("cart", pt.Inertia.box(1.0, (1, 1, 1)))
    with pytest.raises(FieldError, match="scenery=True is for a robot in the world, not one on 'cart'"):
        world.add_mechanism(robot, parent="cart", scenery=True)
    assert list(world.description.bodies) == ["cart"]
    bare = tmp_path / "bare.xml"
    bare.write_text('<mujoco><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>')
    with pytest.warns(UserWarning, match=r"bare.xml: nothing in it stands still and may touch"):
        world.add_mechanism(pt.load_mjcf(bare), scenery=True)
    with pytest.raises(ValueError, match="scenery must be True or False"):
        world.add_mechanism(robot, scenery="yes")


def test_a_saved_run_has_the_same_scenery(file, tmp_path):
    world = pt.World()
    world.add_mechanism(pt.load_mjcf(file), scenery=True)
    run = world.simulate(0.1, 2e-3)
    run.save(tmp_path / "run.nc")
    back = pt.load_run(tmp_path / "run.nc")
    ramp = back.world.description.elements["ramp"]
    assert (tuple(ramp.groups), ramp.priority) == ((2, 2), 0)
    np.testing.assert_array_equal(back.repeat().y, run.y)


def test_it_is_drawn(world):
    assert len(own_looks(world)["scenery"]) == 2


def test_a_scenario_has_scenery(file, tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(f"""
title = "steps"
[[model]]
mjcf = "{file.as_posix()}"
scenery = true
[run]
duration = "1 s"
""")
    assert "ball-ground" in load_scenario(path).world.description.elements
