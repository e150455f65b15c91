"""Runs on disk: saved, loaded, and written piece by piece while they go on.

The root of a file holds what `run.data` holds, for everybody to read. Two groups beside it hold what brings a run back:
"rows" the states y and, if it changes with time, p, record by record; "run" the ledger, p, and a text in JSON with the
description, options, settings, and why the run ended.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from poinsot._memo import set_known
from poinsot._types import Array
from poinsot._version import __version__
from poinsot.files import atomic
from poinsot.files.described import describe, missing, restore
from poinsot.files.stores import check_place, store_for
from poinsot.run import Ledger, Run, Stop, limits
from poinsot.run.compiled import CompiledSystem
from poinsot.run.inputs import read_inputs
from poinsot.run.observe import continuous
from poinsot.world import Description, World

FORMAT = 1  # of the groups "rows" and "run"; a file with a higher number is newer than this version
PIECE = 2**24  # bytes of states that are written together

Name = str | PathLike[str]


# Writing.


class Writer:
    """Puts the records of a run on the disk while it goes on, so that it may be larger than memory.

    `add` records, then `finish`, or `abandon`. The file gets its name when it is finished, all at once; if the process
    dies before, what was there stays. As a context, it abandons what was not finished.
    """

    def __init__(
        self,
        path: Name,
        world: World,
        compiled: CompiledSystem,
        settings: Mapping[str, Any],
        record: str | Sequence[str] | None = None,
    ) -> None:
        self.path, self.store = Path(path), store_for(path)
        check_place(self.path)
        self.world, self.compiled, self.settings, self.record = world, compiled, settings, record
        self.temporary = atomic.beside(self.path)
        self._pieces: list[tuple[Array, Array, Array]] = []
        self._waiting = 0  # bytes
        self._first: tuple[Array, Array, Array] | None = None  # the first and the last record: time, y, p
        self._last: tuple[Array, Array, Array] | None = None
        self._orientation: Array | None = None
        self._begun = False

    def __enter__(self) -> "Writer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abandon()

    def add(self, time: Array, y: Array, p: Array) -> None:
        """Records: time (k,) [s], states y (k, ..., ny), and p (..., np), or (k, ..., np) if it changes."""
        time, y, p = np.array(time, dtype=float), np.array(y), np.array(p)
        if not len(time):
            return
        self._pieces.append((time, y, p))
        if self._first is None:
            self._first = (time[:1], y[:1], p[:1] if p.ndim == y.ndim else p)
        self._last = (time[-1:], y[-1:], p[-1:] if p.ndim == y.ndim else p)
        self._waiting += y.nbytes
        if self._waiting > PIECE:
            with atomic.undisturbed():
                self._flush(more=True)

    def finish(self, stop: Stop) -> Run:
        """Give the file its name; the run, whose records are read from the file when they are needed."""
        if self._first is None or self._last is None:
            raise ValueError(f"'{self.path}': a run without records cannot be stored.")
        try:
            with atomic.undisturbed():
                self._flush(more=False)
                (t0, y0, p0), (t1, y1, p1) = self._first, self._last
                p = np.concatenate([p0, p1]) if p1.ndim == y1.ndim else p1
                ends = np.concatenate([t0, t1]), np.concatenate([y0, y1]), p
                self.close(Run(self.world, self.compiled, *ends, self.settings, stop, self.record))
        except BaseException:
            self.abandon()
            raise
        return _opened(self.path, lambda meta, p: (self.world, self.compiled, self.settings), lazy=True)

    def abandon(self) -> None:
        """Remove what was written, unless it was finished."""
        atomic.discard(self.temporary)

    def _flush(self, more: bool) -> None:
        """Write the pieces that wait; `more`: others may follow."""
        if not self._pieces:
            return
        times, ys, ps = zip(*self._pieces, strict=True)
        time, y = np.concatenate(times), np.concatenate(ys)
        p = np.concatenate(ps) if ps[0].ndim == y.ndim else ps[0]
        self._pieces, self._waiting = [], 0
        stop = Stop("running", time[-1], "the run goes on")
        data = Run(self.world, self.compiled, time, y, p, self.settings, stop, self.record).data
        if "orientation" in data:
            self._continue(data["orientation"].values)
        self.put(data, y, p, more)

    def _continue(self, q: Array) -> None:
        """Let quaternions (k, ..., 4) follow on from those of the piece before."""
        if self._orientation is not None:
            q[...] = continuous(np.concatenate([self._orientation[None], q]))[1:]
        self._orientation = q[-1].copy()

    def put(self, data: Any, y: Array, p: Array, more: bool) -> None:
        """Write a piece of `run.data` and of the rows; `more`: others may follow."""
        for dataset, group, along in ((data, None, "time"), (_rows(y, p), "rows", "record")):
            if self._begun:
                self.store.extend(self.temporary, dataset, group, along)
            else:
                self.store.begin(self.temporary, dataset, group, along if more else None)
        self._begun = True

    def close(self, run: Run) -> None:
        """Write what belongs to the whole run, and give the file its name."""
        self.store.note(self.temporary, run.attributes())
        self.store.begin(self.temporary, _whole(run), "run", None)
        self.store.close(self.temporary)
        atomic.settle(self.temporary, self.path)


def save(run: Run, path: Name) -> None:
    """Write a run to x.nc or x.zarr: all of it, or nothing."""
    with Writer(path, run.world, run.compiled, run.settings, run.record) as writer:
        for piece, last in _slices(run):
            p = run.p[piece] if run.p.ndim == run.y.ndim else run.p
            writer.put(run.data.isel(time=piece), run.y[piece], p, not last)
        writer.close(run)


def _slices(run: Run) -> Iterator[tuple[slice, bool]]:
    """Pieces of a run, and whether each is the last."""
    size = max(1, PIECE // max(1, 8 * int(np.prod(run.y.shape[1:]))))
    for start in range(0, len(run.time), size):
        yield slice(start, start + size), start + size >= len(run.time)


def _rows(y: Array, p: Array) -> Any:
    import xarray

    instance = () if y.ndim == 2 else ("instance",)
    rows = {"y": (("record", *instance, "state"), y)}
    if p.ndim == y.ndim:
        rows["p"] = (("record", *instance, "number"), p)
    return xarray.Dataset(rows)


def _whole(run: Run) -> Any:
    """What belongs to a run and not to a record."""
    import xarray

    ledger = run.ledger if run.compiled.keeps_ledger else None
    instance = () if run.batch is None else ("instance",)
    text = json.dumps(_meta(run, ledger), allow_nan=False).encode()
    found: dict[str, Any] = {
        "text": ("character", np.frombuffer(text, np.uint8), {"description": "JSON, UTF-8"}),
        "stop_time": (instance if np.ndim(run.stop.time) else (), np.asarray(run.stop.time, dtype=float)),
    }
    if run.p.ndim < run.y.ndim:
        found["p"] = ((*instance, "number"), run.p)
    if ledger is not None:
        found["ledger_start"] = ((*instance, "account"), ledger.initial)
        found["ledger_end"] = ((*instance, "account"), ledger.final)
        found["ledger_inflow"] = ((*instance, "source", "account"), ledger.inflow)
    return xarray.Dataset(found)


def _meta(run: Run, ledger: Ledger | None) -> dict[str, Any]:
    compiled, stop, settings = run.compiled, run.stop, dict(run.settings)
    system = compiled if isinstance(compiled, Unmoved) else compiled.system
    options = {k: v for k, v in settings.pop("options").items() if k != "vary"}  # the values are in p
    options["inputs"] = {
        name: value if callable(value) or isinstance(value, tuple) else np.asarray(value, dtype=float)
        for name, value in (options["inputs"] or {}).items()
    }
    return {
        "format": FORMAT,
        "description": describe(system.description),
        "free": list(system.free),
        "method": compiled.method,
        "booked": compiled.keeps_ledger,
        "options": describe(options),
        "settings": describe(settings),
        "record": describe(run.record),
        "stop": {"reason": stop.reason, "text": stop.text, "notes": {str(k): v for k, v in stop.notes.items()}},
        "sources": list(ledger.sources) if ledger else None,
    }


# Reading.


def load_run(path: Name, allow_code: bool = False, lazy: bool = False) -> Run:
    """A run from its file: the same data, ledger, settings and reason to stop, and the world that moved.

    allow_code: import the user's own functions that the world needs, by the names that the file gives. Without it, a
    world with such functions cannot move, but all that was recorded is there.
    lazy: read records when they are needed, for files larger than memory.
    """
    return _opened(Path(path), lambda meta, p: _remade(meta, p, allow_code), lazy)


Remake = Callable[[dict[str, Any], Array], tuple[World, Any, Mapping[str, Any]]]


def _opened(path: Path, remake: Remake, lazy: bool) -> Run:
    """The run in a file, with world, equations and settings that `remake` finds from what is written about it, and p.

    It is read again if another process put a new file in its place meanwhile.
    """
    for _ in range(100):
        seen = _identity(path)
        try:
            run = _read_run(path, remake, lazy)
        except (OSError, KeyError, ValueError):
            if _identity(path) == seen:
                raise
            continue
        if _identity(path) == seen:
            return run
    raise OSError(f"'{path}' cannot be read: it is replaced again and again.")


def _identity(path: Path) -> tuple[int, ...] | None:
    """What tells a file or folder from another one of the same name."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _read_run(path: Path, remake: Remake, lazy: bool) -> Run:
    whole, meta = _read_whole(path)
    store = store_for(path)
    data, records = store.read(path, None), store.read(path, "rows")
    if not lazy:
        data, records = _read(data), _read(records)
    p = records["p"].values if "p" in records else whole["p"].values
    world, compiled, settings = remake(meta, p[0] if "p" in records else p)
    notes = {int(k): text for k, text in meta["stop"]["notes"].items()}
    when = whole["stop_time"].values
    stop = Stop(meta["stop"]["reason"], when if when.ndim else float(when), meta["stop"]["text"], notes)
    y = OnDisk(records["y"].variable) if lazy else records["y"].values
    run = Run(world, compiled, data["time"].values, y, p, settings, stop, restore(meta["record"]))  # type: ignore[arg-type]
    set_known(run, "data", data)
    if meta["sources"] is not None:
        parts = (whole[f"ledger_{name}"].values for name in ("start", "end", "inflow"))
        set_known(run, "ledger", Ledger(tuple(meta["sources"]), *parts))
    return run


def _read_whole(path: Path) -> tuple[Any, dict[str, Any]]:
    """The group "run" of a file and the text in it, or an error if this is no run, or a newer one."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file '{path}'.")
    store = store_for(path)
    try:
        whole = _read(store.read(path, "run"))
        meta = json.loads(whole["text"].values.tobytes())
        found = int(meta["format"])
    except PermissionError:
        raise
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise ValueError(f"'{path}' is no run that was saved by Poinsot: {error}") from error
    if found > FORMAT:
        raise ValueError(
            f"'{path}' was written by Poinsot {meta['settings'].get('poinsot')} in format {found}; this is Poinsot "
            f"{__version__}, which reads formats up to {FORMAT}. Update Poinsot."
        )
    return whole, meta


def _read(dataset: Any) -> Any:
    """All of a dataset in memory, and its file closed."""
    with dataset:
        return dataset.load()


def _remade(meta: dict[str, Any], p: Array, allow_code: bool) -> tuple[World, Any, Mapping[str, Any]]:
    """World, equations and settings, from what is written about a run."""
    description = restore(meta["description"], allow_code)
    options = {name: restore(value, allow_code, f"the option {name}") for name, value in meta["options"].items()}
    settings = {**restore(meta["settings"]), "options": options}
    world, free = World.of(description), tuple(meta["free"])
    lacking = [*missing(description), *missing(options)]
    if lacking:
        why = " ".join(dict.fromkeys(item.why for item in lacking))
        return world, Unmoved(description, free, meta["method"], meta["booked"], why), settings
    system = world.system(free)
    functions = read_inputs(system, options["inputs"]).functions
    until = limits.until(system, options["until"])
    compiled = CompiledSystem(system, meta["method"], functions, meta["booked"], until, options["device"])
    options["vary"] = compiled.free_numbers(p)
    return world, compiled, settings


@dataclass(frozen=True, eq=False)
class Unmoved:
    """In the place of the equations of a run whose world lacks a function: what is known of them, and else an error."""

    description: Description
    free: tuple[str, ...]
    method: str
    keeps_ledger: bool
    why: str

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ValueError(f"this run can be read, but its world cannot move again. {self.why}")


class OnDisk:
    """An array in a file, of which each use reads what it needs; np.asarray(x) reads it all."""

    def __init__(self, variable: Any) -> None:
        self.variable = variable
        self.shape, self.ndim, self.dtype = variable.shape, variable.ndim, variable.dtype

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, key: Any) -> Array:
        return np.asarray(self.variable[key].values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.variable.values, dtype)

    def __repr__(self) -> str:
        return f"<array of shape {self.shape} on disk>"
