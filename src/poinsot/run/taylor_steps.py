"""Steps along Taylor series, for worlds whose forces are smooth, or smooth between switches that can be located.

A step is a polynomial in time, which also gives the states at records: where these are taken changes no bit of the run.
So the form that is stepped holds where the last step began, and how far within it the world is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import while_loop
from poinsot.fuse.trace.pytree import flatten
from poinsot.integrate.embedded import flat
from poinsot.integrate.taylor_series import STEPS, Course, Piece, expand, march
from poinsot.mechanism import Mechanism
from poinsot.run import output_kinds
from poinsot.run.adaptive_steps import held_inputs, takes_samples
from poinsot.run.general_steps import RestingForm, needs_implicit, switches
from poinsot.run.output_kinds import Output
from poinsot.run.step_context import LedgerState, Method, Step, StepContext
from poinsot.world import State, System

ORDER = 13  # at the tolerance of 1e-10 of runs
WATCHES = 8  # how often in a step conditions are looked at


@dataclass(frozen=True, eq=False)
class Underway:
    """The state at which the last step began, its time [s], and the inputs then; the time [s] since, and the state now.

    All states are in the form of `RestingForm`. A time since of 0: the world begins, or goes on, here.
    """

    start: LedgerState
    begin: Array
    since: Array
    held: Array
    now: LedgerState


def taylor() -> Method:
    """Steps whose order and length suit the tolerance, by Jorba and Zou."""

    def step(context: StepContext) -> Step:
        return lambda t, form, h: _marched(context, (), form, t, t + h, h)[0]

    def to_stepped(context: StepContext, y: LedgerState) -> Underway:
        y = RestingForm.of(context).enter(y)
        return Underway(y, np.zeros(()), np.zeros(()), held_inputs(context), y)

    def from_stepped(context: StepContext, form: Underway) -> LedgerState:
        steps = _Steps(context)
        return steps.resting.leave(steps.unflat(steps.finish(flat(form.start), flat(form.now))))

    return Method(ORDER, step, to_stepped, from_stepped, lambda system: True, _unsuited, march=_marched)


def _unsuited(system: System) -> str:
    if switches(system):
        return "steps no worlds with closed loops, latches, events or joints that let go; take 'adaptive'."
    return takes_samples(system) or needs_implicit(system)


class _Steps:
    """The steps of a world, on flat arrays (n,) of the resting form with its ledger."""

    def __init__(self, context: StepContext) -> None:
        self.context, self.resting = context, RestingForm.of(context)
        s = context.system
        self.edges = np.cumsum([s.nq, s.nv, s.ns])
        self.groups = _groups(s.mechanism, s.ns)

    def unflat(self, y: Array) -> LedgerState:
        q, v, parts, inflow = np.split(y, self.edges)
        return LedgerState(State(q, v, parts), inflow)

    def piece(self, t: Scalar, start: Array, singular: Any, end: Scalar) -> Piece:
        """The step that begins here."""
        points = self.resting.moving(self.unflat(start).state.parts)
        return expand(
            lambda t, y: flat(self.resting.rate(t, self.unflat(y), points)),
            t, start, self.context.tolerance, self.groups, end, len(self.context.inflow_indices), singular,
        )  # fmt: skip

    def finish(self, start: Array, y: Array) -> Array:
        """The start of the next step: quaternions of length 1, about the centres of mass as they are now."""
        return flat(self.resting.normalized(self.unflat(y), self.resting.moving(self.unflat(start).state.parts)))


def _groups(mech: Mechanism, parts: int) -> list[list[int]]:
    """The places of those numbers of a state whose errors are compared with the greatest of them: the position, the
    attitude, the velocity of a body, and so on; all angles of hinges; each state of a part alone."""
    groups: dict[Any, list[int]] = {}
    for name, units, size in (("q", "q_units", mech.nq), ("v", "units", mech.nv)):
        slices, first = (mech.q_slices, 0) if name == "q" else (mech.v_slices, mech.nq)
        for link, (joint, part) in enumerate(zip((link.joint for link in mech.links), slices, strict=True)):
            own = link if joint.nv >= 3 else -1
            for k, unit in zip(range(size)[part], getattr(joint.type, units), strict=True):
                groups.setdefault((name, own, unit), []).append(first + k)
    return [*groups.values(), *([mech.nq + mech.nv + k] for k in range(parts))]


def _marched(
    context: StepContext,
    outputs: Sequence[Output],
    form: tuple[Any, Array],
    begin: Scalar,
    end: Scalar,
    h: Scalar,
    is_met: Any = None,
) -> tuple[tuple[Any, Array], Array, Array]:
    """The form and the memory of outputs at the time `end`; or, if a condition is met before, at the last look ahead of
    that, with its time [s], and the time [s] to where it was met.

    Where outputs are kept, they are brought up to date at least once in h [s].
    """
    at, memory = form
    steps, held = _Steps(context), held_inputs(context)
    course = _course(steps, at, held, begin)

    def piece_at(t: Scalar, start: Array, singular: Any) -> Piece:
        return steps.piece(t, start, singular, end)

    def form_of(course: Course) -> Underway:
        return Underway(steps.unflat(course.start), course.begin, course.s, held, steps.unflat(course.y))

    if not outputs and is_met is None:
        return (form_of(march(piece_at, steps.finish, course, end)), memory), end + np.zeros(()), np.zeros(())
    watch = _Watch(steps, outputs, form_of, is_met, h if outputs else np.inf)
    course, memory, tried = watch.march(piece_at, course, memory, end)
    return (form_of(course), memory), course.begin + course.s, tried


def _course(steps: _Steps, at: Underway, held: Array, begin: Scalar) -> Course:
    """Where a form is at the time `begin`. If inputs have jumped since its step began, another one begins."""
    start, now = flat(at.start), flat(at.now)
    anew = (at.since == 0) | np.any(held != at.held) if len(held) else at.since == 0
    here = steps.finish(start, now) if len(held) else now
    return Course(
        np.where(anew, begin, at.begin), np.where(anew, here, start), np.where(anew, 0.0, at.since),
        np.where(anew, here, now), np.ones((), bool), np.zeros((), bool),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Look:
    """Where the world was at the last look; the memory of outputs; whether a condition was met at the next one, and how
    long [s] after."""

    at: Course
    memory: Array
    met: Array
    tried: Array


@dataclass(frozen=True, eq=False)
class _Watch:
    """Steps in which outputs and a condition are looked at several times, `longest` [s] apart at most."""

    steps: _Steps
    outputs: Sequence[Output]
    form_of: Any
    is_met: Any
    longest: Scalar

    def march(self, piece_at: Any, course: Course, memory: Array, end: Scalar) -> tuple[Course, Array, Array]:
        """Where the march stops, the memory of outputs there, and the time [s] to where the condition is met, or 0."""

        def step(look: _Look) -> _Look:
            at = look.at
            piece = piece_at(at.begin, at.start, at.singular)
            reaches = ~(at.begin + piece.length < end)
            look = self._walk(piece, look, np.where(reaches, end - at.begin, piece.length))
            y, stays = look.at.y, reaches | look.met
            y = np.where(np.isnan(piece.length), np.nan, y)
            begin, start = np.where(stays, at.begin, at.begin + look.at.s), self.steps.finish(at.start, y)
            start, s = np.where(stays, at.start, start), np.where(stays, look.at.s, 0.0)
            there = Course(begin, start, s, y, ~stays, ~stays & piece.singular)
            return _Look(there, look.memory, look.met, look.tried)

        course = replace(course, goes_on=course.begin + course.s < end)
        look = _Look(course, memory, np.zeros((), bool), np.zeros(()))
        look = while_loop(lambda now: now.at.goes_on, step, look, STEPS)
        return look.at, look.memory, np.where(look.met, look.tried, 0.0)

    def _walk(self, piece: Piece, look: _Look, reach: Array) -> _Look:
        """Through a step, up to the time `reach` [s] after its beginning, or to the condition."""
        stride = np.minimum(piece.length / WATCHES, self.longest)

        def stroll(now: _Look) -> _Look:
            at = now.at
            s = np.where(at.s + 1.001 * stride < reach, at.s + stride, reach)
            there = replace(at, s=s, y=piece.after(s))
            memory = self._remembered(piece, now, there) if self.outputs else now.memory
            met = np.zeros((), bool)
            if self.is_met is not None:
                met = self.is_met(at.begin + s, (self.form_of(there), memory))
            leaves, rebuild = flatten((there, memory))
            kept = [np.where(met, a, b) for a, b in zip(flatten((at, now.memory))[0], leaves, strict=True)]
            seen, memory = rebuild(kept)
            return _Look(seen, memory, met, s - at.s)

        return while_loop(lambda now: (now.at.s < reach) & ~now.met, stroll, look, STEPS)

    def _remembered(self, piece: Piece, now: _Look, there: Course) -> Array:
        """The memory of outputs after a part of a step."""
        context, at = self.steps.context, now.at

        def motion_of(t: Scalar, y: Array) -> Any:
            return context.motion(t, self.steps.resting.leave(self.steps.unflat(self.steps.finish(at.start, y))).state)

        def moved(t: Scalar, y: Array, h: Scalar) -> Array:
            return piece.after(t + h - at.begin)

        remember: Any = output_kinds.remembering(self.outputs, moved, motion_of)
        return remember(at.begin + at.s, (at.y, now.memory), there.s - at.s, there.y)[1]
