"""Run the courses in docs/courses [NAME ...], and write what they print and draw into their pages."""

import contextlib
import io
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from poinsot.files.course_pages import Cell, cells, courses

PICTURES = Path(__file__).parent.parent / "pictures" / "courses"
COLOURS = ["#2a6f97", "#d1495b", "#3a7d44", "#e09f3e", "#7b5ea7", "#8d99ae"]
STYLE = {
    "font.size": 11,
    "figure.dpi": 110,
    "figure.constrained_layout.use": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e8ecf1",
    "axes.prop_cycle": plt.cycler(color=COLOURS),
    "axes.titlelocation": "left",
    "axes.titlesize": 12,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "lines.linewidth": 1.7,
}


def executed(page: str, name: str) -> Iterator[tuple[Cell, str, list[Any]]]:
    """Each cell of code with what it prints, and the figures that it leaves open."""
    plt.close("all")  # figures of others
    namespace: dict[str, Any] = {"__name__": name}
    for cell in cells(page):
        if not cell.code:
            continue
        above = "\n" * page[: page.index(f"```python\n{cell.text}")].count("\n") + "\n"  # errors tell lines of the page
        printed = io.StringIO()
        with plt.rc_context(STYLE), contextlib.redirect_stdout(printed):
            exec(compile(above + cell.text, str(courses()[name]), "exec"), namespace)
        text = "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())
        yield cell, text, [plt.figure(number) for number in plt.get_fignums()]
        plt.close("all")


def alike(one: str, other: str) -> bool:
    """Whether two printed texts say the same: numbers to one unit of their last digit, and those below 1e-9 at will.

    Processors round differently: a residual of 2e-16 here is 3e-17 there, and columns are then set differently.
    """
    number = r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?"
    texts = [re.sub(r"[\s─]+", " ", re.sub(number, "#", text)) for text in (one, other)]
    pairs = zip(re.findall(number, one), re.findall(number, other), strict=False)
    return texts[0] == texts[1] and all(_near(a, b) for a, b in pairs)


def _near(one: str, other: str) -> bool:
    digits, _, power = one.partition("e")
    unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
    return abs(float(one) - float(other)) <= max(1.001 * unit, 1e-9)


def with_results(page: str, name: str) -> str:
    """The page with the output of each cell after it; its figures are written to PICTURES."""
    for cell, printed, figures in executed(page, name):
        if len(figures) != len(cell.pictures):
            raise ValueError(
                f"{name}: a cell draws {len(figures)} figures and links {list(cell.pictures)}:\n{cell.text}"
            )
        for figure, file in zip(figures, cell.pictures, strict=True):
            with plt.rc_context(STYLE):  # colours by number are looked up when they are drawn
                figure.savefig(PICTURES / file)
        block = f"```python\n{cell.text}```\n"
        old = block + (f"\n```output\n{cell.output}```\n" if cell.output else "")
        if alike(printed, cell.output):
            continue
        page = page.replace(old, block + (f"\n```output\n{printed}```\n" if printed else ""), 1)
    return page


def main(names: list[str]) -> None:
    known = courses()
    for name in names or known:
        begun, path = time.process_time(), known[name]
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            page = with_results(path.read_text(), name)
        if page != path.read_text():
            path.write_text(page)
        words = len(re.findall(r"\w+", page))
        print(f"{name}: {time.process_time() - begun:.1f} s of processor time, {words} words", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
