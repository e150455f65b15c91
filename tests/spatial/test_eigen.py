"""Principal axes by plain arithmetic, which a kernel can take: against LAPACK."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poinsot as pt
from poinsot.spatial.eigen import principal_axes

kernel = pt.kernel("(3,3)->(3),(3,3)")(principal_axes)


def check(A, moments, R):
    size = np.abs(A).max()
    np.testing.assert_allclose(moments, np.linalg.eigvalsh(A), rtol=0, atol=1e-14 * size)
    np.testing.assert_allclose(R @ np.diag(moments) @ R.T, A, rtol=0, atol=1e-14 * size)
    np.testing.assert_allclose(R.T @ R, np.eye(3), rtol=0, atol=1e-14)
    assert np.linalg.det(R) == pytest.approx(1.0)


@given(seed=st.integers(0, 2**32 - 1), scale=st.floats(-12, 12), flat=st.sampled_from([1.0, 1e-3, 1e-9, 0.0]))
def test_random_moments(seed, scale, flat):
    """Of any size, from round to flat bodies; equal and nearly equal moments among them."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    A = 10.0**scale * Q @ np.diag([1.0, 1.0 + flat * rng.random(), 1.5]) @ Q.T
    A = (A + A.T) / 2
    check(A, *principal_axes(A))
    check(A, *kernel(A))


def test_principal_axes_stay():
    moments, R = kernel(np.diag([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(moments, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(R, np.eye(3))
    check(np.diag([3.0, 1.0, 2.0]), *kernel(np.diag([3.0, 1.0, 2.0])))
    check(np.eye(3), *kernel(np.eye(3)))


def test_derivatives_are_finite_where_moments_agree():
    slope = pt.jacobian(pt.kernel("(3,3)->(3)")(lambda A: principal_axes(A)[0]))
    for A in (np.eye(3), np.diag([1.0, 1.0, 2.0]), np.diag([3.0, 1.0, 2.0])):
        assert np.all(np.isfinite(slope(A)))


@pytest.mark.parametrize("moments", [(3.0, 2.0, 1.0), (1.0, 2.0, 3.0), (2.0, 3.0, 1.0)])
@pytest.mark.parametrize("beside", [1e-3, 1e-8, 1e-12, 1e-17])
def test_nearly_principal_axes(moments, beside):
    """The smaller angle of each rotation does not cancel, however little is left beside the diagonal."""
    A = np.diag(moments) + beside * (np.ones((3, 3)) - np.eye(3))
    check(A, *principal_axes(A))
