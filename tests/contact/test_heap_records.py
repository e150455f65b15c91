"""Records, steppers and pictures of heaps, which are computed in loops, beside those that write out all bodies."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.run import control_period, crowds
from poinsot.run.measuring import OF_BODY, measuring, measuring_scene
from poinsot.run.observe import DEFAULT, continuous, observables, observe
from poinsot.show import records as pictures
from poinsot.show.hand import HAND, pulling, pushing, within_reach
from poinsot.world import System
from sparing import few

MANY = 20


def heap(boxes: bool = False) -> pt.World:
    """Balls on the ground with an arm that a string ties to one of them; or boxes alone."""
    world = pt.World()
    world.add_ground(height=-0.3, capacity=80)
    if not boxes:
        bar = pt.Pose.from_euler((0, np.pi / 2, 0)) @ pt.Inertia.capsule(1.0, 0.04, 0.4)
        arm = pt.Pose(p=(0.25, 0, 0)) @ bar
        world.add_body("arm", arm, joint=pt.revolute((0, 1, 0), stiffness=600, damping=5))
    for k in range(MANY):
        inertia = pt.Inertia.box(0.3, (0.135, 0.1, 0.135)) if boxes else pt.Inertia.sphere(0.3, 0.06)
        place = (0.14 * (k % 3) + 0.1, 0, 0.11 + 0.14 * (k // 3))
        world.add_body(f"ball{k}", inertia, position=place, velocity=(0, 0.1, 0), angular_velocity=(1, 2, 0.3 * k))
    if not boxes:
        world.add_spring("string", "ball0", "arm", 200.0, 0.2, point_b=(0.3, 0, 0))
    world.collide(capacity=60)
    return world


WORLDS = {boxes: heap(boxes) for boxes in (False, True)}
VARIED = {"ball3.mass": np.array([0.2, 0.3]), "gravity": np.array([[0, 0, -9.8], [0, 1, -5.0]])}


def every_name(system: System) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*DEFAULT, *OF_BODY, *observables(system, None)]))


def close(a, b, tolerance=1e-11):
    """Relative: a depth is a difference of places, some thousand times as large."""
    assert np.shape(a) == np.shape(b)
    assert np.max(np.abs(a - b), initial=0.0) <= tolerance * max(1e-3, np.max(np.abs(b), initial=0.0))


@pytest.mark.parametrize("boxes", [False, True])
@pytest.mark.parametrize("options", [{}, {"batch": 2, "vary": VARIED, "ledger": True}])
def test_records_are_those_that_write_out_all_bodies(boxes, options):
    run = WORLDS[boxes].simulate(0.1, 2e-3, every=0.02, **options)
    system, names = run.compiled.system, every_name(run.compiled.system)
    data, chosen = run.observed(names), observables(system, names)
    assert set(names) <= set(data)
    found = measuring(run.compiled, [o.of for o in chosen.values()])(run.time, run.y, run.p)
    for name, array in zip(chosen, found, strict=True):
        close(data[name].values, continuous(array) if name == "orientation" else array)
        assert data[name].dims[1 if run.batch is None else 2 :] == chosen[name].dims
    assert data["contacts.count"].values.max() > 0


@pytest.mark.parametrize("boxes", [False, True])
def test_nothing_is_written_out_for_records(boxes, monkeypatch):
    run = WORLDS[boxes].simulate(0.1, 2e-3, every=0.05)
    assert crowds.crowd_of(run.compiled.system)
    whole = System.scene

    def scene(self, *args, **kwargs):
        assert crowds.crowd_of(self) is None
        return whole(self, *args, **kwargs)

    monkeypatch.setattr(System, "scene", scene)
    assert run.observed(every_name(run.compiled.system)).sizes["body"] == MANY + (not boxes)
    measures = pictures.Measures(run.compiled)
    for measure in (measures.places, measures.velocities, measures.listed("contacts")):
        measure(run.time, run.y, run.p)


def test_bits_do_not_depend_on_how_many_records_there_are():
    run = WORLDS[False].simulate(0.6, 2e-3, every=2e-3, ledger_tolerance=np.inf)
    names = every_name(run.compiled.system)
    assert len(run.time) * MANY > 4096  # NumPy does for few, compiled code for many
    many = observe(run.compiled, names, run.time, run.y, run.p)
    for k in (0, 7, 300):
        one = observe(run.compiled, names, run.time[k : k + 1], run.y[k : k + 1], run.p)
        for name in names:
            a, b = one[name][1][0], many[name][1][k]
            same = np.abs(a) == np.abs(b) if name == "orientation" else a == b  # the sign is that of the one before
            assert np.all(same), name


def test_quantities_that_follow_from_all_forces_are_there_as_well():
    run = WORLDS[True].simulate(0.02, 2e-3, every=0.02)
    a = run.observed(["acceleration", "position"])
    assert a["acceleration"].shape == (2, 6 * MANY)
    assert a["position"].shape == (2, MANY, 3)
    np.testing.assert_allclose(a["acceleration"].values[0, 5], -9.81, rtol=0.5)


OBSERVED = [
    "energy", "momentum", "angular_momentum", "kinetic_energy", "ball3.position", "ball3.orientation", "ball2.velocity",
    "ball4.body_angular_momentum", "ball4.q", "ball2.v", "contacts.count", "contacts.depth", "contacts.touching",
    "contacts.stretch",
]  # fmt: skip


@pytest.mark.parametrize("boxes", few([False, True], {True}))
def test_steppers_observe_the_same(boxes, monkeypatch):
    world = WORLDS[boxes]
    wanted = [*OBSERVED, lambda t, scene: scene["ball5"].velocity + t]
    wanted += [] if boxes else ["arm.q", "arm.position", "string.length"]
    sims = [world.stepper(step=2e-3, control_period=1e-2, observe=wanted)]
    first = [sims[0].reset()]
    monkeypatch.setattr(control_period, "instant", lambda context, t, state: context.motion(t, state))
    sims.append(world.stepper(step=2e-3, control_period=1e-2, observe=[*wanted, "energy"]))
    first.append(sims[1].reset())
    close(first[0], first[1][:-1])
    for _ in range(10):
        a, b = (sim.step() for sim in sims)
    close(a, b[:-1])
    assert a[sims[0].observation_labels.index("contacts.count")] > 0


def test_a_stepper_stays_where_it_was_when_it_breaks_down():
    vary = {"ball1.velocity": np.array([0, 0, 1e200])}
    sim = WORLDS[True].stepper(step=2e-3, observe=["ball0.position"], vary=vary)
    before = sim.reset()
    np.testing.assert_array_equal(sim.step(), before)
    assert sim.broken
    assert sim.done


@pytest.mark.parametrize("on", few(["far", "ball5", "arm"], {"ball5"}))
def test_a_hand_acts_on_bodies_in_loops_as_on_others(on, monkeypatch):
    """Where much touches, runs part as iterations end elsewhere: to 1e-5, where forces are linearised."""
    runs = []
    for least in (crowds.LEAST, 10**6):
        monkeypatch.setattr(crowds, "LEAST", least)
        world = heap()
        world.add_body("far", pt.Inertia(0.3, (0.02, 0, 0.01), np.diag([1e-3, 2e-3, 1.5e-3])), position=(2, 0, 1))
        world, names = within_reach(world)
        assert bool(crowds.crowd_of(world.system(()))) == (least < MANY)
        number, options = names.index(on) + 1, {"every": 0.01, "ledger_tolerance": np.inf}
        for held in (
            pushing(number, (0.01, 0.02, 0), (1, 1, 5)),
            pulling(number, (0.02, 0, 0), (0.5, 0.3, 0.6), 0.3),
        ):
            runs.append(world.simulate(0.01, 2e-3, inputs={HAND: held}, **options))
    for a, b in zip(runs[:2], runs[2:], strict=True):
        places = (run.data.position.sel(body=on).values for run in (a, b))
        np.testing.assert_allclose(*places, rtol=0, atol=1e-14 if on == "far" else 1e-8)
        row = a.ledger.sources.index(HAND)
        for run in (a, b):
            assert run.ledger.relative_residual.max() < 1e-11
        np.testing.assert_allclose(a.ledger.inflow[row], b.ledger.inflow[row], rtol=1e-6, atol=1e-9)
        assert abs(a.ledger.inflow[row][-1]) > 1e-5


def test_pictures_measure_the_same():
    world, names = within_reach(heap())
    held = pushing(names.index("ball5") + 1, (0.01, 0.02, 0), (1, 1, 5))
    run = world.simulate(0.1, 2e-3, every=0.05, inputs={HAND: held}, ledger_tolerance=np.inf)
    there = pictures.records_of(run)
    of = [pictures._position, pictures._orientation, pictures._angular_velocity, pictures._centre, pictures._spin]
    whole = measuring_scene(run.compiled, [pictures._each(f) for f in (*of, pictures._velocity)])
    mine = (there.positions, there.wxyz, there.angular_velocities, there.centres, there.spins, there.velocities)
    for a, b in zip(mine, whole(there.time, there.y, there.p), strict=True):
        close(a, b)
    listed = [lambda scene, k=k: scene.elements["contacts"].places(scene)[k] for k in range(5)]
    for a, b in zip(
        there.listed("contacts"), measuring_scene(run.compiled, listed)(run.time, run.y, run.p), strict=True
    ):
        close(a, b, 1e-9)
    np.testing.assert_array_equal(there.input(HAND), np.tile(held, (3, 1)))
    assert {*there.measures.wrenches} == {
        (name, body) for name, e in run.compiled.system.first_motion().effects.items() for body in e.wrenches
    }
    depth = run.observed(["contacts.depth"])["contacts.depth"].values
    np.testing.assert_array_equal(there.of("contacts", "depth")[:, 0], depth)


def test_code_of_a_stepper_does_not_grow_with_the_bodies():
    counts = []
    for more in (0, 12):
        world = heap(boxes=True)
        for k in range(more):
            world.add_body(f"more{k}", pt.Inertia.box(0.3, (0.135, 0.1, 0.135)), position=(k, 3, 0))
        sim = world.stepper(step=2e-3, observe=["energy", "ball3.position"])
        counts.append(sim.period.observation().program().operations)
    assert counts[1] < 1.3 * counts[0]
