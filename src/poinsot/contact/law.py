"""The law of contact, taken at the end of a step.

With the depth d of a contact at the start of a step h, the velocity u of the touching point relative to what it
touches, and the normal n that points out of that:

    f_n = k (d - h u_n)+ (1 - c u_n)+              Hunt and Crossley (1975)
    f_t = -s (k_t y + b u_t),   y = xi + h u_t,    a tangential spring, stretched by xi at the start,
    s = min(1, mu f_n / |k_t y + b u_t|),          that slides at Coulomb's limit: Cundall and Strack (1979)
    xi := s y,   b = c k (d - h u_n)+.

So what rests stays at rest; nothing creeps. At h = 0 it is the force at an instant. For the implicit step, f_n is
linearised by its tangent and f_t by its secant, with s as for the last guess of u: the slopes -df/du are never
negative, whatever the guess, so that any number of iterations is stable.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, Scalar
from poinsot.fuse import is_traced

SHEAR = 0.8  # the stiffness along the surface over that across it; 2 (1 - nu)/(2 - nu) is 0.82 for nu = 0.3 (Mindlin)


@dataclass(frozen=True, eq=False)
class Material:
    """What a contact is made of: stiffness [N/m] of every point that touches, damping c [s/m] of Hunt and Crossley, and
    friction mu."""

    stiffness: Annotated[float, "N/m"] = 1e5
    damping: Annotated[float, "s/m"] = 0.5
    friction: Annotated[float, "1"] = 0.8

    def __post_init__(self) -> None:
        for name in ("stiffness", "damping", "friction"):
            value = getattr(self, name)
            if not is_traced(value) and not (np.ndim(value) == 0 and 0 <= value < np.inf):
                raise FieldError(f"{name} of a material must be zero or more, not {value!r}.", name)


@dataclass(frozen=True, eq=False)
class Touching:
    """A contact at a guess of its velocity: forces and slopes.

    normal: f_n [N]. across: -df_n/du_n [N s/m]. holds: s. pull: s k_t xi (3,) [N]. along: -df_t/du_t [N s/m].
    """

    normal: Array
    across: Array
    holds: Array
    pull: Array
    along: Array

    def force(self, n: Array, guess: Array, u: Array) -> Array:
        """The force (3,) [N] at the velocity u, as linearised about the guess; n: the normal, all in the same axes."""
        u_n = n @ u
        f_n = self.normal - self.across * (u_n - n @ guess)
        return f_n * n - self.pull - self.along * (u - u_n * n)


def push(k: Any, c: Any, h: Scalar, depth: Array, u_n: Array) -> tuple[Array, Array, Array]:
    """The normal force f_n [N] at the speed u_n [m/s] outwards, -df_n/du_n [N s/m], and its elastic part [N]."""
    deep, damp = np.maximum(depth - h * u_n, 0.0), np.maximum(1.0 - c * u_n, 0.0)
    slope = k * (h * np.where(deep > 0, damp, 0.0) + c * np.where(damp > 0, deep, 0.0))
    return k * deep * damp, slope, k * deep


def touch(law: Any, h: Scalar, depth: Array, n: Array, u: Array, xi: Array) -> Touching:
    """The law at the velocity u (3,) [m/s]; depth [m] and stretch xi (3,) [m] at the start of the step h [s].

    law: `stiffness` k, `damping` c, `friction` mu.
    """
    k, u_n = law.stiffness, n @ u
    f_n, across, elastic = push(k, law.damping, h, depth, u_n)
    slope = SHEAR * k * h + law.damping * elastic
    pull = SHEAR * k * xi + slope * (u - u_n * n)
    s = law.friction * f_n / np.maximum(np.sqrt(pull @ pull + TINY**2), law.friction * f_n + TINY)
    return Touching(f_n, across, s, s * SHEAR * k * xi, s * slope)


TINY = 1e-15  # N: below any force that matters, so that nothing is divided by zero


def stretched(h: Scalar, holds: Array, xi: Array, n: Array, u: Array) -> Array:
    """xi (3,) [m] at the end of the step: s (xi + h u_t)."""
    return holds * (xi + h * (u - (n @ u) * n))


def stored(law: Any, depth: Array, xi: Array) -> Array:
    """The energy [J] in the springs of a contact."""
    deep = np.maximum(depth, 0.0)
    energy: Array = 0.5 * law.stiffness * (deep * deep + SHEAR * (xi @ xi))
    return energy


def stored_rate(law: Any, depth: Array, xi: Array, n: Array, u: Array, holds: Array) -> Array:
    """The rate [W] of `stored` at an instant, if the contact moves with u and holds to this part."""
    deep, u_n = np.maximum(depth, 0.0), n @ u
    rate: Array = law.stiffness * (SHEAR * holds * (xi @ (u - u_n * n)) - deep * u_n)
    return rate
