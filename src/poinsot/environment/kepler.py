"""Ellipses around a centre: classical elements to position and velocity, and back. Vallado, chapter 2."""

from typing import Any, NamedTuple

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.spatial.arrays import vector
from poinsot.spatial.rotation import about_x, about_z

ROUNDS = 6  # of Danby's iteration of fourth order: rounding for every eccentricity below 1
CIRCULAR = 1e-11  # an eccentricity below this, or such a sine of the inclination, is rounding: angles are then 0


class Elements(NamedTuple):
    """a [m], e, i, node, argument of perigee and true anomaly [rad]."""

    semi_major_axis: Array
    eccentricity: Array
    inclination: Array
    node: Array
    argument_of_perigee: Array
    true_anomaly: Array


def eccentric_anomaly(M: Scalar, e: Scalar) -> Array:
    """E [rad] with E - e sin E = M, for 0 <= e < 1. Danby, Fundamentals of Celestial Mechanics, section 6.6."""
    M = np.mod(np.add(M, np.pi), 2 * np.pi) - np.pi
    E = M + 0.85 * e * np.where(M < 0, -1.0, 1.0)
    for _ in range(ROUNDS):
        s, c = e * np.sin(E), e * np.cos(E)
        f, f1 = E - s - M, 1 - c
        d1 = -f / f1
        d2 = -f / (f1 + 0.5 * d1 * s)
        E = E - f / (f1 + 0.5 * d2 * s + d2 * d2 * c / 6)
    return E


def true_anomaly(M: Scalar, e: Scalar) -> Array:
    """The true anomaly [rad] of a mean anomaly M [rad]."""
    E = eccentric_anomaly(M, e)
    return np.arctan2(np.sqrt(1 - e * e) * np.sin(E), np.cos(E) - e)


def mean_anomaly(nu: Scalar, e: Scalar) -> Array:
    """The mean anomaly [rad] of a true anomaly [rad]."""
    E = np.arctan2(np.sqrt(1 - e * e) * np.sin(nu), e + np.cos(nu))
    return E - e * np.sin(E)


def state_of(elements: Elements, mu: Scalar) -> tuple[Array, Array]:
    """p (3,) [m] and v (3,) [m/s] around a centre of mu [m^3/s^2]: R_z(node) R_x(i) R_z(argument) of the ellipse."""
    a, e, i, node, argument, nu = elements
    parameter = a * (1 - e * e)
    r, k = parameter / (1 + e * np.cos(nu)), np.sqrt(mu / parameter)
    R = about_z(node) @ about_x(i) @ about_z(argument)
    c, s = np.cos(nu), np.sin(nu)
    return R @ vector(r * c, r * s, 0.0), R @ vector(-k * s, k * (e + c), 0.0)


def elements_of(p: Array, v: Array, mu: Scalar) -> Elements:
    """The osculating elements of p (3,) [m] and v (3,) [m/s]. In the equator the node is 0, on a circle the perigee is
    at the node. Angles are from 0 to 2 pi. On a hyperbola a is negative."""
    r = np.sqrt(p @ p)
    h = np.cross(p, v)
    flat = np.sqrt(h[0] * h[0] + h[1] * h[1])
    size = np.sqrt(h @ h)
    node = np.where(flat > CIRCULAR * size, np.arctan2(h[0], -h[1]), 0.0)
    along = vector(np.cos(node), np.sin(node), 0.0)  # to the ascending node
    across = np.cross(h / size, along)
    e_vector = np.cross(v, h) / mu - p / r
    e = np.sqrt(e_vector @ e_vector)
    argument = np.where(e > CIRCULAR, np.arctan2(e_vector @ across, e_vector @ along), 0.0)
    from_node = np.arctan2(p @ across, p @ along)
    a = 1 / (2 / r - v @ v / mu)
    return Elements(a, e, np.arctan2(flat, h[2]), _turn(node), _turn(argument), _turn(from_node - argument))


def _turn(angle: Any) -> Any:
    """An angle from 0 to 2 pi."""
    return np.mod(angle, 2 * np.pi)
