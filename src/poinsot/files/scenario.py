"""Scenarios: a world, how to run it, and what to vary, in a TOML file. Checked as a whole before anything runs.

`docs/scenarios.md` describes all of its keys.
"""

import copy
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from poinsot.files import size_limits
from poinsot.files.problems import Problem, ScenarioError
from poinsot.files.size_limits import NESTING
from poinsot.files.toml_lines import lines_of
from poinsot.run import Run
from poinsot.study.trimmed import Trim
from poinsot.world import World


@dataclass(frozen=True, eq=False)
class Scenario:
    """A world with options for `simulate`, for what to draw, what to vary in a sweep, and how to fly it."""

    name: str
    title: str
    about: str
    world: World
    options: Mapping[str, Any]
    show: Mapping[str, Any] = field(default_factory=dict)
    sweep: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    trim: Trim | None = None  # of its start
    fly: Mapping[str, Any] = field(default_factory=dict)

    def run(self, **changes: Any) -> Run:
        """Simulate it, with other values of these options."""
        start = self.trim_start if changes.get("vary") else {}
        return self.world.simulate(**{**self.options, **start, **changes})

    @property
    def trim_start(self) -> dict[str, Any]:
        """The option `start` of runs whose instances are each trimmed for their own numbers, if its start is a trim."""
        return {} if self.trim is None else {"start": self.trim.made}


def load_scenario(
    path: str | os.PathLike[str], changes: Mapping[str, Any] | None = None, allow_code: bool = False
) -> Scenario:
    """The scenario in a TOML file.

    changes: other values by their paths, such as {"run.duration": 5, "box.mass": "3 kg"}.
    allow_code: import functions of Python modules that it names as "module:function".

    A `ScenarioError` lists all problems, with lines and paths.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file '{path}'.")
    size_limits.check_size(path, size_limits.SCENARIO_BYTES)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        problem = Problem((), f"the file is not UTF-8: byte {error.start} is {error.object[error.start]:#04x}")
        raise ScenarioError(str(path), [problem], {}) from None
    return read_scenario(text, str(path), path.parent, changes, allow_code)


def read_scenario(
    text: str,
    source: str = "scenario",
    folder: Path | None = None,
    changes: Mapping[str, Any] | None = None,
    allow_code: bool = False,
) -> Scenario:
    """The scenario in a text; paths of files in it are relative to the folder."""
    data = _parsed(text, source)
    from poinsot.files.building import Builder
    from poinsot.files.readers import Context

    lines = lines_of(text)
    later, problems = _changed(data, changes or {})
    builder = Builder(data, Context(folder or Path(), allow_code=allow_code), problems)
    scenario = builder.build(Path(source).stem, source, later)
    if builder.problems or scenario is None:
        raise ScenarioError(source, builder.problems, lines)
    return scenario


def _parsed(text: str, source: str) -> dict[str, Any]:
    """The data of a TOML text, or an error that says why there are none."""
    try:
        data = tomllib.loads(text)
        level: list[Any] = [data]
        for _ in range(NESTING):
            level = [x for item in level for x in _items(item) if isinstance(x, (dict, list))]
            if not level:
                return data
    except tomllib.TOMLDecodeError as error:
        raise _syntax(source, error) from None
    except RecursionError:
        pass
    except ValueError as error:  # Python's limit on the digits of a whole number
        raise ScenarioError(source, [Problem((), f"not valid TOML: {str(error).split(';')[0]}")], {}) from None
    raise ScenarioError(source, [Problem((), f"brackets or tables are nested more than {NESTING} deep")], {})


def _items(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _syntax(source: str, error: tomllib.TOMLDecodeError) -> ScenarioError:
    """The error of tomllib, with its line in front."""
    match = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", str(error))
    text, line = (f"{match[1]}, in column {match[3]}", int(match[2])) if match else (str(error), 0)
    return ScenarioError(source, [Problem((), f"not valid TOML: {text}")], {(): line})


# Changes from the command line.


def _changed(data: dict[str, Any], changes: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Set values at their paths in the data; return those whose paths are not keys but may be numbers of the world."""
    later: dict[str, Any] = {}
    problems = []
    for path, value in changes.items():
        keys = [int(k) if k.isdigit() else k for k in re.findall(r"[^.\[\]]+", path)]
        place = _place(data, keys)
        if place is None:
            later[path] = value
            continue
        table, key = place
        try:
            table[key] = copy.deepcopy(value)
        except (TypeError, IndexError):
            problems.append(Problem(tuple(keys), "there is nothing to set"))
    return later, problems


def _place(data: dict[str, Any], keys: list[str | int]) -> tuple[Any, Any] | None:
    """The table and the key in it that a path means: from the top of the file, or from the item of that name."""
    from poinsot.files import kinds

    if keys and keys[0] in kinds.top_keys():
        table: Any = data
        for key in keys[:-1]:
            table = _entered(table, key)
        return None if table is None else (table, keys[-1])
    if len(keys) == 2:
        for kind, model in kinds.lists().items():
            items = data.get(kind)
            for item in items if isinstance(items, list) and keys[1] in model.model_fields else ():
                if isinstance(item, dict) and item.get("name") == keys[0]:
                    return item, keys[1]
    return None


def _entered(table: Any, key: str | int) -> Any:
    """The table at a key of a table, made if need be; or the item of a list, by its number or name. None: neither."""
    if isinstance(table, dict):
        return table.setdefault(key, {})
    if not isinstance(table, list):
        return None
    if isinstance(key, int):
        return table[key] if key < len(table) else None
    return next((item for item in table if isinstance(item, dict) and item.get("name") == key), None)


def parse_changes(texts: Sequence[str]) -> dict[str, Any]:
    """Values by their paths from texts "path=value"; a value is TOML, or else a text."""
    changes = {}
    for text in texts:
        path, equals, value = text.partition("=")
        if not equals or not path.strip():
            raise ValueError(f"{text!r}: expected path=value, such as run.duration=5")
        try:
            changes[path.strip()] = tomllib.loads(f"x = {value}")["x"]
        except tomllib.TOMLDecodeError:
            changes[path.strip()] = value.strip()
    return changes
