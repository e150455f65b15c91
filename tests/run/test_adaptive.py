"""Adaptive steps in worlds, single and in batches: accuracy, records, conditions, events, failures."""

import numpy as np
import pytest
from orbit_and_pendulum import MU, double_pendulum, orbiter

import poinsot as pt
from poinsot.run import rounds
from poinsot.run.compiled import CompiledSystem


@pytest.fixture(scope="module")
def pendulum():
    return double_pendulum()


@pytest.mark.parametrize("method", ["adaptive", "adaptive5"])
def test_an_orbit_closes(method):
    run = orbiter().simulate(np.pi, np.pi / 4, method=method, every=np.pi / 4, tolerance=1e-11)
    np.testing.assert_allclose(run.data.position[-1, 0], run.data.position[0, 0], atol=2e-8)
    np.testing.assert_allclose(run.data.position[2, 0], [-1.6, 0, 0], atol=1e-8)  # the apocentre
    assert run.ledger.relative_residual.max() < 1e-9


def test_every_instance_has_its_own_steps():
    """Ellipses of eccentricity 0 to 0.9 in one batch, each to its own end; one in a batch and alone: the same bits."""
    eccentricity = np.linspace(0, 0.9, 10)
    speeds = np.stack([0 * eccentricity, np.sqrt(MU * (1 + eccentricity) / (1 - eccentricity)), 0 * eccentricity], -1)
    places = np.stack([1 - eccentricity, 0 * eccentricity, 0 * eccentricity], -1)
    world, vary = orbiter(), {"moon.position": places, "moon.velocity": speeds}
    runs = world.simulate(2 * np.pi, method="adaptive", vary=vary, tolerance=1e-12)
    np.testing.assert_allclose(runs.data.position[-1, :, 0], places, atol=1e-7)
    for k in (0, 4, 9):
        one = {path: x[k : k + 1] for path, x in vary.items()}
        alone = world.simulate(2 * np.pi, method="adaptive", vary=one, tolerance=1e-12)
        np.testing.assert_array_equal(alone.y[:, 0], runs.y[:, k])


@pytest.mark.parametrize(("method", "tolerance"), [("adaptive", 1e-10), ("adaptive5", 1e-9), ("rosenbrock", 1e-7)])
def test_where_records_are_taken_changes_no_bit(method, tolerance, pendulum):
    """States at records are read off dense output, ledger included; the run goes on from any of them alike."""
    few, many = (pendulum.simulate(2.0, method=method, tolerance=tolerance, every=x) for x in (1.0, 1e-2))
    np.testing.assert_array_equal(many.y[::100], few.y)
    fine = pendulum.simulate(2.0, 1e-4, method="rk4", every=1e-2)
    np.testing.assert_allclose(many.data.q, fine.data.q, rtol=0, atol=30 * tolerance)
    assert many.ledger.relative_residual.max() < 30 * tolerance
    joined = pendulum.simulate(0.37, method=method, tolerance=tolerance, every=0.37).continue_(1.63)
    np.testing.assert_array_equal(joined.y[-1], few.y[-1])


def test_records_within_a_step_of_a_body_that_tumbles():
    """Attitudes have length 1, and a body flies straight on, wherever records are taken."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("top", pt.Inertia.box(1.0, (1, 2, 3)), angular_velocity=(0.1, 2.0, 0.3), velocity=(1, 2, 3))
    run = world.simulate(5.0, method="adaptive", every=1e-2)
    np.testing.assert_allclose(np.linalg.norm(run.data.orientation, axis=-1), 1.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(run.data.position.values[:, 0], run.data.time.values[:, None] * [1, 2, 3], atol=1e-13)
    fine = world.simulate(5.0, 1e-3, method="poinsot", every=1e-2)
    np.testing.assert_allclose(run.data.orientation, fine.data.orientation, rtol=0, atol=1e-9)


def tops():
    """Every eighth spins twenty times as fast as the others, and needs as many times their steps."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("top", pt.Inertia.box(1.0, (1, 2, 3)))
    spins = np.random.default_rng(5).normal(size=(64, 3))
    spins[::8] *= 20.0
    return world, {"top.angular_velocity": spins}


@pytest.mark.parametrize("options", [{}, {"until": lambda t, scene: scene["top"].angular_velocity[0] > 1.5}])
def test_a_slow_instance_does_not_hold_up_the_others(options, monkeypatch):
    """In rounds those that have arrived leave; the bits are those of one call."""
    world, vary = tops()
    sizes = []
    together = rounds.in_rounds

    def in_rounds(advance, tries, x, p, *where):
        return together(lambda x, *more: sizes.append(len(x)) or advance(x, *more), tries, x, p, *where)

    monkeypatch.setattr("poinsot.run.simulation.in_rounds", in_rounds)
    parted = world.simulate(4.0, method="adaptive", vary=vary, **options)
    if not options:
        assert sizes[0] == 64
        assert min(sizes) <= 8
        assert sum(sizes) < 0.5 * 64 * len(sizes)
    monkeypatch.setattr(rounds, "FEW", 10**6)
    whole = world.simulate(4.0, method="adaptive", vary=vary, **options)
    np.testing.assert_array_equal(parted.y, whole.y)
    np.testing.assert_array_equal(parted.stop.time, whole.stop.time)


def test_against_short_steps(pendulum):
    run = pendulum.simulate(2.0, method="adaptive", every=0.25)
    fine = pendulum.simulate(2.0, 1e-4, method="rk4", every=0.25)
    np.testing.assert_allclose(run.data.q, fine.data.q, rtol=0, atol=3e-10)
    assert run.ledger.relative_residual.max() < 1e-10


def test_a_tumbling_body_with_a_tank_that_drains():
    """Parts with states, and a centre of mass that moves within the body."""
    world = pt.World(gravity=(0, 0, 0))
    ship = world.add_body(
        "ship", pt.Inertia.box(100.0, (1, 2, 3)), angular_velocity=(0.3, 2.0, 0.1), velocity=(5, 0, 0)
    )
    ship.add(pt.Tank("tank", capacity=50, contents=40, position=(0.2, 0.9, 0)))
    ship.add(pt.Thruster("nozzle", thrust=20.0, exhaust_speed=300.0, direction=(0, 0, 1), tank="tank"))
    run = world.simulate(3.0, method="adaptive", every=1.0)
    fine = world.simulate(3.0, 2e-4, method="rk4", every=1.0)
    np.testing.assert_allclose(run.y[-1, : fine.y.shape[1]], fine.y[-1], rtol=2e-8, atol=2e-8)


def test_conditions_are_located():
    """A stone thrown up comes back to the ground when it must, alone and in a batch."""
    world = pt.World(gravity=(0, 0, -9.81))
    world.add_particle("stone", 1.0, position=(0, 0, 1e-9), velocity=(0, 0, 12.0))
    falls = lambda t, scene: scene["stone"].position[2] < 0  # noqa: E731
    run = world.simulate(10.0, method="adaptive", until=falls, every=1.0)
    assert run.stop.reason == "condition"
    assert run.stop.time == pytest.approx(24 / 9.81, abs=1e-9)
    speeds = np.array([[0, 0, 5.0], [0, 0, 50.0], [0, 0, 12.0]])
    runs = world.simulate(10.0, method="adaptive", until=falls, vary={"stone.velocity": speeds})
    np.testing.assert_allclose(runs.stop.time, [10 / 9.81, 10.0, 24 / 9.81], atol=1e-9)


def test_events_within_steps():
    """A push that an event sets: when it happens does not depend on where steps end."""

    def cart():
        world = pt.World(gravity=(0, 0, 0))
        world.add_body("cart", pt.Inertia.sphere(1.0, 0.1), joint=pt.prismatic((1, 0, 0)), v=1.0)
        world.add_input("push", 0.0)
        world.add_force("force", "cart", lambda t, scene: np.stack([scene.input("push"), 0.0, 0.0]))
        world.add(pt.When("start", lambda t, scene: scene["cart"].position[0] > np.sqrt(2), {"push": 3.0}))
        return world

    run = cart().simulate(3.0, method="adaptive", every=1.0)
    left = 3.0 - np.sqrt(2)
    assert run.data.q.values[-1, 0] == pytest.approx(3.0 + 1.5 * left**2, abs=1e-9)


def test_inputs_that_jump():
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("ball", 2.0)
    world.add_input("push", np.zeros(3))
    world.add_force("force", "ball", pt.Input("push"))
    pushes = ([0.0, 0.5, 0.75], [[2.0, 0, 0], [0, 0, 0], [-4.0, 0, 0]])
    run = world.simulate(1.0, method="adaptive", inputs={"push": pushes}, every=0.5)
    assert run.data.velocity.values[-1, 0, 0] == pytest.approx(0.5 - 0.5, abs=1e-12)
    assert run.data.position.values[-1, 0, 0] == pytest.approx(0.125 + 0.125 + 0.125 - 0.0625, abs=1e-12)


def test_outputs_see_every_step(pendulum):
    limits = {"swing": "max(upper.q)", "least": "min(upper.q)"}
    run = pendulum.simulate(2.0, 2e-3, method="adaptive", outputs=limits)
    fine = pendulum.simulate(2.0, 2e-3, method="rk4", outputs=limits)
    for name in limits:
        assert float(run.outputs[name]) == pytest.approx(float(fine.outputs[name]), abs=1e-7)


def test_it_goes_on(pendulum):
    joined = pendulum.simulate(1.0, method="adaptive", every=0.5).continue_(1.0)
    whole = pendulum.simulate(2.0, method="adaptive", every=0.5)
    np.testing.assert_array_equal(joined.y, whole.y)


@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_where_no_step_will_do():
    """Two points fall into each other: the run ends with the reason, at the time of the collision."""
    world = pt.World(gravity=pt.CentralGravity(mu=1.0))
    world.add_particle("stone", 1.0, position=(1.0, 0, 0))
    run = world.simulate(2.0, method="adaptive", every=0.1)
    assert run.stop.reason == "broken"
    assert "no step, however short, meets the tolerance" in str(run.stop)
    assert run.stop.time == pytest.approx(np.pi / np.sqrt(8), abs=0.02)  # free fall from 1 m


def pushed(push):
    """A ball under a force along x that is a function of time."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("ball", 1.0)
    world.add_force("push", "ball", lambda t: np.stack([push(t), 0.0, 0.0]))
    return world


@pytest.mark.parametrize("method", ["adaptive", "adaptive5", "rosenbrock"])
@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_a_run_that_breaks_down_long_before_its_end(method, batch, monkeypatch):
    """It ends with the reason, however many records were to come; where it broke down takes few repetitions to find."""
    repeated = []
    scan = CompiledSystem.scan_records
    counted = lambda c, *args: repeated.append(args[-2:]) or scan(c, *args)  # noqa: E731
    monkeypatch.setattr(CompiledSystem, "scan_records", counted)
    run = pushed(lambda t: 1.0 / (90.0 - t)).simulate(100.0, method=method, batch=batch)
    assert run.stop.reason == "broken"
    notes = [str(run.stop)] if batch is None else list(run.stop.notes.values())
    assert len(notes) == (batch or 1)
    for note in notes:
        assert "no step, however short, meets the tolerance" in note
        assert float(note.rpartition("t = ")[2].removesuffix(" s")) == pytest.approx(90.0, abs=2e-3)
    assert len(repeated) < 100


@pytest.mark.parametrize("method", ["adaptive", "adaptive5", "rosenbrock"])
def test_forces_that_end_with_the_run(method):
    """The last step does not lead beyond the end if there are no forces there."""
    run = pushed(lambda t: np.sqrt(1.0 - t)).simulate(1.0, method=method, tolerance=1e-8)
    assert run.stop.reason == "duration"
    assert run.data.velocity.values[-1, 0, 0] == pytest.approx(2 / 3, abs=1e-7)


@pytest.mark.parametrize("tolerance", [0.0, -1e-6, np.nan, np.inf, 2.0, "tight"])
def test_tolerances_that_cannot_be(tolerance, pendulum):
    with pytest.raises(ValueError, match="tolerance must be a number from 1e-15 to 1"):
        pendulum.simulate(1.0, method="adaptive", tolerance=tolerance)
