"""A patch that spins does not hold: slip and spin share one limit of friction (Contensou). The tippe top follows."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.contact.pressing import Pressed
from poinsot.spatial import shapes

G = 9.81


def test_slip_and_spin_of_a_ball_against_their_equations():
    """With r = torsion/mu and D = sqrt(u^2 + (r w)^2): m u' = -7/2 mu m g u/D, I w' = -mu m g r (r w)/D."""
    mu, torsion, m, R = 0.3, 0.003, 1.0, 0.1
    r, start = torsion / mu, {"velocity": (0.5, 0, 0), "angular_velocity": (0, 0, 60)}

    def slope(t, y):
        u, w = y
        D = np.hypot(u, r * w)
        return [-3.5 * mu * G * u / D, -mu * G * r * (r * w) / D / (0.4 * R * R)]

    times = np.linspace(0, 0.15, 4)
    u, w = solve_ivp(slope, (0, times[-1]), (0.5, 60.0), t_eval=times, rtol=1e-10, atol=1e-12).y
    world = pt.World()
    world.add_ground(surface=pt.Material(1e5, 0.5, mu, torsion=torsion))
    world.add_body("ball", pt.Inertia.sphere(m, R), position=(0, 0, R - m * G / 1e5), **start)
    data = world.simulate(times[-1], 2.5e-5, every=0.05, ledger=False).data
    turn = np.array([pt.Pose.from_quaternion(q).R for q in data.orientation.values[:, 0]])
    spin = np.einsum("nij,nj->ni", turn, data.angular_velocity.values[:, 0])
    np.testing.assert_allclose(data.velocity.values[:, 0, 0] - R * spin[:, 1], u, rtol=0, atol=1e-4 * 0.5)
    np.testing.assert_allclose(spin[:, 2], w, rtol=0, atol=1e-4 * 60)  # the order of the step, and elastic springs


@pytest.mark.parametrize("seed", range(20))
def test_the_limit_holds_and_resistances_are_never_negative(seed):
    rng = np.random.default_rng(seed)
    law = pt.Material(1e4, 0.5, *rng.uniform(0.05, 1.0, 1), torsion=rng.uniform(1e-4, 0.02), rolling=0.001)
    points, depths = rng.normal(size=(4, 3)) * 0.1, rng.uniform(-1e-3, 3e-3, 4)
    n = np.array([0.0, 0.0, 1.0])
    patch = Pressed(n, points * (1, 1, 0), depths, np.zeros(3), rng.normal(size=3) * 1e-3, rng.normal(size=3) * 0.1)
    W = rng.normal(size=6) * rng.choice([1e-3, 0.1, 10.0])
    grip = patch.grip(law, 1e-3, W)
    F = patch.wrench(grip, patch.speeds(W))
    f_n = F[5]
    at_centre = F[:3] - np.cross(patch.found.centre, F[3:])
    spread = [np.sum((p[:2] - patch.found.centre[:2]) ** 2) for p in points]
    radius = np.sqrt(max(spread)) + law.torsion / law.friction  # at most
    assert f_n >= 0
    assert np.hypot(np.linalg.norm(F[3:5]), at_centre[2] / radius) <= law.friction * f_n * (1 + 1e-9)
    assert min(grip.along, grip.turning.about, grip.turning.across, *grip.apart) >= 0


# The tippe top: a ball of radius R whose centre of mass is alpha R below its centre, A and C its moments of inertia
# across and along its axis. With a = the contact point as seen from the centre of mass, L a is constant whatever force
# acts there (Jellett). It turns over if 1 - alpha < A/C < 1 + alpha and L a is above a threshold; Rauch-Wojciechowski,
# Skoeldstam and Glad, Regular and Chaotic Dynamics 10 (2005).
R, ALPHA, MASS, C = 0.02, 0.3, 0.02, 3.2e-6
TORSION = 6e-5


def tippe_top(spin=150.0, ratio=1.0, tilt=0.1, torsion=TORSION):
    world = pt.World()
    world.add_ground(surface=pt.Material(2e4, 1.0, 0.3, torsion=torsion))
    ball = pt.Collider(shapes.Sphere(R), pt.Pose(p=(0, 0, ALPHA * R)))
    start = {
        "position": (0, 0, R - ALPHA * R * np.cos(tilt) - MASS * G / 2e4),
        "orientation": (np.cos(tilt / 2), 0, np.sin(tilt / 2), 0),
        "angular_velocity": (0, 0, spin),
    }
    world.add_body("top", pt.Inertia(MASS, np.zeros(3), np.diag([ratio * C, ratio * C, C])), **start, shapes=[ball])
    return world


def followed(world, ratio=1.0, duration=2.5, step=2e-4, **options):
    """The cosine of the tilt of its axis, and Jellett's integral over its threshold, at some times."""
    run = world.simulate(duration, step, every=0.25, **options)
    turn = [pt.Pose.from_quaternion(q).R for q in run.data.orientation.values[:, 0]]
    cosines, jellett = [], []
    threshold = np.sqrt(MASS * G * R**3 * C * ALPHA) * (1 + ALPHA) ** 2 / np.sqrt(abs(1 + ALPHA - ratio))
    for T, omega in zip(turn, run.data.angular_velocity.values[:, 0], strict=True):
        L, a = T @ (np.array([ratio * C, ratio * C, C]) * omega), ALPHA * R * T[:, 2] - np.array([0, 0, R])
        cosines.append(T[2, 2])
        jellett.append(-(L @ a) / threshold)
    return np.array(cosines), np.array(jellett), run


def test_a_tippe_top_turns_over():
    cosines, jellett, run = followed(tippe_top())
    assert cosines[0] > 0.99
    assert jellett[0] > 1.5
    assert cosines[-1] < -0.95
    assert run.data.position.values[-1, 0, 2] > 1.25 * R  # its centre of mass has risen, on what spin has lost
    assert np.all(run.ledger.relative_residual < 1e-11)
    assert abs(run.ledger.share_of("numerical")[3]) < 0.01


def test_jelletts_integral_changes_by_the_moment_of_spin_alone():
    """Forces at the point of contact do not change it; the moment about the normal, torsion f_n at most, does."""
    _, jellett, run = followed(tippe_top())
    most = TORSION * MASS * G * R * (1 + ALPHA)  # N m^2: the rate of L a
    lost = (1 - jellett / jellett[0]) * C * 150.0 * R * (1 - ALPHA * np.cos(0.1))
    assert np.all(lost >= 0)
    assert np.all(lost[1:] <= 1.01 * most * run.time[1:])
    assert jellett[5] > 0.99 * jellett[0]  # while it turns over, it slides more than it spins


@pytest.mark.parametrize(("spin", "ratio"), [(60.0, 1.0), (150.0, 0.6), (150.0, 1.5)])
def test_a_top_that_spins_too_slowly_or_is_too_long_or_flat_does_not(spin, ratio):
    cosines, jellett, _ = followed(tippe_top(spin, ratio), ratio, ledger=False)
    assert jellett[0] < 1 or not 1 - ALPHA < ratio < 1 + ALPHA
    assert cosines.min() > -0.6
    if ratio == 0.6:
        assert cosines.min() > 0.99  # upright is stable


def test_without_the_coupling_it_holds_and_stays():
    """At a point contact without a radius friction sticks, and a top that rolls does not turn over."""
    cosines, _, _ = followed(tippe_top(torsion=0.0), duration=2.0, step=1e-4, ledger=False)
    assert cosines.min() > 0.9
