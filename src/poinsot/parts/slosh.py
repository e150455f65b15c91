"""Sloshing: the first lateral mode of the liquid in a tank as an equivalent pendulum.

Abramson (ed.), The Dynamic Behavior of Liquids in Moving Containers, NASA SP-106 (1966); Dodge, the same "new" (2000).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.fuse import is_traced
from poinsot.mechanism import Joint, revolute, universal
from poinsot.parts.element import require_above_zero, require_not_negative
from poinsot.parts.tank import Tank
from poinsot.spatial import Inertia, Pose
from poinsot.spatial.arrays import as_array

XI = 1.8411837813406593  # the first zero of J1'
LEAST = 1e-6  # the least level, and the least that is left above it, as shares of the tank
BOTTOMS = ("-z", "z")
BASIS = 16  # harmonic polynomials for the mode in a ball


@dataclass(frozen=True)
class SloshModel:
    """A pendulum of `mass` [kg] and `length` [m] that hangs from `hinge` [m], and the rest of the liquid at `fixed`
    [m], both above the centre of the tank.

    omega^2 = g/length, under whatever acceleration g the tank has. The force on the tank, its moment about any point
    and the centre of mass at rest are those of the first mode of the liquid.
    """

    mass: float
    length: float
    hinge: float
    fixed_mass: float
    fixed: float

    def frequency(self, g: float = 9.80665) -> float:
        """omega [rad/s] under the acceleration g [m/s^2]."""
        return float(np.sqrt(g / self.length))


def slosh_model(tank: Tank) -> SloshModel:
    """The equivalent pendulum of the contents of a tank, at their level h above its bottom:

        cylinder    omega^2 = (g/R) xi t,     m1/m = 2 t R/(xi (xi^2 - 1) h),    t = tanh(xi h/R),  xi = 1.8412
        box         omega^2 = (g/a) pi t,     m1/m = 8 t a/(pi^3 h),             t = tanh(pi h/a),  a its longer side

    and m1 hangs at h - (2/k) tanh(k h/2) above the bottom, k = xi/R or pi/a. In a ball all pressure passes through the
    centre, where the pendulum then hinges; its length and mass are those of the mode, by Ritz's method on harmonic
    polynomials (omega^2 R/g = 1.5602 if it is half full).
    """
    m, capacity = tank.contents, tank.capacity
    if is_traced(m, capacity) or not (LEAST < m / capacity < 1 - LEAST):
        raise FieldError(
            f"tank {tank.name!r} with {m} kg of {capacity} kg does not slosh: it must be partly full, with a capacity.",
            "contents",
        )
    level = float(m / capacity)
    require_above_zero(f"tank {tank.name!r}", **{k: v for k, v in _sizes(tank).items() if v is not None})
    if tank.size is None and tank.radius is None:
        raise FieldError(f"tank {tank.name!r} is a point and cannot slosh: give it a size or a radius.", "size")
    if tank.size is None and tank.height is None:
        return _in_ball(float(m), float(tank.radius), level)  # type: ignore[arg-type]
    if tank.size is None:
        H, R = float(tank.height), float(tank.radius)  # type: ignore[arg-type]
        k, share = XI / R, 2 / (XI * (XI**2 - 1)) * R
    else:
        a, H = float(max(as_array(tank.size)[:2])), float(as_array(tank.size)[2])
        k, share = np.pi / a, 8 / np.pi**3 * a
    h = level * H
    t = np.tanh(k * h)
    length, ratio = 1 / (k * t), share * t / h
    place = h - 2 / k * np.tanh(0.5 * k * h) - 0.5 * H
    return _completed(float(m), ratio, length, place + length, 0.5 * (h - H))


def _sizes(tank: Tank) -> dict[str, Any]:
    size = None if tank.size is None else float(np.min(as_array(tank.size)))
    return {"size": size, "radius": tank.radius, "height": tank.height}


class SloshParts(NamedTuple):
    """The model of a tank whose contents slosh: the part at rest, and the pendulum with its joint and its place."""

    rest: Tank
    pendulum: Inertia
    joint: Joint
    placement: Pose


def slosh_parts(tank: Tank, damping: float = 0.005, bottom: str = "-z") -> SloshParts:
    """A tank as a smaller one at a point, and a pendulum beside it.

    damping: the share of critical damping, under 1 g. bottom: the side of the body on which the liquid lies, "-z" or
    "z", as for an aircraft with z down. The pendulum swings about x and y; in a box along its longer side. It must not
    reach 90 degrees about y, where a mass at the end of a rod has no inertia about x: the acceleration that the tank
    feels points roughly to its bottom.
    """
    if not isinstance(tank, Tank):
        raise TypeError(f"{tank!r} is not a pt.Tank, whose contents could slosh.")
    if bottom not in BOTTOMS:
        raise FieldError(f"bottom of tank {tank.name!r} must be '-z' or 'z', not {bottom!r}.", "bottom")
    require_not_negative(f"tank {tank.name!r}", damping=damping)
    model, up = slosh_model(tank), np.array([0.0, 0.0, 1.0 if bottom == "-z" else -1.0])
    centre, L = as_array(tank.position), model.length
    loss = {"damping": 2 * damping * model.frequency() * model.mass * L * L}
    hinge = universal((1, 0, 0), (0, 1, 0), **loss)
    if tank.size is not None:
        hinge = revolute((0, 1, 0) if as_array(tank.size)[0] >= as_array(tank.size)[1] else (1, 0, 0), **loss)
    rest = Tank(tank.name, tank.body, tank.capacity, model.fixed_mass, centre + model.fixed * up)
    X = Pose(np.diag([1.0, up[2], up[2]]), centre + model.hinge * up)
    return SloshParts(rest, Inertia(model.mass, np.array([0.0, 0.0, -L]), np.zeros((3, 3))), hinge, X)


def _completed(m: float, ratio: float, length: float, hinge: float, centre: float) -> SloshModel:
    """The model whose centre of mass at rest lies at `centre` [m]."""
    m1 = ratio * m
    place = (m * centre - m1 * (hinge - length)) / (m - m1)
    return SloshModel(*map(float, (m1, length, hinge, m - m1, place)))


def _in_ball(m: float, R: float, level: float) -> SloshModel:
    """The slosh of a ball that is filled to a share of its volume."""
    depths = [x.real for x in np.roots([-1.0, 3.0, 0.0, -4 * level]) if abs(x.imag) < 1e-9 and 0 < x.real < 2]
    s = depths[0] - 1  # the surface above the centre, radius 1: level = h^2 (3 - h)/4
    eigenvalue, ratio = _ball_mode(s)
    centre = -3 / 4 * (2 - depths[0]) ** 2 / (3 - depths[0])
    return _completed(m, ratio, R / eigenvalue, 0.0, R * centre)


def _ball_mode(s: float) -> tuple[float, float]:
    """omega^2 R/g and m1/m of the first mode in a ball of radius 1 with its surface at z = s.

    Minimise int |grad f|^2 dV / int f^2 dS over f = r^n P_n^1(cos) cos(phi), n = 1, 2, ...; by Green's theorem the
    integral over the volume is that of f df/dn over its boundary.
    """
    x, weight = np.polynomial.legendre.leggauss(80)
    edge = np.sqrt(1 - s * s)
    rho, on_top = 0.5 * edge * (x + 1), 0.5 * edge * weight
    r = np.sqrt(rho**2 + s * s)
    top = _harmonics(r, s / r)
    steep = np.stack([(n + 1) * (top[n - 2] if n > 1 else 0 * r) for n in range(1, BASIS + 1)])
    c, on_wall = 0.5 * ((s + 1) * x + s - 1), 0.5 * (s + 1) * weight
    wall = _harmonics(np.ones_like(c), c)
    K = (top * (rho * on_top)) @ steep.T + (wall * on_wall) @ (np.arange(1, BASIS + 1)[:, None] * wall).T
    M = (top * (rho * on_top)) @ top.T
    scale = 1 / np.sqrt(np.diag(K))
    lengths, axes = np.linalg.eigh(0.5 * (K + K.T) * np.outer(scale, scale))
    known = lengths > 1e-11 * lengths[-1]  # polynomials that rounding cannot tell apart are left out
    basis = scale[:, None] * axes[:, known] / np.sqrt(lengths[known])
    values, vectors = np.linalg.eigh(basis.T @ M @ basis)
    eigenvalue, f = 1 / values[-1], (basis @ vectors[:, -1]) @ top
    moved, square = np.sum(f * rho**2 * on_top), np.sum(f * f * rho * on_top)
    volume = (1 + s) ** 2 * (2 - s) / 3
    return float(eigenvalue), float(eigenvalue * moved**2 / square / volume)


def _harmonics(r: Array, c: Array) -> Array:
    """r^n P_n^1(c), n = 1, ..., BASIS."""
    root = np.sqrt(np.maximum(1 - c * c, 0.0))
    P: list[Any] = [root, 3 * c * root]
    for n in range(3, BASIS + 1):
        P.append(((2 * n - 1) * c * P[-1] - n * P[-2]) / (n - 1))
    return np.stack([r**n * p for n, p in enumerate(P, 1)])
