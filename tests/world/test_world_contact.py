"""Ground contact: a dropped box comes to rest, balls and wheels slip and roll, a foot stands."""

import numpy as np
import pytest
from world_models import G, close

import poinsot as pt
from poinsot.spatial import quaternion

# Steps are shorter than m slip / (mu f), the time in which friction acts.
CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / 2


def dropped_box(height: float = 0.35, **contact: float) -> tuple[pt.World, float]:
    size, mass = np.array([0.4, 0.3, 0.2]), 5.0
    world = pt.World()
    tilt = quaternion.exp(np.array([0.3, -0.2, 0.5]))
    world.add_body("box", pt.Inertia.box(mass, size), position=(0, 0, height), orientation=tilt, velocity=(0.5, 0, 0))
    world.add_contact("feet", "box", CORNERS * size, **contact)
    return world, mass


def test_dropped_box_comes_to_rest():
    """It lies on one face, as deep in the ground as its weight demands, m g / (4 k), and stays."""
    world, mass = dropped_box(stiffness=2e4, damping=1.0, slip=0.05)
    run = world.simulate(6.0, 1e-4, every=0.02)
    late = run.time > 5.0
    z = run["box"].position.values[late, 2]
    half = np.array([0.2, 0.15, 0.1])
    lies_on = half[np.argmin(np.abs(half - z[-1]))]
    assert lies_on - z[-1] == pytest.approx(mass * G / (4 * 2e4), rel=1e-6)
    assert np.ptp(z) < 1e-9
    assert np.abs(run["box"].velocity.values[late]).max() < 1e-8
    close(run.observed(["feet.force"])["feet.force"][-1], [0, 0, mass * G], 1e-6)
    # Nothing but friction and damping acts: energy goes one way only, up to the error of the scheme at the impacts.
    energy = run.data.energy.values
    assert np.diff(energy).max() < 1e-7 * energy[0]
    assert run.ledger.relative_residual.max() < 1e-5  # the force sets in with a corner: the scheme loses order


def test_ledger_of_an_impact_closes_with_finer_steps():
    world, _ = dropped_box(stiffness=2e4, damping=1.0, slip=0.05)
    left = [world.simulate(1.0, h).ledger.relative_residual.max() for h in (1e-3, 1e-4)]
    assert left[1] < 0.02 * left[0]  # the corner, met at random within a step, leaves second order


@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_ball_bounces(damping):
    """Hunt and Crossley: nothing is lost without damping; with it, a law links the speeds v before and w after.

    For f = k d (1 + c d'): v + w = ln((1 + c v) / (1 - c w)) / c, the integral of m u du = -k d (1 + c u) dd.
    """
    radius, v = 0.1, 3.0
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("ball", pt.Inertia.sphere(1.0, radius), position=(0, 0, 0.15), velocity=(0, 0, -v))
    world.add_contact("skin", "ball", (0, 0, 0), radius=radius, stiffness=1e4, damping=damping, friction=0.0)
    run = world.simulate(0.2, 1e-5)
    w = float(run["ball"].velocity[-1, 2])
    if damping == 0.0:
        assert w == pytest.approx(v, rel=1e-6)  # the corner where the force sets in
    else:
        assert v + w == pytest.approx(np.log((1 + damping * v) / (1 - damping * w)) / damping, rel=1e-6)
        assert 0 < w < 0.7 * v


def test_ball_slips_then_rolls_at_five_sevenths():
    """A solid ball thrown along the ground: friction mu m g until v = w r, which is at 2 v0 / (7 mu g), at 5/7 v0."""
    radius, v0, mu = 0.1, 2.0, 0.3
    mass, k = 1.0, 1e5
    world = pt.World()
    z = radius - mass * G / k
    world.add_body("ball", pt.Inertia.sphere(mass, radius), position=(0, 0, z), velocity=(v0, 0, 0))
    world.add_contact("skin", "ball", (0, 0, 0), radius=radius, stiffness=k, friction=mu, slip=1e-3)
    run = world.simulate(1.0, 5e-5)
    v, omega = run["ball"].velocity[:, 0].values, run["ball"].angular_velocity[:, 1].values
    assert v[-1] == pytest.approx(5 / 7 * v0, rel=1e-3)  # the ball sinks in by 1e-4 of a metre
    assert omega[-1] * radius == pytest.approx(v[-1], rel=1e-3)
    slipping = run.time < 0.9 * 2 * v0 / (7 * mu * G)
    close(v[slipping], v0 - mu * G * run.time[slipping], 1e-5)  # (slip/v)^2 / 2
    # Angular momentum about any point of the ground is kept, whatever the friction.
    ground = mass * v * z + 0.4 * mass * radius**2 * omega
    close(ground, np.full_like(ground, ground[0]), 1e-3)


def test_wheel_rolls_straight():
    r, v0 = 0.3, 3.0
    world = pt.World()
    mass, k = 2.0, 1e6
    z = r - mass * G / k
    world.add_body(
        "wheel", pt.Inertia.cylinder(mass, r, 1e-3), position=(0, 0, z), velocity=(v0, 0, 0),
        orientation=quaternion.exp(np.array([np.pi / 2, 0, 0])), angular_velocity=(0, 0, -v0 / r),
    )  # fmt: skip
    world.add_contact("rim", "wheel", (0, 0, 0), radius=r, axis=(0, 0, 1), stiffness=k, friction=0.9, slip=1e-3)
    run = world.simulate(1.0, 5e-5)
    p = run["wheel"].position.values
    close(p[:, 0], v0 * run.time, 1e-4)  # it rolls on a radius that is smaller by m g / k
    close(p[:, 1:], np.broadcast_to([0, z], (len(p), 2)), 1e-9)


def test_wheel_circles_at_the_rate_of_a_rolling_disc():
    """A thin disc that leans by a and rolls in a circle, precessing at the rate p, with the spin w about its axis n.

    Its centre moves with the velocity r w across n, so the ground pushes with m (g, p r w); its torque about the
    centre is the rate of H = A p cos(a) e + C w n, which precesses:
    A p^2 sin(a) cos(a) - C p w cos(a) = m g r sin(a) + m r^2 p w cos(a).
    """
    r, a, p, mass, k = 0.3, 0.3, 2.0, 2.0, 1e7
    A, C = mass * r**2 / 4, mass * r**2 / 2
    spin = (A * p**2 * np.sin(a) - mass * G * r * np.tan(a)) / ((C + mass * r**2) * p)
    n = np.array([0.0, np.cos(a), np.sin(a)])  # the axis of the disc, at the start
    down = np.array([0.0, np.sin(a), -np.cos(a)])  # from the centre to the contact
    omega = p * (np.array([0, 0, 1.0]) - np.sin(a) * n) + spin * n
    v = np.cross(omega, -r * down)
    R = np.column_stack([np.cross(-down, n), -down, n])
    world = pt.World()
    z = r * np.cos(a) - mass * G / k
    world.add_body(
        "disc", pt.Inertia(mass, np.zeros(3), np.diag([A, A, C])), position=(0, 0, z), velocity=v,
        orientation=quaternion.from_matrix(R), angular_velocity=R.T @ omega,
    )  # fmt: skip
    wheel = {"radius": r, "axis": (0, 0, 1), "stiffness": k, "damping": 0.1, "friction": 2.0, "slip": 2e-3}
    world.add_contact("rim", "disc", (0, 0, 0), **wheel)
    run = world.simulate(np.pi / p, 5e-5)
    axis = np.array([quaternion.to_matrix(q)[:, 2] for q in run["disc"].orientation.values])
    close(np.arcsin(axis[:, 2]), np.full(len(axis), a), 5e-4)  # it stays tilted, while the axis turns by half a turn
    close(axis[-1, :2], -n[:2], 3e-3)  # it creeps, in proportion to slip: 1.3e-3 with half of it


def test_foot_stands_on_a_slope_and_slides_where_it_is_too_steep():
    """On a slope of the angle a friction holds if tan(a) < mu, up to a creep of slip tan(a)/sqrt(mu^2 - tan(a)^2)."""
    mu, slip, runs = 0.5, 1e-3, {}
    for a in (0.3, 0.6):
        normal = np.array([np.sin(a), 0, np.cos(a)])
        world = pt.World()
        tilt = quaternion.exp(np.array([0, a, 0]))
        world.add_body("foot", pt.Inertia.box(1.0, (0.4, 0.3, 0.02)), position=0.01 * normal, orientation=tilt)
        sole = CORNERS[CORNERS[:, 2] < 0] * (0.4, 0.3, 0.02)
        world.add_contact("sole", "foot", sole, stiffness=1e5, damping=2.0, friction=mu, slip=slip, normal=normal)
        runs[a] = world.simulate(1.0, 1e-4)
    speed = {a: np.linalg.norm(run["foot"].velocity[-1]) for a, run in runs.items()}
    assert speed[0.3] == pytest.approx(slip * np.tan(0.3) / np.sqrt(mu**2 - np.tan(0.3) ** 2), rel=1e-3)
    assert speed[0.6] == pytest.approx(G * (np.sin(0.6) - mu * np.cos(0.6)), rel=1e-2)
    assert np.abs(runs[0.3]["foot"].angular_velocity[-1]).max() < 1e-6


def test_ground_can_lie_at_another_height():
    world = pt.World()
    world.add_particle("stone", 2.0, (0, 0, 3.2))
    world.add_contact("skin", "stone", (0, 0, 0), height=3.0, stiffness=1e4, damping=1.0)
    run = world.simulate(8.0, 1e-3)
    close(run["stone"].position[-1, 2], 3.0 - 2.0 * G / 1e4, 1e-6)
