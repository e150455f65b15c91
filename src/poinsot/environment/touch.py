"""Bodies that touch the ground, with friction that holds."""

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike, Scalar
from poinsot.contact.law import Material, Touching, stored, stored_rate, stretched, touch
from poinsot.contact.spots import SPOTS, Spot, spots_of
from poinsot.environment.terrain import Terrain
from poinsot.fuse import is_traced
from poinsot.parts.element import Effect, Element, require_finite, require_not_negative
from poinsot.parts.resisting import Later, Resistance, Used
from poinsot.parts.scene import BodyState, Footing, Scene
from poinsot.spatial import rotation
from poinsot.spatial.arrays import as_array
from poinsot.spatial.inertia import Solid


@dataclass(frozen=True, eq=False)
class Ground(Element):
    """The ground, which the shapes of all bodies may touch: the plane n . x = height [m] with the upward `normal` n, or
    a `terrain`.

    `surface`: stiffness, damping and friction of what touches. `velocity` (3,) [m/s]: of its surface, as of a belt.
    `ignored`: the names of bodies that pass through it. It acts by a `Touch` for each body, called "body-ground"; its
    `force`, `depth`, `slip` and `touching`, the number of points that touch, can be recorded.
    """

    height: Annotated[float, "m"] = 0.0
    normal: Annotated[ArrayLike, "1"] = (0.0, 0.0, 1.0)
    velocity: Annotated[ArrayLike, "m/s"] = (0.0, 0.0, 0.0)
    surface: Material = field(default_factory=Material)
    ignored: tuple[str, ...] = ()
    terrain: Terrain | None = field(default=None, metadata={"described": "if given"})

    def __post_init__(self) -> None:
        owner = f"ground {self.name!r}"
        if not isinstance(self.surface, Material):
            raise FieldError(f"surface of {owner} must be a pt.Material, not {self.surface!r}.", "surface")
        if self.terrain is not None and not isinstance(self.terrain, Terrain):
            raise FieldError(f"terrain of {owner} must be a pt.Terrain, not {self.terrain!r}.", "terrain")
        require_finite(owner, height=self.height, normal=self.normal, velocity=self.velocity)
        for name in ("normal", "velocity"):
            if np.shape(as_array(getattr(self, name))) != (3,):
                raise FieldError(f"{name} of {owner} must be three numbers, not {getattr(self, name)!r}.", name)
        if not is_traced(self.normal) and not np.any(np.asarray(self.normal)):
            raise FieldError(f"normal of {owner} must not be zero.", "normal")

    def effect(self, scene: Scene) -> Effect:
        return Effect()

    def under(self, scene: Scene, p: Array) -> Footing:
        """The ground under the point p (3,) [m] of the world."""
        if self.terrain is not None:
            there = self.terrain.under(scene, p)
            return there._replace(velocity=there.velocity + as_array(self.velocity))
        n = as_array(self.normal) / np.linalg.norm(as_array(self.normal))
        return Footing(n @ p - self.height, n, as_array(self.velocity), np.zeros(3))

    def touched_by(self, body: str, solids: tuple[Solid, ...], surface: Material | None) -> "Touch":
        """The touch of a body with these shapes."""
        law, count = surface or self.surface, len(touching_spots(solids))
        return Touch(f"{body}-{self.name}", body, self.name, count, law.stiffness, law.damping, law.friction)


@dataclass(frozen=True, eq=False)
class Touch(Element):
    """A body that may touch a `ground`, by its shapes.

    The law is that of `contact.law`: at every point that touches, a spring of `stiffness` k [N/m] with the damping c
    [s/m] of Hunt and Crossley, and friction mu with a spring along the ground, so that what rests does not creep. It is
    taken at the end of a step, by the method "implicit".

    `shapes`: where they differ from those that the body's inertia is made of, with their poses. `count`: of the points
    that may touch. States: `stretch` (count, 3) [m], of the springs along the ground, in world axes.
    """

    body: str = ""
    ground: str = "ground"
    count: int = 0
    stiffness: Annotated[float, "N/m"] = 1e5
    damping: Annotated[float, "s/m"] = 0.5
    friction: Annotated[float, "1"] = 0.8
    shapes: tuple[Solid, ...] | None = field(default=None, metadata={"described": "if given"})

    needs_implicit: ClassVar[bool] = True
    structural: ClassVar[tuple[str, ...]] = ("count",)

    def __post_init__(self) -> None:
        owner = f"touch {self.name!r}"
        require_not_negative(owner, stiffness=self.stiffness, damping=self.damping, friction=self.friction)
        if self.shapes is not None and len(touching_spots(self.shapes)) != self.count:
            n = len(touching_spots(self.shapes))
            raise FieldError(f"count of {owner} must be {n}, the number of points of its shapes.", "count")

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def states(self) -> dict[str, Array]:
        return {"stretch": np.zeros((self.count, 3))}

    def units(self) -> dict[str, str]:
        return {"stretch": "m", "force": "N", "depth": "m", "slip": "m/s", "touching": "1"}

    def effect(self, scene: Scene) -> Effect:
        """The forces at this instant: the law without a step."""
        places, body = self._places(scene), scene[self.body]
        F, energy, power = np.zeros(6), np.zeros(()), np.zeros(())
        for place in places:
            found, f = place.law(self, 0.0, body.twist)
            F = F + np.concatenate([np.cross(place.r, f), f])
            energy = energy + stored(self, place.depth, place.xi)
            power = power + stored_rate(self, place.depth, place.xi, place.n, place.velocity(body.twist), found.holds)
        shown = self._shown(body, places, body.pose.R @ F[3:])
        return Effect({self.body: F}, stored=energy, power=power + F @ body.twist, shown=shown)

    def resisting(self, scene: Scene, h: Scalar, later: Later) -> Resistance:
        V_0, V = scene[self.body].twist, later.twist(self.body)
        F, lumps, kept = np.zeros(6), Lumps(), []
        for place in self._places(scene):
            found, _ = place.law(self, h, V)
            f = found.force(place.n, place.velocity(V), place.velocity(V_0))
            F = F + np.concatenate([np.cross(place.r, f), f])
            lumps = lumps.with_point(place.r, place.n, found.along, found.across)
            kept.append(found.holds)
        return Resistance({self.body: F}, {self.body: lumps.matrix()}, kept=np.stack(kept))

    def taken(self, scene: Scene, later: Later, used: Used) -> Effect:
        V, h, body, places = later.twist(self.body), later.h, scene[self.body], self._places(scene)
        before = after = np.zeros(())
        stretches = []
        for place, holds in zip(places, used.kept, strict=True):
            u = place.velocity(V)
            xi = stretched(h, holds, place.xi, place.n, u)
            before = before + stored(self, place.depth, place.xi)
            after = after + stored(self, place.depth - h * (place.n @ u), xi)
            stretches.append(body.pose.R @ xi)
        rate = (np.stack(stretches) - scene.states[f"{self.name}.stretch"]) / h
        power = used.power(later) + (after - before) / h
        shown = self._shown(body, places, body.pose.R @ used.wrenches[self.body][3:])
        return Effect(used.wrenches, stored=before, power=power, rates={"stretch": rate}, shown=shown)

    def _places(self, scene: Scene) -> "list[TouchPoint]":
        """Where the body may touch."""
        body, ground = scene[self.body], scene.elements[self.ground]
        solids = scene.solids(self.body) if self.shapes is None else self.shapes
        found = touching_spots(solids)
        if len(found) != self.count:
            raise FieldError(
                f"touch {self.name!r} has {self.count} points, but the shapes of {self.body!r} have {len(found)}.",
                "count",
            )
        stretch = scene.states[f"{self.name}.stretch"]
        places = []
        for k, (solid, spot) in enumerate(found):
            up = body.pose.R.T @ ground.under(scene, body.pose @ solid.pose.p).normal  # type: ignore[attr-defined]
            r = solid.pose @ spot(solid.pose.R.T @ up)
            there = ground.under(scene, body.pose @ r)  # type: ignore[attr-defined]
            n, belt, xi = there.normal @ body.pose.R, there.velocity @ body.pose.R, stretch[k] @ body.pose.R
            places.append(TouchPoint(r, n, -there.clearance, xi - (n @ xi) * n, belt))
        return places

    def _shown(self, body: BodyState, places: "list[TouchPoint]", force: Array) -> dict[str, Array]:
        """The force (3,) [N] in world axes, the depth [m] of the deepest point, how many touch, and how fast the
        fastest of these slips [m/s]."""
        depth, slip, count = places[0].depth, np.zeros(()), np.zeros(())
        for place in places:
            u = place.velocity(body.twist)
            u_t = u - (place.n @ u) * place.n
            touches = place.depth > 0
            depth, count = np.maximum(depth, place.depth), count + np.where(touches, 1.0, 0.0)
            slip = np.maximum(slip, np.where(touches, np.sqrt(u_t @ u_t), 0.0))
        return {"force": force, "depth": depth, "slip": slip, "touching": count}


@dataclass(frozen=True, eq=False)
class TouchPoint:
    """A point r (3,) [m] of a body that may touch, the normal n there, its depth [m], the stretch xi (3,) [m], and the
    velocity (3,) [m/s] of what it touches; all in the body's axes."""

    r: Array
    n: Array
    depth: Array
    xi: Array
    belt: Array

    def velocity(self, V: Array) -> Array:
        """The velocity (3,) [m/s] relative to what is touched, if the body moves with the twist V."""
        return V[3:] + np.cross(V[:3], self.r) - self.belt

    def law(self, law: Any, h: Scalar, V: Array) -> tuple[Touching, Array]:
        """The contact at the twist V, and its force (3,) [N]."""
        u = self.velocity(V)
        found = touch(law, h, self.depth, self.n, u, self.xi)
        return found, found.force(self.n, u, u)


@dataclass(frozen=True, eq=False)
class Lumps:
    """The sum of the resistances g_t (1 - n n^T) + g_n n n^T [N s/m] at points r, as moments of lumps g_t at r, and of
    others g_n - g_t that are felt along n alone."""

    mass: Any = 0.0
    first: Any = field(default_factory=lambda: np.zeros(3))
    second: Any = field(default_factory=lambda: np.zeros((3, 3)))
    across: Any = field(default_factory=lambda: np.zeros((6, 6)))

    def with_point(self, r: Array, n: Array, g_t: Array, g_n: Array) -> "Lumps":
        """With one point more."""
        c = np.concatenate([np.cross(r, n), n])
        across = self.across + (g_n - g_t) * np.outer(c, c)
        return Lumps(self.mass + g_t, self.first + g_t * r, self.second + g_t * np.outer(r, r), across)

    def matrix(self) -> Array:
        """K (6, 6), about the origin."""
        E, C = np.trace(self.second) * np.eye(3) - self.second, rotation.skew(self.first)
        return np.block([[E, C], [C.T, self.mass * np.eye(3)]]) + self.across


def touching_spots(solids: tuple[Solid, ...]) -> list[tuple[Solid, Spot]]:
    """The spots of all shapes, each with the solid that it belongs to."""
    for solid in solids:
        if type(solid.shape) not in SPOTS:
            raise FieldError(f"a {type(solid.shape).__name__} cannot touch the ground yet.", "shapes")
    return [(solid, spot) for solid in solids for spot in spots_of(solid.shape)]
