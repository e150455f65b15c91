"""Meshes whose faces share some of their corners and not others."""

from itertools import product

import numpy as np
import pytest

from poinsot.spatial import Inertia
from poinsot.spatial.mesh import Mesh, points_of_file

SIZE = np.array([1.0, 2.0, 3.0])


def sides(size):
    """The corners (6, 4, 3) of the sides of a box, each counter-clockwise from outside."""
    found = []
    for axis, sign in product(range(3), (-1, 1)):
        u, v, n = (np.eye(3)[(axis + k) % 3] for k in (1, 2, 0))
        square = [(a * u + b * v + sign * n) * size / 2 for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        found.append(square[::sign])
    return np.array(found)


@pytest.mark.parametrize("corners", ["of each side", "of each triangle", "shared by all"])
def test_a_box_is_the_same_whichever_corners_are_shared(corners):
    """Sides of two triangles that share their diagonal and nothing else, as programs for drawing write them."""
    vertices = sides(SIZE).reshape(-1, 3)
    faces = np.concatenate([4 * k + np.array([[0, 1, 2], [0, 2, 3]]) for k in range(6)])
    if corners == "of each triangle":
        vertices, faces = vertices[faces].reshape(-1, 3), np.arange(36).reshape(-1, 3)
    elif corners == "shared by all":
        vertices, index = np.unique(vertices, axis=0, return_inverse=True)
        faces = index.ravel()[faces]
    mesh = Mesh(vertices, faces)
    assert mesh.volume == pytest.approx(6.0, rel=1e-14)
    np.testing.assert_allclose(mesh.com, 0.0, atol=1e-15)
    np.testing.assert_allclose(6.0 * mesh.unit_moment, Inertia.box(6.0, SIZE).moment, rtol=1e-13, atol=1e-13)


def test_the_points_of_a_file(tmp_path):
    """All of them, whether the faces close or not; and an error where there is no file."""
    pytest.importorskip("trimesh")
    path = tmp_path / "sides.obj"
    lines = [f"v {x} {y} {z}" for x, y, z in sides(SIZE)[0]] + ["f 1 2 3", "f 1 3 4"]
    path.write_text("\n".join(lines))
    points = points_of_file(path)
    assert points.shape == (4, 3)
    np.testing.assert_array_equal(np.sort(points, axis=0), np.sort(sides(SIZE)[0], axis=0))
    with pytest.raises(ValueError, match=r"mesh file '.*none.obj' does not exist"):
        points_of_file(tmp_path / "none.obj")


def test_a_mesh_cannot_be_written_to():
    faces = np.concatenate([4 * k + np.array([[0, 1, 2], [0, 2, 3]]) for k in range(6)])
    mesh = Mesh(sides(SIZE).reshape(-1, 3), faces)
    for array in (mesh.vertices, mesh.faces):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


def test_a_body_knows_its_shapes_only_if_all_of_it_has_some():
    box, bare = Inertia.box(1.0, SIZE), Inertia(1.0, (0, 0, 0), np.eye(3))
    assert len((box + box).solids) == 2
    assert (box + bare).solids == (bare + box).solids == ()


def test_the_energy_of_many_twists_is_that_of_each():
    rng = np.random.default_rng(0)
    body, V = Inertia.points(rng.uniform(1, 2, 5), rng.standard_normal((5, 3))), rng.standard_normal((2, 4, 6))
    assert body.kinetic_energy(V).shape == (2, 4)
    np.testing.assert_allclose(body.kinetic_energy(V)[1, 2], 0.5 * V[1, 2] @ body.spatial() @ V[1, 2], rtol=1e-13)
