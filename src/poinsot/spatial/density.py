"""Varying density: a body becomes a cloud of mass points, by Gauss-Legendre quadrature.

A region is a smooth image of the unit cube, or several of them side by side. Its volume element comes from
differentiating the polynomial that interpolates the map at the Gauss points, so the map alone describes a region.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import pi

import numpy as np

from poinsot._types import Array
from poinsot.spatial.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Shape, Sphere, Triple

Density = Callable[[Array], Array]
Chart = Callable[[Array], Array]
Region = Shape | Chart | Sequence["Region"]

ORDERS = (8, 16, 32, 64)


def clouds(density: Density, region: Region) -> Iterator[tuple[Array, Array]]:
    """Clouds of mass points, each finer than the last: masses (n,) [kg] and positions (n, 3) [m].

    `density(points)` maps points (n, 3) [m] to densities (n,) [kg/m^3].
    """
    maps = charts(region)
    for order in ORDERS:
        cells = [_cells(chart, order) for chart in maps]
        volumes, positions = (np.concatenate(parts) for parts in zip(*cells, strict=True))
        yield _evaluate(density, positions) * volumes, positions


def charts(region: Region) -> list[Chart]:
    """Maps from the unit cube, points (..., 3) to points (..., 3) [m], that together cover the region once."""
    match region:
        case Box(size, inner_size):
            return _frame(size, inner_size)
        case Ellipsoid(semi_axes, inner_semi_axes):
            return [_ball(semi_axes, inner_semi_axes)]
        case Sphere(R, r):
            return [_ball((R, R, R), (r, r, r))]
        case Cylinder(R, h, r):
            return [_tube(h, R, R, r)]
        case Cone(R, h, top):
            return [_tube(h, R, top, 0.0)]
        case Capsule(R, h, r):
            up, down = _ball((R, R, R), (r, r, r), 0, pi / 2), _ball((R, R, R), (r, r, r), pi / 2, pi)
            end = np.array([0, 0, h / 2])
            return [_tube(h, R, R, r), lambda u: up(u) + end, lambda u: down(u) - end]
        case Shape():
            raise TypeError(f"{type(region).__name__} cannot be a region: it has no chart from the unit cube.")
        case Sequence():
            return [chart for part in region for chart in charts(part)]
    return [region]


def _evaluate(density: Density, positions: Array) -> Array:
    values = np.asarray(density(positions), dtype=float)
    if values.shape not in ((), (len(positions),)):
        raise ValueError(
            f"density returned shape {values.shape} for points of shape {positions.shape}; it needs one value per "
            "point. Index the last axis: lambda p: 1000 + 5 * p[..., 2]."
        )
    values = np.broadcast_to(values, len(positions))
    wrong = np.flatnonzero(~((values >= 0) & (values < np.inf)))
    if wrong.size:
        where = positions[wrong[0]].tolist()
        raise ValueError(f"density is {values[wrong[0]]} kg/m^3 at {where} m; it must be zero or more, and finite.")
    return values


def _cells(chart: Chart, order: int) -> tuple[Array, Array]:
    """Volumes (n,) [m^3] and positions (n, 3) [m] of the order^3 Gauss points of one chart."""
    x, w, D = _gauss(order)
    points = np.asarray(chart(np.stack(np.meshgrid(x, x, x, indexing="ij"), axis=-1)), dtype=float)
    if points.shape != (order, order, order, 3) or not np.isfinite(points).all():
        raise ValueError(
            f"a region must map points (..., 3) of the unit cube to finite points (..., 3); {chart} does not."
        )
    du, dv, dw = (np.moveaxis(np.tensordot(D, points, (1, axis)), 0, axis) for axis in range(3))
    volumes = np.abs(np.sum(du * np.cross(dv, dw), axis=-1)) * (w[:, None, None] * w[:, None] * w)
    return volumes.ravel(), points.reshape(-1, 3)


def _gauss(order: int) -> tuple[Array, Array, Array]:
    """Nodes and weights of Gauss-Legendre quadrature on [0, 1], and the matrix that differentiates at the nodes."""
    x, w = np.polynomial.legendre.leggauss(order)
    barycentric = np.sqrt((1 - x * x) * w) * (-1.0) ** np.arange(order)
    gaps = x[:, None] - x + np.eye(order)
    D = barycentric / barycentric[:, None] / gaps * (1 - np.eye(order))
    return (x + 1) / 2, w / 2, 2 * (D - np.diag(D.sum(axis=1)))


def _frame(size: Triple, inner: Triple) -> list[Chart]:
    """A box with a cavity: two slabs normal to each axis, as wide as the cavity along the axes before it."""
    bricks = []
    for axis, side in product(range(3), (-1, 1)):
        extent = np.array([*inner[:axis], (size[axis] - inner[axis]) / 2, *size[axis + 1 :]])
        centre = side * (size[axis] + inner[axis]) / 4 * np.eye(3)[axis]
        if extent.all():
            bricks.append(_brick(centre, extent))
    return bricks


def _brick(centre: Array, extent: Array) -> Chart:
    return lambda u: centre + extent * (u - 0.5)


def _ball(outer: Triple, inner: Triple, low: float = 0.0, high: float = pi) -> Chart:
    """The ellipsoidal shell between two sets of semi-axes, for polar angles between `low` and `high`."""

    def chart(u: Array) -> Array:
        polar, azimuth = low + (high - low) * u[..., 1], 2 * pi * u[..., 2]
        axes = np.array(inner) + (np.array(outer) - np.array(inner)) * u[..., :1]
        return axes * np.stack(
            [np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)], axis=-1
        )

    return chart


def _tube(height: float, bottom: float, top: float, inner: float) -> Chart:
    """The space between a bore of radius `inner` and a wall whose radius runs from `bottom` to `top`."""

    def chart(u: Array) -> Array:
        wall = bottom + (top - bottom) * u[..., 2]
        radius, azimuth = inner + (wall - inner) * u[..., 0], 2 * pi * u[..., 1]
        return np.stack([radius * np.cos(azimuth), radius * np.sin(azimuth), height * (u[..., 2] - 0.5)], axis=-1)

    return chart
