"""The problems of a scenario, each with its place, the value there, what was expected, and the nearest valid key."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from poinsot._hints import hint
from poinsot.files.toml_lines import Path, line_of

ABSENT = object()


@dataclass(frozen=True)
class Problem:
    """One problem: its place, what is wrong, and the value there, if any."""

    path: Path
    text: str
    value: object = ABSENT

    def line(self, lines: Mapping[Path, int]) -> int | None:
        """The line in the file."""
        return line_of(self.path, dict(lines))

    def __str__(self) -> str:
        has_table = isinstance(self.value, list) and any(isinstance(x, dict) for x in self.value)
        is_shown = self.value is not ABSENT and not isinstance(self.value, dict) and not has_table
        text = self.text if self.text.endswith("?") else f"{self.text}."
        where = dotted(self.path) + (f" = {shown(self.value)}" if is_shown else "")
        return f"{where}: {text}" if self.path else text


class ScenarioError(ValueError):
    """A scenario that cannot be run, with all its problems."""

    def __init__(self, source: str, problems: Iterable[Problem], lines: Mapping[Path, int] | None = None) -> None:
        self.source, self.problems, self.lines = source, list(problems), dict(lines or {})
        super().__init__("\n".join(self.messages()))

    def messages(self) -> list[str]:
        """Each problem as "file:line: path = value: what is wrong", in the order of the file."""
        by_line = sorted(((p.line(self.lines) or 0, k, p) for k, p in enumerate(self.problems)), key=lambda x: x[:2])
        return [f"{self.source}{f':{line}' if line else ''}: {p}" for line, _, p in by_line]


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
    """An unknown key, and the nearest one that is known."""
    known = list(known)
    return Problem(where, f"there is no such key{hint(str(where[-1]), known) or '; there are ' + ', '.join(known)}")


def shown(value: object) -> str:
    """A value as TOML writes it, cut if it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)  # of dates and times
    except (TypeError, ValueError):
        text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."
