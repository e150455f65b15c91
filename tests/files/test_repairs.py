"""Robot files with mass properties that no body has, as published robots have them: what is mended and said."""

import warnings
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from robot_checks import same, states

import poinsot as pt
from poinsot.files import RepairWarning, load_mjcf, load_urdf, to_pinocchio
from poinsot.files.repairs import ARMATURE, nearest_moment

AGREEMENT = 1e-9  # of the largest acceleration, with Pinocchio

# As they stand in files of ANYmal, PR2, TIAGo, Romeo, Bolt and iCub: mass; xx, xy, xz, yy, yz, zz.
IMPOSSIBLE = {
    "rank one": "0.001 1e-6 1e-6 1e-6 1e-6 1e-6 1e-6",
    "triangle": "0.1 0.001 0 0 0.001 0 0.01",
    "negative": "0.001 5e-8 3e-8 4e-8 2e-8 5e-8 2e-8",
    "large": "2 0.0521 0.01 0.02 -0.0213 0.01 0.09895",
    "no mass": "0 5.7e-7 0 0 8.4e-7 0 5.3e-7",
    "negative mass": "-1 1 0 0 1 0 1",
}
ROUNDED = {
    "a point": "0.2675 0 0 1.35525e-20 0 0 0",
    "a disc": "1 0.1 0 0 0.1 0 0.2000019",
    "a rod": "1 0.1 0 0 0.1 0 -1e-9",
    "possible": "1 0.1 0.01 0.02 0.12 0.01 0.15",
}


def inertial(row):
    mass, *products = row.split()
    moment = " ".join(f'{k}="{x}"' for k, x in zip("ixx ixy ixz iyy iyz izz".split(), products, strict=True))
    origin = '<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>'
    return f'<inertial>{origin}<mass value="{mass}"/><inertia {moment}/></inertial>'


def robot(tmp_path, *rows, kind="fixed"):
    """A base with one link for each row of numbers."""
    sound = "3 0.1 0 0 0.1 0 0.1"
    parts = [f"<link name='base'>{inertial(sound)}</link>"]
    for k, row in enumerate(rows):
        parts.append(f"<link name='link{k}'>{inertial(row)}</link>")
        parts.append(f"<joint name='j{k}' type='{kind}'><parent link='base'/><child link='link{k}'/></joint>")
    path = tmp_path / "robot.urdf"
    path.write_text(f"<robot name='robot'>{''.join(parts)}</robot>")
    return path


@pytest.mark.parametrize("row", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_impossible_inertias_are_mended_and_listed(tmp_path, row):
    path = robot(tmp_path, row)
    with pytest.warns(RepairWarning, match=r"robot\.urdf: mass properties .*\n  link 'link0': .*; now ") as caught:
        mech = load_urdf(path)
    assert [link for link, _, _ in caught[0].message.repairs] == ["link0"]
    assert caught[0].filename == __file__
    inertia = mech.links[1].inertia
    assert inertia is None or np.linalg.eigvalsh(inertia.moment)[0] >= 0
    assert (inertia is None) == (float(row.split()[0]) <= 0)


@pytest.mark.parametrize("row", ROUNDED.values(), ids=ROUNDED)
def test_rounding_is_forgiven(tmp_path, row):
    inertia = load_urdf(robot(tmp_path, row), repair="error").links[1].inertia  # warnings are errors here, too
    products = [float(x) for x in row.split()[1:]]
    written = np.array(products)[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
    R = pt.Pose.from_euler([0.4, 0.5, 0.6]).R
    same(inertia.moment, R @ written @ R.T, 1e-5 * np.abs(products).max() + 1e-18)


def test_all_of_them_are_listed_at_once(tmp_path):
    path = robot(tmp_path, *IMPOSSIBLE.values())
    with pytest.raises(ValueError, match=r"link 'link0': .*; link 'link1': .*link 'link5': .*Correct the file"):
        load_urdf(path, repair="error")
    with pytest.raises(ValueError, match="repair = 'no' must be one of 'warn', 'error', 'never'"):
        load_urdf(path, repair="no")


@pytest.mark.parametrize("row", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_never_takes_the_numbers_as_they_are(tmp_path, row):
    mass, *products = map(float, row.split())
    inertia = load_urdf(robot(tmp_path, row), repair="never").links[1].inertia
    R = pt.Pose.from_euler([0.4, 0.5, 0.6]).R
    same(inertia.moment, R @ np.array(products)[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]] @ R.T, 1e-15)
    assert inertia.mass == mass


def test_the_nearest_moment():
    """Possible moments stay; the mended ones lie on the boundary and no other possible one is nearer."""
    rng = np.random.default_rng(0)

    def second(moment):
        return np.trace(moment) / 2 * np.eye(3) - moment

    for _ in range(50):
        A = rng.normal(size=(3, 3))
        wrong, possible = A + A.T, pt.spatial.shapes.moment_of(A @ A.T)
        same(nearest_moment(possible), possible, 1e-14)
        mended = nearest_moment(wrong)
        assert np.linalg.eigvalsh(second(mended))[0] > -1e-14
        off = np.linalg.norm(second(mended) - second(wrong))
        assert off <= np.linalg.norm(second(possible) - second(wrong))


def test_joints_that_move_no_mass_get_an_armature(tmp_path):
    """Without mass, and with all of it on the axis of the joint: both can move afterwards."""
    on_axis = inertial("1 0 0 0 0 0 0").replace("0.1 0.2 0.3", "0.5 0 0")
    path = robot(tmp_path, "0 0 0 0 0 0 0", "3 0 0 0 0 0 0", kind="continuous")
    path.write_text(path.read_text().replace(inertial("3 0 0 0 0 0 0"), on_axis))
    with pytest.warns(RepairWarning, match="'link0': it moves on a revolute joint, but neither it nor any") as caught:
        mech = load_urdf(path)
    assert "'link1': it moves on a revolute joint, but the mass lies on its axis; now the joint" in str(
        caught[0].message
    )
    assert [link.joint.armature for link in mech.links[1:]] == [ARMATURE] * 2
    same(pt.forward_dynamics(mech, np.zeros(2), np.zeros(2), np.array([1e-6, 2e-6])), [1, 2], 1e-12)
    with pytest.raises(ValueError, match="'link0': it moves on a revolute joint, but neither it nor any link"):
        load_urdf(path, repair="error")


# MJCF.


@pytest.mark.parametrize(
    ("written", "principal"),
    [
        ('diaginertia="0.001 0.001 0.01"', [0.005, 0.005, 0.01]),
        ('fullinertia="1e-3 1e-3 1e-3 1e-3 1e-3 1e-3"', [0.0015, 0.0015, 0.003]),
    ],
)
def test_mjcf_is_mended_too(tmp_path, written, principal):
    pytest.importorskip("mujoco", reason="MuJoCo has no wheel for this platform")
    path = tmp_path / "robot.xml"
    body = f'<body name="arm"><joint/><inertial pos="0 0 1" mass="1" {written}/></body>'
    path.write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    with pytest.warns(RepairWarning, match=r"robot\.xml: .*\n  link 'arm': principal moments .*; now principal"):
        mech = load_mjcf(path)
    same(np.linalg.eigvalsh(mech.links[0].inertia.moment), principal, 1e-8)
    for repair, message in (("error", "link 'arm': principal moments"), ("never", "inertia must")):
        with pytest.raises(ValueError, match=message):
            load_mjcf(path, repair=repair)


def test_mjcf_rounding_is_forgiven(tmp_path):
    pytest.importorskip("mujoco", reason="MuJoCo has no wheel for this platform")
    path = tmp_path / "robot.xml"
    inertia = '<inertial pos="0 0 1" mass="1" diaginertia="1 1 2.000001"/>'
    path.write_text(f'<mujoco><worldbody><body name="arm"><joint/>{inertia}</body></worldbody></mujoco>')
    same(load_mjcf(path, repair="error").links[0].inertia.moment, np.diag([1, 1, 2]), 1e-6)


# All robots of example-robot-data.


def published_robots():
    """The URDF files of the package example-robot-data, which has no module of its own."""
    try:
        files = metadata.files("example-robot-data")
    except metadata.PackageNotFoundError:
        return []
    return sorted(Path(file.locate()) for file in files if file.suffix == ".urdf")


@pytest.mark.slow
def test_published_robots_agree_with_pinocchio():
    """Forward dynamics of each file, with Pinocchio's inertias mended in the same way."""
    pin = pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")
    files = published_robots()
    if not files:
        pytest.skip("the package example-robot-data is not installed")
    compared = 0
    for path in files:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                pin.buildModelFromUrdf(str(path))
            except ValueError:
                continue
            mech = load_urdf(path, mimic=False)
        repairs = [w.message.repairs for w in caught if w.category is RepairWarning]
        model = pin.buildModelFromXML(mended(path, mech, {link for rows in repairs for link, _, _ in rows}))
        for link in mech.links:
            if link.joint.armature:
                model.armature[model.joints[model.getJointId(link.joint.name)].idx_v] = link.joint.armature
        data = model.createData()
        for q, v, _, tau in states(mech, 2):
            ours = to_pinocchio(mech, q, pt.forward_dynamics(mech, q, v, tau))[1]
            same(ours, pin.aba(model, data, *to_pinocchio(mech, q, v), to_pinocchio(mech, q, tau)[1]), AGREEMENT)
        compared += 1
    assert compared >= 60


def mended(path, mech, names):
    """The text of a file with the inertias of these links exchanged for ours."""
    robot = ElementTree.parse(path).getroot()
    for link in robot.findall("link"):
        written = link.find("inertial")
        if link.get("name") in names and written is not None:
            link.remove(written)
            inertia = mech.link(link.get("name")).inertia
            if inertia is not None:
                products = [repr(float(x)) for x in inertia.moment[np.triu_indices(3)]]
                new = ElementTree.fromstring(inertial(" ".join([repr(inertia.mass), *products])))
                new.find("origin").attrib.update(xyz=" ".join(repr(float(x)) for x in inertia.com), rpy="0 0 0")
                link.append(new)
    return ElementTree.tostring(robot, encoding="unicode")
