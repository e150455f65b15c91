"""Stick, pedals and levers: which key, axis or button moves which input of a world, and how fast."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot._types import Array

RATE, BACK = 1.8, 3.5  # 1/s: how fast a key moves the stick, and how fast the stick comes back
LEVER = 0.5  # 1/s: how fast a key moves a lever
TRIM = 0.08  # 1/s: how fast a key moves the trim
CENTRED = 0.12  # an axis of a gamepad that is nearer to its centre was let go


@dataclass(frozen=True)
class Axis:
    """A control of a cockpit. springs: it comes back by itself when it is let go. low: where its way begins, -1 or 0.
    names: of inputs that it moves if nothing else is said. range: the usual values at the ends of its way."""

    meaning: str
    springs: bool
    low: float
    names: tuple[str, ...]
    range: tuple[float, float]


AXES = {
    "pitch": Axis("the stick, forward (-1) and back (1)", True, -1.0, ("elevator", "pitch"), (0.35, -0.35)),
    "roll": Axis(
        "the stick, to the left (-1) and right (1)", True, -1.0, ("aileron", "ailerons", "roll"), (-0.35, 0.35)
    ),
    "yaw": Axis("the pedals, left (-1) and right (1)", True, -1.0, ("rudder", "yaw"), (-0.35, 0.35)),
    "steering": Axis("the wheel that steers, with the pedals", True, -1.0, ("steering",), (-0.4, 0.4)),
    "throttle": Axis("the throttle, from idle (0) to full (1)", False, 0.0, ("throttle", "power"), (0.0, 1.0)),
    "brake": Axis("the wheel brakes, while a key is held", True, 0.0, ("brake", "brakes"), (0.0, 1.0)),
    "flaps": Axis("the flaps, in steps of a third", False, 0.0, ("flaps", "flap"), (0.0, 1.0)),
    "gear": Axis("the landing gear, up (0) or down (1)", False, 0.0, ("gear",), (0.0, 1.0)),
    "airbrake": Axis(
        "the air brake, while a key is held", True, 0.0, ("airbrake", "spoiler", "speedbrake"), (0.0, 1.0)
    ),
    "lever": Axis("any other lever", False, 0.0, (), (0.0, 1.0)),
}
KEYS = {  # by their place on the keyboard, as the standard of the web names them: the axis, and the way it moves
    "ArrowDown": "pitch+", "ArrowUp": "pitch-", "ArrowRight": "roll+", "ArrowLeft": "roll-", "KeyD": "yaw+",
    "KeyA": "yaw-", "KeyW": "throttle+", "KeyS": "throttle-", "PageUp": "throttle+", "PageDown": "throttle-",
    "KeyB": "brake+", "KeyF": "flaps+", "KeyV": "flaps-", "KeyG": "gear!", "KeyX": "airbrake+", "Home": "trim-",
    "End": "trim+", "KeyT": "trim!",
}  # fmt: skip
PAD = {  # the standard gamepad of the web: axes 0 to 3 are two sticks, down and right positive; buttons from 0 on
    "axis0": "roll", "axis1": "pitch", "axis2": "yaw", "button0": "brake+", "button1": "trim!", "button2": "flaps-",
    "button3": "flaps+", "button5": "airbrake+", "button6": "throttle-", "button7": "throttle+", "button9": "gear!",
    "button12": "trim-", "button13": "trim+",
}  # fmt: skip
OWN_KEYS = ("Space", "KeyR", "KeyC", "KeyI", "Period", "KeyH")  # of the page


@dataclass(frozen=True)
class Control:
    """An input that an axis moves: `low` and `high` are its values at the ends, `centre` that in the middle of an axis
    that has one. Between them it is linear."""

    input: str
    axis: str
    low: float
    high: float
    centre: float

    def value(self, s: float) -> float:
        """The input at a place s of the axis."""
        if AXES[self.axis].low == 0.0:
            return self.low + s * (self.high - self.low)
        return self.centre + s * (self.high - self.centre if s > 0 else self.centre - self.low)

    def place(self, value: float) -> float:
        """The place of the axis at which the input has a value."""
        if AXES[self.axis].low == 0.0:
            return float(np.clip((value - self.low) / (self.high - self.low), 0.0, 1.0))
        end = self.high if (value - self.centre) * (self.high - self.centre) > 0 else self.low
        way = (value - self.centre) / (end - self.centre) if end != self.centre else 0.0
        return float(np.clip(way if end == self.high else -way, -1.0, 1.0))


def controls_of(inputs: Mapping[str, Array], chosen: Mapping[str, Any] | None = None) -> list[Control]:
    """The controls of a world's inputs: by their names, or as a table says, {"de": "pitch"} or {"de": {"axis": "pitch",
    "range": (0.3, -0.4)}}: the values at the ends, of the stick forward and back. `False` leaves an input alone."""
    chosen = dict(chosen or {})
    for name, spec in chosen.items():
        if name not in inputs:
            raise ValueError(f"controls: the world has no input {name!r}{hint(name, inputs)}.")
        if np.ndim(inputs[name]):
            raise ValueError(f"controls: input {name!r} is an array; a control moves a single number.")
        if not isinstance(spec, (str, Mapping, bool)):
            raise ValueError(f"controls: {name!r} needs the name of an axis, or a table with an axis, not {spec!r}.")
    by_name = {known: axis for axis, a in AXES.items() for known in a.names}
    controls = []
    for name, value in inputs.items():
        spec = chosen.get(name, by_name.get(name.rpartition(".")[2].lower(), False))
        if np.ndim(value) == 0 and spec is not False:
            controls.append(_control(name, float(value), {"axis": spec} if isinstance(spec, str) else dict(spec)))
    if not controls:
        usual = ", ".join(a.names[0] for a in AXES.values() if a.names)
        raise ValueError(
            f"this world has no input that a pilot could move (it has {', '.join(inputs) or 'none'}); name one of them "
            f"{usual}, or give controls={{'my_input': 'pitch'}}."
        )
    return controls


def _control(name: str, now: float, spec: dict[str, Any]) -> Control:
    axis = spec.get("axis")
    if axis not in AXES:
        raise ValueError(
            f"controls: {name!r} has the axis {axis!r}{hint(str(axis), AXES)}; there are {', '.join(AXES)}."
        )
    if unknown := set(spec) - {"axis", "range", "centre"}:
        raise ValueError(f"controls: {name!r} has an axis, a range and a centre, not {', '.join(sorted(unknown))}.")
    ends = spec.get("range", AXES[axis].range)
    try:
        low, high = (float(x) for x in ends)
    except (TypeError, ValueError):
        low = high = np.nan
    if not np.isfinite([low, high]).all() or low == high:
        raise ValueError(f"controls: the range of {name!r} must be two different numbers, not {ends!r}.")
    inside = now if min(low, high) <= now <= max(low, high) else (low + high) / 2
    centre = float(spec.get("centre", inside))
    if not min(low, high) <= centre <= max(low, high):
        raise ValueError(f"controls: the centre of {name!r}, {centre:g}, is not between {low:g} and {high:g}.")
    return Control(name, axis, low, high, centre)


def checked_bindings(own: Mapping[str, str] | None, usual: Mapping[str, str], what: str) -> dict[str, str]:
    """Keys, or axes and buttons of a gamepad, with what they move: "pitch+", "throttle-", "gear!", "trim!", "roll"."""
    bindings = {**usual, **(own or {})}
    for key, action in (own or {}).items():
        axis = str(action).rstrip("+-!")
        if action and axis not in (*AXES, "trim"):
            raise ValueError(
                f"{what} {key!r}: there is no axis {axis!r}{hint(axis, AXES)}; there are {', '.join(AXES)}."
            )
        if what == "key" and key in OWN_KEYS:
            raise ValueError(f"key {key!r} is one of the page's own ({', '.join(OWN_KEYS)}); choose another one.")
        turns = what == "gamepad" and not key.startswith("button")
        if turns and not re.fullmatch(r"axis\d+-?", key):
            raise ValueError(f"gamepad {key!r} must be axis0, axis1- (reversed) and so on, or button0 and so on.")
        if not turns and action and action[-1] not in "+-!":
            raise ValueError(f"{what} {key!r}: {action!r} must end in + or -, for a way to move, or ! for a switch.")
    return {key: action for key, action in bindings.items() if action}


@dataclass(eq=False)
class Stick:
    """A pilot's controls: positions of the axes from keys that are held, and from a gamepad or the stick of the page.

    places: of the axes, -1..1 or 0..1. trim: what is added to the pitch. given: axes that a gamepad or the page holds.
    """

    controls: Sequence[Control]
    keys: Mapping[str, str] = field(default_factory=lambda: KEYS)
    places: dict[str, float] = field(default_factory=dict)
    trim: float = 0.0
    held: set[str] = field(default_factory=set)
    given: dict[str, float] = field(default_factory=dict)
    waits: bool = False  # for the stick to come back to the middle after the trim was set

    def start(self, values: Mapping[str, float]) -> None:
        """Put the levers where the inputs have these values, the stick in the middle, and let go of everything."""
        self.places, self.held, self.given, self.trim, self.waits = {}, set(), {}, 0.0, False
        for c in self.controls:
            self.places[c.axis] = c.place(values.get(c.input, c.centre))
            if c.axis == "pitch" and AXES[c.axis].springs:
                self.trim, self.places[c.axis] = self.places[c.axis], 0.0

    def press(self, keys: Sequence[str]) -> None:
        """The keys that are down now; a switch acts when it goes down."""
        down = {key for key in keys if key in self.keys}
        for key in sorted(down - self.held):
            self.switch(self.keys[key])
        self.held = down

    def switch(self, action: str) -> None:
        """A key, button or switch goes down: trim, gear, a notch of the flaps."""
        axis = action.rstrip("+-!")
        if action == "trim!":
            self.set_trim()
        elif action.endswith("!"):
            self.places[axis] = 1.0 - np.round(self.places.get(axis, 0.0))
        elif axis == "flaps":
            notch = 1 / 3 if action.endswith("+") else -1 / 3
            self.places[axis] = float(np.clip(self.places.get(axis, 0.0) + notch, 0.0, 1.0))

    def set_trim(self) -> None:
        """The stick stays where it is without being held: as the trim wheel of an aeroplane does."""
        self.trim = float(np.clip(self.trim + self.places.get("pitch", 0.0), -1.0, 1.0))
        self.waits = "pitch" in self.given
        self.places["pitch"] = 0.0

    def give(self, axes: Mapping[str, float | None]) -> None:
        """Places of axes from a gamepad or the page; None: it is let go."""
        for axis, value in axes.items():
            if axis not in AXES or (value is not None and not np.isfinite(value)):
                continue
            if value is None:
                self.given.pop(axis, None)
            elif AXES[axis].springs:
                self.given[axis] = float(np.clip(value, AXES[axis].low, 1.0))
            else:
                self.places[axis] = float(np.clip(value, AXES[axis].low, 1.0))

    def advance(self, h: float) -> dict[str, float]:
        """The inputs for the next control period of h [s]."""
        pushed = dict.fromkeys((*AXES, "trim"), 0.0)
        for key in self.held:
            action = self.keys[key]
            if action[-1] in "+-":
                pushed[action[:-1]] += 1.0 if action[-1] == "+" else -1.0
        self.trim = float(np.clip(self.trim + TRIM * h * pushed["trim"], -1.0, 1.0))
        for axis, a in AXES.items():
            if axis != "flaps":
                self.places[axis] = self._moved(axis, a, float(np.sign(pushed[axis])), h)
        self.places["steering"] = self.places["yaw"]
        return {c.input: c.value(self._place(c.axis)) for c in self.controls}

    def _place(self, axis: str) -> float:
        s = self.places.get(axis, 0.0) + (self.trim if axis == "pitch" else 0.0)
        return float(np.clip(s, AXES[axis].low, 1.0))

    def _moved(self, axis: str, a: Axis, way: float, h: float) -> float:
        """The place of an axis after a period: keys come first, then a gamepad; a stick that is let go comes back."""
        now = self.places.get(axis, 0.0)
        if not a.springs:
            return float(np.clip(now + LEVER * h * way, a.low, 1.0))
        if way == 0.0 and axis in self.given:
            given = self.given[axis]
            if axis == "pitch" and self.waits:
                self.waits = abs(given) > CENTRED
                return 0.0
            return given
        rate = BACK if way == 0.0 or way * now < 0 else RATE
        target = float(np.clip(way, a.low, 1.0))
        return float(now + np.clip(target - now, -rate * h, rate * h))
