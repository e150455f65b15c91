"""Orbits from two-line elements, the format of satellite catalogues, through SGP4 (package sgp4).

The elements of such a set are means that only SGP4 understands: it gives position and velocity at an epoch, in the true
equator and mean equinox of date (TEME), which are the inertial axes of a world with that epoch; an `Orbit` holds them
as osculating elements.
"""

from datetime import timedelta
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot._optional import require
from poinsot.environment import Earth, epochs
from poinsot.files import size_limits
from poinsot.world import Orbit

KILOMETRE = 1e3
JD_J2000 = 2451545.0
LONGEST = timedelta(days=365)  # from the epoch of elements; their error grows by kilometres per day


def load_tle(
    source: str | PathLike[str], name: str | None = None, *, epoch: Any = None, earth: Earth | None = None, **more: Any
) -> Orbit:
    """The orbit of a satellite from a file of two-line elements, or their text itself, at an epoch in UTC.

    name: which satellite, if there are several: its name on the line before, or its catalogue number. epoch: by default
    that of the elements; the orbit carries it, and the world must have the same. earth: whose mu the elements are
    made with, if it is not the usual one. more: attitude and rates, as of `pt.Orbit`.
    """
    api = require("sgp4.api", "orbits", "reading two-line elements")
    label, one, two = _chosen(_sets(_text(source)), name)
    _check(label, one, two)
    satellite = api.Satrec.twoline2rv(one, two)
    own = epochs.J2000 + timedelta(
        days=satellite.jdsatepoch - JD_J2000, microseconds=round(satellite.jdsatepochF * epochs.DAY * 1e6)
    )
    at = own if epoch is None else epochs.instant(epoch)
    minutes = ((at - own) / timedelta(microseconds=1) + _rounding(satellite, own)) / 60e6
    error, p, v = satellite.sgp4_tsince(minutes)
    if error:
        raise ValueError(f"the elements of {label} fail at {epochs.written(at)}: {api.SGP4_ERRORS[error]}.")
    position, velocity = KILOMETRE * np.array(p), KILOMETRE * np.array(v)
    if not abs(at - own) <= LONGEST:
        raise ValueError(
            f"the elements of {label} are of {epochs.written(own)}, {abs(at - own).days:,} days from "
            f"{epochs.written(at)}: SGP4 says nothing after more than {LONGEST.days} days. Take newer elements."
        )
    return Orbit.of_state(position, velocity, earth or Earth(), epoch=epochs.written(at), **more)


def _rounding(satellite: Any, own: Any) -> float:
    """By how much the epoch in whole microseconds is later than that of the elements [microseconds]."""
    exact = satellite.jdsatepochF * epochs.DAY * 1e6
    return float(round(exact) - exact)


def _text(source: str | PathLike[str]) -> str:
    if not isinstance(source, (str, PathLike)):
        raise ValueError(f"two-line elements are read from a file or a text, not from {source!r}.")
    if isinstance(source, str) and "\n" in source:
        return source
    path = Path(source)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file '{path}'.")
    size_limits.check_size(path, size_limits.SCENARIO_BYTES)
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"'{path}' is not a text of two-line elements.") from None


def _sets(text: str) -> list[tuple[str, str, str]]:
    """The name, or the catalogue number, and the two lines of each satellite."""
    sets, title, first = [], "", ""
    for raw in text.splitlines():
        line = raw.rstrip()
        if line.startswith("1 ") and len(line) >= 68:
            first = line
        elif line.startswith("2 ") and len(line) >= 68 and first:
            sets.append((title.removeprefix("0 ").strip() or first[2:7].strip(), first[:69], line[:69]))
            title, first = "", ""
        elif line and not line.startswith("#"):
            title = line
    if not sets:
        raise ValueError("there are no two-line elements: expected pairs of lines that begin with '1 ' and '2 '.")
    return sets


def _chosen(sets: list[tuple[str, str, str]], name: str | None) -> tuple[str, str, str]:
    if name is None and len(sets) == 1:
        return sets[0]
    name = None if name is None else str(name)
    for item in sets:
        if name is not None and name in (item[0], item[1][2:7].strip()):
            return item
    labels = [item[0] for item in sets]
    listed = ", ".join(labels[:10]) + (", ..." if len(labels) > 10 else "")
    raise ValueError(f"name={name!r} must be one of the {len(labels)} satellites {listed}{hint(str(name), labels)}.")


def _check(label: str, one: str, two: str) -> None:
    """An error if the lines are of two satellites, or a check sum is wrong."""
    if one[2:7] != two[2:7]:
        raise ValueError(f"the lines of {label} have different catalogue numbers, {one[2:7]} and {two[2:7]}.")
    for line in (one, two):
        if not line.isascii():
            raise ValueError(f"line {line[0]} of {label} has a character that is neither a digit nor a Latin letter.")
        total = sum(int(c) if c.isdigit() else c == "-" for c in line[:68]) % 10
        if len(line) == 69 and line[68] != str(total):
            raise ValueError(f"line {line[0]} of {label} has the check sum {line[68]}, but its digits make {total}.")
