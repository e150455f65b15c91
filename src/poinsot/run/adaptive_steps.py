"""Steps of adaptive length, chosen inside the kernel: in a batch, every instance has steps of its own.

Steps end at the times of records and where inputs jump, so that records are as good as steps. Latches, loops, releases
and events are looked at after each accepted step, and located within it: it ends at the first of them, so that what
follows is held to the tolerance as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import once, when
from poinsot.integrate.embedded import Embedded, March, Scheme, first_step, flat, march
from poinsot.integrate.schemes import combine
from poinsot.run import output_kinds
from poinsot.run.general_steps import RestingForm, runge_kutta, switches
from poinsot.run.output_kinds import Output
from poinsot.run.step_context import LedgerState, Method, Step, StepContext
from poinsot.world import System

FLOOR = 1e-3  # to which the tolerance is relative where a number is smaller than that


@dataclass(frozen=True, eq=False)
class Paced:
    """The stepped state, the next step [s], 0 if it is not known, and the last error."""

    y: LedgerState
    h: Array
    error: Array


def adaptive_runge_kutta(scheme: Embedded) -> Method:
    """By a Runge-Kutta method with steps of its own."""
    return adaptive(scheme, runge_kutta(scheme.tableau))


def adaptive(scheme: Scheme, plain: Method) -> Method:
    """Steps whose error each, in every number of the state, is about the tolerance of that number, or less.

    plain: the method with steps of given lengths.
    """

    def step(context: StepContext) -> Step:
        fixed = plain.step(context)
        return lambda t, form, h: Paced(fixed(t, form.y, h), form.h, form.error)

    return Method(
        plain.order,
        step,
        lambda context, y: Paced(plain.to_stepped(context, y), np.zeros(()), np.zeros(())),
        lambda context, form: plain.from_stepped(context, form.y),
        unsuited=lambda system: takes_samples(system) or plain.unsuited(system),
        march=_marching(scheme, plain),
    )


def takes_samples(system: System) -> str:
    """Why a method that chooses its steps cannot step a system, or ""."""
    return "takes no samples, as controllers and sensors of this world do; take 'rk4'." if system.sampled else ""


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
        paced, memory = form
        tries, zero, false = _Tries(context, scheme), np.zeros(()), np.zeros((), bool)
        first = when(paced.h <= 0, lambda _: tries.first_step(begin, paced.y), paced.h)
        start = March(begin + zero, (paced.y, memory), first, np.maximum(paced.error, 1e-4), zero, false, false)

        def is_met_by(t: Scalar, now: tuple[LedgerState, Array]) -> Any:
            return is_met(t, (Paced(now[0], zero, zero), now[1]))

        settled = _settled(context, plain, outputs)
        longest = h if outputs else np.inf
        corner = (lambda t, now, end: context.next_corner(t, now[0], end)) if context.system.cornered else None
        at = march(tries.attempt, scheme.power, start, end, longest, is_met_by if is_met else None, settled, corner)
        y, memory = at.now
        lost = np.where(at.failed, np.nan, 0.0)  # a run that finds no step breaks down
        y = combine(y, [(1.0, combine(None, [(lost, y)]))])
        return (Paced(y, at.h, at.error), memory), at.t, np.where(at.met, at.tried, 0.0)

    return marched


class _Tries:
    """Steps with their errors, of what the method steps: the resting form, or the state where something may switch."""

    def __init__(self, context: StepContext, scheme: Scheme) -> None:
        self.scheme, self.form, self.tolerance = scheme, RestingForm.of(context), context.tolerance
        self.f, self.at_rest = once(self.form.rate), not switches(context.system)

    def attempt(self, t: Scalar, now: tuple[LedgerState, Array], h: Scalar) -> tuple[Any, Array]:
        """The state after a step and the memory as it was; and the error of the step, of which up to 1 is tolerated."""
        y = now[0] if self.at_rest else self.form.enter(now[0])
        points = self.form.moving(y.state.parts)
        new, errors = self.scheme.step(lambda t, y: self.f(t, y, points), t, y, h)
        tolerated = self._tolerated(np.maximum(np.abs(flat(y.state)), np.abs(flat(new.state))))
        error = self.scheme.norm([flat(e.state) / tolerated for e in errors], h)
        new = self.form.normalized(new, points)
        return (new if self.at_rest else self.form.leave(new), now[1]), error

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
