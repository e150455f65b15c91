"""Free roots: links that a free joint carries in the world, and their motion in axes that are at rest.

The v = (omega, v) of a free joint has the components of a velocity along the child's axes, and these rotate: of a body
that spins while it flies straight on, v turns. In the *resting form* (x, w) of coordinates and velocities (q, v), a
free root has the position of one of its points, c in its own frame, and the velocity of that point along the axes of
the joint's frame, which is at rest:

    x = (attitude, p + R c),   w = (omega, R (v + omega x c)).

If c is the centre of mass, Newton's law is w' = F / m, and without forces the point moves straight on. All other
coordinates and velocities are the same in both forms.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from typing import TypeAlias

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array, Scalar
from poinsot.body.body_frame import accelerations as accelerations_at_centre
from poinsot.fuse import is_traced
from poinsot.mechanism import kinematics
from poinsot.mechanism.book import External
from poinsot.mechanism.dynamics import forward_dynamics
from poinsot.mechanism.model import Mechanism, as_rows
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


def carried_over(mech: Mechanism, q: Array, there: Array, v: Array) -> Array:
    """v (nv,) after the coordinates were changed from q to `there`: the centres of mass of free roots keep their
    velocities along axes at rest, so that a body on its own keeps its momentum."""
    points = {i: _own_centre(mech, i) for i in free_roots(mech)}
    x, w = at_rest(mech, points, there, v)[0], at_rest(mech, points, q, v)[1]
    return moving(mech, points, x, w)[1]


def shifted(mech: Mechanism, old: Points, new: Points, x: Array, w: Array) -> tuple[Array, Array]:
    """The resting form about other points."""

    def of(R: Array, d: Array, x: Array, omega: Array, w: Array) -> tuple[Array, Array]:
        return x + R @ d, w + R @ np.cross(omega, d)

    return _converted(mech, {i: new[i] - c for i, c in old.items()}, x, w, of)


def rates(mech: Mechanism, points: Points, q: Array, w: Array, qdot: Array, wdot: Array) -> tuple[Array, Array]:
    """(x', w') about the points, from q and w, dq/dt, and wdot of `accelerations`, which is about the roots' centres.

    w' of a point at d from the centre of mass is w' there + R (omega' x d + omega x (omega x d)).
    """
    xdots, wdots = _pieces(qdot, mech.q_slices), _pieces(wdot, mech.v_slices)
    for i, c in points.items():
        omega, v_W = np.split(w[mech.v_slices[i]], 2)
        alpha, a_W = np.split(wdots[i], 2)
        d = c - _own_centre(mech, i)
        across = np.cross(alpha, d) + np.cross(omega, np.cross(omega, d))
        xdots[i] = np.concatenate([xdots[i][:4], v_W])
        wdots[i] = np.concatenate([alpha, a_W + _rotation(mech, i, q) @ across])
    return np.concatenate(xdots), np.concatenate(wdots)


def moved(mech: Mechanism, x: Array, w: Array, h: Scalar) -> Array:
    """x after the time h [s] at constant w: rotated exactly, and straight on."""
    places = _pieces(kinematics.integrate(mech, x, h * _still(mech, w)), mech.q_slices)
    for i in free_roots(mech):
        places[i] = np.concatenate([places[i][:4], places[i][4:] + h * w[mech.v_slices[i]][3:]])
    return np.concatenate(places)


def accelerations(mech: Mechanism, q: Array, v: Array, tau: Array, external: External = None) -> tuple[Array, Array]:
    """vdot (nv,) by forward dynamics; and wdot (nv,), the same but for free roots: there it ends with the acceleration
    (3,) [m/s^2] of the root's own centre of mass, in the axes of the joint's frame.

    Given the forces, the velocity of a free tree as a whole does not matter (Galileo): accelerations are computed with
    the origin of its root at rest. A root that carries nothing takes Newton's and Euler's equations alone.
    """
    vs, forces, wrenches = _pieces(v, mech.v_slices), _pieces(tau, mech.v_slices), as_rows(mech, external)
    alone, roots = _alone(mech), free_roots(mech)
    vdot, wdot = {}, {}  # type: dict[int, Array], dict[int, Array]
    for i in alone:
        F = forces[i] if wrenches[i] is None else forces[i] + wrenches[i]
        vdot[i], wdot[i] = _newton_euler(mech, i, q, vs[i], F)
    for i, a in _carrying(mech, alone, q, vs, forces, wrenches).items():
        vdot[i], wdot[i] = _of_root(mech, i, q, vs[i], a) if i in roots else (a, a)
    return np.concatenate([vdot[i] for i in range(len(mech))]), np.concatenate([wdot[i] for i in range(len(mech))])


def _newton_euler(mech: Mechanism, i: int, q: Array, v: Array, F: Array) -> tuple[Array, Array]:
    """v' and w' (6,) of a free body under the wrench F_B (6,) and gravity: m a = F, I omega' + omega x I omega = T."""
    link, R, (omega, v_B), (m, f) = mech.links[i], _rotation(mech, i, q), np.split(v, 2), np.split(F, 2)
    body = link.inertia
    assert body is not None
    g = link.placement.R.T @ mech.gravity
    _, alpha = accelerations_at_centre(body, np.zeros(3), omega, f, m - np.cross(body.com, f))
    a_W = R @ ((1 / body.mass) * f) + g
    of_origin = R.T @ a_W - np.cross(alpha, body.com) - np.cross(omega, np.cross(omega, body.com))
    return np.concatenate([alpha, of_origin - np.cross(omega, v_B)]), np.concatenate([alpha, a_W])


def _of_root(mech: Mechanism, i: int, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """v' and w' (6,) of a free root, from omega' and the acceleration of its origin, a (6,), in its axes."""
    (omega, v_B), (alpha, a_B), c = np.split(v, 2), np.split(a, 2), _own_centre(mech, i)
    a_W = _rotation(mech, i, q) @ (a_B + np.cross(alpha, c) + np.cross(omega, np.cross(omega, c)))
    return np.concatenate([alpha, a_B - np.cross(omega, v_B)]), np.concatenate([alpha, a_W])


def _carrying(
    mech: Mechanism,
    alone: tuple[int, ...],
    q: Array,
    vs: list[Array],
    forces: list[Array],
    wrenches: list[Array | None],
) -> dict[int, Array]:
    """The accelerations of all joints but those of bodies alone, by forward dynamics with free roots at rest."""
    rest, tree = [i for i in range(len(mech)) if i not in alone], _without(mech, alone)
    if tree is None:
        return {}
    still, tau = _resting(mech, vs, forces, set(alone))
    external = {mech.links[i].name: F for i in rest if (F := wrenches[i]) is not None}
    places = _pieces(q, mech.q_slices)
    q_, v_, tau_ = (np.concatenate([np.zeros(0), *(x[i] for i in rest)]) for x in (places, still, tau))
    a = forward_dynamics(tree, q_, v_, tau_, external or None)
    return dict(zip(rest, _pieces(a, tree.v_slices), strict=True))


def _resting(mech: Mechanism, vs: list[Array], forces: list[Array], alone: Set[int]) -> tuple[list[Array], list[Array]]:
    """v and tau, link by link, with the origins of free roots at rest, but for some."""
    still, tau = list(vs), list(forces)
    for i in set(free_roots(mech)) - alone:
        omega, v_B = np.split(vs[i], 2)
        still[i] = np.concatenate([omega, np.zeros(3)])
        armature = mech.links[i].joint.armature
        if is_traced(armature) or np.any(armature):  # it resists v', not the acceleration
            tau[i] = tau[i] + armature * np.concatenate([np.zeros(3), np.cross(omega, v_B)])
    return still, tau


def with_roots_at_rest(mech: Mechanism, v: Array, tau: Array) -> tuple[Array, Array]:
    """v and tau (nv,) with the origins of free roots at rest: the accelerations under the same forces do not change."""
    still, forces = _resting(mech, _pieces(v, mech.v_slices), _pieces(tau, mech.v_slices), set())
    return np.concatenate([np.zeros(0), *still]), np.concatenate([np.zeros(0), *forces])


def from_roots_at_rest(mech: Mechanism, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """vdot and wdot (nv,) as of `accelerations`, from accelerations a (nv,) that were computed with roots at rest."""
    vs, both = _pieces(v, mech.v_slices), []
    for i, a_i in enumerate(_pieces(a, mech.v_slices)):
        both.append(_of_root(mech, i, q, vs[i], a_i) if i in free_roots(mech) else (a_i, a_i))
    vdot, wdot = zip(*both, strict=True)
    return np.concatenate([np.zeros(0), *vdot]), np.concatenate([np.zeros(0), *wdot])


@memo
def _alone(mech: Mechanism) -> tuple[int, ...]:
    """The free roots that carry nothing and have no motor."""
    return tuple(
        i
        for i in free_roots(mech)
        if i not in mech.parents and not is_traced(a := mech.links[i].joint.armature) and not np.any(a)
    )


@memo
def _without(mech: Mechanism, alone: tuple[int, ...]) -> Mechanism | None:
    """The mechanism without some of its links, None if nothing is left."""
    links = tuple(link for i, link in enumerate(mech.links) if i not in alone)
    return Mechanism(links, mech.gravity) if links and alone else mech if links else None


Conversion: TypeAlias = Callable[[Array, Array, Array, Array, Array], tuple[Array, Array]]


def _converted(mech: Mechanism, points: Points, q: Array, v: Array, of: Conversion) -> tuple[Array, Array]:
    """(q, v) with `of`(R, c, position, omega, velocity) as the position and velocity of the free roots.

    Quaternions need not have the length 1, as in the stages of a step.
    """
    unit = kinematics.normalize(mech, q)
    qs, vs = _pieces(q, mech.q_slices), _pieces(v, mech.v_slices)
    for i, c in points.items():
        position, velocity = of(_rotation(mech, i, unit), c, qs[i][4:], vs[i][:3], vs[i][3:])
        qs[i], vs[i] = np.concatenate([qs[i][:4], position]), np.concatenate([vs[i][:3], velocity])
    return np.concatenate(qs), np.concatenate(vs)


def _rotation(mech: Mechanism, i: int, q: Array) -> Array:
    """R_JB of a free root."""
    joint = mech.links[i].joint
    R: Array = joint.type.pose(joint, q[mech.q_slices[i]]).R
    return R


def _own_centre(mech: Mechanism, i: int) -> Array:
    """The centre of mass (3,) [m] of a link without what it carries; the origin if it has no mass."""
    body = mech.links[i].inertia
    return np.zeros(3) if body is None else body.com


def _still(mech: Mechanism, v: Array) -> Array:
    """v with the origins of all free roots at rest."""
    parts = _pieces(v, mech.v_slices)
    for i in free_roots(mech):
        parts[i] = np.concatenate([parts[i][:3], np.zeros(3)])
    return np.concatenate(parts)


def _pieces(x: Array, slices: Sequence[slice]) -> list[Array]:
    """The entries of q or v, link by link."""
    return [x[s] for s in slices]
