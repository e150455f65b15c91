"""Time stepping of worlds: a table of methods, each the maker of a step."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array
from poinsot.body import momentum
from poinsot.fuse import fori_loop, once
from poinsot.integrate import schemes
from poinsot.integrate.free_motion import free_motion
from poinsot.integrate.splitting import free_rotation
from poinsot.mechanism import kinematics
from poinsot.run import ledger
from poinsot.spatial import motion, quaternion
from poinsot.spatial.arrays import as_array
from poinsot.world import Motion, State, System

Numbers: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Booked:
    """A state, and what came in so far, (k,) at the places of the ledger that are kept."""

    state: State
    inflow: Array


@dataclass(frozen=True, eq=False)
class Setting:
    """What a step needs to know: equations, free numbers, inputs, and which places of the ledger are kept."""

    system: System
    parameters: Numbers
    inputs: Numbers
    places: Array
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)  # inputs that are functions of time

    def given_inputs(self, t: Any) -> Numbers:
        """The inputs at the time t."""
        return {**self.inputs, **{name: as_array(f(t)) for name, f in self.functions.items()}}

    def rate(self, t: Any, y: Booked) -> Booked:
        """The rate of change of state and ledger."""
        moved = self.system.motion(t, y.state, self.parameters, self.given_inputs(t))
        return Booked(self.system.rate(moved), self.inflow(moved))

    def inflow(self, moved: Motion) -> Array:
        """What comes in per second, (k,) at the places that are kept."""
        return np.ravel(ledger.flows(self.system, moved))[self.places] if len(self.places) else np.zeros(0)

    def settled(self, t: Any, y: Booked) -> Booked:
        """After a step that ended at the time t: latches and the like brought up to date."""
        return self.released(Booked(self.system.settle(t, y.state, self.parameters, self.given_inputs(t)), y.inflow))

    def released(self, y: Booked) -> Booked:
        """With joints that have let go at rest, and what that takes booked."""
        if self.system.bodies is self.system.mechanism:
            return y
        state, lost = self.system.released(y.state, self.parameters)
        return Booked(state, y.inflow - np.where(self.places == ledger.losses(self.system), lost, 0.0))


Step: TypeAlias = Callable[[Any, Any, Any], Any]  # (t, y, h) -> y at t + h


@dataclass(frozen=True)
class Method:
    """An order, the maker of a step, and how a state enters and leaves the form in which it is stepped."""

    order: int
    step: Callable[[Setting], Step]
    enter: Callable[[Setting, Booked], Any] = lambda setting, y: y
    leave: Callable[[Setting, Any], Booked] = lambda setting, y: y
    free_bodies_only: bool = False


def _runge_kutta(tableau: schemes.Tableau) -> Method:
    """On the components of the state, quaternions made unit again after each step."""

    def make(setting: Setting) -> Step:
        f = once(setting.rate)

        def step(t: Any, y: Booked, h: Any) -> Booked:
            y = schemes.runge_kutta(tableau, f, t, y, h)
            q = kinematics.normalize(setting.system.mechanism, y.state.q)
            return Booked(State(q, y.state.v, y.state.parts), y.inflow)

        return _watched(setting, step)

    return Method(tableau.order, make)


def _semi_implicit(setting: Setting) -> Step:
    """Velocities first; then coordinates move with the new velocities, on the group."""

    def step(t: Any, y: Booked, h: Any) -> Booked:
        slope = setting.rate(t, y)
        v = y.state.v + h * slope.state.v
        q = kinematics.integrate(setting.system.mechanism, y.state.q, h * v)
        return Booked(State(q, v, y.state.parts + h * slope.state.parts), y.inflow + h * slope.inflow)

    return _watched(setting, step)


def _watched(setting: Setting, step: Step) -> Step:
    """The step, and what elements do after it; one in which something lets go is made again, in two parts.

    So is the second part, if something else lets go in it, and so on, until everything may have let go.
    """
    system, settled = setting.system, once(setting.settled)

    def watched(t: Any, y: Booked, h: Any) -> Booked:
        new, end = setting.settled(t + h, step(t, y, h)), t + h

        def look(_: Any, now: tuple[Any, Booked, Booked]) -> tuple[Any, Booked, Booked]:
            switch = system.switch(now[1].state, now[2].state)

            def again(_: Any, now: tuple[Any, Booked, Booked]) -> tuple[Any, Booked, Booked]:
                begin, y, _ = now
                at = np.clip(switch.time, begin, end)
                there = settled(at, step(begin, y, at - begin))
                parted = settled(at, setting.released(Booked(switch.applied(there.state), there.inflow)))
                return at, parted, settled(end, step(at, parted, end - at))

            return fori_loop(np.where(switch.time <= end, 1, 0), again, now)

        return fori_loop(len(system.letting_go), look, (t + np.zeros(()), y, new))[2] if system.letting_go else new

    return watched


# Free bodies and particles: kicks by forces, and free motion in between that keeps momentum exactly.


@dataclass(frozen=True, eq=False)
class Flight:
    """All bodies in free flight: centre of mass x, attitude, momenta P and L of each, in world axes; and the ledger."""

    x: Array
    attitude: Array
    P: Array
    L: Array
    inflow: Array


def _fly(setting: Setting, y: Booked) -> Flight:
    """From joint coordinates and velocities to centres of mass and momenta."""
    rows = []
    for link, sq, sv in _links(setting):
        q, v = y.state.q[sq], y.state.v[sv]
        if not link.joint.type.attitude:
            rows.append((q, quaternion.identity(), link.inertia.mass * v, np.zeros(3)))
        else:
            X = link.joint.type.pose(link.joint, q)
            s = momentum.from_motion(link.inertia, X, v)
            rows.append((s.x, q[:4], s.P, s.L))
    x, attitude, P, L = (np.stack([as_array(a) for a in column]) for column in zip(*rows, strict=True))
    return Flight(x, attitude, P, L, y.inflow)


def _land(setting: Setting, y: Flight) -> Booked:
    """The way back."""
    q, v = [], []
    for k, (link, _, _) in enumerate(_links(setting)):
        if not link.joint.type.attitude:
            q.append(y.x[k])
            v.append(y.P[k] / link.inertia.mass)
        else:
            X, V = momentum.to_motion(momentum.MomentumState(y.x[k], y.attitude[k], y.P[k], y.L[k]), link.inertia)
            q.append(np.concatenate([y.attitude[k], X.p]))
            v.append(V)
    return Booked(State(np.concatenate(q), np.concatenate(v), np.zeros(0)), y.inflow)


def _links(setting: Setting) -> list[Any]:
    mech = setting.system.mechanism
    return list(zip(mech.links, mech.q_slices, mech.v_slices, strict=True))


def _splitting(order: int, turn: Callable[..., Array]) -> Method:
    def make(setting: Setting) -> Step:
        principal = [link.inertia.principal() for link, _, _ in _links(setting)]

        def kick(t: Any, y: Flight, h: Any) -> Flight:
            """Momenta follow P' = F, L' = tau while all bodies stand still, by RK4."""

            def forces(_: Any, p: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
                at = _land(setting, Flight(y.x, y.attitude, p[0], p[1], p[2]))
                moved = setting.system.motion(t, at.state, setting.parameters, setting.given_inputs(t))
                F, tau = _at_centres(setting, moved)
                return F, tau, setting.inflow(moved)

            P, L, inflow = schemes.runge_kutta(schemes.RK4, forces, t, (y.P, y.L, y.inflow), h)
            return Flight(y.x, y.attitude, P, L, inflow)

        def drift(t: Any, y: Flight, h: Any) -> Flight:
            """Free motion of every body."""
            x, attitude = [], []
            for k, (link, _, _) in enumerate(_links(setting)):
                x.append(y.x[k] + h / link.inertia.mass * y.P[k])
                if not link.joint.type.attitude:
                    attitude.append(y.attitude[k])
                    continue
                moments, R_BP = principal[k]
                q_BP = quaternion.from_matrix(R_BP)
                q_WP = turn(quaternion.product(y.attitude[k], q_BP), y.L[k], moments, h)
                attitude.append(quaternion.product(q_WP, quaternion.conjugate(q_BP)))
            return Flight(np.stack(x), np.stack(attitude), y.P, y.L, y.inflow)

        if _nothing_acts(setting.system):
            return partial(schemes.strang, lambda t, y, h: y, once(drift), order=order)
        return partial(schemes.strang, once(kick), once(drift), order=order)

    return Method(order, make, _fly, _land, free_bodies_only=True)


def _nothing_acts(system: System) -> bool:
    """Whether bodies fly on freely: no element, no gravity, nor any that could be given."""
    description = system.description
    weightless = not np.any(description.field) and not any(path.startswith("gravity") for path in system.free)
    return weightless and not any(True for _ in description.acting())


def _at_centres(setting: Setting, moved: Any) -> tuple[Array, Array]:
    """Total force and torque about its centre of mass on every body, in world axes, gravity included."""
    F, tau = [], []
    for link, X in zip(moved.scene.mechanism.links, moved.scene.poses, strict=True):
        wrench = moved.wrenches.get(link.name, np.zeros(6))
        about = motion.wrench_at(wrench, link.inertia.com)
        F.append(X.R @ about[3:] + link.inertia.mass * moved.scene.mechanism.gravity)
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


def default(system: System) -> str:
    """Conserving for free bodies; of fourth order for mechanisms and for bodies whose mass changes."""
    return "splitting4" if flies(system) else "rk4"


def flies(system: System) -> bool:
    """Whether all bodies are free, their mass properties known and constant, no part has a state, and no motor acts."""
    if system.ns or any(element.joints() for element in system.description.elements.values()):
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
