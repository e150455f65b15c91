"""Write docs/equations.md, the map from the five texts to the code, from docs/equations.toml."""

import importlib
import inspect
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
HEAD = """# From the texts to the code

With one of the five texts in hand, find its equation here, and the code in one step. Every numbered equation,
definition, theorem, figure and step of a procedure has a row, in the order of the text; load-bearing formulas without a
number have one too. Names are those below `poinsot`, linked to their source. A star leads to the [errata](errata.md):
there print has a slip, or holds under an assumption that it does not state.

`docs/make/equations.py` writes this page from `docs/equations.toml`. `tests/test_equations.py` checks that each
function and each test exists, that no number of a text is missing or there twice, and that whatever cites an equation
in its docstring is named in the row of that equation.
"""


class Row(NamedTuple):
    """One line of the map: functions are dotted names below `poinsot`, tests are (file, name), errata are tests too."""

    place: str
    says: str
    functions: tuple[str, ...]
    tests: tuple[tuple[str, str], ...]
    page: str
    errata: tuple[str, ...]


class Text(NamedTuple):
    name: str
    title: str
    rows: tuple[Row, ...]


def texts() -> list[Text]:
    """The five texts, as docs/equations.toml has them."""
    data = tomllib.loads((ROOT / "docs" / "equations.toml").read_text(encoding="utf-8"))
    return [
        Text(text["name"], text["title"], tuple(_row(text["tests"], row) for row in text["rows"]))
        for text in data["text"]
    ]


def _row(file: str, row: list[str]) -> Row:
    place, says, functions, tests, page, *errata = row
    named = tuple(tuple(test.split("::")) if "::" in test else (file, test) for test in tests.split(", "))
    return Row(
        place, says, tuple(functions.split(", ")), named, page, tuple(", ".join(errata).split(", ")) if errata else ()
    )


def labels(place: str) -> list[str]:
    """The labels of a place or citation: "(1), (4)-(6)" -> (1), (4), (5), (6); "2.1, rules" -> section 2.1."""
    if section := re.match(r"(\d(?:\.\d)?), ", place):
        return [f"section {section[1]}"]
    found = []
    for first, last in re.findall(r"\((\d+)\)(?:(?:-| to )\((\d+)\))?", place):
        found += [f"({k})" for k in range(int(first), int(last or first) + 1)]
    return found if re.fullmatch(r"[(). ,\-\dandto]+", place) else [place]


@cache
def resolve(name: str) -> tuple[str, Any]:
    """The full name of a function, class or module below `poinsot`, where it is defined, and the thing itself."""
    parts = name.split(".")
    for k in range(len(parts), -1, -1):
        try:
            thing: Any = importlib.import_module(".".join(["poinsot", *parts[:k]]))
        except ModuleNotFoundError:
            continue
        owner = None
        for part in parts[k:]:
            owner, thing = thing, getattr(thing, part)
        if inspect.ismodule(thing):
            return thing.__name__, thing
        if inspect.isclass(owner):
            return f"{owner.__module__}.{owner.__qualname__}.{parts[-1]}", thing
        return f"{thing.__module__}.{thing.__qualname__}", thing
    raise ModuleNotFoundError(name)


def source(name: str) -> str:
    """The file in which it is defined, relative to the project."""
    full = resolve(name)[0].split(".")
    for k in range(len(full), 0, -1):
        path = Path("src", *full[:k])
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if (ROOT / file).is_file():
                return file.as_posix()
    raise FileNotFoundError(name)


def page() -> str:
    """The text of docs/equations.md."""
    parts = [HEAD]
    for text in texts():
        parts.append(f"\n## {text.title}\n\n| place | says | code | test | page |\n|---|---|---|---|---|\n")
        for row in text.rows:
            code = ", ".join(f"[`{name}`](../{source(name)})" for name in row.functions)
            tests = ", ".join(f"[`{name}`](../{file})" for file, name in row.tests)
            says = row.says.replace("|", "\\|")
            title = (ROOT / "docs" / row.page.split("#")[0]).read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
            star = " [*](errata.md)" if row.errata else ""
            parts.append(f"| {row.place}{star} | {says} | {code} | {tests} | [{title}]({row.page}) |\n")
    return "".join(parts)


if __name__ == "__main__":
    (ROOT / "docs" / "equations.md").write_text(page(), encoding="utf-8")
