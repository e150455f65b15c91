"""The context of a step of a world, and a method as a row of the table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import when
from poinsot.mechanism import Mechanism
from poinsot.parts.scene import Scene
from poinsot.run import ledger
from poinsot.spatial.arrays import as_array
from poinsot.world import Motion, State, System
from poinsot.world.description import own_states
from poinsot.world.flat_values import Values

ROUNDING = 1e-13  # relative, of times


@dataclass(frozen=True, eq=False)
class LedgerState:
    """A state, and the inflow so far, (k,) at the indices of the ledger that are kept."""

    state: State
    inflow: Array


@dataclass(frozen=True, eq=False)
class StepContext:
    """All that a step depends on beside time and state: equations, free numbers, inputs, indices of the ledger."""

    system: System
    parameters: Values
    inputs: Values
    inflow_indices: Array
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)  # inputs that are functions of time
    tolerance: float = 1e-10  # of methods that choose their steps, relative
    books_errors: bool = (
        False  # whether closing the loops again is entered in the ledger, beside what loops take for it
    )

    def inputs_at(self, t: Scalar) -> Values:
        """The inputs at the time t."""
        return {**self.inputs, **{name: as_array(f(t)) for name, f in self.functions.items()}}

    def scene(self, t: Scalar, state: State) -> Scene:
        """Poses and velocities at the time t; forces are found when they are asked for."""
        return self.system.scene(t, state, self.parameters, self.inputs_at(t))[0]

    def motion(self, t: Scalar, state: State) -> Motion:
        """All forces at the time t, and the accelerations that follow."""
        return self.system.motion(t, state, self.parameters, self.inputs_at(t))

    def mechanism(self, parts: Array | None = None) -> Mechanism:
        """The tree with the free numbers in it, and with the mass that the states of parts (ns,) give it."""
        start = self.system.start()
        state = State(start.q, start.v, start.parts if parts is None else parts)
        return self.system.scene(0.0, state, self.parameters)[0].mechanism

    def rate(self, t: Scalar, y: LedgerState) -> LedgerState:
        """The rate of change of state and ledger."""
        motion = self.motion(t, y.state)
        return LedgerState(self.system.rate(motion), self.inflow_rate(motion))

    def inflow_rate(self, motion: Motion) -> Array:
        """The inflow per second, (k,) at the indices that are kept."""
        if not len(self.inflow_indices):
            return np.zeros(0)
        return self._kept(ledger.inflow_rates(self.system, motion))

    def early_inflow_rate(self, scene: Scene) -> Array:
        """The part of it that follows from forces alone, before accelerations are known; zero for all other sources."""
        if not len(self.inflow_indices):
            return np.zeros(0)
        known, blank = ledger.rates_of_forces(self.system, scene), np.zeros(ledger.WIDTH)
        return self._kept(np.stack([known.get(name, blank) for name in ledger.sources(self.system)]))

    def late_inflow_rate(self, motion: Motion) -> Array:
        """The rest of it."""
        if not len(self.inflow_indices):
            return np.zeros(0)
        known, names = ledger.rates_of_forces(self.system, motion.scene), ledger.sources(self.system)
        late = np.array([[name not in known] * ledger.WIDTH for name in names])
        return self._kept(late * ledger.inflow_rates(self.system, motion))

    def _kept(self, rates: Array) -> Array:
        """The rates (k,) at the indices that are kept, of those (n, 8) through the sources; none is the step's own."""
        kept: Array = np.concatenate([np.ravel(rates), np.zeros(ledger.WIDTH)])[self.inflow_indices]
        return kept

    def numerical(self, error: Array) -> Array:
        """The contribution of the step itself (8,), at the indices that are kept (k,)."""
        start = ledger.WIDTH * len(ledger.sources(self.system))
        whole: Array = np.concatenate([np.zeros(start), error])[self.inflow_indices]
        return whole

    def corners(self, t: Scalar, y: LedgerState) -> Array:
        """The times [s] (k,) at which forces have corners, as they are known at the time t."""
        states = self.system.named_states(y.state.parts)
        elements = self.system.described(self.parameters).elements
        found = (elements[k].corners(t, own_states(states, k)) for k in self.system.cornered)
        return np.concatenate([np.ravel(x) for x in found if x is not None])

    def next_corner(self, t: Scalar, y: LedgerState, end: Scalar) -> Array:
        """The first time [s] after t at which forces have a corner, or the end; those that are but a rounding error
        after t lie behind."""
        times = self.corners(t, y)
        inside = (times > t + ROUNDING * (1.0 + np.abs(t))) & (times < end)
        return np.min(np.where(inside, times, end))

    def settled(self, t: Scalar, y: LedgerState) -> LedgerState:
        """After a step that ended at the time t: latches and the like brought up to date."""
        return self.latched(t, self.closed(t, y))

    def latched(self, t: Scalar, y: LedgerState) -> LedgerState:
        """The same for loops that are closed."""
        state = self.system.settle(t, y.state, self.parameters, self.inputs_at(t))
        return self.released(LedgerState(state, y.inflow))

    def prepared(self, t: Scalar, y: LedgerState, at_end: Any) -> LedgerState:
        """The same up to where the motion is asked for, where a step is `at_end`: loops closed, samples taken."""
        system = self.system
        if not (system.loops or system.sampled or system.events):
            return y

        def closed(y: LedgerState) -> LedgerState:
            y = self.closed(t, y)
            return LedgerState(system.sampled_state(t, y.state, self.parameters, self.inputs_at(t)), y.inflow)

        return cast(LedgerState, when(at_end, closed, y))

    def latched_by(self, motion: Motion, y: LedgerState) -> LedgerState:
        """The rest of it, given the motion then."""
        return self.released(LedgerState(self.system.latched(motion, y.state), y.inflow))

    def closed(self, t: Scalar, y: LedgerState) -> LedgerState:
        """With all loops closed again, and the energy that this takes entered in the ledger."""
        if not self.system.loops:
            return y
        state, lost = self.system.closed(t, y.state, self.parameters)
        inflow = self.without(y.inflow, lost)
        if self.books_errors and len(self.inflow_indices):
            before, after = (self.conserved(t, x) for x in (y.state, state))
            taken = ledger.ENERGY * sum(lost.values())
            inflow = inflow + self.numerical(after - before + taken)
        return LedgerState(state, inflow)

    def conserved(self, t: Scalar, state: State) -> Array:
        """The conserved quantities (8,) of a state."""
        scene, _ = self.system.scene(t, state, self.parameters, self.inputs_at(t))
        return ledger.conserved_quantities(scene, {name: scene.effect(name) for name in scene.elements})

    def without_jumps(self, t: Scalar, y: LedgerState, end: Scalar, new: LedgerState) -> LedgerState:
        """The end of a step from y at the time t; with velocities NaN if a drive or a cam jumps in it."""
        if not self.system.loops:
            return new
        return LedgerState(self.system.without_jumps(t, y.state, end, new.state, self.parameters), new.inflow)

    def without(self, inflow: Array, lost: Mapping[str, Array]) -> Array:
        """The inflow (k,), less the energy [J] that loops take, by their names."""
        for name, energy in lost.items():
            inflow = inflow - np.where(self.inflow_indices == ledger.energy_of(self.system, name), energy, 0.0)
        return inflow

    def released(self, y: LedgerState) -> LedgerState:
        """With released joints at rest, and the energy that this takes entered in the ledger."""
        if self.system.bodies is self.system.mechanism:
            return y
        state, lost = self.system.released(y.state, self.parameters)
        at_joints = self.inflow_indices == ledger.joint_losses(self.system)
        return LedgerState(state, y.inflow - np.where(at_joints, lost, 0.0))


Step: TypeAlias = Callable[[Any, Any, Any], Any]  # (t, y, h) -> y at t + h


@dataclass(frozen=True)
class Method:
    """The order, the function that makes a step, and the conversions to and from the form that is stepped.

    `converts`: whether that form of a system differs from its state. `unsuited`: why it cannot step a system, or "".
    `books_errors`: whether it enters what the step itself adds to what is conserved in the ledger, as `ledger.STEP`.
    `march`: of methods that choose their steps, the function that goes from one time to another; see `adaptive_steps`.
    """

    order: int
    step: Callable[[StepContext], Step]
    to_stepped: Callable[[StepContext, LedgerState], Any] = lambda context, y: y
    from_stepped: Callable[[StepContext, Any], LedgerState] = lambda context, y: y
    converts: Callable[[System], bool] = lambda system: True
    unsuited: Callable[[System], str] = lambda system: ""
    books_errors: bool = False
    march: Callable[..., Any] | None = None
