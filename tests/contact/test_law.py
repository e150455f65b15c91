"""The law of contact: slopes against differences, friction within Coulomb's cone, energy never gained."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poinsot.contact.law import SHEAR, Material, push
from poinsot.contact.pressing import Pressed, resistance

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


def pressed(depth, xi, turn=None, points=((0.0, 0.0, 0.0),)):
    return Pressed(UP, np.array(points), np.broadcast_to(depth, len(points)), np.zeros(3), xi, turn)


@given(depth=st.floats(0, 1e-2), u=VECTORS, xi=VECTORS, h=st.floats(1e-5, 1e-2), mu=st.floats(0, 2))
@settings(max_examples=60, deadline=None)
def test_friction_stays_in_the_cone_and_opposes_its_pull(depth, u, xi, h, mu):
    law, W = Material(1e4, 0.5, mu), np.concatenate([np.zeros(3), u])
    patch = pressed(depth, 1e-3 * xi)
    found = patch.grip(law, h, W)
    f = patch.wrench(found, patch.speeds(W))[3:]
    along = f - f[2] * UP
    assert np.linalg.norm(along) <= mu * f[2] * (1 + 1e-12) + 1e-12
    assert 0 <= found.holds <= 1
    new, _ = patch.stretched(h, W, found.holds)
    # what the spring along the ground gives back and what it takes up come to a loss
    u_t, away = u - u[2] * UP, pressed(-1.0, patch.xi)
    change = away.stored(law, 0.0, W, new) - away.stored(law, 0.0, W, patch.xi)
    assert h * (along @ u_t) + change <= 1e-12 * law.stiffness


def test_at_rest_the_springs_carry_what_they_are_given():
    law, xi = Material(1e4, 0.5, 0.8), np.array([1e-4, -2e-4, 0.0])
    patch = pressed(1e-3, xi)
    F = patch.wrench(patch.grip(law, 0.0, np.zeros(6)), patch.speeds(np.zeros(6)))
    assert np.allclose(F[3:], [-SHEAR * 1.0, SHEAR * 2.0, 10.0], rtol=1e-12)


TWISTS = st.tuples(*[NUMBERS] * 6).map(np.array)


@given(W=TWISTS, turn=VECTORS, h=st.floats(1e-5, 1e-2), data=st.data())
@settings(max_examples=60, deadline=None)
def test_moments_stay_within_their_limits_and_the_resistance_is_never_negative(W, turn, h, data):
    law = Material(1e4, 0.5, 0.6, torsion=0.02, rolling=0.01)
    points = data.draw(st.lists(VECTORS, min_size=1, max_size=5))
    flat = [p - p[2] * UP for p in points]
    patch = pressed(1e-3, np.zeros(3), turn, flat)
    found = patch.grip(law, h, W)
    centre, F = patch.found.centre, patch.wrench(found, patch.speeds(W))
    moment, f_n = F[:3] - np.cross(centre, F[3:]), F[5]
    pushed = [push(law.stiffness * patch.found.share, 0.5, h, 1e-3, u)[0] for u in patch.speeds(W).apart]
    arms = [p - centre for p in flat]
    pushing = sum(f * np.cross(r, UP) for f, r in zip(pushed, arms, strict=True))
    radius = np.sqrt(sum(f * (r @ r) for f, r in zip(pushed, arms, strict=True)) / (f_n + 1e-15))
    rest = moment - pushing
    assert abs(rest[2]) <= (0.6 * radius + 0.02) * f_n * (1 + 1e-9) + 1e-9
    assert np.hypot(*rest[:2]) <= 0.01 * f_n * (1 + 1e-9) + 1e-9
    K = resistance([patch], [found])
    assert np.allclose(K, K.T, rtol=0, atol=1e-9 * np.abs(K).max())
    assert np.linalg.eigvalsh(K).min() >= -1e-9 * np.abs(K).max()


@given(W=TWISTS, V=TWISTS, turn=st.none() | VECTORS, h=st.floats(1e-5, 1e-2), data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_wrench_of_a_grip_falls_with_the_twist_by_its_resistance(W, V, turn, h, data):
    law = Material(1e4, 0.5, 0.6, torsion=0.02, rolling=0.01)
    points = data.draw(st.lists(VECTORS, min_size=1, max_size=5))
    patch = pressed(1e-3, np.array([1e-4, 2e-4, 0.0]), turn, [p - p[2] * UP for p in points])
    grip = patch.grip(law, h, W)
    K, F_W, F_V = resistance([patch], [grip]), *(patch.wrench(grip, patch.speeds(x)) for x in (W, V))
    assert np.allclose(F_V - F_W, -K @ (V - W), rtol=0, atol=1e-12 * (1 + np.abs(K).max()))
    pushed = sum(push(law.stiffness * patch.found.share, 0.5, h, 1e-3, u)[0] for u in patch.speeds(W).apart)
    assert F_W[5] == pytest.approx(pushed, rel=1e-12, abs=1e-12)


def test_rounding_leaves_no_negative_resistance():
    """A patch that slides has nothing left for its swing: what remains of its limit is zero but for rounding."""
    law, W = Material(1e4, 0.5, 0.6, torsion=0.02, rolling=0.01), np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0625])
    patch = pressed(1e-3, np.zeros(3), np.array([0.0, 0.0, 1.0]))
    for h in np.linspace(1e-5, 1e-2, 200):
        assert patch.grip(law, h, W).turning.about >= 0


@pytest.mark.parametrize("numbers", [{"stiffness": -1.0}, {"damping": np.nan}, {"friction": np.inf}])
def test_a_material_that_no_body_has(numbers):
    (name,) = numbers
    with pytest.raises(ValueError, match=f"{name} of a material must be zero or more"):
        Material(**numbers)
