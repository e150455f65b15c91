"""Mutation testing: `python tools/mutants/run.py --sample 500 --jobs 2`, or `make mutants`.

Puts systematic mutants (`mutations.py`) into the text-book rooms, runs the tests that cover each (`trials.py`), and
reports those that no test has noticed. Verdicts are written to results/mutants as they come: a run that was stopped
goes on from there, and a mutant that was killed is not tried again while its file is the same. Mutants that cannot be
told from the original are listed in equivalent.toml, with the reason.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import re
import sys
import time
import tomllib
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POINSOT_THREADS"):
    os.environ.setdefault(variable, "1")

import mutations  # noqa: E402
import pytest  # noqa: E402
import trials  # noqa: E402
from mutations import Mutant  # noqa: E402

MECHANISM = "joints joint_types kinematics dynamics book two_body".split()
SOURCES = [f"src/poinsot/{room}" for room in "spatial particles body parts integrate".split()]
SOURCES += [f"src/poinsot/mechanism/{module}.py" for module in MECHANISM]
TESTS = [f"tests/{room}" for room in "spatial particles body mechanism parts integrate world texts control".split()]
TESTS += ["tests/test_errata.py", "tests/run/test_load_factor.py"]
WARM = "numpy scipy.integrate scipy.optimize scipy.spatial.transform hypothesis mujoco pinocchio trimesh".split()
NOTICED = ("killed", "equivalent")


@dataclass(frozen=True)
class Project:
    """The files to mutate and the tests, relative to the root; `kept` is the folder for results."""

    root: Path
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    kept: Path

    @cached_property
    def files(self) -> dict[str, str]:
        """Path -> source text of all files to mutate."""
        found = [
            f for s in self.sources for f in ([self.root / s] if s.endswith(".py") else (self.root / s).rglob("*.py"))
        ]
        return {f.relative_to(self.root).as_posix(): f.read_text() for f in sorted(found)}

    @cached_property
    def mutants(self) -> list[Mutant]:
        return [mutant for path, source in self.files.items() for mutant in mutations.of_source(path, source)]

    def name(self, path: str) -> str:
        """The file's name as the interpreter knows it."""
        return str(self.root / path)

    @cached_property
    def hashes(self) -> dict[str, str]:
        return {path: digest(source.encode()) for path, source in self.files.items()}

    def fingerprint(self, tests: list[str]) -> str:
        """Of tests, their names and their files."""
        files = sorted({test.split("::")[0] for test in tests})
        return digest(*(name.encode() for name in [*sorted(tests), *map(self.test_hash, files)]))

    def test_hash(self, test: str) -> str:
        return digest((self.root / test.split("::")[0]).read_bytes())


def digest(*contents: bytes) -> str:
    return hashlib.sha256(b"\0".join(contents)).hexdigest()[:16]


class Results:
    """Verdicts by mutant, appended to a file as they come."""

    def __init__(self, project: Project) -> None:
        self.project, self.path = project, project.kept / "verdicts.jsonl"
        self.known: dict[str, dict[str, Any]] = {}
        self.load()

    def load(self) -> None:
        rows = [json.loads(line) for line in self.path.read_text().splitlines()] if self.path.exists() else []
        self.known = {row["key"]: row for row in rows}

    def add(self, mutant: Mutant, **row: Any) -> None:
        row = {"key": mutant.key, "source": self.source_of(mutant), **row}
        self.known[mutant.key] = row
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def source_of(self, mutant: Mutant) -> str:
        return self.project.hashes[mutant.path]

    def is_settled(self, mutant: Mutant, tests: list[str]) -> bool:
        """Killed before; or survived these very tests."""
        row = self.known.get(mutant.key)
        if row is None or row["source"] != self.source_of(mutant):
            return False
        return row["verdict"] == "killed" or row.get("tests") == self.project.fingerprint(tests)


def main(arguments: list[str] | None = None) -> int:
    options = parsed(arguments)
    root = options.root.resolve()
    project = Project(root, tuple(options.sources), tuple(options.tests), root / "results" / "mutants")
    project.kept.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("POINSOT_CACHE", str(project.kept / "kernels"))
    sys.path[:0] = [str(root / "src")]
    os.chdir(root)
    for module in options.warm:
        with suppress(ImportError):
            importlib.import_module(module)
    equivalent, stale = equivalents(options.equivalent, project)
    chosen = sample(project, options)
    tried = [m for m in chosen if m.key not in equivalent]
    print(
        f"{len(project.mutants)} mutants; {len(chosen)} chosen, of which {len(chosen) - len(tried)} equivalent",
        flush=True,
    )
    results = Results(project)
    if not options.report:
        work(project, results, tried, options)
    return report(results, chosen, equivalent, stale)


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, default=0, help="how many mutants, drawn at random; by default all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample: another seed, other mutants")
    parser.add_argument("--only", nargs="+", default=[""], help="those with one of these in path::function::mutation")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of tests for one mutant")
    parser.add_argument(
        "--grace", type=float, default=5.0, help="seconds that a test may take beyond a multiple of its own"
    )
    parser.add_argument("--survivors", action="store_true", help="only those that survived an earlier run")
    parser.add_argument("--report", action="store_true", help="only print what is known from earlier runs")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[2], help="the project's folder")
    parser.add_argument("--sources", nargs="+", default=SOURCES, help="files and folders to mutate")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="files and folders of tests")
    parser.add_argument("--warm", nargs="*", default=WARM, help="modules that are imported once, before all tests")
    parser.add_argument("--equivalent", type=Path, default=Path(__file__).with_name("equivalent.toml"))
    return parser.parse_args(arguments)


def sample(project: Project, options: argparse.Namespace) -> list[Mutant]:
    """As many mutants as asked for, chosen by their names: other mutants come and go without a change of the choice."""
    drawn = project.mutants
    if 0 < options.sample < len(drawn):
        drawn = sorted(drawn, key=lambda m: digest(str(options.seed).encode(), m.key.encode()))[: options.sample]
    return [m for m in sorted(drawn, key=lambda m: (m.path, m.node, m.choice)) if any(o in m.key for o in options.only)]


def equivalents(path: Path, project: Project) -> tuple[dict[str, str], list[str]]:
    """Reason by key of the mutants that are declared equivalent; and the entries that match no mutant.

    An entry lists mutations of one function, all or (with `::n` at the end) the n-th of them; or it is a pattern, a
    regular expression for mutations anywhere.
    """
    entries = tomllib.loads(path.read_text()) if path.exists() else {}
    places: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for mutant in project.mutants:
        places[mutant.path, mutant.function, mutant.mutation].append(mutant.key)
        places[mutant.path, mutant.function, f"{mutant.mutation}::{mutant.occurrence}"].append(mutant.key)
    found: dict[str, str] = {}
    stale: list[str] = []
    for entry in entries.get("pattern", []):
        keys = [m.key for m in project.mutants if re.fullmatch(entry["mutation"], m.mutation)]
        found.update(dict.fromkeys(keys, entry["reason"]))
        stale += [] if keys else [entry["mutation"]]
    for entry in entries.get("equivalent", []):
        for mutation in entry["mutations"]:
            keys = places.get((entry["file"], entry["function"], mutation), [])
            found.update(dict.fromkeys(keys, entry["reason"]))
            stale += [] if keys else [f"{entry['file']}::{entry['function']}::{mutation}"]
    return found, stale


def work(project: Project, results: Results, mutants: list[Mutant], options: argparse.Namespace) -> None:
    """Try all mutants, in live functions where that is possible; those that survive, and the others, by import."""

    def live(items: dict[str, pytest.Item]) -> None:
        bring_up_to_date(project, items, options.jobs)
        coverage, todo = unsettled(project, results, mutants, options)
        settled = len(mutants) - len(todo)
        print(f"{len(coverage.known)} tests; {settled} mutants are settled, {len(todo)} to try", flush=True)
        quick = [m for m in todo if m.is_deferred and coverage.tests_of(m, options.budget)]
        try_live(project, results, coverage, quick, items, options)

    collected(project, live)
    results.load()
    try_by_import(project, results, *unsettled(project, results, mutants, options), options)


def unsettled(
    project: Project, results: Results, mutants: list[Mutant], options: argparse.Namespace
) -> tuple[trials.Coverage, list[Mutant]]:
    """What the tests cover, and the mutants that have no verdict yet."""
    stored = stored_coverage(project).items()
    coverage = trials.Coverage({t: record for t, record in stored if t.startswith(project.tests)})
    todo = [m for m in mutants if not results.is_settled(m, coverage.tests_of(m, options.budget))]
    if options.survivors:
        todo = [m for m in todo if results.known.get(m.key, {"verdict": "killed"})["verdict"] != "killed"]
    return coverage, todo


def collected(project: Project, use: Callable[[dict[str, pytest.Item]], None]) -> None:
    """Call `use` with all tests, in a fork: this process stays without the package."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        if os.waitpid(pid, 0)[1]:
            raise SystemExit("the tests could not be collected, or the run was stopped.")
        return
    status = 1
    try:
        status = int(pytest.main([*trials.OPTIONS, *project.tests], plugins=[trials.Live(use)]))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(0 if status in (0, 5) else 1)


def stored_coverage(project: Project) -> dict[str, Any]:
    """What was recorded of tests that are the same as then, as are the files that they cover."""
    path = project.kept / "coverage.json"
    stored = json.loads(path.read_text()) if path.exists() else {"tests": {}, "files": {}, "sources": {}}
    files = {f for f, known in stored["files"].items() if (project.root / f).exists() and project.test_hash(f) == known}
    sources = {f for f, known in stored["sources"].items() if project.hashes.get(f) == known}
    return {
        test: record
        for test, record in stored["tests"].items()
        if test.split("::")[0] in files and sources.issuperset(record["lines"])
    }


def bring_up_to_date(project: Project, items: dict[str, pytest.Item], jobs: int) -> None:
    """Record the tests of which nothing is known."""
    known = stored_coverage(project)
    missing = {test: item for test, item in items.items() if test not in known}
    progress = Progress(len(missing), "tests recorded")
    names = {project.name(path): path for path in project.files}
    stored = time.monotonic()
    for test, answer in trials.record(missing, names, jobs):
        known[test] = answer if answer.get("passed") else {"seconds": 0.0, "lines": {}, "failed": True}
        progress.show(" ".join(t for t in [test] if not answer.get("passed")))
        if time.monotonic() > stored + 20:
            store_coverage(project, known)
            stored = time.monotonic()
    store_coverage(project, known)


def store_coverage(project: Project, known: dict[str, Any]) -> None:
    files = {test.split("::")[0] for test in known}
    content = {"files": {f: project.test_hash(f) for f in files}, "sources": project.hashes, "tests": known}
    partial = project.kept / "coverage.partial"
    partial.write_text(json.dumps(content))
    partial.replace(project.kept / "coverage.json")


def try_live(
    project: Project,
    results: Results,
    coverage: trials.Coverage,
    mutants: list[Mutant],
    items: dict[str, pytest.Item],
    options: argparse.Namespace,
) -> None:
    """Verdicts for mutants that can be put into live functions."""
    if not mutants:
        return
    functions = trials.functions_of({project.name(path) for path in project.files})
    seconds = {test: record["seconds"] for test, record in coverage.known.items()}

    def task(mutant: Mutant | None, tests: list[str]) -> trials.Task:
        def work(send: trials.Send) -> None:
            trials.set_memory_limit()
            if mutant is not None:
                name = project.name(mutant.path)
                if not trials.exchange_code(name, project.files[mutant.path], mutant, functions[name]):
                    send({"verdict": "postponed"})
                    return
            by = trials.run_tests([items[t] for t in tests if t in items], seconds, options.grace, send)
            send({"verdict": "killed", "by": by} if by else {"verdict": "postponed"})

        return work

    some = [t for m in mutants[:: 1 + len(mutants) // 10] for t in coverage.tests_of(m, 0.1 * options.budget)]
    for _, answer in trials.forked(iter([(None, task(None, list(dict.fromkeys(some))))]), 1):
        if answer.get("verdict") != "postponed":
            raise SystemExit(f"without any mutant, after other tests, {answer.get('by') or answer} fails.")
    progress = Progress(len(mutants), "mutants tried")
    tasks = ((m, task(m, coverage.tests_of(m, options.budget))) for m in mutants)
    for mutant, answer in trials.forked(tasks, options.jobs):
        if answer.get("verdict") == "killed":
            results.add(mutant, **answer)
            coverage.kills[f"{mutant.path}::{mutant.function}"][answer["by"]] += 1
        progress.show("" if answer.get("verdict") == "killed" else f"not yet killed: {mutant.key}")


def try_by_import(
    project: Project, results: Results, coverage: trials.Coverage, mutants: list[Mutant], options: argparse.Namespace
) -> None:
    """Verdicts for mutants in a process that imports the package with the mutant in it."""
    progress = Progress(len(mutants), "mutants tried by import")
    seconds = {test: record["seconds"] for test, record in coverage.known.items()}

    def task(mutant: Mutant, tests: list[str]) -> Callable[..., None]:
        def work(send: trials.Send) -> None:
            trials.set_memory_limit()
            trials.set_limits(60.0)
            send({"verdict": "killed", "by": "import"})
            module = ".".join(Path(mutant.path).with_suffix("").parts[1:]).removesuffix(".__init__")
            tree = mutations.mutated_tree(project.files[mutant.path], mutant)
            sys.meta_path.insert(0, trials.import_mutant(module, project.name(mutant.path), tree))

            def use(items: dict[str, pytest.Item]) -> None:
                by = trials.run_tests([items[t] for t in tests if t in items], seconds, options.grace, send)
                send({"verdict": "killed", "by": by} if by else {"verdict": "survived"})

            pytest.main([*trials.OPTIONS, *dict.fromkeys(t.split("::")[0] for t in tests)], plugins=[trials.Live(use)])

        return work

    covered = {m: coverage.tests_of(m, options.budget) for m in mutants}
    for mutant in mutants:
        if not covered[mutant]:
            results.add(mutant, verdict="not covered", tests=project.fingerprint([]))
    trying = [m for m in mutants if covered[m]]
    for mutant, answer in trials.forked(((m, task(m, covered[m])) for m in trying), options.jobs):
        tests = project.fingerprint(covered[mutant])
        results.add(mutant, **{"verdict": "survived", **answer}, tests=tests)
        progress.show("" if answer.get("verdict") == "killed" else f"{answer.get('verdict')}: {mutant.key}")


class Progress:
    """Lines that say how far the work is."""

    def __init__(self, total: int, what: str) -> None:
        self.total, self.what, self.done = total, what, 0
        self.started = self.shown = time.monotonic()

    def show(self, remark: str = "") -> None:
        self.done += 1
        now = time.monotonic()
        if remark:
            print(f"  {remark}", flush=True)
        if now - self.shown > 10 or self.done == self.total:
            left = (now - self.started) / self.done * (self.total - self.done)
            print(f"{self.done}/{self.total} {self.what}, about {left / 60:.1f} minutes left", flush=True)
            self.shown = now


def report(results: Results, chosen: list[Mutant], equivalent: dict[str, str], stale: list[str]) -> int:
    """Print the survivors and a table by room; 0 if there are none, and no stale entry."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    survivors = []
    for mutant in chosen:
        row = results.known.get(mutant.key, {})
        is_current = row.get("source") == results.source_of(mutant)
        verdict = "equivalent" if mutant.key in equivalent else row["verdict"] if is_current else "not tried"
        counts[room_of(mutant)][verdict] += 1
        if verdict not in NOTICED:
            survivors.append(f"{mutant.path}:{mutant.lines[0]} {mutant.function}: {mutant.mutation}  ({verdict})")
    print("\n".join(survivors))
    print(
        "\n| room | mutants | killed | equivalent | survived | of those that can be killed |\n|---|---|---|---|---|---|"
    )
    total = sum(counts.values(), Counter[str]())
    for room, count in [*counts.items(), ("all", total)]:
        everything, killed, same = count.total(), count["killed"], count["equivalent"]
        share = killed / max(everything - same, 1)
        print(f"| {room} | {everything} | {killed} | {same} | {everything - killed - same} | {share:.1%} |")
    for entry in stale:
        print(f"stale: {entry} in equivalent.toml matches no mutant")
    return 1 if survivors or stale else 0


def room_of(mutant: Mutant) -> str:
    parts = Path(mutant.path).parts
    return f"`{parts[2]}`" if len(parts) > 3 else mutant.path


if __name__ == "__main__":
    sys.exit(main())
