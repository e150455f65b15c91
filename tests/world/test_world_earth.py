"""Worlds around the Earth: falls and orbits against plain equations, two-body theory and NASA's figures."""

import json

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.files.described import describe, restore
from poinsot.world.builder import BodyHandle

FOOT = 0.3048
EARTH = pt.Earth()
SMALL = pt.Inertia.sphere(14.6, 0.15)


def plain_orbit(y0, times, mu, J2, a=6378137.0):
    """Positions (n, 3) [m] under a centre and J2, as the books write it: an oracle that shares no code."""

    def rate(t, y):
        x, y_, z = y[:3]
        r2 = x * x + y_ * y_ + z * z
        k = 1.5 * J2 * a * a / r2
        s = 5 * z * z / r2
        pull = -mu / r2**1.5
        return [*y[3:], pull * x * (1 + k * (1 - s)), pull * y_ * (1 + k * (1 - s)), pull * z * (1 + k * (3 - s))]

    solved = solve_ivp(rate, (0, times[-1]), y0, "DOP853", times, rtol=2.3e-14, atol=1e-9)
    return solved.y[:3].T


def orbiter(earth, inertia=SMALL, **options):
    world = pt.World(earth=earth)
    start = {"position": (7e6, 1e5, -2e5), "velocity": (300.0, 4000.0, 6500.0), "angular_velocity": (0.02, 0.03, 0.1)}
    world.add_body("sat", inertia, **{**start, **options})
    return world


def test_a_sphere_dropped_from_30000_ft():
    """NASA/TM-2015-218675, case 1, as printed there for SIM 04 after 30 s; and the plain equations."""
    world = pt.World(earth=EARTH)
    p, v = EARTH.to_inertial(EARTH.ecef(0.0, 0.0, 30e3 * FOOT), np.zeros(3))
    world.add_body("ball", SMALL, position=p, velocity=v)
    run = world.simulate(30.0, 0.01, every=0.5)
    place = np.asarray(run["ball"].position)
    want = plain_orbit([*p, *v], run.time, EARTH.mu, EARTH.zonal[2])
    np.testing.assert_allclose(place, want, rtol=0, atol=1e-7)
    assert abs(EARTH.height(place[-1]) / FOOT - 15598.904352) < 1e-5
    assert run.ledger.relative_residual.max() < 1e-12


@pytest.mark.parametrize("gravity", ["central", "J2"])
def test_an_orbit(gravity):
    """A hundred minutes, once around: against DOP853 on the plain equations."""
    earth = pt.Earth(gravity=gravity)
    world = orbiter(earth, inertia=pt.Inertia.sphere(10.0, 1e-3))
    run = world.simulate(6000.0, 1.0, method="splitting4", every=100.0)
    start = [*world["sat.position"], *world["sat.velocity"]]
    want = plain_orbit(start, run.time, earth.mu, earth.zonal.get(2, 0.0))
    np.testing.assert_allclose(np.asarray(run["sat"].position), want, rtol=0, atol=1e-5)
    assert run.ledger.relative_residual.max() < 1e-12


@pytest.mark.parametrize("gravity", ["central", "J2", "J4"])
def test_the_ledger_of_a_long_body_closes(gravity):
    """A boom of 2 km that tumbles: energy, and the angular momentum about the axis, stay; the rest is booked."""
    run = orbiter(pt.Earth(gravity=gravity), pt.Inertia.box(1e4, (2000, 20, 30))).simulate(600.0, 0.5)
    assert run.ledger.relative_residual.max() < 1e-11
    change = run.ledger.final - run.ledger.initial
    kept = (4, 5, 6) if gravity == "central" else (6,)
    L = np.linalg.norm(run.ledger.initial[4:7])
    np.testing.assert_allclose(change[list(kept)] / L, 0, atol=1e-11)
    assert np.abs(run.ledger.inflow[run.ledger.sources.index("gravity"), 1:4]).max() > 1e6


def test_the_ledger_of_bodies_on_joints_with_a_tank_that_drains_closes():
    world = orbiter(EARTH, pt.Inertia(100.0, (0.1, 0.2, -0.1), np.diag([10.0, 12.0, 15.0])))
    world.add_body("panel", pt.Inertia.box(20, (2, 1, 0.05)), "sat", pt.revolute((1, 0, 0)), (0, 1, 0), v=[0.3])
    sat = BodyHandle(world, "sat")
    sat.add(pt.Tank("tank", capacity=50, contents=40, position=(0, 0.5, 0.3)))
    sat.add(pt.Flow("drain", source="tank", rate=0.5, point=(0, 0.5, 0.3)))
    run = world.simulate(30.0, 0.02)
    assert run.ledger.relative_residual.max() < 1e-9


def test_a_spinning_satellite_with_a_tank_follows_two_body_theory():
    """10 rpm, 0.1 s steps, a minute: within 1e-7 m of Kepler's ellipse."""
    a, e = 7e6, 0.05
    world = pt.World(earth=pt.Earth(gravity="central"))
    speed = np.sqrt(EARTH.mu / a * (1 + e) / (1 - e))
    spin = {"angular_velocity": (0, 0, pt.rpm(10))}
    bus = pt.Inertia(100.0, (0, 0, -0.05), np.diag([10.0, 12.0, 15.0]))
    sat = world.add_body("sat", bus, position=(a * (1 - e), 0, 0), velocity=(0, speed, 0), **spin)
    sat.add(pt.Tank("tank", capacity=20, contents=10, position=(0, 0, 0.5)))
    run = world.simulate(60.0, 0.1, every=1.0)
    assert run.settings["method"] == "rk4"
    M = np.sqrt(EARTH.mu / a**3) * run.time
    E = M
    for _ in range(50):
        E = E - (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
    want = np.stack([a * (np.cos(E) - e), a * np.sqrt(1 - e**2) * np.sin(E)], axis=-1)
    np.testing.assert_allclose(np.asarray(run["sat"].position)[:, :2], want, rtol=0, atol=1e-7)


def test_the_earth_is_kept_in_files_and_its_mu_is_a_path():
    world = orbiter(pt.Earth(model="sphere", gravity="J4", rotating=False))
    data = json.loads(json.dumps(describe(world.description)))
    again = pt.World.of(restore(data))
    assert describe(again.description) == describe(world.description)
    assert again.description.earth == world.description.earth
    a, b = (w.simulate(10.0, 0.5)["sat"].position for w in (world, again))
    np.testing.assert_array_equal(a, b)
    assert world["earth.mu"] == EARTH.mu
    run = world.simulate(10.0, 0.5, vary={"earth.mu": [0.0, EARTH.mu]})
    np.testing.assert_allclose(np.asarray(run["sat"].position)[-1, 0], [7.003e6, 1.4e5, -1.35e5], rtol=1e-12)
    np.testing.assert_allclose(np.asarray(run["sat"].position)[-1, 1], np.asarray(a)[-1], rtol=1e-15)


def test_errors():
    with pytest.raises(ValueError, match=r"the Earth brings its own; give one"):
        pt.World(gravity=(0, 0, -9.81), earth=EARTH)
    with pytest.raises(ValueError, match=r"write pt.World\(earth=...\)"):
        pt.World(EARTH)
    with pytest.raises(ValueError, match=r"earth='wgs84' must be a pt.Earth"):
        pt.World(earth="wgs84")
    with pytest.raises(ValueError, match=r"'earth' is the Earth of this world already"):
        pt.World(earth=EARTH).add_body("earth", SMALL)
    world = pt.World(earth=EARTH)
    world.add_body("ball", SMALL)
    with pytest.raises(ValueError, match=r"body 'ball' starts 6356752 m deep in the Earth"):
        world.simulate(1.0)


def test_the_earth_turns_eastwards_under_what_stays():
    """At one inertial place the longitude falls by the Earth's turn; latitude and height stay. Others have none."""
    scenes = [orbiter(EARTH).scene(t=t) for t in (0.0, 3600.0)]
    before, after = (scene.place("sat") for scene in scenes)
    assert before[1] == pytest.approx(np.arctan2(1e5, 7e6), rel=1e-12)
    np.testing.assert_allclose(after - before, [0.0, -3600.0 * EARTH.rate, 0.0], rtol=1e-12, atol=1e-8)
    flat = pt.World()
    flat.add_body("sat", SMALL)
    with pytest.raises(LookupError, match="flat ground has no latitude and longitude"):
        flat.scene().place("sat")
