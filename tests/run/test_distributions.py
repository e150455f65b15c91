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


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: pt.Normal(np.nan, 1.0), "Normal: mu = nan must be finite"),
        (lambda: pt.Normal(0.0, -1.0), "Normal: sigma = -1.0 must be zero or more"),
        (lambda: pt.Normal([0, 1], [1, 1, 1]), r"Normal: shapes that do not fit together: mu \(2,\), sigma \(3,\)"),
        (lambda: pt.Normal("much", 1.0), "Normal: mu = 'much' must be numbers"),
        (lambda: pt.Normal(0.0, np.inf), "Normal: sigma = inf must be finite"),
        (lambda: pt.Uniform(1.0, 0.0), "Uniform: low = 1.0 must not exceed high = 0.0"),
        (lambda: pt.Uniform(0.0, np.inf), "Uniform: high = inf must be finite"),
        (lambda: pt.LogNormal(0.0, 0.1), "LogNormal: median = 0.0 must be positive"),
        (lambda: pt.LogNormal(1.0, -0.1), "LogNormal: sigma = -0.1 must be zero or more"),
        (lambda: pt.Triangular(0.0, 2.0, 1.0), "Triangular: mode = 2.0 must lie from low = 0.0 to high = 1.0"),
        (lambda: pt.Triangular(1.0, 1.0, 1.0), "Triangular: low = 1.0 must be less than high"),
        (lambda: pt.Truncated(0.0, -1.0), "Truncated: sigma = -1.0"),
        (lambda: pt.Truncated(0.0, 1.0, 2.0, 1.0), "Truncated: low = 2.0 must not exceed high = 1.0"),
        (lambda: pt.Truncated(0.0, 1.0, np.nan), "Truncated: low = nan"),
        (lambda: pt.Truncated(0.0, 0.0, 1.0), "almost nothing of the distribution"),
        (lambda: pt.Choice([]), "Choice: values = .* must be a list with one value or more"),
        (lambda: pt.Choice(3.0), "Choice: values = 3.0 must be a list"),
        (lambda: pt.Choice([1, np.nan]), "Choice: values = .* must be finite"),
        (lambda: pt.Choice([1, 2], [0.5, 0.6]), "Choice: probabilities = .* add up to 1.1, not to 1"),
        (lambda: pt.Choice([1, 2], [1.5, -0.5]), "Choice: probabilities = .* must be zero or more"),
        (lambda: pt.Choice([1, 2], [1.0]), "Choice: probabilities = .* must be 2 numbers, one per value"),
        (lambda: pt.MultivariateNormal([0, 0], np.diag([1, -1])), "covariance = .* has the eigenvalue -1"),
        (lambda: pt.MultivariateNormal([0, 0], [[1, 0.5], [0, 1]]), "covariance = .* must be symmetric"),
        (lambda: pt.MultivariateNormal([0, 0], np.eye(3)), r"covariance = .* must have the shape \(2, 2\)"),
        (lambda: pt.MultivariateNormal(0.0, 1.0), "mean = 0.0 must be a vector"),
        (lambda: pt.PhysicalMoment(np.diag([1, 1, 3]), 0.1), "no mass distribution has one moment larger"),
        (
            lambda: pt.PhysicalMoment(np.eye(3), 1.0),
            "spread = 1.0 must be one number from 0 to below 1",
        ),
    ],
)
def test_parameters_are_checked_at_once(make, told):
    with pytest.raises(ValueError, match=told):
        make()


def test_vectors_entry_by_entry():
    low, mode, high = np.zeros(3), [0.1, 0.5, 0.9], np.ones(3)
    assert drawn(pt.Triangular(low, mode, high)).shape == (N, 3)
    np.testing.assert_allclose(drawn(pt.Triangular(low, mode, high)).mean(axis=0), (1 + np.array(mode)) / 3, atol=0.01)
    cut = drawn(pt.Truncated([0, 10], 1.0, [0, -np.inf], [np.inf, 10]))
    assert (cut[:, 0] >= 0).all()
    assert (cut[:, 1] <= 10).all()
    np.testing.assert_allclose(cut.mean(axis=0), [np.sqrt(2 / np.pi), 10 - np.sqrt(2 / np.pi)], atol=0.03)


def test_parameters_are_copies():
    mu = np.zeros(3)
    normal = pt.Normal(mu, 1.0)
    mu[:] = 9.0
    assert np.array_equal(normal.mu, np.zeros(3))


def test_an_error_of_a_distribution_names_the_path():
    world = pt.World()
    world.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)))

    def broken(generator, n):
        raise ValueError("out of luck")

    with pytest.raises(ValueError, match=r"box.mass cannot be drawn from .*broken.*: out of luck"):
        world.simulate(0.01, batch=3, vary={"box.mass": broken})
    with pytest.raises(ValueError, match=r"box.mass is varied over values that are not finite: nan of instance 2"):
        world.simulate(0.01, vary={"box.mass": [1.0, 2.0, np.nan]})


BODIES = {
    "box": pt.Inertia.box(2.0, (0.1, 0.2, 0.6)),
    "plate": pt.Inertia.plate(2.0, (0.1, 0.2)),
    "rod": pt.Inertia.rod(2.0, 0.5),
    "turned": pt.Pose.from_euler((0.3, 0.4, 0.5)) @ pt.Inertia.box(3.0, (0.2, 0.01, 0.4)),
}


@pytest.mark.parametrize("inertia", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("spread", [0.0, 0.02, 0.3, 0.9])
def test_random_moments_are_physical_and_spread_as_stated(inertia, spread):
    """Wishart: E[S'] = S; Var(a^T S' a) = spread^2 (a^T S a)^2 along any axis a."""

    def second(moments):
        return np.trace(moments, axis1=-2, axis2=-1)[..., None, None] / 2 * np.eye(3) - moments

    moments = drawn(pt.PhysicalMoment(inertia.moment, spread))
    size = np.abs(inertia.moment).max()
    least = np.linalg.eigvalsh(second(moments))[:, 0]
    assert (least >= -1e-13 * np.abs(moments).max(axis=(1, 2))).all()
    for moment in moments[:200]:
        pt.Inertia(1.0, (0, 0, 0), moment)  # whose own check it passes
    np.testing.assert_allclose(moments.mean(axis=0), inertia.moment, atol=(5 * spread / np.sqrt(N) + 1e-12) * size)
    axes = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    along = np.einsum("ai,nij,aj->na", axes, second(moments), axes)
    expected = np.einsum("ai,ij,aj->a", axes, second(inertia.moment), axes)
    np.testing.assert_allclose(
        along.std(axis=0), spread * expected, rtol=0.08 if spread > 0.5 else 0.04, atol=1e-12 * size
    )


def test_a_batch_of_random_inertias_runs():
    world = pt.World()
    world.add_body("box", BODIES["turned"], angular_velocity=(1, 2, 3))
    vary = {
        "box.mass": pt.LogNormal(3.0, 0.2),
        "box.com": pt.MultivariateNormal((0, 0, 0), 1e-4 * np.eye(3)),
        "box.moment": pt.PhysicalMoment(world["box.moment"], 0.3),
    }
    run = world.simulate(0.05, 1e-2, batch=10_000, vary=vary, seed=4)
    assert run.stop.reason == "duration"
    assert np.isfinite(run.y).all()
