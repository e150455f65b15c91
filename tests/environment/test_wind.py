"""Winds: steady, of height, gusts, and their sum."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.environment.wind import one_minus_cosine, total_wind, wind_from

HERE = np.zeros(3)


def test_a_steady_wind_and_where_it_comes_from():
    west = wind_from(np.radians(270), 20.0)
    np.testing.assert_allclose(west, [0, 20, 0], atol=1e-14)
    np.testing.assert_array_equal(pt.SteadyWind(west)(3.0, HERE, 100.0), west)


def test_wind_of_height():
    profile = pt.WindProfile([0.0, 1000.0, 9000.0], [[0, 1, 0], [2, 3, 0], [10, 35, -1]])
    f = pt.kernel("()->(3)")(lambda z: profile(0.0, HERE, z))
    got = f(np.array([-5.0, 500.0, 9000.0, 1e5]))
    np.testing.assert_allclose(got, [[0, 1, 0], [1, 2, 0], [10, 35, -1], [10, 35, -1]], rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(("shape", "end"), [("far", 0.0), ("mil", 1.0)])
def test_gusts(shape, end):
    gust = pt.Gust((0.0, 0.0, -10.0), rise=2.0, start=1.0, shape=shape)
    t = np.array([0.0, 1.0, 2.0, 3.0, 9.0])
    got = pt.kernel("()->(3)")(lambda t: gust(t, HERE, 0.0))(t)
    np.testing.assert_allclose(got[:, 2], -10 * np.array([0, 0, 0.5, 1, end]), atol=1e-14)
    np.testing.assert_array_equal(got[:, :2], 0)
    slope = pt.gradient(pt.kernel("()->()")(lambda s: one_minus_cosine(s, shape)))
    np.testing.assert_allclose(slope(np.array([-1.0, 0.0, 0.5, 1.0, 3.0])), [0, 0, np.pi / 2, 0, 0], atol=1e-15)


def test_winds_add_up_and_any_function_is_one():
    def thermal(t, position, height):
        return np.stack([0.0 * t, 0.0 * t, -2.0 * np.exp(-(position @ position) / 1e4)])

    winds = [pt.SteadyWind((5.0, 0, 0)), pt.Gust((0, 1.0, 0), rise=1.0), thermal]
    f = pt.kernel("(),(3),()->(3)")(lambda t, p, z: total_wind(winds, t, p, z))
    np.testing.assert_allclose(f(1.0, HERE, 300.0), [5, 1, -2], rtol=1e-15)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pt.SteadyWind((1.0, 2.0)), "velocity=.* must be three finite numbers"),
        (lambda: pt.SteadyWind((1.0, 2.0, np.inf)), "must be three finite numbers"),
        (lambda: pt.WindProfile([0.0, 1.0], [[0, 0, 0]]), r"shape \(1, 3\); 2 heights need \(2, 3\)"),
        (lambda: pt.WindProfile([0.0, 0.0], np.zeros((2, 3))), "axis 0 of the table must be"),
        (lambda: pt.Gust((1.0, 0, 0), rise=0.0), "rise=0.0 s of a gust must be more than 0"),
        (lambda: pt.Gust((1.0, 0, 0), rise=1.0, shape="FAR"), "shape='FAR' of a gust is unknown"),
    ],
)
def test_construction_errors(make, words):
    with pytest.raises(ValueError, match=words):
        make()
