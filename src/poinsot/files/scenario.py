"""Scenarios: a world, how it is run, and what is varied, in a TOML file. Checked as a whole before anything runs.

`docs/scenarios.md` tells all that can stand in one.
"""

import copy
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from poinsot.files.problems import Problem, ScenarioError
from poinsot.files.toml_lines import lines_of
from poinsot.run import Run
from poinsot.world import World


@dataclass(frozen=True, eq=False)
class Scenario:
    """A world to be run: with options for `simulate`, what to draw, and what to vary in a sweep."""

    name: str
    title: str
    about: str
    world: World
    options: Mapping[str, Any]
    show: Mapping[str, Any] = field(default_factory=dict)
    sweep: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""

    def run(self, **changes: Any) -> Run:
        """Simulate it, with these options changed."""
        return self.world.simulate(**{**self.options, **changes})


def load_scenario(
    path: str | os.PathLike[str], changes: Mapping[str, Any] | None = None, allow_code: bool = False
) -> Scenario:
    """The scenario in a TOML file.

    changes: other values by their paths, such as {"run.duration": 5, "box.mass": "3 kg"}.
    allow_code: let it name functions of Python modules, "module:function", which are then imported.

    A `ScenarioError` tells all that is wrong, with lines and paths.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file '{path}'.")
    return read_scenario(path.read_text(encoding="utf-8"), str(path), path.parent, changes, allow_code)


def read_scenario(
    text: str,
    source: str = "scenario",
    folder: Path | None = None,
    changes: Mapping[str, Any] | None = None,
    allow_code: bool = False,
) -> Scenario:
    """The scenario in a text; files that it names are looked for in the folder."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax(source, error) from None
    from poinsot.files.building import Builder
    from poinsot.files.readers import Context

    lines = lines_of(text)
    later, problems = _changed(data, changes or {})
    builder = Builder(data, Context(folder or Path(), allow_code=allow_code), problems)
    scenario = builder.build(Path(source).stem, source, later)
    if builder.problems or scenario is None:
        raise ScenarioError(source, builder.problems, lines)
    return scenario


def _syntax(source: str, error: tomllib.TOMLDecodeError) -> ScenarioError:
    """What tomllib says, with its line in front."""
    match = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", str(error))
    text, line = (f"{match[1]}, in column {match[3]}", int(match[2])) if match else (str(error), 0)
    return ScenarioError(source, [Problem((), f"this is not TOML: {text}")], {(): line})


# Changes from the command line.


def _changed(data: dict[str, Any], changes: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Put values at their paths into the data; what is no key of it, but may be a number of the world, comes back."""
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
            problems.append(Problem(tuple(keys), "there is nothing that could be set"))
    return later, problems


def _place(data: dict[str, Any], keys: list[str | int]) -> tuple[Any, Any] | None:
    """The table and the key in it that a path means: of the file, or of the item with the name that it starts with."""
    from poinsot.files import kinds

    if not keys:
        return None
    first = keys[0]
    if first in kinds.top_keys():
        here: Any = data
        for key in keys[:-1]:
            if isinstance(here, list) and isinstance(key, str):
                named = [x for x in here if isinstance(x, dict) and x.get("name") == key]
                here = named[0] if named else None
            elif isinstance(here, dict):
                here = here.setdefault(key, {})
            else:
                here = here[key] if isinstance(here, list) and isinstance(key, int) and key < len(here) else None
            if here is None:
                return None
        return here, keys[-1]
    for kind, model in kinds.lists().items():
        for item in data.get(kind, []) if isinstance(data.get(kind), list) else []:
            if (
                isinstance(item, dict)
                and item.get("name") == first
                and len(keys) == 2
                and keys[1] in model.model_fields
            ):
                return item, keys[1]
    return None


def changes_of(texts: Sequence[str]) -> dict[str, Any]:
    """path=value, as given on a command line: the value is TOML, or else a text."""
    found = {}
    for text in texts:
        path, equals, value = text.partition("=")
        if not equals or not path.strip():
            raise ValueError(f"{text!r}: expected path=value, such as run.duration=5")
        try:
            found[path.strip()] = tomllib.loads(f"x = {value}")["x"]
        except tomllib.TOMLDecodeError:
            found[path.strip()] = value.strip()
    return found
