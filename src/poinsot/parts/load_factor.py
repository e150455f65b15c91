"""Load factors: the specific force of any point of any body, as a pilot or an accelerometer feels it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.spatial.arrays import as_array

if TYPE_CHECKING:
    from poinsot.parts.element import Dynamics

G_0 = 9.80665  # m/s^2, standard gravity


def specific_force(motion: "Dynamics", body: str, point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """The acceleration of a point r (3,) [m] of a body less gravity (3,) [m/s^2], in body axes.

        f = v' + w x v + w' x r + w x (w x r) - R^T g

    v, w: the body's twist. g: gravity at the point; around the Earth or another centre it changes with the place.
    """
    scene, r = motion.scene, as_array(point)
    state, rate = scene[body], motion.acceleration(body)
    omega, v = state.twist[:3], state.twist[3:]
    a = rate[3:] + np.cross(omega, v) + np.cross(rate[:3], r) + np.cross(omega, np.cross(omega, r))
    source: Any = scene.elements.get("gravity")
    g = scene.mechanism.gravity if source is None else source.field(state.point(r), scene.t)
    return a - state.pose.R.T @ g


def load_factor(motion: "Dynamics", body: str, point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """n = -f_z/g_0, in aircraft axes (z down) and with 9.80665 m/s^2: 1 in level flight and at rest on the ground."""
    return -specific_force(motion, body, point)[2] / G_0
