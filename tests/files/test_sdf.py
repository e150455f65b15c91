"""SDF: trees and loops, against the same mechanism made by hand."""

import warnings

import numpy as np
import pytest

import poinsot as pt
from poinsot.mechanism import kinematics
from poinsot.mechanism.assembling import assembled
from poinsot.mechanism.closures import closing_rows

INERTIAL = (
    "<inertial><mass>{m}</mass><pose>{c} 0 0 0 0 0</pose>"
    "<inertia><ixx>0.01</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>"
)

FOUR_BAR = f"""<?xml version="1.0"?>
<sdf version="1.9" xmlns:drake="http://drake.mit.edu">
  <model name="linkage">
    <pose>0 0 1 0 0 0</pose>
    <frame name="right" attached_to="ground"><pose>2 0 0 0 0 0</pose></frame>
    <link name="ground">{INERTIAL.format(m=5, c=1)}<visual name="v"/></link>
    <link name="crank"><pose relative_to="crank_joint"/>{INERTIAL.format(m=1, c=0.5)}</link>
    <link name="coupler"><pose relative_to="crank">1 0 0 0 0 -0.5</pose>{INERTIAL.format(m=2, c=0.9)}</link>
    <link name="rocker"><pose relative_to="right">0.2 0 0 0 0 1.5</pose>{INERTIAL.format(m=1, c=0.5)}</link>
    <joint name="base" type="fixed"><parent>world</parent><child>ground</child></joint>
    <joint name="crank_joint" type="revolute">
      <pose relative_to="ground">0 0 0 0 0 0.8</pose>
      <parent>ground</parent><child>crank</child>
      <axis><xyz>0 0 1</xyz><limit><lower>-3</lower><upper>1e16</upper><effort>20</effort></limit>
        <dynamics><damping>0.2</damping><spring_stiffness>3</spring_stiffness><spring_reference>0.1</spring_reference></dynamics>
      </axis>
    </joint>
    <joint name="elbow" type="continuous">
      <parent>crank</parent><child>coupler</child><axis><xyz>0 0 1</xyz></axis></joint>
    <joint name="rocker_joint" type="revolute">
      <pose relative_to="right"/><parent>ground</parent><child>rocker</child>
      <axis><xyz expressed_in="__model__">0 0 2</xyz></axis>
    </joint>
    <joint name="pin" type="revolute">
      <pose relative_to="coupler">1.8 0 0 0 0 0</pose><parent>coupler</parent><child>rocker</child>
      <axis><xyz>0 0 1</xyz></axis>
    </joint>
    <drake:linear_bushing_rpy/>
  </model>
</sdf>"""


@pytest.fixture
def load(tmp_path):
    def load(text):
        path = tmp_path / "robot.sdf"
        path.write_text(text)
        return pt.load_sdf(path)

    return load


def test_a_linkage_with_a_loop(load):
    """Poses relative to links, joints and frames; the joint away from its child's origin; the loop is a closure."""
    with pytest.warns(UserWarning, match=r"ignored: drake:linear_bushing_rpy \(1\), visual \(1\)\.$"):
        mech = load(FOUR_BAR)
    assert [link.name for link in mech.links] == ["ground", "crank", "coupler", "rocker_rocker_joint", "rocker"]
    assert [c.name for c in mech.closures] == ["pin"]
    poses = pt.forward_kinematics(mech, mech.neutral())
    turn = pt.Pose.from_euler((0, 0, 0.8), (0, 0, 1))
    for name, X in {
        "ground": pt.Pose(p=(0, 0, 1)),
        "crank": turn,
        "coupler": turn @ pt.Pose.from_euler((0, 0, -0.5), (1, 0, 0)),
        "rocker": pt.Pose.from_euler((0, 0, 1.5), (2.2, 0, 1)),
    }.items():
        np.testing.assert_allclose(poses[name].p, X.p, atol=1e-14)
        np.testing.assert_allclose(poses[name].R, X.R, atol=1e-14)
    joint = mech.link("crank").joint
    assert (joint.lower, joint.upper, joint.effort_limit, joint.damping, joint.stiffness, joint.rest) == (
        -3.0, np.inf, 20.0, 0.2, 3.0, 0.1)  # fmt: skip
    rows = closing_rows(mech, mech.closures, mech.neutral(), np.zeros(mech.nv))
    assert np.abs(rows.gap).max() < 1e-14  # joints are where the file puts them
    moved = pt.forward_kinematics(mech, np.array([0.0, 0.0, 0.3]))["rocker"]
    away = pt.Pose(p=(2, 0, 1)) @ pt.Pose.from_euler((0, 0, 0.3)) @ pt.Pose.from_euler((0, 0, 1.5), (0.2, 0, 0))
    np.testing.assert_allclose(moved.p, away.p, atol=1e-14)
    q = assembled(mech, mech.closures, np.array([0.2, 0.0, 0.0]))
    vdot = pt.forward_dynamics(mech, q, np.zeros(3), np.zeros(3))
    assert np.abs(closing_rows(mech, mech.closures, q, np.zeros(3)).J @ vdot).max() < 1e-9


KINDS = """<sdf version="1.11" xmlns:drake="http://drake.mit.edu"><model name="m">
  <link name="base">{I}</link>
  {links}
  <joint name="j1" type="universal"><parent>base</parent><child>l1</child>
    <axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
  <joint name="j2" type="ball"><parent>base</parent><child>l2</child></joint>
  <joint name="j3" type="screw"><parent>base</parent><child>l3</child><axis><xyz>0 0 1</xyz></axis>
    <screw_thread_pitch>0.5</screw_thread_pitch></joint>
  <joint name="j4" type="prismatic"><parent>base</parent><child>l4</child><axis><xyz>0 1 0</xyz>
    <mimic joint="j3"><multiplier>2</multiplier><offset>0.3</offset><reference>0.1</reference></mimic></axis></joint>
  <drake:joint name="j5" type="planar"><parent>base</parent><child>l5</child></drake:joint>
  <drake:ball_constraint>
    <drake:ball_constraint_body_A>l1</drake:ball_constraint_body_A>
    <drake:ball_constraint_body_B>l2</drake:ball_constraint_body_B>
    <drake:ball_constraint_p_AP>0.1 0 0</drake:ball_constraint_p_AP>
    <drake:ball_constraint_p_BQ>0 0.2 0</drake:ball_constraint_p_BQ>
  </drake:ball_constraint>
</model></sdf>""".replace("{I}", INERTIAL.format(m=1, c=0.2)).replace(
    "{links}",
    "".join(f'<link name="l{k}"><pose>0 {k} 0 0 0 0.3</pose>{INERTIAL.format(m=1, c=0.2)}</link>' for k in range(1, 6)),
)


def test_kinds_of_joints_and_constraints(load):
    mech = load(KINDS)
    assert [link.joint.kind for link in mech.links] == [
        "free", "universal", "spherical", "helical", "prismatic", "planar"]  # fmt: skip
    assert mech.link("l3").joint.pitch == pytest.approx(0.5 / (2 * np.pi))
    ball, mimic = mech.closures
    assert (ball.a, ball.b, tuple(ball.placement_b.p)) == ("l1", "l2", (0, 0.2, 0))
    assert (mimic.a, mimic.b, mimic.relation.ratio, mimic.relation.offset) == ("l3", "l4", 2.0, pytest.approx(0.1))
    axes = kinematics.world_poses(mech, mech.neutral())[4].R @ mech.link("l4").joint.axes[0]
    np.testing.assert_allclose(axes, (-np.sin(0.3), np.cos(0.3), 0), atol=1e-15)  # in the joint's own frame


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<sdf", "<sdff", "root element is <sdff>, not <sdf>"),
        ("</model>", "", "not well-formed XML"),
        ("</model>", "<include/></model>", "contains <include>"),
        ('type="revolute"', 'type="gearbox"', "joint 'crank_joint': its type 'gearbox' is not one of"),
        ("<child>crank</child>", "<child>cronk</child>", "no link.* 'cronk'.*crank"),
        ('relative_to="right">0.2', 'relative_to="rocker">0.2', "relative to each other in a circle"),
        ('attached_to="ground"', 'attached_to="right"', "circle"),
        ("<mass>1</mass>", "<mass>x</mass>", "<mass> must be a number, not 'x'"),
        ("<xyz>0 0 1</xyz>", "<xyz>0 0</xyz>", "<xyz> must be 3 finite numbers, not '0 0'"),
        ("<xyz>0 0 1</xyz>", "<xyz>0 0 nan</xyz>", "<xyz> must be 3 finite numbers"),
        ('<link name="crank">', '<link name="ground">', "two elements are called 'ground'"),
        ('<link name="crank">', "<link>", "<link> needs the attribute 'name'"),
        ("<child>crank</child>", "", "<joint> needs an element <child>"),
        ("<child>crank</child>", "<child>ground</child>", "a joint is between two links"),
    ],
)
def test_bad_files(load, old, new, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=rf"(?s)robot\.sdf: .*{message}"):
            load(FOUR_BAR.replace(old, new, 1))


def test_long_chains_of_frames(load):
    """Deeper than calls may be nested."""
    chain = "".join(
        f'<frame name="f{k}" attached_to="{f"f{k + 1}" if k < 1999 else "base"}"><pose>0.001 0 0 0 0 0</pose></frame>'
        for k in range(2000)
    )
    link = f'<link name="tip"><pose relative_to="f0"/>{INERTIAL.format(m=1, c=0)}</link>'
    base = f'<link name="base">{INERTIAL.format(m=1, c=0)}</link>'
    mech = load(f'<sdf version="1.9"><model name="m">{base}{chain}{link}</model></sdf>')
    assert pt.forward_kinematics(mech, mech.neutral())["tip"].p[0] == pytest.approx(2.0)
