"""Loops that cannot be closed with the numbers of an instance, told before it moves; or later, when they open."""

from typing import Any

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array
from poinsot.fuse import Kernel
from poinsot.mechanism.closures import jumps, meanings
from poinsot.mechanism.model import plain
from poinsot.run.compiled import CompiledSystem
from poinsot.run.kept_kernels import Compiled
from poinsot.world.closing_loops import closures_of
from poinsot.world.instants import State
from poinsot.world.system import OPEN


def open_loops(compiled: CompiledSystem, y: Array, p: Array) -> str | None:
    """Which loops of the first instance (..., ny) that has some are open at the start, in words; None without any.

    Without free numbers they are closed: the start of the system is that of every instance.
    """
    system = compiled.system
    if not system.loops or not system.free or not y.size:
        return None
    found = np.flatnonzero(np.ravel(_are_closed(compiled.original)(y, p)) == 0)
    if not len(found):
        return None
    numbers = compiled.free_numbers(np.broadcast_to(p, (*y.shape[:-1], compiled.np)).reshape(-1, compiled.np)[found[0]])
    named = ", ".join(f"{path} = {np.asarray(x).tolist()}" for path, x in numbers.items())
    where = f" of instance {found[0]}" if y.ndim > 1 else ""
    try:
        system.start(numbers)
    except ValueError as error:
        return f"{named}{where} cannot be: {error}"
    return f"{named}{where} cannot be: the loops are not closed at the start."


def opened(compiled: CompiledSystem, t: float, y: Array, p: Array) -> str | None:
    """Which loop of an instance is open after a step that ended at the time t [s], in words; None if none is."""
    system, state = compiled.system, compiled.unpack(y).state
    if not system.loops or not np.all(np.isfinite(state.q)):
        return None
    still = State(state.q, np.zeros(system.nv), state.parts)
    gap = plain(system.rows(still, t, compiled.free_numbers(p)).gap)
    relative = np.abs(gap) / system.loop_sizes
    if not relative.max(initial=0.0) > OPEN:
        return None
    k = int(np.argmax(relative))
    name, row, meaning = meanings(system.mechanism, closures_of(system.description.elements))[k]
    return (
        f"the loop {name!r} came open by {meaning.told(gap[k])}, its row {row} (its position is singular, loops or "
        "drives contradict each other, a drive jumps, or the step is too long)"
    )


def jumped(compiled: CompiledSystem, t: float, before: Array, end: float, y: Array) -> str | None:
    """Which drive or cam jumps in a step from t to its end [s], in words; None if none does."""
    mech, states = compiled.system.mechanism, [compiled.unpack(at).state for at in (before, y)]
    ends = list(zip((state.q for state in states), (t, end), strict=True))
    for closure in closures_of(compiled.system.description.elements):
        found = jumps(mech, closure, *ends)
        if found is not None and any(found) and np.all(np.isfinite(states[1].q)):
            relation: Any = closure.relation
            f, x = relation.followed(closure), [relation.argument(mech, closure, *at) for at in ends]
            k = 0 if found[0] else 1
            what = f"{'' if k == 0 else 'the slope of '}{f.name} jumps from {f(x[0])[k]:.6g} to {f(x[1])[k]:.6g}"
            where = f"between {x[0]:.6g} and {x[1]:.6g}"
            return f"{what} {where} (it must be twice differentiable, or the step is too long)"
    return None


@memo
def _are_closed(compiled: CompiledSystem) -> Compiled:
    """(y, p) -> 1 if all loops are closed, else 0."""

    def are_closed(y: Array, p: Array) -> Array:
        parameters = compiled.context(p, np.zeros(0, int)).parameters
        return np.where(compiled.system.is_closed(compiled.unpack(y).state, parameters), 1.0, 0.0)

    return Kernel(are_closed, f"({compiled.ny}),({compiled.np})->()").to("numpy")
