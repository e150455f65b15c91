"""Pictures of flights and orbits: what they draw, into whose axes, and what they need."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import poinsot as pt
from poinsot.show.flight_pictures import ellipse
from poinsot.show.ground_tracks import directions, seen_from

NAMES = ("path", "ground_track", "globe", "height_and_speed", "mach_altitude", "elements", "eclipse")


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
    units = {
        "path": "[km]",
        "ground_track": "[deg]",
        "globe": "deg N",
        "height_and_speed": "[m/s]",
        "mach_altitude": "[km]",
    }
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
    for ax, words in ((one, "three dimensions"), ([one, two], "2 axes are given for 1 panel"), (3, "not an axes")):
        with pytest.raises(ValueError, match=words):
            orbit.plot("path", ax=ax)
    plt.close(figure)


def test_the_globe_shows_the_place_below_the_eye_in_its_middle():
    """Towards the eye is up at that place, and a step north of it goes up in the picture, one east to the right."""
    longitude, latitude, small = 2.1, -0.6, 1e-6
    view = seen_from(longitude, latitude)
    np.testing.assert_allclose(view @ view.T, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(view @ directions(longitude, latitude), [0, 0, 1], atol=1e-15)
    north, east = directions(longitude, latitude + small), directions(longitude + small, latitude)
    np.testing.assert_allclose((view @ north)[:2] / small, [0, 1], atol=1e-6)
    np.testing.assert_allclose((view @ east)[:2] / small, [np.cos(latitude), 0], atol=1e-6)


def test_the_globe_hides_nothing_of_the_track(orbit):
    """Each point of the track is drawn once, in front or behind, within the disc."""
    figure = orbit.plot("globe")
    front, behind = (line for line in figure.axes[0].lines if line.get_linewidth() == 1.8)
    shown = np.stack([np.isfinite(line.get_xdata()) for line in (front, behind)])
    assert np.all(shown.sum(axis=0) == 1)
    assert shown.any(axis=1).all()
    assert np.nanmax(np.hypot(front.get_xdata(), front.get_ydata())) <= 1
    plt.close(figure)


def drops(batch=None):
    """A stone that falls over Bern; in a batch each has a velocity of its own, sigma 1 m/s north, 4 m/s east."""
    world = pt.World(earth=pt.Earth())
    start = pt.Start(latitude=0.82, longitude=0.13, altitude=500.0, velocity_ned=(0.0, 0.0, 0.0), pitch=0.0)
    world.add_body("stone", pt.Inertia.sphere(1.0, 0.1), start=start)
    vary = {"stone.start.velocity_ned[0]": pt.Normal(0.0, 1.0), "stone.start.velocity_ned[1]": pt.Normal(0.0, 4.0)}
    return world.simulate(5.0, 0.05, every=0.5, **({} if batch is None else {"batch": batch, "vary": vary}))


def test_a_short_flight_has_a_map_of_its_region():
    figure = drops().plot("ground_track")
    low, high = figure.axes[0].get_xlim()
    assert low < np.degrees(0.13) < high
    assert high - low < 0.01
    assert figure.axes[0].get_aspect() == pytest.approx(1 / np.cos(0.82), rel=1e-4)
    plt.close(figure)


def test_dispersion_around_the_earth_is_over_the_ground():
    """After 5 s sigma is 5 m north and 20 m east; the turning of the Earth moves none of them."""
    figure = drops(200).plot("dispersion")
    ax = figure.axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("east of the mean [m]", "north of the mean [m]")
    east, north = ax.lines[0].get_data()
    assert abs(np.mean(east)) < 1e-6
    assert abs(np.mean(north)) < 1e-6
    assert np.std(east) == pytest.approx(20.0, rel=0.15)
    assert np.std(north) == pytest.approx(5.0, rel=0.15)
    plt.close(figure)


def test_altitude_over_mach_is_in_the_units_of_an_envelope(orbit):
    """Both in km, so that a flight can be drawn into an envelope."""
    figure = orbit.plot("mach_altitude")
    np.testing.assert_allclose(
        figure.axes[0].lines[0].get_ydata(), np.ravel(orbit.observed(["altitude"])["altitude"].values) / 1e3
    )
    assert figure.axes[0].get_ylabel() == "altitude [km]"
    plt.close(figure)


def test_what_they_need():
    world = pt.World()
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1))
    run = world.simulate(0.1, 0.05)
    for name, words in (
        ("ground_track", "needs a world around the Earth"), ("globe", "'globe' needs a world around the Earth"),
        ("elements", "needs a world around the Earth"),
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
    figure, axes = plt.subplots(1, 3)
    assert quantile_plot(done, ["north:west"], ax=axes[0]) is figure
    assert quantile_plot(done, ["north"], ax=axes) is figure
    assert axes[0].get_title("center").startswith("north = final(") or axes[0].get_title("left").startswith("north =")
    with pytest.raises(ValueError, match="2 axes are given for 3 panels"):
        quantile_plot(done, ["north"], ax=axes[:2])
    plt.close(figure)
    with pytest.raises(ValueError, match="drawn by themselves"):
        quantile_plot(done, ["north:west", "north"])
