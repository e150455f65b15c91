"""Steps of adaptive length, chosen inside the kernel: in a batch, every instance has steps of its own.

States at records are read off the dense output of the steps, and conditions are located on it: where records are taken
changes no bit of the run. So the form that is stepped holds the end of the last step, and how far within it the world
is. Where something is brought up to date after a step, as are latches, loops and outputs, steps end at records.
Latches, loops, releases and events are looked at after each accepted step, and located within it: it ends at the first
of them, so that what follows is held to the tolerance as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import once, when
from poinsot.integrate.dense_output import Within
from poinsot.integrate.embedded import Embedded, March, Scheme, chosen, first_step, flat, march
from poinsot.integrate.schemes import combine
from poinsot.run import output_kinds
from poinsot.run.general_steps import RestingForm, runge_kutta, switches
from poinsot.run.output_kinds import Output
from poinsot.run.step_context import LedgerState, Method, Step, StepContext
from poinsot.world import System

ENDLESS = np.full((), np.inf)  # tries
FLOOR = 1e-3  # to which the tolerance is relative where a number is smaller than that


@dataclass(frozen=True, eq=False)
class Paced:
    """The stepped state, and its time [s], which may lie ahead; the next step [s], 0 if it is not known, and the last
    error; the last step; the time [s] at which the world is; the inputs at the last step; and how many more steps may
    be tried in this call, 0 after one that has not arrived."""

    y: LedgerState
    t: Scalar
    h: Array
    error: Array
    within: Within
    now: Scalar
    held: Array
    tries: Array

    @property
    def ahead(self) -> Any:
        """Whether the last step leads beyond where the world is."""
        return self.now < self.t


def adaptive_runge_kutta(scheme: Embedded) -> Method:
    """By a Runge-Kutta method with steps of its own."""
    return adaptive(scheme, runge_kutta(scheme.tableau))


def adaptive(scheme: Scheme, plain: Method) -> Method:
    """Steps whose error each, in every number of the state, is about the tolerance of that number, or less.

    plain: the method with steps of given lengths.
    """

    def step(context: StepContext) -> Step:
        fixed = plain.step(context)

        def of_length(t: Scalar, form: Paced, h: Scalar) -> Paced:
            y = fixed(t, here(context, form), h)
            return paced(context, scheme, y, t + h, form.h, form.error)

        return of_length

    def to_stepped(context: StepContext, y: LedgerState) -> Paced:
        return paced(context, scheme, plain.to_stepped(context, y), np.zeros(()), np.zeros(()), np.zeros(()))

    return Method(
        plain.order,
        step,
        to_stepped,
        lambda context, form: plain.from_stepped(context, here(context, form)),
        unsuited=lambda system: takes_samples(system) or plain.unsuited(system),
        march=_marching(scheme, plain),
    )


def takes_samples(system: System) -> str:
    """Why a method that chooses its steps cannot step a system, or ""."""
    return "takes no samples, as controllers and sensors of this world do; take 'rk4'." if system.sampled else ""


def paced(context: StepContext, scheme: Scheme, y: LedgerState, t: Scalar, h: Array, error: Array) -> Paced:
    """The form at the end of a step, from which another one begins."""
    terms = 1 if switches(context.system) else scheme.terms
    return Paced(y, t, h, error, Within.nothing(t, y, terms), t, held_inputs(context), ENDLESS)


def held_inputs(context: StepContext) -> Array:
    """The inputs (k,) that are constant from one jump to the next."""
    return np.concatenate([np.zeros(0), *(np.ravel(value) for value in context.inputs.values())])


def here(context: StepContext, form: Paced) -> LedgerState:
    """What is stepped, where the world is."""
    return form.y if switches(context.system) else chosen(form.ahead, _between(context, form.within, form.now), form.y)


def _between(context: StepContext, within: Within, t: Scalar) -> LedgerState:
    """What is stepped, at a time [s] within a step."""
    resting = RestingForm.of(context)
    return resting.normalized(within.at(t), resting.moving(within.terms[0].state.parts))


def _marching(scheme: Scheme, plain: Method) -> Callable[..., Any]:
    """The function that goes from one time to another."""

    def marched(
        context: StepContext,
        outputs: Sequence[Output],
        form: tuple[Any, Array],
        begin: Scalar,
        end: Scalar,
        h: Scalar,
        is_met: Any = None,
    ) -> tuple[tuple[Any, Array], Array, Array]:
        """The form and the memory of outputs at the time `end`; or, if a condition is met before, ahead of the step in
        which that happens, with its time [s], and the length of that step [s].

        Where outputs are kept, steps are no longer than h [s], so that they miss as little as those of other methods.
        """
        paced, memory = _begun(context, form[0], begin), form[1]
        if outputs or switches(context.system):
            return _ending(context, scheme, plain, outputs, (paced, memory), end, h, is_met)
        paced, t, tried = _passing(context, scheme, paced, end, is_met)
        return (paced, memory), t, tried

    return marched


def _begun(context: StepContext, form: Paced, begin: Scalar) -> Paced:
    """The form at the time `begin`. If it is the first, or inputs have jumped, the next step begins here."""
    held, first = held_inputs(context), form.h <= 0
    anew = first | (np.any(held != form.held) & form.ahead) if len(held) else first
    y, t = chosen(anew, here(context, form), form.y), np.where(anew, begin, form.t)
    return Paced(y, t, form.h, form.error, form.within, np.where(first, begin, form.now), held, form.tries)


def _start(tries: "_Tries", paced: Paced, now: Any, met: Any) -> March:
    """The march from where the form is."""
    first = when(paced.h <= 0, lambda _: tries.first_step(paced.t, paced.y), paced.h)
    zero, false = np.zeros(()), np.zeros((), bool)
    return March(paced.t + zero, now, first, np.maximum(paced.error, 1e-4), zero, met | false, false)


def _ended(at: March, y: LedgerState) -> LedgerState:
    """What was stepped; not a number where no step is short enough."""
    lost = np.where(at.failed, np.nan, 0.0)  # a run that finds no step breaks down
    return combine(y, [(1.0, combine(None, [(lost, y)]))])


def _left(at: March, end: Scalar) -> Array:
    """The tries that the form says are left: 0 if there were too few."""
    return np.where((at.t < end) & ~at.met & ~at.failed, 0.0, np.inf)


def _ending(
    context: StepContext,
    scheme: Scheme,
    plain: Method,
    outputs: Sequence[Output],
    form: tuple[Paced, Array],
    end: Scalar,
    h: Scalar,
    is_met: Any,
) -> tuple[tuple[Paced, Array], Array, Array]:
    """To the time `end`, at which a step ends."""
    start, memory = form
    tries = _Tries(context, scheme)

    def form_of(t: Scalar, y: LedgerState, h: Array, error: Array) -> Paced:
        return Paced(y, t, h, error, start.within, t, start.held, ENDLESS)

    def is_met_by(t: Scalar, now: tuple[LedgerState, Array]) -> Any:
        return is_met(t, (form_of(t, now[0], start.h, start.error), now[1]))

    def attempt(t: Scalar, now: tuple[LedgerState, Array], h: Scalar) -> tuple[Any, Array]:
        new, error, _ = tries.attempt(t, now[0], h)
        return (new, now[1]), error

    longest, looks = h if outputs else np.inf, is_met_by if is_met else None
    options = (longest, looks, _settled(context, plain, outputs), _corner(context))
    begun = _start(tries, start, (start.y, memory), False)
    at = march(attempt, scheme.power, begun, end, *options, tries=start.tries)
    y, memory = at.now
    ended = replace(form_of(at.t, _ended(at, y), at.h, at.error), tries=_left(at, end))
    return (ended, memory), at.t, np.where(at.met, at.tried, 0.0)


def _passing(
    context: StepContext, scheme: Scheme, start: Paced, end: Scalar, is_met: Any
) -> tuple[Paced, Array, Array]:
    """To the time `end`, which may lie within a step; a condition is looked at where steps end, and there."""
    tries, end = _Tries(context, scheme), end + np.zeros(())

    def at_look(t: Scalar, y: LedgerState, within: Within) -> Paced:
        return Paced(y, t, start.h, start.error, within, np.minimum(t, end), start.held, ENDLESS)

    def is_met_by(t: Scalar, now: tuple[LedgerState, Within]) -> Any:
        look = at_look(t, *now)
        return is_met(look.now, (look, np.zeros(0)))

    def attempt(t: Scalar, now: tuple[LedgerState, Within], h: Scalar) -> tuple[Any, Array]:
        new, error, terms = tries.attempt(t, now[0], h)
        needed = error <= 1.0 if is_met else (error <= 1.0) & (t + h > end)
        return (new, when(needed, lambda _: Within(t, h, tuple(terms())), now[1])), error

    met: Any = np.zeros((), bool)
    if is_met:
        met = start.ahead & is_met_by(start.t, (start.y, start.within))
    begun = _start(tries, start, (start.y, start.within), met)
    looks = (is_met_by if is_met else None, None, _corner(context))
    at = march(attempt, scheme.power, begun, end, np.inf, *looks, limit=np.inf, tries=start.tries)
    y, within = at.now
    before = np.where(met, start.now, within.begin)
    now = np.where(at.met, before, np.minimum(at.t, end))
    ended = Paced(_ended(at, y), at.t, at.h, at.error, within, now, start.held, _left(at, end))
    return ended, now, np.where(at.met, np.minimum(at.t, end) - before, 0.0)


def _corner(context: StepContext) -> Any:
    """The function that tells the next time at which forces have a corner, or None."""
    return (lambda t, now, end: context.next_corner(t, now[0], end)) if context.system.cornered else None


class _Tries:
    """Steps with their errors, of what the method steps: the resting form, or the state where something may switch."""

    def __init__(self, context: StepContext, scheme: Scheme) -> None:
        self.scheme, self.form, self.tolerance = scheme, RestingForm.of(context), context.tolerance
        self.f, self.at_rest = once(self.form.rate), not switches(context.system)

    def attempt(self, t: Scalar, y: LedgerState, h: Scalar) -> tuple[LedgerState, Array, Callable[[], list[Any]]]:
        """The state after a step; its error, of which up to 1 is tolerated; and the terms of its dense output."""
        y = y if self.at_rest else self.form.enter(y)
        points = self.form.moving(y.state.parts)
        tried = self.scheme.attempt(lambda t, y: self.f(t, y, points), t, y, h)
        tolerated = self._tolerated(np.maximum(np.abs(flat(y.state)), np.abs(flat(tried.new.state))))
        error = self.scheme.norm([flat(e.state) / tolerated for e in tried.errors], h)
        new = self.form.normalized(tried.new, points)
        return (new if self.at_rest else self.form.leave(new)), error, tried.terms

    def first_step(self, t: Scalar, y: LedgerState) -> Array:
        """A step [s] to begin with."""
        y = y if self.at_rest else self.form.enter(y)
        points = self.form.moving(y.state.parts)
        slope = self.f(t, y, points)

        def rate(h: Any) -> Array:
            return flat(self.f(t, combine(y, [(h, slope)]), points).state)

        size = flat(y.state)
        return first_step(rate, size, self._tolerated(np.abs(size)), self.scheme.power)

    def _tolerated(self, size: Array) -> Array:
        return self.tolerance * (FLOOR + size)


def _settled(context: StepContext, plain: Method, outputs: Sequence[Output]) -> Any:
    """The function that brings latches, releases, events and the memory of outputs up to date after an accepted step;
    None if there are none."""
    changes = switches(context.system)
    if not (changes or outputs):
        return None
    step: Any = plain.step(context)
    remember: Any = output_kinds.remembering(
        outputs, once(step), lambda t, y: context.motion(t, plain.from_stepped(context, y).state)
    )

    def settled(t: Scalar, now: tuple[LedgerState, Array], h: Scalar, tried: tuple[LedgerState, Array]) -> Any:
        new, length = step(t, now[0], h, tried[0], first=True) if changes else (tried[0], h)
        return (remember(t, now, length, new) if outputs else (new, tried[1])), length

    return settled
