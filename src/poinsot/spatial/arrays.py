"""Splitting and joining arrays of vectors and matrices, for any batch shape in front."""

from collections.abc import Sequence

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced


def as_array(x: ArrayLike) -> Array:
    """x as an array: a traced array is returned as it is, a list with traced entries becomes one."""
    if is_traced(x) and isinstance(x, list | tuple):
        return np.stack([as_array(entry) for entry in x])
    return x if is_traced(x) or isinstance(x, np.ndarray) else np.asarray(x)  # type: ignore[return-value]


def as_numbers(what: str, value: object) -> Array:
    """A new array of floats; an error that names what it is of, if the value does not consist of numbers."""
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{what} must be numbers, not {value!r}.") from None


def as_plain(value: object) -> object:
    """A value as messages show it: an array as a list."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def finite(what: str, array: Array) -> Array:
    """The array; an error if one of its numbers is known, and NaN or infinite."""
    if not is_traced(array) and not np.all(np.isfinite(array)):
        raise ValueError(f"{what} must be finite, not {np.asarray(array).tolist()}.")
    return array


def number_in(x: object) -> float:
    """The one number that x is, or NaN if it is text, nothing, several numbers or no number at all."""
    try:
        return np.nan if isinstance(x, str | bytes) or np.ndim(x) else float(x)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return np.nan


def components(a: ArrayLike) -> tuple[Array, ...]:
    """The entries along the last axis: x, y, z = components(a)."""
    a = as_array(a)
    return tuple(a[..., i] for i in range(a.shape[-1]))


def halves(V: ArrayLike) -> tuple[Array, Array]:
    """The angular and the linear half of a spatial vector, (..., 6) -> (..., 3), (..., 3)."""
    V = as_array(V)
    return V[..., :3], V[..., 3:]


def vector(*entries: ArrayLike) -> Array:
    """A vector from its entries: arrays of the batch's shape, or numbers."""
    shape = np.broadcast_shapes(*(np.shape(entry) for entry in entries))
    return np.stack([e if np.shape(e) == shape else np.broadcast_to(e, shape) for e in entries], axis=-1)


def matrix(rows: Sequence[Sequence[ArrayLike]]) -> Array:
    """A matrix from rows of entries: arrays of the batch's shape, or numbers."""
    flat = vector(*(entry for row in rows for entry in row))
    return np.reshape(flat, (*flat.shape[:-1], len(rows), len(rows[0])))


def join(*parts: Array) -> Array:
    """The parts concatenated along the last axis, after their batch shapes are broadcast."""
    return np.concatenate(_broadcast(parts, core=1), axis=-1)


def blocks(rows: Sequence[Sequence[Array]]) -> Array:
    """A matrix from rows of blocks, after their batch shapes are broadcast."""
    flat = _broadcast([block for row in rows for block in row], core=2)
    width = len(rows[0])
    strips = [np.concatenate(flat[i : i + width], axis=-1) for i in range(0, len(flat), width)]
    return np.concatenate(strips, axis=-2)


def matvec(A: Array, x: Array) -> Array:
    """A x, (..., m, n), (..., n) -> (..., m)."""
    return np.einsum("...ij,...j->...i", A, x)


def scaled(factor: ArrayLike, a: ArrayLike) -> Array:
    """factor times a, (...), (..., n) -> (..., n): one factor per vector of the batch."""
    return as_array(factor)[..., None] * as_array(a)


def cross(a: ArrayLike, b: ArrayLike) -> Array:
    """a x b, (..., 3), (..., 3) -> (..., 3)."""
    return np.cross(as_array(a), as_array(b))


def dot(a: Array, b: Array) -> Array:
    """a . b, (..., n), (..., n) -> (...)."""
    return np.sum(a * b, axis=-1)


def _broadcast(parts: Sequence[Array], core: int) -> list[Array]:
    """The parts with equal batch shapes; the last `core` axes of each are left unchanged."""
    batch = np.broadcast_shapes(*(part.shape[:-core] for part in parts))
    shapes = [batch + part.shape[-core:] for part in parts]
    return [
        part if part.shape == shape else np.broadcast_to(part, shape) for part, shape in zip(parts, shapes, strict=True)
    ]
