"""Small dense linear algebra in kernels, against LAPACK."""

import numpy as np
import pytest
from fuse_laws import agrees, every_backend
from hypothesis import given, settings
from hypothesis import strategies as st

from poinsot.fuse import TraceError, gradient, jacobian, kernel, solve_spd

SIZES = range(1, 7)
ACCURACY = 1e-11  # relative, for matrices with condition numbers up to about 1e3


def well_conditioned(rng, n, batch=20):
    """Random matrices with singular values between 1 and 30."""
    U, _, V = np.linalg.svd(rng.standard_normal((batch, n, n)))
    return U @ (rng.uniform(1, 30, (batch, n, 1)) * V)


def positive_definite(rng, n, batch=20):
    Q = np.linalg.qr(rng.standard_normal((batch, n, n)))[0]
    return Q @ (rng.uniform(1, 30, (batch, n, 1)) * np.swapaxes(Q, -1, -2))


@pytest.mark.parametrize("n", SIZES)
def test_general_matrices(n, rng):
    A, b, B = well_conditioned(rng, n), rng.standard_normal((20, n)), rng.standard_normal((20, n, 2))

    def f(A, b, B):
        return np.linalg.solve(A, b), np.linalg.solve(A, B), np.linalg.inv(A), np.linalg.det(A)

    agrees(f, f"({n},{n}),({n}),({n},2)->({n}),({n},2),({n},{n}),()", A, b, B, rtol=ACCURACY)


@pytest.mark.parametrize("n", SIZES)
def test_positive_definite_matrices(n, rng):
    A, b, B = positive_definite(rng, n), rng.standard_normal((20, n)), rng.standard_normal((20, n, 2))

    def f(A, b, B):
        return np.linalg.cholesky(A), np.linalg.cholesky(A, upper=True), solve_spd(A, b), solve_spd(A, B)

    agrees(f, f"({n},{n}),({n}),({n},2)->({n},{n}),({n},{n}),({n}),({n},2)", A, b, B, rtol=ACCURACY)


@pytest.mark.parametrize("n", SIZES)
def test_matrices_that_need_row_exchange(n, rng):
    """Permutations, alone and with rows that a zero pivot would ruin."""
    P = np.stack([np.eye(n)[rng.permutation(n)] for _ in range(20)])
    P[10:] += np.tril(rng.standard_normal((10, n, n)), -1)[:, :, rng.permutation(n)] * (n > 1)
    P[10:] = np.where(np.abs(np.linalg.det(P[10:]))[:, None, None] > 0.1, P[10:], np.eye(n)[::-1])
    b = rng.standard_normal((20, n))
    agrees(np.linalg.solve, f"({n},{n}),({n})->({n})", P, b, rtol=ACCURACY)
    agrees(lambda A: (np.linalg.inv(A), np.linalg.det(A)), f"({n},{n})->({n},{n}),()", P, rtol=ACCURACY)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(0, 2**32 - 1), st.integers(-100, 100))
def test_solution_solves(n, seed, exponent):
    """A x = b for badly scaled matrices, too; the kernels are made once per size."""
    rng = np.random.default_rng(seed)
    A = well_conditioned(rng, n, 3) * 10.0**exponent
    b = rng.standard_normal((3, n))
    x = SOLVE(A, b)
    np.testing.assert_allclose((A @ x[..., None])[..., 0], b, rtol=1e-10, atol=1e-11)


SOLVE = kernel("(n,n),(n)->(n)")(np.linalg.solve)


def test_residual_of_ill_conditioned_systems(rng):
    """Elimination with row exchange is backward stable: small residuals whatever the condition number."""
    for n in (4, 5, 6):
        U, _, V = np.linalg.svd(rng.standard_normal((10, n, n)))
        A = U @ (np.logspace(0, -9, n)[:, None] * V)
        b = rng.standard_normal((10, n))
        x = SOLVE(A, b)
        residual = np.linalg.norm((A @ x[..., None])[..., 0] - b, axis=-1)
        assert (residual <= 1e-15 * n**2 * np.linalg.norm(x, axis=-1) + 1e-13).all(), (n, residual)


@pytest.mark.parametrize("small", [1e-2, 1e-4, 1e-5])
def test_small_systems_lose_what_the_condition_number_says(small, rng):
    """Two small singular values, where Cramer's rule alone would lose twice as many digits; known solutions."""
    for n in (2, 3):
        U, _, V = np.linalg.svd(rng.standard_normal((50, n, n)))
        A = U @ (np.array([1.0, small, small])[:n, None] * V)
        x = rng.standard_normal((50, n))
        b = np.einsum("bij,bj->bi", A.astype(np.longdouble), x).astype(float)
        np.testing.assert_allclose(SOLVE(A, b), x, rtol=0, atol=2e-15 / small)


def test_inertia_of_a_thin_rod(rng):
    """Cramer's rule, used up to 3x3, loses no more digits than the condition number says if two moments are alike."""
    R = np.linalg.qr(rng.standard_normal((10, 3, 3)))[0]
    I = R @ (np.array([1.0, 0.9, 1e-8])[:, None] * np.swapaxes(R, 1, 2))
    L = rng.standard_normal((10, 3))
    want = np.linalg.solve(I, L[..., None])[..., 0]
    np.testing.assert_allclose(SOLVE(I, L), want, atol=1e-6 * np.abs(want).max())


NORMS = {
    "2": lambda A: np.linalg.norm(A[0]),
    "1": lambda A: np.linalg.norm(A[0], 1),
    "inf": lambda A: np.linalg.norm(A[1], np.inf),
    "frobenius": lambda A: np.linalg.norm(A) + np.linalg.norm(A, "fro"),
    "rows": lambda A: np.linalg.norm(A, axis=1).sum(),
    "columns": lambda A: (A / np.linalg.norm(A, axis=0, keepdims=True)).sum(),
    "pair of axes": lambda A: np.linalg.norm(A, axis=(0, 1)),
}


@pytest.mark.parametrize("f", NORMS.values(), ids=NORMS)
def test_norms(f, rng):
    agrees(f, "(3,3)->()", rng.standard_normal((5, 3, 3)))


@pytest.mark.parametrize("f", [np.linalg.det, np.linalg.inv, np.linalg.cholesky, lambda A: np.linalg.solve(A, A[:, 0])])
def test_square_matrices_only(f):
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        kernel("(2,3)->()")(f)(np.ones((2, 3)))


def test_unknown_norms_are_refused():
    with pytest.raises(TraceError, match="norm"):
        kernel("(3,3)->()")(lambda A: np.linalg.norm(A, 2))(np.ones((3, 3)))


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_derivatives_of_a_solution(n, rng):
    """d(A^-1 b) = -A^-1 dA x, by A and by b, for general and for symmetric matrices."""
    A, b = positive_definite(rng, n, 4), rng.standard_normal((4, n))
    x = np.linalg.solve(A, b[..., None])[..., 0]
    inverse = np.linalg.inv(A)
    for solve in (np.linalg.solve, solve_spd):
        k = kernel(f"({n},{n}),({n})->({n})")(solve)
        by_b = jacobian(k, wrt=1)(A, b)
        np.testing.assert_allclose(by_b, inverse, rtol=1e-9, atol=1e-11)
        if solve is np.linalg.solve:
            by_A = jacobian(k, wrt=0)(A, b)
            want = -np.einsum("zij,zk->zijk", inverse, x)
            np.testing.assert_allclose(by_A, want, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_derivative_of_the_determinant(n, rng):
    """d det = det A^-T (Jacobi)."""
    A = well_conditioned(rng, n, 5)
    k = gradient(kernel(f"({n},{n})->()")(np.linalg.det))
    want = np.linalg.det(A)[:, None, None] * np.swapaxes(np.linalg.inv(A), 1, 2)
    for backend, (got,) in every_backend(k, A):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * np.abs(want).max(), err_msg=backend)
