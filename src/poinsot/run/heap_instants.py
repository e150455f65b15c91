"""One instant of a heap as steppers look at it: single numbers, of which only what they follow from is traced."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array, Scalar
from poinsot.environment import TouchList
from poinsot.fuse import fori_loop, in_memory
from poinsot.mechanism import kinematics
from poinsot.mechanism.free_bodies import row
from poinsot.parts.scene import BodyState
from poinsot.run import heap_ledger
from poinsot.run.crowds import Crowd, crowd_of
from poinsot.run.heaps import Heap
from poinsot.run.measuring import CONSERVED, OF_BODY, Glance
from poinsot.run.step_context import StepContext
from poinsot.spatial import Pose, quaternion
from poinsot.world import State


class HeapInstant:
    """A heap with the flat state y, at the time t [s]. What it does not know it leaves to `motion`, which writes out
    all bodies."""

    def __init__(self, context: StepContext, crowd: Crowd, t: Scalar, y: Array) -> None:
        self.context, self.crowd, self.t, self.y = context, crowd, t, in_memory(y)

    def number(self, quantity: str, at: tuple[int, ...], of: Callable[[Any], Array]) -> Any:
        """One number of a quantity; of: that quantity of a motion."""
        system = self.context.system
        if quantity in OF_BODY:
            return np.asarray(self._of_body(quantity, system.mechanism.links[at[0]].name))[at[1:]]
        if quantity in CONSERVED:
            return np.asarray(self._amounts[CONSERVED[quantity]])[at]
        if quantity == "v":
            return self.y[system.nq + at[0]]
        if quantity == "kinetic_energy":
            return self._kinetic_energy
        if quantity in self._states:
            return np.asarray(self._states[quantity])[at]
        owner, _, key = quantity.rpartition(".")
        if owner in self._heap.lists:
            return self._shown(owner)[key]
        if self._heap.rest is not None and owner in self._heap.rest.elements:
            return np.asarray(self._heap.rest.effect(owner).shown[key])[at]
        return np.asarray(of(self.motion))[at]

    @cached_property
    def motion(self) -> Any:
        """The motion of all bodies, written out."""
        s = self.context.system
        q, v, parts = np.split(self.y[: s.nq + s.nv + s.ns], np.cumsum([s.nq, s.nv]))
        return Glance(self.context.scene(self.t, State(q, v, parts)))

    @memo
    def _of_body(self, quantity: str, name: str) -> Array:
        return OF_BODY[quantity](self._body(name))

    @memo
    def _body(self, name: str) -> BodyState:
        heap, names = self._heap, self.crowd.names
        if name not in names:
            assert heap.rest is not None
            return heap.rest[name]
        k = names.index(name)
        q, v = row(self.y, int(self.crowd.at[0][k]), 7), row(self.y, int(self.crowd.at[1][k]), 6)
        X = Pose.unchecked(quaternion.to_matrix(quaternion.normalize(q[:4])), q[4:])
        return BodyState(X, v, self.context.system.described(self.context.parameters).bodies[name].inertia)

    @cached_property
    def _heap(self) -> Heap:
        return Heap.of(self.context, self.t, self.y, 0.0)

    @cached_property
    def _amounts(self) -> Array:
        return heap_ledger.amounts(self._heap)

    @cached_property
    def _states(self) -> dict[str, Array]:
        s = self.context.system
        return s.named_states(self.y[s.nq + s.nv : s.nq + s.nv + s.ns])

    @memo
    def _shown(self, name: str) -> Any:
        element, contacts = self._heap.lists[name]
        assert isinstance(element, TouchList)
        return element.shown_now(contacts)

    @cached_property
    def _kinetic_energy(self) -> Array:
        bodies, rest = self._heap.bodies, self._heap.rest
        total: Array = fori_loop(
            len(bodies), lambda k, T: T + 0.5 * (bodies.V[k] @ bodies.inertia_times(bodies.V[k], k)), np.zeros(())
        )
        return total if rest is None else total + kinematics.kinetic_energy(rest.mechanism, rest.q, rest.v)


def instant(context: StepContext, t: Scalar, state: State) -> Any:
    """What is observed of a world at one instant: of a heap without writing out its bodies, else its motion."""
    crowd = crowd_of(context.system)
    if crowd is None:
        return context.motion(t, state)
    return HeapInstant(context, crowd, t, np.concatenate([state.q, state.v, state.parts]))


def number_of(m: Any, quantity: str, at: tuple[int, ...], of: Callable[[Any], Array]) -> Any:
    """One number of a quantity at an instant."""
    return m.number(quantity, at, of) if isinstance(m, HeapInstant) else of(m)[at]


def chosen(condition: Any, new: Array, old: Array) -> Array:
    """One of two flat states (n,) in memory, entry by entry in a loop."""

    def choose(k: Any, found: Array) -> Array:
        found[k] = np.where(condition, new[k], old[k])
        return found

    found: Array = fori_loop(len(new), choose, in_memory(np.zeros(len(new))))
    return found


def all_finite(y: Array) -> Any:
    """Whether all numbers of a flat state (n,) in memory are finite."""
    return fori_loop(len(y), lambda k, sound: np.where(np.isfinite(y[k]), sound, 0.0), np.ones(())) > 0
