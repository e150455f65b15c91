"""The heavy symmetric top with a fixed point, solved by Lagrange. Without spin it is a spherical pendulum."""

import cmath
from dataclasses import dataclass, field
from math import inf, pi, sqrt
from typing import Self

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.body.exact import checks
from poinsot.body.exact.elliptic import quarter_period
from poinsot.body.exact.nutation import Nutation
from poinsot.spatial import quaternion

FLIP = np.array([0.0, 1.0, 0.0, 0.0])  # rotation by pi about x: it reverses the z axis


@dataclass(frozen=True, eq=False)
class HeavyTop:
    """A body symmetric about its z axis, one point of which is fixed, in uniform gravity along -z of the world.

    transverse, axial: the transverse and axial moments of inertia A and C [kg m^2], about the fixed point. mgl: the
    weight times the distance from the fixed point to the centre of mass along the z axis [N m]; negative if the centre
    is on the other side. q0: the orientation q_WB at t = 0, wxyz. omega0: the angular velocity at t = 0 [rad/s], body
    axes.
    """

    transverse: float
    axial: float
    mgl: float
    q0: Array
    omega0: Array
    _nutation: Nutation = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("transverse", "axial"):
            object.__setattr__(self, name, checks.positive(name, getattr(self, name)))
        object.__setattr__(self, "mgl", float(checks.numbers("mgl", self.mgl, ())))
        q, omega = checks.orientation(self.q0), checks.angular_velocity(self.omega0)
        object.__setattr__(self, "q0", q)
        object.__setattr__(self, "omega0", omega)
        if self.mgl < 0.0:
            q, omega = quaternion.product(q, FLIP), omega * [1, -1, -1]
        nutation = Nutation.through(self.transverse, self.axial, abs(self.mgl), q, omega)
        object.__setattr__(self, "_nutation", nutation)

    @classmethod
    def from_euler(cls, transverse: float, axial: float, mgl: float, angles: ArrayLike, rates: ArrayLike) -> Self:
        """From Euler's angles (phi, theta, psi) [rad], R_WB = R_z(phi) R_x(theta) R_z(psi), and their rates [rad/s]."""
        phi, theta, psi = checks.numbers("angles", angles, (3,))
        dphi, dtheta, dpsi = checks.numbers("rates", rates, (3,))
        klein = cmath.rect(np.cos(theta / 2), (phi + psi) / 2), cmath.rect(np.sin(theta / 2), (phi - psi) / 2)
        omega_xy = cmath.rect(1.0, -psi) * complex(dtheta, dphi * np.sin(theta))
        omega = np.array([omega_xy.real, omega_xy.imag, dpsi + dphi * np.cos(theta)])
        q = np.array([klein[0].real, klein[1].real, klein[1].imag, klein[0].imag])
        return cls(transverse, axial, mgl, q, omega)

    def orientation(self, t: ArrayLike) -> Array:
        """q_WB, wxyz, at the times t [s], (...) -> (..., 4); continuous in t, and q0 at t = 0."""
        t = checks.times(t)
        sine, cosine = self._nutation.half_angle(self._nutation.at(t))
        half_sum, half_difference = self._nutation.half_angles(t)
        alpha, beta = cosine * np.exp(1j * half_sum), sine * np.exp(1j * half_difference)
        q = quaternion.normalize(np.stack([alpha.real, beta.real, beta.imag, alpha.imag], axis=-1))
        return q if self.mgl >= 0.0 else quaternion.product(q, -FLIP)

    def angular_velocity(self, t: ArrayLike) -> Array:
        """omega_B [rad/s] in body axes at the times t [s], (...) -> (..., 3)."""
        t = checks.times(t)
        half_sum, half_difference = self._nutation.half_angles(t)
        axis_rate = self._nutation.axis_rate(self._nutation.at(t))
        omega_xy = axis_rate * np.exp(1j * half_difference) * np.exp(-1j * half_sum)  # times exp(-i psi)
        sign = 1.0 if self.mgl >= 0.0 else -1.0
        return np.stack([omega_xy.real, sign * omega_xy.imag, np.full_like(t, self.omega0[2])], axis=-1)

    def euler_angles(self, t: ArrayLike) -> Array:
        """(phi, theta, psi) [rad], precession, nutation and spin, at the times t [s], (...) -> (..., 3), continuous.

        R_WB = R_z(phi) R_x(theta) R_z(psi). Where the axis passes exactly through the vertical, theta changes sign.
        """
        t = checks.times(t)
        sine, cosine = self._nutation.half_angle(self._nutation.at(t))
        half_sum, half_difference = self._nutation.half_angles(t)
        phi, theta, psi = half_sum + half_difference, 2.0 * np.arctan2(sine, cosine), half_sum - half_difference
        if self.mgl < 0.0:
            phi, theta, psi = phi - pi, pi - theta, pi - psi
        return np.stack([phi, theta, psi], axis=-1)

    @property
    def period(self) -> float:
        """The period [s] of the nutation; infinite on the separatrix and in steady precession."""
        band = self._nutation.band
        return 2.0 * quarter_period(band.mc) / band.rate if band.rate > 0.0 else inf

    @property
    def tilts(self) -> tuple[float, float]:
        """The least and the greatest angle [rad] between the body's z axis and the vertical."""
        band = self._nutation.band
        low, high = 2.0 * np.arctan2(sqrt(band.x2), sqrt(band.y2)), 2.0 * np.arctan2(sqrt(band.x1), sqrt(band.y1))
        return (float(low), float(high)) if self.mgl >= 0.0 else (pi - float(high), pi - float(low))

    @property
    def energy(self) -> float:
        """E = omega . I omega / 2 + m g l cos(theta) [J]."""
        x, y, z = self.omega0
        up = quaternion.to_matrix(self.q0)[2, 2]
        return float(0.5 * (self.transverse * (x * x + y * y) + self.axial * z * z) + self.mgl * up)

    @property
    def vertical_momentum(self) -> float:
        """L_z [kg m^2/s], the angular momentum about the vertical; that about the axis is axial * omega0[2]."""
        moments = np.array([self.transverse, self.transverse, self.axial])
        return float(quaternion.rotate(self.q0, moments * self.omega0)[2])


def steady_precession(transverse: float, axial: float, mgl: float, tilt: float, spin: float) -> tuple[float, float]:
    """The slow and the fast precession rate p [rad/s] of a top without nutation: A cos(tilt) p^2 - C spin p + mgl = 0.

    tilt: the angle [rad] between its axis and the vertical. spin: omega_z [rad/s], about the body's axis.
    """
    L_3, A_cos = axial * spin, transverse * np.cos(tilt)
    discriminant = L_3 * L_3 - 4.0 * A_cos * mgl
    if not discriminant >= 0.0:
        raise ValueError(
            f"a top with spin = {spin:g} rad/s does not precess steadily at tilt = {tilt:g} rad: "
            f"it needs at least {2.0 * sqrt(A_cos * mgl) / axial:g} rad/s."
        )
    larger = 0.5 * (L_3 + np.copysign(sqrt(discriminant), L_3))  # of the two roots times A cos(tilt)
    return float(mgl / larger) if larger else inf, float(larger / A_cos) if A_cos else inf
