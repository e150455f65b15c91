"""Small dense linear algebra, unrolled: each function is plain NumPy on one matrix and traces to straight-line code."""

from typing import Any

import numpy as np

from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.trace.traced import is_traced


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Vector norms of order 2, 1 and inf, and the Frobenius norm of matrices."""
    if not isinstance(ord, (int, float, str, type(None))) or is_traced(axis):
        raise TraceError("the order or the axis of a norm is not a known number", "use the order 1, 2 or inf")
    of_matrix = isinstance(axis, tuple) or (axis is None and x.ndim == 2)
    if of_matrix and ord not in (None, "fro"):
        raise TraceError(f"np.linalg.norm(ord={ord!r}) of a matrix cannot be traced", "use the Frobenius norm, or det")
    if ord in (None, 2, "fro"):
        return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == np.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdims)
    raise TraceError(f"np.linalg.norm(ord={ord!r}) cannot be traced", "use the order 1, 2 or inf")


def _cofactors(A: Any) -> Any:
    """The cofactors of a matrix of at most 3x3."""
    if len(A) == 1:
        return np.ones((1, 1))
    if len(A) == 2:
        return np.stack([np.stack([A[1, 1], -A[1, 0]]), np.stack([-A[0, 1], A[0, 0]])])
    return np.stack([np.cross(A[1], A[2]), np.cross(A[2], A[0]), np.cross(A[0], A[1])])


def _eliminate(A: Any, B: Any) -> tuple[list[Any], Any]:
    """Gaussian elimination with partial pivoting, chosen at run time: the sign and pivots, and A^-1 B."""
    n = len(A)
    rows = [np.concatenate([A[i], B[i]]) for i in range(n)]
    sign: Any = 1.0
    for k in range(n):
        for i in range(k + 1, n):
            swap = np.abs(rows[i][k]) > np.abs(rows[k][k])
            rows[k], rows[i] = np.where(swap, rows[i], rows[k]), np.where(swap, rows[k], rows[i])
            sign = np.where(swap, -sign, sign)
        inverse = 1 / rows[k][k]
        for i in range(k + 1, n):
            rows[i] = rows[i] - rows[i][k] * inverse * rows[k]
    pivots = [rows[k][k] for k in range(n)]
    X: list[Any] = [None] * n
    for i in reversed(range(n)):
        X[i] = (rows[i][n:] - sum((rows[i][j] * X[j] for j in range(i + 1, n)), start=np.zeros(1))) / pivots[i]
    return [sign, *pivots], np.stack(X)


def det(A: Any) -> Any:
    _square(A, "det")
    if len(A) <= 3:
        return A[0] @ _cofactors(A)[0]
    factors, _ = _eliminate(A, np.zeros((len(A), 0)))
    return np.prod(np.stack(factors))


def inv(A: Any) -> Any:
    _square(A, "inv")
    if len(A) <= 3:
        C = _cofactors(A)
        return C.T / (A[0] @ C[0])
    return _eliminate(A, np.eye(len(A)))[1]


def solve(A: Any, b: Any) -> Any:
    """x with A x = b, for b of shape (n) or (n, k).

    Up to 3x3 by Cramer's rule, which loses twice the digits of the condition number where two singular values are
    small; the residual, solved for again, brings them back (for condition numbers up to about 1e5). Matrices of known
    numbers, such as inertias, go without.
    """
    _square(A, "solve")
    A = np.asarray(A)
    if len(A) <= 3:
        C = _cofactors(A)
        D = A[0] @ C[0]
        x = C.T @ b / D
        return x + C.T @ (b - A @ x) / D if is_traced(A) and len(A) > 1 else x
    b = np.asarray(b)
    return _eliminate(A, b[:, None])[1][:, 0] if b.ndim == 1 else _eliminate(A, b)[1]


def cholesky(A: Any, *, upper: bool = False) -> Any:
    """The lower L with L L^T = A."""
    n = _square(A, "cholesky")
    L = np.zeros((n, n))
    for j in range(n):
        L[j, j] = np.sqrt(A[j, j] - L[j, :j] @ L[j, :j])
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - L[i, :j] @ L[j, :j]) / L[j, j]
    return L.T if upper else L


def solve_spd(A: Any, b: Any) -> Any:
    """x with A x = b for a symmetric positive definite A (n, n) and b (n) or (n, k): L D L^T, without pivoting."""
    if not is_traced(A, b):
        A, b = np.asarray(A), np.asarray(b)
        stacked = b.ndim == A.ndim - 1
        return np.linalg.solve(A, b[..., None])[..., 0] if stacked else np.linalg.solve(A, b)
    A, b = np.asarray(A), np.asarray(b)
    n = _square(A, "solve_spd")
    L, LD, inverse = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
    for j in range(n):
        inverse[j] = 1 / (A[j, j] - L[j, :j] @ LD[j, :j])
        for i in range(j + 1, n):
            LD[i, j] = A[i, j] - L[i, :j] @ LD[j, :j]
            L[i, j] = LD[i, j] * inverse[j]
    x: list[Any] = [b[i] for i in range(n)]
    for i in range(n):
        for k in range(i):
            x[i] = x[i] - L[i, k] * x[k]
    for i in reversed(range(n)):
        x[i] = x[i] * inverse[i]
        for k in range(i + 1, n):
            x[i] = x[i] - L[k, i] * x[k]
    return np.stack(x)


def _square(A: Any, name: str) -> int:
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise np.linalg.LinAlgError(f"{name} needs one square matrix inside a kernel, not shape {A.shape}")
    return len(A)
