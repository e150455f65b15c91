"""Which bodies of a world touch which: made as bodies and grounds are added, in any order."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, TypeAlias

from poinsot._errors import FieldError, about
from poinsot._hints import hint
from poinsot._memo import memo
from poinsot.contact.colliders import Collider, joined, numbers_key, touching_shape
from poinsot.contact.distances import DistanceShape
from poinsot.contact.law import Material, numbers_of
from poinsot.contact.spots import SPOTS
from poinsot.environment import Ground, PairTouch, Terrain, Touch, TouchList
from poinsot.environment.pair_touch import meetings
from poinsot.parts import Element
from poinsot.world.description import Body, Description
from poinsot.world.handles import BodyHandle
from poinsot.world.listing import checked_capacity, ground_lists, lists_of

Apart: TypeAlias = Set[frozenset[str]]  # pairs of names that pass through each other
LISTED = 24  # pairs of bodies in one call, from which on they are in a list, and not each code of its own


def new_touches(description: Description) -> list[Element]:
    """The touches between bodies and grounds that are neither there nor ignored."""
    touches: list[Element] = []
    for ground in grounds(description).values():
        if ground.capacity is not None:
            continue
        for name, body in description.bodies.items():
            if name in ground.ignored or f"{name}-{ground.name}" in description.elements:
                continue
            if colliders_of(body) and moves(description, name):
                touches += _on_ground(ground, body, None)
    return touches


def listed(description: Description) -> Description:
    """With all bodies, but those that have an element of their own or are ignored, in the lists of grounds that have
    such."""
    elements = dict(description.elements)
    for ground in (g for g in grounds(description).values() if g.capacity is not None):
        rest = {k: e for k, e in elements.items() if not (isinstance(e, TouchList) and e.ground == ground.name)}
        own = {e.body for e in rest.values() if isinstance(e, Touch) and e.ground == ground.name}
        shapes = [
            (name, one, law)
            for name, body in description.bodies.items()
            if name not in own and name not in ground.ignored and moves(description, name)
            for one, law in _spotted(ground, body, None)
        ]
        elements = rest | {e.name: e for e in ground_lists(ground, shapes, rest)}
    return replace(description, elements=elements)


@memo
def colliders_of(body: Body) -> tuple[Collider, ...]:
    """The shapes that a body touches others by: its own, or those that its inertia is made of."""
    if body.shapes is not None:
        return body.shapes
    solids = () if body.inertia is None else body.inertia.solids
    with about(body.name, "shapes"):
        return tuple(Collider(touching_shape(solid.shape), solid.pose) for solid in solids)


def _on_ground(ground: Ground, body: Body, surface: Material | None) -> list[Element]:
    """The touches of a body and a ground: one for all shapes whose surfaces are alike."""
    alike: dict[Any, list[Collider]] = {}
    for one, law in _spotted(ground, body, surface):
        alike.setdefault(numbers_key(law), []).append(replace(one, surface=law))
    touches: list[Element] = []
    for k, group in enumerate(alike.values()):
        touch = ground.touched_by(body.name, tuple(group), group[0].surface)
        name = touch.name if k == 0 else f"{touch.name}-{k + 1}"
        touches.append(replace(touch, name=name, shapes=None if body.shapes is None else tuple(group)))
    return touches


@memo
def _solid(ground: Ground) -> Collider:
    """The surface of a ground, as shapes touch it."""
    groups, priority = ground.groups or (1, 1), ground.priority or 0
    return Collider(DistanceShape(abs), surface=ground.surface, groups=groups, priority=priority)


def _spotted(ground: Ground, body: Body, surface: Material | None) -> list[tuple[Collider, Material]]:
    """The shapes of a body that may touch the ground, with the materials of these contacts."""
    solid, found = _solid(ground), []
    for one in colliders_of(body):
        if type(one.shape) in SPOTS and one.may_touch(solid):
            law = surface or (joined(one, solid) if one.surface is not None else ground.surface)
            found.append((one, law or ground.surface))
    return found


def _between(a: Body, b: Body, surface: Material | None, by_groups: bool = False) -> list[Element]:
    """The touches of two bodies: one for all pairs of shapes whose surfaces are alike, as sets of shapes of which
    every one meets every other."""
    ones, others = colliders_of(a), colliders_of(b)
    laws: dict[Any, Material | None] = {}
    partners: dict[tuple[int, Any], list[int]] = {}
    for i, one in enumerate(ones):
        for j, other in enumerate(others):
            if not by_groups or one.may_touch(other):
                law = surface or joined(one, other)
                laws[numbers_key(law)] = law
                partners.setdefault((i, numbers_key(law)), []).append(j)
    sets: dict[tuple[Any, tuple[int, ...]], list[int]] = {}
    for (i, key), some in partners.items():
        sets.setdefault((key, tuple(some)), []).append(i)
    own, touches = a.shapes is not None or b.shapes is not None, []  # type: bool, list[Element]
    for (key, met), group in sets.items():
        first, second = tuple(ones[i] for i in group), tuple(others[j] for j in met)
        name = f"{a.name}-{b.name}" + (f"-{len(touches) + 1}" if touches else "")
        count = len(meetings(first, second, f"touch '{a.name}-{b.name}'"))
        touch = PairTouch(name, a=a.name, b=b.name, count=count, **numbers_of(laws[key] or Material()))
        touches.append(replace(touch, shapes_a=first, shapes_b=second) if own else touch)
    return touches


def material_of(surface: Material | str | None, known: Mapping[str, Material]) -> Material:
    """A material, or the one with this name."""
    if surface is None or isinstance(surface, Material):
        return surface or Material()
    if surface not in known:
        there = f"; there are {', '.join(known)}" if known else " yet: add it by world.add_surface or [[surface]]"
        raise FieldError(f"there is no surface {surface!r}{hint(str(surface), known) or there}.", "surface")
    return known[surface]


def grounds(description: Description) -> dict[str, Ground]:
    """The grounds of a world, by name."""
    return {name: e for name, e in description.elements.items() if isinstance(e, Ground)}


def without_terrain(description: Description, name: str) -> tuple[Description, Terrain | None]:
    """The description without the terrain of this name, and that terrain; around the Earth, by default its figure."""
    terrain = description.elements.get(name)
    if not isinstance(terrain, Terrain):
        return description, None if description.earth is None else Terrain(name)
    rest = {key: e for key, e in description.elements.items() if key != name}
    return replace(description, elements=rest), terrain


def colliding(description: Description, a: str, b: str, surface: Material | None) -> Description:
    """With a touch between two bodies, or a body and a ground, in place of one that is there."""
    known = grounds(description)
    if a in known or b in known:
        body, ground = (a, known[b]) if b in known else (b, known[a])
        heard = replace(ground, ignored=tuple(name for name in ground.ignored if name != body))
        touches = _on_ground(ground, _shaped(description, body, "b" if a in known else "a"), surface)
        elements = _without(description, body, ground.name)
        return replace(description, elements={**elements, ground.name: heard, **{e.name: e for e in touches}})
    if a == b:
        raise FieldError(f"body {a!r} cannot touch itself.", "b")
    touches = _between(_shaped(description, a, "a"), _shaped(description, b, "b"), surface)
    return replace(description, elements=_without(description, a, b) | {e.name: e for e in touches})


def _without(description: Description, a: str, b: str) -> dict[str, Element]:
    """The elements without the touches between two."""
    ends = {frozenset((a, b))}
    lists = {name: e.without(ends) for name, e in description.elements.items() if isinstance(e, TouchList)}
    gone = {name for name, e in lists.items() if e is None}
    return {
        name: lists.get(name) or e
        for name, e in description.elements.items()
        if name not in gone
        and not (isinstance(e, Touch) and frozenset((e.body, e.ground)) in ends)
        and not (isinstance(e, PairTouch) and frozenset((e.a, e.b)) in ends)
    }


def collided(
    description: Description,
    a: Any,
    b: Any,
    surface: Material | None,
    apart: set[frozenset[str]],
    capacity: int | None = None,
) -> Description:
    """With touches between two bodies, or those of lists of them, or all; see `World.collide`."""
    single = (str, BodyHandle)
    if isinstance(a, single) and isinstance(b, single):
        if capacity is not None:
            raise FieldError("two bodies have no list whose capacity could be given: name lists of them.", "capacity")
        apart.discard(frozenset((str(a), str(b))))
        return colliding(description, str(a), str(b), surface)
    if isinstance(a, single) and b is None:
        raise FieldError(f"collide needs two bodies, or a list of them; got only {str(a)!r}.", "b")
    return all_colliding(description, _names("a", a), _names("b", b), surface, apart, capacity)


def _names(which: str, some: Any) -> list[str] | None:
    """The names of a body or of several; None for all."""
    if some is None or isinstance(some, str | BodyHandle):
        return None if some is None else [str(some)]
    if not isinstance(some, Iterable):
        raise FieldError(f"collide takes bodies, or lists of them, not {some!r}.", which)
    return [str(name) for name in some]


def all_colliding(
    description: Description,
    some: Sequence[str] | None,
    others: Sequence[str] | None,
    surface: Material | None,
    apart: Apart,
    capacity: int | None = None,
) -> Description:
    """With touches between all bodies of a group, or of two groups, that have shapes and are not neighbours: pair by
    pair, or in lists if they are many."""
    for name in (*(some or ()), *(others or ())):
        if name not in description.bodies:
            raise FieldError(f"there is no body {name!r}{hint(name, description.bodies)}.", "bodies" if some else "b")
    if some is not None and others is None and len(set(some)) < 2:
        raise FieldError(f"collide needs two bodies, or a list of them; got only {some!r}.", "bodies")
    bodies = description.bodies
    names = list(bodies) if some is None else some
    capacity = checked_capacity(capacity)
    known = {frozenset(ends) for e in description.elements.values() for ends in _touched_by(e)}
    pairs = [
        (a, b)
        for both, (a, b) in _pairs_once(names, others).items()
        if both not in (apart | known)
        and (moves(description, a) or moves(description, b))
        and not are_neighbours(description, a, b)
        and any(x.may_touch(y) for x in colliders_of(bodies[a]) for y in colliders_of(bodies[b]))
    ]
    if capacity is None and len(pairs) < LISTED:
        touches = [e for a, b in pairs for e in _between(bodies[a], bodies[b], surface, by_groups=True)]
    else:
        shaped = {name: (name, colliders_of(bodies[name])) for name in {name for pair in pairs for name in pair}}
        ends = [(shaped[a], shaped[b]) for a, b in pairs]
        touches = lists_of(ends, surface, capacity, list(description.elements))
    return replace(description, elements={**description.elements, **{e.name: e for e in touches}})


def _pairs_once(names: Sequence[str], others: Sequence[str] | None) -> dict[frozenset[str], tuple[str, str]]:
    """Every pair of a group, or of two groups, once, and in the order in which it is named first."""
    found: dict[frozenset[str], tuple[str, str]] = {}
    for k, a in enumerate(names):
        for b in names[k + 1 :] if others is None else others:
            if a != b:
                found.setdefault(frozenset((a, b)), (a, b))
    return found


def _touched_by(element: Element) -> list[tuple[str, str]]:
    """The pairs of bodies that an element lets touch."""
    if isinstance(element, TouchList):
        return [] if element.ground else [(element.owners[a], element.owners[b]) for a, b in element.pairs]
    return [(element.a, element.b)] if isinstance(element, PairTouch) else []


def are_neighbours(description: Description, a: str, b: str) -> bool:
    """Whether two bodies are fixed to each other, or joined by one joint; massless links between do not count."""
    A, B = _carrier(description, a), _carrier(description, b)
    return A == B or _before(description, A) == B or _before(description, B) == A


def _carrier(description: Description, name: str) -> str:
    """The body that it is fixed to and that moves on a joint, or the last one before the world."""
    body = description.bodies[name]
    while body.parent is not None and not body.hinge.nv:
        body = description.bodies[body.parent]
    return body.name


def _before(description: Description, name: str) -> str | None:
    """The body with mass that a body is joined to, by what it is fixed to; None for the world."""
    parent = description.bodies[name].parent
    while parent is not None and description.bodies[parent].inertia is None:
        parent = description.bodies[parent].parent
    return None if parent is None else _carrier(description, parent)


def ignoring(description: Description, a: str, b: str) -> Description:
    """Without the touch between two bodies, or a body and a ground."""
    known, elements = grounds(description), dict(description.elements)
    if a in known or b in known:
        body, ground = (a, known[b]) if b in known else (b, known[a])
        _shaped(description, body, "b" if a in known else "a")
        ignored = tuple(dict.fromkeys((*ground.ignored, body)))
        elements |= {ground.name: replace(ground, ignored=ignored)}
    description = replace(description, elements=elements)
    return replace(description, elements=_without(description, a, b))


def _shaped(description: Description, body: str, which: str) -> Body:
    """A body, the one called `which`; an error if it has no shapes."""
    if body not in description.bodies:
        known = [*description.bodies, *grounds(description)]
        raise FieldError(f"there is no body or ground {body!r}{hint(body, known)}.", which)
    if not colliders_of(description.bodies[body]):
        raise FieldError(f"body {body!r} has no shapes to touch anything with: make its inertia of shapes.", which)
    return description.bodies[body]


def moves(description: Description, name: str | None) -> bool:
    """Whether a joint between the body and the world has a degree of freedom."""
    while name is not None:
        body = description.bodies[name]
        if body.hinge.nv:
            return True
        name = body.parent
    return False
