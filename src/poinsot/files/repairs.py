"""Repairs of robot files: mass properties that no body has, and limits that a joint starts beyond."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.mechanism import Link, Mechanism
from poinsot.mechanism.closures import Closure
from poinsot.mechanism.coordinate_relations import Coupling
from poinsot.spatial import Inertia, Pose
from poinsot.spatial.physical import DIGITS, as_moment, checked

Repair = Literal["warn", "error", "never"]

NANOMETRE = 1e-9  # [m]: a radius of gyration below this is rounding, not a size
MOST = 40  # links that a message lists
ARMATURE = 1e-6  # [kg m^2, kg]: of a joint that moves no mass


class RepairWarning(UserWarning):
    """Links of a robot file had mass properties that no body has; `repairs`: (link, what was wrong, what it is)."""

    repairs: tuple[tuple[str, str, str], ...] = ()


@dataclass
class Mender:
    """Mends links in the way that `repair` says, and remembers what it did."""

    repair: Repair = "warn"
    repairs: list[tuple[str, str, str]] = field(default_factory=list)
    limits: list[tuple[str, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.repair not in get_args(Repair):
            raise ValueError(f"repair = {self.repair!r} must be one of {', '.join(map(repr, get_args(Repair)))}.")

    def inertia(self, name: str, mass: float, moment: ArrayLike, X: Pose) -> Inertia | None:
        """The inertia of a link whose mass and moment (3, 3) about its com are given in a frame with the pose X."""
        array = checked("moment", moment, (3, 3))
        if self.repair == "never":
            return _as_written(mass, array, X)
        if not np.isfinite(mass):
            raise FieldError(f"mass = {mass} must be one positive, finite number [kg].", "mass")
        if mass <= 0:
            if mass < 0 or array.any():
                moments = _shown(np.linalg.eigvalsh(array))
                self.repairs.append((name, f"mass {mass:g} kg with principal moments {moments}", "a massless frame"))
            return None
        return X @ Inertia(mass, np.zeros(3), self.moment(name, mass, array))

    def moment(self, name: str, mass: float, moment: Array) -> Array:
        """The moment itself, or the nearest one that a body can have. Rounding is forgiven without a word."""
        try:
            return as_moment(moment)
        except FieldError:
            mended = nearest_moment(moment)
        change = np.abs(mended - moment).max()
        if change > max(DIGITS * np.abs(moment).max(), mass * NANOMETRE**2):
            before, after = (_shown(np.linalg.eigvalsh(x)) for x in (moment, mended))
            self.repairs.append((name, f"principal moments {before}", f"principal moments {after}"))
        return mended

    def mechanism(self, links: Iterable[Link], **rest: Any) -> Mechanism:
        """The mechanism of these links; a joint that moves no mass gets a small armature, so that it can move."""
        links = list(links)
        if self.repair != "never":
            for k in _without_mass(links):
                links[k] = self._with_armature(links[k], "neither it nor any link that hangs on it has mass")
        while True:
            try:
                return Mechanism(tuple(links), **rest)
            except FieldError as error:
                found = [k for k, link in enumerate(links) if link.name == error.owner]
                if self.repair == "never" or error.field != "inertia" or not found or not _can(links[found[0]]):
                    raise
                links[found[0]] = self._with_armature(links[found[0]], "the mass lies on its axis")

    def mimicking(self, links: Iterable[Link], closures: Iterable[Closure]) -> list[Link]:
        """The links; one whose joint starts beyond its own limits, where another joint takes it, has none any more.

        It would be held in one place by the other joint, and pushed out of it by its stop.
        """
        known = {link.name: link for link in links}
        for closure in closures if self.repair != "never" else ():
            a, b, coupled = known[str(closure.a)].joint, known[closure.b].joint, closure.relation
            assert isinstance(coupled, Coupling)
            q = coupled.ratio * float(np.clip(0.0, a.lower, a.upper)) + coupled.offset
            lower, upper = float(b.lower), float(b.upper)
            if not lower - DIGITS <= q <= upper + DIGITS:
                wrong = f"it mimics {closure.a!r}, which starts it at {q:g}, beyond its limits {lower:g} and {upper:g}"
                self.limits.append((closure.b, wrong, "it has no limits of its own"))
                known[closure.b] = replace(known[closure.b], joint=replace(b, lower=-np.inf, upper=np.inf))
        return list(known.values())

    def report(self, path: object) -> None:
        """Say what was mended, in one warning, or in one error if nothing should be."""
        for mended, what in (
            (self.repairs, ("no body has these mass properties", "mass properties that no body has")),
            (self.limits, ("joints mimic others beyond their limits", "joints that mimic others beyond their limits")),
        ):
            if not mended:
                continue
            if self.repair == "error":
                lines = _some([f"link {link!r}: {wrong}" for link, wrong, _ in mended])
                fix = 'Correct the file, or load it with repair="warn", which mends them, or repair="never".'
                raise ValueError(f"{path}: {what[0]}: {'; '.join(lines)}. {fix}")
            lines = _some([f"link {link!r}: {wrong}; now {now}" for link, wrong, now in mended])
            warning = RepairWarning("\n  ".join([f"{path}: {what[1]} were mended:", *lines]))
            warning.repairs = tuple(mended)
            warnings.warn(warning, stacklevel=3)

    def _with_armature(self, link: Link, what: str) -> Link:
        wrong = f"it moves on a {link.joint.kind} joint, but {what}"
        self.repairs.append((link.name, wrong, f"the joint has an armature of {ARMATURE:g} in SI units"))
        return replace(link, joint=replace(link.joint, armature=ARMATURE))


def nearest_moment(moment: Array) -> Array:
    """The nearest moment (3, 3) that a body can have.

    The second moments of the mass about its com, tr(I)/2 E - I = sum m x x^T, cannot be negative: those that are become
    zero. That is the nearest such matrix in the Frobenius norm.
    """
    scale = np.abs(moment).max() or 1.0
    unit = moment / scale
    second, axes = np.linalg.eigh(np.trace(unit) / 2 * np.eye(3) - unit)
    second = np.maximum(second, 0.0)
    mended = np.sum(second) * np.eye(3) - (axes * second) @ axes.T
    return np.asarray(scale * (mended + mended.T) / 2)


def _as_written(mass: float, moment: Array, X: Pose) -> Inertia | None:
    """An inertia without any check, for those who want the numbers of the file and no others."""
    return None if mass == 0 and not moment.any() else X @ Inertia(mass, np.zeros(3), moment, check="never")


def _without_mass(links: list[Link]) -> list[int]:
    """The links on joints that could have an armature and move no mass."""
    places = {link.name: k for k, link in enumerate(links)}
    carried = [link.inertia is not None for link in links]
    for link in [link for link in links if link.inertia is not None]:
        k = places.get(link.parent or "", -1)
        while k >= 0 and not carried[k]:
            carried[k] = True
            k = places.get(links[k].parent or "", -1)
    return [k for k, link in enumerate(links) if not carried[k] and _can(link)]


def _can(link: Link) -> bool:
    """Whether an armature would help: on a joint with one degree of freedom that has none."""
    return link.joint.nv == 1 and not np.any(link.joint.armature)


def _some(lines: list[str]) -> list[str]:
    """The first lines, and how many more there are."""
    return lines if len(lines) <= MOST else [*lines[:MOST], f"and {len(lines) - MOST} more links"]


def _shown(moments: Array) -> str:
    return ", ".join(f"{x:.6g}" for x in moments) + " kg m^2"
