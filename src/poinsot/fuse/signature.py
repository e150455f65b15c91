"""NumPy's gufunc signatures: "(n),(3,m)->(n)"."""

import re
from collections.abc import Sequence

import numpy as np

Dim = str | int
Dims = tuple[Dim, ...]
Shape = tuple[int, ...]

_ARGUMENT = re.compile(r"\(\s*((?:\w+\s*(?:,\s*\w+\s*)*)?)\)")


def parse(signature: str) -> tuple[list[Dims], list[Dims]]:
    """The core dimensions of the inputs and of the outputs."""
    sides = signature.split("->")
    text = "".join(signature.split())
    if len(sides) != 2 or not re.fullmatch(r"(\([\w,]*\)(,\([\w,]*\))*)?->\([\w,]*\)(,\([\w,]*\))*", text):
        raise ValueError(f"kernel signature {signature!r} is not of the form '(n),(n,m)->(m)' (a scalar is '()')")

    def dims(side: str) -> list[Dims]:
        return [
            tuple(int(d) if d.isdigit() else d for d in inner.replace(" ", "").split(",") if d)
            for inner in _ARGUMENT.findall(side)
        ]

    return dims(sides[0]), dims(sides[1])


def sizes(dims: Sequence[Dims], shapes: Sequence[tuple[int, ...]], names: Sequence[str]) -> dict[str, int]:
    """The size of each named core dimension, from the shapes of the arguments."""
    known: dict[str, int] = {}
    for core, shape, name in zip(dims, shapes, names, strict=True):
        if len(shape) < len(core):
            raise ValueError(
                f"argument {name!r} has shape {shape}, but needs at least the core dimensions {text(core)}"
            )
        for dim, size in zip(core, shape[len(shape) - len(core) :], strict=True):
            expected = known.setdefault(dim, size) if isinstance(dim, str) else dim
            if expected != size:
                raise ValueError(
                    f"argument {name!r} has shape {shape}, but its core dimension {dim} should be {expected}"
                )
    return known


def resolve(core: Dims, known: dict[str, int]) -> tuple[int, ...]:
    return tuple(known[dim] if isinstance(dim, str) else dim for dim in core)


def text(core: Sequence[Dim]) -> str:
    return "(" + ",".join(map(str, core)) + ")"


def batch_shape(arrays: Sequence[np.ndarray], cores: Sequence[Shape]) -> Shape:
    """The common shape of the batch dimensions, which stand in front of the core dimensions."""
    return np.broadcast_shapes(*(a.shape[: a.ndim - len(core)] for a, core in zip(arrays, cores, strict=True)))
