"""Bodies on the ground by the implicit step: they hold, slide, roll and bounce as the laws say."""

import warnings

import numpy as np
import pytest
from scipy.optimize import brentq

import poinsot as pt

G = 9.81


def slope(angle, step=5e-3, duration=4.0, mu=0.5):
    world = pt.World(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    world.add_ground(surface=pt.Material(1e4, 0.5, mu))
    sunk = G * np.cos(angle) / 4e4
    world.add_body("box", pt.Inertia.box(1.0, (0.2, 0.2, 0.1)), position=(0, 0, 0.05 - sunk))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.LedgerWarning)  # a long slide gains what the first order does
        return world.simulate(duration, step, every=duration / 2)


@pytest.mark.parametrize("angle", [0.0, 0.3, 0.46])
def test_a_block_on_a_slope_holds(angle):
    run = slope(angle)
    x = run.data.position.sel(body="box").values
    assert np.linalg.norm(x[2] - x[1]) / 2 < 1e-12  # m/s
    assert run.data["box-ground.count"].values[-1] == 4
    force = run.data["box-ground.force"].values[-1]
    assert np.allclose(force, [-G * np.sin(angle), 0, G * np.cos(angle)], rtol=0, atol=1e-12)


def test_beyond_the_angle_of_friction_it_slides():
    a = G * (np.sin(0.6) - 0.5 * np.cos(0.6))
    v = slope(0.6, 5e-3, 2.0).data.velocity.sel(body="box", axis="x").values
    assert v[2] - v[1] == pytest.approx(a, rel=1e-5)  # after three iterations
    assert v[1] == pytest.approx(a, rel=1e-2)  # a little more: the springs along the ground give way at first


@pytest.fixture(scope="module")
def bowl():
    """A ball that is thrown along the ground."""
    world = pt.World()
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 0.1 - G / 1e5), velocity=(2, 0, 0))
    world.add_ground(surface=pt.Material(1e5, 0.5, 0.3))
    return world


def test_a_ball_ends_rolling_at_five_sevenths(bowl):
    run = bowl.simulate(1.5, 1e-3, every=0.5)
    v = run.data.velocity.sel(body="ball", axis="x").values
    assert v[-1] / v[0] == pytest.approx(5 / 7, rel=1e-12)
    assert run.data.angular_velocity.sel(axis="y").values[-1, 0] == pytest.approx(10 * v[-1], rel=1e-12)
    assert np.all(run.ledger.relative_residual < 1e-12)
    energy = dict(zip(run.ledger.sources, run.ledger.inflow[:, -1], strict=True))
    slid, by_step = energy["ball-ground.sliding"], energy["numerical"] + energy["ball-ground.damping"]
    assert slid + by_step == pytest.approx(0.5 * (4 * 5 / 7 - 4), rel=1e-9)  # m v^2/2 (5/7 - 1): all that sliding takes
    # The force acts at the slower velocity at the end of each step; and the spring along the ground gives way at first.
    assert by_step == pytest.approx(-0.5 * 1e-3 * 0.3 * G * 2.0, rel=0.05)
    assert energy["ball-ground"] == 0  # the ground does not move


def test_the_same_bits_alone_and_in_a_batch(bowl):
    speeds = np.array([1.0, 2.0, 3.0])
    many = bowl.simulate(0.4, 1e-3, batch=3, vary={"ball.velocity[0]": speeds}, every=0.4)
    one = bowl.simulate(0.4, 1e-3, every=0.4, vary={"ball.velocity[0]": speeds[1:2]}, batch=1)
    assert np.array_equal(many.data.position.isel(batch=1), one.data.position.isel(batch=0))


def bounced(c, step, gravity=0.0):
    world = pt.World(gravity=(0, 0, -gravity))
    world.add_ground(surface=pt.Material(1e5, c, 0.0))
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 0.1), velocity=(0, 0, -1))
    run = world.simulate(0.02, step, every=0.02)
    return float(run.data.velocity.sel(axis="z").values[-1, 0]), run


@pytest.mark.parametrize("c", [0.1, 0.5, 2.0])
def test_the_bounce_is_that_of_hunt_and_crossley(c):
    # k d (1 + c d') integrated once: ln((1 + c v)/(1 - c e v)) = c v (1 + e)
    e = brentq(lambda e: np.log((1 + c) / (1 - c * e)) - c * (1 + e), 1e-3, min(1, 1 / c) - 1e-9)
    errors = [bounced(c, step)[0] - e for step in (1e-4, 5e-5)]
    assert abs(errors[1]) < 0.03
    assert errors[0] / errors[1] == pytest.approx(2, abs=0.25)  # of first order, always too slow
    assert errors[1] < 0


def test_the_check_of_a_step_says_what_a_bounce_asks_for():
    world = pt.World(gravity=(0, 0, 0))
    world.add_ground(surface=pt.Material(1e5, 0.0, 0.0))
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 0.1), velocity=(0, 0, -1))
    check = world.check_step(1e-3, 0.05)
    assert "An elastic blow on 'ball-ground' is over in 0.0099 s, and loses 39 % of its speed" in str(check)
    with pytest.warns(pt.LedgerWarning, match=r"too long: by its own error it took a part of 6\.2e-01 of the energy"):
        assert 1 - bounced(0.0, 1e-3)[0] == pytest.approx(check.lost, abs=0.03)
    assert 1 - bounced(0.0, 1e-4)[0] == pytest.approx(world.check_step(1e-4, 0.02).lost, abs=3e-3)


def test_a_bounce_closes_the_ledger():
    _, run = bounced(0.5, 2e-4)
    assert np.all(run.ledger.relative_residual < 1e-12)


def test_a_belt_carries_what_lies_on_it():
    world = pt.World()
    world.add_ground("belt", surface=pt.Material(1e4, 0.5, 0.5), velocity=(0.5, 0, 0))
    world.add_body("box", pt.Inertia.box(1.0, (0.2, 0.2, 0.1)), position=(0, 0, 0.05 - G / 4e4))
    run = world.simulate(1.0, 2e-3, every=0.5)
    assert run.data.velocity.sel(axis="x").values[-1, 0] == pytest.approx(0.5, abs=1e-9)
    assert run.data["box-belt.slip"].values[-1] < 1e-9


def test_a_ball_in_a_bowl_comes_to_rest_at_its_bottom():
    world = pt.World(ground=lambda x, y: 0.5 * ((x - 0.2) ** 2 + y**2))
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0.5, 0.1, 0.4))
    world.add_ground(surface=pt.Material(1e4, 1.0, 0.5, rolling=5e-3))
    run = world.simulate(20.0, 5e-3, every=10.0, ledger=False)
    x = run.data.position.values[-1, 0]
    rolled = np.hypot(x[0] - 0.2, x[1])
    assert rolled < 1.1 * 0.05  # rolling friction holds it up to the slope rolling/radius
    assert np.abs(run.data.velocity.values[-1]).max() < 1e-9
    assert run.data["ball-ground.depth"].values[-1] == pytest.approx(G / 1e4, rel=0.1)


BOWL = 1.0  # m: the radius of a bowl


def hollow(x, y):
    return BOWL - np.sqrt(BOWL**2 - x * x - y * y)


@pytest.mark.parametrize("ground", ["heights", "list", "distance", "body"])
def test_a_ball_swings_in_a_bowl_as_a_pendulum(ground):
    """It touches where the bowl has the normal that it has there: g/((1 + 2/5)(R - r)) is the square of its
    frequency."""
    r, start = 0.1, 0.02
    law = pt.Material(1e6, 0.5, 0.8)
    world = pt.World(ground=hollow) if ground in ("heights", "list") else pt.World()
    low = BOWL - (BOWL - r) * np.cos(start)
    world.add_body("ball", pt.Inertia.sphere(1.0, r), position=((BOWL - r) * np.sin(start), 0, low - G / 1e6))
    match ground:
        case "heights" | "list":
            world.add_ground(surface=law, capacity=3 if ground == "list" else None)
        case "distance":  # not a true distance: its slope is not one
            world.add_ground(surface=law, distance=lambda p: 2 * (p[2] - hollow(p[0], p[1])))
        case "body":
            shape = pt.DistanceShape(lambda p: p[2] - hollow(p[0], p[1]), 2.0)
            world.add_body("bowl", pt.Inertia.sphere(1.0, 0.1), joint=pt.fixed(), shapes=[shape])
            world.collide("ball", "bowl", law)
    run = world.simulate(1.4, 1e-3, every=0.01, ledger_tolerance=np.inf)
    x, t = run.data.position.sel(body="ball", axis="x").values, run.data.time.values
    k = int(np.argmax((x[:-1] > 0) & (x[1:] <= 0)))
    quarter = t[k] + 0.01 * x[k] / (x[k] - x[k + 1])
    assert 4 * quarter == pytest.approx(2 * np.pi * np.sqrt(1.4 * (BOWL - r) / G), rel=2e-3)


@pytest.mark.parametrize("capacity", [None, 2])
@pytest.mark.parametrize("across", [-0.5, 0.0, 0.5])
def test_a_ball_touches_ground_that_is_nearer_beside_it_than_below_its_centre(across, capacity):
    """Between waves, whose clearance at its centre, along the normal there, is more than its radius."""
    r, depth = 0.15, 1e-4
    wave = lambda x: 0.05 * np.sin(8.0 * x)  # noqa: E731
    slope = 0.4 * np.cos(8.0 * across)
    n = np.array([-slope, 0.0, 1.0]) / np.hypot(1.0, slope)
    world = pt.World(gravity=(0, 0, 0), ground=lambda x, y: wave(x))
    world.add_ground(surface=pt.Material(1e4, 0.0, 0.0), capacity=capacity)
    world.add_body("ball", pt.Inertia.sphere(1.0, r), position=np.array([across, 0.0, wave(across)]) + (r - depth) * n)
    run = world.simulate(1e-3, 1e-3, ledger_tolerance=np.inf)
    assert run.data.velocity.sel(body="ball").values[-1] == pytest.approx(1e4 * depth * 1e-3 * n, rel=2e-2)


def test_both_ends_of_a_capsule_find_the_ground_below_them():
    """Across a bowl, on a normal of its own at either end: without friction each bears half of the weight."""
    half, r = 0.3, 0.1
    z = BOWL - np.sqrt((BOWL - r) ** 2 - half**2)
    world = pt.World(ground=hollow)
    world.add_ground(surface=pt.Material(1e6, 2.0, 0.0))
    turned = (np.cos(np.pi / 4), 0, np.sin(np.pi / 4), 0)
    world.add_body("rod", pt.Inertia.capsule(1.0, r, 2 * half), position=(0, 0, z), orientation=turned)
    run = world.simulate(0.5, 1e-3, every=0.25, ledger_tolerance=np.inf)
    push = 0.5 * G / np.sqrt(1 - (half / (BOWL - r)) ** 2)
    assert run.data["rod-ground.depth"].values[-1] == pytest.approx(push / 1e6, rel=1e-2)
    assert run.data.position.sel(body="rod", axis="z").values[-1] == pytest.approx(z, abs=1e-4)


def test_the_plane_is_a_number_of_the_world(bowl):
    many = bowl.simulate(0.2, 1e-3, batch=2, vary={"ground.height": np.array([0.0, -0.05])}, every=0.2)
    z = many.data.position.sel(axis="z").values[:, -1, 0] if many.data.position.dims[0] == "batch" else None
    z = many.data.position.sel(axis="z", body="ball").isel(time=-1).values if z is None else z
    assert z[0] == pytest.approx(0.1 - G / 1e5, abs=1e-9)
    assert z[1] == pytest.approx(0.05, abs=5e-3)


SHAPES = {
    "capsule": (pt.Inertia.capsule(1.0, 0.05, 0.2), 0.05),
    "cylinder": (pt.Inertia.cylinder(1.0, 0.05, 0.2), 0.1),
    "ellipsoid": (pt.Inertia.ellipsoid(1.0, (0.3, 0.2, 0.1)), 0.1),
    "cone": (pt.Inertia.cone(1.0, 0.1, 0.1), 0.05),
}


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_comes_to_rest(name):
    inertia, height = SHAPES[name]
    world = pt.World()
    world.add_ground(surface=pt.Material(1e4, 1.0, 0.6))
    turn = (np.cos(np.pi / 4), 0, np.sin(np.pi / 4), 0) if name == "capsule" else (1, 0, 0, 0)
    world.add_body("b", inertia, position=(0, 0, height + 0.02), orientation=turn)
    run = world.simulate(2.0, 5e-3, every=1.0)
    assert np.abs(run.data.velocity.values[-1]).max() < 1e-9
    assert run.data["b-ground.force"].values[-1] == pytest.approx([0, 0, G], abs=1e-6)


def test_grounds_and_bodies_in_any_order_and_what_is_ignored():
    world = pt.World()
    world.add_body("before", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 1))
    world.add_ground()
    world.add_body("after", pt.Inertia.sphere(1.0, 0.1), position=(1, 0, 1))
    world.add_body("shapeless", pt.Inertia(1.0, np.zeros(3), np.eye(3)), position=(2, 0, 1))
    touches = lambda: [name for name in world.description.elements if "-" in name]  # noqa: E731
    assert touches() == ["before-ground", "after-ground"]
    world.ignore("before", "ground")
    world.add_body("later", pt.Inertia.sphere(1.0, 0.1), position=(3, 0, 1))
    assert touches() == ["after-ground", "later-ground"]
    world.collide("ground", "before", pt.Material(friction=0.1))
    assert world["before-ground.friction"] == 0.1
    with pytest.raises(ValueError, match="no shapes to touch anything"):
        world.collide("shapeless", "ground")
    with pytest.raises(ValueError, match="no body or ground 'aftr'; did you mean 'after'"):
        world.collide("aftr", "ground")


def test_methods_that_take_forces_at_instants_are_refused(bowl):
    with pytest.raises(ValueError, match=r"'rk4' cannot hold the friction of 'ball-ground'.*take 'implicit'"):
        bowl.simulate(0.1, 1e-3, method="rk4")


def test_a_run_goes_on_to_the_same_bits_and_comes_back_from_a_file(bowl, tmp_path):
    whole = bowl.simulate(0.4, 1e-3, every=0.2)
    half = bowl.simulate(0.2, 1e-3, every=0.2)
    on = bowl.simulate(0.2, 1e-3, every=0.2, start=half.end)
    assert np.array_equal(on.data.position.values[-1], whole.data.position.values[-1])
    whole.save(tmp_path / "a.nc")
    back = pt.load_run(tmp_path / "a.nc")
    assert back.world["ball-ground.friction"] == 0.3


# Stiff forces in joints.


def test_stiff_feedback_takes_long_steps():
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("arm", pt.Inertia.box(1.0, (1, 0.1, 0.1)), joint=pt.revolute((0, 1, 0)))
    world.add_feedback("pd", "arm", 1e5, 1e3, target=0.3)
    with pytest.warns(pt.LedgerWarning, match="by its own error it took"):  # what the damper would have taken
        run = world.simulate(1.0, 1e-2, method="implicit", every=0.01)
    assert run.data.q.values[-1].item() == pytest.approx(0.3, abs=1e-9)
    assert run.ledger.relative_residual[3] < 1e-12


def test_what_falls_on_a_stop_comes_to_rest():
    world = pt.World(gravity=(0, 0, -G))
    world.add_body("a", pt.Inertia.sphere(1.0, 0.1), joint=pt.prismatic((0, 0, 1)), placement=(0, 0, 1))
    world.add_joint_stop("stop", "a", 1e5, lower=-0.01, upper=1.0, damping=1.0)
    run = world.simulate(1.0, 5e-3, method="implicit", every=0.5)
    assert run.data.q.values[-1].item() == pytest.approx(-0.01 - G / 1e5, abs=1e-9)
    assert np.all(run.ledger.relative_residual < 1e-12)
