"""Bodies that touch each other by the implicit step: momentum, stacks, and friction that holds between them."""

import warnings

import numpy as np
import pytest

import poinsot as pt

G = 9.81
WOOD = pt.Material(1e5, 0.5, 0.6)


def test_balls_that_collide_keep_all_momentum():
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("a", pt.Inertia.sphere(1.0, 0.1), velocity=(1, 0, 0), angular_velocity=(0, 3, 5))
    world.add_body("b", pt.Inertia.sphere(2.0, 0.1), position=(0.25, 0.05, 0.02))
    world.collide("a", "b", WOOD)
    by_step = []
    for step in (4e-4, 2e-4):
        run = world.simulate(0.2, step, every=0.1)
        assert np.all(run.ledger.relative_residual < 1e-12)
        by_step.append(run.ledger.share_of("numerical"))
        assert np.all(by_step[-1][:3] < 1e-12)
    assert by_step[0][3] < by_step[1][3] < 0


def test_a_head_on_collision_keeps_energy_as_the_step_goes_to_zero():
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("a", pt.Inertia.sphere(1.0, 0.1), velocity=(1, 0, 0))
    world.add_body("b", pt.Inertia.sphere(1.0, 0.1), position=(0.21, 0, 0))
    world.collide("a", "b", pt.Material(1e5, 0.0, 0.6))
    run = world.simulate(0.1, 2e-5, every=0.1)
    v = run.data.velocity.sel(axis="x").values[-1]
    assert v == pytest.approx([0, 1], abs=0.01)


@pytest.fixture(scope="module")
def stack():
    world = pt.World()
    world.add_ground(surface=WOOD)
    for k in range(3):
        world.add_body(f"b{k}", pt.Inertia.box(1.0, (0.2, 0.2, 0.1)), position=(0.01 * k, 0, 0.05 + 0.1 * k))
    for k in range(2):
        world.collide(f"b{k + 1}", f"b{k}", WOOD)
    world.ignore("b2", "ground")
    return world


def test_a_stack_comes_to_rest_and_bears_its_weight(stack):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.LedgerWarning)  # the first blow, in a step of 4 ms
        run = stack.simulate(2.0, 4e-3, every=1.0)
    assert np.abs(run.data.velocity.values[-1]).max() < 1e-12
    for k, name in ((3, "b0-ground"), (2, "b1-b0"), (1, "b2-b1")):
        assert run.data[f"{name}.force"].values[-1] == pytest.approx([0, 0, k * G], abs=1e-9)
        assert run.data[f"{name}.count"].values[-1] == 4


@pytest.mark.slow
def test_ten_boxes_stand_for_a_minute():
    world = pt.World()
    damped = pt.Material(1e5, 5.0, 0.6)  # a tower of one metre sways for some seconds otherwise
    world.add_ground(surface=damped)
    for k in range(10):
        world.add_body(f"b{k}", pt.Inertia.box(1.0, (0.2, 0.2, 0.1)), position=(0.002 * (k % 3), 0, 0.05 + 0.1 * k))
        world.ignore(f"b{k}", "ground") if k else None
    for k in range(9):
        world.collide(f"b{k + 1}", f"b{k}", damped)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.LedgerWarning)
        run = world.simulate(60.0, 5e-3, every=2.0, ledger=False)
    x, v = run.data.position.values, run.data.velocity.values
    assert np.abs(v[1]).max() < 1e-3  # after two seconds
    assert np.abs(x[-1] - x[3]).max() < 1e-6  # the sway has decayed after six
    assert np.abs(x[-1] - x[15]).max() < 1e-9
    assert np.abs(v[-1]).max() < 1e-10


def test_a_box_held_between_two_does_not_slip():
    world = pt.World()
    side = pt.Inertia.box(1.0, (0.1, 0.1, 0.1))
    for name, x in (("left", -0.1), ("right", 0.1)):
        world.add_body(name, side, joint=pt.prismatic((1, 0, 0)), placement=(x, 0, 0))
        world.add_motor(f"{name}-press", name, -np.sign(x) * 30.0)
    world.add_body("held", pt.Inertia.box(1.0, (0.1, 0.1, 0.1)), position=(0, 0, 0))
    for name in ("left", "right"):
        world.collide("held", name, WOOD)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.LedgerWarning)  # the blow as the sides close, in a step of 5 ms
        run = world.simulate(1.0, 5e-3, every=0.5)
    assert np.abs(run.data.velocity.sel(body="held").values[-1]).max() < 1e-10
    fell = run.data.position.sel(body="held", axis="z").values
    assert abs(fell[2] - fell[1]) < 1e-10
    assert abs(fell[1]) < 1e-4


def test_what_cannot_touch_is_told_before_it_runs(stack):
    world = pt.World()
    world.add_body("cone", pt.Inertia.disc(1.0, 0.1), position=(0, 0, 1))
    world.add_body("box", pt.Inertia.box(1.0, (0.1, 0.1, 0.1)))
    with pytest.raises(ValueError, match=r"disc and box cannot touch each other. Give the disc a thickness: take a "):
        world.collide("cone", "box")
    with pytest.raises(ValueError, match=r"there is no surface 'wood' yet: add it by world.add_surface"):
        world.collide("cone", "box", "wood")
    world.add_surface("wood", friction=0.4)
    with pytest.raises(ValueError, match="there is no surface 'wod'; did you mean 'wood'"):
        world.add_ground(surface="wod")


def test_touches_come_and_go_in_either_order(stack):
    world = pt.World()
    for k in range(2):
        world.add_body(f"b{k}", pt.Inertia.sphere(1.0, 0.1), position=(k, 0, 0))
    world.collide("b0", "b1")
    world.collide("b1", "b0", pt.Material(friction=0.1))
    assert list(world.description.elements) == ["b1-b0"]
    world.ignore("b0", "b1")
    assert not world.description.elements


def test_a_box_that_lies_over_the_edges_of_two_others_comes_to_rest():
    """It touches them by faces whose edges cross, pressed in by more than it tilts."""
    soft, size, world = pt.Material(2e4, 1.0, 0.5), (0.2, 0.24, 0.16), pt.World()
    world.add_ground(surface=soft)
    world.add_body("a", pt.Inertia.box(1.5, size), position=(-0.13, 0.02, 0.0799))
    turned = (np.cos(0.3), 0, 0, np.sin(0.3))
    world.add_body("b", pt.Inertia.box(1.5, size), position=(0.13, 0, 0.0799), orientation=turned)
    world.add_body("c", pt.Inertia.box(1.5, size), position=(0, 0, 0.26), angular_velocity=(0.1, -0.1, 0.6))
    world.collide("a", "c", soft)
    world.collide("b", "c", soft)
    world.ignore("c", "ground")
    run = world.simulate(3.0, 2e-3, every=1.0, ledger=False)
    assert np.abs(run.data.velocity.values[-1]).max() < 1e-9
