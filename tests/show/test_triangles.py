"""Shapes as triangles: closed, the right way round, and of the shape's own volume."""

import numpy as np
import pytest

from poinsot.show import triangles as draw
from poinsot.show.marks import aimed
from poinsot.show.triangles import Triangles, triangles_of
from poinsot.spatial import Inertia, Pose, quaternion, rotation, shapes
from poinsot.spatial.mesh import Mesh

CUBE = Mesh(draw.box((1, 1, 1)).vertices, draw.box((1, 1, 1)).faces)
SHAPES = [
    shapes.Box((1.0, 2.0, 3.0)),
    shapes.Sphere(0.7),
    shapes.Ellipsoid((1.0, 2.0, 3.0)),
    shapes.Cylinder(0.5, 2.0),
    shapes.Cylinder(0.5, 2.0, 0.2),
    shapes.Capsule(0.5, 2.0),
    shapes.Cone(0.5, 2.0),
    shapes.Cone(0.5, 2.0, 0.3),
    CUBE,
]


def volume(t: Triangles) -> float:
    a, b, c = np.moveaxis(t.vertices[t.faces], 1, 0)
    return float(np.sum(a * np.cross(b, c)) / 6)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: type(s).__name__)
def test_volume(shape):
    """A polygon of n corners in a circle has sin(2 pi/n) / (2 pi/n) of its area; a ball of such rings loses more."""
    flat = isinstance(shape, (shapes.Box, Mesh))
    loss = 1 - volume(triangles_of(shape)) / shape.volume
    assert abs(loss) < 1e-12 if flat else 0 < loss < 0.008


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: type(s).__name__)
def test_every_edge_has_two_faces(shape):
    t = triangles_of(shape)
    _, corner = np.unique(np.round(t.vertices, 9), axis=0, return_inverse=True)
    faces = corner.ravel()[t.faces]
    start, end = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    there = sorted(zip(start.tolist(), end.tolist(), strict=True))
    back = sorted(zip(end.tolist(), start.tolist(), strict=True))
    assert there == back


@pytest.mark.parametrize("shape", [shapes.Rod(2.0), shapes.Plate((1.0, 2.0)), shapes.Disc(1.0), shapes.Disc(1.0, 1.0)])
def test_thin_shapes_are_visible(shape):
    t = triangles_of(shape)
    assert volume(t) > 0
    assert np.ptp(t.vertices, axis=0).min() > 0


def test_moved_and_joined():
    X = Pose(rotation.about_x(0.3), (1.0, 2.0, 3.0))
    one = draw.box((1, 2, 3))
    both = draw.joined([one, one.moved(X)])
    assert np.isclose(volume(both), 12.0)
    assert np.allclose(both.vertices[24:], [X @ v for v in one.vertices])


def test_unknown_shape():
    class Blob(shapes.Sphere):
        pass

    assert len(triangles_of(Blob(1.0)).faces)  # a kind of sphere looks like one
    with pytest.raises(TypeError, match="cannot be drawn"):
        triangles_of(object())  # type: ignore[arg-type]


def test_aimed_rotates_z():
    rng = np.random.default_rng(1)
    directions = np.concatenate([rng.normal(size=(50, 3)), [[0, 0, 2.0], [0, 0, -2.0]]])
    turned = quaternion.rotate(aimed(directions), np.array([0.0, 0.0, 1.0]))
    assert np.allclose(turned, directions / np.linalg.norm(directions, axis=1, keepdims=True), atol=1e-12)


def test_ellipsoid_of_an_inertia_has_that_inertia():
    """The ellipsoid drawn for a body without shapes has the body's own moments."""
    from poinsot.show.looks import ellipsoid_of

    body = Pose(rotation.exp(np.array([0.3, 0.5, -0.2])), (0.1, 0.2, 0.3)) @ Inertia.box(2.0, (0.3, 0.5, 0.9))
    t = ellipsoid_of(Inertia(body.mass, body.com, body.moment))
    made = Inertia.mesh(Mesh(t.vertices, t.faces), mass=2.0)
    assert np.allclose(made.com, body.com, atol=1e-9)
    assert np.allclose(made.moment, body.moment, rtol=0.02, atol=0.02 * body.moment.max())  # 32 corners around
