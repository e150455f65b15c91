"""Rows of lists added to a matrix whose factors keep its zeros.

Rows B that may join any branches of a tree fill H = A + sum of B^T B. A alone has the zeros of the tree, as have its
factors, A = U^T U. With y = U^-T B^T for each of the rows

    H^-1 b = U^-1 (1 + sum of y y^T)^-1 U^-T b,

and the inverse in the middle grows row by row (Sherman and Morrison, 1950):

    P_0 = 1,   w = P_(k-1) y / sqrt(1 + y P_(k-1) y),   P_k = P_(k-1) - w w^T,

so that only the w are kept. The code is that of one row, few of its numbers are alive at a time, and it runs for those
rows alone that resist at all. One of them takes time in proportion to those before it: more than the number of unknowns
are done sooner in H as a whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import fori_loop, in_memory
from poinsot.mechanism.form.sparse import Factors

if TYPE_CHECKING:
    from poinsot.mechanism.stiff_rows import RowList

NOISE = 0.125  # of what a pivot adds to its diagonal element: less than that is rounding


def solve(factors: Factors, b: Array, lists: "Sequence[RowList]", h: Scalar) -> Array:
    """a (n,) with H a = b + sum of J^T f, and H = A + h sum of J^T K J; `factors` of A."""
    pressing = []
    for rows in lists:
        pressed, b = Pressing.of(rows, h, b)
        pressing.append(pressed)
    D = np.sqrt(factors.inverse_pivots)
    z, found = D * factors.inward(b), np.array(0)
    W = in_memory(np.empty((sum(p.rows.most * p.height for p in pressing), len(b))))
    for p in pressing:
        W, z, found = p.added(W, z, found, factors, D)
    return factors.outward(D * z)


@dataclass(frozen=True, eq=False)
class Pressing:
    """The entries of a row list that resist: `count`, their numbers (most,) and R (most, r, r), h K = R^T R."""

    rows: "RowList"
    height: int
    count: Any
    numbers: Array
    R: Array

    @classmethod
    def of(cls, rows: "RowList", h: Scalar, b: Array) -> "tuple[Pressing, Array]":
        """And b (n,) with the forces of all entries."""
        reached, r = np.array(rows.reached), rows.height

        def add(k: Any, carry: tuple[Any, Array, Array, Array]) -> tuple[Any, Array, Array, Array]:
            count, numbers, R, right = carry
            row = rows.row(k)
            numbers[count], R[count] = k, root(h * row.K)
            return count + np.where(np.trace(row.K) > 0, 1, 0), numbers, R, right + row.f @ row.J

        blank = in_memory(np.zeros(rows.most, dtype=int)), in_memory(np.empty((rows.most, r, r)))
        start = (np.array(0), *blank, b[reached] + rows.fault)
        count, numbers, R, right = fori_loop(rows.count, add, start, most=rows.most)
        b = 1.0 * b
        b[reached] = right
        return cls(rows, r, count, numbers, R), b

    def added(self, W: Array, z: Array, found: Any, factors: Factors, D: Array) -> tuple[Array, Array, Any]:
        """The w (m, n) of all rows, of which `found` were there before, and z = P U^-T b with these."""
        reached, r, n = np.array(self.rows.reached), self.height, len(z)

        def add(k: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
            W, z = carry
            entry, B = k // r, np.zeros(n) + 0.0 * z
            B[reached] = self.R[entry, k % r] @ self.rows.row(self.numbers[entry]).J
            y = D * factors.inward(B)
            w = fori_loop(found + k, lambda j, w: w - W[j] * (W[j] @ y), y, most=len(W))
            scale = 1 / np.sqrt(1 + np.maximum(y @ w, 0.0))
            W[found + k] = scale * w
            return W, z - (scale * scale * (y @ z)) * w

        W, z = fori_loop(self.count * r, add, (W, z), most=self.rows.most * r)
        return W, z, found + self.count * r


def root(K: Array) -> Array:
    """R (r, r), upper triangular, with R^T R = K, which is not negative: rows of zeros where it resists nothing."""
    r = len(K)
    R = np.zeros((r, r)) + 0.0 * K
    for i in range(r):
        pivot = K[i, i] - sum((R[k, i] * R[k, i] for k in range(i)), np.zeros(()))
        resists = K[i, i] + NOISE * pivot > K[i, i]
        length = np.sqrt(np.where(resists, pivot, 1.0))
        R[i, i], inverse = np.where(resists, length, 0.0), np.where(resists, 1 / length, 0.0)
        for j in range(i + 1, r):
            R[i, j] = inverse * (K[i, j] - sum((R[k, i] * R[k, j] for k in range(i)), np.zeros(())))
    return R
