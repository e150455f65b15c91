"""A scripted pilot who flies a circuit by keys alone: it looks at the display, and holds or lets go of keys."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

HEIGHT, SPEED, APPROACH = 130.0, 38.0, 33.0  # m, m/s
TURN = math.radians(25)
THRESHOLD = -60.0  # m, the x of the beginning of the runway


def _between(x: float, low: float, high: float) -> float:
    return min(high, max(low, x))


def _angle(deg: float) -> float:
    """An angle [deg] as one from -180 to 180."""
    return (deg + 180.0) % 360.0 - 180.0


@dataclass
class Pilot:
    """`keys(readings)`: what to hold now, in the phase of the flight."""

    phase: str = "roll"
    log: list[tuple[float, str]] = field(default_factory=list)
    trimmed: float = 0.0

    def go(self, t: float, phase: str) -> None:
        self.phase = phase
        self.log.append((t, phase))

    def keys(self, r: Mapping[str, Any]) -> set[str]:
        """The keys to hold, by their codes."""
        held = getattr(self, f"_{self.phase.replace(' ', '_')}")(r)
        return {key for key in held if key}

    # The phases.

    def _roll(self, r: Mapping[str, Any]) -> list[str]:
        if r["airspeed"] > 32:
            self.go(r["t"], "climb")
        return [
            "KeyW" if r["throttle"] < 0.99 else "",
            self._pedals(r),
            self._pitch(r, 0.0 if r["airspeed"] < 30 else 0.1),
        ]

    def _climb(self, r: Mapping[str, Any]) -> list[str]:
        if r["altitude"] > 60:
            self.go(r["t"], "crosswind turn")
        return [self._pitch(r, self._to_speed(r, 36.0)), self._bank(r, 0.0), self._trim(r)]

    def _crosswind_turn(self, r: Mapping[str, Any]) -> list[str]:
        left = _angle(180.0 - r["heading"])
        if abs(left) < 12:
            self.go(r["t"], "downwind")
        bank = -TURN if abs(left) > 30 else self._towards(r, 180.0)
        return [self._pitch(r, self._to_height(r, HEIGHT)), self._bank(r, bank), self._throttle(r, 0.95), self._trim(r)]

    def _downwind(self, r: Mapping[str, Any]) -> list[str]:
        if r["position"][0] < THRESHOLD - 1500:
            self.go(r["t"], "final turn")
        wanted = 0.55 + 0.05 * (SPEED - r["airspeed"])
        return [
            self._pitch(r, self._to_height(r, HEIGHT)),
            self._bank(r, self._towards(r, 180.0)),
            self._throttle(r, wanted),
            self._trim(r),
        ]

    def _final_turn(self, r: Mapping[str, Any]) -> list[str]:
        if abs(_angle(r["heading"])) < 60:
            self.go(r["t"], "final")
        wanted = 0.5 + 0.05 * (SPEED - 2 - r["airspeed"])
        return [
            self._pitch(r, self._to_height(r, HEIGHT - 20)),
            self._bank(r, -TURN),
            self._throttle(r, wanted),
            self._trim(r),
        ]

    def _final(self, r: Mapping[str, Any]) -> list[str]:
        x, y, _ = r["position"]
        if r["altitude"] < (6.5 if x > THRESHOLD else 2.5):
            self.go(r["t"], "flare")
        path = 1.4 + max(0.0, (200.0 - x)) * math.tan(math.radians(4.0))  # to the touch-down zone
        sink = -r["speed"] * math.tan(math.radians(4.0)) + 0.2 * (path - r["altitude"])
        course = _between(0.2 * y, -35.0, 35.0)  # towards the centre line: y is to the left
        throttle = 0.35 + 0.06 * (APPROACH - r["airspeed"]) + 0.02 * _between(path - r["altitude"], -10.0, 20.0)
        return [
            self._pitch(r, self._to_climb(r, _between(sink, -4.5, 2.0))),
            self._bank(r, self._towards(r, course)),
            self._throttle(r, throttle),
            self._trim(r),
        ]

    def _flare(self, r: Mapping[str, Any]) -> list[str]:
        if sum(load > 0 for load in r["wheels"]) >= 2 and r["throttle"] < 0.05:
            self.go(r["t"], "stop")
        sink = -0.5 - 0.28 * max(0.0, r["altitude"] - 1.6)
        course = _between(0.3 * r["position"][1], -6.0, 6.0)
        pitch = _between(self._to_climb(r, sink), math.radians(0.5), 0.14)
        return [self._pitch(r, pitch), self._bank(r, self._towards(r, course)), self._throttle(r, 0.0)]

    def _stop(self, r: Mapping[str, Any]) -> list[str]:
        if r["speed"] < 0.3:
            self.go(r["t"], "standing")
        return [self._pedals(r), "KeyB" if sum(load > 0 for load in r["wheels"]) >= 3 else "", self._throttle(r, 0.0)]

    def _standing(self, r: Mapping[str, Any]) -> list[str]:
        return ["KeyB"]

    # What hands and feet do.

    def _to_speed(self, r: Mapping[str, Any], speed: float) -> float:
        return _between(0.1 + 0.015 * (r["airspeed"] - speed), 0.0, 0.18)

    def _to_height(self, r: Mapping[str, Any], height: float) -> float:
        return self._to_climb(r, _between(0.2 * (height - r["altitude"]), -3.0, 3.5))

    def _to_climb(self, r: Mapping[str, Any], climb: float) -> float:
        """The pitch [rad] that climbs so: that of now, turned by the difference of the slopes."""
        slope = (climb - r["climb"]) / max(r["speed"], 15.0)
        return _between(r["pitch"] + 0.8 * slope, -0.2, 0.2)

    def _towards(self, r: Mapping[str, Any], heading: float) -> float:
        return math.radians(_between(1.2 * _angle(heading - r["track"]), -25.0, 25.0))

    def _pitch(self, r: Mapping[str, Any], pitch: float) -> str:
        """Push or pull: the stick that is wanted, against that of now."""
        wanted = _between(3.0 * (pitch - r["pitch"]) - 1.2 * r["values"]["angular_velocity.1"], -0.8, 0.8)
        self.trimmed += 0.015 * (wanted - self.trimmed)
        return _key(wanted - r["places"]["pitch"], wanted, "ArrowDown", "ArrowUp")

    def _trim(self, r: Mapping[str, Any]) -> str:
        return "End" if self.trimmed > 0.12 else "Home" if self.trimmed < -0.12 else ""

    def _bank(self, r: Mapping[str, Any], roll: float) -> str:
        wanted = _between(1.6 * (roll - r["roll"]) - 0.6 * r["values"]["angular_velocity.0"], -0.7, 0.7)
        return _key(wanted - r["places"]["roll"], wanted, "ArrowRight", "ArrowLeft")

    def _pedals(self, r: Mapping[str, Any]) -> str:
        aim = _between(0.5 * r["position"][1], -8.0, 8.0)  # towards the centre line
        wanted = _between(0.06 * _angle(aim - r["heading"]) - 1.5 * r["values"]["angular_velocity.2"], -0.6, 0.6)
        return _key(wanted - r["places"]["yaw"], wanted, "KeyD", "KeyA")

    def _throttle(self, r: Mapping[str, Any], wanted: float) -> str:
        more = _between(wanted, 0.0, 1.0) - r["throttle"]
        return "KeyW" if more > 0.03 else "KeyS" if more < -0.03 else "KeyS" if wanted <= 0 < r["throttle"] else ""


def _key(more: float, wanted: float, plus: str, minus: str) -> str:
    """The key that moves a stick there: one that is let go comes back by itself."""
    if more > 0.05 and wanted > 0:
        return plus
    return minus if more < -0.05 and wanted < 0 else ""
