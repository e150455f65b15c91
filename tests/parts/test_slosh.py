"""Sloshing: the equivalent pendulum of a tank, against published figures, closed forms and the law of Archimedes."""

import itertools

import numpy as np
import pytest
from scipy.special import jnp_zeros

import poinsot as pt
from poinsot.parts.slosh import XI, _ball_mode, slosh_model

CYLINDER = {"radius": 0.8, "height": 3.0}
BOX = {"size": (1.5, 0.9, 2.0)}


def tank(level=0.5, **shape):
    return pt.Tank("fuel", capacity=900.0, contents=900.0 * level, position=(0.1, 0.2, 0.3), **shape)


GAUSS = (0.5 - np.sqrt(1 / 12), 0.5 + np.sqrt(1 / 12))


def by_elements(s, n):
    """omega^2 R/g of the first mode in a ball with its surface at z = s, by n x n bilinear elements in r and z:

    int (f_r g_r + f_z g_z + f g/r^2) r dr dz = (omega^2 R/g) int f g r dr over the surface, f = 0 on the axis.
    """
    x, y = np.meshgrid(*(2 * [np.arange(n + 1) / n]), indexing="ij")
    deep = np.arccos(-s)
    R, Z = (x * np.sin(deep * y)).ravel(), -np.cos(deep * y).ravel()
    first = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    corners = first[:, None] + np.array([0, n + 1, 1, n + 2])
    r, z, K = R[corners], Z[corners], np.zeros((n * n, 4, 4))
    for u, v in itertools.product(GAUSS, GAUSS):
        N = np.array([(1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v])
        D = np.array([[v - 1, 1 - v, -v, v], [u - 1, -u, 1 - u, u]])
        J, at = np.stack([r @ D.T, z @ D.T], -1), r @ N
        G = np.linalg.solve(J, np.broadcast_to(D, (n * n, 2, 4)))
        weight = (0.25 * np.abs(np.linalg.det(J)) * at)[:, None, None]
        K += weight * (np.swapaxes(G, 1, 2) @ G + np.multiply.outer(at**-2, np.outer(N, N)))
    A, top, M = np.zeros((len(R), len(R))), np.arange(n + 1) * (n + 1) + n, np.zeros((n + 1, n + 1))
    np.add.at(A, (corners[:, :, None], corners[:, None, :]), K)
    for e, u in itertools.product(range(n), GAUSS):
        N, ends = np.array([1 - u, u]), R[top[e : e + 2]]
        M[e : e + 2, e : e + 2] += 0.5 * (ends[1] - ends[0]) * (N @ ends) * np.outer(N, N)
    free = np.flatnonzero(R > 1e-12)
    loads = np.zeros((len(free), n))
    surface = np.searchsorted(free, top[1:])
    loads[surface, np.arange(n)] = 1.0
    L = np.linalg.cholesky(M[1:, 1:])
    return 1 / np.linalg.eigvalsh(L.T @ np.linalg.solve(A[np.ix_(free, free)], loads)[surface] @ L)[-1]


@pytest.mark.parametrize("s", [-0.6, 0.0, 0.2])
def test_the_ball_has_the_frequencies_of_finite_elements(s):
    """Extrapolated from two meshes, whose errors are as the squares of their elements: an independent method."""
    coarse, fine = by_elements(s, 12), by_elements(s, 24)
    assert fine + (fine - coarse) / 3 == pytest.approx(_ball_mode(s)[0], rel=3e-5)


def test_the_ball_has_the_frequencies_of_mciver():
    """omega^2 R/g at depths of 0.2, 0.4, ... radii, the four digits of McIver, J. Fluid Mech. 201 (1989)."""
    known = {-0.8: 1.0723, -0.6: 1.1583, -0.4: 1.2625, -0.2: 1.3924, 0.0: 1.5602, 0.2: 1.7882}
    for s, value in known.items():
        assert _ball_mode(s)[0] == pytest.approx(value, abs=6e-5)


def test_the_mass_of_a_nearly_empty_ball_is_that_of_a_point_on_a_circle():
    """A puddle at the bottom slides like a point: omega^2 R/g = 1 and m1 = m."""
    assert _ball_mode(-0.995) == pytest.approx((1.0, 1.0), abs=5e-3)


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_cylinder_and_box_are_the_published_formulas(level):
    """NASA SP-106, with tanh of the depth: omega^2, the share that sloshes, and where it hangs."""
    assert pytest.approx(jnp_zeros(1, 1)[0], rel=1e-12) == XI
    model, h = slosh_model(tank(level, **CYLINDER)), 3.0 * level
    t = np.tanh(1.8412 * h / 0.8)
    assert model.frequency(9.81) ** 2 == pytest.approx(9.81 / 0.8 * 1.8412 * t, rel=1e-4)
    assert model.mass == pytest.approx(900 * level * 0.8 / (2.2 * h) * t, rel=2e-3)
    bottom = -1.5
    place = 0.5 * h * (1 - 4 * 0.8 / (1.8412 * h) * np.tanh(1.8412 * h / 1.6))  # above the centre of the liquid
    assert model.hinge - model.length - bottom - 0.5 * h == pytest.approx(place, abs=1e-4)
    model, h = slosh_model(tank(level, **BOX)), 2.0 * level
    t = np.tanh(np.pi * h / 1.5)
    assert model.frequency(9.81) ** 2 == pytest.approx(9.81 / 1.5 * np.pi * t, rel=1e-12)
    assert model.mass == pytest.approx(900 * level * 8 * 1.5 / (np.pi**3 * h) * t, rel=1e-12)


@pytest.mark.parametrize("shape", [CYLINDER, BOX, {"radius": 0.8}])
@pytest.mark.parametrize("level", [0.2, 0.7])
def test_at_rest_it_weighs_and_balances_as_the_liquid(shape, level):
    full, model = tank(level, **shape), slosh_model(tank(level, **shape))
    assert model.mass + model.fixed_mass == pytest.approx(full.contents, rel=1e-13)
    centre = (model.mass * (model.hinge - model.length) + model.fixed_mass * model.fixed) / full.contents
    if "height" in shape or "size" in shape:
        settled = pt.Tank("s", capacity=900.0, contents=full.contents, settles=True, **shape)
        assert centre == pytest.approx(settled.inertia(full.contents).com[2], abs=1e-12)
    else:
        z = np.linspace(-0.8, 0.8, 400001)
        area, filled = 0.64 - z * z, np.cumsum(0.64 - z * z)
        wet = filled <= level * filled[-1]
        assert centre == pytest.approx(np.sum((z * area)[wet]) / np.sum(area[wet]), abs=1e-5)


@pytest.mark.parametrize(("shape", "bottom"), [(CYLINDER, "-z"), (BOX, "z")])
def test_in_a_world_it_swings_with_that_frequency(shape, bottom):
    """Of a tank held fast, from the linear model, under any gravity; damped by the share asked for at 1 g."""
    g = 9.80665
    world = pt.World((0, 0, -g if bottom == "-z" else g))
    world.add_body("truck", pt.Inertia.box(2000.0, (3, 2, 1)), joint=pt.fixed())
    world.add_slosh("truck", tank(0.6, **shape), damping=0.02, bottom=bottom)
    eigenvalues = np.linalg.eigvals(world.linearise().A)
    swinging = eigenvalues[np.abs(eigenvalues) > 1e-9]
    w = slosh_model(tank(0.6, **shape)).frequency()
    np.testing.assert_allclose(np.abs(swinging), w, rtol=1e-5)
    np.testing.assert_allclose(-swinging.real / np.abs(swinging), 0.02, rtol=1e-4)
    assert len(swinging) == (4 if "radius" in shape else 2)


def test_tanks_that_do_not_slosh():
    for wrong, message in (
        (tank(0.0, **CYLINDER), "does not slosh: it must be partly full"),
        (tank(1.0, **CYLINDER), "does not slosh: it must be partly full"),
        (tank(0.5), "is a point and cannot slosh"),
    ):
        with pytest.raises(ValueError, match=message):
            slosh_model(wrong)
    with pytest.raises(ValueError, match="bottom of tank 'fuel' must be '-z' or 'z', not 'x'"):
        pt.World().add_slosh("b", tank(0.5, **BOX), bottom="x")
