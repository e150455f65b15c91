"""Crowds: the free bodies of a world that are stepped in loops, and the rest of it, which is a small world of its own.

A free body belongs to the crowd if nothing acts on it but weight, contacts in lists, and elements that act on bodies
one by one and alike (`Element.one_by_one`), and no other element looks at it. All others, the elements that act on
them, and trees with their joints are the rest, which is written out.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from poinsot._memo import memo, set_known
from poinsot._types import Array
from poinsot.environment import Ground, Terrain, TouchList
from poinsot.fuse import is_traced
from poinsot.fuse.graph.nodes import Graph
from poinsot.fuse.trace.function_graph import trace
from poinsot.fuse.trace.purity import same_graph
from poinsot.mechanism.model import coordinates
from poinsot.parts import Effect, Element, Scene
from poinsot.run.general_steps import switches, with_own_mass
from poinsot.spatial import Pose
from poinsot.world import State, System
from poinsot.world.description import Description, own_states
from poinsot.world.paths import owner_of
from poinsot.world.system import system_of

LEAST = 16  # bodies in loops, from which on these pay


@dataclass(frozen=True, eq=False)
class Crowd:
    """The names of the bodies in loops, and the rest of the world; None if there is no other body."""

    system: System
    names: tuple[str, ...]
    rest: System | None

    @cached_property
    def at(self) -> tuple[Array, Array]:
        """Where the q and v of each body begin in a flat state, (n,)."""
        s, links = self.system, [self.system.mechanism.index(name) for name in self.names]
        q, v = ([slices[k].start for k in links] for slices in (s.mechanism.q_slices, s.mechanism.v_slices))
        return np.array(q), s.nq + np.array(v)

    @cached_property
    def at_rest(self) -> tuple[Array, Array, Array]:
        """Where the q, v and states of parts of the rest are in a flat state."""
        s, rest = self.system, self.rest
        if rest is None:
            return np.zeros(0, int), np.zeros(0, int), np.zeros(0, int)
        links, flat = [s.mechanism.index(link.name) for link in rest.mechanism.links], np.arange(s.nq + s.nv + s.ns)
        parts = s.named_states(flat[s.nq + s.nv :])
        q, v = ([flat[slices[k]] for k in links] for slices in (s.mechanism.q_slices, s.mechanism.v_slices))
        states = [np.ravel(parts[name]) for name in rest.states]
        return np.concatenate(q), s.nq + np.concatenate(v), np.concatenate([np.zeros(0, int), *states])

    def rest_of(self, y: Array) -> State:
        """The state of the rest, from a flat one."""
        q, v, parts = self.at_rest
        return State(y[q], y[v], y[parts])

    @cached_property
    def one_by_one(self) -> dict[str, Array]:
        """The elements that act on bodies one by one, and the number (n,) of each body in loops among theirs, or -1."""
        acting = {k: e for k, e in self.system.description.elements.items() if e.one_by_one() is not None}
        numbers = {k: {body: i for i, body in enumerate(e.bodies())} for k, e in acting.items()}
        return {k: np.array([of.get(name, -1) for name in self.names]) for k, of in numbers.items()}

    @cached_property
    def in_lists(self) -> tuple[str, ...]:
        """The bodies of the rest that lists touch."""
        lists = [e for e in self.system.description.elements.values() if isinstance(e, TouchList)]
        return tuple(dict.fromkeys(name for e in lists for name in e.bodies() if name not in self._known))

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.names)


@memo
def crowd_of(system: System) -> Crowd | None:
    """The crowd of a world with contacts in lists; None if there are few bodies in it, or if something switches."""
    description, elements = system.description, dict(system.description.acting())
    if not any(isinstance(e, TouchList) for e in elements.values()) or isinstance(description.gravity, Element):
        return None
    if switches(system) or with_own_mass(system) or system.cornered:
        return None
    mech = system.mechanism
    carrying = {link.parent for link in mech.links}
    free = [link.name for link, parent in zip(mech.links, mech.parents, strict=True) if _is_alone(link, parent)]
    alone = [name for name in free if name not in carrying]
    if len(alone) < LEAST or (effects := _effects(system, system)) is None:
        return None
    found = _involved(system, effects)
    names = tuple(name for name in alone if name not in found)
    if len(names) == len(mech.links) and _acting(system):
        names = names[1:]  # elements that only exchange signals go on in the rest, and a world has a body
    rest = _rest(system, names, effects) if len(names) >= LEAST else None
    return Crowd(system, names, rest.world) if rest is not None else None


def _is_alone(link: Any, parent: int) -> bool:
    """Whether a link is a free body in the frame of the world, without motor or spring."""
    joint, X = link.joint, link.placement
    resists = any(is_traced(x) or np.any(x) for x in (joint.armature, joint.stiffness, joint.damping, joint.friction))
    placed = is_traced(X.p) or is_traced(X.R) or np.any(X.p) or np.any(np.eye(3) != X.R)
    return parent < 0 and joint.type.is_free and link.inertia is not None and not resists and not placed


class _Rest(NamedTuple):
    """The world without the bodies of a crowd, and without lists; None if nothing is left of it."""

    world: System | None


def _rest(system: System, names: tuple[str, ...], effects: Graph) -> _Rest | None:
    """The rest of a world without these bodies; None if its elements have other effects there than in the whole, as
    those have that count bodies, or look up the mass of one."""
    d, mine = system.description, set(names)
    if len(mine) == len(d.bodies):
        return _Rest(None)
    elements = {name: _left(e, mine) for name, e in without_lists(d).elements.items()}
    bodies = {name: body for name, body in d.bodies.items() if name not in mine}
    rest = replace(d, bodies=bodies, elements={name: e for name, e in elements.items() if e is not None})
    owners = {id(owner) for owner in (d, *rest.bodies.values(), *rest.elements.values())}
    free = tuple(path for path in system.free if id(owner_of(d, path)) in owners)
    try:
        world = system_of(rest, free)
    except Exception:  # whatever a user's function raises where a body is missing
        return None
    there = _effects(world, system)
    return _Rest(world) if there is not None and same_graph(there, effects) else None


def _left(element: Element, mine: Container[str]) -> Element | None:
    """What is left of an element without some bodies, if it acts on bodies one by one; else the whole of it."""
    if element.one_by_one() is None:
        return element
    own = [body for body in element.bodies() if body not in mine]
    return element.only(own) if own else None


def without_lists(d: Description) -> Description:
    """A description without its lists of contacts."""
    return replace(d, elements={name: e for name, e in d.elements.items() if not isinstance(e, TouchList)})


def _involved(system: System, effects: Graph) -> set[str]:
    """The names of the bodies that elements other than lists act on, or on whose numbers their effects depend."""
    acting, mech = _acting(system), system.mechanism
    own = {name: own_states(system.states, name) for name in acting}
    heavy = {body for name, e in acting.items() for body in (*e.inertias(own[name]), *e.decoupled())}
    found = heavy | {body for e in acting.values() for body in (*e.bodies(), *e.joints())}
    owners = [""] + [name for letter in "qv" for name, _ in coordinates(mech, letter)]
    owners += [link.name for size in (9, 3, 6) for link in mech.links for _ in range(size)]
    live = set(effects.live())
    return found | {name for name, param in zip(owners, effects.params, strict=False) if name and param in live}


def _acting(system: System) -> dict[str, Element]:
    """The elements that have effects of their own, but for lists and those that act on bodies one by one."""
    plain = without_lists(system.description).elements
    return {k: e for k, e in plain.items() if not isinstance(e, (Ground, Terrain)) and e.one_by_one() is None}


def _effects(there: System, whole: System) -> Graph | None:
    """The effects of elements in a world, the whole one or the rest, as a function of the time, of q and v, of the
    attitudes, places and twists of all bodies of the whole, and of the states of parts; None if they cannot be traced.

    They cannot where an element looks at the entries of all of q and v: in the rest, these have other places.
    """
    mech, plain, acting = whole.mechanism, without_lists(there.description).elements, _acting(there)
    states = {name: value for name, value in whole.states.items() if name.rpartition(".")[0] in plain}
    shapes = {name: body.inertia for name, body in there.description.bodies.items()}
    names = [link.name for link in there.mechanism.links]
    links = [mech.index(name) for name in names]
    at = {name: (mech.q_slices[k], mech.v_slices[k]) for name, k in zip(names, links, strict=True)}

    def effects(t: Array, q: Array, v: Array, R: Array, p: Array, V: Array, *parts: Array) -> list[Array]:
        named = dict(zip(states, parts, strict=True))
        scene = Scene(there.mechanism, t, None, None, there.inputs, named, plain, None, shapes)  # type: ignore[arg-type]
        set_known(scene, "joint", lambda name: (q[at[name][0]], v[at[name][1]]))
        set_known(scene, "poses", [Pose.unchecked(R[k], p[k]) for k in links])
        set_known(scene, "twists", [V[k] for k in links])
        return [np.asarray(x) for name in acting for x in _numbers(scene.effect(name))]

    n = len(mech)
    sizes = [(), (mech.nq,), (mech.nv,), (n, 3, 3), (n, 3), (n, 6), *map(np.shape, states.values())]
    try:
        return trace(effects, sizes, "effects")[0]
    except Exception:  # whatever a user's function raises on numbers that are not known yet, or without lists
        return None


def _numbers(effect: Effect) -> list[Any]:
    """All numbers of an effect; an error if some follow from the accelerations."""
    maps: list[Mapping[str, Any]] = [effect.wrenches, effect.joint_forces, effect.rates, effect.shown, effect.carried]
    maps += [effect.outside or {}, effect.shares]
    found = [x for of in maps for x in of.values()]
    found += [x for x in (effect.stored, effect.power, effect.mass) if x is not None]
    if any(map(callable, found)):
        raise TypeError("these follow from the accelerations")
    return found
