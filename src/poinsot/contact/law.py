"""The law of contact, taken at the end of a step.

With the depth d of a contact at the start of a step h, the velocity u of the touching point relative to what it
touches, and the normal n that points out of that:

    f_n = k (d - h u_n)+ (1 - c u_n)+              Hunt and Crossley (1975)
    f_t = -s (k_t y + b u_t),   y = xi + h u_t,    a tangential spring, stretched by xi at the start,
    s = min(1, mu f_n / |k_t y + b u_t|),          that slides at Coulomb's limit: Cundall and Strack (1979)
    xi := s y,   b = c k (d - h u_n)+.

So what rests stays at rest; nothing creeps. At h = 0 it is the force at an instant. For the implicit step, f_n is
linearised by its tangent and f_t by its secant, with s as for the last guess of u: the slopes -df/du are never
negative, whatever the guess, so that any number of iterations is stable. `contact.pressing` takes it for whole patches.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, Scalar
from poinsot.fuse import is_traced
from poinsot.spatial.arrays import number_in

SHEAR = 0.8  # the stiffness along the surface over that across it; 2 (1 - nu)/(2 - nu) is 0.82 for nu = 0.3 (Mindlin)
TINY = 2e-19  # N: so that nothing is divided by zero; in float32 its square is still a normal number
NUMBERS = ("stiffness", "damping", "friction", "torsion", "rolling")  # of a material, as contacts have them


@dataclass(frozen=True, eq=False)
class Material:
    """The material of a contact: stiffness [N/m] of every point that touches, damping c [s/m] of Hunt and Crossley, and
    friction mu.

    `torsion` and `rolling` [m]: how many times its normal force the moment is that a contact resists with, about the
    normal and across it. A patch of several points resists with mu f_n r about the normal besides, r being the radius
    of gyration of its pressure. `Material.bouncing(restitution, speed)` finds c.
    """

    stiffness: Annotated[float, "N/m"] = 1e5
    damping: Annotated[float, "s/m"] = 0.5
    friction: Annotated[float, "1"] = 0.8
    torsion: Annotated[float, "m"] = 0.0
    rolling: Annotated[float, "m"] = 0.0

    def __post_init__(self) -> None:
        for name in NUMBERS:
            value = getattr(self, name)
            if not is_traced(value) and not 0 <= number_in(value) < np.inf:
                raise FieldError(f"{name} of a material must be zero or more, not {value!r}.", name)

    @classmethod
    def bouncing(cls, restitution: float, speed: float = 1.0, **numbers: float) -> "Material":
        """With the damping by which a blow at this speed [m/s] comes back at `restitution` times that."""
        return cls(damping=damping_for(restitution, speed), **numbers)


def numbers_of(law: Any) -> dict[str, Any]:
    """The numbers of a material, or of an element that has them, by name."""
    return {name: getattr(law, name) for name in NUMBERS}


def push(k: Any, c: Any, h: Scalar, depth: Array, u_n: Array) -> tuple[Array, Array, Array]:
    """The normal force f_n [N] at the speed u_n [m/s] outwards, -df_n/du_n [N s/m], and its elastic part [N]."""
    deep, damp = np.maximum(depth - h * u_n, 0.0), np.maximum(1.0 - c * u_n, 0.0)
    slope = k * (h * np.where(deep > 0, damp, 0.0) + c * np.where(damp > 0, deep, 0.0))
    return k * deep * damp, slope, k * deep


def pushed_over(k: Any, h: Scalar, depth: Array, u_n: Array) -> Array:
    """The energy [J], never positive, that a step adds to spring and motion: the elastic force is that at its end,
    k x1, all along the way from the depth x0 to x1, -k (x1 - x0)^2/2, and before it touches."""
    start, end = np.maximum(depth, 0.0), np.maximum(depth - h * u_n, 0.0)
    added: Array = -0.5 * k * (end - start) ** 2 + k * end * np.minimum(depth, 0.0)
    return added


def held(pull: Array, most: Array) -> Array:
    """s: how much of a pull, a number or (3,), holds if it can be at most that much."""
    return most / np.maximum(np.sqrt(np.sum(pull * pull) + TINY**2), most + TINY)


def damping_for(restitution: float, speed: float = 1.0) -> float:
    """c [s/m] with which a body that hits at this speed [m/s] comes back at `restitution` times that, as the step goes
    to zero.

    With d' = u, Hunt and Crossley's law gives u du/dd = -k d (1 + c u)/m, and integrated over the blow
    ln((1 + c v)/(1 - c e v)) = c v (1 + e): x = c v follows from e alone.
    """
    if not (0 < restitution <= 1 and 0 < speed < np.inf):
        raise FieldError(
            f"restitution must be above 0 and at most 1, at a speed above 0, not {restitution!r} at {speed!r} m/s.",
            "restitution",
        )
    low, high = 0.0, 1 / restitution  # the left side is below the right one at first, and infinite at the end
    for _ in range(100):
        x = 0.5 * (low + high)
        kept = 1 - restitution * x
        below = kept > 0 and np.log1p(x) - np.log(kept) < x * (1 + restitution)
        low, high = (x, high) if below else (low, x)
    return low / speed
