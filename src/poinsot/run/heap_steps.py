"""The implicit step of heaps, in loops over bodies and contacts.

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
from poinsot.mechanism.free_bodies import by_body, with_row
from poinsot.run.heap_ledger import inflow_over
from poinsot.run.heaps import Heap
from poinsot.run.step_context import LedgerState, Step, StepContext
from poinsot.world import State, System


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
        a, guess = heap.accelerations(h, iterations)
        bodies = heap.bodies
        V = by_body(len(bodies), lambda k: bodies.V[k] + h * a[k])
        new = bodies.moved(form.y, V, h, in_memory(np.empty(np.size(form.y))))
        end, about = bodies.about_one(a), bodies.about_one(guess)
        did = {name: e.outcome(contacts, h, end, about)[0] for name, (e, contacts) in heap.lists.items()}
        new = _remembered(system, {name: outcome.memory for name, outcome in did.items()}, new)
        if len(context.inflow_indices):
            there = Heap.of(context, t + h, new, 0.0)
            inflow = inflow_over(context, heap, h, did, (a, end, about), there)
            for k, x in enumerate(inflow):
                new[n_state + k] = form.y[n_state + k] + x
        return HeapState(new)

    return step


def _remembered(system: System, memories: Mapping[str, SpringMemory], new: Array) -> Array:
    """The new flat state, with the states of lists entered, from what they remember."""
    start = system.nq + system.nv
    for name, value in system.states.items():
        owner, _, key = name.rpartition(".")
        kept = {"touching": memories[owner].patch, "stretch": memories[owner].stretch, "turn": memories[owner].turn}[
            key
        ]

        def enter(k: Any, new: Array, kept: Any = kept, start: int = start) -> Array:
            return with_row(new, [kept[k]] if np.ndim(kept) == 1 else list(kept[k]), k, start)

        new, start = fori_loop(len(value), enter, new), start + np.size(value)
    return new
