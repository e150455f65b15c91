"""Air data: angles, speeds and pressures, their limits and their derivatives at rest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poinsot as pt
from poinsot.environment.airspeed import air_velocity, stability_axes, true_airspeed, wind_axes
from poinsot.environment.atmosphere import A_0, P_0, RHO_0

KNOT = 0.514444444444444444
NAMES = (
    "airspeed alpha beta mach dynamic_pressure impact_pressure equivalent_airspeed calibrated_airspeed "
    "pressure_altitude density_altitude reynolds_per_metre"
).split()


def data(velocity, height=0.0, air=None):
    return pt.air_data(velocity, (air or pt.US76()).at(height))


@given(st.floats(0.1, 900), st.floats(-3.1, 3.1), st.floats(-1.57, 1.57))
def test_the_velocity_is_the_airspeed_turned_by_alpha_and_beta(V, alpha, beta):
    v = wind_axes(alpha, beta) @ [V, 0, 0]
    np.testing.assert_allclose(
        v, [V * np.cos(alpha) * np.cos(beta), V * np.sin(beta), V * np.sin(alpha) * np.cos(beta)], atol=1e-12 * V
    )
    np.testing.assert_allclose(air_velocity(V, alpha, beta), v, atol=1e-12 * V)
    flow = data(v)
    assert abs(flow.airspeed - V) <= 1e-14 * V
    assert abs(flow.beta - beta) <= 1e-14
    assert abs(flow.alpha - alpha) * np.cos(beta) <= 1e-14
    R = wind_axes(alpha, beta)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(stability_axes(alpha) @ [np.cos(beta), np.sin(beta), 0], R[:, 0], atol=1e-15)


def test_at_sea_level_all_airspeeds_are_one():
    for V in (0.0, 1e-3, 50.0, 300.0, A_0, 400.0, 2000.0):
        flow = data([V, 0, 0])
        for speed in (flow.airspeed, flow.equivalent_airspeed, flow.calibrated_airspeed):
            np.testing.assert_allclose(speed, V, rtol=2e-13, atol=1e-12)


def test_known_airspeeds():
    """250 kt calibrated at 10,000 ft is Mach 0.452 on the tables of pilots."""
    air = pt.US76().at(3048.0)
    flow = pt.air_data([0.4523 * air.speed_of_sound, 0, 0], air)
    np.testing.assert_allclose(flow.calibrated_airspeed / KNOT, 250, rtol=2e-3)
    assert abs(flow.pressure_altitude - 3048) < 2  # geometric and geopotential
    np.testing.assert_allclose(flow.equivalent_airspeed**2 * RHO_0, 2 * flow.dynamic_pressure, rtol=1e-14)


@given(st.floats(0, 8), st.floats(0, 30e3))
def test_calibrated_airspeed_has_the_same_impact_pressure_at_sea_level(mach, height):
    air = pt.US76().at(height)
    flow = pt.air_data([mach * air.speed_of_sound, 0, 0], air)
    there = data([float(flow.calibrated_airspeed), 0, 0])
    np.testing.assert_allclose(there.impact_pressure, flow.impact_pressure, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(true_airspeed(flow.calibrated_airspeed, air), flow.airspeed, rtol=1e-11, atol=1e-5)


def test_impact_pressure_is_smooth_at_mach_1():
    a = float(pt.US76().at(0.0).speed_of_sound)
    below, above = (data([a * (1 + step), 0, 0]).impact_pressure for step in (-1e-9, 1e-9))
    np.testing.assert_allclose(below, above, rtol=1e-8)
    np.testing.assert_allclose(data([a, 0, 0]).impact_pressure, P_0 * (1.2**3.5 - 1), rtol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_finite_at_rest(name):
    f = pt.kernel("(3),()->()")(lambda v, z: getattr(data(v, z), name))
    v = np.array([[0.0, 0, 0], [0, 5.0, 0], [1e-200, 0, 0], [0, 0, 1e-12], [-5.0, 0, 0]])
    assert np.all(np.isfinite(f(v, 0.0)))
    for wrt in (0, 1):
        assert np.all(np.isfinite(pt.gradient(f, wrt=wrt)(v, 0.0)))


def test_forces_at_rest_are_zero_with_derivatives_zero():
    def force(v):
        flow = data(v)
        lift = flow.dynamic_pressure * (0.3 + 5 * flow.alpha + 0.1 * flow.mach)
        return stability_axes(flow.alpha) @ np.stack([-0.1 * lift, -flow.beta * flow.dynamic_pressure, -lift])

    f = pt.kernel("(3)->(3)")(force)
    np.testing.assert_array_equal(f(np.zeros(3)), 0)
    np.testing.assert_array_equal(pt.jacobian(f)(np.zeros(3)), 0)


def test_kernels_and_plain_numbers_agree():
    v = np.random.default_rng(0).normal(size=(40, 3)) * 300
    z = np.random.default_rng(1).uniform(0, 5e4, 40)
    for name in NAMES:
        got = pt.kernel("(3),()->()")(lambda v, z, name=name: getattr(data(v, z), name))(v, z)
        np.testing.assert_allclose(got, getattr(data(v, z), name), rtol=1e-12, atol=1e-9, err_msg=name)
