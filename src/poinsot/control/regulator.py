"""The linear-quadratic regulator: the gain of the state feedback u = -K x with the least cost."""

from typing import Any

import numpy as np

from poinsot import _optional
from poinsot._types import Array, ArrayLike


def lqr(linear: Any, Q: ArrayLike, R: ArrayLike, sample: float | None = None) -> Array:
    """K (nu, n) of u = -K x with the least integral of x^T Q x + u^T R u, for x' = A x + B u.

    `linear`: what `world.linearise()` gives, or a pair (A, B). With `sample` [s], u is held in between: the same
    integral, as an exact sum over samples (Van Loan, IEEE Trans. Automatic Control 23 (1978) 395).
    """
    A, B = (np.asarray(x, dtype=float) for x in (linear if isinstance(linear, tuple) else (linear.A, linear.B)))
    (n, m), Q, R = B.shape, np.asarray(Q, dtype=float), np.atleast_2d(np.asarray(R, dtype=float))
    if A.shape != (n, n) or Q.shape != (n, n) or R.shape != (m, m):
        raise ValueError(
            f"with A {A.shape} and B {B.shape}, Q must have shape {(n, n)} and R {(m, m)}, not {Q.shape} and {R.shape}."
        )
    solvers = _optional.require("scipy.linalg", "adaptive", "The linear-quadratic regulator")
    if sample is None:
        P = solvers.solve_continuous_are(A, B, Q, R)
        K: Array = np.linalg.solve(R, B.T @ P)
        return K
    F, W = _sampled(A, B, Q, R, sample, solvers.expm)
    G, F, N = F[:n, n:], F[:n, :n], W[:n, n:]
    P = solvers.solve_discrete_are(F, G, W[:n, :n], W[n:, n:], s=N)
    K = np.linalg.solve(W[n:, n:] + G.T @ P @ G, G.T @ P @ F + N.T)
    return K


def _sampled(A: Array, B: Array, Q: Array, R: Array, h: float, expm: Any) -> tuple[Array, Array]:
    """exp(M h) for M = [[A, B], [0, 0]], and the cost of one sample: the integral of exp(M^T t) diag(Q, R) exp(M t)."""
    n, m = B.shape
    M, cost = np.zeros((n + m, n + m)), np.zeros((n + m, n + m))
    M[:n], cost[:n, :n], cost[n:, n:] = np.hstack([A, B]), Q, R
    E = expm(h * np.block([[-M.T, cost], [np.zeros_like(M), M]]))
    F = E[n + m :, n + m :]
    W = F.T @ E[: n + m, n + m :]
    return F, 0.5 * (W + W.T)
