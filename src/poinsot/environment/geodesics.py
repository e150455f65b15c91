"""Shortest ways on an ellipsoid of revolution, by Vincenty (1975): to 0.1 mm, in a fixed number of rounds.

The way is a great circle on the auxiliary sphere of reduced latitudes, tan U = (1 - f) tan(lat). On it sigma is the
distance [rad], alpha the course where the way crosses the equator, lambda the difference of longitudes.
"""

from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.environment.geodesy import WGS84, Spheroid

ROUNDS = 12  # each gains two or three digits, but for places that are nearly opposite
_TINY = 1e-300


def geodesic(
    latitude: Scalar, longitude: Scalar, to_latitude: Scalar, to_longitude: Scalar, ellipsoid: Spheroid = WGS84
) -> tuple[Array, Array, Array]:
    """The distance [m] to another place on the ellipsoid, the course [rad] at the start and that at the end.

    Courses from 0 to 2 pi, clockwise from north. NaN for places so nearly opposite that the way is not found.
    """
    (s1, c1), (s2, c2) = (_reduced(x, ellipsoid) for x in (latitude, to_latitude))
    L = np.arctan2(np.sin(np.subtract(to_longitude, longitude)), np.cos(np.subtract(to_longitude, longitude)))
    lam, last = L, L
    for _ in range(ROUNDS):
        sin_sigma, cos_sigma, sin_alpha, cos2_alpha, cos_2m = _arc(s1, c1, s2, c2, lam)
        sigma, C = np.arctan2(sin_sigma, cos_sigma), _C(ellipsoid.f, cos2_alpha)
        inner = cos_2m + C * cos_sigma * (2 * cos_2m**2 - 1)
        last, lam = lam, L + (1 - C) * ellipsoid.f * sin_alpha * (sigma + C * sin_sigma * inner)
    sin_sigma, cos_sigma, sin_alpha, cos2_alpha, cos_2m = _arc(s1, c1, s2, c2, lam)
    A, B = _series(cos2_alpha, ellipsoid)
    sigma = np.arctan2(sin_sigma, cos_sigma) - _correction(B, sin_sigma, cos_sigma, cos_2m)
    start = np.arctan2(c2 * np.sin(lam), c1 * s2 - s1 * c2 * np.cos(lam))
    end = np.arctan2(c1 * np.sin(lam), c1 * s2 * np.cos(lam) - s1 * c2)
    found = (np.abs(lam - last) < 1e-12) & (np.abs(lam) <= np.pi)
    return np.where(found, ellipsoid.b * A * sigma, np.nan), _turn(start, found), _turn(end, found)


def geodesic_end(
    latitude: Scalar, longitude: Scalar, course: Scalar, distance: Scalar, ellipsoid: Spheroid = WGS84
) -> tuple[Array, Array, Array]:
    """Latitude, longitude and course [rad] after a distance [m] on the geodesic that starts with a course [rad]."""
    s1, c1 = _reduced(latitude, ellipsoid)
    sin_course, cos_course = np.sin(course), np.cos(course)
    sin_alpha = c1 * sin_course
    cos2_alpha, sigma1 = 1 - sin_alpha**2, np.arctan2(s1, c1 * cos_course)
    A, B = _series(cos2_alpha, ellipsoid)
    sigma = reach = distance / (ellipsoid.b * A)
    for _ in range(ROUNDS):
        sigma = reach + _correction(B, np.sin(sigma), np.cos(sigma), np.cos(2 * sigma1 + sigma))
    sin_sigma, cos_sigma, cos_2m = np.sin(sigma), np.cos(sigma), np.cos(2 * sigma1 + sigma)
    out = c1 * cos_sigma * cos_course - s1 * sin_sigma  # along the way, as seen from the axis
    up = s1 * cos_sigma + c1 * sin_sigma * cos_course
    to_latitude = np.arctan2(up, (1 - ellipsoid.f) * np.hypot(sin_alpha, out))
    lam = np.arctan2(sin_sigma * sin_course, c1 * cos_sigma - s1 * sin_sigma * cos_course)
    C = _C(ellipsoid.f, cos2_alpha)
    inner = sigma + C * sin_sigma * (cos_2m + C * cos_sigma * (2 * cos_2m**2 - 1))
    there = np.add(longitude, lam - (1 - C) * ellipsoid.f * sin_alpha * inner)
    return to_latitude, np.mod(there + np.pi, 2 * np.pi) - np.pi, _turn(np.arctan2(sin_alpha, out), True)


def _reduced(latitude: Any, ellipsoid: Spheroid) -> tuple[Array, Array]:
    """sin and cos of the reduced latitude."""
    s, c = (1 - ellipsoid.f) * np.sin(latitude), np.cos(latitude)
    k = 1 / np.sqrt(s * s + c * c)
    return s * k, c * k


def _arc(s1: Any, c1: Any, s2: Any, c2: Any, lam: Any) -> tuple[Any, Any, Any, Any, Any]:
    """sin and cos of sigma, sin alpha, cos^2 alpha, and cos 2 sigma_m of the middle of the way."""
    sin_lam, cos_lam = np.sin(lam), np.cos(lam)
    sin_sigma = np.sqrt((c2 * sin_lam) ** 2 + (c1 * s2 - s1 * c2 * cos_lam) ** 2 + _TINY)
    cos_sigma = s1 * s2 + c1 * c2 * cos_lam
    sin_alpha = c1 * c2 * sin_lam / sin_sigma
    cos2_alpha = 1 - sin_alpha**2
    on_equator = cos2_alpha < 1e-15
    cos_2m = np.where(on_equator, 0.0, cos_sigma - 2 * s1 * s2 / np.where(on_equator, 1.0, cos2_alpha))
    return sin_sigma, cos_sigma, sin_alpha, cos2_alpha, cos_2m


def _C(f: float, cos2_alpha: Any) -> Any:
    return f / 16 * cos2_alpha * (4 + f * (4 - 3 * cos2_alpha))


def _series(cos2_alpha: Any, ellipsoid: Spheroid) -> tuple[Any, Any]:
    """Vincenty's A and B, in powers of u^2 = cos^2(alpha) e'^2."""
    u2 = cos2_alpha * ellipsoid.e2 / (1 - ellipsoid.e2)
    A = 1 + u2 / 16384 * (4096 + u2 * (-768 + u2 * (320 - 175 * u2)))
    return A, u2 / 1024 * (256 + u2 * (-128 + u2 * (74 - 47 * u2)))


def _correction(B: Any, sin_sigma: Any, cos_sigma: Any, cos_2m: Any) -> Any:
    """Vincenty's delta sigma."""
    third = B / 6 * cos_2m * (4 * sin_sigma**2 - 3) * (4 * cos_2m**2 - 3)
    return B * sin_sigma * (cos_2m + B / 4 * (cos_sigma * (2 * cos_2m**2 - 1) - third))


def _turn(angle: Any, found: Any) -> Any:
    return np.where(found, np.mod(angle, 2 * np.pi), np.nan)
