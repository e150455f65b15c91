"""Patches of contact that are pressed together: their forces over a step, as functions of the velocity at its end.

A patch has one normal and some points. Every point pushes by the law of `contact.law`; friction acts on the patch as a
whole, at the centre of its points, by springs along it, about its normal and, if its material has `rolling`, across it.
A single point is a patch as well.

A patch slides as one: where it spins it does not hold, and where it slides it spins more easily (Contensou 1963). With
the moment M about its normal, and the radius r at which friction has its greatest moment, mu f_n r,

    f_t^2 + (M/r)^2 <= (mu f_n)^2

is the limit of both, nearly (the ellipsoid of Howe and Cutkosky, 1996); beyond it both springs give way by one share s.
The springs being k_t and k_t r^2, it slides along the normal of the limit: a spinning patch resists sliding with
mu f_n u/sqrt(u^2 + (r w)^2). Of Hertz's pressure, for which r is 3 pi/16 of its radius a, and the force mu f_n u/(u +
8/(3 pi) a w) nearly (Zhuravlev 1998), it is right where it only slides or only spins, and 1.44 times that at u << r w.

All is in the axes of one of the two bodies, a, about its origin: there the velocity of a relative to what it touches is
one twist W (6,), and the resistances of all patches add up to one matrix.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.contact.law import SHEAR, TINY, held, push, pushed_over
from poinsot.fuse import Traced

UNTOUCHED = 1e-12  # m: the weight of points that do not touch, so that nothing is divided by zero
FULL = 4.0  # points, as deep as each other, at which a patch has its full stiffness: more of them share it
TURNING = 10.0  # a rolling friction t [m] resists turning with the stiffness 10 k t^2
RELAXING = 0.01  # s: the damping of springs that resist turning over their stiffness
LEAST = 1e-3  # friction, below which torsion counts for less
STICKS = 1 - 1e-9  # s of a spring that does not slide, less rounding


@dataclass(frozen=True, eq=False)
class Pressed:
    """A patch with its springs.

    n (3,): the normal, towards a. points (m, 3) [m], depths (m,) [m]. belt (3,) [m/s]: the velocity of what is
    touched, beside that which W takes into account. stretch xi (3,) [m] along the patch. turn (3,) [rad]: of the
    springs that resist turning; None: there are none. share: of the stiffness that a point alone has.
    """

    n: Array
    points: Array
    depths: Array
    belt: Array
    xi: Array
    turn: Array | None = None
    share: Any = 1.0
    found: "Found" = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "xi", self.along(self.xi))  # the patch may have turned since
        object.__setattr__(self, "found", Found.of(self.n, self.points, self.depths, self.belt, self.share))

    @property
    def kept(self) -> int:
        """How many numbers say what its springs hold: along it and about its normal, and across that."""
        return 1 if self.turn is None else 2

    def speeds(self, W: Array) -> "Speeds":
        """At the relative twist W."""
        away = self.n @ W[3:] - self.found.belt
        apart = [away + c @ W[:3] for c in self.found.arms]
        moving = W[3:] + np.cross(W[:3], self.found.centre) - self.belt
        return Speeds(apart, moving - apart[0] * self.n if len(apart) == 1 else self.along(moving), W[:3])

    def along(self, x: Array) -> Array:
        """The part of a vector (3,) along the patch."""
        return x - (self.n @ x) * self.n

    def grip(self, law: Any, h: Scalar, W: Array) -> "Grip":
        """Its forces over a step h, linearised about the relative twist W."""
        now = self.speeds(W)
        f_n, elastic, spread, pushes, slopes = np.zeros(()), np.zeros(()), np.zeros(()), [], []
        for j, u_n in enumerate(now.apart):
            f, g, e = push(law.stiffness * self.found.share, law.damping, h, self.depths[j], u_n)
            f_n, elastic, spread = f_n + f, elastic + e, spread + f * self.found.spread[j]
            pushes.append(f)
            slopes.append(g)
        k, most = SHEAR * law.stiffness, law.friction * f_n
        slope = k * h + law.damping * elastic
        stretched = k * self.xi
        pull = stretched + slope * now.along
        if self.turn is None:
            s = held(pull, most)
            return Grip(now, pushes, slopes, s * stretched, s * slope, np.stack([s]))
        radius = np.sqrt(spread / (f_n + TINY) + TINY**2) + law.torsion / np.maximum(law.friction, LEAST)
        twist = radius * (self.n @ (k * self.turn + slope * now.spin))
        both = np.concatenate([pull, np.stack([twist])])
        s = held(both, most)
        eased = radius * RELAXING * k * (self.n @ now.spin)  # while it holds, its swing about the normal dies out
        s_e = held(eased, np.maximum(most - s * np.sqrt(np.sum(both * both) + TINY**2), 0.0))  # but for rounding
        arm, resisted = TURNING / SHEAR * law.rolling**2, slope + RELAXING * k
        s_t = held(arm * self.along(k * self.turn + resisted * now.spin), law.rolling * f_n)
        square, springs = radius * radius, k * np.stack([s * radius * radius, s_t * arm])
        turning = Turning(springs, square * (s * slope + s_e * RELAXING * k), s_t * arm * resisted)
        return Grip(now, pushes, slopes, s * stretched, s * slope, np.stack([s, s_t]), turning)

    def wrench(self, grip: "Grip", at: "Speeds") -> Array:
        """F (6,) on a by the linear forces of a grip."""
        tangents = zip(grip.pushes, grip.apart, at.apart, grip.about.apart, strict=True)
        pushes = [f - g * (u_n - guessed) for f, g, u_n, guessed in tangents]
        pull = grip.pull + grip.along * at.along
        force = sum(pushes, np.zeros(())) * self.n - pull
        if len(pushes) == 1:
            moment = np.cross(self.found.centre, force)
        else:
            pushing = sum((f * c for f, c in zip(pushes, self.found.arms, strict=True)), np.zeros(3))
            moment = pushing - np.cross(self.found.centre, pull)
        if grip.turning is not None:
            about, across = self._moments(grip.turning, at.spin)
            moment = moment - about * self.n - across
        return np.concatenate([moment, force])

    def _moments(self, turning: "Turning", w: Array) -> tuple[Array, Array]:
        """The moments [N m] that resist turning at the angular velocity w: about the normal, and across it (3,)."""
        assert self.turn is not None
        about = turning.springs[0] * (self.n @ self.turn) + turning.about * (self.n @ w)
        return about, turning.springs[1] * self.along(self.turn) + turning.across * self.along(w)

    def _turning(self, grip: "Grip", w: Array) -> Array:
        """The power [W] of the moments that resist turning, linearised as in a grip, at the angular velocity w. What
        their springs store is taken for lost until it comes back."""
        if grip.turning is None:
            return np.zeros(())
        about, across = self._moments(grip.turning, w)
        power: Array = -about * (self.n @ w) - across @ self.along(w)
        return power

    def stretched(self, h: Scalar, W: Array, kept: Array) -> tuple[Array, Array]:
        """The stretch (3,) and turn (3,) at the end of the step: s (xi + h u_t)."""
        xi = kept[0] * (self.xi + h * self.speeds(W).along)
        if self.turn is None:
            return xi, np.zeros(3)
        s, s_t = kept
        turned = self.turn + h * W[:3]
        return xi, s * (self.n @ turned) * self.n + s_t * self.along(turned)

    def stored(self, law: Any, h: Scalar, W: Array, xi: Array) -> Array:
        """The energy [J] in its springs across and along, a time h after the start. What the springs that resist
        turning store is taken for lost until it comes back."""
        deep = [np.maximum(d - h * u, 0.0) for d, u in zip(self.depths, self.speeds(W).apart, strict=True)]
        across = sum((d * d for d in deep), np.zeros(()))
        energy: Array = 0.5 * law.stiffness * (self.found.share * across + SHEAR * (xi @ xi))
        return energy

    def booked(self, law: Any, h: Scalar, W: Array, guess: Array, xi: Array) -> "Books":
        """The power that its forces store and take in a step that ends at the twist W: they were linearised
        about a guess of it, and left the stretch xi. By the law, all but the work of the belt is lost."""
        grip, end, guessed = self.grip(law, h, guess), self.speeds(W), self.speeds(guess).apart
        u = end.along
        damping, by_guess, over, f_n = np.zeros(()), np.zeros(()), np.zeros(()), np.zeros(())
        k_n = law.stiffness * self.found.share
        for j, u_n in enumerate(end.apart):
            f, _, elastic = push(k_n, law.damping, h, self.depths[j], u_n)
            about, slope, _ = push(k_n, law.damping, h, self.depths[j], guessed[j])
            used = about - slope * (u_n - guessed[j])
            damping, by_guess, f_n = damping + (f - elastic) * u_n, by_guess + (used - f) * u_n, f_n + used
            over = over + pushed_over(k_n, h, self.depths[j], u_n)
        k, s, y = SHEAR * law.stiffness, grip.holds[0], self.xi + h * u
        viscous = -(grip.along - s * k * h) * (u @ u)
        sliding, over = -s * (1 - s) * k * (y @ y) / h, over - 0.5 * k * np.sum((xi - self.xi) ** 2)
        pull = s * k * self.xi + grip.along * u
        moved = f_n * self.found.belt - pull @ self.belt
        sticks = s > STICKS
        damping, sliding = damping + np.where(sticks, viscous, 0.0), sliding + np.where(sticks, 0.0, viscous)
        return Books(damping, sliding, self._turning(grip, end.spin), moved, by_guess + over / h)

    def books_now(self, law: Any, W: Array, grip: "Grip") -> "Books":
        """The same at an instant, without a step."""
        now, k = self.speeds(W), SHEAR * law.stiffness
        u = now.along
        pushes = [
            push(law.stiffness * self.found.share, law.damping, 0.0, d, a)
            for d, a in zip(self.depths, now.apart, strict=True)
        ]
        damping = sum(((f - e) * a for (f, _, e), a in zip(pushes, now.apart, strict=True)), np.zeros(()))
        s, f_n = grip.holds[0], sum((f for f, _, _ in pushes), np.zeros(()))
        pull, sticks = s * k * self.xi + grip.along * u, s > STICKS
        damping = damping - np.where(sticks, grip.along * (u @ u), 0.0)
        sliding = np.where(sticks, 0.0, -(pull @ u))
        return Books(damping, sliding, self._turning(grip, now.spin), f_n * self.found.belt - pull @ self.belt)


@dataclass(frozen=True, eq=False)
class Speeds:
    """A relative twist as a patch has it: the speeds [m/s] at which its points part, the velocity (3,) [m/s] of its
    centre along it, and the angular velocity (3,)."""

    apart: Sequence[Array]
    along: Array
    spin: Array


@dataclass(frozen=True, eq=False)
class Books:
    """The power [W] that contacts take by damping, sliding and turning, and get from the belt; and what the step itself
    adds: by linearised forces, and by springs whose force is that at the end of the step."""

    damping: Any = 0.0
    sliding: Any = 0.0
    turning: Any = 0.0
    belt: Any = 0.0
    numerical: Any = 0.0

    def __add__(self, other: "Books") -> "Books":
        return Books(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Books)))

    @classmethod
    def blank(cls) -> "Books":
        """Nothing, as arrays that a loop can carry."""
        return cls(*(np.zeros(()) for _ in fields(cls)))

    @property
    def power(self) -> Any:
        """All of it but the step's own."""
        return self.damping + self.sliding + self.turning + self.belt

    def shares(self, turning: bool) -> dict[str, Any]:
        """Those with rows of their own in the ledger."""
        return {"damping": self.damping, "sliding": self.sliding} | ({"turning": self.turning} if turning else {})


@dataclass(frozen=True, eq=False)
class Found:
    """The properties of a patch at any velocity; found before the iterations of a step.

    centre (3,) [m] as of `centre_of`. share: of the stiffness that every point has. arms c = r x n of the points r, and
    of the centre; squares: c c^T of these; inertia: |r|^2 - r r^T of the centre. spread: the squares [m^2] of the
    distances of the points from the axis of the patch. belt [m/s]: along n.
    """

    centre: Array
    share: Any
    arms: list[Array]
    arm: Array
    squares: list[Array]
    arm_square: Array
    inertia: Array
    spread: list[Array]
    belt: Array

    @classmethod
    def of(cls, n: Array, points: Array, depths: Array, belt: Array, alone: Any) -> "Found":
        """Found for a patch with this normal; alone: the share of a point that is the only one."""
        centre, share = (points[0], alone) if len(points) == 1 else (centre_of(points, depths), _share(depths))
        arms, arm = [np.cross(r, n) for r in points], np.cross(centre, n)
        squares, spread = [np.outer(c, c) for c in arms], [np.sum((c - arm) ** 2) for c in arms]
        inertia = (centre @ centre) * np.eye(3) - np.outer(centre, centre)
        return cls(centre, share, arms, arm, squares, np.outer(arm, arm), inertia, spread, n @ belt)


def centre_of(points: Array, depths: Array) -> Array:
    """The centre (3,) of the points that touch, weighted by their depths, or of all if none does.

    So nothing jumps where a point begins to touch: what rests on points that hardly touch would never come to rest.
    """
    weights = np.maximum(depths, 0.0) + UNTOUCHED
    centre: Array = weights @ points / np.sum(weights)
    return centre


def _share(depths: Array) -> Array:
    """The share of the stiffness that each point has: all of it; of more than FULL points, a part of that of so many.
    Points count by their depths, as (sum of d)^2/sum of d^2 of them."""
    deep = np.maximum(depths, 0.0)
    total, squares = np.sum(deep) + TINY, np.sum(deep * deep)
    return np.where(squares > 0, np.minimum(1.0, FULL * squares / (total * total)), 1.0)


@dataclass(frozen=True, eq=False)
class Grip:
    """The forces of a patch, as linear functions of the relative twist: the `pushes` [N] of its points at the speeds
    that they are linearised `about`, which fall with those by `apart` [N s/m]; the `pull` (3,) [N] at its centre, which
    grows with the velocity there by `along` [N s/m]; and moments that resist turning. `holds`: what share of the
    springs holds."""

    about: "Speeds"
    pushes: Sequence[Array]
    apart: Sequence[Array]
    pull: Array
    along: Array
    holds: Array
    turning: "Turning | None" = None


@dataclass(frozen=True, eq=False)
class Turning:
    """How a patch resists turning about its normal and across it: the stiffness (2,) [N m] of what holds of its
    springs, and by how much the moments grow with the angular velocity [N m s]."""

    springs: Array
    about: Array
    across: Array


@dataclass(frozen=True, eq=False)
class Lumps:
    """The sum of the resistances of patches with one normal n, about the origin of a, as moments of lumps: `mass`
    [N s/m] at points r, with `first` moments and `inertia`, and `along` at points that are felt along n alone, with
    c = r x n."""

    n: Array
    mass: Any = 0.0
    first: Any = field(default_factory=lambda: np.zeros(3))
    inertia: Any = field(default_factory=lambda: np.zeros((3, 3)))
    along: Any = 0.0
    across: Any = field(default_factory=lambda: np.zeros(3))

    def with_patch(self, patch: Pressed, grip: Grip) -> "Lumps":
        """With one patch more."""
        found, n, g_t = patch.found, self.n, grip.along
        lumps = list(zip(grip.apart, found.arms, found.squares, strict=True))
        if len(lumps) == 1:  # the centre is that point
            lumps = [(grip.apart[0] - g_t, found.arm, found.arm_square)]
        else:
            lumps.append((-g_t, found.arm, found.arm_square))
        along, across, inertia = self.along, self.across, self.inertia + g_t * found.inertia
        for g, c, square in lumps:
            along, across, inertia = along + g, across + g * c, inertia + g * square
        if (turning := grip.turning) is not None:
            inertia = inertia + (turning.about - turning.across) * np.outer(n, n) + turning.across * np.eye(3)
        return Lumps(n, self.mass + g_t, self.first + g_t * found.centre, inertia, along, across)

    def matrix(self) -> Array:
        """K (6, 6)."""
        n, (x, y, z) = self.n, self.first
        C = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) + np.outer(self.across, n)
        return np.block([[self.inertia, C], [C.T, self.mass * np.eye(3) + self.along * np.outer(n, n)]])


def resistance(patches: Sequence[Pressed], grips: Sequence[Grip]) -> Array:
    """K (6, 6) of some patches; those that have one normal are summed together."""
    lumps: dict[Any, Lumps] = {}
    for patch, grip in zip(patches, grips, strict=True):
        key = tuple(map(id, patch.n.data)) if isinstance(patch.n, Traced) else patch.n.tobytes()
        lumps[key] = lumps.get(key, Lumps(patch.n)).with_patch(patch, grip)
    return sum((x.matrix() for x in lumps.values()), np.zeros((6, 6)))
