"""Orbits as starts, what acts in orbit, and what is recorded there."""

import json

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.environment.kepler import eccentric_anomaly, elements_of, mean_anomaly, state_of, true_anomaly
from poinsot.files.described import describe, restore

EPOCH = "2026-03-20T12:00:00Z"
SMALL = pt.Inertia.sphere(10.0, 1e-3)  # too small to be turned, or shifted, by the gradient
WHEEL, SPEEDS = 1e-5, (300.0, -200.0, 250.0)  # kg m^2, rad/s
LEO = {"semi_major_axis": 6.9e6, "eccentricity": 0.01, "inclination": 0.9, "node": 1.0, "argument_of_perigee": 2.0}


def plain_orbit(y0, times, mu, J2, a=6378137.0):
    """p (n, 3) under a centre and J2, as the books write it: shares no code with the world."""

    def rate(t, y):
        x, y_, z = y[:3]
        r2 = x * x + y_ * y_ + z * z
        k, s, pull = 1.5 * J2 * a * a / r2, 5 * z * z / r2, -mu / r2**1.5
        return [*y[3:], pull * x * (1 + k * (1 - s)), pull * y_ * (1 + k * (1 - s)), pull * z * (1 + k * (3 - s))]

    return solve_ivp(rate, (0, times[-1]), y0, "DOP853", times, rtol=1e-13, atol=1e-7).y[:3].T


@pytest.mark.parametrize("e", [0.0, 1e-6, 0.3, 0.9, 0.99, 0.999])
def test_the_equation_of_kepler(e):
    M = np.concatenate([np.linspace(-np.pi, np.pi, 101), [1e-9, 1e-4, 20.0]])
    E = eccentric_anomaly(M, e)
    np.testing.assert_allclose(np.exp(1j * (E - e * np.sin(E))), np.exp(1j * M), atol=4e-15)
    np.testing.assert_allclose(np.exp(1j * mean_anomaly(true_anomaly(M, e), e)), np.exp(1j * M), atol=2e-13 / (1 - e))


def test_elements_and_states_are_inverse():
    rng = np.random.default_rng(0)
    mu = pt.Earth().mu
    for _ in range(50):
        start = pt.Orbit(rng.uniform(7e6, 4e7), rng.uniform(0, 0.9), *rng.uniform(0.01, 3.1, 3), rng.uniform(0, 6.2))
        p, v = state_of(start.elements, mu)
        np.testing.assert_allclose(elements_of(p, v, mu), start.elements, rtol=1e-9, atol=1e-9)
        assert abs(v @ v / 2 - mu / np.linalg.norm(p) + mu / (2 * start.semi_major_axis)) < 1e-7
    circle = elements_of(*state_of(pt.Orbit(7e6, true_anomaly=1.0).elements, mu), mu)
    np.testing.assert_allclose(circle, [7e6, 0, 0, 0, 0, 1.0], atol=1e-8, rtol=1e-14)


def test_a_day_in_low_orbit():
    """Sixteen times around under J2, adaptive: 1 mm against DOP853 on the plain equations."""
    earth = pt.Earth()
    world = pt.World(earth=earth)
    world.add_body("sat", SMALL, start=pt.Orbit(**LEO))
    run = world.simulate(86400.0, 10.0, method="adaptive", tolerance=1e-13, every=3600.0)
    start = world.description.started()["sat"]
    want = plain_orbit([*start.position, *start.velocity], run.time, earth.mu, earth.zonal[2])
    np.testing.assert_allclose(run["sat"].position, want, atol=1e-3, rtol=0)
    assert run.ledger.relative_residual.max() < 1e-11


def test_libration_by_the_gravity_gradient():
    """Small swings in the orbital plane about the vertical: omega^2 = 3 n^2 (I_roll - I_yaw)/I_pitch. Hughes,
    Spacecraft Attitude Dynamics, section 9.3."""
    world = pt.World(earth=pt.Earth(gravity="central"))
    I = np.array([120.0, 100.0, 40.0])  # about x forward (roll), y (pitch), z down (yaw)
    a, swing = 7.0e6, 1e-4
    world.add_body("sat", pt.Inertia(200.0, np.zeros(3), np.diag(I)), start=pt.Orbit(a, inclination=0.4, pitch=swing))
    n = np.sqrt(pt.Earth().mu / a**3)
    omega = n * np.sqrt(3 * (I[0] - I[2]) / I[1])
    run = world.simulate(3 * 2 * np.pi / omega, 5.0, every=20.0)
    p, v = (np.asarray(x) for x in (run["sat"].position, run["sat"].velocity))
    R = pt.spatial.quaternion.to_matrix(np.asarray(run["sat"].orientation))
    down, forward = -p / np.linalg.norm(p, axis=1)[:, None], v / np.linalg.norm(v, axis=1)[:, None]
    z = R[:, :, 2]
    pitch = np.arctan2(np.sum(z * forward, axis=1), np.sum(z * down, axis=1))
    np.testing.assert_allclose(pitch, swing * np.cos(omega * run.time), atol=2e-4 * swing)


def tumbling(epoch=EPOCH):
    """A small satellite with torquers under B-dot: m = -k dB/dt from two samples of a magnetometer."""
    world = pt.World(earth=pt.Earth(epoch=epoch, magnetic="igrf"))
    start = pt.Orbit(6.9e6, inclination=1.5, rates=(0.05, -0.04, 0.03))
    world.add_body("sat", pt.Inertia.box(4.0, (0.1, 0.1, 0.3)), start=start)
    world.add(pt.Sensor("compass", kind="magnetometer", body="sat", sample=1.0))

    def law(t, field, before):
        return -2e4 * (field - before), {"before": field}

    dipole, states = {"dipole": np.zeros(3)}, {"before": np.zeros(3)}
    world.add(pt.Controller("bdot", law, {"field": "compass.out"}, dipole, sample=1.0, states=states))
    world.add(pt.Torquer("coils", "sat", dipole=pt.Signal("bdot.dipole"), limit=0.2))
    return world


def test_detumbling_in_the_reference_field():
    """B-dot brings the rate down to twice that of the orbit, with which the field turns; all of it is in the ledger."""
    run = tumbling().simulate(9000.0, 0.5, every=60.0, record=["angular_velocity", "coils.torque", "magnetic_field"])
    rate = np.linalg.norm(run.data.angular_velocity.sel(body="sat"), axis=-1)
    assert rate[0] > 0.06
    assert rate[-20:].max() < 6e-3
    size = np.linalg.norm(run.data.magnetic_field.sel(body="sat"), axis=-1)
    assert 1.5e-5 < size.min() < size.max() < 6e-5
    assert run.ledger.relative_residual.max() < 1e-9


def dumping(limit):
    """A satellite that wheels hold still among the stars, while torquers take their momentum h out of it: with the
    dipole m = -k B x h/B^2 the torque m x B is -k times the part of h across the field."""
    world = pt.World(earth=pt.Earth(epoch=EPOCH, magnetic="igrf"))
    inertia = pt.Inertia(4.0, np.zeros(3), np.diag([0.04, 0.04, 0.02]))
    world.add_body("sat", inertia, start=pt.Orbit(6.9e6, inclination=1.5, axes="inertial"))
    world.add(pt.Sensor("compass", kind="magnetometer", body="sat", sample=0.5))

    def law(t, q, w, field, x, y, z):
        torque = -8e-4 * np.where(q[0] < 0, -1.0, 1.0) * q[1:] - 8e-3 * w
        h = WHEEL * np.stack([x, y, z])
        return {"torque": torque, "dipole": -2e-3 * np.cross(field, h) / np.maximum(field @ field, 1e-12)}

    signals = {"q": "sat.orientation", "w": "sat.angular_velocity", "field": "compass.out"}
    signals |= {axis: f"wheel_{axis}.speed" for axis in "xyz"}
    outputs = {"torque": np.zeros(3), "dipole": np.zeros(3)}
    world.add(pt.Controller("hold", law, signals, outputs, sample=0.5))
    for k, (axis, speed) in enumerate(zip("xyz", SPEEDS, strict=True)):
        torque = pt.Signal(f"hold.torque[{k}]", -1.0)
        world.add(pt.Rotor(f"wheel_{axis}", "sat", axis=np.eye(3)[k], inertia=WHEEL, speed=speed, torque=torque))
    world.add(pt.Torquer("coils", "sat", dipole=pt.Signal("hold.dipole"), limit=limit))
    return world


@pytest.mark.slow  # it compiles long
def test_torquers_take_the_momentum_of_wheels():
    """Within an orbit, in the field of the IGRF, with the satellite held still; else it stays in the wheels."""
    left = {}
    for limit in (0.4, 0.0):
        names = ["angular_velocity", "orientation", "coils.torque", "coils.field", *(f"wheel_{k}.speed" for k in "xyz")]
        run = dumping(limit).simulate(5400.0, 0.25, every=30.0, record=names)
        speeds = np.stack([run.data[f"wheel_{k}.speed"] for k in "xyz"], axis=-1)
        left[limit] = np.linalg.norm(speeds[-1]) / np.linalg.norm(speeds[0])
        torque, field = run.data["coils.torque"].values, run.data["coils.field"].values
        across = np.abs(np.sum(torque * field, axis=1)) / np.linalg.norm(field, axis=1)
        assert across.max() <= 1e-15 * max(np.linalg.norm(torque, axis=1).max(), 1e-30) * 10
        turned = 2 * np.linalg.norm(run["sat"].orientation.values[20:, 1:], axis=-1)
        assert turned.max() < 0.03  # rad: the law meets a lasting torque by a slant
        assert run.ledger.relative_residual.max() < 1e-9
    assert left[0.4] < 0.02
    assert left[0.0] == pytest.approx(1.0, abs=0.01)


def test_a_torquer_turns_by_m_cross_b():
    earth = pt.Earth(magnetic="dipole")
    world = pt.World(earth=earth)
    body = world.add_body("sat", pt.Inertia.sphere(5.0, 0.2), start=pt.Orbit(7e6, inclination=1.0, axes="inertial"))
    body.add(pt.Torquer("coils", dipole=(3.0, -1.0, 0.5), limit=2.0))
    run = world.simulate(10.0, 1.0, record=["sat.coils.torque", "sat.coils.moment"])
    p = world.description.started()["sat"].position
    want = np.cross([2.0, -1.0, 0.5], earth.magnetic_field(p, 0.0))
    np.testing.assert_allclose(run.data["sat.coils.torque"][0], want, rtol=1e-12)
    bare = pt.World(earth=pt.Earth())
    bare.add_body("sat", pt.Inertia.sphere(5.0, 0.2), start=pt.Orbit(7e6))
    bare.add(pt.Torquer("coils", "sat", dipole=(1.0, 0, 0)))
    with pytest.raises(ValueError, match="needs a magnetic field"):
        bare.simulate(1.0, 0.1)


def test_light_on_a_panel():
    """A mirror towards the Sun takes twice the momentum of light, a black one once; in the umbra there is none."""
    earth = pt.Earth(epoch=EPOCH)
    sun = earth.sun(0.0)
    u = sun / np.linalg.norm(sun)
    forces = {}
    for name, share in (("black", 0.0), ("mirror", 1.0)):
        for side in (1, -1):
            world = pt.World(earth=earth)
            body = world.add_body("sat", pt.Inertia.sphere(5.0, 0.2), position=side * 4.2e7 * u, velocity=(0, 0, 100.0))
            panel = pt.FlatPanel("sail", area=10.0, normal=u, specular=share, both_sides=True)
            body.add(panel)
            run = world.simulate(1.0, 0.5, record=["sat.sail.light", "sunlight", "sun_direction"])
            forces[name, side] = run.data["sat.sail.light"].values[0]
            assert run.data.sunlight.values[0] == (1.0 if side > 0 else 0.0)
    pressure = 1361.0 / 299792458.0 * (1.495978707e11 / np.linalg.norm(sun - 4.2e7 * u)) ** 2
    np.testing.assert_allclose(forces["black", 1], -10 * pressure * u, rtol=1e-12)
    np.testing.assert_allclose(forces["mirror", 1], 2 * forces["black", 1], rtol=1e-12)
    np.testing.assert_array_equal(forces["black", -1], 0.0)


def test_drag_brings_an_orbit_down():
    """da/dt = -rho C A/m a v on a circle, with v relative to the air; the panel's front alone counts."""
    earth = pt.Earth(gravity="central", rotating=False, model="sphere")
    world = pt.World(earth=earth, air=pt.US76())
    a = earth.ellipsoid.a + 300e3
    body = world.add_body("sat", pt.Inertia.sphere(5.0, 0.2), start=pt.Orbit(a))
    body.add(pt.FlatPanel("front", area=0.5, normal=(1, 0, 0)))
    body.add(pt.FlatPanel("back", area=0.5, normal=(-1, 0, 0)))
    run = world.simulate(1000.0, 5.0, every=1000.0, record=["semi_major_axis", "sat.front.drag", "sat.back.drag"])
    rho, v = pt.US76().at(300e3).density, np.sqrt(earth.mu / a)
    lost = run.data.semi_major_axis.sel(body="sat").values
    np.testing.assert_allclose(lost[1] - lost[0], -rho * 2.2 * 0.5 / 5.0 * a * v * 1000.0, rtol=2e-2)
    np.testing.assert_allclose(run.data["sat.front.drag"].values[0, 0], -0.5 * rho * 2.2 * 0.5 * v * v, rtol=1e-9)
    np.testing.assert_array_equal(run.data["sat.back.drag"].values, 0.0)


def test_recorded_elements_and_ground_track():
    earth = pt.Earth(epoch=EPOCH, gravity="central")
    world = pt.World(earth=earth)
    world.add_body("sat", SMALL, start=pt.Orbit(**LEO, mean_anomaly=0.5))
    names = ["semi_major_axis", "eccentricity", "inclination", "node", "argument_of_perigee", "true_anomaly"]
    outputs = {"top": "max(sat.latitude)", "dark": "mean(1 - sat.sunlight)"}
    record = [*names, "latitude", "longitude", "height", "position"]
    run = world.simulate(5700.0, 5.0, every=100.0, record=record, outputs=outputs)
    data = run.data.sel(body="sat")
    for name in names[:-1]:
        np.testing.assert_allclose(data[name], LEO[name], rtol=1e-7)  # of a fourth-order method in 5 s steps
    p = np.asarray(run["sat"].position)
    for k, t in enumerate(run.time):
        place = earth.geodetic(earth.rotation(t).T @ p[k])
        np.testing.assert_allclose([data.latitude[k], data.longitude[k], data.height[k]], place, rtol=1e-12)
    assert abs(float(run.outputs.top) - LEO["inclination"]) < 5e-3  # geodetic, a little more than geocentric
    assert 0 < float(run.outputs.dark) < 0.5


def test_a_place_with_an_epoch():
    """A start at a longitude is there in Earth-fixed axes, wherever the equinox is."""
    earth = pt.Earth(epoch=EPOCH)
    world = pt.World(earth=earth)
    world.add_body("ball", SMALL, start=pt.Start(latitude=0.5, longitude=0.2, altitude=1e3))
    run = world.simulate(1.0, 0.5, record=["latitude", "longitude", "height"])
    first = [float(run.data[name].sel(body="ball")[0]) for name in ("latitude", "longitude", "height")]
    np.testing.assert_allclose(first, [0.5, 0.2, 1e3], rtol=1e-11)


def test_sun_and_moon_pull():
    """Against the sum of the accelerations on the plain equations; the work of the pull is an inflow."""
    from poinsot.environment import almanac, epochs

    earth = pt.Earth(epoch=EPOCH, gravity="central", pulls=("sun", "moon"))
    world = pt.World(earth=earth)
    world.add_body("sat", SMALL, start=pt.Orbit(4.2e7, inclination=0.1))
    run = world.simulate(86400.0, 60.0, every=86400.0)
    start = world.description.started()["sat"]

    def rate(t, y):
        d = epochs.days(EPOCH) + t / 86400
        a = -earth.mu * y[:3] / np.linalg.norm(y[:3]) ** 3
        for name in ("sun", "moon"):
            s = almanac.BODIES[name](d)
            r = s - y[:3]
            a = a + almanac.MU[name] * (r / np.linalg.norm(r) ** 3 - s / np.linalg.norm(s) ** 3)
        return [*y[3:], *a]

    want = solve_ivp(rate, (0, 86400), [*start.position, *start.velocity], "DOP853", rtol=1e-12, atol=1e-6).y[:3, -1]
    found = np.asarray(run["sat"].position)[-1]
    assert np.linalg.norm(found - want) < 0.02
    assert run.ledger.relative_residual.max() < 1e-10


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"eccentricity": 1.0}, "ellipses are supported, from 0 to below 1"),
        ({"eccentricity": -0.1}, "ellipses are supported"),
        ({"eccentricity": 0.1}, r"meets the ground: .* its perigee is 168.137 km below"),
        ({"semi_major_axis": -7e6}, "must be above zero"),
        ({"semi_major_axis": 6.9e3}, "meets the ground"),
        ({"inclination": 98.0}, "np.radians"),
        ({"node": np.nan}, "finite number"),
        ({"rates": (1, 2)}, "three finite numbers"),
        ({"axes": "lvlh"}, "must be one of"),
        ({"true_anomaly": 0.0, "mean_anomaly": 0.0}, "not both"),
        ({"epoch": "2020-01-01"}, "but that of the world is 2026-03-20T12:00:00Z"),
    ],
)
def test_orbits_that_cannot_be(change, words):
    world = pt.World(earth=pt.Earth(epoch=EPOCH))
    with pytest.raises(ValueError, match=words):
        world.add_body("sat", SMALL, start=pt.Orbit(**{**LEO, "semi_major_axis": 6.9e6, **change}))


def test_every_number_is_a_path():
    world = pt.World(earth=pt.Earth(gravity="central"))
    world.add_body("sat", SMALL, start=pt.Orbit(7e6, mean_anomaly=0.0))
    vary = {"sat.start.semi_major_axis": [7e6, 8e6, 9e6], "sat.start.eccentricity": [0.0, 0.1, 0.2]}
    runs = world.simulate(10.0, 1.0, batch=3, vary=vary, record=["semi_major_axis", "eccentricity"])
    np.testing.assert_allclose(runs.data.semi_major_axis.values[-1, :, 0], [7e6, 8e6, 9e6], rtol=1e-12)
    np.testing.assert_allclose(runs.data.eccentricity.values[-1, :, 0], [0, 0.1, 0.2], atol=1e-12)
    for path, values in (("semi_major_axis", [7e6, 6e6]), ("eccentricity", [0.0, 1.5])):
        with pytest.raises(ValueError, match="of instance 1 cannot be"):
            world.simulate(10.0, 1.0, batch=2, vary={f"sat.start.{path}": values})
    again = restore(json.loads(json.dumps(describe(world.description))))
    assert again.bodies["sat"].start.semi_major_axis == 7e6


def test_an_orbit_without_the_earth():
    with pytest.raises(ValueError, match="an orbit needs the Earth"):
        pt.World().add_body("sat", SMALL, start=pt.Orbit(7e6))
