"""Geodesics of the ellipsoid: against the differential equation of shortest ways, and known cases."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.environment import geodesy
from poinsot.environment.geodesics import geodesic, geodesic_end
from poinsot.environment.geodesy import SPHERE, WGS84

WEIGHTS = np.array([1 / WGS84.a**2, 1 / WGS84.a**2, 1 / WGS84.b**2])
POLE = np.pi / 2


def walked(latitude, longitude, course, distance):
    """The end of the way whose curvature is all along the normal of the ellipsoid: x'' = -(x' W x')/|W x|^2 W x."""
    R = geodesy.ned_of(latitude, longitude)
    start = np.concatenate([geodesy.ecef(latitude, longitude, 0.0), R @ [np.cos(course), np.sin(course), 0]])

    def rate(_, y):
        x, v = y[:3], y[3:]
        n = WEIGHTS * x
        return np.concatenate([v, -(v @ (WEIGHTS * v)) / (n @ n) * n])

    return solve_ivp(rate, (0, distance), start, method="DOP853", rtol=1e-13, atol=1e-8).y[:3, -1]


@pytest.mark.parametrize("seed", range(8))
def test_the_ways_of_the_differential_equation(seed):
    rng = np.random.default_rng(seed)
    latitude, longitude, course = rng.uniform(-1.5, 1.5), rng.uniform(-3, 3), rng.uniform(0, 2 * np.pi)
    distance = 10 ** rng.uniform(3, 7.2)
    there = geodesic_end(latitude, longitude, course, distance)
    end = walked(latitude, longitude, course, distance)
    assert np.linalg.norm(geodesy.ecef(there[0], there[1], 0.0) - end) < 2e-4
    found = geodesic(latitude, longitude, there[0], there[1])
    assert abs(found[0] - distance) < 2e-4
    assert abs(np.sin(found[1] - course)) * distance < 1e-3
    assert abs(np.sin(found[2] - there[2])) * distance < 1e-3


def test_known_ways():
    quarter_of_meridian = 10001965.729  # m, of WGS-84
    np.testing.assert_allclose(geodesic(0.0, 0.3, POLE, 0.3)[0], quarter_of_meridian, atol=1e-3)
    np.testing.assert_allclose(geodesic(0.0, 0.0, 0.0, 1.0), (WGS84.a, POLE, POLE), rtol=1e-12)
    assert geodesic(0.5, 1.0, 0.5, 1.0)[0] < 1e-8
    np.testing.assert_allclose(
        geodesic(0.4, 3.1, 0.4, -3.1)[0], geodesic(0.4, 0.0, 0.4, 2 * np.pi - 6.2)[0], rtol=1e-12
    )


def test_on_a_sphere_it_is_the_great_circle():
    rng = np.random.default_rng(0)
    places = rng.uniform(-1.4, 1.4, (4, 50))
    np.testing.assert_allclose(geodesic(*places, SPHERE)[:2], geodesy.great_circle(*places), rtol=1e-9)


def test_nearly_opposite_places_are_not_found():
    assert np.isnan(geodesic(0.0, 0.0, 1e-3, np.pi - 1e-3)[0])


def test_great_circles_are_as_near_as_is_said():
    places = np.random.default_rng(1).uniform(-1.4, 1.4, (4, 500))
    ratio = geodesy.great_circle(*places)[0] / geodesic(*places)[0]
    assert np.nanmax(np.abs(ratio - 1)) < 0.006


def test_kernels_agree():
    rng = np.random.default_rng(2)
    x = np.stack([*rng.uniform(-1.4, 1.4, (2, 30)), rng.uniform(0, 6, 30), rng.uniform(1e3, 1e7, 30)])
    end = pt.kernel("(),(),(),()->(),(),()")(geodesic_end)(*x)
    np.testing.assert_allclose(end, geodesic_end(*x), rtol=1e-11, atol=1e-12)
    way = pt.kernel("(),(),(),()->(),(),()")(geodesic)(x[0], x[1], end[0], end[1])
    np.testing.assert_allclose(way[0], x[3], atol=2e-4)
