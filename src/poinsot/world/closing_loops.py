"""The loops of a world as closures of its tree, the start that closes them, and their forces among the others."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from poinsot._types import Array
from poinsot.fuse import is_traced
from poinsot.mechanism import Closure, Mechanism
from poinsot.mechanism.assembling import assembled, nearest
from poinsot.mechanism.closures import count_of
from poinsot.mechanism.constrained import projected
from poinsot.mechanism.loop_frames import Rows
from poinsot.parts import ClosedLoop, Effect, Element, Scene
from poinsot.parts.closed_loop import NUMBERS


def loops_of(elements: Iterable[tuple[str, Element]]) -> dict[str, ClosedLoop]:
    """The loops among elements, by name."""
    return {name: e for name, e in elements if isinstance(e, ClosedLoop)}


def closures_of(elements: Mapping[str, Element], held: Mapping[str, Array] | None = None) -> list[Closure]:
    """The loops among elements as closures; held: 1 or 0 for those that may part."""
    loops = loops_of(elements.items())
    return [loop.closure((held or {}).get(name, 1.0)) for name, loop in loops.items()]


def assembled_start(mech: Mechanism, closures: Sequence[Closure], q: Array, v: Array) -> tuple[Array, Array]:
    """q and v nearby in which all loops are closed; for numbers that are not known yet, if there are such."""
    if is_traced(q, v) or mech.is_traced() or any(map(_is_open, closures)):
        q = nearest(mech, closures, q)
    else:
        q = assembled(mech, closures, q)
    return projected(mech, closures, q, v)[:2]


def _is_open(closure: Closure) -> bool:
    """Whether a number of a closure is left free."""
    numbers = [getattr(closure.relation, name, 0.0) for name in (*NUMBERS, "axes")]
    placements = [x for X in (closure.placement_a, closure.placement_b) for x in (X.R, X.p)]
    return is_traced(*numbers, *placements)


def gathered(mech: Mechanism, effect: Effect, wrenches: dict[str, Array], tau: Array) -> Array:
    """tau (nv,) with the joint forces of an effect; its wrenches are added to those by body."""
    for body, F in effect.wrenches.items():
        wrenches[body] = wrenches[body] + F if body in wrenches else F
    for joint, tau_J in effect.joint_forces.items():
        sv = mech.v_slices[mech.index(joint)]
        tau = np.concatenate([tau[: sv.start], tau[sv] + tau_J, tau[sv.stop :]])
    return tau


def closing(
    loops: Iterable[str],
    scene: Scene,
    effects: dict[str, Effect],
    wrenches: dict[str, Array],
    tau: Array,
    f: Array,
    rows: Rows,
) -> Array:
    """Enter the closing forces f (m,) of the rows of all loops among effects and wrenches; tau (nv,) with them."""
    start = 0
    for name, loop in loops_of((name, scene.elements[name]) for name in loops).items():
        end = start + count_of(loop.relation)
        effects[name] = loop.closing_effect(scene, f[start:end], rows.part(start, end))
        start, tau = end, gathered(scene.mechanism, effects[name], wrenches, tau)
    return tau
