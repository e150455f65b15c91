"""Rolling and guided bodies in worlds: steady motions of a disc, beads on wires."""

import numpy as np
import pytest

import poinsot as pt

MASS, RADIUS, TILT, PRECESSION = 2.0, 0.3, 1.0, 4.0  # kg, m, rad from the vertical to the axis, rad/s


def disc(slips):
    """A disc in steady precession. About its centre, along the horizontal of its plane,

        (Ia + m R^2) w Omega sin - It Omega^2 sin cos = -m g R cos,

    with the spin w and the tilt of the axis; without friction the centre is at rest, and m R^2 is absent.
    """
    body = pt.Inertia.cylinder(MASS, RADIUS, 1e-3)
    It, Ia = body.moment[0, 0], body.moment[2, 2] + (0 if slips else MASS * RADIUS**2)
    c, s = np.cos(TILT), np.sin(TILT)
    spin = (It * PRECESSION**2 * s * c - MASS * 9.81 * RADIUS * c) / (Ia * PRECESSION * s)
    omega = np.array([0, PRECESSION * s, spin])
    velocity = np.array([spin * RADIUS, 0, 0]) * (0 if slips else -1)
    world = pt.World()
    attitude = (np.cos(TILT / 2), np.sin(TILT / 2), 0, 0)
    start = {"position": (0, 0, RADIUS * s), "orientation": attitude, "angular_velocity": omega, "velocity": velocity}
    world.add_body("disc", body, **start)
    world.close("floor", "world", "disc", pt.rolling(RADIUS, axis=(0, 0, 1), slips=slips))
    return world


@pytest.mark.parametrize("slips", [False, True])
def test_steady_precession_of_a_disc(slips):
    """The tilt stays; the heading turns evenly; a rolling centre goes around in a circle, a sliding one stays."""
    world = disc(slips)
    start = world.start()
    np.testing.assert_allclose(start.v[3:], world.description.bodies["disc"].velocity @ np.eye(3), atol=1.0)
    run = world.simulate(2.0, 1e-3, every=0.1)
    w, x, y, z = run.data.orientation.values[:, 0].T
    axis = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=-1)
    np.testing.assert_allclose(np.arccos(axis[:, 2]), TILT, rtol=0, atol=1e-9)
    heading = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    np.testing.assert_allclose(heading - heading[0], PRECESSION * run.time, rtol=0, atol=1e-8)
    p = run.data.position.values[:, 0]
    speed = np.linalg.norm(run.data.velocity.values[0, 0])
    centre = p[0] + np.array([0, 1, 0]) * speed / PRECESSION * np.sign(run.data.velocity.values[0, 0, 0])
    np.testing.assert_allclose(np.linalg.norm(p - centre, axis=1), speed / PRECESSION, rtol=0, atol=1e-8)
    assert run.ledger.relative_residual.max() < 1e-9
    force = run.data["floor.force"].values[:, 3:]
    needed = MASS * np.hypot(9.81, speed * PRECESSION)
    np.testing.assert_allclose(np.linalg.norm(force, axis=1), needed, rtol=1e-8)


def circle(s):
    return np.stack([0.5 * np.sin(s), 0.0 * s, 0.5 - 0.5 * np.cos(s)])


def bead(curve, span, **start):
    world = pt.World()
    world.add_particle("bead", 0.2, **start)
    world.close("wire", "world", "bead", pt.on_curve(curve, span))
    return world


def test_a_bead_on_a_helix():
    """Its height falls as g b^2/(a^2 + b^2) t^2/2."""
    run = bead(lambda s: (0.3 * np.cos(s), 0.3 * np.sin(s), 0.1 * s), (-30.0, 5.0), position=(0.3, 0, 0)).simulate(
        1.0, 1e-3
    )
    p = run.data.position.values[-1, 0]
    assert p[2] == pytest.approx(-0.5 * 9.81 * 0.01 / 0.1, abs=1e-9)
    np.testing.assert_allclose(p[:2], 0.3 * np.array([np.cos(p[2] / 0.1), np.sin(p[2] / 0.1)]), rtol=0, atol=1e-13)
    assert run.ledger.relative_residual.max() < 1e-9


def test_a_bead_on_a_table_of_a_circle_is_a_pendulum():
    """Periodic cubic splines through 200 points: the curve is a circle to 1e-9 or so."""
    s = np.linspace(-np.pi, np.pi, 201)
    points = np.stack([0.5 * np.sin(s), 0 * s, 0.5 - 0.5 * np.cos(s)], axis=-1)
    points[-1] = points[0]
    table = pt.Table(s, points, method="cubic", outside="periodic")
    start = {"position": (0.5 * np.sin(2.0), 0, 0.5 - 0.5 * np.cos(2.0))}
    runs = [bead(f, (-np.pi, np.pi), **start).simulate(1.5, 1e-3, every=0.1) for f in (table, circle)]
    np.testing.assert_allclose(runs[0].data.position, runs[1].data.position, rtol=0, atol=1e-6)
    energy = runs[1].data.energy.values
    np.testing.assert_allclose(energy, energy[0], rtol=0, atol=1e-9)


def test_numbers_of_a_rolling_body_are_free():
    world = pt.World(gravity=(1.0, 0, -9.81))
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 0.1))
    world.close("floor", "world", "ball", pt.rolling(0.1))
    runs = world.simulate(0.2, 1e-2, vary={"floor.radius": [0.1, 0.2]})
    np.testing.assert_allclose(runs.data.position.values[-1, :, 0, 2], (0.1, 0.2), rtol=0, atol=1e-14)
    k = 0.4 * 0.01 / np.array([0.1, 0.2]) ** 2
    np.testing.assert_allclose(runs.data.position.values[-1, :, 0, 0], 0.5 * 0.04 / (1 + k), rtol=1e-9)
