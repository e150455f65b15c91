"""Checks that mass properties are physically possible. Traced values have no numbers yet and pass."""

from typing import Literal, get_args

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced

# Fractions of the largest moment:
ROUNDING = 1e-12  # what rounding may leave of a moment that is zero, or between two that are equal
DIGITS = 1e-5  # moments typed with six digits may break the triangle inequality by this
SYMMETRY = 1e-9  # the two products of inertia of a pair of axes may differ by this
NOISE = 16 * np.finfo(float).eps  # a difference smaller than this has no digit left

Check = Literal["error", "warn", "never"]


class InertiaWarning(UserWarning):
    """Mass properties that no body has, entered on purpose with check="warn"."""


def as_written(mass: float, moment: ArrayLike, check: Check) -> tuple[float, Array, str]:
    """Mass and moment (3, 3) as they are, and why no body has them; empty if one can. An error with check="error".

    They must still be finite, and the moment symmetric.
    """
    if check not in get_args(Check):
        raise FieldError(f"check = {check!r} must be one of {', '.join(map(repr, get_args(Check)))}.", "check")
    try:
        return as_mass(mass), as_moment(moment), ""
    except FieldError as error:
        number = _number(mass)
        if check == "error" or not np.isfinite(number):
            raise
        array = _symmetric(checked("moment", moment, (3, 3)))
        array.setflags(write=False)
        return number, array, str(error)


def as_mass(mass: float) -> float:
    """The mass [kg], a positive float."""
    if is_traced(mass):
        return mass
    number = _number(mass)
    if not np.finfo(float).tiny <= number < np.inf:  # below it, 1/mass is infinite
        raise FieldError(f"mass = {mass} must be one positive, finite number [kg].", "mass")
    return number


def _number(x: float) -> float:
    """One number as a float; NaN if it is not one."""
    try:
        return np.nan if np.ndim(x) else float(x)
    except (TypeError, ValueError):
        return np.nan


def checked(name: str, value: ArrayLike, shape: tuple[int | None, ...]) -> Array:
    """The value as a read-only, finite float array of this shape; None stands for any length. Traced values pass."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise FieldError(f"{name} = {value!r} must be an array of numbers with shape {shape}.", name) from error
    if len(array.shape) != len(shape) or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
        hint = " Write np.diag(moment) for principal moments." if name == "moment" and array.shape == (3,) else ""
        raise FieldError(f"{name} must have shape {shape}; got {array.shape}.{hint}", name)
    if not is_traced(array):
        if not np.isfinite(array).all():
            raise FieldError(f"{name} must be finite; got {array.tolist()}.", name)
        array.setflags(write=False)
    return array


def as_moment(value: ArrayLike) -> Array:
    """A moment (3, 3) [kg m^2] about the com, exactly symmetric; an error if no mass distribution has it."""
    array = checked("moment", value, (3, 3))
    if is_traced(array):
        return array
    moment = _symmetric(array)
    low, middle, high = np.linalg.eigvalsh(moment)
    moments = f"principal moments {low:.6g}, {middle:.6g}, {high:.6g} kg m^2"
    if low < -ROUNDING * high:
        raise FieldError(f"{moments}: a moment of inertia cannot be negative. Is it taken about the com?", "moment")
    if low + middle < (1 - DIGITS) * high:
        raise FieldError(
            f"{moments}: no mass distribution has one moment larger than the sum of the two others. Check the units, "
            "the signs of the products of inertia, and that the moment is taken about the com.",
            "moment",
        )
    moment.setflags(write=False)
    return moment


def unphysical(moments: Array) -> tuple[Array, Array, Array]:
    """How far moments (n, 3, 3) are from what `as_moment` refuses, (n,) each and relative to their size: the asymmetry,
    the smallest principal moment, and what two principal moments have more than the third."""
    transposed = np.swapaxes(moments, 1, 2)
    size = np.maximum(np.abs(moments).max(axis=(1, 2)), np.finfo(float).tiny)
    low, middle, high = np.linalg.eigvalsh((moments + transposed) / 2).T
    return np.abs(moments - transposed).max(axis=(1, 2)) / size, low / size, (low + middle - high) / size


def difference(whole: Array, part: Array) -> Array:
    """whole - part, two moments. Principal moments of the difference that are zero up to rounding become zero."""
    if is_traced(whole, part):
        return whole - part
    rest = _symmetric(whole) - part
    moments, axes = np.linalg.eigh(rest)
    noise = NOISE * np.abs(whole).max()
    if moments[0] > noise:
        return rest
    return (axes * np.where(np.abs(moments) <= noise, 0.0, moments)) @ axes.T


def _symmetric(moment: Array) -> Array:
    if np.abs(moment - moment.T).max() > SYMMETRY * np.abs(moment).max():
        raise FieldError(
            f"moment is not symmetric: {moment.tolist()} [kg m^2]. Products of inertia come in equal pairs.", "moment"
        )
    return (moment + moment.T) / 2
