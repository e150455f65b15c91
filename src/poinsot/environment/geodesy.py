"""Places on an ellipsoid of revolution: geodetic and Cartesian coordinates, the frame north-east-down, great circles.

Frames: E, the Earth-fixed one (ECEF: z to the north pole, x to latitude and longitude 0); N, north-east-down at a
place; I, the inertial one (ECI), equal to E at t = 0. Latitude, longitude and course in rad, height above the ellipsoid
in m. Everything broadcasts over batches in front, and can be traced.
"""

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike, Scalar
from poinsot.fuse import is_traced
from poinsot.spatial.arrays import components, matrix, vector
from poinsot.spatial.rotation import about_z

ITERATIONS = 2  # of Bowring: exact to rounding from -1000 km to beyond 40,000 km
DEEPEST = 5.0e6  # [m] from the centre: latitudes are not computed nearer to it
_TINY = 1e-30  # [m^2] keeps derivatives of roots finite on the axis of the Earth, in float32 too


@dataclass(frozen=True)
class Spheroid:
    """An ellipsoid of revolution: equatorial radius a [m], flattening f = (a - b)/a."""

    a: Annotated[float, "m"] = 6378137.0
    f: Annotated[float, "1"] = 1 / 298.257223563

    def __post_init__(self) -> None:
        if not is_traced((self.a, self.f)) and not (self.a > DEEPEST and 0 <= self.f < 0.01):
            raise ValueError(
                f"an ellipsoid with a = {self.a} m, f = {self.f} is not the Earth's: a > {DEEPEST:g} m, 0 <= f < 0.01"
            )

    @property
    def e2(self) -> float:
        """The first eccentricity squared, e^2 = f (2 - f)."""
        return self.f * (2 - self.f)

    @property
    def b(self) -> float:
        """The polar radius b = a (1 - f) [m]."""
        return self.a * (1 - self.f)


WGS84 = Spheroid()  # NIMA TR8350.2, table 3.1
SPHERE = Spheroid(6371007.1809, 0.0)  # of equal area; NASA/TM-2015-218675, table 73


class Geodetic(NamedTuple):
    """A place: latitude [rad] of the ellipsoid's normal, longitude [rad], height above the ellipsoid [m]."""

    latitude: Any
    longitude: Any
    height: Any


def require_place(latitude: Scalar, longitude: Scalar, height: Scalar, lowest: float = -1e4, top: float = 4e7) -> None:
    """An error if a place [rad, rad, m] cannot be meant; `top` [m]: that of the air model, where there is one."""
    if not is_traced(latitude) and not np.all(np.abs(latitude) <= np.pi / 2):
        words = f"latitude={latitude!r} rad must be between -pi/2 and pi/2"
        raise FieldError(f'{words}; degrees are converted by np.radians, or "{latitude:g} deg" in files', "latitude")
    if not is_traced(longitude) and not np.all(np.abs(longitude) <= 2 * np.pi):
        words = f"longitude={longitude!r} rad must be between -2 pi and 2 pi"
        raise FieldError(f'{words}; degrees are converted by np.radians, or "{longitude:g} deg" in files', "longitude")
    if not is_traced(height) and not np.all(np.greater_equal(height, lowest)):
        raise FieldError(f"altitude={height!r} m is below the Earth's surface; the least is {lowest:g} m", "altitude")
    if not is_traced(height) and not np.all(np.less_equal(height, top)):
        raise FieldError(f"altitude={height!r} m is above the model, which ends at {top:g} m", "altitude")


def ecef(latitude: Scalar, longitude: Scalar, height: Scalar, ellipsoid: Spheroid = WGS84) -> Array:
    """p_E (..., 3) [m] = ((N + h) cos(lat) cos(lon), (N + h) cos(lat) sin(lon), (N (1 - e^2) + h) sin(lat))."""
    s, c = np.sin(latitude), np.cos(latitude)
    N = ellipsoid.a / np.sqrt(1 - ellipsoid.e2 * s * s)
    r = (N + height) * c
    return vector(r * np.cos(longitude), r * np.sin(longitude), (N * (1 - ellipsoid.e2) + height) * s)


def geodetic(p_E: ArrayLike, ellipsoid: Spheroid = WGS84) -> Geodetic:
    """Latitude, longitude and height of p_E (..., 3) [m]: the inverse of `ecef`, to rounding.

    Nearer than 5000 km to the centre it is NaN in a kernel, and an error on plain numbers. On the axis longitude is 0.
    """
    x, y, _ = components(p_E)
    s, c, height = _normal(p_E, ellipsoid)
    return Geodetic(np.arctan2(s, c), np.arctan2(y, x), height)


def height_of(p_E: ArrayLike, ellipsoid: Spheroid = WGS84) -> Array:
    """The height [m] of p_E (..., 3) [m] above the ellipsoid, with derivatives that are finite also at the poles."""
    return _normal(p_E, ellipsoid)[2]


def _normal(p_E: ArrayLike, ellipsoid: Spheroid) -> tuple[Array, Array, Array]:
    """sin and cos of the geodetic latitude, and the height [m].

    Bowring (1976): tan(lat) = (z + e'^2 b sin^3 u)/(r - e^2 a cos^3 u) and tan u = (1 - f) tan(lat), where u is the
    reduced latitude; each round gains four digits or more. The height is r cos(lat) + z sin(lat) - a^2/N, which has
    no division that fails at a pole, and an error of second order in that of the latitude.
    """
    x, y, z = components(p_E)
    a, b, f, e2 = ellipsoid.a, ellipsoid.b, ellipsoid.f, ellipsoid.e2
    r2 = x * x + y * y
    r = np.sqrt(r2 + _TINY)
    far = r2 + z * z >= DEEPEST**2
    if not is_traced(far) and not np.all(far | np.isnan(r2 + z * z)):
        nearest = float(np.sqrt(np.min(r2 + z * z)))
        raise ValueError(
            f"a place {nearest:g} m from the Earth's centre has no latitude: it must be {DEEPEST:g} m away"
        )
    s, c = z, (1 - f) * r  # of the direction (cos u, sin u), of any length
    for _ in range(ITERATIONS):
        k = 1 / np.sqrt(s * s + c * c)
        s, c = (1 - f) * (z + e2 / (1 - e2) * b * (s * k) ** 3), r - e2 * a * (c * k) ** 3
    c = (1 - f) * c  # from the reduced latitude to the geodetic one
    k = 1 / np.sqrt(s * s + c * c)
    s, c = s * k, c * k
    height = r * c + z * s - a * np.sqrt(1 - e2 * s * s)
    return s, c, np.where(far, height, np.nan)


def ned_of(latitude: Scalar, longitude: Scalar) -> Array:
    """R_EN (..., 3, 3): its columns are north, east and down at a place, in Earth-fixed axes."""
    return _axes(np.sin(latitude), np.cos(latitude), np.sin(longitude), np.cos(longitude))


def ned_at(p_E: ArrayLike, ellipsoid: Spheroid = WGS84) -> Array:
    """R_EN (..., 3, 3) at p_E (..., 3) [m], without any angle; on the axis as at longitude 0."""
    x, y, _ = components(p_E)
    s, c, _ = _normal(p_E, ellipsoid)
    r2 = x * x + y * y
    axis = r2 == 0
    k = 1 / np.sqrt(np.where(axis, 1.0, r2))
    return _axes(s, c, y * k, np.where(axis, 1.0, x * k))


def _axes(s: Array, c: Array, sl: Array, cl: Array) -> Array:
    return matrix([[-s * cl, -sl, -c * cl], [-s * sl, cl, -c * sl], [c, 0, -s]])


def radii(latitude: Scalar, ellipsoid: Spheroid = WGS84) -> tuple[Array, Array]:
    """The radii of curvature [m] M = a (1 - e^2)/w^3 of the meridian and N = a/w across it, w^2 = 1 - (e sin lat)^2."""
    w2 = 1 - ellipsoid.e2 * np.sin(latitude) ** 2
    N = ellipsoid.a / np.sqrt(w2)
    return N * (1 - ellipsoid.e2) / w2, N


def transport_rate(latitude: Scalar, height: Scalar, v_N: ArrayLike, ellipsoid: Spheroid = WGS84) -> Array:
    """omega_EN_N (..., 3) [rad/s]: how north-east-down turns in the Earth when its place moves with v_N (..., 3) [m/s].

    (v_east/(N + h), -v_north/(M + h), -v_east tan(lat)/(N + h)). Its third entry has no bound near a pole.
    """
    north, east, _ = components(v_N)
    M, N = radii(latitude, ellipsoid)
    eastward = east / (N + height)
    return vector(eastward, -north / (M + height), -eastward * np.tan(latitude))


def to_inertial(p_E: ArrayLike, v_E: ArrayLike, t: Scalar, rate: Scalar, angle: float = 0.0) -> tuple[Array, Array]:
    """p_I [m] and v_I [m/s] of a point at p_E that moves with v_E relative to the Earth, in Earth-fixed axes.

    p_I = R p_E and v_I = R (v_E + omega x p_E), where R = R_IE turns by angle + rate t [rad, rad/s, s] about z.
    """
    (x, y, z), (u, v, w) = components(p_E), components(v_E)
    R = about_z(angle + np.multiply(rate, t))
    return _turned(R, vector(x, y, z)), _turned(R, vector(u - rate * y, v + rate * x, w))


def to_earth(p_I: ArrayLike, v_I: ArrayLike, t: Scalar, rate: Scalar, angle: float = 0.0) -> tuple[Array, Array]:
    """p_E [m] and v_E [m/s], the velocity relative to the rotating Earth: the inverse of `to_inertial`."""
    (x, y, z), (u, v, w) = components(p_I), components(v_I)
    R = about_z(-(angle + np.multiply(rate, t)))
    return _turned(R, vector(x, y, z)), _turned(R, vector(u + rate * y, v - rate * x, w))


def _turned(R: Array, a: Array) -> Array:
    return np.einsum("...ij,...j->...i", R, a)


def great_circle(
    latitude: Scalar, longitude: Scalar, to_latitude: Scalar, to_longitude: Scalar, radius: float = SPHERE.a
) -> tuple[Array, Array]:
    """The distance [m] to another place on a sphere, and the course [rad] there, from 0 to 2 pi, clockwise from north.

    Exact on the sphere also for places that are near to each other or opposite; within 0.6 % of the distance on the
    ellipsoid, for which there is `geodesics.geodesic`.
    """
    s1, c1, c2 = np.sin(latitude), np.cos(latitude), np.cos(to_latitude)
    dlon = np.subtract(to_longitude, longitude)
    half_lat, half_lon = np.sin(0.5 * np.subtract(to_latitude, latitude)), np.sin(0.5 * dlon)
    # To the other place: north, east, and up as 1 - 2 hav: no difference of numbers that are nearly equal.
    north = np.sin(np.subtract(to_latitude, latitude)) + 2 * s1 * c2 * half_lon**2
    east = c2 * np.sin(dlon)
    hav = half_lat**2 + c1 * c2 * half_lon**2
    distance = radius * np.arctan2(np.hypot(north, east), 1 - 2 * hav)
    return distance, np.mod(np.arctan2(east, north), 2 * np.pi)


def destination(
    latitude: Scalar, longitude: Scalar, course: Scalar, distance: Scalar, radius: float = SPHERE.a
) -> tuple[Array, Array]:
    """Latitude and longitude [rad] after a distance [m] along the great circle that starts with a course [rad]."""
    angle = np.divide(distance, radius)
    s, c, sl, cl = np.sin(latitude), np.cos(latitude), np.sin(angle), np.cos(angle)
    north, east = sl * np.cos(course), sl * np.sin(course)
    out, up = c * cl - s * north, s * cl + c * north  # away from the axis in the meridian of the start; to the pole
    turned = np.add(longitude, np.arctan2(east, out))
    return np.arctan2(up, np.hypot(out, east)), np.mod(turned + np.pi, 2 * np.pi) - np.pi
