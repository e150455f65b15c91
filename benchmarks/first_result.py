"""The first result: `poinsot run NAME` in a new process, for every example, without and with machine code in the cache.

python benchmarks/first_result.py [NAME...]

Times are processor times [s], so that other work on the machine matters little; the wall clock stands last. Python's
own bytecode is there in both cases, as it is after an installation.
"""

import builtins
import importlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

if sys.argv[1:2] != ["--inside"]:
    import poinsot
    from poinsot.cli.finding import examples

COLD, WARM = 2.0, 0.8  # s: what a first result should take
PIECES = ("import", "load", "trace", "text", "compile", "save", "rest")
MARK = "first-result "


class Taken(NamedTuple):
    """What a run took [s]."""

    processor: float
    wall: float
    pieces: dict[str, float]


class Clock(threading.local):
    """Processor time of each thread by piece of work; a piece inside another one counts for itself alone."""

    spent = dict.fromkeys(PIECES, 0.0)  # of all threads

    def __init__(self) -> None:
        self.open = ["rest"]
        self.since = time.thread_time() if threading.current_thread() is not threading.main_thread() else 0.0

    @contextmanager
    def piece(self, name: str) -> Iterator[None]:
        self._note()
        self.open.append(name)
        try:
            yield
        finally:
            self._note()
            self.open.pop()

    def _note(self) -> None:
        now = time.thread_time()
        self.spent[self.open[-1]] += now - self.since
        self.since = now

    def watch(self, place: Any, name: str, piece: str) -> None:
        """Count a function as this piece from now on."""
        function: Callable[..., Any] = getattr(place, name)

        def watched(*args: Any, **kwargs: Any) -> Any:
            if self.open[-1] == piece:
                return function(*args, **kwargs)
            with self.piece(piece):
                return function(*args, **kwargs)

        setattr(place, name, watched)


def inside(name: str) -> None:
    """`poinsot run NAME` in this process, and the pieces of its time on standard error."""
    clock = Clock()
    clock.watch(builtins, "__import__", "import")
    clock.watch(importlib, "import_module", "import")
    with clock.piece("import"):
        from poinsot.cli import commands, finding, running
        from poinsot.fuse import kernels
        from poinsot.fuse.llvm import jit
    clock.watch(finding, "load", "load")
    clock.watch(kernels.Kernel, "_trace", "trace")
    clock.watch(kernels, "kernel_module", "text")
    clock.watch(jit, "compile_module", "compile")
    clock.watch(running, "_keep", "save")
    sys.argv = ["poinsot", "run", name]
    try:
        commands.main()
    finally:
        with clock.piece("rest"):
            print(MARK, *(clock.spent[piece] for piece in PIECES), file=sys.stderr)


def _write_bytecode(folder: str) -> None:
    """Of all of Poinsot, and, by a run that is not counted, of what it uses."""
    environment = os.environ | {"PYTHONPYCACHEPREFIX": folder}
    command = [sys.executable, "-m", "compileall", "-q", str(Path(poinsot.__file__).parent)]
    subprocess.run(command, env=environment, check=True)
    measured("t-handle", "off", folder)


def measured(name: str, cache: str, bytecode: str) -> Taken:
    """A run in a new process, with its results in a new folder."""
    environment = os.environ | {"POINSOT_CACHE": cache, "PYTHONPYCACHEPREFIX": bytecode}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    begin, before = time.perf_counter(), os.times()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(Path(__file__).resolve()), "--inside", name]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - begin, os.times()
    lines = [line for line in done.stderr.splitlines() if line.startswith(MARK)]
    if done.returncode not in (0, 1) or not lines:
        raise RuntimeError(f"poinsot run {name} ended with {done.returncode}:\n{done.stderr}")
    spent = after.children_user - before.children_user + after.children_system - before.children_system
    return Taken(spent, wall, dict(zip(PIECES, map(float, lines[-1].split()[1:]), strict=True)))


def row(name: str, start: str, taken: Taken) -> str:
    pieces = " | ".join(f"{taken.pieces[piece]:.2f}" for piece in PIECES)
    return f"| {name} | {start} | {taken.processor:.2f} | {pieces} | {taken.wall:.1f} |"


def main(names: list[str]) -> None:
    times = {}
    with tempfile.TemporaryDirectory() as bytecode:
        _write_bytecode(bytecode)
        for name in names or sorted(examples()):
            with tempfile.TemporaryDirectory() as cache:  # private, as a cache of machine code has to be
                times[name] = measured(name, cache, bytecode), measured(name, cache, bytecode)
    print("| example | start | processor |", " | ".join(PIECES), "| wall clock |")
    print("|---|---|---|" + "---|" * len(PIECES) + "---|")
    for name, (cold, warm) in sorted(times.items(), key=lambda item: -item[1][0].processor):
        print(row(name, "cold", cold))
        print(row(name, "warm", warm))
    for start, k, goal in (("cold", 0, COLD), ("warm", 1, WARM)):
        late = [name for name, taken in times.items() if taken[k].processor > goal]
        print(f"\nover {goal} s {start}: {len(late)} of {len(times)}: {', '.join(late) or 'none'}")


if __name__ == "__main__":
    inside(sys.argv[2]) if sys.argv[1:2] == ["--inside"] else main(sys.argv[1:])
