"""Conjugate gradients, preconditioned: x with H x = b for a symmetric, positive H that is known by its products alone.

Hestenes and Stiefel, Methods of Conjugate Gradients (1952).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import in_memory, while_loop

CLOSE = 1e-11  # the residual over the right-hand side, in the norm of the preconditioner
MOST = 1000  # iterations
STIRRED = 1e-3  # how far the start is stirred, over the solution that the preconditioner alone gives


def plain_less(x: Array, s: Scalar, y: Array) -> Array:
    """x - s y."""
    return x - s * y


def plain_product(x: Array, y: Array) -> Array:
    """x y."""
    return np.sum(x * y)


def conjugate_gradients(
    times: Callable[[Array], Array],
    alone: Callable[[Array], Array],
    b: Array,
    start: Array,
    less: Callable[[Array, Scalar, Array], Array] = plain_less,
    product: Callable[[Array, Array], Array] = plain_product,
    close: Scalar = CLOSE,
) -> tuple[Array, Any]:
    """x, from a guess; and 0, or NaN if it was not found as closely.

    times: H x; alone: P^-1 r, the solution with the preconditioner P in place of H. less, product: x - s y and x y.
    The guess is stirred a little in all directions. Else the iterations end early where few directions take part, with
    the solution, but not with its derivatives.
    """
    waves = np.sin(1.0 + np.arange(float(np.size(b)))).reshape(np.shape(b))
    first = alone(b)
    enough, stirring = close * close * product(b, first), STIRRED * np.sqrt(product(first, first) / np.size(b))
    start = less(start, -stirring, waves)
    r = less(b, 1.0, times(start))
    z = alone(r)

    def improve(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        x, r, p, rz = carry
        Hp = times(p)
        s = rz / product(p, Hp)
        x, r = less(x, -s, p), less(r, s, Hp)
        z = alone(r)
        new = product(r, z)
        return x, r, less(z, -new / rz, p), new

    begin = *map(in_memory, (start, r, z)), product(r, z)
    x, _, _, left = while_loop(lambda carry: carry[3] > enough, improve, begin, most=MOST)
    return x, np.where(left > 1e8 * enough, np.nan, 0.0)
