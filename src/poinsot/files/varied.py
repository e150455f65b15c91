"""The values of a number in a sweep, from text: "1 kg:2 kg:11", "normal(2 kg, 0.1 kg)", "[1, 2, 5]"."""

import re

import numpy as np

from poinsot._types import Array
from poinsot.files.dimensions import units_at
from poinsot.files.size_limits import SWEEP_VALUES
from poinsot.files.units import to_si
from poinsot.run import Normal, Uniform
from poinsot.world import Description

DISTRIBUTIONS: dict[str, type[Normal] | type[Uniform]] = {"normal": Normal, "uniform": Uniform}
EXPECTED = '"lo:hi:n", "normal(mu, sigma)", "uniform(lo, hi)" or "[a, b, ...]"'


def varied(path: str, text: str, description: Description) -> Array | Normal | Uniform:
    """Values (n,), or a distribution to draw from, for the number at a path."""
    units = units_at(path, description)
    if match := re.fullmatch(r"\s*(\w+)\((.*),(.*)\)\s*", text):
        return _distribution(match[1], to_si(match[2], units), to_si(match[3], units))
    if match := re.fullmatch(r"\s*\[(.*)\]\s*", text):
        return np.array([to_si(item, units) for item in match[1].split(",")])
    parts = text.split(":")
    if len(parts) != 3:
        raise ValueError(f"expected {EXPECTED}")
    low, high, count = parts
    if not re.fullmatch(r"\s*[0-9]{1,12}\s*", count) or not 1 <= int(count) <= SWEEP_VALUES:
        raise ValueError(
            f"{count.strip()[:40]!r} is not a number of values from 1 to {SWEEP_VALUES:,}; expected {EXPECTED}"
        )
    return np.linspace(to_si(low, units), to_si(high, units), int(count))


def _distribution(name: str, a: float, b: float) -> Normal | Uniform:
    if name not in DISTRIBUTIONS:
        raise ValueError(
            f"there is no distribution {name!r}; there are {', '.join(DISTRIBUTIONS)}; expected {EXPECTED}"
        )
    if name == "normal" and b < 0:
        raise ValueError(f"the standard deviation must be zero or more; expected {EXPECTED}")
    return DISTRIBUTIONS[name](a, b)
