"""The Sun and the Moon from short series, referred to the mean equator and equinox of date, and the Earth's shadow.

The Sun: Meeus, Astronomical Algorithms, chapter 25, within 0.01 deg from 1950 to 2050. The Moon: Montenbruck and Gill,
Satellite Orbits, section 3.3.2, within 0.1 deg and 500 km. Positions are geometric: without aberration.
"""

from typing import Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.environment.epochs import CENTURY, DAY, TT_LESS_UTC, days
from poinsot.spatial.arrays import vector

AU = 1.495978707e11  # [m]
SUN_RADIUS = 6.957e8  # [m], IAU 2015
MU = {"sun": 1.32712440018e20, "moon": 4.902800066e12}  # [m^3/s^2], DE405
PRESSURE = 1361.0 / 299792458.0  # [Pa] of sunlight at 1 AU that is absorbed: the solar constant by the speed of light
ARC_SECOND = np.pi / 648000

# The Moon: amplitudes, and multiples of l, l', F, D in the arguments.
LONGITUDE = (
    (22640, 1, 0, 0, 0), (769, 2, 0, 0, 0), (-4586, 1, 0, 0, -2), (2370, 0, 0, 0, 2), (-668, 0, 1, 0, 0),
    (-412, 0, 0, 2, 0), (-212, 2, 0, 0, -2), (-206, 1, 1, 0, -2), (192, 1, 0, 0, 2), (-165, 0, 1, 0, -2),
    (148, 1, -1, 0, 0), (-125, 0, 0, 0, 1), (-110, 1, 1, 0, 0), (-55, 0, 0, 2, -2),
)  # fmt: skip
LATITUDE = (
    (-526, 0, 0, 1, -2), (44, 1, 0, 1, -2), (-31, -1, 0, 1, -2), (-25, -2, 0, 1, 0), (-23, 0, 1, 1, -2),
    (21, -1, 0, 1, 0), (11, 0, -1, 1, -2),
)  # fmt: skip
DISTANCE = (  # [km]
    (-20905, 1, 0, 0, 0), (-3699, -1, 0, 0, 2), (-2956, 0, 0, 0, 2), (-570, 2, 0, 0, 0), (246, 2, 0, 0, -2),
    (-205, 0, 1, 0, -2), (-171, 1, 0, 0, 2), (-152, 1, 1, 0, -2),
)  # fmt: skip


def require_epoch(epoch: str) -> float:
    """Days of UTC since J2000; an error for an epoch that the series are not made for."""
    d = days(epoch)
    if not abs(d) <= CENTURY:
        raise FieldError(
            f"epoch={epoch!r} is too far from 2000 for the series of the Sun and Moon; choose one from 1900 to 2100.",
            "epoch",
        )
    return d


def sun(d: Any) -> Array:
    """The position (..., 3) [m] of the Sun, d days of UTC after J2000."""
    T = _centuries(d)
    L = np.radians(280.46646 + 36000.76983 * T + 0.0003032 * T * T)
    M = np.radians(357.52911 + 35999.05029 * T - 0.0001537 * T * T)
    e = 0.016708634 - 0.000042037 * T
    C = np.radians(
        (1.914602 - 0.004817 * T) * np.sin(M) + (0.019993 - 0.000101 * T) * np.sin(2 * M) + 0.000289 * np.sin(3 * M)
    )
    r = 1.000001018 * AU * (1 - e * e) / (1 + e * np.cos(M + C))
    return _equatorial(T, L + C, 0.0 * T, r)


def moon(d: Any) -> Array:
    """The position (..., 3) [m] of the Moon, d days of UTC after J2000."""
    T = _centuries(d)
    L = np.radians(218.31617 + 481267.88088 * T)
    l, ls, F, D = (
        np.radians(a + b * T)
        for a, b in (
            (134.96292, 477198.86753), (357.52543, 35999.04944), (93.27283, 483202.01873), (297.85027, 445267.11135),
        )
    )  # fmt: skip

    def series(terms: Any, wave: Any) -> Any:
        return sum(a * wave(i * l + j * ls + k * F + m * D) for a, i, j, k, m in terms)

    wobble = ARC_SECOND * series(LONGITUDE, np.sin)
    node = F + wobble + ARC_SECOND * (412 * np.sin(2 * F) + 541 * np.sin(ls))
    latitude = ARC_SECOND * (18520 * np.sin(node) + series(LATITUDE, np.sin))
    return _equatorial(T, L + wobble, latitude, 1e3 * (385000.0 + series(DISTANCE, np.cos)))


BODIES = {"sun": sun, "moon": moon}


def third_body_pull(name: str, d: Any, p: Array) -> Array:
    """The acceleration (3,) [m/s^2] by the "sun" or "moon" at p (3,) [m], less that of the Earth itself."""
    s = BODIES[name](d)
    away = s - p
    return MU[name] * (away / (away @ away) ** 1.5 - s / (s @ s) ** 1.5)


def sunlight(p: Array, sun: Array, radius: float) -> Array:
    """The share of the Sun's disc that is seen from p (3,) [m] past a sphere of a radius [m] around the origin: 1 in
    the open, 0 in the umbra, between in the penumbra. Montenbruck and Gill, section 3.4.2."""
    away = sun - p
    d, r = np.sqrt(away @ away), np.sqrt(p @ p)
    a, b = np.arcsin(SUN_RADIUS / d), np.arcsin(np.minimum(radius / r, 1.0))  # apparent radii
    u, w = away / d, p / r
    cross = np.cross(u, w)
    c = np.arctan2(np.sqrt(cross @ cross), -(u @ w))  # between the centres of the discs
    x = (c * c + a * a - b * b) / (2 * np.maximum(c, 1e-12))
    y = np.sqrt(np.maximum(a * a - x * x, 0.0))
    covered = a * a * np.arccos(np.clip(x / a, -1, 1)) + b * b * np.arccos(np.clip((c - x) / b, -1, 1)) - c * y
    partly = 1 - covered / (np.pi * a * a)
    return np.where(c >= a + b, 1.0, np.where(c <= b - a, 0.0, partly))


def _centuries(d: Any) -> Any:
    """Julian centuries of terrestrial time since J2000."""
    return (d + TT_LESS_UTC / DAY) / CENTURY


def _equatorial(T: Any, longitude: Any, latitude: Any, r: Any) -> Array:
    """A position (..., 3) from ecliptic longitude and latitude [rad] and distance."""
    tilt = np.radians(23.4392911 - 0.0130042 * T)
    x, y = r * np.cos(latitude) * np.cos(longitude), r * np.cos(latitude) * np.sin(longitude)
    z = r * np.sin(latitude)
    c, s = np.cos(tilt), np.sin(tilt)
    return vector(x, c * y - s * z, s * y + c * z)
