"""The implicit step: stiff forces are taken at its end, where they follow from the velocities that they lead to.

Contacts, stops, springs and dampers in joints, and feedback state their forces as linear functions of the velocities at
the end of the step (`parts.resisting`); a tree under such forces is solved by articulated bodies (`mechanism.stiff`),
and again about the velocities found. All other forces are those at the start of the step. Of first order; it damps
what it does not resolve.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.environment import TouchList
from poinsot.fuse import fori_loop, in_memory
from poinsot.mechanism import stiff_joined, stiff_loops, stiff_rows
from poinsot.mechanism.constrained import firm_rows
from poinsot.mechanism.loop_frames import Rows
from poinsot.mechanism.stiff import Added
from poinsot.mechanism.stiff_joined import ListedForces
from poinsot.mechanism.stiff_rows import STRAIGHT
from poinsot.parts import Scene
from poinsot.parts.resisting import Resistance
from poinsot.run.general_steps import RestingForm, general
from poinsot.run.heap_steps import from_heap_state, heap_step, to_heap_state
from poinsot.run.heaps import is_heap
from poinsot.run.step_context import LedgerState, Method, Step, StepContext
from poinsot.run.step_errors import held_beside_tangent, step_error
from poinsot.run.stiff_steps import StiffStep, moved_on
from poinsot.world import Motion, System
from poinsot.world.closing_loops import closing

ITERATIONS = 3


def implicit(iterations: int = ITERATIONS) -> Method:
    """Velocities first, from the forces at the end; then coordinates move with the new velocities, on the group."""

    def make(context: StepContext, form: RestingForm) -> Step:
        def step(t: Scalar, y: LedgerState, h: Scalar) -> LedgerState:
            points = form.moving(y.state.parts)
            state = form.leave(y, points).state
            scene, _ = context.system.scene(t, state, context.parameters, context.inputs_at(t))
            motion, a = implicit_motion(context.system, scene, h, iterations)
            new = moved_on(context, form, y, motion, h, points)
            if not len(context.inflow_indices):
                return new
            end, _ = context.system.scene(t + h, form.leave(new).state, context.parameters, context.inputs_at(t + h))
            error = step_error(motion, a, h, end) + held_beside_tangent(context, motion, h, end)
            return replace(new, inflow=new.inflow + context.numerical(error))

        return step

    method = general(1, make)

    def booking(context: StepContext) -> Step:
        if is_heap(context.system):
            return heap_step(context, iterations)
        return method.step(replace(context, books_errors=True))

    def converts(system: System) -> bool:
        return not is_heap(system) and method.converts(system)

    def to_stepped(context: StepContext, y: LedgerState) -> Any:
        return to_heap_state(y) if is_heap(context.system) else method.to_stepped(context, y)

    def from_stepped(context: StepContext, form: Any) -> LedgerState:
        return from_heap_state(context, form) if is_heap(context.system) else method.from_stepped(context, form)

    return Method(1, booking, to_stepped, from_stepped, converts, books_errors=True)


def implicit_motion(system: System, scene: Scene, h: Scalar, iterations: int) -> tuple[Motion, Array]:
    """The forces over a step h, and the accelerations that they give; and those (nv,) of `StiffTree.solve`."""
    mech, over = scene.mechanism, StiffStep.of(system, scene, h)
    resisting = [e for e in scene.elements.values() if e.resists]
    if any(len(e.bodies()) == 2 or len(e.joints()) > 1 for e in resisting):
        over.tree.mass_matrix, over.tree.left  # noqa: B018  found before the iterations, which may be traced more than once
    rows = firm_rows(mech, system.closures(scene), scene.q, scene.v, scene.t, system.independent)

    def iterate(_: Any, carry: Iterates) -> Iterates:
        stated = over.stated(carry.now)
        a, A, f = _solved(over, stated, rows, 1 if system.independent else 3, carry.now[1])
        return Iterates((over.touching(A), a), carry.now, {name: x.kept for name, x in stated.items()}, f)

    start = over.start
    if mech.nv > STRAIGHT and any(isinstance(e, TouchList) for e in resisting):
        start = in_memory(start[0]), in_memory(start[1])  # lists put them into arrays
    carry = Iterates(start, start, over.blank, 0.0 * rows.gap)
    carry = fori_loop(iterations, iterate, carry) if iterations > 1 else iterate(0, carry)
    end, used = over.later(carry.now), over.used(carry.now, carry.before, carry.kept)
    tau = closing(system.loops, scene, over.effects, over.wrenches, over.tau, carry.closing, rows)
    return over.booked(end, used, tau), end.a


@dataclass(frozen=True, eq=False)
class Iterates:
    """The carry from one iteration to the next: accelerations of the bodies that are touched (k, 6), and of
    joints (nv,), `now` and `before`; and what the elements keep. The forces follow from them when they are asked for,
    but for the closing forces of loops (m,).
    """

    now: tuple[Array, Array]
    before: tuple[Array, Array]
    kept: dict[str, Array]
    closing: Array


def _solved(
    over: StiffStep, stated: dict[str, Resistance], rows: Rows, proximal: int, guess: Array
) -> tuple[Array, Added, Array]:
    """The accelerations under stated forces, with the rows of loops held, and the closing forces; from a guess."""
    tree, on = over.tree, over.forces(stated)
    on_bodies = [r.listed for r in stated.values() if isinstance(r.listed, ListedForces)]
    if on_bodies:
        return *stiff_joined.solve(tree, on, on_bodies, guess), np.zeros(0)
    if len(rows.gap):
        return stiff_loops.solve(tree, rows, proximal, on)
    return *(stiff_rows.solve(tree, on) if on.lists else tree.solve(on)), np.zeros(0)
