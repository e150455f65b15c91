"""The mass matrix of a tree as a product of factors that are as sparse as the tree.

M = L^T D L, with L unit lower triangular: M_ij and L_ij are zero unless j carries i, or i carries j. So do the inverse
of L and its products with vectors cost no more than the branches are long.
Featherstone, Rigid Body Dynamics Algorithms (2008), section 6.5.
"""

import numpy as np

from poinsot._types import Array
from poinsot.mechanism.tree import Tree


def inverse_factors(T: Tree, M: Array) -> tuple[Array, Array]:
    """L^-1 and D^-1 L^-T, both (nv, nv), whose product is M^-1. Table 6.3."""
    carriers = _carriers(T)
    L, D_inv, L_inv = M.copy(), np.zeros(len(M)), np.eye(len(M))
    for k in reversed(carriers):
        D_inv[k] = 1 / L[k, k]
        for n, i in enumerate(carriers[k]):
            rest, a = carriers[k][n:], L[k, i] * D_inv[k]
            L[i, rest] = L[i, rest] - a * L[k, rest]
            L[k, i] = a
    for k, above in carriers.items():
        if above:
            L_inv[k] = L_inv[k] - L[k, above] @ L_inv[above]
    return L_inv, D_inv[:, None] * L_inv.T


def _carriers(T: Tree) -> dict[int, list[int]]:
    """For each velocity those before it on the way to the root, the nearest first."""
    found: dict[int, list[int]] = {}
    ways: dict[int, list[int]] = {-1: []}
    for i, body in enumerate(T.bodies):
        way = ways[body.parent]
        for k in range(body.v.start, body.v.stop):
            found[k] = way
            way = [k, *way]
        ways[i] = way
    return found
