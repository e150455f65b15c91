"""Reading folders of arrays in the format Zarr, for runs and sweeps alike."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xarray import Dataset


STAND_INS = {"/": "\N{DIVISION SLASH}", "\\": "\N{REVERSE SOLIDUS OPERATOR}"}  # in names, where these make folders


def stored(name: object) -> str:
    """A name as files hold it."""
    text = str(name)
    for letter, other in STAND_INS.items():
        text = text.replace(letter, other)
    return text


def renamed(dataset: "Dataset", change: Callable[[object], str]) -> "Dataset":
    """The dataset with other names of variables and dimensions."""
    names = {name: change(name) for name in {*dataset.variables, *dataset.dims}}
    return dataset.rename({old: new for old, new in names.items() if new != old})


def named(dataset: "Dataset") -> "Dataset":
    """A dataset from a file, with the names that were given."""
    return renamed(dataset, _given)


def _given(name: object) -> str:
    text = str(name)
    for letter, other in STAND_INS.items():
        text = text.replace(other, letter)
    return text


def open_zarr(path: Path, group: str | None = None) -> "Dataset":
    """A group whose arrays are read when they are needed, by name: folders list them in no order."""
    import xarray

    dataset = named(xarray.open_dataset(path, group=group, engine="zarr", consolidated=False, chunks=None))
    names = sorted(dataset.data_vars, key=str)
    return dataset.drop_vars(names).assign({name: dataset[name] for name in names})
