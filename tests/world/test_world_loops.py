"""Closed loops in worlds: against closed forms and equivalent trees, with ledger, batches, free numbers."""

import re
from dataclasses import replace

import numpy as np
import pytest

import poinsot as pt


def crank(relation=None, **start):
    """Crank of 0.1 m, rod of 0.3 m and slider; the start is a rough guess."""
    world = pt.World(gravity=(0, -9.81, 0))
    hinge = pt.revolute((0, 0, 1))
    world.add_body("crank", pt.Inertia.cylinder(2.0, 0.12, 0.05), joint=hinge, q=0.7, v=5.0, **start)
    rod = pt.Inertia(0.5, (0.15, 0, 0), np.diag([1e-4, 4e-3, 4e-3]))
    world.add_body("rod", rod, parent="crank", joint=hinge, placement=(0.1, 0, 0), q=-1.0)
    world.add_body("slider", pt.Inertia.box(0.3, (0.05, 0.05, 0.05)), joint=pt.prismatic((1, 0, 0)), q=0.3)
    world.close("pin", "slider", "rod", relation or pt.on_line((0, 0, 1)), placement_b=(0.3, 0, 0))
    return world


def along(a):
    return 0.1 * np.cos(a) + np.sqrt(0.09 - 0.01 * np.sin(a) ** 2)


@pytest.mark.parametrize("relation", [None, pt.revolute((0, 0, 1))])
def test_slider_crank(relation):
    """By its closed form at every record; with a hinge three of five rows are redundant."""
    world = crank(relation)
    assert world.mobility().degrees_of_freedom == 1
    assert world.mobility().redundant == (3 if relation else 0)
    run = world.simulate(2.0, 1e-3, every=0.05)
    q = run.data.q.values
    np.testing.assert_allclose(q[:, 2], along(q[:, 0]), rtol=0, atol=1e-13)
    np.testing.assert_allclose(run.data.energy, run.data.energy[0], rtol=1e-9)
    assert run.ledger.relative_residual.max() < 1e-9


def test_the_closing_force_is_what_moves_the_slider():
    """m a = F_x: the force on the rod is opposite to that on the slider."""
    run = crank().simulate(0.3, 1e-4, every=0.01, record=["pin.force", "acceleration", "q"])
    force = run.data["pin.force"].values
    R = np.array([[np.cos(a), -np.sin(a)] for a in run.data.q.values[:, :2].sum(axis=1)])  # x of the rod's axes
    on_slider = -np.einsum("ti,ti->t", R, force[:, 3:5])
    np.testing.assert_allclose(on_slider, 0.3 * run.data.acceleration.values[:, 2], rtol=0, atol=1e-9)


def test_loops_between_free_bodies_add_no_momentum():
    """Three bodies in space, a chain closed to a ring by a rod: nothing comes in, and the ledger says so."""
    rng = np.random.default_rng(0)
    world = pt.World(gravity=(0, 0, 0))
    for k, name in enumerate("abc"):
        world.add_body(
            name,
            pt.Inertia.box(1.0 + k, (0.1, 0.2, 0.3)),
            position=(0.4 * k, 0.01 * k, 0),
            velocity=rng.standard_normal(3),
            angular_velocity=rng.standard_normal(3),
        )
    world.close("ball", "a", "b", pt.spherical(), (0.2, 0, 0), (-0.2, 0, 0))
    world.close("hook", "b", "c", pt.universal((0, 1, 0), (0, 0, 1)), (0.2, 0, 0), (-0.2, 0, 0))
    world.close("rod", "a", "c", pt.distance(0.7))
    run = world.simulate(2.0, 1e-3, every=0.1)
    assert run.settings["method"] == "rk4"
    assert np.abs(run.data.momentum - run.data.momentum[0]).max() < 1e-6
    assert np.abs(run.data.angular_momentum - run.data.angular_momentum[0]).max() < 1e-6
    apart = np.linalg.norm(run.data.position.sel(body="c").values - run.data.position.sel(body="a").values, axis=1)
    np.testing.assert_allclose(apart, 0.7, rtol=0, atol=1e-12)
    assert run.ledger.relative_residual.max() < 1e-6
    assert world.mobility().degrees_of_freedom == 18 - 3 - 4 - 1


def test_a_pendulum_on_a_pin_to_the_world_is_one_on_a_joint():
    inertia, placement = pt.Inertia.box(2.0, (0.1, 0.2, 1.0)), (0, 0, 0.5)
    pinned = pt.World()
    pinned.add_body("bar", inertia, position=(0.0, 0.0, -0.5), angular_velocity=(0, 2.0, 0), velocity=(-1.0, 0, 0))
    pinned.close("pin", "world", "bar", pt.revolute((0, 1, 0)), placement_b=placement)
    tree = pt.World()
    tree.add_body("arm", None, joint=pt.revolute((0, 1, 0)), v=2.0)
    tree.add_body("bar", inertia, parent="arm", placement=(0, 0, -0.5))
    runs = [world.simulate(1.0, 1e-3) for world in (pinned, tree)]
    places = [run.data.position.sel(body="bar").values for run in runs]
    np.testing.assert_allclose(*places, rtol=0, atol=1e-9)
    assert runs[0].ledger.relative_residual.max() < 1e-9


def test_lengths_and_ratios_are_numbers_of_the_world():
    """A pendulum on a rod: its period goes with the square root of the length."""
    world = pt.World()
    world.add_particle("bob", 1.0, position=(0.01, 0, -1.0))
    world.close("rod", "world", "bob", pt.distance(1.0))
    assert world["rod.length"] == 1.0
    lengths = np.array([0.5, 1.0, 2.0])
    runs = world.simulate(0.5, 1e-3, vary={"rod.length": lengths})
    x = runs.data.position.values[:, :, 0]
    distance = np.linalg.norm(runs.data.position.values[-1, :, 0], axis=-1)
    np.testing.assert_allclose(distance, lengths, rtol=0, atol=1e-14)
    angles = np.arctan2(x[..., 0], -runs.data.position.values[:, :, 0, 2])
    np.testing.assert_allclose(angles[1] / angles[0], np.cos(0.5 * np.sqrt(9.81 / lengths)), atol=1e-4)


def test_gears_in_a_batch_have_the_bits_of_one():
    world = pt.World()
    for k, name in enumerate(("one", "two")):
        wheel = pt.Inertia.cylinder(1.0 + 2 * k, 0.1 + 0.2 * k, 0.02)
        world.add_body(name, wheel, joint=pt.revolute((0, 0, 1)), placement=(0.4 * k, 0, 0))
    world.add_input("torque", 1.0)
    world.add_motor("drive", "one", pt.Input("torque"))
    world.close("gear", "one", "two", pt.coupling(-1 / 3))
    one = world.simulate(1.0, 1e-2)
    many = world.simulate(1.0, 1e-2, batch=5, inputs={"torque": [1.0, 2, 3, 4, 5]}, ledger=True)
    assert np.array_equal(many.y[-1, 0], one.y[-1])
    J1, J2 = 0.5 * 0.1**2, 0.5 * 3.0 * 0.3**2
    np.testing.assert_allclose(one.data.v[-1], np.array([1, -1 / 3]) / (J1 + J2 / 9), rtol=1e-12)
    np.testing.assert_allclose(many.data["gear.force"][-1], 3 * J2 / 9 / (J1 + J2 / 9) * -np.arange(1, 6), rtol=1e-9)


def swing(t):
    return 0.4 * np.sin(3.0 * t) + 0.1 * t


def test_a_driven_joint_and_its_torque():
    """q = f(t) to rounding; the torque is that of inverse dynamics, and its work is the gain of energy."""
    world = pt.World()
    bar = pt.Inertia(1.2, (0.4, 0, 0.1), np.diag([0.02, 0.08, 0.09]))
    world.add_body("upper", bar, joint=pt.revolute((0, 1, 0)))
    world.add_body(
        "lower", bar, parent="upper", joint=pt.revolute((0, 1, 0), damping=0.2), placement=(0.8, 0, 0), q=0.3
    )
    world.drive("upper", swing)
    run = world.simulate(2.0, 1e-3, every=0.02, record=["q", "v", "acceleration", "upper.drive.force", "energy"])
    t, q, v = run.time, run.data.q.values, run.data.v.values
    np.testing.assert_allclose(q[:, 0], swing(t), rtol=0, atol=1e-14)
    np.testing.assert_allclose(v[:, 0], 1.2 * np.cos(3 * t) + 0.1, rtol=0, atol=1e-13)
    mech, vdot = world.mechanism, run.data.acceleration.values
    np.testing.assert_allclose(vdot[:, 0], -3.6 * np.sin(3 * t), rtol=0, atol=1e-10)
    torque = [pt.inverse_dynamics(mech, q[k], v[k], vdot[k])[0] for k in range(len(t))]
    np.testing.assert_allclose(run.data["upper.drive.force"], torque, rtol=0, atol=1e-9)
    assert run.ledger.relative_residual.max() < 1e-8
    assert world.mobility().degrees_of_freedom == 1


def test_a_driven_four_bar():
    """The crank of the slider-crank turns as told; the piston follows the closed form."""
    world = crank()
    world.drive("crank", lambda t: 0.7 + 5.0 * t + 2.0 * t**2)
    assert world.mobility().degrees_of_freedom == 0
    run = world.simulate(1.0, 1e-3, every=0.05, record=["q", "v", "acceleration", "crank.drive.force"])
    a = 0.7 + 5.0 * run.time + 2.0 * run.time**2
    np.testing.assert_allclose(run.data.q[:, 2], along(a), rtol=0, atol=1e-13)
    # The pin does no work, so the power of the drive is that of the joint forces which the open tree would need.
    q, v, vdot = (run.data[name].values for name in ("q", "v", "acceleration"))
    needed = [pt.mechanism.dynamics.inverse_dynamics(world.mechanism, *each) for each in zip(q, v, vdot, strict=True)]
    torque = np.einsum("tk,tk->t", needed, v) / v[:, 0]
    np.testing.assert_allclose(run.data["crank.drive.force"], torque, rtol=1e-10, atol=1e-10)


def test_a_train_of_gears():
    """Three wheels, the last on a rack: the inertia reduced to the first, by the squares of the ratios."""
    world, torque = pt.World(gravity=(0, 0, 0)), 0.7
    radii, masses = (0.05, 0.2, 0.1), (1.0, 3.0, 0.5)
    for k, (r, m) in enumerate(zip(radii, masses, strict=True)):
        world.add_body(f"wheel{k}", pt.Inertia.cylinder(m, r, 0.02), joint=pt.revolute((0, 0, 1)), placement=(k, 0, 0))
    world.add_body("rack", pt.Inertia.box(2.0, (1, 0.1, 0.1)), joint=pt.prismatic((1, 0, 0)), placement=(2, -0.1, 0))
    world.add_motor("motor", "wheel0", torque)
    for k in range(2):
        world.close(f"mesh{k}", f"wheel{k}", f"wheel{k + 1}", pt.coupling(-radii[k] / radii[k + 1]))
    world.close("teeth", "wheel2", "rack", pt.coupling(radii[2]))
    speeds = np.array([1.0, -radii[0] / radii[1], radii[0] / radii[2], radii[0]])  # of all, by that of the first
    inertia = np.array([0.5 * m * r * r for r, m in zip(radii, masses, strict=True)] + [2.0]) @ speeds**2
    run = world.simulate(1.0, 1e-2)
    np.testing.assert_allclose(run.data.v[-1], speeds * torque / inertia, rtol=1e-12)
    np.testing.assert_allclose(run.data["teeth.force"][-1], 2.0 * radii[0] * torque / inertia, rtol=1e-9)
    assert world.mobility().degrees_of_freedom == 1


def test_drives_that_cannot_be():
    world = crank()
    world.add_body("loose", pt.Inertia.sphere(1.0, 0.1))
    with pytest.raises(ValueError, match=r"driven by a function of time"):
        world.drive("crank", 3.0)
    world.drive("loose", swing)
    with pytest.raises(ValueError, match=r"'loose.drive' couples or drives joints of one.*'loose' on a free joint"):
        world.start()


def test_saved_and_loaded_and_repeated(tmp_path):
    run = crank().simulate(0.1, 1e-3)
    run.save(tmp_path / "crank.nc")
    loaded = pt.load_run(tmp_path / "crank.nc")
    assert np.array_equal(loaded.repeat().y, run.y)


def test_what_cannot_be_closed_is_refused():
    world = crank()
    world.close("far", "world", "rod", pt.spherical(), (2.0, 0, 0))
    with pytest.raises(ValueError, match=r"the loops cannot be closed: at best .*'far' is open by"):
        world.simulate(0.1)
    with pytest.raises(ValueError, match="closes a loop by 3"):
        crank().close("bad", "world", "rod", 3)
    misspelt = crank()
    misspelt.close("bad", "world", "rood", pt.spherical())
    with pytest.raises(ValueError, match=r"acts on 'rood', which is not a body.*rod"):
        misspelt.start()


def test_adaptive_steps_keep_loops_closed():
    """Against short steps of RK4; energy is kept to the tolerance, and every record is closed to rounding."""
    run = crank().simulate(1.0, method="adaptive", tolerance=1e-11, every=0.05)
    fine = crank().simulate(1.0, 1e-4, every=0.05)
    np.testing.assert_allclose(run.data.q, fine.data.q, rtol=0, atol=1e-8)
    q = run.data.q.values
    np.testing.assert_allclose(q[:, 2], along(q[:, 0]), rtol=0, atol=1e-13)
    np.testing.assert_allclose(run.data.energy, run.data.energy[0], rtol=1e-9)
    assert run.ledger.relative_residual.max() < 1e-8


def linkage(length=1.5, q=(0.4, 0.7), placement_a=(1, 0, 0), placement_b=(1, 0, 0)):
    """Two pendulums, 2 m apart, and a rod between points of them."""
    world = pt.World(gravity=(0, -9.81, 0))
    arm = pt.Inertia(1.0, (0.5, 0, 0), np.diag([0.01, 0.1, 0.1]))
    for k in range(2):
        world.add_body(f"arm{k}", arm, joint=pt.revolute((0, 0, 1)), placement=(2.0 * k, 0, 0), q=q[k], v=1.0)
    world.close("rod", "arm0", "arm1", pt.distance(length), placement_a, placement_b)
    return world


def test_numbers_that_are_free_give_the_start_of_a_fresh_world():
    """From rough guesses, by the same damped steps: no other branch is taken."""
    rng, world = np.random.default_rng(0), linkage()
    lengths, q = rng.uniform(0.5, 3.0, 12), rng.uniform(-3, 3, (12, 2))
    starts = [linkage(*numbers).start() for numbers in zip(lengths, q, strict=True)]
    runs = world.simulate(1e-3, vary={"rod.length": lengths, "arm0.q": q[:, :1], "arm1.q": q[:, 1:]})
    np.testing.assert_allclose(runs.data.q.values[0], [start.q for start in starts], rtol=0, atol=1e-12)
    for path, value in (("rod.length", lengths[3]), ("arm0.q", q[3, 0]), ("arm1.q", q[3, 1])):
        world[path] = value
    np.testing.assert_allclose(world.simulate(1e-3).data.q.values[0], starts[3].q, rtol=0, atol=1e-12)


def test_an_instance_whose_loops_cannot_be_closed_is_named():
    with pytest.raises(ValueError, match=r"rod.length = 20.0 of instance 1 cannot be: the loops .*'rod' is open by 16"):
        linkage().simulate(1e-3, vary={"rod.length": [1.5, 20.0]})


def test_rows_that_say_nothing_leave_the_motion_alone():
    """A rod between points that are at rest anyway: no row has a derivative."""
    world = linkage(2.0, placement_a=(0, 0, 0), placement_b=(0, 0, 0))
    assert world.mobility().degrees_of_freedom == 2
    free = linkage()
    free.description = replace(free.description, elements={})
    np.testing.assert_allclose(world.simulate(0.1).data.q, free.simulate(0.1).data.q, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("ends", "relation", "message"),
    [
        (("arm0", "arm0"), pt.coupling(2.0), "'bad' holds 'arm0' to itself"),
        (("arm0", "world"), pt.distance(1.0), "b of 'bad' is the world: let a be the world, and b a body"),
        (("world", "world"), pt.fixed(), "b of 'bad' is the world"),
        (("world", "arm0"), pt.coupling({"arm0": 0.5, "arm1": 1.0}), "'bad' couples 'arm0' to itself"),
    ],
)
def test_ends_that_cannot_be_held_together(ends, relation, message):
    with pytest.raises(ValueError, match=message):
        linkage().close("bad", *ends, relation)


def test_a_rod_between_points_that_coincide_takes_some_direction():
    """A start from which no small step leads anywhere is left behind."""
    world = pt.World()
    for name in ("one", "two"):
        world.add_body(name, pt.Inertia.sphere(1.0, 0.1))
    world.close("rod", "one", "two", pt.distance(2.0))
    q = world.start().q
    np.testing.assert_allclose(np.linalg.norm(q[4:7] - q[11:14]), 2.0, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(q, world.start().q)  # always the same one


def test_a_straight_chain_that_is_too_long_bends():
    """Pushed along its line, it is in a singular position; so are 20 links on ball joints."""
    world = pt.World()
    for k in range(20):
        parent, at = (f"link{k - 1}", 0.1) if k else (None, 0.0)
        world.add_body(f"link{k}", pt.Inertia.cylinder(0.1, 0.01, 0.1), parent, pt.spherical(), (at, 0, 0))
    world.close("end", "world", "link19", pt.spherical(), (1.4, 0, 0), (0.1, 0, 0))
    X = world.scene(world.start())["link19"].pose
    np.testing.assert_allclose(X @ np.array([0.1, 0, 0]), (1.4, 0, 0), rtol=0, atol=1e-12)


def test_a_free_joint_holds_nothing():
    world, free = linkage(), linkage()
    world.close("nothing", "arm0", "arm1", pt.free())
    np.testing.assert_array_equal(world.simulate(0.1).data.q, free.simulate(0.1).data.q)
    free.description = world.description = replace(world.description, elements={})
    world.close("nothing", "arm0", "arm1", pt.free())
    np.testing.assert_allclose(world.simulate(0.1).data.q, free.simulate(0.1).data.q, rtol=0, atol=1e-14)


def dead_end():
    """A linkage whose crank is driven beyond what the others can reach."""

    def bar(length):
        return pt.Inertia(length, (length / 2, 0, 0), np.diag([1e-3, length**3 / 12, length**3 / 12]))

    world, hinge = pt.World(gravity=(0, -9.81, 0)), pt.revolute((0, 0, 1))
    world.add_body("crank", bar(1.0), joint=hinge, q=1.0)
    world.add_body("coupler", bar(1.2), "crank", hinge, (1.0, 0, 0), q=-1.2)
    world.add_body("rocker", bar(1.1), joint=hinge, placement=(2.5, 0, 0), q=2.2)
    world.close("pin", "coupler", "rocker", pt.on_line((0, 0, 1)), (1.2, 0, 0), (1.1, 0, 0))
    world.drive("crank", lambda t: 1.0 + t)
    return world


@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_a_run_stops_where_loops_cannot_be_kept_closed():
    """With reason, time and row: at the dead end of the linkage, where crank and coupler reach no farther."""
    run = dead_end().simulate(1.0, 1e-3)
    assert run.stop.reason == "broken"
    assert re.match(
        r"the loop 'pin' came open by [0-9.e-]+ m along -?[xy] of the world, its row [01] \(", run.stop.text
    )
    farthest = np.arccos((2.5**2 + 1.0 - 2.3**2) / (2 * 2.5))  # the triangle of ground, crank, and the rest in a line
    assert run.stop.time == pytest.approx(farthest - 1.0, abs=2e-3)
    assert np.all(np.isfinite(run.y))


@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_drives_that_contradict_each_other_stop_the_run():
    world = linkage()
    world.drive("arm0", lambda t: 0.4 + t)
    world.drive("arm0", lambda t: 0.4 + 2 * t, name="other")
    run = world.simulate(0.1, 1e-3)
    assert "came open by 0.00" in run.stop.text
    assert run.stop.time < 0.01
    world = linkage()
    world.close("one", "arm0", "arm1", pt.coupling(2.0))
    world.close("two", "arm0", "arm1", pt.coupling(2.0, 0.5))
    with pytest.raises(ValueError, match=r"cannot be closed: at best .*'one' is open by .*'two' is open by"):
        world.start()


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3], ids=["watch", "machine", "bridge"])
@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_what_is_open_depends_on_the_size(size):
    """A crank of half the size, whose rod is a tenth too short to let it go around: it stops at the dead centre."""
    world = pt.World()
    bar, hinge = pt.Inertia(1.0, (size / 2, 0, 0), size**2 * np.eye(3)), pt.revolute((0, 0, 1))
    world.add_body("crank", bar, joint=hinge, q=1.2)
    world.add_body("arm", bar, joint=hinge, placement=(size, 0, 0), q=2.0)
    world.close("rod", "crank", "arm", pt.distance(0.9 * size), (0.5 * size, 0, 0), (0.5 * size, 0, 0))
    world.drive("crank", lambda t: 1.2 + t)
    run = world.simulate(3.0, 1e-3, ledger=False)
    assert run.stop.text.startswith("the loop 'rod' came open by")
    turned = np.arccos((0.25 + 1.0 - 1.4**2) / (2 * 0.5))  # crank, rod and arm in a line
    assert run.stop.time == pytest.approx(turned - 1.2, abs=2e-3)


@pytest.mark.parametrize("method", ["semi-implicit euler", "implicit"])
def test_momentum_of_free_bodies_by_methods_of_first_order(method):
    """Loops are closed again by more after each step; what is moved keeps its momentum all the same."""
    world = pt.World(gravity=(0, 0, 0))
    for k, name in enumerate(("one", "two")):
        body = pt.Inertia.box(1.0, (0.1, 0.2, 0.3))
        start = {"position": (k, 0, 0), "velocity": (0, 0.3 * k, 0), "angular_velocity": (0.5, 0.2, k)}
        world.add_body(name, body, **start)
    world.close("rod", "one", "two", pt.distance(0.9), (0.05, 0, 0), (-0.05, 0, 0))
    world.close("table", "one", "two", pt.on_plane((0, 0, 1)))
    velocity = world.simulate(0.2, 1e-3, method=method, ledger=False).data.velocity.values
    np.testing.assert_allclose(velocity.sum(axis=1), np.tile(velocity[0].sum(axis=0), (len(velocity), 1)), atol=1e-14)


def stiff_crank(stiffness, damping):
    world = pt.World(gravity=(0, -9.81, 0))
    hinge = pt.revolute((0, 0, 1), stiffness=stiffness, damping=damping)
    world.add_body("crank", pt.Inertia.cylinder(2.0, 0.12, 0.05), joint=hinge, q=0.7, v=5.0)
    rod = pt.Inertia(0.5, (0.15, 0, 0), np.diag([1e-4, 4e-3, 4e-3]))
    world.add_body("rod", rod, "crank", pt.revolute((0, 0, 1)), (0.1, 0, 0), q=-1.0)
    slide = pt.prismatic((1, 0, 0), damping=2.0)
    world.add_body("piston", pt.Inertia.box(0.3, (0.05, 0.05, 0.05)), joint=slide, q=0.3)
    world.close("pin", "piston", "rod", pt.on_line((0, 0, 1)), placement_b=(0.3, 0, 0))
    return world


def test_implicit_steps_keep_loops_closed():
    """Of first order against RK4, with its closing force; the piston where the crank says."""
    world = stiff_crank(0.0, 0.05)
    exact, errors = world.simulate(0.2, 1e-4, method="rk4", ledger=False).data, []
    for step in (1e-3, 5e-4):
        data = world.simulate(0.2, step, method="implicit", ledger=False).data
        crank, _, piston = data.q.values[-1]
        assert abs(piston - 0.1 * np.cos(crank) - np.sqrt(0.09 - 0.01 * np.sin(crank) ** 2)) < 1e-13
        errors.append(np.abs(data.q.values[-1] - exact.q.values[-1]).max())
    assert 1.9 < errors[0] / errors[1] < 2.1
    np.testing.assert_allclose(data["pin.force"][-1], exact["pin.force"][-1], rtol=0, atol=0.02)


def test_a_stiff_spring_in_a_loop_comes_to_rest():
    """1e6 N m/rad and 1e3 N m s/rad in steps of 1 ms, far beyond what RK4 can: the crank stops at its sag."""
    q = stiff_crank(1e6, 1e3).simulate(0.5, 1e-3, method="implicit", ledger=False).data.q.values[-1]
    np.testing.assert_allclose(q, (-2.4525e-7, 3.27e-7, 0.4), rtol=1e-6)


def test_a_drive_that_is_not_a_number_at_the_start_is_named():
    world = linkage()
    world.drive("arm0", lambda t: np.sqrt(t - 1.0))
    with pytest.raises(ValueError, match=r"at best .*'arm0.drive' is open by nan"), np.errstate(all="ignore"):
        world.start()


@pytest.mark.parametrize("name", [5, None, ("rod",), ""])
def test_names_are_text(name):
    with pytest.raises(ValueError, match=rf"name of a closure must be text, not {re.escape(repr(name))}"):
        linkage().close(name, "arm0", "arm1", pt.distance(1.5))
    with pytest.raises(ValueError, match="name of a closure must be text, not 0"):
        linkage().drive("arm0", np.sin, name=0)


def driven(motion):
    world = pt.World()
    world.add_body("arm", pt.Inertia(1.0, (0.5, 0, 0), np.diag([0.01, 0.1, 0.1])), joint=pt.revolute((0, 0, 1)))
    world.drive("arm", motion)
    return world


JUMPS = {
    "step": (lambda t: np.where(t < 0.02, 0.4, 0.9), r"the motion of 'arm.drive' jumps from 0.4 to 0.9"),
    "floor": (lambda t: 0.3 * np.floor(t / 0.02 + 1e-9), r"the motion of 'arm.drive' jumps from 0 to 0.3"),
    "small, while turning": (lambda t: 5 * t + np.where(t < 0.02, 0.0, 4e-3), r"the motion of 'arm.drive' jumps"),
    "speed": (lambda t: np.maximum(t - 0.0195, 0.0), r"the slope of the motion of 'arm.drive' jumps from 0 to 1"),
}


@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_a_drive_that_jumps_stops_the_run(jump):
    """With the time, and between which values; the records up to there stay."""
    motion, told = JUMPS[jump]
    run = driven(motion).simulate(0.05, 1e-3)
    assert run.stop.reason == "broken"
    assert re.match(told + r".* between 0.019 and 0.02 \(it must be twice differentiable", run.stop.text)
    assert run.stop.time == pytest.approx(0.02)
    np.testing.assert_allclose(run.data.q[:, 0], motion(run.time), rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", ["semi-implicit euler", "implicit", "implicit midpoint", "adaptive"])
@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_a_drive_that_jumps_stops_every_method(method):
    run = driven(JUMPS["step"][0]).simulate(0.05, 1e-3, method=method)
    assert "jumps from 0.4 to 0.9" in run.stop.text


SMOOTH = {
    "from rest": lambda t: t**5,
    "acceleration jumps": lambda t: 0.5 * np.maximum(t - 0.02, 0.0) ** 2 * 300,
    "six steps a turn": lambda t: np.sin(2 * np.pi * t / 0.006),
    "fast": lambda t: 0.3 + 1e4 * t,
    "spline": pt.Table([0.0, 0.02, 0.03, 0.05], [0.4, 0.5, 0.4, 0.3], method="cubic"),
}


@pytest.mark.parametrize("motion", SMOOTH)
def test_a_drive_without_jumps_does_not_stop(motion):
    run = driven(SMOOTH[motion]).simulate(0.05, 1e-3, ledger=False)
    assert run.stop.reason == "duration"
    np.testing.assert_allclose(run.data.q[:, 0], SMOOTH[motion](run.time), rtol=0, atol=1e-12)


def test_a_spline_drives_from_its_first_knot_on():
    """Its slope there is that within the spline: the work is the gain of energy."""
    motion = pt.Table([0.0, 0.2, 0.3, 0.5], [0.4, 0.5, 0.4, 0.3], method="cubic")
    run = driven(motion).simulate(0.5, 1e-3)
    assert run.data.v.values[0, 0] == pytest.approx((motion(1e-6) - motion(0.0)) / 1e-6, rel=1e-4)
    assert run.ledger.relative_residual.max() < 1e-6


@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_a_cam_that_jumps_stops_the_run():
    world = linkage(q=(0.01, 0.0))
    world.close("cam", "arm0", "arm1", pt.coupling(lambda q: np.where(q < 0.02, 0.0, 0.3)))
    world.description = replace(world.description, elements={"cam": world.description.elements["cam"]})
    run = world.simulate(0.1, 1e-3)
    assert "the function of 'cam' jumps from 0 to 0.3" in run.stop.text
