"""The meaning of each row of a closure, in words and units: for errors about loops that are open."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from poinsot._types import Array
from poinsot.fuse import is_traced

MOST = 12  # rows that an error tells


class Meaning(NamedTuple):
    """The meaning of a row: the words for a positive gap, such as "along x of frame A", and for a negative one,
    "along -x of frame A"; and the unit, "m", "rad", or "m/s" of a row that holds a velocity only.

    `neutral`: for a row that keeps the angle between two directions, its cosine where the loop is closed; the gap is
    then the change of the cosine.
    """

    positive: str
    negative: str
    unit: str
    neutral: Any = None

    def off(self, gap: float) -> float:
        """A gap in the unit."""
        if self.neutral is None:
            return gap
        return float(np.arccos(np.clip(self.neutral + gap, -1.0, 1.0)) - np.arccos(np.clip(self.neutral, -1.0, 1.0)))

    def told(self, gap: float) -> str:
        """A gap in words, as "0.2 m along x of frame A"."""
        return f"{abs(self.off(gap)):.3g} {self.unit} {self.negative if gap < 0 else self.positive}"


def along(d: Array, of: str, what: str = "along", unit: str = "m") -> Meaning:
    """The meaning of a row that measures along or about a direction d (3,) of a frame."""
    return Meaning(f"{what} {direction(d)} of {of}", f"{what} {direction(-1.0 * d)} of {of}", unit)


def direction(d: Array) -> str:
    """A direction in words: an axis, or its three numbers."""
    if is_traced(d):
        return "a direction"
    for name, axis in zip("xyz", np.eye(3), strict=True):
        for sign, signed in (("", axis), ("-", -axis)):
            if np.allclose(d, signed, rtol=0, atol=1e-12):
                return sign + name
    return "(" + ", ".join(f"{x + 0.0:.3g}" for x in d) + ")"


def told(meanings: Sequence[tuple[str, Meaning]], gaps: Array, sizes: Array, tolerance: float) -> str:
    """In words, how far loops are open: of each that is, every row; of many rows the largest by their sizes.

    `meanings`: the name of the loop and the meaning of each row (m,). `gaps`, `sizes` (m,).
    """
    relative = np.abs(gaps) / sizes
    relative = np.where(np.isnan(relative), np.inf, relative)
    open_ones = {name for (name, _), x in zip(meanings, relative, strict=True) if x > tolerance}
    rows = [k for k, (name, _) in enumerate(meanings) if name in open_ones]
    chosen = sorted(sorted(rows, key=lambda k: -relative[k])[:MOST])
    words: dict[str, list[str]] = {}
    for k in chosen:
        name, meaning = meanings[k]
        words.setdefault(name, []).append(meaning.told(float(gaps[k])))
    more = f"; and {len(rows) - len(chosen)} more rows by less" if len(rows) > len(chosen) else ""
    return "; ".join(f"{name!r} is open by {', '.join(parts)}" for name, parts in words.items()) + more
