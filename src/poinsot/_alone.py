"""Whether this process runs the command `poinsot` and no code but Poinsot's own.

Only then may results be found by the content of Poinsot's source: elsewhere anybody may have changed a function of it
as it runs. Nor if its source has changed since the process began: what runs is then not what stands in the files.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

HERE = os.path.dirname(__file__)
BEGAN = time.time_ns()
_alone = False
_one_run = False


def is_alone() -> bool:
    return _alone


def source_files() -> list[str]:
    """All modules of Poinsot, in order."""
    found = [os.path.join(at, name) for at, _, names in os.walk(HERE) for name in names if name.endswith(".py")]
    return sorted(found)


def is_source_as_begun() -> bool:
    """Whether no module has changed, or come, since the process began."""
    states = map(os.stat, source_files())
    return all(max(state.st_mtime_ns, state.st_ctime_ns) < BEGAN for state in states)


@contextmanager
def alone(wanted: bool = True) -> Iterator[None]:
    """Say so, for a while."""
    global _alone, _one_run
    before, _alone = _alone, wanted
    try:
        yield
    finally:
        _alone, _one_run = before, False


def one_run() -> None:
    """Say that this process makes a single run, and ends."""
    global _one_run
    _one_run = True


def makes_one_run() -> bool:
    """Whether nothing that is made for a run is used by another one."""
    return _alone and _one_run


def not_alone() -> None:
    """Say that code of others runs in this process from now on."""
    global _alone
    _alone = False
