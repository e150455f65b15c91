"""Where an aircraft can fly: trims over speed and altitude with the limit that binds, and level turns."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from poinsot._optional import require
from poinsot._types import Array, ArrayLike
from poinsot.study.trimming import trim
from poinsot.world import World

HALVINGS = 12  # of the distance between two load factors
UNITS = {"altitude": "m", "airspeed": "m/s", "mach": "1", "alpha": "rad", "beta": "rad", "pitch": "rad", "roll": "rad",
         "load_factor": "1", "turn_rate": "rad/s", "radius": "m", "sustained": "1",
         "sustained_rate": "rad/s"}  # fmt: skip


def envelope(
    world: World,
    speeds: ArrayLike,
    altitudes: ArrayLike,
    kind: str = "level",
    speed: str = "airspeed",
    **asked: Any,
) -> Any:
    """Trims over speeds (m,), airspeeds [m/s] or Mach numbers (speed="mach"), and altitudes (k,) [m].

    An xarray.Dataset with the dimensions altitude and airspeed (or mach): all that a trim finds, `flyable`, `limit`:
    the unknown that is at its limit, or "none" where a trim was found, else what holds it back.
    """
    if speed not in ("airspeed", "mach"):
        raise ValueError(f"speed={speed!r} must be 'airspeed' or 'mach'.")
    grid = {"altitude": _row("altitudes", altitudes), speed: _row("speeds", speeds)}
    return _with_units(_surveyed(world, kind, grid, asked))


def turn_performance(world: World, speeds: ArrayLike, load_factors: ArrayLike | None = None, **asked: Any) -> Any:
    """Level turns over airspeeds (m,) [m/s] and load factors (k,) of 1 or more, by default from 1.05 to 9.

    An xarray.Dataset with the dimensions airspeed and load_factor: turn_rate [rad/s], radius [m], roll and the rest of
    the trims, `flyable` and `limit` as of an envelope; `sustained` (airspeed,): the largest load factor with which it
    keeps speed and altitude, found by bisection between those given, NaN if none; `sustained_rate` [rad/s] with it.
    """
    loads = _row("load_factors", np.linspace(1.05, 9.0, 54) if load_factors is None else load_factors)
    if loads.min() < 1:
        raise ValueError(f"load_factors: {loads.min():g} is below 1, with which no turn is level; give 1 or more.")
    data = _surveyed(world, "turn", {"airspeed": _row("speeds", speeds), "load_factor": loads}, asked)
    with np.errstate(divide="ignore"):
        data["radius"] = data["airspeed"] / np.abs(data["turn_rate"])
    load, rate = _sustained(world, data.transpose("airspeed", "load_factor"), asked)
    data["sustained"], data["sustained_rate"] = ("airspeed", load), ("airspeed", rate)
    return _with_units(data.transpose("airspeed", "load_factor"))


def _sustained(world: World, data: Any, asked: Mapping[str, Any]) -> tuple[Array, Array]:
    """The largest load factor (m,) of level turns at each airspeed, and its turn rate [rad/s]."""
    ok, loads, V = data["flyable"].values, data["load_factor"].values, data["airspeed"].values
    order = np.argsort(loads)
    ok, loads, rates = ok[:, order], loads[order], data["turn_rate"].values[:, order]
    last = ok.shape[1] - 1 - np.argmax(ok[:, ::-1], axis=1)  # of those that are flyable
    rows, above = np.arange(len(V)), np.minimum(last + 1, len(loads) - 1)
    low, high = np.where(ok.any(axis=1), loads[last], np.nan), loads[above]
    rate, open_ = np.where(ok.any(axis=1), rates[rows, last], np.nan), ok.any(axis=1) & (above > last)
    for _ in range(HALVINGS if open_.any() else 0):
        middle = 0.5 * (low + high)
        points = {"airspeed": V[open_], "load_factor": middle[open_]}
        found = trim(world, "turn", vary=points, explain=False, **asked)
        flies = np.zeros(len(V), bool)
        flies[open_] = found.converged
        rate[flies] = found["turn_rate"][found.converged]
        low, high = np.where(flies, middle, low), np.where(flies | ~open_, high, middle)
    return low, rate


def _surveyed(world: World, kind: str, grid: Mapping[str, Array], asked: Mapping[str, Any]) -> Any:
    """Trims at all points of a grid, as an xarray.Dataset with its names as dimensions; NaN where none is found."""
    xarray = require("xarray", "", "an envelope")
    dims, shape = tuple(grid), tuple(map(len, grid.values()))
    points = dict(zip(dims, (x.ravel() for x in np.meshgrid(*grid.values(), indexing="ij")), strict=True))
    found = trim(world, kind, vary=points, explain=False, **asked)  # that some are not found is what is asked for
    ok, numbers = found.converged, {**found.quantities, **found.values}
    arrays: dict[str, Any] = {
        name: np.where(ok, x, np.nan) for name, x in numbers.items() if name not in dims and x.ndim == 1
    }
    words = [limit or ("none" if one else "no balance") for limit, one in zip(found.binding, ok, strict=True)]
    arrays |= {"flyable": ok, "limit": np.array(words, dtype=object)}
    shaped = {name: (dims, x.reshape(shape)) for name, x in arrays.items()}
    return xarray.Dataset(shaped, coords=dict(grid), attrs={"kind": kind})


def _with_units(data: Any) -> Any:
    for name, unit in UNITS.items():
        if name in data.variables:
            data[name].attrs["units"] = unit
    return data


def _row(name: str, values: ArrayLike) -> Array:
    row = np.atleast_1d(np.asarray(values, dtype=float))
    if row.ndim != 1 or not len(row) or not np.all(np.isfinite(row)):
        raise ValueError(f"{name} must be finite numbers in a row, not {values!r}.")
    return row
