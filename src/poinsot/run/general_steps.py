"""Steps of any world: Runge-Kutta methods and semi-implicit Euler.

Free bodies, and trees on a free joint, are stepped in axes at rest and about their centre of mass (`floating`): a body
that spins while it flies straight on does so to rounding, whatever the step.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import budget, fori_loop, once
from poinsot.fuse.trace.control import operations, zeros
from poinsot.integrate import schemes
from poinsot.mechanism import floating, kinematics
from poinsot.mechanism.floating import Points
from poinsot.parts import Element
from poinsot.run.one_body import one_body, suits
from poinsot.run.step_context import LedgerState, Method, Step, StepContext
from poinsot.world import Motion, State, System
from poinsot.world.description import own_states


@dataclass(frozen=True, eq=False)
class RestingForm:
    """States with free roots in axes at rest, about the centre of mass of each tree in the shape in which it starts.

    Where the contents of tanks move the centres, a step is about the centres at its start, which are points of the
    bodies; after the step, the velocities are those of the new centres, as in step 5 of de Nivelle, section 4.3.
    """

    context: StepContext
    moves: bool  # whether the centres move within their bodies
    fixed: Points  # the centres otherwise

    @classmethod
    def of(cls, context: StepContext) -> "RestingForm":
        moves = _moves_centres(context.system)
        return cls(context, moves, {} if moves else _centres(context))

    def moving(self, parts: Array) -> Points:
        """The centres as the states of parts have them; empty if they do not move within their bodies."""
        return _centres(self.context, parts) if self.moves else {}

    def enter(self, y: LedgerState) -> LedgerState:
        """The form that is stepped."""
        points = self.moving(y.state.parts) or self.fixed
        q, v = floating.at_rest(self.context.system.mechanism, points, y.state.q, y.state.v)
        return LedgerState(State(q, v, y.state.parts), y.inflow)

    def leave(self, y: LedgerState, points: Points | None = None) -> LedgerState:
        """The state."""
        points = points or self.moving(y.state.parts) or self.fixed
        q, v = floating.moving(self.context.system.mechanism, points, y.state.q, y.state.v)
        return LedgerState(State(q, v, y.state.parts), y.inflow)

    def rate(self, t: Scalar, y: LedgerState, points: Points) -> LedgerState:
        """The rate of change of the form, about the points, or about the fixed ones."""
        motion = self.context.motion(t, self.leave(y, points or self.fixed).state)
        return self.rate_of(motion, y.state.v, points, self.context.inflow_rate(motion))

    def rate_of(self, motion: Motion, w: Array, points: Points, inflow: Array) -> LedgerState:
        """The same, given the motion, the velocities w of the form, and the inflow per second (k,)."""
        slope, scene = self.context.system.rate(motion), motion.scene
        q, v = floating.rates(scene.mechanism, points or self.fixed, scene.q, w, slope.q, motion.wdot)
        return LedgerState(State(q, v, slope.parts), inflow)

    def normalized(self, y: LedgerState, points: Points) -> LedgerState:
        """The form about the points after a step: quaternions of length 1, and about the centres as they are now."""
        q = kinematics.normalize(self.context.system.mechanism, y.state.q)
        return self.recentred(LedgerState(State(q, y.state.v, y.state.parts), y.inflow), points)

    def recentred(self, y: LedgerState, points: Points) -> LedgerState:
        """The form about the points, changed to that about the centres as they are now."""
        if not points:
            return y
        new = self.moving(y.state.parts)
        q, v = floating.shifted(self.context.system.mechanism, points, new, y.state.q, y.state.v)
        return LedgerState(State(q, v, y.state.parts), y.inflow)


def _centres(context: StepContext, parts: Array | None = None) -> Points:
    """The centre of mass of each tree on a free joint, its joints standing as they do at the start."""
    if not floating.free_roots(context.system.mechanism):
        return {}
    return floating.centres(context.mechanism(parts), context.system.start().q)


def _moves_centres(system: System) -> bool:
    """Whether a state of some part changes the mass of a body in a tree on a free joint."""
    return bool(floating.free_roots(system.mechanism)) and with_own_mass(system)


def with_own_mass(system: System) -> bool:
    """Whether a state of some part changes the mass of a body."""
    return any(
        type(element).inertias is not Element.inertias and own_states(system.states, name)
        for name, element in system.description.elements.items()
    )


def general(order: int, make: Any, in_one_body: Any = None) -> Method:
    """A method of any world, from a function that makes the step of the resting form; `in_one_body` makes the step of
    the state with all that follows it, if that is better, from the usual one."""

    def step(context: StepContext) -> Step:
        form = RestingForm.of(context)
        resting = ending_at_corners(context, make(context, form))
        if not switches(context.system):
            return resting
        usual = with_switches(context, lambda t, y, h: form.leave(resting(t, form.enter(y), h)))
        return in_one_body(context, form, usual) if in_one_body else usual

    def converts(system: System) -> bool:
        return bool(floating.free_roots(system.mechanism)) and not switches(system)

    def to_stepped(context: StepContext, y: LedgerState) -> LedgerState:
        return RestingForm.of(context).enter(y) if converts(context.system) else y

    def from_stepped(context: StepContext, y: LedgerState) -> LedgerState:
        return RestingForm.of(context).leave(y) if converts(context.system) else y

    return Method(order, step, to_stepped, from_stepped, converts, needs_implicit)


def ending_at_corners(context: StepContext, step: Step) -> Step:
    """The step in parts, each of which ends where forces of elements have a corner; whole where they have none."""
    if not context.system.cornered:
        return step
    part = once(step)

    def whole(t: Scalar, y: LedgerState, h: Scalar) -> LedgerState:
        end = t + h

        def first(_: Any, now: tuple[Any, LedgerState]) -> tuple[Any, LedgerState]:
            begin, y = now
            at = context.next_corner(begin, y, end)
            return at, part(begin, y, at - begin)

        times = context.corners(t, y)
        count = np.sum(np.where((times > t) & (times < end), 1, 0))
        begin, y = fori_loop(count, first, (t + np.zeros(()), y))
        return part(begin, y, np.where(count > 0, end - begin, h))

    return whole


def needs_implicit(system: System) -> str:
    """Why a method that takes forces at instants cannot step a system, or ""."""
    name = system.needs_implicit
    return f"cannot hold the friction of {name!r}, which remembers where it sticks; take 'implicit'." if name else ""


def runge_kutta(tableau: schemes.Tableau) -> Method:
    """On the components of the resting form, with quaternions normalized after each step.

    Where the machine that is compiled for has no room to write all stages out, they are iterations of a loop.
    """
    stages = len(tableau.b)

    def is_long(context: StepContext, f: Any, *now: Any, uses: int) -> bool:
        return budget().written_out < np.inf and uses * sum(operations(f, *now).values()) > budget().written_out

    def make(context: StepContext, form: RestingForm) -> Step:
        f = once(form.rate)

        def step(t: Scalar, y: LedgerState, h: Scalar) -> LedgerState:
            points = form.moving(y.state.parts)
            loops = tableau.reach is not None and is_long(context, f, t, y, points, uses=stages)
            steps = schemes.runge_kutta_in_a_loop if loops else schemes.runge_kutta
            return form.normalized(steps(tableau, lambda t, y: f(t, y, points), t, y, h), points)

        return step

    def in_one_body(context: StepContext, form: RestingForm, usual: Step) -> Step:
        if not suits(tableau, context.system):
            return usual
        f = once(form.rate)
        of_one = cache(lambda early, *still: one_body(context, form, tableau, early, still))
        uses = (stages + 1) * (4 if context.system.letting_go else 1)

        def step(t: Scalar, y: LedgerState, h: Scalar, **how: Any) -> Any:
            at_rest = form.enter(y)
            here = t, at_rest, form.moving(y.state.parts)
            if how or not is_long(context, f, *here, uses=uses):
                return usual(t, y, h, **how)
            still, early = zeros(f, *here).state.parts, operations(f, *here)["loop"] > 0
            return of_one(early, *still.tolist())(t, y, h)

        return step

    return general(tableau.order, make, in_one_body)


def semi_implicit_euler() -> Method:
    """Velocities first; then coordinates move with the new velocities, on the group."""

    def make(context: StepContext, form: RestingForm) -> Step:
        def step(t: Scalar, y: LedgerState, h: Scalar) -> LedgerState:
            points = form.moving(y.state.parts)
            slope = form.rate(t, y, points)
            v = y.state.v + h * slope.state.v
            q = floating.moved(context.system.mechanism, y.state.q, v, h)
            parts, inflow = y.state.parts + h * slope.state.parts, y.inflow + h * slope.inflow
            return form.recentred(LedgerState(State(q, v, parts), inflow), points)

        return step

    return general(1, make)


def switches(system: System) -> bool:
    """Whether something is brought up to date after a step: loops, latches, or joints that may be released."""
    return (
        bool(system.loops)
        or system.bodies is not system.mechanism
        or any(e.latches for _, e in system.description.acting())
    )


def with_switches(context: StepContext, step: Step) -> Step:
    """The step, followed by the updates of latches; a step in which something is released is repeated in two parts.

    `tried`: what the step alone leads to, if that is known. `first`: go to the first of these instants alone, and say
    how long [s] it takes.

    The second part is repeated likewise if something else is released in it, and so on, until nothing is left to
    release.
    """
    system, settled = context.system, once(context.settled)
    repeats, at_first = bool(system.letting_go or system.happening), context.settled
    if repeats and budget().written_out < np.inf:
        step, at_first = once(step), settled
    part = to_first_switch(context, step, settled)

    def whole(t: Scalar, y: LedgerState, h: Scalar, tried: LedgerState | None = None, first: bool = False) -> Any:
        if first:
            return part(t, y, h, tried)
        new, end = at_first(t + h, step(t, y, h) if tried is None else tried), t + h

        def check(_: Any, now: tuple[Any, LedgerState, LedgerState]) -> Any:
            switch = system.switch(now[1].state, now[2].state)

            def repeat(_: Any, now: tuple[Any, LedgerState, LedgerState]) -> Any:
                begin, y, _ = now
                at = np.clip(switch.time, begin, end)
                there = settled(at, step(begin, y, at - begin))
                parted = settled(at, context.released(LedgerState(switch.applied(there.state), there.inflow)))
                return at, parted, settled(end, step(at, parted, end - at))

            return fori_loop(np.where(switch.time <= end, 1, 0), repeat, now)

        now = (t + np.zeros(()), y, new)
        now = fori_loop(len(system.letting_go), check, now) if system.letting_go else now
        now = _with_events(context, step, settled, now, end) if system.happening else now
        return context.without_jumps(t, y, end, now[2])

    return whole


def to_first_switch(context: StepContext, step: Step, settled: Any) -> Callable[..., tuple[LedgerState, Scalar]]:
    """(t, y, h, tried) -> what a step leads to, and its length [s]: less than h if something is released or happens
    within it, at the instant of the first. `tried`: what the step alone leads to."""
    system = context.system

    def part(t: Scalar, y: LedgerState, h: Scalar, tried: LedgerState) -> tuple[LedgerState, Scalar]:
        now = (context.settled(t + h, tried), h + np.zeros(()))
        if system.letting_go:
            switch = system.switch(y.state, now[0].state)

            def released(_: Any, now: tuple[LedgerState, Any]) -> tuple[LedgerState, Any]:
                length = np.clip(switch.time - t, 0.0, h)
                there = step(t, y, length)
                apart = context.released(LedgerState(switch.applied(there.state), there.inflow))
                return settled(t + length, apart), length

            now = fori_loop(np.where(switch.time <= t + h, 1, 0), released, now)
        if system.happening:

            def happens(_: Any, now: tuple[LedgerState, Any]) -> tuple[LedgerState, Any]:
                length = _instant(context, step, settled, t, y, now[1])
                return settled(t + length, step(t, y, length)), length

            now = fori_loop(np.where(_happened(context, now[0]) > _happened(context, y), 1, 0), happens, now)
        return context.without_jumps(t, y, t + now[1], now[0]), now[1]

    return part


def _happened(context: StepContext, y: LedgerState) -> Any:
    """To how many elements something has happened."""
    states = context.system.named_states(y.state.parts)
    return sum(e.happened(own_states(states, name)) for name, e in context.system.happening.items())


def _instant(context: StepContext, step: Step, settled: Any, t: Scalar, y: LedgerState, h: Scalar) -> Any:
    """How long [s] after the time t something happens in a step h, by bisection, to rounding."""

    def halved(_: Any, bounds: tuple[Any, Any]) -> tuple[Any, Any]:
        low, high = bounds
        middle = 0.5 * (low + high)
        is_true = _happened(context, settled(t + middle, step(t, y, middle))) > _happened(context, y)
        return np.where(is_true, low, middle), np.where(is_true, middle, high)

    return fori_loop(50, halved, (np.zeros(()), h + np.zeros(())))[1]


def _with_events(context: StepContext, step: Step, settled: Any, now: Any, end: Scalar) -> Any:
    """(begin, y, new): a step from y, at begin, to new, at its end; if something happens in it, in parts."""

    def check(_: Any, now: tuple[Any, LedgerState, LedgerState]) -> Any:
        def parted(_: Any, now: tuple[Any, LedgerState, LedgerState]) -> Any:
            begin, y, _ = now
            share = _instant(context, step, settled, begin, y, end - begin)
            there = settled(begin + share, step(begin, y, share))
            return begin + share, there, settled(end, step(begin + share, there, end - begin - share))

        return fori_loop(np.where(_happened(context, now[2]) > _happened(context, now[1]), 1, 0), parted, now)

    return fori_loop(len(context.system.happening), check, now)
