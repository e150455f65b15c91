"""The two formats of results, NetCDF and Zarr: groups begun, continued along a dimension, and read by xarray."""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._atomic import reserve
from poinsot._optional import require
from poinsot._owned import require_owned
from poinsot._zarr import STAND_INS, named, open_zarr
from poinsot.files import netcdf
from poinsot.files.seals import require_whole, seal
from poinsot.run.columns import Column, Columns

if TYPE_CHECKING:
    from xarray import Dataset

CHUNK = 2**17  # numbers, about, in a piece of an array that is read as one


@dataclass(frozen=True)
class Store:
    """A format: `begin` a group with columns, `extend` it along a dimension, `note` attributes; close, check, read.

    begin(path, dataset, group, along): `along` names the dimension that will grow, or is None.
    check(path): ValueError if the file is damaged, before anything else reads it.
    read(path, group): an xarray.Dataset whose arrays are read when they are needed.
    """

    begin: Callable[[Path, Columns, str | None, str | None], None]
    extend: Callable[[Path, Columns, str | None, str], None]
    note: Callable[[Path, dict[str, Any]], None]
    close: Callable[[Path], None]
    check: Callable[[Path], None]
    read: "Callable[[Path, str | None], Dataset]"


def store_for(path: str | PathLike[str]) -> Store:
    """The format of a file, by its suffix."""
    path = Path(path)
    if path.suffix not in STORES:
        table = " run.export writes tables." if path.suffix in (".csv", ".parquet") else ""
        raise ValueError(f"'{path}': a run is stored as .nc (NetCDF) or .zarr, not as {path.suffix!r}.{table}")
    if path.suffix == ".zarr":
        require("zarr", "zarr", "reading and writing .zarr")
    return STORES[path.suffix]


def check_place(path: Path) -> None:
    """An error if a run must not replace what is there: it may replace files, and folders that are saved runs."""
    if path.suffix != ".zarr" and path.is_dir():
        raise FileExistsError(f"'{path}' exists and is not a saved run; move it, or choose another name.")
    if path.suffix == ".zarr" and (path.exists() or path.is_symlink()) and require_owned(path) != "run":
        raise FileExistsError(f"'{path}' is a sweep, not a saved run; move it, or choose another name.")


def _written(columns: Columns) -> Columns:
    """With names that a file can hold: a / would make a group."""
    for letter, other in STAND_INS.items():
        columns = columns.renamed(letter, other)
    return columns


def _chunks(variable: Column, along: str | None) -> tuple[int, ...]:
    """The sizes of chunks: some hundred records of a variable that grows, or is large."""
    if not variable.ndim:
        return ()
    first = max(1, min(CHUNK // max(1, int(np.prod(variable.shape[1:]))), CHUNK if along else variable.shape[0]))
    return (first, *(max(1, n) for n in variable.shape[1:]))


def _make_room(path: Path, dataset: Columns, along: str | None) -> None:
    """Reserve the most that columns take: its numbers, a chunk more of each variable that grows, and metadata."""
    chunks = 8 * CHUNK * sum(along in variable.dims for variable in dataset.variables.values())
    reserve(path, dataset.nbytes + chunks + 2**20)


def _begin_netcdf(path: Path, columns: Columns, group: str | None, along: str | None) -> None:
    columns = _written(columns)
    _make_room(path, columns, along)
    coded = any(column.values.dtype.kind not in netcdf.KINDS for column in columns.variables.values())
    if coded or any(name not in labels.dims for name, labels in columns.coords.items()):
        return _begin_by_xarray(path, columns, group, along)
    netcdf.write(path, columns, group, along, _chunk_sizes(columns, along))
    return None


def _chunk_sizes(columns: Columns, along: str | None) -> dict[str, tuple[int, ...]]:
    """The chunks of the variables that grow."""
    growing = {name: v for name, v in columns.variables.items() if along in v.dims and v.values.size}
    return {name: _chunks(variable, along) for name, variable in growing.items()}


def _begin_by_xarray(path: Path, columns: Columns, group: str | None, along: str | None) -> None:
    """The same where labels are not those of a dimension, such as varied numbers: xarray notes whose they are; and
    where values have no type in NetCDF, such as truth values and dates that were added to the data: it codes them."""
    columns.to_xarray().to_netcdf(
        path,
        mode="a" if path.exists() else "w",
        group=group,
        engine="h5netcdf",
        encoding={name: {"chunksizes": chunks} for name, chunks in _chunk_sizes(columns, along).items()},
        unlimited_dims=[along] if along else [],
    )


def _extend_netcdf(path: Path, dataset: Columns, group: str | None, along: str) -> None:
    import h5netcdf

    dataset = _written(dataset)
    _make_room(path, dataset, along)
    with h5netcdf.File(path, "a") as file:
        place = file if group is None else file[group]
        start = place.dimensions[along].size
        place.resize_dimension(along, start + dataset.sizes[along])
        for name, variable in dataset.variables.items():
            if along in variable.dims:
                place.variables[name][start:] = variable.values


def _note_netcdf(path: Path, attributes: dict[str, Any]) -> None:
    import h5py

    with h5py.File(path, "a") as file:
        netcdf.note_all(file.id, attributes)


def _read_netcdf(path: Path, group: str | None) -> "Dataset":
    import xarray

    return named(xarray.open_dataset(path, group=group, engine="h5netcdf"))


# Zarr's format 2, whose specification includes labels.


def _begin_zarr(path: Path, columns: Columns, group: str | None, along: str | None) -> None:
    columns = _written(columns)
    sizes = {name: {"chunks": _chunks(v, along if along in v.dims else None)} for name, v in columns.variables.items()}
    columns.to_xarray().to_zarr(path, mode="a", group=group, encoding=sizes, zarr_format=2, consolidated=False)


def _extend_zarr(path: Path, columns: Columns, group: str | None, along: str) -> None:
    dataset = _written(columns).to_xarray()
    dataset = dataset.drop_vars([name for name, variable in dataset.variables.items() if along not in variable.dims])
    dataset.to_zarr(path, group=group, append_dim=along, zarr_format=2, consolidated=False)


def _note_zarr(path: Path, attributes: dict[str, Any]) -> None:
    zarr = require("zarr", "zarr", "writing .zarr")
    zarr.open_group(path, mode="r+").attrs.update(
        {name: value.item() if isinstance(value, np.generic) else value for name, value in attributes.items()}
    )


def _close_zarr(path: Path) -> None:
    zarr = require("zarr", "zarr", "writing .zarr")
    zarr.consolidate_metadata(str(path))


def _read_zarr(path: Path, group: str | None) -> "Dataset":
    return named(open_zarr(path, group))


STORES: dict[str, Store] = {
    ".nc": Store(_begin_netcdf, _extend_netcdf, _note_netcdf, seal, require_whole, _read_netcdf),
    ".zarr": Store(_begin_zarr, _extend_zarr, _note_zarr, _close_zarr, lambda path: None, _read_zarr),
}
