"""Slopes at the knots of piecewise cubics: smooth (not-a-knot, periodic, flat ends) and shape-preserving."""

import numpy as np


def slopes(x: np.ndarray, y: np.ndarray, method: str, outside: str) -> np.ndarray:
    """dy/dx at the knots x (n,) of values y (n, ...).

    "cubic": the spline with two continuous derivatives, not-a-knot at its ends, or periodic, or flat where it is
    mirrored. "monotone": Fritsch and Butland (1984), as PCHIP: between two knots it stays between their values.
    """
    if method == "cubic":
        return np.tensordot(_smooth(x, outside), y, (1, 0))
    if outside == "periodic":
        ring = np.concatenate([[x[0] - (x[-1] - x[-2])], x, [x[-1] + x[1] - x[0]]])
        return _monotone(ring, np.concatenate([y[-2:-1], y, y[1:2]]))[1:-1]
    flat = _monotone(x, y)
    if outside == "mirror":
        flat[[0, -1]] = 0.0
    return flat


def _smooth(x: np.ndarray, outside: str) -> np.ndarray:
    """The matrix that maps values at x to the slopes of the spline there."""
    n, h = len(x), np.diff(x)
    A, B = _dense(n), _dense(n)
    for i in range(1, n - 1):  # the second derivative is continuous
        A[i, i - 1 : i + 2] = h[i], 2 * (h[i - 1] + h[i]), h[i - 1]
        B[i, i - 1] = -3 * h[i] / h[i - 1]
        B[i, i + 1] = 3 * h[i - 1] / h[i]
        B[i, i] = -B[i, i - 1] - B[i, i + 1]
    if outside == "mirror":
        A[0, 0] = A[-1, -1] = 1.0
    elif outside == "periodic":  # the same slope and second derivative at both ends
        A[-1, [0, -1]] = 1.0, -1.0
        A[0, [0, 1, -2, -1]] = 2 * h[-1], h[-1], h[0], 2 * h[0]
        B[0, [0, 1, -2, -1]] = -3 * h[-1] / h[0], 3 * h[-1] / h[0], -3 * h[0] / h[-1], 3 * h[0] / h[-1]
    else:
        for i, j, k in ((0, 1, 2), (n - 1, n - 2, n - 3)):  # the third derivative is continuous next to the ends
            a, b = x[j] - x[i], x[k] - x[j]
            A[i, i], A[i, j] = b, a + b
            B[i, i] = -((a + 2 * (a + b)) * b / (a + b)) / a
            B[i, j] = ((a + 2 * (a + b)) * b / (a + b)) / a - (a * a / (a + b)) / b
            B[i, k] = (a * a / (a + b)) / b
    return np.linalg.solve(A, B)


def _monotone(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A weighted harmonic mean of the slopes left and right, 0 where they differ in sign; one-sided at the ends."""
    h = np.diff(x).reshape(-1, *(1,) * (y.ndim - 1))
    d = np.diff(y, axis=0) / h
    if len(x) == 2:
        return np.concatenate([d, d])
    left, right, w1, w2 = d[:-1], d[1:], 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    agree = left * right > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(agree, (w1 + w2) / (w1 / left + w2 / right), 0.0)
    ends = (_end(h[0], h[1], d[0], d[1]), _end(h[-1], h[-2], d[-1], d[-2]))
    return np.concatenate([ends[0][None], mean, ends[1][None]])


def _end(h0: np.ndarray, h1: np.ndarray, d0: np.ndarray, d1: np.ndarray) -> np.ndarray:
    """The slope at an end by three points, cut where it would not preserve the shape."""
    slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1)
    slope = np.where(slope * d0 <= 0, 0.0, slope)
    return np.where((d0 * d1 < 0) & (np.abs(slope) > 3 * np.abs(d0)), 3 * d0, slope)


def _dense(n: int) -> np.ndarray:
    matrix = np.ndarray((n, n))  # np.zeros would give a traced one while a kernel is traced
    matrix.fill(0.0)
    return matrix
