"""Epochs, the Sun, the Moon and the Earth's shadow, against printed examples and geometry."""

from datetime import UTC, datetime

import numpy as np
import pytest

import poinsot as pt
from poinsot.environment import almanac, epochs

TT = epochs.TT_LESS_UTC / epochs.DAY


def angles(p):
    """Right ascension and declination [deg]."""
    return np.degrees(np.arctan2(p[1], p[0])) % 360, np.degrees(np.arcsin(p[2] / np.linalg.norm(p)))


def ecliptic(p, d):
    tilt = np.radians(23.4392911 - 0.0130042 * d / epochs.CENTURY)
    c, s = np.cos(tilt), np.sin(tilt)
    x, y, z = p[0], c * p[1] + s * p[2], -s * p[1] + c * p[2]
    r = np.linalg.norm(p)
    return np.degrees(np.arctan2(y, x)) % 360, np.degrees(np.arcsin(z / r)), r


def test_the_sun_of_meeus():
    """Example 25.a: 1992 October 13, 0 h TD: true longitude 199.90988 deg, 0.99766 AU; RA 198.38083, dec -7.78507 are
    apparent, with aberration and nutation (-0.0057 deg in longitude)."""
    d = epochs.days("1992-10-13T00:00:00Z") - TT
    longitude, latitude, r = ecliptic(almanac.sun(d), d)
    assert abs(longitude - 199.90988) < 1e-5
    assert abs(latitude) < 1e-9
    assert abs(r / almanac.AU - 0.99766) < 1e-5
    np.testing.assert_allclose(angles(almanac.sun(d)), (198.38083, -7.78507), atol=0.01)


@pytest.mark.parametrize(
    ("instant", "longitude"),
    [("2024-03-20T03:06:00Z", 0.0), ("2024-06-20T20:51:00Z", 90.0), ("2025-09-22T18:19:00Z", 180.0)],
)
def test_equinox_and_solstice(instant, longitude):
    """The instants of the almanacs, in which the apparent longitude counts: 0.0057 deg of aberration."""
    d = epochs.days(instant)
    found = ecliptic(almanac.sun(d), d)[0] - 0.0057
    assert abs((found - longitude + 180) % 360 - 180) < 0.01


def test_the_moon_of_meeus():
    """Example 47.a: 1992 April 12, 0 h TD: 133.162655 deg, -3.229126 deg, 368409.7 km."""
    d = epochs.days("1992-04-12T00:00:00Z") - TT
    longitude, latitude, r = ecliptic(almanac.moon(d), d)
    assert abs(longitude - 133.162655) < 0.1
    assert abs(latitude + 3.229126) < 0.05
    assert abs(r - 368409.7e3) < 500e3


def test_sidereal_time():
    """Meeus, examples 12.a and 12.b: 1987 April 10, 0 h and 19 h 21 min: 197.693195 deg, 128.7378734 deg."""
    for instant, angle in (("1987-04-10T00:00:00Z", 197.693195), ("1987-04-10T19:21:00Z", 128.7378734)):
        assert abs(np.degrees(epochs.sidereal_angle(instant)) - angle) < 1e-6
    rate = (epochs.sidereal_angle("2026-01-01T00:01:40Z") - epochs.sidereal_angle("2026-01-01T00:00:00Z")) / 100
    assert abs(rate / pt.Earth().rate - 1) < 1.2e-7  # the equinox moves by 50 arc seconds a year


def test_epochs_are_utc():
    noon = "2026-03-20T12:00:00Z"
    for same in ("2026-03-20T12:00:00", "2026-03-20T13:00:00+01:00", datetime(2026, 3, 20, 12, tzinfo=UTC)):
        assert epochs.written(same) == noon
    for wrong in ("yesterday", 2026.0, "2026-13-01"):
        with pytest.raises(ValueError, match="must be an instant in UTC"):
            pt.Earth(epoch=wrong)


def covered_share(p, sun, radius, n=801):
    """The share of the Sun's disc that a line of sight from p reaches, by trying points of the disc."""
    away = sun - p
    u = away / np.linalg.norm(away)
    side = np.cross(u, [0.0, 0.0, 1.0])
    side /= np.linalg.norm(side)
    x, y = np.meshgrid(*(np.linspace(-1, 1, n),) * 2)
    inside = x**2 + y**2 <= 1
    points = sun + almanac.SUN_RADIUS * (x[inside][:, None] * side + y[inside][:, None] * np.cross(u, side))
    rays = points - p
    rays /= np.linalg.norm(rays, axis=1)[:, None]
    along = -rays @ p
    nearest = np.linalg.norm(p + along[:, None] * rays, axis=1)
    return np.mean((along < 0) | (nearest > radius))


def test_the_shadow_of_the_earth():
    sun = np.array([almanac.AU, 0.0, 1e9])
    R = 6378137.0
    assert almanac.sunlight(np.array([7e6, 0, 0]), sun, R) == 1.0
    assert almanac.sunlight(np.array([0, 7e6, 0]), sun, R) == 1.0
    assert almanac.sunlight(np.array([-7e6, 0, 0]), sun, R) == 0.0
    for y in (R - 20e3, R - 5e3, R + 3e3, R + 20e3):
        p = np.array([-7e6, y, 0.0])
        assert abs(almanac.sunlight(p, sun, R) - covered_share(p, sun, R)) < 5e-3
    far = np.array([-3e9, 1e5, 0.0])  # beyond the umbra the Earth covers the middle of the disc
    assert abs(almanac.sunlight(far, sun, R) - covered_share(far, sun, R)) < 5e-3
    assert 0 < almanac.sunlight(far, sun, R) < 1


def test_the_pull_of_sun_and_moon():
    """Towards the body it stretches, by 2 mu r / d^3 to first order, and across it squeezes by half of that."""
    for name, size in (("sun", 5.5e-7), ("moon", 1.2e-6)):
        d = epochs.days("2026-03-20T12:00:00Z")
        s = almanac.BODIES[name](d)
        u, distance = s / np.linalg.norm(s), np.linalg.norm(s)
        a = almanac.third_body_pull(name, d, 7e6 * u)
        np.testing.assert_allclose(a, 2 * almanac.MU[name] * 7e6 / distance**3 * u, rtol=0.1)
        assert 0.5 * size < np.linalg.norm(a) < 2 * size
        across = np.cross(u, [0, 0, 1.0])
        b = almanac.third_body_pull(name, d, 7e6 * across / np.linalg.norm(across))
        np.testing.assert_allclose(b @ across, -0.5 * np.linalg.norm(a) * np.linalg.norm(across), rtol=0.1)
