"""The looks of URDF files: shapes and meshes at their poses, in their colours."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.show import urdf_looks
from poinsot.show.replay import picture_of

ROBOT = """<robot name="r">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/><geometry><box size="1 2 3"/></geometry>
      <material name="red"/></visual>
    <visual><geometry><sphere radius="0.5"/></geometry></visual></link>
  <link name="arm"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><geometry><mesh filename="package://parts/meshes/{name}" scale="2 2 2"/></geometry>
      <material name="own"><color rgba="0 0.2 1 1"/></material></visual></link>
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""


@pytest.fixture
def robot(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    folder = tmp_path / "parts"
    (folder / "meshes").mkdir(parents=True)
    (folder / "urdf").mkdir()
    trimesh.creation.box((0.1, 0.2, 0.3)).export(folder / "meshes" / "arm.stl")
    (folder / "urdf" / "r.urdf").write_text(ROBOT.format(name="arm.stl"))
    return folder / "urdf" / "r.urdf"


def test_shapes_meshes_and_colours(robot):
    looks = urdf_looks(robot)
    box, ball = looks["base"]
    assert box.colour == (255, 0, 0)
    assert ball.colour is None
    assert np.allclose(box.triangles.vertices.min(axis=0), (-1.0, -0.5, -0.5))  # rotated by 90 degrees, and shifted
    assert np.allclose(box.triangles.vertices.max(axis=0), (1.0, 0.5, 2.5))
    assert np.isclose(ball.triangles.reach, 0.5)
    (mesh,) = looks["arm"]
    assert mesh.colour == (0, 51, 255)
    assert np.allclose(np.ptp(mesh.triangles.vertices, axis=0), (0.2, 0.4, 0.6))


@pytest.mark.filterwarnings("ignore:.*ignored")
def test_in_a_picture(robot):
    world = pt.World()
    world.add_mechanism(pt.load_urdf(robot))
    picture = picture_of(world.simulate(0.1, 1e-2), looks=urdf_looks(robot))
    names = [mark.name for mark in picture.layer("bodies")]
    assert names == ["base", "base/1", "arm"]  # one surface per colour


def test_a_mesh_that_is_missing(robot):
    robot.write_text(ROBOT.format(name="leg.stl"))
    with pytest.raises(FileNotFoundError, match=r"leg\.stl was not found above the file; give the folder"):
        urdf_looks(robot)
    with pytest.raises(FileNotFoundError, match=r"mesh file .*leg\.stl' does not exist"):
        urdf_looks(robot, folders={"parts": robot.parent.parent})


@pytest.mark.filterwarnings("ignore:.*ignored")
@pytest.mark.parametrize("problem", ["missing", "huge", "broken"])
def test_a_mesh_that_cannot_be_drawn_is_told_and_the_collision_shape_or_the_ellipsoid_stands_for_it(
    robot, problem, monkeypatch
):
    if problem == "missing":
        robot.write_text(ROBOT.format(name="leg.stl"))
    elif problem == "huge":
        monkeypatch.setattr("poinsot.show.looks.MOST_FACES", 5)
    else:
        (robot.parent.parent / "meshes" / "arm.stl").write_bytes(b"not a mesh")
    world = pt.World()
    world.add_mechanism(pt.load_urdf(robot))
    run = world.simulate(0.1, 1e-2)
    with pytest.warns(UserWarning, match="link 'arm' is drawn without a part"):
        picture = picture_of(run)
    assert "arm" not in picture.chosen_looks
    (ellipsoid,) = [m for m in picture.layer("bodies") if m.name == "arm"]
    assert len(ellipsoid.triangles.faces) > 100
    text = robot.read_text()
    shape = "<collision><geometry><sphere radius='0.25'/></geometry></collision>"
    at = text.index("</link>", text.index('name="arm"'))
    robot.write_text(text[:at] + shape + text[at:])
    with pytest.warns(UserWarning, match="link 'arm' is drawn without a part"):
        picture = picture_of(run)
    assert picture.chosen_looks["arm"][0].triangles.reach == pytest.approx(0.25)


@pytest.mark.filterwarnings("ignore:.*ignored")
def test_a_link_without_a_look_in_a_file_with_looks_is_not_to_be_seen(robot):
    text = robot.read_text()
    cut = text.index("<visual>", text.index('name="arm"')), text.index("</visual>", text.index('name="arm"')) + 9
    robot.write_text(text[: cut[0]] + text[cut[1] :])
    world = pt.World()
    world.add_mechanism(pt.load_urdf(robot))
    picture = picture_of(world.simulate(0.1, 1e-2))
    assert [m.name for m in picture.layer("bodies")] == ["base", "base/1"]
