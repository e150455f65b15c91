"""How a world is flown, as its pilot or a scenario says it, checked before it is compiled."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot.control.stick import KEYS, PAD, checked_bindings, controls_of

LIMITED = ("airspeed", "alpha", "load_factor", "mach", "altitude")


def require_flight(bodies: Collection[str], inputs: Mapping[str, Any], fly: Mapping[str, Any]) -> None:
    """An error if the options of a flight name what does not exist, or have values that make no sense."""
    if fly.get("body") is not None and fly["body"] not in bodies:
        raise ValueError(f"fly: there is no body {fly['body']!r}{hint(str(fly['body']), bodies)}.")
    for name, value in (fly.get("start") or {}).items():
        if name not in inputs:
            raise ValueError(f"fly: start sets {name!r}, which is not an input{hint(name, inputs)}.")
        if np.ndim(value) or not np.isfinite(float(value)):
            raise ValueError(f"fly: start of {name!r} must be a finite number, not {value!r}.")
    if fly.get("eye") is not None and (np.shape(fly["eye"]) != (3,) or not np.all(np.isfinite(fly["eye"]))):
        raise ValueError(f"fly: the eye must be three finite numbers [m], not {fly['eye']!r}.")
    if fly.get("instruments", "display") not in ("display", "gauges"):
        raise ValueError(f"fly: instruments must be 'display' or 'gauges', not {fly['instruments']!r}.")
    runway = fly.get("runway", {})
    for name, value in (runway if isinstance(runway, Mapping) else {}).items():
        if name not in ("length", "width", "before") or np.ndim(value) or not np.isfinite(float(value)) or value < 0:
            raise ValueError(
                f"fly: a runway has a length, a width and a part before the start [m], not {name} {value!r}."
            )
    start = {**inputs, **(fly.get("start") or {})}
    controls_of(start, fly.get("controls"))
    checked_bindings(fly.get("keys"), KEYS, "key")
    checked_bindings(fly.get("gamepad"), PAD, "gamepad")
    limits_of(fly.get("limits"))


def limits_of(limits: Mapping[str, Any] | None) -> dict[str, list[float | None]]:
    """Limits that the display warns of: a largest value, or the smallest and the largest."""
    found: dict[str, list[float | None]] = {}
    for name, value in (limits or {}).items():
        if name not in LIMITED:
            raise ValueError(f"fly: limits of {name!r} are not known{hint(name, LIMITED)}; {', '.join(LIMITED)} are.")
        ends: list[float | None] = [None, float(value)] if np.ndim(value) == 0 else [float(x) for x in value]
        numbers = [x for x in ends if x is not None]
        if len(ends) != 2 or not np.isfinite(numbers).all() or numbers != sorted(set(numbers)):
            raise ValueError(f"fly: the limits of {name!r} must be a number, or two that increase, not {value!r}.")
        found[name] = ends
    return found
