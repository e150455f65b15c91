"""The table of common units against the library that knows all units."""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from poinsot.files import units
from poinsot.files.common_units import UNITS, converted, measure
from poinsot.files.units import MEANINGS, to_si

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
COMPOUND = [
    "kN/m", "N m/rad", "N m s/rad", "N/m s", "kg cm^2", "slug ft^2", "g/cm^3", "m/s**2",
    "km^3/s^2", "deg/s", "1/s", "m^-1", "N*m", "lbf/ft", "kg  m", "deg/hour^0.5",
    "m^-1.5", "kg**2.5",
]  # fmt: skip


def by_pint(text, wanted, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(units.common_units, "converted", lambda *_: None)
        return to_si(text, wanted)


@pytest.mark.parametrize("unit", [*UNITS, *MEANINGS, *COMPOUND])
def test_every_unit_is_as_large_as_pint_says_and_of_the_same_dimension(unit):
    quantity = units._registry().Quantity(Decimal(1), "" if unit == "1" else unit).to_base_units()
    found = measure(unit)
    assert float(found.size) == float(quantity.magnitude)
    names = ("[length]", "[mass]", "[time]", "[angle]", "[current]")
    assert dict(zip(names, found.exponents, strict=True)) == {n: quantity.dimensionality.get(n, 0) for n in names}
    assert set(quantity.dimensionality) <= set(names)


def test_the_numbers_of_all_examples_keep_their_bits(monkeypatch):
    texts = set()
    for path in EXAMPLES.glob("*.toml"):
        texts |= {text for text in re.findall(r'"([^"\n]*)"', path.read_text()) if units.is_quantity(text)}
    known = [text for text in texts if (unit := units.QUANTITY.fullmatch(text)[2]) and measure(unit)]
    assert len(known) > 100
    for text in known:
        assert to_si(text) == by_pint(text, (), monkeypatch), text


@pytest.mark.parametrize(
    "unit", ["furlong", "deg/hour^0.3", "m^.5", "(m)", "m/", "/s", "m//s", "", "m^", "m s^2^2", "in", "m2"]
)
def test_other_texts_are_left_to_pint(unit):
    assert measure(unit) is None


def test_what_has_another_dimension_or_no_finite_value_is_left_to_pint():
    assert converted("3", "cm", ("kg",)) is None
    assert converted("1e999", "m", ("m",)) is None
    assert converted("1e9999999999999999999", "km", ()) is None
    assert converted("3", "cm", ("kg", "m")) == 0.03
    assert converted("30", "deg", ("deg",)) is None  # a target that is not SI
