"""Dryden turbulence: spectra and variances of its filters, the two models of altitude and what lies between."""

import numpy as np
import pytest
from scipy.integrate import quad

import poinsot as pt
from poinsot.environment.dryden import FOOT, HIGH, LENGTH, LOW, gust_filters, roll_filter, turbulence


def test_filters_have_the_spectra_of_the_standard():
    gusts, V, b, omega = turbulence(200.0, 10.0), 70.0, 11.0, np.logspace(-3, 2, 40)
    filters = gust_filters(gusts, V)
    x, y = gusts.L_u * omega / V, gusts.L_w * omega / V
    want = gusts.sigma_u**2 * 2 * gusts.L_u / (np.pi * V) / (1 + x**2)
    np.testing.assert_allclose(filters["u"].spectrum(omega), want, rtol=1e-13)
    want = gusts.sigma_w**2 * gusts.L_w / (np.pi * V) * (1 + 3 * y**2) / (1 + y**2) ** 2
    np.testing.assert_allclose(filters["w"].spectrum(omega), want, rtol=1e-13)
    want = gusts.sigma_w**2 / (V * gusts.L_w) * 0.8 * (np.pi * gusts.L_w / (4 * b)) ** (1 / 3)
    np.testing.assert_allclose(
        roll_filter(gusts, V, b).spectrum(omega), want / (1 + (4 * b * omega / (np.pi * V)) ** 2), rtol=1e-13
    )


@pytest.mark.parametrize("height", [50.0, 400.0, 6000.0])
def test_variances_are_the_strengths_squared(height):
    gusts = turbulence(height, 8.0, "severe")
    for axis, filter_ in gust_filters(gusts, 100.0).items():
        # omega = tan(x)/T1 maps the half axis to a finite one
        variance = quad(lambda x, f=filter_: f.spectrum(np.tan(x) / f.T1) / (f.T1 * np.cos(x) ** 2), 0, np.pi / 2)[0]
        np.testing.assert_allclose(variance, getattr(gusts, f"sigma_{axis}") ** 2, rtol=1e-9)


def test_low_and_high_altitude():
    """At 1000 ft the low model is isotropic; between 1000 and 2000 ft it goes over to the high one."""
    low = turbulence(LOW, 15.0)
    np.testing.assert_allclose(low, [LOW, LOW, LOW, 1.5, 1.5, 1.5], rtol=1e-14)
    high = turbulence(HIGH, 15.0, "moderate")
    np.testing.assert_allclose(high[:3], LENGTH, rtol=1e-14)
    between = turbulence(0.5 * (LOW + HIGH), 15.0, "moderate")
    np.testing.assert_allclose(between, 0.5 * (np.array(low) + np.array(high)), rtol=1e-14)
    np.testing.assert_allclose(turbulence(7500 * FOOT, 0.0, "severe").sigma_w, 23.6 * FOOT, rtol=1e-14)
    assert turbulence(90e3 * FOOT, 0.0, "moderate").sigma_u == 0
    near = turbulence(100 * FOOT, 20 * FOOT)
    np.testing.assert_allclose(near.L_u, 100 / 0.2593**1.2 * FOOT, rtol=1e-14)
    np.testing.assert_allclose(near.sigma_u, 2 / 0.2593**0.4 * FOOT, rtol=1e-14)


def test_it_can_be_traced():
    f = pt.kernel("(),()->(6)")(lambda h, W: np.stack([*turbulence(h, W)]))
    h = np.array([0.0, 20.0, 450.0, 3000.0, 3e4])
    np.testing.assert_allclose(f(h, 7.0).T, np.stack([x + 0 * h for x in turbulence(h, 7.0)]), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((100.0, -1.0), "wind_at_6m=-1.0 m/s"), ((100.0, 1.0, "heavy"), "severity='heavy' of turbulence is unknown")],
)
def test_errors(arguments, words):
    with pytest.raises(ValueError, match=words):
        turbulence(*arguments)
