"""Announcements of happenings: limits of the structure that are passed, and events."""

from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.control.events import When
from poinsot.parts import Element, Limit
from poinsot.parts.structure import COMPONENTS
from poinsot.world import System

KEYS: dict[type[Element], tuple[str, str]] = {Limit: ("latched", "latched_at"), When: ("happened", "at")}


class Happenings:
    """Reads from a flat state y (ny,) what has happened: {"name", "time" [s], "text", "red": whether it is damage}."""

    def __init__(self, system: System) -> None:
        elements = system.description.elements.items()
        self.elements = {name: e for name, e in elements if isinstance(e, tuple(KEYS))}
        ends = np.cumsum([system.nq + system.nv, *(np.size(value) for value in system.states.values())])
        self.places = dict(zip(system.states, ends.tolist(), strict=False))

    def __call__(self, y: Array) -> list[dict[str, Any]]:
        """The happenings so far, in the order of their times."""
        found = []
        for name, element in self.elements.items():
            done, at = (float(y[self.places[f"{name}.{key}"]]) for key in KEYS[_kind(element)])
            if done > 0 and np.isfinite(at):
                text = f"{self._said(name, element, y)}, at {at:.4g} s"
                found.append({"name": name, "time": at, "text": text, "red": isinstance(element, Limit)})
        return sorted(found, key=lambda one: float(one["time"]))

    def _said(self, name: str, element: Element, y: Array) -> str:
        if not isinstance(element, Limit):
            return name
        case = COMPONENTS[int(y[self.places[f"{name}.case"]])]
        return f"{name}: {case} at {element.cut} passed its limit{' and it parts' if element.then == 'part' else ''}"


def _kind(element: Element) -> type[Element]:
    return next(kind for kind in KEYS if isinstance(element, kind))
