"""Generalized momenta p = M(q) v of trees, and how they change.

Those of a link that hangs in the world on a free joint are the momentum of its whole tree: the angular momentum about a
point at rest, and the linear momentum, in the axes of the joint's frame. They change by forces from outside alone.
"""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from poinsot._types import Array
from poinsot.fuse import is_traced, jvp
from poinsot.mechanism import dynamics, floating, kinematics
from poinsot.mechanism.model import Mechanism

About: TypeAlias = Mapping[int, Array]  # by the number of a free root, a point (3,) [m] in the frame of its joint


def momenta(mech: Mechanism, about: About, q: Array, v: Array) -> Array:
    """p (nv,) [N m s, N s]."""
    return at_rest(mech, about, q, dynamics.inverse_dynamics(_weightless(mech), q, np.zeros(mech.nv), v))


def velocities(mech: Mechanism, about: About, q: Array, p: Array) -> Array:
    """v (nv,) = M^-1 p."""
    return dynamics.forward_dynamics(_weightless(mech), q, np.zeros(mech.nv), in_links(mech, about, q, p))


def rates(mech: Mechanism, about: About, q: Array, v: Array, qdot: Array, vdot: Array) -> Array:
    """dp/dt (nv,) = M vdot + M' v, from the rates of q (nq,) and of v (nv,)."""

    def of(q: Array, v: Array) -> Array:
        return momenta(mech, about, q, v)

    along = jvp(of, (0, 1))(q, v, qdot, vdot)[1]
    return along if is_traced(along, q, v) else np.array(along.__array__(), dtype=float)


def at_rest(mech: Mechanism, about: About, q: Array, p: Array) -> Array:
    """Joint forces or impulses p (nv,), with those of free roots about points at rest, in axes at rest."""
    parts, unit = [p[s] for s in mech.v_slices], kinematics.normalize(mech, q)
    for i, point in about.items():
        X = mech.links[i].joint.type.pose(mech.links[i].joint, unit[mech.q_slices[i]])
        l, f = X.R @ parts[i][:3], X.R @ parts[i][3:]
        parts[i] = np.concatenate([l + np.cross(X.p - point, f), f])
    return np.concatenate([np.zeros(0), *parts])


def in_links(mech: Mechanism, about: About, q: Array, p: Array) -> Array:
    """The inverse of `at_rest`."""
    parts, unit = [p[s] for s in mech.v_slices], kinematics.normalize(mech, q)
    for i, point in about.items():
        X = mech.links[i].joint.type.pose(mech.links[i].joint, unit[mech.q_slices[i]])
        l, f = parts[i][:3] - np.cross(X.p - point, parts[i][3:]), parts[i][3:]
        parts[i] = np.concatenate([X.R.T @ l, X.R.T @ f])
    return np.concatenate([np.zeros(0), *parts])


def origins(mech: Mechanism, q: Array) -> dict[int, Array]:
    """Where the origins of free roots are at q, as points about which to take momenta."""
    return {i: q[mech.q_slices[i]][4:] for i in floating.free_roots(mech)}


def _weightless(mech: Mechanism) -> Mechanism:
    """The tree alone, without gravity."""
    return Mechanism(mech.links, np.zeros(3))
