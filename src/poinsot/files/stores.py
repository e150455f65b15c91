"""The two formats of results, NetCDF and Zarr, through xarray: groups begun, continued along a dimension, and read."""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._atomic import reserve
from poinsot._optional import require
from poinsot._owned import require_owned
from poinsot._zarr import open_zarr
from poinsot.files.seals import require_whole, seal

if TYPE_CHECKING:
    from xarray import Dataset, Variable

CHUNK = 2**17  # numbers, about, in a piece of an array that is read as one


@dataclass(frozen=True)
class Store:
    """A format: `begin` a group with a dataset, `extend` it along a dimension, `note` attributes; close, check, read.

    begin(path, dataset, group, along): `along` names the dimension that will grow, or is None.
    check(path): ValueError if the file is damaged, before anything else reads it.
    read(path, group): a dataset whose arrays are read when they are needed.
    """

    begin: "Callable[[Path, Dataset, str | None, str | None], None]"
    extend: "Callable[[Path, Dataset, str | None, str], None]"
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


def _written(dataset: "Dataset") -> "Dataset":
    """The dataset with names that a file can hold: a / would make a group."""
    return _renamed(dataset, "/", "\N{DIVISION SLASH}")


def _renamed(dataset: "Dataset", old: str, new: str) -> "Dataset":
    names = {name: str(name).replace(old, new) for name in {*dataset.variables, *dataset.dims} if old in str(name)}
    return dataset.rename(names) if names else dataset


def _chunks(variable: "Variable", along: str | None) -> tuple[int, ...]:
    """The sizes of chunks: some hundred records of a variable that grows, or is large."""
    if not variable.ndim:
        return ()
    first = max(1, min(CHUNK // max(1, int(np.prod(variable.shape[1:]))), CHUNK if along else variable.shape[0]))
    return (first, *(max(1, n) for n in variable.shape[1:]))


def _make_room(path: Path, dataset: "Dataset", along: str | None) -> None:
    """Reserve the most that a dataset takes: its numbers, a chunk more of each variable that grows, and metadata."""
    chunks = 8 * CHUNK * sum(along in variable.dims for variable in dataset.variables.values())
    reserve(path, dataset.nbytes + chunks + 2**20)


def _begin_netcdf(path: Path, dataset: "Dataset", group: str | None, along: str | None) -> None:
    dataset = _written(dataset)
    _make_room(path, dataset, along)
    sizes = {
        str(name): {"chunksizes": _chunks(variable, along)}
        for name, variable in dataset.variables.items()
        if along in variable.dims and variable.size
    }
    dataset.to_netcdf(
        path,
        mode="a" if path.exists() else "w",
        group=group,
        engine="h5netcdf",
        encoding=sizes,
        unlimited_dims=[along] if along else [],
    )


def _extend_netcdf(path: Path, dataset: "Dataset", group: str | None, along: str) -> None:
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
    import h5netcdf

    with h5netcdf.File(path, "a") as file:
        for name, value in attributes.items():
            file.attrs[name] = value


def _read_netcdf(path: Path, group: str | None) -> "Dataset":
    import xarray

    return _renamed(xarray.open_dataset(path, group=group, engine="h5netcdf"), "\N{DIVISION SLASH}", "/")


# Zarr's format 2, whose specification includes labels.


def _begin_zarr(path: Path, dataset: "Dataset", group: str | None, along: str | None) -> None:
    dataset = _written(dataset)
    sizes = {
        str(name): {"chunks": _chunks(v, along if along in v.dims else None)} for name, v in dataset.variables.items()
    }
    dataset.to_zarr(path, mode="a", group=group, encoding=sizes, zarr_format=2, consolidated=False)


def _extend_zarr(path: Path, dataset: "Dataset", group: str | None, along: str) -> None:
    dataset = _written(dataset)
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
    return _renamed(open_zarr(path, group), "\N{DIVISION SLASH}", "/")


STORES: dict[str, Store] = {
    ".nc": Store(_begin_netcdf, _extend_netcdf, _note_netcdf, seal, require_whole, _read_netcdf),
    ".zarr": Store(_begin_zarr, _extend_zarr, _note_zarr, _close_zarr, lambda path: None, _read_zarr),
}
