"""Distributions draw what they say."""

import numpy as np
import pytest

import poinsot as pt

N = 20_000


def drawn(distribution):
    return distribution(np.random.default_rng(1), N)


def test_moments_of_the_distributions():
    assert np.median(drawn(pt.LogNormal(2.0, 0.5))) == pytest.approx(2.0, rel=0.03)
    assert np.log(drawn(pt.LogNormal(2.0, 0.5))).std() == pytest.approx(0.5, rel=0.03)
    assert drawn(pt.Triangular(0.0, 1.0, 5.0)).mean() == pytest.approx(2.0, rel=0.03)
    cut = drawn(pt.Truncated(0.0, 1.0, 0.0))
    assert cut.min() >= 0
    assert cut.mean() == pytest.approx(np.sqrt(2 / np.pi), rel=0.03)
    assert drawn(pt.Choice([1.0, 3.0], [0.25, 0.75])).mean() == pytest.approx(2.5, rel=0.03)
    covariance = np.array([[2.0, 0.5, 0], [0.5, 1.0, 0], [0, 0, 1.0]])
    vectors = drawn(pt.MultivariateNormal((1, 2, 3), covariance))
    np.testing.assert_allclose(np.cov(vectors.T), covariance, atol=0.08)


def test_a_cut_that_leaves_nothing_is_refused():
    with pytest.raises(ValueError, match="almost nothing of the distribution"):
        drawn(pt.Truncated(0.0, 1.0, 50.0))
