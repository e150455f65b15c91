"""Many bodies that may touch each other, of which few do: contacts in a list that is made anew in every step."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, Scalar
from poinsot.contact.body_frames import BodyFrames, ShapePlaces, shape_places
from poinsot.contact.colliders import Collider, margin_of
from poinsot.contact.contact_patch import ContactPatch
from poinsot.contact.law import NUMBERS, Material
from poinsot.contact.listed_contacts import (
    ListedContacts,
    ListOutcome,
    SpringMemory,
    force_now,
    frame,
    gripped,
    listed_contacts,
    outcome,
)
from poinsot.contact.meeting_kinds import MeetingKind, kind_of_all
from poinsot.contact.near_pairs import (
    Nearby,
    PatchSizes,
    TouchedPatches,
    by_grid,
    deeper,
    near_pairs,
    near_room,
    raised,
    touching,
    touching_by_list,
    touching_one,
)
from poinsot.contact.pressing import Books
from poinsot.contact.spots import lowest, spots_of
from poinsot.environment.listed_bodies import frames_of, joined_links, middle_of, on_body
from poinsot.environment.meeting import ContactElement, Meeting
from poinsot.fuse import fori_loop, in_memory
from poinsot.mechanism.branches import Branches
from poinsot.mechanism.form import canonical
from poinsot.mechanism.stiff_joined import ListedForces
from poinsot.mechanism.stiff_rows import STRAIGHT
from poinsot.parts.closed_loop import ClosedLoop
from poinsot.parts.element import Effect
from poinsot.parts.resisting import Later, Resistance, Resisting, Used
from poinsot.parts.scene import WORLD, Footing, Scene

GAIN = 100.0  # m/s^2: what a step may add to speeds beside blows, as far as the search for pairs is concerned
PLACES = 3  # in a list by default, for each shape: among others it touches six, and two share a contact


@dataclass(frozen=True, eq=False)
class TouchList(ContactElement):
    """Pairs of shapes, all of one kind, of which few touch at a time: one list for all of them.

    `owners`: the body of each of the `colliders`; `pairs`: the numbers of two shapes that may touch, or of one and -1,
    where they touch a `ground` and not each other. The list has room for `capacity` patches. If more touch at once, the
    run ends for that reason, and says which pair found no place. `laws`: the materials of pairs that differ, by number
    in `law_of`; without them, all have that of the element. The law is that of `PairTouch`.

    States, by place: `touching`, the number of the pair (of the patch, where pairs have several), -1 where there is
    none; `stretch` (3,) [m] and, where patches resist turning, `turn` (3,) [rad], in world axes.
    """

    owners: tuple[str, ...] = ()
    colliders: tuple[Collider, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    capacity: int = 0
    laws: tuple[Material, ...] | None = field(default=None, metadata={"described": "if given"})
    law_of: tuple[int, ...] | None = field(default=None, metadata={"described": "if given"})
    ground: str = field(default="", metadata={"described": "if given"})

    structural: ClassVar[tuple[str, ...]] = ("count", "turning", "capacity")
    shows: ClassVar[tuple[str, ...]] = ("count", "depth", "slip", "force", "stored", "late")  # numbers, of `effect`

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.pairs:
            raise FieldError(f"list {self.name!r} has no pairs of shapes that may touch.", "pairs")
        if not (float(self.capacity).is_integer() and self.capacity > 0):
            raise FieldError(
                f"capacity of list {self.name!r} must be a whole number above 0, not {self.capacity!r}.", "capacity"
            )
        several = max(self.sizes.points) > 1 or any(law.torsion > 0 or law.rolling > 0 for law in self.laws or ())
        object.__setattr__(self, "turning", bool(self.turning or several))

    # What is known in advance.

    @property
    def internal(self) -> bool:  # type: ignore[override]
        """Whether it acts only between bodies of the world."""
        return not self.ground

    @cached_property
    def kind(self) -> MeetingKind:
        """How all pairs meet."""
        return kind_of_all(self._shapes(pair) for pair in self.pairs)

    @cached_property
    def sizes(self) -> PatchSizes:
        """The sizes of the patches of a pair."""
        return self.kind.sizes(*self._shapes(self.pairs[0]))

    @cached_property
    def _margins(self) -> np.ndarray:
        """How far outside their shapes [m] its colliders touch."""
        return np.array([margin_of(collider) for collider in self.colliders])

    def _shapes(self, pair: tuple[int, int]) -> tuple[Any, Any]:
        """The two shapes of a pair; None for the ground."""
        one, other = pair
        return self.colliders[one].shape, None if other < 0 else self.colliders[other].shape

    def bodies(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.owners))

    def states(self) -> dict[str, Array]:
        springs = {"touching": np.full(self.capacity, -1.0), "stretch": np.zeros((self.capacity, 3))}
        return springs | {"turn": np.zeros((self.capacity, 3))} if self.turning else springs

    def units(self) -> dict[str, str]:
        return {**super().units(), "touching": "1", "late": "m"}

    def pair_name(self, pair: int) -> str:
        """The names of the two bodies of a pair."""
        return "-".join(self._end_names(self.pairs[pair]))

    def _end_names(self, pair: tuple[int, int]) -> list[str]:
        return [self.ground if k < 0 else self.owners[k] for k in pair]

    def without(self, ends: Set[frozenset[str]]) -> "TouchList | None":
        """The list without the pairs of these bodies; None if none is left."""
        left = [k for k, pair in enumerate(self.pairs) if frozenset(self._end_names(pair)) not in ends]
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
        return self.law(patch // len(self.sizes.points)).stiffness

    # Over a step.

    def meeting(self, scene: Scene) -> Meeting:
        raise TypeError(f"the contacts of {self.name!r} are in a list.")

    def resisting(self, scene: Scene, h: Scalar) -> Resisting:
        large = scene.mechanism.nv > STRAIGHT and not any(isinstance(e, ClosedLoop) for e in scene.elements.values())
        frames = frames_of(scene, bodies_in_lists(scene) if large else self.bodies())
        contacts = self.contacts(scene, frames, h, jacobians=not large)

        def at(later: Later) -> Resistance:
            if large:
                return Resistance(listed=self._on_bodies(contacts, later))
            return Resistance(listed=contacts.rows(self.law, h, later.a))

        return Resisting(at, lambda later, used: self._taken(contacts, later, used))

    def _on_bodies(self, contacts: ListedContacts, later: Later) -> ListedForces:
        """Its action on bodies, without Jacobians."""
        names = bodies_in_lists(later.scene)
        blank = in_memory(np.zeros((len(names) + 1, 6, 6))), in_memory(np.zeros((len(names) + 1, 6)))
        made = contacts.resistances(self.law, later.h, self._motion(contacts, later), *blank)
        return ListedForces(joined_links(later.scene, names), *made, contacts.fault)

    @staticmethod
    def _motion(contacts: ListedContacts, later: Later) -> Array:
        """The accelerations as its contacts take them: of joints, or of all bodies and the world about one point."""
        if contacts.J is not None:
            return later.a
        mech, names = later.scene.mechanism, bodies_in_lists(later.scene)
        A = {mech.index(name): later.A[name] for name in names}
        return joined_links(later.scene, names).moving(A, in_memory(np.zeros((len(names) + 1, 6))))

    def frames(self, scene: Scene) -> BodyFrames:
        """Where its bodies are, in a scene; seen from near them."""
        return frames_of(scene, self.bodies())

    def contacts(self, scene: Scene, frames: BodyFrames, h: Scalar, jacobians: bool = False) -> ListedContacts:
        """The patches that may touch within a step h [s], of bodies that are in these places."""
        found, near_full = self.found(scene, frames, h)
        numbers = frames.numbers((*self.owners, WORLD))  # -1 is the last
        first, second = numbers[np.array(self.pairs)].T
        branches, belt = None, None
        if jacobians:
            T = canonical.tree_of(scene.mechanism)
            of = [*(T.carriers[scene.mechanism.index(name)][0] for name in frames.names), -1]
            ends = tuple((of[a], of[b]) for a, b in zip(first, second, strict=True))
            branches = Branches(T, scene.q, scene.v, [state.pose for state in scene._carriers], frames.about, ends)
        if self.ground:
            belt = lambda k: self._under(scene, found.points[k, 0] + frames.about).velocity  # noqa: E731
        fault = np.where(found.is_full | near_full, np.nan, 0.0)
        return listed_contacts(found, (first, second), frames.twists, self._memory(scene), fault, branches, belt)

    def found(self, scene: Scene, frames: BodyFrames, h: Scalar) -> tuple[TouchedPatches, Any]:
        """The patches that may touch, and whether there were more near pairs than a list of these can hold."""
        places = self._shape_places(frames, h)
        own = [self.kind.numbers(c.shape) for c in self.colliders]
        width = max(1, *map(len, own))
        numbers = np.stack([np.stack([1.0 * x for x in (*x, *[0.0] * (width - len(x)))]) for x in own])
        if self.ground:
            return self._on_ground(scene, frames, places, numbers), False
        first, second = np.array(self.pairs).T
        balls = places.centres, places.radii

        def meet(a: Any, b: Any) -> Nearby:
            table, ahead = np.asarray(numbers), places.ahead[a] + places.ahead[b]
            if not self._margins.any():
                return self.kind.nearby(table[a], places.at[a], table[b], places.at[b], ahead)
            margin = np.asarray(self._margins)[a] + np.asarray(self._margins)[b]
            found = self.kind.nearby(table[a], places.at[a], table[b], places.at[b], ahead + margin)
            return raised(found, margin)

        if self.kind.is_round and not by_grid(first, second):
            return touching(balls, first, second, meet, self.sizes, self.capacity), False
        return touching_by_list(balls, first, second, meet, self.sizes, self.capacity)

    def _shape_places(self, frames: BodyFrames, h: Scalar) -> ShapePlaces:
        return shape_places(frames, frames.numbers(self.owners), self.colliders, self.kind, h, GAIN)

    def _under(self, scene: Scene, p: Array) -> Footing:
        there: Footing = scene.elements[self.ground].under(scene, p)  # type: ignore[attr-defined]
        return there

    def _on_ground(self, scene: Scene, frames: BodyFrames, places: ShapePlaces, numbers: Array) -> TouchedPatches:
        """The spots of shapes that may touch the ground."""
        bends = scene.elements[self.ground].bends  # type: ignore[attr-defined]

        def up(p: Array) -> Array:
            return self._under(scene, p + frames.about).normal

        def meet(a: Any) -> Nearby:
            shape, X = self.kind.placed(np.asarray(numbers)[a], places.at[a])
            n, patches = up(X.p), []
            for spot in spots_of(shape):
                r = lowest(spot, X, n, up if bends else None)
                there = self._under(scene, r + frames.about)
                patches.append(ContactPatch(there.normal, r[None, :], np.stack([-there.clearance])))
            if not self._margins.any():
                return deeper(patches, -places.ahead[a])
            margin = np.asarray(self._margins)[a]
            return raised(deeper(patches, -places.ahead[a] - margin), margin)

        def is_near(a: Any) -> Any:
            if bends:  # a hill beside the shape may be nearer than what is under its centre
                return np.array(True)
            return self._under(scene, places.centres[a] + frames.about).clearance < places.radii[a]

        single = np.array([a for a, _ in self.pairs])
        return touching_one(single, is_near, meet, self.sizes, self.capacity)

    def left_out(self, scene: Scene, h: Scalar) -> str | None:
        """The names of the first pair that found no place in a step h [s] from a scene; None if all did."""
        whole, frames = replace(self, capacity=len(self.pairs) * len(self.sizes.points)), self.frames(scene)
        found, _ = whole.found(scene, frames, h)
        if int(found.count) > self.capacity:
            return self.pair_name(int(found.pair[self.capacity]))
        if not self.found(scene, frames, h)[1]:
            return None
        places, (first, second) = self._shape_places(frames, h), np.array(self.pairs).T
        _, near = near_pairs((places.centres, places.radii), first, second, len(first))
        return self.pair_name(int(near[near_room(len(first), self.capacity)]))

    def _memory(self, scene: Scene) -> SpringMemory:
        turn = scene.states[f"{self.name}.turn"] if self.turning else None
        return SpringMemory(scene.states[f"{self.name}.touching"], scene.states[f"{self.name}.stretch"], turn)

    def _taken(self, contacts: ListedContacts, later: Later, used: Used) -> Effect:
        scene, h = later.scene, later.h
        assert used.listed is not None
        end, guess = self._motion(contacts, later), self._motion(contacts, used.guess)
        did, forgotten = self.outcome(contacts, h, end, guess)
        force = self.force_over(contacts, h, end, guess)
        return Effect(
            self._wrenches(scene, contacts, force, self.bodies() if contacts.J is not None else bodies_in_lists(scene)),
            stored=did.before + forgotten,
            power=did.books.power,
            rates=self.rates(scene, did.memory, h),
            shown=self._shown(contacts, force, did.before + forgotten),
            shares=did.books.shares(self.turning),
            numerical=did.books.numerical,
            foreseen=did.after,
        )

    def outcome(self, contacts: ListedContacts, h: Scalar, end: Array, guess: Array) -> tuple[ListOutcome, Array]:
        """The work of contacts over a step h, and the energy [J] of springs that were forgotten, which slid."""
        did, forgotten = outcome(contacts, self.law, h, end, guess), contacts.forgotten(self._stiffness)
        return replace(did, books=did.books + Books(sliding=-forgotten / h)), forgotten

    def force_over(self, contacts: ListedContacts, h: Scalar, end: Array, guess: Array) -> Callable[[Any], Array]:
        """The force (r,) at a place over a step h that ended with these accelerations."""

        def force(k: Any) -> Array:
            row = contacts.row(self.law, h, k, guess)
            found: Array = row.f - row.K @ (h * contacts.relative(k, end))
            return found

        return force

    def rates(self, scene: Scene, memory: SpringMemory, h: Scalar) -> dict[str, Array]:
        """d/dt of the states that lead to what is remembered after a step h."""
        return {
            key: (new - scene.states[f"{self.name}.{key}"]) * (1 / h)
            for key, new in (("touching", memory.patch), ("stretch", memory.stretch), ("turn", memory.turn))
            if new is not None
        }

    def effect(self, scene: Scene) -> Effect:
        contacts = self.contacts(scene, self.frames(scene), 0.0)

        def force(k: Any) -> Array:
            return force_now(contacts, self.law, k)

        stored, now = self.at_instant(contacts)
        wrenches = self._wrenches(scene, contacts, force, self.bodies())
        shown = self._shown(contacts, force, stored)
        return Effect(wrenches, stored=stored, power=now.power, shown=shown, shares=now.shares(self.turning))

    def shown_now(self, contacts: ListedContacts) -> Mapping[str, Array]:
        """The numbers that `shows` names, at an instant."""
        return self._shown(contacts, lambda k: force_now(contacts, self.law, k), self.at_instant(contacts)[0])

    def at_instant(self, contacts: ListedContacts) -> tuple[Array, Books]:
        """The energy [J] that is stored, and the power of the forces [W]."""

        def add(k: Any, sums: tuple[Array, Books]) -> tuple[Array, Books]:
            patch, grip = gripped(contacts, self.law, k)
            law, W = self.law(contacts.found.pair[k]), contacts.twist(k)
            return sums[0] + patch.stored(law, 0.0, W, patch.xi), sums[1] + patch.books_now(law, W, grip)

        stored, now = fori_loop(contacts.count, add, (np.zeros(()), Books.blank()), most=contacts.most)
        return stored + contacts.forgotten(self._stiffness), now

    def gathered(self, contacts: ListedContacts, force: Callable[[Any], Array], bodies: int) -> Array:
        """The wrenches (n + 1, 6) on n bodies and, last, on the world, about the point that all is taken about, in
        world axes."""

        def add(k: Any, F: Array) -> Array:
            pair, on = contacts.found.pair[k], force(k) @ contacts.basis(k)
            i, j = np.asarray(contacts.first)[pair], np.asarray(contacts.second)[pair]
            F[i] = F[i] + on
            F[j] = F[j] - on
            return F

        F: Array = fori_loop(contacts.count, add, in_memory(np.zeros((bodies + 1, 6))), most=contacts.most)
        return F

    def places(self, scene: Scene) -> tuple[Array, ...]:
        """Patches that touch, by place: points (m, p, 3) [m], depths (m, p), negative without one, normals (m, 3),
        forces (m, 3) [N] on the first body, in world axes, and friction (m,)."""
        frames = self.frames(scene)
        return self.places_of(self.contacts(scene, frames, 0.0), frames.about)

    def places_of(self, contacts: ListedContacts, about: Array) -> tuple[Array, ...]:
        """The same of contacts that are known, seen from a point (3,) [m]."""

        def add(k: Any, filled: tuple[Array, ...]) -> tuple[Array, ...]:
            points, depths, normals, forces, friction = filled
            F = force_now(contacts, self.law, k)[-3:]
            points[k], depths[k] = contacts.found.points[k] + about, contacts.found.depths[k]
            normals[k] = contacts.found.normal[k]
            forces[k] = frame(contacts.found.normal[k]) @ F
            friction[k] = self.law(contacts.found.pair[k]).friction
            return points, depths, normals, forces, friction

        m, p = np.shape(contacts.found.depths)
        blank = np.zeros((m, p, 3)), np.full((m, p), -1.0), np.zeros((m, 3)), np.zeros((m, 3)), np.zeros(m)
        found: tuple[Array, ...] = fori_loop(contacts.count, add, tuple(map(in_memory, blank)), most=m)
        return found

    def _wrenches(
        self, scene: Scene, contacts: ListedContacts, force: Callable[[Any], Array], names: Sequence[str]
    ) -> dict[str, Array]:
        """On the bodies, which have these numbers, from the force (r,) of the contact at each place, in its frame."""
        F, about, own = self.gathered(contacts, force, len(names)), middle_of(scene), self.bodies()
        return {name: on_body(scene, name, F[k], about) for k, name in enumerate(names) if name in own}

    def _shown(self, contacts: ListedContacts, force: Any, stored: Array) -> Mapping[str, Array]:
        """How many patches touch, the greatest depth [m], how fast the fastest that touches slips [m/s], the sum of
        the normal forces [N], and the energy [J] that is stored."""

        def add(k: Any, carry: tuple[Array, ...]) -> tuple[Array, ...]:
            count, depth, slip, total = carry
            patch = contacts.patch(k)
            u, deepest = patch.speeds(contacts.twist(k)).along, np.max(patch.depths)
            return (
                count + np.where(deepest > 0, 1.0, 0.0),
                np.maximum(depth, deepest),
                np.maximum(slip, np.where(deepest > 0, np.sqrt(u @ u), 0.0)),
                total + force(k)[-1],
            )

        blank = (np.zeros(()), np.zeros(()), np.zeros(()), np.zeros(()))
        count, depth, slip, total = fori_loop(contacts.count, add, blank, most=contacts.most)
        found = {"count": count, "depth": depth, "slip": slip, "force": total, "stored": stored}
        return found | {"late": contacts.late}


def bodies_in_lists(scene: Scene) -> tuple[str, ...]:
    """The names of the bodies in all lists of a scene."""
    lists = [element for element in scene.elements.values() if isinstance(element, TouchList)]
    return tuple(dict.fromkeys(name for element in lists for name in element.bodies()))
