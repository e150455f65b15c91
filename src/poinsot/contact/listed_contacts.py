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
from poinsot.contact.pressing import Books, Grip, Pressed, centre_of, resistance
from poinsot.fuse import fori_loop, in_memory, while_loop
from poinsot.mechanism.branches import Branches
from poinsot.mechanism.stiff_joined import Resistances
from poinsot.mechanism.stiff_rows import ListedRow, RowList

UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class SpringMemory:
    """The memory of a list: the number of the patch at each place, -1 where there is none, and how far its springs
    are stretched (m, 3) [m] and turned (m, 3) [rad], in world axes; turn None: it has none that resist turning."""

    patch: Array
    stretch: Array
    turn: Array | None

    def number(self, k: Any) -> Any:
        """The number of the patch at a place; a step has added to it, with rounding."""
        return np.rint(self.patch[k])


@dataclass(frozen=True, eq=False)
class ListedContacts:
    """The contacts of a list over one step: by place, twists W (m, r) at the start, centres (m, 3), and springs as at
    the start.

    first, second: the numbers of the two bodies of each pair. J (m, r, n): Jacobians over the velocities `reached`;
    None: motions are told by the twists of all bodies. late: how deep [m] the deepest is that touches, and that was
    not near in the last step. belt: the velocity (3,) [m/s] of what is touched, by place.
    """

    found: TouchedPatches
    first: np.ndarray
    second: np.ndarray
    W: Array
    centres: Array
    stretch: Array
    turn: Array | None
    memory: SpringMemory
    fault: Any
    late: Any
    J: Array | None = None
    reached: Sequence[int] = ()
    belt: Callable[[Any], Array] | None = None

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
        along, belt = self.stretch[k] @ Q, np.zeros(3) if self.belt is None else self.belt(k) @ Q
        share = self.found.share[k] if len(self.found.share) else 1.0
        return Pressed(UP, points, self.found.depths[k], belt, along, turn, share)

    def relative(self, k: Any, x: Array) -> Array:
        """The relative twist (r,) at a place, in its frame, of a motion x: velocities (nv,), or where there are no
        Jacobians, twists of all bodies (n + 1, 6)."""
        if self.J is not None:
            moved: Array = self.J[k] @ x[np.array(self.reached)]
            return moved
        return self.basis(k) @ self.between(k, x)

    def between(self, k: Any, x: Array) -> Array:
        """The difference (6,) of the twists x (n + 1, 6) of the two bodies at a place."""
        pair = self.found.pair[k]
        difference: Array = x[np.asarray(self.first)[pair]] - x[np.asarray(self.second)[pair]]
        return difference

    def basis(self, k: Any) -> Array:
        """The wrenches (r, 6) that the components of its force are, at a place."""
        return basis(frame(self.found.normal[k]), self.centres[k], np.shape(self.W)[1])

    def forgotten(self, stiffness: Callable[[Any], Any]) -> Array:
        """The energy [J] of springs as they are remembered from the last step that is not in those of patches that are
        near, along which they now lie; stiffness: of the material of a patch [N/m], by its number."""

        def add(k: Any, total: Array) -> Array:
            patch = np.maximum(self.memory.number(k), 0.0).astype(int)
            stored = 0.5 * SHEAR * stiffness(patch) * (self.memory.stretch[k] @ self.memory.stretch[k])
            return total + np.where(self.memory.number(k) < 0, 0.0, stored)

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

    def row(self, law: Callable[[Any], Any], h: Scalar, k: Any, guess: Array) -> ListedRow:
        """The force at a place over a step h, linearised about a guess of the accelerations; law: the material of a
        pair."""
        patch, change = self.patch(k), h * self.relative(k, guess)
        grip = patch.grip(law(self.found.pair[k]), h, self.twist(k, change))
        F, K = patch.wrench(grip, patch.speeds(self.twist(k))), resistance([patch], [grip])
        kept, J = slice(6 - len(change), 6), None if self.J is None else self.J[k]
        return ListedRow(F[kept], K[kept, kept], J, (patch, grip))

    def rows(self, law: Callable[[Any], Any], h: Scalar, guess: Array) -> RowList:
        """All of these."""
        height = np.shape(self.W)[1]
        return RowList(self.count, self.most, self.reached, lambda k: self.row(law, h, k, guess), height, self.fault)

    def resistances(
        self, law: Callable[[Any], Any], h: Scalar, guess: Array, own: Array, F: Array
    ) -> tuple[Resistances, Array, Array]:
        """All of these as resistances between bodies, about a guess by the twists (n + 1, 6) of all; with the sums of
        these for each body (n + 1, 6, 6) added to `own`, and of the forces (n + 1, 6) to F, all about one point."""

        def pair(k: Any) -> tuple[Any, Any]:
            number = self.found.pair[k]
            return np.asarray(self.first)[number], np.asarray(self.second)[number]

        def add(k: Any, sums: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            K, own, F = sums
            row, B, (i, j) = self.row(law, h, k, guess), self.basis(k), pair(k)
            K_k, f = B.T @ (h * row.K) @ B, row.f @ B
            K[k] = K_k
            own[i], F[i] = own[i] + K_k, F[i] + f
            own[j], F[j] = own[j] + K_k, F[j] - f
            return K, own, F

        m = self.most
        K, own, F = fori_loop(self.count, add, (in_memory(np.empty((m, 6, 6))), own, F), most=m)
        return Resistances(self.count, m, K, pair), own, F


@dataclass(frozen=True, eq=False)
class ListOutcome:
    """The energies of a list's contacts over a step: stored before and after [J], what they took, and what is
    remembered."""

    before: Array
    after: Array
    books: Books
    memory: SpringMemory


def listed_contacts(
    found: TouchedPatches,
    ends: tuple[np.ndarray, np.ndarray],
    twists: Array,
    memory: SpringMemory,
    fault: Any,
    branches: Branches | None = None,
    belt: Callable[[Any], Array] | None = None,
) -> ListedContacts:
    """The contacts of patches that were found, with the springs that are remembered.

    ends: the numbers of the two bodies of each pair; twists (n + 1, 6): of all bodies, and of the world. branches: the
    tree, if Jacobians are asked for.
    """
    most, r = len(found.pair), 3 if memory.turn is None else 6
    (reached, jacobian), (first, second) = branches.jacobians() if branches else ((), None), ends

    def enter(k: Any, filled: tuple[Any, ...]) -> tuple[Any, ...]:
        J, W, centres, stretch, turn, old, late = filled
        centre, Q, pair = _middle(found.points[k], found.depths[k]), frame(found.normal[k]), found.pair[k]
        if jacobian is not None:
            J[k], W[k] = jacobian(pair, Q, centre, r == 6)
        else:
            W[k] = basis(Q, centre, r) @ (twists[np.asarray(first)[pair]] - twists[np.asarray(second)[pair]])
        old, centres[k] = _sought(memory, old, found.patch[k]), centre
        same = memory.number(old) == found.patch[k]
        stretch[k] = np.where(same, memory.stretch[old], 0.0)
        if memory.turn is not None:
            turn[k] = np.where(same, memory.turn[old], 0.0)
        late = np.where(same, late, np.maximum(late, np.max(found.depths[k])))
        return J, W, centres, stretch, turn, old, late

    shapes = (r, len(reached)), (r,), (3,), (3,), (3,)
    blank = tuple(in_memory(np.empty((most, *shape))) for shape in shapes)
    count = np.minimum(found.count, most)
    start = (*blank, np.array(0), np.zeros(()))
    J, W, centres, stretch, turn, _, late = fori_loop(count, enter, start, most=most)
    springs = stretch, None if memory.turn is None else turn
    jacobians = None if branches is None else J
    return ListedContacts(found, first, second, W, centres, *springs, memory, fault, late, jacobians, reached, belt)


def _sought(memory: SpringMemory, start: Any, number: Any) -> Any:
    """The first place from `start` on that holds the number of a patch, or one beyond it: lists are in order."""

    def before(k: Any) -> Any:
        return (memory.number(k) >= 0) & (memory.number(k) < number)

    last = len(memory.patch) - 1
    return while_loop(lambda k: before(k) & (k < last), lambda k: k + 1, start, most=len(memory.patch))


def outcome(contacts: ListedContacts, law: Callable[[Any], Any], h: Scalar, end: Array, guess: Array) -> ListOutcome:
    """The work of contacts over a step h that ended with these accelerations, linearised about a guess of them."""
    turning = contacts.turn is not None

    def add(k: Any, carry: tuple[Any, ...]) -> tuple[Any, ...]:
        before, after, books, patches, stretch, turn = carry
        (patch, grip), numbers = contacts.row(law, h, k, guess).more, law(contacts.found.pair[k])
        W, about = (contacts.twist(k, h * contacts.relative(k, x)) for x in (end, guess))
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
    memory = (in_memory(x) for x in (np.full(m, -1.0), np.zeros((m, 3)), np.zeros((m if turning else 0, 3))))
    blank = (np.zeros(()), np.zeros(()), Books.blank(), *memory)
    before, after, books, patches, stretch, turn = fori_loop(contacts.count, add, blank, most=m)
    return ListOutcome(before, after, books, SpringMemory(patches, stretch, turn if turning else None))


def gripped(contacts: ListedContacts, law: Callable[[Any], Any], k: Any) -> tuple[Pressed, Grip]:
    """A contact at an instant, by its place."""
    patch = contacts.patch(k)
    return patch, patch.grip(law(contacts.found.pair[k]), 0.0, contacts.twist(k))


def force_now(contacts: ListedContacts, law: Callable[[Any], Any], k: Any) -> Array:
    """The force (r,) at a place at an instant, in its frame."""
    patch, grip = gripped(contacts, law, k)
    return patch.wrench(grip, patch.speeds(contacts.twist(k)))[6 - np.shape(contacts.W)[1] :]


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


def _middle(points: Array, depths: Array) -> Array:
    """The centre (3,) of a patch."""
    return 1.0 * points[0] if len(depths) == 1 else centre_of(points, depths)
