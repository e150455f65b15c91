"""Where shapes touch a plane: the lowest point of a shape is among its spots, whatever its attitude."""

import numpy as np
import pytest

from poinsot.contact.hulls import ConvexMesh, hull
from poinsot.contact.spots import SPOTS, spots_of
from poinsot.spatial import shapes

EXAMPLES = [
    shapes.Box((0.3, 0.2, 0.1)),
    shapes.Plate((0.3, 0.2)),
    shapes.Ellipsoid((0.3, 0.2, 0.1)),
    shapes.Sphere(0.2),
    shapes.Capsule(0.1, 0.4),
    shapes.Cylinder(0.1, 0.4),
    shapes.Cone(0.2, 0.3),
    shapes.Cone(0.2, 0.3, 0.1),
    shapes.Disc(0.2),
    shapes.Rod(0.7),
    hull(np.random.default_rng(3).normal(size=(8, 3))),
    hull(np.random.default_rng(3).normal(size=(50, 3))),
]


def cloud(shape, rng):
    """Points of the shape's surface, many of them."""
    d = rng.normal(size=(200_000, 3))
    d /= np.linalg.norm(d, axis=1)[:, None]
    turn = np.linspace(0, 2 * np.pi, 20_001)
    circle = lambda r, z: np.stack([r * np.cos(turn), r * np.sin(turn), z + 0 * turn], axis=1)  # noqa: E731
    match shape:
        case shapes.Box(size) | shapes.Ellipsoid(size) if isinstance(shape, shapes.Box):
            return np.array(np.meshgrid(*([-s / 2, s / 2] for s in size))).reshape(3, -1).T
        case shapes.Plate(size):
            return np.array(np.meshgrid(*([-s / 2, s / 2] for s in size), [0.0])).reshape(3, -1).T
        case shapes.Ellipsoid(axes):
            return d * np.array(axes)
        case shapes.Sphere(radius):
            return radius * d
        case shapes.Capsule(radius, height):
            return np.concatenate([radius * d + [0, 0, s * height / 2] for s in (-1, 1)])
        case shapes.Cylinder(radius, height):
            return np.concatenate([circle(radius, s * height / 2) for s in (-1, 1)])
        case shapes.Cone(radius, height, top):
            return np.concatenate([circle(radius, -height / 2), circle(top, height / 2)])
        case shapes.Disc(radius):
            return circle(radius, 0.0)
        case ConvexMesh(vertices):
            return vertices
        case shapes.Rod(length):
            return np.array([[0, 0, -length / 2], [0, 0, length / 2]])


def test_every_shape_is_here():
    assert {type(shape) for shape in EXAMPLES} == set(SPOTS)


@pytest.mark.parametrize("shape", EXAMPLES, ids=repr)
def test_the_lowest_point_is_a_spot(shape):
    rng = np.random.default_rng(1)
    points = cloud(shape, rng)
    for n in np.concatenate([rng.normal(size=(20, 3)), np.eye(3), -np.eye(3)]):
        n = n / np.linalg.norm(n)
        spots = np.stack([spot(n) for spot in spots_of(shape)])
        lowest, wanted = np.min(spots @ n), np.min(points @ n)
        slack = 0.02 if isinstance(shape, ConvexMesh) else 1e-9  # of a tilt of 4 mrad
        assert wanted - 2e-5 < lowest < wanted + slack  # a cloud of points is a little above the true lowest one


@pytest.mark.parametrize("up", [1.0, -1.0])
def test_a_rim_that_is_level_has_three_points_around(up):
    spots = np.stack([spot(np.array([0.0, 0.0, up])) for spot in spots_of(shapes.Disc(0.2))])
    assert np.allclose(np.linalg.norm(spots, axis=1), 0.2, rtol=1e-8)
    assert np.allclose(np.sum(spots, axis=0), 0.0, atol=1e-15)
