"""The formats of results: what is read is the same however the folder lists it."""

import numpy as np
import pytest
import xarray

from poinsot._zarr import open_zarr

pytest.importorskip("zarr")


def test_arrays_of_a_folder_come_in_one_order(tmp_path, monkeypatch):
    data = xarray.Dataset({name: ("time", np.arange(2.0)) for name in "cab"}, {"time": [0.0, 1.0], "side": ["x"]})
    data.to_zarr(tmp_path / "a.zarr", zarr_format=2, consolidated=False)
    seen = xarray.open_dataset
    orders = []
    for shuffled in (["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]):
        monkeypatch.setattr(xarray, "open_dataset", lambda *a, order=shuffled, **k: seen(*a, **k)[order])
        orders.append(list(open_zarr(tmp_path / "a.zarr").data_vars))
    assert orders == [["a", "b", "c"]] * 3
    monkeypatch.undo()
    whole = open_zarr(tmp_path / "a.zarr")
    assert whole.identical(data.assign_coords(whole.coords))
    assert set(whole.coords) == {"time", "side"}
