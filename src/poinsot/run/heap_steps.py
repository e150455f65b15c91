"""The implicit step of heaps, in loops over bodies and contacts."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.contact.listed_contacts import SpringMemory
from poinsot.fuse import fori_loop, in_memory
from poinsot.mechanism.free_bodies import by_body
from poinsot.run.heap_ledger import inflow_over
from poinsot.run.heaps import Heap
from poinsot.run.step_context import LedgerState, Step, StepContext
from poinsot.world import State, System


def heap_step(context: StepContext, iterations: int) -> Step:
    """The step of a heap."""

    def step(t: Scalar, y: LedgerState, h: Scalar) -> LedgerState:
        heap = Heap.of(context, t, y.state, h)
        a, guess = heap.accelerations(h, iterations)
        bodies = heap.bodies
        V = by_body(len(bodies), lambda k: bodies.V[k] + h * a[k])
        q, v = bodies.moved(y.state.q, V, h)
        end, about = bodies.about_one(a), bodies.about_one(guess)
        did = {name: e.outcome(contacts, h, end, about)[0] for name, (e, contacts) in heap.lists.items()}
        parts = _packed(context.system, {name: outcome.memory for name, outcome in did.items()})
        new = State(q, v, parts)
        if not len(context.inflow_indices):
            return LedgerState(new, y.inflow)
        there = Heap.of(context, t + h, new, 0.0)
        return LedgerState(new, y.inflow + inflow_over(context, heap, h, did, (a, end, about), there))

    return step


def _packed(system: System, memories: Mapping[str, SpringMemory]) -> Array:
    """The states of lists (ns,), from what they remember."""
    parts, start = in_memory(np.empty(system.ns)), 0
    for name, value in system.states.items():
        owner, _, key = name.rpartition(".")
        new = {"touching": memories[owner].patch, "stretch": memories[owner].stretch, "turn": memories[owner].turn}[key]
        width = np.size(value) // len(value)

        def enter(k: Any, parts: Array, new: Any = new, start: int = start, width: int = width) -> Array:
            for j, x in enumerate(new[k] if width > 1 else [new[k]]):
                parts[start + width * k + j] = x
            return parts

        parts, start = fori_loop(len(value), enter, parts), start + np.size(value)
    return parts
