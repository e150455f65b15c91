"""Where a point lies on the axis of a grid: the cell, and what is done beyond the ends."""

from collections.abc import Callable
from typing import Any

import numpy as np

from poinsot.fuse.trace.traced import Traced

COUNTED = 22  # knots that are counted rather than searched: each is a comparison, a round of search is a gather


def locate(x: Any, grid: np.ndarray, within: bool = False) -> tuple[Any, Any, Any]:
    """The cell of x: its number, left end and width. Beyond the grid it is the outermost one, for NaN the first.

    `within`: x is not beyond the grid, but for rounding.
    """
    n, steps = len(grid), np.diff(grid)
    if np.ptp(steps) <= 4 * np.finfo(float).eps * np.abs(grid).max():  # evenly spaced: no search
        h = (grid[-1] - grid[0]) / (n - 1)
        i: Any = np.floor((x - grid[0]) * (1 / h))
        i = i if within else np.clip(i, 0, n - 2)  # of floats: an integer has no room for a large one
        i = i if isinstance(x, Traced) else np.where(np.isnan(x), 0, i)  # in kernels that is left to the machine
        i = np.clip(i.astype(int), 0, n - 2)
        return i, np.asarray(grid)[i], h
    if isinstance(x, Traced):
        i = _counted(x, grid)
    else:
        i = np.clip(np.searchsorted(grid, np.where(np.isnan(x), grid[0], x), side="right") - 1, 0, n - 2)
    return i, np.asarray(grid)[i], np.asarray(steps)[i]


def _counted(x: Traced, grid: np.ndarray) -> Any:
    """The number of knots that x has passed: every 2^r-th of them by counting, those between by r rounds of search."""
    last, stride = len(grid) - 2, 1
    while last // stride > COUNTED:
        stride *= 2
    i: Any = sum((np.where(x >= float(grid[k]), stride, 0) for k in range(stride, last + 1, stride)), Traced(0))
    knots = np.asarray(grid)
    while stride > 1:
        stride //= 2
        middle = np.minimum(i + stride, last)
        i = np.where(knots[middle] <= x, middle, i)
    return i


def _wrapped(x: Any, grid: np.ndarray) -> Any:
    span = grid[-1] - grid[0]
    return np.where((x >= grid[0]) & (x <= grid[-1]), x, grid[0] + np.mod(x - grid[0], span))


def _mirrored(x: Any, grid: np.ndarray) -> Any:
    span = grid[-1] - grid[0]
    folded = grid[0] + (span - np.abs(np.mod(x - grid[0], 2 * span) - span))
    return np.where((x >= grid[0]) & (x <= grid[-1]), x, folded)


def clamped(x: Any, grid: np.ndarray) -> Any:
    """The nearest point of the axis. At its ends the slope is that of the inside: motions begin and end there.

    That of np.clip is a half of it.
    """
    return np.where(x < grid[0], grid[0], np.where(x > grid[-1], grid[-1], x))


def _as_it_is(x: Any, grid: np.ndarray) -> Any:
    return x


# Beyond the ends of an axis: the point that is looked up instead. "nan" and "error" are then replaced.
OUTSIDE: dict[str, Callable[[Any, np.ndarray], Any]] = {
    "clamp": clamped,
    "extrapolate": _as_it_is,
    "nan": _as_it_is,
    "periodic": _wrapped,
    "mirror": _mirrored,
    "error": _as_it_is,
}
WITHIN = ("clamp", "periodic", "mirror")  # those that end in a point of the grid
