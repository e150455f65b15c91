"""poinsot bench: how fast a scenario runs on this machine."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from poinsot.cli import finding
from poinsot.cli.options import AllowCode, Json, Quiet, Scenario, Set
from poinsot.cli.screen import Screen, short

if TYPE_CHECKING:
    from poinsot.files.scenario import Scenario as Loaded

BATCHES = (1, 64, 4096)
LEAST = 0.2  # s, for one measurement

Batch = Annotated[list[int] | None, typer.Option("--batch", help="How many worlds at once. Repeatable.")]


def bench(
    file: Scenario = None,
    changes: Set = None,
    batch: Batch = None,
    allow_code: AllowCode = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Measure how fast a scenario runs on this machine: compile time, and steps per second, alone and in batches.

    Example:  poinsot bench spin.toml --batch 1 --batch 4096
    """
    from poinsot import fuse

    screen = Screen(quiet, json)
    scenario = finding.load(file, changes, allow_code)
    cores = fuse.threads()
    screen.say(scenario.title, "bold")
    lines, measured = [], []
    try:
        for n in batch or BATCHES:
            for threads in dict.fromkeys((1, cores) if n > 1 else (1,)):
                fuse.set_threads(threads)
                first, rate = _measure(scenario, n)
                lines.append((f"{n:,}", str(threads), f"{first:.2f} s", f"{short(1e9 / rate)} ns", f"{rate:.3g}"))
                measured.append({"batch": n, "threads": threads, "first_call_s": first, "steps_per_s": rate})
    finally:
        fuse.set_threads(cores)
    screen.table(("worlds", "threads", "first call", "time per step", "steps per second"), lines, 0)
    screen.result("\n".join(f"{one['batch']} {one['threads']} {one['steps_per_s']:.6g}" for one in measured))
    screen.data({"scenario": scenario.source, "measured": measured})
    return 0


def _measure(scenario: "Loaded", n: int) -> tuple[float, float]:
    """The time [s] of the first call, which may compile, and then the steps of all n worlds per second."""
    from poinsot.run.stepping import chooses_steps

    step = scenario.options["step"]
    options: dict[str, Any] = {
        "batch": None if n == 1 else n,
        "ledger": False,
        "progress": False,
        "method": scenario.options.get("method"),
    }
    if chooses_steps(options["method"]):  # how many they are is not known here
        options["method"] = None
    started = time.perf_counter()
    scenario.world.simulate(step, step, **options)
    first = time.perf_counter() - started
    steps = 16
    while True:
        started = time.perf_counter()
        scenario.world.simulate(steps * step, step, every=steps * step, **options)
        took = time.perf_counter() - started
        if took > LEAST:
            return first, steps * n / took
        steps *= 4
