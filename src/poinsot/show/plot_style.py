"""The colours and the style of all plots, and the axes that a user gives to draw into."""

from typing import Any

import numpy as np

COLOURS = ("#2a6f97", "#d1495b", "#5b8e7d", "#e09f3e", "#7d5a94", "#3d5a80")
INK, GREY, PALE = "#30475e", "#8d99ae", "#a9bccf"
STYLE = {
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left",
    "text.parse_math": False, "text.usetex": False,  # names are text, also with a $ in them
}  # fmt: skip


def given_axes(ax: Any, count: int) -> list[Any]:
    """The axes of matplotlib that a user gave, one or many, checked: as many as there are panels."""
    axes = list(np.ravel(np.array(ax, dtype=object)))
    if len(axes) != count:
        panels = "1 panel" if count == 1 else f"{count} panels"
        raise ValueError(f"ax: {len(axes)} axes are given for {panels}; give one for each.")
    for place in axes:
        if not hasattr(place, "plot"):
            raise ValueError(f"ax: {place!r} is not an axes of matplotlib.")
    return axes
