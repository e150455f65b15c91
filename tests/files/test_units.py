"""Numbers with units: exact where decimals are, and of the right dimension."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poinsot.files.units import MEANINGS, is_quantity, to_si, wanted


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("3 ft", "m", 0.9144),  # the international foot, 0.3048 m by definition (1959)
        ("5 lb", "kg", 2.26796185),  # the international pound, 0.45359237 kg
        ("20 lbf", "N", 88.96443230521),  # times 9.80665 m/s^2
        ("60 kn", "m/s", 60 * 1852 / 3600),
        ("1 psi", "Pa", 6894.757293168361),
        ("2400 rpm", "rad/s", 80 * math.pi),
        ("30 deg", "rad", math.pi / 6),
        ("30°", "rad", math.pi / 6),
        ("2 turn/s", "rad/s", 4 * math.pi),
        ("9.81 m/s^2", "m/s^2", 9.81),
        ("2.7 g/cm^3", "kg/m^3", 2700.0),
        ("0.5 N m/deg", "N m/rad", 90 / math.pi),
        ("10 %", "1", 0.1),
        ("20 ms", "s", 0.02),
        ("1e-3", "m", 1e-3),
        ("  -1.5e2   km ", "m", -1.5e5),
    ],
)
def test_conversions(text, unit, value):
    assert to_si(text, (unit,)) == pytest.approx(value, rel=2e-16)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_in_its_own_unit_keeps_its_bits(x):
    assert to_si(f"{x!r} m", ("m",)) == x
    assert to_si(repr(x), ("m",)) == x


@pytest.mark.parametrize(
    ("text", "units", "message"),
    [
        ("10 cm", ("kg",), 'that is a length; expected a mass [kg], such as "5 lb"'),
        ("50 Hz", ("rad/s",), 'that is a frequency; expected an angular velocity [rad/s], such as "2400 rpm"'),
        ("30 deg", ("1",), 'that is an angle; expected a plain number, such as 0.1 or "5 %"'),
        ("3 furlon", ("m",), "there is no unit 'furlon' (did you mean 'furlong'?)"),
        ("3 m", ("N m/rad", "N/m"), "that is a length; expected a number [N m/rad or N/m]"),
        ("left", ("m",), 'expected a length [m], such as "10 cm"'),
        ("1 m; import os", ("m",), 'expected a length [m], such as "10 cm"'),
        ("1e999 m", ("m",), "the number is too large"),
        ("1 km**99999999", (), "the number is too large"),
        ("", ("m",), 'expected a length [m], such as "10 cm"'),
    ],
)
def test_what_does_not_fit_is_told(text, units, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        to_si(text, units)


def test_several_units_are_tried_and_none_means_any():
    assert to_si("2 N/cm", ("N m/rad", "N/m")) == 200.0
    assert to_si("2 kg", ()) == 2.0
    assert to_si("2 km^3/s^2", ()) == 2e9


@pytest.mark.parametrize("text", ["2*t", "2.4e5*(1 - x)", "0.6 if t > 1 else 0", "speed", "3 + 4", "2 and 3", "-k"])
def test_formulas_are_no_quantities(text):
    assert not is_quantity(text)


@pytest.mark.parametrize("unit", MEANINGS)
def test_every_example_has_the_unit_that_it_is_an_example_of(unit):
    _, example = MEANINGS[unit]
    assert math.isfinite(to_si(example, (unit,)))
    assert f'"{example}"' in wanted((unit,))
