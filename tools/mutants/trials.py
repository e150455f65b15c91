"""Trials: the tests that cover a mutant, run in a forked process with the mutant in it.

The tests are collected once. A fork then costs a few milliseconds, and the mutant is put in by exchanging the code of
live functions (`exchange_code`). A mutant of code that runs at import, and every survivor, is tried in a fork of a
process that has not yet imported the package, where an import hook puts the mutant in (`import_mutant`).
"""

from __future__ import annotations

import ast
import gc
import importlib.abc
import importlib.util
import json
import os
import resource
import select
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, TypeAlias

import mutations
import pytest

PATIENCE, MEMORY = 6.0, 6 << 30  # times the usual duration, bytes: what a test may use with a mutant in
FEWEST = 3  # tests that are run however long they take
Answer: TypeAlias = dict[str, Any]
Send: TypeAlias = Callable[[Answer], None]
Task: TypeAlias = Callable[[Send], None]


def forked(tasks: Iterator[tuple[Any, Task]], jobs: int) -> Iterator[tuple[Any, Answer]]:
    """Run tasks (name, function) in forked processes, `jobs` at a time; yields (name, the last answer of the function).

    The function is called with a function that sends an answer. `signal` in an answer: what ended the process, or 0.
    """
    running: dict[int, tuple[Any, int, bytes]] = {}  # by the pipe's end: name, process, what it has sent
    source, is_open = iter(tasks), True
    try:
        while is_open or running:
            while is_open and len(running) < jobs:
                try:
                    name, task = next(source)
                except StopIteration:
                    is_open = False
                    break
                pipe, pid = _fork(task)
                running[pipe] = (name, pid, b"")
            for pipe in select.select(list(running), [], [], 1.0)[0] if running else []:
                name, pid, sent = running[pipe]
                if more := os.read(pipe, 1 << 16):
                    running[pipe] = (name, pid, sent + more)
                    continue
                del running[pipe]
                yield name, _end(pipe, pid, sent)
    finally:
        for pipe, (_, pid, _) in running.items():
            _end(pipe, pid, b"")


def _fork(task: Task) -> tuple[int, int]:
    sys.stdout.flush()
    sys.stderr.flush()
    pipe, end = os.pipe()
    pid = os.fork()
    if pid:
        os.close(end)
        return pipe, pid
    try:
        os.setsid()
        os.close(pipe)
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        task(lambda answer: _send(end, answer))
    except BaseException as error:
        _send(end, {"error": repr(error)[:300]})
    finally:
        os._exit(0)


def _send(pipe: int, answer: Answer) -> None:
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


def _end(pipe: int, pid: int, sent: bytes) -> Answer:
    os.close(pipe)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    answer: Answer = json.loads(sent.splitlines()[-1]) if sent.strip() else {}
    return {**answer, "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0}


def set_limits(seconds: float) -> None:
    """End this process after so many seconds of work, or ten times as many of waiting."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 10 * seconds)


def set_memory_limit() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


class Recorder:
    """Which lines of the mutated files a test executes."""

    def __init__(self, files: set[str]) -> None:
        self.files, self.lines = files, defaultdict[str, set[int]](set)

    def __enter__(self) -> Recorder:
        threading.settrace(self._call)
        sys.settrace(self._call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]

    def _call(self, frame: FrameType, event: str, _: Any) -> Any:
        return self._line if frame.f_code.co_filename in self.files else None

    def _line(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            self.lines[frame.f_code.co_filename].add(frame.f_lineno)
        return self._line


class Coverage:
    """The tests, how long each takes [s], and the lines that each executes."""

    def __init__(self, known: dict[str, Any]) -> None:
        self.known = known  # by test: {"seconds": ..., "lines": {file: [lines]}}
        self.kills: dict[str, Counter[str]] = defaultdict(Counter)  # by function
        self._at: dict[tuple[str, int], list[str]] = defaultdict(list)
        self._touching: dict[str, list[str]] = defaultdict(list)
        for test, record in known.items():
            for path, lines in record["lines"].items():
                self._touching[path].append(test)
                for line in lines:
                    self._at[path, line].append(test)

    def tests_of(self, mutant: mutations.Mutant, budget: float) -> list[str]:
        """The tests that cover a mutant, for `budget` seconds: those first that are likely to notice it soon."""
        found: set[str] = set()
        for first, last in (mutant.lines, mutant.statement) if mutant.is_deferred else ():
            found = found or {test for line in range(first, last + 1) for test in self._at[mutant.path, line]}
        found = found or set(self._touching[mutant.path])  # it runs at import
        found = found or self._near(mutant.path)  # of a module of data alone
        room = Path(mutant.path).parts[2] if mutant.path.startswith("src/") else ""
        kills, families = self.kills[f"{mutant.path}::{mutant.function}"], Counter[str]()

        def cost(test: str) -> float:
            """Short tests first, those of the same room before others, and one example of each family of tests."""
            families[test.split("[")[0]] += 1
            seconds = self.known[test]["seconds"] + 0.02
            breadth = len(self.known[test]["lines"])
            return seconds * (1 if f"tests/{room}/" in test else 4) * breadth * families[test.split("[")[0]]

        ordered = sorted((cost(t) / (1 + 100 * kills[t]), t) for t in sorted(found))
        chosen, total = list[str](), 0.0
        for _, test in ordered:
            total += self.known[test]["seconds"]
            if total > budget and len(chosen) >= FEWEST:
                break
            chosen.append(test)
        return chosen

    def _near(self, path: str) -> set[str]:
        """The tests that touch another module of the same folder."""
        near = [other for other in self._touching if Path(other).parent == Path(path).parent]
        return {test for other in near for test in self._touching[other]}


class Live:
    """A pytest plugin: instead of running the tests that it has collected, it hands them to `work`."""

    def __init__(self, work: Callable[[dict[str, pytest.Item]], None]) -> None:
        self.work = work

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        soften_hypothesis()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.work({item.nodeid: item for item in session.items})
        return True


def soften_hypothesis() -> None:
    """A failing example is enough: it need not be made small."""
    if "hypothesis" not in sys.modules:
        return
    from hypothesis import Phase, settings

    found = [Phase.explicit, Phase.generate]
    settings.register_profile("mutants", settings(), phases=found, database=None, report_multiple_bugs=False)
    settings.load_profile("mutants")


OPTIONS = "-q -x -s --tb=no -p no:cacheprovider -p no:faulthandler -p no:xdist".split()
OPTIONS += ["-m", "not slow", "-W", "ignore::pytest.PytestAssertRewriteWarning"]


def run_tests(items: list[pytest.Item], seconds: dict[str, float], grace: float, send: Send) -> str:
    """The name of the first test that fails, or nothing."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        send({"verdict": "killed", "by": item.nodeid, "how": "stopped"})  # stands if the process ends here
        set_limits(grace + PATIENCE * seconds.get(item.nodeid, 60.0))
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if item.session.testsfailed:
            return item.nodeid
    return ""


def record(items: dict[str, pytest.Item], files: dict[str, str], jobs: int) -> Iterator[tuple[str, Answer]]:
    """Each test alone in a fork: what it executes of `files` (full name -> path), and how long it takes.

    That is time of the processor, as are the limits (`set_limits`): other programs on the machine do not count.
    """

    def task(item: pytest.Item) -> Task:
        def work(send: Send) -> None:
            started = time.process_time()
            with Recorder(set(files)) as recorder:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            lines = {files[name]: sorted(found) for name, found in recorder.lines.items()}
            passed = not item.session.testsfailed
            send({"passed": passed, "seconds": round(time.process_time() - started, 3), "lines": lines})

        return work

    yield from forked(((name, task(item)) for name, item in items.items()), jobs)


def codes(code: CodeType) -> list[CodeType]:
    """A code object and all inside it."""
    return [code, *(inner for part in code.co_consts if isinstance(part, CodeType) for inner in codes(part))]


def functions_of(files: set[str]) -> dict[str, list[FunctionType]]:
    """All live functions whose code stands in these files."""
    found: dict[str, list[FunctionType]] = defaultdict(list)
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename in files:
            found[thing.__code__.co_filename].append(thing)
    return found


def exchange_code(name: str, source: str, mutant: mutations.Mutant, functions: list[FunctionType]) -> bool:
    """Put a mutant into live functions of the file `name`; whether that was possible."""
    before = codes(compile(source, name, "exec", dont_inherit=True))
    after = codes(compile(mutations.mutated_tree(source, mutant), name, "exec", dont_inherit=True))
    if [c.co_qualname for c in before] != [c.co_qualname for c in after]:
        return False
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new and old.co_name != "<module>"]
    exchanged = False
    for function in functions:
        for old, new in changed:
            if function.__code__ == old:
                try:
                    function.__code__ = new
                except ValueError:  # another number of free variables
                    return False
                exchanged = True
                break
    return exchanged


class import_mutant(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """An import hook: the module in the file `name` is made from a mutated tree."""

    def __init__(self, module: str, name: str, tree: ast.Module) -> None:
        self.module, self.name, self.tree = module, name, tree

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname != self.module:
            return None
        folder = [str(Path(self.name).parent)] if self.name.endswith("__init__.py") else None
        return importlib.util.spec_from_file_location(
            fullname, self.name, loader=self, submodule_search_locations=folder
        )

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: Any) -> None:
        exec(compile(self.tree, self.name, "exec", dont_inherit=True), module.__dict__)
