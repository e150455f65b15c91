"""Checks of the arguments of the exact solutions, and their conversion to arrays of floats."""

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.spatial import quaternion


def numbers(name: str, value: ArrayLike, shape: tuple[int, ...] | None = None) -> Array:
    """The value as an array of finite floats, of this shape if one is given."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} = {value!r} must be numbers.") from None
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name} = {value!r} has shape {array.shape}; it needs the shape {shape}.")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} holds {array[~np.isfinite(array)][0]}; every number must be finite.")
    return array


def positive(name: str, value: ArrayLike) -> float:
    """A moment of inertia [kg m^2], above zero."""
    number = float(numbers(name, value, ()))
    if not number > 0.0:
        raise ValueError(f"{name} = {number:g} kg m^2 must be positive.")
    return number


def orientation(q0: ArrayLike) -> Array:
    """A unit quaternion q_WB, wxyz, (4,)."""
    q = numbers("q0", q0, (4,))
    quaternion.check(q, "q0")
    return quaternion.normalize(q)


def angular_velocity(omega0: ArrayLike) -> Array:
    """omega_B (3,) [rad/s]; rates whose squares would underflow count as zero."""
    omega = numbers("omega0", omega0, (3,))
    return np.where(np.abs(omega) < SLOWEST, 0.0, omega)


SLOWEST = 1e-150  # rad/s


def times(t: ArrayLike) -> Array:
    return numbers("t", t)
