"""Steps of free bodies and particles: kicks by forces, and free motion in between that conserves momentum exactly."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.body import momentum
from poinsot.fuse import once
from poinsot.integrate import schemes
from poinsot.integrate.kick_drift import FreeRotation, drifted, free_attitude, kicked
from poinsot.parts import WORLD
from poinsot.run.step_context import LedgerState, Method, Step, StepContext
from poinsot.spatial import quaternion
from poinsot.spatial.arrays import as_array
from poinsot.spatial.motion import wrench_at
from poinsot.world import Motion, State, System

Links: TypeAlias = list[tuple[Any, slice, slice]]  # every link with its slices of q and v


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


def _to_momenta(links: Links, y: LedgerState) -> FreeBodies:
    """From joint coordinates and velocities to centres of mass and momenta."""
    bodies = []
    for link, sq, sv in links:
        q, v = y.state.q[sq], y.state.v[sv]
        if not link.joint.type.attitude:
            bodies.append((q, quaternion.identity(), link.inertia.mass * v, np.zeros(3)))
        else:
            X = link.joint.type.pose(link.joint, q)
            s = momentum.from_motion(link.inertia, X, v)
            bodies.append((s.x, q[:4], s.P, s.L))
    x, attitude, P, L = (np.stack([as_array(a) for a in column]) for column in zip(*bodies, strict=True))
    return FreeBodies(x, attitude, P, L, y.inflow)


def _from_momenta(links: Links, y: FreeBodies) -> LedgerState:
    """From centres of mass and momenta to joint coordinates and velocities."""
    q, v = [], []
    for k, (link, _, _) in enumerate(links):
        if not link.joint.type.attitude:
            q.append(y.x[k])
            v.append(y.P[k] / link.inertia.mass)
        else:
            X, V = momentum.to_motion(y.body(k), link.inertia)
            q.append(np.concatenate([y.attitude[k], X.p]))
            v.append(V)
    return LedgerState(State(np.concatenate(q), np.concatenate(v), np.zeros(0)), y.inflow)


def links_of(context: StepContext) -> Links:
    """Every link, with the free numbers in it, and its slices of q and v."""
    mech = context.mechanism()
    return list(zip(mech.links, mech.q_slices, mech.v_slices, strict=True))


def splitting(order: int, rotate: FreeRotation) -> Method:
    """Kicks and drifts of all bodies together, composed by Strang and Suzuki."""

    def make(context: StepContext) -> Step:
        links = links_of(context)
        bodies = [link for link, _, _ in links]
        rotations = [free_attitude(link.inertia, rotate) if link.joint.type.attitude else None for link in bodies]

        def forces(t: Scalar, y: FreeBodies, P: Array, L: Array, inflow: Array) -> tuple[Array, Array, Array]:
            at = _from_momenta(links, FreeBodies(y.x, y.attitude, P, L, inflow))
            motion = context.motion(t, at.state)
            return *at_centres(motion), context.inflow_rate(motion)

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

    return Method(
        order,
        make,
        lambda context, y: _to_momenta(links_of(context), y),
        lambda context, y: _from_momenta(links_of(context), y),
        unsuited=coupled,
    )


def _nothing_acts(system: System) -> bool:
    """Whether all bodies move freely: no element, no gravity, and no gravity left free."""
    description = system.description
    weightless = not np.any(description.field) and not any(path.startswith("gravity") for path in system.free)
    return weightless and not any(True for _ in description.acting())


def at_centres(motion: Motion) -> tuple[Array, Array]:
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


def coupled(system: System) -> str:
    """Why the bodies of a system are not all free bodies and particles, which only forces couple; or ""."""
    reason = next(_couplings(system), "")
    return reason and f"is for free bodies and particles with forces between them; {reason}. Take 'rk4'."


def _couplings(system: System) -> Iterator[str]:
    if system.ns:
        yield f"{next(iter(system.states))!r} is the state of a part"
    for name in system.loops:
        yield f"{name!r} closes a loop"
    for name, element in system.description.elements.items():
        if element.joints():
            yield f"{name!r} acts in a joint"
    described = system.described(system.numbers)  # numbers that are left free make new objects
    for link in system.mechanism.links:
        j, body = link.joint, system.description.bodies[link.name]
        placed = np.any(link.placement.p) or not np.array_equal(link.placement.R, np.eye(3))
        if link.parent is not None or not j.type.position:
            yield f"body {link.name!r} hangs on {link.parent or WORLD!r} by a {j.kind} joint"
        elif link.inertia is None or placed:
            yield f"body {link.name!r} has {'no mass' if link.inertia is None else 'a placement of its joint'}"
        elif any(np.any(np.asarray(x)) for x in (j.stiffness, j.damping, j.friction, j.armature)):
            yield f"the joint of body {link.name!r} has a spring, friction or armature"
        elif (new := described.bodies[link.name]).hinge is not body.hinge or new.placement is not body.placement:
            yield f"numbers of the joint of body {link.name!r} vary"
