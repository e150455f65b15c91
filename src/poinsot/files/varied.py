"""The values of a number in a sweep, from text: "1 kg:2 kg:11", "normal(2 kg, 0.1 kg)", "[1, 2, 5]"."""

import inspect
import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot._types import Array
from poinsot.files.size_limits import SWEEP_VALUES
from poinsot.files.units import to_si
from poinsot.run.distributions import (
    Choice,
    Distribution,
    LogNormal,
    MultivariateNormal,
    Normal,
    PhysicalMoment,
    Triangular,
    Truncated,
    Uniform,
)
from poinsot.world import Description, paths
from poinsot.world.dimensions import units_at

# Each with the parameters that are plain numbers; the others have the unit of the number that is varied.
DISTRIBUTIONS: dict[str, tuple[Callable[..., Distribution], tuple[str, ...]]] = {
    "normal": (Normal, ()),
    "uniform": (Uniform, ()),
    "lognormal": (LogNormal, ("sigma",)),
    "triangular": (Triangular, ()),
    "truncated": (Truncated, ()),
    "choice": (Choice, ("probabilities",)),
    "multivariate": (MultivariateNormal, ("covariance",)),
    "physical": (PhysicalMoment, ("spread",)),
}
EXPECTED = '"lo:hi:n", "normal(mu, sigma)", "uniform(lo, hi)" or "[a, b, ...]"'
LARGEST = 1e300  # of the ends of a range, whose difference must not be infinite
INFINITE = {"inf": math.inf, "+inf": math.inf, "-inf": -math.inf}  # where nothing is cut off


def varied(path: str, text: str, description: Description, units: Sequence[str] | None = None) -> Array | Distribution:
    """Values (n, ...), or a distribution to draw from, for the number at a path, or for one in these units."""
    units = units_at(path, description) if units is None else units
    if match := re.fullmatch(r"\s*(\w+)\s*\((.*)\)\s*", text):
        return _distribution(match[1], match[2], units, path, description)
    if text.strip().startswith("["):
        return np.array(_value(text, units), dtype=float)
    parts = text.split(":")
    if len(parts) != 3:
        raise ValueError(f"expected {EXPECTED}")
    low, high, count = parts
    if not re.fullmatch(r"\s*[0-9]{1,12}\s*", count) or not 1 <= int(count) <= SWEEP_VALUES:
        raise ValueError(
            f"{count.strip()[:40]!r} is not a number of values from 1 to {SWEEP_VALUES:,}; expected {EXPECTED}"
        )
    ends = to_si(low, units), to_si(high, units)
    if not all(abs(end) < LARGEST for end in ends):
        raise ValueError(f"the ends of a range must be below {LARGEST:g}, not {ends[0]:g} and {ends[1]:g}")
    return np.linspace(*ends, int(count))


def _distribution(name: str, text: str, units: Sequence[str], path: str, description: Description) -> Distribution:
    """The distribution of this name, with its parameters in the order of its class."""
    if name not in DISTRIBUTIONS:
        near = hint(name, DISTRIBUTIONS)
        raise ValueError(
            f"there is no distribution {name!r}{near}; there are {', '.join(DISTRIBUTIONS)}; expected {EXPECTED}"
        )
    make, plain = DISTRIBUTIONS[name]
    if name == "physical":
        make = partial(make, _moment(path, description))
    parameters = inspect.signature(make).parameters
    items = _split(text)
    needed = sum(p.default is p.empty for p in parameters.values())
    if not needed <= len(items) <= len(parameters):
        raise ValueError(f"expected {name}({', '.join(parameters)}), not {len(items)} numbers")
    return make(
        **{key: _value(item, ("1",) if key in plain else units) for key, item in zip(parameters, items, strict=False)}
    )


def _moment(path: str, description: Description) -> Array:
    """The moment of inertia at a path, about which others are drawn."""
    moment = paths.read(description, path)
    if moment.shape != (3, 3) or not path.endswith(".moment"):
        raise ValueError("physical(spread) draws moments of inertia, for paths such as box.moment")
    return moment


def _value(text: str, units: Sequence[str], depth: int = 0) -> Any:
    """A number in SI, or a list of such values: "2 kg", "[1 m, 2 m, 0]", "[[1, 0], [0, 1]]"."""
    text = text.strip()
    if text in INFINITE:
        return INFINITE[text]
    if not text.startswith("["):
        return to_si(text, units)
    if not text.endswith("]") or depth > 2:
        raise ValueError(f"{text[:40]!r} is not a list of numbers; expected {EXPECTED}")
    values = [_value(item, units, depth + 1) for item in _split(text[1:-1])]
    if len({np.shape(x) for x in values}) > 1:
        raise ValueError(f"{text[:40]!r}: the lists in it differ in length")
    return values


def _split(text: str) -> list[str]:
    """The pieces of a text between commas that no bracket encloses."""
    pieces, start, depth = [], 0, 0
    for k, c in enumerate(text):
        depth += (c in "[(") - (c in "])")
        if c == "," and depth == 0:
            pieces.append(text[start:k])
            start = k + 1
    return [*pieces, text[start:]]
