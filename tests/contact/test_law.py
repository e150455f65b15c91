"""The law of contact: slopes against differences, friction within Coulomb's cone, energy never gained."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poinsot.contact.law import SHEAR, Material, push, stored, stretched, touch

UP = np.array([0.0, 0.0, 1.0])
NUMBERS = st.floats(-1.0, 1.0)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS).map(np.array)


@given(depth=st.floats(-1e-2, 1e-2), u_n=NUMBERS, h=st.floats(1e-5, 1e-2), c=st.floats(0, 2))
@settings(max_examples=60, deadline=None)
def test_the_slope_of_the_push_is_its_derivative_and_never_negative(depth, u_n, h, c):
    e, k = 1e-7, 1e4
    f, slope, _ = push(k, c, h, depth, u_n)
    assert f >= 0
    assert slope >= 0
    above, below = (push(k, c, h, depth, u_n + s * e)[0] for s in (1, -1))
    kinks = min(abs(depth - h * u_n), abs(1 - c * u_n))
    if kinks > 10 * e:
        assert (below - above) / (2 * e) == pytest.approx(slope, rel=1e-5, abs=1e-6 * k)


@given(depth=st.floats(0, 1e-2), u=VECTORS, xi=VECTORS, h=st.floats(1e-5, 1e-2), mu=st.floats(0, 2))
@settings(max_examples=60, deadline=None)
def test_friction_stays_in_the_cone_and_opposes_its_pull(depth, u, xi, h, mu):
    law, xi = Material(1e4, 0.5, mu), 1e-3 * (xi - xi[2] * UP)
    found = touch(law, h, depth, UP, u, xi)
    f = found.force(UP, u, u)
    along = f - f[2] * UP
    assert f[2] == pytest.approx(found.normal)
    assert np.linalg.norm(along) <= mu * found.normal * (1 + 1e-12) + 1e-12
    assert 0 <= found.holds <= 1
    new = stretched(h, found.holds, xi, UP, u)
    # what the spring along the ground gives back and what it takes up come to a loss
    u_t = u - u[2] * UP
    change = stored(law, 0.0, new) - stored(law, 0.0, xi)
    assert h * (along @ u_t) + change <= 1e-12 * law.stiffness


def test_at_rest_the_springs_carry_what_they_are_given():
    law, xi = Material(1e4, 0.5, 0.8), np.array([1e-4, -2e-4, 0.0])
    found = touch(law, 0.0, 1e-3, UP, np.zeros(3), xi)
    assert np.allclose(found.force(UP, np.zeros(3), np.zeros(3)), [-SHEAR * 1.0, SHEAR * 2.0, 10.0], rtol=1e-12)


@pytest.mark.parametrize("numbers", [{"stiffness": -1.0}, {"damping": np.nan}, {"friction": np.inf}])
def test_a_material_that_no_body_has(numbers):
    (name,) = numbers
    with pytest.raises(ValueError, match=f"{name} of a material must be zero or more"):
        Material(**numbers)
