"""Flexible beams: a few rigid segments on joints with springs. De Nivelle, section 2, point 1."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._fields import Arguments
from poinsot._types import Array, ArrayLike, Scalar
from poinsot.fuse import budget, once
from poinsot.mechanism import Link, spherical, universal
from poinsot.parts.element import Effect, Element, require_finite, require_not_negative
from poinsot.parts.resisting import Later, Resistance, Resisting, Used
from poinsot.parts.scene import Scene
from poinsot.spatial import Inertia, Pose, quaternion, rotation
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

    def resisting(self, scene: Scene, h: Scalar) -> Resisting:
        phi, pull, C_v = self._bent(scene)
        K, v = as_array(self.stiffness), scene.joint(self.joint)[1]
        slope = as_array(self.damping) + h * K + np.zeros(v.shape)
        resistance = Resistance(joint_forces={self.joint: -pull - h * K * v - C_v}, joint_slopes={self.joint: slope})

        def taken(later: Later, used: Used) -> Effect:
            end = later.velocity(self.joint)
            stored, more = 0.5 * (phi @ (K * phi)), 0.5 * h * (end @ (K * end))
            return Effect(
                joint_forces=used.joint_forces,
                stored=stored,
                power=-(end @ (as_array(self.damping) * end)),
                shown={"bent": phi, "torque": used.joint_forces[self.joint]},
                numerical=-more,
                foreseen=stored + h * (pull @ end + more),
            )

        return Resisting(lambda later: resistance, taken)

    def _bent(self, scene: Scene) -> tuple[Array, Array, Array]:
        """The displacement phi, the force J^-1 K phi of the spring, and C v of the damper."""
        joint = scene.mechanism.link(self.joint).joint
        if joint.type.is_group and not joint.type.is_rotation:
            raise FieldError(
                f"flexure {self.name!r}: the {joint.kind} joint of body {self.joint!r} cannot be bent. Use pt.Spring.",
                "joint",
            )
        q, v = scene.joint(self.joint)
        if joint.type.is_rotation:
            return *_turned_back(q, as_array(self.stiffness) * np.ones(3)), as_array(self.damping) * v
        phi = joint.type.difference(joint, joint.type.neutral(joint), q)
        K_phi, C_v = as_array(self.stiffness) * phi, as_array(self.damping) * v
        return phi, K_phi, C_v

    def units(self) -> dict[str, str]:
        return {"bent": "rad, m", "torque": "N m, N"}


def _turned_back(q: Array, K: Array) -> tuple[Array, Array]:
    """The rotation vector phi (3,) of a quaternion, and J(phi)^-1 K phi. One function for all joints where code that
    is written out for each would be too long."""
    return (_spring_once if budget().written_out < np.inf else _spring)(q, K)


def _spring(q: Array, K: Array) -> tuple[Array, Array]:
    phi = quaternion.log(q)
    return phi, rotation.left_jacobian_inverse(phi) @ (K * phi)


_spring_once = once(_spring)


@dataclass(frozen=True, eq=False)
class Beam:
    """A wing, boom or blade along the x axis of its frame, from its root, of a length [m], as n rigid segments.

    EI [N m^2]: bending stiffness about y, in the x-z plane; `EI_side` about z, by default the same. GJ [N m^2]:
    torsional stiffness; without it the beam does not twist. `mass_per_length` [kg/m]; `polar` [kg m]: moment of inertia
    about x per length. Each is a number, or a function of x for a tapered beam. `damping` [s]: of the joints, divided
    by their stiffness.

    `offset` [m]: the centre of mass of every section, y and z from the beam's axis; `polar` is about it, and shared
    among y and z as EI and EI_side, as in a section of one material.

    The n joints sit at the points x_k of Gauss's quadrature for the weight (length - x)^2/EI, which is the density of
    strain energy under a force at the tip; with its weights w_k the compliance of joint k is w_k/(length - x_k)^2. So
    deflections are exact for polynomial moments up to the degree 2n, and the first frequencies of bending nearly.
    About the other axes the compliance is that times EI/EI_side or EI/GJ at the joint. The piece before the first joint
    belongs to the first segment. `world.add_beam(beam, parent, placement)` adds the bodies name0, name1, ..., from the
    root on, each with its frame at its joint; `beam.place(x)` tells where a point of the axis is.
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
    offset: Annotated[ArrayLike, "m"] = (0.0, 0.0)

    def __post_init__(self) -> None:
        owner = f"beam {self.name!r}"
        require_not_negative(owner, length=self.length, damping=self.damping)
        if not isinstance(self.n, int) or self.n < 1 or not self.length > 0:
            field = "n" if self.length > 0 else "length"
            raise FieldError(
                f"{owner} needs a length above zero and one segment or more, not {self.length}, {self.n}.", field
            )
        require_finite(owner, offset=self.offset)
        if np.shape(self.offset) != (2,):
            raise FieldError(f"offset of {owner} must be two numbers [m], y and z, not {self.offset!r}.", "offset")
        for name in ("EI", "mass_per_length", "GJ", "EI_side", *(["polar"] if self.GJ is not None else [])):
            if getattr(self, name) is None:
                continue
            values = self._at(name, np.linspace(0, self.length, 64)[:-1])
            if not np.all((values > 0) & (values < np.inf)):
                raise FieldError(f"{name} of {owner} must be above zero all along it, and finite.", name)

    @cached_property
    def _gauss(self) -> tuple[Array, Array]:
        """The joints' places x_k [m] and bending compliances [rad/(N m)]."""
        x, dx = _panels(0.0, self.length, 64)
        nodes, weights = gauss_rule(x, dx * (self.length - x) ** 2 / self._at("EI", x), self.n)
        return nodes, weights / (self.length - nodes) ** 2

    @property
    def joints(self) -> Array:
        """The places (n,) [m] of its joints along x."""
        return self._gauss[0]

    @property
    def ends(self) -> Array:
        """The places (n + 1,) [m] along x where its segments begin and end."""
        return np.array([0.0, *self.joints[1:], self.length])

    def place(self, x: float) -> tuple[str, Array]:
        """The name of the segment at x [m] from the root, and the point (3,) [m] of the axis in its frame."""
        if not 0 <= x <= self.length:
            raise ValueError(f"beam {self.name!r} goes from 0 to {self.length:g} m; there is nothing at {x!r}.")
        k = int(np.clip(np.searchsorted(self.ends, x, side="right") - 1, 0, self.n - 1))
        return f"{self.name}{k}", np.array([x - self.joints[k], 0.0, 0.0])

    def links(self, parent: str | None = None, placement: Pose | None = None) -> list[Link]:
        """The segments, each with its frame at the joint that carries it; the root at `placement` in the parent."""
        links, before = [], 0.0
        for k, x in enumerate(self.joints):
            joint = spherical() if self.GJ is not None else universal((0, 1, 0), (0, 0, 1))
            X = Pose(p=(x - before, 0.0, 0.0))
            X = (placement or Pose()) @ X if k == 0 else X
            links.append(Link(f"{self.name}{k}", self._segment(k), parent, joint, X))
            parent, before = f"{self.name}{k}", x
        return links

    def flexures(self) -> list[Flexure]:
        """The springs and dampers in its joints."""
        names = (["GJ"] if self.GJ is not None else []) + ["EI", "EI" if self.EI_side is None else "EI_side"]
        x, compliance = self._gauss
        stiffness = np.stack([self._at(name, x) / self._at("EI", x) / compliance for name in names], axis=1)
        return [
            Flexure(f"{self.name}{k}_flexure", f"{self.name}{k}", K, self.damping * K) for k, K in enumerate(stiffness)
        ]

    def _segment(self, k: int) -> Inertia:
        """The mass properties of segment k, in its own frame."""
        x, dx = _panels(self.ends[k], self.ends[k + 1], 4)
        dm = dx * self._at("mass_per_length", x)
        mass, polar = dm.sum(), dx @ self._at("polar", x)
        centre = dm @ x / mass
        EI, side = self._at("EI", x), self._at("EI" if self.EI_side is None else "EI_side", x)
        about_y, second = dx @ (self._at("polar", x) * EI / (EI + side)), dm @ (x - centre) ** 2
        com = np.array([centre - self.joints[k], *as_array(self.offset)])
        return Inertia(float(mass), com, np.diag([polar, second + about_y, second + polar - about_y]))

    def _at(self, name: str, x: Array) -> Array:
        value = getattr(self, name)
        return np.asarray(value(x), dtype=float) * np.ones_like(x) if callable(value) else value * np.ones_like(x)


def _panels(a: float, b: float, n: int) -> tuple[Array, Array]:
    """Points and weights of an integral from a to b: Gauss's with 8 points in each of n panels."""
    t, w = np.polynomial.legendre.leggauss(8)
    edges = np.linspace(a, b, n + 1)
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (1 + t)).ravel(), (half * w).ravel()


def gauss_rule(x: Array, weight: Array, n: int) -> tuple[Array, Array]:
    """Nodes (n,) and weights (n,) of Gauss's quadrature for a weight given at points x: exact for degrees up to 2n - 1.

    The polynomials orthogonal for that weight obey a three-term recurrence (Stieltjes); the nodes are the eigenvalues
    of its tridiagonal matrix. Golub and Welsch, Math. Comp. 23 (1969).
    """
    p, before = np.ones_like(x) / np.sqrt(weight.sum()), np.zeros_like(x)
    diagonal, beside, b = [], [], 0.0
    for _ in range(n):
        diagonal.append(weight @ (x * p * p))
        rest = (x - diagonal[-1]) * p - b * before
        b = np.sqrt(weight @ (rest * rest))
        beside.append(b)
        p, before = rest / b, p
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1))
    return nodes, weight.sum() * vectors[0] ** 2
