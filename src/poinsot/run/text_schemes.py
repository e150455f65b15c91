"""The schemes of the texts, for worlds of free bodies and particles with any forces between them.

Every body is stepped by the functions of its formulation (`body.lab`, `body.body_frame`, `body.momentum_matrix`), as if
it were alone; the forces are those of the whole world at one instant. Peskin means his scheme for the case that "the
rigid body is part of a larger system possibly involving other rigid bodies or non-rigid components".
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.body import body_frame, lab, momentum_matrix
from poinsot.body.forces import weight
from poinsot.fuse import once
from poinsot.integrate import schemes
from poinsot.run.momentum_steps import Links, at_centres, coupled, links_of
from poinsot.run.step_context import LedgerState, Method, Step, StepContext
from poinsot.spatial import Inertia, quaternion
from poinsot.world import Motion, State


@dataclass(frozen=True, eq=False)
class PointState:
    """A particle: x (3,) [m] and v (3,) [m/s] in the world. Y of one particle in the notes."""

    x: Array
    v: Array


@dataclass(frozen=True, eq=False)
class BodyStates:
    """The states of all bodies, each in its formulation, and the inflow of the ledger."""

    bodies: tuple[Any, ...]
    inflow: Array


@dataclass(frozen=True)
class Formulation:
    """How the state of one rigid body follows from its motion, and its motion and attitude from its state."""

    from_motion: Callable[..., Any]  # (inertia, X_WB, V_WB_B) -> state
    to_motion: Callable[..., Any]  # (state, inertia) -> X_WB, V_WB_B
    attitude: Callable[[Any], Array]  # state -> q_WB (4,)

    def enter(self, links: Links, y: LedgerState) -> BodyStates:
        """The states of all bodies, from coordinates and velocities of their joints."""
        states = []
        for link, sq, sv in links:
            q, v, joint = y.state.q[sq], y.state.v[sv], link.joint
            rigid = joint.type.attitude
            states.append(self.from_motion(link.inertia, joint.type.pose(joint, q), v) if rigid else PointState(q, v))
        return BodyStates(tuple(states), y.inflow)

    def leave(self, links: Links, y: BodyStates) -> LedgerState:
        """Coordinates and velocities of the joints."""
        q, v = [], []  # type: list[Array], list[Array]
        for (link, _, _), state in zip(links, y.bodies, strict=True):
            if isinstance(state, PointState):
                q, v = [*q, state.x], [*v, state.v]
            else:
                X, V = self.to_motion(state, link.inertia)
                q, v = [*q, self.attitude(state), X.p], [*v, V]
        return LedgerState(State(np.concatenate(q), np.concatenate(v), np.zeros(0)), y.inflow)

    def method(self, order: int, make: Callable[[StepContext, Links], Step]) -> Method:
        """A row of the table."""
        return Method(
            order,
            lambda context: make(context, links_of(context)),
            lambda context, y: self.enter(links_of(context), y),
            lambda context, y: self.leave(links_of(context), y),
            unsuited=coupled,
        )


LAB = Formulation(lab.from_motion, lab.to_motion, lambda s: quaternion.from_matrix(s.marks.T))
BODY_FRAME = Formulation(body_frame.from_motion, body_frame.to_motion, lambda s: s.q)
MATRIX = Formulation(
    momentum_matrix.from_motion, momentum_matrix.to_motion, lambda s: quaternion.from_matrix(s.attitude)
)


def peskin() -> Method:
    """Peskin (37) to (41), (52), (62): all bodies move without forces; then forces at t + dt change their momenta."""

    def make(context: StepContext, links: Links) -> Step:
        def step(t: Any, y: BodyStates, dt: Any) -> BodyStates:
            y = BodyStates(tuple(_drifted(state, dt) for state in y.bodies), y.inflow)
            motion = context.motion(t + dt, LAB.leave(links, y).state)
            bodies = [
                _kicked(state, dt, link.inertia.mass, F, tau)
                for (link, _, _), state, F, tau in zip(links, y.bodies, *at_centres(motion), strict=True)
            ]
            return BodyStates(tuple(bodies), y.inflow + dt * context.inflow_rate(motion))

        return step

    return LAB.method(1, make)


def _drifted(state: Any, dt: Any) -> Any:
    return PointState(state.x + dt * state.v, state.v) if isinstance(state, PointState) else lab.drift(state, dt)


def _kicked(state: Any, dt: Any, mass: Any, F: Array, tau: Array) -> Any:
    if isinstance(state, PointState):
        return PointState(state.x, state.v + dt / mass * F)
    return lab.kick(state, dt, mass, F, tau)


def five_step(moving_reference: bool = False) -> Method:
    """De Nivelle, section 4.3: forces at t, accelerations, and one step of Euler's method, for each body of many."""

    def make(context: StepContext, links: Links) -> Step:
        def step(t: Any, y: BodyStates, h: Any) -> BodyStates:
            motion = context.motion(t, BODY_FRAME.leave(links, y).state)
            bodies: list[Any] = []
            for (link, _, _), state, F in zip(links, y.bodies, wrenches(motion), strict=True):
                if isinstance(state, PointState):
                    bodies.append(PointState(state.x + h * state.v, state.v + h / link.inertia.mass * F[3:]))
                else:
                    load = _constant(F)
                    bodies.append(body_frame.step(t, state, h, link.inertia, load, moving_reference))
            return BodyStates(tuple(bodies), y.inflow + h * context.inflow_rate(motion))

        return step

    return BODY_FRAME.method(1, make)


def matrix_rk4() -> Method:
    """Y = (x, R, P, L) of the notes, R a matrix that is re-orthonormalised after each step; stepped by RK4."""

    def make(context: StepContext, links: Links) -> Step:
        def rate(t: Any, state: Any, inertia: Inertia, F: Array) -> Any:
            if isinstance(state, PointState):
                return PointState(state.v, F[3:] / inertia.mass)
            return momentum_matrix.derivative(t, state, inertia, _constant(F))

        def derivative(t: Any, y: BodyStates) -> BodyStates:
            y = _normalized(y)
            motion = context.motion(t, MATRIX.leave(links, y).state)
            each = zip(links, y.bodies, wrenches(motion), strict=True)
            rates = tuple(rate(t, state, link.inertia, F) for (link, _, _), state, F in each)
            return BodyStates(rates, context.inflow_rate(motion))

        f = once(derivative)
        return lambda t, y, h: _normalized(schemes.runge_kutta(schemes.RK4, f, t, y, h))

    return MATRIX.method(4, make)


def _normalized(y: BodyStates) -> BodyStates:
    bodies = (s if isinstance(s, PointState) else momentum_matrix.normalize(s) for s in y.bodies)
    return BodyStates(tuple(bodies), y.inflow)


def wrenches(motion: Motion) -> list[Array]:
    """F_B (6,) on every body about its origin in its own axes, weight included."""
    mech, total = motion.scene.mechanism, []
    for link, X in zip(mech.links, motion.scene.poses, strict=True):
        assert link.inertia is not None
        own = weight(link.inertia, mech.gravity).wrench(0.0, X, np.zeros(6))
        total.append(motion.wrenches.get(link.name, np.zeros(6)) + own)
    return total


def _constant(F: Array) -> Callable[..., Array]:
    return lambda t, X, V: F
