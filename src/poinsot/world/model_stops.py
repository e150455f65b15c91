"""Stops at the limits of the joints and tendons of a mechanism, as stiff as the inertia behind each asks for."""

import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from poinsot._types import Array
from poinsot.mechanism import Joint, Mechanism, mass_matrix
from poinsot.mechanism.coordinate_relations import Coupling
from poinsot.parts import JointStop, TendonStop

FREQUENCY = 200.0  # [rad/s], of a joint that rests against its stop: resolved by steps of a millisecond
DAMPING = 1.0  # [s/rad, s/m]


def following(mechanism: Mechanism, q: Array) -> Array:
    """q (nq,) with the joints that a coupling holds to another where that one takes them."""
    q = np.array(q)
    for closure in mechanism.closures:
        if isinstance(relation := closure.relation, Coupling):
            a, b = (mechanism.q_slices[mechanism.index(str(end))] for end in (closure.a, closure.b))
            q[b] = relation.ratio * q[a] + relation.offset
    return q


def within_limits(mechanism: Mechanism) -> Array:
    """The neutral configuration, with each joint that has stops at the nearest point of its range."""
    q = mechanism.neutral()
    for link, where in zip(mechanism.links, mechanism.q_slices, strict=True):
        if _has_stops(link.joint):
            q[where] = np.clip(q[where], link.joint.lower, link.joint.upper)
    return q


def stops_of(mechanism: Mechanism, q: Array, prefix: str) -> Iterator[JointStop]:
    """A stop for each joint with limits, k = M w^2: M is its inertia at q with the other joints free to move."""
    limited = [(k, link, mechanism.q_slices[k]) for k, link in enumerate(mechanism.links) if _has_stops(link.joint)]
    if not limited:
        return
    inertia = 1 / np.diag(np.linalg.inv(mass_matrix(mechanism, q)))
    beyond = []
    for k, link, where in limited:
        if np.any((q[where] < link.joint.lower) | (q[where] > link.joint.upper)):
            beyond.append(f"{link.name!r} at {q[where].tolist()}, not within {link.joint.lower} and {link.joint.upper}")
        yield JointStop(
            f"{prefix}{link.name}.stop",
            prefix + link.name,
            FREQUENCY**2 * inertia[mechanism.v_slices[k]].copy(),
            DAMPING,
        )
    if beyond:
        warnings.warn(
            f"joints start beyond their limits, and stops push them back: {'; '.join(beyond)}. Give another q, or "
            "limits=False for no stops.",
            stacklevel=4,
        )


def stops_of_tendons(mechanism: Mechanism, q: Array) -> Iterator[TendonStop]:
    """The stops of the tendons of a robot, each k = M w^2: M is the inertia along it at q, with all joints free."""
    stops = [e for e in mechanism.equipment.tendons if isinstance(e, TendonStop)]
    inverse = np.linalg.inv(mass_matrix(mechanism, q)) if stops else np.zeros((0, 0))
    for stop in stops:
        c = np.zeros(mechanism.nv)
        for name, x in zip(stop.over, np.asarray(stop.coefficients), strict=True):
            c[mechanism.v_slices[mechanism.index(name)]] = x
        yield replace(stop, stiffness=float(FREQUENCY**2 / (c @ inverse @ c)), damping=DAMPING)


def _has_stops(joint: Joint) -> bool:
    """Whether its limits can act: a range with an end, in coordinates whose rates are the velocities."""
    lower, upper = np.asarray(joint.lower), np.asarray(joint.upper)
    has_end = np.any(np.isfinite(lower)) or np.any(np.isfinite(upper))
    return bool(joint.nv and has_end and not joint.type.is_group and np.all(lower < upper))
