"""Air data of an aircraft: speeds, angles of the flow, Mach number, pressures, altitudes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.environment import atmosphere
from poinsot.environment.atmosphere import A_0, GAMMA, P_0, RHO_0, Air
from poinsot.spatial.arrays import as_array, components, matrix, vector

STILL = 1e-9  # [m/s]: below this speed the flow has no direction, alpha and beta are 0
ROUNDS = 6  # of Newton, for calibrated airspeeds beyond the speed of sound: exact to rounding up to Mach 10

# The numbers of `AirData`, with their units: the same names in formulas and in records.
AIR_QUANTITIES = {
    "airspeed": "m/s", "mach": "1", "alpha": "rad", "beta": "rad", "dynamic_pressure": "Pa", "impact_pressure": "Pa",
    "equivalent_airspeed": "m/s", "calibrated_airspeed": "m/s", "altitude": "m", "geopotential_altitude": "m",
    "height_above_ground": "m",
    "pressure_altitude": "m", "density_altitude": "m", "temperature": "K", "pressure": "Pa", "density": "kg/m^3",
    "speed_of_sound": "m/s", "reynolds_per_metre": "1/m",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class AirData:
    """The air as a point of an aircraft meets it; each quantity is computed when it is asked for.

    velocity: (..., 3) [m/s] of the point relative to the air, in aircraft axes: x forward, y right, z down.
    air: the air there. All quantities and their derivatives are finite at rest.
    altitude: [m], geometric. rates: (..., 3) [rad/s], how the aircraft turns relative to the air, in its axes.
    height_above_ground: [m], the distance from the ground below.
    """

    velocity: Annotated[Array, "m/s"]
    air: Air
    altitude: Annotated[Any, "m"] = None
    rates: Annotated[Any, "rad/s"] = None
    height_above_ground: Annotated[Any, "m"] = None

    @property
    def temperature(self) -> Array:
        """T [K]."""
        return self.air.temperature

    @property
    def pressure(self) -> Array:
        """The static pressure p [Pa]."""
        return self.air.pressure

    @property
    def density(self) -> Array:
        """rho [kg/m^3]."""
        return self.air.density

    @property
    def speed_of_sound(self) -> Array:
        """a [m/s]."""
        return self.air.speed_of_sound

    @property
    def geopotential_altitude(self) -> Array:
        """The geopotential height [m] that belongs to the altitude."""
        result: Array = atmosphere.geopotential(self.altitude)
        return result

    @cached_property
    def airspeed(self) -> Array:
        """The true airspeed V = |v| [m/s]."""
        return _root(np.sum(self.velocity * self.velocity, axis=-1))

    @cached_property
    def alpha(self) -> Array:
        """The angle of attack atan2(w, u) [rad]."""
        u, _, w = components(self.velocity)
        return np.arctan2(w, np.where(u * u + w * w < STILL**2, 1.0, u))

    @cached_property
    def beta(self) -> Array:
        """The angle of sideslip asin(v/V) = atan2(v, sqrt(u^2 + w^2)) [rad]."""
        u, v, w = components(self.velocity)
        across = _root(u * u + w * w)
        return np.arctan2(v, np.where(across * across + v * v < STILL**2, 1.0, across))

    @cached_property
    def wind_axes(self) -> Array:
        """R_BA (..., 3, 3), from wind axes to aircraft axes; without angles, so without trigonometry."""
        u, v, w = components(self.velocity)
        across = _root(u * u + w * w)
        ca, sa = _direction(u, w, across)
        cb, sb = _direction(across, v, self.airspeed)
        return _turned(ca, sa, cb, sb)

    @cached_property
    def stability_axes(self) -> Array:
        """R_BS (..., 3, 3), from stability axes to aircraft axes."""
        u, _, w = components(self.velocity)
        ca, sa = _direction(u, w, _root(u * u + w * w))
        return _turned(ca, sa, 1.0, 0.0)

    @property
    def mach(self) -> Array:
        """M = V/a."""
        return self.airspeed / self.air.speed_of_sound

    @property
    def dynamic_pressure(self) -> Array:
        """q = rho V^2/2 [Pa]."""
        return 0.5 * self.air.density * np.sum(self.velocity * self.velocity, axis=-1)

    @property
    def impact_pressure(self) -> Array:
        """Impact pressure [Pa] of a pitot tube; beyond Mach 1 behind a normal shock (Rayleigh)."""
        return self.air.pressure * _impact(self.mach)

    @property
    def equivalent_airspeed(self) -> Array:
        """The speed [m/s] with the same dynamic pressure at sea level, V sqrt(rho/rho_0)."""
        return self.airspeed * np.sqrt(self.air.density / RHO_0)

    @property
    def calibrated_airspeed(self) -> Array:
        """The speed [m/s] with the same impact pressure at sea level of the standard atmosphere."""
        return A_0 * _mach_of_impact(self.impact_pressure / P_0)

    @property
    def pressure_altitude(self) -> Array:
        """The geopotential height [m] at which the standard atmosphere has this pressure."""
        return atmosphere.pressure_altitude(self.air.pressure)

    @property
    def density_altitude(self) -> Array:
        """The geopotential height [m] at which the standard atmosphere has this density."""
        return atmosphere.density_altitude(self.air.density)

    @property
    def reynolds_per_metre(self) -> Array:
        """rho V/viscosity [1/m]."""
        return self.air.density * self.airspeed / self.air.viscosity


def air_data(velocity: ArrayLike, air: Air) -> AirData:
    """The flow at a point that moves with `velocity` (..., 3) [m/s] relative to the air, in aircraft axes."""
    return AirData(as_array(velocity), air)


def air_velocity(airspeed: Any, alpha: Any = 0.0, beta: Any = 0.0) -> Array:
    """The velocity (..., 3) [m/s] relative to the air, in aircraft axes, of an airspeed [m/s] and angles [rad]."""
    across = airspeed * np.cos(beta)
    return vector(across * np.cos(alpha), airspeed * np.sin(beta), across * np.sin(alpha))


def true_airspeed(calibrated: Any, air: Air) -> Array:
    """The true airspeed [m/s] in some air of a calibrated airspeed [m/s]."""
    return air.speed_of_sound * _mach_of_impact(_impact(calibrated / A_0) * P_0 / air.pressure)


def wind_axes(alpha: Any, beta: Any) -> Array:
    """R_BA (..., 3, 3), from wind axes to aircraft axes: x along the airspeed, z down in the plane of symmetry."""
    return _turned(np.cos(alpha), np.sin(alpha), np.cos(beta), np.sin(beta))


def _turned(ca: Any, sa: Any, cb: Any, sb: Any) -> Array:
    """R_BA from the cosines and sines of alpha and beta."""
    return matrix([[ca * cb, -ca * sb, -sa], [sb, cb, 0], [sa * cb, -sa * sb, ca]])


def stability_axes(alpha: Any) -> Array:
    """R_BS (..., 3, 3), from stability axes to aircraft axes: x along the airspeed's part in the plane of symmetry."""
    return wind_axes(alpha, 0.0)


def _direction(x: Any, y: Any, length: Any) -> tuple[Any, Any]:
    """x and y over their length; 1 and 0 where that is 0."""
    still = length < STILL
    over = 1 / np.where(still, 1.0, length)
    return np.where(still, 1.0, x * over), np.where(still, 0.0, y * over)


def _root(x: Any) -> Any:
    """sqrt(x), with the derivative 0 at 0."""
    still = x < STILL**4
    return np.where(still, 0.0, np.sqrt(np.where(still, 1.0, x)))


def _impact(mach: Any) -> Any:
    """Impact over static pressure: (1 + (g-1)/2 M^2)^(g/(g-1)) - 1; from Mach 1 on behind a shock, for g = 1.4."""
    M = np.maximum(mach, 1.0)
    slow = np.expm1(GAMMA / (GAMMA - 1) * np.log1p(0.5 * (GAMMA - 1) * np.minimum(mach, 1.0) ** 2))
    return np.where(mach < 1.0, slow, _rayleigh(M))


def _rayleigh(M: Any) -> Any:
    """(6/5)^3.5 M^2 (6 M^2/(7 M^2 - 1))^2.5 - 1."""
    return 1.2**3.5 * M * M * (6 * M * M / (7 * M * M - 1)) ** 2.5 - 1


def _mach_of_impact(ratio: Any) -> Any:
    """The inverse of `_impact`."""
    sonic = 1.2**3.5 - 1
    slow = _root(2 / (GAMMA - 1) * np.expm1((GAMMA - 1) / GAMMA * np.log1p(np.minimum(ratio, sonic))))
    fast: Any = np.maximum(ratio, sonic)
    M = np.sqrt((fast + 1) / 1.2**3.5 * (7 / 6) ** 2.5)  # for large Mach numbers
    for _ in range(ROUNDS):  # Newton for the logarithm: d log p / d log M = 2 - 5/(7 M^2 - 1)
        error = np.log((_rayleigh(M) + 1) / (fast + 1))
        M = np.maximum(M * np.exp(-error / (2 - 5 / (7 * M * M - 1))), 1.0)
    return np.where(ratio < sonic, slow, M)
