"""Tables on constant grids, in any number of dimensions: aerodynamic coefficients, thrust curves, atmospheres."""

import functools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot.fuse.graph import memory
from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.trace.cells import OUTSIDE, WITHIN, clamped, locate
from poinsot.fuse.trace.splines import slopes
from poinsot.fuse.trace.traced import Traced, _asarray, as_objects

_SEEN: ContextVar[list[Any] | None] = ContextVar("look_ups", default=None)
METHODS = {"linear": 2, "cubic": 4, "monotone": 2}  # with the least number of knots


@dataclass(frozen=True, eq=False)
class Table:
    """A function, or several, defined by values on a grid.

    `axes`: the grid, one increasing array of two or more (cubic: four or more) points per dimension.
    `values`: shape (len(axes[0]), len(axes[1]), ...), and the shape of the result behind that if it is not a number.
    `method`: "linear" (in each variable); "cubic": the spline with two continuous derivatives through all values,
    not-a-knot at the ends; "monotone": the cubic with one continuous derivative that stays between the values of
    neighbours along each axis (PCHIP).
    `outside`: beyond the grid, the value at the nearest edge ("clamp"), the polynomial of the edge cell
    ("extrapolate"), NaN ("nan"), or an error on plain numbers and NaN in kernels ("error"); "periodic": the axis spans
    one period; "mirror": the values are repeated backwards. One for all axes, or one per axis.

    `name` and `labels`, one per axis, are what reports call it and its axes.

    Called with one argument per axis, inside kernels or on plain arrays. NaN in gives NaN out. The derivative at an end
    of the grid is that of the inside; at another knot of a linear table, that of the cell that begins there.
    """

    axes: tuple[np.ndarray, ...]
    values: np.ndarray
    method: str = "linear"
    outside: str | Sequence[str] = "clamp"
    name: str = ""
    labels: Sequence[str] = ()

    def __post_init__(self) -> None:
        axes = (self.axes,) if np.ndim(self.axes[0]) == 0 else self.axes
        grids = tuple(_frozen(axis, f"axis {k} of the table") for k, axis in enumerate(axes))
        values = _frozen(self.values, "the values of the table")
        object.__setattr__(self, "axes", grids)
        object.__setattr__(self, "values", values)
        if self.method not in METHODS:
            raise ValueError(f"method {self.method!r} of the table is unknown; there are {tuple(METHODS)}")
        least = METHODS[self.method]
        for k, grid in enumerate(grids):
            if grid.ndim != 1 or len(grid) < least or not np.all(np.diff(grid) > 0):
                raise ValueError(f"axis {k} of the table must be {least} or more increasing numbers, not {grid}")
        if values.shape[: len(grids)] != tuple(map(len, grids)):
            raise ValueError(f"the values have shape {values.shape}, but the axes ask for {tuple(map(len, grids))}")
        self._check_outside()
        if self.labels and (isinstance(self.labels, str) or len(self.labels) != len(grids)):
            raise ValueError(f"labels={self.labels!r} of the table: its {len(grids)} axes need one each")

    def _check_outside(self) -> None:
        if not isinstance(self.outside, str):
            object.__setattr__(self, "outside", tuple(self.outside))
            if len(self.outside) != len(self.axes):
                raise ValueError(f"outside={self.outside!r} of the table: its {len(self.axes)} axes need one each")
        for k, outside in enumerate(self._outside):
            if outside not in OUTSIDE:
                known = f"there are {tuple(OUTSIDE)}{hint(outside, OUTSIDE)}"
                raise ValueError(f"outside={outside!r} of the table is unknown; {known}")
            first, last = (self.values.take(end, axis=k) for end in (0, -1))
            if outside == "periodic" and np.any(np.abs(last - first) > 1e-9 * np.abs(self.values).max()):
                raise ValueError(f"axis {k} of the table is periodic, but the values at its two ends differ")

    @property
    def _outside(self) -> tuple[str, ...]:
        """The rule beyond the grid, per axis."""
        return (self.outside,) * len(self.axes) if isinstance(self.outside, str) else tuple(self.outside)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value at one point: () for a number."""
        return self.values.shape[len(self.axes) :]

    def __call__(self, *points: Any) -> Any:
        """The value at x, y, ...; arrays of points broadcast, the shape of the value comes last."""
        if len(points) != len(self.axes):
            raise TypeError(f"the table has {len(self.axes)} axes, but was called with {len(points)} arguments")
        if any(isinstance(x, Traced) and x.ndim for x in points):
            arrays = np.broadcast_arrays(*(x.data if isinstance(x, Traced) else x for x in points))
            flat = [self(*(Traced(x) for x in point)) for point in zip(*(a.ravel() for a in arrays), strict=True)]
            return np.stack(flat).reshape(arrays[0].shape + self.shape)
        if not any(isinstance(x, Traced) for x in points):
            points = tuple(np.asarray(x, dtype=float) for x in points)
        if (seen := _SEEN.get()) is not None:
            seen.append((self, points))
        return self._evaluate(points)

    @property
    def open_axes(self) -> tuple[int, ...]:
        """The axes that a point can leave: those that are not periodic or mirrored."""
        return tuple(k for k, outside in enumerate(self._outside) if outside not in ("periodic", "mirror"))

    def label(self, axis: int) -> str:
        """The name of an axis in reports."""
        return str(self.labels[axis]) if self.labels else f"axis {axis}"

    def beyond(self, *points: Any) -> tuple[Any, ...]:
        """How far a point is beyond the grid, per axis: below 0 under its start, above 0 past its end, 0 within."""
        pairs = zip(points, self.axes, strict=True)
        return tuple(np.maximum(x - grid[-1], 0.0) + np.minimum(x - grid[0], 0.0) for x, grid in pairs)

    def _evaluate(self, points: tuple[Any, ...]) -> Any:
        cells, weights, outside = [], [], self._outside
        for x, grid, what in zip(points, self.axes, outside, strict=True):
            x = OUTSIDE[what](x, grid)
            i, left, width = locate(x, grid, within=what in WITHIN)
            cells.append(i)
            weights.append(_WEIGHTS[self.method]((x - left) / width, width))
        result = _contracted(weights, self._entries(cells), ())
        for k, (x, grid, what) in enumerate(zip(points, self.axes, outside, strict=True)):
            if what in ("nan", "error"):
                inside = (x >= grid[0]) & (x <= grid[-1])
                if what == "error" and not isinstance(inside, Traced):
                    _require_inside(k, x, grid)
                result = np.where(_behind(inside, len(self.shape)), result, np.nan)
        return result

    def _entries(self, cells: list[Any]) -> Callable[[tuple[int, ...]], Any]:
        """Reads, for weight k of each axis, the derivative k // 2 along it at end k % 2 of the cell."""
        data = self._data
        if not any(isinstance(i, Traced) for i in cells):
            return lambda corner: data[(*map(lambda i, k: i + k % 2, cells, corner), *(k // 2 for k in corner))]
        strides = [stride // data.itemsize for stride in data.strides]
        along, derivatives = strides[: len(cells)], strides[len(cells) :]
        array, size = memory.table(self._constants), math.prod(self.shape)
        base = sum((i * stride for i, stride in zip(cells, along, strict=True)), Traced(0))

        def entry(corner: tuple[int, ...]) -> Any:
            first = sum(k % 2 * s + k // 2 * d for k, s, d in zip(corner, along, derivatives, strict=False))
            values = [Traced(memory.get(array, (base + k).data.item())) for k in range(first, first + size)]
            return np.stack(values).reshape(self.shape) if self.shape else values[0]

        return entry

    @cached_property
    def _data(self) -> np.ndarray:
        """Shape (grid, derivatives, shape of the value): 1 or, for cubics, 2 derivatives (0 or 1) along each axis."""
        d, m = len(self.axes), len(self.shape)
        if self.method == "linear":
            return self.values.reshape(self.values.shape[:d] + (1,) * d + self.shape)
        data = self.values
        for axis, (grid, outside) in enumerate(zip(self.axes, self._outside, strict=True)):
            slope = np.moveaxis(slopes(grid, np.moveaxis(data, axis, 0), self.method, outside), 0, axis)
            data = np.stack([data, slope], axis=data.ndim - m)
        return np.ascontiguousarray(data)

    @cached_property
    def _constants(self) -> memory.Numbers:
        return memory.Numbers(self._data)


@contextmanager
def look_ups() -> Iterator[list[tuple[Table, tuple[Any, ...]]]]:
    """Inside of it, all look-ups are listed: the table, and the point at which it was asked."""
    seen: list[tuple[Table, tuple[Any, ...]]] = []
    token = _SEEN.set(seen)
    try:
        yield seen
    finally:
        _SEEN.reset(token)


def _contracted(
    weights: list[tuple[Any, ...]], entry: Callable[[tuple[int, ...]], Any], corner: tuple[int, ...]
) -> Any:
    """The sum over all corners of the entry times the weights of all axes, axis by axis."""
    axis = len(corner)
    if axis == len(weights):
        return entry(corner)
    terms = (_scaled(w, _contracted(weights, entry, (*corner, k))) for k, w in enumerate(weights[axis]))
    return functools.reduce(operator.add, terms)


def _scaled(weight: Any, value: Any) -> Any:
    return _behind(weight, np.ndim(value) - np.ndim(weight)) * value


def _behind(x: Any, axes: int) -> Any:
    """x with axes of length 1 behind its own."""
    return x if axes <= 0 or not np.ndim(x) else np.reshape(x, (*np.shape(x), *(1,) * axes))


def _require_inside(k: int, x: np.ndarray, grid: np.ndarray) -> None:
    beyond = (x < grid[0]) | (x > grid[-1])
    if np.any(beyond):
        words = f"axis {k} of the table goes from {grid[0]:g} to {grid[-1]:g}, but was asked at {x[beyond].flat[0]:g}"
        raise ValueError(f"{words}. Extend it, or choose another outside=")


def _frozen(x: Any, name: str) -> np.ndarray:
    array = _asarray(x, dtype=float).copy()
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} contains numbers that are not finite: {array}")
    array.setflags(write=False)
    return array


def _hermite(t: Any, h: Any) -> tuple[Any, ...]:
    """Hermite's cubics: for the values at both ends, then for the slopes."""
    return (1 + 2 * t) * (1 - t) * (1 - t), t * t * (3 - 2 * t), t * (1 - t) * (1 - t) * h, t * t * (t - 1) * h


_WEIGHTS: dict[str, Callable[[Any, Any], tuple[Any, ...]]] = {
    "linear": lambda t, h: (1 - t, t),
    "cubic": _hermite,
    "monotone": _hermite,
}


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
    inside = clamped(x, grid)
    i, start, width = locate(inside if isinstance(inside, Traced) else Traced(float(inside)), grid, within=True)
    values = Traced(as_objects(fp))
    t = (inside - start) / width
    result = values[i] + t * (values[i + 1] - values[i])
    result = result if left is None else np.where(x < grid[0], left, result)
    return result if right is None else np.where(x > grid[-1], right, result)
