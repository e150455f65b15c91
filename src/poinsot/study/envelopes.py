"""Where an aircraft can fly: trims over speed and altitude with the limit that binds, turns, and loads in gusts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from poinsot._optional import require
from poinsot._types import Array, ArrayLike
from poinsot.environment.atmosphere import US76
from poinsot.parts.load_factor import G_0
from poinsot.study.trimmed import Trim
from poinsot.study.trimming import trim
from poinsot.world import World

SEA_LEVEL = 1.225  # kg/m^3
FEET = 0.3048
# Gusts of the airworthiness code CS/FAR 23.333, up to 20,000 ft and from 50,000 ft on [ft], equivalent [m/s].
GUSTS = {"cruise": (15.24, 7.62), "dive": (7.62, 3.81)}
GUST_ALTITUDES = (20_000 * FEET, 50_000 * FEET)


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
    xarray = require("xarray", "view", "an envelope")
    speeds, altitudes = _grid("speeds", speeds), _grid("altitudes", altitudes)
    if speed not in ("airspeed", "mach"):
        raise ValueError(f"speed={speed!r} must be 'airspeed' or 'mach'.")
    H, V = (x.ravel() for x in np.meshgrid(altitudes, speeds, indexing="ij"))
    found = _quietly(world, kind, {speed: V, "altitude": H}, asked)
    shape, dims = (len(altitudes), len(speeds)), ("altitude", speed)
    inside = {name: x for name, x in {**found.quantities, **found.values}.items() if name not in dims and x.ndim == 1}
    arrays: dict[str, Any] = {
        name: (dims, np.where(found.converged, x, np.nan).reshape(shape)) for name, x in inside.items()
    }
    arrays["flyable"] = (dims, found.converged.reshape(shape))
    words = [
        limit or ("none" if ok else "no balance") for limit, ok in zip(found.binding, found.converged, strict=True)
    ]
    arrays["limit"] = (dims, np.array(words, dtype=object).reshape(shape))
    data = xarray.Dataset(arrays, coords={"altitude": altitudes, speed: speeds}, attrs={"kind": kind})
    for name, unit in {"altitude": "m", "airspeed": "m/s", "mach": "1", "alpha": "rad", "load_factor": "1"}.items():
        if name in data.variables:
            data[name].attrs["units"] = unit
    return data


def turn_performance(world: World, speeds: ArrayLike, load_factors: ArrayLike | None = None, **asked: Any) -> Any:
    """Level turns over airspeeds (m,) [m/s] and load factors (k,), by default from 1.05 to 9.

    An xarray.Dataset with the dimensions airspeed and load_factor: turn_rate [rad/s], radius [m], roll and the rest of
    the trims; `sustained` (airspeed,): the largest load factor with which it keeps speed and altitude, NaN if none.
    """
    xarray = require("xarray", "view", "the performance in turns")
    speeds = _grid("speeds", speeds)
    loads = _grid("load_factors", np.linspace(1.05, 9.0, 54) if load_factors is None else load_factors)
    V, n = (x.ravel() for x in np.meshgrid(speeds, loads, indexing="ij"))
    found = _quietly(world, "turn", {"airspeed": V, "load_factor": n}, asked)
    ok, shape, dims = found.converged, (len(speeds), len(loads)), ("airspeed", "load_factor")
    with np.errstate(divide="ignore"):
        radius = V / np.abs(found["turn_rate"])
    named = {"radius": radius, **{k: x for k, x in found.values.items() if x.ndim == 1}}
    arrays: dict[str, Any] = {name: (dims, np.where(ok, x, np.nan).reshape(shape)) for name, x in named.items()}
    arrays["flyable"] = (dims, ok.reshape(shape))
    arrays["limit"] = (dims, found.binding.reshape(shape))
    each = ok.reshape(shape)
    largest = np.where(each, loads, -np.inf).max(axis=1)
    arrays["sustained"] = (("airspeed",), np.where(each.any(axis=1), largest, np.nan))
    return xarray.Dataset(arrays, coords={"airspeed": speeds, "load_factor": loads})


def vn_diagram(
    weight: float,
    area: float,
    chord: float,
    lift_slope: float,
    lift_limits: tuple[float, float],
    load_limits: tuple[float, float],
    cruise: float,
    dive: float,
    altitude: float = 0.0,
    gusts: Mapping[str, Sequence[float]] | None = None,
    count: int = 200,
) -> Any:
    """Load factors over the equivalent airspeed, with gusts, after CS/FAR 23.333 to 23.341.

    weight [N], wing area [m^2], mean chord [m], lift slope [1/rad], the least and greatest lift coefficient, the least
    and greatest load factor of manoeuvres, design speeds for cruise and dive, equivalent [m/s], altitude [m].

        n = +-rho_0 V^2 S CL/(2 W),   n = 1 +- K_g rho_0 U V a S/(2 W),   K_g = 0.88 mu/(5.3 + mu),
        mu = 2 W/(rho S c a g)

    The negative limit of manoeuvres ends at 0 at the dive speed, as for normal aircraft.
    gusts: equivalent velocities [m/s] at "cruise" and "dive"; by default those of the code at this altitude. An
    xarray.Dataset with the dimension airspeed: stall, manoeuvre and gust lines, and the envelope of all of them.
    """
    xarray = require("xarray", "view", "a V-n diagram")
    _require_design(weight, area, chord, lift_slope, lift_limits, load_limits, cruise, dive)
    V = np.linspace(0.0, dive, count)
    pressure = 0.5 * SEA_LEVEL * V**2 * area / weight
    stall = [np.clip(pressure * CL, *load_limits) for CL in lift_limits]
    lower, upper = np.maximum(stall[0], np.interp(V, [cruise, dive], [load_limits[0], 0.0])), stall[1]
    gust = _gust_loads(V, weight, area, chord, lift_slope, altitude, cruise, dive, gusts)
    most = np.maximum(upper, np.minimum(gust["envelope"][1], pressure * lift_limits[1]))
    least = np.minimum(lower, np.maximum(gust["envelope"][0], pressure * lift_limits[0]))
    lines = {"manoeuvre_upper": upper, "manoeuvre_lower": lower, "upper": most, "lower": least}
    lines |= {f"gust_{key}_{side}": x for key, pair in gust.items() if key != "envelope"
              for side, x in zip(("down", "up"), pair, strict=True)}  # fmt: skip
    corner = float(np.sqrt(2 * weight * load_limits[1] / (SEA_LEVEL * area * lift_limits[1])))
    attrs = {"corner_speed": corner, "stall_speed": corner / np.sqrt(load_limits[1]), "cruise": cruise, "dive": dive}
    return xarray.Dataset({k: ("airspeed", x) for k, x in lines.items()}, coords={"airspeed": V}, attrs=attrs)


def _require_design(
    weight: float,
    area: float,
    chord: float,
    lift_slope: float,
    lift_limits: tuple[float, float],
    load_limits: tuple[float, float],
    cruise: float,
    dive: float,
) -> None:
    """An error if numbers of a V-n diagram cannot be."""
    numbers = {"weight": weight, "area": area, "chord": chord, "lift_slope": lift_slope, "cruise": cruise, "dive": dive}
    for name, x in numbers.items():
        if isinstance(x, str) or not (np.isfinite(x) and x > 0):
            raise ValueError(f"{name}={x!r} must be above zero.")
    for name, (low, high) in {"lift_limits": lift_limits, "load_limits": load_limits}.items():
        if not -np.inf < low < 0 < high < np.inf:
            raise ValueError(f"{name}={(low, high)} must be a number below zero and one above.")
    if not dive > cruise:
        raise ValueError(f"dive={dive!r} m/s must be above cruise={cruise!r} m/s.")


def _gust_loads(
    V: Array,
    weight: float,
    area: float,
    chord: float,
    lift_slope: float,
    altitude: float,
    cruise: float,
    dive: float,
    gusts: Mapping[str, Sequence[float]] | None,
) -> dict[str, tuple[Array, Array]]:
    """The load factors (down, up) in gusts of each kind up to its speed, and in all of them."""
    if not -1000.0 <= altitude <= GUST_ALTITUDES[-1]:
        raise ValueError(f"altitude={altitude!r} m: gusts are known up to {GUST_ALTITUDES[-1]:g} m.")
    density = float(US76().at(altitude).density)
    mu = 2 * weight / (density * area * chord * lift_slope * G_0)
    alleviated = 0.88 * mu / (5.3 + mu) * SEA_LEVEL * lift_slope * area / (2 * weight)
    own = {k: np.broadcast_to(np.asarray(x, dtype=float), (2,)) for k, x in (gusts or GUSTS).items()}
    top = {"cruise": cruise, "dive": dive}
    for key, pair in own.items():
        if not np.all(np.isfinite(pair) & (pair >= 0)):
            raise ValueError(f"gusts of {key!r}: {pair.tolist()} m/s must be zero or more.")
    if strange := [key for key in own if key not in top]:
        raise ValueError(f"gusts of {strange[0]!r}: give them for 'cruise' and 'dive'.")
    loads: dict[str, tuple[Array, Array]] = {}
    for key, pair in own.items():
        U = float(np.interp(altitude, GUST_ALTITUDES, pair))
        n = alleviated * U * V
        loads[key] = (np.where(top[key] >= V, 1 - n, np.nan), np.where(top[key] >= V, 1 + n, np.nan))
    ends = {key: alleviated * float(np.interp(altitude, GUST_ALTITUDES, pair)) * top[key] for key, pair in own.items()}
    corners = sorted((top[key], n) for key, n in ends.items())
    n = np.interp(V, [0.0, *(v for v, _ in corners)], [0.0, *(n for _, n in corners)])
    return loads | {"envelope": (1 - n, 1 + n)}


def _quietly(world: World, kind: str, vary: Mapping[str, Array], asked: Mapping[str, Any]) -> Trim:
    """Trims of which some may not be found: that is what is asked for."""
    return trim(world, kind, vary=vary, explain=False, **asked)


def _grid(name: str, values: ArrayLike) -> Array:
    grid = np.atleast_1d(np.asarray(values, dtype=float))
    if grid.ndim != 1 or not len(grid) or not np.all(np.isfinite(grid)):
        raise ValueError(f"{name} must be finite numbers in a row, not {values!r}.")
    return grid
