"""Runge-Kutta steps with one body of code, for machines on which long code is slow: the stages of a step and what is
brought up to date after it are iterations of one loop, and the parts of a step in which something is released are
iterations of another one around it.

They are the steps of `general_steps`, which are written out there; on a processor that is faster.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import fori_loop, once, when, while_loop
from poinsot.fuse.trace.pytree import flatten
from poinsot.integrate.schemes import Tableau, combine
from poinsot.run.step_context import LedgerState, Step, StepContext
from poinsot.world import State, System
from poinsot.world.instants import Switch

if TYPE_CHECKING:
    from poinsot.mechanism.floating import Points
    from poinsot.run.general_steps import RestingForm

Settled: TypeAlias = Callable[[Any, LedgerState, Any], LedgerState]  # (t, y, h) -> y at t + h, brought up to date

# What a part of a step is for.
WHOLE, TO_RELEASE, AFTER_RELEASE, DONE = range(4)


def suits(tableau: Tableau, system: System) -> bool:
    """Whether steps of a system gain by it: there are latches, which take the motion after a step, each stage follows
    from the one before, and steps end neither at corners of forces nor where something happens."""
    return bool(system.latching) and tableau.reach is not None and not (system.cornered or system.happening)


def one_body(
    context: StepContext, form: "RestingForm", tableau: Tableau, books_early: bool, still: Sequence[bool] = ()
) -> Step:
    """A step from state to state, with the updates of latches and the like, and releases within it. `books_early`:
    whether the inflow that forces alone tell is entered before the accelerations are found; that is better where these
    take loops, through which all that it follows from would be kept. `still`: which states of parts (ns,), such as
    those of latches, have the rate zero."""
    # Traced once, whatever loops around it find out.
    part = once(stages_and_latches(context, form, tableau, books_early, still))
    if context.system.letting_go:
        return in_parts(context, part)
    return lambda t, y, h: context.without_jumps(t, y, t + h, part(t, y, h))


def stages_and_latches(
    context: StepContext, form: "RestingForm", tableau: Tableau, early: bool = False, still: Sequence[bool] = ()
) -> Settled:
    """The stages of a step, and what is brought up to date at its end, which takes the motion as well, in S + 1
    iterations. States of parts that are `still` are the same in all stages: one copy of them goes through the loop."""
    S, reach = len(tableau.b), tableau.reach or ()
    c, a, b = np.array([*tableau.c, 1.0]), np.array([*reach, 0.0]), np.array([*tableau.b, 0.0])

    def settled(t: Scalar, start: LedgerState, h: Scalar) -> LedgerState:
        y, points = form.enter(start), form.moving(start.state.parts)

        def iterate(i: Any, now: tuple[State, "Points", LedgerState]) -> tuple[State, "Points", LedgerState]:
            short, points, sum = now
            stage, at, last = with_still(short, sum.state, still), t + c[i] * h, i == S
            here = form.leave(LedgerState(stage, sum.inflow), points)
            here = context.prepared(at, here, last)
            scene, inflow = context.scene(at, here.state), context.inflow_rate
            if early:
                inflow, known = context.late_inflow_rate, b[i] * h * context.early_inflow_rate(scene)
                here, sum = entered(here, sum, known, last)
            motion = context.system.solved(scene)

            def advanced(now: tuple[State, "Points", LedgerState]) -> tuple[State, "Points", LedgerState]:
                _, points, sum = now
                k = form.rate_of(motion, stage.v, points, inflow(motion))
                sum, following = combine(sum, [(b[i] * h, k)]), combine(y.state, [(a[i] * h, k.state)])
                onwards = without_still(following, still), points
                return *when(i == S - 1, lambda _: ended(sum, points), onwards), sum

            short, points, sum = when(i < S, advanced, (short, points, sum))
            return short, points, when(last, lambda _: context.latched_by(motion, here), sum)

        return fori_loop(S + 1, iterate, (without_still(y.state, still), points, y))[2]

    def ended(sum: LedgerState, points: "Points") -> tuple[State, "Points"]:
        state = form.normalized(sum, points).state
        return without_still(state, still), form.moving(state.parts)

    return settled


def without_still(state: State, still: Sequence[bool]) -> State:
    """A state without the states of parts that are `still`."""
    if not any(still):
        return state
    moving = [k for k, rests in enumerate(still) if not rests]
    return State(state.q, state.v, state.parts[moving] if moving else state.parts[:0])


def with_still(short: State, whole: State, still: Sequence[bool]) -> State:
    """The same with them again, from a state that has all."""
    if not any(still):
        return short
    moving = iter(range(len(still)))
    places = [len(short.parts) + k if rests else next(moving) for k, rests in enumerate(still)]
    return State(short.q, short.v, np.concatenate([short.parts, whole.parts])[places])


def entered(here: LedgerState, sum: LedgerState, inflow: Array, last: Any) -> tuple[LedgerState, LedgerState]:
    """With this inflow in a stage; what is brought up to date at the end has no part in it."""
    total = np.where(last, here.inflow, sum.inflow + inflow)
    return LedgerState(here.state, total), LedgerState(sum.state, total)


@dataclass(frozen=True, eq=False)
class Parts:
    """A step under way: what the next part is for, from `begin` to `end` [s], from y; the states of parts (ns,) at the
    end of the last whole try, which tell what is released; and how many releases are left."""

    kind: Array
    begin: Array
    end: Array
    y: LedgerState
    tried: Array
    left: Array


def in_parts(context: StepContext, part: Settled) -> Step:
    """The step to its end; if something is released in it, to that instant instead, then on from what that leads to.

    A part of length zero brings up to date what is released. Then the rest of the step is tried, and so on.
    """
    system = context.system
    releases = len(system.letting_go)

    def next_part(now: Parts, end: Scalar) -> Parts:
        new = part(now.begin, now.y, now.end - now.begin)
        is_whole, is_short = now.kind == WHOLE, now.kind == TO_RELEASE
        tried = np.where(is_whole, new.state.parts, now.tried)
        switch = system.switch(now.y.state, State(new.state.q, new.state.v, tried))
        again = is_whole & (switch.time <= end) & (now.left > 0)
        y = when(again | is_short, lambda new: chosen(again, now.y, apart(switch, new)), new)
        begin = np.where(again, now.begin, now.end)
        until = np.where(again, np.clip(switch.time, now.begin, end), np.where(is_short, now.end, end))
        kind = np.where(is_whole & ~again, DONE, np.where(again, TO_RELEASE, np.where(is_short, AFTER_RELEASE, WHOLE)))
        return Parts(kind, begin, until, y, tried, now.left - np.where(again, 1, 0))

    def apart(switch: Switch, y: LedgerState) -> LedgerState:
        return context.released(LedgerState(switch.applied(y.state), y.inflow))

    def whole(t: Scalar, y: LedgerState, h: Scalar) -> LedgerState:
        end, zero = t + h, np.zeros((), int)
        start = Parts(zero + WHOLE, t + np.zeros(()), end + np.zeros(()), y, y.state.parts, zero + releases)
        going = while_loop(lambda now: now.kind != DONE, lambda now: next_part(now, end), start, 1 + 3 * releases)
        return context.without_jumps(t, y, end, going.y)

    return whole


def chosen(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b; array by array."""
    (arrays, rebuild), others = flatten(a), flatten(b)[0]
    return rebuild([np.where(condition, x, other) for x, other in zip(arrays, others, strict=True)])
