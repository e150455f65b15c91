"""The ends of error messages about names: the nearest one that is known."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from os import PathLike
from pathlib import Path

FILES = 1000  # of a folder, among which the nearest is looked for


def hint(name: str, names: Iterable[str]) -> str:
    """`; did you mean 'wing'?` if a known name is near, else nothing: the end of an error message."""
    near = get_close_matches(str(name), list(names), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def file_hint(path: str | PathLike[str]) -> str:
    """The same for a file that does not exist: the nearest one in its folder; else a full stop."""
    path = Path(path)
    try:
        names = [there.name for there in islice(path.parent.iterdir(), FILES)]
    except OSError:
        return "."
    near = get_close_matches(path.name, names, 1)
    return f"; did you mean '{path.parent / near[0]}'?" if near else "."
