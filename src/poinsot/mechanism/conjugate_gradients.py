"""Conjugate gradients, preconditioned: x with H x = b for a symmetric, positive H that is known by its products alone.

Hestenes and Stiefel, Methods of Conjugate Gradients (1952).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import while_loop
from poinsot.mechanism.block_vectors import Blocks, kept, less, product, waves

CLOSE = 1e-11  # the residual over the right-hand side, in the norm of the preconditioner
MOST = 1000  # iterations
STIRRED = 1e-3  # how far the start is stirred, over the solution that the preconditioner alone gives


def conjugate_gradients(
    times: Callable[[Blocks], Blocks],
    alone: Callable[[Blocks], Blocks],
    b: Blocks,
    start: Blocks,
    close: Scalar = CLOSE,
) -> tuple[Blocks, Any]:
    """x, from a guess; and 0, or NaN if it was not found as closely.

    times: H x; alone: P^-1 r, the solution with the preconditioner P in place of H. The guess is stirred a little in
    all directions. Else the iterations end early where few directions take part, with the solution, but not with its
    derivatives.
    """
    first, size = alone(b), sum(map(np.size, b))
    enough, stirring = close * close * product(b, first), STIRRED * np.sqrt(product(first, first) / size)
    start = less(start, -stirring, waves(b))
    r = less(b, 1.0, times(start))
    z = alone(r)

    def improve(carry: tuple[Blocks, Blocks, Blocks, Array]) -> tuple[Blocks, Blocks, Blocks, Array]:
        x, r, p, rz = carry
        Hp = times(p)
        s = rz / product(p, Hp)
        x, r = less(x, -s, p), less(r, s, Hp)
        z = alone(r)
        new = product(r, z)
        return x, r, less(z, -new / rz, p), new

    begin = kept(start), kept(r), kept(z), product(r, z)
    x, _, _, left = while_loop(lambda carry: carry[3] > enough, improve, begin, most=MOST)
    return x, np.where(left > 1e8 * enough, np.nan, 0.0)
