"""The implicit step of heaps: many free bodies that touch by lists, in loops over bodies and contacts.

It is the step of `run.implicit_steps`, in world axes: the same forces, the same equations, solved by conjugate
gradients (`mechanism.free_bodies`). Nothing in it is written out body by body, so that its code and the time to compile
it do not grow with their number, and the time of a step is nearly proportional to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.contact.body_frames import BodyFrames
from poinsot.contact.listed_contacts import ListedContacts, SpringMemory
from poinsot.environment import Ground, Terrain, TouchList
from poinsot.fuse import fori_loop, in_memory, is_traced
from poinsot.mechanism.free_bodies import FreeBodies, Resistances, solved
from poinsot.parts.scene import Scene
from poinsot.run.general_steps import switches, with_own_mass
from poinsot.run.step_context import LedgerState, Step, StepContext
from poinsot.world import State, System

LEAST = 16  # bodies, from which on loops pay


def is_heap(system: System) -> bool:
    """Whether a world is many free bodies on which nothing acts but weight and contacts in lists."""
    mech, elements = system.mechanism, dict(system.description.acting())
    return (
        len(mech) >= LEAST
        and any(isinstance(e, TouchList) for e in elements.values())
        and all(isinstance(e, (TouchList, Ground, Terrain)) for e in elements.values())
        and all(_is_alone(link, parent) for link, parent in zip(mech.links, mech.parents, strict=True))
        and not switches(system)
        and not with_own_mass(system)
    )


def _is_alone(link: Any, parent: int) -> bool:
    """Whether a link is a free body in the frame of the world, without motor or spring."""
    joint, X = link.joint, link.placement
    resists = any(is_traced(x) or np.any(x) for x in (joint.armature, joint.stiffness, joint.damping, joint.friction))
    placed = is_traced(X.p) or is_traced(X.R) or np.any(X.p) or np.any(X.R != np.eye(3))
    return parent < 0 and joint.type.is_free and link.inertia is not None and not resists and not placed


@dataclass(frozen=True, eq=False)
class Heap:
    """A heap at an instant, and the contacts of its lists within a step, by name."""

    scene: Scene
    bodies: FreeBodies
    lists: Mapping[str, tuple[TouchList, ListedContacts]]

    @classmethod
    def of(cls, context: StepContext, t: Scalar, state: State, h: Scalar) -> "Heap":
        scene = context.scene(t, state)
        about = state.q[4:7]
        bodies = FreeBodies.of(scene.mechanism, state.q, state.v, about)
        names = tuple(link.name for link in scene.mechanism.links)
        frames = BodyFrames(names, about, bodies.R, bodies.origins(), bodies.about_one(bodies.V))
        elements = {name: e for name, e in scene.elements.items() if isinstance(e, TouchList)}
        return cls(scene, bodies, {name: (e, e.contacts(scene, frames, h)) for name, e in elements.items()})

    def spin(self, k: Any) -> Array:
        """omega x I omega (3,) [N m] of body k."""
        w = self.bodies.V[k, :3]
        return np.cross(w, self.bodies.I[k] @ w)

    def accelerations(self, h: Scalar, iterations: int) -> tuple[Array, Array]:
        """Those (n, 6) of the centres of mass over a step h, and the guess about which forces were linearised."""
        n = len(self.bodies)
        fault: Any = sum((c.fault for _, c in self.lists.values()), np.zeros(()))

        def iterate(_: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
            guess = self.bodies.about_one(carry[0])
            own, F, between = in_memory(np.zeros((n + 1, 6, 6))), in_memory(np.zeros((n + 1, 6))), []
            for element, contacts in self.lists.values():
                resistances, own, F = _linearised(element, contacts, h, guess, own, F)
                between.append(resistances)
            a, unsolved = solved(self.bodies, between, own, self._loads(F, fault), carry[0])

            def spoil(k: Any, a: Array) -> Array:
                a[k] = a[k] + unsolved
                return a

            return fori_loop(n, spoil, a), carry[0]

        start = in_memory(np.zeros((n, 6)))
        now, before = fori_loop(iterations, iterate, (start, start))
        return now, before

    def _loads(self, F: Array, fault: Any) -> Array:
        """What accelerates the bodies (n, 6): wrenches F (n + 1, 6) about one point, weight, and their own spin."""

        def load(k: Any, b: Array) -> Array:
            weight = np.asarray(self.bodies.mass)[k] * self.scene.mechanism.gravity
            b[k] = self.bodies.at_centre(F[k], k) + np.concatenate([-self.spin(k), weight]) + fault
            return b

        b: Array = fori_loop(len(self.bodies), load, in_memory(np.empty((len(self.bodies), 6))))
        return b


def _linearised(
    element: TouchList, contacts: ListedContacts, h: Scalar, guess: Array, own: Array, F: Array
) -> tuple[Resistances, Array, Array]:
    """The contacts of a list as resistances; with the sums of these for each body (n + 1, 6, 6), and of the forces
    (n + 1, 6), all about one point."""

    def pair(k: Any) -> tuple[Any, Any]:
        number = contacts.found.pair[k]
        return np.asarray(contacts.first)[number], np.asarray(contacts.second)[number]

    def add(k: Any, sums: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        K, own, F = sums
        row, B, (i, j) = contacts.row(element.law, h, k, guess), contacts.basis(k), pair(k)
        K_k, f = B.T @ (h * row.K) @ B, row.f @ B
        K[k] = K_k
        own[i], F[i] = own[i] + K_k, F[i] + f
        own[j], F[j] = own[j] + K_k, F[j] - f
        return K, own, F

    m = contacts.most
    K, own, F = fori_loop(contacts.count, add, (in_memory(np.empty((m, 6, 6))), own, F), most=m)
    return Resistances(contacts.count, m, K, pair), own, F


def heap_step(context: StepContext, iterations: int) -> Step:
    """The step of a heap."""

    def step(t: Scalar, y: LedgerState, h: Scalar) -> LedgerState:
        heap = Heap.of(context, t, y.state, h)
        a, guess = heap.accelerations(h, iterations)
        bodies, n = heap.bodies, len(heap.bodies)

        def onward(k: Any, V: Array) -> Array:
            V[k] = bodies.V[k] + h * a[k]
            return V

        V = fori_loop(n, onward, in_memory(np.empty((n, 6))))
        q, v = bodies.moved(y.state.q, V, h)
        end, about = bodies.about_one(a), bodies.about_one(guess)
        did = {name: e.outcome(contacts, h, end, about)[0] for name, (e, contacts) in heap.lists.items()}
        parts = _packed(context.system, {name: outcome.memory for name, outcome in did.items()})
        return LedgerState(State(q, v, parts), y.inflow)

    return step


def _packed(system: System, memories: Mapping[str, SpringMemory]) -> Array:
    """The states of lists (ns,), from what they remember."""
    parts, start = in_memory(np.empty(system.ns)), 0
    for name, value in system.states.items():
        owner, _, key = name.rpartition(".")
        new = {"touching": memories[owner].patch, "stretch": memories[owner].stretch, "turn": memories[owner].turn}[key]
        width = np.size(value) // len(value)

        def enter(k: Any, parts: Array, new: Any = new, start: int = start, width: int = width) -> Array:
            for j, x in enumerate(new[k] if width > 1 else [new[k]]):
                parts[start + width * k + j] = x
            return parts

        parts, start = fori_loop(len(value), enter, parts), start + np.size(value)
    return parts
