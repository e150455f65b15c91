"""Sweeps: one world, many numbers. Chunks of batches, each a call of one kernel, written to Zarr as they are done.

The store is laid out at the start, with room for every instance; a chunk fills its own part of it and is then marked as
done. Thus a sweep may be larger than memory, keeps what was finished when it is stopped, resumes where it was, and may
be shared by many processes, which take different chunks. An instance has the same bits whatever chunk, engine or
machine it is in.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poinsot import fuse
from poinsot._atomic import replacing, to_disk
from poinsot._locks import locked
from poinsot._optional import require
from poinsot._owned import kind_of, require_owned
from poinsot._types import Array
from poinsot._version import __version__
from poinsot._zarr import renamed, stored
from poinsot.run import Run, option_checks, simulate
from poinsot.run.drawing import plain, require_drawn, require_finite, sample
from poinsot.run.fingerprints import Reading, hash_of, unknown
from poinsot.run.instances import require_possible
from poinsot.run.progress import Progress
from poinsot.run.result import varied_coords
from poinsot.run.time_grid import TimeGrid, time_grid
from poinsot.study.swept import FORMAT, Sweep, load_sweep
from poinsot.world import Description, World
from poinsot.world.paths import require_different

NUMBERS = 2**23  # of states in a chunk: 64 MB
DIMS = "_ARRAY_DIMENSIONS"  # the attribute of Zarr arrays that names their dimensions
RESERVED = ("time", "batch", "chunk", "stop_time", "broken", "done")  # names in the store
MOST = 10_000_000  # instances: far above what anybody waits for, far below what fills the memory
MANY = 4096  # instances in a chunk: enough to keep all cores busy


@dataclass(frozen=True, eq=False)
class Job:
    """All that a worker needs: the world, how it is run, the values of every instance, and where the results go."""

    description: Description
    options: Mapping[str, Any]
    values: Mapping[str, Array]  # (n, ...) by the paths of numbers and the names of inputs
    chunk: int
    path: str

    @property
    def n(self) -> int:
        """How many instances."""
        return len(next(iter(self.values.values())))

    @property
    def chunks(self) -> int:
        return math.ceil(self.n / self.chunk)

    @property
    def time_grid(self) -> TimeGrid:
        """The times of the steps and records."""
        return time_grid(self.options["duration"], self.options["step"], self.options.get("every"), True)

    def part(self, k: int) -> slice:
        """The instances of a chunk."""
        return slice(k * self.chunk, min((k + 1) * self.chunk, self.n))

    @cached_property
    def world(self) -> World:
        return World.of(self.description)

    def __getstate__(self) -> dict[str, Any]:
        """Without the world: each worker makes it, and its kernels, once. The hash is that of the sender."""
        return {"hash": self.hash, **{f.name: getattr(self, f.name) for f in fields(self)}}

    def simulate(self, where: slice, **changes: Any) -> Run:
        """Run some of the instances."""
        own = self.description.inputs
        inputs = {**self.options.get("inputs", {}), **{k: x[where] for k, x in self.values.items() if k in own}}
        vary = {path: x[where] for path, x in self.values.items() if path not in own}
        options = {**self.options, **changes, "inputs": inputs, "progress": False, "batch": where.stop - where.start}
        return simulate(self.world, vary=vary, **options)

    @cached_property
    def hash(self) -> str:
        """A hash that tells this sweep from others, so that they are not mixed."""
        shown = {key: Reading().text(x) for key, x in self.options.items()}
        text = json.dumps([hash_of(self.world), shown, self.chunk, list(self.values)], sort_keys=True)
        parts = [text.encode(), *(np.ascontiguousarray(x).tobytes() for x in self.values.values())]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def sweep(
    world: World,
    vary: Mapping[str, Any],
    duration: float,
    step: float = 1e-3,
    *,
    save: str | PathLike[str],
    samples: int | None = None,
    seed: int = 0,
    chunk: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    fresh: bool = False,
    progress: bool | None = None,
    **options: Any,
) -> Sweep:
    """Simulate a world with many numbers, and write the results to a Zarr store as they are computed.

    vary: by the paths of numbers, or the names of inputs, arrays (n,) or distributions. Arrays span a grid; where
    numbers are drawn at random, `samples` of them, with the `seed`, at each point of it.
    save: x.zarr. If it holds a part of the same sweep, the rest is done; `fresh`: all of it is done again.
    engine: "local", or "dask": chunks go to the workers of a Dask cluster, at the address `scheduler`, or of processes
    on this machine. They write to `save` themselves, so it must be a folder that all of them can reach.
    options: as for `simulate`.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}.")
    path = Path(save).absolute()
    if path.suffix != ".zarr":
        raise ValueError(f"'{save}': a sweep is stored as .zarr, not as {path.suffix!r}.")
    values = points(world, vary, samples, seed)
    _check_names(options, values)
    kept = {k: v for k, v in options.items() if v is not None}
    options = {"duration": duration, "step": step, **kept, **start_of(options)}
    job = Job(world.description, options, values, chunk or 1, str(path))
    job = job if chunk else replace(job, chunk=_chunk(job))
    waiting, steps = _waiting(job, fresh), job.time_grid.steps
    with Progress(job.chunks * steps, job.n // job.chunks, progress) as bar:
        ENGINES[engine](job, waiting, scheduler, lambda left: bar.at((job.chunks - left) * steps))
    return load_sweep(path)


def start_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The option `start`, if it is given: of a trim, what was asked of it, as every instance has its own."""
    start = options.get("start")
    if start is None:
        return {}
    if getattr(start, "batch", None) is not None:
        raise ValueError(
            f"start is {start!r}, of many instances: a sweep takes the start of one, or a trim of one, which it "
            "repeats for the numbers of each instance."
        )
    return {"start": getattr(start, "made", start)}


def _check_names(options: Mapping[str, Any], values: Mapping[str, Array]) -> None:
    """An error if an input is given twice, or an output has a name that the store of a sweep uses otherwise."""
    option_checks.given_once(values, options.get("inputs"))
    for name in options.get("outputs") or ():
        if name in (*values, *RESERVED):
            raise ValueError(f"output {name!r}: this name is taken in the store of a sweep; choose another.")


def points(world: World, vary: Mapping[str, Any], samples: int | None, seed: int) -> dict[str, Array]:
    """The values (n, ...) of every varied number: a grid of the arrays, and draws at each of its points."""
    if not vary:
        raise ValueError("nothing is varied: give paths of numbers, such as 'box.mass'; world.paths() lists them.")
    inputs = world.description.inputs
    system = world.system(tuple(path for path in vary if path not in inputs))
    cores = {path: np.shape(inputs[path] if path in inputs else system.numbers[path]) for path in vary}
    grid = {path: plain(path, x, cores[path]) for path, x in vary.items() if not callable(x)}
    for path, x in grid.items():
        if x.shape == cores[path] == (1,):
            grid[path] = x = x[None]  # one plain number for a joint with one coordinate
        if x.ndim != len(cores[path]) + 1 or x.shape[1:] != cores[path]:
            raise ValueError(
                f"{path} has the shape {cores[path]}; it can vary over (n, *{cores[path]}), not {x.shape}."
            )
        if not len(x):
            raise ValueError(f"{path} varies over no values: give one at least.")
    require_different(world.description, vary)
    random = {path: x for path, x in vary.items() if callable(x)}
    if samples is not None and samples < 1:
        raise ValueError(f"samples must be a positive whole number, not {samples!r}.")
    many = (1000 if samples is None else samples) if random else (samples or 1)
    sizes = [len(x) for x in grid.values()]
    n = many * math.prod(sizes)
    if n > MOST:
        raise ValueError(f"{n:,} instances are more than the {MOST:,} that a sweep may have: take fewer samples.")
    values = {}
    for k, (path, x) in enumerate(grid.items()):
        repeat = many * math.prod(sizes[k + 1 :])
        values[path] = np.tile(np.repeat(x, repeat, axis=0), (math.prod(sizes[:k]), *[1] * (x.ndim - 1)))
    for path, distribution in random.items():
        values[path] = plain(path, sample(path, distribution, n, seed), cores[path])
        require_drawn(path, values[path], (n, *cores[path]))
    require_finite(values)
    require_possible(system, {path: x for path, x in values.items() if path not in inputs}, n)
    return {path: values[path] for path in vary}


def _chunk(job: Job) -> int:
    """The number of instances in a chunk: it must fit well into memory and keep all cores busy."""
    system = job.world.system()
    states = len(job.time_grid.times) * (system.nq + system.nv + system.ns + 16 * len(system.mechanism))
    return int(np.clip(NUMBERS // states, 1, max(1, min(MANY, job.n))))


# The store.


def _waiting(job: Job, fresh: bool) -> list[int]:
    """The chunks that are not done, in a store that exists or is made now; one process at a time."""
    zarr = require("zarr", "zarr", "A sweep")
    path = Path(job.path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"'{path}' cannot be written: the folder '{path.parent}' does not exist.")
    with locked(path):
        there = path.exists() or path.is_symlink()
        if there and fresh:
            require_owned(path)
        elif there:
            _require_same(job, path)
            done = _done(job, zarr)
            if done is not None:
                return [int(k) for k in np.flatnonzero(~done)]
            require_owned(path)  # it was not laid out to the end: it is laid out again
        _lay_out(job, zarr)
    return list(range(job.chunks))


def _require_same(job: Job, path: Path) -> None:
    """FileExistsError unless this sweep is in the store."""
    if (kind := kind_of(path)) is None:
        raise FileExistsError(f"'{path}' exists, and is not a sweep; choose another name.")
    if kind == "run" or json.loads((path / ".zattrs").read_text(encoding="utf-8"))["sweep_hash"] != job.hash:
        kinds = unknown((job.description, job.options))
        why = f" A function here reads {', '.join(kinds)}, which cannot be compared with what it was." if kinds else ""
        raise FileExistsError(
            f"'{path}' holds another sweep or run; choose another name, or replace it (fresh=True, --fresh).{why}"
        )


def _done(job: Job, zarr: Any) -> Array | None:
    """Which chunks (chunks,) are done. None if the store has no such marks: it was not laid out to the end."""
    try:
        marks = zarr.open_group(job.path, mode="r", zarr_format=2)["done"]
    except (KeyError, ValueError, OSError):
        return None
    if marks.shape != (job.chunks,):
        return None
    try:
        return np.asarray(marks[:] == 1)
    except Exception:  # whatever a codec says of a damaged piece
        return np.array([_is_done(marks, k) for k in range(job.chunks)])


def _is_done(marks: Any, k: int) -> bool:
    """Whether a chunk is done; one whose mark cannot be read is not."""
    try:
        return bool(marks[k] == 1)
    except Exception:  # whatever a codec says of a damaged piece
        return False


def _lay_out(job: Job, zarr: Any) -> None:
    """Make the store, with labels and values, and room for all results; it takes its place when all of it is there."""
    run = job.simulate(slice(0, 1), duration=job.options["step"], every=None)
    sample, kept = run.data, run.outputs.data_vars if run.compiled.outputs else {}
    with replacing(job.path) as path:
        _write_labels(job, path, sample, list(kept))
        room, each = partial(_make_room, job, zarr.open_group(path, mode="r+", zarr_format=2)), {"batch": job.n}
        for name, array in sample.data_vars.items():
            sizes = {**array.sizes, "time": len(job.time_grid.times), **each}
            room(str(name), {str(dim): sizes[dim] for dim in array.dims}, "f8", np.nan, array.attrs)
        for name, array in kept.items():
            room(str(name), each, "f8", np.nan, array.attrs)
        room("stop_time", each, "f8", -1, {"units": "s", "description": "when the instance ended"})
        room("broken", each, "i1", -1, {"units": "1", "description": "1 if a number of it became NaN or infinite"})
        room("done", {"chunk": job.chunks}, "i1", -1, {"description": "1 for every chunk of the batch that is there"})


def _write_labels(job: Job, path: Path, sample: Any, outputs: list[str]) -> None:
    """The store with all coordinates, as in the data of one instance, and the attributes of the sweep."""
    import xarray

    labels = {dim: sample[dim] for dim in sample.dims if dim in sample.coords and dim not in ("time", "batch")}
    times = {"time": ("time", job.time_grid.times, {"units": "s"})}
    attributes = {
        "kind": "sweep", "format": FORMAT, "poinsot": __version__, "sweep_hash": job.hash, "chunk": job.chunk,
        "varied": list(job.values), "outputs": outputs, "duration": float(job.options["duration"]),
        "step": job.time_grid.step,
    }  # fmt: skip
    coords = {**times, **labels, **varied_coords(job.values, sample.data_vars, job.description)}
    dataset = renamed(xarray.Dataset(coords=coords, attrs=attributes), stored)
    dataset.to_zarr(path, mode="w", zarr_format=2, consolidated=False)


def _make_room(
    job: Job, group: Any, name: str, sizes: Mapping[str, int], dtype: str, fill: float, about: Mapping[str, Any]
) -> None:
    """An array with these dimensions, in pieces of which no two chunks of the sweep share one."""
    pieces = {**sizes, "batch": min(job.chunk, job.n), "chunk": 1}
    group.create_array(
        stored(name), shape=tuple(sizes.values()), chunks=tuple(pieces[dim] for dim in sizes), dtype=dtype,
        fill_value=fill, attributes={DIMS: [*map(stored, sizes)], **about},
    )  # fmt: skip


def work(job: Job, k: int) -> int:
    """Run a chunk, write it to the store, and mark it as done when all of it has reached the disk."""
    zarr = require("zarr", "zarr", "A sweep")
    where = job.part(k)
    run = job.simulate(where)
    require_whole(run)
    short = len(job.time_grid.times) - len(run.time)  # all of them met the condition to stop
    broken = np.zeros(where.stop - where.start, dtype="i1")
    broken[list(run.stop.notes)] = 1
    path = Path(job.path)
    with locked(path, shared=True):
        _require_same(job, path)  # another process may have replaced it
        group = zarr.open_group(path, mode="r+", zarr_format=2)
        for name, array in run.data.data_vars.items():
            x = array.transpose("time", "batch", ...).values
            group[stored(name)][:, where] = np.concatenate([x, np.repeat(x[-1:], short, axis=0)]) if short else x
        kept = run.outputs.data_vars if run.compiled.outputs else {}
        for name, array in kept.items():
            group[stored(name)][where] = array.values
        group["stop_time"][where] = np.broadcast_to(run.stop.time, (where.stop - where.start,))
        group["broken"][where] = broken
        for name in (*map(stored, run.data.data_vars), *map(stored, kept), "stop_time", "broken"):
            _flush(path / name, ".".join(str(k if dim == "batch" else 0) for dim in group[name].attrs[DIMS]))
        group["done"][k] = 1
        _flush(path / "done", str(k))
    return k


def require_whole(run: Run) -> None:
    """KeyboardInterrupt if a run was stopped by Ctrl-C: half of a chunk is not kept."""
    if run.stop.reason == "interrupted":
        raise KeyboardInterrupt


def _flush(folder: Path, piece: str) -> None:
    """Wait until a piece of an array is on the disk; one of nothing but the fill value is not written."""
    if (folder / piece).exists():
        to_disk(folder / piece)
    to_disk(folder)


# The engines: how chunks are shared out.

Report = Callable[[int], None]  # how many chunks are left


def _local(job: Job, waiting: list[int], scheduler: str | None, report: Report) -> None:
    """One after the other, each with all cores; those that another process works on come last."""
    others = []
    for k, chunk in enumerate(waiting):
        if not _claimed(job, chunk, wait=False):
            others.append(chunk)
        report(len(waiting) - k - 1 + len(others))
    for k, chunk in enumerate(others):
        _claimed(job, chunk, wait=True)
        report(len(others) - k - 1)


def _claimed(job: Job, k: int, wait: bool) -> bool:
    """Do a chunk unless it is done; False if another process works on it and this one shall not wait."""
    zarr, path = require("zarr", "zarr", "A sweep"), Path(job.path)
    with locked(path.with_name(f"{path.name}.{k}"), wait=wait) as mine:
        if mine and not _is_done(zarr.open_group(path, mode="r", zarr_format=2)["done"], k):
            work(job, k)
        return mine


def _dask(job: Job, waiting: list[int], scheduler: str | None, report: Report) -> None:
    """On the workers of a Dask cluster. A chunk whose worker is lost goes to another one."""
    distributed = require("distributed", "cluster", "The engine 'dask'")
    if not waiting:
        return
    with client_of(distributed, scheduler) as client:
        sent = client.submit(given, job, pure=False)  # a task, which is done again if its worker is lost
        left = {client.submit(_on_worker, sent, k, pure=False, retries=3) for k in waiting}
        count = len(left)
        for future in distributed.as_completed(left):
            future.result()
            future.release()
            count -= 1
            report(count)


def given(job: Any) -> Any:
    """A job as the result of a task: data that are merely sent to a worker are lost with it."""
    return job


def client_of(distributed: Any, scheduler: str | None) -> Any:
    if scheduler is not None:
        return distributed.Client(scheduler)
    cores = fuse.threads()
    return distributed.Client(n_workers=cores, threads_per_worker=1, dashboard_address=None)


def _on_worker(job: Job, k: int) -> int:
    """A worker shares its machine with others: one thread each."""
    fuse.set_threads(1)
    _claimed(job, k, wait=True)
    return k


ENGINES: dict[str, Callable[[Job, list[int], str | None, Report], None]] = {"local": _local, "dask": _dask}
