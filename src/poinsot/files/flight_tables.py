"""The tables of flight in a scenario: [earth], [air] with its winds, [[table]], and the start of a body."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

import numpy as np
from pydantic import create_model

from poinsot._errors import FieldError, about
from poinsot._fields import field_types
from poinsot._hints import hint
from poinsot.control import Dryden
from poinsot.environment import US76, Atmosphere, Earth, Gust, SteadyWind, WindProfile, epochs
from poinsot.environment.earth import GRAVITY, MODELS
from poinsot.environment.geomagnetism import MAGNETIC
from poinsot.environment.wind import SHAPES, Wind, wind_from
from poinsot.files import computed, readers, trim_tables
from poinsot.files.element_tables import type_of
from poinsot.files.readers import Context, KeyType, ScenarioTable
from poinsot.files.shape_tables import table
from poinsot.files.table_files import load_table
from poinsot.files.two_line_elements import load_tle
from poinsot.files.units import to_si
from poinsot.fuse import Table
from poinsot.fuse.trace.cells import OUTSIDE
from poinsot.fuse.trace.table import METHODS
from poinsot.world import Orbit, Start

EPOCH = 'an instant in UTC, such as "2026-03-20T12:00:00Z"'


def _epoch(value: object, _: Context) -> str:
    if not isinstance(value, (str, datetime)):
        raise ValueError(f"expected {EPOCH}")
    return epochs.written(value)


EarthTable = table(
    "EarthTable",
    "The Earth that the world is around.",
    {},
    model=readers.choice(*MODELS),
    gravity=readers.choice(*GRAVITY),
    rotating=readers.flag(),
    mu=readers.number("m^3/s^2"),
    gradient=readers.flag(),
    epoch=readers.typed(_epoch, EPOCH, {"type": "string"}),
    magnetic=readers.choice(*MAGNETIC),
    pulls=readers.names('a list of "sun" and "moon"'),
)
WindTable = table(
    "WindTable",
    "A wind: from a direction with a speed, or with speeds at heights; or its velocity north, east, down.",
    {},
    velocity=computed.law(("t", "position", "height"), "m/s", shape=(3,)),
    heights=readers.array("m", shape=(None,)),
    speed=readers.number("m/s"),
    speeds=readers.array("m/s", shape=(None,)),
    **{"from": readers.array("rad")},
)
GustTable = table(
    "GustTable",
    "A gust of the shape (1 - cos)/2.",
    {"velocity": readers.vector("m/s"), "rise": readers.number("s", positive=True)},
    start=readers.number("s"),
    shape=readers.choice(*SHAPES),
)


def _severity(value: object, _: Context) -> Any:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"expected {SEVERITY}")
    return value


SEVERITY = '"light", "moderate", "severe", or a probability of exceedance'
TurbulenceTable = table(
    "TurbulenceTable",
    "Turbulence around an aircraft.",
    {"kind": readers.choice("dryden")},
    body=readers.text("the name of a body"),
    wind_at_6m=readers.number("m/s"),
    severity=readers.typed(_severity, SEVERITY, {"type": ["string", "number"]}),
    span=readers.number("m", positive=True),
    seed=readers.whole(),
    sample=readers.number("s", positive=True),
)
AirTable = table(
    "AirTable",
    "The air of the world: an atmosphere and its winds.",
    {},
    model=readers.choice("us76", "table"),
    temperature_offset=readers.number("K"),
    heights=readers.array("m", shape=(None,)),
    temperatures=readers.array("K", shape=(None,)),
    pressures=readers.array("Pa"),
    wind=readers.one_or_more(WindTable),
    gusts=readers.one_or_more(GustTable),
    turbulence=TurbulenceTable,
)


def _heights(value: object, context: Context) -> Any:
    """A height, or a formula or table of x and y, or of latitude and longitude."""
    try:
        found = computed.law_in(value, ("x", "y"), ("m",), context)
    except ValueError as error:
        if not re.search(r"'(latitude|longitude)' is not defined here", str(error)):
            raise
        found = computed.law_in(value, ("latitude", "longitude"), ("m",), context)
    return readers.number_of(value, ("m",), infinite=False) if found is None else found


TerrainTable = table(
    "TerrainTable",
    "The ground as a surface.",
    {
        "heights": readers.typed(
            _heights,
            "a height [m], or a formula or table of x and y, or of latitude and longitude",
            {"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "object"}]},
        )
    },
)
OVER_NAMES = 'a table of names and units, such as { alpha = "deg" }'


def _over_names(value: object, _: Context) -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        raise ValueError(f"expected {OVER_NAMES}")
    return value


def _outside(value: object, _: Context) -> Any:
    for word in value.values() if isinstance(value, dict) else [value]:
        if not isinstance(word, str) or word not in OUTSIDE:
            near = hint(word, OUTSIDE) if isinstance(word, str) else ""
            raise ValueError(f"expected one of {', '.join(OUTSIDE)}, for all axes or by their names{near}")
    return value


TableOfNumbers = table(
    "TableOfNumbers",
    "A table on a grid, for formulas: from a file, or written here.",
    {"name": readers.name("CL"), "axes": readers.typed(_over_names, OVER_NAMES, {"type": "object"})},
    file=readers.file(".csv, .nc"),
    values=readers.typed(lambda x, _: x, "the columns of a file, or numbers", {"type": ["array", "object"]}),
    unit=readers.text("the unit of the numbers"),
    method=readers.choice(*METHODS),
    outside=readers.typed(_outside, "what happens beyond the grid", {"type": ["string", "object"]}),
)
WORLD_TABLES: dict[str, type[ScenarioTable]] = {"earth": EarthTable, "air": AirTable, "terrain": TerrainTable}


def start_model() -> KeyType:
    """A start: the keys of `pt.Start` and of a trim, or a table `orbit` with those of `pt.Orbit`, or tle."""
    tle = {"tle": (readers.file(".tle, .txt"), None), "satellite": (readers.text("its name in the file"), None)}
    orbit = create_model("OrbitTable", __base__=ScenarioTable, __doc__="The start in orbit.", **(_keys_of(Orbit) | tle))
    keys = {**_keys_of(Start), "orbit": (orbit, None)}
    keys |= {name: (kind, None) for name, kind in trim_tables.KEYS.items()}
    return create_model("StartTable", __base__=ScenarioTable, __doc__="The start as a pilot says it.", **keys)


def _keys_of(cls: Any) -> dict[str, Any]:
    types = field_types(cls)
    return {f.name: (type_of(f.name, types[f.name], f.default), None) for f in fields(cls) if f.name != "epoch"}


def start_of(entries: Mapping[str, Any], earth: Earth | None) -> Start | Orbit:
    """The start of a table { latitude, ... }, { orbit = { semi_major_axis, ... } } or { orbit = { tle } }."""
    if entries.get("orbit") is None:
        return Start(**entries)
    if others := [key for key in entries if key != "orbit"]:
        raise FieldError("a start has an orbit, or other keys", others[0])
    keys = entries["orbit"].entries()
    with about(field="orbit"):
        if "tle" not in keys:
            if "semi_major_axis" not in keys:
                raise FieldError("an orbit needs a semi_major_axis, or a tle", "semi_major_axis")
            return Orbit(**keys)
        path, satellite = keys.pop("tle"), keys.pop("satellite", None)
        if earth is None or earth.epoch is None:
            raise FieldError('a tle needs the epoch of the world: [earth] epoch = "2026-03-20T12:00:00Z"', "tle")
        return load_tle(path, satellite, epoch=earth.epoch, earth=earth, **keys)


# What they mean.


def atmosphere_of(entries: Mapping[str, Any]) -> Atmosphere:
    """The atmosphere of a table [air]."""
    own = [key for key in ("heights", "temperatures", "pressures") if key in entries]
    offset = entries.get("temperature_offset", 0.0)
    if entries.get("model", "us76") == "us76":
        if own:
            raise FieldError('"us76" has its own; write model = "table"', own[0])
        return US76(offset)
    if len(own) < 3:
        raise FieldError('model = "table" needs heights, temperatures and pressures', "model")
    if "temperature_offset" in entries:
        raise FieldError("a table has its own temperatures", "temperature_offset")
    return Atmosphere.table(*(entries[key] for key in own))


def winds_in(entries: Mapping[str, Any]) -> tuple[Wind, ...]:
    """The winds and gusts of a table [air]."""
    with about(field="wind"):
        winds = [wind_of(item.entries()) for item in entries.get("wind") or ()]
    with about(field="gusts"):
        gusts = [Gust(**item.entries()) for item in entries.get("gusts") or ()]
    return (*winds, *gusts)


def turbulence_in(entries: Mapping[str, Any]) -> Iterator[Dryden]:
    """The turbulence of a table [air], if it has some."""
    if entries.get("turbulence") is not None:
        given = {key: value for key, value in entries["turbulence"].entries().items() if key != "kind"}
        with about(field="turbulence"):
            yield Dryden(**given)


def wind_of(entries: Mapping[str, Any]) -> Wind:
    """The wind of a table { velocity } or { from, speed } or { heights, from, speeds }."""
    keys = set(entries)
    for key in keys & {"speed", "speeds"}:
        if np.any(np.less(entries[key], 0)):
            raise FieldError("a wind blows from a direction with a speed of zero or more", key)
    if keys == {"velocity"}:
        velocity = entries["velocity"]
        return velocity if callable(velocity) else SteadyWind(velocity)
    if keys == {"from", "speed"} and np.ndim(entries["from"]) == 0:
        return SteadyWind(wind_from(entries["from"], entries["speed"]))
    if keys not in ({"heights", "from", "speeds"}, {"heights", "from", "speed"}):
        raise ValueError("a wind is { velocity }, { from, speed } or { heights, from, speeds }")
    heights, ones = entries["heights"], np.ones(len(entries["heights"]))
    speeds = entries["speeds"] if "speeds" in entries else entries["speed"] * ones
    if np.any(np.diff(heights) <= 0) or len(heights) < 2:
        raise FieldError("expected two or more heights that increase", "heights")
    directions = entries["from"] * ones if np.ndim(entries["from"]) == 0 else entries["from"]
    for key, numbers in (("speeds", speeds), ("from", directions)):
        if np.shape(numbers) != np.shape(heights):
            raise FieldError(f"{len(heights)} heights need as many, not {len(numbers)}", key)
    return WindProfile(heights, [wind_from(*pair) for pair in zip(directions, speeds, strict=True)])


@dataclass(frozen=True, eq=False)
class NamedTable:
    """A table with the names of its axes, which say what it is a function of."""

    axes: tuple[str, ...]
    table: Table

    def formula(self, name: str) -> str:
        """It as a formula."""
        return f"{name}({', '.join(self.axes)})"


def table_of_numbers(entries: Mapping[str, Any]) -> NamedTable:
    """The table of a [[table]]."""
    axes, values = entries["axes"], entries.get("values")
    options = {key: entries[key] for key in ("method", "outside") if key in entries}
    if "file" not in entries:
        return _written_here(axes, values, entries.get("unit"), options | {"name": entries["name"]})
    if "unit" in entries:
        raise FieldError('units of a file stand in its first row, or in values = { CL = "1" }', "unit")
    for name, unit in axes.items():
        if not isinstance(unit, str):
            raise FieldError(f'the axis {name!r} of a file has a unit, such as "deg", not {unit!r}', f"axes.{name}")
    if values is not None and not (
        isinstance(values, (list, dict)) and all(isinstance(x, str) for x in (*values, *_of(values)))
    ):
        raise FieldError('expected names of columns, ["CL"] or { CL = "1" }', "values")
    table = replace(load_table(entries["file"], axes, values, **options), name=entries["name"])
    return NamedTable(tuple(axes), table)


def _of(values: Any) -> Any:
    return values.values() if isinstance(values, dict) else ()


def _written_here(axes: Mapping[str, Any], values: Any, unit: str | None, options: dict[str, Any]) -> NamedTable:
    """A table whose axes and values stand in the scenario."""
    if values is None:
        raise FieldError("a table needs a file, or values", "values")
    grid = []
    for name, axis in axes.items():
        with about(field=f"axes.{name}"):
            grid.append(_knots(axis))
    with about(field="values"):
        numbers = readers.array_of(values, () if unit is None else ("1",))
        scale = 1.0 if unit is None else to_si(f"1 {unit}")
    outside = options.get("outside", "clamp")
    if isinstance(outside, dict):
        for name in outside:
            if name not in axes:
                raise FieldError(f"{name!r} is not an axis{hint(name, axes)}", "outside")
        options["outside"] = tuple(outside.get(name, "clamp") for name in axes)
    return NamedTable(tuple(axes), Table(tuple(grid), numbers * scale, labels=tuple(axes), **options))


def _knots(axis: Any) -> Any:
    """The points of an axis, in SI units: a list of numbers, or { points, unit }."""
    unit, points = "1", axis
    if isinstance(axis, dict) and set(axis) == {"points", "unit"} and isinstance(axis["unit"], str):
        unit, points = axis["unit"], axis["points"]
    if not isinstance(points, list):
        raise ValueError('expected numbers, [0, "10 deg"], or { points = [0, 10], unit = "deg" }')
    knots = readers.array_of(points, () if points is axis else ("1",))
    if np.ndim(knots) != 1 or len(knots) < 2 or np.any(np.diff(knots) <= 0):
        raise ValueError("expected two or more numbers that increase")
    return knots if unit == "1" else knots * to_si(f"1 {unit}")
