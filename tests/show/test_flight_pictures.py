"""Pictures of flights and orbits: what they draw, into whose axes, and what they need."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import poinsot as pt
from poinsot.show.flight_pictures import ellipse

NAMES = ("path", "ground_track", "height_and_speed", "mach_altitude", "elements", "eclipse")


@pytest.fixture(scope="module")
def orbit():
    world = pt.World(earth=pt.Earth(epoch="2026-03-20T12:00:00Z"), air=pt.US76())
    world.add_body("sat", pt.Inertia.box(4.0, (0.1, 0.1, 0.3)), start=pt.Orbit(6.9e6, 0.001, 1.7))
    return world.simulate(6000.0, 10.0, every=60.0)


@pytest.mark.parametrize("name", NAMES)
def test_each_is_drawn(orbit, name, tmp_path):
    figure = orbit.plot(name, path=tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 5000
    texts = " ".join(ax.get_title(loc) for ax in figure.axes for loc in ("left", "center"))
    texts += " ".join(ax.get_xlabel() + ax.get_ylabel() for ax in figure.axes)
    units = {"path": "[km]", "ground_track": "[deg]", "height_and_speed": "[m/s]", "mach_altitude": "[km]"}
    assert units.get(name, "[s]") in texts
    plt.close(figure)


def test_into_axes_of_ones_own(orbit):
    figure, (one, two) = plt.subplots(2)
    assert orbit.plot("height_and_speed", ax=[one, two]) is figure
    height = one.lines[0].get_ydata()
    np.testing.assert_allclose(height, np.ravel(orbit.observed(["height"])["height"].values) / 1e3)
    assert orbit.plot("ground_track", ax=one) is figure
    space = figure.add_subplot(projection="3d")
    assert orbit.plot("path", ax=space) is figure
    for ax, words in ((one, "three dimensions"), ([one, two], "2 axes are given for 1 panels"), (3, "not an axes")):
        with pytest.raises(ValueError, match=words):
            orbit.plot("path", ax=ax)
    plt.close(figure)


def test_what_they_need():
    world = pt.World()
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1))
    run = world.simulate(0.1, 0.05)
    for name, words in (
        ("ground_track", "needs a world around the Earth"), ("elements", "needs a world around the Earth"),
        ("mach_altitude", "needs a world with air"), ("dispersion", "needs a batch"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            run.plot(name)
    with pytest.raises(ValueError, match="there is no body 'bell'"):
        run.plot("path", body="bell")


def test_ellipses_hold_their_share():
    rng = np.random.default_rng(0)
    x, y = rng.multivariate_normal([3, -1], [[4, 1.5], [1.5, 1]], 100_000).T
    C = np.linalg.inv(np.cov(x, y))
    for share in (0.5, 0.9, 0.99):
        d = ellipse(x, y, share) - [x.mean(), y.mean()]
        r = np.einsum("ni,ij,nj->n", d, C, d)
        np.testing.assert_allclose(r, r[0], rtol=1e-9)
        e = np.stack([x - x.mean(), y - y.mean()], axis=1)
        assert abs(np.mean(np.einsum("ni,ij,nj->n", e, C, e) < r[0]) - share) < 5e-3


def test_where_a_batch_ended(tmp_path):
    world = pt.World()
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1))
    vary = {"ball.velocity[0]": pt.Normal(1.0, 0.2), "ball.velocity[1]": pt.Normal(0.0, 0.1)}
    runs = world.simulate(1.0, 0.1, batch=100, vary=vary)
    figure = runs.plot("dispersion")
    assert len(figure.axes[0].lines) == 5
    plt.close(figure)
    from poinsot.show.quantiles import quantile_plot

    outputs = {"north": "final(ball.position.x)", "west": "final(ball.position.y)"}
    done = pt.sweep(world, vary, 1.0, 0.1, save=tmp_path / "x.zarr", samples=50, outputs=outputs, progress=False)
    figure = quantile_plot(done, ["north:west"], tmp_path / "x.png")
    assert figure.axes[0].get_xlabel().startswith("north = final(")
    plt.close(figure)
    with pytest.raises(ValueError, match="drawn by themselves"):
        quantile_plot(done, ["north:west", "north"])
