"""Trees on which forces act in places that are only known at run time: rows of a list, whose length varies.

A row list has, for each of its entries, the Jacobian J (r, n) of a relative velocity u = J v and a force on it that
falls with it, f(u) = f_0 - K (u - u_0). Any of them may join any branches of the tree. So the joint-space matrix

    H = M + h sum of J_i^T K_i J_i over bodies and rows,   H a = tau + J^T f_0 - bias

is formed from composite bodies whose inertias are G + h K, the rows are added in a loop over the list, and H is
factorised as if it were full: where rows may join all branches, it is.
Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 6.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import fori_loop, solve_spd
from poinsot.fuse.plan.budget import budget
from poinsot.mechanism import added_rows
from poinsot.mechanism.form import screws, sparse
from poinsot.mechanism.form.screws import mirrored
from poinsot.mechanism.stiff import Added, StiffForces, StiffTree

STRAIGHT = 40  # unknowns, up to which the factorisation is straight-line code


@dataclass(frozen=True, eq=False)
class ListedRow:
    """One entry of a row list: f_0 (r,), K (r, r), and J (r, n) over the velocities that the list reaches; and what the
    list itself wants to see again."""

    f: Array
    K: Array
    J: Any
    more: Any = None


@dataclass(frozen=True, eq=False)
class RowList:
    """Entries 0 ... count - 1, count at most `most`; `reached`: the elements of v (n,) that their Jacobians stand for;
    height: the rows r of each.

    fault: 0, or NaN if the list could not hold all that it should.
    """

    count: Any
    most: int
    reached: Sequence[int]
    row: Callable[[Any], ListedRow]
    height: int
    fault: Any = 0.0


def solve(tree: StiffTree, on: StiffForces) -> tuple[Array, Added]:
    """As `StiffTree.solve`, with row lists."""
    if by_branches(tree):
        A, b = without_rows(tree, on)
        a = added_rows.solve(sparse.Factors.of(_zeros(tree, on), A), b, on.lists, on.h)
    else:
        under, b = factorised(tree, on)
        a = under(b)
    return a, Added(tree, accelerations(tree, a))


def by_branches(tree: StiffTree) -> bool:
    """Whether to keep the zeros between branches in the factors: of a matrix with more elements than there are
    registers, and where few rows are to be expected, as in a single tree that touches itself."""
    n, roots = tree.mech.nv, [body for body in tree.T.bodies if body.parent < 0]
    return len(roots) == 1 and budget().registers < n * (n + 1) // 2


def _zeros(tree: StiffTree, on: StiffForces) -> list[tuple[int, ...]]:
    """The places of the factors of the matrix without row lists."""
    bodies, paths = tree.T.bodies, {-1: set[int]()}
    for i, body in enumerate(bodies):
        paths[i] = paths[body.parent] | set(range(body.v.start, body.v.stop))
    joined = [paths[tree.T.carriers[a][0]] | paths[tree.T.carriers[b][0]] for a, b in on.couplings]
    joined += [set(pair) for pair in on.joint_couplings]
    return sparse.filled(tree.mech.nv, [*paths.values(), *joined])


def without_rows(tree: StiffTree, on: StiffForces) -> tuple[Array, Array]:
    """H (nv, nv) and the right-hand side (nv,), but for row lists."""
    H, b = on.in_joints(*joint_space(tree, on))
    return on.coupled(H, {link: tree.jacobian(link) for link in {k for pair in on.couplings for k in pair}}), b


def factorised(tree: StiffTree, on: StiffForces) -> tuple[sparse.Solver, Array]:
    """The accelerations H^-1 b (nv,) under any joint forces b, and those b (nv,) that act."""
    H, b = without_rows(tree, on)
    for rows in on.lists:
        H, b = _with_rows(H, b, on.h, rows)
    return (partial(solve_spd, H) if len(b) <= STRAIGHT else sparse.in_memory(H)), b


def _with_rows(H: Array, b: Array, h: Scalar, rows: RowList) -> tuple[Array, Array]:
    """H and b with the rows of a list: the block of the velocities that it reaches, by its upper triangle."""
    reached = np.array(rows.reached)
    upper = [(i, j) for i in range(len(reached)) for j in range(i, len(reached))]
    i, j = reached[np.array(upper).T]

    def add(k: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        block, right = carry
        row = rows.row(k)
        J, KJ = 1.0 * row.J, (h * row.K) @ row.J
        more = [sum((J[r, i] * KJ[r, j] for r in range(len(J))), x) for x, (i, j) in zip(block, upper, strict=True)]
        return np.stack(more), right + row.f @ J

    block, right = fori_loop(rows.count, add, (H[i, j], b[reached] + rows.fault), most=rows.most)
    H, b = 1.0 * H, 1.0 * b
    H[i, j] = H[j, i] = block
    b[reached] = right
    return H, b


def joint_space(tree: StiffTree, on: StiffForces) -> tuple[Array, Array]:
    """H (nv, nv) and the right-hand side (nv,) of a tree with wrenches and resistances on links, by composite bodies
    with the inertias G + h K. Table 6.2."""
    bodies, here = tree.T.bodies, tree.here
    I, F = [body.G for body in bodies], [-needed for needed in tree.needed]
    for link, wrench in on.wrenches.items():
        k, _ = tree.T.carriers[link]
        if k >= 0:
            I[k], F[k] = I[k] + on.h * on.resistances[link], F[k] + wrench
    H, b = np.zeros((tree.mech.nv, tree.mech.nv)), [np.zeros(0)] * len(bodies)
    for i, body in reversed(list(enumerate(bodies))):
        b[i] = tree.tau[body.v] + here[i].S.T @ F[i]
        Y = I[i] @ here[i].S
        H[body.v, body.v] = mirrored(here[i].S.T @ Y) + np.diag(here[i].armature)
        j = i
        while bodies[j].parent >= 0:
            Y, j = screws.force(here[j].moves, Y), bodies[j].parent
            H[bodies[j].v, body.v] = here[j].S.T @ Y
            H[body.v, bodies[j].v] = H[bodies[j].v, body.v].T
        if body.parent >= 0:
            I[body.parent] = I[body.parent] + screws.inertia(here[i].moves, I[i])
            F[body.parent] = F[body.parent] + screws.force(here[i].moves, F[i])
    return H, np.concatenate([np.zeros(0), *b])


def accelerations(tree: StiffTree, a: Array) -> dict[int, Array]:
    """A (6,) that the joints add to every body of the tree, in its frame, if they accelerate with a (nv,)."""
    A = {-1: np.zeros(6)}
    for i, body in enumerate(tree.T.bodies):
        A[i] = screws.motion(tree.here[i].moves, A[body.parent]) + tree.here[i].S @ a[body.v]
    return A
