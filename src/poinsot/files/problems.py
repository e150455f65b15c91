"""What is wrong with a scenario: all of it, each with its place, the value, what was expected, and the nearest key."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from poinsot._hints import hint
from poinsot.files.toml_lines import Path, line_of

ABSENT = object()


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: where, the value there if there is one, and what is wrong about it."""

    path: Path
    text: str
    value: Any = ABSENT

    def line(self, lines: Mapping[Path, int]) -> int | None:
        """The line in the file."""
        return line_of(self.path, dict(lines))

    def __str__(self) -> str:
        given = "" if self.value is ABSENT or isinstance(self.value, (dict, list)) else f" = {shown(self.value)}"
        if isinstance(self.value, list) and not any(isinstance(x, dict) for x in self.value):
            given = f" = {shown(self.value)}"
        where = dotted(self.path)
        end = "" if self.text.endswith("?") else "."
        return f"{where}{given}: {self.text}{end}" if where else f"{self.text}{end}"


class ScenarioError(ValueError):
    """A scenario that cannot be run, with all that is wrong about it."""

    def __init__(self, source: str, problems: Iterable[Problem], lines: Mapping[Path, int] | None = None) -> None:
        self.source, self.problems, self.lines = source, list(problems), dict(lines or {})
        super().__init__("\n".join(self.messages()))

    def messages(self) -> list[str]:
        """Each problem as "file:line: path = value: what is wrong", in the order of the file."""
        found = sorted(((p.line(self.lines) or 0, k, p) for k, p in enumerate(self.problems)), key=lambda x: x[:2])
        return [f"{self.source}{f':{line}' if line else ''}: {p}" for line, _, p in found]


def dotted(path: Path) -> str:
    """("body", 2, "shape", 0, "radius") as body[2].shape[0].radius."""
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def at(data: Any, path: Path) -> Any:
    """The value at a path, or ABSENT."""
    for key in path:
        try:
            data = data[key]
        except (KeyError, IndexError, TypeError):
            return ABSENT
    return data


def unknown(where: Path, known: Iterable[str]) -> Problem:
    """A key that is not known, and the nearest one that is."""
    known = list(known)
    return Problem(where, f"there is no such key{hint(str(where[-1]), known) or '; there are ' + ', '.join(known)}")


def shown(value: Any) -> str:
    """A value as a TOML file would have it, cut short if it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."
