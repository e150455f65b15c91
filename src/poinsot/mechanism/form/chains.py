"""The order in which a loop goes through bodies of a tree: chain after chain, from body to body along each.

A chain hangs on the end of an earlier one, or on a body outside of the loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poinsot._types import Array
from poinsot.mechanism.form.division import sums
from poinsot.mechanism.form.tree import Tree


@dataclass(frozen=True, eq=False)
class Chains:
    """`bodies`: all of them, chain after chain; `outside`: those not in the loop that chains hang on, -1 for the world.

    Of each chain: its size, and the places of its first and last body; `begins`: what it hangs on, by number among the
    bodies outside and, behind them, the ends of the chains.

    On the way back, what chains hand to the body that they hang on is added up in one of `rows` rows: a chain finds in
    row `ends` what was handed to its last body, and hands on to row `starts`, whose old content means nothing if the
    chain `is_first_back`.
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
    found = _without_branches(T, bodies)
    outside = sorted({T.bodies[i].parent for i in bodies} - set(bodies))
    sizes = np.array([len(chain) for chain in found], dtype=int)
    firsts = np.cumsum([0, *sizes[:-1]])
    parents, tips = [T.bodies[chain[0]].parent for chain in found], [chain[-1] for chain in found]
    number = {i: k for k, i in enumerate([*outside, *tips])}
    starts, ends, rows = _rows(parents, tips, outside)
    return Chains(
        bodies=[i for chain in found for i in chain],
        outside=outside,
        sizes=sizes,
        firsts=firsts,
        lasts=firsts + sizes - 1,
        begins=np.array([number[p] for p in parents], dtype=int),
        starts=starts,
        ends=ends,
        is_first_back=np.array([parents[c] not in parents[c + 1 :] for c in range(len(found))]),
        rows=rows,
    )


def _without_branches(T: Tree, bodies: Sequence[int]) -> list[list[int]]:
    """The bodies in rows without branches; on the end of a row hang those that follow it, the small ones first."""
    children: dict[int, list[int]] = {}
    sizes = sums(T, [int(i in bodies) for i in range(len(T.bodies))])
    for i in sorted(bodies, key=lambda i: sizes[i]):
        children.setdefault(T.bodies[i].parent, []).append(i)
    found: list[list[int]] = []
    waiting = [i for i in reversed(bodies) if T.bodies[i].parent not in bodies]
    while waiting:
        found.append([waiting.pop()])
        while len(following := children.get(found[-1][-1], [])) == 1:
            found[-1] += following
        waiting += reversed(following)
    return found


def _rows(parents: Sequence[int], ends: Sequence[int], outside: Sequence[int]) -> tuple[Array, Array, int]:
    """In which row of a scratch each chain finds what it starts from, and in which it leaves what it ends with.

    The first rows are those of the bodies outside. The row of an end is used again when no chain waits for it any more;
    the last row is for ends on which nothing hangs. Also the number of rows.
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
