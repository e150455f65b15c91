"""Batches in pictures: ghosts, side by side or not, colours by outcome, ellipses of dispersion."""

from functools import cache

import numpy as np
import pytest

import poinsot as pt
from poinsot.show.ensembles import OUTCOMES, SCALE, Ensemble, coarser
from poinsot.show.marks import Copies
from poinsot.show.replay import html, picture_of
from poinsot.show.triangles import ball


@cache
def thrown() -> pt.Run:
    """300 balls thrown with velocities of a known covariance, without air; all end after 1 s."""
    world = pt.World()
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.05), position=(0, 0, 5))
    rng = np.random.default_rng(0)
    v = np.concatenate([rng.multivariate_normal([3, 1], [[0.09, 0.03], [0.03, 0.04]], 300), np.full((300, 1), 4.0)], 1)
    return world.simulate(
        1.0, 1e-2, every=0.05, vary={"ball.velocity": v}, outputs={"far": "max(position[0])"}, ledger=False
    )


def layer(picture, name: str) -> dict[str, object]:
    return {m.name: m for m in picture.layer(name)}


def test_some_instances_of_a_batch_are_ghosts_by_default():
    assert len(picture_of(thrown()).records.numbers) == 1 + 24
    assert len(picture_of(thrown(), ghosts=0).records.numbers) == 1
    with pytest.raises(ValueError, match="ghosts must be a number"):
        picture_of(thrown(), ghosts=-1)


def test_ellipses_are_those_of_the_mean_and_covariance_of_the_ends():
    run = thrown()
    marks = layer(picture_of(run), "dispersion")
    ends = run.data.position.sel(body="ball").values[-1]
    assert np.allclose(marks["ends"].positions[0], ends * [1, 1, 0] + [0, 0, ends[:, 2].mean()])
    mean, C = ends[:, :2].mean(axis=0), np.cov(ends[:, :2].T)
    lines = marks["ellipses"]
    points = (lines.points[0, :, 0] + lines.track.position[0])[:, :2] - mean
    squares = np.einsum("ki,ij,kj->k", points, np.linalg.inv(C), points).reshape(3, -1)
    assert np.allclose(squares, -2 * np.log(1 - np.array([[0.5], [0.9], [0.99]])))
    inside = np.einsum("ki,ij,kj->k", ends[:, :2] - mean, np.linalg.inv(C), ends[:, :2] - mean)
    assert abs(np.mean(inside < -2 * np.log(0.5)) - 0.5) < 0.09  # three standard deviations of 300 draws


def test_no_ellipses_where_nothing_spreads_and_of_one_run():
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("box", pt.Inertia.box(1.0, (1, 2, 3)))
    spun = world.simulate(0.2, 1e-2, every=0.1, vary={"box.angular_velocity": np.eye(3)})
    assert picture_of(spun).layer("dispersion") == []
    assert picture_of(world.simulate(0.2, 1e-2)).layer("dispersion") == []


def test_colours_follow_an_output_from_the_least_to_the_largest():
    run = thrown()
    ensemble = Ensemble(run, "far")
    values = run.outputs["far"].values
    assert np.allclose(ensemble.colours[np.argmin(values)], SCALE[0])
    assert np.allclose(ensemble.colours[np.argmax(values)], SCALE[-1])
    rows = ensemble.legend()["rows"]
    assert float(rows[0]["text"]) == pytest.approx(values.min(), rel=1e-3)
    ghosts = next(m for m in picture_of(run, colour="far").layer("ghosts") if isinstance(m, Copies))
    chosen = list(picture_of(run).records.numbers[1:])
    assert np.allclose(ghosts.colours, ensemble.colours[chosen])


def test_colours_tell_what_became_of_an_instance():
    world = pt.World()
    arm = pt.Pose(p=(0.5, 0, 0)) @ pt.Inertia.box(1.0, (1.0, 0.1, 0.1))
    world.add_body("arm", arm, joint=pt.revolute((0, 1, 0)))
    world.add(pt.Cut("root", "arm"))
    world.add(pt.Limit("limit", cut="root", axial=300.0))
    with pytest.warns(UserWarning, match="limit"):
        run = world.simulate(1.0, 1e-3, every=0.1, vary={"arm.v": np.array([[0.0], [40.0]])}, ledger=False)
    ensemble = Ensemble(run, "outcome")
    passed = run.limits.latches["limit"]["latched"] > 0
    assert np.array_equal(ensemble.outcomes, passed.astype(int))
    assert passed.any()
    assert [row["colour"] for row in ensemble.legend()["rows"]] == [
        list(colour) for k, colour in enumerate(OUTCOMES.values()) if k in ensemble.outcomes
    ]


def test_an_unknown_colour_is_an_error_that_names_those_there_are():
    with pytest.raises(ValueError, match="coloured by outcome, far, not by 'fat'; did you mean 'far'"):
        picture_of(thrown(), colour="fat")
    with pytest.raises(ValueError, match="side_by_side"):
        picture_of(thrown(), side_by_side=np.nan)


def test_instances_stand_side_by_side_at_their_distance():
    picture = picture_of(thrown(), ghosts=99, side_by_side=2.0)
    assert np.all(picture.offsets[0] == 0)
    apart = np.linalg.norm(picture.offsets[:, None] - picture.offsets[None], axis=-1)
    assert apart[~np.eye(100, dtype=bool)].min() == pytest.approx(2.0)
    assert np.ptp(picture.offsets[:, :2], axis=0).max() == pytest.approx(18.0)
    low, high = picture.bounds
    assert np.all(high[:2] - low[:2] > 17)


def test_a_coarser_surface_has_fewer_faces_and_the_same_size():
    fine = ball(1.0)
    rough = coarser(fine, 120)
    assert 20 <= len(rough.faces) <= 120 < len(fine.faces)
    assert np.abs(np.ptp(rough.vertices, axis=0) - 2.0).max() < 0.35
    assert coarser(rough, 1000) is rough


def test_a_thousand_arms_are_drawn_in_one_scene(visit, tmp_path):
    """Instanced: as many draws as the arm has surfaces, and the page moves them without making objects."""
    world = pt.World()
    rod = pt.Pose(p=(0.0, 0.0, -0.25)) @ pt.Inertia.capsule(1.0, 0.04, 0.4)
    for k, parent in enumerate((None, "link0", "link1")):
        place = (0, 0, 2.0) if parent is None else (0, 0, -0.5)
        world.add_body(f"link{k}", rod, parent, pt.revolute((0, 1, 0)), place, q=[0.5])
    q = np.random.default_rng(1).uniform(-1, 1, (1000, 1))
    run = world.simulate(0.5, 5e-3, every=0.05, vary={"link0.q": q}, ledger=False)
    path = run.to_html(tmp_path / "arms.html", ghosts=999, side_by_side=2.0)
    page = visit(path.as_uri())
    counts = page.evaluate("poinsot.stage.layers.ghosts.things.map(t => t.object.count)")
    assert counts == [999] * 3
    assert page.evaluate("poinsot.stage.renderer.info.render.calls") < 40
    assert page.evaluate("poinsot.stage.renderer.info.render.triangles") < 250_000
    k = 517
    page.evaluate("poinsot.show(0.25)")
    matrices = "poinsot.stage.layers.ghosts.things[2].object.instanceMatrix.array"
    seen = page.evaluate(f"Array.from({matrices}.slice({16 * k}, {16 * k + 16}))")
    eye = np.array(page.evaluate("poinsot.stage.view.eye"))
    picture = picture_of(run, ghosts=999, side_by_side=2.0)
    place = picture.records.positions[5, k + 1, 2] + picture.offsets[k + 1]
    assert np.allclose(np.array(seen[12:15]) + eye, place, atol=1e-4)


def test_the_legend_is_text_in_the_page(visit, tmp_path):
    path = tmp_path / "thrown.html"
    path.write_text(html(thrown(), colour="far", ghosts=5))
    page = visit(path.as_uri())
    assert page.evaluate("document.querySelector('.legend-box b').textContent") == "far"
    assert page.evaluate("document.querySelectorAll('.legend-box span').length") == len(SCALE)
