"""Solid motors: grains that burn from their bores and ends, against closed forms and RocketPy."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.spatial import Pose

CURVE = pt.Tabulated([0, 0.1, 1.2, 2.5, 3.6, 3.9], [0, 1500, 2100, 1700, 300, 0])
MASS = 2.955911961392022
GRAINS = {"mass": MASS, "radius": 0.033, "bore": 0.015, "length": 0.12, "grains": 5, "gap": 0.005}
# RocketPy 1.13.0, SolidMotor of these grains with the density 1815 kg/m^3: time [s], mass [kg], radius of the bore and
# length of a grain [m], moments across and along [kg m^2].
ROCKETPY = np.array(
    [
        [0.0, 2.955911961392022, 0.015, 0.12, 0.09689036022648839, 0.0019420341586345584],
        [
            0.5,
            2.5811455098826874,
            0.017406934125651002,
            0.11518613174869806,
            0.08441306181019485,
            0.0017964378916450535,
        ],
        [
            1.3,
            1.7759262168377619,
            0.022312690479646777,
            0.1053746190407064,
            0.057845559044643176,
            0.0014090505677842424,
        ],
        [2.4, 0.6863599599101513, 0.028784434959271535, 0.09243113008145687, 0.0222664590073674, 0.0006580368842442925],
        [
            3.3,
            0.10063913441618139,
            0.0323667111966166,
            0.0852665776067667,
            0.003259715531280915,
            0.00010748179931352579,
        ],
    ]
)


def motor(**fields):
    return pt.SolidMotor("motor", "rocket", **{"thrust": CURVE, **GRAINS, **fields})


def rocket(angular_velocity=(0, 0, 0), gravity=(0, 0, 0), **fields):
    world = pt.World(gravity)
    hull = pt.Pose.from_euler((0, np.pi / 2, 0)) @ pt.Inertia.cylinder(12.0, 0.06, 1.8)
    world.add_body("rocket", hull, angular_velocity=angular_velocity)
    world.add(motor(**{"position": (-0.5, 0, 0), "point": (-0.9, 0, 0), **fields}))
    return world


@pytest.fixture(scope="module")
def flight():
    return rocket((3.0, 0.2, -0.1), (0, 0, -9.81)).simulate(5.0, 0.01, every=0.01)


def test_grains_are_those_of_rocketpy(flight):
    """At the same times; RocketPy interpolates, and its mass is off the impulse by up to 2e-4 of the whole."""
    grain, web = motor(), flight.data["motor.web"].values
    assert grain.impulse == pytest.approx(5670.0)
    assert grain.exhaust_speed == pytest.approx(1918.189741121328)
    assert grain.density == pytest.approx(1815.0)
    across0 = ROCKETPY[0, 4]
    for t, m, r, h, across, along in ROCKETPY:
        w = web[round(t / 0.01)]
        assert (0.015 + w, 0.12 - 2 * w) == pytest.approx((r, h), rel=1e-4)
        inertia = grain.inertia(w)
        assert inertia.mass == pytest.approx(m, abs=2e-4 * MASS)
        np.testing.assert_allclose(np.diag(inertia.moment), [along, across, across], atol=2e-4 * across0)


def test_mass_falls_with_the_impulse(flight):
    """m = m0 (1 - I(t)/I), and nothing is left at the end."""
    t = flight.data.time.values
    thrust = np.interp(t, CURVE.times, CURVE.values)
    impulse = np.concatenate([[0.0], np.cumsum((thrust[1:] + thrust[:-1]) / 2 * 0.01)])
    contents = flight.data["motor.contents"].values
    np.testing.assert_allclose(contents, MASS * (1 - impulse / 5670.0), atol=2e-9)
    np.testing.assert_allclose(flight.data["motor.force"].values[:, 0], thrust, atol=1e-6)
    assert flight.ledger.relative_residual.max() < 1e-6  # of the kinks of the curve


def test_a_row_of_grains_is_the_sum_of_its_grains():
    """Cylinders less their bores, one by one."""
    grain = motor(direction=(0, 0, 1), position=(0.1, 0.2, 0.3))
    w = 0.006
    total = None
    for k in range(5):
        place = Pose(p=(0.1, 0.2, 0.3 + (k - 2) * 0.125))
        h, r = 0.12 - 2 * w, 0.015 + w
        full, bore = (1815.0 * np.pi * a * a * h for a in (0.033, r))
        one = place @ pt.Inertia.cylinder(full, 0.033, h) - place @ pt.Inertia.cylinder(bore, r, h)
        total = one if total is None else total + one
    np.testing.assert_allclose(grain.inertia(w).spatial(), total.spatial(), atol=1e-13)


@pytest.mark.parametrize("sizes", [{}, {"length": 0.02}, {"bore": 0.0, "grains": 1}])
def test_a_layer_is_the_derivative_of_the_grains(sizes):
    grain = motor(direction=(0.6, 0, 0.8), **sizes)
    w, e = np.array(0.004), 1e-7
    a, b = grain.inertia(w - e), grain.inertia(w + e)
    slope = (b.spatial() - a.spatial()) / (b.mass - a.mass)
    np.testing.assert_allclose(grain.layer(w).spatial(), slope, atol=1e-8)


def test_rocket_equation():
    """delta v = c ln(m0/m1) in free space, lit by an input, the thrust scaled by a factor at the same flow.

    The gas on its way to the nozzle has momentum too, here none: the nozzle is where the grains are.
    """
    world = rocket(ignition=pt.Input("fire"), factor=1.1, point=(-0.5, 0, 0))
    world.add_input("fire", 1.0)
    run = world.simulate(4.5, 0.01)
    v = run["rocket"].velocity.values[-1, 0]
    assert v == pytest.approx(1.1 * 5670.0 / MASS * np.log((12.0 + MASS) / 12.0), rel=1e-7)
    world["fire"] = 0.0
    assert world.motion().effects["motor"].rates["clock"] == 0


def test_thrust_grows_as_the_pressure_falls():
    world = pt.World(air=pt.US76())
    world.add_body("rocket", pt.Inertia.sphere(12.0, 0.3), position=(0, 0, 20e3))
    world.add(motor(exit_area=0.01))
    p = world.scene().air("rocket").pressure
    force = world.motion(t=1.2).effects["motor"].shown["force"]
    np.testing.assert_allclose(force, [2100 + 0.01 * (101325.0 - p), 0, 0], rtol=1e-12)
    np.testing.assert_allclose(world.motion(t=5.0).effects["motor"].shown["force"], 0.0)


def test_the_pressure_pushes_at_the_nozzle_along_the_axis():
    """What the exit adds to the wrench is its area times the difference of pressures, and so is the power of it."""
    effects, twist = [], np.array([0.1, -0.2, 0.3, 40.0, 5.0, -6.0])
    for area in (0.0, 0.01):
        world = pt.World(air=pt.US76())
        world.add_body("rocket", pt.Inertia.sphere(12.0, 0.3), position=(0, 0, 20e3), v=twist)
        world.add(motor(exit_area=area, point=(-0.5, 0.2, 0.1), direction=(2.0, 0.3, -0.1)))
        more = world.scene().air("rocket").pressure
        effects.append(world.motion(t=1.2).effects["motor"])
    s = np.array([2.0, 0.3, -0.1]) / np.linalg.norm([2.0, 0.3, -0.1])
    f = 0.01 * (101325.0 - more) * s
    added = effects[1].wrenches["rocket"] - effects[0].wrenches["rocket"]
    F = np.concatenate([np.cross((-0.5, 0.2, 0.1), f), f])
    np.testing.assert_allclose(added, F, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(effects[1].outside["rocket"] - effects[0].outside["rocket"], F, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"case_radius": 0.03}, "radius of the grains of solid motor 'motor' measures 0.033 m, but its case_radius is"),
        ({"case_length": 0.6}, "its row of grains of solid motor 'motor' measures 0.62 m, but its case_length is 0.6"),
        ({"bore": 0.033}, "bore of the grains of solid motor 'motor' measures 0.033 m, but the radius of its grains"),
        ({"thrust": 100.0}, "must be a pt.Tabulated of times"),
        ({"thrust": pt.Tabulated([0, 1], [1, -1])}, "none negative"),
        ({"thrust": pt.Tabulated([0, 1], [0, 0])}, "must be above zero at some time"),
        ({"mass": 0.0}, "mass of solid motor 'motor' must be a number above zero"),
        ({"grains": 0}, "grains of solid motor 'motor' must be a whole number, 1 or more"),
        ({"grains": 2.5}, "whole number"),
        ({"radius": np.nan}, "radius of solid motor 'motor' must be finite"),
    ],
)
def test_wrong_motors(fields, message):
    with pytest.raises(ValueError, match=message):
        motor(**fields)


def test_steps_end_where_the_thrust_has_a_corner():
    """At knots, ignition and burn-out, wherever the steps lie: the errors of RK4 fall with the fourth power of the
    step, from 0.06 mm at 0.15 s. In steps over the corners they were 0.5, 1.2, 0.08 and 0.03 m."""

    def height(method="rk4", step=1.0, tolerance=1e-10):
        world = rocket(gravity=(-9.81, 0, 0), ignition=0.0123)
        run = world.simulate(6.0, step, method=method, tolerance=tolerance)
        return run.data.position.values[-1, 0, 0]

    want, n = height("adaptive", tolerance=1e-14), np.array([41, 82, 164, 328])
    errors = np.abs([height(step=6.0 / k) - want for k in n])
    assert np.all(errors < 4e-4 * (n[0] / n) ** 4)
    assert abs(height("adaptive5") - want) < 1e-7


@pytest.mark.parametrize("method", ["rk4", "adaptive5"])
def test_a_motor_is_lit_within_a_step(method):
    """By a function or a signal at the instant of a known time, also with a curve that begins and ends with a jump."""
    jumps = pt.Tabulated([0.0, 1.0, 2.0], [800.0, 1500.0, 600.0])

    def end(ignition, event=None):
        world = rocket(thrust=jumps, ignition=ignition, point=(-0.5, 0, 0))  # no gas that would have to jump as well
        if event is not None:
            world.add(event)
        run = world.simulate(3.0, 0.07, method=method)
        assert run.ledger.relative_residual.max() < 1e-7
        return run.data.position.values[-1, 0, 0], run.data.velocity.values[-1, 0, 0]

    want = end(0.3217)
    lit = pt.When("go", lambda t, scene: t > 0.3217)
    for found in (end(lambda t, scene: t > 0.3217), end(pt.Signal("go.happened"), lit)):
        np.testing.assert_allclose(found, want, rtol=1e-7)
    speed = motor(thrust=jumps).exhaust_speed * np.log((12.0 + MASS) / 12.0)
    assert want[1] == pytest.approx(speed, rel=1e-7)
