"""The quantities of heaps for every record, without writing out their bodies.

What is asked of one body is one function, for the bodies in loops evaluated like a ufunc over records and bodies; what
lists do and hold follows from loops. Only the rest of the world (`run.crowds`) is written out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array, Scalar
from poinsot.environment import TouchList
from poinsot.fuse import Kernel, in_memory
from poinsot.mechanism import kinematics
from poinsot.parts.scene import BodyState, Scene
from poinsot.run.compiled import CompiledSystem
from poinsot.run.crowds import Crowd, crowd_of
from poinsot.run.few_looks import few_looks
from poinsot.run.heaps import Heap, rest_context
from poinsot.run.measuring import CONSERVED, OF_BODY, Measuring, joined, measuring_in, parted
from poinsot.spatial import Inertia, Pose, quaternion
from poinsot.world import State

OfBody: TypeAlias = Callable[[BodyState], Array]
OfScene: TypeAlias = Callable[[Scene], Array]
NUMBERS = 13  # of the mass, the centre of mass and the moment of inertia of a body


@dataclass(frozen=True, eq=False)
class CrowdRecords:
    """Functions of records of a heap, time (r,), y (r, ..., ny) and p (..., np) or (r, ..., np)."""

    compiled: CompiledSystem
    crowd: Crowd

    # What is asked of each body.

    @memo
    def of_bodies(self, of: tuple[OfBody, ...], name: str) -> Measuring:
        """These quantities of all bodies, (r, ..., b, *shape) each, in the order of the bodies of the world."""
        alone, rest = self._of_one(of, name), self._of_rest_bodies(of, name)
        places, others = self._places

        def measured(time: Array, y: Array, p: Array) -> tuple[Array, ...]:
            found = () if rest is None else rest(time, y, p)
            filled = []
            for k, own in enumerate(alone(y, p)):
                whole = np.empty((*y.shape[:-1], len(places) + len(others), *own.shape[y.ndim :]))
                rows = np.moveaxis(whole, y.ndim - 1, 0)  # a view
                rows[places] = np.moveaxis(own, y.ndim - 1, 0)
                if found:
                    rows[others] = np.moveaxis(found[k], y.ndim - 1, 0)
                filled.append(whole)
            return tuple(filled)

        return measured

    @cached_property
    def _places(self) -> tuple[Array, Array]:
        """The numbers of the bodies in loops, and of those of the rest, among all bodies."""
        mech, rest = self.compiled.system.mechanism, self.crowd.rest
        others = [] if rest is None else [link.name for link in rest.mechanism.links]
        mine, theirs = (np.array([mech.index(k) for k in names], int) for names in (self.crowd.names, others))
        return mine, theirs

    @memo
    def _of_one(self, of: tuple[OfBody, ...], name: str) -> Callable[[Array, Array], list[Array]]:
        """The same of the bodies in loops, from a function of one of them: a kernel over records and bodies."""
        shapes: list[tuple[int, ...]] = []

        def function(numbers: Array, y: Array, p: Array) -> Array:
            q, v = np.concatenate([quaternion.normalize(y[:4]), y[4:7]]), y[7:]
            inertia = Inertia(numbers[0], numbers[1:4], np.reshape(numbers[4:], (3, 3)), check="never")
            body = BodyState(Pose.unchecked(quaternion.to_matrix(q[:4]), q[4:]), v, inertia)
            return joined([quantity(body) for quantity in of], shapes)

        text = f"({NUMBERS}),(13),(1)->(n)"
        kernel = self.compiled.compile(function, text, name=f"of one body: {name}", plain=True, found=shapes)
        evaluated = few_looks(kernel)
        at = [np.add.outer(start, np.arange(size)) for start, size in zip(self.crowd.at, (7, 6), strict=True)]

        def measured(y: Array, p: Array) -> list[Array]:
            state = np.concatenate([y[..., at[0]], y[..., at[1]]], axis=-1)
            with np.errstate(all="ignore"):
                values = np.asarray(evaluated(self._inertias(p), state, np.zeros(1)))
            return parted(values, shapes)

        return measured

    def _inertias(self, p: Array) -> Array:
        """The numbers of the inertias of the bodies in loops, (n, 13), or (..., n, 13) where some are left free."""
        if not self.compiled.system.free:
            return self._known_inertias
        flat = np.asarray(self._free_inertias(p))
        return flat.reshape(*flat.shape[:-1], -1, NUMBERS)

    @cached_property
    def _known_inertias(self) -> Array:
        return self._inertias_with({})

    @cached_property
    def _free_inertias(self) -> Any:
        def function(p: Array) -> Array:
            return np.ravel(self._inertias_with(self.compiled.context(p).parameters))

        return self.compiled.compile(function, f"({self.compiled.np})->(n)", name="inertias in loops", plain=True)

    def _inertias_with(self, numbers: Mapping[str, Array]) -> Array:
        bodies = self.compiled.system.described(numbers).bodies
        own = [inertia for name in self.crowd.names if (inertia := bodies[name].inertia) is not None]
        rows = [np.concatenate([np.reshape(i.mass, (1,)), i.com, np.ravel(i.moment)]) for i in own]
        return np.stack([1.0 * row for row in rows])

    # The rest of the world.

    def _of_rest_bodies(self, of: Sequence[OfBody], name: str) -> Measuring | None:
        if self.crowd.rest is None:
            return None

        def each(quantity: OfBody) -> OfScene:
            return lambda scene: np.stack([quantity(scene[k]) for k in scene.bodies])

        return self.of_rest(tuple(each(quantity) for quantity in of), f"of bodies: {name}")

    @memo
    def of_rest(self, of: tuple[OfScene, ...], name: str) -> Measuring:
        """What is asked of the scene of the rest."""

        def scene(p: Array, t: Scalar, state: State) -> Scene:
            context = rest_context(self.compiled.context(p))
            assert context is not None
            return context.scene(t, self.crowd.rest_of(np.concatenate([state.q, state.v, state.parts])))

        return measuring_in(self.compiled, scene, of, f"of the rest: {name}")

    # What lists do, and sums over all bodies.

    @cached_property
    def _shown(self) -> Any:
        def function(t: Scalar, y: Array, p: Array) -> Array:
            heap = Heap.of(self.compiled.context(p), t, in_memory(y), 0.0)
            shown = {name: e.shown_now(contacts) for name, (e, contacts) in heap.lists.items()}
            return np.stack([np.asarray(shown[name][key]) for name in self.lists for key in TouchList.shows])

        c = self.compiled
        text = f"(),({c.n_state}),({c.np})->({len(self.lists) * len(TouchList.shows)})"
        return c.compile(function, text, name="shown by lists")

    @cached_property
    def lists(self) -> list[str]:
        """The names of the lists."""
        return [name for name, e in self.compiled.system.description.elements.items() if isinstance(e, TouchList)]

    def shown(self, time: Array, y: Array, p: Array) -> dict[str, Array]:
        """What lists show, (r, ...), by "list.quantity"."""
        t = np.reshape(time, (-1,) + (1,) * (y.ndim - 2))
        with np.errstate(all="ignore"):
            values = np.asarray(self._shown(t, y[..., : self.compiled.n_state], p))
        names = [f"{name}.{key}" for name in self.lists for key in TouchList.shows]
        return {name: values[..., k] for k, name in enumerate(names)}

    @memo
    def places(self, name: str) -> Measuring:
        """The contacts of a list, as `TouchList.places`."""

        def places(heap: Heap) -> tuple[Array, ...]:
            element, contacts = heap.lists[name]
            return element.places_of(contacts, heap.bodies.about)

        of = tuple(partial(lambda k, heap: places(heap)[k], k) for k in range(5))
        return measuring_in(self.compiled, self._heap, of, f"listed in loops: {name}", 0)

    def _heap(self, p: Array, t: Scalar, state: State) -> Heap:
        y = np.concatenate([state.q, state.v, state.parts])
        return Heap.of(self.compiled.context(p), t, in_memory(y), 0.0)

    @memo
    def input(self, name: str) -> Measuring:
        """An input of the world."""

        def value(heap: Heap) -> Array:
            return heap.scene.input(name)

        return measuring_in(self.compiled, self._heap, (value,), f"input in loops: {name}")

    def wrenches(self) -> tuple[tuple[str, str], ...]:
        """The elements and bodies of all wrenches."""
        rest, elements = self.crowd.rest, self.compiled.system.description.acting()
        theirs = {} if rest is None else {k: tuple(e.wrenches) for k, e in rest.first_motion().effects.items()}
        mine = {k: e.bodies() for k, e in elements if k in self.lists or k in self.crowd.one_by_one}
        return tuple((k, body) for k, bodies in (theirs | mine).items() for body in bodies)

    def kinetic_energy(self, time: Array, y: Array, p: Array) -> Array:
        """T [J] (r, ...) of all bodies."""
        each = self._of_one((_kinetic_of_one,), "kinetic energy")(y, p)[0]
        total = np.cumsum(each, axis=-1)[..., -1]  # one after the other, however many records there are
        if self.crowd.rest is not None:
            total = total + self.of_rest((_kinetic,), "kinetic energy")(time, y, p)[0]
        return np.asarray(total)

    def coordinates(self, time: Array, y: Array, p: Array) -> Array:
        """q (r, ..., nq), with quaternions of length 1."""
        q = y[..., : self.compiled.system.nq].copy()
        at = np.add.outer(self.crowd.at[0], np.arange(4))
        q[..., at] = self._normalize(q[..., at])
        if self.crowd.rest is not None:
            q[..., self.crowd.at_rest[0]] = self.of_rest((_coordinates,), "q")(time, y, p)[0]
        return q

    @cached_property
    def _normalize(self) -> Any:
        kernel = self.compiled.compile(lambda q: quaternion.normalize(q), "(4)->(4)", name="unit", plain=True)
        return kernel.to("numpy") if isinstance(kernel, Kernel) else kernel

    def velocities(self, time: Array, y: Array, p: Array) -> Array:
        """v (r, ..., nv)."""
        s = self.compiled.system
        return y[..., s.nq : s.nq + s.nv]

    def states(self, names: Sequence[str], y: Array) -> dict[str, Array]:
        """Those of these quantities that are states of parts, (r, ..., *shape)."""
        s, found = self.compiled.system, {}
        start = s.nq + s.nv
        for name, value in s.states.items():
            if name in names:
                found[name] = y[..., start : start + np.size(value)].reshape(*y.shape[:-1], *np.shape(value))
            start += np.size(value)
        return found

    # All of it.

    def found(self, names: Sequence[str], time: Array, y: Array, p: Array) -> dict[str, Array]:
        """Those of these quantities that follow without writing out all bodies."""
        single = {"q": self.coordinates, "v": self.velocities, "kinetic_energy": self.kinetic_energy}
        found = self.states(names, y) | {name: single[name](time, y, p) for name in names if name in single}
        if of := [name for name in names if name in OF_BODY]:
            bodies = self.of_bodies(tuple(OF_BODY[name] for name in of), ", ".join(of))
            found |= zip(of, bodies(time, y, p), strict=True)
        if any(name in CONSERVED for name in names):
            amounts = self.compiled.conserved(np.reshape(time, (-1,) + (1,) * (y.ndim - 2)), y, p)[0]
            found |= {name: amounts[..., place] for name, place in CONSERVED.items()}
        shown = {f"{name}.{key}" for name in self.lists for key in TouchList.shows}
        if not shown.isdisjoint(names):
            found |= self.shown(time, y, p)
        if of := [name for name in names if name in self._theirs]:
            found |= zip(
                of, self.of_rest(tuple(self._theirs[name] for name in of), ", ".join(of))(time, y, p), strict=True
            )
        return {name: found[name] for name in names if name in found}

    @cached_property
    def _theirs(self) -> dict[str, OfScene]:
        """What elements of the rest show, by "element.quantity"."""
        if self.crowd.rest is None:
            return {}
        effects = self.crowd.rest.first_motion().effects.items()
        return {f"{name}.{key}": _shown_in(name, key) for name, e in effects for key in e.shown}


def _shown_in(element: str, key: str) -> OfScene:
    return lambda scene: scene.effect(element).shown[key]


def _kinetic_of_one(body: BodyState) -> Array:
    return body.kinetic_energy


def _coordinates(scene: Scene) -> Array:
    return scene.q


def _kinetic(scene: Scene) -> Array:
    return kinematics.kinetic_energy(scene.mechanism, scene.q, scene.v)


@memo
def crowd_records(compiled: CompiledSystem) -> CrowdRecords | None:
    """Those of a heap; None of other worlds."""
    crowd = crowd_of(compiled.system)
    return None if crowd is None else CrowdRecords(compiled, crowd)
