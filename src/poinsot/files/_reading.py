"""Shared by the readers of robot files: opening them, placing errors, listing what was ignored."""

import codecs
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from poinsot.files import size_limits

FORMATS = {
    "robot": "URDF: use load_urdf",
    "mujoco": "MJCF: use load_mjcf",
    "DAVEfunc": "DAVE-ML: use load_daveml",
    "sdf": "SDF: use load_sdf",
}


MOST = 40  # of what is ignored, in a message


@contextmanager
def inside(where: object) -> Iterator[None]:
    """Put the place of an error in front of its message: the file, the link."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def source(path: str | os.PathLike[str], tag: str) -> bytes:
    """The text of an XML file whose root has this tag, without comments, which may hold what strict parsers refuse."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no file {os.fspath(path)!r} (working directory: {Path.cwd()}).")
    size_limits.check_size(Path(path), size_limits.ROBOT_BYTES)
    written = Path(path).read_bytes()
    if written[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise ValueError(f"{path}: it is encoded in UTF-16. Save it as UTF-8.")
    text = _without_comments(written)
    first = re.search(rb"<([^\s<>/?!]+)", text)
    root = first[1].decode(errors="replace") if first else ""
    if root != tag:
        hint = f" This is {FORMATS[root]}." if root in FORMATS else ""
        raise ValueError(f"{path}: the root element is <{root}>, not <{tag}>.{hint}")
    return text


def _without_comments(text: bytes) -> bytes:
    """The text with only the line breaks of its comments left, in time proportional to its length."""
    pieces, place = [], 0
    while (start := text.find(b"<!--", place)) >= 0 and (end := text.find(b"-->", start + 4)) >= 0:
        pieces += [text[place:start], b"\n" * text.count(b"\n", start, end)]
        place = end + 3
    return b"".join([*pieces, text[place:]])


def warn_ignored(path: str | os.PathLike[str], counts: Mapping[str, int]) -> None:
    """One warning that lists, with counts, what a mechanism does not hold of a file."""
    ignored = [f"{what} ({int(count)})" for what, count in counts.items() if count]
    if len(ignored) > MOST:
        ignored = [*ignored[:MOST], f"and {len(ignored) - MOST} more"]
    if ignored:
        warnings.warn(f"{path}: ignored: {', '.join(ignored)}.", UserWarning, stacklevel=3)
