"""Many at once: the same bits as one by one, with the same seed, in any order; and what cannot be compiled."""

import warnings

import numpy as np
import pytest
from world_models import close, mixed, rod

import poinsot as pt
from poinsot.run import METHODS
from poinsot.run.uncompiled import UncompiledWarning
from sparing import few as some


def flyers() -> pt.World:
    world = pt.World()
    world.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), position=(0, 0, 1), angular_velocity=(1, 2, 3))
    world.add_particle("ball", 0.5, (1, 0, 1))
    world.add_spring("rope", "box", "ball", 50.0, 0.5, 0.1, point_a=(0.05, 0.1, 0))
    return world


def machine() -> pt.World:
    world = flyers()
    world.add_body("arm", rod(1.0, 0.5), joint=pt.revolute((0, 1, 0)), placement=(0, 0, 2), q=0.3)
    world.add_spring("line", "arm", "box", 20.0, 0.4, point_a=(0, 0, -0.5))
    world.add_input("torque", 0.0)
    world.add_motor("motor", "arm", pt.Input("torque"))
    return world


@pytest.mark.filterwarnings("ignore::poinsot.run.ledger.LedgerWarning")  # methods of order 1 are coarse here
@pytest.mark.parametrize(
    ("method", "ledger"),
    some(
        [(method, ledger) for method in METHODS for ledger in (False, True)],
        [("rk4", False), *((method, True) for method in METHODS)],
    ),
)
def test_batched_and_single_runs_give_the_same_bits(method, ledger):
    """Whatever the place in the batch, its size, and what the others do."""
    world = flyers()
    values = {"rope.stiffness": np.linspace(10, 90, 11), "box.position": np.linspace((0, 0, 1), (0.2, 0.1, 1.5), 11)}
    many = world.simulate(0.1, 1e-3, method=method, vary=values, ledger=ledger, every=0.05)
    few = world.simulate(
        0.1, 1e-3, method=method, vary={k: v[3:6] for k, v in values.items()}, ledger=ledger, every=0.05
    )
    np.testing.assert_array_equal(few.y, many.y[:, 3:6])
    for k in (0, 7):
        one = {name: value[k] for name, value in values.items()}
        alone = world.simulate(0.1, 1e-3, method=method, vary=one, ledger=ledger, every=0.05)
        assert alone.batch is None
        np.testing.assert_array_equal(alone.y, many.y[:, k])


def test_a_batch_of_equals_is_the_single_run():
    """Though a single run keeps a ledger, and a batch does not."""
    world = machine()
    one, many = world.simulate(0.1, every=0.1), world.simulate(0.1, batch=3, every=0.1)
    np.testing.assert_array_equal(many.y, np.repeat(one.y[:, None, : many.y.shape[-1]], 3, axis=1))
    assert many.data.sizes["batch"] == 3


def hanging(joint) -> pt.World:
    points = [(0.1, 0.2, 0.3), (-0.3, 0.1, 0.2), (0.2, -0.4, 0.1), (0.0, 0.1, -0.3)]
    world = pt.World(gravity=(1.3, 3.0, -4.9))
    place = pt.Pose.exp((0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    world.add_body("stone", pt.Inertia.points([0.3, 0.5, 0.7, 0.9], points), joint=joint, placement=place)
    world.add_force("wind", "stone", (1.0, 0.5, -0.3), point=(0.1, 0.3, 0.4))
    return world


WORLDS = {
    "flyers": flyers,
    "machine": machine,
    "mixed": mixed,
    "spherical": lambda: hanging(pt.spherical(stiffness=1.0, damping=0.1)),
    "planar": lambda: hanging(pt.planar((0, 0.6, 0.8), stiffness=2.0)),
}


@pytest.mark.filterwarnings("ignore::poinsot.run.ledger.LedgerWarning")  # methods of order 1 are coarse here
@pytest.mark.parametrize(
    ("name", "method"),
    some(
        [(name, method) for name in WORLDS for method in ("rk4", "semi-implicit euler", None)],
        [("mixed", "rk4"), ("flyers", "semi-implicit euler"), *((name, None) for name in WORLDS)],
    ),
)
def test_the_ledger_changes_no_bit(name, method):
    """It shares products with the state, which are fused into sums with and without it."""
    world = WORLDS[name]()
    without, kept = (world.simulate(0.1, 1e-3, method=method, ledger=ledger, every=0.05).y for ledger in (False, True))
    assert kept.shape[-1] > without.shape[-1]
    np.testing.assert_array_equal(kept[..., : without.shape[-1]], without)


def test_same_run_same_bits():
    runs = [machine().simulate(0.1, every=0.01) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].y, runs[1].y)
    assert runs[0].settings["description_hash"] == runs[1].settings["description_hash"]


@pytest.mark.parametrize("method", METHODS)
def test_records_do_not_change_the_run(method):
    """Records and conditions only observe: the end is the same to the bit, also where forces depend on time."""
    world = flyers()
    world.add_force("wind", "ball", lambda t, scene: np.stack([np.sin(50 * t), 0.0, 0.0]))
    options = {"method": method, "ledger": False}
    ends = [world.simulate(0.1, 1e-3, every=every, **options).y[-1] for every in (0.001, 0.01, 0.1)]
    ends.append(world.simulate(0.1, 1e-3, until=lambda t, scene: t > 1.0, **options).y[-1])
    for end in ends[1:]:
        if METHODS[method].march is None or method == "taylor":
            np.testing.assert_array_equal(end, ends[0])
        else:  # adaptive steps end at records
            np.testing.assert_allclose(end, ends[0], rtol=1e-9, atol=1e-9)


def test_seeds():
    world = flyers()
    vary = {"box.mass": pt.Normal(2.0, 0.1), "rope.stiffness": pt.Uniform(40.0, 60.0)}
    options = {"batch": 6, "method": "rk4"}
    a = world.simulate(0.05, vary=vary, seed=3, **options)
    np.testing.assert_array_equal(a.y, world.simulate(0.05, vary=vary, seed=3, **options).y)
    assert np.all(a.varied["box.mass"] != world.simulate(0.05, vary=vary, seed=4, **options).varied["box.mass"])
    # The numbers that are drawn for one path do not depend on what else is drawn.
    alone = world.simulate(0.05, vary={"box.mass": pt.Normal(2.0, 0.1)}, seed=3, **options)
    np.testing.assert_array_equal(alone.varied["box.mass"], a.varied["box.mass"])
    masses = world.simulate(0.01, vary=vary, seed=1, batch=4000, method="midpoint").varied["box.mass"]
    assert masses.mean() == pytest.approx(2.0, abs=4 * 0.1 / np.sqrt(4000))
    assert masses.std() == pytest.approx(0.1, rel=0.05)


def test_the_order_of_what_varies_does_not_matter():
    """Also where the numbers touch one another: a shape's size, its mass, its centre."""
    world = pt.World()
    world.add_body("cone", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), joint=pt.spherical(), v=(1, 2, 3))
    vary = {
        "cone.com": np.array([(0.1, 0, 0.1), (0, 0.1, 0.2)]),
        "cone.size": np.array([(0.1, 0.2, 0.4), (0.2, 0.2, 0.2)]),
        "cone.mass": np.array([1.0, 3.0]),
        "cone.com[0]": np.array([0.3, 0.2]),
        "gravity[2]": np.array([-9.0, -10.0]),
    }
    there = world.simulate(0.1, vary=vary)
    back = world.simulate(0.1, vary=dict(reversed(vary.items())))
    np.testing.assert_array_equal(there.y, back.y)
    for k in range(2):
        single = pt.World(gravity=(0, 0, vary["gravity[2]"][k]))
        box = pt.Inertia.box(vary["cone.mass"][k], vary["cone.size"][k])
        com = np.array([vary["cone.com[0]"][k], *vary["cone.com"][k][1:]])
        single.add_body("cone", pt.Pose(p=com) @ box, joint=pt.spherical(), v=(1, 2, 3))
        close(single.simulate(0.1, ledger=False, every=0.1).y[-1], there.y[-1][k], 1e-12)


def test_gravity_can_vary_from_none():
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("stone", 1.0)
    run = world.simulate(1.0, 1e-2, vary={"gravity[2]": [0.0, -9.81, 1.0]})
    assert run.settings["method"] == "splitting4"
    close(run["stone"].velocity[-1, :, 2], [0.0, -9.81, 1.0], 1e-13)


def test_varied_numbers_are_in_the_data():
    run = flyers().simulate(0.01, vary={"box.mass": [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(run.data["box.mass"], [1.0, 2.0, 3.0])
    assert run.data["box.mass"].dims == ("batch",)


def test_inputs_as_constants_functions_tables_and_staircases():
    """A torque that steps up at 0.05 s: given as a staircase, in two runs, and, smoothly, as a function or a table."""
    world = machine()
    steps = world.simulate(0.1, inputs={"torque": ([0.0, 0.05], [1.0, 3.0])}, every=0.05, ledger=False)
    first = world.simulate(0.05, inputs={"torque": 1.0}, every=0.05, ledger=False)
    np.testing.assert_array_equal(steps.y[1], first.y[-1])
    ramp = world.simulate(0.1, inputs={"torque": lambda t: 20.0 * t}, every=0.1, ledger=False)
    table = world.simulate(0.1, inputs={"torque": pt.Tabulated([0.0, 0.1], [0.0, 2.0])}, every=0.1, ledger=False)
    close(table.y, ramp.y, 1e-14)
    # One for each of a batch.
    batch = world.simulate(0.1, batch=2, inputs={"torque": [1.0, 2.0]}, every=0.1)
    alone = world.simulate(0.1, inputs={"torque": 2.0}, every=0.1, ledger=False)
    np.testing.assert_array_equal(batch.y[:, 1], alone.y)


def stubborn(t, scene):
    return np.array([0.0, 0.0, 5.0 if scene["ball"].position[2] < 0.9 else 0.0])


def willing(t, scene):
    return np.stack([0.0, 0.0, np.where(scene["ball"].position[2] < 0.9, 5.0, 0.0)])


@pytest.mark.parametrize("batch", [None, 2])
def test_a_force_that_cannot_be_compiled_runs_in_plain_python(batch):
    """The warning names the line; the result is that of the force written so that it can."""
    slow, fast = flyers(), flyers()
    slow.add_force("jet", "ball", stubborn)
    fast.add_force("jet", "ball", willing)
    line = stubborn.__code__.co_firstlineno + 1
    options = {"method": "rk4", "batch": batch, "every": 0.1}
    with pytest.warns(UncompiledWarning, match=rf"test_world_batches\.py:{line} \(stubborn\) cannot be compiled"):
        plain = slow.simulate(0.3, 1e-2, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = fast.simulate(0.3, 1e-2, **options)
    n = slow.mechanism.nq + slow.mechanism.nv
    close(plain.y[..., :n], compiled.y[..., :n], 1e-12)
    if batch is None:
        with warnings.catch_warnings(action="ignore", category=UncompiledWarning):
            close(plain.ledger.inflow, compiled.ledger.inflow, 1e-12)
    assert compiled.y[-1].ravel()[9] < 0.9  # the force did act


TIMES, GUSTS = np.linspace(0.0, 1.0, 5), [0.0, 1.0, 0.0, 2.0, 0.0]


def interpolated(t, scene):
    return np.array([0.0, 0.0, np.interp(float(t), TIMES, GUSTS)])


def listed(t, scene):
    return np.array([0.0, 0.0, GUSTS[int(4 * t)]])


def splined(t, scene):
    interpolate = pytest.importorskip("scipy.interpolate")
    return np.array([0.0, 0.0, interpolate.CubicSpline(TIMES, GUSTS)(t)])


@pytest.mark.parametrize("force", [interpolated, listed, splined])
def test_the_warning_names_the_tables_that_compile(force):
    world = flyers()
    world.add_force("gust", "ball", force)
    with pytest.warns(UncompiledWarning, match=rf"(?s)\({force.__name__}\) cannot be.*pt\.Tabulated\(.*pt\.Table\("):
        world.simulate(0.002, ledger=False)
    world = flyers()
    world.add_force("gust", "ball", stubborn)
    with pytest.warns(UncompiledWarning, match="np.where") as caught:
        world.simulate(0.002, ledger=False)
    assert not any("Tabulated" in str(w.message) for w in caught)


def test_an_error_in_a_users_force_is_told_as_it_is():
    world = flyers()
    world.add_force("typo", "box", lambda t, scene: scene["bax"].velocity)
    with pytest.raises(KeyError, match="there is no link 'bax'; did you mean 'box'"):
        world.simulate(0.1)


def test_uncompiled_derivative_is_the_compiled_one():
    world = mixed()
    state = world.start()
    rate = world.derivative(0.0, state)
    n = world.mechanism

    @pt.kernel(f"({n.nq}),({n.nv})->({n.nq}),({n.nv})")
    def compiled(q, v):
        rate = world.derivative(0.0, pt.State(q, v, np.zeros(0)))
        return rate.q, rate.v

    q, v = compiled(state.q, state.v)
    close(q, rate.q, 1e-14)
    close(v, rate.v, 1e-12)


def test_settings_say_how_to_repeat_a_run():
    run = flyers().simulate(0.05, 1e-3, batch=4, vary={"box.mass": pt.Normal(2, 0.1)}, seed=7, method="rk4")
    said = run.data.attrs
    assert {k: said[k] for k in ("duration", "step", "seed", "method", "batch", "device")} == {
        "duration": 0.05, "step": 1e-3, "seed": 7, "method": "rk4", "batch": 4, "device": "cpu",
    }  # fmt: skip
    assert said["poinsot"] == pt.__version__
    assert said["numpy"] == np.__version__
    other = flyers()
    other["rope.stiffness"] = 50.0 + 1e-12
    assert other.simulate(0.01).settings["description_hash"] != said["description_hash"]
