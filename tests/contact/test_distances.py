"""Grounds and shapes that are given by their signed distance."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.contact.distances import clearance


def hills(p):
    return p[2] - 0.05 * np.sin(3.0 * p[0]) - 0.1 * p[1] ** 2


def normal(p):
    g = np.array([-0.15 * np.cos(3.0 * p[0]), -0.2 * p[1], 1.0])
    return g / np.linalg.norm(g)


FOUND = pt.kernel("(3)->(),(3)")(lambda p: clearance(hills, p))


@pytest.mark.parametrize(("dtype", "rounding"), [(np.float64, 4e-16), (np.float32, 2e-7)])
def test_the_normal_is_exact_in_kernels(dtype, rounding):
    """In float32 as well, where a difference over a hundredth of a millimetre has no digit left."""
    p = np.random.default_rng(0).uniform(-1, 1, (50, 3)).astype(dtype)
    gap, n = FOUND(p)
    assert n.dtype == dtype
    np.testing.assert_allclose(n, [normal(x) for x in p.astype(float)], rtol=0, atol=rounding)
    np.testing.assert_allclose(gap, [hills(x) for x in p.astype(float)], rtol=0, atol=2 * rounding)


def test_of_plain_numbers_it_follows_from_differences():
    """Whose rounding is 1e-16/1e-5."""
    p = np.array([0.3, -0.4, 0.1])
    np.testing.assert_allclose(clearance(hills, p)[1], normal(p), rtol=0, atol=1e-10)


def test_where_a_distance_has_no_slope_there_is_no_normal_but_no_nan():
    """The middle of a hollow ball."""
    bowl = pt.kernel("(3)->(),(3)")(lambda p: clearance(lambda x: 1.0 - np.sqrt(x @ x), p))
    gap, n = bowl(np.zeros(3))
    assert gap == 1.0
    np.testing.assert_array_equal(n, np.zeros(3))


@pytest.mark.parametrize("flat", [lambda p: 0.1, lambda p: np.where(p[2] > 0, 1.0, -1.0), lambda p: np.floor(p[2])])
def test_a_distance_without_slope_is_an_error(flat):
    with pytest.raises(ValueError, match="'ground' has no slope anywhere"):
        pt.World().add_ground(distance=flat)
    with pytest.raises(ValueError, match="distance of a distance shape has no slope anywhere: it must change with"):
        pt.DistanceShape(flat, radius=1.0)


def test_a_function_that_cannot_be_traced_is_not_judged():
    assert pt.World().add_ground(distance=lambda p: float(p[2])).distance is not None


def test_a_ball_rolls_on_hills_in_float32_as_in_float64():
    """Three steps of 2 ms, in which it touches; to some ten roundings of its speed."""
    world = pt.World(gravity=(0, 0, -9.81))
    world.add_ground(distance=hills, surface=pt.Material(1e4, 0.5, 0.9))
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.15), position=(0.2, 0.1, 0.17), velocity=(1.0, 0, -0.5))
    run = world.simulate(6e-3, 2e-3, ledger=False, every=6e-3)
    c, x, p = run.compiled, run.compiled.to_stepped(run.y[0], run.p), run.p
    single = c.advance(x.astype(np.float32), p.astype(np.float32), *map(np.float32, (0.0, 0, 2e-3, 3)))
    assert run.data["ball-ground.force"].values[-1].max() > 10.0
    np.testing.assert_allclose(single[:13], c.advance(x, p, 0.0, 0, 2e-3, 3)[:13], rtol=0, atol=2e-6)
