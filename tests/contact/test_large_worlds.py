"""Lists in worlds of trees, by conjugate gradients: as by the joint-space matrix; robots, forces and springs among many
bodies."""

from dataclasses import dataclass

import numpy as np
import pytest

import poinsot as pt
from poinsot.parts import Effect, Element
from poinsot.run import crowds, heaps
from poinsot.run.compiled import CompiledSystem
from poinsot.world.system import System

SOFT = pt.Material(2e4, 1.0, 0.5)
Y = (0, 1, 0)


@dataclass(frozen=True, eq=False)
class Field(Element):
    """A field that pulls to a point, and acts by forces at the start of a step."""

    body: str = ""

    def bodies(self):
        return (self.body,)

    def effect(self, scene):
        at = scene[self.body]
        away = at.position - np.array([1.0, 0.2, -2.0])
        return Effect({self.body: at.wrench(-8.0 * away)}, stored=4.0 * (away @ away))


def crowd(balls, seed=4):
    """Balls that fall on an arm of two links with springs in a field; one hangs on it by a spring, one is pushed."""
    world = pt.World()
    world.add_ground(surface=SOFT, height=-0.6, capacity=8 * balls)
    bar = pt.Pose.from_euler((0, np.pi / 2, 0)) @ pt.Inertia.capsule(1.0, 0.04, 0.4)
    upper, lower = pt.revolute(Y, stiffness=600.0, damping=5.0), pt.revolute(Y, stiffness=300.0, friction=0.1)
    world.add_body("upper", pt.Pose(p=(0.25, 0, 0)) @ bar, joint=upper)
    world.add_body("lower", pt.Pose(p=(0.25, 0, 0)) @ bar, "upper", lower, (0.5, 0, 0), q=0.1)
    rng = np.random.default_rng(seed)
    for k in range(balls):
        place = 0.14 * (k % 7) + 0.02, 0.03 * rng.normal(), 0.11 + 0.15 * (k // 7)
        world.add_body(f"b{k}", pt.Inertia.sphere(0.3, 0.06), position=place, angular_velocity=rng.normal(size=3))
    world.add_spring("string", "b0", "lower", 200.0, 0.2, 2.0, point_b=(0.3, 0, 0))
    world.add_force("push", "b1", (0.5, 0.2, 0.0))
    world.add(Field("field", "lower"))
    names = ["upper", "lower", *(f"b{k}" for k in range(balls))]
    world.collide(names, surface=SOFT, capacity=4 * balls)
    return world


@pytest.fixture(scope="module")
def runs():
    """By the joint-space matrix, by conjugate gradients with all written out, and with one ball in loops."""
    found = []
    for largest, least in ((99, 99), (0, 99), (0, 1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("poinsot.environment.touch_list.STRAIGHT", largest)
            patch.setattr(crowds, "LEAST", least)
            patch.setattr(heaps, "GUESSED", 1e-11)
            found.append(crowd(3).simulate(0.24, 2e-3, every=0.02, ledger_tolerance=np.inf))
            assert heaps.is_heap(found[-1].compiled.system) == (least == 1)
    return found


def test_conjugate_gradients_move_trees_as_the_matrix_does(runs):
    one, *others = (run.data.position.values for run in runs)
    assert np.abs(one[-1] - one[0]).max() > 0.1
    assert runs[0].data["contacts.force"].values.max() > 1.0
    assert all(np.abs(one - other).max() < 1e-9 for other in others)


def test_the_ledger_of_trees_with_lists_closes(runs):
    one, *others = (run.ledger for run in runs)
    for ledger in (one, *others):
        assert np.all(ledger.relative_residual < 1e-10), ledger
        assert ledger.sources == one.sources
        assert np.abs(one.inflow - ledger.inflow).max() < 1e-8


def test_a_run_in_loops_goes_on_with_the_same_bits():
    whole, half = (crowd(18).simulate(t, 2e-3, every=0.06, ledger_tolerance=np.inf) for t in (0.12, 0.06))
    assert crowds.crowd_of(whole.compiled.system).names == tuple(f"b{k}" for k in range(2, 18))
    assert np.array_equal(half.continue_(0.06).y[-1], whole.y[-1])
    assert np.all(whole.ledger.relative_residual < 1e-10), whole.ledger


@pytest.fixture(scope="module")
def steps():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crowds, "LEAST", 1)
        patch.setattr(heaps, "GUESSED", 1e-11)  # differences of runs are taken
        free = ("b2.mass", "lower.mass", "string.stiffness", "gravity")
        system = CompiledSystem(System(crowd(3).description, free), "implicit", {}, False)
        kernel = pt.kernel(f"({system.ny}),({system.np})->({system.ny})")(
            lambda y, p: system._advance_state(y, p, 0.0, 2e-3, 2)
        )
        p = system.parameters({}, {})
        y = np.array(system.start(p))
        for _ in range(40):
            y = kernel(y, p)
        yield system, kernel, y, p


def test_the_bits_of_bodies_in_loops_and_a_robot_do_not_depend_on_the_batch(steps):
    system, kernel, y, p = steps
    moves = np.arange(system.ny) < system.system.nq
    many = y + 1e-3 * np.random.default_rng(1).normal(size=(5, system.ny)) * moves
    together = kernel(many, p)
    assert np.all(np.isfinite(together))
    assert all(np.array_equal(kernel(many[k], p), together[k]) for k in range(5))


@pytest.mark.slow
def test_slopes_of_bodies_in_loops_and_a_robot_are_those_of_differences(steps):
    system, kernel, y, p = steps
    rng, n = np.random.default_rng(3), system.system.nq + system.system.nv
    dy, dp = 1e-3 * rng.normal(size=(4, system.ny)), 0.1 * rng.normal(size=(4, system.np))
    dy[:2], dp[2:], dy[:, n:] = 0.0, 0.0, 0.0
    _, found = pt.jvp(kernel, wrt=(0, 1))(y, p, dy, dp)
    halves = [(kernel(y + s * dy, p + s * dp) - kernel(y - s * dy, p - s * dp)) / (2 * s) for s in (1e-3, 5e-4)]
    wanted = (4 * halves[1] - halves[0]) / 3
    assert np.max(np.abs(found - wanted)[:, :n] / np.abs(wanted).max(axis=1, keepdims=True)) < 1e-6


def test_the_code_does_not_grow_with_the_bodies_in_loops():
    """All that grows is to hand over the new state, number by number."""
    one, other = (CompiledSystem(System(crowd(n).description), "implicit", {}, True) for n in (20, 40))
    more = other.advance.count()
    more.subtract(one.advance.count())
    assert {op for op, count in more.items() if count} == {"get"}
    assert more["get"] <= other.nx - one.nx


def looked_at(force):
    """The bodies in loops of a world of 20 balls with a force on the first that is a function of time and scene."""
    world = pt.World()
    world.add_ground(surface=SOFT, capacity=80)
    for k in range(20):
        world.add_body(f"b{k}", pt.Inertia.sphere(0.3, 0.06), position=(0.2 * k, 0, 0.1))
    world.collide(capacity=40)
    world.add_force("follow", "b0", force)
    found = crowds.crowd_of(System(world.description))
    return None if found is None else found.names


def test_a_body_that_an_element_looks_at_is_written_out():
    everyone = [f"b{k}" for k in range(20)]
    assert looked_at((0, 0, 1.0)) == tuple(everyone[1:])
    assert looked_at(lambda t, scene: np.sin(t) * scene["b7"].velocity) == (*everyone[1:7], *everyone[8:])
    assert looked_at(lambda t, scene: np.where(scene["b7"].position[2] < 1, 1.0, 0.0) * np.ones(3)) == (
        *everyone[1:7],
        *everyone[8:],
    )
    assert looked_at(lambda t, scene: scene.joint("b7")[1][3] * np.ones(3)) == (*everyone[1:7], *everyone[8:])
    assert looked_at(lambda t, scene: sum(scene[name].position for name in everyone)) is None


@pytest.mark.parametrize(
    "force",
    [
        lambda t, scene: scene.signal("contacts.force") * np.ones(3),
        lambda t, scene: scene.q[4] * np.ones(3),
        lambda t, scene: len(scene.bodies) * np.ones(3),
        lambda t, scene: sum(link.inertia.mass for link in scene.mechanism.links) * np.ones(3),
        lambda t, scene: t * len(scene.bodies) * np.ones(3),  # nothing at the start
        lambda t, scene: scene.inertia("b7").mass * np.ones(3),  # which nothing in a trace shows
    ],
)
def test_where_an_element_looks_at_more_than_bodies_all_is_written_out(force):
    assert looked_at(force) is None


def test_elements_without_a_body_go_on_beside_bodies_in_loops():
    world = pt.World()
    world.add_ground(surface=SOFT, capacity=80)
    for k in range(20):
        world.add_body(f"b{k}", pt.Inertia.sphere(0.3, 0.06), position=(0.2 * k, 0, 0.1))
    world.collide(capacity=40)
    world.add_input("u", 2.0)
    world.add(pt.Lag("lag", "u", 0.05))
    run = world.simulate(0.02, 2e-3, every=0.02)
    assert len(crowds.crowd_of(run.compiled.system).names) == 19
    np.testing.assert_allclose(run.data["lag.out"].values, [0, 2 * (1 - (1 - 2e-3 / 0.05) ** 10)], rtol=1e-12)


@pytest.mark.slow
def test_a_robot_a_spring_and_a_force_among_many_bodies():
    run = crowd(14).simulate(0.4, 2e-3, every=0.1, ledger_tolerance=np.inf)
    assert run.stop.reason == "duration"
    assert run.compiled.system.nv > 80
    assert np.all(run.ledger.relative_residual < 1e-10), run.ledger
    assert run.data["contacts.count"].values.max() >= 3
    assert run.data["contacts.late"].values.max() < 1e-3
