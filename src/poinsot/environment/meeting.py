"""Elements by which bodies touch: what they have in common, wherever their patches come from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, Scalar
from poinsot.contact.law import numbers_of
from poinsot.contact.pressing import Books, Grip, Pressed, Speeds, resistance
from poinsot.fuse import is_traced
from poinsot.parts.element import Effect, Element, require_not_negative
from poinsot.parts.resisting import Later, Resistance, Resisting, Used
from poinsot.parts.scene import Scene
from poinsot.spatial.arrays import as_array


@dataclass(frozen=True, eq=False)
class ContactElement(Element):
    """An element by which a body touches something, with the numbers of a `Material`; it acts by its `meeting`."""

    stiffness: Annotated[float, "N/m"] = 1e5
    damping: Annotated[float, "s/m"] = 0.5
    friction: Annotated[float, "1"] = 0.8
    torsion: Annotated[float, "m"] = 0.0
    rolling: Annotated[float, "m"] = 0.0
    count: int = 0
    turning: bool = False  # whether its patches have springs that resist turning

    needs_implicit: ClassVar[bool] = True
    structural: ClassVar[tuple[str, ...]] = ("count", "turning")

    def __post_init__(self) -> None:
        require_not_negative(f"touch {self.name!r}", **numbers_of(self))
        known = [x for x in (self.torsion, self.rolling) if not is_traced(x)]
        object.__setattr__(self, "turning", bool(self.turning or any(x > 0 for x in known)))

    def meeting(self, scene: Scene) -> "Meeting":
        """Where it touches, in a scene."""
        raise NotImplementedError

    def states(self) -> dict[str, Array]:
        springs = {"stretch": np.zeros((self.count, 3))}
        return springs | {"turn": np.zeros((self.count, 3))} if self.turning else springs

    def units(self) -> dict[str, str]:
        springs = {"stretch": "m", "turn": "rad"}
        return springs | {"force": "N", "depth": "m", "slip": "m/s", "count": "1", "stored": "J"}

    @property
    def rows(self) -> tuple[str, ...]:
        return ("damping", "sliding", "turning") if self.turning else ("damping", "sliding")

    def springs(self, scene: Scene, R: Array) -> list[tuple[Array, Array | None]]:
        """The stretch (3,) and turn (3,) of every patch, in the axes of a body with the attitude R."""
        for field in () if self.turning else ("torsion", "rolling"):
            if is_traced(getattr(self, field)):
                raise FieldError(
                    f"{field} of {self.name!r} is zero and cannot be varied: give it a value first.", field
                )
        xi = scene.states[f"{self.name}.stretch"] @ R
        turn = scene.states[f"{self.name}.turn"] @ R if self.turning else None
        return [(xi[k], None if turn is None else turn[k]) for k in range(self.count)]

    def effect(self, scene: Scene) -> Effect:
        """The forces at this instant: the law without a step."""
        return self.meeting(scene).at_an_instant(scene)

    def resisting(self, scene: Scene, h: Scalar) -> Resisting:
        there = self.meeting(scene)
        start = there.at_start(scene)
        speeds = [patch.speeds(start) for patch in there.patches]
        kept = sum(patch.kept for patch in there.patches)
        return Resisting(lambda later: there.resistance(start, speeds, h, later), there.taken, kept)


@dataclass(frozen=True, eq=False)
class Meeting:
    """The patches in which a body a touches others in a scene, in the frame of its carrier.

    law: the element. b: the other body, None for the ground; Ad (6, 6) takes the twist of its carrier to that of a.
    """

    law: ContactElement
    a: str
    b: str | None
    Ad: Array | None
    patches: Sequence[Pressed]

    def relative(self, twist: Any) -> Array:
        """The twist (6,) of a relative to b, given the function from their names to the twists of their carriers."""
        W: Array = twist(self.a)
        return W if self.b is None or self.Ad is None else W - self.Ad @ twist(self.b)

    def places(self, scene: Scene) -> tuple[Array, Array, Array]:
        """Where it may touch, in world axes: points (m, 3) [m], normals (m, 3) towards a, depths (m,) [m]."""
        X = scene.carrier(self.a)[0].pose
        points = np.concatenate([p.points @ X.R.T + X.p for p in self.patches])
        normals = [np.ones((len(p.depths), 1)) * (X.R @ p.n) for p in self.patches]
        return points, np.concatenate(normals), np.concatenate([p.depths for p in self.patches])

    def at_start(self, scene: Scene) -> Array:
        """The relative twist (6,) in the scene."""
        return self.relative(lambda body: scene.carrier(body)[0].twist)

    def on_both(self, F: Array) -> dict[str, Array]:
        """The wrenches on the bodies, from that on a."""
        return {self.a: F} if self.b is None or self.Ad is None else {self.a: F, self.b: -(self.Ad.T @ F)}

    def _wrench(self, grips: Sequence[Grip], speeds: Sequence[Speeds]) -> Array:
        """F (6,) on a, at the speeds of the patches."""
        each = (patch.wrench(grip, at) for patch, grip, at in zip(self.patches, grips, speeds, strict=True))
        return sum(each, np.zeros(6))

    def resistance(self, start: Array, speeds: Sequence[Speeds], h: Scalar, later: Later) -> Resistance:
        """The forces over a step h, linearised; start: the relative twist (6,) at its start, and `speeds`."""
        W = start + self.relative(later.carried)
        grips = [patch.grip(self.law, h, W) for patch in self.patches]
        K, kept = resistance(self.patches, grips), np.concatenate([grip.holds for grip in grips])
        F = self._wrench(grips, speeds)
        if self.b is None or self.Ad is None:
            return Resistance({self.a: F}, {self.a: K}, kept=kept)
        across = K @ self.Ad
        slopes = {self.a: K, self.b: self.Ad.T @ across}
        return Resistance(self.on_both(F), slopes, couplings={(self.a, self.b): -across}, kept=kept)

    def taken(self, later: Later, used: Used) -> Effect:
        """The effect over a step."""
        scene, h, W = later.scene, later.h, self.at_start(later.scene) + self.relative(later.carried)
        guess = self.at_start(scene) + self.relative(used.guess.carried)
        before, after, books = np.zeros(()), np.zeros(()), Books()
        ends: list[tuple[Array, Array]] = []
        start = 0
        for patch in self.patches:
            ends.append(patch.stretched(h, W, used.kept[start : start + patch.kept]))
            start += patch.kept
            before = before + patch.stored(self.law, 0.0, W, patch.xi)
            after = after + patch.stored(self.law, h, W, ends[-1][0])
            books = books + patch.booked(self.law, h, W, guess, ends[-1][0])
        R = scene.carrier(self.a)[0].pose.R
        rates = {}
        for key, new in zip(("stretch", "turn"), zip(*ends, strict=True), strict=True):
            if (name := f"{self.law.name}.{key}") in scene.states:
                rates[key] = (np.stack(new) @ R.T - scene.states[name]) * (1 / h)
        return Effect(
            used.wrenches,
            stored=before,
            power=books.power,
            rates=rates,
            shown=self.shown(scene, used.wrenches, before),
            shares=books.shares(self.law.turning),
            numerical=books.numerical,
            foreseen=after,
        )

    def at_an_instant(self, scene: Scene) -> Effect:
        """The effect without a step."""
        W = self.at_start(scene)
        grips = [patch.grip(self.law, 0.0, W) for patch in self.patches]
        F = self._wrench(grips, [patch.speeds(W) for patch in self.patches])
        stored = sum((patch.stored(self.law, 0.0, W, patch.xi) for patch in self.patches), np.zeros(()))
        books = [patch.books_now(self.law, W, grip) for patch, grip in zip(self.patches, grips, strict=True)]
        now = sum(books, Books())
        wrenches = {body: scene.carrier(body)[1].adjoint().T @ F for body, F in self.on_both(F).items()}
        shown, shares = self.shown(scene, wrenches, stored), now.shares(self.law.turning)
        return Effect(wrenches, stored=stored, power=now.power, shown=shown, shares=shares)

    def shown(self, scene: Scene, wrenches: Mapping[str, Array], stored: Array) -> dict[str, Array]:
        """The force (3,) [N] on a in world axes, the greatest depth [m], how fast the fastest patch that touches slips
        [m/s], how many points touch, and the energy [J] that is stored."""
        W, depth, slip, count = self.at_start(scene), -np.inf, np.zeros(()), np.zeros(())
        for patch in self.patches:
            u = patch.speeds(W).along
            depth, touches = np.maximum(depth, np.max(patch.depths)), np.any(patch.depths > 0)
            count = count + np.sum(np.where(patch.depths > 0, 1.0, 0.0))
            slip = np.maximum(slip, np.where(touches, np.sqrt(u @ u), 0.0))
        force = scene[self.a].pose.R @ wrenches[self.a][3:]
        return {"force": force, "depth": as_array(depth), "slip": slip, "count": count, "stored": stored}
