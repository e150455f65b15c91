"""Tendons over joints: the length of one is a weighted sum of joint coordinates, and its force acts in all of them.

    L = sum of c_i q_i,   tau_i = c_i f

A force that falls by g for each unit of L' adds g c c^T to the slopes in joints: an implicit step takes it at its end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike, Scalar
from poinsot.fuse import is_traced
from poinsot.parts.element import Effect, Element, Value, require_finite, require_limit, require_not_negative, value_of
from poinsot.parts.loads import limited, yielding
from poinsot.parts.resisting import Later, Resistance, Resisting, Used
from poinsot.parts.scene import Scene
from poinsot.parts.stops import Bumpers, bumped, within_reach
from poinsot.spatial.arrays import as_array


@dataclass(frozen=True, eq=False)
class TendonPath:
    """The path of a tendon over joints, by the bodies that they carry, with a coefficient (k,) for each."""

    joints: Sequence[str]
    coefficients: Array

    def length(self, scene: Scene) -> tuple[Array, Array]:
        """L (1,) and L' (1,)."""
        pairs = [scene.joint(name) for name in self.joints]
        return self._sum([q for q, _ in pairs]), self._sum([v for _, v in pairs])

    def rate(self, later: Later) -> Array:
        """L' (1,) at the end of a step."""
        return self._sum([later.velocity(name) for name in self.joints])

    def change(self, later: Later) -> Array:
        """The change of L' (1,) over a step."""
        return self._sum([later.joint_change(name) for name in self.joints])

    def pulled(self, f: Array) -> dict[str, Array]:
        """The joint forces (1,) of a force f (1,) along the tendon."""
        return {name: self.coefficients[k] * f for k, name in enumerate(self.joints)}

    def resistance(self, f: Array, slope: Array) -> Resistance:
        """The forces f - slope (L' - L'_0) in joints, f being that at the start of a step."""
        c = self.coefficients
        return Resistance(
            joint_forces=self.pulled(f),
            joint_slopes={name: c[k] * c[k] * slope for k, name in enumerate(self.joints)},
            joint_couplings={
                (a, b): c[i] * c[j] * slope[0] for (i, a), (j, b) in combinations(enumerate(self.joints), 2)
            },
        )

    def _sum(self, values: Sequence[Array]) -> Array:
        total: Array = sum((self.coefficients[k] * x for k, x in enumerate(values)), np.zeros(1))
        return total


@dataclass(frozen=True, eq=False)
class AlongTendon(Element):
    """What acts along a tendon over joints, L = sum of c_i q_i: a force f along it is tau_i = c_i f in them."""

    kind: ClassVar[str] = "tendon"

    over: tuple[str, ...] = ()
    coefficients: ArrayLike = ()

    def __post_init__(self) -> None:
        over, c = self.over, as_array(self.coefficients)
        require_finite(self.owner, coefficients=self.coefficients)
        if isinstance(over, str) or not over or len(set(over)) < len(over):
            raise FieldError(
                f"over of {self.owner} must name one or more bodies with joints, each once, not {over!r}.", "over"
            )
        if c.shape != (len(over),):
            raise FieldError(
                f"coefficients of {self.owner} must be {len(over)} numbers, one for each joint, not "
                f"{self.coefficients!r}.",
                "coefficients",
            )

    @property
    def owner(self) -> str:
        """What errors call it."""
        return f"{self.kind} {self.name!r}"

    def joints(self) -> tuple[str, ...]:
        return tuple(self.over)

    def units(self) -> dict[str, str]:
        return {"length": "rad, m", "tension": "N m, N"}

    def path(self, scene: Scene) -> TendonPath:
        """Its path; an error if a joint has more than one degree of freedom."""
        for name in self.over:
            if (joint := scene.mechanism.link(name).joint).nv != 1 or joint.nq != 1:
                raise FieldError(
                    f"{self.owner} runs over the {joint.kind} joint of body {name!r}; a tendon runs over joints of one "
                    "degree of freedom.",
                    "over",
                )
        return TendonPath(self.over, as_array(self.coefficients))


@dataclass(frozen=True, eq=False)
class Tendon(AlongTendon):
    """A spring, damper and dry friction along a tendon over joints, L = sum of c_i q_i.

        f = -k (L - rest_length) - d L' - friction tanh(L' / 1e-3),   tau_i = c_i f

    `over`: the bodies whose joints it runs over; `coefficients` c_i [m/rad, 1, ...], one for each. Coordinates may be
    angles, and L too. rest_length: one number, or two, between which the spring is slack.
    """

    takes_only: ClassVar[bool] = True

    stiffness: Annotated[float, "N/m", "N m"] = 0.0
    damping: Annotated[float, "N s/m", "N m s"] = 0.0
    rest_length: Annotated[ArrayLike, "m", "rad"] = 0.0
    friction: Annotated[float, "N", "N m"] = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        owner, rest = self.owner, self.rest_length
        require_not_negative(owner, stiffness=self.stiffness, damping=self.damping, friction=self.friction)
        require_finite(owner, rest_length=rest)
        shape = np.shape(as_array(rest))
        if shape not in ((), (2,)) or (shape and not is_traced(rest) and np.diff(np.asarray(rest))[0] < 0):
            raise FieldError(
                f"rest_length of {owner} must be one number, or two in order, between which it is slack, not {rest!r}.",
                "rest_length",
            )

    def effect(self, scene: Scene) -> Effect:
        path = self.path(scene)
        L, rate = path.length(scene)
        x, _ = self._stretch(L)
        loss = self.damping * rate + self.friction * np.tanh(rate / 1e-3)
        f = -self.stiffness * x - loss
        stored = 0.5 * self.stiffness * (x @ x)
        return Effect(joint_forces=path.pulled(f), stored=stored, power=-(loss @ rate), shown=_shown(L, f))

    def resisting(self, scene: Scene, h: Scalar) -> Resisting:
        """The spring by its stretch at the end of the step, the dry friction by its secant."""
        path = self.path(scene)
        L, start = path.length(scene)

        def about(rate: Array) -> tuple[Array, Array]:
            x, taut = self._stretch(L + h * rate)
            slope = self._slope(rate)
            g = slope + h * self.stiffness * taut
            return -self.stiffness * x - slope * rate + g * (rate - start), g

        def taken(later: Later, used: Used) -> Effect:
            guess, rate, k = path.rate(used.guess), path.rate(later), self.stiffness
            (f, slope), (before, _), (after, _) = about(guess), self._stretch(L), self._stretch(L + h * rate)
            f, loss = f - slope * (rate - start), self._slope(rate) * rate
            over = 0.5 * k * (after - before) @ (after + before) / h - k * (after @ rate)
            by_guess = (f + k * after + loss) @ rate
            return Effect(
                joint_forces=used.joint_forces,
                stored=0.5 * k * (before @ before),
                power=-(loss @ rate),
                shown=_shown(L, f),
                numerical=over + by_guess,
                foreseen=0.5 * k * (after @ after),
            )

        return Resisting(lambda later: path.resistance(*about(path.rate(later))), taken)

    def _slope(self, rate: Array) -> Array:
        """Damper and dry friction over L' (1,)."""
        speed = np.abs(rate) + 1e-9
        slope: Array = self.damping + self.friction * np.tanh(speed / 1e-3) / speed
        return slope

    def _stretch(self, L: Array) -> tuple[Array, Array]:
        """How far L (1,) is beyond the rest length, and 1 where the spring is taut, 0 where it is slack."""
        rest = as_array(self.rest_length)
        if rest.shape == ():
            return L - rest, np.ones(1)
        x = L - np.clip(L, rest[0], rest[1])
        return x, np.where(x != 0.0, 1.0, 0.0)


@dataclass(frozen=True, eq=False)
class TendonStop(AlongTendon):
    """Elastic stops at the limits of the length L = sum of c_i q_i of a tendon, as a `JointStop` at those of a joint.

    f = k d (1 + c d') at d > 0 beyond a limit, tau_i = c_i f. `over`, `coefficients`: as for a `Tendon`.
    """

    kind: ClassVar[str] = "tendon stop"
    takes_only: ClassVar[bool] = True

    stiffness: Annotated[float, "N/m", "N m"] = 1e4
    damping: Annotated[float, "s/m", "s/rad"] = 0.5
    lower: Annotated[float, "m", "rad"] = -np.inf
    upper: Annotated[float, "m", "rad"] = np.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = self.owner
        require_not_negative(owner, stiffness=self.stiffness, damping=self.damping)
        if not is_traced(self.lower, self.upper) and not self.lower < self.upper:
            raise FieldError(
                f"the lower limit {self.lower!r} of {owner} must be less than the upper one, {self.upper!r}.", "lower"
            )

    def effect(self, scene: Scene) -> Effect:
        path = self.path(scene)
        L, rate = path.length(scene)
        k, c = as_array(self.stiffness), as_array(self.damping)
        f, stored, power = bumped(L, rate, k, c, *within_reach(self.lower, self.upper))
        return Effect(joint_forces=path.pulled(f), stored=stored, power=power, shown=_shown(L, f))

    def resisting(self, scene: Scene, h: Scalar) -> Resisting:
        path = self.path(scene)
        L, rate = path.length(scene)
        lower, upper = within_reach(self.lower, self.upper)
        depths = ((lower - L, 1.0), (L - upper, -1.0))
        bumpers = Bumpers(as_array(self.stiffness), as_array(self.damping), h, rate, depths)

        def taken(later: Later, used: Used) -> Effect:
            f, slope = bumpers.about(path.rate(used.guess))
            f = f - slope * path.change(later)
            return Effect(joint_forces=used.joint_forces, shown=_shown(L, f), **bumpers.books(path.rate(later), f))

        return Resisting(lambda later: path.resistance(*bumpers.about(path.rate(later))), taken)


@dataclass(frozen=True, eq=False)
class TendonMotor(AlongTendon):
    """A motor along a tendon over joints, L = sum of c_i q_i, with feedback if it has gains.

        f = value + kp (target - L) + kd (target_rate - L'), within +-limit;   tau_i = c_i f

    `over`, `coefficients`: as for a `Tendon`; value, target and target_rate: constant, tabulated, inputs or functions.
    """

    kind: ClassVar[str] = "tendon motor"

    value: Annotated[Value, "N", "N m"] = 0.0
    kp: Annotated[float, "N/m", "N m"] = 0.0
    kd: Annotated[float, "N s/m", "N m s"] = 0.0
    target: Annotated[Value, "m", "rad"] = 0.0
    target_rate: Annotated[Value, "m/s", "rad/s"] = 0.0
    limit: Annotated[float, "N", "N m"] = np.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        owner, numbers = self.owner, "value kp kd target target_rate".split()
        require_finite(owner, **{name: getattr(self, name) for name in numbers})
        require_limit(owner, self.limit)

    @property
    def resists(self) -> bool:
        return is_traced(self.kp, self.kd) or bool(np.any(self.kp) or np.any(self.kd))

    def effect(self, scene: Scene) -> Effect:
        path = self.path(scene)
        L, rate = path.length(scene)
        f = limited(self._force(scene, L, rate), self.limit)
        return Effect(joint_forces=path.pulled(f), shown=_shown(L, f))

    def resisting(self, scene: Scene, h: Scalar) -> Resisting:
        """value + kp (target - L - h L') + kd (target_rate - L'): a motor at its limit does not yield."""
        path = self.path(scene)
        L, rate = path.length(scene)
        slope = (self.kd + h * self.kp) * np.ones(1)
        f = self._force(scene, L + h * rate, rate)

        def about(later: Later) -> tuple[Array, Array]:
            return yielding(f, slope, path.change(later), self.limit)

        def taken(later: Later, used: Used) -> Effect:
            here, g = about(used.guess)
            shown = _shown(L, here - g * path.change(later))
            return Effect(joint_forces=used.joint_forces, power=used.power(later), shown=shown)

        return Resisting(lambda later: path.resistance(*about(later)), taken)

    def _force(self, scene: Scene, L: Array, rate: Array) -> Array:
        owner = self.owner
        value, target, target_rate = (
            value_of(getattr(self, name), scene, (1,), name, owner) for name in ("value", "target", "target_rate")
        )
        return value + self.kp * (target - L) + self.kd * (target_rate - rate)


def _shown(L: Array, f: Array) -> dict[str, Array]:
    """The length and the force of a tendon."""
    return {"length": L[0], "tension": f[0]}
