"""Shapes whose volume, centroid and second moments have closed forms.

Every shape is centred on the origin of its own frame, with z as its axis of symmetry, and knows its

    volume       [m^3]; the area [m^2] of thin shapes (Plate, Disc), the length [m] of a Rod
    com          (3,) centroid [m]; the origin, except for a Cone
    covariance   (3, 3) mean of (r - com)(r - com)^T over the shape [m^2]
    unit_moment  (3, 3) moment of inertia about the com per kilogram [m^2]

Cavities share the centre and the axes. The factor R - r of differences such as R^5 - r^5 is divided out on paper, so
walls may be arbitrarily thin without loss of digits, and `inner_radius == radius` is the shell without thickness.
"""

from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, fields
from math import inf, pi, ulp
from typing import Any, get_args

import numpy as np

from poinsot._errors import FieldError, about
from poinsot._types import Array
from poinsot.fuse import is_traced

Pair = tuple[float, float]
Triple = tuple[float, float, float]


# Lengths [m] whose powers are numbers: a cone needs h^2 R^4.
SMALLEST, LARGEST = 1e-50, 1e50


@dataclass(frozen=True)
class Shape(ABC):
    """A region of space with uniform density. The fields of a shape are lengths [m]."""

    def __post_init__(self) -> None:
        """Check the lengths and convert them to floats; traced ones pass unchanged.

        A length without a default must be positive, the others may be zero, and `inner_x` must fit inside `x`.
        """
        kind = type(self).__name__
        for field in fields(self):
            name, value, count = field.name, getattr(self, field.name), len(get_args(field.type))
            with about(field=name):
                lengths = _floats(f"{kind}: {name}", value, count or 1)
            object.__setattr__(self, name, lengths if count else lengths[0])
            if is_traced(*lengths):
                continue
            least = 0.0 if field.default is not MISSING else ulp(0.0)
            if not all(least <= length < inf for length in lengths):
                raise FieldError(
                    f"{kind}: {name} = {value} must be {'zero or more' if least == 0 else 'positive'} [m].", name
                )
            if not all((SMALLEST if least else 0.0) <= length <= LARGEST for length in lengths):
                raise FieldError(f"{kind}: {name} = {value} must be from {SMALLEST:g} to {LARGEST:g} m.", name)
            if name.startswith("inner_"):
                outer = getattr(self, name.removeprefix("inner_"))
                with about(field=name):
                    _check_cavity(f"{kind}: {name} = {value}", lengths, outer if count else (outer,))

    @property
    @abstractmethod
    def volume(self) -> float:
        """Volume [m^3]; area [m^2] of a sheet, length [m] of a rod."""

    @property
    def com(self) -> Array:
        """Centroid [m], shape (3,)."""
        return np.zeros(3)

    @property
    @abstractmethod
    def covariance(self) -> Array:
        """Mean of (r - com)(r - com)^T over the shape [m^2], shape (3, 3)."""

    @property
    def unit_moment(self) -> Array:
        """Moment of inertia about the com per kilogram [m^2], shape (3, 3)."""
        return moment_of(self.covariance)


@dataclass(frozen=True)
class Box(Shape):
    """A cuboid with sides `size` along x, y, z; the cavity has sides `inner_size`. Lynch & Park figure 8.5."""

    size: Triple
    inner_size: Triple = (0.0, 0.0, 0.0)

    @property
    def volume(self) -> float:
        return _hollow(self.size, self.inner_size)[0]

    @property
    def covariance(self) -> Array:
        return np.eye(3) * _hollow(self.size, self.inner_size)[1] / 12


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """An ellipsoid with semi-axes along x, y, z; its cavity is one too. Lynch & Park figure 8.5."""

    semi_axes: Triple
    inner_semi_axes: Triple = (0.0, 0.0, 0.0)

    @property
    def volume(self) -> float:
        return 4 / 3 * pi * _hollow(self.semi_axes, self.inner_semi_axes)[0]

    @property
    def covariance(self) -> Array:
        return np.eye(3) * _hollow(self.semi_axes, self.inner_semi_axes)[1] / 5


@dataclass(frozen=True)
class Sphere(Shape):
    """A ball, or a spherical shell."""

    radius: float
    inner_radius: float = 0.0

    @property
    def volume(self) -> float:
        R, r = self.radius, self.inner_radius
        return 4 / 3 * pi * (R - r) * (R * R + R * r + r * r)

    @property
    def covariance(self) -> Array:
        return np.eye(3) * _quintic(self.radius, self.inner_radius) / 5


@dataclass(frozen=True)
class Cylinder(Shape):
    """A circular cylinder, or a tube open at both ends. Lynch & Park figure 8.5."""

    radius: float
    height: float
    inner_radius: float = 0.0

    @property
    def volume(self) -> float:
        R, r = self.radius, self.inner_radius
        return pi * (R - r) * (R + r) * self.height

    @property
    def covariance(self) -> Array:
        R, r, h = self.radius, self.inner_radius, self.height
        return _axial((R * R + r * r) / 4, h * h / 12)


@dataclass(frozen=True)
class Capsule(Shape):
    """A cylinder of `height` closed by two half balls: height + 2 radius long. Its cavity is a capsule too."""

    radius: float
    height: float
    inner_radius: float = 0.0

    @property
    def volume(self) -> float:
        R, r = self.radius, self.inner_radius
        return pi * (R - r) * ((R + r) * self.height + 4 / 3 * (R * R + R * r + r * r))

    @property
    def covariance(self) -> Array:
        R, r, h = self.radius, self.inner_radius, self.height
        tube, caps = (R + r) * h, 4 / 3 * (R * R + R * r + r * r)  # volumes over pi (R - r)
        caps_z = (R + r) * (R * R + r * r) / 2  # first moment of the caps, from the end of the tube
        ball = _quintic(R, r) / 5
        x2 = tube * (R * R + r * r) / 4 + caps * ball
        z2 = tube * h * h / 12 + caps * (ball + h * h / 4) + caps_z * h
        return _axial(x2 / (tube + caps), z2 / (tube + caps))


@dataclass(frozen=True)
class Cone(Shape):
    """A circular cone with its base at z = -height/2 and its apex at z = +height/2.

    With a `top_radius` it is a frustum. The origin is at half height, so the com is below it: at -height/4 for a
    full cone.
    """

    radius: float
    height: float
    top_radius: float = 0.0

    @property
    def volume(self) -> float:
        R, r = self.radius, self.top_radius
        return pi / 3 * self.height * (R * R + R * r + r * r)

    @property
    def com(self) -> Array:
        R, r = self.radius, self.top_radius
        return np.stack([0.0, 0.0, self.height * (r - R) * (r + R) / (4 * (R * R + R * r + r * r))])

    @property
    def covariance(self) -> Array:
        R, r, h = self.radius, self.top_radius, self.height
        RR, Rr, rr = R * R, R * r, r * r
        z2 = 3 / 80 * h * h * (RR * RR + rr * rr + 4 * Rr * (RR + rr) + 10 * Rr * Rr)
        return _axial(3 / 20 * _quintic(R, r), z2 / ((RR + Rr + rr) * (RR + Rr + rr)))


@dataclass(frozen=True)
class Rod(Shape):
    """A thin rod along z. All its mass is on one line, so its inertia is singular."""

    length: float

    @property
    def volume(self) -> float:
        return self.length

    @property
    def covariance(self) -> Array:
        return _axial(0.0, self.length * self.length / 12)


@dataclass(frozen=True)
class Plate(Shape):
    """A thin rectangle in the x-y plane, with sides `size` along x and y."""

    size: Pair

    @property
    def volume(self) -> float:
        return self.size[0] * self.size[1]

    @property
    def covariance(self) -> Array:
        a, b = self.size
        return np.eye(3) * np.stack([a * a, b * b, 0.0]) / 12


@dataclass(frozen=True)
class Disc(Shape):
    """A thin disc in the x-y plane, an annulus, or (`inner_radius == radius`) a hoop."""

    radius: float
    inner_radius: float = 0.0

    @property
    def volume(self) -> float:
        R, r = self.radius, self.inner_radius
        return pi * (R - r) * (R + r)

    @property
    def covariance(self) -> Array:
        R, r = self.radius, self.inner_radius
        return _axial((R * R + r * r) / 4, 0.0)


def moment_of(covariance: Array) -> Array:
    """I = tr(C) E - C, the moment of a mass distribution from its second moments C = sum m r r^T, shape (3, 3).

    The diagonal is summed without the element that would cancel, so the thin direction of a rod keeps its digits.
    """
    E = np.eye(3)
    diagonal = np.stack([covariance[i, i] for i in range(3)])
    return E * ((1 - E) @ diagonal) - (1 - E) * covariance


def _axial(x2: float, z2: float) -> Array:
    """The covariance of a shape that is symmetric about z, from its mean x^2 = mean y^2 and its mean z^2."""
    return np.eye(3) * np.stack([x2, x2, z2])


def _quintic(R: float, r: float) -> float:
    """(R^5 - r^5) / (R^3 - r^3) with R - r divided out."""
    RR, Rr, rr = R * R, R * r, r * r
    return (RR * RR + rr * rr + Rr * (RR + Rr + rr)) / (RR + Rr + rr)


def _hollow(outer: Triple, inner: Triple) -> tuple[float, Array]:
    """abc - ABC, and ((a^3 b c - A^3 B C), (a b^3 c - A B^3 C), (a b c^3 - A B C^3)) / (abc - ABC), shape (3,).

    The wall is cut into three slabs, one normal to each axis; the result is the mean over them. For a box this is
    geometry; the algebra holds for an ellipsoid as well.
    """
    (a, b, c), (A, B, C) = outer, inner
    x_slab, y_slab, z_slab = (a - A) * b * c, A * (b - B) * c, A * B * (c - C)
    volume = x_slab + y_slab + z_slab
    x2 = x_slab * (a * a + a * A + A * A) + (y_slab + z_slab) * A * A
    y2 = x_slab * b * b + y_slab * (b * b + b * B + B * B) + z_slab * B * B
    z2 = (x_slab + y_slab) * c * c + z_slab * (c * c + c * C + C * C)
    return volume, np.stack([x2, y2, z2]) / volume


def _floats(what: str, value: Any, count: int) -> tuple[float, ...]:
    """The value as a tuple of `count` floats; traced numbers pass unchanged."""
    try:
        numbers = tuple(value) if count > 1 else (value,)
        numbers = tuple(number if is_traced(number) else float(number) for number in numbers)
    except (TypeError, ValueError):
        numbers = ()
    if len(numbers) != count:
        raise ValueError(f"{what} = {value!r} must be {count} number{'s' * (count > 1)} [m].")
    return numbers


def _check_cavity(what: str, inner: tuple[float, ...], outer: tuple[float, ...]) -> None:
    """Raise an error if the cavity does not fit inside the shape.

    A round wall without thickness is a shell. A box or an ellipsoid has no such limit: it depends on the way there.
    """
    if is_traced(*outer):
        return
    if any(i > o for i, o in zip(inner, outer, strict=True)):
        raise ValueError(f"{what} does not fit inside {outer} [m].")
    if len(inner) == 3 and inner == outer:
        raise ValueError(f"{what} leaves no wall inside {outer} [m]. Make it smaller, or add up thin plates.")
