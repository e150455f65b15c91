"""Which bodies of a world touch which: made as bodies and grounds are added, in any order."""

from collections.abc import Mapping
from dataclasses import replace

from poinsot._errors import FieldError
from poinsot._hints import hint
from poinsot.contact.law import Material
from poinsot.environment import Ground, PairTouch, Touch
from poinsot.environment.pair_touch import meetings
from poinsot.parts import Element
from poinsot.spatial.inertia import Solid
from poinsot.world.description import Description


def new_touches(description: Description) -> list[Touch]:
    """The touches between bodies and grounds that are neither there nor ignored."""
    touches = []
    for ground in grounds(description).values():
        for name, body in description.bodies.items():
            solids = () if body.inertia is None else body.inertia.solids
            if solids and name not in ground.ignored and _moves(description, name):
                touch = ground.touched_by(name, solids, None)
                if touch.name not in description.elements:
                    touches.append(touch)
    return touches


def material_of(surface: Material | str, known: Mapping[str, Material]) -> Material:
    """A material, or the one with this name."""
    if isinstance(surface, Material):
        return surface
    if surface not in known:
        there = f"; there are {', '.join(known)}" if known else ": add it with world.add_surface"
        raise FieldError(f"there is no surface {surface!r}{hint(str(surface), known) or there}.", "surface")
    return known[surface]


def grounds(description: Description) -> dict[str, Ground]:
    """The grounds of a world, by name."""
    return {name: e for name, e in description.elements.items() if isinstance(e, Ground)}


def colliding(description: Description, a: str, b: str, surface: Material | None) -> Description:
    """With a touch between two bodies, or a body and a ground, in place of one that is there."""
    known, elements = grounds(description), dict(description.elements)
    if a in known or b in known:
        body, ground = (a, known[b]) if b in known else (b, known[a])
        heard = replace(ground, ignored=tuple(name for name in ground.ignored if name != body))
        touch: Element = ground.touched_by(body, _solids(description, body), surface)
        return replace(description, elements={**elements, ground.name: heard, touch.name: touch})
    law = surface or Material()
    count = len(meetings(_solids(description, a), _solids(description, b), f"touch '{a}-{b}'"))
    touch = PairTouch(f"{a}-{b}", a, b, count, law.stiffness, law.damping, law.friction)
    elements.pop(f"{b}-{a}", None)
    return replace(description, elements={**elements, touch.name: touch})


def ignoring(description: Description, a: str, b: str) -> Description:
    """Without the touch between two bodies, or a body and a ground."""
    known, elements = grounds(description), dict(description.elements)
    if a in known or b in known:
        body, ground = (a, known[b]) if b in known else (b, known[a])
        _solids(description, body)
        ignored = tuple(dict.fromkeys((*ground.ignored, body)))
        elements |= {ground.name: replace(ground, ignored=ignored)}
    for name in (f"{a}-{b}", f"{b}-{a}"):
        if isinstance(elements.get(name), Touch | PairTouch):
            del elements[name]
    return replace(description, elements=elements)


def _solids(description: Description, body: str) -> tuple[Solid, ...]:
    """The shapes of a body; an error if there are none."""
    if body not in description.bodies:
        known = [*description.bodies, *grounds(description)]
        raise FieldError(f"there is no body or ground {body!r}{hint(body, known)}.", "a")
    inertia = description.bodies[body].inertia
    if inertia is None or not inertia.solids:
        raise FieldError(f"body {body!r} has no shapes to touch anything with: make its inertia of shapes.", "a")
    return inertia.solids


def _moves(description: Description, name: str | None) -> bool:
    """Whether a joint between the body and the world has a degree of freedom."""
    while name is not None:
        body = description.bodies[name]
        if body.hinge.nv:
            return True
        name = body.parent
    return False
