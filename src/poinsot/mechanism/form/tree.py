"""The bodies that the recursions run over, parents first, each with its moves, motion subspace and inertia."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from poinsot._types import Array
from poinsot.fuse import TraceError, is_traced
from poinsot.mechanism.form.screws import CYCLES, General, Move, Rates, Turn
from poinsot.mechanism.joints import Joint
from poinsot.mechanism.model import Mechanism, plain
from poinsot.spatial import Pose

EPSILON = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Here:
    """One body at one instant, as the recursions see it.

    Moves from its parent's frame, motion subspace S (6, nv), S' v (6,), inertia G (6, 6) and its second moments of mass
    E (3, 3), armature (nv,); `direction`, if S is exactly that one column of the identity; and whether the motor is
    `bare`, without inertia.
    """

    moves: Sequence[Move]
    S: Array
    bias: Array
    G: Array
    E: Array
    armature: Array
    direction: int | None
    bare: bool

    @property
    def hinge(self) -> Turn | None:
        """The last move, if it is a turn and the joint does nothing else."""
        last = self.moves[-1]
        return last if isinstance(last, Turn) and last.axis == self.direction else None

    @property
    def free(self) -> list[int] | None:
        """The directions that the joint frees, if S is exactly these columns of the identity and the motor is bare."""
        return free_directions(self.S, self.armature)


def free_directions(S: Array, armature: Array) -> list[int] | None:
    """The numbers of the columns of the identity that a subspace S (6, nv) consists of, without armature (nv,)."""
    try:
        S, armature = plain(S), plain(armature)
    except TraceError:  # not known yet
        return None
    rows = [int(np.argmax(column)) for column in S.T]
    return rows if np.array_equal(S, np.eye(6)[:, rows]) and not np.any(armature) else None


@dataclass(frozen=True, eq=False)
class TreeBody:
    """One body: the number of its parent (-1: the world), the moves from there as a function of the joint's q, the
    joint, the inertia G.

    `direction`: the one of the six directions that the joint frees, if it is only one; then S is that column of the
    identity.
    """

    parent: int
    moves: Callable[[Array], Sequence[Move]]
    joint: Joint
    G: Array
    q: slice
    v: slice
    direction: int | None = None
    rest: Pose | None = None  # in canonical form, of a simple joint's frame in the parent's, at q = 0

    @property
    def screw(self) -> tuple[float, float]:
        """(a, b) of a simple joint: it turns by a q [rad] about z and moves by b q [m] along it."""
        assert self.joint.type.screw is not None
        about, along = self.joint.type.screw(self.joint)
        return float(about), float(along)

    def subspace(self, q: Array) -> Array:
        """S (6, nv) in the body's frame."""
        if self.direction is not None:
            return np.eye(6)[:, self.direction : self.direction + 1]
        return self.joint.type.subspace(self.joint, q[self.q])

    def bias(self, q: Array, v: Array) -> Array:
        """S' v (6,)."""
        return self.joint.type.bias(self.joint, q[self.q], v[self.v])

    @property
    def armature(self) -> Array:
        """(nv,) [kg m^2, kg]."""
        return np.ones(self.joint.nv) * self.joint.armature

    @property
    def is_simple(self) -> bool:
        """On a simple joint, in canonical form."""
        return self.rest is not None

    @property
    def is_bare(self) -> bool:
        """The motor has no inertia."""
        return not is_traced(self.joint.armature) and not np.any(self.joint.armature)

    def at(self, q: Array, v: Array) -> Here:
        """The body at this instant of the mechanism."""
        moves, S, bias, E = self.moves(q[self.q]), self.subspace(q), self.bias(q, v), second_moments(self.G)
        return Here(moves, S, bias, self.G, E, self.armature, self.direction, self.is_bare)


def second_moments(G: Array) -> Array:
    """E (3, 3), the integral of r r^T over the mass, of an inertia G (6, 6) with the moments I: tr(I)/2 - I."""
    E = -G[:3, :3]
    for i, j, k in CYCLES:
        E[i, i] = _excess(G[j, j], G[k, k], G[i, i]) / 2
    return E


def _excess(a: Array, b: Array, c: Array) -> Array:
    """a + b - c, exact where the larger of a and b is about c, as for a thin rod; zero where it is but rounding."""
    if is_traced(a, b, c):
        return a + b - c
    large, small = max(a, b), min(a, b)
    x = (large - c) + small
    return x if abs(x) > EPSILON * large else 0.0 * x


@dataclass(frozen=True, eq=False)
class Tree:
    """Bodies, and for every link of the mechanism the body that carries it and the link's frame in that body's."""

    bodies: tuple[TreeBody, ...]
    gravity: Array
    carriers: tuple[tuple[int, Pose], ...]
    is_canonical: bool = False


def falling(T: Tree) -> Array:
    """The acceleration (6,) of the world less gravity."""
    return np.concatenate([np.zeros(3), -T.gravity])


def still(T: Tree) -> Rates:
    """The rates of the world, less gravity."""
    return Rates.of(np.zeros(3), np.zeros(3), -T.gravity)


def as_given(mech: Mechanism) -> Tree:
    """Every link a body, in its own frame; one for each of the simple joints that its joint consists of."""

    def moves(placement: Pose, joint: Joint, q: Array) -> list[Move]:
        return [General(placement @ joint.type.pose(joint, q))]

    bodies: list[TreeBody] = []
    carriers: list[int] = []
    for link, parent, sq, sv in zip(mech.links, mech.parents, mech.q_slices, mech.v_slices, strict=True):
        k, X = (-1 if parent < 0 else carriers[parent]), link.placement
        for joint, q, v in simple_joints(link.joint, sq, sv):
            bodies.append(TreeBody(k, partial(moves, X, joint), joint, np.zeros((6, 6)), q, v))
            k, X = len(bodies) - 1, Pose()
        if link.inertia is not None:
            bodies[k] = replace(bodies[k], G=link.inertia.spatial())
        carriers.append(k)
    return Tree(tuple(bodies), mech.gravity, tuple((k, Pose()) for k in carriers))


def simple_joints(joint: Joint, q: slice, v: slice) -> list[tuple[Joint, slice, slice]]:
    """The simple joints in a row that a joint consists of, or itself; each with its part of q and v."""
    if joint.type.parts is None:
        return [(joint, q, v)]
    parts, armature = joint.type.parts(joint), np.ones(joint.nv) * joint.armature
    return [
        (replace(part, armature=armature[k]), slice(q.start + k, q.start + k + 1), slice(v.start + k, v.start + k + 1))
        for k, part in enumerate(parts)
    ]


def placed(T: Tree, q: Array, v: Array) -> list[tuple[Pose, Array]]:
    """The pose X_WC and the twist (6,) of every body, about its origin in its axes."""
    found: list[tuple[Pose, Array]] = []
    for body in T.bodies:
        here = body.at(q, v)
        X, V = found[body.parent] if body.parent >= 0 else (Pose(), np.zeros(6))
        for move in here.moves:
            X, V = X @ move.pose(), move.motion(V)
        found.append((X, V + here.S @ v[body.v]))
    return found
