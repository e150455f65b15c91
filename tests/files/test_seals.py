"""A damaged result file is one clear error, before HDF5 sees it; whole ones are read by everybody."""

import os

import h5netcdf
import h5py
import numpy as np
import pytest
import xarray

import poinsot as pt
from poinsot.files import Writer, seals


@pytest.fixture(scope="module")
def run():
    world = pt.World()
    body = world.add_body("box", pt.Inertia.box(mass=1.0, size=(0.1, 0.2, 0.3)), angular_velocity=(1.0, 2.0, 3.0))
    body.add(pt.Rotor("wheel", axis=(0, 0, 1), inertia=0.01, speed=10.0))
    return world.simulate(0.02)


@pytest.fixture
def path(run, tmp_path):
    run.save(tmp_path / "run.nc")
    return tmp_path / "run.nc"


def test_any_changed_byte_is_noticed(path, monkeypatch):
    monkeypatch.setattr(xarray, "open_dataset", None)  # HDF5 is never asked
    monkeypatch.setattr(seals.subprocess, "run", None)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for k in (*rng.integers(len(whole), size=300), *range(len(whole) - seals.SEAL.size, len(whole)), *range(8)):
        raw = bytearray(whole)
        raw[k] ^= int(rng.integers(1, 256))
        path.write_bytes(raw)
        with pytest.raises(ValueError, match=r"run.nc' is (damaged: it does not have the checksum|not a run saved by)"):
            pt.load_run(path)


def test_any_shorter_or_longer_file_is_noticed(path, monkeypatch):
    monkeypatch.setattr(xarray, "open_dataset", None)
    monkeypatch.setattr(seals.subprocess, "run", None)
    whole = path.read_bytes()
    size, end = len(whole), len(whole) - seals.SEAL.size
    rng = np.random.default_rng(1)
    for end in (
        0,
        1,
        7,
        8,
        63,
        64,
        size - 1,
        size - seals.SEAL.size - 1,
        *rng.integers(size - seals.SEAL.size, size=50),
    ):
        path.write_bytes(whole[:end])
        with pytest.raises(ValueError, match=r"run.nc' is not a run saved by Poinsot, or is damaged: it (is|has) "):
            pt.load_run(path)
    path.write_bytes(whole + b"\n")
    with pytest.raises(ValueError, match="bytes, and its first block says"):
        pt.load_run(path)
    path.write_bytes(whole + whole[-seals.SEAL.size :])
    with pytest.raises(ValueError, match="is damaged: it does not have the checksum"):
        pt.load_run(path)


def test_a_file_without_a_seal_is_read_all_the_same(path, run):
    """One written before there were seals, or changed by another program, which cuts the seal off."""
    whole = path.read_bytes()
    path.write_bytes(whole[: -seals.SEAL.size])
    assert pt.load_run(path).data.identical(run.data)
    path.write_bytes(whole)
    with h5netcdf.File(path, "a") as file:
        file.attrs["note"] = "seen"
    assert seals.MAGIC not in path.read_bytes()
    assert pt.load_run(path).data.attrs["note"] == "seen"


def test_a_file_without_a_seal_that_keeps_hdf5_busy_is_an_error(path, monkeypatch):
    path.write_bytes(path.read_bytes()[: -seals.SEAL.size])
    monkeypatch.setattr(seals, "SECONDS", 1.0)
    monkeypatch.setattr(seals, "PROBE", "while True: pass")
    with pytest.raises(ValueError, match="HDF5 did not come to its end in 1 s"):
        pt.load_run(path)
    monkeypatch.setattr(seals, "PROBE", "import os; os.kill(os.getpid(), 11)")
    with pytest.raises(ValueError, match=r"HDF5 crashed on it \(signal 11\)"):
        pt.load_run(path)


def test_a_damaged_file_without_a_seal_is_an_error(path):
    raw = bytearray(path.read_bytes()[: -seals.SEAL.size])
    raw[64:4096] = bytes(4032)
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=r"run.nc' is not a run saved by Poinsot, or is damaged: \w"):
        pt.load_run(path)


def test_others_read_sealed_files(path, run):
    assert path.read_bytes()[-seals.SEAL.size :].startswith(seals.MAGIC)
    assert xarray.load_dataset(path, engine="h5netcdf").position.equals(run.data.position)
    with h5py.File(path) as file:
        assert np.array_equal(file["position"][...], run.data.position.values)
    with h5netcdf.File(path) as file:
        assert np.array_equal(file["time"][...], run.time)


def test_the_c_library_of_netcdf_reads_sealed_files(path, run):
    netcdf = pytest.importorskip("netCDF4", reason="the C library of NetCDF is not installed")
    with netcdf.Dataset(path) as file:
        assert np.array_equal(file["position"][...], run.data.position.values)


def test_streamed_files_are_sealed(run, tmp_path):
    path = tmp_path / "long.nc"
    with Writer(path, run.world, run.compiled, run.settings) as writer:
        for k in range(0, len(run.time), 5):
            writer.add(run.time[k : k + 5], run.y[k : k + 5], run.p)
        written = writer.finish(run.stop)
    assert written.data.load().identical(run.data)
    seals.require_whole(path)
    for lazy in (False, True):
        assert pt.load_run(path, lazy=lazy).data.load().identical(run.data)
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    with pytest.raises(ValueError, match="is damaged"):
        pt.load_run(path, lazy=True)


def test_a_pipe_or_folder_is_no_run(tmp_path):
    os.mkfifo(tmp_path / "pipe.nc")
    with pytest.raises(ValueError, match="a pipe, socket or device"):
        pt.load_run(tmp_path / "pipe.nc")
    (tmp_path / "folder.nc").mkdir()
    with pytest.raises(ValueError, match="is a folder, not a run"):
        pt.load_run(tmp_path / "folder.nc")
