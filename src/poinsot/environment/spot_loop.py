"""Bodies that touch the ground in very many points: one loop over all points of all bodies.

Written out, a point takes some hundred operations, in the processor as in the text of a kernel. A loop has them once,
and leaves out the points that do not touch.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.contact.law import NUMBERS
from poinsot.contact.pressing import Pressed, resistance
from poinsot.environment.meeting import Meeting
from poinsot.environment.touch import Touch
from poinsot.fuse import Traced, fori_loop, when
from poinsot.fuse.plan.budget import budget
from poinsot.parts.element import Effect, Element
from poinsot.parts.resisting import Later, Resistance, Resisting, Used
from poinsot.parts.scene import Scene

OPERATIONS = 350  # of a point that touches the ground, written out
UPPER = np.triu_indices(6)
PLACE = np.zeros((6, 6), dtype=int)  # of the elements of a symmetric matrix (6, 6) in its upper triangle (21,)
PLACE[UPPER] = PLACE.T[UPPER] = np.arange(len(UPPER[0]))


def looped(elements: Iterable[Element]) -> list[Touch]:
    """The touches that are taken in one loop: none, unless all of them are too long to be written out."""
    of_bodies: dict[str, Touch] = {}
    for element in elements:
        if type(element) is Touch and not element.turning:
            of_bodies.setdefault(element.body, element)
    touches = list(of_bodies.values())
    return touches if OPERATIONS * sum(touch.count for touch in touches) > budget().straight_line else []


def resisting_together(touches: Sequence[Touch], scene: Scene, h: Scalar) -> Resisting:
    """The action of touches of different bodies over a step h [s] from a scene."""
    spots = SpotLoop.of(touches, scene, h)
    return Resisting(spots.resistance, spots.taken, len(spots.owner))


@dataclass(frozen=True, eq=False)
class SpotLoop:
    """The m points where bodies may touch the ground, over a step h [s] from a scene; each is a patch of its own.

    By point: `owner`, the number of its meeting; points (m, 3) [m] in the axes of its body, depths (m,) [m], and
    stretches (m, 3) [m] as they are remembered, in world axes; `normal_of` and `belt_of`, the numbers of its normal and
    of the velocity [m/s] of the ground, each of which is there once. By meeting: attitudes (3, 3), twists (6,) at the
    start, and laws, the numbers of a material.
    """

    meetings: Sequence[Meeting]
    scene: Scene
    h: Scalar
    owner: np.ndarray
    normals: Array
    normal_of: np.ndarray
    points: Array
    depths: Array
    belts: Array
    belt_of: np.ndarray
    stretches: Array
    attitudes: Array
    twists: Array
    laws: Array

    @classmethod
    def of(cls, touches: Sequence[Touch], scene: Scene, h: Scalar) -> "SpotLoop":
        """All spots of touches of different bodies, for a loop."""
        meetings = [touch.meeting(scene) for touch in touches]
        patches = [patch for meeting in meetings for patch in meeting.patches]
        return cls(
            meetings,
            scene,
            h,
            np.repeat(np.arange(len(meetings)), [len(meeting.patches) for meeting in meetings]),
            *_shared([patch.n for patch in patches]),
            np.stack([patch.points[0] for patch in patches]),
            np.concatenate([patch.depths for patch in patches]),
            *_shared([patch.belt for patch in patches]),
            np.concatenate([scene.states[f"{touch.name}.stretch"] for touch in touches]),
            np.stack([scene.carrier(touch.body)[0].pose.R for touch in touches]),
            np.stack([meeting.at_start(scene) for meeting in meetings]),
            np.stack([np.stack([1.0 * getattr(touch, name) for name in NUMBERS]) for touch in touches]),
        )

    def _patch(self, k: Any) -> Pressed:
        """By its number, in the axes of its body."""
        n, belt = (
            np.asarray(x)[np.asarray(of)[k]] for x, of in ((self.normals, self.normal_of), (self.belts, self.belt_of))
        )
        xi = np.asarray(self.stretches)[k] @ np.asarray(self.attitudes)[np.asarray(self.owner)[k]]
        return Pressed(n, np.asarray(self.points)[k][None, :], np.stack([np.asarray(self.depths)[k]]), belt, xi)

    def _law(self, k: Any) -> Any:
        """The material of a patch."""
        numbers = np.asarray(self.laws)[np.asarray(self.owner)[k]]
        return SimpleNamespace(**{name: numbers[c] for c, name in enumerate(NUMBERS)})

    def _deep(self, changes: Array) -> Array:
        """The depths (m,) [m] at the end of a step that changes the twists so much; written out, as the points that
        touch are few."""
        deep = []
        for k, meeting in enumerate(self.meetings):
            W = self.twists[k] + changes[k]
            deep += [patch.depths[0] - self.h * patch.speeds(W).apart[0] for patch in meeting.patches]
        return np.stack(deep)

    @property
    def bodies(self) -> list[str]:
        return [meeting.a for meeting in self.meetings]

    def resistance(self, later: Later) -> Resistance:
        """Their forces, linearised."""
        m, counts = len(self.owner), np.bincount(self.owner)
        first = np.cumsum(counts) - counts
        changes = np.stack([meeting.relative(later.carried) for meeting in self.meetings])
        deep = self._deep(changes)

        def of_body(body: Any, sums: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            start, changed = np.asarray(self.twists)[body], np.asarray(changes)[body]

            def add(j: Any, own: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
                k = np.asarray(first)[body] + j

                def press(own: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
                    F, K, kept = own
                    patch = self._patch(k)
                    grip = patch.grip(self._law(k), self.h, start + changed)
                    kept[k] = grip.holds[0]
                    return F + patch.wrench(grip, patch.speeds(start)), K + resistance([patch], [grip])[UPPER], kept

                return when(np.asarray(deep)[k] > 0, press, own)

            F, K, kept = sums
            own = np.zeros(6), np.zeros(len(UPPER[0])), kept
            F[body], K[body], kept = fori_loop(np.asarray(counts)[body], add, own, most=max(counts))
            return F, K, kept

        blank = np.empty((len(self.bodies), 6)), np.empty((len(self.bodies), len(UPPER[0]))), np.zeros(m)
        F, K, kept = fori_loop(len(self.bodies), of_body, blank)
        wrenches = {body: F[k] for k, body in enumerate(self.bodies)}
        return Resistance(wrenches, {body: K[k][PLACE] for k, body in enumerate(self.bodies)}, kept=kept)

    def taken(self, later: Later, used: Used) -> dict[str, Effect]:
        """The effects over a step, by the names of the touches."""
        rates, effects, start = self._rates(later, used.kept), {}, 0
        for meeting in self.meetings:
            end = start + len(meeting.patches)
            own = replace(used, wrenches={meeting.a: used.wrenches[meeting.a]}, kept=used.kept[start:end])
            effects[meeting.law.name] = replace(meeting.taken(later, own), rates={"stretch": rates[start:end]})
            start = end
        return effects

    def _rates(self, later: Later, kept: Array) -> Array:
        """How fast the springs stretch over a step, (m, 3) [m/s], in world axes."""
        changes = np.stack([meeting.relative(later.carried) for meeting in self.meetings])

        def follow(k: Any, rates: Array) -> Array:
            def stretch(rates: Array) -> Array:
                body = np.asarray(self.owner)[k]
                W = np.asarray(self.twists)[body] + np.asarray(changes)[body]
                xi, _ = self._patch(k).stretched(self.h, W, np.stack([kept[k]]))
                rates[k] = rates[k] + np.asarray(self.attitudes)[body] @ xi * (1 / self.h)
                return rates

            rates[k] = -np.asarray(self.stretches)[k] * (1 / self.h)
            return when(kept[k] > 0, stretch, rates)

        rates: Array = fori_loop(len(self.owner), follow, np.zeros((len(self.owner), 3)))
        return rates


def _shared(vectors: Sequence[Array]) -> tuple[Array, np.ndarray]:
    """Vectors without those that are the same, (n, 3), and the number of each among them: the ground has one normal for
    all points of a body, if it is a plane."""
    names = [tuple(map(id, x.data)) if isinstance(x, Traced) else x.tobytes() for x in vectors]
    first = dict(zip(names, vectors, strict=True))
    number = {name: k for k, name in enumerate(first)}
    return np.stack(list(first.values())), np.array([number[name] for name in names])
