"""The loops of a world as closures of its tree, and the start that closes them."""

from collections.abc import Iterable, Mapping, Sequence

from poinsot._types import Array
from poinsot.fuse import is_traced
from poinsot.mechanism import Closure, Mechanism
from poinsot.mechanism.constrained import assembled, nearest, projected
from poinsot.parts import ClosedLoop, Element
from poinsot.parts.closed_loop import NUMBERS


def loops_of(elements: Iterable[tuple[str, Element]]) -> dict[str, ClosedLoop]:
    """The loops among elements, by name."""
    return {name: e for name, e in elements if isinstance(e, ClosedLoop)}


def closures_of(elements: Mapping[str, Element], held: Mapping[str, Array] | None = None) -> list[Closure]:
    """The loops among elements as closures; held: 1 or 0 for those that may part."""
    loops = loops_of(elements.items())
    return [loop.closure((held or {}).get(name, 1.0)) for name, loop in loops.items()]


def assembled_start(mech: Mechanism, closures: Sequence[Closure], q: Array, v: Array) -> tuple[Array, Array]:
    """q and v nearby in which all loops are closed; for numbers that are not known yet, if there are such."""
    if is_traced(q, v) or mech.is_traced() or any(map(_is_open, closures)):
        q = nearest(mech, closures, q)
    else:
        q = assembled(mech, closures, q)
    return projected(mech, closures, q, v)[:2]


def _is_open(closure: Closure) -> bool:
    """Whether a number of a closure is left free."""
    numbers = [getattr(closure.relation, name, 0.0) for name in (*NUMBERS, "axes")]
    placements = [x for X in (closure.placement_a, closure.placement_b) for x in (X.R, X.p)]
    return is_traced(*numbers, *placements)
