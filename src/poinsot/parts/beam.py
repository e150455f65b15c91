"""Flexible beams: a few rigid segments on joints with springs. De Nivelle, section 2, point 1."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._fields import Arguments
from poinsot._types import Array, ArrayLike, Scalar
from poinsot.mechanism import Link, spherical, universal
from poinsot.parts.element import Effect, Element, require_not_negative
from poinsot.parts.resisting import Later, Resistance, Used
from poinsot.parts.scene import Scene
from poinsot.spatial import Inertia, Pose, rotation
from poinsot.spatial.arrays import as_array

Along = Annotated[float | Callable[[Array], Any], Arguments("x")]
"""A number, or a function of the distance x [m] from the root, for arrays of x."""


@dataclass(frozen=True, eq=False)
class Flexure(Element):
    """A spring and damper in a joint: tau = -J(phi)^-1 K phi - C v, with the displacement phi of the joint [rad, m].

    K: `stiffness`, C: `damping`, numbers or (nv,) [N m/rad, N m s/rad; N/m, N s/m]. In a spherical joint phi is the
    rotation vector and J its left Jacobian, so that the spring torque is the gradient of phi^T K phi/2 at any angle; in
    others J = 1. Not for planar and free joints, where phi would be a screw: use springs between points there.
    """

    joint: str = ""
    stiffness: Annotated[ArrayLike, "N m/rad", "N m", "N/m"] = 0.0
    damping: Annotated[ArrayLike, "N m s/rad", "N m s", "N s/m"] = 0.0

    internal: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_not_negative(f"flexure {self.name!r}", stiffness=self.stiffness, damping=self.damping)

    def joints(self) -> tuple[str, ...]:
        return (self.joint,)

    def effect(self, scene: Scene) -> Effect:
        phi, pull, C_v = self._bent(scene)
        v = scene.joint(self.joint)[1]
        shown = {"bent": phi, "torque": -pull - C_v}
        stored = 0.5 * (phi @ (as_array(self.stiffness) * phi))
        return Effect(joint_forces={self.joint: -pull - C_v}, stored=stored, power=-(v @ C_v), shown=shown)

    def resistance(self, scene: Scene, h: Scalar, later: Later) -> Resistance:
        phi, pull, C_v = self._bent(scene)
        K, v = as_array(self.stiffness), scene.joint(self.joint)[1]
        slope = as_array(self.damping) + h * K + np.zeros(v.shape)
        tau = -pull - h * K * v - C_v
        return Resistance(joint_forces={self.joint: tau}, joint_slopes={self.joint: slope}, kept=phi)

    def taken(self, scene: Scene, later: Later, used: Used) -> Effect:
        joint, phi, K = scene.mechanism.link(self.joint).joint, used.kept, as_array(self.stiffness)
        q = joint.type.integrate(joint, scene.joint(self.joint)[0], later.h * later.velocity(self.joint))
        end = joint.type.difference(joint, joint.type.neutral(joint), q)
        stored, shown = 0.5 * (phi @ (K * phi)), {"bent": phi, "torque": used.joint_forces[self.joint]}
        power = used.power(later) + (0.5 * (end @ (K * end)) - stored) / later.h
        return Effect(joint_forces=used.joint_forces, stored=stored, power=power, shown=shown)

    def _bent(self, scene: Scene) -> tuple[Array, Array, Array]:
        """The displacement phi, the force J^-1 K phi of the spring, and C v of the damper."""
        joint = scene.mechanism.link(self.joint).joint
        if joint.type.is_group and not joint.type.is_rotation:
            raise FieldError(
                f"flexure {self.name!r}: the {joint.kind} joint of body {self.joint!r} cannot be bent. Use pt.Spring.",
                "joint",
            )
        q, v = scene.joint(self.joint)
        phi = joint.type.difference(joint, joint.type.neutral(joint), q)
        K_phi, C_v = as_array(self.stiffness) * phi, as_array(self.damping) * v
        return phi, rotation.left_jacobian_inverse(phi) @ K_phi if joint.type.is_rotation else K_phi, C_v

    def units(self) -> dict[str, str]:
        return {"bent": "rad, m", "torque": "N m, N"}


@dataclass(frozen=True, eq=False)
class Beam:
    """A wing, boom or blade along the x axis of its frame, from its root, of a length [m], as n rigid segments.

    EI [N m^2]: bending stiffness about y, in the x-z plane; `EI_side` about z, by default the same. GJ [N m^2]:
    torsional stiffness; without it the beam does not twist. `mass_per_length` [kg/m]; `polar` [kg m]: moment of inertia
    about x per length. Each is a number, or a function of x for a tapered beam. `damping` [s]: of the joints, divided
    by their stiffness.

    Joint k, at x = k length/n, has the compliance of one segment length around it, that at the root of half of one:
    1/K = integral of dx/EI over it. With n segments, results differ from the Euler-Bernoulli beam by O(1/n^2).
    `world.add_beam(beam, parent, placement)` adds the bodies name0, name1, ..., from the root on.
    """

    name: str
    length: Annotated[float, "m"]
    EI: Annotated[Along, "N m^2"]
    mass_per_length: Annotated[Along, "kg/m"]
    n: int = 5
    GJ: Annotated[Along | None, "N m^2"] = None
    EI_side: Annotated[Along | None, "N m^2"] = None
    polar: Annotated[Along, "kg m"] = 0.0
    damping: Annotated[float, "s"] = 0.0

    def __post_init__(self) -> None:
        owner = f"beam {self.name!r}"
        require_not_negative(owner, length=self.length, damping=self.damping)
        if not isinstance(self.n, int) or self.n < 1 or not self.length > 0:
            field = "n" if self.length > 0 else "length"
            raise FieldError(
                f"{owner} needs a length above zero and one segment or more, not {self.length}, {self.n}.", field
            )
        for name in ("EI", "mass_per_length", "GJ", "EI_side", *(["polar"] if self.GJ is not None else [])):
            if getattr(self, name) is not None and not np.all(self._at(name, np.linspace(0, self.length, 64)[:-1]) > 0):
                raise FieldError(f"{name} of {owner} must be above zero all along it.", name)

    def links(self, parent: str | None = None, placement: Pose | None = None) -> list[Link]:
        """The segments, each with its frame at the joint that carries it; the root at `placement` in the parent."""
        ell, links = self.length / self.n, []
        for k in range(self.n):
            joint = spherical() if self.GJ is not None else universal((0, 1, 0), (0, 0, 1))
            X = (placement or Pose()) if k == 0 else Pose(p=(ell, 0.0, 0.0))
            links.append(Link(f"{self.name}{k}", self._segment(k * ell, ell), parent, joint, X))
            parent = f"{self.name}{k}"
        return links

    def flexures(self) -> list[Flexure]:
        """The springs and dampers in its joints."""
        ell, flexures = self.length / self.n, []
        for k in range(self.n):
            a, b = max(0.0, (k - 0.5) * ell), (k + 0.5) * ell
            names = (["GJ"] if self.GJ is not None else []) + ["EI", "EI" if self.EI_side is None else "EI_side"]
            K = np.array([1 / self._integral(a, b, partial(self._compliance, name)) for name in names])
            flexures.append(Flexure(f"{self.name}{k}_flexure", f"{self.name}{k}", K, self.damping * K))
        return flexures

    def _segment(self, start: float, ell: float) -> Inertia:
        """The mass properties of a segment, in its own frame."""

        def over_mass(f: Callable[[Array], Array]) -> float:
            return self._integral(0.0, ell, lambda x: self._at("mass_per_length", start + x) * f(x))

        mass = over_mass(np.ones_like)
        centre = over_mass(lambda x: x) / mass
        second = over_mass(lambda x: (x - centre) ** 2)
        polar = self._integral(start, start + ell, lambda x: self._at("polar", x))
        transverse = second + polar / 2  # a flat section: its moments about y and z add up to that about x
        return Inertia(mass, np.array([centre, 0.0, 0.0]), np.diag([polar, transverse, transverse]))

    def _compliance(self, name: str, x: Array) -> Array:
        return 1 / self._at(name, x)

    def _at(self, name: str, x: Array) -> Array:
        value = getattr(self, name)
        return np.asarray(value(x), dtype=float) * np.ones_like(x) if callable(value) else value * np.ones_like(x)

    @staticmethod
    def _integral(a: float, b: float, f: Callable[[Array], Array]) -> float:
        """The integral of f from a to b, by Gauss quadrature."""
        nodes, weights = np.polynomial.legendre.leggauss(8)
        return float(0.5 * (b - a) * (weights @ f(0.5 * (a + b) + 0.5 * (b - a) * nodes)))
