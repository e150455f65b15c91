"""Which bodies of a world touch which: made as bodies and grounds are added, in any order."""

from collections.abc import Mapping
from dataclasses import replace

from poinsot._errors import FieldError
from poinsot._hints import hint
from poinsot.contact.law import Material
from poinsot.environment import Ground, Touch
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
    """With a touch between a body and a ground, in place of one that is there."""
    body, ground = _sorted(description, a, b)
    solids = () if description.bodies[body].inertia is None else description.bodies[body].inertia.solids  # type: ignore[union-attr]
    if not solids:
        raise FieldError(f"body {body!r} has no shapes to touch {ground.name!r} with: make its inertia of shapes.", "a")
    heard = replace(ground, ignored=tuple(name for name in ground.ignored if name != body))
    touch = ground.touched_by(body, solids, surface)
    return replace(description, elements={**description.elements, ground.name: heard, touch.name: touch})


def ignoring(description: Description, a: str, b: str) -> Description:
    """Without the touch between a body and a ground."""
    body, ground = _sorted(description, a, b)
    deaf = replace(ground, ignored=(*ground.ignored, body) if body not in ground.ignored else ground.ignored)
    elements = {**description.elements, ground.name: deaf}
    elements.pop(f"{body}-{ground.name}", None)
    return replace(description, elements=elements)


def _sorted(description: Description, a: str, b: str) -> tuple[str, Ground]:
    """The body and the ground among two names."""
    known = grounds(description)
    for body, ground in ((a, b), (b, a)):
        if ground in known:
            if body not in description.bodies:
                raise FieldError(f"there is no body {body!r}{hint(body, description.bodies)}.", "a")
            return body, known[ground]
    raise FieldError(f"neither {a!r} nor {b!r} is a ground; there are {', '.join(known) or 'none'}.", "a")


def _moves(description: Description, name: str | None) -> bool:
    """Whether a joint between the body and the world has a degree of freedom."""
    while name is not None:
        body = description.bodies[name]
        if body.hinge.nv:
            return True
        name = body.parent
    return False
