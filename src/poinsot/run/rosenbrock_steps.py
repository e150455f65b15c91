"""Steps of stiff worlds by Rosenbrock methods: springs, dampers, beams and feedback at any stiffness, to a tolerance.

The Jacobian is that of the whole right-hand side, exact, in the resting form; the ledger is integrated by the same
method, as numbers that no rate depends on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import once
from poinsot.integrate.embedded import Attempt
from poinsot.integrate.rosenbrock import Rosenbrock
from poinsot.integrate.schemes import Derivative
from poinsot.run.adaptive_steps import adaptive
from poinsot.run.general_steps import RestingForm, general
from poinsot.run.step_context import LedgerState, Method, Step, StepContext


@dataclass(frozen=True)
class LedgerRosenbrock:
    """A Rosenbrock method for states with a ledger."""

    scheme: Rosenbrock

    @property
    def power(self) -> int:
        return self.scheme.power

    @property
    def terms(self) -> int:
        return self.scheme.terms

    def attempt(self, f: Derivative, t: Scalar, y: LedgerState, h: Scalar) -> Attempt:
        """A step from y at the time t."""
        return self.scheme.attempt(f, t, y, h, np.size(y.inflow))

    def norm(self, estimates: Sequence[Array], h: Scalar) -> Array:
        """The error from estimates relative to what is tolerated."""
        return self.scheme.norm(estimates, h)


def fixed_rosenbrock(scheme: Rosenbrock) -> Method:
    """Steps of given lengths."""
    with_ledger = LedgerRosenbrock(scheme)

    def make(context: StepContext, form: RestingForm) -> Step:
        f = once(form.rate)

        def step(t: Scalar, y: LedgerState, h: Scalar) -> LedgerState:
            points = form.moving(y.state.parts)
            tried = with_ledger.attempt(lambda t, y: f(t, y, points), t, y, h)
            return form.normalized(tried.new, points)

        return step

    return general(scheme.order, make)


def adaptive_rosenbrock(scheme: Rosenbrock) -> Method:
    """Steps as long as their errors allow."""
    return adaptive(LedgerRosenbrock(scheme), fixed_rosenbrock(scheme))
