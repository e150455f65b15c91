"""Structure: internal loads of bodies and joints, and their limits.

Rigid objects only remain rigid if you treat them nice: de Nivelle, section 2, point 2.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, get_args

import numpy as np

from poinsot._errors import FieldError
from poinsot._fields import Arguments
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.fuse.trace.purity import steady
from poinsot.parts.element import Dynamics, Effect, Element, require_points
from poinsot.parts.scene import Scene
from poinsot.parts.tank import Tank
from poinsot.spatial import Inertia, motion
from poinsot.spatial.arrays import as_array

COMPONENTS = ("axial", "shear", "bending", "torsion")
LATCHES = ("latched", "latched_at", "worst", "worst_at", "case")
NEVER = 1e30  # s

Then: TypeAlias = Literal["warn", "stop", "part"]


@dataclass(frozen=True, eq=False)
class Cut(Element):
    """A cut through the joint of a body, or, if a `piece` is given, through the body itself.

    It shows the wrench (6,) on the outer part from the inner one, about the point `at` (3,) [m] in the body's frame and
    axes; and its components for the outward normal `axis`: axial force and shear [N], bending and torsion [N m].
    Through a joint, the outer part is the body with all its descendants. Through a body, it is the `piece` of its mass,
    in the body's frame, with the elements and bodies that it `carries`, by their names:

        F = G A - ad(V)^T G V - (wrenches on the piece),     A = V' less gravity

    Or, if a `loop` is named instead of a body, through what closes that loop: the wrench on its body b, about the point
    `at` of its frame B and in B's axes. The force of a coupling or a drive is shown as torsion.
    """

    body: str = ""
    at: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    axis: Annotated[ArrayLike, "1"] = (1.0, 0.0, 0.0)
    piece: Inertia | None = None
    carries: tuple[str, ...] = ()
    loop: str = ""

    def __post_init__(self) -> None:
        require_points(f"cut {self.name!r}", at=self.at, axis=self.axis)
        if self.loop and (self.body or self.piece is not None):
            raise FieldError(f"cut {self.name!r} goes through loop {self.loop!r}; leave out body and piece.", "loop")
        if self.carries and self.piece is None:
            raise FieldError(
                f"cut {self.name!r} carries {self.carries}, but has no piece; a joint carries all beyond it.", "carries"
            )

    def bodies(self) -> tuple[str, ...]:
        return () if self.loop else (self.body,)

    def effect(self, scene: Scene) -> Effect:
        if self.loop and not scene.element(self.loop).follows:
            raise FieldError(f"cut {self.name!r} goes through {self.loop!r}, which closes no loop.", "loop", self.name)
        for name in self.carries:
            if name not in scene.elements:
                scene.mechanism.index(name)
        shown = {name: self._component(name) for name in COMPONENTS}
        return Effect(power=np.zeros(()), shown={"wrench": self.wrench, **shown})

    def wrench(self, m: Dynamics) -> Array:
        """F (6,) [N m, N] on the outer part, at an instant of the motion."""
        if self.loop:
            F = as_array(m.effects[self.loop].shown["force"])
            F = F if np.shape(F) == (6,) else F * np.concatenate([self._normal(), np.zeros(3)])
        else:
            F = m.reaction(self.body) if self.piece is None else self._inside(m, self.piece)
        return motion.wrench_at(F, as_array(self.at))

    def components(self, m: Dynamics) -> dict[str, Array]:
        """Axial force and shear [N], bending and torsion [N m]; axial is positive in tension."""
        n, F = self._normal(), self.wrench(m)
        moment, f = -F[:3], -F[3:]  # of the outer part on the inner one: axial is positive in tension
        transverse, bending = f - (f @ n) * n, moment - (moment @ n) * n
        shear, bend = np.sqrt(transverse @ transverse), np.sqrt(bending @ bending)
        return {"axial": f @ n, "shear": shear, "bending": bend, "torsion": moment @ n}

    def _normal(self) -> Array:
        return as_array(self.axis) / np.linalg.norm(as_array(self.axis))

    def _component(self, name: str) -> Callable[[Dynamics], Array]:
        return lambda m: self.components(m)[name]

    def _inside(self, m: Dynamics, piece: Inertia) -> Array:
        scene, body = m.scene, m.scene[self.body]
        for name in self.carries:
            if isinstance(tank := scene.elements.get(name), Tank) and tank.body == self.body:
                piece = piece + tank.inertia(tank.of(scene))
        fall = np.concatenate([np.zeros(3), body.pose.R.T @ scene.mechanism.gravity])
        G = piece.spatial()
        F = G @ (m.acceleration(self.body) - fall) - motion.ad_dual(body.twist, G @ body.twist)
        for name in self.carries:
            if name in scene.elements:
                F = F - m.effects[name].wrenches.get(self.body, np.zeros(6))
            else:
                X_BC = body.pose.inverse() @ scene[name].pose
                F = F + motion.wrench_in_frame(X_BC, m.reaction(name))
        return F

    def units(self) -> dict[str, str]:
        return {"wrench": "N m, N", "axial": "N", "shear": "N", "bending": "N m", "torsion": "N m"}


def beyond(inertia: Inertia, axis: ArrayLike, station: float) -> Inertia:
    """The shapes of a body whose centres are beyond a station [m] along an axis: the piece of a cut."""
    n = as_array(axis) / np.linalg.norm(as_array(axis))
    pieces = [solid.inertia() for solid in inertia.solids]
    outer = [piece for piece in pieces if piece.com @ n > station]
    if not outer:
        raise ValueError(f"none of the {len(pieces)} shapes of the body lies beyond {station} m along {axis!r}.")
    return sum(outer[1:], start=outer[0])


@dataclass(frozen=True, eq=False)
class Limit(Element):
    """The strength of a cut: `axial` and `shear` [N], `bending` and `torsion` [N m], as absolute values.

    The load is the largest of the ratios to these limits; with `combined`, the root of the sum of their squares; or the
    value of a function `load` of the wrench (6,). Above 1 the limit is exceeded: `latched` becomes 1 at the time
    `latched_at` [s], and stays 1. `worst` is the largest load of all steps so far, at `worst_at` [s]; `case` is the
    number of the limit concerned, from 0 in the order above.

    then: "warn"; "stop" the run; or "part": the joint of the `body`, fixed or moving, or what closes the `loop`, is
    released at that time. A free joint is held as if fixed until then.
    """

    body: str = ""
    cut: str = ""
    axial: Annotated[float, "N"] = np.inf
    shear: Annotated[float, "N"] = np.inf
    bending: Annotated[float, "N m"] = np.inf
    torsion: Annotated[float, "N m"] = np.inf
    combined: bool = False
    load: Annotated[Callable[[Array], Any] | None, Arguments("wrench")] = None
    then: Then = "warn"
    loop: str = ""

    def __post_init__(self) -> None:
        owner = f"limit {self.name!r}"
        if self.then not in get_args(Then):
            raise FieldError(f"then of {owner} must be one of {', '.join(get_args(Then))}, not {self.then!r}.", "then")
        limits = [getattr(self, name) for name in COMPONENTS]
        for name, x in zip(COMPONENTS, limits, strict=True):
            if not is_traced(x) and not x > 0:
                raise FieldError(f"{name} of {owner} must be above zero, not {x!r}.", name)
        if self.load is None and not is_traced(*limits) and min(limits) == np.inf:
            raise ValueError(f"{owner} limits nothing; give it one of {', '.join(COMPONENTS)}, or a load.")

    def bodies(self) -> tuple[str, ...]:
        return (self.body,) if self.then == "part" and not self.loop else ()

    def states(self) -> Mapping[str, Array]:
        return {name: np.zeros(()) for name in (*LATCHES, "last", "last_at")}

    def holds(self, states: Mapping[str, Array]) -> Mapping[str, Array]:
        if self.then != "part":
            return {}
        return {self.loop or self.body: np.where(states["latched"] > 0, 0.0, 1.0)}

    def effect(self, scene: Scene) -> Effect:
        cut = self._cut(scene)
        if self.then == "part":
            self._check(scene, cut)
        return Effect(power=np.zeros(()), shown={"margin": lambda m: 1.0 - self.loads(m)[0]})

    def loads(self, m: Dynamics) -> tuple[Array, Array]:
        """The load, 1 at the limit, and the number of the limit concerned."""
        cut = self._cut(m.scene)
        if self.load is not None:
            load = steady(self.load, cut.wrench(m), role=f"load of limit {self.name!r}")
            return as_array(load), np.zeros(())
        most, case, squares = np.zeros(()), np.zeros(()), np.zeros(())
        for k, (name, x) in enumerate(cut.components(m).items()):
            limit = getattr(self, name)
            if is_traced(limit) or limit < np.inf:
                ratio = np.abs(x) / limit
                case, most = np.where(ratio > most, float(k), case), np.maximum(most, ratio)
                squares = squares + ratio * ratio
        return (np.sqrt(squares) if self.combined else most), case

    def settle(self, motion: Dynamics, states: Mapping[str, Array]) -> Mapping[str, Array]:
        t, (load, case) = motion.scene.t, self.loads(motion)
        passed = (load >= 1.0) & (states["latched"] < 0.5)
        rise = load - states["last"]
        since = np.clip((1.0 - states["last"]) / np.where(rise > 0, rise, 1.0), 0.0, 1.0)
        at = states["last_at"] + since * (t - states["last_at"])  # between the two steps, by linear interpolation
        worse = (load > states["worst"]) & (states["latched"] < 0.5 if self.then == "part" else load > 0)
        return {
            "latched": np.where(passed, 1.0, states["latched"]),
            "latched_at": np.where(passed, at, states["latched_at"]),
            "worst": np.where(worse, load, states["worst"]),
            "worst_at": np.where(worse, t, states["worst_at"]),
            "case": np.where(worse, case, states["case"]),
            "last": load,
            "last_at": t + np.zeros(()),
        }

    def lets_go(self, before: Mapping[str, Array], after: Mapping[str, Array]) -> tuple[Array, dict[str, Array]] | None:
        if self.then != "part":
            return None
        at = np.where(after["latched"] > before["latched"], after["latched_at"], NEVER)
        return at, {"latched": np.ones(()), "latched_at": after["latched_at"]}

    def _check(self, scene: Scene, cut: Cut) -> None:
        """The joint that it releases must be that of its cut; a free one is held until then."""
        if self.loop:
            if cut.loop != self.loop:
                through = cut.loop or cut.body
                raise FieldError(
                    f"limit {self.name!r} lets the loop {self.loop!r} go, but its cut {self.cut!r} goes through "
                    f"{through!r}; put the cut on the loop.",
                    "cut",
                )
            return
        owner = f"limit {self.name!r} lets the joint of {self.body!r} go"
        if cut.body != self.body:
            raise FieldError(
                f"{owner}, but its cut {self.cut!r} goes through {cut.body!r}; put the cut on {self.body!r}.", "cut"
            )
        if cut.piece is not None:
            raise FieldError(
                f"{owner}, but its cut {self.cut!r} goes through the body itself. Make the piece a body of its own, "
                "fixed to the other one, and cut through its joint.",
                "cut",
            )
        v, latched = scene.joint(self.body)[1], scene.states[f"{self.name}.latched"]
        is_free = scene.mechanism.link(self.body).joint.type.is_free
        if is_free and not is_traced(v, latched) and not latched and np.any(np.abs(v) > 1e-9):
            raise ValueError(
                f"{owner}, and holds it before; but it starts with v = {v}. Start it with its parent, or give it a "
                "joint in which it may move."
            )

    def _cut(self, scene: Scene) -> Cut:
        cut = scene.element(self.cut, self.body)
        if not isinstance(cut, Cut):
            raise FieldError(f"limit {self.name!r} needs a cut; {self.cut!r} is a {type(cut).__name__}.", "cut")
        return cut

    def units(self) -> dict[str, str]:
        seconds = dict.fromkeys(("latched_at", "worst_at", "last_at"), "s")
        return seconds | dict.fromkeys(("margin", "latched", "worst", "case", "last"), "1")
