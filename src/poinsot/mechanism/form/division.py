"""Which bodies of a tree become straight-line code, and which stay in loops: decided by counting operations."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array
from poinsot.fuse import Kernel, budget, is_traced
from poinsot.mechanism.form import screws, visits
from poinsot.mechanism.form.screws import Rates, packed, unpacked
from poinsot.mechanism.form.tree import Tree, TreeBody

KEPT = 10  # values that a loop keeps per body: a wrench, the cosine and sine of the joint's angle, q and v
AS_GIVEN = 1000  # operations per body in a frame of its own choice, about
MOST = 2500  # operations per body on any joint; trees that are small even so are not counted, which takes a while


def split(T: Tree, q: Array) -> tuple[list[int], list[list[int]]]:
    """The numbers of the bodies for straight-line code, and of those in each loop; in plain NumPy there are no loops.

    The budget of the machine that is compiled for decides. Simple joints share cheap code in a loop; bodies on other
    joints, and those that carry them, are always straight-line code, unless they are too many: then they are in one
    loop, but for those whose joints have more directions. Best in a loop is the end of a chain; where there are too
    many chains, one loop takes whole subtrees.
    """
    everything = list(range(len(T.bodies)))
    if not is_traced(q) or not _is_too_much([MOST] * len(everything)) or not _is_too_much(costs := costs_of(T)):
        return everything, []
    fixed = _carriers(T, (i for i in everything if not T.bodies[i].is_simple))
    if sum(costs[i] for i in fixed) > budget().straight_line:
        return _by_directions(T, costs)
    least = sum(costs[i] for i in fixed)
    for allowed in (max(budget().straight_line_beside_loops, least), least):
        rest = _tails(T, costs, fixed, sum(costs) - allowed) or [_subtrees(T, costs, fixed, sum(costs) - allowed)]
        if KEPT * sum(map(len, rest)) <= budget().live_values:
            break
    return [i for i in everything if not any(i in loop for loop in rest)], rest


def _by_directions(T: Tree, costs: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """Straight-line code for bodies on joints with more than so many directions, and for those that carry them, and one
    loop for all others; for as few directions as possible, for a loop gives each of its joints as many as the largest
    of them has."""
    for most in sorted({body.joint.nv for body in T.bodies}):
        straight = _carriers(T, (i for i, body in enumerate(T.bodies) if body.joint.nv > most))
        if sum(costs[i] for i in straight) <= budget().straight_line:
            break
    return sorted(straight), [[i for i in range(len(T.bodies)) if i not in straight]]


def _is_too_much(costs: Sequence[int]) -> bool:
    """Whether bodies with these costs are too many for straight-line code."""
    return sum(costs) > max(budget().straight_line, budget().straight_line_beside_loops)


def ordered(T: Tree, bodies: Sequence[int]) -> list[int]:
    """Parents first; where that suits the machine, independent bodies are interleaved."""
    return sorted(bodies, key=lambda i: (len(_carriers(T, [i])), i)) if budget().interleave else list(bodies)


def _tails(T: Tree, costs: Sequence[int], fixed: set[int], too_many: float) -> list[list[int]]:
    """The ends of at most four chains that together cost this much; none if that is not possible."""
    children = [body.parent for body in T.bodies]
    tails = []
    for i in set(range(len(T.bodies))) - set(children) - fixed:
        tails.append([i])
        while (p := T.bodies[tails[-1][0]].parent) >= 0 and children.count(p) == 1 and p not in fixed:
            tails[-1].insert(0, p)
    chosen = []
    for tail in sorted(tails, key=len, reverse=True)[:4]:
        k = len(tail)
        while k and too_many > 0:
            k, too_many = k - 1, too_many - costs[tail[k - 1]]
        chosen += [tail[k:]] if k < len(tail) else []
    return chosen if too_many <= 0 else []


def _subtrees(T: Tree, costs: Sequence[int], fixed: set[int], too_many: float) -> list[int]:
    """Whole subtrees that together cost about this much, as few as possible."""
    rest: set[int] = set()
    while too_many > 0:
        carried = sums(T, [0 if i in rest else cost for i, cost in enumerate(costs)])
        free = [i for i in range(len(costs)) if i not in rest and i not in fixed]
        top = max((i for i in free if carried[i] - costs[i] < too_many), key=carried.__getitem__)
        too_many -= carried[top]
        rest.update(i for i in free if i == top or top in _carriers(T, [i]))
    return sorted(rest)


def _carriers(T: Tree, bodies: Iterable[int]) -> set[int]:
    """The bodies, and all bodies that carry them."""
    carriers: set[int] = set()
    for i in bodies:
        while i >= 0 and i not in carriers:
            carriers.add(i)
            i = T.bodies[i].parent
    return carriers


def sums(T: Tree, costs: Sequence[int]) -> list[int]:
    """The cost of each body and all bodies that it carries."""
    total = list(costs)
    for i, body in reversed(list(enumerate(T.bodies))):
        if body.parent >= 0:
            total[body.parent] += total[i]
    return total


Dynamics = Callable[[Tree, Array, Array, Array, Sequence[Array]], Array]


def is_cheaper(T: Tree, dynamics: Dynamics, other: Dynamics) -> bool:
    """Whether the dynamics of a small tree takes fewer operations than the other does, without external wrenches."""
    nv = sum(body.joint.nv for body in T.bodies)
    if not T.is_canonical or not 0 < nv <= budget().search_up_to or _is_too_much(costs_of(T)):
        return False
    return _count(T, dynamics) < _count(T, other)


@memo
def _count(T: Tree, dynamics: Dynamics) -> int:
    """The operations of the dynamics without external wrenches."""
    nq, nv = (sum(getattr(body.joint, name) for body in T.bodies) for name in ("nq", "nv"))
    none, loaded = [np.zeros(6)] * len(T.bodies), replace(T, gravity=np.ones(3))
    kernel = Kernel(partial(_without, dynamics, loaded, none), f"({nq}),({nv}),({nv})->({nv})")
    return sum(kernel.count().values())


def _without(f: Dynamics, T: Tree, none: Sequence[Array], q: Array, v: Array, tau: Array) -> Array:
    return f(T, q, v, tau, none)


@memo
def costs_of(T: Tree) -> list[int]:
    """About how many operations the articulated-body algorithm takes at each body: counted at one of each sort."""
    if not T.is_canonical:
        return [AS_GIVEN] * len(T.bodies)
    sorts = [(body.joint.type, body.direction, body.is_bare, body.parent < 0) for body in T.bodies]
    counts = {sort: _operations(T.bodies[len(sorts) - 1 - sorts[::-1].index(sort)]) for sort in set(sorts)}
    return [counts[sort] for sort in sorts]


def _operations(body: TreeBody) -> int:
    def visit(q: Array, v: Array, tau: Array, K: Array, I: Array, p: Array, A: Array) -> tuple[Array, ...]:
        at_joint = TreeBody(body.parent, body.moves, body.joint, body.G, slice(None), slice(None), body.direction)
        here = at_joint.at(q, v)
        rates, pA = visits.outward(here, v, Rates.of(*K), np.zeros(6))
        W, u, Ia, pa = visits.inward(here, tau, body.G + unpacked(I), pA + p)
        A, vdot = visits.onward(here, np.zeros(6) if body.parent < 0 else A, W, u)
        if body.parent < 0:  # the world stays where it is, whatever is contributed to it
            return rates.packed(), A, vdot
        return rates.packed(), A, vdot, packed(screws.inertia(here.moves, Ia)), screws.force(here.moves, pa)

    nq, nv, to_parent = body.joint.nq, body.joint.nv, "" if body.parent < 0 else ",(21),(6)"
    return sum(Kernel(visit, f"({nq}),({nv}),({nv}),(3,3),(21),(6),(6)->(3,3),(6),({nv}){to_parent}").count().values())
