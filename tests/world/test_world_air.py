"""The air of worlds: what points of bodies meet, computed once."""

import json

import numpy as np
import pytest

import poinsot as pt
from poinsot.files.described import describe, restore

FOOT, SLUG = 0.3048, 14.593902937206364
BALL = pt.Inertia(SLUG, np.zeros(3), 3.6 * SLUG * FOOT**2 * np.eye(3))
AREA, DRAG = 0.1963495 * FOOT**2, 0.1  # m^2, and the coefficient
PLANE = pt.Inertia.box(1000, (8, 10, 2))


def drag(t, scene):
    air = scene.air("ball")
    return -AREA * DRAG * 0.5 * air.density * air.airspeed * air.velocity


def flying(wind=None, **start):
    world = pt.World(air=pt.US76(), wind=wind)
    world.add_body("plane", PLANE, start=pt.Start(altitude=1000.0, heading=np.pi, **start))
    return world


def test_air_of_a_flat_world():
    """Flying south in a wind to the south: the altitude is z, the airspeed smaller, a point ahead is higher."""
    scene = flying((-10.0, 0, 0), velocity_ned=(-60.0, 0, 0), pitch=0.1, rates=(0.1, 0.2, 0.3)).scene()
    air = scene.air("plane")
    np.testing.assert_allclose(air.airspeed, 50.0)
    np.testing.assert_allclose([air.alpha, air.beta], [0.1, 0.0], atol=1e-14)
    np.testing.assert_allclose(air.rates, (0.1, 0.2, 0.3))
    standard = pt.US76().at(1000.0)
    np.testing.assert_allclose([air.density, air.pressure], [standard.density, standard.pressure])
    np.testing.assert_allclose([air.temperature, air.speed_of_sound], [standard.temperature, standard.speed_of_sound])
    np.testing.assert_allclose(air.geopotential_altitude, air.pressure_altitude, rtol=1e-12)
    nose = scene.air("plane", (4.0, 0, 0))
    np.testing.assert_allclose(nose.altitude - air.altitude, 4.0 * np.sin(0.1))
    np.testing.assert_allclose(nose.velocity - air.velocity, np.cross((0.1, 0.2, 0.3), (4.0, 0, 0)), atol=1e-13)


def test_winds_are_functions_of_place_and_time():
    """Around the Earth the place is in Earth-fixed axes, so a wind over one spot stays there."""
    earth, seen = pt.Earth(), []

    def wind(t, position, height):
        seen.append((t, *position, height))
        return np.zeros(3) * t

    world = pt.World(earth=earth, air=pt.US76(), wind=[wind, pt.SteadyWind((0, 5.0, 0))])
    world.add_body("plane", PLANE, start=pt.Start(0.3, 0.4, 2000.0))
    seen.clear()
    t = 1000.0
    air = world.scene(t=t).air("plane")
    p = world.scene()["plane"].position
    np.testing.assert_allclose(seen[0], (t, *(earth.rotation(t).T @ p), 2000.0), rtol=1e-12)
    np.testing.assert_allclose(air.airspeed, 5.0, rtol=1e-9)


def test_the_air_is_computed_once():
    calls = []

    def wind(t, position, height):
        calls.append(height)
        return np.zeros(3) * t

    world = flying(wind, airspeed=50.0)
    for k in range(5):
        world.add_force(f"f{k}", "plane", lambda t, scene: scene.air("plane").dynamic_pressure * np.array([1.0, 0, 0]))
    state = world.start()
    calls.clear()
    scene = world.motion(state).scene
    assert len(calls) == 1
    assert scene.air("plane") is scene.air("plane", [0, 0, 0])
    assert scene.air("plane") is not scene.air("plane", (1.0, 0, 0))
    assert len(calls) == 2


def test_bodies_at_rest_in_the_air_have_finite_derivatives():
    world = pt.World(gravity=(0, 0, 0), air=pt.US76())
    world.add_body("ball", BALL)
    world.add_force("drag", "ball", drag, axes="body")
    assert np.all(np.isfinite(world.linearise().A))
    np.testing.assert_array_equal(world.simulate(1.0, 0.1)["ball"].position[-1], 0)


def test_a_batch_in_wind():
    """The force of many aircraft at once is that of each; the winds' numbers are kept in files."""
    world = flying(pt.WindProfile([0.0, 2000.0], [[0, 0, 0], [20.0, 4, 0]]), airspeed=50.0)
    world.add_force("drag", "plane", lambda t, scene: -scene.air("plane").velocity, axes="body")
    heights = np.array([500.0, 1000.0, 1500.0])
    together = np.asarray(world.simulate(2.0, 0.01, vary={"plane.start.altitude": heights})["plane"].velocity)[-1]
    for height, velocity in zip(heights, together, strict=True):
        world["plane.start.altitude"] = height
        alone = np.asarray(world.simulate(2.0, 0.01)["plane"].velocity)[-1]
        np.testing.assert_allclose(velocity, alone, rtol=1e-13)


def test_the_air_is_kept_in_files():
    winds = [pt.SteadyWind((1, 2, 3)), pt.WindProfile([0.0, 1e3], [[0, 0, 0], [9, 0, 0]]), pt.Gust((0, 0, 5), rise=2.0)]
    world = flying(winds, airspeed=50.0)
    again = pt.World.of(restore(json.loads(json.dumps(describe(world.description)))))
    assert describe(again.description) == describe(world.description)
    np.testing.assert_array_equal(again.scene().air("plane").velocity, world.scene().air("plane").velocity)
    world["air.atmosphere.offset"] = 15.0
    np.testing.assert_allclose(world.scene().air("plane").temperature, again.scene().air("plane").temperature + 15.0)


def test_errors():
    with pytest.raises(ValueError, match=r"wind=\(1, 0, 0\) blows in no air; give air=pt.US76\(\) as well"):
        pt.World(wind=(1, 0, 0))
    with pytest.raises(ValueError, match=r"air='us76' must be an atmosphere, such as pt.US76\(\)"):
        pt.World(air="us76")
    with pytest.raises(ValueError, match=r"wind=5.0 must be a wind"):
        pt.World(air=pt.US76(), wind=5.0)
    world = pt.World()
    world.add_body("ball", BALL)
    with pytest.raises(KeyError, match=r"the world has no air; make it with pt.World\(air=pt.US76\(\)\)"):
        world.scene().air("ball")
