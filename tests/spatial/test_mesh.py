"""Meshes: exact integrals, files, and every way in which a mesh can be broken."""

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from spatial_strategies import same_mass

from poinsot.spatial.inertia import Inertia
from poinsot.spatial.mesh import Mesh, as_mesh
from poinsot.spatial.pose import Pose
from poinsot.spatial.shapes import Box

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
entries = st.integers(-3000, 3000).map(lambda n: n / 1000)
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def random_hull(seed, n=30):
    hull = trimesh.convex.convex_hull(np.random.default_rng(seed).normal(size=(n, 3)))
    return np.array(hull.vertices), np.array(hull.faces)


def test_the_unit_tetrahedron():
    tetrahedron = Mesh(CORNERS, FACES)
    assert tetrahedron.volume == pytest.approx(1 / 6, rel=1e-15)
    np.testing.assert_allclose(tetrahedron.com, [0.25] * 3, rtol=1e-15)
    np.testing.assert_allclose(tetrahedron.covariance, (4 * np.eye(3) - 1) / 80, rtol=1e-14)


@given(arrays(float, (3, 3), elements=entries), arrays(float, 3, elements=entries))
def test_an_affine_map_takes_the_moments_along(A, b):
    """Volume times det A, com to A c + b, covariance to A C A^T: for any tetrahedron."""
    det = np.linalg.det(A)
    if abs(det) < 0.1:
        return
    mapped = Mesh(CORNERS @ A.T + b, FACES if det > 0 else FACES[:, ::-1])
    C = (4 * np.eye(3) - 1) / 80
    assert mapped.volume == pytest.approx(abs(det) / 6, rel=1e-12)
    np.testing.assert_allclose(mapped.com, A @ np.full(3, 0.25) + b, rtol=0, atol=1e-12)
    np.testing.assert_allclose(mapped.covariance, A @ C @ A.T, rtol=0, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_trimesh_agrees(seed):
    vertices, faces = random_hull(seed)
    oracle = trimesh.Trimesh(vertices, faces, process=False)
    oracle.density = 700.0
    expected = Inertia(oracle.mass, oracle.center_mass, oracle.moment_inertia)
    same_mass(Inertia.mesh((vertices, faces), density=700.0), expected, 1e-12)
    same_mass(Inertia.mesh(oracle, density=700.0), expected, 1e-12)
    same_mass(Inertia.mesh(oracle, mass=2.0), (2.0 / expected.mass) * expected, 1e-12)


@pytest.mark.parametrize(
    "primitive",
    [
        trimesh.primitives.Box(extents=(1, 2, 3)),
        trimesh.primitives.Sphere(radius=2.0, subdivisions=4),
        trimesh.primitives.Cylinder(radius=1.0, height=3.0, sections=64),
    ],
    ids=["box", "sphere", "cylinder"],
)
def test_primitives_of_trimesh(primitive):
    """Closed forms and facets agree with those of trimesh."""
    size = primitive.primitive
    match primitive:
        case trimesh.primitives.Box():
            ours = Inertia.box(1.0, size.extents)
        case trimesh.primitives.Sphere():
            ours = Inertia.sphere(1.0, size.radius)
        case _:
            ours = Inertia.cylinder(1.0, size.radius, size.height)
    facets = trimesh.Trimesh(primitive.vertices, primitive.faces)
    mesh = Inertia.mesh(primitive, density=1.0)
    np.testing.assert_allclose(mesh.moment, facets.moment_inertia, rtol=0, atol=1e-12 * mesh.moment.max())
    closed_form = primitive.moment_inertia / primitive.volume
    np.testing.assert_allclose(ours.moment, closed_form, rtol=0, atol=1e-12 * ours.moment.max())


def test_mujoco_agrees():
    mujoco = pytest.importorskip("mujoco")
    vertices, faces = random_hull(1)
    spec = mujoco.MjSpec()
    spec.add_mesh(name="hull", uservert=vertices.ravel(), userface=faces.ravel())
    body = spec.worldbody.add_body()
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="hull", density=500.0)
    model = spec.compile()
    ours = Inertia.mesh((vertices, faces), density=500.0)
    assert model.body_mass[1] == pytest.approx(ours.mass, rel=1e-6)  # MuJoCo keeps vertices in single precision
    np.testing.assert_allclose(np.sort(model.body_inertia[1]), ours.principal()[0], rtol=1e-6)
    np.testing.assert_allclose(model.body_ipos[1], ours.com, atol=1e-6)


def test_far_away_meshes_keep_their_digits():
    """The corners themselves are rounded by 1e-10 of the size there; without the shift the error would be 1e+2."""
    vertices, faces = random_hull(2)
    vertices = np.round(vertices * 2**20) / 2**20  # so that the shift is exact
    shift = np.array([2.0**30, -(2.0**29), 2.0**30])
    near, far = Mesh(vertices, faces), Mesh(vertices + shift, faces)
    assert far.volume == pytest.approx(near.volume, rel=1e-13)
    np.testing.assert_allclose(far.covariance, near.covariance, rtol=0, atol=1e-12)
    np.testing.assert_allclose(far.com - shift, near.com, atol=1e-6)


def test_vertices_without_a_face_do_not_count():
    mesh = Mesh([*CORNERS, (1e9, 0, 0)], FACES)
    np.testing.assert_allclose(mesh.covariance, Mesh(CORNERS, FACES).covariance, rtol=1e-14)


def test_a_cavity_is_a_surface_wound_the_other_way():
    outer, inner = trimesh.creation.box((1, 2, 3)), trimesh.creation.box((0.5, 1, 2))
    inner.invert()
    hollow = trimesh.util.concatenate([outer, inner])
    same_mass(Inertia.mesh(hollow, mass=3.0), Inertia.box(3.0, (1, 2, 3), (0.5, 1, 2)), 1e-13)


def test_bodies_that_touch_along_an_edge_are_fine_when_they_do_not_share_it():
    one, two = trimesh.creation.box((1, 1, 1)), trimesh.creation.box((1, 1, 1))
    two.apply_translation([1, 1, 0])
    both = trimesh.util.concatenate([one, two])
    cube = Inertia.box(1.0, (1, 1, 1))
    same_mass(Inertia.mesh((both.vertices, both.faces), density=1.0), cube + Pose(p=(1, 1, 0)) @ cube, 1e-13)


@pytest.mark.parametrize("extension", ["stl", "obj", "ply", "off", "glb"])
def test_files(tmp_path, extension):
    mesh = trimesh.creation.box((1, 2, 4))
    path = tmp_path / f"box.{extension}"
    mesh.export(path)
    for source in (path, str(path)):
        same_mass(Inertia.mesh(source, density=2.0), Inertia.of(Box((1, 2, 4)), density=2.0), 1e-6)


def test_stl_files_give_each_triangle_its_own_corners(tmp_path):
    path = tmp_path / "ball.stl"
    ball = trimesh.creation.icosphere(subdivisions=2)
    ball.export(path)
    mesh = as_mesh(path)
    assert len(mesh.vertices) == 3 * len(mesh.faces)
    assert len(np.unique(mesh.faces)) == len(ball.vertices)
    assert mesh.volume == pytest.approx(ball.volume, rel=1e-6)


def test_slivers_of_files_are_dropped():
    """Two of three corners at one place: no area. With corners of their own, such faces look like any other."""
    corners = np.concatenate([CORNERS[FACES].reshape(-1, 3), CORNERS[[0, 0, 1]]])
    mesh = Mesh(corners, np.arange(15).reshape(5, 3))
    assert len(mesh.faces) == 4
    assert mesh.volume == pytest.approx(1 / 6)


def test_scenes_with_several_bodies(tmp_path):
    one, two = trimesh.creation.box((1, 1, 1)), trimesh.creation.box((1, 1, 1))
    two.apply_translation([3, 0, 0])
    scene = trimesh.Scene([one, two])
    path = tmp_path / "two.glb"
    scene.export(path)
    for source in (scene, path):
        with pytest.raises(ValueError, match=r"holds 2 bodies; one is needed. Add them up"):
            Inertia.mesh(source, density=1.0)
    whole = sum(Inertia.mesh(body, density=1.0) for body in scene.dump())
    assert whole.mass == pytest.approx(2.0)
    np.testing.assert_allclose(whole.com, [1.5, 0, 0], atol=1e-15)


def cube(change=None):
    mesh = trimesh.creation.box((1, 1, 1))
    return np.array(mesh.vertices), (change or (lambda faces: faces))(np.array(mesh.faces))


def flipped(faces):
    faces[3] = faces[3, ::-1]
    return faces


@pytest.mark.parametrize(
    ("mesh", "message"),
    [
        (cube(lambda f: f[1:]), r"not watertight: 3 open edges, the first from vertex \d at \[.*\] to .*fill_holes"),
        (cube(flipped), r"wound inconsistently: 3 edges .* from vertex .*fix_normals"),
        (cube(lambda f: f[:, ::-1]), r"inside out: its volume is -1 m\^3"),
        (cube(lambda f: np.concatenate([f, f])), r"18 edges have more than two faces"),
        (cube(lambda f: f + 1), r"face 4 = .* names a vertex outside 0..7"),
        (cube(lambda f: f - 1), r"face 0 = .* names a vertex outside 0..7"),
        (cube(lambda f: np.concatenate([f, [[1, 1, 2]]])), r"face 12 = \(1, 1, 2\) is degenerate.*nondegenerate_faces"),
        (cube(lambda f: f.astype(float)), r"faces must be at least 4 triples of vertex numbers; got float64"),
        (cube(lambda f: f[:3]), r"faces must be at least 4 triples"),
        ((CORNERS[:, :2], FACES), r"vertices must be finite, with shape \(n, 3\); got shape \(4, 2\)"),
        ((CORNERS * np.nan, FACES), r"vertices must be finite"),
        ((CORNERS * [1, 1, 0], FACES), r"encloses no volume"),
        ((CORNERS * 0, FACES), r"encloses no volume"),
        ((np.zeros((12, 3)), np.arange(12).reshape(4, 3)), r"encloses no volume"),
    ],
)
def test_broken_meshes(mesh, message):
    with pytest.raises(ValueError, match=message):
        Inertia.mesh(mesh, density=1.0)


def test_broken_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"mesh file '.*none.stl' does not exist"):
        Inertia.mesh(tmp_path / "none.stl", density=1.0)
    (tmp_path / "notes.txt").write_text("no mesh")
    with pytest.raises(ValueError, match=r"mesh file '.*notes.txt'"):
        Inertia.mesh(tmp_path / "notes.txt", density=1.0)
    vertices, faces = cube(lambda f: f[1:])
    trimesh.Trimesh(vertices, faces).export(tmp_path / "open.stl")
    with pytest.raises(ValueError, match=r"mesh file '.*open.stl': mesh is not watertight"):
        Inertia.mesh(tmp_path / "open.stl", density=1.0)
    with pytest.raises(TypeError, match="cannot make a mesh of int"):
        Inertia.mesh(3, density=1.0)


def test_mass_or_density():
    with pytest.raises(ValueError, match="give either its mass"):
        Inertia.mesh((CORNERS, FACES))
    with pytest.raises(ValueError, match="give either its mass"):
        Inertia.mesh((CORNERS, FACES), density=1.0, mass=1.0)
    with pytest.raises(ValueError, match=r"density -1.0 times volume .* is not a mass"):
        Inertia.mesh((CORNERS, FACES), density=-1.0)


def test_without_trimesh_vertices_and_faces_still_work(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "trimesh", None)
    assert Inertia.mesh((CORNERS, FACES), density=6.0).mass == pytest.approx(1.0)
    with pytest.raises(ImportError, match=r"reading a mesh file needs the package 'trimesh'.*poinsot\[mesh\]"):
        Inertia.mesh(tmp_path / "any.stl", density=1.0)
