"""Mass properties of a body: mass, centre of mass, and moment of inertia about it."""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.spatial import shapes
from poinsot.spatial.arrays import blocks, dot, halves, join
from poinsot.spatial.density import Density, Region, clouds
from poinsot.spatial.eigen import principal_axes
from poinsot.spatial.mesh import as_mesh
from poinsot.spatial.physical import ROUNDING, Check, InertiaWarning, as_mass, as_written, checked, difference
from poinsot.spatial.pose import Pose
from poinsot.spatial.rotation import skew, unskew
from poinsot.spatial.shapes import Pair, Shape, Triple, moment_of


@dataclass(frozen=True, eq=False)
class Solid:
    """A shape of uniform density as part of a body: its mass [kg] and X_BS, the pose of its frame in the body frame."""

    shape: Shape
    mass: float
    pose: Pose = field(default_factory=Pose)

    def inertia(self) -> "Inertia":
        """Its mass properties in the body frame."""
        return self.pose @ Inertia.of(self.shape, self.mass)


@dataclass(frozen=True, eq=False)
class Inertia:
    """The mass properties of one body, in one frame B.

    mass [kg], com (3,) [m] in B, moment (3, 3) [kg m^2] about the com along the axes of B. The products of inertia
    carry their sign: moment[0, 1] = -sum m x y, as in Peskin (28) and Lynch & Park.

    `solids`: the shapes that it was made of, if they are all of it; to draw it, and to rebuild it with other numbers.

    `check`: numbers that no body has are an "error", or kept with a warning ("warn"), or kept ("never"): published
    models and test cases have such. What comes of an inertia that was kept is kept as well, without another warning.
    """

    mass: float
    com: Array
    moment: Array
    solids: tuple[Solid, ...] = field(default=(), repr=False, kw_only=True)
    check: Check = field(default="error", repr=False, kw_only=True)

    __array_ufunc__: ClassVar[None] = None  # so that np.float64(2) * inertia calls __rmul__

    def __post_init__(self) -> None:
        mass, moment, wrong = as_written(self.mass, self.moment, self.check)
        if wrong and self.check == "warn":
            warnings.warn(f"{wrong} It is kept.", InertiaWarning, stacklevel=3)
        check = "error" if self.check == "warn" and not wrong else "never" if wrong else self.check
        com = checked("com", self.com, (3,))
        for name, value in (("mass", mass), ("com", com), ("moment", moment), ("check", check)):
            object.__setattr__(self, name, value)

    # Constructors.

    @classmethod
    def points(cls, masses: ArrayLike, positions: ArrayLike) -> Self:
        """Mass points: masses (n,) [kg] at positions (n, 3) [m]. Peskin (4), (5), (26)."""
        masses = checked("masses", masses, (None,))
        positions = checked("positions", positions, (len(masses), 3))
        if not is_traced(masses) and not (masses >= 0).all():
            raise FieldError(
                f"masses must be zero or more [kg]; got {masses.min()} at point {masses.argmin()}.", "masses"
            )
        mass = as_mass(np.sum(masses))
        com = masses @ positions / mass
        X = positions - com
        return cls(mass, com, moment_of((masses[:, None] * X).T @ X))

    @classmethod
    def of(cls, shape: Shape, mass: float | None = None, density: float | None = None) -> Self:
        """A shape of uniform density, with a given mass [kg] or density [kg/m^3; kg/m^2 or kg/m for thin shapes]."""
        if (mass is None) == (density is None):
            raise ValueError(f"{type(shape).__name__}: give either its mass [kg] or its density [kg/m^3].")
        if density is not None:
            volume = shape.volume
            if not is_traced(density, volume) and not (density > 0 and volume > 0):
                raise FieldError(
                    f"{type(shape).__name__}: density {density} times volume {volume} m^3 is not a mass; give it.",
                    "density",
                )
            mass = density * volume
        solid = Solid(shape, mass)  # type: ignore[arg-type]
        return cls(mass, shape.com, mass * shape.unit_moment, solids=(solid,))  # type: ignore[arg-type]

    @classmethod
    def box(cls, mass: float, size: Triple, inner_size: Triple = (0.0, 0.0, 0.0)) -> Self:
        """A cuboid with sides `size` [m] along x, y, z."""
        return cls.of(shapes.Box(size, inner_size), mass)

    @classmethod
    def ellipsoid(cls, mass: float, semi_axes: Triple, inner_semi_axes: Triple = (0.0, 0.0, 0.0)) -> Self:
        """An ellipsoid with `semi_axes` [m] along x, y, z."""
        return cls.of(shapes.Ellipsoid(semi_axes, inner_semi_axes), mass)

    @classmethod
    def sphere(cls, mass: float, radius: float, inner_radius: float = 0.0) -> Self:
        """A ball; a shell without thickness if `inner_radius == radius`."""
        return cls.of(shapes.Sphere(radius, inner_radius), mass)

    @classmethod
    def cylinder(cls, mass: float, radius: float, height: float, inner_radius: float = 0.0) -> Self:
        """A circular cylinder along z, centred on the origin."""
        return cls.of(shapes.Cylinder(radius, height, inner_radius), mass)

    @classmethod
    def capsule(cls, mass: float, radius: float, height: float, inner_radius: float = 0.0) -> Self:
        """A cylinder of `height` along z between two half balls."""
        return cls.of(shapes.Capsule(radius, height, inner_radius), mass)

    @classmethod
    def cone(cls, mass: float, radius: float, height: float, top_radius: float = 0.0) -> Self:
        """A cone or frustum along z: base at z = -height/2, apex at +height/2, com at -height/4 for a full cone."""
        return cls.of(shapes.Cone(radius, height, top_radius), mass)

    @classmethod
    def rod(cls, mass: float, length: float) -> Self:
        """A thin rod along z; its inertia is singular."""
        return cls.of(shapes.Rod(length), mass)

    @classmethod
    def plate(cls, mass: float, size: Pair) -> Self:
        """A thin rectangle in the x-y plane."""
        return cls.of(shapes.Plate(size), mass)

    @classmethod
    def disc(cls, mass: float, radius: float, inner_radius: float = 0.0) -> Self:
        """A thin disc in the x-y plane; a hoop if `inner_radius == radius`."""
        return cls.of(shapes.Disc(radius, inner_radius), mass)

    @classmethod
    def mesh(cls, mesh: Any, density: float | None = None, mass: float | None = None) -> Self:
        """A closed triangle mesh: a file, a trimesh.Trimesh or (vertices, faces), in metres. Exact."""
        return cls.of(as_mesh(mesh), mass, density)

    @classmethod
    def density(cls, density: Density, region: Region, tolerance: float = ROUNDING) -> Self:
        """A body of varying density(points (n, 3)) -> (n,) [kg/m^3] in a region: a solid shape, a smooth map of the
        unit cube, or a list of those. The quadrature is refined until two levels agree to the tolerance."""
        coarse: Self | None = None
        for masses, positions in clouds(density, region):
            fine = cls.points(masses, positions)
            if coarse is not None:
                size = np.sqrt(fine.moment.max() / fine.mass)
                change = max(
                    abs(fine.mass - coarse.mass) / fine.mass,
                    np.abs(fine.com - coarse.com).max() / size,
                    np.abs(fine.moment - coarse.moment).max() / (fine.mass * size**2),
                )
                if change <= tolerance:
                    return fine
            coarse = fine
        raise ValueError(
            f"the density is not smooth over its region: the two finest quadratures differ by {change:.1e}, more than "
            f"{tolerance:.1e}. Split the region where the density jumps or has a kink and give the list of its parts."
        )

    @classmethod
    def about_point(
        cls,
        mass: float,
        com: ArrayLike,
        moment: ArrayLike,
        point: ArrayLike = (0.0, 0.0, 0.0),
        check: Check = "error",
    ) -> Self:
        """From a moment (3, 3) [kg m^2] about a point [m] other than the com, by the inverse of Steiner's theorem."""
        com, point, about = (
            checked("com", com, (3,)),
            checked("point", point, (3,)),
            checked("moment", moment, (3, 3)),
        )
        if check == "error":
            mass = as_mass(mass)
        return cls(mass, com, difference(about, _steiner(mass, com - point)), check=check)

    @classmethod
    def from_spatial(cls, G: ArrayLike) -> Self:
        """From a spatial inertia (6, 6), angular part first, at the origin of the frame. Lynch & Park, section 2.3."""
        G = checked("G", G, (6, 6))
        mass = as_mass((G[3, 3] + G[4, 4] + G[5, 5]) / 3)
        inertia = cls.about_point(mass, unskew(G[:3, 3:]) / mass, G[:3, :3])
        if not is_traced(G):
            scale = np.sqrt(np.outer(np.diag(G), np.diag(G)))
            wrong = np.argwhere(np.abs(G - inertia.spatial()) > 1e-9 * scale)
            if wrong.size:
                raise ValueError(
                    f"G is not the spatial inertia of a rigid body: entry {tuple(wrong[0].tolist())} does not fit the "
                    "form [[I, m [c]], [-m [c], m E]], angular part first."
                )
        return inertia

    # The same body about other points and in other frames.

    def about(self, point: ArrayLike) -> Array:
        """I_q = I + m (q^T q E - q q^T), the moment (3, 3) about a point, q = point - com. Lynch & Park theorem 8.1."""
        return self.moment + _steiner(self.mass, checked("point", point, (3,)) - self.com)

    def in_frame(self, X_BA: Pose) -> Self:
        """The body in a frame A whose pose in this frame B is X_BA: G_A = Ad^T G_B Ad. Lynch & Park, section 2.3."""
        R, p = X_BA.R, X_BA.p
        return type(self)(self.mass, R.T @ (self.com - p), R.T @ self.moment @ R, **self._kept(X_BA.inverse()))

    def __rmatmul__(self, X_AB: Pose) -> Self:
        """X_AB @ inertia_B: the body in a frame A in which the present frame B has the pose X_AB."""
        if not isinstance(X_AB, Pose):
            return NotImplemented
        R, p = X_AB.R, X_AB.p
        return type(self)(self.mass, R @ self.com + p, R @ self.moment @ R.T, **self._kept(X_AB))

    def _kept(self, X_AB: Pose) -> dict[str, Any]:
        """Its solids in a frame A, and how it is checked."""
        solids = tuple(replace(solid, pose=X_AB @ solid.pose) for solid in self.solids)
        return {"solids": solids, "check": self.check}

    def spatial(self) -> Array:
        """G = [[I + m [c][c]^T, m [c]], [m [c]^T, m E]], (6, 6), at the origin of B. Lynch & Park, section 2.3."""
        mc = self.mass * skew(self.com)
        return blocks([[self.moment + mc @ skew(self.com).T, mc], [mc.T, self.mass * np.eye(3)]])

    def principal(self) -> tuple[Array, Array]:
        """The principal moments (3,) [kg m^2], ascending, and R_BP (3, 3), whose columns are the principal axes in B.

        The first of the largest components of an axis is positive; the last axis is the cross product of the others.
        Where moments agree to rounding, axes are arbitrary: they are chosen as near to the axes of B as possible, so a
        ball has R_BP = E, and the axes do not jump when the last digits of the moment change. Of a moment that is
        traced, the signs of axes and the choice between equal ones are left to `eigen.principal_axes`.
        """
        if is_traced(self.moment):
            return principal_axes(self.moment)
        moments, axes = np.linalg.eigh(self.moment)
        first, second = np.diff(moments) <= ROUNDING * moments[2]
        if first and second:
            return moments, np.eye(3)
        if first:  # oblate
            c = _upright(axes[:, 2])
            a = _projected_axis(c)
            b = np.cross(c, a)
        else:
            a = _upright(axes[:, 0])
            b = _projected_axis(a) if second else _upright(axes[:, 1])  # prolate, or three different moments
            c = np.cross(a, b)
        return moments, np.column_stack([a, b, c])

    # Bodies joined and separated.

    def __add__(self, other: "Inertia") -> Self:
        """Two bodies joined, both in the same frame."""
        if not isinstance(other, Inertia):
            return NotImplemented
        mass, d = self.mass + other.mass, other.com - self.com
        whole = mass if is_traced(mass) or mass else 1.0  # frames without mass: any other number does
        moment = self.moment + other.moment + _steiner(self.mass * other.mass / whole, d)
        solids = self.solids + other.solids if self.solids and other.solids else ()
        return type(self)(mass, self.com + other.mass / whole * d, moment, solids=solids, check=_check(self, other))

    def __radd__(self, other: object) -> Self:
        """0 + inertia, so that sum(parts) works."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, part: "Inertia") -> Self:
        """The rest of the body after a part is cut away."""
        if not isinstance(part, Inertia):
            return NotImplemented
        mass, d = self.mass - part.mass, part.com - self.com
        if not is_traced(mass) and not mass > 0:
            raise ValueError(f"a part of {part.mass} kg cannot be cut away from a body of {self.mass} kg.")
        try:
            moment = difference(self.moment, part.moment + _steiner(self.mass * part.mass / mass, d))
            return type(self)(mass, self.com - part.mass / mass * d, moment, check=_check(self, part))
        except ValueError as error:
            raise ValueError(f"the part cut away does not lie within the body: what is left has {error}") from error

    def __mul__(self, factor: float) -> Self:
        """factor * inertia: the same body, `factor` times as dense."""
        solids = tuple(replace(solid, mass=factor * solid.mass) for solid in self.solids)
        return type(self)(factor * self.mass, self.com, factor * self.moment, solids=solids, check=self.check)

    __rmul__ = __mul__

    # Motion: V = (omega, v) is the twist [rad/s, m/s] of the body, at the origin of B and along its axes, (..., 6).

    def momentum(self, V: ArrayLike) -> Array:
        """P = G V: angular momentum [kg m^2/s] about the origin of B and linear momentum [kg m/s], (..., 6)."""
        omega, v = halves(V)
        p = self.mass * (v + np.cross(omega, self.com))
        return join(omega @ self.moment + np.cross(self.com, p), p)

    def kinetic_energy(self, V: ArrayLike) -> Array:
        """V^T G V / 2 [J]. Lynch & Park, section 2.2."""
        omega, v = halves(V)
        v_com = v + np.cross(omega, self.com)
        return 0.5 * (self.mass * dot(v_com, v_com) + dot(omega @ self.moment, omega))

    def angular_velocity(self, L: ArrayLike) -> Array:
        """Omega [rad/s] from the angular momentum about the com, I Omega = L [kg m^2/s], (3,). Peskin (37)."""
        self.require_regular("body")
        return np.linalg.solve(self.moment, checked("L", L, (3,)))

    # Singular inertias, Peskin p. 9.

    @property
    def rank(self) -> int:
        """Rank of the moment: 3, or 2 if all mass lies on one line, or 0 if it lies in one point."""
        moments = np.linalg.eigvalsh(self.moment)
        if moments[2] <= self.mass * dot(ROUNDING * self.com, ROUNDING * self.com):
            return 0
        return 3 if moments[0] > ROUNDING * moments[2] else 2

    def require_regular(self, name: str) -> None:
        """Raise an error if the angular velocity of the body `name` is not determined by its angular momentum."""
        if is_traced(self.moment) or (rank := self.rank) == 3:
            return
        where = "on one line" if rank == 2 else "in one point"
        raise ValueError(
            f"inertia of '{name}' is singular: all its mass lies {where}. A rigid body needs at least three points not "
            "on a line; use a Particle, or add a point."
        )


def _check(a: Inertia, b: Inertia) -> Check:
    """How what is made of two inertias is checked: not at all if one of them was kept though no body has it."""
    return "never" if "never" in (a.check, b.check) else "error"


def _steiner(mass: float, r: Array) -> Array:
    """m (r^T r E - r r^T) = m [r][r]^T, the moment of a point mass, (3, 3). The second form has no cancellation."""
    return mass * (skew(r) @ skew(r).T)


def _upright(axis: Array) -> Array:
    """The axis or its opposite: the first of its largest components is positive."""
    return axis * np.sign(axis[_first_largest(np.abs(axis))])


def _projected_axis(normal: Array) -> Array:
    """The body axis nearest to the plane perpendicular to `normal`, projected onto that plane."""
    projections = np.eye(3) - np.outer(normal, normal)
    lengths = np.linalg.norm(projections, axis=1)
    nearest = _first_largest(lengths)
    return projections[nearest] / lengths[nearest]


def _first_largest(values: Array) -> int:
    """The index of the first value that equals the largest within 1e-6, well above rounding."""
    return int(np.argmax(values >= (1 - 1e-6) * values.max()))
