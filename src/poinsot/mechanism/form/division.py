"""Which bodies of a tree are written out, and which stay in loops: decided by counting operations."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np

from poinsot._types import Array
from poinsot.fuse import Kernel, budget, is_traced
from poinsot.mechanism import articulated
from poinsot.mechanism.form import screws
from poinsot.mechanism.form.screws import Rates, packed, unpacked
from poinsot.mechanism.form.tree import Body, Tree

KEPT = 10  # numbers of a body in a loop: a wrench, the cosine and sine of the joint's angle, q and v
AS_GIVEN = 1000  # operations that a body in no special frame takes, about


def split(T: Tree, q: Array) -> tuple[list[int], list[list[int]]]:
    """The numbers of the bodies that are written out, and of those that stay in loops: in plain NumPy, none.

    The machine that is compiled for says how much is written out. Simple joints share cheap code in a loop, so the
    other ones, and what carries them, are always written out; if they are too many, nothing is. What stays in a loop is
    best the end of a chain; where there are too many chains, one loop does whole subtrees.
    """
    everything = list(range(len(T.bodies)))
    if not is_traced(q) or not _is_too_much(costs := costs_of(T)):
        return everything, []
    fixed = _carriers(T, (i for i in everything if not T.bodies[i].is_simple))
    if sum(costs[i] for i in fixed) > budget().straight_line:
        return [], [everything]
    least = sum(costs[i] for i in fixed)
    for allowed in (max(budget().straight_line_beside_loops, least), least):
        rest = _tails(T, costs, fixed, sum(costs) - allowed) or [_subtrees(T, costs, fixed, sum(costs) - allowed)]
        if KEPT * sum(map(len, rest)) <= budget().live_values:
            break
    return [i for i in everything if not any(i in loop for loop in rest)], rest


def _is_too_much(costs: Sequence[int]) -> bool:
    """Whether bodies with these costs cannot all be written out."""
    return sum(costs) > max(budget().straight_line, budget().straight_line_beside_loops)


def ordered(T: Tree, bodies: Sequence[int]) -> list[int]:
    """Parents first; where the machine likes that, bodies of which none carries another stand next to each other."""
    return sorted(bodies, key=lambda i: (len(_carriers(T, [i])), i)) if budget().interleave else list(bodies)


def _tails(T: Tree, costs: Sequence[int], fixed: set[int], too_many: float) -> list[list[int]]:
    """The ends of at most four chains with so much cost together; none if there are no such."""
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
    """Whole subtrees with about so much cost together, as few as will do."""
    rest: set[int] = set()
    while too_many > 0:
        carried = sums(T, [0 if i in rest else cost for i, cost in enumerate(costs)])
        free = [i for i in range(len(costs)) if i not in rest and i not in fixed]
        top = max((i for i in free if carried[i] - costs[i] < too_many), key=carried.__getitem__)
        too_many -= carried[top]
        rest.update(i for i in free if i == top or top in _carriers(T, [i]))
    return sorted(rest)


def _carriers(T: Tree, bodies: Iterable[int]) -> set[int]:
    """The bodies, and all that carry them."""
    found: set[int] = set()
    for i in bodies:
        while i >= 0 and i not in found:
            found.add(i)
            i = T.bodies[i].parent
    return found


def sums(T: Tree, costs: Sequence[int]) -> list[int]:
    """The cost of each body with all that it carries."""
    total = list(costs)
    for i, body in reversed(list(enumerate(T.bodies))):
        if body.parent >= 0:
            total[body.parent] += total[i]
    return total


_cheaper: WeakKeyDictionary[Tree, bool] = WeakKeyDictionary()
Dynamics = Callable[[Tree, Array, Array, Array, Sequence[Array]], Array]


def is_cheaper(T: Tree, dynamics: Dynamics, other: Dynamics) -> bool:
    """Whether the dynamics of a small tree takes fewer operations than the other does, without external wrenches."""
    nq, nv = (sum(getattr(body.joint, name) for body in T.bodies) for name in ("nq", "nv"))
    if not T.is_canonical or not 0 < nv <= budget().search_up_to or _is_too_much(costs_of(T)):
        return False
    if T not in _cheaper:
        none, still = [np.zeros(6)] * len(T.bodies), replace(T, gravity=np.ones(3))
        counts = [
            sum(Kernel(partial(_without, f, still, none), f"({nq}),({nv}),({nv})->({nv})").count().values())
            for f in (dynamics, other)
        ]
        _cheaper[T] = counts[0] < counts[1]
    return _cheaper[T]


def _without(f: Dynamics, T: Tree, none: Sequence[Array], q: Array, v: Array, tau: Array) -> Array:
    return f(T, q, v, tau, none)


_counted: WeakKeyDictionary[Tree, list[int]] = WeakKeyDictionary()


def costs_of(T: Tree) -> list[int]:
    """About how many operations the articulated-body algorithm takes at each body: counted at one of each sort."""
    if not T.is_canonical:
        return [AS_GIVEN] * len(T.bodies)
    if T not in _counted:
        sorts = [(body.joint.type, body.direction, body.is_bare, body.parent < 0) for body in T.bodies]
        counts = {sort: _operations(T.bodies[len(sorts) - 1 - sorts[::-1].index(sort)]) for sort in set(sorts)}
        _counted[T] = [counts[sort] for sort in sorts]
    return _counted[T]


def _operations(body: Body) -> int:
    def visit(q: Array, v: Array, tau: Array, K: Array, I: Array, p: Array, A: Array) -> tuple[Array, ...]:
        at_joint = Body(body.parent, body.moves, body.joint, body.G, slice(None), slice(None), body.direction)
        here = at_joint.at(q, v)
        rates, pA = articulated.outward(here, v, Rates.of(*K), np.zeros(6))
        W, u, Ia, pa = articulated.inward(here, tau, body.G + unpacked(I), pA + p)
        A, vdot = articulated.onward(here, np.zeros(6) if body.parent < 0 else A, W, u)
        if body.parent < 0:  # the world feels nothing and stays where it is
            return rates.packed(), A, vdot
        return rates.packed(), A, vdot, packed(screws.inertia(here.moves, Ia)), screws.force(here.moves, pa)

    nq, nv, felt = body.joint.nq, body.joint.nv, "" if body.parent < 0 else ",(21),(6)"
    return sum(Kernel(visit, f"({nq}),({nv}),({nv}),(3,3),(21),(6),(6)->(3,3),(6),({nv}){felt}").count().values())
