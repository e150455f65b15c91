"""Lists of contacts for bodies of which many pairs may touch: made of pairs of shapes, one list for each kind."""

from collections.abc import Collection, Sequence
from typing import Any

from poinsot.contact.colliders import Collider, joined, numbers_key
from poinsot.contact.law import Material, numbers_of
from poinsot.contact.meeting_kinds import MeetingKind, kind_of, kind_of_all
from poinsot.contact.patches import require_meeting
from poinsot.environment.touch import Ground
from poinsot.environment.touch_list import PLACES, TouchList
from poinsot.parts import Element
from poinsot.parts.element import whole_number
from poinsot.spatial.shapes import Capsule

NAME = "contacts"  # of the first list; others are contacts-2, contacts-3 ...


def lists_of(
    pairs: Sequence[tuple[tuple[str, Sequence[Collider]], tuple[str, Sequence[Collider]]]],
    surface: Material | None,
    capacity: int | None,
    taken: Sequence[str],
) -> list[Element]:
    """The lists for pairs of bodies, each with its name and shapes; names that are `taken` are left out."""
    drafts: dict[MeetingKind, ListDraft] = {}
    for (a, ones), (b, others) in pairs:
        for one in ones:
            for other in others:
                if one.may_touch(other):
                    require_meeting(one.shape, other.shape, f"touch '{a}-{b}'")
                    kind, turned = kind_of(one.shape, other.shape)
                    ends = ((b, other), (a, one)) if turned else ((a, one), (b, other))
                    drafts.setdefault(kind, ListDraft()).add(*ends, surface or joined(one, other) or Material())
    free = (name for k in range(1, 10**6) if (name := NAME if k == 1 else f"{NAME}-{k}") not in taken)
    return [draft.made(name, capacity) for name, draft in zip(free, drafts.values(), strict=False)]


def ground_lists(
    ground: Ground, shapes: Sequence[tuple[str, Collider, Material]], taken: Collection[str]
) -> list[TouchList]:
    """The lists of shapes, each with the name of its body and its material, that touch a ground."""
    drafts: dict[MeetingKind, ListDraft] = {}
    for name, collider, law in shapes:
        drafts.setdefault(MeetingKind.alone(collider.shape), ListDraft()).add((name, collider), None, law)
    start = f"{ground.name}-{NAME}"
    free = (name for k in range(1, 10**6) if (name := start if k == 1 else f"{start}-{k}") not in taken)
    return [d.made(name, ground.capacity, ground.name) for name, d in zip(free, drafts.values(), strict=False)]


class ListDraft:
    """A list under way: shapes with their bodies, pairs of them, and the materials of the pairs."""

    def __init__(self) -> None:
        self.shapes: dict[tuple[str, int], tuple[int, Collider]] = {}
        self.pairs: list[tuple[int, int]] = []
        self.laws: dict[Any, tuple[int, Material]] = {}
        self.law_of: list[int] = []

    def add(self, a: tuple[str, Collider], b: tuple[str, Collider] | None, law: Material) -> None:
        """One pair of shapes more, each with the name of its body; or a shape and the ground."""
        ends = [-1 if x is None else self._number(*x) for x in (a, b)]
        self.pairs.append((ends[0], ends[1]))
        self.law_of.append(self.laws.setdefault(numbers_key(law), (len(self.laws), law))[0])

    def _number(self, name: str, collider: Collider) -> int:
        return self.shapes.setdefault((name, id(collider)), (len(self.shapes), collider))[0]

    def made(self, name: str, capacity: int | None, ground: str = "") -> TouchList:
        """The list, with room for `capacity` patches, or for all of its pairs if these are fewer."""
        shapes = [collider.shape for _, collider in self.shapes.values()]
        ends = [(shapes[a], None if b < 0 else shapes[b]) for a, b in self.pairs]
        kind = kind_of_all(ends)
        patches = len(kind.sizes(*ends[0]).points)
        # Of the patches of capsules, one touches, or two if they lie along each other, as in a heap of logs.
        often = patches if not kind.along else 2 if all(isinstance(shape, Capsule) for shape in shapes) else 1
        usual = PLACES * len(self.shapes) * often
        room = min(usual if capacity is None else capacity, len(self.pairs) * patches)  # all that may ever touch
        laws = [law for _, law in self.laws.values()]
        several = len(laws) > 1
        return TouchList(
            name,
            owners=tuple(body for body, _ in self.shapes),
            colliders=tuple(collider for _, collider in self.shapes.values()),
            pairs=tuple(self.pairs),
            capacity=room,
            laws=tuple(laws) if several else None,
            law_of=tuple(self.law_of) if several else None,
            ground=ground,
            **numbers_of(laws[0]),
        )


def checked_capacity(capacity: Any) -> int | None:
    """How many patches a list has room for, as a user says it."""
    return None if capacity is None else whole_number("a list of contacts", "capacity", capacity)
