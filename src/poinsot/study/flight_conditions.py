"""Conditions of flight that can be trimmed: which quantities each kind holds and finds, and their `Start`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot._types import Array
from poinsot.environment import AirMass
from poinsot.parts.whereabouts import attitude_at
from poinsot.spatial import Pose
from poinsot.world import Description
from poinsot.world.description import Body
from poinsot.world.flight_start import Start
from poinsot.world.orbit import Orbit

OF_START = (
    "airspeed", "mach", "altitude", "latitude", "longitude", "heading", "pitch", "roll", "alpha", "beta", "flight_path",
)  # fmt: skip
TURNING = ("turn_rate", "pitch_rate")  # [rad/s]: of the heading, and nose up about the body's own y axis
EXTRA = "trim:"  # in front of the names of quantities that are not numbers of a world
BOUNDS = {"alpha": 1.5, "beta": 1.5, "pitch": 1.55, "roll": 1.55, "flight_path": 1.5}  # [rad], to either side
LONGEST = {"alpha": 0.15, "beta": 0.15, "pitch": 0.15, "roll": 0.3, "flight_path": 0.2, "altitude": 50.0}


@dataclass(frozen=True)
class Steady:
    """A kind of steady motion: the quantities that are found, those that are held, with their values, whether inputs
    are found as well, and whether it stands still on the ground or over it instead of moving through the air."""

    free: tuple[str, ...]
    hold: Mapping[str, float]
    inputs: bool = True
    standing: bool = False


STRAIGHT = {"turn_rate": 0.0, "pitch_rate": 0.0}
KINDS: dict[str, Steady] = {
    "level": Steady(("alpha", "beta"), {**STRAIGHT, "flight_path": 0.0, "roll": 0.0}),
    "climb": Steady(("alpha", "beta"), {**STRAIGHT, "roll": 0.0}),
    "turn": Steady(("alpha", "roll"), {"beta": 0.0, "flight_path": 0.0, "pitch_rate": 0.0}),
    "pull-up": Steady(("alpha", "beta"), {"roll": 0.0, "flight_path": 0.0, "turn_rate": 0.0}),
    "ground": Steady(("altitude", "pitch", "roll"), STRAIGHT, inputs=False, standing=True),
    "hover": Steady(("pitch", "roll"), STRAIGHT, standing=True),
}
REST = "rest"


def find_kind(name: str) -> Steady | None:
    """The kind of this name; None for "rest"."""
    known = (*KINDS, REST)
    if name not in known:
        raise ValueError(f"there is no trim {name!r}{hint(name, known)}; there are {', '.join(known)}.")
    return KINDS.get(name)


def aircraft_of(description: Description, body: str | None) -> str:
    """The body that flies: the one named, or the first with a start, or the first that is free."""
    free = [name for name, b in description.bodies.items() if b.hinge.type.is_free and b.parent is None]
    if body is not None and str(body) not in free:
        raise ValueError(f"body {str(body)!r} is not a free body of the world{hint(str(body), free)}.")
    if not free:
        raise ValueError("no body of this world is free to fly; world.trim('rest') finds the equilibrium of joints.")
    return (
        str(body) if body is not None else next((n for n in free if description.bodies[n].start is not None), free[0])
    )


def complete_start(description: Description, name: str, kind: Steady, given: Iterable[str]) -> Start:
    """The start of a body with every number that a trim of this kind needs, as a first guess.

    given: the names of the quantities that are held or found.
    """
    body, earth, air = description.bodies[name], description.earth, description.elements.get("air")
    if isinstance(body.start, Orbit):
        raise ValueError(f"{name!r} starts on an orbit; a trim in flight needs a pt.Start, with altitude and speed.")
    started = body.start or _start_of(description, body)
    place: dict[str, Any] = {k: getattr(started, k) for k in ("latitude", "longitude", "altitude", "position")}
    if earth is not None and started.position is not None:
        where = earth.geodetic(np.asarray(started.position, dtype=float))
        place = {"latitude": where.latitude, "longitude": where.longitude, "altitude": where.height, "position": None}
    if earth is None and started.position is None:
        place["altitude"] = _or(started.altitude, 0.0)
    angles: dict[str, Any] = {"heading": started.heading, "roll": started.roll, "rates": np.zeros(3)}
    if kind.standing:
        return Start(**place, **angles, pitch=_or(started.pitch, 0.0), velocity_ned=np.zeros(3))
    if started.velocity_ned is not None and not {"airspeed", "mach"} & set(given):
        return Start(**place, **angles, pitch=_or(started.pitch, 0.05), velocity_ned=started.velocity_ned)
    if not isinstance(air, AirMass) and "mach" in given:
        raise ValueError("a trim at a Mach number needs air: give pt.World(air=pt.US76()).")
    speed: dict[str, Any] = {
        k: _or(getattr(started, k), guess) for k, guess in (("airspeed", 100.0), ("mach", 0.5)) if k in given
    }
    speed = speed or {k: getattr(started, k) for k in ("airspeed", "mach") if getattr(started, k) is not None}
    if not speed:
        raise ValueError(
            f"a trim in flight needs the speed of {name!r}: give its start an airspeed or mach, or "
            "hold={'airspeed': ...}."
        )
    alpha = _or(started.alpha, 0.05)
    path = started.flight_path if started.pitch is None else started.pitch - alpha
    flow: dict[str, Any] = {"alpha": alpha, "beta": _or(started.beta, 0.0), "flight_path": _or(path, 0.0)}
    return Start(**place, **angles, **speed, **flow)


def _start_of(description: Description, body: Body) -> Start:
    """The start of a body that was placed by its position and velocity: heading and speed."""
    p, v = np.asarray(body.position, dtype=float), np.asarray(body.velocity, dtype=float)
    earth, air = description.earth, description.elements.get("air")
    R_WB = Pose.from_quaternion(np.asarray(body.orientation, dtype=float)).R
    roll, pitch, heading = map(float, attitude_at(earth, p, R_WB))
    if isinstance(air, AirMass) and np.linalg.norm(v) > 0:
        speed = float(np.linalg.norm(v - air.velocity(earth, 0.0, p)))
        return Start(position=p, heading=heading, airspeed=speed, alpha=0.05, flight_path=0.0)
    return Start(position=p, heading=heading, pitch=pitch, roll=roll, velocity_ned=np.zeros(3))


def path_of(start: Start, body: str, name: str) -> str:
    """The path of the number that a quantity of flight is."""
    if name in TURNING:
        return EXTRA + name
    if name == "altitude" and start.position is not None:
        return f"{body}.start.position[2]"
    return f"{body}.start.{name}"


def with_start(description: Description, body: str, start: Start) -> Description:
    """The description with this start of the body, and the rates of turning as further inputs."""
    gone: dict[str, Any] = dict.fromkeys(("position", "orientation", "velocity", "angular_velocity", "q", "v"))
    new = replace(description.bodies[body], start=start, **gone)
    inputs = {**description.inputs, **{EXTRA + name: np.zeros(()) for name in TURNING}}
    return replace(description, bodies={**description.bodies, body: new}, inputs=inputs)


def turning_rates(start: Start, turn_rate: Any, pitch_rate: Any) -> Array:
    """p, q, r (3,) [rad/s] relative to north-east-down: turn_rate about the vertical, pitch_rate about the body's y."""
    pitch, roll = start.pitch_angle(), start.roll
    down = np.stack([-np.sin(pitch), np.sin(roll) * np.cos(pitch), np.cos(roll) * np.cos(pitch)])
    return down * turn_rate + np.stack([0.0 * pitch, pitch_rate + 0.0 * pitch, 0.0 * pitch])


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value
