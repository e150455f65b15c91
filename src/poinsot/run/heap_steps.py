"""The implicit step of heaps, in loops over bodies and contacts, with the rest of the world written out.

What is stepped is the flat state in memory: q, v, the states of parts and the inflow, one after the other. It is read
and written in loops as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.contact.listed_contacts import SpringMemory
from poinsot.fuse import fori_loop, in_memory
from poinsot.mechanism.block_vectors import by_body
from poinsot.mechanism.free_bodies import with_row
from poinsot.run.general_steps import RestingForm
from poinsot.run.heap_ledger import inflow_over
from poinsot.run.heaps import Heap, HeapStep, rest_context
from poinsot.run.step_context import LedgerState, Step, StepContext
from poinsot.run.stiff_steps import moved_on
from poinsot.world import Motion, State, System


@dataclass(frozen=True, eq=False)
class HeapState:
    """The flat state (ny,) of a heap, in memory."""

    y: Array


def to_heap_state(y: LedgerState) -> HeapState:
    """The flat state."""
    return HeapState(in_memory(np.concatenate([y.state.q, y.state.v, y.state.parts, y.inflow])))


def from_heap_state(context: StepContext, form: HeapState) -> LedgerState:
    """State and ledger."""
    system = context.system
    q, v, parts, inflow = np.split(form.y, np.cumsum([system.nq, system.nv, system.ns]))
    return LedgerState(State(q, v, parts), inflow)


def heap_step(context: StepContext, iterations: int) -> Step:
    """The step of a heap."""
    system = context.system
    n_state = system.nq + system.nv + system.ns

    def step(t: Scalar, form: HeapState, h: Scalar) -> HeapState:
        heap = Heap.of(context, t, form.y, h)
        bodies, done = heap.bodies, HeapStep.of(heap, h).motion(iterations)
        V = by_body(len(bodies), lambda k: bodies.V[k] + h * done.a[k])
        new = bodies.moved(form.y, V, h, in_memory(np.empty(np.size(form.y))))
        if done.rest is not None:
            new = _with_rest(context, heap, form.y, done.rest, h, new)
        new = _remembered(system, {name: outcome.memory for name, outcome in done.outcomes.items()}, new)
        if len(context.inflow_indices):
            inflow = inflow_over(context, heap, h, done, Heap.of(context, t + h, new, 0.0))
            for k, x in enumerate(inflow):
                new[n_state + k] = form.y[n_state + k] + x
        return HeapState(new)

    return step


def _with_rest(context: StepContext, heap: Heap, y: Array, motion: Motion, h: Scalar, new: Array) -> Array:
    """The new flat state, with the rest entered as it has moved on."""
    rest = rest_context(context)
    assert rest is not None
    form = RestingForm.of(rest)
    now = form.enter(LedgerState(heap.crowd.rest_of(y), np.zeros(0)))
    end = form.leave(moved_on(rest, form, now, motion, h, {})).state
    for places, values in zip(heap.crowd.at_rest, (end.q, end.v, end.parts), strict=True):
        for place, value in zip(places, values, strict=True):
            new[place] = value
    return new


def _remembered(system: System, memories: Mapping[str, SpringMemory], new: Array) -> Array:
    """The new flat state, with the states of lists entered, from what they remember."""
    start = system.nq + system.nv
    for name, value in system.states.items():
        owner, _, key = name.rpartition(".")
        if owner in memories:
            memory = memories[owner]
            kept = {"touching": memory.patch, "stretch": memory.stretch, "turn": memory.turn}[key]
            new = _entered(new, kept, start, len(value))
        start += np.size(value)
    return new


def _entered(new: Array, kept: Any, start: int, count: int) -> Array:
    """The flat state with numbers (count, ...) entered from a place on."""
    size = 1 if np.ndim(kept) == 1 else 3

    def enter(k: Any, new: Array) -> Array:
        return with_row(new, start + size * k, [kept[k]] if size == 1 else list(kept[k]))

    entered: Array = fori_loop(count, enter, new)
    return entered
