"""Runs as flat tables, CSV and Parquet: a row per time and instance of a batch, a column per number."""

import itertools
import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._atomic import replacing
from poinsot._optional import require
from poinsot._types import Array
from poinsot.mechanism import Joint
from poinsot.study.quantities import names, pick, unit_of, with_unit
from poinsot.study.swept import Sweep, columns

if TYPE_CHECKING:
    from poinsot.run import Run

NUMBERS = 2**21  # in the part of a table that is made at once
UNLABELLED = ("time", "batch")


def export(run: "Run | Sweep", path: str | PathLike[str]) -> None:
    """Write `data` of a run or sweep to x.csv or x.parquet, with columns "box.position.x [m]"; whole or not at all."""
    suffix = Path(path).suffix
    if suffix not in WRITERS:
        stored = " run.save writes such files." if suffix in (".nc", ".zarr") else ""
        raise ValueError(f"'{path}': a table is written as .csv or .parquet, not as {suffix!r}.{stored}")
    with replacing(path) as temporary:
        WRITERS[suffix](sweep_frames(run) if isinstance(run, Sweep) else frames(run), temporary)


def frames(run: "Run") -> Iterator[Any]:
    """The table as pandas.DataFrames, some rows at a time."""
    pandas = require("pandas", "tables", "making a table")
    data, n = run.data, run.batch or 1
    heads_of = {name: _columns(run, name) for name in data.data_vars}
    size = max(1, NUMBERS // (n * (1 + sum(map(len, heads_of.values())))))
    for start in range(0, len(run.time), size):
        piece = data.isel(time=slice(start, start + size))
        k = piece.sizes["time"]
        table: dict[str, Array] = {"time [s]": np.repeat(piece["time"].values, n)}
        if run.batch is not None:
            table["batch"] = np.tile(np.arange(n), k)
            for name, coordinate in data.coords.items():
                if coordinate.dims[:1] == ("batch",) and name != "batch":
                    entries = np.ndindex(coordinate.shape[1:])
                    heads = [f"{name}{''.join(f'[{i}]' for i in entry)}" for entry in entries]
                    table |= dict(zip(heads, np.tile(coordinate.values.reshape(n, -1), (k, 1)).T, strict=True))
        for name, heads in heads_of.items():
            table |= dict(zip(heads, piece[name].values.reshape(k * n, -1).T, strict=True))
        yield pandas.DataFrame(table)


def sweep_frames(sweep: Sweep) -> Iterator[Any]:
    """The table of a sweep as pandas.DataFrames, a row per instance that is done and time, some instances at a time."""
    pandas = require("pandas", "tables", "making a table")
    known, varied, times = names(sweep.data), columns(sweep.varied), sweep.data["time"].values
    size = max(1, NUMBERS // (len(times) * (2 + len(known) + len(varied))))
    done = sweep.data["stop_time"].values != -1
    for start in range(0, sweep.n, size):
        piece = sweep.data.isel(batch=slice(start, start + size)).load()
        here = np.flatnonzero(done[start : start + size])
        table = {"time [s]": np.tile(times, len(here)), "batch": np.repeat(here + start, len(times))}
        table |= {f"{path}": np.repeat(x[here + start], len(times)) for path, x in varied.items()}
        for name in known:
            array = pick(piece, name)
            unit = unit_of(array, name)
            head = with_unit(name, unit)
            table[head if head not in table else f"{head} recorded"] = array.values[:, here].T.ravel()
        yield pandas.DataFrame(table)


def _columns(run: "Run", name: str) -> list[str]:
    """The names of the columns of one quantity."""
    array = run.data[name]
    dims = [dim for dim in array.dims if dim not in UNLABELLED]
    labels = [[str(x) for x in array[dim].values] for dim in dims]
    heads = []
    for entry in itertools.product(*map(enumerate, labels)):
        front, back, kind = "", "", 0
        for dim, (k, label) in zip(dims, entry, strict=True):
            if dim == "body":
                front = f"{label}."
            elif dim in ("coordinate", "freedom"):
                link, number = _split(label)
                front, back = f"{link}.", f"[{number}]" if "[" in label else ""
                kind = _kind(run.world.description.bodies[link].hinge, number, dim)
            else:
                back += f".{label}"
                kind = _kind_shown(run, name, k, array.sizes[dim])
        unit = _unit(array.attrs.get("units", ""), kind)
        heads.append(f"{front}{name}{back}" + (f" [{unit}]" if unit not in ("", "1") else ""))
    return heads


def _split(label: str) -> tuple[str, int]:
    """ "box[3]" is the number 3 of "box", "arm" the only one of "arm"."""
    match = re.fullmatch(r"(.*?)(?:\[(\d+)\])?", label)
    assert match is not None
    return match[1], int(match[2] or 0)


def _kind(joint: Joint, k: int, dim: str) -> int:
    """0 for an angle, 1 for a length, 2 for a part of a quaternion: the number k of a joint."""
    units = joint.type.q_units if dim == "coordinate" else joint.type.units
    return ("rad", "m", "1").index(units[k])


def _kind_shown(run: "Run", name: str, k: int, size: int) -> int:
    """The same for the number k of what an element shows of itself, such as the torque of a motor or a wrench."""
    description = run.world.description
    element = description.elements.get(name.rpartition(".")[0])
    joints = element.joints() if element is not None else ()
    if joints and size == description.bodies[joints[0]].hinge.nv:
        return _kind(description.bodies[joints[0]].hinge, k, "freedom")
    return 1 if size == 6 and k >= 3 else 0


def _unit(units: str, kind: int) -> str:
    """The unit of this kind in a list such as "rad, m, 1" or "N m, N"."""
    choice = units.split(", ")
    return choice[kind] if kind < len(choice) else choice[-1]


def _write_csv(pieces: Iterator[Any], path: Path) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        for k, frame in enumerate(pieces):
            frame.to_csv(file, index=False, header=k == 0)


def _write_parquet(pieces: Iterator[Any], path: Path) -> None:
    arrow = require("pyarrow", "tables", "writing .parquet")
    parquet = require("pyarrow.parquet", "tables", "writing .parquet")
    writer = None
    try:
        for frame in pieces:
            table = arrow.Table.from_pandas(frame, preserve_index=False)
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


WRITERS = {".csv": _write_csv, ".parquet": _write_parquet}
