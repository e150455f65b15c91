"""Heaps: many free bodies and a few others that touch by lists, and the accelerations of all over an implicit step.

The equations are those of `run.implicit_steps`, solved by conjugate gradients (`mechanism.stiff_joined`). Free bodies
are in world axes, by number, and nothing about them is written out body by body: the code of a step and the time to
compile it do not grow with their number, and the time of a step is nearly proportional to it. The rest of the world,
trees and what elements act on (`run.crowds`), is written out as in other worlds (`run.stiff_steps`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.contact.body_frames import BodyFrames
from poinsot.contact.listed_contacts import ListedContacts, ListOutcome
from poinsot.environment import TouchList
from poinsot.environment.listed_bodies import frames_of, joined_links, on_body
from poinsot.fuse import fori_loop, in_memory
from poinsot.mechanism.block_vectors import Blocks, by_body
from poinsot.mechanism.conjugate_gradients import CLOSE
from poinsot.mechanism.free_bodies import BodyArrays, FreePart, row
from poinsot.mechanism.stiff import Added
from poinsot.mechanism.stiff_joined import JoinedLinks, Part, TreePart, joined_accelerations
from poinsot.mechanism.stiff_rows import accelerations
from poinsot.parts.scene import BodyState, Scene
from poinsot.run.crowds import Crowd, crowd_of
from poinsot.run.step_context import StepContext
from poinsot.run.stiff_steps import StiffStep
from poinsot.world import Motion, System

GUESSED = 1e-5  # how closely accelerations are found that only say where forces are linearised, as `CLOSE`


def is_heap(system: System) -> bool:
    """Whether many bodies of a world are stepped in loops."""
    return crowd_of(system) is not None


def rest_context(context: StepContext) -> StepContext | None:
    """The context of the step of the rest; None if there is no rest."""
    crowd = crowd_of(context.system)
    if crowd is None or crowd.rest is None:
        return None
    numbers = {path: context.parameters[path] for path in crowd.rest.free}
    return replace(context, system=crowd.rest, parameters=numbers, inflow_indices=np.zeros(0, int))


@dataclass(frozen=True, eq=False)
class Heap:
    """A heap at an instant, and the contacts of its lists within a step, by name.

    scene: what lists see. rest: the scene of the rest, None without one; links: those of its bodies that lists touch.
    """

    crowd: Crowd
    scene: Scene
    gravity: Array
    bodies: BodyArrays
    rest: Scene | None
    links: JoinedLinks
    lists: Mapping[str, tuple[TouchList, ListedContacts]]

    @classmethod
    def of(cls, context: StepContext, t: Scalar, y: Array, h: Scalar) -> "Heap":
        """The heap's part of a flat state y, which begins with q, v and the states of parts."""
        s, crowd, others = context.system, crowd_of(context.system), rest_context(context)
        assert crowd is not None
        q, v, parts, _ = np.split(y, np.cumsum([s.nq, s.nv, s.ns]))
        d, states = s.described(context.parameters), s.named_states(parts)
        elements = dict(d.acting())
        inertias = [inertia for name in crowd.names if (inertia := d.bodies[name].inertia) is not None]
        about = row(y, crowd.at[0][0] + 4, 3)
        bodies = BodyArrays.of(inertias, y, crowd.at, about)
        rest = None if others is None else others.scene(t, crowd.rest_of(y))
        if rest is None:
            scene = Scene(s.mechanism, np.asarray(t), q, v, {**s.inputs, **context.inputs_at(t)}, states, elements)
        else:
            scene = replace(rest, elements=elements, states=states)
        links = JoinedLinks([], []) if rest is None else joined_links(rest, crowd.in_lists, about, len(bodies))
        frames = _frames(crowd, bodies, rest)
        lists = {k: (e, e.contacts(scene, frames, h)) for k, e in elements.items() if isinstance(e, TouchList)}
        return cls(crowd, scene, d.field, bodies, rest, links, lists)

    def __len__(self) -> int:
        """How many bodies lists may touch."""
        return len(self.bodies) + len(self.links.links)

    def spin(self, k: Any) -> Array:
        """omega x I omega (3,) [N m] of body k."""
        w = self.bodies.V[k, :3]
        return np.cross(w, self.bodies.I[k] @ w)

    @property
    def acting(self) -> list[str]:
        """The elements that act on free bodies one by one."""
        return [name for name, numbers in self.crowd.one_by_one.items() if np.any(numbers >= 0)]

    def own_wrench(self, name: str, k: Any) -> Array:
        """F_B (6,) on body k by an element that acts on bodies one by one."""
        of = self.scene.elements[name].one_by_one()
        assert of is not None
        number = np.asarray(self.crowd.one_by_one[name])[k]
        F: Array = np.where(number >= 0, of(self.scene, BodyState(*self.bodies.state(k)), np.maximum(number, 0)), 0.0)
        return F

    def on_rest(self, pushed: Mapping[str, Array], wrenches: Mapping[str, Array]) -> dict[str, Array]:
        """Wrenches (6,) on bodies of the rest, by name, with those (m + 1, 6) of lists on all bodies."""
        found = dict(wrenches)
        if self.rest is None:
            return found
        for F in pushed.values():
            for k, name in enumerate(self.crowd.in_lists, len(self.bodies)):
                on = on_body(self.rest, name, F[k], self.bodies.about)
                found[name] = found[name] + on if name in found else on
        return found

    def loads(self, F: Array) -> Array:
        """The loads on the free bodies (n, 6): wrenches F (m + 1, 6) about one point, weight, and their spin."""

        def load(k: Any) -> Array:
            weight = np.asarray(self.bodies.mass)[k] * self.gravity
            other = self.bodies.at_centre(F[k], k) + np.concatenate([-self.spin(k), weight])
            return sum((self.bodies.wrench_at_centre(self.own_wrench(name, k), k) for name in self.acting), other)

        return by_body(len(self.bodies), load)


def _frames(crowd: Crowd, bodies: BodyArrays, rest: Scene | None) -> BodyFrames:
    """Where the bodies are that lists may touch: those of the crowd, then those of the rest."""
    n, others = len(bodies), crowd.in_lists
    R, p = bodies.places(len(others))
    twists = bodies.about_one(bodies.V, in_memory(np.zeros((n + len(others) + 1, 6))))
    if rest is not None and others:
        there = frames_of(rest, others, bodies.about)
        for k in range(len(others)):
            R[n + k], p[n + k], twists[n + k] = there.R[k], there.p[k], there.twists[k]
    return BodyFrames((*crowd.names, *others), bodies.about, R, p, twists)


Guess: TypeAlias = tuple[Array, ...]
"""Accelerations of free bodies (n, 6); and if there is a rest, of its joints (nv,) and of those of its links (k, 6)
that are asked for."""


@dataclass(frozen=True, eq=False)
class HeapMotion:
    """A heap over a step: accelerations a (n, 6) of the centres of free bodies; by the name of each list, the outcome
    of its contacts, and their wrenches (m + 1, 6) on all bodies and the world, about one point; and the motion of the
    rest, with the accelerations (nv,) of `StiffTree.solve`."""

    a: Array
    outcomes: Mapping[str, ListOutcome]
    pushed: Mapping[str, Array]
    rest: Motion | None = None
    joints: Array | None = None


@dataclass(frozen=True, eq=False)
class HeapStep:
    """A heap over a step h [s]; rest: the rest of it, None without one."""

    heap: Heap
    h: Scalar
    rest: StiffStep | None

    @classmethod
    def of(cls, heap: Heap, h: Scalar) -> "HeapStep":
        """From an instant on."""
        crowd = heap.crowd
        if heap.rest is None or crowd.rest is None:
            return cls(heap, h, None)
        return cls(heap, h, StiffStep.of(crowd.rest, heap.rest, h, crowd.in_lists))

    def twists(self, guess: Guess) -> Array:
        """The accelerations (m + 1, 6) of all bodies that lists may touch, and the world, about one point."""
        heap = self.heap
        W = heap.bodies.about_one(guess[0], in_memory(np.zeros((len(heap) + 1, 6))))
        if self.rest is None:
            return W
        return heap.links.moving(dict(zip(self.rest.touched, guess[2], strict=True)), W)

    def motion(self, iterations: int) -> "HeapMotion":
        """The motion over the step."""
        heap, h, rest = self.heap, self.h, self.rest
        now, before, kept = self.accelerations(iterations)
        end, guess = self.twists(now), self.twists(before)
        outcomes = {name: e.outcome(contacts, h, end, guess)[0] for name, (e, contacts) in heap.lists.items()}
        pushed = {
            name: e.gathered(contacts, e.force_over(contacts, h, end, guess), len(heap))
            for name, (e, contacts) in heap.lists.items()
        }
        if rest is None:
            return HeapMotion(now[0], outcomes, pushed)
        ends, guesses = (now[2], now[1]), (before[2], before[1])
        rest = replace(rest, wrenches=heap.on_rest(pushed, rest.wrenches))
        motion = rest.booked(rest.later(ends), rest.used(ends, guesses, kept), rest.tau)
        return HeapMotion(now[0], outcomes, pushed, motion, now[1])

    def accelerations(self, iterations: int) -> tuple[Guess, Guess, dict[str, Array]]:
        """Those over the step, the guess about which forces were linearised, and what the laws of the rest keep."""
        heap, rest = self.heap, self.rest
        fault: Any = sum((c.fault for _, c in heap.lists.values()), np.zeros(()))

        def iterate(i: Any, carry: tuple[Guess, Guess, dict[str, Array]]) -> tuple[Guess, Guess, dict[str, Array]]:
            guess, _, kept = carry
            twists, between = self.twists(guess), []
            own, F = in_memory(np.zeros((len(heap) + 1, 6, 6))), in_memory(np.zeros((len(heap) + 1, 6)))
            for element, contacts in heap.lists.values():
                resistances, own, F = contacts.resistances(element.law, self.h, twists, own, F)
                between.append(resistances)
            parts: list[Part] = [FreePart.of(heap.bodies, heap.loads(F), own)]
            if rest is not None:
                stated = rest.stated((guess[2], guess[1]))
                kept = {name: resistance.kept for name, resistance in stated.items()}
                parts.append(TreePart.of(rest.tree, rest.forces(stated), heap.links, [own], [F]))
            close = np.where(i < iterations - 1, GUESSED, CLOSE)
            x, unsolved = joined_accelerations(parts, between, len(heap), guess[:2], close)
            return self._found(x, unsolved + fault), guess, kept

        start: Guess = (in_memory(np.zeros((len(heap.bodies), 6))),)
        if rest is not None:
            start += tuple(map(in_memory, reversed(rest.start)))
        now, before, kept = fori_loop(iterations, iterate, (start, start, {} if rest is None else rest.blank))
        return now, before, kept

    def _found(self, x: Blocks, fault: Any) -> Guess:
        """The accelerations, NaN if the fault is."""
        found: Guess = (by_body(len(x[0]), lambda k: x[0][k] + fault),)
        if self.rest is None:
            return found
        joints, tree = x[1] + fault, self.rest.tree
        return *found, joints, self.rest.touching(Added(tree, accelerations(tree, joints)))
