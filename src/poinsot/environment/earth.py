"""The Earth: its figure, its rotation and its gravitation, which is the same in inertial and in Earth-fixed axes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._hints import hint
from poinsot._types import Array, ArrayLike, Scalar
from poinsot.environment import almanac, epochs, geodesy, geomagnetism, zonal
from poinsot.environment.geodesy import SPHERE, WGS84, Geodetic, Spheroid
from poinsot.fuse import is_traced
from poinsot.spatial.arrays import as_array, components, matvec, vector
from poinsot.spatial.rotation import about_z

MU = 3.986004418e14  # [m^3/s^2], with the atmosphere; NIMA TR8350.2, table 3.1
RATE = 7.292115e-5  # [rad/s], against the stars; the same
RADIUS = 6378137.0  # [m], of the harmonics; the same
# J2 of WGS-84 as in NASA/TM-2015-218675, table 73; J3 and J4 of EGM96: -sqrt(2 n + 1) times its normalised C_n0.
ZONAL = {2: 1.08262982e-3, 3: -2.53265649e-6, 4: -1.61962159e-6}
MODELS: dict[str, Spheroid] = {"wgs84": WGS84, "sphere": SPHERE}
GRAVITY: dict[str, tuple[int, ...]] = {"central": (), "J2": (2,), "J4": (2, 3, 4)}


@dataclass(frozen=True)
class Earth:
    """The Earth. Its centre is the origin, its axis is z; inertial axes (I) and Earth-fixed ones (E) agree at t = 0, or
    with an epoch, x of the inertial axes points to the mean equinox of date.

    model: "wgs84", or "sphere" of radius 6371007.1809 m.
    gravity: "central", "J2", or "J4", the zonal harmonics to the fourth.
    rotating: whether it turns with 7.292115e-5 rad/s.
    mu: the gravitational parameter G M.
    gradient: whether its pull varies over the extent of a body, which turns long ones.
    epoch: the instant t = 0 in UTC, "2026-03-20T12:00:00Z": where Sun and Moon are, and how far the Earth has turned.
    magnetic: "dipole", tilted as in 2025, or "igrf", the reference field of the epoch (package ppigrf).
    pulls: the names of third bodies that pull as well, of "sun" and "moon".
    """

    model: str = "wgs84"
    gravity: str = "J2"
    rotating: bool = True
    mu: Annotated[float, "m^3/s^2"] = MU
    gradient: bool = True
    epoch: str | None = None
    magnetic: str | None = None
    pulls: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._check_surroundings()
        for name, known in (("model", MODELS), ("gravity", GRAVITY)):
            value: Any = getattr(self, name)
            if value not in known:
                known_names = ", ".join(map(repr, known))
                raise FieldError(f"{name}={value!r} of the Earth: there are {known_names}{hint(value, known)}", name)
        for name in ("rotating", "gradient"):
            if not isinstance(getattr(self, name), bool):
                raise FieldError(f"{name}={getattr(self, name)!r} of the Earth must be True or False", name)
        if not is_traced(self.mu) and not 0 <= self.mu < np.inf:
            raise FieldError(f"mu={self.mu!r} m^3/s^2 of the Earth must be a finite number, 0 or more", "mu")

    def _check_surroundings(self) -> None:
        """An error if epoch, magnetic field and third bodies cannot be, or need an epoch that is not given."""
        if self.epoch is not None:
            object.__setattr__(self, "epoch", epochs.written(self.epoch))
        if self.magnetic is not None and self.magnetic not in (known := geomagnetism.MAGNETIC):
            listed = ", ".join(map(repr, known))
            raise FieldError(
                f"magnetic={self.magnetic!r} of the Earth: there are {listed}{hint(self.magnetic, known)}", "magnetic"
            )
        names = (self.pulls,) if isinstance(self.pulls, str) else tuple(self.pulls)
        object.__setattr__(self, "pulls", names)
        for name in names:
            if name not in almanac.BODIES:
                raise FieldError(
                    f"pulls={name!r} of the Earth: there are 'sun', 'moon'{hint(name, almanac.BODIES)}", "pulls"
                )
        for field, needs in (("magnetic", self.magnetic == "igrf"), ("pulls", bool(names))):
            if needs and self.epoch is None:
                value = getattr(self, field)
                raise FieldError(
                    f'{field}={value!r} of the Earth needs an epoch, such as "2026-03-20T12:00:00Z".', "epoch"
                )
        if self.magnetic == "igrf":
            geomagnetism.igrf(self.epoch)

    @property
    def ellipsoid(self) -> Spheroid:
        """Its figure."""
        return MODELS[self.model]

    @property
    def rate(self) -> float:
        """Its angular speed [rad/s]: 0 if it does not rotate."""
        return RATE if self.rotating else 0.0

    def rotation(self, t: Scalar) -> Array:
        """R_IE (..., 3, 3) at t [s]: from Earth-fixed to inertial axes."""
        return about_z(self.angle + np.multiply(self.rate, t))

    @cached_property
    def angle(self) -> float:
        """How far it has turned at t = 0 [rad]: the mean sidereal time of the epoch, or 0 without one."""
        return 0.0 if self.epoch is None else epochs.sidereal_angle(self.epoch)

    def days(self, t: Scalar) -> Any:
        """Days of UTC since J2000 at t [s]; an error without an epoch."""
        if self.epoch is None:
            raise FieldError('the Sun and Moon need an epoch: pt.Earth(epoch="2026-03-20T12:00:00Z").', "epoch")
        return almanac.require_epoch(self.epoch) + t / epochs.DAY

    def sun(self, t: Scalar) -> Array:
        """The position (..., 3) [m] of the Sun at t [s], inertial axes."""
        return almanac.sun(self.days(t))

    def moon(self, t: Scalar) -> Array:
        """The position (..., 3) [m] of the Moon at t [s], inertial axes."""
        return almanac.moon(self.days(t))

    def sunlight(self, p_I: Array, t: Scalar) -> Array:
        """The share of the Sun's disc that is seen from p_I (3,) [m] past the Earth, a sphere here: 0 in the umbra."""
        return almanac.sunlight(p_I, self.sun(t), self.ellipsoid.a)

    def third_body_pull(self, p_I: Array, t: Scalar) -> Array:
        """The acceleration (3,) [m/s^2] by the third bodies that `pulls` names, relative to the Earth."""
        return sum((almanac.third_body_pull(name, self.days(t), p_I) for name in self.pulls), np.zeros(3))

    def magnetic_field(self, p_I: Array, t: Scalar) -> Array:
        """B_I (3,) [T] at p_I (3,) [m] and t [s], inertial axes; its coefficients are those of the epoch."""
        if self.magnetic is None:
            raise FieldError('the Earth has no magnetic field: pt.Earth(magnetic="dipole"), or "igrf".', "magnetic")
        R_IE = self.rotation(t)
        return R_IE @ geomagnetism.field(R_IE.T @ p_I, self._gauss)

    @cached_property
    def _gauss(self) -> geomagnetism.Gauss:
        return geomagnetism.DIPOLE if self.magnetic == "dipole" else geomagnetism.igrf(self.epoch)

    def ecef(self, latitude: Scalar, longitude: Scalar, height: Scalar) -> Array:
        """p_E (..., 3) [m] of a place [rad, rad, m]."""
        return geodesy.ecef(latitude, longitude, height, self.ellipsoid)

    def geodetic(self, p_E: ArrayLike) -> Geodetic:
        """Latitude [rad], longitude [rad] and height [m] of p_E (..., 3) [m]."""
        return geodesy.geodetic(p_E, self.ellipsoid)

    def height(self, p: ArrayLike) -> Array:
        """The height [m] above its figure of p (..., 3) [m], in inertial or Earth-fixed axes."""
        return geodesy.height_of(p, self.ellipsoid)

    def ned(self, p_E: ArrayLike) -> Array:
        """R_EN (..., 3, 3) at p_E (..., 3) [m]; with p_I in inertial axes, R_IN."""
        return geodesy.ned_at(p_E, self.ellipsoid)

    def to_inertial(self, p_E: ArrayLike, v_E: ArrayLike, t: Scalar = 0.0) -> tuple[Array, Array]:
        """p_I [m], v_I [m/s] of a point at p_E (..., 3) with the velocity v_E relative to the Earth."""
        return geodesy.to_inertial(p_E, v_E, t, self.rate, self.angle)

    def to_earth(self, p_I: ArrayLike, v_I: ArrayLike, t: Scalar = 0.0) -> tuple[Array, Array]:
        """p_E [m] and the velocity v_E [m/s] relative to the Earth of a point at p_I (..., 3) with v_I."""
        return geodesy.to_earth(p_I, v_I, t, self.rate, self.angle)

    def ground_velocity(self, p: ArrayLike) -> Array:
        """omega x p (..., 3) [m/s]: the velocity of a point that stands on the Earth, in the axes of p."""
        x, y, _ = components(p)
        return vector(-self.rate * y, self.rate * x, 0.0)

    def velocity_in_air(self, p_I: ArrayLike, v_I: ArrayLike, wind_N: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """v_I - omega x p_I - R_IN wind_N (..., 3) [m/s], inertial axes: relative to air that turns with the Earth.

        wind_N: the velocity of the air relative to the Earth, north, east, down.
        """
        return as_array(v_I) - self.ground_velocity(p_I) - matvec(self.ned(p_I), as_array(wind_N))

    def potential(self, p: ArrayLike) -> Array:
        """The energy U [J/kg] of a unit of mass at p (..., 3) [m]: 0 at infinity."""
        return zonal.potential(p, self.mu, RADIUS, self.zonal)

    def gravitation(self, p: ArrayLike) -> Array:
        """-grad U (..., 3) [m/s^2] at p (..., 3) [m], without the centrifugal part of what is called gravity."""
        return zonal.gravitation(p, self.mu, RADIUS, self.zonal)

    def gravity_gradient(self, p: ArrayLike) -> Array:
        """-Hess U (..., 3, 3) [1/s^2] at p (..., 3) [m]; a mass dm at rho from p is pulled by (g + G rho) dm."""
        return zonal.gravity_gradient(p, self.mu, RADIUS, self.zonal)

    @property
    def zonal(self) -> dict[int, float]:
        """The harmonics J_n of its gravitation, by n."""
        return {n: ZONAL[n] for n in GRAVITY[self.gravity]}
