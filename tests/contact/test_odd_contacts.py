"""What a user may give contacts by mistake, or at the edge of what makes sense."""

import numpy as np
import pytest

import poinsot as pt


def balls(n=3):
    world = pt.World(gravity=(0, 0, 0))
    for k in range(n):
        world.add_body(f"b{k}", pt.Inertia.sphere(1.0, 0.1), position=(0.19 * k, 0, 0))
    return world


def test_a_list_has_room_for_all_of_its_pairs_and_no_more():
    """A capacity that nothing could fill takes no memory."""
    world = balls()
    world.collide(capacity=10**15)
    assert world.description.elements["contacts"].capacity == 3
    run = world.simulate(0.01, 2e-3)
    assert run.stop.reason == "duration"
    assert run.data["contacts.count"].values.max() == 2


@pytest.mark.parametrize("capacity", [0, -1, 1.5, True, "many", np.float64(3)])
def test_a_capacity_is_a_count(capacity):
    with pytest.raises(ValueError, match="capacity of a list of contacts must be a whole number, 1 or more, not"):
        balls().collide(capacity=capacity)
    with pytest.raises(ValueError, match="capacity of ground 'ground' must be a whole number, 1 or more, not"):
        balls().add_ground(capacity=capacity)


def test_a_count_may_be_one_of_numpy():
    world = balls()
    world.collide(capacity=np.int64(2))
    assert type(world.description.elements["contacts"].capacity) is int
    assert type(world.add_ground(capacity=np.int32(5)).capacity) is int


@pytest.mark.parametrize("bodies", [3, 2.5])
def test_collide_takes_bodies(bodies):
    with pytest.raises(ValueError, match=f"collide takes bodies, or lists of them, not {bodies}"):
        balls().collide(bodies)


@pytest.mark.parametrize("value", ["hard", None, [1.0, 2.0], np.nan, -1.0, 10**400, {}])
def test_a_number_of_a_material_is_one_number(value):
    with pytest.raises(ValueError, match="stiffness of a material must be zero or more, not"):
        pt.Material(stiffness=value)


def test_a_pair_that_is_named_twice_touches_once():
    """In both orders, or by a name that is there twice: twice the force would be wrong without a word."""
    for some, others in ((["b0", "b1"], ["b1", "b0"]), (["b0", "b1", "b0"], None)):
        for capacity in (None, 4):
            world = balls(2)
            world.collide(some, others, capacity=capacity)
            (element,) = world.description.elements.values()
            assert getattr(element, "pairs", [0]) in ([0], ((0, 1),))


@pytest.mark.parametrize("some", [[], ["b0"], ["b0", "b0"]])
def test_one_body_alone_touches_nothing(some):
    with pytest.raises(ValueError, match="collide needs two bodies, or a list of them; got only"):
        balls().collide(some)


def test_a_ball_of_a_micrometre_slides_as_a_large_one_does():
    """It weighs 1e-14 N. It starts at the depth at which it rests, and slows by mu g while it slides."""
    m, r, mu, h = 1e-15, 1e-6, 0.5, 1e-6
    world, depth = pt.World(), 1e-3 * r
    world.add_ground(surface=pt.Material(m * 9.81 / depth, 0.5, mu))
    world.add_body("ball", pt.Inertia.sphere(m, r), position=(0, 0, r - depth), velocity=(1e-2, 0, 0))
    run = world.simulate(100 * h, h)
    slower = 1e-2 - run.data.velocity.sel(body="ball", axis="x").values[-1]
    assert slower == pytest.approx(mu * 9.81 * 100 * h, rel=1e-3)
    assert run.ledger.relative_residual.max() < 1e-12
