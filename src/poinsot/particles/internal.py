"""Internal forces: equal and opposite, along the line between two masses of one object. De Nivelle definition 3.2."""

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.particles.objects import Particles
from poinsot.spatial.arrays import as_array, cross, dot

TOLERANCE = 1e-9  # of a force: what rounding may leave of a zero, between points far from the origin


def check_pairs(pairs: ArrayLike, n: int | None = None) -> Array:
    """Pairs (e, 2) of indices of masses, as integers; an error if one is not a pair of two of the n masses."""
    indices = np.asarray(pairs).__array__()  # plain numbers inside a kernel, too
    if indices.size == 0:
        return np.zeros((0, 2), np.intp)
    if indices.ndim != 2 or indices.shape[1] != 2 or indices.dtype.kind not in "iu":
        raise ValueError(
            "pairs must be integers of shape (e, 2), the indices of two masses in each row; got an array of "
            f"{indices.dtype} of shape {indices.shape}."
        )
    ij = indices.astype(np.intp)
    limit = np.inf if n is None else n
    wrong = (ij[:, 0] == ij[:, 1]) | (ij < 0).any(axis=1) | (ij >= limit).any(axis=1)
    if wrong.any():
        s = int(np.argmax(wrong))
        i, j = ij[s].tolist()
        why = (
            f"joins mass {i} to itself, and no point mass exerts a force on itself (rule 1 of definition 3.2)"
            if i == j
            else f"names a mass that does not exist; {'they count from 0' if n is None else f'there are 0 to {n - 1}'}"
        )
        raise ValueError(f"pair {s}, ({i}, {j}), {why}.")
    return ij


def central_forces(particles: Particles, pairs: ArrayLike, magnitudes: ArrayLike) -> Array:
    """sum_j T_ij (x_j - x_i)/|x_j - x_i| [N], (..., n, 3) in W: the internal forces on each mass. Peskin (1), (3).

    pairs (e, 2) are indices of masses, magnitudes T (..., e) [N] act along each pair: positive attracts, negative
    repels. Two masses at the same position have no direction between them, and no force acts.
    """
    ij = check_pairs(pairs, len(particles))
    d = particles.positions[..., ij[:, 1], :] - particles.positions[..., ij[:, 0], :]
    _, n = length_and_direction(d)
    return accumulate(as_array(magnitudes)[..., None] * n, ij, len(particles))


def length_and_direction(d: Array) -> tuple[Array, Array]:
    """|d| (...) and the unit vector d/|d| (..., 3), which is zero where d is."""
    length = np.sqrt(dot(d, d))
    return length, d * (1.0 / np.where(length > 0.0, length, 1.0))[..., None]


def accumulate(f: Array, ij: Array, n: int) -> Array:
    """+f on the first and -f on the second mass of each pair, (..., e, 3) -> (..., n, 3). De Nivelle (2)."""
    if is_traced(f):
        incidence = np.zeros((n, len(ij)))
        incidence[ij[:, 0], np.arange(len(ij))] = 1.0
        incidence[ij[:, 1], np.arange(len(ij))] = -1.0
        return incidence @ f
    batch = f.shape[:-2]
    count = int(np.prod(batch))
    first = n * np.arange(count)[:, None]  # the first mass of each instance
    i, j = (np.ravel(first + ij[:, k]) for k in (0, 1))
    sums = [np.bincount(i, c, n * count) - np.bincount(j, c, n * count) for c in f.reshape(-1, 3).T]
    return np.stack(sums, axis=-1).reshape(*batch, n, 3)


def internal_forces(particles: Particles, I: ArrayLike) -> Array:
    """sum_j I_ij [N], (n, 3) in W, from an internal force matrix I (n, n, 3): I[i, j] is the force on i from j.

    An error names the pair and the rule if I is not an internal force matrix by de Nivelle definition 3.2.
    """
    n = len(particles)
    I = np.asarray(I, dtype=float)
    if I.shape != (n, n, 3) or particles.positions.ndim != 2:
        raise ValueError(
            f"the internal force matrix of {n} masses, at one instant, must have shape ({n}, {n}, 3) [N]; got "
            f"{I.shape}, for positions of shape {particles.positions.shape}."
        )
    size = np.linalg.norm(I, axis=-1)
    if not np.isfinite(size).all():
        i, j = np.argwhere(~np.isfinite(size))[0]
        raise ValueError(f"I[{i}, {j}] = {_text(I[i, j])} N is not a finite force.")
    _check_self_forces(I, size)
    _check_opposite(I, size)
    _check_central(I, size, particles.positions)
    return np.sum(I, axis=1)


def _check_self_forces(I: Array, size: Array) -> None:
    """Rule 1 of definition 3.2: I_ii = 0."""
    if (pair := _worst(np.where(np.eye(len(I), dtype=bool), size, 0.0))) is not None:
        i, _ = pair
        raise ValueError(
            f"I[{i}, {i}] = {_text(I[i, i])} N: mass {i} would exert a force on itself. Rule 1 of definition 3.2: "
            "I[i, i] = 0. If the force comes from outside, it is external."
        )


def _check_opposite(I: Array, size: Array) -> None:
    """Rule 3: I_ij = -I_ji."""
    one_sided = np.linalg.norm(I + np.swapaxes(I, 0, 1), axis=-1)
    if (pair := _worst(_above_rounding(one_sided, size))) is not None:
        i, j = pair
        raise ValueError(
            f"I[{i}, {j}] = {_text(I[i, j])} N, but I[{j}, {i}] = {_text(I[j, i])} N: the forces between masses {i} "
            f"and {j} are not opposite. Rule 3 of definition 3.2: I[i, j] = -I[j, i]. A force on one of them only is "
            "external."
        )


def _check_central(I: Array, size: Array, x: Array) -> None:
    """Rule 2: I_ij is along x_j - x_i."""
    d = x[None, :, :] - x[:, None, :]
    r = np.sqrt(dot(d, d))
    transverse = np.linalg.norm(cross(I, d), axis=-1)  # |I| r |sin|; the whole force for masses at the same position
    transverse = np.where(r > 0, transverse / np.where(r > 0, r, 1.0), size)
    if (pair := _worst(_above_rounding(transverse, size))) is not None:
        i, j = pair
        raise ValueError(
            f"I[{i}, {j}] = {_text(I[i, j])} N is not along x_{j} - x_{i} = {_text(d[i, j])} m: {transverse[i, j]:.6g} "
            "N are perpendicular to it. Rule 2 of definition 3.2: I[i, j] = lambda (x_j - x_i). Otherwise the object "
            "would start to rotate by itself."
        )


def _above_rounding(violation: Array, size: Array) -> Array:
    """The violations (n, n) [N], with those that rounding explains set to zero."""
    return np.where(violation > TOLERANCE * np.maximum(size, size.T), violation, 0.0)


def _worst(violation: Array) -> tuple[int, int] | None:
    """The pair with the largest violation; None if all are zero."""
    i, j = np.unravel_index(np.argmax(violation), violation.shape)
    return (int(i), int(j)) if violation[i, j] else None


def _text(a: Array) -> str:
    return f"({', '.join(f'{c:.6g}' for c in a)})"
