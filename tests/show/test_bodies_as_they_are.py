"""Bodies as what they are: beams that bend in one piece, hulls that show what is inside, robots with their looks."""

import numpy as np
import pytest
import runs_to_show

import poinsot as pt
from poinsot import show
from poinsot.show.beams import chains
from poinsot.show.marks import Skin, Surface
from poinsot.show.replay import picture_of
from poinsot.spatial import quaternion

ARM = runs_to_show.EXAMPLES / "arm.urdf"


def vertices(skin, k):
    """The vertices of a skin at record k, by the formula of its docstring."""
    first, w = skin.first, skin.weights[:, None]
    second = np.minimum(first + 1, skin.positions.shape[1] - 1)
    near = skin.positions[k, first] + quaternion.rotate(skin.wxyz[k, first], skin.rest[:, :3])
    far = skin.positions[k, second] + quaternion.rotate(skin.wxyz[k, second], skin.rest[:, 3:])
    return (1 - w) * near + w * far


@pytest.fixture(scope="module")
def winged():
    """A fuselage with one wing of four segments, 6 m long, that bends under its weight."""
    world = pt.World()
    world.add_body("fuselage", pt.Inertia.cylinder(500.0, 0.5, 7.0), joint=pt.fixed())
    beam = pt.Beam("wing", length=6.0, EI=2e4, GJ=1e5, mass_per_length=12.0, polar=1.5, n=4)
    world.add_beam(beam, "fuselage", (0.0, 0.5, 0.0))
    return world.simulate(0.5, 1e-3, every=0.05)


def test_a_beam_is_one_surface(winged):
    assert chains(winged.world.description) == [["wing0", "wing1", "wing2", "wing3"]]
    picture = picture_of(winged)
    (skin,) = [m for m in picture.layer("bodies") if isinstance(m, Skin)]
    assert not any(m.body.startswith("wing") for m in picture.layer("bodies") if isinstance(m, Surface))
    assert not any(m.name.startswith("wing") for m in picture.layer("joints"))
    straight, bent = vertices(skin, 0), vertices(skin, -1)
    low, high = straight.min(axis=0), straight.max(axis=0)
    assert np.isclose(high[0], 6.0, atol=1e-6)  # its length
    assert abs(low[0]) < 0.25  # it starts near its root
    assert np.isclose(high[1] - low[1], np.sqrt(12 * 1.5 / 12.0), rtol=0.02)  # the chord of a plate with this inertia
    tip = winged["wing3"].isel(time=-1)
    end = tip.position.values + quaternion.rotate(tip.orientation.values, np.array([1.5, 0.0, 0.0]))
    assert end[2] < -0.05  # it bends
    assert np.linalg.norm(bent - end, axis=1).min() < 0.7  # and the skin ends where its last segment does
    assert np.isclose(bent[:, 2].min(), end[2], atol=0.15)


def test_a_look_of_its_own_comes_first(winged):
    from poinsot.spatial import shapes

    picture = picture_of(winged, looks={"wing1": shapes.Sphere(0.1)})
    assert picture.beams == []


def test_wheels_and_tanks_are_seen_through_the_hull():
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    craft = world.add_body("craft", pt.Inertia.box(80.0, (0.6, 0.6, 0.8)))
    craft.add(pt.Rotor("wheel", axis=(0, 0, 1), inertia=0.05, torque=0.4))
    world.add_body("stone", pt.Inertia.box(1.0, (0.1, 0.1, 0.1)), position=(2.0, 0, 0))
    picture = picture_of(world.simulate(0.2, 1e-2))
    marks = {m.name: m for m in picture.layer("bodies")}
    assert marks["craft"].opacity < 1
    assert marks["stone"].opacity == 1
    (wheel,) = [m for m in picture.layer("parts") if m.name == "craft.wheel"]
    assert wheel.triangles.reach < 0.3  # it fits inside
    assert np.allclose(wheel.track.position[0], 0.0)


def test_a_propeller_is_at_the_front():
    world = pt.World()
    plane = world.add_body("plane", pt.Pose.from_euler((0, np.pi / 2, 0)) @ pt.Inertia.cylinder(650.0, 0.5, 7.0))
    plane.add(pt.Rotor("prop", axis=(1, 0, 0), inertia=1.4, speed=250.0))
    picture = picture_of(world.simulate(0.1, 1e-2))
    (prop,) = [m for m in picture.layer("parts") if m.name == "plane.prop"]
    assert np.allclose(prop.track.position[0], (3.5, 0, 0), atol=1e-9)
    assert picture.layer("bodies")[0].opacity == 1


def test_a_flame_is_as_wide_as_its_nozzle():
    run = pt.load_scenario(runs_to_show.EXAMPLES / "rocket.toml").world.simulate(1.0, 2e-3, every=0.1, ledger=False)
    flame = next(m for m in picture_of(run).layer("parts") if m.name == "rocket.engine")
    assert 0.01 < flame.scales[:, 0, 0].max() < 0.04  # the rocket has a radius of 4 cm
    assert flame.scales[:, 0, 2].max() < 0.6


def test_a_robot_has_the_looks_of_its_file():
    world = pt.World()
    world.add_mechanism(pt.load_urdf(ARM), prefix="left_")
    run = world.simulate(0.05, 1e-3)
    picture = picture_of(run)
    own = show.urdf_looks(ARM)
    assert len(picture.looks["left_forearm"]) == len(own["forearm"]) == 4
    assert {m.colour for m in picture.layer("bodies") if m.body == "left_forearm"} == {(237, 143, 41), (82, 92, 107)}


def test_a_missing_mesh_is_told_and_the_rest_is_drawn(tmp_path):
    text = ARM.read_text().replace('<cylinder radius="0.034" length="0.26"/>', '<mesh filename="gone.stl"/>')
    (tmp_path / "arm.urdf").write_text(text)
    world = pt.World()
    world.add_mechanism(pt.load_urdf(tmp_path / "arm.urdf"))
    run = world.simulate(0.05, 1e-3)
    with pytest.warns(UserWarning, match=r"'forearm' is drawn without a part: mesh file .*gone\.stl' does not exist"):
        picture = picture_of(run)
    assert len(picture.looks["forearm"]) == 3
    (tmp_path / "arm.urdf").unlink()
    with pytest.warns(UserWarning, match="its looks cannot be read"):
        assert len(picture_of(run).looks["forearm"]) > 0  # an ellipsoid and a bone


def test_a_huge_mesh_is_refused_before_it_is_drawn(tmp_path, monkeypatch):
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / "ball.stl"
    trimesh.creation.icosphere(3).export(path)
    monkeypatch.setattr("poinsot.show.looks.MOST_FACES", 1000)
    with pytest.raises(ValueError, match="has 1,280 triangles, too many to draw: simplify it"):
        _ = picture_of(runs_to_show.pendulum(), looks={"upper": path}).looks


def test_mesh_files_keep_the_colours_of_their_materials(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    red, blue = trimesh.creation.box((1, 1, 1)), trimesh.creation.box((1, 1, 3))
    for mesh, colour in ((red, (200, 10, 20, 255)), (blue, (10, 20, 200, 255))):
        mesh.visual = trimesh.visual.TextureVisuals(
            material=trimesh.visual.material.PBRMaterial(baseColorFactor=colour)
        )
    trimesh.Scene([red, blue]).export(tmp_path / "two.glb")
    looks = show.looks.look_of(tmp_path / "two.glb")
    assert sorted(look.colour for look in looks) == [(10, 20, 200), (200, 10, 20)]


@pytest.mark.filterwarnings("ignore:.*ignored")
def test_geoms_of_an_mjcf_file(tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "x.xml"
    path.write_text("""<mujoco><worldbody><body name="arm"><joint type="hinge"/>
        <geom type="box" size=".1 .2 .3" pos="0 0 1" rgba="1 0 0 1" mass="1"/>
        <geom type="sphere" size="5" group="3" mass="0"/></body></worldbody></mujoco>""")
    (look,) = show.mjcf_looks(path)["arm"]
    assert look.colour == (255, 0, 0)
    assert np.allclose(look.triangles.vertices.max(axis=0), (0.1, 0.2, 1.3))
    world = pt.World()
    world.add_mechanism(pt.load_mjcf(path))
    assert len(picture_of(world.simulate(0.05, 1e-3)).looks["arm"]) == 1
