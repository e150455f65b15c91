"""Numbers with units, as text: "2400 rpm", "30 deg", "5 lb". They are converted to SI, and the dimension is checked.

An angle counts as a dimension of its own: "50 Hz" is not an angular velocity, and "30 deg" is not a plain number.
Conversions are exact in decimals, and rounded once.
"""

import math
import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any

from poinsot._hints import hint
from poinsot.files import common_units

QUANTITY = re.compile(
    r"\s*([-+]?(?>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?))"  # a number,
    r"\s*((?!.*\b(?:if|else|and|or|not|in|is)\b)(?:1/|[^\W\d_]|[°%])[\w\s^*/().·°%-]*?)?\s*"  # and then no formula
)

# The quantity that a unit measures, with an example: for messages.
MEANINGS = {
    "m": ("a length", "10 cm"),
    "kg": ("a mass", "5 lb"),
    "s": ("a time", "20 ms"),
    "rad": ("an angle", "30 deg"),
    "m/s": ("a speed", "60 km/h"),
    "rad/s": ("an angular velocity", "2400 rpm"),
    "m/s^2": ("an acceleration", "9.81 m/s^2"),
    "N": ("a force", "20 lbf"),
    "N m": ("a torque", "5 N m"),
    "N/m": ("a stiffness", "20 N/mm"),
    "N s/m": ("a damping", "5 N s/m"),
    "N m/rad": ("a torsional stiffness", "0.5 N m/deg"),
    "N m s/rad": ("a torsional damping", "0.1 N m s/rad"),
    "kg m^2": ("a moment of inertia", "120 kg cm^2"),
    "kg/m^3": ("a density", "2.7 g/cm^3"),
    "kg/s": ("a mass flow", "100 g/s"),
    "1/s": ("a frequency", "2 Hz"),
    "1": ("a plain number", "5 %"),
}


def is_quantity(text: str) -> bool:
    """Whether a text is a number, with a unit or without."""
    return QUANTITY.fullmatch(text) is not None


def to_si(text: str, units: Sequence[str] = ()) -> float:
    """The number in SI of a text such as "30 deg"; if units are given, it must have the dimension of one of them."""
    match = QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"expected {wanted(units)}")
    number, unit = match[1], match[2]
    if unit is None:
        return float(number)
    common = common_units.converted(number, unit, units)
    if common is not None:
        return common
    registry = _registry()
    try:
        quantity = registry.Quantity(Decimal(number), unit)
        dimension = quantity.dimensionality
    except InvalidOperation:
        raise ValueError(f"expected {wanted(units)}") from None
    except Exception:  # pint raises errors of many kinds on text that is not a unit
        raise ValueError(f"there is no unit {unit!r}{_near(unit)}; expected {wanted(units)}") from None
    if not units:
        return _finite(quantity, None)
    for known in units:
        target = registry.Unit("" if known == "1" else known)
        if target.dimensionality == dimension:
            return _finite(quantity, target)
    raise ValueError(f"that is {_meaning(quantity)}; expected {wanted(units)}")


def _finite(quantity: Any, unit: Any) -> float:
    """The number of a quantity in a unit, by default the SI unit."""
    try:
        number = float((quantity.to_base_units() if unit is None else quantity.to(unit)).magnitude)
    except ArithmeticError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("the number is too large")
    return number


def wanted(units: Sequence[str]) -> str:
    """The expected value in words: a length [m], such as 0.1 or "10 cm"."""
    if not units:
        return "a number"
    first = units[0]
    meaning, example = MEANINGS.get(first, ("a number", f"3 {first}"))
    if len(units) > 1:
        return f"a number [{' or '.join(units)}]"
    return f'{meaning}, such as 0.1 or "{example}"' if first == "1" else f'{meaning} [{first}], such as "{example}"'


def _meaning(quantity: Any) -> str:
    registry = _registry()
    for unit, (meaning, _) in MEANINGS.items():
        if registry.Unit("" if unit == "1" else unit).dimensionality == quantity.dimensionality:
            return meaning
    return f"a quantity in {quantity.units:~P}"


def _near(unit: str) -> str:
    near = hint(unit, [name for name in _registry() if name.isidentifier()]).removeprefix("; ")
    return f" ({near})" if near else ""


@cache
def _registry() -> Any:
    import pint

    registry: Any = pint.UnitRegistry(None, non_int_type=Decimal)
    registry.load_definitions(Path(pint.__file__).with_name("default_en.txt"))
    registry.define("radian = [angle] = rad")
    registry.default_system = "mks"
    return registry
