"""Tables on constant grids, in any number of dimensions: aerodynamic coefficients, thrust curves, atmospheres."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.trace.traced import Traced, _asarray, as_objects

_METHODS, _POLICIES = ("linear", "cubic"), ("clamp", "extrapolate", "nan")


@dataclass(frozen=True, eq=False)
class Table:
    """A function defined by its values on a grid.

    `axes`: the grid, one increasing array of two or more (cubic: four or more) points per dimension.
    `values`: shape (len(axes[0]), len(axes[1]), ...).
    `method`: "linear" (in each variable), or "cubic": the spline with two continuous derivatives through all values,
    not-a-knot at the ends.
    `outside`: beyond the grid, the value at the nearest edge ("clamp"), the polynomial of the edge cell ("extrapolate")
    or NaN ("nan").

    Called with one argument per axis, inside kernels or on plain arrays.
    """

    axes: tuple[np.ndarray, ...]
    values: np.ndarray
    method: str = "linear"
    outside: str = "clamp"

    def __post_init__(self) -> None:
        axes = (self.axes,) if np.ndim(self.axes[0]) == 0 else self.axes
        grids = tuple(_frozen(axis, f"axis {k} of the table") for k, axis in enumerate(axes))
        values = _frozen(self.values, "the values of the table")
        object.__setattr__(self, "axes", grids)
        object.__setattr__(self, "values", values)
        if self.method not in _METHODS:
            raise ValueError(f"method {self.method!r} of the table is unknown; there are {_METHODS}")
        if self.outside not in _POLICIES:
            raise ValueError(f"outside={self.outside!r} of the table is unknown; there are {_POLICIES}")
        least = 2 if self.method == "linear" else 4
        for k, grid in enumerate(grids):
            if grid.ndim != 1 or len(grid) < least or not np.all(np.diff(grid) > 0):
                raise ValueError(f"axis {k} of the table must be {least} or more increasing numbers, not {grid}")
        if values.shape != tuple(map(len, grids)):
            raise ValueError(f"the values have shape {values.shape}, but the axes ask for {tuple(map(len, grids))}")

    def __call__(self, *points: Any) -> Any:
        """The value at x, y, ...; arrays of points broadcast."""
        if len(points) != len(self.axes):
            raise TypeError(f"the table has {len(self.axes)} axes, but was called with {len(points)} arguments")
        if any(isinstance(x, Traced) and x.ndim for x in points):
            arrays = np.broadcast_arrays(*(x.data if isinstance(x, Traced) else x for x in points))
            flat = [self(*(Traced(x) for x in point)) for point in zip(*(a.ravel() for a in arrays), strict=True)]
            return np.stack(flat).reshape(arrays[0].shape)
        if not any(isinstance(x, Traced) for x in points):
            points = tuple(np.asarray(x, dtype=float) for x in points)
        return self._evaluate(points)

    def _evaluate(self, points: tuple[Any, ...]) -> Any:
        cells, weights = [], []
        for x, grid in zip(points, self.axes, strict=True):
            inside = np.clip(x, grid[0], grid[-1])
            x = inside if self.outside == "clamp" else x
            i, left, width = _cell(inside, grid)
            cells.append(i)
            weights.append(_WEIGHTS[self.method]((x - left) / width, width))
        data = np.asarray(self._data)
        result: Any = 0.0
        for corner in itertools.product(range(len(weights[0])), repeat=len(cells)):
            # Weight k belongs to derivative k // 2 at end k % 2 of the cell.
            order, ends = tuple(k // 2 for k in corner), tuple(k % 2 for k in corner)
            place = tuple(i + end for i, end in zip(cells, ends, strict=True))
            term = data[order][place] if self.method == "cubic" else data[place]
            for weight, k in zip(weights, corner, strict=True):
                term = term * weight[k]
            result = result + term
        if self.outside == "nan":
            for x, grid in zip(points, self.axes, strict=True):
                result = np.where((x >= grid[0]) & (x <= grid[-1]), result, np.nan)
        return result

    @cached_property
    def _data(self) -> np.ndarray:
        """The values; for splines, of shape (2, 2, ..., grid), the derivatives along every set of axes."""
        if self.method == "linear":
            return self.values
        data = self.values
        for axis, grid in reversed(list(enumerate(self.axes))):
            axis -= len(self.axes)
            slopes = np.moveaxis(np.tensordot(_spline_slopes(grid), data, (1, axis)), 0, axis)
            data = np.stack([data, slopes])
        return data


def _frozen(x: Any, name: str) -> np.ndarray:
    array = _asarray(x, dtype=float).copy()
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} contains numbers that are not finite: {array}")
    array.setflags(write=False)
    return array


def _cell(x: Any, grid: np.ndarray) -> tuple[Any, Any, Any]:
    """The cell that contains x, a point within the grid: its number, left end and width."""
    n, steps = len(grid), np.diff(grid)
    if np.ptp(steps) <= 4 * np.finfo(float).eps * np.abs(grid).max():  # evenly spaced: no search
        h = (grid[-1] - grid[0]) / (n - 1)
        i: Any = np.clip(np.floor((x - grid[0]) * (1 / h)), 0, n - 2).astype(int)
        return i, np.asarray(grid)[i], h
    if not isinstance(x, Traced):
        i = np.clip(np.searchsorted(grid, x, side="right") - 1, 0, n - 2)
    else:
        knots = np.asarray(grid)
        i = Traced(0)
        for step in (1 << k for k in reversed(range((n - 2).bit_length()))):
            middle = np.minimum(i + step, n - 2)
            i = np.where(knots[middle] <= x, middle, i)
    return i, np.asarray(grid)[i], np.asarray(steps)[i]


_WEIGHTS: dict[str, Callable[[Any, Any], tuple[Any, ...]]] = {
    "linear": lambda t, h: (1 - t, t),
    # Hermite's cubics: for the values at both ends, then for the slopes.
    "cubic": lambda t, h: (
        (1 + 2 * t) * (1 - t) * (1 - t),
        t * t * (3 - 2 * t),
        t * (1 - t) * (1 - t) * h,
        t * t * (t - 1) * h,
    ),
}


def _spline_slopes(x: np.ndarray) -> np.ndarray:
    """The matrix that maps values at x to the slopes of the not-a-knot cubic spline there."""
    n, h = len(x), np.diff(x)
    A, B = np.zeros((n, n)), np.zeros((n, n))
    for i in range(1, n - 1):  # the second derivative is continuous
        A[i, i - 1 : i + 2] = h[i], 2 * (h[i - 1] + h[i]), h[i - 1]
        B[i, i - 1] = -3 * h[i] / h[i - 1]
        B[i, i + 1] = 3 * h[i - 1] / h[i]
        B[i, i] = -B[i, i - 1] - B[i, i + 1]
    for i, j, k in ((0, 1, 2), (n - 1, n - 2, n - 3)):  # the third derivative is continuous next to the ends
        a, b = x[j] - x[i], x[k] - x[j]
        A[i, i], A[i, j] = b, a + b
        B[i, i] = -((a + 2 * (a + b)) * b / (a + b)) / a
        B[i, j] = ((a + 2 * (a + b)) * b / (a + b)) / a - (a * a / (a + b)) / b
        B[i, k] = (a * a / (a + b)) / b
    return np.linalg.solve(A, B)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """np.interp on a constant grid; the values may be traced."""
    if period is not None:
        raise TraceError("np.interp(period=...) cannot be traced", "wrap x first: np.mod(x, period)")
    points = Traced(as_objects(xp))
    if not points.is_known():
        raise TraceError("the grid of np.interp is traced", "use a constant grid; the values may be traced")
    grid = _asarray(points.__array__(), dtype=float)
    if grid.ndim != 1 or len(grid) < 2 or np.any(np.diff(grid) <= 0):
        raise TraceError("the grid of np.interp does not ascend", "give at least two points in ascending order")
    if np.ndim(x):
        return np.stack([interp(point, xp, fp, left, right) for point in x])
    inside = np.clip(x, grid[0], grid[-1])
    i, start, width = _cell(inside if isinstance(inside, Traced) else Traced(float(inside)), grid)
    values = Traced(as_objects(fp))
    t = (inside - start) / width
    result = values[i] + t * (values[i + 1] - values[i])
    result = result if left is None else np.where(x < grid[0], left, result)
    return result if right is None else np.where(x > grid[-1], right, result)
