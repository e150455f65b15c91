"""Groups of arrays in NetCDF-4, written straight to HDF5.

In HDF5 a dimension is a dimension scale: the array of its labels, or an empty one of its size. An array names its
scales in the attribute DIMENSION_LIST, a scale the arrays along it in REFERENCE_LIST (HDF5 dimension scale
specification; NetCDF file format specification, "NetCDF-4"). h5netcdf and xarray read these files. h5netcdf writes the
same, but looks everything up by its path again for each array, which takes long where arrays are many and small.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from poinsot.run.columns import Column, Columns

EMPTY = b"This is a netCDF dimension but not a netCDF variable.%10d"  # the name of a scale without labels
KINDS = "fiuU"  # of NumPy arrays that are written as they are: floats, whole numbers, texts
PIECE = 1024  # numbers in a piece of a scale without labels that grows


class Group:
    """A group of an HDF5 file under way: its arrays by name, and its dimensions with their numbers in the file."""

    def __init__(self, place: Any, sizes: Mapping[str, int], unlimited: set[str], first: int) -> None:
        self.place, self.sizes, self.unlimited = place, sizes, unlimited
        self.arrays: dict[str, Any] = {}
        self.numbers = {dim: first + k for k, dim in enumerate(sizes)}

    def create(self, name: str, dims: tuple[str, ...], kind: Any, missing: Any, chunks: tuple[int, ...] | None) -> Any:
        """An array, which grows along unlimited dimensions; `missing`: what it holds where nothing is written."""
        from h5py import h5d, h5p, h5s, h5t

        shape, grows = tuple(self.sizes[dim] for dim in dims), any(dim in self.unlimited for dim in dims)
        plan = h5p.create(h5p.DATASET_CREATE)
        plan.set_obj_track_times(False)
        plan.set_attr_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
        if grows:
            plan.set_chunk(chunks or tuple(max(1, n) for n in shape))
        if missing is not None:
            plan.set_fill_value(np.asarray(missing))
        most = tuple(h5s.UNLIMITED if dim in self.unlimited else n for dim, n in zip(dims, shape, strict=True))
        space = h5s.create_simple(shape, most) if dims else h5s.create(h5s.SCALAR)
        link = h5p.create(h5p.LINK_CREATE)
        link.set_char_encoding(h5t.CSET_UTF8)
        self.arrays[name] = h5d.create(self.place, name.encode(), kind, space, plan, link)
        return self.arrays[name]

    def put(self, name: str, column: Column, chunks: tuple[int, ...] | None) -> None:
        """A column: texts of any length, and NaN for what is missing among floats."""
        from h5py import h5s, h5t, string_dtype

        values = column.values.astype(string_dtype()) if column.values.dtype.kind == "U" else column.values
        kind = h5t.py_create(values.dtype, logical=True)
        missing = values.dtype.type(np.nan) if values.dtype.kind == "f" else None
        array = self.create(name, column.dims, kind, missing, chunks)
        if column.dims:
            note(array, "_Netcdf4Coordinates", np.array([self.numbers[dim] for dim in column.dims], np.int32))
            number = self.numbers[name if name in self.sizes else column.dims[0]]
            note(array, "_Netcdf4Dimid", np.array(number, np.int32))
        if missing is not None:
            note(array, "_FillValue", np.array([missing]))
        note_all(array, column.attrs)
        if values.size:
            array.write(h5s.ALL, h5s.ALL, np.ascontiguousarray(values), h5t.py_create(values.dtype))

    def scale(self, dim: str) -> Any:
        """The scale of a dimension: its labels if it has any, else an empty array."""
        from h5py import h5ds, h5t

        if dim in self.arrays:
            h5ds.set_scale(self.arrays[dim], dim.encode())
            return self.arrays[dim]
        chunks = (PIECE,) if dim in self.unlimited else None
        array = self.create(dim, (dim,), h5t.py_create(np.dtype(">f4")), None, chunks)
        note(array, "_Netcdf4Dimid", np.array(self.numbers[dim], np.int32))
        h5ds.set_scale(array, EMPTY % self.sizes[dim])
        return array


def write(path: Path, columns: Columns, group: str | None, along: str | None, chunks: Mapping[str, Any]) -> None:
    """Add a group to a file, or make the file; `along` names the dimension that will grow, `chunks` are by array."""
    import h5py
    from h5py import h5ds

    begun = path.exists()
    with h5py.File(path, "a" if begun else "w", track_order=True) as file:
        if not begun:
            versions = f"version=2,h5py={h5py.version.version},hdf5={h5py.version.hdf5_version}"
            note(file.id, "_NCProperties", np.array(versions.encode()))
        place = file if group is None else file.create_group(group, track_order=True)
        note_all(place.id, columns.attrs)
        sizes = columns.sizes
        unlimited = {dim for dim, size in sizes.items() if dim == along or size == 0}
        arrays = Group(place.id, sizes, unlimited, _dimensions(file))
        for name, column in columns.variables.items():
            arrays.put(name, column, chunks.get(name))
        scales = {dim: arrays.scale(dim) for dim in sizes}
        for name, column in columns.variables.items():
            for k, dim in enumerate(column.dims):
                if name != dim:
                    h5ds.attach_scale(arrays.arrays[name], scales[dim], k)


def note_all(place: Any, attributes: Mapping[str, Any]) -> None:
    """Attributes of an array or group, as NetCDF has them: texts, and numbers in arrays of one."""
    for name, value in attributes.items():
        array = np.asarray(value)
        note(place, name, array if array.dtype.kind == "U" else np.atleast_1d(array))


def note(place: Any, name: str, value: Any) -> None:
    """An attribute, in place of one of that name."""
    from h5py import h5a, h5s, h5t, string_dtype

    if value.dtype.kind == "U":
        value = value.astype(string_dtype())
    if h5a.exists(place, name.encode()):
        h5a.delete(place, name.encode())
    space = h5s.create_simple(value.shape) if value.ndim else h5s.create(h5s.SCALAR)
    h5a.create(place, name.encode(), h5t.py_create(value.dtype, logical=True), space).write(value)


def _dimensions(file: Any) -> int:
    """How many dimensions a file has."""
    from h5py import h5ds, h5o

    found = []

    def visit(name: bytes) -> None:
        place = h5o.open(file.id, name)
        if h5o.get_info(place).type == h5o.TYPE_DATASET and h5ds.is_scale(place):
            found.append(name)

    h5o.visit(file.id, visit)
    return len(found)
