"""Flights of a model rocket with random motor, wind and cant: time of each, apogees, and where they land.

    python benchmarks/rocket_flights.py 100000                      # on one thread
    python benchmarks/rocket_flights.py 1000 --check                # how far the steps are off
    python benchmarks/rocket_flights.py 1000000 --stored 1000000    # quantiles beside those of stored outcomes
    python benchmarks/rocket_flights.py 100000000 --device cuda --minutes 8 --save flights.json

The last needs NumPy and CuPy alone. Flights are drawn, flown and summarised chunk by chunk: memory does not grow with
their number. Several processes draw and summarise while the GPU flies the chunk of another one. After --minutes no
chunk is begun any more, and the same command with the same file goes on. RocketPy takes about 0.19 s for a flight of
this kind.
"""

import argparse
import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import poinsot as pt
from poinsot.run.result import outputs_of
from poinsot.study.reduced import ReducedJob
from poinsot.study.summaries import Summary

ROCKETPY = 0.19  # s per flight
LONGEST = 150.0  # s
OUTPUTS = {"apogee": "max(altitude)", "x": "final(position[0])", "y": "final(position[1])"}
VARY = {
    "rocket.motor.factor": pt.Normal(1.0, 0.03),
    "rocket.hull.fins[0].cant": pt.Normal(0.005, 0.002),
    "rocket.start.pitch": pt.Normal(1.5, 0.02),
    "air.winds[0].velocity[0]": pt.Normal(-3.0, 1.5),
    "air.winds[0].velocity[1]": pt.Normal(0.0, 1.5),
}
SHARES = (0.001, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999)
OFTEN = 5.0  # s between words about the progress
FINE = {"method": "rk4", "step": 0.0025}  # what the steps are compared with


def rocket() -> pt.World:
    """The rocket of examples/model-rocket.toml in a steady wind."""
    world = pt.World(gravity=(0, 0, -9.81), air=pt.US76(), wind=pt.SteadyWind((-3.0, 0.0, 0.0)))
    start = pt.Start(altitude=0.5, pitch=np.radians(88), velocity_ned=(0, 0, 0))
    body = world.add_body("rocket", pt.Inertia(0.9, (0, 0, 0), np.diag([7e-4, 0.09, 0.09])), start=start)
    fins = pt.Fins(at=0.95, root=0.11, tip=0.06, span=0.065, sweep=0.05, count=4, cant=np.radians(0.3))
    drag = pt.Table([0.0, 0.3, 0.6, 0.8], values=[0.46, 0.44, 0.45, 0.52], method="monotone")
    nose = pt.Nose(0.18, "ogive")
    body.add(pt.Barrowman("hull", diameter=0.054, nose=nose, fins=(fins,), drag=drag, tip=(0.55, 0, 0)))
    thrust = pt.Tabulated([0, 0.05, 0.3, 1.2, 1.7, 1.9], [0, 75, 90, 70, 50, 0])
    grains = {"mass": 0.062, "radius": 0.014, "bore": 0.004, "length": 0.06, "grains": 2, "gap": 0.002}
    body.add(pt.SolidMotor("motor", thrust=thrust, position=(-0.40, 0, 0), point=(-0.50, 0, 0), **grains))

    def falls(t: Any, scene: Any) -> Any:
        return (t > 3) & (scene["rocket"].velocity[2] < -9)

    body.add(pt.Parachute("parachute", CdS=0.6, point=(0.3, 0, 0), trigger=falls, inflation=0.8))
    return world


def landed(t: Any, scene: Any) -> Any:
    return (scene["rocket"].position[2] < 0.1) & (t > 2)


@cache
def job_of(options: tuple[tuple[str, Any], ...], flights: int, seed: int, chunk: int) -> ReducedJob:
    """The sweep; each process makes its own, and flies some flights, so that all is compiled."""
    chosen = {**dict(options), "until": landed, "outputs": OUTPUTS}
    few = pt.sweep_reduced(rocket(), VARY, LONGEST, samples=64, seed=2, chunk=1024, progress=False, **chosen)
    return replace(few.job, samples=flights, seed=seed, chunk=chunk)


def fly(asked: tuple[Any, ...], k: int) -> tuple[int, Summary]:
    """A chunk, in this process or another."""
    return k, job_of(*asked).summary(k)


class Progress:
    """How far it is, for those who wait; and when to begin no further chunk."""

    def __init__(self, begin: float, chunk: int, waiting: int, minutes: float) -> None:
        self.begin, self.chunk, self.waiting = begin, chunk, waiting
        self.end, self.done, self.told = begin + 60 * minutes, 0, begin
        self.first = 0.0  # when the first chunk was done: what was before it is compiling
        self.longest = 0.0  # from the beginning of a chunk to its end [s]

    def at(self, took: float) -> None:
        now, self.done, self.longest = time.perf_counter(), self.done + 1, max(self.longest, took)
        self.first = self.first or now
        if self.done > 1 and (now - self.told > OFTEN or self.done == self.waiting):
            rate = (self.done - 1) * self.chunk / (now - self.first)
            left = (self.waiting - self.done) * self.chunk / rate
            words = f"{self.done * self.chunk:,} flights, {rate:,.0f} per second, {left:.0f} s left"
            print(f"  {now - self.begin:.0f} s: {words}", file=sys.stderr, flush=True)
            self.told = now

    @property
    def goes_on(self) -> bool:
        """Whether a further chunk would end in time."""
        return time.perf_counter() + self.longest < self.end


def flown(asked: tuple[Any, ...], waiting: list[int], processes: int, progress: Progress) -> Iterator[Any]:
    """The summaries of chunks, as they come, as long as there is time."""
    if processes == 1:
        for k in waiting:
            if not progress.goes_on:
                return
            begin = time.perf_counter()
            yield fly(asked, k)
            progress.at(time.perf_counter() - begin)
        return
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        left, began = list(waiting), dict[Any, float]()
        while left or began:
            while left and len(began) < processes and progress.goes_on:
                began[pool.submit(fly, asked, left.pop(0))] = time.perf_counter()
            if not began:
                return
            for future in wait(began, return_when=FIRST_COMPLETED).done:
                yield future.result()
                progress.at(time.perf_counter() - began.pop(future))


class Kept:
    """What is done, in memory and, if a path is given, in a file: the chunks, and the summary of all of them."""

    def __init__(self, job: ReducedJob, path: str | None) -> None:
        self.job, self.path, self.told = job, Path(path) if path else None, time.perf_counter()
        self.done, self.summary, self.spent = list[int](), job.nothing(), 0.0
        if self.path and self.path.exists():
            there = json.loads(self.path.read_text())
            if [there["sweep"], there["chunk"]] != [job.hash, job.chunk]:
                raise SystemExit(f"{path} holds other flights; give another file, or remove it.")
            self.done, self.spent = there["done"], there["spent"]
            self.summary = Summary.from_bytes(json.dumps(there["summary"]).encode())

    def add(self, k: int, summary: Summary) -> None:
        self.done.append(k)
        self.summary.merge(summary)

    def write(self, spent: float) -> None:
        """All of the file or nothing."""
        if self.path:
            content = {"sweep": self.job.hash, "chunk": self.job.chunk, "done": self.done, "spent": spent}
            content["summary"] = json.loads(self.summary.to_bytes())
            part = self.path.with_name(self.path.name + ".part")
            part.write_text(json.dumps(content))
            part.replace(self.path)
        self.told = time.perf_counter()


def report(summary: Summary, spent: float, clock: str) -> None:
    n = summary.n
    each = spent / n
    print(f"{n:,} flights, {1e3 * each:.4g} ms of {clock} each, {1 / each:,.0f} per second,", end=" ")
    print(f"{ROCKETPY / each:,.0f} times RocketPy; {summary.broken} broke down")
    for name in OUTPUTS:
        low, middle, high = summary.quantile(name, [0.025, 0.5, 0.975])
        spread = f"{summary.mean(name):.2f} +- {summary.std(name):.2f} m"
        print(f"{name}: {spread}, median {middle:.2f} m, 95 % from {low:.2f} to {high:.2f} m")
    lengths, axes = np.linalg.eigh(summary.covariance()[1:, 1:])
    major, minor = np.sqrt(lengths[::-1])
    turn = np.degrees(np.arctan2(axes[1, 1], axes[0, 1])) % 180
    print(f"landing ellipse of one sigma {major:.2f} x {minor:.2f} m, its long axis at {turn:.0f} deg from x")
    most = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"peak memory {most / 1024:.0f} MB (of the largest process that was started, and of this one)")


def check(job: ReducedJob, n: int) -> None:
    """The first flights once more, in steps that are fine."""
    numbers = job.numbers(0, n)
    usual = {**job.options, "progress": False}
    a, b = (outputs_of(job.world.simulate(vary=numbers, **usual | more)) for more in ({}, FINE))
    off = [np.abs(a["apogee"] - b["apogee"]), np.hypot(a["x"] - b["x"], a["y"] - b["y"])]
    print(f"against steps of {1e3 * FINE['step']:g} ms ({n:,} flights): ", end="")
    words = zip(("apogee", "landing"), off, strict=True)
    print("; ".join(f"{name} off by {1e3 * np.median(x):.2g} mm, at most {1e3 * x.max():.2g} mm" for name, x in words))


def compare(job: ReducedJob, n: int, of_all: Summary) -> None:
    """Quantiles of the first flights from their summary beside those from their outcomes, which are all kept here."""
    few, stored = replace(job, samples=n), {name: np.zeros(n) for name in OUTPUTS}
    summary = few.nothing()
    for k in range(few.chunks):
        first, outputs, broken = few.outcomes(k)
        summary.add(outputs, first, broken)
        for name, x in outputs.items():
            stored[name][first : first + len(x)] = x
    for name, x in stored.items():
        want, spread = np.quantile(x[np.isfinite(x)], SHARES), np.nanstd(x)
        off = np.abs(summary.quantile(name, SHARES) - want)
        print(
            f"{name}: quantiles of {n:,} flights, from {SHARES[0]:g} to {SHARES[-1]:g}, beside stored ones: off by",
            end=" ",
        )
        print(f"{(off / np.abs(want)).max():.1e} of the value, {(off / spread).max():.1e} of the spread;", end=" ")
        apart = np.abs(of_all.quantile(name, SHARES) - want).max() / spread
        print(f"those of all {of_all.n:,} flights differ from these by {apart:.1e} of the spread")


def read() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("flights", type=int, nargs="?", default=10_000)
    parser.add_argument("--method", default="adaptive5", help="or rk4, with --step 0.025")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="of adaptive steps")
    parser.add_argument("--step", type=float, default=0.5, help="[s]; the longest of adaptive steps")
    parser.add_argument("--chunk", type=int, help="flights side by side")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--processes", type=int, help="that work on chunks; 1, or half of the cores for a GPU, at most 8"
    )
    parser.add_argument("--minutes", type=float, default=np.inf, help="after which no chunk is begun")
    parser.add_argument("--save", help="a file, x.json, in which to keep what is done, and to go on from")
    parser.add_argument("--check", action="store_true", help="compare with fine steps")
    parser.add_argument("--stored", type=int, default=0, help="so many outcomes are kept, to compare quantiles")
    given = parser.parse_args()
    on_gpu = given.device == "cuda"
    given.chunk = given.chunk or (2**18 if on_gpu else 2**13)
    given.processes = given.processes or (max(1, min(8, (os.cpu_count() or 1) // 2)) if on_gpu else 1)
    return given


def main() -> None:
    begin, given = time.perf_counter(), read()
    pt.set_threads(given.threads)
    options = {key: getattr(given, key) for key in ("method", "tolerance", "step", "device")}
    asked = (tuple(options.items()), given.flights, 1, given.chunk)
    job = job_of(*asked)  # compiles; processes that are started later find the kernels of the GPU on disk
    print(f"compiled after {time.perf_counter() - begin:.1f} s", file=sys.stderr, flush=True)
    kept = Kept(job, given.save)
    waiting = sorted(set(range(job.chunks)) - set(kept.done))
    alone = given.processes == 1 and given.device == "cpu"
    clock = time.process_time if alone else time.perf_counter
    progress, started = Progress(begin, given.chunk, len(waiting), given.minutes), clock()
    for k, summary in flown(asked, waiting, given.processes, progress):
        kept.add(k, summary)
        if time.perf_counter() - kept.told > 6 * OFTEN:
            kept.write(kept.spent + clock() - started)
    kept.spent += clock() - started
    kept.write(kept.spent)
    if not kept.done:
        raise SystemExit("no chunk was done in that time: give more --minutes, or a smaller --chunk.")
    if len(kept.done) < job.chunks:
        print(f"{len(kept.done)} of {job.chunks} chunks are done; the same command with --save goes on")
    where = f"processor time on {given.threads} thread(s)" if alone else f"wall clock in {given.processes} process(es)"
    report(kept.summary, kept.spent, where)
    if given.check:
        check(job, min(given.flights, 1000))
    if given.stored:
        compare(job, min(given.flights, given.stored), kept.summary)


if __name__ == "__main__":
    main()
