"""The canonical form of a mechanism, in which its motion is cheapest to compute.

Fixed links are merged, the axis of every simple joint is the z axis of its frame, frames follow each other by shifts
and turns about coordinate axes (Denavit and Hartenberg), and inertia that does not resist the joint's motion is moved
to the parent (Khalil and Dombre, Modeling, Identification and Control of Robots, 2002). All of that is exact for motion
and joint forces, not for the wrenches between links.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array
from poinsot.mechanism.form.screws import CYCLES, General, Move, Shift, Turn
from poinsot.mechanism.form.tree import Tree, TreeBody, as_given, second_moments, simple_joints
from poinsot.mechanism.joints import Joint
from poinsot.mechanism.model import Mechanism
from poinsot.spatial import Inertia, Pose, rotation

DIRECTIONS = {(1.0, 0.0): 2, (0.0, 1.0): 5}  # of V, that a simple joint along z frees, by its screw
ROUNDING = 4e-15  # what a few products of poses leave of an angle [rad] or a distance [m] that is zero


def tree_of(mech: Mechanism) -> Tree:
    """The canonical tree of a mechanism; one with traced numbers (but gravity) is taken as it is."""
    return as_given(mech) if mech.is_traced(gravity=False) else canonical_tree(mech)


@dataclass
class _Stage:
    """A body on its way to canonical form, at rest: the pose of its frame in its parent's, moments of mass about its
    origin.

    Poses in the world would lose digits where a mechanism is, or reaches, far away. So would moments of inertia as a
    frame moves along its axis, but not the second moments of mass across it.
    """

    parent: int
    joint: Joint
    q: slice
    v: slice
    X: Pose  # of its frame at rest, in the parent's
    frame: Pose = field(default_factory=Pose)  # in the link's
    mass: float = 0.0
    h: Array = field(default_factory=lambda: np.zeros(3))  # mass times centre of mass
    E: Array = field(default_factory=lambda: np.zeros((3, 3)))  # second moments of mass about the origin
    summed_h: Array = field(default_factory=lambda: np.zeros(3))  # the sizes of the terms that h and E are sums of
    summed_E: Array = field(default_factory=lambda: np.zeros((3, 3)))

    @property
    def simple(self) -> bool:
        return self.joint.type.screw is not None

    @property
    def direction(self) -> int | None:
        """The one direction of V that the joint frees, if it is simple and frees just one."""
        return DIRECTIONS.get(tuple(self.joint.type.screw(self.joint))) if self.joint.type.screw is not None else None

    @property
    def lean(self) -> float:
        """The angle [rad] from x to the centre of mass, about z; 0 if it is above one of the axes already."""
        on_axis = np.any(np.abs(self.h[:2]) < ROUNDING * self.summed_h[:2])
        return 0.0 if on_axis else float(np.arctan2(self.h[1], self.h[0]))

    def reframe(self, X_old_new: Pose, children: Iterable["_Stage"]) -> None:
        """Choose another frame, by its pose in this one."""
        self.X, self.frame = self.X @ X_old_new, self.frame @ X_old_new
        for child in children:
            child.X = X_old_new.inverse() @ child.X
        R, p = X_old_new.R, X_old_new.p
        h, E = _shift_sizes(self.mass, self.h, p)
        self.summed_h, self.summed_E = _turned_sizes(R.T, self.summed_h + h, self.summed_E + E)
        self.E = R.T @ (self.E - _coupled(self.h, p) + self.mass * np.outer(p, p)) @ R
        self.h = R.T @ (self.h - self.mass * p)

    def take(self, other: tuple[float, Array, Array], X_here_there: Pose) -> None:
        """Add masses with the moments (mass, h, E) in a frame with this pose in the body's."""
        mass, h, E = other
        R, p = X_here_there.R, X_here_there.p
        for sizes in (_turned_sizes(R, np.abs(h), np.abs(E)), _shift_sizes(mass, R @ h, p)):
            self.summed_h, self.summed_E = self.summed_h + sizes[0], self.summed_E + sizes[1]
        self.E = self.E + R @ E @ R.T + _coupled(R @ h, p) + mass * np.outer(p, p)
        self.h = self.h + R @ h + mass * p
        self.mass = self.mass + mass

    def spatial(self) -> Array:
        """The inertia (6, 6), with zeros for what is only rounding."""
        E = np.where(np.abs(self.E) < ROUNDING * self.summed_E, 0.0, (self.E + self.E.T) / 2)
        I, C = -E, rotation.skew(np.where(np.abs(self.h) < ROUNDING * self.summed_h, 0.0, self.h))
        for i, j, k in CYCLES:
            I[i, i] = E[j, j] + E[k, k]
        return np.block([[I, C], [C.T, self.mass * np.eye(3)]])


def _shift_sizes(mass: float, h: Array, p: Array) -> tuple[Array, Array]:
    """The sizes of the terms by which h and E change as their origin moves by p."""
    away = np.abs(p)
    return mass * away, _coupled(np.abs(h), away) + mass * np.outer(away, away)


def _turned_sizes(R: Array, h: Array, E: Array) -> tuple[Array, Array]:
    """The sizes of h and E after a rotation R: the largest of those that are mixed."""
    mixed = R != 0
    rows = np.max(mixed[:, :, None] * E, axis=1)
    return np.max(mixed * h, axis=1), np.max(mixed * rows[:, None, :], axis=2)


def _coupled(h: Array, p: Array) -> Array:
    """h p^T + p h^T: the part of Steiner's theorem that is linear in the shift."""
    return np.outer(h, p) + np.outer(p, h)


@memo
def canonical_tree(mech: Mechanism) -> Tree:
    """The bodies of a mechanism in canonical form, made once."""
    stages, carriers = _merged(mech)
    children = [[other for other in stages if other.parent == i] for i in range(len(stages))]
    for stage, carried in zip(stages, children, strict=True):
        if stage.simple:
            stage.reframe(Pose(_with_z_along(stage.joint.axes[0])), carried)
    heirs = _heirs(stages)
    for i, heir in reversed(list(enumerate(heirs))):  # a simple joint's frame may turn and slide: suit the heir
        if heir is not None and stages[i].simple and stages[heir].simple:
            stages[i].reframe(_screw(stages[heir].X).suiting(), children[i])
    for i, stage in enumerate(stages):  # without an heir: suit the parent, centre of mass above x
        if heirs[i] is None and stage.simple:
            screw = _screw(stage.X)
            stage.reframe(Pose(rotation.about_z(-screw.turn2), (0, 0, -screw.shift2)), children[i])
            stage.reframe(Pose(rotation.about_z(stage.lean)), children[i])
    for stage in reversed(stages):
        _regroup(stages, stage)
    bodies = []
    for stage in stages:
        bodies.append(
            TreeBody(
                stage.parent,
                _moves(stage.X, stage.joint),
                stage.joint if not stage.simple else replace(stage.joint, axes=np.array([[0.0, 0.0, 1.0]])),
                stage.spatial(),
                stage.q,
                stage.v,
                stage.direction,
                stage.X if stage.simple else None,
            )
        )
    where = tuple((k, stages[k].frame.inverse() @ X if k >= 0 else X) for k, X in carriers)
    return Tree(tuple(bodies), mech.gravity, where, is_canonical=True)


def _merged(mech: Mechanism) -> tuple[list[_Stage], list[tuple[int, Pose]]]:
    """Bodies for the links that move, with the links fixed to them; and each link's carrier, with its pose in it."""
    stages: list[_Stage] = []
    carriers: list[tuple[int, Pose]] = []
    for i, link in enumerate(mech.links):
        parent = mech.parents[i]
        k, X = (-1, Pose()) if parent < 0 else carriers[parent]
        X = X @ link.placement
        if link.joint.nv:
            for joint, q, v in simple_joints(link.joint, mech.q_slices[i], mech.v_slices[i]):
                stages.append(_Stage(k, joint, q, v, X))
                k, X = len(stages) - 1, Pose()
        carriers.append((k, X))
        if link.inertia is not None and k >= 0:
            stages[k].take(_about_origin(link.inertia), X)
    return stages, carriers


def _about_origin(inertia: Inertia) -> tuple[float, Array, Array]:
    mass, c = inertia.mass, inertia.com
    return mass, mass * c, second_moments(inertia.moment) + mass * np.outer(c, c)


def _heirs(stages: Sequence[_Stage]) -> list[int | None]:
    """For each body the child that its frame should suit: one whose axis is not parallel, with the largest subtree."""
    sizes, heirs = [1] * len(stages), [None] * len(stages)  # type: list[int], list[int | None]
    for i in reversed(range(len(stages))):
        if stages[i].parent >= 0:
            sizes[stages[i].parent] += sizes[i]
    gains = [(_sine(stage.X) > ROUNDING, size) for stage, size in zip(stages, sizes, strict=True)]
    for i, stage in enumerate(stages):
        p = stage.parent
        if p >= 0 and (heirs[p] is None or gains[i] > gains[heirs[p]]):  # type: ignore[index]
            heirs[p] = i
    return heirs


def _with_z_along(axis: Array) -> Array:
    """A rotation whose z axis is this one; the identity if it is z already."""
    x = np.eye(3)[np.argmin(np.abs(axis))]
    x = x - axis * (axis @ x)
    x = x / np.linalg.norm(x)
    return _snapped(np.stack([x, np.cross(axis, x), axis], axis=1))


@dataclass(frozen=True)
class _Screw:
    """X = Rz(turn1) Tz(shift1) T(across) Rx(tilt) Rz(turn2) Tz(shift2); `across` is along x, or in the x-y plane."""

    turn1: float
    shift1: float
    across: tuple[float, float]
    tilt: float
    turn2: float
    shift2: float

    def suiting(self) -> Pose:
        """The frame, in the first one, that has the same axis, and from which the way to the second is shortest."""
        turn, shift = self.turn1, self.shift1
        if abs(np.sin(self.tilt)) < ROUNDING:  # parallel
            turn, shift = turn + np.arctan2(self.across[1], self.across[0]), shift + np.cos(self.tilt) * self.shift2
        return Pose(rotation.about_z(turn), (0, 0, shift))


def _sine(X: Pose) -> float:
    """The sine of the angle between the z axes of two frames."""
    return float(np.hypot(*X.R[:2, 2]))


def _screw(X: Pose) -> _Screw:
    """The way from the z axis of one frame to that of another: along their common normal, unless that is far away."""
    z, p, sine = X.R[:, 2], X.p, _sine(X)
    tilt = np.arctan2(sine, z[2])
    if sine < ROUNDING:  # parallel: shifts cost less than a turn, and least of all along the second axis, at the joint
        R = rotation.about_x(tilt).T @ X.R
        x, y = (d if abs(d) > 1e-12 else 0.0 for d in p[:2])
        return _Screw(0.0, 0.0, (x, y), tilt, np.arctan2(R[1, 0], R[0, 0]), np.cos(tilt) * p[2])
    x = np.array([-z[1], z[0], 0.0]) / sine  # the direction of the common normal
    turn1 = np.arctan2(x[1], x[0])
    R = rotation.about_x(tilt).T @ rotation.about_z(turn1).T @ X.R
    turn2 = np.arctan2(R[1, 0], R[0, 0])
    if sine < 0.05:  # nearly parallel: the common normal is far away, and digits would be lost on the way
        q = rotation.about_z(turn1).T @ p
        return _Screw(turn1, q[2], (q[0], q[1]), tilt, turn2, 0.0)
    shift1, a, shift2 = np.linalg.solve(np.stack([[0.0, 0.0, 1.0], x, z], axis=1), p)
    return _Screw(turn1, shift1, (a, 0.0), tilt, turn2, shift2)


def _snap(x: float) -> float:
    """0 and 1 where only rounding tells them apart."""
    for exact in (0.0, 1.0, -1.0):
        if abs(x - exact) < ROUNDING:
            return exact
    return float(x)


_snapped = np.vectorize(_snap, otypes=[float])


def _turns(axis: int, angle: float) -> list[Move]:
    c, s = _snap(np.cos(angle)), _snap(np.sin(angle))
    return [] if s == 0.0 and c == 1.0 else [Turn(axis, c, s)]


def _shifts(axis: int, d: float) -> list[Move]:
    return [] if abs(d) < ROUNDING else [Shift(axis, float(d))]


def _moves(X: Pose, joint: Joint) -> Callable[[Array], Sequence[Move]]:
    """From the parent's frame to the body's: the resting pose X, then the joint."""
    if joint.type.screw is None:
        return lambda q: [General(X @ joint.type.pose(joint, q))]
    screw, (about, along) = _screw(X), joint.type.screw(joint)
    first = [*_turns(2, screw.turn1), *_shifts(2, screw.shift1)]
    first += [*_shifts(0, screw.across[0]), *_shifts(1, screw.across[1]), *_turns(0, screw.tilt)]
    turn2 = 0.0 if abs(screw.turn2) < ROUNDING else screw.turn2

    def moves(q: Array) -> Sequence[Move]:
        sliding = [Shift(2, screw.shift2 + along * q[0])] if along else _shifts(2, screw.shift2)
        if not about:
            return [*first, *_turns(2, turn2), *sliding]
        angle = turn2 + about * q[0]
        return [*first, *sliding, Turn(2, np.cos(angle), np.sin(angle))]

    return moves


def screw_numbers(X: Pose) -> list[float]:
    """The nine numbers of the moves to a simple joint: cosines and sines, distances, the offset of the angle."""
    s = _screw(X)
    numbers = [np.cos(s.turn1), np.sin(s.turn1), s.shift1, *s.across, np.cos(s.tilt), np.sin(s.tilt), s.turn2, s.shift2]
    return [_snap(x) for x in numbers]


def _regroup(stages: Sequence[_Stage], stage: _Stage) -> None:
    """Move to the parent an inertia J that does not resist the joint, J S = 0, nor change as the joint moves."""
    if stage.direction == 2:  # mass, its first and second moments along z: those of a rod there
        along = np.diag([0.0, 0.0, 1.0])
        free = stage.mass, along @ stage.h, along @ stage.E @ along
    elif stage.direction == 5:  # all moments of inertia
        free = 0.0, np.zeros(3), stage.E
    else:
        return
    stage.mass, stage.h, stage.E = stage.mass - free[0], stage.h - free[1], stage.E - free[2]
    if stage.parent >= 0:
        parent, sizes = stages[stage.parent], _turned_sizes(stage.X.R, stage.summed_h, stage.summed_E)
        parent.summed_h, parent.summed_E = parent.summed_h + sizes[0], parent.summed_E + sizes[1]
        parent.take(free, stage.X)
