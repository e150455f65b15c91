"""The implicit midpoint rule for trees and loops: order 2, energy without trend, momentum of free trees."""

import numpy as np
import pytest
from test_world_loops import dead_end, stiff_crank
from test_world_loops_long import four_bar
from test_world_rolling import disc

import poinsot as pt

METHOD = "implicit midpoint"


def double_pendulum():
    bar, hinge = pt.Inertia(1.0, (0.5, 0, 0), np.diag([1e-3, 1 / 12, 1 / 12])), pt.revolute((0, 0, 1))
    world = pt.World(gravity=(0, -9.81, 0))
    world.add_body("upper", bar, joint=hinge, q=0.5)
    world.add_body("lower", bar, "upper", hinge, (1.0, 0, 0), q=1.0)
    return world


def arm():
    """Seven hinges, across and along the links in turn."""
    world = pt.World(gravity=(0, 0, -9.81))
    for k in range(7):
        link = pt.Inertia(3.0 - 0.3 * k, (0.02, 0.01, 0.15), np.diag([0.03, 0.03, 0.01]))
        axis, parent = ((0, 1, 0) if k % 2 else (0, 0, 1)), (f"link{k - 1}" if k else None)
        world.add_body(f"link{k}", link, parent, pt.revolute(axis), (0, 0, 0.3 if k else 0), q=[0.3, 0.8][k % 2])
    return world


def free_chain(loop=True):
    """Three bodies that float on joints, and the ends of the chain on a rod."""
    body = pt.Inertia(1.0, (0.1, 0.02, 0), np.diag([0.02, 0.03, 0.04]))
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("a", body, position=(1, 2, 3), velocity=(0.3, -0.2, 0.1), angular_velocity=(0.5, 1.0, -0.7))
    world.add_body("b", body, "a", pt.revolute((0, 0, 1)), (0.3, 0, 0), q=0.4, v=1.0)
    world.add_body("c", body, "b", pt.revolute((0, 1, 0)), (0.3, 0, 0), q=0.6, v=-2.0)
    if loop:
        world.close("rod", "a", "c", pt.distance(0.5), (-0.1, 0, 0), (0.1, 0, 0))
    return world


WORLDS = {
    "swings": lambda: four_bar(0.0),
    "goes around": lambda: four_bar(6.0),
    "double pendulum": double_pendulum,
    "free chain": lambda: free_chain(False),
    "free loop": free_chain,
}


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_order_and_energy(world):
    """Errors against RK4, and the swing of the energy over many periods, are of second order; it has no trend."""
    world, errors, swings = world(), [], []
    exact = world.simulate(0.5, 1e-4, method="rk4", ledger=False).data.q.values[-1]
    for step in (4e-3, 2e-3):
        errors.append(np.abs(world.simulate(0.5, step, method=METHOD, ledger=False).data.q.values[-1] - exact).max())
        data = world.simulate(100.0, step, method=METHOD, every=20 * step, ledger=False).data
        off = data.energy.values - data.energy.values[0]
        swings.append(np.abs(off).max() / data.kinetic_energy.values.max())
    assert 3.8 < errors[0] / errors[1] < 4.2
    assert swings[0] < 2e-3
    assert swings[0] > 3.0 * swings[1]
    early, late = np.split(off[: len(off) // 2 * 2], 2)
    assert np.abs(late).max() < 2 * np.abs(early).max()


@pytest.mark.parametrize("loop", [False, True])
def test_momentum_of_free_trees(loop):
    """To rounding: velocities are found from momenta and momenta from velocities, to some 1e-15 in each step."""
    data = free_chain(loop).simulate(2.5, 5e-3, method=METHOD, ledger=False).data
    for name in ("momentum", "angular_momentum"):
        values = data[name].values
        np.testing.assert_allclose(values, np.tile(values[0], (len(values), 1)), rtol=0, atol=500 * 1e-14)


@pytest.mark.parametrize("make", [lambda: disc(False), lambda: disc(True), dead_end, lambda: stiff_crank(0.0, 0.05)])
def test_ledger_of_rolling_driven_and_damped_loops(make):
    """What flows in is a midpoint sum: residuals, and errors against RK4, fall by four with half the step."""
    exact = make().simulate(0.1, 1e-4, method="rk4", ledger=False).data.q.values[-1]
    runs = [make().simulate(0.1, step, method=METHOD) for step in (1e-3, 5e-4)]
    errors = [np.abs(run.data.q.values[-1] - exact).max() for run in runs]
    assert errors[0] == pytest.approx(4 * errors[1], rel=0.05, abs=1e-14)  # a drive leaves no more than rounding
    residuals = [np.max(run.ledger.relative_residual) for run in runs]
    assert residuals[0] < 1e-5
    assert 3.5 < residuals[0] / residuals[1] < 4.5


@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_where_a_step_has_no_solution_the_run_stops():
    run = dead_end().simulate(1.0, 1e-3, method=METHOD)
    assert run.stop.reason == "broken"
    farthest = np.arccos((2.5**2 + 1.0 - 2.3**2) / (2 * 2.5))
    assert run.stop.time == pytest.approx(farthest - 1.0, abs=5e-3)
    stiff = pt.World()
    stiff.add_body("arm", pt.Inertia.box(1.0, (1, 0.1, 0.1)), joint=pt.revolute((0, 1, 0), stiffness=1e6), q=0.1)
    assert stiff.simulate(1.0, 0.1, method=METHOD).stop.reason == "broken"


def test_a_batch_has_the_bits_of_one():
    world = four_bar(6.0)
    many = world.simulate(0.1, 1e-3, method=METHOD, vary={"crank.v": [1.0, 6.0, 20.0]}, ledger=False)
    one = world.simulate(0.1, 1e-3, method=METHOD, vary={"crank.v": [6.0]}, ledger=False)
    np.testing.assert_array_equal(many.data.q.values[-1, 1], np.ravel(one.data.q.values[-1]))


def test_what_it_cannot_step_is_refused():
    world = pt.World()
    rocket = world.add_body("rocket", pt.Inertia.box(1.0, (1, 1, 1)))
    rocket.add(pt.Tank("tank", capacity=20, contents=10, position=(0, 0, 0.5)))
    with pytest.raises(ValueError, match="'implicit midpoint' cannot step worlds in which the mass of bodies changes"):
        world.simulate(0.1, 1e-2, method=METHOD)


def one_hinge(world):
    rod = pt.Pose(p=(0, 0, -0.5)) @ pt.Inertia.capsule(1.0, 0.04, 0.9)
    world.add_body("rod", rod, joint=pt.revolute((0, 1, 0)), q=1.0)


def one_slider(world):
    world.add_body("mass", pt.Inertia.sphere(1.0, 0.1), joint=pt.prismatic((0, 0, 1), stiffness=40.0), q=0.3)


def one_particle(world):
    world.add_particle("ball", 0.2, velocity=(1, 0, 0))
    world.add_force("spring", "ball", lambda t, scene: -20 * scene["ball"].position)


def one_that_is_slowed(world):
    world.add_particle("ball", 0.2, velocity=(1, 0, 0))
    world.add_force("drag", "ball", lambda t, scene: np.sin(5 * t) - 2 * scene["ball"].velocity)


@pytest.mark.parametrize("add", [one_hinge, one_slider, one_particle, one_that_is_slowed])
def test_order_where_velocities_follow_from_momenta_without_rounding(add):
    """The first iteration then leaves them as they were, and must not be the last."""
    world = pt.World()
    add(world)
    exact = world.simulate(1.0, method="adaptive", tolerance=1e-13, every=1.0).data.q.values[-1]
    errors = [
        np.abs(world.simulate(1.0, h, method=METHOD, every=1.0, ledger_tolerance=1.0).data.q.values[-1] - exact).max()
        for h in (4e-3, 2e-3, 1e-3)
    ]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.05)


def test_the_equations_of_a_step_are_solved_to_rounding():
    """Of a linear spring: energy after many short steps, each of which hardly changes the velocity."""
    world = pt.World(gravity=(0, 0, 0))
    one_particle(world)
    for step in (1e-2, 1e-3, 1e-5):
        run = world.simulate(1000 * step, step, method=METHOD, every=1000 * step, ledger=False)
        v, x = run.data.v.values[-1], run.data.q.values[-1]
        assert 0.1 * v @ v + 10 * x @ x == pytest.approx(0.1, rel=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: four_bar(0.0), lambda: four_bar(6.0), double_pendulum])
def test_a_million_steps(make):
    """At 1 ms, where RK4 drifts: the swing of the second half is that of the first."""
    data = make().simulate(1000.0, 1e-3, method=METHOD, every=0.05, ledger=False).data
    off = (data.energy.values - data.energy.values[0]) / data.kinetic_energy.values.max()
    assert np.abs(off).max() < 1.5e-4
    early, late = off[: len(off) // 2], off[len(off) // 2 :]
    assert abs(np.mean(late) - np.mean(early)) < 0.02 * np.abs(off).max()


@pytest.mark.slow
@pytest.mark.parametrize(("make", "step"), [(double_pendulum, 1e-3), (arm, 5e-4)])
def test_ten_million_steps(make, step):
    """Joints that turn at up to 100 rad/s, without order: the error of the energy is bounded and has no trend."""
    data = make().simulate(1e7 * step, step, method=METHOD, every=2500 * step, ledger=False).data
    off = (data.energy.values - data.energy.values[0]) / data.kinetic_energy.values.max()
    early, late = np.mean(off[: len(off) // 2]), np.mean(off[len(off) // 2 :])
    assert np.abs(off).max() < 5e-4
    assert abs(late - early) < 1e-6  # of RK4 it is 2e-6 and 5e-6
