"""The V-n diagram of the airworthiness code: load factors of manoeuvres and gusts over the speed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from poinsot._optional import require
from poinsot._types import Array
from poinsot.environment.atmosphere import US76
from poinsot.parts.load_factor import G_0

SEA_LEVEL = 1.225  # kg/m^3
FEET = 0.3048
# Gusts of the airworthiness code CS/FAR 23.333, up to 20,000 ft and from 50,000 ft on [ft], equivalent [m/s].
GUSTS = {"cruise": (15.24, 7.62), "dive": (7.62, 3.81)}
GUST_ALTITUDES = (20_000 * FEET, 50_000 * FEET)


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
    gusts: equivalent velocities [m/s] at "cruise" and "dive"; by default those of the code at this altitude. count: of
    speeds, from 0 to dive. An xarray.Dataset with the dimension airspeed: stall, manoeuvre and gust lines, and the
    envelope of all of them.
    """
    xarray = require("xarray", "", "a V-n diagram")
    above_zero = {"weight": weight, "area": area, "chord": chord, "lift_slope": lift_slope}
    _require_design(above_zero, {"cruise": cruise, "dive": dive}, lift_limits, load_limits, count)
    V = np.linspace(0.0, dive, count)
    pressure = 0.5 * SEA_LEVEL * V**2 * area / weight
    stall = [np.clip(pressure * CL, *load_limits) for CL in lift_limits]
    lower, upper = np.maximum(stall[0], np.interp(V, [cruise, dive], [load_limits[0], 0.0])), stall[1]
    per_gust = _alleviated(**above_zero, altitude=altitude)
    gust = _gust_loads(V, per_gust, altitude, {"cruise": cruise, "dive": dive}, gusts)
    lines = {"manoeuvre_upper": upper, "manoeuvre_lower": lower, **_joined(lower, upper, gust, pressure, lift_limits)}
    corner = float(np.sqrt(2 * weight * load_limits[1] / (SEA_LEVEL * area * lift_limits[1])))
    attrs = {"corner_speed": corner, "stall_speed": corner / np.sqrt(load_limits[1]), "cruise": cruise, "dive": dive}
    found = {name: ("airspeed", x, {"units": "1"}) for name, x in lines.items()}
    return xarray.Dataset(found, coords={"airspeed": ("airspeed", V, {"units": "m/s"})}, attrs=attrs)


def _joined(
    lower: Array, upper: Array, gust: Mapping[str, tuple[Array, Array]], pressure: Array, lift_limits: Sequence[float]
) -> dict[str, Array]:
    """The greatest and least load factors of manoeuvres and gusts, as far as the wing has lift for, and each gust."""
    most = np.maximum(upper, np.minimum(gust["envelope"][1], pressure * lift_limits[1]))
    least = np.minimum(lower, np.maximum(gust["envelope"][0], pressure * lift_limits[0]))
    kinds = [(f"gust_{key}", pair) for key, pair in gust.items() if key != "envelope"]
    each = {f"{name}_{side}": x for name, pair in kinds for side, x in zip(("down", "up"), pair, strict=True)}
    return {"upper": most, "lower": least, **each}


def _require_design(
    above_zero: Mapping[str, float],
    speeds: Mapping[str, float],
    lift_limits: tuple[float, float],
    load_limits: tuple[float, float],
    count: int,
) -> None:
    """An error if numbers of a V-n diagram cannot be."""
    for name, x in {**above_zero, **speeds}.items():
        if isinstance(x, str) or not (np.isfinite(x) and x > 0):
            raise ValueError(f"{name}={x!r} must be above zero.")
    for name, (low, high) in {"lift_limits": lift_limits, "load_limits": load_limits}.items():
        if not -np.inf < low < 0 < high < np.inf:
            raise ValueError(f"{name}={(low, high)} must be a number below zero and one above.")
    if load_limits[1] < 1:
        raise ValueError(f"load_limits={load_limits}: the greatest is below 1, the load factor of level flight.")
    if not speeds["dive"] > speeds["cruise"]:
        raise ValueError(f"dive={speeds['dive']!r} m/s must be above cruise={speeds['cruise']!r} m/s.")
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 2:
        raise ValueError(f"count={count!r} must be a whole number of speeds, 2 or more: the first is 0, the last dive.")


def _alleviated(weight: float, area: float, chord: float, lift_slope: float, altitude: float) -> float:
    """K_g rho_0 a S/(2 W) [s^2/m^2]: the load factor of a gust U at the speed V, divided by U V."""
    if not -1000.0 <= altitude <= GUST_ALTITUDES[-1]:
        raise ValueError(f"altitude={altitude!r} m: gusts are known up to {GUST_ALTITUDES[-1]:g} m.")
    mu = 2 * weight / (float(US76().at(altitude).density) * area * chord * lift_slope * G_0)
    return 0.88 * mu / (5.3 + mu) * SEA_LEVEL * lift_slope * area / (2 * weight)


def _gust_loads(
    V: Array,
    per_gust: float,
    altitude: float,
    top: Mapping[str, float],
    gusts: Mapping[str, Sequence[float]] | None,
) -> dict[str, tuple[Array, Array]]:
    """The load factors (down, up) in gusts of each kind up to its top speed, and in all of them."""
    own = {k: np.broadcast_to(np.asarray(x, dtype=float), (2,)) for k, x in (gusts or GUSTS).items()}
    for key, pair in own.items():
        if not np.all(np.isfinite(pair) & (pair >= 0)):
            raise ValueError(f"gusts of {key!r}: {pair.tolist()} m/s must be zero or more.")
    if strange := [key for key in own if key not in top]:
        raise ValueError(f"gusts of {strange[0]!r}: give them for 'cruise' and 'dive'.")
    per_speed = {key: per_gust * float(np.interp(altitude, GUST_ALTITUDES, pair)) for key, pair in own.items()}
    loads: dict[str, tuple[Array, Array]] = {}
    for key, slope in per_speed.items():
        inside = np.where(top[key] >= V, slope * V, np.nan)
        loads[key] = (1 - inside, 1 + inside)
    corners = np.array([(0.0, 0.0), *sorted((top[key], slope * top[key]) for key, slope in per_speed.items())])
    n = np.interp(V, corners[:, 0], corners[:, 1])
    return loads | {"envelope": (1 - n, 1 + n)}
