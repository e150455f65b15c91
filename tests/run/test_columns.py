"""Columns say what an xarray.Dataset says."""

import numpy as np
import pytest

from poinsot.run.columns import Columns

ARRAYS = {
    "position": (("time", "body", "axis"), np.arange(24.0).reshape(4, 2, 3), {"units": "m"}),
    "energy": (("time",), np.arange(4.0)),
    "a/b": (("time", "a/b.k"), np.ones((4, 5))),
}
COORDS = {
    "time": ("time", np.linspace(0, 1, 4), {"units": "s"}),
    "body": ["plane", "wing"],
    "axis": ("axis", list("xyz")),
}


@pytest.fixture
def columns():
    return Columns.made(ARRAYS, COORDS, {"seed": 1})


def test_they_become_a_dataset_and_come_back(columns):
    xarray = pytest.importorskip("xarray")
    expected = xarray.Dataset(ARRAYS, COORDS, attrs={"seed": 1})
    assert columns.to_xarray().identical(expected)
    again = Columns.of(expected)
    assert again.to_xarray().identical(expected)
    assert list(again) == list(columns) == list(expected.data_vars)
    assert columns.sizes == dict(expected.sizes)
    assert columns.nbytes == expected.nbytes


@pytest.mark.parametrize(
    "part",
    [
        lambda d: d["position"].isel(time=-1).sel(body="wing"),
        lambda d: d["position"].sel(body=["wing", "plane"]).isel(axis=slice(1)),
        lambda d: d.isel(time=slice(1, 3))["position"].isel(body=[1]),
        lambda d: d.isel(time=2)["energy"],
        lambda d: d["time"],
    ],
)
def test_parts_are_those_of_the_dataset(columns, part):
    ours, theirs = part(columns), part(columns.to_xarray())
    assert ours.dims == theirs.dims
    assert ours.sizes == dict(theirs.sizes)
    assert np.array_equal(ours.values, theirs.values)
    assert {**ours.attrs} == theirs.attrs
    for dim in {*ours.dims} & {*ours.coords}:
        assert list(ours[dim].values) == list(theirs[dim].values)


def test_what_is_not_there_is_an_error(columns):
    assert "position" in columns
    assert "speed" not in columns
    with pytest.raises(KeyError):
        columns["speed"]
    with pytest.raises(ValueError, match="tail"):
        columns["position"].sel(body="tail")


def test_names_change_with_their_dimensions(columns):
    renamed = columns.renamed("/", "|")
    assert list(renamed) == ["position", "energy", "a|b"]
    assert renamed["a|b"].dims == ("time", "a|b.k")
    assert columns.renamed("?", "!") is columns
