"""Courses: pages of text, code, its printed output and its pictures, which become notebooks.

A course is a page in Markdown. A block ```python is a cell. What it prints stands in a block ```output after it, and
the figures that it draws in links to pictures/courses. A solution stands between <details> and </details>. All cells of
a page share one namespace. Text keeps its history line by line and reads in any viewer; notebooks in JSON do not.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import poinsot
from poinsot._hints import hint

_BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```output\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
_FIGURE = re.compile(r"^!\[([^\]]*)\]\(\S*pictures/courses/([\w-]+\.png)\)\n", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]]*)\]\((?!\w+://)[^)]*\)")


@dataclass(frozen=True)
class Cell:
    """A piece of a course: text, or code with what it prints and the pictures that it draws."""

    text: str
    code: bool = False
    output: str = ""
    pictures: tuple[str, ...] = ()
    solution: bool = False


def courses() -> dict[str, Path]:
    """The courses that come with Poinsot, by name."""
    here = Path(poinsot.__file__).parent
    folders = (here / "courses", here.parents[1] / "docs" / "courses")  # installed, or in a checkout
    folder = next((f for f in folders if f.is_dir()), folders[0])
    return {path.stem: path for path in sorted(folder.glob("*.md")) if path.stem != "index"}


def course_path(name: str) -> Path:
    """The page of a course, by its name."""
    known = courses()
    if name not in known:
        raise ValueError(f"there is no course {name!r}{hint(name, known) or '; poinsot course lists them.'}")
    return known[name]


def title(page: str) -> str:
    """The heading of a page."""
    return page.split("\n", 1)[0].removeprefix("# ")


def cells(page: str) -> list[Cell]:
    """The text and the code of a page, in their order."""
    out: list[Cell] = []
    blocks = list(_BLOCK.finditer(page))
    ends = [*(b.start() for b in blocks[1:]), len(page)]
    if page[: blocks[0].start() if blocks else len(page)].strip():
        out.append(Cell(page[: blocks[0].start() if blocks else len(page)]))
    for block, end in zip(blocks, ends, strict=True):
        before, after = page[: block.start()], page[block.end() : end]
        hidden = before.count("<details>") > before.count("</details>")
        figures = tuple(name for _, name in _FIGURE.findall(after))
        out.append(Cell(block[1], True, block[2] or "", figures, hidden))
        if after.strip():
            out.append(Cell(after))
    return out


def notebook(page: str) -> dict[str, Any]:
    """The same course as a notebook of Jupyter, format 4.5, to be run: without outputs, solutions folded."""
    made = []
    for k, cell in enumerate(cells(page)):
        text = cell.text if cell.code else _plain(cell.text)
        if not text.strip():
            continue
        common = {"id": f"cell-{k}", "source": text.strip().splitlines(keepends=True)}
        if cell.code:
            folded = {"jupyter": {"source_hidden": True}, "tags": ["solution"]} if cell.solution else {}
            made.append({"cell_type": "code", "execution_count": None, "metadata": folded, "outputs": [], **common})
        else:
            made.append({"cell_type": "markdown", "metadata": {}, **common})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _plain(text: str) -> str:
    """Text of a page for a notebook: it draws its figures itself, and has no other pages beside it."""
    text = _FIGURE.sub("", text)
    text = re.sub(r"<details>\s*<summary>(.*?)</summary>", r"*\1: in the folded cell below.*", text)
    return _LINK.sub(r"\1", text.replace("</details>", ""))


def notebook_text(page: str) -> str:
    """The notebook as the text of an .ipynb file."""
    return json.dumps(notebook(page), indent=1, ensure_ascii=False) + "\n"
