"""Trims in a scenario: `start = { trim = "level", ... }` of a body, and inputs with limits."""

from collections.abc import Mapping
from typing import Any

from poinsot.files import readers
from poinsot.files.readers import KeyType
from poinsot.study.flight_conditions import KINDS
from poinsot.study.trimmed import Trim
from poinsot.study.trimming import trim
from poinsot.world import World

HELD = ("turn_rate", "pitch_rate", "load_factor")
KEYS: dict[str, KeyType] = {
    "trim": readers.choice(*KINDS),
    "free": readers.names(),
    "hold": readers.names(),
    "zero": readers.names(),
    "turn_rate": readers.number("rad/s"),
    "pitch_rate": readers.number("rad/s"),
    "load_factor": readers.number("1"),
}


def start_entries(entries: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `pt.Start` for a body; an error if something belongs to a trim that is not asked for."""
    if "trim" not in entries and (alone := [key for key in KEYS if key in entries]):
        raise ValueError(f'{alone[0]} belongs to a trim: give trim = "level" or another kind as well')
    return {key: value for key, value in entries.items() if key not in KEYS}


def trimmed_start(world: World, body: str, entries: Mapping[str, Any], before: Trim | None = None) -> Trim:
    """The trim that the start of a body asks for; an error if there was one before."""
    if before is not None:
        raise ValueError("one body of a scenario can be trimmed")
    hold: dict[str, Any] = dict.fromkeys(entries.get("hold", ()))
    hold |= {key: entries[key] for key in HELD if key in entries}
    if entries["trim"] == "turn" and "roll" in entries and not set(HELD) & set(entries):
        hold["roll"] = entries["roll"]
    asked = {key: entries[key] for key in ("free", "zero") if key in entries}
    return trim(world, entries["trim"], body=body, hold=hold, **asked)


def input_of(value: object) -> tuple[Any, tuple[float, float] | None]:
    """An input, with its limits if it is a table { value, limits }."""
    if not isinstance(value, dict):
        return readers.array_of(value, ()), None
    if not set(value) <= {"value", "limits"} or "value" not in value:
        raise ValueError("expected a number, or a table { value = ..., limits = [..., ...] }")
    limits = readers.array_of(value["limits"], ()) if "limits" in value else None
    return readers.array_of(value["value"], ()), limits
