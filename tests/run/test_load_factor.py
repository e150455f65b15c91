"""The specific force of points of bodies: at rest, in free fall, on a wheel, around the Earth; and the load factor."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.control.sensor import SENSORS
from poinsot.spatial import Pose

BOX = pt.Inertia.box(2.0, (0.1, 0.2, 0.3))
DOWN = np.diag([1.0, -1.0, -1.0])  # aircraft axes on flat ground


def test_at_rest_and_in_free_fall():
    """A body that is held feels g upwards, one that falls nothing, whatever its spin at its centre of mass."""
    world = pt.World(gravity=(0, 0, -9.80665))
    world.add_body("held", BOX, joint=pt.fixed(), placement=Pose(R=DOWN))
    world.add_body("falling", BOX, v=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
    scene = world.scene()
    np.testing.assert_allclose(scene.specific_force("held"), (0, 0, -9.80665), atol=1e-14)
    assert scene.load_factor("held") == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(scene.specific_force("falling"), 0.0, atol=1e-13)
    assert scene.signal("held.load_factor") == pytest.approx(1.0, abs=1e-14)
    assert scene.load_factor("falling") == pytest.approx(0.0, abs=1e-13)
    assert scene.signal("falling.load_factor") == pytest.approx(0.0, abs=1e-13)


def test_on_a_wheel():
    """r w^2 inwards and r w' along: at any point of a wheel that a motor speeds up."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("wheel", pt.Inertia(1.0, (0, 0, 0), np.diag([1.0, 1.0, 2.0])), joint=pt.revolute((0, 0, 1)), v=3.0)
    world.add_motor("motor", "wheel", 5.0)
    f = world.scene().specific_force("wheel", (0.4, 0, 0.1))
    np.testing.assert_allclose(f, (-0.4 * 9.0, 0.4 * 2.5, 0.0), atol=1e-14)


@pytest.mark.parametrize("gravity", ["J2", "J4", "central"])
def test_around_the_earth(gravity):
    """A satellite feels nothing at its centre of mass; one held far from the centre, the field of gravitation."""
    earth = pt.Earth(gravity=gravity)
    world = pt.World(earth=earth)
    p, v = np.array([7.0e6, 1.0e5, 2.0e6]), np.array([0.0, 6.0e3, 3.0e3])
    world.add_body("satellite", BOX, position=p, velocity=v)
    world.add_body("tower", BOX, joint=pt.fixed(), placement=-p)
    scene, imu = world.scene(), pt.Sensor("imu", kind="accelerometer", body="satellite", sample=0.1)
    np.testing.assert_allclose(scene.specific_force("satellite"), 0.0, atol=1e-12)
    np.testing.assert_allclose(SENSORS["accelerometer"].truth(imu, scene), 0.0, atol=1e-12)
    np.testing.assert_allclose(scene.specific_force("tower"), -earth.gravitation(-p), rtol=1e-12)


def test_records_outputs_and_sensors():
    """A pull-up at constant speed has n = 1 + v^2/(r g) at its lowest point; the same by record, output and sensor."""
    radius, rate = 50.0, 0.6
    world = pt.World(gravity=(0, 0, -9.80665))
    arm = Pose(p=(0, 0, radius)) @ pt.Inertia.box(100.0, (2, 3, 1))
    world.add_body("plane", arm, joint=pt.revolute((0, 1, 0)), placement=Pose(R=DOWN, p=(0, 0, 100.0)), v=rate)
    world.add(pt.Sensor("seat", kind="load factor", body="plane", point=(0, 0, radius), sample=0.01))
    run = world.simulate(
        0.1, 0.01, outputs={"most": 'max(load_factor("plane"))'}, record=["load_factor", "specific_force", "seat.out"]
    )
    lowest = 1 + radius * rate**2 / 9.80665
    assert run.data["seat.out"].values[0] == pytest.approx(lowest, rel=1e-12)
    factor, f = run.data["load_factor"][:, 0], run.data["specific_force"][:, 0, 2]
    np.testing.assert_allclose(factor, -f / 9.80665, rtol=1e-14)
    assert run.outputs["most"] == pytest.approx(float(run.data["load_factor"].max()), rel=1e-9)


def test_a_force_cannot_follow_from_it():
    world = pt.World()
    world.add_body("box", BOX)
    world.add_force("f", "box", lambda t, scene: -scene.specific_force("box"))
    with pytest.raises(ValueError, match="a force cannot depend on"):
        world.motion()
