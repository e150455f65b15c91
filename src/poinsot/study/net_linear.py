"""Small motions of nets: the derivatives of one spring's force, entered for all springs.

A spring pulls the first of its masses by f(d, u), d and u being the relative position and velocity of its other end.
With K = df/dd and C = df/du (3, 3), it enters m x'' by -K and -C at its own mass, by K and C at the other one.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array
from poinsot.fuse import Kernel, jacobian, kernel
from poinsot.particles.internal import length_and_direction
from poinsot.particles.springs import hooke
from poinsot.world.nets import Net, SpringRows, forces, of_batch

_SIGNATURE = "(3),(3),(),(),()->(3)"


def _pull(law: Callable[..., Any]) -> Kernel:
    """df/dd and df/du of the force f (3,) [N] on the first mass, from d, u and the numbers of the spring."""

    def pull(d: Array, u: Array, stiffness: Array, rest_length: Array, damping: Array) -> Array:
        length, n = length_and_direction(d)
        force: Array = law(length, n @ u, stiffness, rest_length, damping) * n
        return force

    derived: Any = jacobian(kernel(_SIGNATURE)(pull), (0, 1))
    return derived


_HOOKE = _pull(hooke)


@memo
def _of_law(rows: SpringRows) -> Kernel:
    return _HOOKE if rows.law is None else _pull(rows.law)


def net_slope(net: Net, q: Array, v: Array, numbers: Mapping[str, Array]) -> tuple[Array, Array]:
    """A (..., 2 nv, 2 nv) of x' = A x + drift, and the drift (..., 2 nv), about states q, v (..., nv).

    numbers: those that are free, by path, (..., *shape).
    """
    if many := q.shape[:-1]:
        each = [net_slope(net, q[k], v[k], {path: x[k] for path, x in numbers.items()}) for k in np.ndindex(*many)]
        A, drift = (np.stack(x).reshape(*many, *x[0].shape) for x in zip(*each, strict=True))
        return A, drift
    now = of_batch(net, numbers, ()) if numbers else net
    n, nv = len(net), 3 * len(net)
    A = np.zeros((2 * nv, 2 * nv))
    A[:nv, nv:] = np.eye(nv)
    for rows, original in zip(now.springs, net.springs, strict=True):
        for column, blocks in enumerate(_blocks(rows, _of_law(original), q.reshape(n, 3), v.reshape(n, 3))):
            part = A[nv:, column * nv : (column + 1) * nv].reshape(n, 3, n, 3).transpose(0, 2, 1, 3)
            for i, j, sign in _places(rows):
                np.add.at(part, (i, j), sign * blocks / now.mass[i][:, None, None])
    a = forces(now, q, v) / now.mass[:, None] + now.gravity
    return A, np.concatenate([v, a.ravel()])


def _blocks(rows: SpringRows, derived: Kernel, x: Array, v: Array) -> tuple[Array, Array]:
    """K and C (e, 3, 3)."""
    there, moving = (rows.anchors.T, 0.0) if rows.anchored else (x[rows.second], v[rows.second])
    with np.errstate(all="ignore"):
        K, C = derived(there - x[rows.first], moving - v[rows.first], *rows.numbers)
    if not (np.all(np.isfinite(K)) and np.all(np.isfinite(C))):
        e = int(np.argmin(np.isfinite(K + C).all(axis=(1, 2))))
        raise ValueError(
            f"the net cannot be linearised: the force of spring {rows.names[e]!r} has no derivative where its ends are."
        )
    return K, C


def _places(rows: SpringRows) -> list[tuple[Array, Array, float]]:
    """Rows and columns of masses that the blocks of springs are entered at, and with which sign."""
    i, j = rows.first, rows.second
    own = [(i, i, -1.0)]
    return own if rows.anchored else [*own, (i, j, 1.0), (j, i, 1.0), (j, j, -1.0)]
