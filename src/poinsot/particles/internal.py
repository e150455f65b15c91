"""Internal forces: between two masses of one object, along their line, opposite. De Nivelle definition 3.2."""

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.particles.objects import Particles
from poinsot.spatial.arrays import as_array, cross, dot

TOLERANCE = 1e-9  # of a force: what rounding, in forces between points far from the origin, may leave of a zero


def check_pairs(pairs: ArrayLike, n: int | None = None) -> Array:
    """Pairs (e, 2) of indices of masses, as integers; an error if one is no pair of two of the n masses."""
    given = np.asarray(pairs).__array__()  # also inside of a kernel plain numbers
    if given.size == 0:
        return np.zeros((0, 2), np.intp)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise ValueError(
            "pairs must be integers of shape (e, 2), the indices of two masses in each row; got an array of "
            f"{given.dtype} of shape {given.shape}."
        )
    ij = given.astype(np.intp)
    limit = np.inf if n is None else n
    wrong = (ij[:, 0] == ij[:, 1]) | (ij < 0).any(axis=1) | (ij >= limit).any(axis=1)
    if wrong.any():
        s = int(np.argmax(wrong))
        i, j = ij[s].tolist()
        why = (
            f"joins mass {i} to itself, and no point mass puts a force on itself (rule 1 of definition 3.2)"
            if i == j
            else f"names a mass that does not exist; {'they count from 0' if n is None else f'there are 0 to {n - 1}'}"
        )
        raise ValueError(f"pair {s}, ({i}, {j}), {why}.")
    return ij


def central_forces(particles: Particles, pairs: ArrayLike, magnitudes: ArrayLike) -> Array:
    """sum_j T_ij (x_j - x_i)/|x_j - x_i| [N], (..., n, 3) in W: the internal forces on each mass. Peskin (1), (3).

    pairs (e, 2) are indices of masses, magnitudes T (..., e) [N] act along each pair: positive pulls its ends
    together, negative pushes them apart. Two masses in one place have no direction, and no force is taken to act.
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
    rows = n * np.arange(count)[:, None]
    i, j = (np.ravel(rows + ij[:, k]) for k in (0, 1))
    sums = [np.bincount(i, c, n * count) - np.bincount(j, c, n * count) for c in f.reshape(-1, 3).T]
    return np.stack(sums, axis=-1).reshape(*batch, n, 3)


def internal_forces(particles: Particles, I: ArrayLike) -> Array:
    """sum_j I_ij [N], (n, 3) in W, from an internal force matrix I (n, n, 3): I[i, j] is what mass i feels from mass j.

    An error names the pair and the rule if I is no internal force matrix by de Nivelle definition 3.2.
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
        raise ValueError(f"I[{i}, {j}] = {_text(I[i, j])} N is no force.")
    x = particles.positions
    d = x[None, :, :] - x[:, None, :]
    r = np.sqrt(dot(d, d))
    self_forces = np.where(np.eye(n, dtype=bool), size, 0.0)
    if self_forces.any():
        i, _ = _worst(self_forces)
        raise ValueError(
            f"I[{i}, {i}] = {_text(I[i, i])} N: mass {i} would put a force on itself. Rule 1 of definition 3.2: "
            "I[i, i] = 0. If the force comes from outside, it is external."
        )
    both = np.maximum(size, size.T)
    one_sided = np.linalg.norm(I + np.swapaxes(I, 0, 1), axis=-1)
    one_sided = np.where(one_sided > TOLERANCE * both, one_sided, 0.0)
    if one_sided.any():
        i, j = _worst(one_sided)
        raise ValueError(
            f"I[{i}, {j}] = {_text(I[i, j])} N, but I[{j}, {i}] = {_text(I[j, i])} N: the forces between masses {i} "
            f"and {j} are not opposite. Rule 3 of definition 3.2: I[i, j] = -I[j, i]. If only one of them feels a "
            "force, it is external."
        )
    across = np.linalg.norm(cross(I, d), axis=-1)  # |I| r |sin|, and size itself where two masses are in one place
    across = np.where(r > 0, across / np.where(r > 0, r, 1.0), size)
    across = np.where(across > TOLERANCE * both, across, 0.0)
    if across.any():
        i, j = _worst(across)
        raise ValueError(
            f"I[{i}, {j}] = {_text(I[i, j])} N is not along x_{j} - x_{i} = {_text(d[i, j])} m: {across[i, j]:.6g} N "
            "act across it. Rule 2 of definition 3.2: I[i, j] = lambda (x_j - x_i). Otherwise the object would start "
            "to turn by itself."
        )
    return np.sum(I, axis=1)


def _worst(violation: Array) -> tuple[int, int]:
    i, j = np.unravel_index(np.argmax(violation), violation.shape)
    return int(i), int(j)


def _text(a: Array) -> str:
    return f"({', '.join(f'{c:.6g}' for c in a)})"
