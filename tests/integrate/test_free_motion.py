"""Free motion over one step against the exact solution, which is built from other functions."""

import numpy as np
import pytest
from bodies import random_body
from hypothesis import given
from hypothesis import strategies as st

import poinsot as pt
from poinsot.body.exact.free_top import FreeTop
from poinsot.integrate.free_motion import free_motion
from poinsot.integrate.single import simulate
from poinsot.spatial import Inertia, quaternion

Q0 = quaternion.normalize(np.array([0.3, -0.2, 0.5, 0.1]))


def step(moments, omega, h: float = 1.0):
    return free_motion(Q0, quaternion.rotate(Q0, np.multiply(moments, omega)), moments, h)


@given(seed=st.integers(0, 2**32 - 1), angle=st.floats(1e-6, 0.6))
def test_agrees_with_the_free_top(seed, angle):
    """For angles of up to 0.6 rad; rods make the numbers of Euler's equations large."""
    rng = np.random.default_rng(seed)
    moments, _ = random_body(rng).principal()
    omega = rng.standard_normal(3)
    omega *= angle / np.linalg.norm(omega)
    rounding = 4e-15 * moments[2] / moments[0]
    np.testing.assert_allclose(step(moments, omega), FreeTop(moments, Q0, omega).orientation(1.0), atol=rounding)


@pytest.mark.parametrize("moments", [(1, 1, 1), (1, 2, 2), (1, 1, 2), (1, 2, 3), (1e-45, 1.5e-45, 2e-45)], ids=str)
@pytest.mark.parametrize("omega", [(0, 0, 0), (0.3, 0, 0), (0, 0.3, 0), (0, 0, 0.3), (0.3, 0, 1e-9), (1e-160, 0, 0)])
def test_special_cases_are_not_special(moments, omega):
    moments, omega = np.array(moments, float), np.array(omega, float)
    np.testing.assert_allclose(step(moments, omega), FreeTop(moments, Q0, omega).orientation(1.0), atol=1e-15)


def test_on_the_separatrix():
    """L^2 = 2 E I_2: the body comes to rest on its middle axis."""
    moments, omega = np.array([1.0, 2.0, 3.0]), np.array([np.sqrt(3.0), 0.0, 1.0]) / 10
    np.testing.assert_allclose(step(moments, omega), FreeTop(moments, Q0, omega).orientation(1.0), atol=1e-15)


def test_energy_is_kept_with_any_number_of_terms():
    """With too few of them the body only arrives early or late on its polhode."""
    moments, omega = np.array([1.0, 2.0, 2.5]), np.array([0.4, 0.9, -0.5])
    L = quaternion.rotate(Q0, moments * omega)
    q = free_motion(Q0, L, moments, 2.0, terms=4)
    after = quaternion.rotate(quaternion.conjugate(q), L) / moments
    np.testing.assert_allclose(moments @ after**2, moments @ omega**2, rtol=1e-14)
    assert np.abs(q - FreeTop(moments, Q0, omega).orientation(2.0)).max() > 1e-8


def test_a_million_steps():
    body = Inertia.box(1.0, (0.3, 0.2, 0.1))
    I = np.diag(body.moment)
    run = simulate(body, V_WB_B=[2.0, 6.0, 2.0, 0, 0, 0], method="poinsot", duration=1e4, step=0.01, records=100)
    T = np.sum(I * run.angular_velocity**2, axis=-1)
    assert np.abs(T / T[0] - 1).max() < 1e-13  # a random walk of rounding errors
    L = quaternion.rotate(run.orientation, I * run.angular_velocity)
    assert np.abs(L - L[0]).max() < 1e-14 * np.linalg.norm(L[0])


def test_back_and_forth():
    moments, L = np.array([1.0, 2.0, 2.5]), np.array([0.3, 0.8, -0.7])
    np.testing.assert_allclose(free_motion(free_motion(Q0, L, moments, 0.4), L, moments, -0.4), Q0, atol=1e-15)


def test_derivative_at_rest():
    """dq/dL = q (0, h I^-1) / 2, where a formula with the axis of rotation would be 0/0."""
    moments = np.array([1.0, 2.0, 3.0])
    kernel = pt.kernel("(4),(3),()->(4)")(lambda q, L, h: free_motion(q, L, moments, h))
    J = pt.jacobian(kernel, wrt=1)(np.array([1.0, 0, 0, 0]), np.zeros(3), 0.1)
    np.testing.assert_allclose(J, np.vstack([np.zeros(3), np.diag(0.05 / moments)]), atol=1e-15)


def test_float32():
    moments, L = np.array([1.0, 2.0, 2.5]), np.array([[0.3, 0.8, -0.7], [0, 0, 0]])
    kernel = pt.kernel("(4),(3),()->(4)")(lambda q, L, h: free_motion(q, L, moments, h))
    args = Q0, L, np.full(2, 0.4)
    single = kernel(*(np.asarray(x, np.float32) for x in args))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, kernel(*args), atol=5e-7)
