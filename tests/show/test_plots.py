"""Plots can be read: titles with units, legends, and the right numbers."""

import numpy as np
import pytest
import runs_to_show

from poinsot.show.plots import polhodes

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    matplotlib.pyplot.close("all")


def test_overview_of_a_mechanism(tmp_path):
    figure = runs_to_show.pendulum().plot(path=tmp_path / "x.png")
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == [
        "energy [J]", "momentum [kg m/s]", "angular momentum [kg m^2/s]", "joint coordinates [rad, m, 1]",
        "joint velocities [rad/s, m/s]",
    ]  # fmt: skip
    assert figure.axes[-1].get_xlabel() == "time [s]"
    assert [t.get_text() for t in figure.axes[0].get_legend().get_texts()] == [
        "total",
        "kinetic",
        "potential and stored",
    ]
    assert (tmp_path / "x.png").stat().st_size > 10_000


def test_energy_adds_up():
    run = runs_to_show.pendulum()
    total, kinetic, rest = (line.get_ydata() for line in run.plot("energy").axes[0].lines)
    assert np.allclose(kinetic + rest, total, atol=1e-12)
    assert np.ptp(total) < 1e-6 * np.ptp(kinetic)


def test_histories_of_bodies():
    run = runs_to_show.box()
    figure = run.plot("position", "spring.length", "reaction", body=["box", "ball"])
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == [
        "position of box [m]", "position of ball [m]", "spring.length [m]", "reaction of box [N m, N]",
        "reaction of ball [N m, N]",
    ]  # fmt: skip
    x, _, _ = (line.get_ydata() for line in figure.axes[1].lines)
    assert np.array_equal(x, run["ball"].position.values[:, 0])


def test_a_batch_is_drawn_as_a_band():
    run = runs_to_show.batch()
    ax = run.plot("angular_velocity").axes[0]
    assert len(ax.collections) == 3
    assert np.allclose(ax.lines[0].get_ydata(), 3.0)  # the median of 1 ... 5 rad/s
    alone = run.plot("angular_velocity", instance=4).axes[0]
    assert len(alone.collections) == 0
    assert np.allclose(alone.lines[0].get_ydata(), 5.0)


def test_phase_portrait():
    run = runs_to_show.pendulum()
    ax = run.plot("phase").axes[0]
    assert np.array_equal(ax.lines[0].get_xdata(), run.data["q"].values[:, 0])
    assert np.array_equal(ax.lines[0].get_ydata(), run.data["v"].values[:, 0])
    with pytest.raises(ValueError, match="no joint"):
        runs_to_show.handle().plot("phase")


def test_polhodes_are_on_both_surfaces():
    moments = np.array([1.0, 2.0, 3.5])
    for curve in polhodes(moments):
        assert np.allclose(np.linalg.norm(curve, axis=1), 1.0, atol=1e-12)
        energy = (curve**2) @ (1 / moments)
        assert np.ptp(energy) < 1e-12
    assert len(polhodes(np.array([1.0, 2.0, 2.0]))) == 14  # a symmetric top has circles about one axis only
    assert len(runs_to_show.handle().plot("polhode").axes) == 1


def test_unknown_names():
    run = runs_to_show.pendulum()
    with pytest.raises(ValueError, match="'enrgy' cannot be plotted; did you mean 'energy'"):
        run.plot("enrgy")
    with pytest.raises(ValueError, match="there is no body 'lowr'; did you mean 'lower'"):
        run.plot("position", body="lowr")
    with pytest.raises(ValueError, match="no body of this run rotates freely"):
        run.plot("polhode")
