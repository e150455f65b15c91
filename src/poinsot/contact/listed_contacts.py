"""Contacts of a list, as rows: each is a patch in its own frame, with the law of `contact.pressing`.

The frame of a patch has its normal as the third axis and the centre of its points as the origin; there the twist of a
relative to b is W = J v, and the force on it follows from W alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.contact.law import SHEAR
from poinsot.contact.near_pairs import TouchedPatches
from poinsot.contact.pressing import Books, Grip, Pressed, resistance
from poinsot.fuse import fori_loop
from poinsot.mechanism.branches import Branches
from poinsot.mechanism.stiff_rows import ListedRow, RowList

UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class SpringMemory:
    """What a list remembers: the number of the patch at each place, -1 where there is none, and how far its springs
    are stretched (m, 3) [m] and turned (m, 3) [rad], in world axes; turn None: it has none that resist turning."""

    patch: Array
    stretch: Array
    turn: Array | None


@dataclass(frozen=True, eq=False)
class ListedContacts:
    """The contacts of a list over one step: by place, Jacobians (m, r, n), the twists W (m, r) at the start, centres
    (m, 3), and springs as at the start."""

    found: TouchedPatches
    reached: Sequence[int]
    J: Array
    W: Array
    centres: Array
    stretch: Array
    turn: Array | None
    memory: SpringMemory
    fault: Any

    @property
    def most(self) -> int:
        """How many there may be."""
        return len(self.found.pair)

    @property
    def count(self) -> Any:
        """How many there are."""
        return np.minimum(self.found.count, self.most)

    def patch(self, k: Any) -> Pressed:
        """The patch at a place, in its frame."""
        Q = frame(self.found.normal[k])
        single = np.shape(self.found.depths)[1] == 1
        points = np.zeros((1, 3)) if single else (self.found.points[k] - self.centres[k]) @ Q
        turn = None if self.turn is None else self.turn[k] @ Q
        along = self.stretch[k] @ Q
        return Pressed(UP, points, self.found.depths[k], np.zeros(3), along, turn)

    def forgotten(self, stiffness: Callable[[Any], Any]) -> Array:
        """The energy [J] of springs as they are remembered from the last step that is not in those of patches that are
        near, along which they now lie; stiffness: of the material of a patch [N/m], by its number."""

        def add(k: Any, total: Array) -> Array:
            patch = np.maximum(self.memory.patch[k], 0.0).astype(int)
            stored = 0.5 * SHEAR * stiffness(patch) * (self.memory.stretch[k] @ self.memory.stretch[k])
            return total + np.where(self.memory.patch[k] < 0, 0.0, stored)

        def less(k: Any, total: Array) -> Array:
            xi = self.patch(k).xi
            return total - 0.5 * SHEAR * stiffness(self.found.patch[k]) * (xi @ xi)

        kept: Array = fori_loop(self.most, add, np.zeros(()))
        left: Array = fori_loop(self.count, less, kept, most=self.most)
        return left

    def twist(self, k: Any, change: Array | None = None) -> Array:
        """The relative twist (6,) at a place, in its frame: at the start, or changed by (r,)."""
        W = self.W[k] if change is None else self.W[k] + change
        return W if len(W) == 6 else np.concatenate([np.zeros(3), W])

    def rows(self, law: Callable[[Any], Any], h: Scalar, a: Array) -> RowList:
        """Their forces over a step h, linearised about the accelerations a (nv,); law: the material of a pair."""
        guess = a[np.array(self.reached)]

        def row(k: Any) -> ListedRow:
            J, patch = self.J[k], self.patch(k)
            change = h * (J @ guess)
            grip = patch.forces(law(self.found.pair[k]), h, self.twist(k, change))
            kept = slice(6 - len(change), 6)
            K = resistance([patch], [grip])[kept, kept]
            return ListedRow(J, grip.F[kept] + K @ change, K, (patch, grip))

        return RowList(self.count, self.most, self.reached, row, self.fault)


@dataclass(frozen=True, eq=False)
class ListOutcome:
    """What the contacts of a list did over a step: energies stored before and after [J], what they took, and what is
    remembered."""

    before: Array
    after: Array
    books: Books
    memory: SpringMemory


def listed_contacts(
    found: TouchedPatches, branches: Branches, v: Array, memory: SpringMemory, pairs: int, fault: Any
) -> ListedContacts:
    """The contacts of patches that were found: their Jacobians at the velocities v (nv,), and their springs, looked up
    in what is remembered. `pairs`: how many patches all pairs can have."""
    most, n = len(found.pair), len(branches.reached)
    r = 3 if memory.turn is None else 6
    places = slots(memory.patch, pairs)
    moving, jacobian = v[np.array(branches.reached)], branches.jacobians()

    def enter(k: Any, filled: tuple[Array, ...]) -> tuple[Array, ...]:
        J, W, centres, stretch, turn = filled
        centre = _centre(found.points[k], found.depths[k])
        Q, old = frame(found.normal[k]), places[found.patch[k]]
        same = memory.patch[old] == found.patch[k]
        J[k] = jacobian(found.pair[k], Q, centre, r == 6)
        W[k], centres[k] = J[k] @ moving, centre
        stretch[k] = np.where(same, memory.stretch[old], 0.0)
        if memory.turn is not None:
            turn[k] = np.where(same, memory.turn[old], 0.0)
        return J, W, centres, stretch, turn

    blank = tuple(np.empty(shape) for shape in ((most, r, n), (most, r), (most, 3), (most, 3), (most, 3)))
    count = np.minimum(found.count, most)
    J, W, centres, stretch, turn = fori_loop(count, enter, blank, most=most)
    turned = None if memory.turn is None else turn
    return ListedContacts(found, branches.reached, J, W, centres, stretch, turned, memory, fault)


def slots(patch: Array, pairs: int) -> Array:
    """By the number of a patch, the place at which it is remembered, or any other; patch (m,): the numbers by place."""

    def enter(k: Any, places: Array) -> Array:
        places[np.where(patch[k] < 0, pairs, patch[k].astype(int))] = k
        return places

    count = np.sum(np.where(patch >= 0, 1, 0))  # those that are used come first
    places: Array = fori_loop(count, enter, np.zeros(pairs + 1, dtype=int), most=len(patch))
    return places


def outcome(
    contacts: ListedContacts, rows: RowList, law: Callable[[Any], Any], h: Scalar, a: Array, guess: Array
) -> ListOutcome:
    """What rows did over a step h that ended with the accelerations a (nv,), linearised about a guess of them (nv,)."""
    (end, guessed), turning = (x[np.array(contacts.reached)] for x in (a, guess)), contacts.turn is not None

    def add(k: Any, carry: tuple[Any, ...]) -> tuple[Any, ...]:
        before, after, books, patches, stretch, turn = carry
        row = rows.row(k)
        (patch, grip), numbers = row.more, law(contacts.found.pair[k])
        W, about = (contacts.twist(k, h * (row.J @ x)) for x in (end, guessed))
        xi, turned = patch.stretched(h, W, grip.holds)
        Q = frame(contacts.found.normal[k])
        patches[k], stretch[k] = 1.0 * contacts.found.patch[k], Q @ xi
        if turning:
            turn[k] = Q @ turned
        return (
            before + patch.stored(numbers, 0.0, W, patch.xi),
            after + patch.stored(numbers, h, W, xi),
            books + patch.booked(numbers, h, W, about, xi),
            patches,
            stretch,
            turn,
        )

    m = contacts.most
    blank = (np.zeros(()), np.zeros(()), Books.blank(), np.full(m, -1.0), np.zeros((m, 3)), np.zeros((m, 3)))
    before, after, books, patches, stretch, turn = fori_loop(contacts.count, add, blank, most=m)
    return ListOutcome(before, after, books, SpringMemory(patches, stretch, turn if turning else None))


def gripped(contacts: ListedContacts, law: Callable[[Any], Any], k: Any) -> tuple[Pressed, Grip]:
    """A contact at an instant, by its place."""
    patch = contacts.patch(k)
    return patch, patch.forces(law(contacts.found.pair[k]), 0.0, contacts.twist(k))


def frame(n: Array) -> Array:
    """A rotation (3, 3) whose third column is the unit vector n.

    Duff et al., Building an orthonormal basis, revisited (2017).
    """
    x, y, z = n[0], n[1], n[2]
    s = np.where(z < 0, -1.0, 1.0)
    a = -1.0 / (s + z)
    b = x * y * a
    first = np.stack([1.0 + s * x * x * a, s * b, -s * x])
    second = np.stack([b, s + y * y * a, -y])
    return np.stack([first, second, n], axis=1)


def basis(Q: Array, centre: Array, r: int) -> Array:
    """The wrenches (r, 6) about the origin that the components of a force at a centre (3,) are, in the axes Q; before
    them, if r is 6, those of a moment."""
    forces = [np.concatenate([np.cross(centre, e), e]) for e in Q.T]
    moments = [np.concatenate([e, np.zeros(3)]) for e in Q.T]
    return np.stack(forces if r == 3 else moments + forces)


def _centre(points: Array, depths: Array) -> Array:
    """The mean (3,) of the points that touch, or of all if none does."""
    if len(depths) == 1:
        return 1.0 * points[0]
    touching = np.where(depths > 0, 1.0, 0.0)
    weights = np.where(np.sum(touching) > 0, touching, 1.0)
    centre: Array = weights @ points / np.sum(weights)
    return centre
