"""Sensors: what each kind measures, and noise with the spectrum and Allan deviation that were asked for."""

import numpy as np
import pytest
from scipy import signal

import poinsot as pt
from poinsot.control.sensor_kinds import SENSORS
from poinsot.spatial import quaternion


def spinning(*sensors, **start):
    world = pt.World(gravity=(0, 0, -9.81))
    world.add_body("craft", pt.Inertia(2.0, np.zeros(3), np.diag([1.0, 2.0, 2.5])), **start)
    for sensor in sensors:
        world.add(sensor)
    return world


def test_kinds_without_errors_show_the_truth():
    half, mounting = np.sqrt(0.5), (np.sqrt(0.5), 0, 0, np.sqrt(0.5))  # the sensor's x is the body's y
    numbers = {"body": "craft", "sample": 0.1, "mounting": mounting, "point": (0.3, 0.0, 0.0)}
    kinds = ("gyro", "magnetometer", "star tracker", "gps", "gps velocity", "altimeter")
    world = spinning(
        *(pt.Sensor(kind.replace(" ", "_"), kind, field=(0.0, 0.0, 5.0), **numbers) for kind in kinds),
        angular_velocity=(0.3, 0.5, -0.2), position=(1.0, 2.0, 3.0), velocity=(1.0, 0.0, 2.0),
    )  # fmt: skip
    run = world.simulate(1.0, 0.01, every=0.1)
    q, w = run.data.orientation[:, 0], run.data.angular_velocity[:, 0]
    np.testing.assert_allclose(run.data["gyro.out"], np.stack([w[:, 1], -w[:, 0], w[:, 2]], -1), atol=1e-14)
    R = np.stack([quaternion.to_matrix(x) for x in q])
    b = R[:, 2] * 5
    np.testing.assert_allclose(run.data["magnetometer.out"], np.stack([b[:, 1], -b[:, 0], b[:, 2]], -1), atol=1e-13)
    seen = np.stack([quaternion.product(x, (half, 0, 0, half)) for x in q])
    np.testing.assert_allclose(np.abs(np.sum(seen * run.data["star_tracker.out"], -1)), 1.0, atol=1e-14)
    p = run.data.position[:, 0] + 0.3 * R[:, :, 0]
    np.testing.assert_allclose(run.data["gps.out"], p, atol=1e-13)
    np.testing.assert_allclose(run.data["altimeter.out"], p[:, 2], atol=1e-13)
    v = run.data.velocity[:, 0] + np.einsum("tij,tj->ti", R, np.cross(w, [0.3, 0, 0]))
    np.testing.assert_allclose(run.data["gps_velocity.out"], v, atol=1e-13)


def test_accelerometers():
    """Nothing in free fall at the centre of mass, centripetal acceleration beside it, gravity at rest."""
    at = {"kind": "accelerometer", "body": "craft", "sample": 0.1}
    sensors = [pt.Sensor("centre", **at), pt.Sensor("rim", **at, point=(0.5, 0, 0))]
    run = spinning(*sensors, angular_velocity=(0, 0, 3.0), velocity=(1, 2, 3)).simulate(1.0, 0.01, every=0.1)
    np.testing.assert_allclose(run.data["centre.out"], 0.0, atol=1e-12)
    np.testing.assert_allclose(run.data["rim.out"], np.array([-4.5, 0, 0]) * np.ones((11, 1)), atol=1e-12)
    world = pt.World()
    tip = pt.Pose(p=(0, 0, -1)) @ pt.Inertia.sphere(mass=1.0, radius=0.1)
    world.add_body("craft", tip, joint=pt.revolute((0, 1, 0)))
    world.add(pt.Sensor("rest", **at))
    np.testing.assert_allclose(world.simulate(0.1, 0.01).data["rest.out"][-1], [0, 0, 9.81], atol=1e-13)


def test_encoder_with_quantum_limit_and_delay():
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("disc", pt.Inertia.sphere(mass=1.0, radius=0.1), joint=pt.revolute((0, 0, 1)), v=1.0)
    world.add(pt.Sensor("encoder", "encoder", "disc", sample=0.1, quantum=0.25, limit=0.6, delay=0.1))
    world.add(pt.Sensor("tachometer", "tachometer", "disc", sample=0.1, bias=0.5))
    run = world.simulate(1.0, 0.01, every=0.1)
    angle = np.append(0, np.arange(10) * 0.1)
    np.testing.assert_allclose(run.data["encoder.out"], np.rint(np.minimum(angle, 0.6) / 0.25) * 0.25, atol=1e-13)
    np.testing.assert_allclose(run.data["tachometer.out"], 1.5, atol=1e-13)


def noisy(n, duration=200.0, run_seed=None, **errors):
    """The output (samples, n, 3) of a gyro at rest, sampled at 100 Hz."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("craft", pt.Inertia.sphere(mass=1.0, radius=0.1))
    world.add(pt.Sensor("gyro", "gyro", "craft", sample=0.01, **errors))
    return (
        world.simulate(duration, 0.01, batch=n, every=0.01, seed=run_seed, record=["gyro.out"]).data["gyro.out"].values
    )


def allan(x, m):
    """The Allan deviation over m samples: half the mean square difference of neighbouring means."""
    means = x[: len(x) // m * m].reshape(-1, m, *x.shape[1:]).mean(axis=1)
    return np.sqrt(0.5 * np.mean(np.diff(means, axis=0) ** 2))


def test_allan_deviation_and_spectrum():
    white = noisy(8, noise=2e-3)
    for m in (1, 10, 50):
        assert abs(allan(white, m) / (2e-3 / np.sqrt(0.01 * m)) - 1) < 0.02
    _, power = signal.welch(white, fs=100.0, nperseg=256, axis=0)
    np.testing.assert_allclose(power[5:-5].mean(axis=(1, 2)), 2 * 2e-3**2, rtol=0.15)
    assert abs(power[5:-5].mean() / (2 * 2e-3**2) - 1) < 0.02
    walk = noisy(32, random_walk=3e-4)
    for m in (10, 50):
        discrete = np.sqrt(m * 0.01 / 3 * (1 + 1 / (2 * m**2)))  # of a walk in steps; sqrt(tau/3) for many
        assert abs(allan(walk, m) / (3e-4 * discrete) - 1) < 0.02


def test_noise_is_the_same_alone_and_in_a_batch_and_differs_between_instances():
    many = noisy(5, 1.0, noise=1.0)
    assert np.array_equal(many[:, :2], noisy(2, 1.0, noise=1.0))
    assert not np.any(many[:, 0] == many[:, 1])
    alone = noisy(None, 1.0, noise=1.0)
    assert np.array_equal(many[:, 0], alone)
    assert np.array_equal(many[:, 3], noisy(None, 1.0, noise=1.0, instance=3))
    other = noisy(None, 1.0, noise=1.0, seed=1)
    assert not np.any(other == alone)
    assert np.array_equal(noisy(5, 1.0, 1, noise=1.0)[:, 0], other)
    assert np.array_equal(noisy(None, 1.0, 1, noise=1.0), other)


def test_errors_that_are_zero_can_be_varied():
    world = spinning(pt.Sensor("gyro", "gyro", "craft", sample=0.01))
    varied = {"gyro.noise": [0.0, 1.0, 1.0], "gyro.random_walk": [0.0, 0.0, 1.0], "gyro.quantum": [0.0, 0.0, 0.5]}
    out = world.simulate(1.0, 0.01, vary=varied, every=0.01).data["gyro.out"].values
    assert np.all(out[:, 0] == 0)
    assert abs(out[:, 1].std() / 10 - 1) < 0.15
    np.testing.assert_array_equal(out[:, 2] % 0.5, 0)


def test_errors():
    with pytest.raises(ValueError, match="there is no kind 'giro' of sensor, for 's'; did you mean 'gyro'"):
        pt.Sensor("s", "giro")
    with pytest.raises(ValueError, match="has noise, but no sample time"):
        pt.Sensor("s", "gyro", "craft", noise=1.0)
    with pytest.raises(ValueError, match="measures a joint with one coordinate; that of 'craft' has 7"):
        spinning(pt.Sensor("s", "encoder", "craft", sample=0.1)).system()


def flown(kind, wind=(0.0, 0.0, 0.0), **options):
    """A glider of the flat world at 3000 m, nose up by 5 degrees to the horizontal, x forward, z down."""
    world = pt.World(air=pt.US76(), wind=wind)
    level = quaternion.product((0.0, 1.0, 0.0, 0.0), (np.cos(np.radians(2.5)), 0.0, np.sin(np.radians(2.5)), 0.0))
    start = {"position": (0, 0, 3000.0), "velocity": (100.0, 0.0, 0.0), "orientation": level}
    world.add_body("craft", pt.Inertia.sphere(mass=5.0, radius=0.2), **start)
    world.add(pt.Sensor("s", kind, "craft", **options))
    return world.scene()


def test_pitot_vane_and_baro_measure_the_air():
    """US Standard Atmosphere 1976 at 3000 m: 70,121.2 Pa (geometric), 0.90926 kg/m^3, 328.58 m/s."""
    p, p0, a, a0 = 70121.2, 101325.0, 328.583, 340.294
    qc = p * ((1 + 0.2 * (100 / a) ** 2) ** 3.5 - 1)
    calibrated = a0 * np.sqrt(5 * ((qc / p0 + 1) ** (1 / 3.5) - 1))
    np.testing.assert_allclose(flown("pitot").signal("s.out"), calibrated, rtol=1e-5)  # the table has five digits
    np.testing.assert_allclose(flown("vane").signal("s.out"), [np.radians(5.0), 0.0], atol=1e-14)
    beside = flown("vane", wind=(0.0, -10.0, 0.0)).signal("s.out")  # from the right
    np.testing.assert_allclose(np.tan(beside[0]), np.tan(np.radians(5.0)), rtol=1e-13)
    np.testing.assert_allclose(np.sin(beside[1]), 10.0 / np.hypot(100.0, 10.0), rtol=1e-13)
    geopotential = 6356766.0 * 3000.0 / (6356766.0 + 3000.0)
    np.testing.assert_allclose(flown("baro").signal("s.out"), geopotential, rtol=1e-9)
    biased = flown("baro", bias=-5.0, quantum=10.0).signal("s.out")
    assert biased == 2990.0
    with pytest.raises(KeyError, match="the world has no air"):
        spinning(pt.Sensor("s", "pitot", "craft")).system()


def test_calibrations():
    """A rate table found that the gyro reads 2 % too little up to 1 rad/s, and stays at 1.8 rad/s beyond 2 rad/s."""
    table = [[-2.0, -1.0, 1.0, 2.0], [-1.8, -0.98, 0.98, 1.8]]
    for rate, reading in {0.5: 0.49, -1.5: -1.39, 3.0: 1.8}.items():
        sensors = [pt.Sensor(k.split()[0], k, "craft", calibration=table, bias=0.1) for k in ("rate table", "gyro")]
        scene = spinning(*sensors, angular_velocity=(0, 0, rate)).scene()
        np.testing.assert_allclose(scene.signal("rate.out"), reading + 0.1, rtol=1e-14)
        np.testing.assert_allclose(scene.signal("gyro.out"), [0.1, 0.1, reading + 0.1], rtol=1e-14)
    with pytest.raises(ValueError, match="must be two lists of the same length, increasing true values"):
        pt.Sensor("s", "gyro", "craft", calibration=[[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match="measures an attitude; it has no calibration"):
        pt.Sensor("s", "star tracker", "craft", calibration=table)


def test_sensors_around_the_earth():
    """A body that stands on the turning Earth: no speed over ground, the height above the figure, weight less spin."""
    earth = pt.Earth()
    p = earth.ecef(np.radians(40.0), np.radians(10.0), 500.0)
    world = pt.World(earth=earth)
    world.add_body("craft", pt.Inertia.sphere(1.0, 0.1), position=p, velocity=earth.ground_velocity(p))
    for kind in ("gps", "gps velocity", "altimeter"):
        world.add(pt.Sensor(kind.replace(" ", "_"), kind, "craft"))
    world.add_force("ground", "craft", (0.0, 0.0, 5.0))
    scene = world.scene()
    np.testing.assert_allclose(scene.signal("gps.out"), p, rtol=1e-14)
    np.testing.assert_allclose(scene.signal("gps_velocity.out"), 0.0, atol=1e-12)
    np.testing.assert_allclose(scene.signal("altimeter.out"), 500.0, atol=1e-7)
    force = SENSORS["accelerometer"].truth(pt.Sensor("a", "accelerometer", "craft", sample=1.0), scene)
    np.testing.assert_allclose(force, [0, 0, 5.0], atol=1e-12)


def test_a_field_that_changes():
    world = spinning(
        pt.Sensor("m", "magnetometer", "craft", field=lambda t, scene: np.array([0.0, 0.0, 2.0]) * (1 + t))
    )
    np.testing.assert_allclose(world.scene(t=1.0).signal("m.out"), [0, 0, 4.0], rtol=1e-14)
