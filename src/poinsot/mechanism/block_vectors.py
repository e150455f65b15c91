"""Vectors in blocks: accelerations of many bodies as rows (n, 6) in memory, for loops; of joints (k,), written out.

Operations go block by block, so that the code does not grow with the number of rows.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import fori_loop, in_memory

Blocks: TypeAlias = tuple[Array, ...]


def by_body(n: int, row: Callable[[Any], Array]) -> Array:
    """An array (n, 6) by its rows."""

    def enter(k: Any, x: Array) -> Array:
        x[k] = row(k)
        return x

    x: Array = fori_loop(n, enter, in_memory(np.empty((n, 6))))
    return x


def kept(x: Blocks) -> Blocks:
    """The same in memory."""
    return tuple(map(in_memory, x))


def less(x: Blocks, s: Scalar, y: Blocks) -> Blocks:
    """x - s y."""

    def of(x: Array, y: Array) -> Array:
        if np.ndim(x) == 1:
            return x - s * y
        return by_body(len(x), lambda k: x[k] - s * np.asarray(y)[k])

    return tuple(of(a, b) for a, b in zip(x, y, strict=True))


def product(x: Blocks, y: Blocks) -> Array:
    """The sum of the products of all entries."""

    def of(x: Array, y: Array) -> Array:
        if np.ndim(x) == 1:
            return np.sum(x * y)
        total: Array = fori_loop(len(x), lambda k, s: s + x[k] @ y[k], np.zeros(()))
        return total

    first, *others = (of(a, b) for a, b in zip(x, y, strict=True))
    return sum(others, first)


def waves(x: Blocks) -> Blocks:
    """Numbers of all kinds between -1 and 1, in blocks of the same shapes."""
    return tuple(np.sin(1.0 + np.arange(float(np.size(a)))).reshape(np.shape(a)) for a in x)
