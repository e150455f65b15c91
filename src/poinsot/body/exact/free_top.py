"""The free rigid body, with any moments of inertia and no torque: described by Poinsot, solved by Jacobi.

Let I_b be the intermediate principal moment. The polhode, the path of omega in the body, circles the axis of the
greatest moment where L^2 > 2 E I_b, and that of the least where L^2 < 2 E I_b; where they are equal the body is on the
separatrix, and approaches rotation about the intermediate axis in infinite time. Arguments are taken as exact numbers,
and such differences computed as fractions: the separatrix is then exact, and no digits are lost near it.

Whittaker, Analytical Dynamics (1904), section 69; van Zon and Schofield, J. Comput. Phys. 225 (2007), 145-164.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from math import copysign, hypot, inf, ldexp, pi, sqrt

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.body.exact import checks
from poinsot.body.exact.elliptic import Jacobi, first_kind, jacobi, quarter_period, third_kind
from poinsot.spatial import Inertia, quaternion


@dataclass(frozen=True, eq=False)
class FreeTop:
    """A rigid body on which no torque acts: its exact orientation and angular velocity at any time.

    inertia: an `Inertia`, or principal moments (3,), or a moment of inertia (3, 3) [kg m^2] about the centre of mass,
    in body axes. q0: the orientation q_WB at t = 0, wxyz. omega0: the angular velocity at t = 0 [rad/s], body axes.
    """

    inertia: Inertia | Array
    q0: Array
    omega0: Array
    _moments: Array = field(init=False, repr=False)
    _R_BP: Array = field(init=False, repr=False)
    _polhode: "Polhode | None" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        q0, omega0 = checks.orientation(self.q0), checks.angular_velocity(self.omega0)
        moments, R_BP = principal(self.inertia)
        fields = {"q0": q0, "omega0": omega0, "_moments": moments, "_R_BP": R_BP}
        for name, value in {**fields, "_polhode": Polhode.through(moments, omega0 @ R_BP)}.items():
            object.__setattr__(self, name, value)

    def angular_velocity(self, t: ArrayLike) -> Array:
        """omega_B [rad/s] in body axes at the times t [s], (...) -> (..., 3)."""
        t = checks.times(t)
        if self._polhode is None:
            return np.broadcast_to(self.omega0, (*t.shape, 3)).copy()
        return self._polhode.omega(self._polhode.at(t)) @ self._R_BP.T

    def orientation(self, t: ArrayLike) -> Array:
        """q_WB, wxyz, at the times t [s], (...) -> (..., 4); continuous in t, and q0 at t = 0.

        R_WB = R_0 R_x(psi) R_z(-theta) R_x(-chi) R_PB: theta and chi give the direction of L in the body,
        and psi is the precession of the body about L.
        """
        t = checks.times(t)
        if self._polhode is None:
            return quaternion.integrate(self.q0, self.omega0, t)
        polhode, q_BP = self._polhode, quaternion.from_matrix(self._R_BP)
        start, now = polhode.at(np.zeros(())), polhode.at(t)
        q_WL = _product(self.q0, q_BP, quaternion.conjugate(polhode.tilt(start)))
        q_LP = _product(_about(polhode.precession(t, start, now), 0), polhode.tilt(now))
        return quaternion.normalize(_product(q_WL, q_LP, quaternion.conjugate(q_BP)))

    @property
    def period(self) -> float:
        """The period [s] of omega_B; infinite on the separatrix, and where omega_B is constant."""
        return inf if self._polhode is None else 4.0 * quarter_period(self._polhode.mc) / self._polhode.rate

    @property
    def energy(self) -> float:
        """E = omega . I omega / 2 [J]."""
        return float(0.5 * np.sum(self._moments * (self.omega0 @ self._R_BP) ** 2))

    @property
    def angular_momentum(self) -> Array:
        """L = R I omega [kg m^2/s], (3,), world axes."""
        return quaternion.rotate(self.q0, self._R_BP @ (self._moments * (self.omega0 @ self._R_BP)))

    @property
    def side(self) -> float:
        """1 - 2 E I_b / L^2: positive where the polhode circles the axis of the greatest moment, negative where it
        circles that of the least, zero on the separatrix."""
        omega = self.omega0 @ self._R_BP
        L2 = sum((Fraction(I) * Fraction(w)) ** 2 for I, w in zip(self._moments, omega, strict=True))
        return float(differences(self._moments, omega)[1] / L2) if L2 else 0.0


@dataclass(frozen=True)
class Polhode:
    """The path of omega along the principal axes e, b, o of `principal`, with u = rate t + u0:

        (A_e cn u, A_b sn u, A_o dn u) where it circles the axis o, (A_e dn u, A_b sn u, A_o cn u) where it circles e.

    mc is the complementary parameter, and L_b^2 / (L_b^2 + L_o^2) = g sn^2 / (cn^2 + h sn^2).
    """

    moments: Array
    amplitudes: Array
    L: float
    around_o: bool
    mc: float
    rate: float
    u0: float
    g: float
    h: float

    @classmethod
    def through(cls, moments: Array, omega: Array) -> "Polhode | None":
        """The polhode through omega; None where omega is constant, because omega x L is zero, or where it would take
        hundreds of times as long to leave the intermediate axis as to flip."""
        e, b, o = (Fraction(I) for I in moments)
        we, wb, wo = (Fraction(w) for w in omega)
        if (o - b) * wb * wo == (o - e) * we * wo == (b - e) * we * wb == 0:
            return None
        P_e, P_b, P_o = differences(moments, omega)
        around_o = P_b * (o - e) >= 0  # on the separatrix either choice holds
        x, P_x, y, P_y = (o, P_o, e, P_e) if around_o else (e, P_e, o, P_o)  # it circles x; y is the other extreme axis
        A_x, A_y, A_b = root(P_y / (x * (x - y))), root(P_x / (y * (x - y))), root(P_x / (b * (x - b)))
        mc, rate = P_b * (x - y) / (P_y * (x - b)), root(P_y * (x - b) / (e * b * o))
        if around_o:
            g, h = P_o * b * (e - o) / (P_e * o * (o - b)), 1 - P_o * e / (P_e * o)
        else:
            g = h = b * (o - e) / (o * (b - e))
        A_e, A_o = (A_y, A_x) if around_o else (A_x, A_y)
        A_e, A_o = copysign(A_e, omega[0]), copysign(A_o, omega[2])
        A_b = copysign(A_b, A_e * A_o * (o - e))  # so that u grows with t
        sn, cn = omega[1] / A_b, omega[0] / A_e if around_o else omega[2] / A_o
        sn, cn = sn / hypot(sn, cn), cn / hypot(sn, cn)
        if cn * cn + mc < 1e-300:
            return None
        u0 = float(first_kind(sn, cn, float(mc)))
        L = hypot(*(moments * omega))
        return cls(moments, np.array([A_e, A_b, A_o]), L, around_o, float(mc), rate, u0, float(g), float(h))

    def at(self, t: Array) -> Jacobi:
        return jacobi(self.rate * t + self.u0, self.mc)

    def omega(self, j: Jacobi) -> Array:
        """The angular velocity [rad/s] along the principal axes, (..., 3)."""
        return self.amplitudes * np.stack((j.cn, j.sn, j.dn) if self.around_o else (j.dn, j.sn, j.cn), axis=-1)

    def tilt(self, j: Jacobi) -> Array:
        """The quaternion of R_z(-theta) R_x(-chi), which rotates the direction of L in the body onto the x axis."""
        L_e, L_b, L_o = np.moveaxis(self.moments * self.omega(j), -1, 0)
        if self.around_o:
            chi = np.arctan2(L_o, L_b)  # L_o keeps its sign
        else:
            _, A_b, A_o = self.amplitudes
            winding = copysign(pi, A_b * A_o) * (j.half_periods % 4.0)  # a quaternion has the period 4 pi
            chi = np.arctan2(np.copysign(L_o, A_o), j.sign * L_b) - winding
        return _product(_about(-np.arctan2(np.hypot(L_b, L_o), L_e), 2), _about(-chi, 0))

    def precession(self, t: Array, start: Jacobi, now: Jacobi) -> Array:
        """psi [rad], the precession of the axis e about L in the time t.

        Its rate is the mean of L / I_b and L / I_o with the weights L_b^2 and L_o^2.
        """
        _, I_b, I_o = self.moments
        elliptic = third_kind(now, self.h, self.mc) - third_kind(start, self.h, self.mc)
        return self.L / I_o * (t + (I_o - I_b) / I_b * self.g / self.rate * elliptic)


def differences(moments: Array, omega: Array) -> tuple[Fraction, Fraction, Fraction]:
    """L^2 - 2 E I for each of the three moments [kg^2 m^4/s^2], exactly."""
    I, w2 = [Fraction(x) for x in moments], [Fraction(x) ** 2 for x in omega]
    P_e, P_b, P_o = (sum((J * (J - K) * x for J, x in zip(I, w2, strict=True)), Fraction(0)) for K in I)
    return P_e, P_b, P_o


def principal(inertia: Inertia | ArrayLike) -> tuple[Array, Array]:
    """The principal moments (I_e, I_b, I_o) [kg m^2], I_b the intermediate one, and R_BP, whose columns are their axes.

    The axis e is the one about which the body is nearer to symmetric: I_b is nearer to I_o than to I_e. So L / I_b and
    L / I_o, between which the precession of e varies, differ by less than a factor of two.
    """
    moment = inertia.moment if isinstance(inertia, Inertia) else checks.numbers("inertia", inertia)
    if moment.shape not in ((3,), (3, 3)):
        raise ValueError(f"inertia has shape {moment.shape}; give an Inertia, 3 principal moments, or a (3, 3) moment.")
    moment = np.diag(moment) if moment.shape == (3,) else moment
    if np.max(np.abs(moment - moment.T)) > 1e-9 * np.max(np.abs(moment)):
        raise ValueError(f"inertia is not symmetric: {moment.tolist()} kg m^2. Check the signs of its products.")
    (a, b, c), R_BP = np.linalg.eigh(moment)
    if not a > 0.0:
        raise ValueError(
            f"inertia has the principal moment {a:g} kg m^2; all must be positive. A body whose mass is on one line "
            "has no spin about it."
        )
    order = [0, 1, 2] if a * (c - b) <= c * (b - a) else [2, 1, 0]
    R_BP = R_BP[:, order]
    R_BP[:, 0] *= np.sign(np.linalg.det(R_BP))
    return np.array([a, b, c])[order], R_BP


def root(x: Fraction) -> float:
    """sqrt(|x|), also where the float of x would underflow."""
    half = (x.numerator.bit_length() - x.denominator.bit_length()) // 2
    return ldexp(sqrt(abs(x) / Fraction(4) ** half), half)


def _about(angle: Array, axis: int) -> Array:
    """The quaternion of a rotation [rad] about the axis 0, 1 or 2."""
    return quaternion.exp(angle[..., None] * np.eye(3)[axis])


def _product(*quaternions: Array) -> Array:
    return reduce(quaternion.product, quaternions)
