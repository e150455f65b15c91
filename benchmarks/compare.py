"""What was measured at which commit, one line of JSON per run, and what has become slower since the commit before.

    python benchmarks/run.py --history benchmarks/history.jsonl     # as `make bench` does
    python benchmarks/compare.py benchmarks/history.jsonl           # as `make bench-compare` does

Only runs of one machine and one clock are compared. Whatever else a machine does makes a figure worse, never better: of
several runs of the same sources, the best figure counts. The peers do not change with the sources: if they have become
slower, too, the machine was busy.
"""

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

FACTOR = 1.25
PAGE = "docs/benchmarks.md"  # the figures themselves: no source


@dataclass(frozen=True)
class Figure:
    """The row of a contender; `best` and `median` are for one item, in `unit`, or None where `trouble` tells why."""

    case: str
    contender: str
    peer: bool
    unit: str
    best: float | None
    median: float | None
    setup: float | None
    trouble: str = ""
    error: float | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.case, self.contender


@dataclass(frozen=True)
class BenchRun:
    """One run. `sources`: the commit, with the hash of what was changed since. `clock`: "wall" or "processor"."""

    sources: str
    time: str
    machine: str
    clock: str
    quick: bool
    load: str
    rows: tuple[Figure, ...]
    versions: str = ""

    def comparable(self, other: "BenchRun") -> bool:
        return (self.machine, self.clock, self.quick) == (other.machine, other.clock, other.quick)


@dataclass(frozen=True)
class RowChange:
    """A row now and before; `now.best` is None if it gives no figure any more."""

    before: Figure
    now: Figure
    since: str  # the sources of the figure before

    @property
    def ratio(self) -> float:
        return float("inf") if self.now.best is None else self.now.best / self.before.best  # type: ignore[operator]


def sources(folder: Path) -> str:
    """The commit of a checkout, and a hash of what was changed since but for the page; "unknown" outside of git."""

    def git(*words: str) -> bytes:
        return subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=True).stdout

    try:
        commit = git("rev-parse", "--short=12", "HEAD").decode().strip()
        difference = git("diff", "HEAD", "--", ":(top)", f":(top,exclude){PAGE}")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{commit}+{hashlib.sha256(difference).hexdigest()[:8]}" if difference else commit


def append(path: Path, entry: BenchRun) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(asdict(entry)) + "\n")


def read(path: Path) -> list[BenchRun]:
    """All runs, the oldest first."""
    entries = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            fields = json.loads(line)
            entries.append(BenchRun(**fields | {"rows": tuple(Figure(**row) for row in fields["rows"])}))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"line {number} of {path} is not a run ({error}); remove that line") from error
    return entries


def changes(entries: Sequence[BenchRun]) -> list[RowChange]:
    """The rows of the last sources, each beside the last other sources that have a figure for it."""
    if not entries:
        return []
    same = [entry for entry in entries if entry.comparable(entries[-1])]
    now = best_rows([entry for entry in same if entry.sources == same[-1].sources])
    found = []
    for key, row in now.items():
        for name in dict.fromkeys(entry.sources for entry in reversed(same) if entry.sources != same[-1].sources):
            before = best_rows([entry for entry in same if entry.sources == name]).get(key)
            if before and before.best is not None and before.unit == row.unit:
                found.append(RowChange(before, row, name))
                break
    return found


def best_rows(entries: Sequence[BenchRun]) -> dict[tuple[str, str], Figure]:
    """The best figure of each row; one without figure only if there is no other."""
    rows: dict[tuple[str, str], Figure] = {}
    for row in (row for entry in entries for row in entry.rows):
        known = rows.get(row.key)
        if known is None or known.best is None or (row.best is not None and row.best < known.best):
            rows[row.key] = row
    return rows


def slower(found: Sequence[RowChange], factor: float) -> list[RowChange]:
    """Those that take more than `factor` times as much, or give no figure any more, the worst first."""
    return sorted((change for change in found if change.ratio > factor), key=lambda change: -change.ratio)


def report(entries: Sequence[BenchRun], factor: float) -> Iterator[str]:
    found = changes(entries)
    if not found:
        yield "Nothing to compare with: no earlier run of other sources on this machine has these rows."
        return
    last, worse = entries[-1], slower(found, factor)
    yield f"{last.sources}, {last.time}, {last.machine}, {last.clock} clock, load {last.load}\n"
    yield f"{len(worse)} of {len(found)} rows are slower by more than {factor:g} x."
    peers = [change.ratio for change in found if change.before.peer and change.now.best is not None]
    if peers:
        yield f"The rows of the peers take {statistics.median(peers):.2f} x what they took (median of {len(peers)})."
    if worse:
        yield "\n| case | contender | before | now | ratio | since |\n|---|---|--:|--:|--:|---|"
    for change in worse:
        before, now, unit = change.before, change.now, change.now.unit
        figures = [f"{before.best:.3g} {unit}", now.trouble if now.best is None else f"{now.best:.3g} {unit}"]
        name = now.contender + " (a peer)" * now.peer
        ratio = "" if now.best is None else f"{change.ratio:.2f}"
        yield f"| {' | '.join([now.case, name, *figures, ratio, change.since])} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("history", type=Path)
    parser.add_argument("--factor", type=float, default=FACTOR, help="how much slower is told; %(default)s otherwise")
    options = parser.parse_args()
    if not options.factor >= 1:
        parser.error(f"--factor {options.factor:g}: it must be 1 or more")
    if not options.history.exists():
        parser.error(f"there is no {options.history}: `make bench` writes it")
    entries = read(options.history)
    print("\n".join(report(entries, options.factor)))
    return int(any(not change.now.peer for change in slower(changes(entries), options.factor)))


if __name__ == "__main__":
    sys.exit(main())
