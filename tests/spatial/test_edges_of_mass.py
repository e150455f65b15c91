"""Mass properties and checks at their edges: constructors, scales far from one, and which entry an error names."""

from math import pi

import numpy as np
import pytest
from spatial_strategies import same_mass

from poinsot.spatial import quaternion, rotation, shapes
from poinsot.spatial.inertia import Inertia
from poinsot.spatial.mesh import Mesh, as_mesh
from poinsot.spatial.physical import unphysical
from poinsot.spatial.pose import Pose

CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
CUBE = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)]
CUBE += [(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]


LENGTHS = {
    "box": ((1, 2, 3), (0.1, 0.2, 0.3)),
    "ellipsoid": ((1, 2, 3), (0.1, 0.2, 0.3)),
    "sphere": (1.0, 0.3),
    "cylinder": (0.7, 3.0, 0.3),
    "capsule": (0.7, 3.0, 0.3),
    "cone": (0.7, 3.0, 0.3),
    "rod": (3.0,),
    "plate": ((2.0, 3.0),),
    "disc": (0.7, 0.3),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_constructors_pass_their_lengths_on(name):
    """In the order of the shape's own fields."""
    body = getattr(Inertia, name)(2.0, *LENGTHS[name])
    shape = getattr(shapes, name.capitalize())(*LENGTHS[name])
    assert body.solids[0].shape == shape
    same_mass(body, Inertia.of(shape, mass=2.0), 1e-15)


def test_areas_and_lengths_of_thin_shapes():
    assert shapes.Plate((2.0, 3.0)).volume == 6.0
    assert shapes.Disc(2.0).volume == pytest.approx(4 * pi)
    assert shapes.Disc(2.0, 1.5).volume == pytest.approx(pi * (4 - 2.25))
    assert shapes.Rod(3.0).volume == 3.0


def test_the_solids_of_a_denser_body_are_denser():
    body = 3.0 * (Inertia.sphere(2.0, 1.0) + Pose(p=(1, 0, 0)) @ Inertia.box(1.0, (1, 2, 3)))
    assert [solid.mass for solid in body.solids] == [6.0, 3.0]
    same_mass(sum(solid.inertia() for solid in body.solids), body, 1e-14)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_wrong_spatial_inertia_is_found_at_any_scale(scale):
    G = scale * Inertia.box(2.0, (1, 2, 3)).in_frame(Pose(p=(0.1, 0.2, 0.3))).spatial()
    Inertia.from_spatial(G)
    G[1, 3] *= 1 + 1e-6
    with pytest.raises(ValueError, match="does not fit the form"):
        Inertia.from_spatial(G)


@pytest.mark.parametrize("far", [0.0, 1.0, 1e3])
def test_the_rank_of_a_small_body_far_away(far):
    """A ball of a tenth of a millimetre is regular, a kilometre away too; a point there is a point."""
    ball = Pose(p=(far, 0, 0)) @ Inertia.sphere(1.0, 1e-4)
    assert ball.rank == 3
    assert Inertia.points([1.0, 2.0], [[far, 0, 0], [far, 0, 0]]).rank == 0


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_thin_sheets_are_meshes_at_any_scale(size):
    """What counts as no volume is relative to the size: a sheet of 1e-12 has one, a sheet of 1e-16 has none."""
    sheet = Mesh(size * CORNERS * [1, 1, 1e-12], CUBE)
    assert sheet.volume == pytest.approx(1e-12 * size**3, rel=1e-3)
    with pytest.raises(ValueError, match="encloses no volume"):
        Mesh(size * CORNERS * [1, 1, 1e-16], CUBE)


def test_the_first_open_edge_of_a_mesh_is_named():
    first = r"3 open edges, the first from vertex 4 at \[1.0, 0.0, 0.0\] to vertex 6 at \[1.0, 1.0, 0.0\]"
    with pytest.raises(ValueError, match=first):
        Mesh(CORNERS, [face for face in CUBE if face != (4, 6, 7)])


def test_one_corner_that_is_not_finite_is_found():
    corners = CORNERS.copy()
    corners[5, 1] = np.nan
    with pytest.raises(ValueError, match="mesh vertices must be finite"):
        Mesh(corners, CUBE)
    with pytest.raises(ValueError, match="to finite points"):
        Inertia.density(lambda p: 1.0, lambda u: np.where(u > 0.9, np.inf, u))


def test_only_a_moment_has_the_hint_about_principal_moments():
    with pytest.raises(ValueError, match=r"Write np.diag\(moment\)"):
        Inertia(1.0, np.zeros(3), np.ones(3))
    with pytest.raises(ValueError, match=r"G must have shape \(6, 6\); got \(3,\)\.$"):
        Inertia.from_spatial(np.ones(3))


def test_the_worst_of_many_quaternions_is_named():
    with pytest.raises(ValueError, match=r"its length is 0\.2"):
        quaternion.check(np.array([[1.5, 0, 0, 0], [0.2, 0, 0, 0], [1.0, 0, 0, 0]]), "q")


def test_the_determinant_of_a_reflection_is_named():
    with pytest.raises(ValueError, match=r"its determinant is -1, not \+1"):
        rotation.check(np.stack([np.eye(3), np.diag([1.0, 1.0, -1.0])]), "R")
    rotation.check(np.zeros((0, 3, 3)), "R")


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ((1.0, -1.0, 1.0), r"must be positive"),
        ((1.0, 1.0, np.inf), r"must be positive"),
        ((1e-60, 1.0, 1.0), r"must be from 1e-50 to 1e\+50 m"),
        ((1.0, 1.0, 1e60), r"must be from 1e-50 to 1e\+50 m"),
    ],
)
def test_one_wrong_length_of_three_is_found(lengths, message):
    with pytest.raises(ValueError, match=r"Box: size = .* " + message):
        shapes.Box(lengths)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_how_far_moments_are_from_unphysical(scale):
    """By hand, for moments along turned axes: the asymmetry, the least moment, the triangle inequality's slack."""
    R = quaternion.to_matrix(quaternion.exp([0.3, -0.7, 0.2]))
    turned = np.stack([R @ np.diag(d) @ R.T for d in ((1.0, 2.0, 2.5), (-1.0, 2.0, 2.5), (1.0, 2.0, 3.5))])
    turned[0, 0, 1] += 0.25
    turned[0, 1, 0] -= 0.25
    asymmetry, least, slack = unphysical(scale * turned)
    size = np.abs(turned).max(axis=(1, 2))
    np.testing.assert_allclose(asymmetry * size, [0.5, 0, 0], atol=1e-14)
    np.testing.assert_allclose(least * size, [1.0, -1.0, 1.0], atol=1e-14)
    np.testing.assert_allclose(slack * size, [0.5, -1.5, -0.5], atol=1e-14)
    np.testing.assert_array_equal(unphysical(np.zeros((1, 3, 3))), np.zeros((3, 1)))
    turned[0, 0, 1], turned[0, 1, 0] = turned[0, 1, 0], turned[0, 0, 1]
    np.testing.assert_allclose(unphysical(turned)[0][0] * size[0], 0.5, atol=1e-14)


def test_a_cloud_of_vertices_is_not_a_mesh():
    class Cloud:
        vertices = CORNERS

    with pytest.raises(TypeError, match="cannot make a mesh of Cloud"):
        as_mesh(Cloud())
