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
    springs that resist turning; None: there are none.
    """

    n: Array
    points: Array
    depths: Array
    belt: Array
    xi: Array
    turn: Array | None = None
    found: "Found" = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "xi", self.along(self.xi))  # the patch may have turned since
        object.__setattr__(self, "found", Found.of(self.n, self.points, self.depths, self.belt))

    @property
    def kept(self) -> int:
        """How many numbers say what its springs hold: along it and about its normal, and across that."""
        return 1 if self.turn is None else 2

    def speeds(self, W: Array) -> tuple[list[Array], Array]:
        """The speeds [m/s] at which its points part, and the velocity (3,) of its centre along it."""
        away = self.n @ W[3:] - self.found.belt
        apart = [away + c @ W[:3] for c in self.found.arms]
        return apart, self.along(W[3:] + np.cross(W[:3], self.found.centre) - self.belt)

    def along(self, x: Array) -> Array:
        """The part of a vector (3,) along the patch."""
        return x - (self.n @ x) * self.n

    def forces(self, law: Any, h: Scalar, W: Array) -> "Grip":
        """What it does at the relative twist W."""
        apart, u = self.speeds(W)
        moment, f_n, elastic, spread, slopes = np.zeros(3), np.zeros(()), np.zeros(()), np.zeros(()), []
        for j, u_n in enumerate(apart):
            f, g, e = push(law.stiffness * self.found.share, law.damping, h, self.depths[j], u_n)
            f_n, elastic, moment = f_n + f, elastic + e, moment + f * self.found.arms[j]
            spread = spread + f * self.found.spread[j]
            slopes.append(g)
        k, most = SHEAR * law.stiffness, law.friction * f_n
        slope = k * h + law.damping * elastic
        pull = k * self.xi + slope * u
        if self.turn is None:
            s = held(pull, most)
            return Grip(
                self._wrench(f_n, moment, s * pull), slopes, s * slope, np.zeros(()), np.zeros(()), np.stack([s])
            )
        radius = np.sqrt(spread / (f_n + TINY) + TINY**2) + law.torsion / np.maximum(law.friction, LEAST)
        twist = radius * (self.n @ (k * self.turn + slope * W[:3]))
        both = np.concatenate([pull, np.stack([twist])])
        s = held(both, most)
        eased = radius * RELAXING * k * (self.n @ W[:3])  # while it holds, its swing about the normal dies out
        s_e = held(eased, most - s * np.sqrt(np.sum(both * both) + TINY**2))
        arm, resisted = TURNING / SHEAR * law.rolling**2, slope + RELAXING * k
        across = arm * self.along(k * self.turn + resisted * W[:3])
        s_t = held(across, law.rolling * f_n)
        moment = moment - radius * (s * twist + s_e * eased) * self.n - s_t * across
        square, springs = radius * radius, k * np.stack([s * radius * radius, s_t * arm])
        about = square * (s * slope + s_e * RELAXING * k)
        F, holds = self._wrench(f_n, moment, s * pull), np.stack([s, s_t])
        return Grip(F, slopes, s * slope, about, s_t * arm * resisted, holds, springs)

    def _wrench(self, f_n: Array, moment: Array, pull: Array) -> Array:
        """F (6,) of the forces across the patch, with their moment (3,), and of a pull (3,) at its centre."""
        return np.concatenate([moment - np.cross(self.found.centre, pull), f_n * self.n - pull])

    def _turning(self, grip: "Grip", W: Array) -> Array:
        """The power [W] of the moments that resist turning, linearised as in a grip, at the twist W. What their springs
        store is taken for lost until it comes back."""
        if self.turn is None or grip.springs is None:
            return np.zeros(())
        spin, tilt = self.n @ W[:3], self.along(W[:3])
        about = grip.springs[0] * (self.n @ self.turn) + grip.about * spin
        across = grip.springs[1] * self.along(self.turn) + grip.across * tilt
        power: Array = -about * spin - across @ tilt
        return power

    def stretched(self, h: Scalar, W: Array, kept: Array) -> tuple[Array, Array]:
        """The stretch (3,) and turn (3,) at the end of the step: s (xi + h u_t)."""
        xi = kept[0] * (self.xi + h * self.speeds(W)[1])
        if self.turn is None:
            return xi, np.zeros(3)
        s, s_t = kept
        turned = self.turn + h * W[:3]
        return xi, s * (self.n @ turned) * self.n + s_t * self.along(turned)

    def stored(self, law: Any, h: Scalar, W: Array, xi: Array) -> Array:
        """The energy [J] in its springs across and along, a time h after the start. What the springs that resist
        turning store is taken for lost until it comes back."""
        deep = [np.maximum(d - h * u, 0.0) for d, u in zip(self.depths, self.speeds(W)[0], strict=True)]
        across = sum((d * d for d in deep), np.zeros(()))
        energy: Array = 0.5 * law.stiffness * (self.found.share * across + SHEAR * (xi @ xi))
        return energy

    def booked(self, law: Any, h: Scalar, W: Array, guess: Array, xi: Array) -> "Books":
        """What its forces do to the energy over a step that ends at the twist W, per second: the forces were linearised
        about a guess of it, and left the stretch xi. By the law, all but the work of the belt is lost."""
        grip, (apart, u), (guessed, _) = self.forces(law, h, guess), self.speeds(W), self.speeds(guess)
        damping, by_guess, over, f_n = np.zeros(()), np.zeros(()), np.zeros(()), np.zeros(())
        k_n = law.stiffness * self.found.share
        for j, u_n in enumerate(apart):
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
        return Books(damping, sliding, self._turning(grip, W), moved, by_guess + over / h)

    def books_now(self, law: Any, W: Array, grip: "Grip") -> "Books":
        """The same at an instant, without a step."""
        (apart, u), k = self.speeds(W), SHEAR * law.stiffness
        pushes = [
            push(law.stiffness * self.found.share, law.damping, 0.0, d, a)
            for d, a in zip(self.depths, apart, strict=True)
        ]
        damping = sum(((f - e) * a for (f, _, e), a in zip(pushes, apart, strict=True)), np.zeros(()))
        s, f_n = grip.holds[0], sum((f for f, _, _ in pushes), np.zeros(()))
        pull, sticks = s * k * self.xi + grip.along * u, s > STICKS
        damping = damping - np.where(sticks, grip.along * (u @ u), 0.0)
        sliding = np.where(sticks, 0.0, -(pull @ u))
        return Books(damping, sliding, self._turning(grip, W), f_n * self.found.belt - pull @ self.belt)


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
    """What a patch has, whatever its velocity; found before the iterations of a step.

    centre (3,) [m] as of `centre_of`. share: of the stiffness that every point has. arms c = r x n of the points r, and
    of the centre; squares: c c^T of these and r r^T of the centre; spread: the squares [m^2] of the distances of the
    points from the axis of the patch. belt [m/s]: along n.
    """

    centre: Array
    share: Any
    arms: list[Array]
    arm: Array
    squares: list[Array]
    arm_square: Array
    centre_square: Array
    spread: list[Array]
    belt: Array

    @classmethod
    def of(cls, n: Array, points: Array, depths: Array, belt: Array) -> "Found":
        """Of a patch with this normal."""
        centre, share = (points[0], 1.0) if len(points) == 1 else (centre_of(points, depths), _share(depths))
        arms, arm = [np.cross(r, n) for r in points], np.cross(centre, n)
        squares, spread = [np.outer(c, c) for c in arms], [np.sum((c - arm) ** 2) for c in arms]
        return cls(centre, share, arms, arm, squares, np.outer(arm, arm), np.outer(centre, centre), spread, n @ belt)


def centre_of(points: Array, depths: Array) -> Array:
    """The centre (3,) of the points that touch, weighted by their depths, or of all if none does.

    So nothing jumps where a point begins to touch: what rests on points that hardly touch would never come to rest.
    """
    weights = np.maximum(depths, 0.0) + UNTOUCHED
    centre: Array = weights @ points / np.sum(weights)
    return centre


def _share(depths: Array) -> Array:
    """Of the stiffness, that each point has: all of it, or if they are more than FULL, their part of that of so many.
    Points count by their depths, as (sum of d)^2/sum of d^2 of them."""
    deep = np.maximum(depths, 0.0)
    total, squares = np.sum(deep) + TINY, np.sum(deep * deep)
    return np.where(squares > 0, np.minimum(1.0, FULL * squares / (total * total)), 1.0)


@dataclass(frozen=True, eq=False)
class Grip:
    """A patch at a guess of the relative twist: its wrench F (6,) on a, and how it resists: -df_n/du_n [N s/m] of its
    points, -df_t/du_t [N s/m] of its centre, and the same about and across the normal [N m s]; what `holds` of
    the springs; and the stiffness (2,) [N m] of what holds of those that resist turning."""

    F: Array
    apart: Sequence[Array]
    along: Array
    about: Array
    across: Array
    holds: Array
    springs: Array | None = None


@dataclass(frozen=True, eq=False)
class Lumps:
    """The sum of the resistances of patches with one normal n, about the origin of a, as moments of lumps: `mass`
    [N s/m] at points r, and `along` at points that are felt along n alone, with c = r x n."""

    n: Array
    mass: Any = 0.0
    first: Any = field(default_factory=lambda: np.zeros(3))
    second: Any = field(default_factory=lambda: np.zeros((3, 3)))
    along: Any = 0.0
    across: Any = field(default_factory=lambda: np.zeros(3))
    both: Any = field(default_factory=lambda: np.zeros((3, 3)))

    def with_patch(self, patch: Pressed, grip: Grip) -> "Lumps":
        """With one patch more."""
        found, n, g_t = patch.found, self.n, grip.along
        lumps = list(zip(grip.apart, found.arms, found.squares, strict=True))
        if len(lumps) == 1:  # the centre is that point
            lumps = [(grip.apart[0] - g_t, found.arm, found.arm_square)]
        else:
            lumps.append((-g_t, found.arm, found.arm_square))
        along, across, both = self.along, self.across, self.both
        for g, c, square in lumps:
            along, across, both = along + g, across + g * c, both + g * square
        if patch.turn is not None:
            both = both + (grip.about - grip.across) * np.outer(n, n) + grip.across * np.eye(3)
        first, second = self.first + g_t * found.centre, self.second + g_t * found.centre_square
        return Lumps(n, self.mass + g_t, first, second, along, across, both)

    def matrix(self) -> Array:
        """K (6, 6)."""
        n, (x, y, z) = self.n, self.first
        E = np.trace(self.second) * np.eye(3) - self.second + self.both
        C = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) + np.outer(self.across, n)
        return np.block([[E, C], [C.T, self.mass * np.eye(3) + self.along * np.outer(n, n)]])


def resistance(patches: Sequence[Pressed], grips: Sequence[Grip]) -> Array:
    """K (6, 6) of some patches; those that have one normal are summed together."""
    lumps: dict[Any, Lumps] = {}
    for patch, grip in zip(patches, grips, strict=True):
        key = tuple(map(id, patch.n.data)) if isinstance(patch.n, Traced) else patch.n.tobytes()
        lumps[key] = lumps.get(key, Lumps(patch.n)).with_patch(patch, grip)
    return sum((x.matrix() for x in lumps.values()), np.zeros((6, 6)))
