"""Starts as a pilot says them: places, attitudes, speeds and rates, there and back; NASA's figures."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poinsot as pt
from poinsot.files.described import describe, restore
from poinsot.spatial import Pose, euler

FOOT = 0.3048
EARTH = pt.Earth()
PLANE = pt.Inertia.box(1000, (8, 10, 2))
WIND = (-7.0, 12.0, 1.5)


def started(earth=EARTH, air=None, wind=None, **start):
    """The state of a body that starts so, and its scene."""
    world = pt.World(earth=earth, air=air, wind=wind)
    world.add_body("plane", PLANE, start=pt.Start(**start))
    return world.scene()


def test_nasa_case_11():
    """NASA/TM-2015-218675, case 11, SIM 05 at t = 0: inertial position and velocity, and the inertial body rates of an
    aircraft whose Euler angles stand still."""
    plane = started(
        latitude=np.radians(36.01916666700001),
        longitude=np.radians(-75.6744444444),
        altitude=10013.000000001863 * FOOT,
        heading=np.radians(45.000000000000156),
        pitch=np.radians(2.6389261150480663),
        velocity_ned=np.array([399.99999998614464, 399.9999999861468, 7.155591674745665e-9]) * FOOT,
    )["plane"]
    position = [4194654.423716988, -1.6425671671266142e7, 1.2243132354871515e7]
    velocity = [1527.1397089346187, 632.7597153499491, 323.5281289205246]
    rates = [0.002533320382709163, -0.003939291659912435, -0.003138617072930523]
    np.testing.assert_allclose(plane.position / FOOT, position, rtol=0, atol=2e-8)
    np.testing.assert_allclose(plane.velocity / FOOT, velocity, rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.degrees(plane.angular_velocity), rates, rtol=0, atol=1e-12)


places = {
    "latitude": st.floats(-1.5, 1.5),
    "longitude": st.floats(-3.1, 3.1),
    "altitude": st.floats(-500.0, 3e4),
    "heading": st.floats(-3.1, 3.1),
    "pitch": st.floats(-1.5, 1.5),
    "roll": st.floats(-3.1, 3.1),
}
flown = {"airspeed": st.floats(1.0, 700.0), "alpha": st.floats(-1.0, 1.0), "beta": st.floats(-1.0, 1.0)}


@given(st.fixed_dictionaries(places), st.fixed_dictionaries(flown), st.sampled_from(["wgs84", "sphere"]))
def test_there_and_back(place, flow, model):
    """Place and attitude by the functions of geodesy, the airspeed by the air that the aircraft meets in wind."""
    earth = pt.Earth(model=model)
    scene = started(earth, pt.US76(), WIND, **place, **flow)
    plane = scene["plane"]
    lat, lon, h = earth.geodetic(plane.position)
    np.testing.assert_allclose([lat, lon, h], [place[k] for k in ("latitude", "longitude", "altitude")], atol=2e-8)
    angles = euler.from_matrix(earth.ned(plane.position).T @ plane.pose.R)
    np.testing.assert_allclose(angles, [place[k] for k in ("roll", "pitch", "heading")], atol=1e-13)
    air = scene.air("plane")
    got = [air.airspeed, air.alpha, air.beta]
    np.testing.assert_allclose(got, [flow[k] for k in ("airspeed", "alpha", "beta")], rtol=1e-10, atol=1e-10)
    _, v_E = earth.to_earth(plane.position, plane.velocity)
    v_N = earth.ned(plane.position).T @ v_E
    through_air = plane.pose.R @ air.velocity
    np.testing.assert_allclose(earth.ned(plane.position) @ (v_N - WIND), through_air, atol=1e-9)


@given(flown["alpha"], flown["beta"], st.floats(-1.0, 1.0), st.floats(-0.4, 0.4))
def test_the_flight_path_gives_the_pitch(alpha, beta, roll, climb):
    start = {"airspeed": 100.0, "alpha": 0.5 * alpha, "beta": 0.5 * beta, "roll": roll, "flight_path": climb}
    plane = started(earth=None, altitude=500.0, **start)["plane"]
    np.testing.assert_allclose(plane.velocity[2], 100.0 * np.sin(climb), atol=1e-10)


def test_flat_ground():
    """North is x, east is -y, down is -z; heading east and climbing, a turn to the right is one about -z."""
    plane = started(
        None, altitude=300.0, heading=np.pi / 2, pitch=0.1, velocity_ned=(1, 2, 3), rates=(0, 0, 0.2), rates_to="ned"
    )["plane"]
    np.testing.assert_allclose(plane.position, (0, 0, 300))
    np.testing.assert_allclose(plane.velocity, (1, -2, -3), atol=1e-15)
    np.testing.assert_allclose(plane.pose.R[:, 0], (0, -np.cos(0.1), np.sin(0.1)), atol=1e-15)
    np.testing.assert_allclose(plane.pose.R @ plane.angular_velocity, (0, -0.2 * np.sin(0.1), -0.2 * np.cos(0.1)))
    moved = started(None, position=(1, 2, 3))["plane"]
    np.testing.assert_allclose(moved.position, (1, 2, 3))
    np.testing.assert_allclose(moved.pose.R, np.diag([1.0, -1, -1]), atol=1e-15)


def test_mach():
    scene = started(None, pt.US76(), altitude=11e3, mach=0.8, alpha=0.05, wind=(30.0, 0, 0))
    np.testing.assert_allclose([scene.air("plane").mach, scene.air("plane").alpha], [0.8, 0.05], rtol=1e-13)


def test_rates_are_relative_to_what_is_said():
    """Standing on the equator, nose to the north: the inertial rate is that of the Earth, along the nose."""
    place = {"latitude": 0.0, "longitude": 0.0, "altitude": 0.0}
    for to, roll in (("ned", EARTH.rate), ("earth", EARTH.rate), ("inertial", 0.0)):
        plane = started(**place, rates=(0, 0.1, 0), rates_to=to)["plane"]
        np.testing.assert_allclose(plane.angular_velocity, (roll, 0.1, 0), atol=1e-18)
    still = started(**place)["plane"]
    np.testing.assert_allclose(still.velocity, (0, EARTH.rate * 6378137.0, 0), atol=1e-12)
    east = started(**place, velocity_ned=(0, 100.0, 0))["plane"].angular_velocity
    np.testing.assert_allclose(east, (EARTH.rate + 100.0 / 6378137.0, 0, 0), atol=1e-18)


HERE = {"latitude": 0.5, "longitude": 0.2, "altitude": 100.0}
WRONG = {
    "two places": ({**HERE, "position": (0, 0, 7e6)}, r"a start has position or latitude, not both"),
    "two speeds": ({**HERE, "airspeed": 50, "velocity_ned": (1, 0, 0)}, r"airspeed or velocity_ned, not both"),
    "two pitches": ({**HERE, "airspeed": 50, "pitch": 0.1, "flight_path": 0.1}, r"pitch or flight_path, not both"),
    "deep": ({**HERE, "altitude": -1.1e4}, r"altitude=-11000.0 m is below the Earth's surface; the least is -10000 m"),
    "degrees": ({**HERE, "latitude": 36.0}, r"latitude=36.0 rad must be between -pi/2 and pi/2; degrees are converted"),
    "no place": ({"latitude": 0.5, "altitude": 0.0}, r"a start around the Earth needs longitude, or a position"),
    "no speed": ({**HERE, "alpha": 0.1}, r"a start with alpha, but without a speed: give airspeed or mach"),
    "no air": ({**HERE, "mach": 0.5}, r"mach=0.5 needs air: give pt.World\(air=pt.US76\(\)\)"),
    "backwards": ({**HERE, "airspeed": -5.0}, r"airspeed=-5.0 of a start must be 0 or more"),
    "not a number": ({**HERE, "heading": "north"}, r"heading='north' of a start must be a finite number"),
    "nan": ({**HERE, "velocity_ned": (0, np.nan, 0)}, r"velocity_ned=.* of a start must be three finite numbers"),
    "rates to": ({**HERE, "rates_to": "wind"}, r"rates_to='wind' of a start must be one of"),
    "steep": ({**HERE, "airspeed": 9, "flight_path": 1.5, "beta": 0.5}, r"cannot be reached .* steepest is 1.0708 rad"),
    "pole": (
        {**HERE, "latitude": np.pi / 2, "velocity_ned": (0, 9.0, 0)},
        r"next to a pole north-east-down turns without bound: give rates_to='earth'",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_errors(wrong):
    start, message = WRONG[wrong]
    with pytest.raises(ValueError, match=message):
        started(**start)


def test_errors_of_a_body_with_a_start():
    with pytest.raises(ValueError, match=r"flat ground has no latitude: give altitude"):
        started(None, **HERE)
    with pytest.raises(ValueError, match=r"altitude=2000000.0 m is above the model, which ends at 1e\+06 m"):
        started(EARTH, pt.US76(), **{**HERE, "altitude": 2e6})
    world = pt.World()
    with pytest.raises(ValueError, match=r"body 'plane': give either start or position, not both"):
        world.add_body("plane", PLANE, start=pt.Start(altitude=1.0), position=(0, 0, 1))
    with pytest.raises(ValueError, match=r"start of body 'plane' must be a pt.Start or a pt.Orbit, not 3"):
        world.add_body("plane", PLANE, start=3)


def test_on_a_parent():
    """What hangs on a free joint of another body starts where it is said to."""
    world = pt.World()
    world.add_body("carrier", PLANE, position=(0, 0, 99), velocity=(1, 2, 3))
    start = pt.Start(altitude=95.0, velocity_ned=(40, 0, 0))
    world.add_body("drone", PLANE, "carrier", pt.mechanism.free(), Pose(p=(0, 0, -1)), start=start)
    np.testing.assert_allclose(world.scene()["drone"].position, (0, 0, 95), atol=1e-12)
    np.testing.assert_allclose(world.scene()["drone"].velocity, (40, 0, 0), atol=1e-12)


def test_every_number_is_a_path():
    """Read, set, left free: many aircraft from one world, each where its own numbers say."""
    start = {**HERE, "heading": 0.3, "roll": 0.1, "mach": 0.5, "alpha": 0.1, "beta": 0.02, "flight_path": 0.05}
    world = pt.World(earth=EARTH, air=pt.US76(), wind=WIND)
    world.add_body("plane", PLANE, start=pt.Start(**start, rates=(0.1, 0.2, 0.3)))
    numbers = {f"plane.start.{key}": value for key, value in start.items()}
    assert {*numbers, "plane.start.rates"} <= set(world.paths())
    assert all(world[path] == value for path, value in numbers.items())
    assert not any(path.startswith(("plane.position", "plane.velocity")) for path in world.paths())
    vary = {path: [value, value + 0.01] for path, value in numbers.items()}
    run = world.simulate(0.01, 0.01, vary=vary)
    for path, values in vary.items():
        world[path] = values[1]
    plane = world.scene()["plane"]
    for name in ("position", "orientation", "velocity", "angular_velocity"):
        got = np.asarray(getattr(run["plane"], name))[0, 1]
        np.testing.assert_allclose(got, getattr(plane, name), rtol=1e-13, atol=1e-13)


def test_a_start_is_kept_in_files():
    world = pt.World(earth=EARTH)
    world.add_body("plane", PLANE, start=pt.Start(**HERE, velocity_ned=(1, 2, 3)))
    data = json.loads(json.dumps(describe(world.description)))
    again = pt.World.of(restore(data))
    np.testing.assert_array_equal(again.start().q, world.start().q)
    world = pt.World()
    world.add_body("plane", PLANE)
    assert "start" not in describe(world.description)["bodies"]["plane"]  # the data of others stay as they were
