"""Closed loops in trees on which stiff forces act: closing forces beside those that resist the motion.

With H = M + h J_K^T K J_K of a `StiffTree` in place of M, the closing forces f and the accelerations are those of
`constrained`: (J H^-1 J^T) f = -(J a + J' v), vdot = a + H^-1 J^T f. The columns of H^-1 J^T come from the same
articulated bodies, whose inertias are computed once; with row lists, from the factors of H.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from poinsot._types import Array
from poinsot.mechanism.constrained import proximal
from poinsot.mechanism.form import sparse
from poinsot.mechanism.form.screws import mirrored
from poinsot.mechanism.loop_frames import Rows
from poinsot.mechanism.stiff import Added, StiffForces, StiffTree
from poinsot.mechanism.stiff_rows import accelerations, factorised


def solve(tree: StiffTree, rows: Rows, iterations: int, on: StiffForces) -> tuple[Array, Added, Array]:
    """As `StiffTree.solve`, with the rows of closures held; and the closing forces f (m,)."""
    if on.lists:
        under_forces, b = factorised(tree, on)
        f = _closing(tree, rows, iterations, under_forces(b), [under_forces(row) for row in rows.J])
        a = under_forces(b + f @ rows.J)
        return a, Added(tree, accelerations(tree, a)), f
    still = tree.still()  # under no forces but those of a row
    none = {link: np.zeros(6) for link in on.wrenches}
    free, _ = tree.solve(on)
    columns = [still.solve(replace(on, wrenches=none, joint_forces=row))[0] for row in rows.J]
    f = _closing(tree, rows, iterations, free, columns)
    forces = f @ rows.J if on.joint_forces is None else on.joint_forces + f @ rows.J
    return *tree.solve(replace(on, joint_forces=forces)), f


def _closing(tree: StiffTree, rows: Rows, iterations: int, free: Array, columns: Sequence[Array]) -> Array:
    """f (m,), given the accelerations without it (nv,), and those H^-1 J^T under the force of each row alone."""
    S = mirrored(rows.J @ np.stack(columns, axis=1))
    shape = sparse.pattern(len(columns), [range(len(columns))])
    return proximal(shape, S, -(rows.J @ tree.rates(free)[0] + rows.bias), iterations)
