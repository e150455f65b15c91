"""The start of a flight as a pilot says it, and the initial state of a body that it means; it can be traced."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.environment import AirMass, Earth
from poinsot.environment.air_mass import ground_velocity, height, turning
from poinsot.environment.airspeed import air_velocity
from poinsot.environment.geodesy import require_place, transport_rate
from poinsot.fuse import is_traced
from poinsot.parts.whereabouts import level
from poinsot.spatial import euler, quaternion
from poinsot.spatial.arrays import as_array, vector

RatesTo = Literal["ned", "earth", "inertial"]
VECTORS = ("position", "velocity_ned", "rates")
LARGEST = {  # [rad]: half a turn, or a whole one
    **dict.fromkeys(("pitch", "alpha", "beta", "flight_path"), np.pi + 1e-9),
    **dict.fromkeys(("heading", "roll"), 2 * np.pi + 1e-9),
}
FASTEST = 0.1  # [rad/s] of north-east-down; only next to a pole is it faster


@dataclass(frozen=True, eq=False)
class Start:
    """Place, attitude and velocity of an aircraft (x forward, y right, z down) at t = 0: `add_body(name, start=...)`.

    latitude, longitude [rad], altitude [m] above the ellipsoid; on flat ground the altitude alone, or the position (3,)
    [m] of the body's origin in world axes. heading, pitch, roll [rad]: R_NB = Rz(heading) Ry(pitch) Rx(roll) against
    north-east-down, which on flat ground is x, -y, -z of the world.
    One of: airspeed [m/s] or mach, through the air of the world and its wind, with alpha and beta [rad]; velocity_ned
    (3,) [m/s] relative to the Earth. Without any, it stands still on the Earth.
    flight_path [rad]: the angle at which it climbs through the air, instead of the pitch.
    rates: p, q, r [rad/s] in aircraft axes, relative to north-east-down as it moves along ("ned"), "earth", "inertial".
    """

    latitude: Annotated[float | None, "rad"] = None
    longitude: Annotated[float | None, "rad"] = None
    altitude: Annotated[float | None, "m"] = None
    position: Annotated[ArrayLike | None, "m"] = None
    heading: Annotated[float, "rad"] = 0.0
    pitch: Annotated[float | None, "rad"] = None
    roll: Annotated[float, "rad"] = 0.0
    airspeed: Annotated[float | None, "m/s"] = None
    mach: Annotated[float | None, "1"] = None
    velocity_ned: Annotated[ArrayLike | None, "m/s"] = None
    alpha: Annotated[float | None, "rad"] = None
    beta: Annotated[float | None, "rad"] = None
    flight_path: Annotated[float | None, "rad"] = None
    rates: Annotated[ArrayLike, "rad/s"] = (0.0, 0.0, 0.0)
    rates_to: RatesTo = "ned"

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if value is not None and name != "rates_to":
                require_numbers("a start", name, value, (3,) if name in VECTORS else ())
                _require_angle(name, value)
        if self.rates_to not in get_args(RatesTo):
            raise FieldError(f"rates_to={self.rates_to!r} of a start must be one of {get_args(RatesTo)}.", "rates_to")
        self._one_of("position", "latitude", "longitude", "altitude")
        self._one_of("airspeed", "mach", "velocity_ned")
        self._one_of("mach", "velocity_ned")
        self._one_of("velocity_ned", "alpha", "beta", "flight_path")
        self._one_of("pitch", "flight_path")
        if self.airspeed is None and self.mach is None:
            for name in ("alpha", "beta", "flight_path"):
                if getattr(self, name) is not None:
                    raise FieldError(f"a start with {name}, but without a speed: give airspeed or mach.", name)
        for name in ("airspeed", "mach"):
            value = getattr(self, name)
            if value is not None and not is_traced(value) and value < 0:
                raise FieldError(f"{name}={value!r} of a start must be 0 or more.", name)

    def _one_of(self, name: str, *others: str) -> None:
        """An error if one of the others is given beside the first."""
        for other in others:
            if getattr(self, name) is not None and getattr(self, other) is not None:
                raise FieldError(f"a start has {name} or {other}, not both.", other)

    def state(self, earth: Earth | None = None, air: AirMass | None = None) -> dict[str, Array]:
        """position, orientation, velocity and angular_velocity of a body, in the axes of a world with this Earth."""
        p = self._place(earth, air)
        R_WN = level(earth, p)
        R_WB = R_WN @ euler.to_matrix([self.roll, self.pitch_angle(), self.heading])
        ground = ground_velocity(earth, p)
        v = ground if self.velocity_ned is None else ground + R_WN @ as_array(self.velocity_ned)
        if (V := self._airspeed(earth, air, p)) is not None:
            moved = ground if air is None else air.velocity(earth, 0.0, p)
            v = moved + R_WB @ air_velocity(V, _or_0(self.alpha), _or_0(self.beta))
        omega = as_array(self.rates)
        if self.rates_to != "inertial":
            omega = omega + R_WB.T @ turning(earth)
        if self.rates_to == "ned" and earth is not None:
            omega = omega + R_WB.T @ R_WN @ _transport_rate(earth, p, R_WN.T @ (v - ground))
        q = quaternion.from_matrix(R_WB)
        return {"position": p, "orientation": q, "velocity": v, "angular_velocity": omega}

    def _place(self, earth: Earth | None, air: AirMass | None) -> Array:
        """p (3,) [m] in the axes of the world."""
        place = {name: getattr(self, name) for name in ("latitude", "longitude", "altitude")}
        if self.position is not None:
            p = as_array(self.position)
            place["altitude"] = height(earth, p)
        elif earth is None:
            for name in ("latitude", "longitude"):
                if place[name] is not None:
                    raise FieldError(f"flat ground has no {name}: give altitude, or pt.World(earth=...).", name)
            p = vector(0.0, 0.0, _or_0(self.altitude))
        elif missing := [name for name, value in place.items() if value is None]:
            raise FieldError(f"a start around the Earth needs {missing[0]}, or a position.", missing[0])
        else:
            p = earth.rotation(0.0) @ earth.ecef(self.latitude, self.longitude, self.altitude)  # type: ignore[arg-type]
        top = np.inf if air is None else air.atmosphere.top
        latitude, longitude, altitude = map(_or_0, place.values())
        require_place(latitude, longitude, altitude, top=top)
        return p

    def pitch_angle(self) -> Any:
        """The pitch [rad]: that given, or that of the flight path gamma, from sin(gamma) = a sin(pitch) - b cos(pitch).

        Stevens, Lewis & Johnson, Aircraft Control and Simulation, section 3.6.
        """
        if self.flight_path is None:
            return _or_0(self.pitch)
        alpha, beta, climb = _or_0(self.alpha), _or_0(self.beta), np.sin(self.flight_path)
        a = np.cos(alpha) * np.cos(beta)
        b = np.sin(self.roll) * np.sin(beta) + np.cos(self.roll) * np.sin(alpha) * np.cos(beta)
        steepest = np.sqrt(a * a + b * b)
        if not is_traced(climb, steepest) and np.abs(climb) > steepest:
            words = f"flight_path={self.flight_path!r} rad cannot be reached with this roll, alpha and beta"
            raise FieldError(f"{words}: the steepest is {np.arcsin(steepest):.6g} rad.", "flight_path")
        return np.arctan2(b, a) + np.arcsin(climb / steepest)

    def _airspeed(self, earth: Earth | None, air: AirMass | None, p: Array) -> Any:
        """The true airspeed [m/s], if one is given."""
        if self.mach is None:
            return self.airspeed
        if air is None:
            raise FieldError(f"mach={self.mach!r} needs air: give pt.World(air=pt.US76()).", "mach")
        return self.mach * air.atmosphere.at(height(earth, p)).speed_of_sound


def _transport_rate(earth: Earth, p: Array, v_N: Array) -> Array:
    """omega_EN_N (3,) [rad/s]; an error at the poles, where it has no bound."""
    rate = transport_rate(earth.geodetic(p).latitude, earth.height(p), v_N, earth.ellipsoid)
    if not is_traced(rate) and np.abs(rate).max() > FASTEST:
        raise FieldError("next to a pole north-east-down turns without bound: give rates_to='earth'.", "rates_to")
    return rate


def require_numbers(owner: str, name: str, value: Any, shape: tuple[int, ...]) -> None:
    """An error that names a value that is not finite numbers of this shape."""
    if is_traced(value):
        return
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.full(shape, np.nan)
    if array.shape != shape or not np.all(np.isfinite(array)):
        what = "three finite numbers" if shape else "a finite number"
        raise FieldError(f"{name}={value!r} of {owner} must be {what}.", name)


def _require_angle(name: str, value: Any) -> None:
    """An error if an angle is so large that it was meant in degrees."""
    most = LARGEST.get(name, np.inf)
    if not is_traced(value) and np.any(np.abs(value) > most):
        words = f"{name}={value!r} rad of a start is beyond {most:.4g} rad"
        raise FieldError(f'{words}; for degrees write np.radians(...), or "{value:g} deg" in a scenario.', name)


def _or_0(value: Any) -> Any:
    return 0.0 if value is None else value
