"""One control period of a stepper as a differentiable function: state and action -> state and what is observed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array, Scalar
from poinsot.fuse import Kernel
from poinsot.run import WorldStepper
from poinsot.run.control_period import BROKEN, NO_ACTION, ControlPeriod


@dataclass(frozen=True, eq=False)
class PeriodMap:
    """(x (..., nx), action (..., na)) -> (x after the period, what is observed there (..., no)), and its derivatives.

    x is the state in the form that is stepped, as in `sim.state.x`; t [s] is the time at which the period begins; and p
    (..., np) are the varied numbers and inputs. Derivatives by all four are known. `self.x` and `self.p` are those of
    the stepper when this was made. An instance that breaks down stays where it was; one whose action is not finite has
    NaN everywhere.
    """

    call: Callable[..., Any]
    x: Any
    p: Any

    def __call__(self, x: Any, action: Any, t: Any = 0.0, p: Any = None) -> tuple[Any, Any]:
        new, observed, _ = self._called(x, action, t, p)
        return new, observed

    def checked(self, x: Any, action: Any, t: Any = 0.0, p: Any = None) -> tuple[Any, Any, Any]:
        """The same, and which instances (...) broke down, or were given an action that is not finite."""
        new, observed, status = self._called(x, action, t, p)
        return new, observed, status >= BROKEN

    def _called(self, x: Any, action: Any, t: Any, p: Any) -> tuple[Any, Any, Any]:
        if p is None:  # a tensor of torch goes to where x is
            p = self.p.to(x.device) if hasattr(self.p, "to") and hasattr(x, "device") else self.p
        new, observed, status = self.call(x, action, t, p)
        return new, observed, status


def period_kernel(sim: WorldStepper) -> Kernel:
    """One period of a stepper as a kernel: (x, action, t, p) -> (x, what is observed, status)."""
    if not sim.action_labels:
        raise ValueError("this stepper has no inputs; a bridge needs an action: add one with world.add_input.")
    return _kernel(sim.period, sim.substeps, sim.step_length)


@memo
def _kernel(period: ControlPeriod, n: int, h: float) -> Kernel:
    nx, n_p, na, no = period._sizes

    def control_period(x: Array, action: Array, t: Scalar, p: Array) -> tuple[Array, Array, Array]:
        new, observed, status = period.advance(x, p, t, 0.0, action, h, n)
        unsound = status >= NO_ACTION
        return np.where(unsound, np.nan, new), np.where(unsound, np.nan, observed), status

    return Kernel(control_period, f"({nx}),({na}),(),({n_p})->({nx}),({no}),()")
