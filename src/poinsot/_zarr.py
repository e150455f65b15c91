"""Reading folders of arrays in the format Zarr, for runs and sweeps alike."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xarray import Dataset


def open_zarr(path: Path, group: str | None = None) -> "Dataset":
    """A group whose arrays are read when they are needed, by name: folders list them in no order."""
    import xarray

    dataset = xarray.open_dataset(path, group=group, engine="zarr", consolidated=False, chunks=None)
    names = sorted(dataset.data_vars, key=str)
    return dataset.drop_vars(names).assign({name: dataset[name] for name in names})
