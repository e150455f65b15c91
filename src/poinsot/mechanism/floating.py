"""Free roots: links that a free joint carries in the world, and their motion in axes that are at rest.

The v = (omega, v) of a free joint has the components of a velocity along the child's axes, and these rotate: of a body
that spins while it flies straight on, v turns. In the *resting form* (x, w) of coordinates and velocities (q, v), a
free root has the position of one of its points, c in its own frame, and the velocity of that point along the axes of
the joint's frame, which is at rest:

    x = (attitude, p + R c),   w = (omega, R (v + omega x c)).

If c is the centre of mass, Newton's law is w' = F / m, and without forces the point moves straight on. All other
coordinates and velocities are the same in both forms.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import is_traced
from poinsot.mechanism import kinematics
from poinsot.mechanism.book import External
from poinsot.mechanism.dynamics import forward_dynamics
from poinsot.mechanism.model import Mechanism
from poinsot.spatial import Pose

Points: TypeAlias = Mapping[int, Array]  # by the number of a free root, a point c (3,) [m] in its frame


def free_roots(mech: Mechanism) -> tuple[int, ...]:
    """The numbers of the links that hang in the world on a free joint."""
    return tuple(i for i, link in enumerate(mech.links) if mech.parents[i] < 0 and link.joint.type.is_free)


def centres(mech: Mechanism, q: Array) -> dict[int, Array]:
    """For every free root the centre of mass (3,) [m] of its tree, in the root's frame, if its joints stand at q."""
    joints = [link.joint.type.pose(link.joint, q[sq]) for link, sq in zip(mech.links, mech.q_slices, strict=True)]
    points = {}
    for root in free_roots(mech):
        X, body = {root: Pose()}, mech.links[root].inertia
        mass, c = (0.0, np.zeros(3)) if body is None else (body.mass, body.com)
        for i, link in enumerate(mech.links):
            if mech.parents[i] in X:
                X[i] = X[mech.parents[i]] @ link.placement @ joints[i]
                if link.inertia is not None:
                    mass = mass + link.inertia.mass
                    c = c + link.inertia.mass / mass * (X[i] @ link.inertia.com - c)
        points[root] = c
    return points


def at_rest(mech: Mechanism, points: Points, q: Array, v: Array) -> tuple[Array, Array]:
    """The resting form (x, w) of (q, v)."""

    def of(R: Array, c: Array, p: Array, omega: Array, v: Array) -> tuple[Array, Array]:
        return p + R @ c, R @ (v + np.cross(omega, c))

    return _converted(mech, points, q, v, of)


def moving(mech: Mechanism, points: Points, x: Array, w: Array) -> tuple[Array, Array]:
    """(q, v) from the resting form."""

    def of(R: Array, c: Array, x: Array, omega: Array, w: Array) -> tuple[Array, Array]:
        return x - R @ c, R.T @ w - np.cross(omega, c)

    return _converted(mech, points, x, w, of)


def shifted(mech: Mechanism, old: Points, new: Points, x: Array, w: Array) -> tuple[Array, Array]:
    """The resting form about other points."""

    def of(R: Array, d: Array, x: Array, omega: Array, w: Array) -> tuple[Array, Array]:
        return x + R @ d, w + R @ np.cross(omega, d)

    return _converted(mech, {i: new[i] - c for i, c in old.items()}, x, w, of)


def rates(mech: Mechanism, points: Points, q: Array, w: Array, qdot: Array, a: Array) -> tuple[Array, Array]:
    """(x', w') from q and w, dq/dt, and a of `accelerations`: w' = R (a + omega' x c + omega x (omega x c))."""
    xdot, wdot = _pieces(qdot, mech.q_slices), _pieces(a, mech.v_slices)
    for i, c in points.items():
        omega, v_W = np.split(w[mech.v_slices[i]], 2)
        alpha, a_B = np.split(wdot[i], 2)
        of_point = a_B + np.cross(alpha, c) + np.cross(omega, np.cross(omega, c))
        xdot[i] = np.concatenate([xdot[i][:4], v_W])
        wdot[i] = np.concatenate([alpha, _rotation(mech, i, q) @ of_point])
    return np.concatenate(xdot), np.concatenate(wdot)


def moved(mech: Mechanism, x: Array, w: Array, h: Scalar) -> Array:
    """x after the time h [s] at constant w: rotated exactly, and straight on."""
    places = _pieces(kinematics.integrate(mech, x, h * _still(mech, w)), mech.q_slices)
    for i in free_roots(mech):
        places[i] = np.concatenate([places[i][:4], places[i][4:] + h * w[mech.v_slices[i]][3:]])
    return np.concatenate(places)


def accelerations(mech: Mechanism, q: Array, v: Array, tau: Array, external: External = None) -> tuple[Array, Array]:
    """vdot (nv,) by forward dynamics; and a (nv,), the same but for free roots: there it ends with the acceleration of
    the origin (3,) [m/s^2] in the root's axes, v' + omega x v.

    Given the forces, the velocity of a free tree as a whole does not matter (Galileo). Accelerations are computed with
    the origin at rest, which takes fewer operations, and nothing large cancels.
    """
    forces, turning = _pieces(tau, mech.v_slices), {}
    for i in free_roots(mech):
        omega, v_B = np.split(v[mech.v_slices[i]], 2)
        turning[i] = np.concatenate([np.zeros(3), np.cross(omega, v_B)])
        armature = mech.links[i].joint.armature
        if is_traced(armature) or np.any(armature):
            forces[i] = forces[i] + armature * turning[i]  # it resists v', not a
    a = forward_dynamics(mech, q, _still(mech, v), np.concatenate(forces), external)
    vdot = _pieces(a, mech.v_slices)
    for i, across in turning.items():
        vdot[i] = vdot[i] - across
    return np.concatenate(vdot), a


Conversion: TypeAlias = Callable[[Array, Array, Array, Array, Array], tuple[Array, Array]]


def _converted(mech: Mechanism, points: Points, q: Array, v: Array, of: Conversion) -> tuple[Array, Array]:
    """(q, v) with `of`(R, c, position, omega, velocity) as the position and velocity of the free roots."""
    qs, vs = _pieces(q, mech.q_slices), _pieces(v, mech.v_slices)
    for i, c in points.items():
        position, velocity = of(_rotation(mech, i, q), c, qs[i][4:], vs[i][:3], vs[i][3:])
        qs[i], vs[i] = np.concatenate([qs[i][:4], position]), np.concatenate([vs[i][:3], velocity])
    return np.concatenate(qs), np.concatenate(vs)


def _rotation(mech: Mechanism, i: int, q: Array) -> Array:
    """R_JB of a free root; its quaternion need not have the length 1, as in the stages of a step."""
    joint = mech.links[i].joint
    R: Array = joint.type.pose(joint, joint.type.normalize(joint, q[mech.q_slices[i]])).R
    return R


def _still(mech: Mechanism, v: Array) -> Array:
    """v with the origins of all free roots at rest."""
    parts = _pieces(v, mech.v_slices)
    for i in free_roots(mech):
        parts[i] = np.concatenate([parts[i][:3], np.zeros(3)])
    return np.concatenate(parts)


def _pieces(x: Array, slices: Sequence[slice]) -> list[Array]:
    """The entries of q or v, link by link."""
    return [x[s] for s in slices]
