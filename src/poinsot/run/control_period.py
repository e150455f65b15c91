"""One control period as one kernel: n steps with held inputs, then what is observed, whether it is over, and a reset.

x (nx,), the form that is stepped; p (np,), numbers and inputs; an action (na,) takes the place of some inputs in p.
Times are counted as in a run: step number `first` begins at origin + first * h [s].
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array, Scalar
from poinsot.fuse import Kernel
from poinsot.run.advancing import is_met
from poinsot.run.compiled import CompiledSystem
from poinsot.run.heap_instants import all_finite, chosen, instant
from poinsot.run.heaps import is_heap
from poinsot.run.measured import Measurement, Quantity, measurement
from poinsot.spatial.arrays import as_array

GOES_ON, MET, TIME_OVER, BROKEN, NO_ACTION = 0.0, 1.0, 2.0, 3.0, 4.0  # the status after a period


@dataclass(frozen=True, eq=False)
class ControlPeriod:
    """The equations of a control period: `places` (na,) says where an action goes in p."""

    compiled: CompiledSystem
    places: tuple[int, ...]
    observed: Measurement

    # Functions of one instance.

    def with_action(self, p: Array, action: Array) -> Array:
        """p (np,) with the action in it."""
        own = {place: action[k] for k, place in enumerate(self.places)}
        return np.stack([own.get(k, p[k]) for k in range(self.compiled.np)])

    def observe(self, t: Scalar, x: Array, p: Array) -> Array:
        """The observation (no,) at the time t."""
        c = self.compiled
        return self.observed.of(instant(c.context(p), t, c.unpack(c._from_stepped(x, p)).state))

    def advance(
        self, x: Array, p: Array, origin: Scalar, first: Scalar, action: Array, h: Scalar, n: Scalar
    ) -> tuple[Array, Array, Array]:
        """x after n steps, what is observed there, and the status.

        An instance that breaks down, a number of it not being finite, stays where it was.
        """
        c, p = self.compiled, self.with_action(p, action)
        new = c._advance(x, p, origin, first, h, n)
        finite = all_finite(new) if is_heap(c.system) else np.all(np.isfinite(new))
        sound = np.all(np.isfinite(action)) if len(self.places) else True
        x = self._chosen(finite, new, x)
        t = origin + (first + np.where(finite, n, 0)) * h
        met = is_met(c, t, c._from_stepped(x, p), p) if c.until is not None else False
        status = np.where(met, MET, GOES_ON)
        status = np.where(finite, status, BROKEN)
        return x, self.observe(t, x, p), np.where(sound, status, NO_ACTION)

    def advance_all(
        self, x: Array, p: Array, origin: Scalar, first: Scalar, action: Array, h: Scalar, n: Scalar, limit: Scalar
    ) -> tuple[Array, ...]:
        """All that changes in a period: x, p, first, what is observed, and the status; an episode has `limit` steps."""
        new, observed, status = self.advance(x, p, origin, first, action, h, n)
        status = np.where((status == GOES_ON) & (first + n >= limit), TIME_OVER, status)
        return new, self.with_action(p, action), as_array(first + n), observed, status

    def advance_or_reset(
        self, x: Array, p: Array, origin: Scalar, first: Scalar, action: Array, h: Scalar, n: Scalar, limit: Scalar,
        next_x: Array, next_p: Array, next_observed: Array,
    ) -> tuple[Array, ...]:  # fmt: skip
        """The same; if the episode is over, the next one begins. And what was observed before that."""
        x, p, first, last, status = self.advance_all(x, p, origin, first, action, h, n, limit)
        over = (status > GOES_ON) & (status < NO_ACTION)
        x = self._chosen(over, next_x, x)
        p, first = np.where(over, next_p, p), np.where(over, 0.0, first)
        return x, p, first, np.where(over, next_observed, last), status, last

    def _chosen(self, condition: Any, new: Array, old: Array) -> Array:
        """One of two states (nx,)."""
        return chosen(condition, new, old) if is_heap(self.compiled.system) else np.where(condition, new, old)

    def ahead(self, x: Array, p: Array, first: int, h: float, n: int) -> Array:
        """Where a single world goes in n steps h [s] from number `first` on, with the inputs in p; NaN if it breaks."""
        action = p[list(self.places)] if self.places else np.zeros(1)
        new, *_, status = self.kernel(False)(x, p, 0.0, float(first), action, h, float(n), np.inf)
        return np.asarray(new) if status < BROKEN else np.full(np.shape(x), np.nan)

    # The same, compiled.

    @property
    def _sizes(self) -> tuple[int, int, int, int]:
        return self.compiled.nx, self.compiled.np, max(1, len(self.places)), len(self.observed.labels)

    @memo
    def kernel(self, resets: bool) -> Any:
        """`advance_all`, or `advance_or_reset`, compiled for any number of instances."""
        nx, n_p, na, no = self._sizes
        given, changed = f"({nx}),({n_p}),(),(),({na}),(),(),()", f"({nx}),({n_p}),(),({no}),()"
        if resets:
            text = f"{given},({nx}),({n_p}),({no})->{changed},({no})"
            return self.compiled.compile(self.advance_or_reset, text)
        return self.compiled.compile(self.advance_all, f"{given}->{changed}")

    @memo
    def map(self, n: int) -> Kernel:
        """`advance` by n steps as a kernel that can be differentiated: (x, p, origin, first, action, h)."""
        nx, n_p, na, no = self._sizes

        def period(x: Array, p: Array, origin: Scalar, first: Scalar, action: Array, h: Scalar) -> tuple[Array, ...]:
            return self.advance(x, p, origin, first, action, h, n)

        return Kernel(period, f"({nx}),({n_p}),(),(),({na}),()->({nx}),({no}),()")

    @memo
    def observation(self) -> Any:
        """`observe`, compiled."""
        nx, n_p, _, no = self._sizes
        return self.compiled.compile(self.observe, f"(),({nx}),({n_p})->({no})")


@memo
def control_period(compiled: CompiledSystem, places: tuple[int, ...], observed: tuple[Quantity, ...]) -> ControlPeriod:
    """The control period of a compiled system, made once for each choice of actions and observations."""
    return ControlPeriod(compiled, places, measurement(compiled.system, observed))
