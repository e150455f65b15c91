"""Measure the cases in `cases/` against the peers that are installed: `python benchmarks/run.py [names ...]`.

All contenders of a case take turns, so that whatever else the machine does hits all alike; a figure is the best of
their turns, with the median beside it. Every result is checked against an independent value before it is timed. A new
case is one more entry in `CASES` of a module in `cases/`.
"""

import argparse
import contextlib
import fnmatch
import importlib
import importlib.metadata
import os
import platform
import re
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from case import Case, Contender, Entry, Missing, RemoteEntry, count_processor_time
from compare import BenchRun, Figure, append, read, sources
from page import number, page_of
from poinsot import fuse
from poinsot.fuse.llvm.target import host

PACKAGES = (
    "poinsot numpy scipy llvmlite pin mujoco drake dynibo mjbatch heyoka diffrax jax jaxlib numexpr jsbsim numba "
    "mujoco-mjx gymnasium exudyn rocketpy bsk"
).split()


@dataclass
class Row:
    contender: Contender
    entry: Entry | RemoteEntry | None = None
    trouble: str = ""
    missing: bool = False
    error: float = 0.0
    figures: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.figures)


@contextlib.contextmanager
def trouble(row: Row) -> Iterator[None]:
    """What goes wrong with one contender is told in its row; the others go on."""
    try:
        yield
    except Missing as error:
        row.trouble, row.missing = f"missing: {error}", True
    except Exception as error:
        row.trouble = f"FAILED: {type(error).__name__}: {error}".splitlines()[0]


def measure(case: Case, budget: float, rounds: int) -> list[Row]:
    """Set the contenders up, check their results, and let them take turns for so many seconds and rounds at least."""
    rows = [Row(contender) for contender in case.contenders]
    try:
        expected = case.expected()
    except Exception as error:  # a fault of the case; the others go on
        for row in rows:
            row.trouble = f"FAILED: expected: {type(error).__name__}: {error}".splitlines()[0]
        return rows
    try:
        for row in rows:
            with trouble(row):
                row.entry = (RemoteEntry if row.contender.apart else Entry)(row.contender)
                row.error = case.error(row.entry.result, expected)
                row.entry.result = None
                tolerance = case.tolerance if row.contender.tolerance is None else row.contender.tolerance
                if not row.error <= tolerance:
                    row.trouble = f"WRONG: error {row.error:.1e}"
        end, done = time.perf_counter() + budget, 0
        while done < rounds or time.perf_counter() < end:
            for row in rows:
                if row.entry and not row.trouble:
                    with trouble(row):
                        row.figures.append(row.entry.figure() / case.items)
            done += 1
    finally:
        for row in rows:
            if row.entry:
                row.entry.close()
    return rows


def verdict(row: Row, base: Row) -> str:
    """What became of the target: ">= 20 x" is a multiple of the first contender's figure, "<= 3 us" a figure."""
    if not row.contender.target:
        return "**faster than ours**" if row is not base and row.contender.peer and row.best < base.best else ""
    sense, bound, kind = re.fullmatch(r"(<=|>=) ([\d.]+) (\w+)", row.contender.target).groups()  # type: ignore[union-attr]
    value = row.best / base.best if kind == "x" else row.best / {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}.get(kind, 1.0)
    return "met" if (value <= float(bound) if sense == "<=" else value >= float(bound)) else "**missed**"


def table(case: Case, rows: Sequence[Row]) -> Iterator[str]:
    yield f"### {case.name}\n\n{case.what}\n"
    yield "| contender | set-up | best | median | ratio | target | | error |\n|---|--:|--:|--:|--:|--:|---|--:|"
    base = rows[0]
    for row in rows:
        name = row.contender.name
        if row.trouble:
            yield f"| {name} | | | | | {row.contender.target} | {row.trouble} | |"
            continue
        ratio = f"{row.best / base.best:.3g}" if base.figures else ""
        words = [number(x, case.unit) for x in (row.best, statistics.median(row.figures))]
        met = verdict(row, base) if base.figures else ""
        setup = number(row.entry.setup, "s")  # type: ignore[union-attr]
        cells = (name, setup, *words, ratio, row.contender.target, met, f"{row.error:.1e}")
        yield f"| {' | '.join(cells)} |"
    yield ""


def processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
        model = re.search(r"model name\s*: (.*)", text).group(1)  # type: ignore[union-attr]
    except (OSError, AttributeError):
        model = platform.processor() or platform.machine()
    name, _, width, _ = host()
    return f"{model} ({name}), {os.cpu_count()} cores, vectors of {width} bytes"


def machine() -> Iterator[str]:
    """The hardware and the versions."""
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    yield f"- {time.strftime('%Y-%m-%d %H:%M')}, {system}"
    yield f"- {processor()}; load {load()}"
    yield f"- {versions()}\n"


def versions() -> str:
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{package} missing")
    return ", ".join(found)


def load() -> str:
    return f"{os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else "unknown"


def all_cases() -> list[Case]:
    folder = Path(__file__).parent / "cases"
    modules = [importlib.import_module(f"cases.{path.stem}") for path in sorted(folder.glob("[a-z]*.py"))]
    return [case for module in modules for case in module.CASES]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["*"], help="cases to run, patterns allowed; all of them otherwise")
    parser.add_argument("--list", action="store_true", help="say what there is")
    parser.add_argument("--quick", action="store_true", help="few rounds: to see that all works, not to measure")
    parser.add_argument(
        "--processor-time",
        action="store_true",
        help="count the time of this process alone: on a busy machine; for cases of one thread, in this process",
    )
    parser.add_argument("--out", type=Path, help="write the report to this file, too")
    parser.add_argument("--history", type=Path, help="append the figures to this file, for `compare.py`")
    parser.add_argument(
        "--page", type=Path, help="write the table of peers there, with earlier runs of the same sources in --history"
    )
    parser.add_argument("--seconds", type=float, default=4.0, help="per case at least; %(default)s otherwise")
    parser.add_argument("--rounds", type=int, default=3, help="per case at least; %(default)s otherwise")
    options = parser.parse_args()
    if options.seconds < 0 or options.rounds < 1:
        parser.error(f"--seconds {options.seconds:g} --rounds {options.rounds}: 0 and 1 at least")
    history = read(options.history) if options.page and options.history and options.history.exists() else []
    fuse.set_threads(1)
    if options.processor_time:
        count_processor_time()
    cases = all_cases()
    unknown = [name for name in options.names if not fnmatch.filter([case.name for case in cases], name)]
    if unknown:
        parser.error(f"no case is called {', '.join(unknown)}; --list tells the names")
    cases = [case for case in cases if any(fnmatch.fnmatch(case.name, name) for name in options.names)]
    if options.list:
        print("\n".join(f"{case.name:20} {case.what}" for case in cases))
        return 0

    report: list[str] = []

    def say(lines: Iterator[str]) -> None:
        for line in lines:
            report.append(line)
            print(line, flush=True)

    say(iter(["# Benchmarks\n"]))
    say(machine())
    say(iter([
        "Best and median are for one item, the ratio is to the first contender's best, set-up is model building, "
        "tracing, compilation and the first call. One thread each unless the name says more."
        f"{' Processor time.' * options.processor_time}\n"
    ]))  # fmt: skip
    rows: dict[str, list[Row]] = {}
    try:
        for case in cases:
            rows[case.name] = measure(case, *((0.3, 1) if options.quick else (options.seconds, options.rounds)))
            say(table(case, rows[case.name]))
    except KeyboardInterrupt:
        print("Interrupted: what was measured is kept.", file=sys.stderr)
    cases = [case for case in cases if case.name in rows]
    say(summary(cases, rows))
    if options.out:
        options.out.write_text("\n".join(report) + "\n")
    done = measurement(cases, rows, options.processor_time, options.quick)
    if options.history:
        append(options.history, done)
    if options.page:
        options.page.write_text(page_of([*history, done], all_cases()))
    return int(any(row.trouble and not row.missing for group in rows.values() for row in group))


def measurement(cases: Sequence[Case], rows: dict[str, list[Row]], processor_time: bool, quick: bool) -> BenchRun:
    """This run for the history. Peers that are not installed are left out."""
    figures = []
    for case in cases:
        for row in (row for row in rows[case.name] if not row.missing):
            best = median = setup = None
            if row.figures and row.entry and not row.trouble:
                best, median, setup = row.best, statistics.median(row.figures), row.entry.setup
            name, peer, error = row.contender.name, bool(row.contender.peer), None if row.trouble else row.error
            figures.append(Figure(case.name, name, peer, case.unit, best, median, setup, row.trouble, error))
    clock, when = "processor" if processor_time else "wall", time.strftime("%Y-%m-%d %H:%M:%S")
    state = sources(Path(__file__).parent)
    where = f"{platform.system()}, {processor()}"
    return BenchRun(state, when, where, clock, quick, load(), tuple(figures), versions())


def summary(cases: Sequence[Case], rows: dict[str, list[Row]]) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for case in cases:
        base = rows[case.name][0]
        for row in rows[case.name]:
            state = row.trouble.split(":")[0] or (verdict(row, base) if base.figures else "")
            if state:
                groups.setdefault(state.strip("*"), []).append(f"{case.name} ({row.contender.name})")
    yield f"### Summary\n\nLoad at the end: {load()}.\n"
    for state, names in groups.items():
        yield f"- {state}, {len(names)}: {'; '.join(names)}"


if __name__ == "__main__":
    sys.exit(main())
