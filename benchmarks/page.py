"""The table of peers as a page: docs/benchmarks.md, made of one or more runs of the same sources.

python benchmarks/run.py --history benchmarks/history.jsonl --page docs/benchmarks.md     # as `make bench` does
python benchmarks/page.py benchmarks/history.jsonl docs/benchmarks.md                     # again, of what was measured
"""

import argparse
import fnmatch
import re
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from case import Case
from compare import BenchRun, Figure, best_rows, read

QUIET = 1.5  # the load of a machine that measures and does nothing else
OTHER = "Other"
SECTIONS = {
    "First result, memory, disk space": ("first-result*", "installed-size"),
    "Mechanisms, in batches": ("dynamics*", "mechanisms-*-rnea", "mechanisms-*-crba", "mechanisms-*-aba"),
    "Mechanisms, their derivatives": ("mechanisms-*-daba",),
    "Mechanisms, one call on one instance": ("one-call", "mechanisms-*-one"),
    "Mechanisms, steps in time": ("step7", "loop-*", "mechanisms-*-step"),
    "Closed loops": ("loops-*",),
    "Contact": ("contact-*",),
    "Worlds and control": ("world-*", "control-*"),
    "Flight": ("f16-*", "rocket-flight"),
    "Sweeps": ("rocket-flights",),
    "Free bodies and tops": ("body-*", "free-top-*", "heavy-*", "spacecraft-*"),
    "Springs": ("springs*", "net-*"),
    "Smooth motions to a tolerance": ("double-*", "orbit*", "adaptive-*"),
    "Compile times": ("compile*", "first-call", "operations", "growth-*-compile"),
    "Growth with the number of joints": ("growth-*",),
    "Formulas and elementary functions": ("formula*", "elementary-*"),
    "Threads": ("threads",),
    OTHER: ("*",),
}
# What a contender does, by its name; of several patterns the first that fits.
SIDES = {
    "pin.aba and pin.integrate in a loop": "Pinocchio in C++, two calls from Python per instance and step",
    "pin.*InParallel*": "Pinocchio's own loop over a batch, in C++, on one thread",
    "Pinocchio, ...InParallel*": "the same",
    "Pinocchio, aba": "imports Pinocchio, reads the model, calls `aba` once",
    "pin.aba*": "Pinocchio in C++, one call from Python per instance; the call itself, some 1 us, is in the figure",
    "Pinocchio in a Python loop": "the same, for each algorithm",
    "MuJoCo, mj_forward in a loop": "MuJoCo in C, one call from Python per instance, constraints included",
    "MuJoCo, mj_forward": "imports MuJoCo, reads the model, calls `mj_forward` once",
    "MuJoCo, RK4": "one call of `mj_step(nstep=)` in steps as long as the tolerance allows",
    "mj_step*": "whole steps of MuJoCo, with constraints where the model has any, one call from Python per instance",
    "mujoco.mj_step, tendons": "one call of `mj_step(nstep=)`; masses are bodies on sliders, springs are tendons",
    "mujoco.rollout*": "MuJoCo's own loop over instances and steps, in C++, on one thread; it returns all states",
    "MJX*": "MuJoCo in JAX, `mjx.step` by `vmap` and `scan`, compiled by XLA; float64, on one thread of the processor",
    "mjbatch*": "a loop over MuJoCo's steps in C++, on one thread",
    "Drake, MultibodyPlant": "imports Drake, reads the model, solves its mass matrix once",
    "dynibo*": "dynibo in Rust, one call from Python per instance; its gravity is 9.80665 m/s^2",
    "diffrax*": "the derivative in JAX, compiled by XLA; Dopri8 with its PID controller, all instances by `vmap`",
    "heyoka*": "compiled by LLVM: a function for formulas and dynamics, else its adaptive Taylor integrator",
    "JAX": "the same NumPy source, compiled by XLA; one thread; the result is copied to NumPy",
    "jsbsim f16, one": "the next row's, its time as often as the batch has aircraft",
    "jsbsim f16": "its own F-16 with flight control system; steps of 1/120 s, each called from Python",
    "RocketPy*": "a `Flight` with its own tolerances (SciPy's LSODA over Python functions)",
    "Basilisk*": "RK4 in C++ with the same step, one spacecraft without records",
    "gymnasium*": "Gymnasium's own vectorised model, in NumPy",
    "numba*": "the same source in loops compiled by Numba",
    "numexpr": "the formula as text, in its virtual machine",
    "exudyn*": "Exudyn's implicit solver (generalized alpha), one mechanism",
    "a loop over solve_ivp*": "SciPy, one body at a time, the derivative in NumPy",
    "SciPy, DOP853": "`solve_ivp` with the derivative in NumPy",
    "NumPy*": "plain NumPy",
}
INTRODUCTION = """\
Poinsot and its peers in the same run, on the same machine, the contenders of a case by turns. `make bench` measures
all of it and writes this page; `python benchmarks/run.py NAME` repeats a case. Each result is checked against an
independent value before it is timed.
"""
READING = """\
A figure is for one item, the best of all rounds. Ratios are to the first row of a case: a contender with ratio 20 takes
20 times as long; one below 1 is faster, and bold if it is a peer. Set-up is reading, tracing, compiling and the first
call, with nothing in the cache. One thread each, unless the name says more. The last section says
[what each peer computes](#what-each-peer-computes).

GPUs are measured apart, on a machine with an H200: [the GPU](gpu.md). MuJoCo Warp and Newton could not be installed
there, so they have no row. mjbatch and MJX need a MuJoCo of their own version; they have rows where that is installed,
and figures in [mechanisms](mechanisms.md#measured). What others published of their own code, such as Pinocchio's
derivatives from C++, stands there, too, with its source.
"""


def number(value: float, unit: str) -> str:
    if unit != "s":
        return f"{value:.0f} {unit}"
    for scale, name in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= scale:
            return f"{value / scale:.3g} {name}"
    return f"{value / 1e-9:.3g} ns"


def side(contender: str) -> str:
    """What a contender does; empty if the table does not know it."""
    return next((words for pattern, words in SIDES.items() if _fits(contender, pattern)), "")


def section(case: str) -> str:
    """The first section that fits."""
    return next(title for title, patterns in SECTIONS.items() if any(_fits(case, pattern) for pattern in patterns))


def _fits(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern)


def page_of(runs: Sequence[BenchRun], cases: Sequence[Case]) -> str:
    """The page of the last run, and of those before it with the same sources, machine and clock."""
    last = runs[-1]
    same = [run for run in runs if run.sources == last.sources and run.comparable(last)]
    rows = best_rows(same)
    measured = {case.name for case in cases if any(key[0] == case.name for key in rows)}
    shown = [case for case in cases if case.name in measured]
    lines = [*_head(same, len(shown), len(cases)), *_summary(shown, rows)]
    for title in SECTIONS:
        some = [case for case in shown if section(case.name) == title]
        if some:
            lines += [f"## {title}", "", "| case | contender | figure | ratio | set-up | error |"]
            lines += ["|---|---|--:|--:|--:|--:|", *(line for case in some for line in _case(case, rows)), ""]
    return "\n".join([*lines, *_sides(shown)]) + "\n"


def _head(runs: Sequence[BenchRun], shown: int, known: int) -> Iterator[str]:
    last, loads = runs[-1], [float(run.load) for run in runs if re.fullmatch(r"[\d.]+", run.load)]
    clock = "processor time of one process" if last.clock == "processor" else "wall clock"
    yield "# Benchmarks\n"
    yield INTRODUCTION
    yield f"- {shown} of {known} cases, {' and '.join(run.time for run in runs)}, sources {last.sources}, {clock}"
    yield f"- {last.machine}; load at the end {' and '.join(run.load for run in runs)}"
    yield f"- {last.versions}\n"
    if last.quick or any(load > QUIET for load in loads):
        reasons = ["few rounds (`--quick`)"] * last.quick
        reasons += [f"a machine that did other work (load {max(loads):.1f})"] * any(load > QUIET for load in loads)
        yield f"**Rough figures: {' on '.join(reasons)}.** They show what is measured, not how fast it is.\n"
    yield READING


def _summary(cases: Sequence[Case], rows: dict[tuple[str, str], Figure]) -> Iterator[str]:
    ratios, lost, broken, absent = [], [], [], set()
    for case in cases:
        base = rows.get((case.name, case.contenders[0].name))
        for contender in case.contenders:
            row, name = rows.get((case.name, contender.name)), f"`{case.name}` ({contender.name})"
            if row is None:
                absent |= {contender.peer or contender.name}
            elif row.best is None:
                broken.append(f"{name}: {row.trouble}")
            elif contender.peer and base and base.best is not None:
                ratios.append(row.best / base.best)
                lost += [f"{name} {ratios[-1]:.2g}"] * (ratios[-1] < 1)
    yield "## In short\n"
    if ratios:
        won, middle = len(ratios) - len(lost), statistics.median(ratios)
        yield f"- Of {len(ratios)} rows of peers, ours is better in {won}; the median ratio is {middle:.3g}."
        yield f"- **Peers are better in {len(lost)}**: {'; '.join(lost) or 'none'}."
    if broken:
        yield f"- No figure, or a wrong result: {'; '.join(broken)}."
    if absent:
        yield f"- Not installed: {', '.join(sorted(absent))}."
    yield ""


def _case(case: Case, rows: dict[tuple[str, str], Figure]) -> Iterator[str]:
    base = rows.get((case.name, case.contenders[0].name))
    for k, contender in enumerate(case.contenders):
        row = rows.get((case.name, contender.name))
        first = f"`{case.name}`: {_cell(case.what)}" if k == 0 else ""
        if row is None or row.best is None:
            yield f"| {first} | {_cell(contender.name)} | {_cell(row.trouble) if row else 'not installed'} | | | |"
            continue
        ratio = row.best / base.best if base and base.best is not None else None
        words = "" if ratio is None else f"{ratio:.3g}"
        words = f"**{words}**" if ratio is not None and ratio < 1 and contender.peer else words
        setup = number(row.setup, "s") if row.setup is not None and case.unit == "s" else ""
        error = f"{row.error:.1e}" if row.error is not None and case.unit == "s" else ""
        yield f"| {first} | {_cell(contender.name)} | {number(row.best, row.unit)} | {words} | {setup} | {error} |"


def _sides(cases: Sequence[Case]) -> Iterator[str]:
    yield "## What each peer computes\n"
    yield "| contender | what it does |\n|---|---|"
    timed = [contender for case in cases if case.name != "installed-size" for contender in case.contenders]
    for name in dict.fromkeys(contender.name for contender in timed if contender.peer):
        yield f"| {_cell(name)} | {side(name)} |"


def _cell(words: str) -> str:
    return words.replace("|", "\\|")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("history", type=Path)
    parser.add_argument("page", type=Path)
    options = parser.parse_args()
    if not options.history.exists() or not (runs := read(options.history)):
        parser.error(f"there is no run in {options.history}: `make bench` writes it")
    from run import all_cases

    options.page.write_text(page_of(runs, all_cases()))


if __name__ == "__main__":
    main()
