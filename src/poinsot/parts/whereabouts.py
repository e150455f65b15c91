"""Where a body is and how it lies, as a pilot says it: its attitude against north-east-down, and its place."""

from collections.abc import Callable
from typing import Any

import numpy as np

from poinsot._errors import UnknownNameError
from poinsot._types import Array
from poinsot.spatial import euler
from poinsot.spatial.arrays import vector

R_FLAT = np.diag([1.0, -1.0, -1.0])  # R_WN on flat ground, z up: north is x, east is -y


def level(earth: Any, p: Array) -> Array:
    """R_WN (3, 3): north, east and down at p (3,) [m], in the axes of the world; on flat ground earth is None."""
    return R_FLAT if earth is None else earth.ned(p)


def attitude_at(earth: Any, p: Array, R_WB: Array) -> Array:
    """Roll, pitch and heading (3,) [rad] of aircraft axes R_WB at p: R_NB = Rz(heading) Ry(pitch) Rx(roll)."""
    return euler.from_matrix(level(earth, p).T @ R_WB)


def attitude(scene: Any, body: str) -> Array:
    """Roll, pitch and heading (3,) [rad] of a body with aircraft axes."""
    state = scene[body]
    return attitude_at(scene.earth, state.position, state.pose.R)


def place(scene: Any, body: str) -> Array:
    """Latitude, longitude [rad] and altitude [m] (3,) of a body's origin, in a world around the Earth."""
    earth = scene.earth
    if earth is None:
        raise UnknownNameError("flat ground has no latitude and longitude; make the world with earth=pt.Earth().", body)
    return vector(*earth.geodetic(earth.rotation(scene.t).T @ scene[body].position))


ATTITUDE: dict[str, Callable[[Any, str], Array]] = {
    "roll": lambda scene, body: attitude(scene, body)[0],
    "pitch": lambda scene, body: attitude(scene, body)[1],
    "heading": lambda scene, body: attitude(scene, body)[2],
}
PLACE: dict[str, Callable[[Any, str], Array]] = {  # around the Earth
    "latitude": lambda scene, body: place(scene, body)[0],
    "longitude": lambda scene, body: place(scene, body)[1],
}
WHEREABOUTS = ATTITUDE | PLACE
