"""Bodies of varying density: quadrature against closed forms, in shapes and in custom regions."""

import re
from math import pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spatial_strategies import same_mass

from poinsot.spatial.density import charts, clouds
from poinsot.spatial.inertia import Inertia
from poinsot.spatial.pose import Pose
from poinsot.spatial.shapes import Box, Capsule, Cone, Cylinder, Disc, Ellipsoid, Sphere

SOLIDS = [
    Box((1.0, 2.0, 3.0)),
    Box((1.0, 2.0, 3.0), (0.5, 1.9, 1.0)),
    Box((1.0, 2.0, 3.0), (0.5, 2.0, 1.0)),
    Ellipsoid((1.0, 2.0, 3.0)),
    Ellipsoid((1.0, 2.0, 3.0), (0.5, 0.7, 2.9)),
    Sphere(2.0),
    Sphere(2.0, 1.5),
    Cylinder(1.0, 3.0),
    Cylinder(1.0, 3.0, 0.4),
    Capsule(0.5, 2.0),
    Capsule(0.5, 2.0, 0.3),
    Cone(1.0, 2.0),
    Cone(1.0, 2.0, 1.7),
]


@pytest.mark.parametrize("solid", SOLIDS, ids=str)
def test_uniform_density_is_the_closed_form(solid):
    same_mass(Inertia.density(lambda p: 700.0, solid), Inertia.of(solid, density=700.0), 1e-12)


def test_the_quadrature_converges_exponentially():
    """Once the Gauss points resolve the revolution about the axis, doubling their number squares the error."""
    exact = Inertia.of(Cylinder(1.0, 2.0), density=1.0)
    errors = [abs(masses.sum() / exact.mass - 1) for masses, _ in clouds(lambda p: 1.0, Cylinder(1.0, 2.0))]
    assert errors[0] < 1e-2
    assert errors[1] < 1e-8
    assert max(errors[2:]) < 1e-14


@settings(max_examples=20, deadline=None)
@given(st.floats(0.1, 3.0), st.floats(0.1, 3.0), st.floats(-1.0, 1.0))
def test_a_density_that_grows_along_a_bar(a, length, slope):
    """rho = 1 + slope x / length over a bar along x: mass, com and moments of a linear taper."""
    bar = Inertia.density(lambda p: 1 + slope * p[..., 0] / length, Box((length, a, a)))
    mass, com = length * a * a, slope * length / 12
    I_x, I_z = mass * a * a / 6, mass * (length**2 + a * a) / 12 - mass * com**2
    same_mass(bar, Inertia(mass, [com, 0, 0], np.diag([I_x, I_z, I_z])), 1e-12)


def test_a_gaussian_ball():
    """rho = exp(-r^2/2): by partial integration, against the radial integral."""
    R = 3.0
    r, w = np.polynomial.legendre.leggauss(60)
    r, w = R * (r + 1) / 2, R * w / 2
    mass = 4 * pi * np.sum(w * r**2 * np.exp(-(r**2) / 2))
    I = 8 / 3 * pi * np.sum(w * r**4 * np.exp(-(r**2) / 2))
    ball = Inertia.density(lambda p: np.exp(-np.sum(p**2, axis=-1) / 2), Sphere(R))
    same_mass(ball, Inertia(mass, np.zeros(3), I * np.eye(3)), 1e-12)


def torus(u):
    """A tube of radius 1 whose centre line has radius 3."""
    s, tube, ring = u[..., 0], 2 * pi * u[..., 1], 2 * pi * u[..., 2]
    r = 3 + s * np.cos(tube)
    return np.stack([r * np.cos(ring), r * np.sin(ring), s * np.sin(tube)], axis=-1)


def test_a_custom_region():
    R, a = 3.0, 1.0
    ring = Inertia.density(lambda p: 1.0, torus)
    mass = 2 * pi**2 * R * a**2
    I_x, I_z = mass * (4 * R**2 + 5 * a**2) / 8, mass * (4 * R**2 + 3 * a**2) / 4
    same_mass(ring, Inertia(mass, np.zeros(3), np.diag([I_x, I_x, I_z])), 1e-12)


def test_the_orientation_of_the_map_does_not_matter():
    mirrored = Inertia.density(lambda p: 1.0, lambda u: torus(u) * [1, 1, -1])
    same_mass(mirrored, Inertia.density(lambda p: 1.0, torus), 1e-12)


def test_a_jump_needs_a_split_region():
    """Half oil, half water: rejected as one box, correct as two."""

    def fill(p):
        return np.where(p[..., 2] > 0.1, 800.0, 1000.0)

    with pytest.raises(ValueError, match=r"not smooth over its region: .* Split the region"):
        Inertia.density(fill, Box((1, 1, 1)))
    halves = [lambda u: [1, 1, 0.4] * u + [-0.5, -0.5, 0.1], lambda u: [1, 1, 0.6] * u - [0.5, 0.5, 0.5]]
    oil, water = Inertia.box(320.0, (1, 1, 0.4)), Inertia.box(600.0, (1, 1, 0.6))
    both = Pose(p=(0, 0, 0.3)) @ oil + Pose(p=(0, 0, -0.2)) @ water
    same_mass(Inertia.density(fill, halves), both, 1e-12)


def test_shapes_and_maps_may_be_mixed():
    shapes = [Sphere(1.0), lambda u: 2 * u + 5]
    expected = Inertia.of(Sphere(1.0), density=2.0) + Pose(p=(6, 6, 6)) @ Inertia.of(Box((2, 2, 2)), density=2.0)
    same_mass(Inertia.density(lambda p: 2.0, shapes), expected, 1e-12)
    assert len(charts([Sphere(1.0), [Box((1, 1, 1), (0.5, 0.5, 0.5)), Capsule(1, 1)]])) == 1 + 6 + 3


@pytest.mark.parametrize(
    ("density", "region", "error", "message"),
    [
        (lambda p: -1.0, Sphere(1.0), ValueError, r"density is -1.0 kg/m\^3 at \[.*\] m; it must be zero or more"),
        (lambda p: p[..., 0], Sphere(1.0), ValueError, r"density is -0.* it must be zero or more"),
        (lambda p: np.nan * p[..., 0], Sphere(1.0), ValueError, r"density is nan kg/m\^3"),
        (lambda p: np.inf, Sphere(1.0), ValueError, r"density is inf kg/m\^3"),
        (
            lambda p: 1 + p[2],
            Sphere(1.0),
            ValueError,
            r"density returned shape \(3,\) for points .*Index the last axis",
        ),
        (lambda p: 0.0, Sphere(1.0), ValueError, r"mass = 0.0 must be one positive"),
        (lambda p: 1.0, Disc(1.0), TypeError, r"Disc cannot be a region"),
        (lambda p: 1.0, lambda u: u[..., 0], ValueError, r"a region must map points \(..., 3\)"),
        (lambda p: 1.0, lambda u: np.nan * u, ValueError, r"a region must map .* to finite points"),
    ],
)
def test_what_cannot_be_integrated(density, region, error, message):
    with pytest.raises(error, match=message):
        Inertia.density(density, region)


def test_a_density_that_is_wrong_is_told_with_its_place():
    """The value and the place in the message belong together."""
    with pytest.raises(ValueError, match="it must be zero or more, and finite") as caught:
        Inertia.density(lambda p: 7.0 * p[..., 2] - 1.0, Box((1.0, 2.0, 3.0)))
    value, place = re.search(r"density is (.*) kg/m\^3 at \[(.*)\] m", str(caught.value)).groups()
    assert float(value) == pytest.approx(7.0 * float(place.split(",")[2]) - 1.0, rel=1e-12)
    assert float(value) < 0
