"""The lines of the keys of a TOML file, which the parser of the standard library does not tell."""

import re
from collections.abc import Iterator

Path = tuple[str | int, ...]

BARE = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)\s*""")


def lines_of(text: str) -> dict[Path, int]:
    """The line (from 1) of every table and key of a valid TOML text, by its path: ("body", 0, "shape", 1, "radius").

    Anything inside an inline table or array has the line of its key.
    """
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    for number, statement in _statements(text):
        if statement.startswith("["):
            many = statement.startswith("[[")
            names = _keys(statement.strip("[] \t"))[0]
            table = _entered(names[:-1], counts)
            if many:
                counts[(*table, names[-1])] = counts.get((*table, names[-1]), -1) + 1
                lines.setdefault((*table, names[-1]), number)
            table = _entered(names, counts)
            lines[table] = number
        else:
            names, _ = _keys(statement)
            for k in range(len(names)):
                lines.setdefault((*table, *names[: k + 1]), number)
    return lines


def line_of(path: Path, lines: dict[Path, int]) -> int | None:
    """The line of a path, or of the innermost table around it that has one."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return lines.get(())


def _entered(names: Path, counts: dict[Path, int]) -> Path:
    """The path of a header; arrays of tables are entered at their last item."""
    path: Path = ()
    for name in names:
        path = (*path, name)
        if path in counts:
            path = (*path, counts[path])
    return path


def _keys(text: str) -> tuple[Path, str]:
    """The dotted key at the front of a text, and the rest of the text."""
    names: list[str] = []
    while match := BARE.match(text):
        name = match[1]
        names.append(name[1:-1] if name[:1] in "\"'" else name)
        text = text[match.end() :]
        if not text.startswith("."):
            break
        text = text[1:]
    return tuple(names), text


TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}]|\n', re.DOTALL
)


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Headers and assignments without comments, each with the number of its first line."""
    start = number = 1
    depth = begin = 0
    piece = ""
    for match in TOKEN.finditer(text + "\n"):
        mark = match[0]
        piece += text[begin : match.start()]
        begin = match.end()
        number += mark.count("\n")
        depth += (mark in "[{") - (mark in "]}")
        if mark == "\n" and depth == 0:
            if piece.strip():
                yield start, piece.strip()
            piece, start = "", number
        elif not mark.startswith("#"):
            piece += mark
