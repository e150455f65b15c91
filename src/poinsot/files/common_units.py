"""The units that most scenarios are written in, as a table: "kN/m", "deg/s", "kg cm^2".

The library that knows all units takes a fifth of a second to start, longer than many a run. It is asked about the rest,
and whenever something does not fit.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from typing import NamedTuple

# "/ cm^2", "h^0.5": the name is letters.
FACTOR = re.compile(r"\s*([*/]?)\s*([^\W\d_]+|%|1(?=\s*/))(?:(?:\^|\*\*)(-?\d(?:\.5)?))?")


class Measure(NamedTuple):
    """A unit: its size in SI, and its exponents of m, kg, s, rad and A."""

    size: Decimal
    exponents: tuple[Decimal | int, ...]


_LENGTH, _MASS, _TIME, _ANGLE, _CURRENT = (tuple(int(k == j) for j in range(5)) for k in range(5))
_FORCE: tuple[int, ...] = (1, 1, -2, 0, 0)
_NONE: tuple[int, ...] = (0, 0, 0, 0, 0)
_PI = Decimal("3.141592653589793238462643383280")
_POUND, _FOOT, _GRAVITY = Decimal("0.45359237"), Decimal("0.3048"), Decimal("9.80665")
_PREFIXES = {"": 0, "M": 6, "k": 3, "c": -2, "m": -3}

_WITH_PREFIX = {
    "m": Measure(Decimal(1), _LENGTH),
    "g": Measure(Decimal("0.001"), _MASS),
    "s": Measure(Decimal(1), _TIME),
    "rad": Measure(Decimal(1), _ANGLE),
    "A": Measure(Decimal(1), _CURRENT),
    "N": Measure(Decimal(1), _FORCE),
    "Pa": Measure(Decimal(1), (-1, 1, -2, 0, 0)),
    "J": Measure(Decimal(1), (2, 1, -2, 0, 0)),
    "W": Measure(Decimal(1), (2, 1, -3, 0, 0)),
    "Hz": Measure(Decimal(1), (0, 0, -1, 0, 0)),
}
UNITS: dict[str, Measure] = {
    f"{prefix}{name}": Measure(unit.size.scaleb(power), unit.exponents)
    for name, unit in _WITH_PREFIX.items()
    for prefix, power in _PREFIXES.items()
} | {
    "1": Measure(Decimal(1), _NONE),
    "%": Measure(Decimal("0.01"), _NONE),
    "deg": Measure(_PI / 180, _ANGLE),
    "rpm": Measure(_PI / 30, (0, 0, -1, 1, 0)),
    "hour": Measure(Decimal(3600), _TIME),
    "ft": Measure(_FOOT, _LENGTH),
    "lb": Measure(_POUND, _MASS),
    "lbf": Measure(_POUND * _GRAVITY, _FORCE),
    "slug": Measure(_POUND * _GRAVITY / _FOOT, _MASS),
}


@cache
def measure(text: str) -> Measure | None:
    """The unit that a text stands for, if it is a product of units of the table: read from left to right."""
    if text == "1":
        return UNITS["1"]
    size, exponents, place = Decimal(1), UNITS["1"].exponents, 0
    while place < len(text):
        found = FACTOR.match(text, place)
        if found is None or found[2] not in UNITS or (found[1] and not place):
            return None
        power = Decimal(found[3] or 1) * (-1 if found[1] == "/" else 1)
        unit, place = UNITS[found[2]], found.end()
        size *= unit.size**power
        exponents = tuple(a + power * b for a, b in zip(exponents, unit.exponents, strict=True))
    return Measure(size, exponents) if text else None


def converted(number: str, unit: str, units: Sequence[str]) -> float | None:
    """The number in SI, if the unit is one of the table and has the dimension of one of `units`, or these are none."""
    own = measure(unit)
    if own is None:
        return None
    targets = [measure(target) for target in units]
    if units and not any(t is not None and t.size == 1 and t.exponents == own.exponents for t in targets):
        return None
    try:
        value = float(Decimal(number) * own.size)
    except ArithmeticError:
        return None
    return value if abs(value) < float("inf") else None
