"""What a sweep varies, as text: "1 kg:2 kg:11", "normal(2 kg, 0.1 kg)", "uniform(0, 30 deg)", "[1, 2, 5]"."""

import re
from typing import Any

import numpy as np

from poinsot.files.dimensions import units_at
from poinsot.files.units import to_si
from poinsot.run import Normal, Uniform
from poinsot.world import Description

DISTRIBUTIONS = {"normal": Normal, "uniform": Uniform}
EXPECTED = '"lo:hi:n", "normal(mu, sigma)", "uniform(lo, hi)" or "[a, b, ...]"'


def varied(path: str, text: str, description: Description) -> Any:
    """Values (n,), or a distribution to draw from, for the number at a path."""
    units = units_at(path, description)
    try:
        if match := re.fullmatch(r"\s*(\w+)\((.*),(.*)\)\s*", text):
            if match[1] not in DISTRIBUTIONS:
                raise ValueError(f"there is no distribution {match[1]!r}; there are {', '.join(DISTRIBUTIONS)}")
            a, b = to_si(match[2], units), to_si(match[3], units)
            if match[1] == "normal" and b < 0:
                raise ValueError("the standard deviation must be zero or more")
            return DISTRIBUTIONS[match[1]](a, b)
        if match := re.fullmatch(r"\s*\[(.*)\]\s*", text):
            return np.array([to_si(item, units) for item in match[1].split(",")])
        low, high, count = text.split(":")
        if not count.strip().isdigit() or int(count) < 1:
            raise ValueError(f"{count.strip()!r} is no number of values")
        return np.linspace(to_si(low, units), to_si(high, units), int(count))
    except ValueError as error:
        reason = str(error)
        if "expected" in reason:
            raise
        reason = "" if "unpack" in reason else f"{reason}; "
        raise ValueError(f"{reason}expected {EXPECTED}") from None
