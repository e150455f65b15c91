"""Heaps: many free bodies that touch by lists, and the accelerations of all over an implicit step.

The equations are those of `run.implicit_steps`, in world axes, solved by conjugate gradients (`mechanism.free_bodies`).
Nothing is written out body by body, so that the code and the time to compile it do not grow with their number, and the
time of a step is nearly proportional to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.contact.body_frames import BodyFrames
from poinsot.contact.listed_contacts import ListedContacts
from poinsot.environment import Ground, Terrain, TouchList
from poinsot.fuse import fori_loop, in_memory, is_traced
from poinsot.mechanism.conjugate_gradients import CLOSE
from poinsot.mechanism.free_bodies import BodyArrays, JoinedBodies, by_body
from poinsot.parts.scene import Scene
from poinsot.run.general_steps import switches, with_own_mass
from poinsot.run.step_context import StepContext
from poinsot.world import State, System

LEAST = 16  # bodies, from which on loops pay
GUESSED = 1e-5  # how closely accelerations are found that only say where forces are linearised, as `CLOSE`


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
    placed = is_traced(X.p) or is_traced(X.R) or np.any(X.p) or np.any(np.eye(3) != X.R)
    return parent < 0 and joint.type.is_free and link.inertia is not None and not resists and not placed


@dataclass(frozen=True, eq=False)
class Heap:
    """A heap at an instant, and the contacts of its lists within a step, by name."""

    scene: Scene
    bodies: BodyArrays
    lists: Mapping[str, tuple[TouchList, ListedContacts]]

    @classmethod
    def of(cls, context: StepContext, t: Scalar, y: Array, h: Scalar) -> "Heap":
        """The heap in a flat state y, which begins with q, v and the states of parts."""
        s = context.system
        q, v, parts, _ = np.split(y, np.cumsum([s.nq, s.nv, s.ns]))
        scene, about = context.scene(t, State(q, v, parts)), y[4:7]
        bodies = BodyArrays.of(scene.mechanism, y, about)
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

        def iterate(i: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
            guess = self.bodies.about_one(carry[0])
            own, F, between = in_memory(np.zeros((n + 1, 6, 6))), in_memory(np.zeros((n + 1, 6))), []
            for element, contacts in self.lists.values():
                resistances, own, F = contacts.resistances(element.law, h, guess, own, F)
                between.append(resistances)
            joined = JoinedBodies.of(self.bodies, between, own)
            close = np.where(i < iterations - 1, GUESSED, CLOSE)
            a, unsolved = joined.solve(self._loads(F, fault), carry[0], close)
            return by_body(n, lambda k: a[k] + unsolved), carry[0]

        start = in_memory(np.zeros((n, 6)))
        now, before = fori_loop(iterations, iterate, (start, start))
        return now, before

    def _loads(self, F: Array, fault: Any) -> Array:
        """The loads of the bodies (n, 6): wrenches F (n + 1, 6) about one point, weight, and their own spin."""

        def load(k: Any) -> Array:
            weight = np.asarray(self.bodies.mass)[k] * self.scene.mechanism.gravity
            return self.bodies.at_centre(F[k], k) + np.concatenate([-self.spin(k), weight]) + fault

        return by_body(len(self.bodies), load)
