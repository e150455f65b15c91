"""Groups in NetCDF-4: as xarray writes them by h5netcdf, for h5netcdf and xarray to read."""

import h5netcdf
import h5py
import numpy as np
import pytest
import xarray

from poinsot.files import netcdf
from poinsot.run.columns import Columns

COLUMNS = Columns.made(
    {
        "position": (
            ("time", "body", "axis"),
            np.arange(12.0).reshape(2, 2, 3),
            {"units": "m", "description": "of größe"},
        ),
        "energy": ("time", np.array([1.0, np.nan]), {"units": "J"}),
        "count": ("body", np.array([3, 4])),
        "single": ((), np.array(2.5)),
        "open": ("body", np.array([True, False]).astype(np.int8)),
        "numbers": (("nothing", "axis"), np.zeros((0, 3))),
        "words": ("body", np.array(["left", "rechts außen"])),
    },
    {"time": np.array([0.0, 0.5]), "body": ["a", "b/c"], "axis": ["x", "y", "z"]},
    {"title": "Größe", "step": 0.5, "steps": 2, "list": np.array([1.0, 2.0])},
)


@pytest.mark.parametrize("group", [None, "inner"])
def test_a_group_is_what_xarray_writes(tmp_path, group):
    netcdf.write(tmp_path / "ours.nc", COLUMNS, group, None, {})
    COLUMNS.to_xarray().to_netcdf(tmp_path / "theirs.nc", group=group, engine="h5netcdf")
    ours, theirs = (
        xarray.load_dataset(tmp_path / f"{k}.nc", group=group, engine="h5netcdf") for k in ("ours", "theirs")
    )
    assert ours.identical(theirs)
    assert list(ours.data_vars) == [*COLUMNS.data_vars]
    assert ours["position"].encoding["_FillValue"] != ours["position"].encoding["_FillValue"]  # NaN


def test_each_dimension_has_one_number_in_the_file(tmp_path):
    for group in (None, "states", "run"):
        netcdf.write(tmp_path / "run.nc", COLUMNS, group, None, {})
    with h5netcdf.File(tmp_path / "run.nc") as file:
        places = [file, file["states"], file["run"]]
        numbers = [place.dimensions[dim]._dimid for place in places for dim in place.dimensions]
        assert len({*map(int, numbers)}) == len(numbers) == 3 * 4
        assert [place.variables["position"].dimensions for place in places] == [("time", "body", "axis")] * 3


def test_a_group_grows_along_one_dimension(tmp_path):
    netcdf.write(tmp_path / "run.nc", COLUMNS, None, "time", {"position": (8, 2, 3), "energy": (8,), "time": (8,)})
    with h5netcdf.File(tmp_path / "run.nc", "a") as file:
        assert file.dimensions["time"].isunlimited()
        assert not file.dimensions["body"].isunlimited()
        file.resize_dimension("time", 3)
        file.variables["position"][2:] = np.ones((1, 2, 3))
    found = xarray.load_dataset(tmp_path / "run.nc", engine="h5netcdf")
    assert found.sizes["time"] == 3
    np.testing.assert_array_equal(found["position"][:2], COLUMNS["position"].values)
    np.testing.assert_array_equal(found["position"][2], np.ones((2, 3)))
    assert np.isnan(found["energy"][2])


def test_an_attribute_takes_the_place_of_an_older_one(tmp_path):
    netcdf.write(tmp_path / "run.nc", COLUMNS, None, None, {})
    with h5py.File(tmp_path / "run.nc", "a") as file:
        netcdf.note_all(file.id, {"step": 0.25, "title": "β", "more": 7})
    attributes = xarray.load_dataset(tmp_path / "run.nc", engine="h5netcdf").attrs
    assert (attributes["step"], attributes["title"], attributes["more"]) == (0.25, "β", 7)
