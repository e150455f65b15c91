"""Runs written to disk: at once, or piece by piece while they go on.

The root of a file holds `run.data`, for any program to read. Two groups beside it hold what else `load_run` needs:
"states" the flat states y and, if they change with time, the parameters p, record by record; "run" the ledger, p, and a
text in JSON with the description, options, settings, and why the run ended.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from poinsot import _atomic as atomic
from poinsot._types import Array
from poinsot.files import run_states
from poinsot.files.described import describe
from poinsot.files.loading import FORMAT, ReadOnlyEquations, open_run
from poinsot.files.stores import check_place, store_for
from poinsot.run import Ledger, Run, Stop
from poinsot.run.columns import Columns
from poinsot.run.compiled import CompiledSystem
from poinsot.run.continuing import RunState
from poinsot.run.observe import continuous
from poinsot.world import World

OWN = ("vary", "start")  # options with a place of their own: the values are in p, the state among the arrays
PIECE = 2**24  # bytes of states that are written together

Name = str | PathLike[str]


class Writer:
    """Writes the records of a run to disk while it goes on, so that it may be larger than memory.

    `add` records, then `finish`, or `abandon`. The file takes its place when it is finished, at once; if the process
    dies before, an older file stays. As a context, it abandons what was not finished.
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
        """Add records: time (k,) [s], states y (k, ..., ny), and p (..., np), or (k, ..., np) if it changes."""
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

    def finish(self, stop: Stop, end: RunState | None = None) -> Run:
        """Put the file in its place; the run, whose records are read from the file when they are needed."""
        if self._first is None or self._last is None:
            raise ValueError(f"'{self.path}': a run without records cannot be stored.")
        try:
            with atomic.undisturbed():
                self._flush(more=False)
                (t0, y0, p0), (t1, y1, p1) = self._first, self._last
                p = np.concatenate([p0, p1]) if p1.ndim == y1.ndim else p1
                ends = np.concatenate([t0, t1]), np.concatenate([y0, y1]), p
                self.close(Run(self.world, self.compiled, *ends, self.settings, stop, self.record, end))
        except BaseException:
            self.abandon()
            raise
        return open_run(self.path, lambda meta, p: (self.world, self.compiled, self.settings), lazy=True, check=False)

    def abandon(self) -> None:
        """Remove an unfinished file."""
        atomic.discard(self.temporary)

    def _flush(self, more: bool) -> None:
        """Write the waiting pieces; `more`: others may follow."""
        if not self._pieces:
            return
        times, ys, ps = zip(*self._pieces, strict=True)
        time, y = np.concatenate(times), np.concatenate(ys)
        p = np.concatenate(ps) if ps[0].ndim == y.ndim else ps[0]
        self._pieces, self._waiting = [], 0
        stop = Stop("running", time[-1], "the run goes on")
        data = Run(self.world, self.compiled, time, y, p, self.settings, stop, self.record).columns
        if "orientation" in data:
            self._continue(data["orientation"].values)
        self.put(data, y, p, more)

    def _continue(self, q: Array) -> None:
        """Choose the signs of quaternions (k, ..., 4) so that they continue those of the piece before."""
        if self._orientation is not None:
            q[...] = continuous(np.concatenate([self._orientation[None], q]))[1:]
        self._orientation = q[-1].copy()

    def put(self, data: Columns, y: Array, p: Array, more: bool) -> None:
        """Write a piece of `run.data` and of the states; `more`: others may follow."""
        for dataset, group, along in ((data, None, "time"), (_states(y, p), "states", "record")):
            if self._begun:
                self.store.extend(self.temporary, dataset, group, along)
            else:
                self.store.begin(self.temporary, dataset, group, along if more else None)
        self._begun = True

    def close(self, run: Run) -> None:
        """Write what belongs to the whole run, and put the file in its place."""
        self.store.note(self.temporary, run.attributes())
        self.store.begin(self.temporary, _whole(run), "run", None)
        self.store.close(self.temporary)
        atomic.settle(self.temporary, self.path)


def save(run: Run, path: Name) -> None:
    """Write a run to x.nc or x.zarr: all of it, or nothing."""
    with Writer(path, run.world, run.compiled, run.settings, run.record) as writer:
        for piece, last in _slices(run):
            p = run.p[piece] if run.p.ndim == run.y.ndim else run.p
            data = run.columns.isel(time=piece)
            data = data if isinstance(data, Columns) else Columns.of(data)
            writer.put(data, run.y[piece], p, not last)
        writer.close(run)


def _slices(run: Run) -> Iterator[tuple[slice, bool]]:
    """Pieces of a run, and whether each is the last."""
    size = max(1, PIECE // max(1, 8 * int(np.prod(run.y.shape[1:]))))
    for start in range(0, len(run.time), size):
        yield slice(start, start + size), start + size >= len(run.time)


def _states(y: Array, p: Array) -> Columns:
    instance = () if y.ndim == 2 else ("instance",)
    arrays = {"y": (("record", *instance, "state"), y)}
    if p.ndim == y.ndim:
        arrays["p"] = (("record", *instance, "parameter"), p)
    return Columns.made(arrays)


def _whole(run: Run) -> Columns:
    """The group "run": all that belongs to a run and not to a record."""
    ledger = run.ledger if run.compiled.keeps_ledger else None
    instance = () if run.batch is None else ("instance",)
    text = json.dumps(_meta(run, ledger), allow_nan=False).encode()
    arrays: dict[str, Any] = {
        "text": ("character", np.frombuffer(text, np.uint8), {"description": "JSON, UTF-8"}),
        "stop_time": (instance if np.ndim(run.stop.time) else (), np.asarray(run.stop.time, dtype=float)),
    }
    if run.p.ndim < run.y.ndim:
        arrays["p"] = ((*instance, "parameter"), run.p)
    if ledger is not None:
        arrays["ledger_initial"] = ((*instance, "quantity"), ledger.initial)
        arrays["ledger_final"] = ((*instance, "quantity"), ledger.final)
        if ledger.gross is not None:
            arrays["ledger_gross"] = ((*instance, "conserved"), ledger.gross)
        arrays["ledger_inflow"] = ((*instance, "source", "quantity"), ledger.inflow)
    for name, state in _run_states(run).items():
        arrays |= run_states.arrays_of(name, state)
    return Columns.made(arrays)


def _run_states(run: Run) -> dict[str, RunState]:
    """The states from which the run started, if it went on from one, and at which it ended."""
    states = {"start": run.settings["options"].get("start"), "end": run.end}
    return {name: state for name, state in states.items() if state is not None}


def _meta(run: Run, ledger: Ledger | None) -> dict[str, Any]:
    compiled, stop, settings = run.compiled, run.stop, dict(run.settings)
    system = compiled if isinstance(compiled, ReadOnlyEquations) else compiled.system
    options = {k: v for k, v in settings.pop("options").items() if k not in OWN}
    options["inputs"] = {
        name: value if callable(value) or isinstance(value, tuple) else np.asarray(value, dtype=float)
        for name, value in (options["inputs"] or {}).items()
    }
    return {
        "format": FORMAT,
        "description": describe(system.description),
        "free": list(system.free),
        "method": compiled.method,
        "keeps_ledger": compiled.keeps_ledger,
        "options": describe(options),
        "settings": describe(settings),
        "record": describe(run.record),
        "stop": {"reason": stop.reason, "text": stop.text, "notes": {str(k): v for k, v in stop.notes.items()}},
        "sources": list(ledger.sources) if ledger else None,
        "run_states": {name: run_states.text_of(state) for name, state in _run_states(run).items()},
    }
