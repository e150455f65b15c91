"""Numbers as the command shows them."""

import numpy as np

from poinsot.cli.screen import fixed, vectors


def test_numbers_have_four_digits_of_their_scale():
    assert fixed(0.39942, 0.4) == "0.3994"
    assert fixed(-2.0482e-4, 0.4) == "-0.0002"
    assert fixed(1006.7, 1007.0) == "1007"
    assert fixed(6.871e6 + 0.4, 6.9e6) == "6871000"


def test_what_is_below_the_last_digit_is_zero():
    assert fixed(4.9e-5, 0.4) == "0"
    assert fixed(-1e-12, 1e-6) == "0"
    assert fixed(0.0, 0.0) == "0"


def test_very_small_and_very_large_scales_have_exponents():
    assert fixed(1.2345e-6, 2e-6) == "1.234e-06"
    assert fixed(1.5e11, 1.5e11) == "1.5e+11"


def test_a_number_that_is_not_finite_is_told():
    assert fixed(np.nan, np.nan) == "nan"
    assert fixed(np.inf, np.inf) == "inf"


def test_components_stand_under_each_other():
    rows = vectors(np.array([[0.1999, -0.08, 0.2925], [-3.416e-1, 1e-9, 0.1489]]), np.array([0.3, 0.4]))
    assert rows == [" 0.1999  -0.0800  0.2925", "-0.3416        0  0.1489"]
