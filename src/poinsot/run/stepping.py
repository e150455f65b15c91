"""Time stepping of worlds: a table of methods, each with the function that makes a step."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from poinsot._hints import hint
from poinsot._types import Array, Scalar
from poinsot.body import momentum
from poinsot.fuse import fori_loop, once
from poinsot.integrate import schemes
from poinsot.integrate.free_motion import free_motion
from poinsot.integrate.kick_drift import FreeRotation, drifted, free_attitude, kicked
from poinsot.integrate.splitting import free_rotation
from poinsot.mechanism import kinematics
from poinsot.run import ledger
from poinsot.spatial import quaternion
from poinsot.spatial.arrays import as_array
from poinsot.spatial.motion import wrench_at
from poinsot.world import Motion, State, System
from poinsot.world.system import Values


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

    def inputs_at(self, t: Scalar) -> Values:
        """The inputs at the time t."""
        return {**self.inputs, **{name: as_array(f(t)) for name, f in self.functions.items()}}

    def motion(self, t: Scalar, state: State) -> Motion:
        """All forces at the time t, and the accelerations that follow."""
        return self.system.motion(t, state, self.parameters, self.inputs_at(t))

    def rate(self, t: Scalar, y: LedgerState) -> LedgerState:
        """The rate of change of state and ledger."""
        motion = self.motion(t, y.state)
        return LedgerState(self.system.rate(motion), self.inflow_rate(motion))

    def inflow_rate(self, motion: Motion) -> Array:
        """The inflow per second, (k,) at the indices that are kept."""
        if not len(self.inflow_indices):
            return np.zeros(0)
        rates: Array = np.ravel(ledger.inflow_rates(self.system, motion))[self.inflow_indices]
        return rates

    def settled(self, t: Scalar, y: LedgerState) -> LedgerState:
        """After a step that ended at the time t: latches and the like brought up to date."""
        y = self.closed(y)
        state = self.system.settle(t, y.state, self.parameters, self.inputs_at(t))
        return self.released(LedgerState(state, y.inflow))

    def closed(self, y: LedgerState) -> LedgerState:
        """With all loops closed again, and the energy that this takes entered in the ledger."""
        if not self.system.loops:
            return y
        state, lost = self.system.closed(y.state, self.parameters)
        inflow = y.inflow
        for name, energy in lost.items():
            inflow = inflow - np.where(self.inflow_indices == ledger.energy_of(self.system, name), energy, 0.0)
        return LedgerState(state, inflow)

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
    """The order, the function that makes a step, and the conversions to and from the form that is stepped."""

    order: int
    step: Callable[[StepContext], Step]
    to_stepped: Callable[[StepContext, LedgerState], Any] = lambda context, y: y
    from_stepped: Callable[[StepContext, Any], LedgerState] = lambda context, y: y
    free_bodies_only: bool = False


def _runge_kutta(tableau: schemes.Tableau) -> Method:
    """On the components of the state, with quaternions normalized after each step."""

    def make(context: StepContext) -> Step:
        f = once(context.rate)

        def step(t: Scalar, y: LedgerState, h: Scalar) -> LedgerState:
            y = schemes.runge_kutta(tableau, f, t, y, h)
            q = kinematics.normalize(context.system.mechanism, y.state.q)
            return LedgerState(State(q, y.state.v, y.state.parts), y.inflow)

        return _with_switches(context, step)

    return Method(tableau.order, make)


def _semi_implicit(context: StepContext) -> Step:
    """Velocities first; then coordinates move with the new velocities, on the group."""

    def step(t: Scalar, y: LedgerState, h: Scalar) -> LedgerState:
        slope = context.rate(t, y)
        v = y.state.v + h * slope.state.v
        q = kinematics.integrate(context.system.mechanism, y.state.q, h * v)
        return LedgerState(State(q, v, y.state.parts + h * slope.state.parts), y.inflow + h * slope.inflow)

    return _with_switches(context, step)


def _with_switches(context: StepContext, step: Step) -> Step:
    """The step, followed by the updates of latches; a step in which something is released is repeated in two parts.

    The second part is repeated likewise if something else is released in it, and so on, until nothing is left to
    release.
    """
    system, settled = context.system, once(context.settled)

    def whole(t: Scalar, y: LedgerState, h: Scalar) -> LedgerState:
        new, end = context.settled(t + h, step(t, y, h)), t + h

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
        return _with_events(context, step, settled, now, end)[2] if system.events else now[2]

    return whole


def _with_events(context: StepContext, step: Step, settled: Any, now: Any, end: Scalar) -> Any:
    """(begin, y, new): a step from y, at begin, to new, at its end; if something happens in it, in parts.

    The instant at which it happens is found by bisection, to rounding.
    """

    def happened(y: LedgerState) -> Any:
        states = context.system.named_states(y.state.parts)
        return sum(states[f"{name}.happened"] for name in context.system.events)

    def check(_: Any, now: tuple[Any, LedgerState, LedgerState]) -> Any:
        def parted(_: Any, now: tuple[Any, LedgerState, LedgerState]) -> Any:
            begin, y, _ = now

            def halved(_: Any, bounds: tuple[Any, Any]) -> tuple[Any, Any]:
                low, high = bounds
                middle = 0.5 * (low + high)
                is_true = happened(settled(begin + middle, step(begin, y, middle))) > happened(y)
                return np.where(is_true, low, middle), np.where(is_true, middle, high)

            _, share = fori_loop(50, halved, (np.zeros(()), end - begin))
            there = settled(begin + share, step(begin, y, share))
            return begin + share, there, settled(end, step(begin + share, there, end - begin - share))

        return fori_loop(np.where(happened(now[2]) > happened(now[1]), 1, 0), parted, now)

    return fori_loop(len(context.system.events), check, now)


# Free bodies and particles: kicks by forces, and free motion in between that conserves momentum exactly.


@dataclass(frozen=True, eq=False)
class FreeBodies:
    """All bodies in free motion: centres of mass x, attitudes, momenta P and L (n, ...) in world axes; the ledger."""

    x: Array
    attitude: Array
    P: Array
    L: Array
    inflow: Array

    def body(self, k: int) -> momentum.MomentumState:
        return momentum.MomentumState(self.x[k], self.attitude[k], self.P[k], self.L[k])


def _to_momenta(context: StepContext, y: LedgerState) -> FreeBodies:
    """From joint coordinates and velocities to centres of mass and momenta."""
    bodies = []
    for link, sq, sv in _links(context):
        q, v = y.state.q[sq], y.state.v[sv]
        if not link.joint.type.attitude:
            bodies.append((q, quaternion.identity(), link.inertia.mass * v, np.zeros(3)))
        else:
            X = link.joint.type.pose(link.joint, q)
            s = momentum.from_motion(link.inertia, X, v)
            bodies.append((s.x, q[:4], s.P, s.L))
    x, attitude, P, L = (np.stack([as_array(a) for a in column]) for column in zip(*bodies, strict=True))
    return FreeBodies(x, attitude, P, L, y.inflow)


def _from_momenta(context: StepContext, y: FreeBodies) -> LedgerState:
    """From centres of mass and momenta to joint coordinates and velocities."""
    q, v = [], []
    for k, (link, _, _) in enumerate(_links(context)):
        if not link.joint.type.attitude:
            q.append(y.x[k])
            v.append(y.P[k] / link.inertia.mass)
        else:
            X, V = momentum.to_motion(y.body(k), link.inertia)
            q.append(np.concatenate([y.attitude[k], X.p]))
            v.append(V)
    return LedgerState(State(np.concatenate(q), np.concatenate(v), np.zeros(0)), y.inflow)


def _links(context: StepContext) -> list[Any]:
    mech = context.system.mechanism
    return list(zip(mech.links, mech.q_slices, mech.v_slices, strict=True))


def _splitting(order: int, rotate: FreeRotation) -> Method:
    """Kicks and drifts of all bodies together, composed by Strang and Suzuki."""

    def make(context: StepContext) -> Step:
        bodies = [link for link, _, _ in _links(context)]
        rotations = [free_attitude(link.inertia, rotate) if link.joint.type.attitude else None for link in bodies]

        def forces(t: Scalar, y: FreeBodies, P: Array, L: Array, inflow: Array) -> tuple[Array, Array, Array]:
            at = _from_momenta(context, FreeBodies(y.x, y.attitude, P, L, inflow))
            motion = context.motion(t, at.state)
            return *_at_centres(motion), context.inflow_rate(motion)

        def kick(t: Scalar, y: FreeBodies, h: Scalar) -> FreeBodies:
            momenta = kicked(lambda p: forces(t, y, *p), t, (y.P, y.L, y.inflow), h)
            return FreeBodies(y.x, y.attitude, *momenta)

        def drift(t: Scalar, y: FreeBodies, h: Scalar) -> FreeBodies:
            x, attitude = [], []
            for k, (link, rotated) in enumerate(zip(bodies, rotations, strict=True)):
                x.append(drifted(link.inertia, y.x[k], y.P[k], h))
                attitude.append(y.attitude[k] if rotated is None else rotated(y.attitude[k], y.L[k], h))
            return FreeBodies(np.stack(x), np.stack(attitude), y.P, y.L, y.inflow)

        if _nothing_acts(context.system):
            return partial(schemes.strang, lambda t, y, h: y, once(drift), order=order)
        return partial(schemes.strang, once(kick), once(drift), order=order)

    return Method(order, make, _to_momenta, _from_momenta, free_bodies_only=True)


def _nothing_acts(system: System) -> bool:
    """Whether all bodies move freely: no element, no gravity, and no gravity left free."""
    description = system.description
    weightless = not np.any(description.field) and not any(path.startswith("gravity") for path in system.free)
    return weightless and not any(True for _ in description.acting())


def _at_centres(motion: Motion) -> tuple[Array, Array]:
    """Total force and torque about its centre of mass on every body, in world axes, gravity included."""
    F, tau = [], []
    scene = motion.scene
    for link, X in zip(scene.mechanism.links, scene.poses, strict=True):
        assert link.inertia is not None
        wrench = motion.wrenches.get(link.name, np.zeros(6))
        about = wrench_at(wrench, link.inertia.com)
        F.append(X.R @ about[3:] + link.inertia.mass * scene.mechanism.gravity)
        tau.append(X.R @ about[:3] if link.joint.type.attitude else np.zeros(3))
    return np.stack(F), np.stack(tau)


METHODS: dict[str, Method] = {
    "euler": _runge_kutta(schemes.EULER),
    "midpoint": _runge_kutta(schemes.MIDPOINT),
    "rk4": _runge_kutta(schemes.RK4),
    "semi-implicit euler": Method(1, _semi_implicit),
    "splitting": _splitting(2, free_rotation),
    "splitting4": _splitting(4, free_rotation),
    "poinsot": _splitting(2, free_motion),
    "poinsot4": _splitting(4, free_motion),
}


def choose_method(name: str | None, system: System) -> str:
    """The method of this name, checked; by default a conserving one for free bodies, and RK4 otherwise."""
    if name is None:
        return "splitting4" if is_free(system) else "rk4"
    if name not in METHODS:
        raise ValueError(f"method {name!r} is unknown{hint(name, METHODS)}; there are {', '.join(METHODS)}, adaptive.")
    if METHODS[name].free_bodies_only and not is_free(system):
        raise ValueError(
            f"method {name!r} is for free bodies and particles of given, constant mass; this world has joints, parts "
            "with states or free mass properties. Take 'rk4'."
        )
    return name


def is_free(system: System) -> bool:
    """Whether all bodies are free, their mass properties known and constant, no part has a state, and no motor acts."""
    if system.ns or system.loops or any(element.joints() for element in system.description.elements.values()):
        return False
    for link in system.mechanism.links:
        placed = not (np.array_equal(link.placement.R, np.eye(3)) and not np.any(link.placement.p))
        if link.parent is not None or not link.joint.type.position or link.inertia is None or placed:
            return False
        j = link.joint
        if any(np.any(np.asarray(x)) for x in (j.stiffness, j.damping, j.friction, j.armature)):
            return False
    base = system.description
    described = system.described(system.numbers)
    return all(body.link().inertia is base.bodies[name].link().inertia for name, body in described.bodies.items())
