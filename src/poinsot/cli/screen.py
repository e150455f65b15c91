"""Output of the command: text, tables and small drawings for people, JSON for scripts, file names if quiet."""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from poinsot._types import Array

MOST = 12  # lines of a table
WIDE = 112  # columns of a screen that has room for all of the ledger


@dataclass
class Screen:
    """The output of a command, coloured on a terminal. `quiet`: only names of results; `json`: one object."""

    quiet: bool = False
    json: bool = False

    @cached_property
    def console(self) -> Console:
        return Console(highlight=False, emoji=False)

    @property
    def talks(self) -> bool:
        """Whether people read the output."""
        return not (self.quiet or self.json)

    def say(self, text: Any = "", style: str | None = None) -> None:
        """A line for people."""
        if self.talks:
            self.console.print(escape(text) if isinstance(text, str) else text, style=style)

    def result(self, text: str) -> None:
        """A line for quiet output: the name of a result."""
        if self.quiet and not self.json:
            print(text)

    def data(self, content: dict[str, Any]) -> None:
        """The JSON object for scripts."""
        if self.json:
            print(json.dumps(plain(content), indent=2, allow_nan=False))

    def table(
        self, heads: Sequence[str], lines: Iterable[Sequence[str]], left: int = 1, most: int | None = MOST
    ) -> None:
        """A table, its first columns aligned left, numbers right; only the first lines of a long one (None: all)."""
        if not self.talks:
            return
        lines = list(lines)
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        for k, head in enumerate(heads):
            justify: Any = "left" if k < left else "right"
            table.add_column(escape(head), justify=justify, overflow="fold", header_style="dim", no_wrap=k == 0)
        for line in lines[:most]:
            table.add_row(*(escape(cell) for cell in line))
        self.console.print(table)
        if most is not None and len(lines) > most:
            self.say(f"... and {len(lines) - most} more", "dim")

    def draw(self, time: Array, x: Array, label: str) -> None:
        """A curve over time, drawn with characters."""
        if not self.talks or len(x) < 2 or not np.all(np.isfinite(x)):
            return
        self.say(label, "bold")
        for line in picture(time, x, width=min(self.console.width, 100) - 10):
            self.console.print(escape(line), style="cyan")
        self.say()


def picture(time: Array, x: Array, width: int = 70, height: int = 9) -> list[str]:
    """The lines of a drawing of x over time."""
    columns = np.linspace(time[0], time[-1], width)
    y = np.interp(columns, time, x)
    low, high = float(np.min(x)), float(np.max(x))
    if low < 0 < high and min(-low, high) > 0.5 * max(-low, high):
        high = max(-low, high)
        low = -high
    span = high - low or 1.0
    rows = np.clip(np.rint((high - y) / span * (height - 1)), 0, height - 1).astype(int)
    zero = round(high / span * (height - 1)) if low < 0 < high else -1
    dot = "●" if (sys.stdout.encoding or "").lower().replace("-", "") == "utf8" else "*"
    lines = []
    for row in range(height):
        label = {0: short(high), height - 1: short(low), zero: "0"}.get(row, "")
        line = "".join(dot if r == row else "-" if row == zero else " " for r in rows)
        lines.append(f"{label:>8} {line}".rstrip())
    end = f"{short(time[-1])} s"
    return [*lines, f"{'':>8} {f'{short(time[0])} s':<{width - len(end)}}{end}"]


def short(x: float) -> str:
    """A number in at most eight characters."""
    return f"{x + 0.0:.4g}"


def vectors(rows: Array, scales: Array) -> list[str]:
    """Vectors (n, 3), one per line, their components under each other; each with four digits of its scale (n,)."""
    cells = [[fixed(value, scale) for value in row] for row, scale in zip(rows, scales, strict=True)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]


def fixed(x: float, scale: float, digits: int = 4) -> str:
    """A number with as many decimals as give a number of this scale so many digits; `0` if none of them is there."""
    if not (np.isfinite(x) and 1e-4 < scale < 1e8):
        return short(float(x)) if not abs(x) < 10.0**-digits * scale else "0"
    decimals = max(digits - 1 - int(np.floor(np.log10(scale))), 0)
    return "0" if abs(x) < 0.5 * 10.0**-decimals else f"{x:.{decimals}f}"


def vector(x: Array, form: str = ".4g", small: float = 1e-15) -> str:
    """Numbers side by side; those very small relative to the others are shown as zero."""
    x = np.atleast_1d(x)
    x = np.where(np.abs(x) <= small * np.abs(x).max(initial=0.0), 0.0, x)
    return "  ".join(format(float(value) + 0.0, form) for value in x)


def seconds(x: float) -> str:
    """A time with its unit, ms or s."""
    return f"{1e3 * x:.3g} ms" if x < 0.9995 else f"{x:.4g} s"


def plain(x: Any) -> Any:
    """Anything as JSON can hold it; numbers that are not finite become null."""
    if isinstance(x, dict):
        return {str(key): plain(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(value) for value in x]
    if isinstance(x, np.ndarray):
        return plain(x.tolist())
    if isinstance(x, np.generic):
        return plain(x.item())
    if isinstance(x, float):
        return x if np.isfinite(x) else None
    return x if x is None or isinstance(x, (str, int, bool)) else str(x)


def complain(*lines: str) -> None:
    """Print errors to stderr."""
    console = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
    for line in lines:
        console.print(escape(line), style="red")
