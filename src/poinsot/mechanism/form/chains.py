"""The order in which a loop visits the bodies of a tree: chain after chain, body after body along each.

A chain starts at the end of an earlier one, or at a body outside the loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poinsot._types import Array
from poinsot.mechanism.form.division import sums
from poinsot.mechanism.form.tree import Tree


@dataclass(frozen=True, eq=False)
class Chains:
    """`bodies`: all bodies, chain after chain; `outside`: bodies outside the loop at which chains start, -1 for the
    world.

    For each chain: its size, and the places of its first and last body; `begins`: the body at which it starts, numbered
    among the bodies outside followed by the ends of the chains.

    On the way in, contributions to the body at which chains start are added up in an array with `rows` rows: a chain
    reads those to its last body from row `ends`, and adds its own to row `starts`, which is cleared before if the chain
    `is_first_back`.
    """

    bodies: list[int]
    outside: list[int]
    sizes: Array
    firsts: Array
    lasts: Array
    begins: Array
    starts: Array
    ends: Array
    is_first_back: Array
    rows: int

    def __len__(self) -> int:
        return len(self.sizes)


def chains(T: Tree, bodies: Sequence[int]) -> Chains:
    """The bodies with these numbers, in chains."""
    unbranched = _without_branches(T, bodies)
    outside = sorted({T.bodies[i].parent for i in bodies} - set(bodies))
    sizes = np.array([len(chain) for chain in unbranched], dtype=int)
    firsts = np.cumsum([0, *sizes[:-1]])
    parents, tips = [T.bodies[chain[0]].parent for chain in unbranched], [chain[-1] for chain in unbranched]
    number = {i: k for k, i in enumerate([*outside, *tips])}
    starts, ends, rows = _rows(parents, tips, outside)
    return Chains(
        bodies=[i for chain in unbranched for i in chain],
        outside=outside,
        sizes=sizes,
        firsts=firsts,
        lasts=firsts + sizes - 1,
        begins=np.array([number[p] for p in parents], dtype=int),
        starts=starts,
        ends=ends,
        is_first_back=np.array([parents[c] not in parents[c + 1 :] for c in range(len(unbranched))]),
        rows=rows,
    )


def _without_branches(T: Tree, bodies: Sequence[int]) -> list[list[int]]:
    """The bodies in chains without branches; after each chain the ones that start at its end, small subtrees first."""
    children: dict[int, list[int]] = {}
    sizes = sums(T, [int(i in bodies) for i in range(len(T.bodies))])
    for i in sorted(bodies, key=lambda i: sizes[i]):
        children.setdefault(T.bodies[i].parent, []).append(i)
    unbranched: list[list[int]] = []
    waiting = [i for i in reversed(bodies) if T.bodies[i].parent not in bodies]
    while waiting:
        unbranched.append([waiting.pop()])
        while len(following := children.get(unbranched[-1][-1], [])) == 1:
            unbranched[-1] += following
        waiting += reversed(following)
    return unbranched


def _rows(parents: Sequence[int], ends: Sequence[int], outside: Sequence[int]) -> tuple[Array, Array, int]:
    """The row of the scratch array for the body at which each chain starts, that for its end, and the number of rows.

    The first rows are those of the bodies outside. The row of an end is used again once no further chain starts there;
    the last row is for ends at which no chain starts.
    """
    row = {p: k for k, p in enumerate(outside)}
    free: list[int] = []
    count = len(outside)
    starts, leaves = [], []
    for c, (parent, end) in enumerate(zip(parents, ends, strict=True)):
        starts.append(row[parent])
        if parent not in outside and parent not in parents[c + 1 :]:
            free.append(row[parent])
        if end not in parents:
            leaves.append(-1)
            continue
        row[end] = free.pop() if free else count
        count = max(count, row[end] + 1)
        leaves.append(row[end])
    return np.array(starts, dtype=int), np.array([count if k < 0 else k for k in leaves], dtype=int), count + 1
