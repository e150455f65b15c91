"""The layers of contacts and of the shapes that touch."""

import numpy as np
import pytest
from runs_to_show import box

import poinsot as pt
from poinsot.show.marks import Arrows, Copies, Surface
from poinsot.show.replay import picture_of


@pytest.fixture(scope="module")
def sliding() -> pt.Run:
    """A block that slides over the ground and comes to rest, and a ball that it meets."""
    world = pt.World()
    world.add_ground(surface=pt.Material(stiffness=1e5, damping=0.5, friction=0.4))
    world.add_body("block", pt.Inertia.box(2.0, (0.4, 0.3, 0.2)), position=(0, 0, 0.1), velocity=(1.5, 0, 0))
    world.add_body("ball", pt.Inertia.sphere(0.5, 0.1), position=(0.4, 0, 0.1))
    world.collide("block", "ball", pt.Material(stiffness=1e4, friction=0.2))
    return world.simulate(0.8, 2e-3, every=0.02, ledger_tolerance=0.02)  # a blow


def marks(run: pt.Run) -> dict[str, object]:
    return {m.name: m for m in picture_of(run).layer("contacts")}


def test_points_are_drawn_where_they_touch_and_as_many_as_were_counted(sliding):
    spots = marks(sliding)["block-ground points"]
    assert isinstance(spots, Copies)
    touching = (spots.scales[..., 0] > 1e-6).sum(axis=1)
    assert np.array_equal(touching, sliding.observed(["block-ground.count"])["block-ground.count"].values)
    assert np.abs(spots.positions[spots.scales[..., 0] > 1e-6][:, 2]).max() < 1e-3


def test_the_force_is_that_of_the_run_and_lies_in_its_cone_while_it_holds(sliding):
    found = marks(sliding)
    arrows = found["block-ground force"]
    assert isinstance(arrows, Arrows)
    f = sliding.observed(["block-ground.force"])["block-ground.force"].values
    large = np.linalg.norm(f, axis=1) > 0
    along = np.sum(arrows.vectors[large, 0] * f[large], axis=1)
    assert np.allclose(along, np.linalg.norm(arrows.vectors[large, 0], axis=1) * np.linalg.norm(f[large], axis=1))
    slides = np.hypot(f[:, 0], f[:, 1]) > 0.99 * 0.4 * f[:, 2]
    for word, when in (("slides", slides), ("holds", ~slides)):
        high = found[f"block-ground {word}"].scales[:, 0]
        assert np.array_equal(high[:, 2] > 1e-6, when & large)
        assert np.allclose(high[when & large, 0], 0.4 * high[when & large, 2])
    assert slides[1]
    assert not slides[-1]


def test_a_pair_has_its_points_between_the_bodies(sliding):
    spots = marks(sliding)["block-ball points"]
    met = spots.scales[..., 0] > 1e-6
    assert met.any()
    ball = sliding.data.position.sel(body="ball").values[np.nonzero(met)[0]]
    assert np.allclose(np.linalg.norm(spots.positions[met] - ball, axis=1), 0.1, atol=5e-3)  # it is pressed in


def listed(capacity):
    """Two balls that fall on a third and on the ground: pair by pair, or in lists."""
    world = pt.World()
    world.add_ground(surface=pt.Material(2e4, 1.0, 0.4), capacity=capacity)
    for k, place in enumerate(((0, 0, 0.1), (0.03, 0, 0.302), (0.5, 0, 0.11))):
        world.add_body(f"b{k}", pt.Inertia.sphere(1.0, 0.1), position=place)
    if capacity:
        world.collide(capacity=capacity, surface=pt.Material(1e4))
    else:
        for a, b in (("b0", "b1"), ("b0", "b2"), ("b1", "b2")):
            world.collide(a, b, pt.Material(1e4))
    return world.simulate(0.1, 2e-3, every=0.02, ledger=False)


def test_contacts_of_lists_are_drawn_as_those_of_pairs():
    """Points, forces and cones, whatever the place in the list."""
    one, other = (list(marks(listed(capacity)).values()) for capacity in (4, None))
    for r in range(1, 6):
        for kind in ("force", "holds", "slides"):
            drawn = []
            for found in (one, other):
                shown = [m for m in found if m.name.endswith(kind)]
                places = np.concatenate([m.starts[r] if kind == "force" else m.positions[r] for m in shown])
                sizes = np.concatenate([m.vectors[r] if kind == "force" else m.scales[r] for m in shown])
                all_numbers = np.hstack([places, sizes])[np.linalg.norm(sizes, axis=1) > 1e-6]
                drawn.append(all_numbers[np.argsort(all_numbers[:, 0])])
            assert drawn[0] == pytest.approx(drawn[1], abs=1e-6)
            assert r != 3 or kind == "slides" or len(drawn[0]) == 3


def test_contacts_of_points_are_drawn_too():
    spots = next(m for m in picture_of(box()).layer("contacts") if m.name == "ground points")
    shown = spots.scales[..., 0] > 1e-6
    assert shown.any()
    assert np.all(spots.positions[shown][:, 2] <= 0)


def test_the_shapes_that_touch_are_a_layer(sliding):
    shapes = {m.name: m for m in picture_of(sliding).layer("collisions")}
    assert set(shapes) == {"block", "ball"}
    assert isinstance(shapes["ball"], Surface)
    assert np.linalg.norm(shapes["ball"].triangles.vertices, axis=1).max() == pytest.approx(0.1)


def test_a_run_without_contact_has_none():
    world = pt.World()
    world.add_body("box", pt.Inertia.box(1.0, (1, 1, 1)))
    picture = picture_of(world.simulate(0.1, 1e-2))
    assert picture.layer("contacts") == picture.layer("collisions") == []
