"""The implicit midpoint rule in coordinates and momenta, for trees and loops: energy has no trend.

    q1 = q0 moved by h M^-1 p_m,   p1 = p0 + J0^T f + h p'(q_m, v_m),   gap(q1) = 0,

with q_m halfway, p_m = (p0 + J0^T f + p1)/2 and the rates p' of the tree whose loops are open; then J1^T times what
makes J1 v1 = rate is added to p1. Forces in the loops are impulses f at both ends of the step, so that the whole is
symmetric, and symplectic for joints with one degree of freedom, like the midpoint rule itself: Reich, SIAM J. Numer.
Anal. 33 (1996); Hairer, Lubich and Wanner, Geometric Numerical Integration, section VII.1. Momenta of free trees are
those of `mechanism.momenta`, and change by forces from outside alone.
"""

from dataclasses import dataclass, replace

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import while_loop
from poinsot.mechanism import Mechanism, floating
from poinsot.mechanism.closures import asked_by
from poinsot.mechanism.constrained import closing_forces, firm_rows, response_of
from poinsot.mechanism.loop_frames import Rows
from poinsot.mechanism.momenta import About, at_rest, momenta, origins, rates, velocities
from poinsot.mechanism.response import Response
from poinsot.run import ledger
from poinsot.run.general_steps import RestingForm, general, needs_implicit, with_own_mass
from poinsot.run.step_context import LedgerState, Method, Step, StepContext
from poinsot.world import Motion, State, System

MOST = 60  # iterations
NEARLY = 1e-10  # of the velocities: while they change by more, it goes on though they do not converge yet
FAILED = 1e-3  # the same at the end: it has not converged


@dataclass(frozen=True, eq=False)
class Increment:
    """The increment of a step: w_m (nv,), times its length for x; of p (nv,), of parts (ns,) and of the ledger (k,).

    f (m,): the impulses in the loops at the start. `change`, `before`: of w_m in this iteration, and in the last one.
    """

    w: Array
    p: Array
    parts: Array
    inflow: Array
    f: Array
    change: Array
    before: Array


def implicit_midpoint() -> Method:
    """By repeated substitution, until rounding alone changes.

    Where that does not converge, the step is too long, or loops cannot be closed: straight on, with velocities NaN.
    """

    def make(context: StepContext, form: RestingForm) -> Step:
        def step(t: Scalar, y: LedgerState, h: Scalar) -> LedgerState:
            begin = _Begin.of(context, form, t, y, h)
            found = while_loop(begin.goes_on, begin.again, begin.first(), MOST)
            q, parts = begin.after(1.0, found)
            v = velocities(begin.mech, begin.about, q, begin.kicked(found.f) + found.p)
            has_converged = found.change <= FAILED * begin.size(found)
            straight, _ = begin.after(1.0, begin.first())
            q, v = np.where(has_converged, q, straight), np.where(has_converged, v, np.nan)
            return form.enter(LedgerState(State(q, v, parts), y.inflow + found.inflow + begin.work(found.f)))

        return step

    return replace(general(2, make), unsuited=_unsuited)


def _unsuited(system: System) -> str:
    if with_own_mass(system):
        return "cannot step worlds in which the mass of bodies changes; take 'rk4' or 'adaptive'."
    if system.bodies is not system.mechanism:
        return "cannot step worlds in which joints let go; take 'rk4' or 'adaptive'."
    return needs_implicit(system)


@dataclass(frozen=True, eq=False)
class _Begin:
    """The start of a step of length h at t: resting form x, coordinates and momenta, and the rows of loops."""

    context: StepContext
    form: RestingForm
    t: Scalar
    h: Scalar
    x: Array
    w: Array
    state: State
    inflow: Array
    mech: Mechanism
    about: About
    p: Array
    rows: Rows | None
    response: Response | None

    @classmethod
    def of(cls, context: StepContext, form: RestingForm, t: Scalar, y: LedgerState, h: Scalar) -> "_Begin":
        state, system = form.leave(y).state, context.system
        scene, _ = system.scene(t, state, context.parameters, context.inputs_at(t))
        mech, about = scene.mechanism, origins(scene.mechanism, state.q)
        rows = response = None
        if system.loops:
            closures = system.closures(scene)
            rows = firm_rows(mech, closures, state.q, state.v, t, system.independent)
            response = response_of(mech, closures, state.q, rows)
        p = momenta(mech, about, state.q, state.v)
        return cls(context, form, t, h, y.state.q, y.state.v, state, y.inflow, mech, about, p, rows, response)

    def first(self) -> Increment:
        """The first guess: straight on."""
        f, parts, inflow = np.zeros(len(self.context.system.loop_sizes)), 0.0 * self.state.parts, 0.0 * self.inflow
        far = np.array(np.inf)
        return Increment(self.w, 0.0 * self.w, parts, inflow, f, far, far)

    def size(self, now: Increment) -> Array:
        """How large velocities are in the step; it may turn in its middle."""
        size: Array = np.max(np.abs(now.w)) + np.max(np.abs(self.w))
        return size

    def goes_on(self, now: Increment) -> Array:
        """Whether the velocities still change: by less and less, or by much."""
        is_needed: Array = (now.change > 0) & ((now.change < now.before) | (now.change > NEARLY * self.size(now)))
        return is_needed

    def after(self, share: float, now: Increment) -> tuple[Array, Array]:
        """q and the states of parts after a share of the step."""
        x = floating.moved(self.mech, self.x, now.w, share * self.h)
        q, _ = floating.moving(self.mech, self.form.fixed, x, now.w)
        return q, self.state.parts + share * now.parts

    def kicked(self, f: Array) -> Array:
        """p (nv,) after the impulses f in the loops at the start."""
        return self.p if self.rows is None else self.p + at_rest(self.mech, self.about, self.state.q, f @ self.rows.J)

    def work(self, f: Array) -> Array:
        """The work of these impulses, in the ledger (k,): f times the mean of J v before and after them."""
        if self.rows is None or self.response is None:
            return 0.0 * self.inflow
        rate = self.rows.J @ (self.state.v + 0.5 * self.response.moved_by(f))
        return self.context.without(0.0 * self.inflow, self.context.system.by_loop(-f * rate))

    def again(self, now: Increment) -> Increment:
        """The increment by the rates in the middle of the one before, with the loops closed further at its end."""
        h, (q, parts) = self.h, self.after(0.5, now)
        v = velocities(self.mech, self.about, q, self.kicked(now.f) + 0.5 * now.p)
        motion = self.context.motion(self.t + 0.5 * h, State(q, v, parts))
        slope = self.context.system.rate(motion)
        p = h * rates(self.mech, self.about, q, v, slope.q, self.context.system.open_accelerations(motion))
        # By the new p: by the old one, w would lag behind it, and stand still in every other iteration.
        v = velocities(self.mech, self.about, q, self.kicked(now.f) + 0.5 * p)
        _, w = floating.at_rest(self.mech, self.form.fixed, q, v)
        change, inflow = np.max(np.abs(w - now.w)), h * self._inflow_rate(motion)
        new = Increment(w, p, h * slope.parts, inflow, now.f, change, now.change)
        return new if self.rows is None else replace(new, f=self._closing(motion, new))

    def _inflow_rate(self, motion: Motion) -> Array:
        """The inflow per second (k,), but for the work of loops, which is that of their impulses."""
        rate = self.context.inflow_rate(motion)
        for name in self.context.system.loops:
            rate = np.where(self.context.inflow_indices == ledger.energy_of(self.context.system, name), 0.0, rate)
        return rate

    def _closing(self, motion: Motion, now: Increment) -> Array:
        """The impulses f (m,) after a step of Newton's method.

        Rows that hold velocities alone hold those in the middle.
        """
        system, scene = self.context.system, motion.scene
        assert self.response is not None
        end = State(self.after(1.0, now)[0], scene.v, self.state.parts)
        there = system.rows(end, self.t + self.h, self.context.parameters)
        gap = there.gap / np.where(self.h == 0, 1.0, self.h)
        asked = [asked_by(closure.relation) for closure in system.closures(scene)]
        holds = [k < one.places for one in asked for k in range(one.count)]
        if not all(holds):
            here = system.rows(State(scene.q, scene.v, self.state.parts), scene.t, self.context.parameters)
            gap = np.where(np.array(holds), gap, here.J @ scene.v - here.rate)
        return now.f - closing_forces(self.response, gap, 1 if system.independent else 3)
