"""Sweeps whose outcomes are reduced while they run: 10^9 instances, of which only a summary is kept.

Instances are drawn in blocks of a fixed size, each from a generator of its own, so the numbers of an instance depend on
the seed and on its number alone. A chunk is simulated, summarised, and its summary merged into that of all; or written
to a folder of any file system that fsspec knows, where a chunk whose file is there is done. So a sweep resumes, a
worker that is lost costs one chunk, and the summary of all has the same bits for any chunks, workers and order.
"""

import contextlib
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from os import PathLike
from typing import Any

import numpy as np

from poinsot._optional import require
from poinsot._types import Array
from poinsot.fuse import set_threads
from poinsot.run import option_checks, simulate
from poinsot.run.drawing import plain, require_finite, sample
from poinsot.run.fingerprints import Reading, hash_of
from poinsot.run.progress import Progress
from poinsot.run.result import outputs_of
from poinsot.study.summaries import Summary
from poinsot.study.sweeps import client_of, given, require_whole, start_of
from poinsot.world import Description, World

BLOCK = 1024  # instances that are drawn together
MANIFEST = "sweep.json"
TOGETHER = 64  # chunks that one worker merges
TOLD = "summary.json"  # what is said of all of them, for people and scripts


@dataclass(frozen=True, eq=False)
class ReducedJob:
    """All that a worker needs: the world, how it is run, the distributions, and where the summaries go.

    folder: empty if no chunk is kept.
    """

    description: Description
    options: Mapping[str, Any]
    vary: Mapping[str, Any]
    samples: int
    seed: int
    chunk: int
    folder: str = ""
    edges: Mapping[str, Any] = field(default_factory=dict)
    storage: Mapping[str, Any] = field(default_factory=dict)

    @property
    def chunks(self) -> int:
        return math.ceil(self.samples / self.chunk)

    @cached_property
    def world(self) -> World:
        return World.of(self.description)

    def __getstate__(self) -> dict[str, Any]:
        """Without the world: each worker makes it, and its kernels, once."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def numbers(self, first: int, stop: int) -> dict[str, Array]:
        """The varied numbers of the instances from `first` to before `stop`."""
        blocks = range(first // BLOCK, math.ceil(stop / BLOCK))
        cut = slice(first - blocks[0] * BLOCK, stop - blocks[0] * BLOCK)
        system = self.world.system(tuple(self.vary))
        values = {}
        for path, x in self.vary.items():
            drawn = [sample(f"{path}#{b}", x, BLOCK, self.seed) for b in blocks]
            values[path] = plain(path, np.concatenate(drawn), np.shape(system.numbers[path]))[cut]
        return values

    def outcomes(self, k: int) -> tuple[int, dict[str, Array], int]:
        """Simulate a chunk: the number of its first instance, the outputs (n,) by name, and how many broke down."""
        first, stop = k * self.chunk, min((k + 1) * self.chunk, self.samples)
        vary = self.numbers(first, stop)
        require_finite(vary)
        noisy = [name for name, e in self.description.elements.items() if hasattr(e, "instance")]
        vary |= {f"{name}.instance": np.full(stop - first, float(first)) for name in noisy}
        run = simulate(self.world, vary=vary, batch=stop - first, seed=self.seed, progress=False, **self.options)
        require_whole(run)
        return first, outputs_of(run), len(run.stop.notes)

    def summary(self, k: int) -> Summary:
        """Simulate a chunk and summarise it."""
        first, outputs, broken = self.outcomes(k)
        summary = self.nothing()
        summary.add(outputs, first, broken)
        return summary

    def nothing(self) -> Summary:
        """The summary of no instances."""
        return Summary(tuple(self.options["outputs"]), {k: np.asarray(x) for k, x in self.edges.items()})

    @cached_property
    def hash(self) -> str:
        """A hash that tells this sweep from others; the size of chunks is no part of it."""
        shown = {key: Reading().text(x) for key, x in {**self.options, **self.vary, "edges": self.edges}.items()}
        text = json.dumps([hash_of(self.world), shown, self.samples, self.seed], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    # The folder.

    @property
    def _files(self) -> tuple[Any, str]:
        fsspec = require("fsspec", "remote", "A sweep that is reduced")
        files, path = fsspec.core.url_to_fs(self.folder, **self.storage)
        return files, path.rstrip("/")

    def prepare(self, fresh: bool) -> list[int]:
        """The chunks that are not done, in a folder that exists or is made now."""
        if not self.folder:
            return list(range(self.chunks))
        files, path = self._files
        manifest = {"kind": "reduced sweep", "hash": self.hash, "chunk": self.chunk, "samples": self.samples}
        if files.exists(f"{path}/{MANIFEST}"):
            there = json.loads(files.cat_file(f"{path}/{MANIFEST}"))
            if there == manifest and not fresh:
                done = {name.rpartition("/")[2] for name in files.ls(path, detail=False, refresh=True)}
                return [k for k in range(self.chunks) if self._name(k) not in done]
            if not fresh:
                raise FileExistsError(
                    f"'{self.folder}' holds another sweep, or this one in chunks of {there['chunk']:,}; choose another "
                    "folder, or replace it (fresh=True)."
                )
            files.rm([name for name in files.ls(path, detail=False) if _is_ours(name)])
        elif files.exists(path) and files.ls(path, detail=False):
            raise FileExistsError(f"'{self.folder}' exists, and is not a sweep that is reduced; choose another folder.")
        files.makedirs(path, exist_ok=True)
        files.pipe_file(f"{path}/{MANIFEST}", json.dumps(manifest).encode())
        return list(range(self.chunks))

    def tell(self, content: bytes) -> None:
        """Keep what is said of all of them beside the chunks."""
        files, path = self._files
        files.pipe_file(f"{path}/{TOLD}", content)

    def _name(self, k: int) -> str:
        return f"chunk-{k:08d}.json"

    def write(self, k: int, summary: Summary) -> None:
        """A file of its own per chunk, which takes its place when all of it is there."""
        files, path = self._files
        files.pipe_file(f"{path}/{self._name(k)}.part", summary.to_bytes())
        files.mv(f"{path}/{self._name(k)}.part", f"{path}/{self._name(k)}")

    def merged(self, chunks: Iterable[int]) -> Summary:
        """The summary of these chunks, from their files."""
        files, path = self._files
        total = self.nothing()
        for k in chunks:
            total.merge(Summary.from_bytes(files.cat_file(f"{path}/{self._name(k)}")))
        return total


def _is_ours(name: str) -> bool:
    last = name.rpartition("/")[2]
    return last in (MANIFEST, TOLD) or (last.startswith("chunk-") and last.endswith((".json", ".part")))


@dataclass(frozen=True, eq=False)
class Reduced:
    """The end of a sweep that was reduced: its summary, and the numbers of any instance, drawn again."""

    summary: Summary
    job: ReducedJob

    def numbers(self, instance: int) -> dict[str, Array]:
        """The varied numbers of one instance."""
        if not 0 <= instance < self.job.samples:
            raise ValueError(f"instance {instance} is not one of the {self.job.samples:,}.")
        return {path: x[0] for path, x in self.job.numbers(instance, instance + 1).items()}

    def extremes(self, name: str) -> dict[str, list[dict[str, Any]]]:
        """The least and the greatest values of an outcome, each with its instance and the numbers that made it."""
        pairs = {"least": self.summary.least[name], "most": self.summary.most[name]}
        return {
            end: [{"value": x, "instance": i, "numbers": self.numbers(i)} for x, i in found]
            for end, found in pairs.items()
        }


def sweep_reduced(
    world: World,
    vary: Mapping[str, Any],
    duration: float,
    step: float = 1e-3,
    *,
    outputs: Mapping[str, Any],
    samples: int,
    save: str | PathLike[str] | None = None,
    seed: int = 0,
    chunk: int = 64 * BLOCK,
    engine: str = "local",
    scheduler: Any = None,
    histograms: Mapping[str, Any] | None = None,
    storage: Mapping[str, Any] | None = None,
    fresh: bool = False,
    progress: bool | None = None,
    **options: Any,
) -> Reduced:
    """Simulate a world with many numbers drawn at random, and keep a summary of its outputs alone.

    vary: distributions, by the paths of numbers. outputs: as of `simulate`. samples: how many instances.
    save: a folder, here or at any address that fsspec knows, "s3://bucket/flights" (storage: its options). It keeps one
    small file per chunk; if it holds a part of the same sweep, the rest is done. Without it nothing is kept.
    chunk: how many instances are run together, a whole number of blocks of 1024. histograms: edges by the names of
    outputs. engine: "local" or "dask", with the address of a `scheduler`, or a client. options: as for `simulate`.
    """
    _check(vary, outputs, samples, chunk, engine)
    option_checks.given_once(vary, options.get("inputs"))
    usual = {"every": duration, "ledger": False, "record": ["position"]}
    run = {**usual, **options, "duration": duration, "step": step, "outputs": dict(outputs)} | start_of(options)
    folder, edges = "" if save is None else str(save), _edges(histograms or {}, outputs)
    job = ReducedJob(world.description, run, dict(vary), samples, seed, chunk, folder, edges, dict(storage or {}))
    job.numbers(0, 1)  # errors of paths and distributions, before any work starts
    return Reduced(_summarised(job, fresh, engine, scheduler, progress), job)


def _summarised(job: ReducedJob, fresh: bool, engine: str, scheduler: Any, progress: bool | None) -> Summary:
    """Do the chunks that are not done, and merge the summaries of all."""
    waiting, total = job.prepare(fresh), job.nothing()
    alone = engine == "local" or not (waiting or (job.folder and job.chunks > TOGETHER))
    with (
        contextlib.nullcontext() if alone else _on_cluster(job, scheduler) as cluster,
        Progress(job.chunks, min(job.chunk, job.samples), progress, "instances") as bar,
    ):
        done = map(partial(_work, job), waiting) if cluster is None else cluster(_on_worker, waiting)
        for k, summary in enumerate(done):
            if summary is not None:
                total.merge(summary)
            bar.at(job.chunks - len(waiting) + k + 1)
        for summary in _merged(job, cluster) if job.folder else ():
            total.merge(summary)
    return total


def _edges(histograms: Mapping[str, Any], outputs: Mapping[str, Any]) -> dict[str, Array]:
    """The edges of histograms by the names of outputs, checked."""
    edges = {name: np.asarray(x, dtype=float) for name, x in histograms.items()}
    for name, x in edges.items():
        if name not in outputs or x.ndim != 1 or not np.all(np.diff(x) > 0):
            raise ValueError(f"histograms={name!r}: expected edges that increase, of one of {', '.join(outputs)}.")
    return edges


def _check(vary: Mapping[str, Any], outputs: Mapping[str, Any], samples: int, chunk: int, engine: str) -> None:
    if not vary or not all(callable(x) for x in vary.values()):
        raise ValueError(
            "vary: a sweep that is reduced draws all numbers; give distributions, such as pt.Normal(1, 0.1)."
        )
    if not outputs:
        raise ValueError('outputs: there is nothing to summarise; give some, such as {"apogee": "max(altitude)"}.')
    for name, value in (("samples", samples), ("chunk", chunk)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise ValueError(f"{name}={value!r} must be a whole number, 1 or more.")
    if chunk % BLOCK:
        raise ValueError(f"chunk={chunk} must be a whole number of blocks of {BLOCK} instances.")
    if engine not in ("local", "dask"):
        raise ValueError(f"engine must be 'local' or 'dask', not {engine!r}.")


Cluster = Callable[[Callable[[ReducedJob, Any], Any], Iterable[Any]], Iterator[Any]]  # a map over workers


@contextlib.contextmanager
def _on_cluster(job: ReducedJob, scheduler: Any) -> Iterator[Cluster]:
    """The results of a function (job, x) for many x, in the order in which workers are ready."""
    distributed = require("distributed", "cluster", "The engine 'dask'")
    own = not hasattr(scheduler, "submit")
    client = client_of(distributed, scheduler) if own else scheduler
    try:
        sent = client.submit(given, job, pure=False)  # a task, which is done again if its worker is lost

        def ready(function: Callable[[ReducedJob, Any], Any], items: Iterable[Any]) -> Iterator[Any]:
            left = [client.submit(function, sent, x, pure=False, retries=3) for x in items]
            for future in distributed.as_completed(left):
                yield future.result()
                future.release()

        yield ready
    finally:
        if own:
            client.close()


def _merged(job: ReducedJob, cluster: Cluster | None) -> Iterator[Summary]:
    """The summaries of all chunks, from their files; on a cluster, workers merge some together."""
    if cluster is None or job.chunks <= TOGETHER:
        yield job.merged(range(job.chunks))
    else:
        starts = range(0, job.chunks, TOGETHER)
        yield from cluster(ReducedJob.merged, [range(k, min(k + TOGETHER, job.chunks)) for k in starts])


def _work(job: ReducedJob, k: int) -> Summary | None:
    """Do a chunk: its summary, if no file keeps it."""
    summary = job.summary(k)
    if not job.folder:
        return summary
    job.write(k, summary)
    return None


def _on_worker(job: ReducedJob, k: int) -> Summary | None:
    """A worker shares its machine with others: one thread each."""
    set_threads(1)
    return _work(job, k)
