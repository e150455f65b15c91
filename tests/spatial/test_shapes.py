"""Closed forms: against the book, against each other, against meshes that converge to them, and with thin walls."""

from fractions import Fraction
from itertools import pairwise
from math import pi

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from poinsot.spatial.mesh import Mesh
from poinsot.spatial.shapes import Box, Capsule, Cone, Cylinder, Disc, Ellipsoid, Plate, Rod, Sphere

lengths = st.floats(0.01, 100.0)
fractions = st.floats(0.0, 1.0)
triples = st.tuples(lengths, lengths, lengths)
ALL = [
    Box((1.0, 2.0, 3.0), (0.5, 1.9, 1.0)),
    Ellipsoid((1.0, 2.0, 3.0), (0.5, 0.7, 2.9)),
    Sphere(2.0, 1.5),
    Cylinder(1.0, 3.0, 0.4),
    Capsule(0.5, 2.0, 0.3),
    Cone(1.0, 2.0, 0.4),
    Rod(2.0),
    Plate((1.0, 2.0)),
    Disc(2.0, 0.5),
]


def close(a, b, rtol=1e-13):
    """Equal to rtol of the largest entry."""
    np.testing.assert_allclose(a, b, rtol=0, atol=rtol * np.abs(b).max() + 1e-300)


@given(triples)
def test_figure_8_5_of_lynch_and_park(abc):
    a, b, c = abc
    diagonal = np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    close(Box(abc).unit_moment, np.diag(diagonal / 12))
    close(Ellipsoid(abc).unit_moment, np.diag(diagonal / 5))
    close(Cylinder(a, b).unit_moment, np.diag([(3 * a * a + b * b) / 12] * 2 + [a * a / 2]))
    assert Box(abc).volume == pytest.approx(a * b * c)
    assert Ellipsoid(abc).volume == pytest.approx(4 / 3 * pi * a * b * c)
    assert Cylinder(a, b).volume == pytest.approx(pi * a * a * b)


@given(lengths, lengths, fractions)
def test_shapes_meet_where_one_becomes_the_other(R, h, k):
    r = k * R
    pairs = [
        (Sphere(R), Ellipsoid((R, R, R))),
        (Cone(R, h, R), Cylinder(R, h)),
        (Capsule(R, 1e-9 * R, r), Sphere(R, r)),
        (Cylinder(R, 1e-9 * R, r), Disc(R, r)),
        (Cylinder(1e-9 * h, h), Rod(h)),
        (Box((R, h, 1e-9 * R)), Plate((R, h))),
    ]
    for one, other in pairs:
        close(one.unit_moment, other.unit_moment, 1e-8)
    assert Sphere(R).volume == pytest.approx(Ellipsoid((R, R, R)).volume)
    assert Capsule(R, h, r).volume == pytest.approx(Sphere(R, r).volume + Cylinder(R, h, r).volume)


@given(triples, st.floats(0.1, 0.9))
def test_a_cavity_takes_its_share_of_the_moment(outer, k):
    inner = tuple(k * x for x in outer)
    (R, h, _), (r, _, _) = outer, inner
    for hollow, solid, cavity in [
        (Box(outer, inner), Box(outer), Box(inner)),
        (Ellipsoid(outer, inner), Ellipsoid(outer), Ellipsoid(inner)),
        (Sphere(R, r), Sphere(R), Sphere(r)),
        (Cylinder(R, h, r), Cylinder(R, h), Cylinder(r, h)),
        (Capsule(R, h, r), Capsule(R, h), Capsule(r, h)),
        (Disc(R, r), Disc(R), Disc(r)),
    ]:
        assert hollow.volume == pytest.approx(solid.volume - cavity.volume, rel=1e-11)
        total = hollow.volume * hollow.covariance
        close(total, solid.volume * solid.covariance - cavity.volume * cavity.covariance, 1e-11)


def test_thin_walls_keep_their_digits():
    """A wall of 1e-12 of the size, against exact arithmetic. A plain difference of fifth powers would keep four."""
    R, r = Fraction(1), 1 - Fraction(1, 2**40)
    ball = (R**5 - r**5) / (R**3 - r**3) / 5
    assert Sphere(1.0, float(r)).covariance[0, 0] == pytest.approx(float(ball), rel=1e-15)

    tube, caps = (R**2 - r**2) * 2, Fraction(4, 3) * (R**3 - r**3)  # volumes over pi, of a capsule of height 2
    z2 = (tube * Fraction(1, 3) + caps * (ball + 1) + (R**4 - r**4)) / (tube + caps)
    assert Capsule(1.0, 2.0, float(r)).covariance[2, 2] == pytest.approx(float(z2), rel=1e-15)

    a, b, c = (Fraction(x) for x in (1, 2, 3))
    A, B, C = (x * (1 - Fraction(1, 2**40)) for x in (a, b, c))
    y2 = (a * b**3 * c - A * B**3 * C) / (a * b * c - A * B * C)
    box, ellipsoid = (kind((1.0, 2.0, 3.0), (float(A), float(B), float(C))) for kind in (Box, Ellipsoid))
    assert box.covariance[1, 1] == pytest.approx(float(y2 / 12), rel=1e-15)
    assert ellipsoid.covariance[1, 1] == pytest.approx(float(y2 / 5), rel=1e-15)
    assert box.volume == pytest.approx(float(a * b * c - A * B * C), rel=1e-15)


@given(lengths, lengths)
def test_shells_without_thickness(R, h):
    """The surfaces of ball, tube and capsule, and the hoop."""
    close(Sphere(R, R).unit_moment, 2 / 3 * R * R * np.eye(3))
    close(Cylinder(R, h, R).unit_moment, np.diag([R * R / 2 + h * h / 12] * 2 + [R * R]))
    close(Disc(R, R).unit_moment, R * R * np.diag([0.5, 0.5, 1.0]))
    tube, caps = 2 * pi * R * h, 4 * pi * R * R
    I_zz = (tube * R * R + caps * 2 / 3 * R * R) / (tube + caps)
    assert Capsule(R, h, R).unit_moment[2, 2] == pytest.approx(I_zz)
    assert Sphere(R, R).volume == Disc(R, R).volume == 0


def test_a_thin_rod_keeps_the_digits_of_its_small_moment():
    assert Cylinder(1e-9, 1.0).unit_moment[2, 2] == pytest.approx(1e-18 / 2, rel=1e-15)


def romberg(coarse_to_fine):
    """Extrapolate values at h, h/2, h/4, ... whose error is a series in h^2; and the order seen in the last three."""
    a, b, c = coarse_to_fine[-3:]
    order = np.log2(np.abs(b - a).max() / np.abs(c - b).max())
    table = list(coarse_to_fine)
    for k in range(1, len(table)):
        table = [fine + (fine - coarse) / (4**k - 1) for coarse, fine in pairwise(table)]
    return table[0], order


def revolved(profile, n):
    """The closed mesh of a profile (x, z), from the bottom of the axis to its top, revolved about z."""
    return trimesh.creation.revolve(profile, sections=2 * n)


def arc(radius, low, high, n, z=0.0):
    angle = np.linspace(low, high, n + 1)
    return np.column_stack([radius * np.cos(angle), z + radius * np.sin(angle)])


def meshes(shape, n):
    """Closed surfaces, cavities inside out, with about n facets per quarter circle: they converge as 1/n^2."""
    match shape:
        case Sphere(R, r):
            yield from (revolved(arc(R, -pi / 2, pi / 2, n), n), revolved(arc(r, -pi / 2, pi / 2, n), n))
        case Ellipsoid(outer, inner):
            for axes in (outer, inner):
                mesh = revolved(arc(1.0, -pi / 2, pi / 2, n), n)
                mesh.apply_transform(np.diag([*axes, 1.0]))
                yield mesh
        case Cylinder(R, h, r):
            for radius in (R, r):
                yield revolved([[0, -h / 2], [radius, -h / 2], [radius, h / 2], [0, h / 2]], n)
        case Capsule(R, h, r):
            for radius in (R, r):
                caps = arc(radius, -pi / 2, 0, n, -h / 2), arc(radius, 0, pi / 2, n, h / 2)
                yield revolved(np.concatenate(caps), n)
        case Cone(R, h, top):
            yield revolved([[0, -h / 2], [R, -h / 2], [top, h / 2], [0, h / 2]], n)


@pytest.mark.parametrize("shape", ALL[1:6], ids=lambda shape: type(shape).__name__)
def test_meshes_converge_to_the_closed_form(shape):
    """To second order in the facet size, and to 1e-10 by extrapolation."""

    def moments(n):
        solid, *cavity = (Mesh(mesh.vertices, mesh.faces) for mesh in meshes(shape, n))
        parts = [(solid, 1.0), *((mesh, -1.0) for mesh in cavity)]
        volume = sum(sign * mesh.volume for mesh, sign in parts)
        first = sum(sign * mesh.volume * mesh.com for mesh, sign in parts)
        second = sum(sign * mesh.volume * (mesh.covariance + np.outer(mesh.com, mesh.com)) for mesh, sign in parts)
        return np.concatenate([[volume], first, second.ravel()])

    extrapolated, order = romberg([moments(n) for n in (4, 8, 16, 32, 64)])
    assert order == pytest.approx(2.0, abs=0.05)
    second = shape.covariance + np.outer(shape.com, shape.com)
    close(extrapolated, shape.volume * np.concatenate([[1.0], shape.com, second.ravel()]), 1e-10)


def test_a_box_mesh_is_exact():
    for size in ((1.0, 2.0, 3.0), (10.0, 0.1, 4.0)):
        mesh = trimesh.creation.box(size)
        close(Mesh(mesh.vertices, mesh.faces).covariance, Box(size).covariance, 1e-14)


@settings(max_examples=20)
@given(st.floats(0.1, 10.0))
def test_moments_scale_with_the_square_of_the_size(s):
    for shape in ALL:
        fields = {name: np.multiply(s, value).tolist() for name, value in vars(shape).items()}
        larger = type(shape)(**fields)
        dimension = {Rod: 1, Plate: 2, Disc: 2}.get(type(shape), 3)
        close(larger.covariance, s**2 * shape.covariance)
        close(larger.com, s * shape.com)
        assert larger.volume == pytest.approx(s**dimension * shape.volume)


def test_shapes_are_values():
    assert Box([1, 2, 3]) == Box(np.array([1.0, 2.0, 3.0]))
    assert len({Sphere(1), Sphere(1.0, 0.0), Sphere(2)}) == 2
    assert repr(Cylinder(1, 2)) == "Cylinder(radius=1.0, height=2.0, inner_radius=0.0)"
    with pytest.raises(AttributeError):
        Sphere(1.0).radius = 2.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sphere(0.0), r"Sphere: radius = 0.0 must be positive"),
        (lambda: Sphere(-1.0), r"Sphere: radius = -1.0 must be positive"),
        (lambda: Cylinder(1.0, float("nan")), r"Cylinder: height = nan must be positive"),
        (lambda: Cylinder(1.0, float("inf")), r"Cylinder: height = inf must be positive"),
        (lambda: Cylinder(1.0, 1.0, -0.1), r"Cylinder: inner_radius = -0.1 must be zero or more"),
        (lambda: Cylinder(1.0, 1.0, 1.1), r"Cylinder: inner_radius = 1.1 does not fit inside \(1.0,\)"),
        (lambda: Box((1, 2)), r"Box: size = \(1, 2\) must be 3 numbers"),
        (lambda: Box(1.0), r"Box: size = 1.0 must be 3 numbers"),
        (lambda: Box((1, 2, "a")), r"Box: size = .* must be 3 numbers"),
        (lambda: Rod((1, 2)), r"Rod: length = \(1, 2\) must be 1 number "),
        (lambda: Box((1, 2, 3), (1, 2, 4)), r"Box: inner_size = \(1, 2, 4\) does not fit"),
        (lambda: Box((1, 2, 3), (1, 2, 3)), r"Box: inner_size = \(1, 2, 3\) leaves no wall"),
        (lambda: Cone(1.0, 1.0, -1.0), r"Cone: top_radius = -1.0 must be zero or more"),
    ],
)
def test_lengths_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()
