"""Numbers of a motion by short names, all in one array: "box.position.z", "box.position", "q", or a function's own.

The names are those of records: a quantity that can be recorded, that of one body, or a single number of it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from poinsot._hints import hint
from poinsot._types import Array
from poinsot.run.heap_instants import HeapInstant, number_of
from poinsot.run.observe import LABELS, Observable, observables, of_world
from poinsot.spatial.arrays import as_array
from poinsot.world import Motion, System

Quantity: TypeAlias = str | Callable[[Any, Any], Any]  # a name, or a function (t, scene) of numbers


@dataclass(frozen=True, eq=False)
class Measurement:
    """Some numbers of a motion, (n,), and their labels."""

    labels: tuple[str, ...]
    of: Callable[[Motion], Array]


def measurement(system: System, wanted: Iterable[Quantity]) -> Measurement:
    """The numbers that these names and functions mean, in their order."""
    parts = [_function(system, one, k) if callable(one) else _named(system, one) for k, one in enumerate(wanted)]
    labels = tuple(label for part in parts for label in part.labels)
    return Measurement(labels, lambda m: np.concatenate([np.zeros(0), *(part.of(m) for part in parts)]))


def _function(system: System, function: Callable[[Any, Any], Any], k: int) -> Measurement:
    name = getattr(function, "__name__", getattr(function, "name", "<lambda>"))  # a function, or a Signal
    name = f"function{k}" if name == "<lambda>" else name
    value = np.asarray(function(0.0, system.first_motion().scene))
    if value.dtype.kind not in "fiub" or value.ndim > 1:
        raise ValueError(f"{name} gives an array of shape {value.shape}; a function of the scene gives numbers, (n,).")
    labels = [name] if value.ndim == 0 else [f"{name}[{i}]" for i in range(len(value))]

    def of(m: Any) -> Array:
        scene = (m.motion if isinstance(m, HeapInstant) else m).scene
        return 1.0 * np.ravel(as_array(function(scene.t, scene)))

    return Measurement(tuple(labels), of)


def _named(system: System, name: str) -> Measurement:
    known = of_world(system) | observables(system, None)
    numbers = {label: at for quantity, o in known.items() for label, at in _numbers(system, quantity, o)}
    if name in known:
        chosen = [label for label, (quantity, _) in numbers.items() if quantity == name]
    else:
        chosen = [label for label in numbers if label == name or label.startswith((f"{name}.", f"{name}["))]
    if not chosen:
        near = hint(name, [*known, *numbers, *(label.rpartition(".")[0] for label in numbers)])
        raise ValueError(f"there is no quantity {name!r}{near or '; there are ' + ', '.join(known)}.")
    places = [numbers[label] for label in chosen]
    return Measurement(tuple(chosen), lambda m: np.stack([1.0 * number_of(m, q, at, known[q].of) for q, at in places]))


def _numbers(system: System, quantity: str, observable: Observable) -> list[tuple[str, tuple[str, tuple[int, ...]]]]:
    """Every number of a quantity: its label, and where it is: (quantity, index)."""
    labels = [LABELS[dim](system) for dim in observable.dims if dim in LABELS]
    if len(labels) < len(observable.dims):
        known = system.states.get(quantity)
        shape = np.shape(observable.of(system.first_motion()) if known is None else known)
        labels = [[str(k) for k in range(size)] for size in shape]
    return [
        (label_of(quantity, observable.dims, [x[k] for x, k in zip(labels, at, strict=True)]), (quantity, at))
        for at in np.ndindex(*map(len, labels))
    ]


def label_of(quantity: str, dims: Sequence[str], words: Sequence[str]) -> str:
    """The body or joint comes first: "box.position.z"; "box[3]" and "q" make "box.q[3]"."""
    if tuple(dims[:1]) == ("body",):
        return ".".join([words[0], quantity, *words[1:]])
    if dims and dims[0] in ("coordinate", "freedom"):
        body, bracket, rest = words[0].partition("[")
        return f"{body}.{quantity}{bracket}{rest}"
    return ".".join([quantity, *words])
