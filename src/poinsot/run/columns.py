"""Records in plain NumPy with what xarray would say of them: dimensions, units and labels.

xarray takes about half a second to import, with all that it imports in turn: what is only saved, or shown as text or in
a replay, does without. `Columns` are a small part of `xarray.Dataset`, under its names.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poinsot._types import Array


@dataclass(frozen=True, eq=False)
class Column:
    """An array with named dimensions, its attributes, and the labels of dimensions by their names, where it has any."""

    dims: tuple[str, ...]
    values: Array
    attrs: Mapping[str, Any] = field(default_factory=dict)
    coords: Mapping[str, "Column"] = field(default_factory=dict)

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(self.dims, self.values.shape, strict=True))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def ndim(self) -> int:
        return self.values.ndim

    def __getitem__(self, dim: str) -> "Column":
        """The labels of a dimension."""
        return self.coords[dim]

    def isel(self, where: Mapping[str, Any] | None = None, **more: Any) -> "Column":
        """The part at these places of dimensions: numbers, slices, or lists of numbers."""
        places = {dim: place for dim, place in {**(where or {}), **more}.items() if dim in self.dims}
        values = self.values
        for axis, dim in reversed(list(enumerate(self.dims))):
            values = values[(*(slice(None),) * axis, places.get(dim, slice(None)))]
        dims = tuple(dim for dim in self.dims if not isinstance(places.get(dim), (int, np.integer)))
        coords = {dim: labels.isel(places) for dim, labels in self.coords.items() if dim in dims}
        return Column(dims, values, self.attrs, coords)

    def sel(self, **labels: Any) -> "Column":
        """The part with these labels of dimensions: one, or a list of them."""
        return self.isel({dim: _places(self.coords[dim].values.tolist(), x) for dim, x in labels.items()})


def _places(known: list[Any], wanted: Any) -> Any:
    return [known.index(x) for x in wanted] if isinstance(wanted, list) else known.index(wanted)


@dataclass(frozen=True, eq=False)
class Columns:
    """Arrays by name that share dimensions, labels `coords`, and attributes of them all."""

    data_vars: Mapping[str, Column]
    coords: Mapping[str, Column] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def made(
        cls, arrays: Mapping[str, tuple[Any, ...]], coords: Mapping[str, Any] | None = None, attrs: Any = None
    ) -> "Columns":
        """From what `xarray.Dataset` takes: (dimensions, values) or (dimensions, values, attributes) by name."""
        labels = {
            name: _column(*x) if isinstance(x, tuple) else Column((name,), np.asarray(x))
            for name, x in (coords or {}).items()
        }
        return cls(_labelled({name: _column(*x) for name, x in arrays.items()}, labels), labels, attrs or {})

    @classmethod
    def of(cls, dataset: Any) -> "Columns":
        """Those of an xarray.Dataset, read if they are on disk."""
        columns, labels = (
            {str(name): _column(x.dims, x.values, dict(x.attrs)) for name, x in arrays.items()}
            for arrays in (dataset.data_vars, dataset.coords)
        )
        return cls(_labelled(columns, labels), labels, dict(dataset.attrs))

    def to_xarray(self) -> Any:
        """The same as an xarray.Dataset."""
        import xarray

        arrays, coords = (
            {name: (x.dims, x.values, dict(x.attrs)) for name, x in columns.items()}
            for columns in (self.data_vars, self.coords)
        )
        return xarray.Dataset(arrays, coords, attrs=dict(self.attrs))

    @property
    def variables(self) -> dict[str, Column]:
        """All arrays, labels last."""
        return {**self.data_vars, **self.coords}

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of all dimensions."""
        return {dim: size for column in self.variables.values() for dim, size in column.sizes.items()}

    @property
    def nbytes(self) -> int:
        return sum(column.values.nbytes for column in self.variables.values())

    def __contains__(self, name: str) -> bool:
        return name in self.data_vars or name in self.coords

    def __iter__(self) -> Iterator[str]:
        return iter(self.data_vars)

    def __getitem__(self, name: str) -> Column:
        return self.data_vars[name] if name in self.data_vars else self.coords[name]

    def chosen(self, names: Sequence[str]) -> "Columns":
        """Those of these names, with the labels of their dimensions."""
        columns = {name: self.data_vars[name] for name in names}
        used = {dim for column in columns.values() for dim in column.dims}
        return Columns(columns, {k: x for k, x in self.coords.items() if {*x.dims} <= used}, self.attrs)

    def isel(self, **where: Any) -> "Columns":
        """The part at these places of dimensions."""
        columns, labels = (
            {name: column.isel(where) for name, column in columns.items()} for columns in (self.data_vars, self.coords)
        )
        return Columns(columns, labels, self.attrs)

    def renamed(self, old: str, new: str) -> "Columns":
        """With another text for one in all names, also of dimensions."""
        if not any(old in name for name in (*self.variables, *self.sizes)):
            return self
        columns, labels = (
            {
                name.replace(old, new): Column(tuple(dim.replace(old, new) for dim in x.dims), x.values, x.attrs)
                for name, x in columns.items()
            }
            for columns in (self.data_vars, self.coords)
        )
        return Columns(_labelled(columns, labels), labels, self.attrs)


def _column(dims: Any, values: Any, attrs: Mapping[str, Any] | None = None) -> Column:
    return Column((dims,) if isinstance(dims, str) else tuple(map(str, dims)), np.asarray(values), attrs or {})


def _labelled(columns: Mapping[str, Column], labels: Mapping[str, Column]) -> dict[str, Column]:
    """The columns with the labels of their dimensions."""
    return {
        name: Column(x.dims, x.values, x.attrs, {dim: labels[dim] for dim in x.dims if dim in labels})
        for name, x in columns.items()
    }
