"""The 0/0 functions of an angle, against 1300 digits, and their derivatives, at zero too."""

from math import factorial

import mpmath
import numpy as np
import pytest
from spatial_strategies import EDGE_ANGLES

from poinsot.spatial.series import arctan_ratio, polynomial, stumpff, stumpff_by_halves

EPS = np.finfo(float).eps
SQUARES = np.unique([*EDGE_ANGLES, *np.linspace(0.0, 7.0, 71), np.nextafter(1.0, 0.0), 50.0, 1e3]) ** 2


def exact_stumpff(k: int, s: float) -> float:
    with mpmath.workdps(1300):  # enough for 1 - cos t at t = 1e-300
        t = mpmath.sqrt(mpmath.mpf(float(s)))
        if t == 0:
            return 1 / factorial(k)
        c = {0: mpmath.cos(t), 1: mpmath.sin(t) / t}
        for j in (2, 3, 4):
            c[j] = (mpmath.mpf(1) / factorial(j - 2) - c[j - 2]) / t**2
        return float(c[k])


@pytest.mark.parametrize("k", range(5))
def test_stumpff_is_exact_to_rounding_at_every_angle(k):
    expected = np.array([exact_stumpff(k, s) for s in SQUARES])
    # Just above s = 1 the closed forms of c_3 and c_4 lose a factor of 6 and 12. Where sin and cos cross zero, and for
    # angles of many revolutions, the rounding of s itself moves the value by up to t eps / 2.
    t = np.sqrt(SQUARES)
    bound = 16 * EPS * np.abs(expected) + EPS * (1.0 + t) / np.maximum(1.0, t) ** k
    assert np.all(np.abs(stumpff(k, SQUARES) - expected) <= bound)
    if k in (2, 3):
        assert np.all(np.abs(stumpff_by_halves(SQUARES)[k - 2] - expected) <= bound)


@pytest.mark.parametrize("k", range(3))
def test_stumpff_functions_are_linked(k):
    s = np.linspace(0.0, 9.0, 50)
    np.testing.assert_allclose(stumpff(k, s), 1 / factorial(k) - s * stumpff(k + 2, s), rtol=0, atol=8 * EPS)


@pytest.mark.parametrize("k", range(5))
def test_stumpff_has_the_right_derivative_at_zero_and_elsewhere(k):
    s, h = np.array([0.0, 1e-18, 1e-4, 0.5, 0.999, 1.001, 4.0, 9.0]), 1e-30
    slope = stumpff(k, s + 1j * h).imag / h  # the complex step has no rounding error of its own
    series = [
        float(
            mpmath.nsum(lambda j, x=x: -j * (-mpmath.mpf(x)) ** (j - 1) / mpmath.factorial(k + 2 * j), [1, mpmath.inf])
        )
        for x in s
    ]
    assert slope[0] == pytest.approx(-1 / factorial(k + 2), rel=EPS)
    np.testing.assert_allclose(slope, series, rtol=200 * EPS)  # the closed forms' derivatives cancel more


def test_arctan_ratio_is_exact_to_rounding_at_every_angle():
    for half in [t / 2 for t in EDGE_ANGLES] + list(np.linspace(0.01, np.pi / 2, 40)):
        u, w = np.sin(half), np.cos(half)
        with mpmath.workdps(400):
            angle = mpmath.atan2(mpmath.sqrt(mpmath.mpf(float(u * u))), mpmath.mpf(float(w)))
            expected = float(angle / mpmath.sqrt(mpmath.mpf(float(u * u)))) if u * u > 0 else 1.0
        assert arctan_ratio(u * u, w) == pytest.approx(expected, rel=4 * EPS)


def test_nothing_is_evaluated_where_it_is_not_defined():
    # Warnings are errors here: neither the unused branch nor its derivative may divide by zero or overflow.
    assert np.all(np.isfinite([stumpff(k, np.array([0.0, 1e-320, 1e200])) for k in range(5)]))
    assert np.all(np.isfinite(stumpff_by_halves(np.array([0.0, 1e-320, 1e200]))))
    assert np.all(np.isfinite(arctan_ratio(np.array([0.0, 1e-320, 1.0]), np.array([1.0, 1.0, 0.0]))))


@pytest.mark.parametrize("coefficients", [[3.0], [1.0, -2.0], [0.5, 0.0, -3.0, 7.0]])
def test_polynomials_from_the_lowest_power(coefficients):
    x = np.array([-2.0, 0.0, 0.3, 5.0])
    np.testing.assert_allclose(polynomial(coefficients, x), np.polyval(coefficients[::-1], x), rtol=1e-15)
