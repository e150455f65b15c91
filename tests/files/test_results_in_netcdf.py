"""Result files are NetCDF-4 for the library that defines the format."""

import subprocess
import sys

import h5netcdf
import h5py
import numpy as np
import pytest

import poinsot as pt
from poinsot.files import saving

# In a process of its own: two builds of the HDF5 library do not share one well.
READ = """
import netCDF4, sys, numpy as np
with netCDF4.Dataset(sys.argv[1]) as file:
    found = {}
    for group in (file, *file.groups.values()):
        for name, variable in group.variables.items():
            units = getattr(variable, "units", "")
            found[f"{group.path}:{name}"] = (variable.dimensions, variable.shape, units, variable[...])
    unlimited = [name for name, dimension in file.dimensions.items() if dimension.isunlimited()]
np.savez(sys.argv[2], found=np.array(found, dtype=object), unlimited=unlimited)
"""


def read_by_netcdf(path, folder):
    pytest.importorskip("netCDF4")
    subprocess.run([sys.executable, "-c", READ, str(path), str(folder / "found.npz")], check=True)
    with np.load(folder / "found.npz", allow_pickle=True) as file:
        return file["found"].item(), file["unlimited"].tolist()


@pytest.fixture(scope="module")
def run():
    world = pt.World(gravity=(0, 0, -9.81))
    plane = world.add_body("Flugzeug-Änne", pt.Inertia.box(mass=2.0, size=(0.1, 0.2, 0.3)), angular_velocity=(1, 2, 3))
    plane.add(pt.Tank("left", capacity=0.8, contents=0.6))
    return world.simulate(0.1, 1e-2)


def test_dimensions_units_and_values_are_found(run, tmp_path):
    run.save(tmp_path / "run.nc")
    found, _ = read_by_netcdf(tmp_path / "run.nc", tmp_path)
    for name, array in run.data.data_vars.items():
        dims, shape, units, values = found[f"/:{name}"]
        assert (dims, shape, units) == (array.dims, array.shape, array.attrs.get("units", ""))
        assert np.array_equal(np.ma.getdata(values), array.values, equal_nan=True)
    assert found["/:body"][3].tolist() == ["Flugzeug-Änne"]
    assert np.array_equal(found["/:time"][3], run.data.time.values)


def test_data_with_truth_values_and_dates_is_saved_as_xarray_codes_them(run, tmp_path):
    run.save(tmp_path / "run.nc")
    kept = pt.load_run(tmp_path / "run.nc")
    n = kept.data.sizes["time"]
    kept.data["rises"] = kept.data.position[:, 0, 2] > 0
    kept.data["when"] = ("time", np.arange(n).astype("datetime64[s]"))
    kept.data["note"] = ("time", np.array(["größer"] * n, dtype=object))
    kept.save(tmp_path / "more.nc")
    assert pt.load_run(tmp_path / "more.nc").data.identical(kept.data)
    found, _ = read_by_netcdf(tmp_path / "more.nc", tmp_path)
    assert found["/:rises"][3].tolist() == kept.data["rises"].values.astype(int).tolist()
    assert found["/:note"][3].tolist() == ["größer"] * n


def test_names_in_the_file_are_told_to_be_utf_8(tmp_path):
    world = pt.World()
    body = world.add_body("Ä", pt.Inertia.box(mass=2.0, size=(0.1, 0.2, 0.3)))
    body.add(pt.Tank("größe", capacity=0.8, contents=0.6))
    world.simulate(0.1, 1e-2).save(tmp_path / "run.nc")
    with h5py.File(tmp_path / "run.nc") as file:
        names = [name for name in file if not name.isascii()]
        assert names
        assert all(file.id.links.get_info(name.encode()).cset == h5py.h5t.CSET_UTF8 for name in names)


def test_h5netcdf_finds_the_same_dimensions(run, tmp_path):
    run.save(tmp_path / "run.nc")
    found, _ = read_by_netcdf(tmp_path / "run.nc", tmp_path)
    with h5netcdf.File(tmp_path / "run.nc") as file:
        for name, variable in file.variables.items():
            assert variable.dimensions == found[f"/:{name}"][0]


def test_a_stream_has_a_dimension_that_grows(tmp_path, monkeypatch):
    monkeypatch.setattr(saving, "PIECE", 1)  # byte: each record for itself
    world = pt.World()
    world.add_body("box", pt.Inertia.box(mass=2.0, size=(0.1, 0.2, 0.3)), angular_velocity=(1, 2, 3))
    world.simulate(0.1, 1e-2, save=tmp_path / "run.nc")
    found, unlimited = read_by_netcdf(tmp_path / "run.nc", tmp_path)
    assert unlimited == ["time"]
    assert found["/:position"][1] == (11, 1, 3)
