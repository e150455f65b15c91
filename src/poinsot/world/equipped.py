"""Robots in a world with what their files say beyond the tree: shapes, motors, tendons, keyframes."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._hints import hint
from poinsot._types import Array, ArrayLike
from poinsot.mechanism import Mechanism
from poinsot.mechanism.closures import prefixed
from poinsot.mechanism.equipment import Equipment
from poinsot.parts import PD, ClosedLoop, Element, Input, Motor, TendonStop
from poinsot.spatial import Pose
from poinsot.world.description import Description
from poinsot.world.model_stops import following, stops_of, stops_of_tendons, within_limits
from poinsot.world.robot_scenery import with_scenery
from poinsot.world.touching import colliding

if TYPE_CHECKING:
    from poinsot.world.builder import World
    from poinsot.world.handles import BodyHandle


def keyframe(mechanism: Mechanism, q: Any, v: Any) -> tuple[Any, Any, Mapping[str, float]]:
    """q, v and the inputs of motors: those of the keyframe that is called q, or as they are."""
    if not isinstance(q, str):
        return q, v, {}
    known = mechanism.equipment.keyframes
    if q not in known:
        raise FieldError(f"{mechanism} has no keyframe {q!r}{hint(q, known) or f'; it has {list(known)}'}.", "q")
    q_there, v_there, controls = known[q]
    return q_there, v_there if v is None else v, controls


def motors_of(mechanism: Mechanism, prefix: str, controls: Mapping[str, float]) -> Iterator[tuple[Element, str, float]]:
    """The motors of a robot, with the prefix of its bodies, and the name and value of the input of each."""
    for motor in mechanism.equipment.motors:
        name = prefix + motor.name  # the input has its name, the element ".motor" besides
        values: dict[str, Any] = {key: getattr(motor, key, None) for key in ("value", "target", "target_rate")}
        values = {key: replace(x, name=name) for key, x in values.items() if isinstance(x, Input)}
        yield replace(_over(motor, prefix), name=f"{name}.motor", **values), name, controls.get(motor.name, 0.0)


def tendons_of(mechanism: Mechanism, q: Array, prefix: str, limits: bool) -> Iterator[Element]:
    """The springs of the tendons of a robot and, with `limits`, their stops, as stiff as q (nq,) asks for."""
    springs = [e for e in mechanism.equipment.tendons if not isinstance(e, TendonStop)]
    for tendon in (*springs, *(stops_of_tendons(mechanism, q) if limits else ())):
        yield replace(_over(tendon, prefix), name=prefix + tendon.name)


def _over(element: Any, prefix: str) -> Any:
    """An element in a joint, or along a tendon, with the prefix of its bodies."""
    if isinstance(element, Motor | PD):
        return replace(element, joint=prefix + element.joint)
    return replace(element, over=tuple(prefix + name for name in element.over))


def equipped(description: Description, equipment: Equipment, prefix: str, apart: set[frozenset[str]]) -> Description:
    """With the shapes that the bodies of a robot touch others by, and the pairs that its file names; those that pass
    through each other are added to `apart`."""
    found = {prefix + name: shapes for name, shapes in equipment.shapes().items() if shapes}
    bodies = {
        name: replace(body, shapes=found[name]) if name in found and body.shapes is None else body
        for name, body in description.bodies.items()
    }
    description = replace(description, bodies=bodies)
    apart |= {frozenset((prefix + a, prefix + b)) for a, b in equipment.apart}
    for a, b, surface in equipment.pairs():
        description = colliding(description, prefix + a, prefix + b, surface)
    return description


def add_robot(
    world: "World",
    mechanism: Mechanism,
    q: ArrayLike | str | None,
    v: ArrayLike | None,
    prefix: str,
    parent: Any,
    placement: Pose,
    limits: bool,
    motors: bool,
    scenery: bool,
) -> "list[BodyHandle]":
    """Add the links of a mechanism as bodies to a world, with what comes with them; see `World.add_mechanism`."""
    for what, choice in (("limits", limits), ("motors", motors), ("scenery", scenery)):
        if not isinstance(choice, bool | np.bool_):
            raise ValueError(f"{what} must be True or False, not {choice!r}.")
    q, v, controls = keyframe(mechanism, q, v)
    q, v = _checked_start(mechanism, q, v, limits)
    added = []
    for link, sq, sv in zip(mechanism.links, mechanism.q_slices, mechanism.v_slices, strict=True):
        root = link.parent is None
        on = (None if parent is None else str(parent)) if root else prefix + str(link.parent)
        X = placement @ link.placement if root else link.placement
        added.append(world.add_body(prefix + link.name, link.inertia, on, link.joint, X, q=q[sq], v=v[sv]))
    for element in (*(stops_of(mechanism, q, prefix) if limits else ()), *tendons_of(mechanism, q, prefix, limits)):
        world.add(element)
    for closure in mechanism.closures:
        world.add(ClosedLoop.of(prefixed(closure, prefix)))
    for motor, name, value in motors_of(mechanism, prefix, controls) if motors else ():
        world.add_input(name, value)
        world.add(motor)
    if scenery:
        with_scenery(world, mechanism, prefix, parent, placement)
    else:
        world.equip(mechanism.equipment, prefix)
    if mechanism.source:
        world.robots.append((mechanism.source, prefix))
    return added


def _checked_start(mechanism: Mechanism, q: Any, v: Any, limits: bool) -> tuple[Array, Array]:
    """q (nq,) and v (nv,) as given, or where a robot starts by itself."""
    neutral = within_limits(mechanism) if limits else mechanism.neutral()
    q = following(mechanism, neutral) if q is None else np.asarray(q, dtype=float)
    v = np.zeros(mechanism.nv) if v is None else np.asarray(v, dtype=float)
    for what, array, n in (("q", q, mechanism.nq), ("v", v, mechanism.nv)):
        if array.shape != (n,):
            raise FieldError(f"{what} of {mechanism} needs {n} numbers, not an array of shape {array.shape}.", what)
    return q, v
