"""Free rotation by splitting: exact turns about one principal axis after the other.

The energy of rotation is a sum of three terms, Pi_k^2 / (2 I_k). If only one of them were there, the body would turn
about that axis at the constant rate Pi_k / I_k, and the angular momentum Pi in body axes would turn the other way: both
are known exactly. Putting such turns together symmetrically gives a scheme that keeps the angular momentum in the
world exactly, stays a rotation, is reversible in time, and whose energy error stays bounded for ever.

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

    L (3,) [kg m^2/s] is the angular momentum in world axes, which stays as it is; moments (3,) [kg m^2] are the
    principal moments, along the axes of B.
    """
    q, L = as_array(q), as_array(L)
    inverse = 1.0 / as_array(moments)
    Pi = quaternion.rotate(quaternion.conjugate(q), L)
    for fraction in COMPOSITIONS[order]:
        for axis, part in _SWEEP:
            half = (0.5 * part * fraction) * h * (Pi[axis] * inverse[axis])
            c, s = np.cos(half), np.sin(half)
            q, Pi = _turn(q, axis, c, s), _turn_back(Pi, axis, c, s)
    return q * (1.5 - 0.5 * (q @ q))  # keeps |q| = 1 against rounding


def _turn(q: Array, axis: int, c: Array, s: Array) -> Array:
    """q (c, s e_axis): turned about a body axis by twice the angle whose cosine and sine are c and s."""
    w, (x, y, z) = q[0], np.roll(q[1:], -axis)
    u = np.stack([w * s + x * c, y * c + z * s, z * c - y * s])
    return np.concatenate([(w * c - x * s)[None], np.roll(u, axis)])


def _turn_back(Pi: Array, axis: int, c: Array, s: Array) -> Array:
    """The components of a fixed vector, seen from the body that turns."""
    a, b, d = np.roll(Pi, -axis)
    cosine, sine = c * c - s * s, 2 * c * s
    return np.roll(np.stack([a, cosine * b + sine * d, cosine * d - sine * b]), axis)
