"""Many bodies that may touch each other, of which few do: contacts in a list that is made anew in every step."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, Scalar
from poinsot.contact.colliders import Collider
from poinsot.contact.law import NUMBERS, Material
from poinsot.contact.listed_contacts import (
    ListedContacts,
    SpringMemory,
    basis,
    frame,
    gripped,
    listed_contacts,
    outcome,
)
from poinsot.contact.meeting_kinds import MeetingKind, kind_of
from poinsot.contact.near_pairs import TouchedPatches, touching, touching_by_list
from poinsot.contact.patches import ContactPatch
from poinsot.contact.pressing import Books
from poinsot.contact.reach import reach
from poinsot.environment.meeting import ContactElement, Meeting
from poinsot.fuse import fori_loop
from poinsot.mechanism.branches import Branches
from poinsot.mechanism.form import canonical
from poinsot.parts.element import Effect
from poinsot.parts.resisting import Later, Resistance, Resisting, Used
from poinsot.parts.scene import Scene
from poinsot.spatial import Pose

GAIN = 100.0  # m/s^2: what a step may add to speeds, as far as the search for pairs is concerned
PLACES = 3  # in a list by default, for each shape: among others it touches six, and two share a contact


@dataclass(frozen=True, eq=False)
class TouchList(ContactElement):
    """Pairs of shapes, all of one kind, of which few touch at a time: one list for all of them.

    `owners`: the body of each of the `colliders`; `pairs`: the numbers of two shapes that may touch. The list has room
    for `capacity` patches. If more touch at once, the run ends for that reason, and says which pair found no place.
    `laws`: the materials of pairs that differ, by number in `law_of`; without them, all have that of the element. The
    law is that of `PairTouch`.

    States, by place: `touching`, the number of the pair (of the patch, where pairs have several), -1 where there is
    none; `stretch` (3,) [m] and, where patches resist turning, `turn` (3,) [rad], in world axes.
    """

    owners: tuple[str, ...] = ()
    colliders: tuple[Collider, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    capacity: int = 0
    laws: tuple[Material, ...] | None = field(default=None, metadata={"described": "if given"})
    law_of: tuple[int, ...] | None = field(default=None, metadata={"described": "if given"})

    internal: ClassVar[bool] = True
    structural: ClassVar[tuple[str, ...]] = ("count", "turning", "capacity")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.pairs:
            raise FieldError(f"list {self.name!r} has no pairs of shapes that may touch.", "pairs")
        if not (float(self.capacity).is_integer() and self.capacity > 0):
            raise FieldError(
                f"capacity of list {self.name!r} must be a whole number above 0, not {self.capacity!r}.", "capacity"
            )
        several = max(self.sizes) > 1 or any(law.torsion > 0 or law.rolling > 0 for law in self.laws or ())
        object.__setattr__(self, "turning", bool(self.turning or several))

    # What is known in advance.

    @cached_property
    def kind(self) -> MeetingKind:
        """How all pairs meet."""
        return self._first[0]

    @cached_property
    def sizes(self) -> list[int]:
        """How many points each patch of a pair has."""
        kind, one, other = self._first
        return kind.sizes(one, other)

    @cached_property
    def _first(self) -> tuple[MeetingKind, Any, Any]:
        one, other = (self.colliders[k].shape for k in self.pairs[0])
        return kind_of(one, other)[0], one, other

    @cached_property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        pairs = np.array(self.pairs)
        return pairs[:, 0], pairs[:, 1]

    def bodies(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.owners))

    def states(self) -> dict[str, Array]:
        springs = {"touching": np.full(self.capacity, -1.0), "stretch": np.zeros((self.capacity, 3))}
        return springs | {"turn": np.zeros((self.capacity, 3))} if self.turning else springs

    def units(self) -> dict[str, str]:
        return {**super().units(), "touching": "1"}

    def pair_name(self, pair: int) -> str:
        """The names of the two bodies of a pair."""
        return "-".join(self.owners[k] for k in self.pairs[pair])

    def without(self, ends: Set[frozenset[str]]) -> "TouchList | None":
        """The list without the pairs of these bodies; None if none is left."""
        left = [k for k, pair in enumerate(self.pairs) if frozenset(self.owners[x] for x in pair) not in ends]
        if not left:
            return None
        law_of = None if self.law_of is None else tuple(self.law_of[k] for k in left)
        return replace(self, pairs=tuple(self.pairs[k] for k in left), law_of=law_of)

    def law(self, pair: Any) -> Any:
        """The material of a pair."""
        if self.laws is None or self.law_of is None:
            return self
        table = np.array([[getattr(law, name) for name in NUMBERS] for law in self.laws])[np.array(self.law_of)]
        return SimpleNamespace(**{name: np.asarray(table[:, c])[pair] for c, name in enumerate(NUMBERS)})

    def _stiffness(self, patch: Any) -> Any:
        """That of the material [N/m] of a patch, by its number."""
        return self.law(patch // len(self.sizes)).stiffness

    # Over a step.

    def meeting(self, scene: Scene) -> Meeting:
        raise TypeError(f"the contacts of {self.name!r} are in a list.")

    def resisting(self, scene: Scene, h: Scalar) -> Resisting:
        contacts = self.contacts(scene, h)

        def at(later: Later) -> Resistance:
            return Resistance(listed=contacts.rows(self.law, h, later.a))

        return Resisting(at, lambda later, used: self._taken(contacts, later, used))

    def contacts(self, scene: Scene, h: Scalar) -> ListedContacts:
        """The patches that may touch within a step h [s] from a scene."""
        about = self._about(scene)
        found, near_full = self.found(scene, h, about)
        T = canonical.tree_of(scene.mechanism)
        carriers = [T.carriers[scene.mechanism.index(name)][0] for name in self.owners]
        ends = tuple((carriers[a], carriers[b]) for a, b in self.pairs)
        branches = Branches(T, scene.q, [state.pose for state in scene._carriers], about, ends)
        fault = np.where(found.is_full | near_full, np.nan, 0.0)
        return listed_contacts(found, branches, scene.v, self._memory(scene), len(self.pairs) * len(self.sizes), fault)

    def found(self, scene: Scene, h: Scalar, about: Array) -> tuple[TouchedPatches, Any]:
        """The patches that may touch, and whether there were more near pairs than a list of these can hold."""
        first, second = self._ends
        poses = self._poses(scene, about)
        balls = [(X @ reach(c.shape)[0], reach(c.shape)[1]) for X, c in zip(poses, self.colliders, strict=True)]
        ahead = np.stack([h * (self._speed(scene, k, balls[k], about) + h * GAIN) for k in range(len(poses))])
        centres, radii = np.stack([x for x, _ in balls]), np.stack([r + 0.0 for _, r in balls]) + ahead
        own = [self.kind.numbers(c.shape) for c in self.colliders]
        width = max(1, *map(len, own))
        numbers = np.stack([np.stack([1.0 * x for x in (*x, *[0.0] * (width - len(x)))]) for x in own])
        places = np.stack([self.kind.pose_numbers(X) for X in poses])

        def meet(a: Any, b: Any) -> tuple[list[ContactPatch], Any]:
            table = np.asarray(numbers)
            return self.kind.met(table[a], places[a], table[b], places[b]), -(ahead[a] + ahead[b])

        if self.kind.is_round:
            return touching((centres, radii), first, second, meet, self.sizes, self.capacity), False
        return touching_by_list((centres, radii), first, second, meet, self.sizes, self.capacity)

    def left_out(self, scene: Scene, h: Scalar) -> str | None:
        """The names of the first pair that found no place in a step h [s] from a scene; None if all did."""
        whole = replace(self, capacity=len(self.pairs) * len(self.sizes))
        found, _ = whole.found(scene, h, self._about(scene))
        return self.pair_name(int(found.pair[self.capacity])) if int(found.count) > self.capacity else None

    def _about(self, scene: Scene) -> Array:
        """The point of the world that all is taken about: near the bodies, so that nothing is lost far from the
        origin."""
        return next((s.pose.p for s in scene._carriers), np.zeros(3))

    def _poses(self, scene: Scene, about: Array) -> list[Pose]:
        """Of every shape, from a point of the world, in its axes."""
        poses = []
        for name, collider in zip(self.owners, self.colliders, strict=True):
            state, X_CB = scene.carrier(name)
            poses.append(Pose.unchecked(state.pose.R, state.pose.p - about) @ (X_CB @ collider.pose))
        return poses

    def _speed(self, scene: Scene, k: int, ball: tuple[Array, Any], about: Array) -> Array:
        """A bound of the speed [m/s] of all points of a shape."""
        state, _ = scene.carrier(self.owners[k])
        w, v = state.twist[:3], state.twist[3:]
        r = state.pose.R.T @ (ball[0] + about - state.pose.p)
        u = v + np.cross(w, r)
        speed: Array = np.sqrt(u @ u) + np.sqrt(w @ w) * ball[1]
        return speed

    def _memory(self, scene: Scene) -> SpringMemory:
        turn = scene.states[f"{self.name}.turn"] if self.turning else None
        patch = np.rint(scene.states[f"{self.name}.touching"])  # it was added to by a step, with rounding
        return SpringMemory(patch, scene.states[f"{self.name}.stretch"], turn)

    def _taken(self, contacts: ListedContacts, later: Later, used: Used) -> Effect:
        scene, h = later.scene, later.h
        assert used.listed is not None
        rows, end = used.listed, later.a[np.array(contacts.reached)]
        did, forgotten = (
            outcome(contacts, rows, self.law, h, later.a, used.guess.a),
            contacts.forgotten(self._stiffness),
        )
        books = did.books + Books(sliding=-forgotten / h)
        rates = {
            key: (new - scene.states[f"{self.name}.{key}"]) * (1 / h)
            for key, new in (("touching", did.memory.patch), ("stretch", did.memory.stretch), ("turn", did.memory.turn))
            if new is not None
        }

        def force(k: Any) -> Array:
            row = rows.row(k)
            return row.f - row.K @ (h * (row.J @ end))

        return Effect(
            self._wrenches(scene, contacts, force),
            stored=did.before + forgotten,
            power=books.power,
            rates=rates,
            shown=self._shown(contacts, force, did.before + forgotten),
            shares=books.shares(self.turning),
            numerical=books.numerical,
            foreseen=did.after,
        )

    def effect(self, scene: Scene) -> Effect:
        contacts = self.contacts(scene, 0.0)
        r = np.shape(contacts.W)[1]

        def force(k: Any) -> Array:
            return gripped(contacts, self.law, k)[1].F[6 - r :]

        def add(k: Any, sums: tuple[Array, Books]) -> tuple[Array, Books]:
            patch, grip = gripped(contacts, self.law, k)
            law, W = self.law(contacts.found.pair[k]), contacts.twist(k)
            return sums[0] + patch.stored(law, 0.0, W, patch.xi), sums[1] + patch.books_now(law, W, grip)

        stored, now = fori_loop(contacts.count, add, (np.zeros(()), Books.blank()), most=contacts.most)
        stored = stored + contacts.forgotten(self._stiffness)
        wrenches, shown = self._wrenches(scene, contacts, force), self._shown(contacts, force, stored)
        return Effect(wrenches, stored=stored, power=now.power, shown=shown, shares=now.shares(self.turning))

    def _wrenches(self, scene: Scene, contacts: ListedContacts, force: Any) -> dict[str, Array]:
        """On the bodies, from the force (r,) of the contact at each place, in its frame."""
        names = self.bodies()
        number = {name: k for k, name in enumerate(names)}
        a, b = (np.array([number[self.owners[k]] for k in ends]) for ends in self._ends)
        r = np.shape(contacts.W)[1]

        def add(k: Any, F: Array) -> Array:
            pair, Q = contacts.found.pair[k], frame(contacts.found.normal[k])
            on = force(k) @ basis(Q, contacts.centres[k], r)
            i, j = np.asarray(a)[pair], np.asarray(b)[pair]
            F[i] = F[i] + on
            F[j] = F[j] - on
            return F

        F = fori_loop(contacts.count, add, np.zeros((len(names), 6)), most=contacts.most)
        about, wrenches = self._about(scene), {}
        for k, name in enumerate(names):
            X = scene[name].pose
            wrenches[name] = Pose.unchecked(X.R, X.p - about).adjoint().T @ F[k]
        return wrenches

    def _shown(self, contacts: ListedContacts, force: Any, stored: Array) -> Mapping[str, Array]:
        """How many patches touch, the greatest depth [m], how fast the fastest that touches slips [m/s], the sum of
        the normal forces [N], and the energy [J] that is stored."""

        def add(k: Any, carry: tuple[Array, ...]) -> tuple[Array, ...]:
            count, depth, slip, total = carry
            patch = contacts.patch(k)
            u, deepest = patch.speeds(contacts.twist(k))[1], np.max(patch.depths)
            return (
                count + np.where(deepest > 0, 1.0, 0.0),
                np.maximum(depth, deepest),
                np.maximum(slip, np.where(deepest > 0, np.sqrt(u @ u), 0.0)),
                total + force(k)[-1],
            )

        blank = (np.zeros(()), np.zeros(()), np.zeros(()), np.zeros(()))
        count, depth, slip, total = fori_loop(contacts.count, add, blank, most=contacts.most)
        return {"count": count, "depth": depth, "slip": slip, "force": total, "stored": stored}
