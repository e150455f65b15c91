"""The tables of DAVE-ML: gridded and ungridded ones, and how a function looks a value up in them."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from poinsot._hints import hint
from poinsot._optional import require
from poinsot._types import Array
from poinsot.files._reading import inside
from poinsot.fuse import Table, locate

EXTRAPOLATE = ("neither", "min", "max", "both")
INTERPOLATE = ("linear", "cubicSpline", "discrete", "floor", "ceiling")
SIMPLICES = 500  # of scattered points; each is tried in every look-up


@dataclass(frozen=True)
class Argument:
    """An independent variable of a function: what is done beyond the table, and between its points."""

    varID: str
    least: float = -math.inf
    most: float = math.inf
    extrapolate: str = "neither"
    interpolate: str = "linear"

    def placed(self, x: Any, knots: Array) -> Any:
        """The point that is looked up for x: limited, and moved to a knot where there is no interpolation."""
        low = self.least if self.extrapolate in ("min", "both") else max(self.least, knots[0])
        high = self.most if self.extrapolate in ("max", "both") else min(self.most, knots[-1])
        x = np.maximum(x, low) if math.isfinite(low) else x
        x = np.minimum(x, high) if math.isfinite(high) else x
        if self.interpolate in ("linear", "cubicSpline"):
            return x
        _, left, width = locate(x, knots)
        right = left + width
        up = {"floor": x >= right, "ceiling": x > left, "discrete": x >= left + 0.5 * width}[self.interpolate]
        return np.where(up, right, left)


@dataclass(frozen=True)
class TableSet:
    """The data that functions may refer to: breakpoints by bpID, tables by gtID or utID."""

    breakpoints: dict[str, Array]
    tables: dict[str, Element] = field(default_factory=dict)

    @staticmethod
    def of(root: Element) -> "TableSet":
        breakpoints: dict[str, Array] = {}
        for definition in root.iter("breakpointDef"):
            name = definition.get("bpID", "")
            with inside(f"breakpoint set {name!r}"):
                breakpoints[name] = numbers(definition.findtext("bpVals"))
        named = [*root.iter("griddedTableDef"), *root.iter("ungriddedTableDef")]
        return TableSet(breakpoints, {e.get("gtID") or e.get("utID") or "": e for e in named})

    def look_up(self, function: Element, arguments: Sequence[Argument]) -> Callable[..., Any]:
        """The look-up of a function: of one value per argument."""
        points = function.findall("independentVarPts")
        if points:
            grid = [numbers(element.text) for element in points]
            return gridded(arguments, grid, numbers(function.findtext("dependentVarPts")), "its table")
        definition = function.find("functionDefn")
        table = (
            None
            if definition is None
            else next((e for e in definition if e.tag.endswith(("Def", "Ref", "Table"))), None)
        )
        if table is None:
            raise ValueError("it has no table.")
        if table.tag.endswith("Ref"):
            name = table.get("gtID") or table.get("utID") or ""
            if name not in self.tables:
                raise ValueError(f"there is no table {name!r}{hint(name, self.tables)}.")
            table = self.tables[name]
        name = table.get("gtID") or table.get("utID") or table.get("name") or ""
        if table.tag.startswith("ungridded"):
            rows = [numbers(point.text) for point in table.iter("dataPoint")]
            return ungridded(arguments, rows, f"ungridded table {name!r}")
        return gridded(arguments, self._grid(table), numbers(table.findtext("dataTable")), f"table {name!r}")

    def _grid(self, table: Element) -> list[Array]:
        names = [reference.get("bpID", "") for reference in table.iter("bpRef")]
        for name in names:
            if name not in self.breakpoints:
                known = hint(name, self.breakpoints)
                raise ValueError(f"there is no breakpoint set {name!r}{known}.")
        return [self.breakpoints[name] for name in names]


def gridded(arguments: Sequence[Argument], grid: list[Array], values: Array, what: str) -> Callable[..., Any]:
    """The look-up in values on a grid, the last breakpoint set varying fastest."""
    if len(grid) != len(arguments):
        raise ValueError(f"{what} has {len(grid)} breakpoint sets, but the function {len(arguments)} arguments.")
    shape = tuple(map(len, grid))
    if values.size != math.prod(shape):
        product = " x ".join(map(str, shape))
        raise ValueError(f"{what} has {values.size} values; its breakpoints ask for {product} = {math.prod(shape)}.")
    kinds = {argument.interpolate for argument in arguments}
    if "cubicSpline" in kinds and kinds != {"cubicSpline"}:
        raise ValueError(f"{what} has cubicSpline along some axes only; it must be all or none.")
    with inside(what):
        kept = [k for k, n in enumerate(shape) if n > 1]  # along a single breakpoint the table is constant
        method = "cubic" if "cubicSpline" in kinds else "linear"
        if not kept:
            return lambda *x: values.item()
        table = Table(tuple(grid[k] for k in kept), values.reshape([shape[k] for k in kept]), method, "extrapolate")
    return lambda *x: table(*(arguments[k].placed(x[k], grid[k]) for k in kept))


def ungridded(arguments: Sequence[Argument], rows: list[Array], what: str) -> Callable[..., Any]:
    """The look-up in scattered points: on a grid if they form one, else linear on a Delaunay triangulation.

    Beyond the hull of scattered points the value at the nearest face is taken.
    """
    n = len(arguments)
    for k, row in enumerate(rows):
        if len(row) != n + 1:
            raise ValueError(f"{what}: point {k + 1} has {len(row)} numbers; {n} coordinates and a value are needed.")
    if not rows:
        raise ValueError(f"{what} has no points.")
    table = np.array(rows)
    axes, places = zip(*(np.unique(table[:, k], return_inverse=True) for k in range(n)), strict=True)
    if len(np.unique(table[:, :n], axis=0)) < len(rows):
        raise ValueError(f"{what} has two points at one place.")
    if math.prod(map(len, axes)) == len(rows):
        values = np.empty(tuple(map(len, axes)))
        values[places] = table[:, n]
        return gridded(arguments, list(axes), values.ravel(), what)
    if any(argument.interpolate != "linear" or argument.extrapolate != "neither" for argument in arguments):
        raise ValueError(f"{what}: scattered points are interpolated linearly, and not extrapolated.")
    return _scattered(arguments, table, what)


def _scattered(arguments: Sequence[Argument], table: Array, what: str) -> Callable[..., Any]:
    spatial = require("scipy.spatial", "adaptive", "An ungridded table")
    n, spread = len(arguments), np.ptp(table[:, :-1], axis=0)
    try:
        mesh = spatial.Delaunay(table[:, :-1] / spread)
    except spatial.QhullError:
        raise ValueError(f"{what}: its points lie in one plane; they must span all {n} coordinates.") from None
    if len(mesh.simplices) > SIMPLICES:
        raise ValueError(f"{what} has {len(mesh.simplices)} cells between its points; the limit is {SIMPLICES}.")
    corners = np.concatenate([table[mesh.simplices][..., :-1], np.ones((*mesh.simplices.shape, 1))], axis=-1)
    to_weights, values = np.linalg.inv(corners), table[mesh.simplices][..., -1]

    def look_up(*x: Any) -> Any:
        inside = [a.placed(v, np.sort(table[:, k])) for k, (a, v) in enumerate(zip(arguments, x, strict=True))]
        best: Any = None
        for A, f in zip(to_weights, values, strict=True):  # barycentric coordinates; all are >= 0 in the cell of x
            w = [sum((inside[k] * A[k, j] for k in range(n)), A[n, j]) for j in range(n + 1)]
            depth = _fold(np.minimum, w)
            w = [np.maximum(weight, 0.0) for weight in w]
            value = sum(weight * value for weight, value in zip(w, f, strict=True)) / sum(w)
            best = (depth, value) if best is None else _deeper((depth, value), best)
        return best[1]

    return look_up


def _deeper(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    """The depth and value of the cell in which a point lies deeper."""
    return np.maximum(a[0], b[0]), np.where(a[0] > b[0], a[1], b[1])


def _fold(f: Callable[[Any, Any], Any], items: Iterable[Any]) -> Any:
    first, *rest = items
    for item in rest:
        first = f(first, item)
    return first


def numbers(text: str | None) -> Array:
    """The numbers in a text, with commas or blanks between."""
    words = [word for word in re.split(r"[\s,;]+", text or "") if word]
    try:
        array = np.array([float(word) for word in words])
    except ValueError:
        wrong = next(word for word in words if not _is_number(word))
        raise ValueError(f"{wrong!r} is not a number.") from None
    if not np.all(np.isfinite(array)):
        raise ValueError("its numbers must be finite.")
    return array


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
