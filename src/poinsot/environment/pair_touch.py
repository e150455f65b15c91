"""Two bodies that touch each other, with friction that holds."""

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.contact.law import SHEAR, TINY, push
from poinsot.contact.patches import Patch, patches, require_meeting
from poinsot.parts.element import Effect, Element, require_not_negative
from poinsot.parts.resisting import Later, Resistance, Used
from poinsot.parts.scene import BodyState, Scene
from poinsot.spatial import rotation
from poinsot.spatial.arrays import as_array
from poinsot.spatial.inertia import Solid

FULL = 4.0  # points, at which a patch has its full stiffness: more of them share it


@dataclass(frozen=True, eq=False)
class PairTouch(Element):
    """Two bodies, a and b, whose shapes may touch each other: balls, capsules and boxes.

    Where two shapes touch, every point of the patch pushes by the law of `contact.law`, with `stiffness` k [N/m] and
    `damping` c [s/m]. Friction mu acts on the patch as a whole, at the centre of its pressure, with springs along it
    and about its normal that slide at Coulomb's limit; about the normal at mu f_n r, r the radius of gyration of the
    pressure. It is taken at the end of a step, by the method "implicit".

    `count`: of the patches. States, for each: `stretch` (3,) [m] in world axes, and `twist` [rad].
    """

    a: str = ""
    b: str = ""
    count: int = 0
    stiffness: Annotated[float, "N/m"] = 1e5
    damping: Annotated[float, "s/m"] = 0.5
    friction: Annotated[float, "1"] = 0.8
    shapes_a: tuple[Solid, ...] | None = field(default=None, metadata={"described": "if given"})
    shapes_b: tuple[Solid, ...] | None = field(default=None, metadata={"described": "if given"})

    internal: ClassVar[bool] = True
    needs_implicit: ClassVar[bool] = True
    structural: ClassVar[tuple[str, ...]] = ("count",)

    def __post_init__(self) -> None:
        owner = f"touch {self.name!r}"
        require_not_negative(owner, stiffness=self.stiffness, damping=self.damping, friction=self.friction)

    def bodies(self) -> tuple[str, ...]:
        return (self.a, self.b)

    def states(self) -> dict[str, Array]:
        return {"stretch": np.zeros((self.count, 3)), "twist": np.zeros(self.count)}

    def units(self) -> dict[str, str]:
        return {"stretch": "m", "twist": "rad", "force": "N", "depth": "m", "slip": "m/s", "touching": "1"}

    def effect(self, scene: Scene) -> Effect:
        """The forces at this instant: the law without a step."""
        F, energy, power = np.zeros(6), np.zeros(()), np.zeros(())
        ends = self._ends(scene)
        wrenches = [np.zeros(6), np.zeros(6)]
        for one in self._met(scene):
            W = one.relative(ends, (scene[self.a].twist, scene[self.b].twist))
            found = one.law(self, 0.0, W)
            F_W = found.at(W)
            F, energy = F + F_W, energy + one.stored(self, np.zeros(6), one.xi)
            power = power + F_W @ W + one.stored_rate(self, W, found)
            wrenches = [w + s * T.T @ F_W for w, s, T in zip(wrenches, (1.0, -1.0), one.moves(ends), strict=True)]
        shown = self._shown(scene, F[3:])
        return Effect(dict(zip((self.a, self.b), wrenches, strict=True)), stored=energy, power=power, shown=shown)

    def resisting(self, scene: Scene, h: Scalar, later: Later) -> Resistance:
        ends, kept = self._ends(scene), []
        F, K, C = [np.zeros(6), np.zeros(6)], [np.zeros((6, 6)), np.zeros((6, 6))], np.zeros((6, 6))
        for one in self._met(scene):
            now, then = ((V(self.a), V(self.b)) for V in (lambda b: scene[b].twist, later.twist))
            found = one.law(self, h, one.relative(ends, then))
            T_a, T_b = one.moves(ends)
            F_W = found.at(one.relative(ends, now))
            F = [F[0] + T_a.T @ F_W, F[1] - T_b.T @ F_W]
            K = [K[0] + T_a.T @ found.K @ T_a, K[1] + T_b.T @ found.K @ T_b]
            C = C - T_a.T @ found.K @ T_b
            kept.append(np.stack([found.holds, found.holds_twist]))
        pair = (self.a, self.b)
        return Resistance(
            dict(zip(pair, F, strict=True)), dict(zip(pair, K, strict=True)), couplings={pair: C}, kept=np.stack(kept)
        )

    def taken(self, scene: Scene, later: Later, used: Used) -> Effect:
        h, ends, force = later.h, self._ends(scene), scene[self.a].pose.R @ used.wrenches[self.a][3:]
        before = after = np.zeros(())
        stretches, twists = [], []
        for one, (s, s_n) in zip(self._met(scene), used.kept, strict=True):
            W = one.relative(ends, (later.twist(self.a), later.twist(self.b)))
            xi, twist = one.stretched(h, W, s, s_n)
            before = before + one.stored(self, np.zeros(6), one.xi)
            after = after + one.stored(self, h * W, xi)
            stretches.append(xi)
            twists.append(twist)
        now = {key: scene.states[f"{self.name}.{key}"] for key in ("stretch", "twist")}
        rates = {key: (np.stack(x) - now[key]) / h for key, x in (("stretch", stretches), ("twist", twists))}
        power = used.power(later) + (after - before) / h
        return Effect(used.wrenches, stored=before, power=power, rates=rates, shown=self._shown(scene, force))

    def _ends(self, scene: Scene) -> tuple[BodyState, BodyState]:
        return scene[self.a], scene[self.b]

    def _met(self, scene: Scene) -> "list[Met]":
        """The patches, each with its springs."""
        solids_a = scene.solids(self.a) if self.shapes_a is None else self.shapes_a
        solids_b = scene.solids(self.b) if self.shapes_b is None else self.shapes_b
        A, B = scene[self.a].pose, scene[self.b].pose
        found = [
            patch
            for one, other in pairs_of(solids_a, solids_b, f"touch {self.name!r}")
            for patch in patches(one.shape, A @ one.pose, other.shape, B @ other.pose)
        ]
        xi, twist = scene.states[f"{self.name}.stretch"], scene.states[f"{self.name}.twist"]
        return [Met.of(patch, xi[k], twist[k]) for k, patch in enumerate(found)]

    def _shown(self, scene: Scene, force: Array) -> dict[str, Array]:
        """The force (3,) [N] on a in world axes, the greatest depth [m], how fast the patches slip [m/s], and how many
        points touch."""
        depth, slip, count = np.array(-np.inf), np.zeros(()), np.zeros(())
        for one in self._met(scene):
            W = one.relative(self._ends(scene), (scene[self.a].twist, scene[self.b].twist))
            u = W[3:] - (one.patch.normal @ W[3:]) * one.patch.normal
            touching = one.patch.depths > 0
            for d in one.patch.depths:
                depth = np.maximum(depth, d)
            count = count + np.sum(np.where(touching, 1.0, 0.0))
            slip = np.maximum(slip, np.where(np.any(touching), np.sqrt(u @ u), 0.0))
        return {"force": force, "depth": depth, "slip": slip, "touching": count}


@dataclass(frozen=True, eq=False)
class Sheared:
    """A patch at a guess W of its relative twist: F(V) = F_W - K (V - W), all in world axes about its centre; and how
    much of its springs along and about the normal holds."""

    W: Array
    F: Array
    K: Array
    holds: Array
    holds_twist: Array

    def at(self, V: Array) -> Array:
        """The wrench (6,) on a at the relative twist V."""
        return self.F - self.K @ (V - self.W)


@dataclass(frozen=True, eq=False)
class Met:
    """A patch with its springs: the centre (3,) [m] of its touching points, its stretch (3,) [m] and twist [rad]."""

    patch: Patch
    centre: Array
    share: Array  # of the stiffness that each point has
    xi: Array
    twist: Array

    @classmethod
    def of(cls, patch: Patch, xi: Array, twist: Array) -> "Met":
        touching = np.where(patch.depths > 0, 1.0, 0.0)
        count = np.sum(touching)
        weights = np.where(count > 0, touching, 1.0) / np.where(count > 0, count, 1.0 * len(touching))
        n = patch.normal
        along = xi - (n @ xi) * n  # the patch may have turned since
        return cls(patch, weights @ patch.points, np.minimum(1.0, FULL / np.maximum(count, 1.0)), along, twist)

    def moves(self, ends: tuple[BodyState, BodyState]) -> list[Array]:
        """T (6, 6) of each body: the twist of the point of it at the centre is T V, in world axes."""
        moved = []
        for body in ends:
            R, r = body.pose.R, self.centre - body.pose.p
            moved.append(np.block([[R, np.zeros((3, 3))], [-rotation.skew(r) @ R, R]]))
        return moved

    def relative(self, ends: tuple[BodyState, BodyState], twists: tuple[Array, Array]) -> Array:
        """The twist (6,) of a relative to b, about the centre in world axes."""
        T_a, T_b = self.moves(ends)
        return T_a @ twists[0] - T_b @ twists[1]

    def law(self, law: Any, h: Scalar, W: Array) -> Sheared:
        """The forces at a guess W of the relative twist."""
        F, K, f_n, elastic, square = self._pushed(law, h, W)
        n, k, most = self.patch.normal, SHEAR * law.stiffness, law.friction * f_n
        u, w_n, slope = W[3:] - (n @ W[3:]) * n, n @ W[:3], k * h + law.damping * elastic
        pull, turn = k * self.xi + slope * u, square * (k * self.twist + slope * w_n)
        s = most / np.maximum(np.sqrt(pull @ pull + TINY**2), most + TINY)
        most_n = most * np.sqrt(square + TINY**2)
        s_n = most_n / np.maximum(np.abs(turn), most_n + TINY)
        along, about = s * slope * (np.eye(3) - np.outer(n, n)), s_n * slope * square * np.outer(n, n)
        K = K + np.block([[about, np.zeros((3, 3))], [np.zeros((3, 3)), along]])
        return Sheared(W, F - np.concatenate([s_n * turn * n, s * pull]), K, s, s_n)

    def _pushed(self, law: Any, h: Scalar, W: Array) -> tuple[Array, Array, Array, Array, Array]:
        """The push of all points: wrench (6,), -dF/dW (6, 6), f_n [N], its elastic part [N], and the square of the
        radius of gyration [m^2] of the pressure about the normal."""
        n, F, K = self.patch.normal, np.zeros(6), np.zeros((6, 6))
        f_n = elastic = square = np.zeros(())
        for p, depth in zip(self.patch.points, self.patch.depths, strict=True):
            r = p - self.centre
            c = np.concatenate([np.cross(r, n), n])  # u_n = c W
            f, g, e = push(law.stiffness * self.share, law.damping, h, depth, c @ W)
            F, K = F + f * c, K + g * np.outer(c, c)
            f_n, elastic, square = f_n + f, elastic + e, square + f * (c[:3] @ c[:3])
        return F, K, f_n, elastic, square / (f_n + TINY)

    def stretched(self, h: Scalar, W: Array, s: Array, s_n: Array) -> tuple[Array, Array]:
        """The stretch (3,) and twist at the end of the step."""
        n = self.patch.normal
        return s * (self.xi + h * (W[3:] - (n @ W[3:]) * n)), s_n * (self.twist + h * (n @ W[:3]))

    def stored(self, law: Any, moved: Array, xi: Array) -> Array:
        """The energy [J] in its springs along and across, once a has moved relative to b by a small screw (6,); what
        the spring about the normal stores is taken for lost until it comes back."""
        n, total = self.patch.normal, np.zeros(())  # type: Array, Array
        for p, depth in zip(self.patch.points, self.patch.depths, strict=True):
            r = p - self.centre
            d = np.where(depth > 0, np.maximum(depth - n @ (moved[3:] + np.cross(moved[:3], r)), 0.0), 0.0)
            total = total + self.share * d * d
        return 0.5 * law.stiffness * (total + SHEAR * (xi @ xi))

    def stored_rate(self, law: Any, W: Array, found: Sheared) -> Array:
        """The rate [W] of `stored` at an instant."""
        n, total = self.patch.normal, np.zeros(())  # type: Array, Array
        for p, depth in zip(self.patch.points, self.patch.depths, strict=True):
            total = total - self.share * np.maximum(depth, 0.0) * (n @ (W[3:] + np.cross(W[:3], p - self.centre)))
        u = W[3:] - (n @ W[3:]) * n
        return as_array(law.stiffness * (total + SHEAR * found.holds * (self.xi @ u)))


def pairs_of(a: tuple[Solid, ...], b: tuple[Solid, ...], owner: str) -> list[tuple[Solid, Solid]]:
    """All pairs of shapes of two bodies; an error if it is not known how one of them touches."""
    for one in a:
        for other in b:
            require_meeting(one.shape, other.shape, owner)
    return [(one, other) for one in a for other in b]


def meetings(a: tuple[Solid, ...], b: tuple[Solid, ...], owner: str) -> list[Patch]:
    """The patches of two bodies, wherever they are."""
    return [
        patch for one, other in pairs_of(a, b, owner) for patch in patches(one.shape, one.pose, other.shape, other.pose)
    ]
