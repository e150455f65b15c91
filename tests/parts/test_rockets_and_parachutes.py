"""Barrowman's rockets against published formulas and RocketPy's numbers; parachutes against their laws."""

import numpy as np
import pytest
from scipy.integrate import quad

import poinsot as pt
from poinsot.spatial import Pose

D = 0.127  # m
NOSE, TAIL = pt.Nose(0.55829, "von karman"), pt.Transition(1.8, 0.06, fore=D, aft=0.087)
FINS = pt.Fins(at=1.6, root=0.12, tip=0.06, span=0.11, sweep=0.06, count=4)
TUBE = pt.Inertia(15.0, (0, 0, 0), np.diag([0.03, 6.3, 6.3]))


def rocket(**options):
    parts = {"nose": NOSE, "fins": FINS, "transitions": TAIL, "tip": (1.0, 0, 0), "diameter": D}
    return pt.Barrowman("aero", **{**parts, **options})


def flying(part, v, altitude=0.0):
    world = pt.World((0, 0, 0), air=pt.US76())
    placement = Pose(R=np.diag([1.0, -1.0, -1.0]), p=(0, 0, altitude))
    world.add_body("rocket", TUBE, placement=placement, v=v).add(part)
    return world


def test_slopes_and_centres_are_those_of_rocketpy():
    """Numbers of RocketPy 1.x for its example Calisto: nose, four fins, tail."""
    np.testing.assert_allclose(NOSE.normal(D, 0.0), (2.0, 0.279145), rtol=1e-12)
    slopes = [float(FINS.normal(D, np.array(M))[0]) for M in (0.0, 0.3, 0.7, 0.95, 1.5)]
    want = [6.2725504922062125, 6.383383748795063, 6.981547058358463, 7.267568856244308, 5.997565244199114]
    np.testing.assert_allclose(slopes, want, rtol=1e-9)
    assert FINS.normal(D, 0.0)[1] - 1.6 == pytest.approx(0.05, rel=1e-12)
    np.testing.assert_allclose(TAIL.normal(D, 0.0), (-1.061442122884246, 1.8 + 0.028130841121495328), rtol=1e-12)
    assert FINS.rolling(D, 0.0)[0] == pytest.approx(7.596727527798322, rel=1e-9)
    shapes = {"cone": 0.3333333333333333, "ogive": 0.23210774134095746, "parabolic": 0.25, "elliptic": 0.5 / 3}
    for shape, place in shapes.items():
        assert pt.Nose(0.5, shape).normal(D, 0.0)[1] == pytest.approx(place, rel=2e-3 if shape == "ogive" else 1e-12)


def test_barrowmans_formula():
    """4 N (s/d)^2/(1 + sqrt(1 + (2 l/(a + b))^2)) (1 + r/(s + r)) of 1966, and 0.466 L of a slender ogive."""
    three = pt.Fins(at=0.5, root=0.1, tip=0.04, span=0.05, sweep=0.05, count=3)
    line = np.hypot(0.05, 0.05 + 0.02 - 0.05)
    want = (1 + 0.03 / 0.08) * 4 * 3 * (0.05 / 0.06) ** 2 / (1 + np.sqrt(1 + (2 * line / 0.14) ** 2))
    assert three.normal(0.06, 0.0)[0] == pytest.approx(want, rel=1e-12)
    assert three.normal(0.06, 0.0)[0] == pytest.approx(5.0662926259786, rel=1e-9)  # RocketPy's
    assert pt.Nose(1.0, "ogive").normal(0.02, 0.0)[1] == pytest.approx(0.466, abs=1e-3)


def test_roll_damping_is_the_sum_over_the_span():
    """Each fin element c dy at the radius y meets p y/V; the body's factor is published: 1.248 for these."""
    r, s, c, t = 0.03, 0.05, 0.1, 0.04
    three = pt.Fins(at=0.5, root=c, tip=t, span=s, sweep=0.05, count=3)
    square = quad(lambda y: (c + (t - c) * (y - r) / s) * y * y, r, r + s)[0]
    slope = three.one(2 * r, 0.0) / three.area  # of one fin, by area, times the cross section
    assert three.rolling(2 * r, 0.0)[1] == pytest.approx(
        -1.2484507344578892 * 3 * slope * square * 2 / (2 * r) ** 2, rel=1e-9
    )


def test_forces_act_at_the_centre_of_pressure():
    """At a small angle the moment about the origin is that of the whole normal force at its centre."""
    part, v = rocket(drag=0.4), np.array([0, 0, 0, 100.0, 0.3, 0.4])
    world = flying(part, v)
    F, air = world.motion().effects["rocket.aero"].wrenches["rocket"], world.scene().air("rocket")
    A, (slope, place) = np.pi * D**2 / 4, part.centre_of_pressure(air.mach)
    k = 0.5 * air.density * A * air.airspeed
    np.testing.assert_allclose(F[3:], k * np.array([-0.4 * 100.0, -slope * 0.3, -slope * 0.4]), rtol=1e-6)
    np.testing.assert_allclose(F[:3], np.cross([1.0 - place, 0, 0], F[3:]), rtol=1e-5, atol=1e-9)


def test_pitching_and_rolling_are_damped_and_cant_rolls():
    assert flying(rocket(), (0, 2.0, 0, 100.0, 0, 0)).motion().vdot[1] < -0.5
    assert flying(rocket(), (20.0, 0, 0, 100.0, 0, 0)).motion().vdot[0] < -10
    canted = rocket(fins=pt.Fins(at=1.6, root=0.12, tip=0.06, span=0.11, sweep=0.06, cant=0.01))
    assert flying(canted, (0, 0, 0, 100.0, 0, 0)).motion().vdot[0] > 10


def test_axes_and_drag_tables():
    """The same rocket along z of its body; drag from a table over Mach or a function."""
    table = pt.Table(([0.0, 1.0],), np.array([0.3, 0.5]))
    for drag in (table, lambda mach: 0.3 + 0.2 * mach):
        F = flying(rocket(drag=drag), (0, 0, 0, 100.0, 1.0, 2.0)).motion().effects["rocket.aero"].wrenches["rocket"]
        up = rocket(drag=drag, axis=(0, 0, 1), tip=(0, 0, 1.0))
        turned = flying(up, (0, 0, 0, 2.0, 1.0, 100.0)).motion().effects["rocket.aero"].wrenches["rocket"]
        np.testing.assert_allclose(turned[3:], F[[5, 4, 3]], rtol=1e-4)  # the density falls with height
        np.testing.assert_allclose(np.linalg.norm(turned[:3]), np.linalg.norm(F[:3]), rtol=1e-3)


def test_nothing_at_rest_and_paths():
    world = flying(rocket(drag=0.4), np.zeros(6))
    assert np.all(world.motion().vdot == 0)
    assert {"rocket.aero.fins.span", "rocket.aero.nose.length", "rocket.aero.drag", "rocket.aero.diameter"} <= set(
        world.paths()
    )
    world["rocket.aero.fins.span"] = 0.2
    assert world["rocket.aero.fins.span"] == 0.2


def dropped(chute, v=(0, 0, 0), **more):
    world = pt.World(gravity=(0, 0, -9.81), air=pt.US76())
    world.add_body("box", pt.Inertia.box(10.0, (0.3, 0.3, 0.3)), position=(0, 0, 500.0), velocity=v, **more)
    world.add(chute)
    return world


def test_terminal_velocity():
    """sqrt(2 m g/(rho CdS)), at the density where it is; the air takes what the fall gives."""
    run = dropped(pt.Parachute("chute", "box", CdS=4.0)).simulate(20.0, 0.01, every=1.0)
    height, v = run["box"].position.values[-1, 2], run["box"].velocity.values[-1, 2]
    density = float(pt.US76().at(height).density)
    assert -v == pytest.approx(np.sqrt(2 * 10.0 * 9.81 / (density * 4.0)), rel=2e-4)  # it sinks into denser air
    assert run.ledger.relative_residual.max() < 1e-7
    assert float(run.data["chute.drag"][-1]) == pytest.approx(10.0 * 9.81, rel=1e-3)


def test_it_opens_at_its_trigger_and_inflates():
    """Below 400 m it opens within 2 s, as the square of the time; a light body stops sooner without added mass."""
    options = {"CdS": 4.0, "trigger": lambda t, scene: scene.air("box").altitude < 400.0, "inflation": 2.0}
    run = dropped(pt.Parachute("chute", "box", added_mass=3.0, **options)).simulate(8.0, 0.005, every=0.05)
    z, opened = run["box"].position.values[:, 2], run.data["chute.opened_at"].values
    first = run.time[np.argmax(opened < 1e9)]
    assert opened[-1] == pytest.approx(first, abs=0.05)
    assert np.interp(-opened[-1], -run.time[::-1], z[::-1]) == pytest.approx(400.0, abs=0.5)
    x = run.data["chute.open"].values
    np.testing.assert_allclose(x, np.clip((run.time - opened[-1]) / 2.0, 0, 1) ** 2, atol=1e-9)
    assert np.all(x[run.time < first] == 0)
    falling = run.time < first
    np.testing.assert_allclose(run["box"].velocity.values[falling, 2], -9.81 * run.time[falling], atol=1e-9)


@pytest.mark.parametrize("method", ["rk4", "adaptive"])
def test_a_parachute_opens_within_a_step(method):
    """A body falls without air resistance until it opens, so the instant is known; the step does not matter."""
    opened, ends = [], []
    for step in (0.05, 0.03, 0.003):
        chute = pt.Parachute("chute", "box", CdS=2.0, trigger=lambda t, s: -s["box"].velocity[2] - 12.3, inflation=1.0)
        run = dropped(chute).simulate(4.2, step, method=method, every=4.2)
        opened.append(float(run.data["chute.opened_at"][-1]))
        ends.append(run.data.position.sel(body="box").values[-1])
    np.testing.assert_allclose(opened, 12.3 / 9.81, rtol=1e-12)
    np.testing.assert_allclose(
        ends, ends[-1:] * 3, atol=2e-3
    )  # m; the end of the inflation is not located, and half a step is 0.3 m


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rocket(diameter=0.0), "diameter of rocket 'aero' must be above zero"),
        (lambda: rocket(nose=pt.Fins()), "nose of rocket 'aero' must be made of pt.Nose"),
        (lambda: rocket(axis=(0, 0, 0)), "axis of rocket 'aero' must point forwards"),
        (lambda: rocket(drag=np.nan), "drag of rocket 'aero' must be finite"),
        (lambda: pt.Barrowman("aero"), "has neither parts nor drag"),
        (lambda: pt.Nose(0.3, "ogiv"), "did you mean 'ogive'"),
        (lambda: pt.Fins(count=2), "count of the fins must be from 3 to 8"),
        (lambda: pt.Fins(span=-1.0), "span of the fins must be above zero"),
        (lambda: pt.Transition(fore=0.1, aft=0.1), "is none; leave it out"),
        (lambda: pt.Parachute("c", CdS=-1.0), "CdS of parachute 'c' must be zero or more"),
        (lambda: pt.Parachute("c", growth=0.0), "growth of parachute 'c' must be above zero"),
        (lambda: pt.Parachute("c", point=(0, 0)), "point of parachute 'c' must be three numbers"),
    ],
)
def test_wrong_parts(make, words):
    with pytest.raises(ValueError, match=words):
        make()
