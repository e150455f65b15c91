"""One number over time out of many, by a short name: "box.position.z", "arm.q", "plane.left.contents", "energy"."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot.run.measured import label_of
from poinsot.world import Description

FRONT = ("time", "batch")


def pick(data: Any, name: str) -> Any:
    """The xarray.DataArray (time,) or (time, batch) that a name means in the data of a run or sweep."""
    for one, array, where in _numbers(data):
        if one == name:
            return array.isel(where)
    known = names(data)
    near = hint(name, known)
    raise ValueError(f"{name!r} was not recorded{near or '; there are ' + ', '.join(known[:40]) + '.'}")


def expand(data: Any, name: str) -> list[str]:
    """The names of the numbers of a quantity: box.position.x, .y and .z for "box.position"; empty if there is none."""
    known = names(data)
    return [name] if name in known else [n for n in known if n.startswith((f"{name}.", f"{name}["))]


def names(data: Any) -> list[str]:
    """All such names."""
    return [name for name, _, _ in _numbers(data)]


def _numbers(data: Any) -> Iterator[tuple[str, Any, dict[str, int]]]:
    """Each number over time: its name, the array that it is in, and its indices there by dimensions."""
    for quantity, array in data.data_vars.items():
        if "time" in array.dims:
            dims = [dim for dim in array.dims if dim not in FRONT]
            labels = [_labels(array, dim) for dim in dims]
            for where in np.ndindex(*map(len, labels)):
                words = [words[k] for words, k in zip(labels, where, strict=True)]
                yield label_of(str(quantity), dims, words), array, dict(zip(dims, where, strict=True))


def _labels(array: Any, dim: str) -> list[str]:
    return [str(x) for x in array[dim].values] if dim in array.coords else [str(k) for k in range(array.sizes[dim])]


def unit_of(array: Any, name: str, description: Description | None = None) -> str:
    """The unit of a picked quantity; where it depends on the joint, of "rad, m" the one that fits, if it is known."""
    units = str(array.attrs.get("units", "")).split(", ")
    body = description.bodies.get(name.partition(".")[0]) if description is not None else None
    if len(units) > 1 and body is not None and body.hinge.nv == 1:
        units = units[:1] if body.hinge.type.units == ("rad",) else units[1:2]
    return "" if units == ["1"] else " or ".join(units)


def with_unit(name: str, unit: str) -> str:
    """A name as axes and tables show it: "box.mass [kg]"."""
    return f"{name} [{unit}]" if unit else name


def crossings(time: Any, x: Any) -> Any:
    """The times [s] at which x (r,) changes its sign, on straight lines between records."""
    before = np.flatnonzero(x[:-1] * x[1:] < 0)
    share = x[before] / (x[before] - x[before + 1])
    return time[before] + share * np.diff(time)[before]
