"""Robots with their looks: of example-robot-data, and MuJoCo's models that Gymnasium brings."""

import warnings
from importlib import metadata, util
from pathlib import Path

import numpy as np
import pytest

import poinsot as pt
from poinsot.mechanism.kinematics import forward_kinematics
from poinsot.show.headless import snapshot
from poinsot.show.replay import picture_of
from poinsot.show.robots import collision_looks, mjcf_looks, own_looks

# Ten robots of example-robot-data, and how far [m] from the origin of its root each reaches at least and at most.
URDF = {
    "so_arm_description/urdf/so100.urdf": (0.2, 0.7),
    "anymal_b_simple_description/robots/anymal.urdf": (0.5, 1.2),
    "hyq_description/robots/hyq_no_sensors.urdf": (0.5, 1.3),
    "icub_description/robots/icub.urdf": (0.5, 1.2),
    "panda_description/urdf/panda.urdf": (0.8, 1.3),
    "solo_description/robots/solo12.urdf": (0.25, 0.6),
    "talos_data/robots/talos_reduced.urdf": (0.9, 1.5),
    "tiago_description/robots/tiago.urdf": (0.8, 1.6),
    "ur_description/urdf/ur5_robot.urdf": (0.7, 1.1),
    "z1_description/urdf/z1.urdf": (0.3, 0.9),
}
MJCF = ("ant", "hopper", "humanoid", "swimmer", "walker2d")


def folder() -> Path:
    try:
        files = metadata.files("example-robot-data") or []
    except metadata.PackageNotFoundError:
        pytest.skip("example-robot-data, with its 400 MB of meshes, is not installed: pip install example-robot-data")
    some = next(f for f in files if f.name == "panda.urdf")
    return Path(str(some.locate())).resolve().parents[2]


def models() -> Path:
    found = util.find_spec("gymnasium")
    if found is None or found.origin is None or util.find_spec("mujoco") is None:
        pytest.skip("gymnasium and mujoco are not installed: pip install gymnasium mujoco")
    return Path(found.origin).parent / "envs/mujoco/assets"


def world_of(path: Path) -> pt.World:
    world = pt.World()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a mechanism does not take over, and of mended inertias
        robot = pt.load_urdf(path, mimic=False) if path.suffix == ".urdf" else pt.load_mjcf(path)
    world.add_mechanism(robot, prefix="the_")
    return world


def reach_of(world: pt.World) -> float:
    """How far [m] the looks reach at rest from the origin."""
    looks, mech = own_looks(world), world.description.mechanism(parts=False)
    poses = forward_kinematics(mech, mech.neutral())
    points = [
        look.triangles.moved(poses[link.name]).vertices for link in mech.links for look in looks.get(link.name, [])
    ]
    return float(np.linalg.norm(np.concatenate(points), axis=1).max())


@pytest.mark.filterwarnings("ignore:.*has no triangles")  # a foot of anymal, which is told
@pytest.mark.parametrize("name", URDF)
def test_a_robot_of_example_robot_data_has_its_meshes_colours_and_size(name):
    world = world_of(folder() / name)
    surfaces = [look for own in own_looks(world).values() for look in own]
    assert sum(len(look.triangles.faces) for look in surfaces) > 2000
    assert any(look.colour is not None for look in surfaces)
    low, high = URDF[name]
    assert low < reach_of(world) < high  # metres, at their joints


@pytest.mark.parametrize("name", MJCF)
def test_a_model_of_mujoco_has_its_geoms(name):
    path = models() / f"{name}.xml"
    looks = mjcf_looks(path)
    assert sum(map(bool, looks.values())) >= 3
    for own in looks.values():
        for look in own:
            assert look.colour is not None
            assert 0 < look.triangles.reach < 5


def test_meshes_of_dae_files_keep_the_colours_of_their_materials():
    surfaces = own_looks(world_of(folder() / "ur_description/urdf/ur5_robot.urdf"))["the_upper_arm_link"]
    assert len({look.colour for look in surfaces}) > 1  # its blue lids and grey tube


def test_shapes_for_collisions_are_a_layer_of_a_robot():
    world = world_of(folder() / "panda_description/urdf/panda.urdf")
    shapes = collision_looks(world.robots, world.description)
    assert sum(map(bool, shapes.values())) > 5


def test_a_model_is_drawn_with_its_looks(tmp_path):
    """In the page: as many surfaces as the layer has, none of them an ellipsoid of the inertia."""
    run = world_of(models() / "walker2d.xml").simulate(1e-3, 1e-3, ledger=False)
    picture = picture_of(run)
    assert set(picture.chosen_looks) >= {"the_torso", "the_thigh", "the_foot"}
    assert snapshot(run, tmp_path / "walker.png", size=(200, 160)).stat().st_size > 2000
