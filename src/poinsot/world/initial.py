"""The initial state of a world: coordinates and velocities of its joints, from the poses and twists of its bodies."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.fuse import is_traced
from poinsot.mechanism import Mechanism
from poinsot.spatial import Pose
from poinsot.spatial.arrays import as_array
from poinsot.world.description import Body

IDENTITY = np.eye(3)
TOLERANCE = 1e-9  # m and rad, relative to the distances involved: what rounding may leave


def start(bodies: Mapping[str, Body], mech: Mechanism) -> tuple[Array, Array]:
    """q (nq,) and v (nv,) at the start.

    Where the position or velocity of a body is given instead of its joint's coordinates, these are solved for; an error
    says how far off the joint keeps it. Parents come first.
    """
    q, v = [], []  # type: list[Array], list[Array]
    X, V = {}, {}  # type: dict[str | None, Pose], dict[str | None, Array]
    X[None], V[None] = Pose(), np.zeros(6)
    for link in mech.links:
        body, joint = bodies.get(link.name), link.joint  # no body for the mount of a joint, which starts neutral
        X_WJ = X[link.parent] @ link.placement
        q_B = joint.type.neutral(joint) if body is None else _coordinates(body, X_WJ)
        X_JB = joint.type.pose(joint, q_B)
        X_WB = X_WJ @ X_JB
        carried = (link.placement @ X_JB).inverse().adjoint() @ V[link.parent]
        S = joint.type.subspace(joint, q_B)
        v_B = np.zeros(joint.nv) if body is None else _velocities(body, X_WB, carried, S)
        X[link.name], V[link.name] = X_WB, carried + S @ v_B
        q.append(q_B)
        v.append(v_B)
    return np.concatenate([np.zeros(0), *q]), np.concatenate([np.zeros(0), *v])


def _coordinates(body: Body, X_WJ: Pose) -> Array:
    """q of the body's joint, whose frame is at X_WJ."""
    joint = body.hinge
    if body.q is not None:
        _only(body, "q", "position", "orientation")
        unit: Array = joint.type.normalize(joint, as_array(body.q))
        return unit
    q: Array = joint.type.neutral(joint)
    if body.position is None and body.orientation is None:
        return q
    at_rest = X_WJ @ joint.type.pose(joint, q)
    R = at_rest.R if body.orientation is None else Pose.from_quaternion(body.orientation).R
    X = X_WJ.inverse() @ Pose.unchecked(R, at_rest.p if body.position is None else as_array(body.position))
    if joint.type.is_free:
        attitude = np.array([1.0, 0, 0, 0]) if body.orientation is None else as_array(body.orientation)
        simple = not _is_open(X_WJ.R) and np.array_equal(_plain(X_WJ.R), IDENTITY)
        return np.concatenate([attitude if simple else X.quaternion(), X.p])
    if joint.type.position and body.orientation is None:
        return X.p
    if joint.type.attitude and body.position is None:
        return X.quaternion()
    if _is_open(X.R, X.p):
        raise FieldError(
            f"body {body.name!r} hangs on a {joint.kind} joint: leave its coordinates free ({body.name}.q), not its "
            "position or orientation.",
            "q",
            body.name,
        )
    return _nearest_coordinates(body, q, X)


def _nearest_coordinates(body: Body, q: Array, X: Pose) -> Array:
    """q that brings the body to X, as far as its position or orientation is given, by Gauss-Newton; an error says how
    far off it stays."""
    joint = body.hinge
    rows = slice(3 if body.orientation is None else 0, 3 if body.position is None else 6)
    for _ in range(50):
        off = _plain((joint.type.pose(joint, q).inverse() @ X).log())
        S = _plain(joint.type.subspace(joint, q))
        u = np.linalg.lstsq(S[rows], off[rows], rcond=None)[0]
        q = joint.type.integrate(joint, q, u)
        if np.abs(u).max(initial=0.0) < 1e-14:
            break
    off = _plain((joint.type.pose(joint, q).inverse() @ X).log())
    angle = 0.0 if body.orientation is None else np.linalg.norm(off[:3])
    distance = 0.0 if body.position is None else np.linalg.norm(_plain(X.p - joint.type.pose(joint, q).p))
    if angle > TOLERANCE or distance > TOLERANCE * (1 + np.linalg.norm(_plain(X.p))):
        raise FieldError(
            f"body {body.name!r} cannot start there: its {joint.kind} joint on {body.parent or 'the world'!r} keeps it "
            f"{distance:.3g} m and {angle:.3g} rad away. Give the joint's coordinates (q=...) instead, or move the "
            "parent or the placement.",
            "orientation" if body.position is None else "position",
            body.name,
        )
    return q


def _velocities(body: Body, X_WB: Pose, carried: Array, S: Array) -> Array:
    """v of the body's joint, given the twist that its parent alone would give it and its motion subspace."""
    joint = body.hinge
    if body.v is not None:
        _only(body, "v", "velocity", "angular_velocity")
        return as_array(body.v)
    if body.velocity is None and body.angular_velocity is None:
        return np.zeros(joint.nv)
    linear, angular = body.velocity is not None, body.angular_velocity is not None
    omega = carried[:3] if body.angular_velocity is None else as_array(body.angular_velocity)
    velocity = carried[3:] if body.velocity is None else X_WB.R.T @ as_array(body.velocity)
    twist = np.concatenate([omega, velocity])
    if joint.type.is_free:
        return twist - carried
    if joint.type.position and not angular:
        return (twist - carried)[3:]
    if joint.type.attitude and not linear:
        return (twist - carried)[:3]
    if _is_open(twist, S, carried):
        raise FieldError(
            f"body {body.name!r} hangs on a {joint.kind} joint: leave its velocities free ({body.name}.v), not the "
            "velocity or angular velocity.",
            "v",
            body.name,
        )
    rows = slice(0 if angular else 3, 6 if linear else 3)
    S, twist, carried = _plain(S), _plain(twist), _plain(carried)
    v: Array = np.linalg.lstsq(S[rows], (twist - carried)[rows], rcond=None)[0]
    left = np.abs((S @ v + carried - twist)[rows]).max(initial=0.0)
    if left > TOLERANCE * (1 + np.abs(twist).max()):
        raise FieldError(
            f"body {body.name!r} cannot start like that: its {joint.kind} joint on {body.parent or 'the world'!r} does "
            f"not allow that velocity; {left:.3g} rad/s or m/s are left. Give the joint's velocities (v=...) instead.",
            "velocity" if linear else "angular_velocity",
            body.name,
        )
    return v


def _is_open(*arrays: Any) -> bool:
    """Whether the numbers of some array are not known yet; within a trace, those that depend on nothing free are."""
    return any(is_traced(a) and not a.is_known() for a in arrays)


def _plain(array: Any) -> Array:
    """An array of known numbers as NumPy's own, even within a trace."""
    known: Array = array.__array__() if is_traced(array) else array
    return known


def _only(body: Body, name: str, *others: str) -> None:
    """An error if the body has, beside this value, one of the others."""
    for other in others:
        if getattr(body, other) is not None:
            raise FieldError(
                f"body {body.name!r}: give either {name} of its joint or its {other}, not both.", other, body.name
            )
