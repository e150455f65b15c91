"""The equations of motion of a world: one function of time and state.

Collect all forces with their acting points, sum them, accelerate: de Nivelle, section 4.3, for any number of bodies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot._memo import is_known, memo
from poinsot._types import Array, Scalar
from poinsot.control.events import events_of, inputs_after, require_conditions, require_inputs
from poinsot.fuse.graph.nodes import tracing
from poinsot.fuse.trace.table import Table, look_ups
from poinsot.mechanism import Mechanism, floating, kinematics
from poinsot.mechanism.assembling import is_closed
from poinsot.mechanism.closures import Closure, closing_rows, count_of, jumps, sizes_of
from poinsot.mechanism.constrained import Mobility, constrained_dynamics, mobility, projected
from poinsot.mechanism.dynamics import joint_forces
from poinsot.mechanism.loop_frames import Rows
from poinsot.mechanism.model import plain
from poinsot.parts import Effect, Element, Scene
from poinsot.parts.element import within_range
from poinsot.parts.scene import MOUNT
from poinsot.spatial.arrays import as_array
from poinsot.world import initial, paths, sampling
from poinsot.world.closing_loops import assembled_start, closing, closures_of, gathered, loops_of
from poinsot.world.description import Description, initial_states, own_states
from poinsot.world.flat_values import Values, pack, unpack
from poinsot.world.instants import Motion, State, Switch
from poinsot.world.nets import check_start, net_of, started
from poinsot.world.start_checks import check_effects, require_latches, require_mass_apart, require_places

OPEN = 1e-3  # of the size of a loop, or rad: a gap that is left after a step, and with which a run does not go on


class System:
    """A description as equations of motion, with some of its numbers left free.

    `free`: paths of the numbers that are supplied when the equations are evaluated. All of it is plain NumPy for one
    instance that can be traced. `mechanism`: the tree that moves; `bodies`: the same without the mounts of joints that
    may be released.
    """

    def __init__(self, description: Description, free: Sequence[str] = ()) -> None:
        description.check()
        self.description, self.free = description, tuple(free)
        self.mechanism, self.net = description.mechanism(), net_of(description, self.free)
        self.numbers = {path: paths.read(description, path) for path in self.free}
        self.inputs = {name: as_array(value) for name, value in description.inputs.items()}
        self.states = initial_states(description)
        self.loops = tuple(loops_of(description.acting()))
        self.events = tuple(events_of(description.elements))
        require_inputs(description.elements, self.inputs)
        self.bodies = description.mechanism(parts=False) if description.held(self.states) else self.mechanism
        if self.letting_go:
            require_mass_apart(self.letting_go, self.states, description)
        self.independent = self._are_independent()
        self.sampled: tuple[str, ...] = ()
        self.latching: tuple[str, ...] = ()
        if self.net is not None:
            with np.errstate(all="ignore"):
                check_start(self.net, description)
            return
        with np.errstate(all="ignore"), within_range("the world"):
            scene, _ = self.scene(0.0, self.start())
            require_places(scene, description)
            check_effects(scene, description)
            sampling.require_one_writer(scene)
            self.sampled = sampling.order(scene)
            require_conditions(scene)
            others = (*self.sampled, *self.events)
            self.latching = tuple(k for k, e in description.acting() if e.latches and k not in others)
            require_latches(self.latching, self.states, self.first_motion)

    def _are_independent(self) -> bool:
        """Whether no row of the loops follows from the others at the start, or nearly."""
        if not self.loops:
            return True
        here = self.mobility()
        return here.redundant == 0 and here.margin > 1e-3

    def mobility(self, state: State | None = None) -> Mobility:
        """Degrees of freedom, rows of closures, redundant rows, in a state or at the start."""
        q = (state or self.start()).q
        held = {} if state is None else self._held(self.named_states(state.parts))
        return mobility(self.mechanism, closures_of(self.description.elements, held), q)

    # Sizes and names.

    @property
    def nq(self) -> int:
        return self.mechanism.nq

    @property
    def nv(self) -> int:
        return self.mechanism.nv

    @cached_property
    def ns(self) -> int:
        return sum(np.size(value) for value in self.states.values())

    def named_states(self, parts: Array) -> dict[str, Array]:
        """The states of the parts (ns,), by name."""
        return unpack(parts, {name: np.shape(value) for name, value in self.states.items()})

    def described(self, parameters: Values | None) -> Description:
        """The description with these numbers at their paths."""
        return paths.write(self.description, parameters) if parameters else self.description

    # The equations.

    def start(self, parameters: Values | None = None) -> State:
        """The state at the start."""
        if parameters or (tracing() and not is_known(self, "_own_start")):
            return self._started(parameters)
        own = self._own_start
        return State(own.q.copy(), own.v.copy(), own.parts.copy())

    @cached_property
    def _own_start(self) -> State:
        return self._started(None)

    def _started(self, parameters: Values | None) -> State:
        if not parameters and self.net is not None:
            return State(*started(self.net, self.description), np.zeros(0))
        description = self.described(parameters)
        states = initial_states(description)
        mech = self._mechanism(description, states)
        q, v = initial.start(description.started(), mech)
        if self.loops:
            q, v = assembled_start(mech, closures_of(description.elements), q, v)
        return State(q, v, np.concatenate([np.zeros(0), *(np.ravel(s) for s in states.values())]))

    def scene(
        self,
        t: Any,
        state: State,
        parameters: Values | None = None,
        inputs: Values | None = None,
    ) -> tuple[Scene, Description]:
        """Poses and velocities of all bodies, and the description that they follow."""
        description = self.described(parameters)
        states = self.named_states(state.parts)
        mech = self._mechanism(description, states)
        free = {name: x for name, x in description.inputs.items() if x is not self.description.inputs[name]}
        values, elements = {**self.inputs, **(inputs or {}), **free}, dict(description.acting())
        values = inputs_after(elements, states, values) if self.events else values
        q, shapes = (
            kinematics.normalize(mech, state.q),
            {name: body.inertia for name, body in description.bodies.items()},
        )
        return Scene(mech, t, q, state.v, values, states, elements, self.solved, shapes), description

    @cached_property
    def needs_implicit(self) -> str:
        """The name of an element whose forces must be taken at the end of a step, or ""."""
        return next((name for name, e in self.description.acting() if e.needs_implicit), "")

    def motion(
        self,
        t: Scalar,
        state: State,
        parameters: Values | None = None,
        inputs: Values | None = None,
    ) -> Motion:
        """All forces, and the accelerations that follow."""
        return self.solved(self.scene(t, state, parameters, inputs)[0])

    def first_motion(self) -> Motion:
        """The motion at the start."""
        if tracing() and not is_known(self, "_first"):  # numbers of a graph are of no use beyond it
            return self.motion(0.0, self.start())
        return self._first[0]

    def first_tables(self) -> list[Table]:
        """The tables that are asked at the start, in order; one that is asked twice stands twice."""
        return self._first[1]

    @cached_property
    def _first(self) -> tuple[Motion, list[Table]]:
        with look_ups() as seen:
            motion = self.motion(0.0, self.start())
        return motion, [table for table, _ in seen]

    def solved(self, scene: Scene) -> Motion:
        """All forces in a scene, and the accelerations that follow."""
        effects = {name: scene.effect(name) for name in scene.elements if name not in self.loops}
        mech = scene.mechanism
        tau = joint_forces(mech, scene.q, scene.v)
        wrenches: dict[str, Array] = {}
        for effect in effects.values():
            tau = gathered(mech, effect, wrenches, tau)
        vdot = wdot = np.zeros(0)
        if self.loops:
            tau, vdot = self._close(scene, effects, wrenches, tau)
            wdot = vdot
        if not self.loops or floating.free_roots(mech):  # in free trees, forces come in pairs to rounding
            vdot, wdot = floating.accelerations(mech, scene.q, scene.v, tau, wrenches or None)
        motion = Motion(scene, effects, wrenches, tau, vdot, wdot)
        return replace(motion, effects={name: effect.evaluated(motion) for name, effect in effects.items()})

    def open_accelerations(self, motion: Motion) -> Array:
        """vdot (nv,) under all forces but those in the loops."""
        if not self.loops:
            return motion.vdot
        mech, q, v = motion.scene.mechanism, motion.scene.q, motion.scene.v
        tau, wrenches = joint_forces(mech, q, v), dict[str, Array]()
        for name, effect in motion.effects.items():
            tau = tau if name in self.loops else gathered(mech, effect, wrenches, tau)
        return floating.accelerations(mech, q, v, tau, wrenches or None)[0]

    def _close(
        self, scene: Scene, effects: dict[str, Effect], wrenches: dict[str, Array], tau: Array
    ) -> tuple[Array, Array]:
        """Enter the forces that keep all loops closed among the effects and wrenches; tau (nv,) with them, and vdot."""
        closures, mech = self.closures(scene), scene.mechanism
        vdot, f, rows = constrained_dynamics(
            mech, closures, scene.q, scene.v, tau, wrenches or None, self.independent, scene.t
        )
        return closing(self.loops, scene, effects, wrenches, tau, f, rows), vdot

    def closures(self, scene: Scene) -> list[Closure]:
        """The loops of a scene as closures of its mechanism."""
        return closures_of(scene.elements, self._held(scene.states))

    def closed(self, t: Scalar, state: State, parameters: Values | None = None) -> tuple[State, dict[str, Array]]:
        """The state with all loops closed at the time t, and the kinetic energy [J] that each loop takes for that.

        Where they cannot be closed, the velocities are NaN.
        """
        mech, closures = self._loops(state, parameters)
        q, v, lost, gap = projected(mech, closures, state.q, state.v, independent=self.independent, t=t)
        v = np.where(np.all(np.abs(gap) <= OPEN * self.loop_sizes), v, np.nan)
        return State(q, v, state.parts), self.by_loop(lost)

    def by_loop(self, lost: Array) -> dict[str, Array]:
        """The energy [J] that each loop takes, from that of all rows (m,)."""
        loops = loops_of(self.description.elements.items())
        ends = np.cumsum([count_of(loop.relation) for loop in loops.values()])[:-1]
        return {name: np.sum(part) for name, part in zip(self.loops, np.split(lost, ends), strict=True)}

    @cached_property
    def loop_sizes(self) -> Array:
        """How large a gap of each row of the loops would be of the order of its loop: [m], or 1 rad."""
        closures = closures_of(self.description.elements)
        return np.concatenate([np.zeros(0), *(plain(sizes_of(self.mechanism, closure)) for closure in closures)])

    def is_closed(self, state: State, parameters: Values | None = None) -> Any:
        """Whether all loops are closed in a state."""
        return is_closed(*self._loops(state, parameters), state.q)

    def without_jumps(
        self, t: Scalar, before: State, end: Scalar, state: State, parameters: Values | None = None
    ) -> State:
        """The state after a step from t to its end; with velocities NaN if a drive or a cam jumps in it."""
        mech, closures = self._loops(state, parameters)
        jumped: Any = False
        for closure in closures:
            found = jumps(mech, closure, (before.q, t), (state.q, end))
            jumped = jumped if found is None else jumped | ((found[0] | found[1]) & (closure.held > 0))
        return state if jumped is False else State(state.q, np.where(jumped, np.nan, state.v), state.parts)

    def rows(self, state: State, t: Scalar = 0.0, parameters: Values | None = None) -> Rows:
        """The rows of all loops in a state."""
        return closing_rows(*self._loops(state, parameters), state.q, state.v, t)

    def _loops(self, state: State, parameters: Values | None) -> tuple[Mechanism, list[Closure]]:
        """The mechanism and its loops in a state."""
        description, states = self.described(parameters), self.named_states(state.parts)
        return self._mechanism(description, states), closures_of(description.elements, self._held(states))

    def _held(self, states: Mapping[str, Array]) -> dict[str, Array]:
        """The loops that may part, by name: 1 while they hold, 0 after."""
        return {name: held for name, held in self.description.holding(states).items() if name in self.loops}

    def derivative(
        self,
        t: Scalar,
        state: State,
        parameters: Values | None = None,
        inputs: Values | None = None,
    ) -> State:
        """dq/dt, dv/dt, and the rates of the parts' states."""
        motion = self.motion(t, state, parameters, inputs)
        return self.rate(motion)

    def rate(self, motion: Motion) -> State:
        """The rate of change of the state that goes with a motion."""
        scene = motion.scene
        rates = {name: np.zeros(np.shape(value)) for name, value in self.states.items()}
        for owner, effect in motion.effects.items():
            for key, rate in effect.rates.items():
                name = key if key in rates else f"{owner}.{key}"
                if name not in rates:
                    raise KeyError(f"{owner!r} gives the rate of {key!r}, which is not a state{hint(key, rates)}.")
                rates[name] = rates[name] + rate
        qdot = kinematics.position_rate(scene.mechanism, scene.q, scene.v)
        return State(qdot, motion.vdot, pack(rates))

    def settle(
        self,
        t: Scalar,
        state: State,
        parameters: Values | None = None,
        inputs: Values | None = None,
    ) -> State:
        """The state after a step, with the latches of elements updated."""
        state = self.sampled_state(t, state, parameters, inputs)
        return self.latched(self.motion(t, state, parameters, inputs), state) if self.latching else state

    def sampled_state(
        self, t: Scalar, state: State, parameters: Values | None = None, inputs: Values | None = None
    ) -> State:
        """The state after a step, with the samples taken that are due, and what happens noticed."""
        if not (self.sampled or self.events):
            return state
        return State(state.q, state.v, pack(sampling.settled(self, t, state, parameters, inputs)))

    def latched(self, motion: Motion, state: State) -> State:
        """A state with the latches of elements updated, given its motion."""
        states = dict(motion.scene.states)
        for name in self.latching:
            own = motion.scene.elements[name].settle(motion, own_states(states, name))
            states |= {f"{name}.{key}": value for key, value in own.items()}
        return State(state.q, state.v, pack(states))

    @cached_property
    def happening(self) -> dict[str, Element]:
        """The elements to which something may happen within a step."""
        known = {name: own_states(self.states, name) for name, _ in self.description.acting()}
        return {k: e for k, e in self.description.acting() if e.happened(known[k]) is not None}

    @cached_property
    def cornered(self) -> tuple[str, ...]:
        """The elements whose forces have corners at times that are known."""
        acting = self.description.acting()
        return tuple(k for k, e in acting if e.corners(0.0, own_states(self.states, k)) is not None)

    @cached_property
    def letting_go(self) -> dict[str, Element]:
        """The elements that may release something."""
        known = {name: own_states(self.states, name) for name, _ in self.description.acting()}
        return {k: e for k, e in self.description.acting() if e.lets_go(known[k], known[k]) is not None}

    def switch(self, before: State, after: State) -> Switch:
        """The first release between two states, a step apart."""
        old, new = self.named_states(before.parts), self.named_states(after.parts)
        times: dict[str, Array] = {}
        values: dict[str, dict[str, Array]] = {}
        for name, element in self.letting_go.items():
            release = element.lets_go(own_states(old, name), own_states(new, name))
            assert release is not None
            times[name], values[name] = release
        first = reduce(np.minimum, times.values())
        sets, to = {}, {}  # type: dict[str, Array], dict[str, Array]
        for name, value in old.items():
            owner, _, key = name.rpartition(".")
            is_set = key in values.get(owner, {})
            sets[name] = (
                np.full(np.shape(value), 1.0) * (times[owner] <= first) if is_set else np.zeros(np.shape(value))
            )
            to[name] = values[owner][key] if is_set else np.zeros(np.shape(value))
        return Switch(first, pack(sets) > 0, pack(to))

    def released(self, state: State, parameters: Values | None = None) -> tuple[State, Array]:
        """The state in which released joints are at rest and their mounts move instead, and the energy [J] lost.

        V_M := V_M + Ad(X_MB) S v, v := 0: all bodies keep their twists, and applying it twice changes nothing more. The
        energy lost is that of motors' rotors (armatures) that are now at rest.
        """
        description, mech = self.described(parameters), self.mechanism
        v, lost = state.v, np.zeros(())
        for name, held in description.held(self.named_states(state.parts)).items():
            joint, loose = description.bodies[name].hinge, held < 0.5
            if joint.type.is_free or not joint.nv:
                continue
            k, m = mech.index(name), mech.index(name + MOUNT)
            q, rate = state.q[mech.q_slices[k]], v[mech.v_slices[k]]
            V = joint.type.pose(joint, q).adjoint() @ (joint.type.subspace(joint, q) @ rate)
            lost = lost + np.where(loose, 0.5 * np.sum(joint.armature * rate * rate), 0.0)
            v = _with(v, mech.v_slices[m], v[mech.v_slices[m]] + np.where(loose, V, 0.0))
            v = _with(v, mech.v_slices[k], np.where(loose, 0.0, rate))
        return State(state.q, v, state.parts), lost

    def _mechanism(self, description: Description, states: Mapping[str, Array]) -> Mechanism:
        """The mechanism of a description; the one made before, if nothing in it changed."""
        base = self.description
        same = description.gravity is base.gravity and all(
            body is base.bodies[name] or _same_link(body.link(), base.bodies[name].link())
            for name, body in description.bodies.items()
        )
        for name, element in description.elements.items():
            own = own_states(states, name)
            changed = element is not base.elements[name] and element.decoupled()
            parts = any(what in description.bodies for what in element.holds(own))
            same = same and not (changed or element.inertias(own) or parts)
        return self.mechanism if same else description.mechanism(states)


@memo
def system_of(description: Description, free: tuple[str, ...]) -> System:
    """The equations of motion of a description, with these numbers left free."""
    return System(description, free)


def _with(x: Array, where: slice, part: Array) -> Array:
    """x (n,) with other entries there."""
    return np.concatenate([x[: where.start], part, x[where.stop :]])


def _same_link(a: Any, b: Any) -> bool:
    return all(getattr(a, name) is getattr(b, name) for name in ("inertia", "parent", "joint", "placement"))
