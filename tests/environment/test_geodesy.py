"""Geodetic coordinates, north-east-down and great circles, against the definitions in 40 digits."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poinsot as pt
from poinsot.environment import geodesy
from poinsot.environment.geodesy import SPHERE, WGS84

mpmath.mp.dps = 40
A, F = mpmath.mpf(6378137), 1 / mpmath.mpf("298.257223563")
POLE = np.pi / 2


def places(n=120):
    """Places from -10 km to 40,000 km, with the poles, the equator, and what is close to them."""
    rng = np.random.default_rng(0)
    special = [0, POLE, -POLE, 1e-9, -1e-12, POLE - 1e-9, 1e-3 - POLE, POLE - 1e-3]
    latitude = np.concatenate([np.repeat(special, 4), np.arcsin(rng.uniform(-1, 1, n))])
    longitude = rng.uniform(-np.pi, np.pi, len(latitude))
    height = np.where(rng.random(len(latitude)) < 0.5, rng.uniform(-1e4, 3e4, len(latitude)), 0)
    height = np.where(height == 0, 10 ** rng.uniform(4, np.log10(4e7), len(latitude)), height)
    return latitude, longitude, height


def defined(p):
    """Latitude, longitude and height of p in 40 digits, by the fixed point tan(lat) = (z + e^2 N sin(lat))/r."""
    x, y, z = map(mpmath.mpf, map(float, p))
    e2, r = F * (2 - F), mpmath.sqrt(x * x + y * y)
    latitude, last = mpmath.atan2(z, r * (1 - e2)), None
    while last is None or abs(latitude - last) > mpmath.mpf(10) ** -36:
        last, N = latitude, A / mpmath.sqrt(1 - e2 * mpmath.sin(latitude) ** 2)
        latitude = mpmath.atan2(z + e2 * N * mpmath.sin(latitude), r)
    height = r * mpmath.cos(latitude) + z * mpmath.sin(latitude) - A * A / N
    return latitude, mpmath.atan2(y, x), height


def worst(got, exact):
    return max(abs(float(mpmath.mpf(float(a)) - b)) for a, b in zip(got, exact, strict=True))


def test_geodetic_coordinates_are_exact_to_rounding():
    p = geodesy.ecef(*places())
    exact = np.array([defined(row) for row in p]).T
    in_kernel = pt.kernel("(3)->(),(),()")(lambda p: tuple(geodesy.geodetic(p)))
    for latitude, longitude, height in (geodesy.geodetic(p), in_kernel(p)):
        assert worst(latitude, exact[0]) <= 5e-16
        assert worst(longitude, exact[1]) <= 5e-16
        scale = np.linalg.norm(p, axis=1)
        assert worst(height / scale, exact[2] / scale) <= 8e-16  # 5e-9 m at the ground
    np.testing.assert_allclose(geodesy.height_of(p), geodesy.geodetic(p).height, rtol=0)


def test_ecef_is_exact_to_rounding():
    latitude, longitude, height = places()
    p = geodesy.ecef(latitude, longitude, height)
    for *place, got in zip(latitude, longitude, height, p, strict=True):
        lat, lon, h = map(mpmath.mpf, map(float, place))
        e2 = F * (2 - F)
        N = A / mpmath.sqrt(1 - e2 * mpmath.sin(lat) ** 2)
        r = (N + h) * mpmath.cos(lat)
        want = (r * mpmath.cos(lon), r * mpmath.sin(lon), (N * (1 - e2) + h) * mpmath.sin(lat))
        assert worst(got, want) <= 5e-16 * float(A + h)


@given(st.floats(-POLE, POLE), st.floats(-np.pi, np.pi), st.floats(-1e4, 4e7), st.sampled_from([WGS84, SPHERE]))
def test_there_and_back(latitude, longitude, height, ellipsoid):
    p = geodesy.ecef(latitude, longitude, height, ellipsoid)
    back = geodesy.geodetic(p, ellipsoid)
    assert abs(back.latitude - latitude) <= 1e-15
    assert abs(back.height - height) <= 4e-15 * (6.4e6 + height)
    np.testing.assert_allclose(geodesy.ecef(*back, ellipsoid), p, rtol=0, atol=4e-15 * (6.4e6 + height))


def test_a_place_near_the_centre_is_refused():
    with pytest.raises(ValueError, match="10 m from the Earth's centre has no latitude"):
        geodesy.geodetic([[7e6, 0, 0], [10.0, 0, 0]])
    in_kernel = pt.kernel("(3)->()")(geodesy.height_of)
    with np.errstate(invalid="ignore"):
        assert np.isnan(in_kernel(np.array([10.0, 0, 0])))
    assert np.isnan(geodesy.height_of([np.nan, 0, 7e6]))


def test_north_east_down():
    latitude, longitude, height = places()
    R = geodesy.ned_of(latitude, longitude)
    np.testing.assert_allclose(R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape), atol=1e-15)
    np.testing.assert_allclose(np.linalg.det(R), 1, rtol=1e-15)
    p = geodesy.ecef(latitude, longitude, height)
    away = np.abs(latitude) < POLE - 1e-6  # the longitude is lost in rounding nearer to a pole
    np.testing.assert_allclose(geodesy.ned_at(p)[away], R[away], atol=1e-9)
    np.testing.assert_allclose(geodesy.ned_at(p)[..., 2], R[..., 2], atol=1e-15)
    step = 1e-2  # m; north, east and down lead where latitude, longitude and height say
    for axis, sign in ((0, 1), (1, 1), (2, -1)):
        moved = geodesy.geodetic(p + step * R[..., axis])
        gained = (moved[axis] - (latitude, longitude, height)[axis])[away]
        assert np.all(np.sign(gained) == sign)
    np.testing.assert_allclose(geodesy.ned_at([0, 0, 7e6]), geodesy.ned_of(POLE, 0.0), atol=1e-15)


def test_the_transport_rate_is_the_turning_of_north_east_down():
    latitude, longitude, height = (x[np.abs(places()[0]) < 1.4] for x in places())
    v = np.random.default_rng(1).normal(size=(len(latitude), 3)) * 300

    def frame(t, latitude, longitude, height, v):
        M, N = geodesy.radii(latitude)
        return geodesy.ned_of(
            latitude + t * v[0] / (M + height), longitude + t * v[1] / (N + height) / np.cos(latitude)
        )

    turning = pt.jvp(pt.kernel("(),(),(),(),(3)->(3,3)")(frame), wrt=0)
    zero = np.zeros(len(latitude))
    R, Rdot = turning(zero, latitude, longitude, height, v, np.ones(len(latitude)))
    W = np.swapaxes(R, -1, -2) @ Rdot
    omega = np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], -1)
    np.testing.assert_allclose(geodesy.transport_rate(latitude, height, v), omega, rtol=1e-11, atol=1e-18)


def test_inertial_and_earth_fixed_motion():
    rng = np.random.default_rng(2)
    p, v, t = rng.normal(size=(50, 3)) * 7e6, rng.normal(size=(50, 3)) * 1e3, rng.uniform(0, 1e5, 50)
    p_I, v_I = geodesy.to_inertial(p, v, t, 7.292115e-5)
    back, rate = geodesy.to_earth(p_I, v_I, t, 7.292115e-5)
    np.testing.assert_allclose(back, p, rtol=1e-14, atol=1e-8)
    np.testing.assert_allclose(rate, v, rtol=1e-12, atol=1e-11)
    path = pt.kernel("(3),(3),()->(3)")(lambda p, v, t: geodesy.to_inertial(p + t * v, v, t, 7.292115e-5)[0])
    _, speed = pt.jvp(path, wrt=2)(p, v, t, np.ones(50))
    want = geodesy.to_inertial(p + t[:, None] * v, v, t, 7.292115e-5)[1]
    np.testing.assert_allclose(speed, want, rtol=1e-12, atol=1e-9)


def test_derivatives_are_finite_on_the_axis_of_the_earth():
    slope = pt.gradient(pt.kernel("(3)->()")(geodesy.height_of))
    np.testing.assert_allclose(slope(np.array([[0, 0, 6.4e6], [0, 0, -6.4e6]])), [[0, 0, 1], [0, 0, -1]], atol=1e-15)
    p = geodesy.ecef(*places())
    np.testing.assert_allclose(slope(p), -geodesy.ned_at(p)[..., 2], atol=1e-13)


@given(st.floats(-1.5, 1.5), st.floats(-3, 3), st.floats(0, 6.28), st.floats(1e-3, 1.99e7))
def test_great_circles(latitude, longitude, course, distance):
    there = geodesy.destination(latitude, longitude, course, distance)
    far, back = geodesy.great_circle(latitude, longitude, *there)
    assert abs(far - distance) <= 1e-8
    assert abs(np.sin(back - course)) * np.sin(distance / SPHERE.a) <= 1e-14
    a, b = (geodesy.ecef(*place, 0.0, SPHERE) for place in ((latitude, longitude), there))
    chord = 2 * SPHERE.a * np.sin(distance / SPHERE.a / 2)
    assert abs(np.linalg.norm(a - b) - chord) <= 1e-8


def test_great_circle_of_known_places():
    """A quarter of the equator; over the pole; between opposite places; no way at all."""
    quarter = SPHERE.a * np.pi / 2
    np.testing.assert_allclose(geodesy.great_circle(0.0, 0.0, 0.0, POLE), (quarter, POLE), rtol=1e-15)
    np.testing.assert_allclose(geodesy.great_circle(0.3, 0.0, 0.3, np.pi)[0], 2 * quarter - 0.6 * SPHERE.a, rtol=1e-15)
    np.testing.assert_allclose(geodesy.great_circle(0.2, 0.1, -0.2, 0.1 - np.pi)[0], 2 * quarter, rtol=1e-15)
    assert geodesy.great_circle(0.7, 0.1, 0.7, 0.1)[0] == 0


def test_refused_ellipsoids():
    with pytest.raises(ValueError, match=r"f = 0\.5 is not the Earth's"):
        geodesy.Spheroid(f=0.5)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ((45.0, 0.1, 0.0), "latitude=45.0 rad must be between -pi/2 and pi/2; degrees"),
        ((0.5, 100.0, 0.0), "longitude=100.0 rad must be"),
        ((0.5, 0.1, -6.4e6), "altitude=-6400000.0 m is below the Earth's surface; the least is -10000 m"),
        ((0.5, 0.1, 2e6, -1e4, 1e6), r"altitude=2000000.0 m is above the model, which ends at 1e\+06 m"),
        ((np.nan, 0.1, 0.0), "latitude=nan"),
        ((0.5, 0.1, np.nan), "altitude=nan"),
    ],
)
def test_places_that_cannot_be_meant(place, words):
    with pytest.raises(ValueError, match=words):
        geodesy.require_place(*place)
    geodesy.require_place(np.pi / 2, -np.pi, 0.0)
