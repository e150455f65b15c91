"""Checks of a link: types and numbers of its parts, with errors that name the link."""

from typing import Any

import numpy as np

from poinsot._errors import FieldError, about
from poinsot._memo import memo
from poinsot._types import Array
from poinsot.fuse import is_traced
from poinsot.mechanism.joints import TYPES, Joint
from poinsot.spatial import Inertia, Pose

PARTS = {
    "parent": (str | None, "the name of a link, or None for the world"),
    "inertia": (Inertia | None, "a pt.Inertia, or None for a frame without mass"),
    "joint": (Joint, "a joint such as pt.revolute((0, 0, 1))"),
    "placement": (Pose, "a pt.Pose"),
}
LIMITS = ("lower", "upper", "velocity_limit", "effort_limit")
RESISTING = ("stiffness", "rest", "damping", "friction", "armature")


def check_link(link: Any) -> None:
    """Raise an error if a part of a link is not what it should be. Traced values have no numbers yet to check."""
    if not isinstance(link.name, str):
        raise TypeError(f"the name of a link must be a text, not {link.name!r}.")
    for part, (kind, fix) in PARTS.items():
        if not isinstance(value := getattr(link, part), kind):
            raise TypeError(f"the {part} of link {link.name!r} must be {fix}, not {value!r}.")
    X, joint = link.placement, link.joint
    if (len(X.R.shape), len(X.p.shape)) != (2, 1):
        raise ValueError(f"the placement of link {link.name!r} must be one pose, not {X!r}.")
    if TYPES.get(joint.kind) is None:
        raise ValueError(f"the joint of link {link.name!r} is {joint.kind!r}, which is none of {', '.join(TYPES)}.")
    owner = f"the {joint.kind} joint of link {link.name!r}"
    if set(joint.parameters) != set(joint.type.parameters):
        needs = ", ".join(joint.type.parameters) or "none"
        raise FieldError(
            f"{owner} has the parameters {', '.join(joint.parameters) or 'none'}; it needs {needs}.", "joint", link.name
        )
    if not _is_in_order(joint):
        with about(link.name, "joint"):
            _check_numbers(joint, owner)


@memo
def _is_in_order(joint: Joint) -> bool:
    """Whether its numbers are what they should be: checked once for the many links that may share a joint."""
    try:
        _check_numbers(joint, "")
    except FieldError:
        return False
    return True


def _check_numbers(joint: Joint, owner: str) -> None:
    """One number for all degrees of freedom or one for each; finite, except for limits."""
    single = dict.fromkeys(joint.parameters, ())
    numbers = {name: _known(joint, name, owner) for name in (*joint.parameters, *RESISTING, *LIMITS)}
    for name, array in numbers.items():
        both = joint.nv, joint.nq
        lengths = {**single, "lower": both, "upper": both}.get(name, (joint.nv,))
        if array.shape not in ((), *((n,) for n in lengths)):
            each = f", or {joint.nv}: one for each degree of freedom" if lengths else ""
            raise FieldError(f"{name} of {owner} must be one number{each}; it is {getattr(joint, name)!r}.", name)
        if np.any(np.isnan(array) if name in LIMITS else ~np.isfinite(array)):
            raise FieldError(f"{name} of {owner} must be finite, not {getattr(joint, name)!r}.", name)
    for name in ("armature", "damping", "friction"):
        if np.any(numbers[name] < 0):
            raise FieldError(f"{name} of {owner} must be zero or more, not {getattr(joint, name)!r}.", name)
    if np.any(numbers["lower"] > numbers["upper"]):
        raise FieldError(
            f"{owner} moves from {joint.lower!r} to {joint.upper!r}: the lower limit is above the upper.", "lower"
        )


def _known(joint: Joint, name: str, owner: str) -> Array:
    """The numbers as an array; zero for those that are being traced."""
    value = getattr(joint, name)
    try:
        return np.zeros(()) if is_traced(value) else np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise FieldError(f"{name} of {owner} must be numbers, not {value!r}.", name) from None
