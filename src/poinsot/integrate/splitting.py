"""Free rotation by splitting: exact rotations about one principal axis after the other.

The rotational energy is a sum of three terms, Pi_k^2 / (2 I_k). With one of them alone the body rotates about that axis
at the constant rate Pi_k / I_k, and the angular momentum Pi in body axes rotates the other way: both are known exactly.
The symmetric composition of such rotations conserves the angular momentum in the world exactly, remains a rotation, is
reversible in time, and has a bounded energy error.

Touma and Wisdom, Astron. J. 107 (1994); Dullweber, Leimkuhler and McLachlan, J. Chem. Phys. 107 (1997).
"""

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.integrate.schemes import COMPOSITIONS
from poinsot.spatial import quaternion
from poinsot.spatial.arrays import as_array

_SWEEP = ((0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5))  # axis and fraction of the step; symmetric


def free_rotation(q: ArrayLike, L: ArrayLike, moments: ArrayLike, h: float | Array, order: int = 2) -> Array:
    """The attitude q_WB (4,) after one step h [s] of torque-free rotation.

    L (3,) [kg m^2/s] is the angular momentum in world axes, which is constant; moments (3,) [kg m^2] are the
    principal moments, along the axes of B.
    """
    q, L = as_array(q), as_array(L)
    inverse = 1.0 / as_array(moments)
    Pi = quaternion.rotate(quaternion.conjugate(q), L)
    for fraction in COMPOSITIONS[order]:
        for axis, part in _SWEEP:
            half = (0.5 * part * fraction) * h * (Pi[axis] * inverse[axis])
            c, s = np.cos(half), np.sin(half)
            q, Pi = _rotate(q, axis, c, s), _rotate_back(Pi, axis, c, s)
    return q * (1.5 - 0.5 * (q @ q))  # keeps |q| = 1 despite rounding


def _rotate(q: Array, axis: int, c: Array, s: Array) -> Array:
    """q (c, s e_axis): rotated about a body axis by twice the angle whose cosine and sine are c and s."""
    w, (x, y, z) = q[0], np.roll(q[1:], -axis)
    u = np.stack([w * s + x * c, y * c + z * s, z * c - y * s])
    return np.concatenate([(w * c - x * s)[None], np.roll(u, axis)])


def _rotate_back(Pi: Array, axis: int, c: Array, s: Array) -> Array:
    """The components of a fixed vector, in the axes of the rotating body."""
    a, b, d = np.roll(Pi, -axis)
    cosine, sine = c * c - s * s, 2 * c * s
    return np.roll(np.stack([a, cosine * b + sine * d, cosine * d - sine * b]), axis)
