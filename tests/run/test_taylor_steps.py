"""Taylor series in worlds, single and in batches: accuracy, records, conditions, outputs, switches, failures."""

import numpy as np
import pytest
from orbit_and_pendulum import MU, double_pendulum, orbiter

import poinsot as pt


@pytest.fixture(scope="module")
def pendulum():
    return double_pendulum()


@pytest.fixture(scope="module")
def swing(pendulum):
    return pendulum.simulate(2.0, method="taylor", every=0.25)


def test_an_orbit_closes_to_rounding():
    run = orbiter().simulate(np.pi, np.pi / 4, method="taylor", every=np.pi / 4, tolerance=1e-15)
    np.testing.assert_allclose(run.data.position[-1, 0], run.data.position[0, 0], atol=3e-14)
    np.testing.assert_allclose(run.data.position[2, 0], [-1.6, 0, 0], atol=3e-14)  # the apocentre
    assert run.ledger.relative_residual.max() < 1e-14


def test_the_error_follows_the_tolerance():
    """Through the pericentre of a long ellipse and back, at tolerances that ask for orders 5 to 18."""
    world = orbiter(0.9)
    for tolerance in (1e-3, 1e-6, 1e-9, 1e-12):
        run = world.simulate(np.pi, method="taylor", batch=1, tolerance=tolerance)
        assert np.abs(run.data.position[-1, 0, 0] - run.data.position[0, 0, 0]).max() < 3e3 * tolerance


def test_every_instance_has_its_own_steps():
    """Ellipses of eccentricity 0 to 0.9 in one batch, each to its own end; one in a batch and alone: the same bits."""
    eccentricity = np.linspace(0, 0.9, 10)
    speeds = np.stack([0 * eccentricity, np.sqrt(MU * (1 + eccentricity) / (1 - eccentricity)), 0 * eccentricity], -1)
    places = np.stack([1 - eccentricity, 0 * eccentricity, 0 * eccentricity], -1)
    world, vary = orbiter(), {"moon.position": places, "moon.velocity": speeds}
    runs = world.simulate(2 * np.pi, method="taylor", vary=vary, tolerance=1e-14)
    np.testing.assert_allclose(runs.data.position[-1, :, 0], places, atol=1e-10)
    for k in (0, 4, 9):
        one = {path: x[k : k + 1] for path, x in vary.items()}
        alone = world.simulate(2 * np.pi, method="taylor", vary=one, tolerance=1e-14)
        np.testing.assert_array_equal(alone.y[:, 0], runs.y[:, k])


def test_against_another_method(pendulum, swing):
    other = pendulum.simulate(2.0, method="adaptive", every=0.25, tolerance=1e-12)
    np.testing.assert_allclose(swing.data.q, other.data.q, rtol=0, atol=1e-11)
    assert swing.ledger.relative_residual.max() < 1e-10


def test_records_and_ledgers_change_no_bit(pendulum, swing):
    """Records are values of the polynomials of steps, which do not depend on where they are taken."""
    often = pendulum.simulate(2.0, method="taylor", every=0.01)
    n = often.y.shape[1]
    np.testing.assert_array_equal(often.y[::25], swing.y)
    rarely = pendulum.simulate(2.0, method="taylor", every=2.0, ledger=False)
    np.testing.assert_array_equal(rarely.y[-1], swing.y[-1, : rarely.y.shape[1]])
    assert rarely.y.shape[1] <= n


def test_it_goes_on(pendulum, swing):
    joined = pendulum.simulate(1.0, method="taylor", every=0.25).continue_(1.0)
    np.testing.assert_array_equal(joined.y, swing.y)


def test_a_tumbling_body_with_a_tank_that_drains():
    """Parts with states, and a centre of mass that moves within the body."""
    world = pt.World(gravity=(0, 0, 0))
    ship = world.add_body(
        "ship", pt.Inertia.box(100.0, (1, 2, 3)), angular_velocity=(0.3, 2.0, 0.1), velocity=(5, 0, 0)
    )
    ship.add(pt.Tank("tank", capacity=50, contents=40, position=(0.2, 0.9, 0)))
    ship.add(pt.Thruster("nozzle", thrust=20.0, exhaust_speed=300.0, direction=(0, 0, 1), tank="tank"))
    run = world.simulate(3.0, method="taylor", every=1.0, tolerance=1e-12)
    fine = world.simulate(3.0, 2e-4, method="rk4", every=1.0)
    np.testing.assert_allclose(run.y[-1, : fine.y.shape[1]], fine.y[-1], rtol=2e-8, atol=2e-8)


def test_conditions_are_located():
    """A stone thrown up comes back to the ground when it must, alone and in a batch."""
    world = pt.World(gravity=(0, 0, -9.81))
    world.add_particle("stone", 1.0, position=(0, 0, 1e-9), velocity=(0, 0, 12.0))
    falls = lambda t, scene: scene["stone"].position[2] < 0  # noqa: E731
    run = world.simulate(10.0, method="taylor", until=falls, every=1.0)
    assert run.stop.reason == "condition"
    assert run.stop.time == pytest.approx(24 / 9.81, abs=1e-9)
    speeds = np.array([[0, 0, 5.0], [0, 0, 50.0], [0, 0, 12.0]])
    runs = world.simulate(10.0, method="taylor", until=falls, vary={"stone.velocity": speeds})
    np.testing.assert_allclose(runs.stop.time, [10 / 9.81, 10.0, 24 / 9.81], atol=1e-9)


def test_inputs_that_jump():
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("ball", 2.0)
    world.add_input("push", np.zeros(3))
    world.add_force("force", "ball", pt.Input("push"))
    pushes = ([0.0, 0.5, 0.75], [[2.0, 0, 0], [0, 0, 0], [-4.0, 0, 0]])
    run = world.simulate(1.0, method="taylor", inputs={"push": pushes}, every=0.5)
    assert run.data.velocity.values[-1, 0, 0] == pytest.approx(0.5 - 0.5, abs=1e-12)
    assert run.data.position.values[-1, 0, 0] == pytest.approx(0.125 + 0.125 + 0.125 - 0.0625, abs=1e-12)


def test_functions_of_time():
    """A force that swings with time, as a function and as an input."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("ball", 2.0)
    world.add_input("push", 0.0)
    world.add_force("wind", "ball", lambda t, scene: np.stack([np.sin(5 * t), scene.input("push"), 0.0]))
    run = world.simulate(3.0, method="taylor", inputs={"push": lambda t: np.cos(4 * t)}, every=3.0, tolerance=1e-14)
    assert run.data.velocity.values[-1, 0] == pytest.approx([(1 - np.cos(15)) / 10, np.sin(12) / 8, 0.0], abs=1e-14)


def test_outputs_see_every_part_of_a_step(pendulum):
    limits = {"swing": "max(upper.q)", "least": "min(upper.q)", "first": "time(upper.q < 0)"}
    run = pendulum.simulate(2.0, 2e-3, method="taylor", outputs=limits)
    fine = pendulum.simulate(2.0, 2e-3, method="rk4", outputs=limits)
    for name in limits:
        assert float(run.outputs[name]) == pytest.approx(float(fine.outputs[name]), abs=1e-7)


def test_switches_are_located():
    """A particle that a spring pushes back beyond x = 1 m alone: each half of its motion is known."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("ball", 1.0, velocity=(2.0, 0, 0))
    stiffness = 100.0

    def cushion(t, scene):
        depth = np.maximum(scene["ball"].position[0] - 1.0, 0.0)
        return np.stack([-stiffness * depth, 0.0, 0.0])

    world.add_force("cushion", "ball", cushion)
    run = world.simulate(2.0, method="taylor", every=0.5, tolerance=1e-12)
    out = 0.5 + np.pi / 10  # it leaves the cushion again
    np.testing.assert_allclose(run.data.position[-1, 0, 0], 1.0 - 2.0 * (2.0 - out), atol=1e-10)
    assert run.data.velocity.values[-1, 0, 0] == pytest.approx(-2.0, abs=1e-11)


def test_drag_from_rest():
    """|v| v has no series at rest; a short step leads away from there."""
    world = pt.World(gravity=(0, 0, -9.81))
    world.add_particle("stone", 1.0)
    world.add_force(
        "drag", "stone", lambda t, scene: -0.3 * np.linalg.norm(scene["stone"].velocity) * scene["stone"].velocity
    )
    run = world.simulate(2.0, method="taylor", every=1.0, tolerance=1e-12)
    limit = np.sqrt(9.81 / 0.3)
    np.testing.assert_allclose(run.data.velocity[:, 0, 2], -limit * np.tanh(9.81 * run.time / limit), atol=1e-12)


@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_where_no_step_will_do():
    """Two points fall into each other: the run ends with the reason, at the time of the collision."""
    world = pt.World(gravity=pt.CentralGravity(mu=1.0))
    world.add_particle("stone", 1.0, position=(1.0, 0, 0))
    run = world.simulate(2.0, method="taylor", every=0.1)
    assert run.stop.reason == "broken"
    assert "no step, however short, meets the tolerance" in str(run.stop)
    assert run.stop.time == pytest.approx(np.pi / np.sqrt(8), abs=0.02)  # free fall from 1 m


def test_scenarios_and_saved_runs(tmp_path):
    """[run] method = "taylor" with its tolerance; a saved run goes on to the same bits."""
    text = """
[run]
duration = "1 s"
every = "0.5 s"
method = "taylor"
tolerance = 1e-13
[[body]]
name = "book"
angular_velocity = [0.1, 3, 0.1]
shape = [{ kind = "box", size = [0.3, 0.2, 0.1], density = "500 kg/m^3" }]
"""
    (tmp_path / "book.toml").write_text(text)
    run = pt.load_scenario(tmp_path / "book.toml").run()
    assert run.settings["method"] == "taylor"
    run.save(tmp_path / "book.nc")
    again = pt.load_run(tmp_path / "book.nc")
    assert again.compiled.tolerance == 1e-13
    np.testing.assert_array_equal(again.continue_(1.0).y, run.continue_(1.0).y)


def test_worlds_that_it_does_not_step(pendulum):
    world = pt.World()
    world.add_body("cart", pt.Inertia.sphere(1.0, 0.1), joint=pt.prismatic((1, 0, 0)), v=1.0)
    world.add_input("push", 0.0)
    world.add(pt.When("start", lambda t, scene: scene["cart"].position[0] > 1.0, {"push": 3.0}))
    with pytest.raises(ValueError, match=r"'taylor' steps no worlds with .* events .* take 'adaptive'"):
        world.simulate(1.0, method="taylor")
