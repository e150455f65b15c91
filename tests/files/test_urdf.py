"""URDF files: against Pinocchio and MuJoCo, which read them too, and what is said about files that are not right."""

import re
import sys

import numpy as np
import pytest
from robot_checks import check_mujoco, check_pinocchio, same, states

import poinsot as pt
from poinsot.files import from_pinocchio, load_urdf, to_mujoco, to_pinocchio
from poinsot.files.repairs import RepairWarning
from poinsot.mechanism import kinematics

MASS = """<inertial><origin xyz="0.1 -0.2 0.3" rpy="0.4 -0.7 1.1"/><mass value="1.3"/>
  <inertia ixx="0.03" ixy="0.004" ixz="-0.003" iyy="0.04" iyz="0.002" izz="0.05"/></inertial>"""


def link(name, inside=MASS):
    return f'<link name="{name}">{inside}</link>'


def joint(name, kind, parent, child, axis="", more="", origin="0.3 -0.1 0.2"):
    axis = f'<axis xyz="{axis}"/>' if axis else ""
    return f"""<joint name="{name}" type="{kind}"><origin xyz="{origin}" rpy="0.5 0.2 -0.3"/>
      <parent link="{parent}"/><child link="{child}"/>{axis}{more}</joint>"""


LIMITS = '<limit lower="-1.5" upper="2" effort="10" velocity="5"/>'
ARM = [  # joint names are not in the order of the file, links not in the order of the tree
    *map(link, ("hand", "upper", "lower", "finger", "thumb")),
    link("base", ""),
    link("tool", ""),
    joint("shoulder", "revolute", "base", "upper", "0 0 2", LIMITS + '<dynamics damping="0.7" friction="0.2"/>'),
    joint("elbow", "continuous", "upper", "lower", "1 2 -2", '<limit effort="3" velocity="7"/>'),
    joint("wrist", "fixed", "lower", "hand"),
    joint("grip", "prismatic", "hand", "finger", "0 1 1", LIMITS + '<dynamics damping="3"/>'),
    joint("fold", "revolute", "hand", "thumb", "", LIMITS),
    joint("mark", "fixed", "finger", "tool"),
]
PLATE = [link("plate"), joint("aslide", "planar", "base", "plate", "0 0 1")]
MOON = [link("moon"), joint("orbit", "floating", "upper", "moon")]


@pytest.fixture
def file(tmp_path):
    """Write the parts of a robot to a file."""

    def write(*parts, name="robot.urdf"):
        path = tmp_path / name
        path.write_text("<robot name='robot'>" + "\n".join(parts) + "</robot>")
        return path

    return write


@pytest.fixture
def pin():
    return pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")


@pytest.fixture
def mujoco():
    return pytest.importorskip("mujoco", reason="MuJoCo has no wheel for this platform")


# Against other libraries.


def test_agrees_with_pinocchio(pin, file):
    path = file(*ARM, *PLATE, *MOON)
    check_pinocchio(pin, load_urdf(path), pin.buildModelFromUrdf(str(path)))


def test_a_floating_base_agrees_with_pinocchio(pin, file):
    path = file(*(part.replace('"base"></link>', f'"base">{MASS}</link>') for part in ARM))
    mech = load_urdf(path, floating=True)
    check_pinocchio(pin, mech, pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()))
    assert mech.links[0].joint.name == "root_joint"


def test_agrees_with_mujoco(mujoco, file):
    """With principal moments along the link's axes: older MuJoCo leaves `rpy` out and finds axes to 1e-9 only."""
    simple = re.sub(r' rpy=".*?"', "", re.sub(r'(ixy|ixz|iyz)=".*?"', r'\1="0"', MASS))
    path = file(*(part.replace(MASS, simple) for part in (*ARM, *PLATE)))
    spec = mujoco.MjSpec.from_string(path.read_text())
    spec.compiler.fusestatic = False
    model = spec.compile()
    check_mujoco(mujoco, load_urdf(path), model, lambda b: model.body(b).name)


def test_double_pendulum(file):
    """Numbers of Pinocchio 4.1 for a small real robot: two links that turn about x axes."""
    rows = {  # mass; centre of mass; xx, xy, xz, yy, yz, zz
        "link1": "0.26703 .0086107 2.1727E-6 .036012 4.0827E-4 1.2675E-9 1.8738E-5 3.8791E-4 3.5443E-8 3.6421E-5",
        "link2": "0.33238 -.0050107 1.9371E-10 .10088 .0011753 -3.854E-13 -2.9304E-8 .0011666 -5.2365E-12 1.4553E-5",
    }
    parts = [link("base", "")]
    for (name, numbers), parent, place in zip(
        rows.items(), ("base", "link1"), ("0.0060872 0 0.035", "0.023 0 0.1"), strict=True
    ):
        mass, x, y, z, *products = numbers.split()
        moment = " ".join(f'{k}="{v}"' for k, v in zip("ixx ixy ixz iyy iyz izz".split(), products, strict=True))
        text = f'<origin xyz="{x} {y} {z}"/><mass value="{mass}"/><inertia {moment}/>'
        parts += [link(name, f"<inertial>{text}</inertial>")]
        parts += [
            f"""<joint name="to {name}" type="revolute"><origin xyz="{place}"/><parent link="{parent}"/>
            <child link="{name}"/><axis xyz="1 0 0"/></joint>"""
        ]
    mech = load_urdf(file(*parts))
    q, v = np.array([0.3620885368760005, -0.9482668325364982]), np.array([0.8435259563390096, 0.8133597593949244])
    M = [[0.012546500509032525, 0.006512992575235828], [0.006512992575235828, 0.004557856275072]]
    tau, vdot = np.array([0.9598118814804746, -0.572474207626394]), [616.2646235545147, -1045.7159740903053]
    same(pt.mass_matrix(mech, q), M, 1e-14)
    same(pt.forward_dynamics(mech, q, v, tau), vdot, 1e-13)
    same(kinematics.kinetic_energy(mech, q, v), 0.010439777411393791, 1e-14)


# What is read.


def test_links_joints_and_their_data(file):
    mech = load_urdf(file(*ARM))
    assert [x.name for x in mech.links] == ["base", "upper", "lower", "hand", "finger", "tool", "thumb"]
    assert [x.parent for x in mech.links] == [None, "base", "upper", "lower", "hand", "finger", "hand"]
    names = ["root_joint", "shoulder", "elbow", "wrist", "grip", "mark", "fold"]
    assert [x.joint.name for x in mech.links] == names
    by_name = {x.joint.name: x.joint for x in mech.links}
    shoulder, elbow, grip = (by_name[name] for name in ("shoulder", "elbow", "grip"))
    assert (shoulder.lower, shoulder.upper, shoulder.damping, shoulder.friction) == (-1.5, 2, 0.7, 0.2)
    assert (shoulder.velocity_limit, shoulder.effort_limit) == (5, 10)
    assert (elbow.lower, elbow.upper, elbow.damping, elbow.friction) == (-np.inf, np.inf, 0, 0)
    assert (elbow.velocity_limit, elbow.effort_limit) == (7, 3)
    assert (grip.kind, grip.damping, grip.friction) == ("prismatic", 3, 0)
    same(elbow.axes, [[1 / 3, 2 / 3, -2 / 3]])
    same(by_name["fold"].axes, [[1, 0, 0]])  # where the file says nothing
    assert mech.links[0].inertia is None


def test_limits_are_zero_where_left_out_and_absent_without_element(file):
    parts = [link("a", ""), link("b"), link("c")]
    parts += [joint("j", "revolute", "a", "b", more='<limit upper="1"/>'), joint("k", "prismatic", "b", "c")]
    j, k = (x.joint for x in load_urdf(file(*parts)).links[1:])
    assert (j.lower, j.upper, k.lower, k.upper) == (0, 1, -np.inf, np.inf)


def test_inertial_frames_and_quaternions(file):
    half = np.sqrt(0.5)
    text = f"""<inertial><origin xyz="1 2 3" quat_xyzw="0 0 {half} {half}"/><mass value="2"/>
      <inertia ixx="3" ixy="0" ixz="0" iyy="4" iyz="0" izz="5"/></inertial>"""
    inertia = load_urdf(file(link("a", text))).links[0].inertia
    same(inertia.com, [1, 2, 3])
    same(inertia.moment, np.diag([4, 3, 5]))
    zeros = re.sub(r'"[35-9]"|"[24]"', '"0"', text)
    assert load_urdf(file(link("a", zeros))).links[0].inertia is None


def test_a_namespace_means_nothing(tmp_path):
    """`xmlns` of the root; elements of other namespaces are somebody else's, and said to be ignored."""
    path = tmp_path / "robot.urdf"
    parts = [link("a"), link("b"), joint("j", "continuous", "a", "b"), "<x:joint name='k'/>"]
    path.write_text(f"<robot name='robot' xmlns='http://one' xmlns:x='http://two'>{''.join(parts)}</robot>")
    with pytest.warns(UserWarning, match=r"robot\.urdf: ignored: \{http://two\}joint \(1\)\."):
        assert [x.name for x in load_urdf(path).links] == ["a", "b"]


def test_what_is_left_out_is_listed_once(file):
    shape = "<visual><geometry><mesh filename='package://nowhere/a.stl'/></geometry></visual>"
    more = '<limit lower="0" upper="1" effort="3" velocity="4"/><mimic joint="k"/><safety_controller k_velocity="1"/>'
    parts = [link("a", MASS + 2 * shape + "<collision/>" + MASS), link("b"), link("c"), "<transmission/>", "<gazebo/>"]
    parts += [joint("j", "revolute", "a", "b", more=more), joint("k", "floating", "a", "c", more="<limit/>")]
    message = (
        "robot.urdf: ignored: inertial (1), transmission (1), gazebo (1), "
        "safety_controller (1), limit of a floating joint (1)."
    )
    with pytest.warns(UserWarning, match=re.escape(message)) as caught:
        load_urdf(file(*parts), mimic=False)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def gripper(file, more='<mimic joint="one" multiplier="-1" offset="0.01"/>'):
    """Two fingers on slides: the second mimics the first."""
    limit = '<limit lower="-1" upper="1" effort="3" velocity="4"/>'
    parts = [link("hand", MASS), link("left", MASS), link("right", MASS)]
    parts += [joint("one", "prismatic", "hand", "left", more=limit)]
    parts += [joint("two", "prismatic", "hand", "right", more=limit + more)]
    return file(*parts)


def test_mimic_joints_hold(file):
    """The second finger follows the first, in kernels and in worlds; without mimic it does not."""
    mech = load_urdf(gripper(file))
    vdot = pt.forward_dynamics(mech, np.array([0.2, -0.19]), np.zeros(2), np.array([3.0, 0.0]))
    same(vdot[1], -vdot[0])
    world = pt.World(gravity=(0, 0, 0))
    world.add_mechanism(mech)
    world.add_motor("drive", "left", 1.0)
    run = world.simulate(0.5, 1e-3)
    np.testing.assert_allclose(run.data.q[:, 1], 0.01 - run.data.q[:, 0], rtol=0, atol=1e-14)
    assert abs(float(run.data.q[-1, 0])) > 1e-3
    free = load_urdf(gripper(file), mimic=False)
    assert free.closures == ()
    alone = pt.forward_dynamics(free, np.zeros(2), np.zeros(2), np.array([3.0, 0.0]))
    assert abs(alone[0] + alone[1]) > 0.1


def fourbar(tmp_path, ball):
    """Three bars of 1 m, one after the other, with something in Drake's namespace."""
    parts = [link("ground"), link("one", MASS), link("two", MASS), link("three", MASS)]
    parts += [joint("j1", "continuous", "ground", "one"), joint("j2", "continuous", "one", "two")]
    parts += [joint("j3", "continuous", "two", "three"), ball]
    path = tmp_path / "robot.urdf"
    path.write_text(f"<robot name='robot' xmlns:drake='http://drake.mit.edu'>{''.join(parts)}</robot>")
    return path


BALL = """<drake:ball_constraint>
  <drake:ball_constraint_body_A name="{a}"/><drake:ball_constraint_body_B name="{b}"/>
  <drake:ball_constraint_p_AP value="0.1 0.2 0.3"/><drake:ball_constraint_p_BQ value="{q}"/>
</drake:ball_constraint>"""


@pytest.mark.parametrize("swapped", [False, True])
def test_ball_constraints_of_drake_close_loops(tmp_path, swapped):
    ends = {"a": "three", "b": "world"} if swapped else {"a": "ground", "b": "three"}
    (closure,) = load_urdf(fourbar(tmp_path, BALL.format(**ends, q="0 0 1"))).closures
    assert (closure.a, closure.b, closure.relation.kind) == (None if swapped else "ground", "three", "spherical")
    points = np.array([[0.1, 0.2, 0.3], [0.0, 0.0, 1.0]])
    same(np.array([closure.placement_a.p, closure.placement_b.p]), points[::-1] if swapped else points)


def test_other_tags_of_drake_are_named(tmp_path):
    """A bushing is a spring between two frames, not a rigid loop."""
    bushing = "<drake:linear_bushing_rpy><drake:bushing_frameA name='one'/></drake:linear_bushing_rpy>"
    with pytest.warns(UserWarning, match=r"ignored: drake:linear_bushing_rpy \(1\)\."):
        assert load_urdf(fourbar(tmp_path, bushing)).closures == ()


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ({"a": "gruond", "b": "three", "q": "0 0 1"}, "drake:ball_constraint 0: its body A 'gruond' is not a link"),
        ({"a": "ground", "b": "three", "q": "0 1"}, "drake:ball_constraint 0"),
        ({"a": "world", "b": "world", "q": "0 0 1"}, "both its bodies are the world"),
    ],
)
def test_bad_ball_constraints(tmp_path, ends, message):
    with pytest.raises(ValueError, match=message):
        load_urdf(fourbar(tmp_path, BALL.format(**ends)))


def test_a_mimic_beyond_its_own_limits_is_mended(file):
    """Its stop would push where the other joint holds it."""
    path = gripper(file, '<mimic joint="one" multiplier="-1" offset="3"/>')
    told = r"'right': it mimics 'left', which starts it at 3, beyond its limits -1 and 1; now it has no limits"
    with pytest.warns(RepairWarning, match=told):
        mech = load_urdf(path)
    world = pt.World(gravity=(0, 0, 0))
    world.add_mechanism(mech)
    q = world.simulate(0.05).data.q.values
    np.testing.assert_allclose(q, [[0.0, 3.0]] * len(q), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match=r"joints mimic others beyond their limits: link 'right'.*repair=\"warn\""):
        load_urdf(path, repair="error")
    assert load_urdf(path, repair="never").links[-1].joint.upper == 1.0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('<mimic joint="oen"/>', r"joint 'two'.*it mimics 'oen', which is not a joint.*one"),
        ('<mimic joint="one" multiplier="x"/>', "multiplier"),
        ("<mimic/>", "needs the attribute 'joint'"),
    ],
)
def test_bad_mimics(file, more, message):
    with pytest.raises(ValueError, match=message):
        load_urdf(gripper(file, more))


# The coordinates of Pinocchio.


def test_batches_of_coordinates(file):
    mech = load_urdf(file(*ARM, *PLATE, *MOON))
    q, v, _, _ = zip(*states(mech), strict=True)
    batch = to_pinocchio(mech, q, v)
    for k in range(len(q)):
        for a, b in zip(batch, to_pinocchio(mech, q[k], v[k]), strict=True):
            same(a[k], b, 1e-15)
    same(from_pinocchio(mech, *batch)[1], v, 1e-15)
    with pytest.raises(ValueError, match=r"q has the shape \(3,\); it needs 14 numbers"):
        to_mujoco(mech, np.zeros(3), v[0])


# What is wrong with a file.


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "a mechanism needs at least one link"),
        ([link("a"), link("b")], "the links 'a', 'b' have no parent; a robot has one root"),
        ([link("a"), link("a")], "two links are called 'a'"),
        ([link("a"), link("b"), 2 * joint("j", "fixed", "a", "b")], "two joints are called 'j'"),
        (
            [link("a"), link("b"), joint("j", "fixed", "aa", "b")],
            "parent 'aa' of link 'b' does not exist; did you mean",
        ),
        ([link("a"), joint("j", "fixed", "a", "b")], "joint 'j': its child 'b' does not exist"),
        (
            [link("a"), link("b"), joint("j", "fixed", "a", "b"), joint("k", "fixed", "a", "b")],
            "joint 'k': its child 'b' is already the child of joint 'j'",
        ),
        (
            [*map(link, "abc"), joint("j", "fixed", "b", "c"), joint("k", "fixed", "c", "b")],
            "the links b -> c -> b hang on each other in a circle",
        ),
        ([link("a"), link("b"), joint("j", "screw", "a", "b")], "joint 'j': its type 'screw' is not one of 'revolute'"),
        ([link("a"), link("b"), joint("j", "revolute", "a", "b", "0 0 0")], "joint 'j': the axis of a joint must not"),
        (
            [link("a"), link("b"), joint("j", "fixed", "a", "b", origin="1 2")],
            "joint 'j': xyz='1 2' of <origin> must be 3",
        ),
        ([link("a"), "<joint name='j' type='fixed'/>"], "joint 'j': <joint> needs an element <child>"),
        (
            [link("a"), "<joint name='j' type='fixed'><child link='a'/></joint>"],
            "joint 'j': <joint> needs an element <parent>",
        ),
        (["<link/>"], "<link> needs the attribute 'name'"),
        ([link("a", MASS.replace("1.3", "x"))], "link 'a': value='x' of <mass> must be 1 number."),
        ([link("a", MASS.replace("1.3", "inf"))], "link 'a': mass = inf must be one positive"),
        ([link("a", MASS.replace("0.03", "inf"))], "link 'a': moment must be finite"),
        (
            [link("a"), link("b", ""), joint("j", "floating", "a", "b")],
            "link 'b' moves on a free joint, but neither it nor any link that hangs on it has mass",
        ),
        (
            ["<a xmlns:xacro='http://www.ros.org/wiki/xacro'><xacro:include/></a>", link("a")],
            "it contains xacro macros. Expand them first",
        ),
    ],
)
def test_errors_name_the_file_and_the_place(file, parts, message):
    with pytest.raises(ValueError, match=rf"robot\.urdf: {message}"):
        load_urdf(file(*parts))


def test_files_that_are_not_urdf(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file '.*nothing\.urdf'"):
        load_urdf(tmp_path / "nothing.urdf")
    path = tmp_path / "robot.urdf"
    path.write_text("<!-- --\n <sdf> -- --><robot name='a'>\n<link name='b'>\n</robot>")
    with pytest.raises(ValueError, match=r"robot\.urdf: not well-formed XML: mismatched tag: line 4"):
        load_urdf(path)
    path.write_text("<robot name='a'/>", encoding="utf-16")
    with pytest.raises(ValueError, match=r"robot\.urdf: it is encoded in UTF-16\. Save it as UTF-8\."):
        load_urdf(path)
    path.write_text("<mujoco/>")
    with pytest.raises(ValueError, match=r"the root element is <mujoco>, not <robot>. This is MJCF: use load_mjcf."):
        load_urdf(path)


def test_no_package_is_needed(file, monkeypatch):
    for package in ("lxml", "yourdfpy", "mujoco", "pinocchio"):
        monkeypatch.setitem(sys.modules, package, None)
    assert load_urdf(str(file(*ARM))).nv == 4


def test_what_is_ignored_is_told_within_bounds(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text("<robot name='r' " + " ".join(f'a{k}="1"' for k in range(1000)) + "><link name='a'/></robot>")
    with pytest.warns(UserWarning, match="ignored: robot a0 .* and 960 more") as caught:
        pt.load_urdf(path)
    assert len(str(caught[0].message)) < 2000
