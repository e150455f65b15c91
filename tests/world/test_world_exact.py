"""Worlds from end to end against motions that are known in closed form."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk
from world_models import NOTHING, G, close, order_of, rod, same_orientation

import poinsot as pt
from poinsot.body.exact import FreeTop, HeavyTop
from poinsot.spatial import quaternion


def test_pendulum_swings_as_jacobi_says():
    """sin(theta/2) = k sn(K + w t), k = sin(theta_0/2), from rest at theta_0; a rod, w^2 = 3 g / (2 l)."""
    length, start = 0.8, 2.5  # a wide swing
    world = pt.World()
    world.add_body("rod", rod(1.3, length), joint=pt.revolute((0, 1, 0)), q=start)
    run = world.simulate(5.0, 1e-3)
    inertia = rod(1.3, length)
    about = inertia.moment[1, 1] + inertia.mass * (length / 2) ** 2
    w = np.sqrt(inertia.mass * G * length / 2 / about)
    k = np.sin(start / 2)
    expected = 2 * np.arcsin(k * ellipj(ellipk(k**2) + w * run.time, k**2)[0])
    close(run.data.q[:, 0], expected, 1e-9)  # RK4 at 1 ms; ellipj itself is good to some 1e-13
    assert run.ledger.relative_residual.max() < 1e-9


@pytest.mark.parametrize("method", ["rk4", "splitting4", "poinsot", "poinsot4"])
def test_free_top(method):
    """Jacobi's solution for three different moments, near the middle axis; the centre flies straight on."""
    inertia = pt.Inertia.box(2.0, (0.1, 0.2, 0.3))
    q0, omega = quaternion.normalize(np.array([1.0, 0.2, -0.3, 0.5])), np.array([0.01, 3.0, 0.02])
    world = pt.World(gravity=NOTHING)
    world.add_body("box", inertia, orientation=q0, velocity=(0.1, 0.2, 0.3), angular_velocity=omega)
    run = world.simulate(10.0, 1e-3, method=method, every=0.5)
    top = FreeTop(inertia, q0, omega)
    # "poinsot" moves a free body exactly, so that only rounding is left, which grows near the separatrix.
    tolerance = {"rk4": 1e-7, "splitting4": 1e-7, "poinsot": 1e-9, "poinsot4": 1e-9}[method]
    same_orientation(run["box"].orientation, top.orientation(run.time), tolerance)
    close(run["box"].angular_velocity, top.angular_velocity(run.time), tolerance)
    straight = run.time[:, None] * np.array([0.1, 0.2, 0.3])
    close(run["box"].position, straight, 1e-10 if method == "rk4" else 1e-12)  # RK4 turns the velocity with the body
    if method != "rk4":
        assert run.ledger.relative_residual[:3].max() < 2e-11


def test_heavy_top():
    """A spinning cone-like body on a spherical joint, its centre of mass above the point that is held."""
    mass, height, A, C = 0.5, 0.04, 1.2e-3, 4e-4
    about_com = np.diag([A - mass * height**2, A - mass * height**2, C])
    inertia = pt.Inertia(mass, np.array([0, 0, height]), about_com)
    top = HeavyTop.from_euler(A, C, mass * G * height, angles=(0.2, 0.5, 0.1), rates=(0.5, 0.3, 180.0))
    world = pt.World()
    world.add_body("top", inertia, joint=pt.spherical(), orientation=top.q0, angular_velocity=top.omega0)
    run = world.simulate(2.0, 1e-4, every=0.05)
    same_orientation(run["top"].orientation, top.orientation(run.time), 1e-7)
    close(run["top"].angular_velocity, top.angular_velocity(run.time), 1e-7)
    energy = run.data.energy.values
    close(energy, np.full_like(energy, top.energy), 1e-9)
    assert run.ledger.relative_residual.max() < 1e-8


@pytest.mark.parametrize("method", ["splitting4", "rk4"])
def test_two_bodies_on_a_spring_swing_in_their_normal_mode(method):
    """Two bodies on a line press the spring between them together and stretch it: the relative motion swings with
    w^2 = k (1/m1 + 1/m2), while the centre of mass moves on."""
    m1, m2, k, rest = 2.0, 3.0, 50.0, 0.5
    world = pt.World(gravity=NOTHING)
    world.add_body("left", pt.Inertia.sphere(m1, 0.1), position=(0, 0, 0), velocity=(1.5, 0, 0))
    world.add_body("right", pt.Inertia.sphere(m2, 0.1), position=(rest, 0, 0), velocity=(-0.5, 0, 0))
    world.add_spring("bumper", "left", "right", k, rest)
    run = world.simulate(2.0, 1e-3, method=method)
    w, centre_velocity = np.sqrt(k * (1 / m1 + 1 / m2)), (m1 * 1.5 - m2 * 0.5) / (m1 + m2)
    gap = rest - 2.0 / w * np.sin(w * run.time)
    centre = m2 * rest / (m1 + m2) + centre_velocity * run.time
    close(run["left"].position[:, 0], centre - m2 / (m1 + m2) * gap, 1e-9)
    close(run["right"].position[:, 0], centre + m1 / (m1 + m2) * gap, 1e-9)
    assert run.ledger.relative_residual.max() < 1e-9


def test_bodies_bounce_off_each_other():
    """A bumper that only pushes: after the encounter two equal bodies have exchanged their velocities."""

    def bumper(length, rate, stiffness, rest_length, damping):
        return np.where(length < rest_length, stiffness * (length - rest_length), 0.0)

    world = pt.World(gravity=NOTHING)
    world.add_particle("a", 1.0, (0, 0, 0), (1.0, 0, 0))
    world.add_particle("b", 1.0, (1.0, 0, 0), (-0.25, 0, 0))
    world.add(pt.Spring("bumper", "a", "b", 400.0, 0.3, tension=bumper))
    run = world.simulate(2.0, 1e-4, method="rk4")
    # They part at 0.56 s plus half a swing; the corner of the law, where it sets in, costs the scheme its order.
    close(run["a"].velocity[-1], [-0.25, 0, 0], 1e-7)
    close(run["b"].velocity[-1], [1.0, 0, 0], 1e-7)
    together = np.pi / np.sqrt(400.0 * 2)
    close(run["a"].position[-1, 0], 0.56 + 0.375 * together - 0.25 * (2.0 - 0.56 - together), 1e-6)


def kepler(a: float, e: float, mu: float, t: np.ndarray) -> np.ndarray:
    """Positions (..., 2) on the ellipse, from the pericentre at t = 0, by Kepler's equation M = E - e sin E."""
    M = np.sqrt(mu / a**3) * t
    E = M.copy()
    for _ in range(50):
        E = E - (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
    return np.stack([a * (np.cos(E) - e), a * np.sqrt(1 - e**2) * np.sin(E)], axis=-1)


@pytest.mark.parametrize("method", ["splitting4", "rk4"])
def test_particle_on_keplers_ellipse(method):
    mu, a, e = 4.0, 1.5, 0.3
    centre = np.array([0.3, -0.2, 0.1])
    world = pt.World(gravity=pt.CentralGravity(mu=mu, centre=centre))
    speed = np.sqrt(mu / a * (1 + e) / (1 - e))
    world.add_particle("moon", 0.7, centre + (a * (1 - e), 0, 0), (0, speed, 0))
    run = world.simulate(2 * np.pi * np.sqrt(a**3 / mu), 1e-3, method=method)
    close(run["moon"].position[:, :2], kepler(a, e, mu, run.time) + centre[:2], 1e-8)
    assert run.ledger.relative_residual.max() < 1e-9


def test_long_satellite_swings_about_the_vertical():
    """Small libration in the plane of a circular orbit: w^2 = 3 n^2 (B - A)/C, with A about the long axis, C across the
    orbit (Hughes, Spacecraft Attitude Dynamics, section 9.3). Its period is measured from zero crossings."""
    mu, r, tilt = 1.0, 1.0, 1e-4
    n = np.sqrt(mu / r**3)
    # So small that its own size does not disturb the orbit, and so heavy that its moments are no rounding.
    moment = 1e-8 * np.diag([0.2, 1.0, 1.0])
    world = pt.World(gravity=pt.CentralGravity(mu=mu))
    world.add_body(
        "bar",
        pt.Inertia(1.0, np.zeros(3), moment),
        position=(r, 0, 0),
        velocity=(0, n * r, 0),
        orientation=(np.cos(tilt / 2), 0, 0, np.sin(tilt / 2)),
        angular_velocity=(0, 0, n),
    )
    run = world.simulate(25.0, 2e-3, every=2e-3)
    q = run["bar"].orientation.values
    yaw = np.unwrap(2 * np.arctan2(q[:, 3], q[:, 0]))
    swing = yaw - np.unwrap(np.arctan2(run["bar"].position[:, 1], run["bar"].position[:, 0]))
    k = np.flatnonzero((swing[:-1] > 0) & (swing[1:] <= 0))
    crossings = run.time[k] - swing[k] * (run.time[k + 1] - run.time[k]) / (swing[k + 1] - swing[k])
    measured = 2 * np.pi / np.diff(crossings).mean()
    assert measured == pytest.approx(n * np.sqrt(3 * (1.0 - 0.2) / 1.0), rel=1e-5)  # tilt^2, and size^2
    assert np.abs(swing).max() < 1.01 * tilt
    assert run.ledger.relative_residual.max() < 1e-11


def test_large_body_in_central_gravity_feels_the_sum_over_its_points():
    """MacCullagh's energy, force and torque against a body of eight points: what is left out falls with (size/r)^4."""
    rng = np.random.default_rng(3)
    masses, points = rng.uniform(0.5, 1.5, 8), rng.standard_normal((8, 3))
    at, errors = np.array([10.0, -4.0, 7.0]), []
    for size in (0.02, 0.01, 0.005):
        body = pt.Inertia.points(masses, size * points)
        world = pt.World(gravity=pt.CentralGravity(mu=2.0))
        X = pt.Pose.from_quaternion(quaternion.normalize(np.array([1.0, 0.4, -0.2, 0.7])), at)
        world.add_body("rock", body, position=X.p, orientation=X.quaternion())
        effect = world.motion().effects["gravity"]
        r = [X @ p for p in size * points]
        f = [-2.0 * m * x / np.linalg.norm(x) ** 3 for m, x in zip(masses, r, strict=True)]
        moment = sum(np.cross(p, X.R.T @ F) for p, F in zip(size * points, f, strict=True))
        expected = np.concatenate([moment, X.R.T @ sum(f)])
        U = -sum(2.0 * m / np.linalg.norm(x) for m, x in zip(masses, r, strict=True))
        off = np.abs(effect.wrenches["rock"] - expected)
        errors.append([off[3:].max(), off[:3].max(), abs(effect.stored - U)])
    force, torque, energy = np.array(errors).T
    assert order_of(force) > 2.9  # the next term of the force, of third order in the size
    assert order_of(torque) > 2.9
    assert order_of(energy) > 2.9


@pytest.mark.parametrize(("method", "order"), [("euler", 1), ("semi-implicit euler", 1), ("midpoint", 2), ("rk4", 4)])
def test_order_on_a_spherical_pendulum(method, order):
    world = pt.World()
    tilt = quaternion.exp(np.array([0.5, 0.8, 0.0]))
    world.add_body("bob", rod(1.0, 0.6), joint=pt.spherical(), q=tilt, v=(0.2, 0.4, 3.0))
    fine = world.simulate(0.5, 1e-4, method="rk4", every=0.5, ledger=False).y[-1]
    steps = {1: 4e-4, 2: 4e-3, 4: 2e-2}[order] / 2.0 ** np.arange(3)
    errors = [np.abs(world.simulate(0.5, h, method=method, every=0.5, ledger=False).y[-1] - fine).max() for h in steps]
    assert order_of(np.array(errors)) == pytest.approx(order, abs=0.25)


@pytest.mark.parametrize(("method", "order"), [("splitting", 2), ("poinsot", 2), ("splitting4", 4), ("poinsot4", 4)])
def test_order_on_free_bodies(method, order):
    world = pt.World()
    world.add_body("a", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), angular_velocity=(1.0, 2.0, 0.5))
    world.add_particle("b", 0.5, (0.6, 0, 0.1))
    world.add_spring("s", "a", "b", 30.0, 0.3, 0.1, point_a=(0.05, 0.1, 0.1))
    fine = world.simulate(0.5, 2e-4, method="rk4", every=0.5, ledger=False).y[-1]
    steps = {2: 1e-2, 4: 2.5e-2}[order] / 2.0 ** np.arange(3)
    errors = [np.abs(world.simulate(0.5, h, method=method, every=0.5, ledger=False).y[-1] - fine).max() for h in steps]
    assert order_of(np.array(errors)) == pytest.approx(order, abs=0.3)
