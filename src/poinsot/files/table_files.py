"""Tables from files: CSV with a column per axis and per value and a row per point of the grid, or NetCDF."""

import csv
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from poinsot._hints import hint
from poinsot._types import Array
from poinsot.files._reading import inside
from poinsot.files.size_limits import ROBOT_BYTES, check_size
from poinsot.files.units import to_si
from poinsot.fuse import Table

_HEAD = re.compile(r"\s*([^\[\]]*?)\s*(?:\[([^\[\]]*)\])?\s*")  # alpha [deg]


def load_table(
    path: str | os.PathLike[str],
    axes: Mapping[str, str] | Sequence[str],
    values: Mapping[str, str] | Sequence[str] | None = None,
    method: str = "linear",
    outside: str | Mapping[str, str] = "clamp",
) -> Table:
    """The table in a CSV file whose first row names the columns, with units in brackets: "alpha [deg], mach, CL".

    axes: the names of the columns that are the grid, in the order of the table's arguments; a mapping also says their
    units, {"alpha": "deg"}. values: the same for the values; by default all other columns, in their order. The rows may
    come in any order, but every point of the grid must be there once. Everything is converted to SI units.
    outside: as for `Table`, or by the names of axes. Several values give a table with several outputs. Its name
    and labels are those of the columns.

    In a NetCDF file (.nc) the axes are coordinates, the values variables over them, and units their attributes.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no file {os.fspath(path)!r} (working directory: {Path.cwd()}).")
    check_size(Path(path), ROBOT_BYTES)
    with inside(path):
        is_netcdf = Path(path).suffix == ".nc"
        columns = _variables(path, axes) if is_netcdf else _columns(Path(path).read_text(encoding="utf-8-sig"))
        values = [name for name in columns if name not in axes] if values is None else values
        grid = [_scaled(columns, name, axes) for name in axes]
        data = [_scaled(columns, name, values) for name in values]
        if not grid or not data:
            raise ValueError(f"a table needs one axis and one value or more; the columns are {', '.join(columns)}.")
        knots, places = zip(*(np.unique(column, return_inverse=True) for column in grid), strict=True)
        filled = _gridded(dict(zip(axes, knots, strict=True)), places, np.stack(data, axis=-1))
        name, found = ", ".join(values), filled[..., 0] if len(data) == 1 else filled
        return Table(knots, found, method, _beyond(outside, axes), name, tuple(axes))


def _beyond(outside: str | Mapping[str, str], axes: Iterable[str]) -> str | tuple[str, ...]:
    if isinstance(outside, str):
        return outside
    names = list(axes)
    for name in outside:
        if name not in names:
            raise ValueError(f"outside names {name!r}, which is not an axis{hint(name, names)}.")
    return tuple(outside.get(name, "clamp") for name in names)


def _variables(path: str | os.PathLike[str], axes: Iterable[str]) -> dict[str, tuple[str, Array]]:
    """The axes and all variables over them in a NetCDF file as columns: a row per point of the grid."""
    import xarray

    columns: dict[str, tuple[str, Array]] = {}
    with xarray.open_dataset(path, engine="h5netcdf", decode_times=False) as data:
        names = list(axes)
        for name in names:
            if name not in data.coords:
                raise ValueError(f"there is no coordinate {name!r}{hint(name, map(str, data.coords))}.")
        over = [str(key) for key, variable in data.data_vars.items() if set(variable.dims) == set(names)]
        grid = xarray.broadcast(*(data[name] for name in names))
        for name, column in [*zip(names, grid, strict=True), *((name, data[name]) for name in over)]:
            unit = data[name].attrs.get("units", "1")
            columns[name] = (unit, np.asarray(column.transpose(*names).values, dtype=float).ravel())
    return columns


def _columns(text: str) -> dict[str, tuple[str, Array]]:
    """The columns by name: unit and numbers."""
    head, *rows = [row for row in csv.reader(text.splitlines()) if any(map(str.strip, row))] or [[]]
    names = [_HEAD.fullmatch(cell) for cell in head]
    if not rows or not all(names) or len({match[1] for match in names if match}) < len(head):
        raise ValueError("its first row must name the columns, each with a name of its own, and numbers must follow.")
    numbers = np.empty((len(rows), len(head)))
    for i, row in enumerate(rows):
        if len(row) != len(head):
            raise ValueError(f"row {i + 2} has {len(row)} entries; the first row has {len(head)}.")
        for k, cell in enumerate(row):
            try:
                numbers[i, k] = float(cell)
            except ValueError:
                raise ValueError(f"row {i + 2}, column {head[k].strip()!r}: {cell!r} is not a number.") from None
    return {match[1]: (match[2] or "1", numbers[:, k]) for k, match in enumerate(names) if match}


def _scaled(columns: dict[str, tuple[str, Array]], name: str, wanted: Mapping[str, str] | Sequence[str]) -> Array:
    """The column with this name, in SI units."""
    if name not in columns:
        raise ValueError(f"there is no column {name!r}{hint(name, columns)}; there are {', '.join(columns)}.")
    written, numbers = columns[name]
    unit = wanted[name] if isinstance(wanted, Mapping) else written
    with inside(f"column {name!r}"):
        return numbers if unit == "1" else numbers * to_si(f"1 {unit}")


def _gridded(knots: dict[str, Array], places: Sequence[Array], data: Array) -> Array:
    """The values (rows, n) on the grid, (grid, n)."""
    shape = tuple(map(len, knots.values()))
    count = np.zeros(shape, dtype=int)
    np.add.at(count, tuple(places), 1)
    if np.any(count != 1):
        hole = tuple(int(i[0]) for i in np.nonzero(count != 1))
        where = ", ".join(f"{name} = {axis[i]:g}" for (name, axis), i in zip(knots.items(), hole, strict=True))
        raise ValueError(f"the point {where} (SI units) has {count[hole]} rows; every point of the grid needs one.")
    grid = np.empty((*shape, data.shape[-1]))
    grid[tuple(places)] = data
    return grid
